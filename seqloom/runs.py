"""The run folder: the only reader and writer of it.

    recipe.yaml             the fully resolved recipe
    run.json                format number, versions, command, data fingerprint, threads, precision, hashes of fixed files
    tokenizers/<name>.json  vocabularies
    weights.safetensors     the best weights so far; its header carries its own hash
    checkpoints/<step>/     weights, optimiser and counters, and what else the recipe needs kept: the weights' average, the
                            state of running text; the file `latest` beside them names the valid one
    metrics.jsonl           one line per log entry and validation
    validation/<step>.json  sample predictions and an attention map of each validation
    model-card.md           what the model is, for its users

Everything is written beside its place and renamed into it, so that a kill between any two system calls leaves a valid
folder. Nothing is ever unpickled.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from seqloom.errors import RecipeError, RunError, WriteError
from seqloom.recipe import Recipe, parse_recipe, to_yaml

Arrays = Mapping[str, npt.NDArray[Any]]

_SEAL = "seqloom"
_ALWAYS = ("weights", "optimiser")
_CHECKPOINT_PARTS = (*_ALWAYS, "average", "carried")

FORMAT = 1
"""The format number of run folders. A reader refuses other numbers with a sentence."""


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training. optimiser: empty in a finished one, which has no further use for it.

    average: the moving average of the weights, if one is kept; carried: the decoder's state where running text goes on.
    """

    weights: dict[str, npt.NDArray[Any]]
    optimiser: dict[str, npt.NDArray[Any]]
    counters: dict[str, Any]
    average: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    carried: dict[str, npt.NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class RunFolder:
    """An opened run. facts: what run.json records."""

    path: Path
    recipe: Recipe
    facts: dict[str, Any]

    # --- creation and opening ---------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, recipe: Recipe, vocabularies: Mapping[str, str], facts: Mapping[str, Any]) -> "RunFolder":
        """Make a new run folder, whole or not at all. vocabularies: the text of each by name."""
        files = {"recipe.yaml": to_yaml(recipe)}
        files |= {f"tokenizers/{name}.json": text for name, text in vocabularies.items()}
        body = {**facts, "format": FORMAT, "files": {name: _sha256(text.encode()) for name, text in files.items()}}
        files["run.json"] = json.dumps({**body, "sha256": _seal(body)}, indent=1, ensure_ascii=False)
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-"))
            draft.chmod(0o755)
            try:
                for name, text in files.items():
                    (draft / name).parent.mkdir(exist_ok=True)
                    _write_synced(draft / name, text.encode())
                draft.rename(path)
            except OSError as problem:
                shutil.rmtree(draft, ignore_errors=True)
                if problem.errno == errno.ENOTEMPTY:
                    raise RunError(f"{path}: another process has just made this run. Choose another --out") from problem
                if problem.errno == errno.EBUSY:
                    raise RunError(
                        f"{path}: is the working folder or the root of a disk, which cannot become a run. "
                        f"Name a folder inside it, such as --out {path / 'run'}"
                    ) from problem
                raise
        return cls(path, recipe, body)

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """Open a run, refusing what is missing, damaged or foreign."""
        if not path.is_dir():
            raise RunError(f"{path}: expected a run folder, found {'a file' if path.exists() else 'nothing'}. Check the path")
        if not (path / "run.json").is_file():
            raise RunError(f"{path}: not a run folder (it has no run.json). Name a folder that `seqloom train --out` wrote")
        facts = _read_facts(path / "run.json")
        try:
            recipe = parse_recipe(_verified(path, "recipe.yaml", facts), where=str(path / "recipe.yaml"))
        except RecipeError as problem:
            raise RunError(f"{path}: its recipe cannot be read by this version of seqloom. {problem}") from problem
        return cls(path, recipe, facts)

    @staticmethod
    def exists_at(path: Path) -> bool:
        """Whether the path holds a run already. A folder that holds something else is refused, so that nothing gets lost."""
        if (path / "run.json").is_file():
            return True
        if path.is_dir() and not any(path.iterdir()):
            return False
        if path.exists():
            raise RunError(f"{path}: exists and is not a run folder. Choose another --out, or remove it first")
        return False

    def vocabularies(self) -> dict[str, str]:
        """The text of each vocabulary by name."""
        names = [name for name in self.facts["files"] if name.startswith("tokenizers/")]
        return {Path(name).stem: _verified(self.path, name, self.facts) for name in names}

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for training. The lock dies with its process, however that ends."""
        with _writing(self.path):
            stream = (self.path / ".lock").open("a+")
        with stream:
            with _writing(self.path):
                _lock(stream, self.path)
            yield

    # --- weights and checkpoints ------------------------------------------------------------------------------------

    def save_weights(self, weights: Arrays, facts: Mapping[str, str]) -> None:
        """Replace the best weights."""
        with _writing(self.path):
            _replace(self.path / "weights.safetensors", _sealed(weights, facts))

    def load_weights(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
        """The best weights, checked against their own hash, and the facts saved with them."""
        path = self.path / "weights.safetensors"
        if not path.is_file():
            raise RunError(
                f"{self.path}: has no weights yet: its training has not come to a validation. "
                f"Go on with: seqloom train {self.path / 'recipe.yaml'} --out {self.path}"
            )
        return _unsealed(path)

    @property
    def num_parameters(self) -> int:
        """How many numbers the best weights have; tied ones count once."""
        weights, _ = self.load_weights()
        return sum(array.size for array in weights.values())

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Save the state of training; the one before is removed only after this one has become the valid one."""
        step = int(checkpoint.counters["step"])
        base = self.path / "checkpoints"
        with _writing(self.path):
            base.mkdir(exist_ok=True)
            draft = Path(tempfile.mkdtemp(dir=base, prefix="draft-"))
            try:
                for name in _CHECKPOINT_PARTS:
                    if name in _ALWAYS or getattr(checkpoint, name):
                        _write_synced(draft / f"{name}.safetensors", _sealed(getattr(checkpoint, name), {}))
                counters = json.dumps(checkpoint.counters).encode()
                _write_synced(draft / "counters.json", counters)
                folder = base / f"{step}-{draft.name.removeprefix('draft-')}"  # never the name of the valid one
                draft.rename(folder)
                _replace(base / "latest", json.dumps({"folder": folder.name, "counters": _sha256(counters)}).encode())
            except OSError:
                shutil.rmtree(draft, ignore_errors=True)
                raise
        for other in base.iterdir():
            if other.is_dir() and other != folder:
                shutil.rmtree(other, ignore_errors=True)

    def counters(self) -> dict[str, Any] | None:
        """The counters of the latest checkpoint; None before the first."""
        pointer = self.path / "checkpoints" / "latest"
        if not pointer.exists():
            return None
        try:
            latest = json.loads(pointer.read_text())
            text = (pointer.parent / latest["folder"] / "counters.json").read_bytes()
            if _sha256(text) != latest["counters"]:
                raise ValueError("its counters do not match their hash")
            counters: dict[str, Any] = json.loads(text)
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise RunError(f"{pointer.parent}: the latest checkpoint is damaged ({problem}). Start a new run") from problem
        return counters

    def load_checkpoint(self) -> Checkpoint | None:
        """The latest checkpoint, checked against its hashes; None before the first."""
        counters = self.counters()
        if counters is None:
            return None
        folder = self.path / "checkpoints" / json.loads((self.path / "checkpoints" / "latest").read_text())["folder"]
        files = {name: folder / f"{name}.safetensors" for name in _CHECKPOINT_PARTS}
        parts = {name: _unsealed(path)[0] for name, path in files.items() if name in _ALWAYS or path.exists()}
        return Checkpoint(counters=counters, **parts)

    # --- records ----------------------------------------------------------------------------------------------------

    def append_metrics(self, record: Mapping[str, Any]) -> None:
        """Add one line to metrics.jsonl."""
        with _writing(self.path), (self.path / "metrics.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """All records of metrics.jsonl; a last line that a kill cut short does not count."""
        path = self.path / "metrics.jsonl"
        if not path.exists():
            return []
        try:
            return [_record(line) for line in path.read_bytes().split(b"\n")[:-1]]
        except (OSError, ValueError) as problem:
            raise RunError(
                f"{path}: is damaged ({problem}). Remove the damaged lines; training goes on without them"
            ) from problem

    def cut_back(self, step: int) -> None:
        """Forget what was recorded after the given step: a resumed run writes it again."""
        kept = [record for record in self.metrics() if record["step"] <= step]
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept)
        with _writing(self.path):
            if (self.path / "metrics.jsonl").exists():
                _replace(self.path / "metrics.jsonl", text.encode())
            for path in (self.path / "validation").glob("*.json"):
                if path.stem.isdecimal() and int(path.stem) > step:
                    path.unlink()

    def write_validation(self, step: int, body: Mapping[str, Any]) -> None:
        """Keep the samples of a validation."""
        with _writing(self.path):
            (self.path / "validation").mkdir(exist_ok=True)
            _replace(self.path / "validation" / f"{step}.json", json.dumps(body, ensure_ascii=False, indent=1).encode())

    def write_text(self, name: str, text: str) -> Path:
        """Write a document such as the model card or the report."""
        with _writing(self.path):
            _replace(self.path / name, text.encode())
        return self.path / name


def write_file(path: Path, content: bytes) -> None:
    """Write a file that a user asked for, whole or not at all."""
    with open_file(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that a user asked for; it takes its place when all is written, and whatever fails leaves the old one."""
    with _writing(path, kept=""):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not the name that a run's own files use: two processes may write one report, and only one may train a run.
        with _replacing(path, path.with_name(f".{path.name}.{os.getpid()}.draft")) as stream:
            yield stream


@contextlib.contextmanager
def _writing(path: Path, *, kept: str = "What was saved before is still valid. ") -> Iterator[None]:
    """Turn failures of the file system into a sentence. kept: what a run still has."""
    try:
        yield
    except BrokenPipeError:  # standard output has lost its reader while a file was open: not this file's trouble
        raise
    except OSError as problem:
        raise WriteError(
            f"{path}: could not be written ({problem.strerror or problem}). {kept}Check the space and the permissions"
        ) from problem


def _lock(stream: IO[str], path: Path) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as problem:
        stream.seek(0)
        raise RunError(
            f"{path}: is being trained by another process ({stream.read().strip() or 'unknown'}). "
            "Wait for it to end, stop it, or choose another --out"
        ) from problem
    stream.truncate(0)
    stream.write(f"process {os.getpid()}")
    stream.flush()


@contextlib.contextmanager
def _synced(path: Path) -> Iterator[IO[bytes]]:
    with path.open("wb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def _write_synced(path: Path, content: bytes) -> None:
    with _synced(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def _replacing(path: Path, draft: Path) -> Iterator[IO[bytes]]:
    """Write a draft beside the goal and rename it."""
    try:
        with _synced(draft) as stream:
            yield stream
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _replace(path: Path, content: bytes) -> None:
    with _replacing(path, path.with_name(f".{path.name}.draft")) as stream:
        stream.write(content)


def _record(line: bytes) -> dict[str, Any]:
    record = json.loads(line)
    if not isinstance(record, dict) or not {"kind", "step"} <= record.keys():
        raise ValueError(f"expected an object with `kind` and `step`, found {line[:60].decode(errors='replace')}")
    return record


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _seal(body: Mapping[str, Any]) -> str:
    return _sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode())


def _digest(arrays: Arrays, facts: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _sealed(arrays: Arrays, facts: Mapping[str, str]) -> bytes:
    """Arrays as safetensors whose header carries the facts, and the hash of both."""
    # Not np.ascontiguousarray, which gives a single number (an optimiser's step) an axis.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    seal = {**facts, "sha256": _digest(contiguous, facts)}
    # One entry: safetensors writes several in random order, and equal weights should be equal files.
    return bytes(to_safetensors(contiguous, metadata={_SEAL: json.dumps(seal, sort_keys=True)}))


def _unsealed(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    try:
        with safe_open(path, framework="numpy") as file:
            facts: dict[str, str] = json.loads((file.metadata() or {})[_SEAL])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as problem:
        raise RunError(
            f"{path}: is damaged or not a weights file ({problem}). Restore it from a copy, or train again"
        ) from problem
    if facts.pop("sha256", None) != _digest(arrays, facts):
        raise RunError(f"{path}: its content does not match its own hash: it is damaged or was changed. Restore it from a copy")
    return arrays, facts


def _read_facts(path: Path) -> dict[str, Any]:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        found = body["format"]
        seal = body.pop("sha256", None)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise RunError(f"{path}: is damaged or was not written by seqloom ({problem})") from problem
    if found != FORMAT:
        raise RunError(
            f"{path}: has run format {found}; this version of seqloom reads format {FORMAT}. Install the version that wrote it"
        )
    if seal != _seal(body):
        raise RunError(f"{path}: its content does not match its own hash: it is damaged or was changed. Restore it from a copy")
    facts: dict[str, Any] = body
    return facts


def _verified(path: Path, name: str, facts: Mapping[str, Any]) -> str:
    """The text of a fixed file of the run, if it is still what was written."""
    try:
        content = (path / name).read_bytes()
    except OSError as problem:
        raise RunError(
            f"{path / name}: is missing from the run folder ({problem.strerror}). Restore it from a copy"
        ) from problem
    if _sha256(content) != facts["files"].get(name):
        raise RunError(
            f"{path / name}: was changed or damaged since the run was made. Restore it; to train differently, start another run"
        )
    return content.decode("utf-8")
