"""What attacks share: a folder to work in, tiny models to attack, commands in this process with a watchdog, and findings."""

import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

PATIENCE = 60
"""Seconds after which a command counts as hanging: each should take a few hundredths, on a busy machine some tenths."""
ROOM = 3 << 30
"""Bytes of address space that an attack on parsers may take beyond what the libraries have taken."""
_MOST_FAULTS = 20


@dataclass
class Findings:
    """What came of an attack: how many attempts there were, what became of them, and which of them are faults of seqloom."""

    attempts: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def add(self, outcome: str, fault: str = "") -> None:
        """Count an attempt. fault: what is wrong about it, with all that one needs to repeat it."""
        self.attempts += 1
        self.outcomes["FAULT" if fault else outcome] += 1
        if fault and len(self.faults) < _MOST_FAULTS:
            self.faults.append(fault)

    def as_json(self) -> dict[str, Any]:
        """For programs, and for the pipe to the process that asked for it."""
        body = {"attempts": self.attempts, "outcomes": dict(self.outcomes.most_common()), "faults": self.faults}
        return {**body, "facts": self.facts}

    @classmethod
    def of_json(cls, body: Mapping[str, Any]) -> "Findings":
        """Read back what `as_json` made."""
        return cls(body["attempts"], Counter(body["outcomes"]), body["faults"], body["facts"])


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it wrote. code: -1 if it ended in a traceback, -2 if it did not end."""

    code: int
    out: str
    err: str
    seconds: float = 0.0

    def fault(self, codes: set[int]) -> str:
        """What is wrong with this answer if these codes are right; empty if nothing is."""
        if self.code == -2:
            return f"no answer within {PATIENCE} s: {self.err}"
        if self.code == -1 or "Traceback" in self.err:
            return f"a traceback: {self.err[-600:]}"
        if self.code not in codes:
            return f"exit code {self.code}, not one of {sorted(codes)}: {self.err[-300:]}"
        if self.code >= 2 and not self.err.strip():
            return f"exit code {self.code} without a word"
        return ""


class _Hanging(BaseException):
    """Raised into a command that takes too long; no command catches it."""


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Raise if what is inside takes longer."""

    def bite(_signal: int, _frame: FrameType | None) -> None:
        raise _Hanging

    before = signal.signal(signal.SIGALRM, bite)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@cache
def _quicken() -> None:
    """Put the commands together once for all calls, and not at every call: that takes longer than most commands."""
    import typer.main

    typer.main.get_command = cache(typer.main.get_command)


def command(*words: object, given: bytes = b"") -> Answer:
    """Run a seqloom command in this process, as `python -m seqloom` would."""
    from seqloom.__main__ import main

    _quicken()
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape") for _ in range(2))
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    sys.argv = ["seqloom", *map(str, words)]
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(given)), out, err
    code, trouble, began = -1, "", clock()
    try:
        with watched(PATIENCE):
            main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    except _Hanging:
        code, trouble = -2, traceback.format_exc()
    except BaseException:
        trouble = traceback.format_exc()
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
    written = []
    for stream in (out, err):
        stream.flush()
        written.append(stream.buffer.getvalue().decode("utf-8", "replace"))
    return Answer(code, written[0], written[1] + trouble, clock() - began)


