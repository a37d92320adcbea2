"""What a model says may come next, place by place, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class NextSymbol:
    """A symbol that may follow. rank: 1 is the most probable one."""

    symbol: str
    id: int
    log_prob: float
    rank: int

    def as_json(self) -> dict[str, Any]:
        """The symbol as JSON-ready data."""
        probability = float(np.exp(self.log_prob))
        return {"symbol": self.symbol, "id": self.id, "log_prob": self.log_prob, "probability": probability, "rank": self.rank}


@dataclass(frozen=True)
class NextSymbols:
    """What may follow a beginning.

    best: the most probable symbols, best first. entropy_bits: of the whole distribution. taken: what does follow, if a longer
    text was given. attention: by source, where the model looks for the next symbol, averaged over heads.
    """

    prefix: tuple[str, ...]
    best: tuple[NextSymbol, ...]
    entropy_bits: float
    taken: NextSymbol | None = None
    attention: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The distribution as JSON-ready data."""
        attention = {name: [round(one, 5) for one in weights] for name, weights in self.attention.items()}
        return {
            "prefix": list(self.prefix),
            "next": [one.as_json() for one in self.best],
            "entropy_bits": self.entropy_bits,
            **({} if self.taken is None else {"taken": self.taken.as_json()}),
            **({"attention": attention} if attention else {}),
        }
