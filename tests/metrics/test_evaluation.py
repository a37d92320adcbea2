"""Metrics agree with the libraries' public functions and with sums done by hand."""

import itertools
import json
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest
import sacrebleu

from metrics.items import QUICK, item, noisy_items
from seqloom.errors import DataError, MissingExtraError, UsageError
from seqloom.installation import install_command
from seqloom.metrics import (
    ALL,
    CAPTIONS,
    HIGHER_IS_BETTER,
    PAIRS,
    Item,
    Name,
    better,
    evaluate,
    intervals,
    sentence_scores,
    silence,
    usual,
)
from seqloom.recipe.sections import Metric
from seqloom.results.confusion import Confusion


def metric(name: str, *items: Item) -> float:
    return evaluate(items, [name]).metrics[name]


def test_an_exact_match_is_with_any_reference() -> None:
    assert metric("exact_match", item("b", "a", "b"), item("c", "a"), item("a", "a"), item("", "a")) == 50.0


def test_character_errors_are_summed_over_the_corpus_before_dividing() -> None:
    assert metric("cer", item("abcd", "abce"), item("x", "xy")) == pytest.approx(100 * 2 / 6)


def test_characters_are_code_points_beyond_the_basic_plane_too() -> None:
    assert metric("cer", item("नमसते 😀", "नमस्ते 😀")) == pytest.approx(100 / 8)


def test_words_are_what_stands_between_spaces() -> None:
    assert metric("wer", item("the  cat sat,", "the cat sat down")) == 50.0


def test_symbols_may_be_anything_hashable() -> None:
    by_number = Item("", ("",), (7, 8, 9), ((7, 9),), 3)
    by_phoneme = Item("", ("",), ("AH0", "B"), (("AH1", "B"),), 3)
    assert metric("symbol_error_rate", by_number) == 50.0
    assert metric("symbol_error_rate", by_phoneme) == 50.0


def test_edits_are_counted_to_the_closest_reference() -> None:
    assert metric("cer", item("abcd", "wxyz", "abce", "a")) == 25.0


def test_of_equally_close_references_the_longer_counts() -> None:
    assert metric("cer", item("abc", "ab", "abcd")) == 25.0


def test_writing_too_much_can_exceed_one_hundred() -> None:
    assert metric("cer", item("aaaa", "a")) == 300.0


def test_an_empty_reference_is_met_by_an_empty_output_only() -> None:
    assert metric("cer", item("", "")) == 0.0
    assert metric("cer", item("ab", "")) == 200.0


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_bleu_and_chrf_are_those_of_sacrebleu(name: str) -> None:
    items = noisy_items(100)
    hypotheses = [one.hypothesis for one in items]
    references = [[one.references[0] for one in items]]
    public = {"bleu": sacrebleu.corpus_bleu, "chrf": sacrebleu.corpus_chrf}[name]
    assert metric(name, *items) == pytest.approx(public(hypotheses, references).score)  # type: ignore[operator]


def test_bleu_takes_a_varying_number_of_references() -> None:
    items = [item("the cat sat on a mat", "the cat sat on the mat", "a cat sat on a mat"), item("so it was then", "so it was")]
    references: list[Sequence[Any]] = [["the cat sat on the mat", "so it was"], ["a cat sat on a mat", None]]
    wanted = sacrebleu.corpus_bleu([one.hypothesis for one in items], references)
    evaluation = evaluate(items, ["bleu"])
    assert evaluation.metrics["bleu"] == pytest.approx(wanted.score)
    assert "nrefs:var" in evaluation.signatures["bleu"]


def test_perfect_outputs_are_perfect_in_every_metric() -> None:
    texts = ["a perfect line of text", "one that says something else", "no word in common with them"]
    perfect = {name: 100.0 if HIGHER_IS_BETTER[name] else 0.0 for name in QUICK}
    assert evaluate([item(text, text) for text in texts], QUICK).metrics == pytest.approx({**perfect, "cider": 1000.0})


def test_an_empty_output_is_worth_nothing() -> None:
    worthless = {name: 0.0 if HIGHER_IS_BETTER[name] else 100.0 for name in QUICK}
    assert evaluate([item("", "some words")], QUICK).metrics == pytest.approx(worthless)


def test_signatures_say_what_was_computed_and_by_which_version() -> None:
    signatures = evaluate([item("a b", "a b")]).signatures
    assert set(signatures) == set(PAIRS)
    assert signatures["exact_match"] == "items whose text equals a reference / items"
    assert signatures["cer"].startswith("edit distance / reference characters (code points), rapidfuzz ")
    assert signatures["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert signatures["chrf"].startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")


def test_the_json_has_exactly_the_promised_keys() -> None:
    data = evaluate(noisy_items(20)).as_json()
    assert list(data) == ["metrics", "count", "signatures", "by_length", "silent"]
    assert list(data["metrics"]) == list(PAIRS)
    assert data["count"] == 20
    assert json.loads(json.dumps(data)) == data


