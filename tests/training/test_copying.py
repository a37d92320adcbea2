"""A model that copies learns which of several unknown words to copy: training tells them apart as prediction does."""

from pathlib import Path

import numpy as np
import pytest

from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import prepare
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Data
from seqloom.training.session import train


def new_word(random: np.random.Generator) -> str:
    return "".join(random.choice(list("bcdfgklmnprst"), 6))


def sentence(random: np.random.Generator) -> tuple[str, str]:
    """Two words that nobody has seen before, and which of them is wanted."""
    words = [new_word(random), new_word(random)]
    wanted = int(random.integers(2))
    return f"{words[0]} and {words[1]} , {('first', 'second')[wanted]}", f"it is {words[wanted]}"


def test_the_right_one_of_two_unknown_words_is_copied(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    lines = ["\t".join(sentence(random)) for _ in range(600)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n")
    recipe = {
        "data": {
            "train": str(tmp_path / "pairs.tsv"),
            "vocabularies": {"source": {"kind": "words", "minimum_count": 5}, "shared": True},
        },
        "model": {
            "encoder": {"size": 16, "embedding": 12},
            "decoder": {"size": 24, "embedding": 12},
            "bridge": {"kind": "attention", "copy": True},
        },
        "training": {"epochs": 8, "batch_tokens": 120, "learning_rate": 0.01, "precision": "fp32", "threads": 1},
    }
    train(recipe_from(recipe), tmp_path / "run")
    asked = [sentence(random) for _ in range(100)]
    found = Predictor.load(tmp_path / "run").predict([source for source, _ in asked])
    assert np.mean([one.text == target for one, (_, target) in zip(found, asked, strict=True)]) > 0.9


@pytest.mark.parametrize("kind", ["words", "symbols", "characters"])
def test_prepared_data_tells_apart_what_prediction_tells_apart(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    pairs = [("ab ab ab", "ab ab"), ("xy ab  zw xy", "zw ab xy q"), ("ab", "zw")]
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\ttag\n" for source, target in pairs))
    body = {
        "train": str(tmp_path / "pairs.tsv"),
        "split": {"validation": 0.0, "test": 0.0},
        "columns": {"features": [3]},
        "vocabularies": {"source": {"kind": kind, "minimum_count": 4, "begin_end": True}, "shared": True},
    }
    prepared = prepare(Corpus(Data.model_validate(body), 1), tell_apart=True)
    vocabulary, batch = prepared.vocabularies["source"], prepared.splits["train"].batch(np.arange(3))
    for row, (source, target) in enumerate(pairs):
        told = vocabulary.told_apart(vocabulary.encode_source(source, ["tag"]), source)
        read, written = batch.sources["source"], batch.target
        assert read.values[row, : read.lengths[row]].tolist() == told.ids.tolist()
        assert written.values[row, : written.lengths[row]].tolist() == vocabulary.encode_copying(target, told.copies).tolist()
