"""The paired bootstrap: two systems on the same items."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from metrics.items import item, noisy_items
from seqloom.errors import UsageError
from seqloom.metrics import Item, evaluate, paired_bootstrap
from seqloom.metrics.evaluation import made_ready, middle_95
from seqloom.metrics.significance import draws

SENTENCES = noisy_items(80, words=14)


def spoilt(items: list[Item], share: float) -> list[Item]:
    """The same references with a share of the words of each output lost."""
    chance = random.Random(3)
    kept = [" ".join(word for word in one.hypothesis.split() if chance.random() > share) for one in items]
    return [item(text, *one.references) for text, one in zip(kept, items, strict=True)]


def test_values_are_those_of_evaluation_and_the_difference_is_second_less_first() -> None:
    first, second = SENTENCES, spoilt(SENTENCES, 0.3)
    for one in paired_bootstrap(first, second, ["cer", "bleu"], resamples=50):
        assert one.first == evaluate(first, [one.metric]).metrics[one.metric]
        assert one.second == evaluate(second, [one.metric]).metrics[one.metric]
        assert one.difference == one.second - one.first
        assert one.interval[0] <= one.difference <= one.interval[1]


def test_a_system_does_not_differ_from_itself() -> None:
    for one in paired_bootstrap(SENTENCES, SENTENCES, resamples=50):
        assert (one.difference, one.interval, one.p_value) == (0, (0, 0), 1)


def test_a_clear_difference_is_significant_and_one_item_is_not() -> None:
    [clear] = paired_bootstrap(SENTENCES, spoilt(SENTENCES, 0.3), ["cer"])
    assert clear.p_value == pytest.approx(2 / 1001)
    assert clear.interval[0] > 0  # an error rate that grows
    nearly = [*SENTENCES[:-1], spoilt(SENTENCES, 0.9)[-1]]
    [chance] = paired_bootstrap(SENTENCES, nearly, ["cer"])
    assert chance.p_value > 0.3
    assert chance.interval[0] == 0


def test_draws_are_seeded() -> None:
    second = spoilt(SENTENCES, 0.05)
    once, again = (paired_bootstrap(SENTENCES, second, ["cer"], resamples=40) for _ in range(2))
    assert once == again
    assert once != paired_bootstrap(SENTENCES, second, ["cer"], resamples=40, seed=6)


def test_bleu_and_chrf_agree_with_the_paired_bootstrap_of_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its draws are the same, and so are the scores of all resamples. Its p-value goes by the size of differences."""
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    second = spoilt(SENTENCES, 0.05)
    systems: list[tuple[str, Sequence[str]]] = [
        ("first", [one.hypothesis for one in SENTENCES]),
        ("second", [one.hypothesis for one in second]),
    ]
    metrics = {"bleu": BLEU(force=True), "chrf": CHRF()}
    references = [[one.references[0] for one in SENTENCES]]
    theirs: dict[str, Any] = PairedTest(systems, metrics, references, test_type="bs", n_samples=400)()[1]
    ready = made_ready(second, ["bleu", "chrf"])
    for one in paired_bootstrap(SENTENCES, second, ["bleu", "chrf"], resamples=400):
        result = next(results[1] for name, results in theirs.items() if name.lower().startswith(one.metric))
        assert one.second == pytest.approx(result.score)
        measure = ready[one.metric]
        scores = [measure.score(times @ measure.table) for times in draws(len(second), 400, 12345)]
        assert np.mean(scores) == pytest.approx(result.mean, abs=1e-3)
        assert np.diff(middle_95(scores))[0] / 2 == pytest.approx(result.ci, abs=1e-2)
        assert one.p_value == pytest.approx(result.p_value, abs=0.02)


def test_metrics_that_say_nothing_are_left_out() -> None:
    words = [item("ab", "ab"), item("cd", "ce")]
    assert "bleu" not in [one.metric for one in paired_bootstrap(words, words, resamples=5)]
    classes = [item("a", "a"), item("b", "c")]
    assert [one.metric for one in paired_bootstrap(classes, classes, resamples=5)] == ["exact_match"]


def test_other_references_are_refused() -> None:
    with pytest.raises(UsageError, match="same references"):
        paired_bootstrap([item("a", "b")], [item("a", "c")])
