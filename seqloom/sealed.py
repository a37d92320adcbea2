"""Arrays as safetensors whose header carries facts about them, and the hash of both. Nothing is ever unpickled."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load as from_safetensors
from safetensors.numpy import save as to_safetensors

from seqloom.files import LARGEST_WEIGHTS, read_regular
from seqloom.parsing import parse_object

Arrays = Mapping[str, npt.NDArray[Any]]

_SEAL = "seqloom"


class BrokenSealError(ValueError):
    """A file that is whole but does not match its own hash."""

    def __init__(self) -> None:
        super().__init__("its content does not match its own hash: it is damaged or was changed")


def sealed(arrays: Arrays, facts: Mapping[str, str]) -> bytes:
    """Arrays and facts as the content of a file."""
    # Not np.ascontiguousarray, which gives a single number (an optimiser's step) an axis.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    seal = {**facts, "sha256": _digest(contiguous, facts)}
    # One entry: safetensors writes several in random order, and equal weights should be equal files.
    return bytes(to_safetensors(contiguous, metadata={_SEAL: json.dumps(seal, sort_keys=True)}))


def read_sealed(path: Path, *, inside: Path | None = None) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """Read back what `sealed` made. Raises OSError, ValueError if it is no such file, BrokenSealError if it has changed."""
    content = read_regular(path, limit=LARGEST_WEIGHTS, inside=inside)
    try:
        arrays: dict[str, npt.NDArray[Any]] = from_safetensors(content)
        header = parse_object(content[8 : 8 + int.from_bytes(content[:8], "little")])
        facts = parse_object(header["__metadata__"][_SEAL])
    except (SafetensorError, KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"{problem}") from problem
    del content  # twice the weights is enough
    if not all(isinstance(value, str) for value in facts.values()):
        raise ValueError("expected facts that are text")
    if facts.pop("sha256", None) != _digest(arrays, facts):
        raise BrokenSealError
    return arrays, facts


def _digest(arrays: Arrays, facts: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
