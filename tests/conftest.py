"""What all tests share: one thread, a cache of their own, libraries left out, and one tiny trained run."""

import builtins
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["OMP_NUM_THREADS"] = "1"  # before anything imports torch
os.environ["TOKENIZERS_PARALLELISM"] = "false"


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep prepared data in a temporary folder, never in the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("SEQLOOM_CACHE")
    os.environ["SEQLOOM_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["SEQLOOM_CACHE"]
    else:
        os.environ["SEQLOOM_CACHE"] = before


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make a library look as if it were not installed, until the end of the test."""
    real_import = builtins.__import__

    def leave_out(library: str) -> None:
        def without(module: str, *args: Any, **kwargs: Any) -> Any:
            if module.startswith(library):
                raise ImportError(module)
            return real_import(module, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", without)

    return leave_out


def upper_case_lines(count: int, seed: int = 1) -> list[str]:
    """Lines `word TAB WORD TAB feature`: a third of them has the feature `loud`, which adds an exclamation mark."""
    draw = random.Random(seed)
    lines = []
    for number in range(count):
        word = "".join(draw.choices("abcdefgh", k=draw.randint(2, 6)))
        loud = number % 3 == 0
        lines.append(f"{word}\t{word.upper()}{'!' if loud else ''}\t{'loud' if loud else ''}")
    return lines


@pytest.fixture(scope="session")
def tiny_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 pairs of the upper-case task, with a column of features. Not to be written to."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text("".join(line + "\n" for line in upper_case_lines(200)), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def many_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many pairs of the upper-case task that a model learns to copy rather than to remember them. Not to be written to."""
    path = tmp_path_factory.mktemp("pairs") / "many.tsv"
    path.write_text("".join(line + "\n" for line in upper_case_lines(1500)), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tiny_recipe(many_pairs: Path) -> dict[str, Any]:
    """A recipe that learns the upper-case task in seconds."""
    return {
        "data": {"train": str(many_pairs), "columns": {"features": [3]}, "split": {"validation": 0.1, "test": 0.1}},
        "model": {
            "encoder": {"size": 24, "embedding": 16},
            "decoder": {"size": 48, "embedding": 16},
            "bridge": {"kind": "attention", "attention": {"kind": "bilinear"}},
        },
        "training": {
            "epochs": 4,
            "batch_tokens": 100,
            "learning_rate": 0.008,
            "schedule": {"kind": "linear"},
            "validation": {"every_steps": 100},
            "precision": "fp32",
            "threads": 1,
        },
        "search": {"kind": "beam", "width": 4},
    }


@pytest.fixture(scope="session")
def tiny_run(tiny_recipe: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of `tiny_recipe`. Not to be written to: take `tiny_run_copy` for that."""
    from seqloom.training.session import train

    path = tmp_path_factory.mktemp("runs") / "tiny"
    train(tiny_recipe, path)
    return path


@pytest.fixture(scope="session")
def tiny_language_run(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model with the tiny run's target vocabulary, untrained, but in favour of H. Not to be written to."""
    return untrained_language_run(tmp_path_factory.mktemp("runs") / "letters", tiny_run, favourite="H")


def untrained_language_run(path: Path, like: Path, *, favourite: str, text: str = "lines") -> Path:
    """Make the run folder of a language model that prefers one symbol of the target vocabulary of another run."""
    import torch

    from seqloom.data.vocabulary import Vocabulary
    from seqloom.models.encoder_decoder import build_model
    from seqloom.models.weights import weight_arrays
    from seqloom.recipe import recipe_from
    from seqloom.runs import RunFolder

    recipe = recipe_from(
        {
            "data": {"train": "targets.txt", "text": text},
            "model": {"encoder": None, "decoder": {"size": 16, "embedding": 8}, "bridge": {"kind": "none"}},
            "training": {"validation": {"metric": "loss"}},
        }
    )
    written = RunFolder.open(like).vocabularies()["target"]
    vocabulary = Vocabulary.from_json(written, where="target.json")
    model = build_model(recipe, {"target": vocabulary.size})
    with torch.no_grad():
        model.decoder.output.get_parameter("bias")[vocabulary.find(favourite)] += 6.0
    run = RunFolder.create(path, recipe, {"target": written}, {"precision": "fp32", "threads": 1})
    run.save_weights(weight_arrays(model), {})
    return path


@pytest.fixture
def tiny_run_copy(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of the tiny run that a test may damage."""
    return shutil.copytree(tiny_run, tmp_path / "tiny")


TEXT = ["the cat sat on the mat", "a dog and a cat", "", "the end of the tale", "what a fat rat"]


@pytest.fixture(scope="session")
def text_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Language models with random weights of some size, by kind of text and vocabulary. Not to be written to."""
    folder = tmp_path_factory.mktemp("language")
    return {
        f"{text}-{kind}": make_text_run(folder / f"{text}-{kind}", text, {"kind": kind})
        for text in ("lines", "stream")
        for kind in ("characters", "words")
    }


def make_text_run(path: Path, text: str, vocabulary: dict[str, Any]) -> Path:
    """A run folder as training would leave it, of a two-layer LSTM whose weights are random and large enough to matter."""
    import numpy as np

    from seqloom.data.vocabulary import build_vocabulary
    from seqloom.models.encoder_decoder import build_model
    from seqloom.models.weights import weight_arrays
    from seqloom.recipe.sections import Recipe
    from seqloom.runs import RunFolder

    recipe = Recipe.model_validate(
        {
            "data": {"train": "book.txt", "text": text, "vocabularies": {"target": vocabulary}},
            "model": {
                "encoder": None,
                "bridge": {"kind": "none"},
                "decoder": {"kind": "recurrent", "cell": "lstm", "size": 12, "layers": 2, "embedding": 8},
            },
            "device": "cpu",
        }
    )
    symbols = build_vocabulary(recipe.data.vocabularies.target, TEXT)
    run = RunFolder.create(path, recipe, {"target": symbols.to_json()}, {})
    random = np.random.default_rng(3)
    arrays = weight_arrays(build_model(recipe, {"target": symbols.size}))
    run.save_weights({name: random.normal(0, 0.6, one.shape).astype(np.float32) for name, one in arrays.items()}, {})
    return path
