"""How an output comes about, symbol by symbol, as plain data: scores, weights, context, word."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Said:
    """A symbol with its probability."""

    symbol: str
    probability: float


@dataclass(frozen=True)
class WrittenSymbol:
    """One step of a decoder with attention. S places of the source.

    energies [S]: the scores `e_j` before the softmax, averaged over heads; None where weights do not come from scores.
    weights [S]: `a_j`, averaged over heads. own: what is most probable from the context `sum_j a_j h_j`; even: from the mean
    of all places instead, where the symbol itself has even_probability; alone [S]: from each place by itself, the most
    probable symbol.
    """

    symbol: str
    probability: float
    energies: tuple[float, ...] | None
    weights: tuple[float, ...]
    own: tuple[Said, ...]
    even: tuple[Said, ...]
    even_probability: float
    alone: tuple[Said, ...]


@dataclass(frozen=True)
class Walkthrough:
    """An output with all its steps. name: the source that is looked at; symbols [S]: its places; unknown: those not known.

    spoken: whether every place speaks and what they say is mixed, where else their states are.
    """

    sources: Mapping[str, str]
    name: str
    symbols: tuple[str, ...]
    unknown: tuple[int, ...]
    text: str
    steps: tuple[WrittenSymbol, ...]
    spoken: bool = False

    def as_json(self) -> dict[str, Any]:
        """The steps as `explain --steps` writes them to a .json file."""
        return {
            "sources": dict(self.sources),
            "source": self.name,
            "symbols": list(self.symbols),
            "unknown": list(self.unknown),
            "text": self.text,
            "spoken": self.spoken,
            "steps": [asdict(one) for one in self.steps],
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "Walkthrough":
        """Read back what `as_json` gave."""
        return cls(
            body["sources"],
            body["source"],
            tuple(body["symbols"]),
            tuple(body["unknown"]),
            body["text"],
            tuple(_written_symbol(one) for one in body["steps"]),
            spoken=body.get("spoken", False),
        )


def _written_symbol(body: Mapping[str, Any]) -> WrittenSymbol:
    own, even, alone = (tuple(Said(**one) for one in body[name]) for name in ("own", "even", "alone"))
    return WrittenSymbol(
        symbol=body["symbol"],
        probability=body["probability"],
        energies=None if body["energies"] is None else tuple(body["energies"]),
        weights=tuple(body["weights"]),
        own=own,
        even=even,
        even_probability=body["even_probability"],
        alone=alone,
    )
