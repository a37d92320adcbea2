"""seqloom: encoder-decoder models with attention, on your own pairs.

    import seqloom

    seqloom.train({"data": {"builtin": "dates"}}, out="runs/dates")
    seqloom.load("runs/dates").predict(["le 3 mai 1979"])[0].text

Importing this package imports neither torch nor anything else that is large.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from seqloom.predict import Predictor
    from seqloom.training.session import Outcome

__all__ = ["__version__", "load", "train"]


def load(*folders: str, language_model: str | None = None, weight: float = 0.3) -> "Predictor":
    """Open a trained run, or several as an ensemble; a language model may be fused in with a weight."""
    from seqloom.predict import Predictor

    return Predictor.load(*folders, language_model=language_model, weight=weight)


def train(recipe: Any, *, out: str) -> "Outcome":
    """Train a recipe (a file's path, a mapping or a Recipe) into the run folder `out`; resumes an unfinished run."""
    from seqloom.training.session import train as train_recipe

    return train_recipe(recipe, out)
