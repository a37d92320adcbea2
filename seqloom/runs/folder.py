"""The run folder: the only reader and writer of it.

    recipe.yaml             the fully resolved recipe
    run.json                format number, versions, command, data fingerprint, threads, precision, hashes of fixed files
    tokenizers/<name>.json  vocabularies
    start.safetensors       the weights to start with, if another run gave some (`--from`); gone after the first checkpoint
    weights.safetensors     the best weights so far; its header carries its own hash
    kept/<step>.safetensors the weights of other validations, if the recipe wants some kept (`training.keep`)
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
import json
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy.typing as npt

from seqloom.errors import RecipeError, RunError
from seqloom.recipe import Recipe, parse_recipe, to_yaml
from seqloom.runs.documents import (
    FORMAT,
    Counters,
    RunFacts,
    is_sealed,
    parse_counters,
    parse_record,
    read_facts,
    read_fixed,
    reason_of,
    seal_of,
    sha256,
    to_line,
)
from seqloom.runs.hashed_arrays import Arrays, digest, sealed, unsealed
from seqloom.runs.locking import lock
from seqloom.runs.snapshots import KeptWeights
from seqloom.system.atomic_files import replace_file, write_synced, writing
from seqloom.system.files import (
    LARGEST_DOCUMENT,
    LARGEST_RECORDS,
    Found,
    found_at,
    make_folder,
    open_to_append,
    read_regular,
)
from seqloom.system.json_parsing import parse_object

RUN_DOCUMENT, EXPORT_DOCUMENT = "run.json", "model.json"
"""What a run, and what an exported model says of itself."""
SEEDS_FILE = "seeds.json"
"""Marks a folder of runs that differ in their seed (`seqloom.runs.seeds`)."""
_START = "start.safetensors"
_ALWAYS = ("weights", "optimiser")
_CHECKPOINT_PARTS = (*_ALWAYS, "average", "carried")


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training. optimiser: empty in a finished one, which has no further use for it.

    average: the moving average of the weights, if one is kept; carried: the decoder's state where running text goes on.
    """

    weights: dict[str, npt.NDArray[Any]]
    optimiser: dict[str, npt.NDArray[Any]]
    counters: Counters
    average: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    carried: dict[str, npt.NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class RunFolder:
    """An opened run. facts: what run.json records."""

    path: Path
    recipe: Recipe
    facts: RunFacts

    # --- creation and opening ---------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: Path,
        recipe: Recipe,
        vocabularies: Mapping[str, str],
        facts: RunFacts,
        *,
        document: str = RUN_DOCUMENT,
        fill: Callable[["RunFolder"], object] = lambda run: None,
    ) -> "RunFolder":
        """Make a new run folder, whole or not at all. vocabularies: the text of each by name.

        document: what the folder says of itself is called; fill: puts further files into the run before it is there under
        its name.
        """
        files = {"recipe.yaml": to_yaml(recipe)}
        files |= {f"tokenizers/{name}.json": text for name, text in vocabularies.items()}
        hashes = {name: sha256(text.encode()) for name, text in files.items()}
        body: RunFacts = {**facts, "format": FORMAT, "files": hashes}
        files[document] = json.dumps({**body, "sha256": seal_of(body)}, indent=1, ensure_ascii=False)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-"))
            draft.chmod(0o755)
            try:
                for name, text in files.items():
                    (draft / name).parent.mkdir(exist_ok=True)
                    write_synced(draft / name, text.encode())
                fill(cls(draft, recipe, body))
                draft.rename(path)
            except BaseException as problem:
                shutil.rmtree(draft, ignore_errors=True)
                _explain_taken(path, problem)
                raise
        return cls(path, recipe, body)

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """Open a run, refusing what is missing, damaged or foreign."""
        found = found_at(path)
        if found is not Found.FOLDER:
            raise RunError(f"{path}: expected a run folder, found {found}. {found.advice}")
        if found_at(path / SEEDS_FILE) is Found.FILE:
            raise RunError(
                f"{path}: holds several runs of different seeds, and one is wanted here. Name it, such as {path / '1'}; "
                "`predict`, `evaluate`, `score`, `explain` and `compare` take them all"
            )
        document = path / (EXPORT_DOCUMENT if found_at(path / EXPORT_DOCUMENT) is Found.FILE else RUN_DOCUMENT)
        found = found_at(document)
        if found is Found.CLOSED:
            raise RunError(f"{path}: may not be read: {found}. Run: chmod -R u+rX {shlex.quote(str(path))}")
        if found is Found.NOTHING:
            raise RunError(
                f"{path}: not a run folder (it has no {RUN_DOCUMENT}). Name a folder that `seqloom train --out` or "
                "`seqloom export --out` wrote"
            )
        facts = read_facts(document)
        try:
            recipe = parse_recipe(read_fixed(path, "recipe.yaml", facts), where=str(path / "recipe.yaml"), by_hand=False)
        except RecipeError as problem:
            raise RunError(f"{path}: its recipe cannot be read by this version of seqloom. {problem}") from problem
        return cls(path, recipe, facts)

    @property
    def is_export(self) -> bool:
        """Whether the folder holds a model in its exported form, as graphs in the place of weights."""
        return "graphs" in self.facts

    @staticmethod
    def exists_at(path: Path) -> bool:
        """Whether the path holds a run already. A folder that holds something else is refused, so that nothing gets lost."""
        found = found_at(path)
        if found is Found.NOTHING:
            return False
        if found is Found.FOLDER:
            if found_at(path / "run.json") is Found.FILE:
                return True
            if found_at(path / SEEDS_FILE) is Found.FILE:
                raise RunError(f"{path}: holds several runs of different seeds. Go on with --seeds, or choose another --out")
            with contextlib.suppress(OSError):
                if not any(path.iterdir()):
                    return False
        if found in (Found.CLOSED, Found.OVERLONG, Found.LOOP):
            raise RunError(f"{path}: expected a place for a run, found {found}. Choose another --out")
        raise RunError(f"{path}: exists and is not a run folder. Choose another --out, or remove it first")

    def vocabularies(self) -> dict[str, str]:
        """The text of each vocabulary by name."""
        names = [name for name in self.facts["files"] if name.startswith("tokenizers/")]
        return {Path(name).stem: read_fixed(self.path, name, self.facts) for name in names}

    def own_folder(self, name: str) -> Path:
        """A folder inside the run, made if need be. A link in its place is refused."""
        with writing(self.path):
            return make_folder(self.path / name)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for training. The lock dies with its process, however that ends."""
        with writing(self.path):
            stream = open_to_append(self.path / ".lock")
        with stream:
            with writing(self.path):
                lock(stream, self.path)
            yield

    # --- weights and checkpoints ------------------------------------------------------------------------------------

    def save_start(self, weights: Arrays) -> None:
        """Keep the weights that training starts with, so that it needs nothing but this folder."""
        with writing(self.path):
            replace_file(self.path / _START, sealed(weights, {}))

    def load_start(self) -> dict[str, npt.NDArray[Any]] | None:
        """The weights that training starts with; None if the recipe's seed draws them."""
        if "start" not in self.facts:
            return None
        weights, facts = unsealed(self.path / _START, inside=self.path)
        if digest(weights, facts) != self.facts["start"]["sha256"]:
            raise RunError(f"{self.path / _START}: is not what this run was started with. Restore it from a copy")
        return weights

    @property
    def kept(self) -> KeptWeights:
        """The weights of other validations than the best one."""
        return KeptWeights(self.path / "kept")

    def save_weights(self, weights: Arrays, facts: Mapping[str, str]) -> None:
        """Replace the best weights."""
        with writing(self.path):
            replace_file(self.path / "weights.safetensors", sealed(weights, facts))

    def load_weights(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
        """The best weights, checked against their own hash, and the facts saved with them."""
        path = self.path / "weights.safetensors"
        if self.is_export:
            raise RunError(f"{self.path}: is an exported model, which has no weights to read. Name the run that it came from")
        if found_at(path) is Found.NOTHING:
            recipe, run = (shlex.quote(str(one)) for one in (self.path / "recipe.yaml", self.path))
            raise RunError(
                f"{self.path}: has no weights yet: its training has not come to a validation. "
                f"Go on with: seqloom train {recipe} --out {run}"
            )
        return unsealed(path, inside=self.path)

    @property
    def num_parameters(self) -> int | None:
        """How many numbers the weights have, tied ones counted once; None before the first checkpoint and validation."""
        if (self.path / "weights.safetensors").is_file():
            return sum(array.size for array in self.load_weights()[0].values())
        checkpoint = self.load_checkpoint()
        return None if checkpoint is None else sum(array.size for array in checkpoint.weights.values())

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Save the state of training; the one before is removed only after this one has become the valid one."""
        step = int(checkpoint.counters["step"])
        base = self.path / "checkpoints"
        with writing(self.path):
            make_folder(base)
            draft = Path(tempfile.mkdtemp(dir=base, prefix="draft-"))
            try:
                for name in _CHECKPOINT_PARTS:
                    if name in _ALWAYS or getattr(checkpoint, name):
                        write_synced(draft / f"{name}.safetensors", sealed(getattr(checkpoint, name), {}))
                counters = json.dumps(checkpoint.counters).encode()
                write_synced(draft / "counters.json", counters)
                folder = base / f"{step}-{draft.name.removeprefix('draft-')}"  # never the name of the valid one
                draft.rename(folder)
                latest = {"folder": folder.name, "counters": sha256(counters), "records": self._size_of_records()}
                replace_file(base / "latest", json.dumps({**latest, "sha256": seal_of(latest)}).encode())
            except OSError:
                shutil.rmtree(draft, ignore_errors=True)
                raise
        for other in base.iterdir():
            if other.is_dir() and not other.is_symlink() and other != folder:
                shutil.rmtree(other, ignore_errors=True)
        with contextlib.suppress(OSError):
            (self.path / _START).unlink(missing_ok=True)

    def counters(self) -> Counters | None:
        """The counters of the latest checkpoint; None before the first."""
        latest = self._latest()
        return None if latest is None else latest[1]

    def _latest(self) -> tuple[dict[str, Any], Counters] | None:
        """What `latest` says, and the counters of the checkpoint that it names; None before the first."""
        base = self.path / "checkpoints"
        if found_at(base / "latest") is Found.NOTHING:
            return None
        try:
            latest = parse_object(
                read_regular(base / "latest", limit=LARGEST_DOCUMENT, inside=self.path), {"folder": str, "counters": str}
            )
            text = read_regular(base / latest["folder"] / "counters.json", limit=LARGEST_DOCUMENT, inside=base)
            if sha256(text) != latest["counters"] or not is_sealed(latest):
                raise ValueError("its counters do not match their hash")
            counters = parse_counters(text)
        except (OSError, ValueError) as problem:
            raise RunError(f"{base}: the latest checkpoint is damaged ({problem}). Start a new run") from problem
        return latest, counters

    def load_checkpoint(self) -> Checkpoint | None:
        """The latest checkpoint, checked against its hashes; None before the first."""
        found = self._latest()
        if found is None:
            return None
        latest, counters = found
        folder = self.path / "checkpoints" / latest["folder"]
        files = {name: folder / f"{name}.safetensors" for name in _CHECKPOINT_PARTS}
        wanted = {name: path for name, path in files.items() if name in _ALWAYS or found_at(path) is not Found.NOTHING}
        return Checkpoint(counters=counters, **{name: unsealed(path, inside=self.path)[0] for name, path in wanted.items()})

    # --- records ----------------------------------------------------------------------------------------------------

    def append_metrics(self, record: Mapping[str, Any]) -> None:
        """Add one line to metrics.jsonl."""
        with writing(self.path), open_to_append(self.path / "metrics.jsonl") as stream:
            stream.write(to_line(record))

    def validation_at(self, step: object) -> dict[str, Any]:
        """What was measured at a step; nothing if there was no validation then."""
        kept = (record for record in self.metrics() if record["kind"] == "validation")
        return next((record for record in kept if str(record["step"]) == str(step)), {})

    def metrics(self) -> list[dict[str, Any]]:
        """All records of metrics.jsonl; a last line that a kill cut short does not count.

        A file that is shorter than the latest checkpoint says has lost records; without a file there are none.
        """
        latest = self._latest()
        promised = None if latest is None else latest[0].get("records")
        lines = self._lines()
        records = self._parsed(lines, sealed=promised is not None)
        lost = (promised or 0) - sum(len(line) + 1 for line in lines)
        if lost > 0 and found_at(self.path / "metrics.jsonl") is not Found.NOTHING:
            raise RunError(
                f"{self.path / 'metrics.jsonl'}: is damaged: it has lost {lost:,} bytes since the latest checkpoint. "
                "Restore it from a copy; delete it to do without it"
            )
        return records

    def _lines(self) -> list[bytes]:
        """The whole lines of metrics.jsonl; none if there is no such file."""
        path = self.path / "metrics.jsonl"
        if found_at(path) is Found.NOTHING:
            return []
        try:
            return read_regular(path, limit=LARGEST_RECORDS, inside=self.path).split(b"\n")[:-1]
        except OSError as problem:
            raise RunError(f"{path}: cannot be read ({reason_of(problem)}). Restore it from a copy, or delete it") from problem

    def _parsed(self, lines: list[bytes], *, sealed: bool) -> list[dict[str, Any]]:
        """Records of lines. sealed: each must have a checksum."""
        try:
            return [parse_record(line, sealed=sealed) for line in lines]
        except ValueError as problem:
            raise RunError(
                f"{self.path / 'metrics.jsonl'}: is damaged ({problem}). Remove the damaged lines; training goes on without"
            ) from problem

    def _size_of_records(self) -> int:
        with contextlib.suppress(OSError):
            return (self.path / "metrics.jsonl").stat().st_size
        return 0

    def cut_back(self, step: int) -> None:
        """Forget what was recorded after the given step: a resumed run writes it again."""
        kept = [record for record in self._parsed(self._lines(), sealed=False) if record["step"] <= step]
        with writing(self.path):
            if (self.path / "metrics.jsonl").exists():
                replace_file(self.path / "metrics.jsonl", b"".join(map(to_line, kept)))
            if (self.path / "validation").exists():
                for path in make_folder(self.path / "validation").glob("*.json"):
                    if path.stem.isdecimal() and int(path.stem) > step:
                        path.unlink()
        self.kept.drop(kept for kept in self.kept.steps if kept > step)

    def write_validation(self, step: int, body: Mapping[str, Any]) -> None:
        """Keep the samples of a validation."""
        with writing(self.path):
            replace_file(
                make_folder(self.path / "validation") / f"{step}.json", json.dumps(body, ensure_ascii=False, indent=1).encode()
            )

    def write_text(self, name: str, text: str) -> Path:
        """Write a document such as the model card or the report."""
        with writing(self.path):
            replace_file(self.path / name, text.encode())
        return self.path / name


def _explain_taken(path: Path, problem: BaseException) -> None:
    """Say why a folder cannot become a run, if it is for what stands at its place."""
    match problem:
        case OSError(errno=errno.ENOTEMPTY):
            raise RunError(f"{path}: another process has just made this run. Choose another --out") from problem
        case OSError(errno=errno.EBUSY):
            raise RunError(
                f"{path}: is the working folder or the root of a disk, which cannot become a run. "
                f"Name a folder inside it, such as --out {path / 'run'}"
            ) from problem