def test_every_item_is_in_one_length_group() -> None:
    items = noisy_items(200)
    groups = evaluate(items).by_length
    assert 2 <= len(groups) <= 5
    assert sum(group["count"] for group in groups) == 200
    assert all(earlier["to"] < later["from"] for earlier, later in itertools.pairwise(groups))
    assert (groups[0]["from"], groups[-1]["to"]) == (1, 8)


def test_a_length_group_scores_as_if_it_were_alone() -> None:
    items = noisy_items(60)
    names = [name for name in QUICK if name != "cider"]  # which knows a word's rarity from all items
    for group in evaluate(items, names).by_length:
        inside = [one for one in items if group["from"] <= one.source_length <= group["to"]]
        alone = evaluate(inside, names).metrics
        assert {name: group[name] for name in names} == pytest.approx(alone)
        assert group["count"] == len(inside)


def test_sources_of_one_length_are_one_group() -> None:
    (group,) = evaluate([item("a", "a"), item("b", "c")], ["exact_match"]).by_length
    assert group == {"from": 5, "to": 5, "count": 2, "exact_match": 50.0}


def test_intervals_contain_the_score_and_narrow_with_more_items() -> None:
    few, many = noisy_items(50), noisy_items(800)
    scores = evaluate(few, QUICK).metrics
    wide, narrow = intervals(few, QUICK, resamples=200), intervals(many, QUICK, resamples=200)
    for name in QUICK:
        low, high = wide[name]
        assert low <= scores[name] <= high
        assert narrow[name][1] - narrow[name][0] < high - low


def test_the_interval_of_a_share_is_that_of_the_binomial() -> None:
    items = [item("a", "a" if number % 5 else "b") for number in range(1000)]  # 80 %
    low, high = intervals(items, ["exact_match"], resamples=2000)["exact_match"]
    half = 196 * math.sqrt(0.8 * 0.2 / 1000)
    assert low == pytest.approx(80 - half, abs=0.4)
    assert high == pytest.approx(80 + half, abs=0.4)


def test_intervals_depend_on_the_seed_alone() -> None:
    items = noisy_items(60)
    assert intervals(items, seed=3, resamples=50) == intervals(items, seed=3, resamples=50)
    assert intervals(items, seed=3, resamples=50) != intervals(items, seed=4, resamples=50)


@pytest.mark.parametrize("name", QUICK)
def test_the_best_sentence_has_the_greatest_score(name: str) -> None:
    items = [item("xx yy", "ab cd"), item("ab cd", "ab cd"), item("ab xx", "ab cd"), item("of something", "else")]
    worst, best, middle, _ = sentence_scores(items, name)
    assert worst <= middle <= best
    assert worst < best


def test_a_short_perfect_sentence_has_perfect_sentence_bleu() -> None:
    assert sentence_scores([item("two words", "two words")], "bleu") == [pytest.approx(100.0)]


def test_better_knows_each_metrics_direction() -> None:
    assert better("exact_match", 90.0, 80.0)
    assert not better("cer", 90.0, 80.0)
    assert better("loss", 0.5, 0.6)
    assert not better("loss", 0.5, 0.5)


def test_nan_improves_on_nothing_and_anything_improves_on_nan() -> None:
    assert not better("loss", math.nan, 1.0)
    assert not better("loss", math.nan, math.nan)
    assert better("loss", 1.0, math.nan)


def test_every_metric_of_a_recipe_is_known() -> None:
    assert set(get_args(Metric)) == set(HIGHER_IS_BETTER) == {"loss", *ALL}
    assert get_args(Name) == ALL


def test_several_references_mean_captions() -> None:
    assert usual([item("a", "a"), item("b", "b")]) == PAIRS
    assert usual([item("a", "a"), item("b", "b c", "c")]) == CAPTIONS
    assert usual([item("a", "a"), item("b", "b", "c")]) == PAIRS  # classes, of which two are right
    assert set(PAIRS) | set(CAPTIONS) < set(ALL)


def test_of_several_right_classes_the_written_one_counts() -> None:
    classes = evaluate([item("a", "b", "a"), item("c", "b", "a"), item("b", "b")]).classes
    assert classes is not None
    assert dict(classes.counts) == {("a", "a"): 1, ("b", "c"): 1, ("b", "b"): 1}


def test_a_metric_is_silent_about_what_references_lack() -> None:
    assert silence("bleu", [["a"], ["b"]])
    assert not silence("bleu", [["a", "a dog runs on the grass"], ["b"]])


def test_nothing_to_evaluate_is_refused() -> None:
    text = "Metrics need at least one output with its reference; there are none. Check that the data is not empty."
    with pytest.raises(DataError) as caught:
        evaluate([])
    assert str(caught.value) == text
    with pytest.raises(DataError, match="there are none"):
        intervals([])
    with pytest.raises(DataError, match="there are none"):
        sentence_scores([], "cer")


def test_an_item_without_reference_is_named() -> None:
    with pytest.raises(DataError) as caught:
        evaluate([item("a", "a"), item("b")])
    assert str(caught.value) == (
        "Item 2 of 2 has no reference to compare 'b' with. Give every example a target, or leave it out."
    )


