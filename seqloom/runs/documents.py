"""The documents of a run folder: what run.json, counters and records hold. A stranger may have written them."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict, cast

from seqloom.errors import RunError
from seqloom.system.files import LARGEST_DOCUMENT, LARGEST_VOCABULARY, read_regular
from seqloom.system.json_parsing import MAYBE_NUMBER, NUMBER, Types, parse_json, parse_object, require_types

FORMAT = 1
"""The format number of run folders. A reader refuses other numbers with a sentence."""


class StartFacts(TypedDict, total=False):
    """Which run another one was started from, the hash of its weights, and that of what was taken over."""

    run: str
    weights: str
    sha256: str
    fresh: list[str]
    new_symbols: dict[str, int]


class AverageFacts(TypedDict):
    """Of which run, and of which of its steps, weights are the mean."""

    run: str
    steps: list[int]


class RunFacts(TypedDict, total=False):
    """What run.json says, or the model.json of an exported model. Runs of earlier versions may lack some of it."""

    format: int
    files: dict[str, str]
    versions: dict[str, str]
    command: list[str]
    fingerprint: str
    data: dict[str, str]
    threads: int
    precision: Literal["fp32", "bf16"]
    examples: dict[str, int]
    unknown_targets: int
    minutes: float
    start: StartFacts
    average: AverageFacts
    graphs: dict[str, Any]
    """Of an exported model: what `seqloom.runtime` must know of its graphs."""
    metrics: dict[str, float]
    search: dict[str, Any]


class Counters(TypedDict, total=False):
    """How far training has come: all that a resumed run must know beside weights and optimiser."""

    step: int
    seconds: float
    best: float
    best_step: int
    stale: int
    plateau_stale: int
    reductions: int
    logged_nll: float
    logged_symbols: int
    finished: str


# What a run says of itself, and what is taken for granted if it says nothing of it.
_FACTS: Types = {
    "versions": dict,
    "command": list,
    "fingerprint": str,
    "threads": int,
    "precision": str,
    "examples": dict,
    "data": dict,
    "files": dict,
    "start": dict,
}
_START: Types = {"run": str, "weights": str, "sha256": str}
_UNSAID: dict[str, Any] = {"versions": {}, "command": [], "fingerprint": "", "threads": 1, "precision": "fp32", "examples": {}}
_COUNTERS: Types = {
    "step": int,
    "seconds": NUMBER,
    "best_step": int,
    "stale": int,
    "plateau_stale": int,
    "reductions": int,
    "logged_nll": NUMBER,
    "logged_symbols": int,
    "finished": str,
}
_RECORD: Types = {"kind": str, "step": int}
_NO_NUMBERS = frozenset({"kind", "uses_source"})
_CHECKSUM = "crc32"
_MOST_THREADS = 4096


def to_line(record: Mapping[str, Any]) -> bytes:
    """A record as a line. Its last entry is a checksum of the others: a changed number must not pass for a measured one."""
    text = json.dumps(dict(record), ensure_ascii=False)
    return json.dumps({**record, _CHECKSUM: zlib.crc32(text.encode())}, ensure_ascii=False).encode() + b"\n"


def parse_record(line: bytes, *, sealed: bool = False) -> dict[str, Any]:
    """A record of metrics.jsonl. sealed: it must have a checksum; earlier versions wrote none."""
    record = parse_json(line)
    if not isinstance(record, dict) or not record.keys() >= _RECORD.keys():
        raise ValueError(f"expected an object with `kind` and `step`, found {line[:60].decode(errors='replace')}")
    require_types(record, _RECORD)
    require_types(record, {name: MAYBE_NUMBER for name in record if name not in _NO_NUMBERS}, optional=True)
    checksum = record.pop(_CHECKSUM, None)
    if checksum is None and sealed:
        raise ValueError(f"the entry of step {record['step']} has no checksum")
    if checksum is not None and zlib.crc32(json.dumps(record, ensure_ascii=False).encode()) != checksum:
        raise ValueError(f"the entry of step {record['step']} does not match its checksum")
    return record


def sha256(content: bytes) -> str:
    """The SHA-256 hash in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def seal_of(body: Mapping[str, Any]) -> str:
    """The hash by which a document knows itself."""
    return sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode())


def is_sealed(latest: dict[str, Any]) -> bool:
    """Whether what `latest` says, of which its hash is taken, is as it was written. Earlier versions wrote no hash of it."""
    seal = latest.pop("sha256", None)
    return (seal is None and "records" not in latest) or seal == seal_of(latest)


def read_facts(path: Path) -> RunFacts:
    """What run.json says."""
    try:
        body = parse_object(read_regular(path, limit=LARGEST_DOCUMENT, inside=path.parent), {"format": (int, str, float)})
        seal = body.pop("sha256", None)
    except (OSError, ValueError) as problem:
        raise RunError(f"{path}: is damaged or was not written by seqloom ({reason_of(problem)})") from problem
    if body["format"] != FORMAT:
        raise RunError(
            f"{path}: has run format {body['format']}; this version of seqloom reads format {FORMAT}. "
            "Install the version that wrote it"
        )
    if seal != seal_of(body):
        raise RunError(f"{path}: its content does not match its own hash: it is damaged or was changed. Restore it from a copy")
    try:
        require_types(body, {"files": dict})
        require_types(body, _FACTS, optional=True)
        if "start" in body:
            require_types(body["start"], _START)
        for name, kind in (("examples", int), ("data", str)):
            require_types(body.get(name, {}), dict.fromkeys(body.get(name, {}), kind))
        if not 1 <= body.get("threads", 1) <= _MOST_THREADS:
            raise ValueError(f"expected 1 to {_MOST_THREADS} threads, found {body['threads']}")
    except ValueError as problem:
        raise RunError(f"{path}: was not written by seqloom ({problem})") from problem
    return cast("RunFacts", {**_UNSAID, **body})


def read_fixed(path: Path, name: str, facts: RunFacts) -> str:
    """The text of a fixed file of the run, if it is still what was written."""
    try:
        content = read_regular(path / name, limit=LARGEST_VOCABULARY, inside=path)
    except FileNotFoundError as problem:
        raise RunError(f"{path / name}: is missing from the run folder. Restore it from a copy") from problem
    except (OSError, ValueError) as problem:
        raise RunError(f"{path / name}: cannot be read ({reason_of(problem)}). Restore it from a copy") from problem
    if sha256(content) != facts["files"].get(name):
        raise RunError(
            f"{path / name}: was changed or damaged since the run was made. Restore it; to train differently, start another run"
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise RunError(f"{path / name}: expected UTF-8, found something else ({problem}). Restore it from a copy") from problem


def parse_counters(text: bytes) -> Counters:
    """The counters of a checkpoint. Raises ValueError."""
    counters = parse_object(text, {"step": int, "finished": str})
    require_types(counters, _COUNTERS, optional=True)
    if not isinstance(counters.get("best", 0.0), int | float):  # infinite before the first validation
        raise ValueError("expected a number for 'best', found something else")
    return cast("Counters", counters)


def reason_of(problem: Exception) -> str:
    """What the file system says, without its numbers."""
    return str((problem.strerror if isinstance(problem, OSError) else None) or problem)
