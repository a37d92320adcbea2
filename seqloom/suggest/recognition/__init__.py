"""What a table holds if no recipe says it: one look at its files, which tells the columns apart and says why."""

from seqloom.data.reading.headings import role_of
from seqloom.suggest.recognition.deciding import Recognised, recognise
from seqloom.suggest.recognition.rows import spread_over

__all__ = ["Recognised", "recognise", "role_of", "spread_over"]