def test_an_unknown_metric_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError) as caught:
        evaluate([item("a", "a")], ["ter"])
    assert str(caught.value) == f"There is no metric 'ter'. Choose from: {', '.join(ALL)}."
    with pytest.raises(UsageError, match=r"There is no metric 'ter'\. Choose from: loss, exact_match"):
        better("ter", 1.0, 2.0)


@pytest.mark.parametrize(
    ("name", "library"), [("cer", "rapidfuzz"), ("rouge_l", "rapidfuzz"), ("bleu", "sacrebleu"), ("chrf", "sacrebleu")]
)
def test_a_missing_library_names_the_extra(name: str, library: str, without_library: Callable[[str], None]) -> None:
    without_library(library)
    with pytest.raises(MissingExtraError) as caught:
        metric(name, item("a", "a"))
    assert str(caught.value) == (
        "Computing metrics needs the extra 'metrics', which is not installed. Run: " + install_command("metrics")
    )
    assert metric("exact_match", item("a", "a")) == 100.0


def test_five_thousand_items_take_well_under_a_second() -> None:
    items = noisy_items(5000)
    started = time.perf_counter()
    evaluate(items, ["exact_match", "symbol_error_rate", "cer", "wer"])
    assert time.perf_counter() - started < 1.0


def test_bleu_is_silent_where_no_reference_has_four_words() -> None:
    short = Item("a b c", ("a b c",), ("a", "b", "c"), (("a", "b", "c"),), 3)
    assert evaluate([short]).telling == [name for name in PAIRS if name not in ("bleu", "wer")]
    assert evaluate([short]).metrics["bleu"] == 0
    assert not evaluate([short, Item("now four words stand", ("now four words stand",), ("a",), (("a",),), 4)]).silent


def class_items(*pairs: tuple[str, str]) -> list[Item]:
    """Items of wanted and written classes."""
    return [Item(written, (wanted,), (written,), ((wanted,),), 3) for wanted, written in pairs]


def test_classes_are_counted_where_every_target_is_one_symbol() -> None:
    found = evaluate(class_items(("yes", "yes"), ("yes", "no"), ("yes", "yes"), ("not sure", "no"), ("no", "no")))
    assert found.classes is not None
    assert found.telling == ["exact_match"]
    assert list(found.unsaid) == ["symbol_error_rate, cer, wer, bleu, chrf"]
    assert found.classes.accuracy == found.metrics["exact_match"] == 60
    assert found.classes.names == ["yes", "no", "not sure"]
    yes, no, unsure = found.classes.qualities
    assert [yes.wanted, yes.written, yes.precision, yes.recall, yes.f1] == pytest.approx([3, 2, 100, 200 / 3, 80])
    assert [no.precision, no.recall, no.f1] == pytest.approx([100 / 3, 100, 50])
    assert (unsure.written, unsure.precision, unsure.recall, unsure.f1) == (0, None, 0, 0)
    assert found.classes.macro_f1 == pytest.approx((80 + 50 + 0) / 3)
    assert found.classes.confusions == [Confusion("not sure", "no", 1), Confusion("yes", "no", 1)]
    assert found.classes.table(["yes", "no"]) == [[2, 1], [0, 1]]
    assert json.loads(json.dumps(found.as_json()))["classes"]["confusions"][0]["written"] == "no"


def test_a_class_that_was_never_wanted_has_no_recall_and_no_part_in_the_mean() -> None:
    classes = evaluate(class_items(("a", "a"), ("a", "what"))).classes
    assert classes is not None
    assert [(one.name, one.recall) for one in classes.qualities] == [("a", 50), ("what", None)]
    assert classes.macro_f1 == pytest.approx(200 / 3)


def test_longer_targets_are_no_classes() -> None:
    assert evaluate([*class_items(("a", "a")), item("ab", "ab")]).classes is None
    assert "classes" not in evaluate([item("ab", "ab")]).as_json()


def test_a_metric_that_repeats_another_is_not_shown() -> None:
    characters = evaluate([item("abd", "abc"), item("x", "xy")])
    assert characters.silent["symbol_error_rate"] == "the same as cer: every symbol is a character"
    sounds = evaluate([Item("a b d", ("a b c",), ("a", "b", "d"), (("a", "b", "c"),), 3)])
    assert sounds.silent["wer"] == "the same as symbol_error_rate: every symbol is a word between spaces"
    assert "wer" not in sounds.telling
    assert evaluate([item("abd", "abc")], ["symbol_error_rate", "cer"]).telling == ["symbol_error_rate", "cer"]


def test_bleu_is_not_shown_for_sounds_between_spaces() -> None:
    pronounced = [item("HH AH0 L OW1 W ER1 L D", "HH AH0 L OW1 W ER1 L D")] * 30
    assert "sounds" in evaluate(pronounced).silent["bleu"]
    assert "sounds" in evaluate(pronounced[:1]).silent["bleu"]
    assert "bleu" in evaluate([item("the cat sat on the mat", "the cat sat on the mat")] * 60).telling
    assert "bleu" in evaluate([item("我 喜欢 吃 苹果 。", "我 喜欢 吃 苹果 。")]).telling  # short, but words
