"""Sources that are vectors of numbers.

In an example a vector is text, numbers between spaces: so it can be hashed, shown, compared and kept in any kind of file.
It is checked as soon as it is read, where file and line are known, and becomes an array where models need one.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import Example, Problem, Report, abbreviated, is_empty
from seqloom.recipe.sections import SOURCE, Source, TextSource, VectorSource

ONE_TEXT: Mapping[str, Source] = {SOURCE: TextSource()}
"""What sources are unless a recipe says otherwise."""


def parse_vector(text: str, size: int) -> npt.NDArray[np.float32]:
    """The numbers of a text, between spaces or commas. Raises ValueError with what was expected and what was found."""
    words = text.replace(",", " ").split()
    if len(words) != size:
        raise ValueError(f"expected {size} numbers, found {len(words)}: {abbreviated(text)}")
    try:
        # Python would read 1_000 as a number; nobody's table means that.
        vector = np.asarray([float(word) if "_" not in word else np.nan for word in words], dtype=np.float64)
    except ValueError:
        vector = np.full(size, np.nan)
    if not (np.abs(vector) <= np.finfo(np.float32).max).all():
        raise ValueError(f"expected {size} finite numbers, found {abbreviated(text)}")
    return vector.astype(np.float32)


def as_text(values: object) -> str | None:
    """A list of numbers as the text that stands for it; None if it is not one."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return None
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in listed):
        return None
    return " ".join(repr(value) for value in listed)


def checked(
    examples: Iterator[Example], sources: Mapping[str, Source], report: Report, *, blank: bool = False
) -> Iterator[Example]:
    """Let examples through whose vectors are what the recipe says they are. blank: an empty source may pass, too."""
    sizes = {name: source.size for name, source in sources.items() if isinstance(source, VectorSource)}
    return (example for example in examples if _fits(example, sizes, report, blank=blank)) if sizes else examples


def _fits(example: Example, sizes: Mapping[str, int], report: Report, *, blank: bool) -> bool:
    for name, size in sizes.items():
        text = example.sources[name]
        if blank and is_empty(text):
            continue
        try:
            parse_vector(text, size)
        except ValueError as problem:
            report(Problem("bad-vector", example.origin, f"{problem}. Correct it, or the size in `data.sources`."))
            return False
    return True
