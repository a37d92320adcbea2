"""The files that the cells of a table name: each is looked at once, and has the number of its content."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from seqloom.data.examples import Origin
from seqloom.data.media.files import Media
from seqloom.errors import DataError

TOO_LONG = 2**32 - 1
"""In the place of the number of a content: the file is longer than the recipe takes, and its example is left out."""

_SHOWN = 5
"""So many files that cannot be read are named at once."""


@dataclass(frozen=True)
class NamedFile:
    """A file that examples name: where it was named first, and which of the distinct contents it has."""

    media: Media
    origin: Origin
    content: int


class Catalogue:
    """All files that a source names. find: gives the file of a name; trouble: what its header tells.

    excess: in how far a file is longer than the recipe takes, if it is.
    """

    def __init__(
        self,
        find: Callable[[str, Origin], Media],
        trouble: Callable[[Media], str | None],
        excess: Callable[[Media], str | None] = lambda media: None,
    ) -> None:
        self._find, self._trouble, self._excess = find, trouble, excess
        self._contents: dict[str, int] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._problems: list[str] = []
        self.files: list[NamedFile] = []

    @property
    def contents(self) -> list[str]:
        """The hashes of the distinct contents, in the order of their numbers."""
        return list(self._contents)

    def number(self, text: str, origin: Origin) -> int:
        """The number of the content of the file that a cell names."""
        key = (str(Path(origin.file).parent), text)
        if key not in self._numbers:
            self._numbers[key] = self._looked_up(text, origin)
        return self._numbers[key]

    def _looked_up(self, name: str, origin: Origin) -> int:
        """A file with something wrong is remembered, and its number means nothing."""
        try:
            media = self._find(name, origin)
            trouble = self._trouble(media)
            if trouble is None and self._excess(media) is not None:
                return TOO_LONG
            content = self._contents.setdefault(media.content_hash, len(self._contents))
        except DataError as problem:
            trouble, content = str(problem), 0
        if trouble is not None:
            self._problems.append(f"{origin}: {trouble}")
            return 0
        self.files.append(NamedFile(media, origin, content))
        return content

    def finish(self) -> None:
        """All files were named: refuse the examples if some cannot be read."""
        if self._problems:
            few = self._problems[:_SHOWN]
            more = f"\n  and {len(self._problems) - _SHOWN:,} more" if len(self._problems) > _SHOWN else ""
            raise DataError(few[0] if len(self._problems) == 1 else "\n  ".join(["files cannot be read:", *few]) + more)
