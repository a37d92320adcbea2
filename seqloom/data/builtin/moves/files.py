"""Films as files like any others, and as a folder that shows how data of one's own may look."""

from collections.abc import Mapping
from functools import cached_property, partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from seqloom.data.builtin.moves.drawing import SIDE, draw
from seqloom.data.builtin.moves.events import FRAMES, VERSION, film
from seqloom.data.builtin.moves.splits import number_of, numbers
from seqloom.data.builtin.scenes.splits import Split
from seqloom.data.media.animations import apng
from seqloom.data.media.files import DrawnFilm, MediaRoot
from seqloom.errors import WriteError


class MovesRoot(MediaRoot):
    """Where names such as `moves:12` begin: each stands for a film that is drawn when it is looked at."""

    def resolve(self, name: str) -> DrawnFilm:
        """The file of a name. Raises `MediaError` for any other name."""
        number = number_of(name)
        # What such a file has at most; nobody knows before it is made.
        size = 4 * SIDE * SIDE * FRAMES
        return _FilmFile(name, name, size, VERSION, lambda: apng(draw(number)), partial(draw, number))


class _FilmFile(DrawnFilm):
    @cached_property
    def content_hash(self) -> str:
        """A hash of what the film depends on, which is known without drawing it."""
        return blake2b(f"moves/{VERSION}/{number_of(self.name)}".encode(), digest_size=16).hexdigest()


def write_moves(folder: Path, films: Mapping[Split, int], *, seed: int = 1, side: int = SIDE) -> None:
    """Write the first films of each split as files: data of the kind that one would bring along.

    clips/1000000.apng ...                  the films, which browsers play
    train.tsv, validation.tsv, test.tsv     video, caption
    """
    try:
        (folder / "clips").mkdir(parents=True, exist_ok=True)
        for split, count in films.items():
            lines = ["video\tcaption"]
            for number in islice(numbers(split, seed=seed), count):
                path = f"clips/{number}.apng"
                (folder / path).write_bytes(apng(draw(number, side)))
                lines.append(f"{path}\t{film(number).caption}")
            (folder / f"{split}.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as problem:
        raise WriteError(f"{folder}: could not be written ({problem.strerror}). Choose another folder") from problem
