"""What a table holds if no recipe says it: one look at its files, which tells the columns apart and says why."""

from seqloom.data.recognition.deciding import IMAGE, Recognised, recognise
from seqloom.data.recognition.headings import role_of
from seqloom.data.recognition.rows import spread_over

__all__ = ["IMAGE", "Recognised", "recognise", "role_of", "spread_over"]
