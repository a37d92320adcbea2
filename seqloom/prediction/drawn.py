"""Predictions that draw themselves, where a notebook shows them or into a file. Views are imported when they are wanted."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from seqloom.data.kinds.contract import Player, Renderer
from seqloom.errors import DataError
from seqloom.results.inner_looks import InnerLook
from seqloom.results.predictions import Prediction

if TYPE_CHECKING:
    from seqloom.views import Exhibit

_MOVING = 4
"""How many axes the pixels of a film have."""


@dataclass(frozen=True)
class DrawnPrediction(Prediction):
    """A prediction that draws its attention map where a notebook shows it. renderers: its sources that are pictures.

    players: those that are sounds. inside: computes where encoders looked that read one source beside another.
    """

    renderers: Mapping[str, Renderer] = field(default_factory=dict, repr=False, compare=False)
    players: Mapping[str, Player] = field(default_factory=dict, repr=False, compare=False)
    inside: Callable[[], Sequence[InnerLook]] | None = field(default=None, repr=False, compare=False)

    @property
    def inner_looks(self) -> tuple[InnerLook, ...]:
        """Where encoders looked that read one source beside another; computed when it is asked for."""
        return () if self.inside is None else tuple(self.inside())

    def exhibit(self, label: str = "") -> "Exhibit":
        """The prediction with its pictures as the model saw them, for views; without those that cannot be read any more.

        What is in a built-in scene is known, so that views can outline what a word names.
        """
        from seqloom.data.builtin.scenes import named_boxes
        from seqloom.views import Exhibit, Picture

        pictures, films = {}, {}
        for name, render in self.renderers.items():
            with suppress(DataError):
                pixels = render()
                if pixels.ndim == _MOVING:
                    films[name] = pixels
                else:
                    pictures[name] = Picture(pixels, named_boxes(self.sources[name], *pixels.shape[:2]))
        sounds = {}
        for name, play in self.players.items():
            with suppress(DataError):
                sounds[name] = play()
        return Exhibit(self, pictures, label, films, sounds, self.inner_looks)

    def save(self, path: str | Path, *, title: str = "") -> Path:
        """Draw where the model looked, as .html, .svg, .png or .json by the file's ending; return its path."""
        from seqloom.views import write_map

        return write_map(self.exhibit(), path, title=title)

    __repr__ = Prediction.__repr__

    def _repr_html_(self) -> str:
        from seqloom.views import to_fragment

        return to_fragment(self.exhibit())
