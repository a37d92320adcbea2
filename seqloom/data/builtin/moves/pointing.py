"""Whether a model looks at a thing while it happens: its attention over frames, held against when things happen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.builtin.moves.events import Story, film
from seqloom.data.builtin.moves.splits import number_of
from seqloom.data.builtin.scenes.pointing import Pointing
from seqloom.results.predictions import Prediction


def time_pointing(content: Story, tokens: Sequence[str], weights: npt.NDArray[np.floating[Any]]) -> Pointing:
    """Judge at which frame attention was largest at each content word of a caption.

    tokens: the T symbols that a model wrote, one for each word, a comma among them. weights: [T, frames].

    A word is judged if it says a colour, a shape or an action and is the word that the film's own caption has at this place.
    It is a hit if the frame of the largest weight is one in which the thing that the word is about has changed.
    """
    total = Pointing()
    for place, word, frames in content.mentions:
        if place < len(tokens) and tokens[place].strip() == word:
            hit = int(weights[place].argmax()) in frames
            total += Pointing(1, int(hit), len(frames) / weights.shape[1])
    return total


def time_pointing_of(prediction: Prediction) -> Pointing:
    """Judge the best caption that a model wrote for a film, by the mean over its heads; nothing if it does not look."""
    name, alignment = prediction.sources["video"], prediction.alignment.get("video")
    if alignment is None:
        return Pointing()
    return time_pointing(film(number_of(name)), prediction.tokens, alignment.in_time().mean)
