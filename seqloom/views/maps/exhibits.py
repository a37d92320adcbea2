"""A prediction together with what a view shows beside it and a prediction does not hold: pixels, boxes, whose it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from seqloom.errors import UsageError
from seqloom.results.inner_looks import InnerLook
from seqloom.results.predictions import Candidate, Prediction
from seqloom.views.drawing.pixels import Pixels
from seqloom.views.text.segments import output_spans, surrounding_word

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels of the picture."""


@dataclass(frozen=True)
class Picture:
    """A source that is a picture, as the model saw it.

    pixels [height, width, 3]: after whatever resizing and cropping came before the model. boxes: for a word, where in the
    picture the things are that it names; views outline them.
    """

    pixels: Pixels
    boxes: Mapping[str, Sequence[Box]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape, kind = self.pixels.shape, self.pixels.dtype
        if len(shape) != 3 or shape[2] != 3 or not self.pixels.size or kind != np.uint8:
            raise UsageError(f"A picture is an array of bytes [height, width, 3], got {kind} of shape {list(shape)}.")

    def named_boxes(self, candidate: Candidate) -> list[Sequence[Box]]:
        """For each output symbol, the boxes of what it names: the word that it is, or is a part of."""
        if not self.boxes:
            return [()] * len(candidate.tokens)
        known = {word.casefold(): boxes for word, boxes in self.boxes.items()}
        spans = output_spans(candidate.text, candidate.tokens) or [(0, 0)] * len(candidate.tokens)
        return [known.get(surrounding_word(candidate.text, span).casefold(), ()) for span in spans]


@dataclass(frozen=True)
class Exhibit:
    """What a view shows of one prediction.

    pictures: by source name, those that are pictures; one that is missing is drawn as a plain ground. label: whose
    prediction it is where several are compared, such as a run and its bridge. films: by source name, the frames of those
    that move, [frames, height, width, 3]. sounds: by source name, those that are heard, as WAV files. inside: where encoders
    looked that read one source beside another.
    """

    prediction: Prediction
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    label: str = ""
    films: Mapping[str, Pixels] = field(default_factory=dict)
    sounds: Mapping[str, bytes] = field(default_factory=dict)
    inside: Sequence[InnerLook] = ()

    @cached_property
    def in_time(self) -> Prediction:
        """The prediction with weights over frames where it has weights over the places of frames: a column for each frame."""
        best, *others = (_in_time(one) for one in self.prediction.candidates)
        return replace(self.prediction, best=best, alternatives=tuple(others))

    def as_json(self) -> dict[str, Any]:
        """The prediction as `predict --json` prints it, and what encoders looked at."""
        inside = {"inside": [one.as_json() for one in self.inside]} if self.inside else {}
        return {**self.prediction.as_json(), **inside}


def _in_time(candidate: Candidate) -> Candidate:
    return replace(candidate, alignment={name: one.in_time() for name, one in candidate.alignment.items()})


Shown = Prediction | Exhibit
"""What views take: a prediction that needs nothing beside it, or an exhibit."""


def as_exhibit(shown: Shown) -> Exhibit:
    """Give the exhibit; a prediction alone becomes one with nothing beside it."""
    return shown if isinstance(shown, Exhibit) else Exhibit(shown)
