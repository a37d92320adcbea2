"""CTC as a second loss, and a model that is searched with it: trained, predicted with, exported."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from seqloom.data.arrays import Padded
from seqloom.errors import RecipeError, UsageError
from seqloom.export.writing import export_run
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Beam, Greedy
from seqloom.training.session import train

from .architectures import ARCHITECTURES
from .harness import batch_for, build_random


@pytest.mark.parametrize("name", ["pyramid-ctc", "text-ctc"])
def test_the_objective_is_a_share_of_each(name: str) -> None:
    architecture = ARCHITECTURES[name]
    batch, model = batch_for(architecture), build_random(architecture)
    both = model(batch)
    assert model.ctc is not None
    memory = model.encode(batch.sources)["source"]
    spelled = model.ctc.loss(memory, *model.tensors(batch.target)).sum()
    torch.testing.assert_close(both.objective, 0.6 * both.nll + 0.4 * spelled)


def test_a_position_can_say_several_symbols() -> None:
    """The one position of a source has three places: what can be said is every target of up to three symbols, and no other."""
    model = build_random(ARCHITECTURES["text-ctc"])
    assert model.ctc is not None
    memory = model.encode({"source": Padded.of([np.array([3])])})["source"]
    log_probs, places = model.ctc(memory)
    assert log_probs.shape[1] == places.item() == 3
    symbols = range(1, log_probs.shape[-1])
    total = 0.0
    for length in range(4):
        for target in itertools.product(symbols, repeat=length):
            loss = model.ctc.loss(memory, torch.tensor([target], dtype=torch.long), torch.tensor([length])).item()
            total += math.exp(-loss) if loss else 0.0  # nothing is certain here: zero stands for what cannot be said
    assert total == pytest.approx(1.0)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was trained for two steps."""
    folder = tmp_path_factory.mktemp("ctc")
    random, lines = np.random.default_rng(1), []
    for number in range(20):
        letters = random.integers(0, 3, size=2 + number % 5)
        np.save(folder / f"{number}.npy", np.repeat(np.eye(3), 4, axis=0)[letters * 4])
        lines.append(f"{number}.npy\t{''.join('abc'[one] for one in letters)}\n")
    (folder / "table.tsv").write_text("".join(lines))
    recipe = {
        "data": {
            "train": str(folder / "table.tsv"),
            "sources": {"frames": {"kind": "features", "width": 3}},
            "split": {"validation": 0.2, "test": 0.1},
        },
        "model": {
            "encoder": {"kind": "pyramid", "size": 4, "layers": 1},
            "decoder": {"cell": "gru", "size": 8, "embedding": 8},
            "ctc": {"weight": 0.5},
        },
        "training": {"steps": 2, "batch_tokens": 60, "threads": 1},
        "search": {"kind": "beam", "width": 3, "ctc": 0.4},
    }
    return train(recipe, folder / "run").path


def test_search_listens_to_it_and_an_export_says_the_same(run: Path) -> None:
    names = [str(run.parent / f"{number}.npy") for number in (3, 0, 7)]
    predictor = Predictor.load(run)
    joint = predictor.predict(names)
    plain = predictor.predict(names, search=Beam(width=3))
    assert [one.score for one in joint] != [one.score for one in plain]
    assert [one.text for one in predictor.predict(names[:1])] == [joint[0].text]
    greedy = predictor.predict(names, search=Greedy(ctc=1.0))
    assert all(len(one.text) <= 1 + rows for one, rows in zip(greedy, (5, 2, 4), strict=True))  # no room for more
    export_run(run, run.parent / "exported")
    exported = Predictor.load(run.parent / "exported").predict(names)
    assert [one.text for one in exported] == [one.text for one in joint]
    assert [one.score for one in exported] == pytest.approx([one.score for one in joint], rel=1e-4)
    both = Predictor.load(run, run).predict(names)
    assert [one.score for one in both] == pytest.approx([one.score for one in joint], rel=1e-4)


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"search": {"kind": "beam", "ctc": 0.3}}, "search.ctc: a search can listen to CTC only if the model learns it"),
        ({"model": {"ctc": {"source": "source"}}}, "`ctc.source` is for models of several sources"),
        ({"model": {"ctc": {"weight": 1.5}}}, "model.ctc.weight: expected a number above 0 and below 1"),
        ({"model": {"ctc": {"symbols": 0}}}, "model.ctc.symbols: expected a whole number"),
    ],
)
def test_what_makes_no_sense_is_refused(body: dict[str, object], part: str) -> None:
    with pytest.raises(RecipeError) as problem:
        recipe_from({"data": {"builtin": "dates"}, **body})
    assert part in str(problem.value)


def test_a_model_without_it_cannot_be_listened_to(tmp_path: Path) -> None:
    body = {
        "data": {"builtin": "dates"},
        "model": {"encoder": {"size": 4}, "decoder": {"size": 8}},
        "training": {"steps": 1, "batch_tokens": 50, "threads": 1, "validation": {"examples": 1}},
    }
    outcome = train(body, tmp_path / "run")
    with pytest.raises(UsageError, match="needs a model that was trained with CTC"):
        Predictor.load(outcome.path).predict(["1 May 2020"], search=Greedy(ctc=0.5))
