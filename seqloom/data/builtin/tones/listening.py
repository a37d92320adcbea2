"""Whether a model listens to a note while it names it: its attention over time, held against when notes sound."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.builtin.scenes.pointing import Pointing
from seqloom.data.builtin.tones.files import melody_of
from seqloom.data.builtin.tones.notes import Melody
from seqloom.results.layouts import Frames
from seqloom.results.predictions import Prediction


def time_listening(
    melody: Melody, tokens: Sequence[str], weights: npt.NDArray[np.floating[Any]], seconds: float, beyond: float = 0.0
) -> Pointing:
    """Judge when attention was largest at each name of a note.

    tokens: the T symbols that a model wrote, one for each note. weights: [T, S]. seconds: from one position to the next.
    beyond: for so many seconds a position still tells of what is heard after the next begins.

    A name is judged if it is that of the note at this place. It is a hit if some of the position of the largest weight, the
    first of equal ones, lies within the time of the note.
    """
    starts = np.arange(weights.shape[1]) * seconds
    total = Pointing()
    for note, token, row in zip(melody.notes, tokens, weights, strict=False):
        if token.strip() == note.name:
            overlap = (starts < note.end) & (starts + seconds + beyond > note.start)
            total += Pointing(1, int(overlap[int(row.argmax())]), float(overlap.mean()))
    return total


def listening_of(prediction: Prediction) -> Pointing:
    """Judge the names that a model wrote for a melody, by the mean over its heads; nothing if it does not listen so."""
    name, alignment = prediction.sources["sound"], prediction.alignment.get("sound")
    if alignment is None or not isinstance(alignment.layout, Frames) or not alignment.layout.position_seconds:
        return Pointing()
    layout = alignment.layout
    return time_listening(melody_of(name), prediction.tokens, alignment.mean, layout.position_seconds, layout.beyond)
