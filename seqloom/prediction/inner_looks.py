"""What encoders that read a source beside another one looked at, with the symbols that it was."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from seqloom.prediction.backends import OpenedModel
from seqloom.prediction.inputs import Reader, ReadExample
from seqloom.recipe.sections import ComparingEncoder, Model, RelatedEncoder
from seqloom.results.inner_looks import InnerLook, Places
from seqloom.results.predictions import FloatArray

LooksInside = Callable[[ReadExample], Sequence[InnerLook]]
"""Computes what encoders looked at: only views want to know, so nothing is computed before one does."""


def looking_inside(models: Sequence[OpenedModel], reader: Reader) -> LooksInside | None:
    """What can tell where the encoders of a model look; None for models without such encoders, and for ensembles."""
    [model, *others], kinds = models, ComparingEncoder | RelatedEncoder
    if others or not any(isinstance(one, kinds) for one in model.recipe.model.all_encoders):
        return None
    return lambda read: inner_looks(model.recipe.model, reader, read, model.stepper.looked(reader.batch([read])))


def inner_looks(model: Model, reader: Reader, read: ReadExample, looked: Mapping[str, FloatArray]) -> list[InnerLook]:
    """The weights of every encoder that has some, [R, H, N, M], with their places."""

    def places(name: str) -> Places:
        return Places.of(name, reader.alignment(name, read, np.zeros((1, 1, 0), np.float32)))

    found = []
    for name, weights in looked.items():
        match model.encoder_of(name):
            case ComparingEncoder(source=other):
                found.append(InnerLook(name, other, weights, places(name), places(other)))
            case RelatedEncoder(source=other):
                all_of_them = places(name).after(other, read.example.sources[other])
                found.append(InnerLook(name, other, weights, all_of_them, all_of_them))
            case _:
                raise TypeError(f"{name}: weights of an encoder that has none to show")
    return found
