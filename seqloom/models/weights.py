"""A model's weights as named arrays, and the device they live on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt
import torch

from seqloom.errors import RecipeError, RunError
from seqloom.models.decoders import DecoderState
from seqloom.models.encoder_decoder import EncoderDecoder, build_model
from seqloom.recipe.sections import Recipe

Arrays = dict[str, npt.NDArray[Any]]


def available_devices() -> dict[str, bool]:
    """Which devices torch finds here."""
    return {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


def choose_device(name: str) -> torch.device:
    """The device that a recipe asks for; `auto` takes CUDA if there is any, else the CPU."""
    available = available_devices()
    if name == "auto":
        return torch.device("cuda" if available["cuda"] else "cpu")
    if not available[name]:
        here = ", ".join(kind for kind, there in available.items() if there)
        raise RecipeError(f"device: {name} is not available here. Available: {here}. Use `device: auto`")
    return torch.device(name)


def weight_arrays(model: EncoderDecoder) -> Arrays:
    """A copy of all weights by name; tied ones once."""
    return {name: parameter.detach().cpu().numpy().copy() for name, parameter in model.named_parameters()}


def load_weight_arrays(model: EncoderDecoder, arrays: Mapping[str, npt.NDArray[Any]], *, where: str) -> None:
    """Put weights into a model of the same recipe; `where` names their file in errors."""
    require_fitting(model, arrays, where=where)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(arrays[name]))


def require_fitting(model: EncoderDecoder, arrays: Mapping[str, npt.NDArray[Any]], *, where: str) -> None:
    """Refuse weights that are not those of a model."""
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    if shapes.keys() != arrays.keys():
        odd = sorted(shapes.keys() ^ arrays.keys())[:3]
        raise RunError(f"{where}: its weights are not those of this recipe's model (differing: {', '.join(odd)})")
    for name, shape in shapes.items():
        if tuple(arrays[name].shape) != shape:
            raise RunError(f"{where}: {name} has shape {arrays[name].shape}; the recipe's model has {shape}")
        if arrays[name].dtype.kind != "f":
            raise RunError(
                f"{where}: {name} has numbers of type {arrays[name].dtype}; the recipe's model has floating-point ones"
            )


def state_arrays(state: DecoderState) -> Arrays:
    """The state that running text carries from window to window, by `<layer>/<leaf>`."""
    return {
        f"{layer}/{leaf}": values.cpu().numpy().copy()
        for layer, leaves in enumerate(state.cells)
        for leaf, values in enumerate(leaves)
    }


def restored_state(model: EncoderDecoder, arrays: Mapping[str, npt.NDArray[Any]]) -> DecoderState:
    """Put back what `state_arrays` took."""
    fresh = model.decoder.start({}, len(next(iter(arrays.values()))))
    cells = tuple(
        tuple(torch.from_numpy(arrays[f"{layer}/{leaf}"].copy()).to(model.device) for leaf in range(len(leaves)))
        for layer, leaves in enumerate(fresh.cells)
    )
    return replace(fresh, cells=cells)


def restored_model(
    recipe: Recipe, vocabulary_sizes: Mapping[str, int], arrays: Mapping[str, npt.NDArray[Any]], *, where: str
) -> EncoderDecoder:
    """A model with the given weights, on the recipe's device if it is here: a run trained elsewhere can be used on a CPU."""
    # A recipe can ask for a model of any size. On this device it takes no memory until it is known to be the right one; to use
    # the device takes torch a second, so it is asked only if a setting is larger than all weights.
    if _largest(recipe.model.model_dump()) > max((size for array in arrays.values() for size in array.shape), default=0):
        try:
            with torch.device("meta"):
                require_fitting(build_model(recipe, vocabulary_sizes, fresh=False), arrays, where=where)
        except RecipeError as problem:
            raise RunError(f"{where}: is not what the run's recipe describes. {problem}") from problem
    model = build_model(recipe, vocabulary_sizes, fresh=False)
    load_weight_arrays(model, arrays, where=where)
    return model.to(recipe.device if available_devices().get(recipe.device) else choose_device("auto"))


def _largest(value: object) -> int:
    """The largest whole number in a section."""
    match value:
        case dict():
            return max(map(_largest, value.values()), default=0)
        case list() | tuple():
            return max(map(_largest, value), default=0)
        case int():
            return int(value)
        case _:
            return 0
