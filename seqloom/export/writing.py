"""Write a run as an exported model, and see that it says what the run says."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqloom.data.kinds import kind_of
from seqloom.errors import MissingExtraError, RunError
from seqloom.prediction.backends import open_vocabularies, require_shortlist
from seqloom.recipe.sections import EfficientNetLite0Encoder, GridEncoder, Recipe, SymbolEncoder, VideoEncoder
from seqloom.runs import EXPORT_DOCUMENT, RunFacts, RunFolder
from seqloom.runs.documents import sha256
from seqloom.runtime.exports import BEST, ENCODER, FORMAT, STEP, network_file
from seqloom.system.atomic_files import write_synced

if TYPE_CHECKING:
    from seqloom.graphs.graph import Precision
    from seqloom.graphs.model import InputShapes


@dataclass(frozen=True)
class Exported:
    """An exported model. size: of all its files, in bytes; checked: on how many symbols it was compared with the run.

    difference: the largest one between log-probabilities of the run and of the exported model; not a number if nothing could
    be compared.
    """

    path: Path
    precision: str
    size: int
    parameters: int
    difference: float
    checked: int

    def as_json(self) -> dict[str, Any]:
        """The object that `export --json` prints."""
        difference = self.difference if math.isfinite(self.difference) else None
        return {
            "model": str(self.path),
            "precision": self.precision,
            "bytes": self.size,
            "parameters": self.parameters,
            "largest_difference": difference,
            "symbols_compared": self.checked,
        }


def export_run(run: Path, out: Path, *, precision: "Precision" = "fp32", shortlist: int | None = None) -> Exported:
    """Write the best weights of a run as graphs, whole or not at all, and compare them with torch on the run's samples."""
    from seqloom.export.checking import compare

    opened = RunFolder.open(run)
    if opened.is_export:
        raise RunError(f"{run}: is an exported model already. Name the run that it came from")
    if out.exists():
        raise RunError(f"{out}: exists already. Choose another --out, or remove it first")
    require_shortlist(opened, open_vocabularies(opened), shortlist)
    weights, told = opened.load_weights()
    files, facts = graph_files(opened.recipe, weights, precision=precision, shortlist=shortlist)
    body = _told(opened.facts)
    best = opened.validation_at(told.get("step"))
    measured = {name: value for name, value in best.items() if isinstance(value, int | float)}
    body |= {"graphs": facts, "metrics": measured, "search": opened.recipe.search.model_dump(mode="json")}
    RunFolder.create(
        out, opened.recipe, opened.vocabularies(), body, document=EXPORT_DOCUMENT, fill=_filling(files, opened, precision)
    )
    difference, checked = compare(run, out, shortlist=shortlist)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return Exported(out, precision, size, sum(array.size for array in weights.values()), difference, checked)


def _told(facts: RunFacts) -> RunFacts:
    """What a run says of itself that an exported model says too."""
    found = facts.copy()
    for name in ("files", "format", "start", "command"):
        found.pop(name, None)  # type: ignore[misc]
    return found


def graph_files(
    recipe: Recipe, weights: Mapping[str, Any], *, precision: "Precision", shortlist: int | None
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The graphs' files by name, and what model.json says of them."""
    try:
        from seqloom.graphs.model import best_graph, write_graphs
    except ModuleNotFoundError as problem:
        if problem.name != "onnx":
            raise
        raise MissingExtraError("Exporting a model", "export") from problem

    graphs = write_graphs(recipe.model, weights, input_shapes(recipe), precision=precision, shortlist=shortlist)
    made = {ENCODER: graphs.encoder, STEP: graphs.step, BEST: best_graph(), **dict(_networks(recipe))}
    files = {name: model.SerializeToString() for name, model in made.items()}
    facts = {
        "format": FORMAT,
        "precision": precision,
        "files": {name: sha256(content) for name, content in files.items()},
        "rows": list(graphs.rows),
        "sentences": list(graphs.sentences),
        "attended": list(graphs.attended),
        "vocabulary_size": graphs.vocabulary_size,
        "grids": {name: list(grid) for name, grid in _grids(recipe).items()},
    }
    return files, facts


def input_shapes(recipe: Recipe) -> "InputShapes":
    """The shape of what stands at a position, by source."""
    from seqloom.graphs.vision import features_shape, is_frozen

    shapes: dict[str, tuple[int, ...]] = {}
    for name, encoder in recipe.encoders.items():
        size = kind_of(recipe.data.sources[name]).input_size(0)
        pixels = (size,) if isinstance(size, int) else size
        if isinstance(encoder, SymbolEncoder):
            shapes[name] = ()
        else:
            shapes[name] = features_shape(encoder, pixels) if is_frozen(encoder) else pixels
    return shapes


def _grids(recipe: Recipe) -> dict[str, tuple[int, int]]:
    """Rows and columns of the sources whose positions lie in a grid."""
    from seqloom.graphs.vision import grid_of

    seen = {
        name: one.frames if isinstance(one, VideoEncoder) and one.memory == "grid" else one
        for name, one in recipe.encoders.items()
    }
    return {name: grid_of(one, _sides(recipe, name)) for name, one in seen.items() if isinstance(one, GridEncoder)}


def _sides(recipe: Recipe, source: str) -> tuple[int, int]:
    """Height and width of pictures."""
    size = kind_of(recipe.data.sources[source]).input_size(0)
    if isinstance(size, int):
        raise TypeError(source)
    return size[0], size[1]


def _networks(recipe: Recipe) -> Iterator[tuple[str, Any]]:
    """The frozen networks that see images before the encoder does."""
    from seqloom.graphs.vision import network_graph

    for name, encoder in recipe.encoders.items():
        if isinstance(encoder, EfficientNetLite0Encoder) and not encoder.tuned:
            from seqloom.models.encoders.pretrained import pretrained_weights

            weights = {key: weight.numpy() for key, weight in pretrained_weights().items()}
            yield network_file(name), network_graph(encoder, weights, _sides(recipe, name))


def _filling(files: Mapping[str, bytes], run: RunFolder, precision: str) -> Callable[[RunFolder], None]:
    def fill(export: RunFolder) -> None:
        for name, content in files.items():
            write_synced(export.path / name, content)
        card = run.path / "model-card.md"
        if card.is_file() and not card.is_symlink():
            note = f"\nExported in {precision} from {run.path.name}; docs/export.md says what the files are.\n"
            write_synced(export.path / "model-card.md", card.read_bytes() + note.encode())

    return fill
