"""Sources that are files: a frontend makes rows of them. A new modality is a subclass of `FileKind`, and an encoder."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from seqloom.data.arrays import Padded
from seqloom.data.examples import Example, Origin
from seqloom.data.kinds.contract import InputSize, ModelSide, Player, ReadSource, Renderer, Rows, SourceKind, SourceReader
from seqloom.data.media.catalogue import Catalogue
from seqloom.data.media.files import Frontend, Media, MediaError, MediaFinder
from seqloom.data.media.store import StoredFrontend
from seqloom.errors import DataError
from seqloom.recipe.sections import FileSource
from seqloom.results.layouts import Film, Frames, Grid, Tokens
from seqloom.results.predictions import Alignment, FloatArray

File = TypeVar("File", bound=FileSource)


class FileKind(SourceKind[File]):
    """Files by their names in a table."""

    section_type: ClassVar[Callable[..., Any]]
    """What a recipe says of it."""
    usual_name: ClassVar[str]
    """What the source is called if nobody gave it a name."""
    noun: ClassVar[str]
    """What one of them is called in a sentence, and in the codes of the doctor's findings."""
    endings: ClassVar[frozenset[str]]
    """By which a column of their names is recognised."""
    root_option: ClassVar[str] = "--files"
    """What says on a command line where names begin."""
    metric: ClassVar[str | None] = None
    """By which sentences about them are judged, if not as captions."""
    extra: ClassVar[tuple[str, str] | None] = None
    """The library that reads them, and the extra that installs it."""
    refusals: ClassVar[Mapping[str, str]] = {}
    """What is wrong with several of them that are there, in words, by the code of the problem."""

    def __init__(self, section: File) -> None:
        super().__init__(section)
        self._finder = MediaFinder(section.root)

    def find(self, name: str, origin: Origin) -> Media:
        """The file that an example from the given place names. Raises `MediaError` if there is none."""
        return self._finder.find(name, origin)

    @classmethod
    def is_named(cls, place: str) -> bool:  # noqa: ARG003 (most kinds have no such names)
        """Whether this names a source without being a file."""
        return False

    def trouble_in(self, media: Media) -> str | None:  # noqa: ARG002 (not every kind has headers)
        """What is wrong with a file as far as its header tells; None if nothing is."""
        return None

    @property
    def row_seconds(self) -> float | None:
        """How much time there is between two rows; None if they do not lie in time."""
        return None

    @property
    def row_overlap(self) -> float:
        """For how many seconds a row goes on after the next one begins."""
        return 0.0

    def excess(self, media: Media) -> str | None:  # noqa: ARG002 (not every kind has a limit)
        """In how far a file is longer than the recipe takes; None if it is not."""
        return None

    def symbols(self, media: Media) -> int:  # noqa: ARG002 (most kinds have no length)
        """As how many symbols a file counts, where outputs are limited by what is read: enough for a long caption."""
        return 20

    def shortcoming(self, media: Media) -> str | None:
        """Read all of a file, and say what is poor about it, if anything is. Raises `MediaError` for one that is no good."""
        next(iter(self.frontend().arrays([media])))
        return None

    def shortcomings(self) -> tuple[str, str]:
        """What `shortcoming` finds: the code of the finding, and what to do about it."""
        return f"poor-{self.noun}s", "are poor"

    def weaknesses(self, media: Media, target: str, *, sized: bool) -> dict[str, str]:  # noqa: ARG002 (of most, files alone tell)
        """Read all of a file, and say all that is poor about it, by the code of the finding.

        target: of the example that names it. sized: whether it is known what will be made of it.
        """
        found = self.shortcoming(media)
        return {} if found is None or not sized else {self.shortcomings()[0]: found}

    def advice(self, code: str) -> str:  # noqa: ARG002 (most kinds have one)
        """What is poor about several files with this code, and what to do about it."""
        return self.shortcomings()[1]

    @abstractmethod
    def frontend(self, threads: int = 1) -> Frontend:
        """What makes rows of files, so many at once."""

    def at_speed(self, frontend: Frontend, speed: float) -> Frontend:  # noqa: ARG002 (not every kind can be heard)
        """What makes rows of files that are played at a speed; the same frontend for what cannot be heard."""
        return frontend

    def rows(self) -> Rows:
        """A number for each content."""
        files = Catalogue(self.find, self.trouble_in, self.excess)
        return Rows(np.uint32, None, files.number, files)

    def input_size(self, vocabulary_size: int) -> InputSize:  # noqa: ARG002 (there is none)
        """The shape of a row; of a row of numbers, how many there are."""
        row = self.frontend().row
        return row[0] if len(row) == 1 else row

    def renderer(self, media: Media) -> Renderer | None:  # noqa: ARG002 (not every kind can be drawn)
        """How a file is drawn for a person, as a model sees it; None if it is shown by its name."""
        return None

    def player(self, media: Media) -> Player | None:  # noqa: ARG002 (not every kind can be heard)
        """What plays a file; None if it cannot be heard."""
        return None

    @classmethod
    @abstractmethod
    def suggested(cls, files: Sequence[Media], width: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings of a source of such files, some of which are given, and of an encoder with states of a width."""

    def reader(self, side: ModelSide) -> SourceReader:
        """Reads them through the store."""
        if side.frontend is None:
            raise TypeError("files need a frontend")
        return _FileReader(self, side, side.frontend)


class _FileReader(SourceReader):
    def __init__(self, kind: FileKind[Any], side: ModelSide, frontend: StoredFrontend) -> None:
        super().__init__(side)
        self._kind, self._frontend = kind, frontend

    def read(self, example: Example, text: str, *, blank: bool) -> ReadSource:
        if blank:
            return ReadSource(example, text)
        media = self._kind.find(text, example.origin)
        if excess := self._kind.excess(media):
            raise MediaError(f"{media.name}: {excess}")
        return ReadSource(example, text, media=media, length=self._kind.symbols(media))

    def batch(self, sources: Sequence[ReadSource]) -> Padded:
        files = [self._media(one) for one in sources]
        try:
            # What has a target is to be judged, mostly more than once; of other files there may be any number.
            self._frontend.keep([media for one, media in zip(sources, files, strict=True) if one.example.target is not None])
            return Padded.of(list(self._frontend.arrays(files)))
        except DataError:
            raise_first_problem(
                self._frontend.frontend, [(media, one.example.origin) for one, media in zip(sources, files, strict=True)]
            )
            raise

    def _media(self, source: ReadSource) -> Media:
        if source.media is None:
            name = self._side.name
            raise DataError(f"{source.example.origin}: expected the name of a file for {name}, found nothing")
        return source.media

    def positions(self, source: ReadSource) -> int:
        layout = self._side.layout
        if isinstance(layout, Grid):  # however large the file is
            return layout.places
        return layout.positions(len(next(iter(self._frontend.arrays([self._media(source)])))))

    def alignment(self, source: ReadSource, weights: FloatArray) -> Alignment:  # noqa: ARG002 (as other kinds)
        count, layout = weights.shape[-1], self._side.layout
        if isinstance(layout, Frames):
            layout = replace(layout, seconds=self._kind.row_seconds, beyond=self._kind.row_overlap)
        match layout:
            case Grid():
                names = layout.names()
            case Frames() | Film():
                names = layout.names(count)
            case Tokens():
                names = (self._side.name,) * count
        return Alignment(weights, names, ((0, 0),) * count, layout)

    def at_speed(self, speed: float) -> "_FileReader":
        played = self._kind.at_speed(self._frontend.frontend, speed)
        return self if played is self._frontend.frontend else _FileReader(self._kind, self._side, StoredFrontend(played))

    def renderer(self, source: ReadSource) -> Renderer | None:
        return None if source.media is None else self._kind.renderer(source.media)

    def player(self, source: ReadSource) -> Player | None:
        return None if source.media is None else self._kind.player(source.media)


def raise_first_problem(frontend: Frontend, files: Sequence[tuple[Media, Origin]]) -> None:
    """Say which of some files a frontend cannot read, and where it is named. It may look at several at once."""
    for media, origin in files:
        try:
            list(frontend.arrays([media]))
        except DataError as problem:
            raise DataError(f"{origin}: {problem}") from problem
