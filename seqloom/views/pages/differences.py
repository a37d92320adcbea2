"""What differs between a reference and an output, letter by letter as a reader sees letters."""

from difflib import SequenceMatcher

from seqloom.views.drawing.page import text
from seqloom.views.text.graphemes import split

_LONGEST = 3000
"""Beyond so many letters a comparison takes seconds and nobody reads the marks."""


def marked_pair(reference: str, output: str) -> tuple[str, str]:
    """Both texts as HTML: what the output lacks is marked in the reference, what it has wrong or too much in the output."""
    wanted, written = split(reference), split(output)
    if max(len(wanted), len(written)) > _LONGEST:
        return text(reference), text(output)
    left, right = "", ""
    for kind, a, b, c, d in SequenceMatcher(None, wanted, written, autojunk=False).get_opcodes():
        same = kind == "equal"
        left += _piece(wanted[a:b], "" if same else "lacking")
        right += _piece(written[c:d], "" if same else "wrong")
    return left, right


def _piece(letters: list[str], kind: str) -> str:
    shown = text("".join(letters))
    return f'<mark class="{kind}">{shown}</mark>' if kind and shown else shown
