"""`seqloom evaluate`, `score` and `compare`: figures for people and for programs."""

import json
import math
import shutil
from pathlib import Path

import pytest

from cli.conftest import QUICK, Seqloom
from seqloom.evaluation.report import collect_report

METRICS = ["exact_match", "symbol_error_rate", "cer", "wer", "bleu", "chrf"]


def test_evaluate_takes_the_test_split_of_the_recipe(seqloom: Seqloom, tiny_run: Path) -> None:
    [body] = seqloom("evaluate", tiny_run, "--json").objects
    assert set(body) == {"metrics", "count", "signatures", "by_length", "silent"}
    assert list(body["metrics"]) == METRICS
    assert all(0 <= value <= 100 for value in body["metrics"].values())
    assert body["count"] == json.loads((tiny_run / "run.json").read_text())["examples"]["test"]
    assert sum(bucket["count"] for bucket in body["by_length"]) == body["count"]


def test_evaluate_reads_a_file_as_the_recipe_reads_its_own(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "pairs.tsv").write_text("abc\tABC\t\nabc\tABC!\tloud\n")
    [body] = seqloom("evaluate", tiny_run, "pairs.tsv", "--json").objects
    assert (body["count"], body["metrics"]["exact_match"]) == (2, 100)
    (here / "turned.tsv").write_text("ABC\tabc\n")
    [turned] = seqloom("evaluate", tiny_run, "turned.tsv", "--columns", "source=2,target=1", "--json").objects
    assert turned["metrics"]["exact_match"] == 100


def test_evaluate_reads_other_formats_by_ending_or_by_name(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "pairs.jsonl").write_text('{"source": "abc", "target": "ABC!", "features": "loud"}\n')
    (here / "pairs").write_text("abc,ABC!,loud\n")
    for words in (["pairs.jsonl"], ["pairs", "--format", "csv"]):
        [body] = seqloom("evaluate", tiny_run, *words, "--json").objects
        assert (body["count"], body["metrics"]["exact_match"]) == (1, 100)
    assert "--format: expected one of" in seqloom("evaluate", tiny_run, "pairs", "--format", "xml").err


def test_evaluate_takes_a_language_model_and_tells_its_weight(
    seqloom: Seqloom, tiny_run: Path, tiny_language_run: Path, here: Path
) -> None:
    (here / "pairs.tsv").write_text("abc\tABC\t\nfed\tFED\t\n")
    command = ["evaluate", tiny_run, "pairs.tsv", "--json", "--fuse", tiny_language_run, "--weight"]
    [light], [heavy] = seqloom(*command, 0.01).objects, seqloom(*command, 20).objects
    assert (light["fusion_weight"], light["metrics"]["exact_match"]) == (0.01, 100)
    assert (heavy["fusion_weight"], heavy["metrics"]["exact_match"]) == (20, 0)


def test_evaluate_takes_several_runs_as_an_ensemble(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "pairs.tsv").write_text("abc\tABC\t\nfed\tFED\t\n")
    [alone] = seqloom("evaluate", tiny_run, "pairs.tsv", "--json").objects
    [twice] = seqloom("evaluate", tiny_run, tiny_run, "pairs.tsv", "--json").objects
    assert twice == alone  # the mean of a model with itself is the model
    answer = seqloom("evaluate", tiny_run, "pairs.tsv", "pairs.tsv")
    assert answer.code == 2
    assert "expected one file of pairs, found 2" in answer.err
    (here / "folder").mkdir()
    assert "expected a file to read or a run folder" in seqloom("evaluate", tiny_run, "folder").err


def test_the_table_of_evaluate_is_whole_in_a_pipe(seqloom: Seqloom, tiny_run: Path) -> None:
    text = seqloom("evaluate", tiny_run).out
    assert all(f"\n{name} " in text for name in ("exact_match", "cer", "chrf")), text
    assert "…" not in text


def test_a_metric_that_says_nothing_is_left_out_of_the_table_with_the_reason(seqloom: Seqloom, tiny_run: Path) -> None:
    text = seqloom("evaluate", tiny_run).out
    assert "\nbleu " not in text
    assert "bleu: not shown: no reference has four words" in text


def test_evaluate_takes_the_metrics_that_are_named(seqloom: Seqloom, tiny_run: Path) -> None:
    [body] = seqloom("evaluate", tiny_run, "--metrics", "rouge_l, cider,cider", "--json").objects
    assert list(body["metrics"]) == list(body["signatures"]) == ["rouge_l", "cider"]
    answer = seqloom("evaluate", tiny_run, "--metrics", "cer,rogue")
    assert answer.code == 2
    assert "--metrics: There is no metric 'rogue'. Choose from: exact_match, " in answer.err


def test_a_metric_that_cannot_be_computed_is_named_with_the_reason(
    seqloom: Seqloom, tiny_run: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(here))  # where there is no Java
    answer = seqloom("evaluate", tiny_run, "--metrics", "cer,meteor")
    assert answer.code == 0
    assert "\nmeteor " not in answer.out
    assert "\nmeteor: not computed: METEOR 1.5 is a Java program, and there is no `java` to run it." in answer.out


