"""A model that copies learns which of several unknown words to copy: training tells them apart as prediction does."""

from pathlib import Path

import numpy as np
import pytest

from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import prepare
from seqloom.prediction.inputs import Reader
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Data
from seqloom.results.layouts import Tokens
from seqloom.symbols import UNKNOWN
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
    prepared = prepare(Corpus(Data.model_validate(body), 1), tell_apart="source")
    vocabulary, batch = prepared.vocabularies["source"], prepared.splits["train"].batch(np.arange(3))
    for row, (source, target) in enumerate(pairs):
        told = vocabulary.told_apart(vocabulary.encode_source(source, ["tag"]), source)
        read, written = batch.sources["source"], batch.target
        assert read.values[row, : read.lengths[row]].tolist() == told.ids.tolist()
        assert written.values[row, : written.lengths[row]].tolist() == vocabulary.encode_copying(target, told.copies).tolist()


def test_of_two_texts_the_named_one_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "pairs.tsv").write_text("who x\tab xy ab\txy who\n" + "who ab\tab ab\tab\n" * 3)
    body = {
        "train": str(tmp_path / "pairs.tsv"),
        "split": {"validation": 0.0, "test": 0.0},
        "sources": {"question": {"kind": "text"}, "text": {"kind": "text"}},
        "vocabularies": {"source": {"kind": "symbols", "minimum_count": 3}, "shared": True, "together": True},
    }
    data = Data.model_validate(body)
    prepared = prepare(Corpus(data, 1), tell_apart="text")
    vocabulary, batch = prepared.vocabularies["text"], prepared.splits["train"].batch(np.arange(1))
    copied, unknown = vocabulary.size + 1, UNKNOWN
    who, ab = vocabulary.encode_source("who ab", []).ids.tolist()
    assert batch.sources["question"].values[0].tolist() == [who, unknown]
    assert batch.sources["text"].values[0].tolist() == [ab, copied, ab]
    assert batch.target.values[0].tolist() == [copied, who]
    read = Reader(data, prepared.vocabularies, {}, dict.fromkeys(data.sources, Tokens()), tell_apart="text")
    example = read.read(read.example_of({"question": "who x", "text": "ab xy ab"}, 0))
    assert example.copies == {copied: "xy"}


def test_a_model_that_compares_two_texts_copies_from_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    random = np.random.default_rng(1)
    lines = [f"which\tthe {word} one\tthe {word}\n" for word in (new_word(random) for _ in range(60))]
    (tmp_path / "pairs.tsv").write_text("".join(lines))
    recipe = {
        "data": {
            "train": str(tmp_path / "pairs.tsv"),
            "split": {"validation": 0.2, "test": 0.0},
            "sources": {"question": {"kind": "text"}, "text": {"kind": "text"}},
            "vocabularies": {"source": {"kind": "symbols", "minimum_count": 20}, "shared": True, "together": True},
        },
        "model": {
            "encoders": {
                "question": {"kind": "text", "cell": "gru", "size": 8, "embedding": 8},
                "text": {"kind": "comparing", "source": "question", "cell": "gru", "size": 8},
            },
            "decoder": {"kind": "recurrent", "cell": "gru", "size": 16, "embedding": 8},
            "bridge": {"kind": "attention", "copy": "text", "attention": {"kind": "additive", "size": 8}},
        },
        "training": {"epochs": 4, "batch_tokens": 40, "learning_rate": 0.02, "precision": "fp32", "threads": 1},
    }
    train(recipe_from(recipe), tmp_path / "run")
    assert Predictor.load(tmp_path / "run").predict([{"question": "which", "text": "the zoe one"}])[0].text == "the zoe"
