"""Numbers in sentences."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 pair`, `2,000 pairs`; plural: where an s is not enough."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
