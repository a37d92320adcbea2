"""What encoders looked at that read one source beside another: computed for those who ask, and for nobody else."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from seqloom.data.arrays import Padded
from seqloom.data.examples import Example, Origin
from seqloom.data.vocabulary import build_vocabulary
from seqloom.errors import DataError
from seqloom.models.encoder_decoder import build_model
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.prediction.backends import OpenedModel
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Greedy, Whole, Words
from seqloom.results.predictions import FloatArray

STORY, QUESTION = "Ann met Bob. Bob ran home. It rains.", "Where is Bob?"
READERS = {
    "related": {"kind": "related", "source": "question", "size": 8, "heads": 2, "layers": 3},
    "comparing": {"kind": "comparing", "source": "question", "size": 4},
}


def opened(kind: str) -> OpenedModel:
    """An untrained model that reads a story beside a question."""
    symbols = Words(lowercase=True, sentences=kind == "related")
    body: dict[str, Any] = {
        "data": {
            "train": "stories.tsv",
            "sources": {"story": {"kind": "text"}, "question": {"kind": "text"}},
            "vocabularies": {"source": symbols.model_dump(), "together": True, "target": {"kind": "whole"}},
        },
        "model": {
            "encoders": {"story": READERS[kind], "question": {"size": 4, "embedding": 8, "bidirectional": False}},
            "decoder": {"size": 8, "embedding": 4},
            "bridge": {"kind": "attention", "attention": {"kind": "additive", "size": 4}},
        },
    }
    recipe = recipe_from(body)
    read = build_vocabulary(symbols, [STORY, QUESTION])
    vocabularies = {"story": read, "question": read, "target": build_vocabulary(Whole(), ["home", "office"])}
    model = build_model(recipe, {name: one.size for name, one in vocabularies.items()})
    return OpenedModel(TorchStepper(model), vocabularies, recipe)


def test_words_of_a_text_look_at_those_of_the_question() -> None:
    (found,) = Predictor([opened("comparing")]).predict([{"story": STORY, "question": QUESTION}])
    (look,) = found.inner_looks
    assert (look.source, look.other, look.weights.shape[:2]) == ("story", "question", (1, 1))
    assert look.rows.symbols[:3] == ("ann", "met", "bob")
    assert look.columns.symbols[:3] == ("where", "is", "bob")
    assert look.weights.shape[2:] == (len(look.rows.symbols), len(look.columns.symbols))
    np.testing.assert_allclose(look.weights.sum(axis=-1), 1.0, rtol=1e-5)


def test_sentences_and_the_question_look_at_each_other_round_by_round() -> None:
    (found,) = Predictor([opened("related")]).predict([{"story": STORY, "question": QUESTION}])
    (look,) = found.inner_looks
    assert look.weights.shape == (3, 2, 4, 4)
    assert look.rows.symbols == (QUESTION, "Ann met Bob.", "Bob ran home.", "It rains.")
    assert look.rows.sources == ("question", "story", "story", "story")
    assert [STORY[slice(*span)] for span in look.rows.spans[1:]] == list(look.rows.symbols[1:])
    np.testing.assert_allclose(look.weights.sum(axis=-1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("kind", READERS)
def test_nothing_is_computed_until_somebody_asks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, looked = [], TorchStepper.looked

    def counted(stepper: TorchStepper, sources: Mapping[str, Padded]) -> Mapping[str, FloatArray]:
        asked.append(1)
        return looked(stepper, sources)

    monkeypatch.setattr(TorchStepper, "looked", counted)
    (found,) = Predictor([opened(kind)]).predict([{"story": STORY, "question": QUESTION}], search=Greedy())
    assert not asked
    assert len(found.exhibit().inside) == len(asked) == 1


def test_an_ensemble_has_no_inside_and_a_blank_input_neither() -> None:
    predictor = Predictor([opened("related"), opened("related")])
    assert predictor.predict([{"story": STORY, "question": QUESTION}])[0].inner_looks == ()
    assert Predictor([opened("related")]).predict([{"story": " ", "question": ""}])[0].inner_looks == ()


@pytest.mark.parametrize(
    ("given", "lacking"), [({"story": STORY, "question": " "}, "question"), ({"story": "", "question": "a"}, "story")]
)
def test_a_story_without_a_question_and_a_question_about_nothing_are_refused(given: dict[str, str], lacking: str) -> None:
    with pytest.raises(DataError, match=f"input:1: expected story and question, found no {lacking}: it is empty"):
        Predictor([opened("related")]).predict([given])
    here = Example({"story": "", **given}, None, Origin("new.tsv", 7))
    with pytest.raises(DataError, match=r"^new.tsv:7: expected story and question, found no"):
        Predictor([opened("related")]).predict([here])
