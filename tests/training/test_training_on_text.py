"""Language models: running text whose state is carried on, lines, averaged weights."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqloom.data.preparing.batches import plan_reading
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import Prepared, prepare
from seqloom.errors import DataError
from seqloom.models.encoder_decoder import EncoderDecoder, build_model
from seqloom.models.weights import restored_state, state_arrays, weight_arrays
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Recipe
from seqloom.runs import RunFolder
from seqloom.suggest.defaults import recipe_for_text
from seqloom.training.optimisation import Average
from seqloom.training.session import train

CELLS = ["rnn", "gru", "lstm"]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text with some order in it: words from a short list, three to a line."""
    path = tmp_path_factory.mktemp("book") / "book.txt"
    draw = random.Random(3)
    words = ["the", "a", "cat", "dog", "sees", "runs", "up", "down"]
    path.write_text("".join(" ".join(draw.choices(words, k=3)) + "\n" for _ in range(400)), encoding="utf-8")
    return path


def body(book: Path, **changes: Any) -> dict[str, Any]:
    return {
        "data": {"train": str(book), "text": "stream", **changes.pop("data", {})},
        "model": {
            "encoder": None,
            "decoder": {"cell": "lstm", "size": 24, "layers": 2, "embedding": 16, **changes.pop("decoder", {})},
            "bridge": {"kind": "none"},
        },
        "training": {
            "steps": 60,
            "epochs": 100,
            "batch_size": 8,
            "bptt": 20,
            "learning_rate": 0.02,
            "validation": {"every_steps": 30},
            "threads": 1,
            "precision": "fp32",
            **changes,
        },
    }


def opened(recipe: Recipe) -> tuple[EncoderDecoder, Prepared]:
    prepared = prepare(Corpus(recipe.data, recipe.seed))
    return build_model(recipe, {"target": prepared.vocabularies["target"].size}).eval(), prepared


def mean_loss(model: EncoderDecoder, prepared: Prepared, **layout: int) -> float:
    split = prepared.splits["train"]
    plan = plan_reading(split.symbols, **layout)
    nll, count, state = 0.0, 0, None
    with torch.no_grad():
        for step in range(plan.steps):
            batch = split.window(plan, step)
            loss = model(batch, state)
            state, nll, count = loss.state, nll + float(loss.nll), count + batch.num_symbols
    assert count == split.symbols
    return nll / count


@pytest.mark.parametrize("cell", CELLS)
def test_the_loss_of_running_text_does_not_depend_on_where_it_is_cut(book: Path, cell: str) -> None:
    model, prepared = opened(recipe_from(body(book, decoder={"cell": cell})))
    whole = mean_loss(model, prepared, rows=1, window=10**6, start_up=0)
    for window in (7, 64, 1000):
        assert mean_loss(model, prepared, rows=1, window=window, start_up=0) == pytest.approx(whole, abs=1e-6)
    assert mean_loss(model, prepared, rows=5, window=64, start_up=200) == pytest.approx(whole, abs=1e-4)


def test_a_state_survives_being_saved(book: Path) -> None:
    model, prepared = opened(recipe_from(body(book)))
    split = prepared.splits["train"]
    plan = plan_reading(split.symbols, rows=3, window=50, start_up=0)
    state = model(split.window(plan, 0)).state
    again = restored_state(model, state_arrays(state))
    one, other = model(split.window(plan, 1), state), model(split.window(plan, 1), again)
    assert float(one.nll) == float(other.nll)
    assert not state.hidden.requires_grad


@pytest.mark.parametrize("text", ["stream", "lines"])
def test_a_language_model_learns(book: Path, tmp_path: Path, text: str) -> None:
    outcome = train(body(book, data={"text": text}, batch_tokens=160), tmp_path / "run")
    assert outcome.finished == "all steps done"
    assert outcome.best < 1.6  # nothing learnt: log 16 = 2.8
    last = [record for record in RunFolder.open(tmp_path / "run").metrics() if record["kind"] == "validation"][-1]
    assert last["perplexity"] == pytest.approx(np.exp(last["loss"]))
    assert last["bits_per_symbol"] == pytest.approx(last["loss"] / np.log(2))
    assert "Language model" in (tmp_path / "run" / "model-card.md").read_text(encoding="utf-8")


def test_the_average_follows_the_weights_and_can_stand_in_for_them(book: Path) -> None:
    model, _ = opened(recipe_from(body(book)))
    average = Average(model, decay=0.5)
    before = weight_arrays(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    average.update(1000)
    moved = weight_arrays(model)
    with average.in_place():
        for name, array in weight_arrays(model).items():
            np.testing.assert_allclose(array, before[name] + 0.5, rtol=1e-5, atol=1e-6)
    assert all((array == moved[name]).all() for name, array in weight_arrays(model).items())


def test_the_averaged_weights_are_the_ones_kept(book: Path, tmp_path: Path) -> None:
    train(body(book, ema={"decay": 0.9}, steps=5), tmp_path / "run")
    run = RunFolder.open(tmp_path / "run")
    checkpoint = run.load_checkpoint()
    assert checkpoint is not None
    kept, _ = run.load_weights()
    assert any((kept[name] != array).any() for name, array in checkpoint.weights.items())


def test_text_without_a_recipe_gets_one_that_fits(book: Path, tmp_path: Path) -> None:
    recipe = recipe_for_text(str(book), overrides=["training.steps=3"])
    assert (recipe.data.text, recipe.data.vocabularies.target.kind, recipe.training.steps) == ("stream", "characters", 3)
    assert recipe_for_text(str(book), lines=True).data.text == "lines"
    empty = tmp_path / "empty.txt"
    empty.write_text("\n\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"empty\.txt: holds no text"):
        recipe_for_text(str(empty))