@dataclass(frozen=True)
class Ground:
    """Where an attack takes place. quick: a small part of it, for tests. scale: a factor of the full counts."""

    folder: Path
    seed: int
    quick: bool
    scale: float = 1.0

    def count(self, full: int, quick: int) -> int:
        """How many attempts to make."""
        return quick if self.quick else max(1, round(full * self.scale))

    def draw(self, name: str) -> random.Random:
        """Random numbers that depend on the seed and a name alone."""
        return random.Random(f"{self.seed} {name}")

    def place(self, name: str) -> Path:
        """An empty folder."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def say(self, text: str) -> None:
        """Progress, on standard error."""
        print(f"  {text}", file=sys.stderr, flush=True)


def isolated(work: Callable[[], Findings]) -> Findings:
    """Do something in a child of this process, so that a crash is a finding and limits end with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            body = work().as_json()
        except BaseException:
            body = Findings(1, Counter({"FAULT": 1}), [f"the attack itself failed: {traceback.format_exc()}"]).as_json()
        with os.fdopen(writing, "w") as stream:
            json.dump(body, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return Findings(1, Counter({"FAULT": 1}), [f"the process died (wait status {status})"])
    return Findings.of_json(json.loads(text))


def limit_memory() -> None:
    """From here on, what asks for much more memory than there is now fails with a MemoryError, and is found out."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, resource.RLIM_INFINITY))


# --- models to attack -----------------------------------------------------------------------------------------------


def words(draw: random.Random, count: int) -> list[str]:
    """Words of a few letters."""
    return ["".join(draw.choices("abcdefgh", k=draw.randint(2, 7))) for _ in range(count)]


def write_pairs(path: Path, draw: random.Random, count: int) -> Path:
    """A table of words and the same words in capitals."""
    path.write_text("".join(f"{word}\t{word.upper()}\n" for word in words(draw, count)), encoding="utf-8")
    return path


def small_recipe(pairs: Path, steps: int, **training: Any) -> dict[str, Any]:
    """A model with attention and everything that a resumed run has to draw again: dropout, a schedule, kept weights."""
    return {
        "data": {"train": str(pairs), "split": {"validation": 0.1, "test": 0.1}},
        "model": {
            "encoder": {"size": 12, "embedding": 8, "dropout": 0.2},
            "decoder": {"size": 16, "embedding": 8, "dropout": 0.2, "cell": "lstm"},
            "bridge": {"kind": "attention", "attention": {"kind": "bilinear"}},
        },
        "training": {
            "steps": steps,
            "epochs": 1000,
            "batch_tokens": 60,
            "learning_rate": 0.01,
            "label_smoothing": 0.1,
            "validation": {"every_steps": 10, "examples": 4},
            "checkpoint": {"steps": 3},
            "keep": {"last": 2},
            "precision": "fp32",
            "threads": 1,
            **training,
        },
        "search": {"kind": "beam", "width": 3},
    }


def write_recipe(path: Path, body: Mapping[str, Any]) -> Path:
    """A recipe as a file. What JSON writes, YAML reads."""
    path.write_text(json.dumps(body), encoding="utf-8")
    return path


def trained(out: Path, body: Mapping[str, Any] | Path) -> Path:
    """A run folder, trained in a child: training must not happen in a process that forks afterwards."""

    def work() -> Findings:
        import seqloom

        recipe = body if isinstance(body, Path) else dict(body)
        return Findings(facts={"finished": seqloom.train(recipe, out=out).finished})

    found = isolated(work)
    if found.faults or not found.facts["finished"]:
        raise RuntimeError(f"{out}: could not be trained: {found.faults}")
    return out


def tiny_run(ground: Ground) -> Path:
    """A finished run that several attacks share; made once."""
    out = ground.folder / "tiny" / "run"
    if not out.exists():
        pairs = write_pairs(ground.place("tiny") / "pairs.tsv", ground.draw("pairs"), 200)
        trained(out, small_recipe(pairs, 30))
    return out


def differences(one: Path, other: Path) -> list[str]:
    """In what two runs of one recipe differ, bit by bit, times apart."""
    from seqloom.runs import RunFolder

    found = []
    for pattern in ("weights.safetensors", "kept/*", "checkpoints/*/*.safetensors", "validation/*.json", "tokenizers/*.json"):
        some, others = ({path.name: path.read_bytes() for path in sorted(run.glob(pattern))} for run in (one, other))
        if not some or some != others:
            found.append(f"{pattern} of {one.name} and {other.name}")
    timeless = [
        [{name: value for name, value in record.items() if name != "seconds"} for record in RunFolder.open(run).metrics()]
        for run in (one, other)
    ]
    return found if timeless[0] == timeless[1] else [*found, f"metrics.jsonl of {one.name} and {other.name}"]


def clock() -> float:
    """Seconds, to time things by."""
    return time.monotonic()
