"""Melodies as files like any others, and as a folder that shows how data of one's own may look."""

import re
from collections.abc import Mapping
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from seqloom.data.builtin.tones.notes import MOST_NOTES, VERSION, Melody, melody
from seqloom.data.builtin.tones.splits import Split, numbers
from seqloom.data.examples import abbreviated
from seqloom.data.media.files import PLAYED, MediaError, MediaRoot, PlayedSound
from seqloom.data.media.sounds import wav
from seqloom.errors import WriteError

_RATE = 16_000


class MelodyRoot(MediaRoot):
    """Where names such as `tones:12` begin: each stands for a melody that is played when it is listened to."""

    def resolve(self, name: str) -> PlayedSound:
        """The file of a name. Raises `MediaError` for any other name."""
        content = melody_of(name)
        size = 44 + 2 * round(content.seconds * _RATE)
        return _MelodyFile(
            name, name, size, VERSION, lambda: wav(content.played(_RATE), _RATE), content.seconds, content.played
        )


class _MelodyFile(PlayedSound):
    @cached_property
    def content_hash(self) -> str:
        """A hash of what the sound depends on, which is known without playing it."""
        return blake2b(f"tones/{VERSION}/{self.name}".encode(), digest_size=16).hexdigest()


def melody_of(name: str) -> Melody:
    """The melody that a name stands for."""
    found = re.fullmatch(rf"{PLAYED}([0-9]{{1,18}})(?:/([0-9]{{1,3}}))?", name, flags=re.ASCII)
    notes = None if found is None or found[2] is None else int(found[2])
    if found is None or (notes is not None and not 1 <= notes <= MOST_NOTES):
        raise MediaError(f"expected a melody such as 'tones:12', or 'tones:12/20' of 20 notes, found {abbreviated(name)}")
    return melody(int(found[1]), notes)


def write_melodies(folder: Path, melodies: Mapping[Split, int], *, seed: int = 1) -> None:
    """Write the first melodies of each split as files: data of the kind that one would bring along.

    sounds/1000000.wav ...                  the sounds
    train.tsv, validation.tsv, test.tsv     sound, notes
    """
    try:
        (folder / "sounds").mkdir(parents=True, exist_ok=True)
        for split, count in melodies.items():
            lines = ["sound\tnotes\n"]
            for number in islice(numbers(split, seed=seed), count):
                (folder / f"sounds/{number}.wav").write_bytes(wav(melody(number).played(_RATE), _RATE))
                lines.append(f"sounds/{number}.wav\t{melody(number).names}\n")
            (folder / f"{split}.tsv").write_text("".join(lines), encoding="utf-8")
    except OSError as problem:
        raise WriteError(f"{folder}: could not be written ({problem.strerror}). Choose another folder") from problem
