"""Where the loop writes its numbers: metrics.jsonl always, TensorBoard if the recipe wants it."""

import math
from collections.abc import Mapping
from typing import Any

from seqloom.errors import MissingExtraError
from seqloom.runs import RunFolder


class Journal:
    """Writes records of numbers. tensorboard: also as event files in the run's folder `tensorboard`."""

    def __init__(self, run: RunFolder, *, tensorboard: bool, from_step: int) -> None:
        self._run = run
        self._writer = _open_writer(run, from_step) if tensorboard else None

    def append(self, record: Mapping[str, Any]) -> None:
        """Add one record; it has a `kind`, a `step` and numbers by name."""
        self._run.append_metrics({name: _plain(value) for name, value in record.items()})
        if self._writer is None:
            return
        for name, value in record.items():
            if isinstance(value, float) and name != "seconds":
                self._writer.add_scalar(f"{record['kind']}/{name}", value, record["step"])
        self._writer.flush()


def _plain(value: Any) -> Any:
    """JSON has no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _open_writer(run: RunFolder, from_step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as problem:
        raise MissingExtraError("`training.tensorboard: true`", "tensorboard") from problem
    # purge_step hides what an interrupted run wrote after the checkpoint that this one goes on from.
    return SummaryWriter(str(run.own_folder("tensorboard")), purge_step=from_step)
