"""ROUGE agrees with the library rouge-score."""

import pytest
from rouge_score.rouge_scorer import RougeScorer

from metrics.items import caption_items, item
from seqloom.metrics import evaluate, sentence_scores

NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}


@pytest.mark.parametrize(("name", "their_name"), NAMES.items())
def test_scores_are_those_of_rouge_score(name: str, their_name: str) -> None:
    items = caption_items(100)
    scorer = RougeScorer([their_name], use_stemmer=False)
    theirs = [100 * scorer.score_multi(one.references, one.hypothesis)[their_name].fmeasure for one in items]
    assert sentence_scores(items, name) == pytest.approx(theirs, abs=1e-6)
    assert evaluate(items, [name]).metrics[name] == pytest.approx(sum(theirs) / len(items), abs=1e-6)


def test_the_reference_that_gives_most_counts() -> None:
    assert evaluate([item("a b c", "x y", "a b", "a")], ["rouge_1"]).metrics["rouge_1"] == pytest.approx(80)


def test_signatures_tell_rouge_l_of_summaries_from_that_of_captions() -> None:
    signatures = evaluate([item("a", "a")], ["rouge_1", "rouge_l", "rouge_l_coco"]).signatures
    assert signatures["rouge_1"].startswith("ROUGE-1, F1 with the reference that gives most")
    assert "no stemming" in signatures["rouge_l"]
    assert signatures["rouge_l"] != signatures["rouge_l_coco"]
