"""What a table holds if no recipe says it: one look at its files, which tells the columns apart and says why."""

from seqloom.suggest.recognition.deciding import Recognised, recognise
from seqloom.suggest.recognition.rows import spread_over

__all__ = ["Recognised", "recognise", "spread_over"]
