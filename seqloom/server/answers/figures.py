"""What `explain` would write to a file, for those who ask over the network."""

from pathlib import Path
from tempfile import TemporaryDirectory

from seqloom.data.examples import Example
from seqloom.evaluation.tracing import grow_tree, walk_through
from seqloom.prediction.predictor import Predictor
from seqloom.server.answers.predictions import Wish, find
from seqloom.views import write_map
from seqloom.views.charts.steps import write_steps
from seqloom.views.charts.tree import write_tree


def figure_file(predictor: Predictor, wish: Wish, example: Example, figure: str, form: str) -> bytes:
    """The content of the file: `map`, `tree` or `steps`, in the form that its ending says."""
    with TemporaryDirectory() as folder:
        return _written(predictor, wish, example, figure, Path(folder) / f"{figure}.{form}").read_bytes()


def _written(predictor: Predictor, wish: Wish, example: Example, figure: str, path: Path) -> Path:
    match figure:
        case "tree":
            told = {"oracle": wish.oracle, "oracle_unit": wish.oracle_unit}
            tree = grow_tree(predictor, example, search=wish.section, prefix=wish.prefix, **told)  # type: ignore[arg-type]
            return write_tree(tree, path)
        case "steps":
            return write_steps(walk_through(predictor, example, search=wish.section, prefix=wish.prefix), path)
        case _:
            [found] = find(predictor, wish, [example], lambda: None)
            return write_map(found.prediction.exhibit(), path)
