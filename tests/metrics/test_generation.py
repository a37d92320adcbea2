"""Slots that are said, outputs that differ, words that are kept."""

import pytest

from metrics.items import item
from seqloom.metrics import Item, evaluate


def from_acts(source: str, hypothesis: str, reference: str) -> Item:
    return Item(hypothesis, (reference,), (), ((),), 1, source)


@pytest.mark.parametrize(
    ("source", "output", "rate"),
    [
        ("inform phone = 408-971 ; offer name = Bazille", "It is bazille , 408-971 .", 0),
        ("inform phone = 408-971 ; offer name = Bazille", "It is 408-971 .", 50),
        ("inform phone = 408-971 ; request city", "It is 4089-71 .", 100),
        ("name[Bazille], phone[408-971]", "Bazille !", 50),
        ("offer time = 10:30 , 11:30", "At 10:30 .", 50),
    ],
)
def test_values_that_the_reference_says_are_missed_or_not(source: str, output: str, rate: float) -> None:
    reference = "Bazille , call 408-971 ; at 10:30 or 11:30"
    assert evaluate([from_acts(source, output, reference)], ["slot_error_rate"]).metrics["slot_error_rate"] == rate


def test_values_that_no_reference_says_do_not_count() -> None:
    found = evaluate([from_acts("offer name = Bazille", "a", "b")], ["slot_error_rate"])
    assert "no source has a value" in found.silent["slot_error_rate"]


def test_distinct_runs_are_counted_over_all_outputs() -> None:
    items = [item("I do not know .", "a"), item("I do not care .", "b"), item("I know", "c")]
    found = evaluate(items, ["distinct_1", "distinct_2"])
    assert found.metrics == pytest.approx({"distinct_1": 50.0, "distinct_2": 100 * 5 / 7})
    assert "different 2-grams" in found.signatures["distinct_2"]


def test_kept_words_are_words_or_the_places_of_tags() -> None:
    words = evaluate([item("a b b", "a b c")], ["kept_f1"])
    assert words.metrics["kept_f1"] == pytest.approx(100 * 2 / 3)
    tags = evaluate([item("1 0 1 0", "1 0 0 1")], ["kept_f1"])
    assert tags.metrics["kept_f1"] == pytest.approx(50)
    assert "places tagged 1" in tags.signatures["kept_f1"]
    assert evaluate([item("0 0", "0 0")], ["kept_f1"]).metrics["kept_f1"] == 100