@pytest.mark.parametrize("command", ["evaluate", "score"])
def test_a_feature_that_training_never_saw_counts_as_absent_and_is_said(
    seqloom: Seqloom, tiny_run: Path, here: Path, command: str
) -> None:
    (here / "pairs.tsv").write_text("abc\tABC\tnever\nabc\tABC!\tloud\n")
    answer = seqloom(command, tiny_run, "pairs.tsv")
    assert answer.code == 0
    assert "did not occur in training and counts as absent" in answer.err


def test_aligned_files_are_named_with_a_comma_between(seqloom: Seqloom, here: Path) -> None:
    words = [f"{a}{b}{c}" for a in "abcde" for b in "abcde" for c in "abcde"]
    (here / "w.low").write_text("\n".join(words) + "\n")
    (here / "w.up").write_text("\n".join(words).upper() + "\n")
    files = ["--source", "w.low", "--target", "w.up", "--validation", "w.low,w.up", "--test", "w.low,w.up"]
    assert seqloom("train", *files, "--out", "run", *QUICK).code == 0
    [body] = seqloom("evaluate", "run", "w.low,w.up", "--json").objects
    assert body["count"] == len(words)
    assert "figures on test would measure memory" in seqloom("check", *files).out


def test_score_prints_probabilities_then_a_summary(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "pairs.tsv").write_text("abc\tABC\t\nhead\tHEAD\t\n")
    *rows, last = seqloom("score", tiny_run, "pairs.tsv", "--json").objects
    assert [set(row) for row in rows] == [{"line", "log_prob", "symbols", "log_probs", "unknown"}] * 2
    assert rows[0]["symbols"] == ["A", "B", "C", "<end>"]
    assert rows[0]["log_prob"] == pytest.approx(sum(rows[0]["log_probs"]))
    summary = last["summary"]
    assert summary["symbols"] == 9
    assert summary["perplexity"] == pytest.approx(math.exp(-summary["log_prob"] / 9))
    assert summary["bits_per_symbol"] == pytest.approx(math.log2(summary["perplexity"]))


def test_the_summary_of_plain_scores_goes_to_standard_error(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "pairs.tsv").write_text("abc\tABC\t\n")
    answer = seqloom("score", tiny_run, "pairs.tsv")
    assert [line.split("\t")[1:] for line in answer.out.splitlines()] == [["abc", "ABC"]]
    assert "perplexity" in answer.err


@pytest.mark.parametrize("command", ["evaluate", "score"])
def test_data_that_cannot_be_judged_is_named(seqloom: Seqloom, tiny_run: Path, here: Path, command: str) -> None:
    (here / "one.tsv").write_text("abc\n")
    (here / "empty.tsv").write_text("")
    assert "nosuch.tsv: expected a file" in seqloom(command, tiny_run, "nosuch.tsv").err
    assert "one.tsv:1: expected" in seqloom(command, tiny_run, "one.tsv").err
    empty = seqloom(command, tiny_run, "empty.tsv")
    assert (empty.code, "holds no examples" in empty.err) == (3, True)


def test_compare_puts_runs_side_by_side_and_names_differences(seqloom: Seqloom, tiny_run: Path, finished: Path) -> None:
    answer = seqloom("compare", tiny_run, finished)
    assert answer.code == 0
    assert "exact_match" in answer.out
    [body] = seqloom("compare", tiny_run, finished, "--json").objects
    assert [row["run"] for row in body["runs"]] == [str(tiny_run), str(finished)]
    assert body["differences"] == {str(finished): []}


def test_compare_prints_lists_in_brackets_as_they_are(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "w.tsv").write_text("".join(f"{word}\t{word}\n" for word in map(str, range(100, 130))))
    assert seqloom("train", "--pairs", "w.tsv", "--out", "other", *QUICK).code == 0
    answer = seqloom("compare", tiny_run, "other")
    assert answer.code == 0
    assert f"-> {here}/w.tsv" in answer.out
    assert "columns.features: [3] -> []" in answer.out
    assert "different data" in answer.out


def test_a_run_before_its_first_validation_has_parameters(finished: Path, tiny_run: Path, seqloom: Seqloom) -> None:
    (finished / "weights.safetensors").unlink()
    [body] = seqloom("compare", tiny_run, finished, "--json").objects
    whole, unfinished = body["runs"]
    assert whole["parameters"] == unfinished["parameters"] > 0
    shutil.rmtree(finished / "checkpoints")
    [body] = seqloom("compare", tiny_run, finished, "--json").objects
    assert body["runs"][1]["parameters"] is None


# --- whether runs differ by more than chance ------------------------------------------------------------------------


