"""What a demo has to show of a trained model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqloom.prediction.drawn import DrawnPrediction


@dataclass(frozen=True)
class DemoOutput:
    """An output beside what it should have been. given: what there is to say of the input, a column each."""

    given: Sequence[str]
    output: str
    wanted: str


@dataclass(frozen=True)
class Showing:
    """titles: of the columns before output and wanted. sentence: the figures in words. maps: the files that were drawn.

    next_commands: what to try next, behind `seqloom`, with {run} in them.
    """

    figures: Mapping[str, float]
    titles: Sequence[str]
    samples: Sequence[DemoOutput]
    sentence: str
    maps: Sequence[Path]
    next_commands: Sequence[str]


def draw_maps(named: "Iterable[tuple[str, DrawnPrediction]]", folder: Path) -> list[Path]:
    """Draw attention maps, each as a page and as a picture, under the given names."""
    from seqloom.views import write_map

    folder.mkdir(parents=True, exist_ok=True)
    return [
        write_map(prediction.exhibit(), folder / f"{name}.{ending}", title=prediction.text)
        for name, prediction in named
        for ending in ("html", "svg")
    ]


def percent(right: Sequence[bool]) -> float:
    """The share of those that are right, in percent."""
    return round(100 * sum(right) / len(right), 2)
