"""What a melody is, and how it sounds: each note a sum of tones, which NumPy adds up."""

from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

VERSION = 1
"""Counts changes of what melodies sound like."""

NAMES = ("c4", "d4", "e4", "f4", "g4", "a4", "b4", "c5", "d5", "e5", "f5", "g5", "a5", "b5")
"""The white keys of two octaves, from the middle c."""

NOTES = (3, 7)
"""How many notes a melody has, unless it is said."""
MOST_NOTES = 200

_HALF_TONES = (0, 2, 4, 5, 7, 9, 11)
"""Of an octave, how far each white key is from its c."""
_A4 = 440.0
_LENGTHS = (0.16, 0.42)
_PAUSES = (0.0, 0.12)
_MARGINS = (0.05, 0.3)
"""Seconds: of a note, of the silence between two, and of that at both ends."""
_ATTACK, _RELEASE = 0.015, 0.04
"""Seconds in which a note comes and goes: without them it would click."""
_OVERTONES = 4


@dataclass(frozen=True)
class Note:
    """One note: its name, and when it sounds, in seconds. strengths: of its tone and of those above it."""

    name: str
    start: float
    end: float
    strengths: tuple[float, ...]

    @property
    def hertz(self) -> float:
        """How high it is."""
        octave, key = divmod(NAMES.index(self.name), len(_HALF_TONES))
        return float(_A4 * 2 ** (octave + (_HALF_TONES[key] - 9) / 12))


@dataclass(frozen=True)
class Melody:
    """Notes one after the other, a little noise, and how many seconds all of it has."""

    number: int
    notes: tuple[Note, ...]
    seconds: float
    noise: float

    @property
    def names(self) -> str:
        """What a model should write."""
        return " ".join(note.name for note in self.notes)

    def played(self, rate: float) -> npt.NDArray[np.float32]:
        """The melody at so many samples a second."""
        count = round(self.seconds * rate)
        random = np.random.default_rng([VERSION, self.number])
        samples = random.normal(scale=self.noise, size=count)
        for note in self.notes:
            first, last = round(note.start * rate), min(count, round(note.end * rate))
            times = np.arange(last - first) / rate
            tones = [
                strength * np.sin(2 * np.pi * order * note.hertz * times)
                for order, strength in enumerate(note.strengths, start=1)
                if order * note.hertz < rate / 2
            ]
            coming = np.minimum(times / _ATTACK, (times[-1] - times) / _RELEASE) if len(times) else times
            samples[first:last] += np.sum(tones, axis=0) * np.clip(coming, 0.0, 1.0)
        return samples.astype(np.float32)


def melody(number: int, notes: int | None = None) -> Melody:
    """The melody of a number. notes: how many it has, if that is not left to the number."""
    random = Random(f"tones/{VERSION}/{number}/{notes}")
    count = random.randint(*NOTES) if notes is None else notes
    volume, time, found = random.uniform(0.1, 0.25), random.uniform(*_MARGINS), []
    for _ in range(count):
        end = time + random.uniform(*_LENGTHS)
        strengths = tuple(volume * random.uniform(0.3, 1.0) / order for order in range(1, _OVERTONES + 1))
        found.append(Note(random.choice(NAMES), time, end, strengths))
        time = end + random.uniform(*_PAUSES)
    return Melody(number, tuple(found), time + random.uniform(*_MARGINS), random.uniform(0.001, 0.01))
