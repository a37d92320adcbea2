"""Scenes as files like any others, and as a folder that shows how data of one's own may look."""

import struct
import zlib
from collections.abc import Mapping
from functools import cached_property, partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from seqloom.data.builtin.scenes.drawing import SIDE, Pixels, draw
from seqloom.data.builtin.scenes.questions import questions
from seqloom.data.builtin.scenes.splits import Split, number_of, numbers
from seqloom.data.builtin.scenes.things import VERSION, scene
from seqloom.data.media.files import Drawing, MediaRoot
from seqloom.errors import WriteError


class SceneRoot(MediaRoot):
    """Where names such as `scene:12` begin: each stands for a picture that is drawn when it is looked at."""

    def resolve(self, name: str) -> Drawing:
        """The file of a name. Raises `MediaError` for any other name."""
        number = number_of(name)
        # What such a file has at most; nobody knows before it is made.
        size = 4 * SIDE * SIDE
        return _SceneFile(name, name, size, VERSION, lambda: png(draw(number)), partial(draw, number))


class _SceneFile(Drawing):
    @cached_property
    def content_hash(self) -> str:
        """A hash of what the picture depends on, which is known without drawing it."""
        return blake2b(f"scenes/{VERSION}/{number_of(self.name)}".encode(), digest_size=16).hexdigest()


def write_scenes(folder: Path, pictures: Mapping[Split, int], *, seed: int = 1, side: int = SIDE) -> None:
    """Write the first scenes of each split as files: data of the kind that one would bring along.

    pictures/1000000.png ...                            the pictures
    train.tsv, validation.tsv, test.tsv                 image, caption
    train-questions.tsv, validation-questions.tsv ...   image, question, answer
    """
    try:
        (folder / "pictures").mkdir(parents=True, exist_ok=True)
        for split, count in pictures.items():
            captions, asked = ["image\tcaption"], ["image\tquestion\tanswer"]
            for number in islice(numbers(split, seed=seed), count):
                path = f"pictures/{number}.png"
                (folder / path).write_bytes(png(draw(number, side)))
                captions.append(f"{path}\t{scene(number).caption}")
                asked.extend(f"{path}\t{question.text}\t{question.answer}" for question in questions(number))
            for name, lines in ((f"{split}.tsv", captions), (f"{split}-questions.tsv", asked)):
                (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as problem:
        raise WriteError(f"{folder}: could not be written ({problem.strerror}). Choose another folder") from problem


def png(pixels: Pixels) -> bytes:
    """A picture as a PNG file: 8 bits, RGB, rows as they are."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )
