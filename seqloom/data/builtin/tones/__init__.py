"""The built-in task `tones`: short melodies, made from a number, and the names of their notes.

    tones:12        e4 g5 c4 a4
    tones:12/20     a melody of 20 notes, longer than any that training has

Nothing is downloaded and nothing is stored: `tones:12` means the same sound everywhere. When each note begins and ends is
known, so it can be checked when a model listens while it writes a name (`listening_of`).
"""

from seqloom.data.builtin.tones.files import MelodyRoot, melody_of, write_melodies
from seqloom.data.builtin.tones.listening import listening_of, time_listening
from seqloom.data.builtin.tones.notes import NAMES, Melody, Note, melody
from seqloom.data.builtin.tones.splits import MELODIES, examples

__all__ = [
    "MELODIES",
    "NAMES",
    "Melody",
    "MelodyRoot",
    "Note",
    "examples",
    "listening_of",
    "melody",
    "melody_of",
    "time_listening",
    "write_melodies",
]
