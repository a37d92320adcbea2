"""Weights of EfficientNet-Lite0, learnt on ImageNet, out of a package that brings them (extra `images`).

Nothing of that package is run and nothing is fetched. Its one file of weights is known by its SHA-256, is read without
unpickling anything but tensors, and is converted once to safetensors in the cache, with every normalisation folded into the
convolution before it.
"""

import hashlib
import importlib.util
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from seqloom.data.cache import cache_folder
from seqloom.errors import MissingExtraError, RunError, WriteError
from seqloom.recipe.sections.vision import PRETRAINED_PACKAGE
from seqloom.runs.hashed_arrays import read_sealed, sealed

SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
"""Of the file in version 0.1.0 of the package, the only one there is; licence Apache-2.0."""

_FILE = Path("models") / "efficientnet-lite0-57934424.pth"
_EPSILON = 1e-3
"""What the network's normalisations add to variances."""


def pretrained_weights() -> dict[str, Tensor]:
    """All weights by the names that `models.encoders.efficientnet.EfficientNetLite0` has for them."""
    converted = cache_folder() / "weights" / f"efficientnet_lite0-{SHA256[:16]}-2.safetensors"
    try:
        kept, _ = read_sealed(converted)
        return {name: torch.from_numpy(array.copy()) for name, array in kept.items()}
    except (OSError, ValueError):  # not there yet, or damaged: it can be made again
        weights = folded(_original())
        _save(weights, converted)
        return weights


def _original() -> dict[str, Tensor]:
    """The file of the package as it is."""
    found = importlib.util.find_spec(PRETRAINED_PACKAGE)  # does not import it
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("the encoder efficientnet_lite0", "images")
    file = Path(found.submodule_search_locations[0]) / _FILE
    try:
        content = file.read_bytes()
    except OSError as problem:
        raise RunError(
            f"{file}: could not be read ({problem.strerror}). Install the package {PRETRAINED_PACKAGE} anew"
        ) from problem
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise RunError(
            f"{file}: these are not the weights that seqloom knows. Install version 0.1.0 of {PRETRAINED_PACKAGE} anew"
        )
    weights: dict[str, Tensor] = torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")
    return weights


def folded(original: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The package's weights as those of convolutions alone, by our names.

    `gamma (W x - mean) / sqrt(var + eps) + beta` is a convolution with a scaled `W` and a bias.
    """
    names = {"stem": ("_conv_stem", "_bn0"), "head": ("_conv_head", "_bn1")}
    parts = {"expand": ("_expand_conv", "_bn0"), "depthwise": ("_depthwise_conv", "_bn1"), "project": ("_project_conv", "_bn2")}
    blocks = 1 + max(int(name.split(".")[1]) for name in original if name.startswith("_blocks."))
    for block in range(blocks):
        names |= {
            f"blocks.{block}.{part}": (f"_blocks.{block}.{convolution}", f"_blocks.{block}.{normalisation}")
            for part, (convolution, normalisation) in parts.items()
            if f"_blocks.{block}.{convolution}.weight" in original
        }
    weights = {}
    for name, (convolution, normalisation) in names.items():
        kernel, gamma, beta, mean, variance = (
            original[key].double()
            for key in (
                f"{convolution}.weight",
                *(f"{normalisation}.{part}" for part in ("weight", "bias", "running_mean", "running_var")),
            )
        )
        scale = gamma / torch.sqrt(variance + _EPSILON)
        weights[f"{name}.weight"] = (kernel * scale[:, None, None, None]).float().contiguous()
        weights[f"{name}.bias"] = (beta - mean * scale).float()
    return weights


def _save(weights: dict[str, Tensor], file: Path) -> None:
    """Write a file that is either whole or not there."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            fresh = Path(folder) / file.name
            fresh.write_bytes(sealed({name: tensor.numpy() for name, tensor in weights.items()}, {}))
            fresh.replace(file)
    except OSError as problem:
        raise WriteError(
            f"{file}: could not write the converted weights ({problem}). "
            "Free some space, or name another folder in SEQLOOM_CACHE"
        ) from problem
