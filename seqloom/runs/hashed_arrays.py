"""Arrays as safetensors whose header carries facts about them, and the hash of both. Nothing is ever unpickled."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.errors import MissingExtraError, RunError
from seqloom.system.files import LARGEST_DOCUMENT, LARGEST_WEIGHTS, open_regular, read_regular
from seqloom.system.json_parsing import parse_object, require_types

Arrays = Mapping[str, npt.NDArray[Any]]

_SEAL = "seqloom"


class BrokenSealError(ValueError):
    """A file that is whole but does not match its own hash."""

    def __init__(self) -> None:
        super().__init__("its content does not match its own hash: it is damaged or was changed")


def sealed(arrays: Arrays, facts: Mapping[str, str]) -> bytes:
    """Arrays and facts as the content of a file."""
    from safetensors.numpy import save as to_safetensors

    # Not np.ascontiguousarray, which gives a single number (an optimiser's step) an axis.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    seal = {**facts, "sha256": digest(contiguous, facts)}
    # One entry: safetensors writes several in random order, and equal weights should be equal files.
    return bytes(to_safetensors(contiguous, metadata={_SEAL: json.dumps(seal, sort_keys=True)}))


def read_sealed(path: Path, *, inside: Path | None = None) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """Read back what `sealed` made. Raises OSError, ValueError if it is no such file, BrokenSealError if it has changed."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load as from_safetensors
    except ModuleNotFoundError as problem:
        raise MissingExtraError("Running a model", "train") from problem
    content = read_regular(path, limit=LARGEST_WEIGHTS, inside=inside)
    try:
        arrays: dict[str, npt.NDArray[Any]] = from_safetensors(content)
    except SafetensorError as problem:
        raise ValueError(f"{problem}") from problem
    facts = _facts(content[8 : 8 + int.from_bytes(content[:8], "little")])
    del content  # twice the weights is enough
    if facts.pop("sha256", None) != digest(arrays, facts):
        raise BrokenSealError
    return arrays, facts


def unsealed(path: Path, *, inside: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """The arrays and facts of a file of a run, if they are what was written."""
    with _explained(path):
        return read_sealed(path, inside=inside)


def sealed_number(path: Path, name: str, *, inside: Path) -> float:
    """A number among the facts of a file of a run. Its arrays are not read, so the hash is not checked."""
    with _explained(path), open_regular(path, limit=LARGEST_WEIGHTS, inside=inside) as stream:
        size = int.from_bytes(stream.read(8), "little")
        if size > LARGEST_DOCUMENT:
            raise ValueError(f"expected a header of at most {LARGEST_DOCUMENT:,} bytes, found {size:,}")
        facts = _facts(stream.read(size))
        require_types(facts, {name: str})
        return float(facts[name])


def digest(arrays: Arrays, facts: Mapping[str, str]) -> str:
    """The hash of arrays with their names, types and shapes, and of facts about them."""
    found = hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def _facts(header: bytes) -> dict[str, str]:
    """The facts in the header of a safetensors file, the hash among them. Raises ValueError."""
    try:
        facts = parse_object(parse_object(header)["__metadata__"][_SEAL])
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"{problem}") from problem
    if not all(isinstance(value, str) for value in facts.values()):
        raise ValueError("expected facts that are text")
    return facts


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say which file of a run is damaged, and what to do."""
    try:
        yield
    except BrokenSealError as problem:
        raise RunError(f"{path}: {problem}. Restore it from a copy") from problem
    except (OSError, ValueError) as problem:
        raise RunError(
            f"{path}: is damaged or not a weights file ({problem}). Restore it from a copy, or train again"
        ) from problem
