"""A feature vector as the source: from a table or JSON lines to a trained model and its outputs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.conftest import Seqloom
from seqloom.data.kinds.vector import as_text, parse_vector
from seqloom.data.reading.formats import read_examples
from seqloom.errors import DataError
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import VectorSource
from seqloom.training.session import train

THREE = VectorSource(size=3)


def name_of(vector: np.ndarray[Any, Any]) -> str:
    """Which number is largest, and whether it is above a half: something that every number has a part in."""
    return f"{'xyz'[int(vector.argmax())]} {'high' if vector.max() > 0.5 else 'low'}"


def recipe_for(file: Path, bridge: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {
            "train": str(file),
            "sources": {"source": {"kind": "vector", "size": 3}},
            "vocabularies": {"target": {"kind": "symbols"}},
        },
        "model": {
            "encoder": {"kind": "dense", "size": 16, "layers": 2},
            "decoder": {"size": 16, "embedding": 8},
            "bridge": bridge,
        },
        "training": {"epochs": 12, "batch_tokens": 60, "learning_rate": 0.02, "precision": "fp32", "threads": 1},
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads vectors from a table and says two words of each."""
    folder = tmp_path_factory.mktemp("vectors")
    vectors = np.random.default_rng(3).uniform(-1, 1, (400, 3)).round(3)
    (folder / "pairs.tsv").write_text("".join(f"{as_text(one)}\t{name_of(one)}\n" for one in vectors))
    train(recipe_for(folder / "pairs.tsv", {"kind": "attention"}), folder / "run")
    return folder / "run"


def test_a_model_learns_to_say_what_a_vector_is(run: Path, seqloom: Seqloom) -> None:
    [body] = seqloom("evaluate", run, "--json").objects
    assert body["metrics"]["exact_match"] > 70
    answer = seqloom("predict", run, given="0.9 -0.2 0.1\n\n-0.8 -0.7, 0.2\n")
    assert (answer.code, answer.out) == (0, "x high\n\nz low\n")
    assert seqloom("predict", run, "--format", "jsonl", given='{"source": [0.9, -0.2, 0.1]}\n').out == "x high\n"


def test_a_vector_has_one_position_in_which_all_weight_lies(run: Path) -> None:
    predictor = Predictor.load(run)
    [listed], [written] = predictor.predict([{"source": [0.9, -0.2, 0.1]}]), predictor.predict(["0.9 -0.2 0.1"])
    assert listed.text == written.text == "x high"
    assert listed.alignment["source"].symbols == ("vector",)
    np.testing.assert_allclose(listed.alignment["source"].weights, 1.0)


def test_a_result_does_not_depend_on_its_neighbours(run: Path) -> None:
    predictor, inputs = Predictor.load(run), [as_text(one) or "" for one in np.eye(3) * 0.8]
    together, alone = predictor.predict(inputs), [predictor.predict([one])[0] for one in inputs]
    assert [one.text for one in together] == [one.text for one in alone]
    np.testing.assert_allclose([one.log_prob for one in together], [one.log_prob for one in alone], atol=1e-4)


@pytest.mark.parametrize("bridge", [{"kind": "initial"}, {"kind": "every_step"}, {"kind": "initial", "start": {"dense": 0}}])
def test_every_bridge_reads_vectors_from_json_lines(tmp_path: Path, bridge: dict[str, Any]) -> None:
    lines = [{"source": [0.5, number / 100, -1], "target": "a b"} for number in range(100)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    recipe = recipe_for(tmp_path / "pairs.jsonl", bridge)
    train({**recipe, "training": {**recipe["training"], "steps": 2}}, tmp_path / "run")
    predictor = Predictor.load(tmp_path / "run")
    listed, written, other = predictor.predict([{"source": [1, 2, 3]}, "1 2 3", "-1 0 1"])
    assert listed.log_prob == pytest.approx(written.log_prob, abs=1e-5)
    assert listed.log_prob != pytest.approx(other.log_prob, abs=1e-5), "another vector, another answer"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("1 2\ta", ":2: expected 3 numbers, found 2: '1 2'"),
        ("1 2 x\ta", ":2: expected 3 finite numbers, found '1 2 x'"),
        ("1 2 nan\ta", ":2: expected 3 finite numbers"),
        ("1 2 1e60\ta", ":2: expected 3 finite numbers"),
        ("1 2 1_0\ta", ":2: expected 3 finite numbers"),
    ],
)
def test_what_is_no_vector_of_the_size_is_refused_with_its_line(tmp_path: Path, line: str, part: str) -> None:
    (tmp_path / "pairs.tsv").write_text(f"1 2 3\ta\n{line}\n")
    with pytest.raises(DataError) as refused:
        list(read_examples(str(tmp_path / "pairs.tsv"), sources={"source": THREE}))
    assert part in str(refused.value)


def test_numbers_stay_what_they_are() -> None:
    numbers = [0.1, -2, 1e-7]
    text = as_text(numbers)
    assert text == "0.1 -2 1e-07"
    np.testing.assert_array_equal(parse_vector(text, 3), np.asarray(numbers, dtype=np.float32))
    assert as_text([True, 1]) is None
    assert as_text("1 2") is None


def test_a_text_is_no_list_where_text_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"source": [1, 2, 3], "target": "a"}\n')
    with pytest.raises(DataError, match="expected a string for 'source', found a list"):
        list(read_examples(str(tmp_path / "pairs.jsonl")))
    [one] = read_examples(str(tmp_path / "pairs.jsonl"), sources={"source": THREE})
    assert one.sources == {"source": "1 2 3"}


def test_a_wrong_vector_to_predict_from_is_named(run: Path, seqloom: Seqloom) -> None:
    answer = seqloom("predict", run, given="1 2 3\n1 2\n")
    assert answer.code == 3
    assert "<stdin>:2: expected 3 numbers, found 2" in answer.err
    with pytest.raises(DataError, match="input:1: expected 3 numbers"):
        Predictor.load(run).predict(["1"])