@pytest.fixture
def pairs(here: Path) -> Path:
    (here / "pairs.tsv").write_text("abc\tABC\t\nabc\tABD\t\nfed\tFED\t\nabc\tABC!\tloud\n")
    return here / "pairs.tsv"


def test_a_run_does_not_differ_from_itself_on_a_test(seqloom: Seqloom, tiny_run: Path, finished: Path, pairs: Path) -> None:
    [body] = seqloom("compare", tiny_run, finished, "--test", pairs, "--json").objects
    test = body["test"]
    assert (test["count"], test["resamples"], test["first"]) == (4, 1000, str(tiny_run))
    [pair] = test["pairs"]
    assert pair["second"] == str(finished)
    exact = pair["metrics"][0]
    assert (exact["metric"], exact["first"], exact["second"], exact["difference"]) == ("exact_match", 75, 75, 0)
    assert (exact["interval"], exact["p_value"]) == ([0, 0], 1)
    told = seqloom("compare", tiny_run, finished, "--test", pairs, "--metrics", "cer", "--references", "grouped").out
    assert "95 % interval" in told
    assert "3 items of" in told
    assert "3 items cannot tell a difference from chance, whatever interval and p say: test on 30 or more" in told
    assert "\ncer " in told
    assert "\nchrf " not in told.split("95 % interval")[1]


def test_runs_are_compared_on_what_both_held_out(seqloom: Seqloom, tiny_run: Path, finished: Path) -> None:
    [body] = seqloom("compare", tiny_run, finished, "--held-out", "--json").objects
    assert body["test"]["count"] == json.loads((tiny_run / "run.json").read_text())["examples"]["test"]
    assert body["test"]["notes"] == []


def test_enough_items_are_not_told_to_be_too_few(seqloom: Seqloom, tiny_run: Path, finished: Path, here: Path) -> None:
    (here / "thirty.tsv").write_text("abc\tABC\t\n" * 30)
    [body] = seqloom("compare", tiny_run, finished, "--test", "thirty.tsv", "--json").objects
    assert (body["test"]["count"], body["test"]["notes"]) == (30, [])


def test_other_test_sets_and_other_tasks_get_a_sentence(
    seqloom: Seqloom, tiny_run: Path, lines: Path, here: Path, pairs: Path
) -> None:
    (here / "w.tsv").write_text("".join(f"{word}\t{word}\n" for word in map(str, range(100, 160))))
    assert seqloom("train", "--pairs", "w.tsv", "--out", "other", *QUICK).code == 0
    answer = seqloom("compare", tiny_run, "other", "--held-out")
    assert answer.code == 3
    assert "the runs held out other test examples" in answer.err
    assert "no source is in all. Name a file for all: --test FILE" in answer.err
    both = seqloom("compare", tiny_run, "other", "--test", pairs, "--columns", "source=1,target=2")
    assert "symbol_error_rate is left out: the runs have other target vocabularies" in both.out
    assert "Use: seqloom score" in seqloom("compare", tiny_run, lines, "--test", pairs).err
    assert "Choose one of them" in seqloom("compare", tiny_run, tiny_run, "--test", pairs, "--held-out").err
    assert "found one" in seqloom("compare", tiny_run, "--test", pairs).err
    assert "Add --test FILE or --held-out" in seqloom("compare", tiny_run, "other", "--metrics", "cer").err


# --- several references ---------------------------------------------------------------------------------------------


def test_any_reference_is_right_if_sources_are_judged_once(seqloom: Seqloom, tiny_run: Path, pairs: Path) -> None:
    each = seqloom("evaluate", tiny_run, pairs, "--json")
    assert (each.objects[0]["count"], each.objects[0]["metrics"]["exact_match"]) == (4, 75)
    assert "1 source has several targets, and each line is judged by its own (--references grouped" in each.err
    single = seqloom("evaluate", tiny_run, pairs, "--references", "single", "--json")
    assert (single.objects, single.err) == (each.objects, "")
    [body] = seqloom("evaluate", tiny_run, pairs, "--references", "grouped", "--json").objects
    assert (body["count"], body["references"], body["metrics"]["exact_match"]) == (3, 4, 100)
    assert list(body["metrics"]) == METRICS  # texts are judged as texts, not as captions
    assert body["metrics"]["symbol_error_rate"] == 0
    told = seqloom("evaluate", tiny_run, pairs, "--references", "grouped").out
    assert "references: 4 for 3 sources; any of them is right" in told


def test_report_and_evaluate_agree(seqloom: Seqloom, finished: Path) -> None:
    [body] = seqloom("evaluate", finished, "--json").objects
    report = collect_report(finished)
    assert {one.name: one.value for one in report.metrics} == {
        name: value for name, value in body["metrics"].items() if name not in body["silent"]
    }
    assert dict(report.facts)["measured on"].startswith(f"{body['count']:,} test examples")
    some = collect_report(finished, most=3)
    assert dict(some.facts)["measured on"].startswith(f"3 of {body['count']:,} test examples")
