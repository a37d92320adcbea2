"""Symbols of inputs that a model does not know, or does not read: how many there were, said once at the end."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from seqloom.results.predictions import Prediction

_SHOWN = 5


class UnknownSymbols:
    """Counts the pieces of inputs that a model reads as the one symbol `unknown`."""

    def __init__(self) -> None:
        self._pieces: Counter[str] = Counter()
        self._inputs = 0
        self._affected = 0
        self._cut = 0

    def see(self, prediction: "Prediction") -> None:
        """Count those of one input."""
        self._inputs += 1
        self._affected += bool(prediction.unknown)
        self._pieces.update(prediction.unknown)
        self._cut += bool(prediction.unread)

    def say(self) -> None:
        """Say it on standard error, if there were any."""
        if self._cut:
            typer.echo(
                f"seqloom: of {self._cut:,} of {self._inputs:,} inputs only the beginning was read: they are longer than the "
                "`first` symbols that the recipe's data.sources says",
                err=True,
            )
        if not self._pieces:
            return
        shown = ", ".join(f"{piece!r} ({count:,})" for piece, count in self._pieces.most_common(_SHOWN))
        left = len(self._pieces) - _SHOWN
        more = f" and {left:,} other{'s' if left > 1 else ''}" if left > 0 else ""
        total = self._pieces.total()
        where = f"{self._affected:,} of {self._inputs:,} inputs"
        typer.echo(
            f"seqloom: {total:,} symbol{' is' if total == 1 else 's are'} unknown to the model, in {where} ({shown}{more}). "
            "It reads each as <unknown>, whatever it is, so it can only guess there",
            err=True,
        )

    def as_json(self) -> dict[str, Any]:
        """How many there were, as JSON-ready data; nothing if there were none."""
        unknown = {"unknown": {"symbols": self._pieces.total(), "inputs": self._affected}} if self._pieces else {}
        return {**unknown, **({"cut": self._cut} if self._cut else {})}
