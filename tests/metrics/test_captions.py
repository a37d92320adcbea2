"""Metrics of captions agree with the COCO caption tools, and with sums done by hand."""

import math
import time

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from metrics.items import caption_items, item
from seqloom.metrics import Item, evaluate, intervals, sentence_scores

ITEMS = caption_items(200)
BLEU = ["bleu_1", "bleu_2", "bleu_3", "bleu_4"]
UNPENALISED = [f"{name}_unpenalised" for name in BLEU]


def theirs(tool: object, items: list[Item]) -> tuple[list[float], list[list[float]]]:
    """What a COCO tool says of the corpus, and of every item: a number or, for BLEU, one per order."""
    wanted = {number: list(one.references) for number, one in enumerate(items)}
    written = {number: [one.hypothesis] for number, one in enumerate(items)}
    options = {"verbose": 0} if isinstance(tool, Bleu) else {}
    score, scores = tool.compute_score(wanted, written, **options)  # type: ignore[attr-defined]
    return np.atleast_1d(score).tolist(), np.atleast_2d(scores).tolist()


@pytest.mark.parametrize(
    ("names", "tool"), [(BLEU, Bleu(4)), (["rouge_l_coco"], Rouge()), (["cider"], Cider())], ids=["bleu", "rouge_l", "cider"]
)
def test_scores_are_those_of_the_coco_tools(names: list[str], tool: object) -> None:
    whole, each = theirs(tool, ITEMS)
    found = evaluate(ITEMS, names).metrics
    for name, score, scores in zip(names, whole, each, strict=True):
        assert found[name] == pytest.approx(100 * score, abs=1e-6)
        assert sentence_scores(ITEMS, name) == pytest.approx([100 * one for one in scores], abs=1e-6)


def test_without_the_penalty_a_short_output_loses_nothing() -> None:
    short = [item("a b c d", "a b c d e f g h")]
    assert evaluate(short, UNPENALISED).metrics == pytest.approx(dict.fromkeys(UNPENALISED, 100.0))
    assert evaluate(short, BLEU).metrics == pytest.approx(dict.fromkeys(BLEU, 100 * math.exp(-1)))
    long = [item("a b c d e", "a b c d")]
    assert evaluate(long, UNPENALISED).metrics["bleu_2_unpenalised"] == evaluate(long, BLEU).metrics["bleu_2"]


def test_the_penalty_is_by_the_reference_closest_in_length_and_of_two_the_shorter() -> None:
    assert evaluate([item("a b", "a b c", "a"), item("d", "d")], ["bleu_1"]).metrics["bleu_1"] == pytest.approx(100)


def test_an_ngram_counts_as_often_as_one_reference_has_it() -> None:
    assert evaluate([item("a a a b", "a a c", "a b")], ["bleu_1"]).metrics["bleu_1"] == pytest.approx(75)


def test_case_and_punctuation_do_not_count() -> None:
    names = ["bleu_1", "rouge_l_coco", "cider"]
    items = [item("A dog .", "a dog"), item("two men", "Two men!")]
    assert evaluate(items, names).metrics == pytest.approx({"bleu_1": 100, "rouge_l_coco": 100, "cider": 500})


def test_rouge_l_takes_the_best_precision_and_the_best_recall() -> None:
    precision, recall, beta = 2 / 2, 1 / 1, 1.2**2
    wanted = 100 * (1 + beta) * precision * recall / (recall + beta * precision)
    assert evaluate([item("a b", "a x b y", "b")], ["rouge_l_coco"]).metrics["rouge_l_coco"] == pytest.approx(wanted)


def test_cider_says_nothing_of_one_item() -> None:
    evaluation = evaluate([item("a dog", "a dog", "the dog")], ["cider"])
    assert evaluation.silent["cider"].startswith("the references of all items have the same words")
    assert not evaluate(ITEMS, ["cider"]).silent


def test_bleu_is_silent_where_references_are_too_short() -> None:
    evaluation = evaluate([item("a dog", "a dog")], BLEU)
    assert list(evaluation.silent) == ["bleu_3", "bleu_4"]
    assert evaluation.silent["bleu_3"].startswith("no reference has three words in a row")


def test_signatures_say_what_sets_the_metrics_apart() -> None:
    signatures = evaluate(ITEMS, ["bleu_4", "bleu_4_unpenalised", "rouge_l_coco", "cider"]).signatures
    assert "1- to 4-grams" in signatures["bleu_4"]
    assert "brevity penalty by the closest reference" in signatures["bleu_4"]
    assert "no brevity penalty" in signatures["bleu_4_unpenalised"]
    assert "beta 1.2" in signatures["rouge_l_coco"]
    assert "x 100 (at most 1000), sigma 6, document frequencies of all these references" in signatures["cider"]
    assert all("lower case, no punctuation" in signature for signature in signatures.values())


def test_intervals_contain_the_score() -> None:
    low, high = intervals(ITEMS, ["cider"], resamples=100)["cider"]
    assert low < evaluate(ITEMS, ["cider"]).metrics["cider"] < high


def test_cider_of_a_thousand_captions_takes_well_under_two_seconds() -> None:
    items = caption_items(1000)
    started = time.process_time()  # not the clock: other processes may have the processor meanwhile
    evaluate(items, ["cider"])
    assert time.process_time() - started < 1.5
