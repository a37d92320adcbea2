"""Numbers and lists in sentences, and words that are spelt alike."""

from collections.abc import Iterable
from difflib import get_close_matches


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 pair`, `2,000 pairs`; plural: where an s is not enough."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def listed(words: Iterable[object]) -> str:
    """Join names with commas."""
    return ", ".join(map(str, words))


def alternatives(words: list[str]) -> str:
    """Join phrases with commas and a last `or`."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "nothing"


def nearest(word: str, choices: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the choice whose spelling is nearest, if any is near."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = get_close_matches(word[:60].lower().replace("-", "_"), by_lower, n=1, cutoff=likeness)
    return by_lower[close[0]] if close else None
