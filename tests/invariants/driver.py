"""Train a recipe in child processes that get signals at given moments, until one of them comes to the end.

    python driver.py RECIPE.json RUN PLAN.json

The plan lists `[signal, steps, seconds]`: send the signal so many seconds after the child has reported so many steps. The
child that follows the last entry gets none. Prints one JSON list per child: the step it began at, the last step it reported,
how it ended (a wait status), and whether the training was finished.
"""

import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import BinaryIO

from seqloom.training.reporting.display import SilentDisplay, StepReport
from seqloom.training.session import train


class PipeDisplay(SilentDisplay):
    """Writes the steps into a pipe."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def started(self, *, step: int, total: int, steps_per_epoch: int, waste: float) -> None:
        """Tell the step to begin at."""
        self._write(step)

    def stepped(self, report: StepReport) -> None:
        """Tell the step."""
        self._write(report.step)

    def _write(self, step: int) -> None:
        self._stream.write(f"{step}\n".encode())
        self._stream.flush()


def child(recipe: Path, out: Path, stream: BinaryIO) -> None:
    """Train, and exit with 10 if the training was interrupted."""
    outcome = train(recipe, out, display=PipeDisplay(stream))
    os._exit(0 if outcome.finished else 10)


def attempt(recipe: Path, out: Path, number: int, steps: int, seconds: float) -> tuple[int, int, int]:
    """Fork a training and send it a signal (none if 0): where it began, how far it came, how it ended."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        with os.fdopen(writing, "wb") as stream:
            child(recipe, out, stream)
    os.close(writing)
    seen = []
    with os.fdopen(reading, "rb") as reports:
        for report in reports:
            seen.append(int(report))
            if number and len(seen) == steps + 1:
                time.sleep(seconds)
                os.kill(process, number)
    _, status = os.waitpid(process, 0)
    return (seen[0] if seen else -1, seen[-1] if seen else -1, status)


def main() -> None:
    """Follow the plan, then let a last child finish."""
    for name in ("rapidfuzz", "sacrebleu", "torch._dynamo"):  # once, not in every child
        importlib.import_module(name)
    recipe, out = Path(sys.argv[1]), Path(sys.argv[2])
    for number, steps, seconds in [*json.loads(Path(sys.argv[3]).read_text()), [0, 0, 0.0]]:
        print(json.dumps(attempt(recipe, out, signal.Signals(number) if number else 0, steps, seconds)), flush=True)


if __name__ == "__main__":
    main()
