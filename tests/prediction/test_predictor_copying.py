"""Predictions of a model that copies: what training never saw comes out as it went in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from seqloom.data.examples import Example, Origin
from seqloom.data.vocabulary import Vocabulary, build_vocabulary
from seqloom.errors import UsageError
from seqloom.evaluation.items import items_of
from seqloom.models.encoder_decoder import EncoderDecoder, build_model
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.prediction.backends import OpenedModel, open_model
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import Recipe, recipe_from
from seqloom.recipe.sections import Beam, Greedy, Words
from seqloom.symbols import END

SOURCE = "Anna met  Zyx and Uli 42"
VOCABULARY = build_vocabulary(Words(begin_end=True), ["Anna met Bert and a dog"])


def recipe_of(bridge: Mapping[str, Any]) -> Recipe:
    body: dict[str, Any] = {
        "data": {"train": "pairs.tsv", "vocabularies": {"source": {"kind": "words", "begin_end": True}, "shared": True}},
        "model": {
            "encoder": {"size": 4, "embedding": 4},
            "decoder": {"size": 8, "embedding": 4},
            "bridge": {"kind": "attention", **bridge},
        },
    }
    return recipe_from(body)


def opened(gate: float, *, copy: bool = True) -> OpenedModel:
    """An untrained model. gate: how much it prefers to write rather than to copy."""
    recipe = recipe_of({"copy": copy})
    model = build_model(recipe, {"source": VOCABULARY.size, "target": VOCABULARY.size})
    set_gate(model, gate)
    vocabularies: dict[str, Vocabulary] = {"source": VOCABULARY, "target": VOCABULARY}
    return OpenedModel(TorchStepper(model), vocabularies, recipe)


@torch.no_grad()
def set_gate(model: EncoderDecoder, value: float) -> None:
    if model.decoder.copying is not None:
        model.decoder.copying.gate.weight.zero_()
        model.decoder.copying.gate.bias.fill_(value)
    model.decoder.output.get_parameter("bias")[END] += 1.0


def test_what_attention_points_at_is_copied_as_it_stands() -> None:
    copier = Predictor([opened(-30.0)])
    # Position 0 is `begin`, the last one `end`, which is copied like the others.
    (found,) = copier.predict([SOURCE], search=Greedy(), oracle=["3-0 4-1 6-2 5-3 1-4 7-5"])
    assert found.text == "Zyx and 42 Uli Anna"
    assert found.best.tokens == ("Zyx", "and", "42", "Uli", "Anna", "<end>")
    assert found.best.log_prob == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("search", [Greedy(length_factor=1, length_extra=0), Beam(width=3, length_factor=1, length_extra=0)])
def test_a_copied_symbol_has_the_log_prob_that_scoring_the_text_gives(search: Greedy | Beam) -> None:
    predictor = Predictor([opened(-1.0), opened(0.0)])
    for source in (SOURCE, "Zyx", "Anna and Uli"):
        for found in predictor.predict([source], search=search)[0].candidates:
            if "<unknown>" in found.text:
                continue
            again = predictor.score([Example({"source": source}, found.text, Origin("test", 1))])[0]
            length = len(found.tokens)
            assert again.symbols[:length] == found.tokens
            assert again.log_probs[:length] == pytest.approx(found.log_probs, abs=1e-4)


def test_a_copied_symbol_can_match_a_reference() -> None:
    predictor = Predictor([opened(-30.0)])
    example = Example({"source": "met Zyx"}, "Zyx Zoe", Origin("test", 1))
    (found,) = predictor.predict(["met Zyx"], search=Greedy(), oracle=["2-0 1-1 3-2"])
    (item,) = items_of(predictor, [example], [found])
    assert found.text == "Zyx met"
    assert item.hypothesis_symbols[0] == item.references_symbols[0][0] == VOCABULARY.size + 2
    assert item.references_symbols[0][1] == -1


def test_what_cannot_go_with_copying_is_refused(tiny_language_run: Path) -> None:
    with pytest.raises(UsageError, match="some of these models copy symbols"):
        Predictor([opened(0.0), opened(0.0, copy=False)])
    with pytest.raises(UsageError, match="symbols that a language model does not know"):
        Predictor([opened(0.0)], language_model=open_model(tiny_language_run))


def test_of_a_long_source_the_beginning_is_read_and_the_rest_said() -> None:
    recipe = recipe_of({"copy": True})
    first = {"source": {"kind": "text", "first": 3}}
    cut = recipe_from({**recipe.model_dump(), "data": {**recipe.data.model_dump(), "sources": first}})
    model = build_model(cut, {"source": VOCABULARY.size, "target": VOCABULARY.size})
    opened_cut = OpenedModel(TorchStepper(model), {"source": VOCABULARY, "target": VOCABULARY}, cut)
    (found,) = Predictor([opened_cut]).predict([SOURCE], search=Greedy())
    assert found.alignment["source"].symbols == ("<begin>", "Anna", "met")
    assert found.as_json()["unread"] == found.unread == 5


def test_a_value_that_an_output_lacks_costs_what_the_search_says() -> None:
    copier = Predictor([opened(0.0)])
    acts = "inform name = Zyx Uli ; confirm dog = Anna"
    section = Beam(width=4, length_extra=3, length_factor=0.0, length_power=0.0)
    priced = section.model_copy(update={"values": 2.0})
    (found,) = copier.predict([acts], search=priced, nbest=4)
    for one in found.candidates:
        words = f" {one.text} "
        missing = sum(f" {value} " not in words for value in ("Zyx Uli", "Anna"))
        assert one.score == pytest.approx(one.log_prob - 2.0 * missing, abs=1e-5)
    assert [one.score for one in found.candidates if one.finished] == sorted(
        (one.score for one in found.candidates if one.finished), reverse=True
    )
