"""The command: its JSON, its table, its warnings."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from bench.tiny import TINY
from seqloom.__main__ import main
from seqloom.bench import measuring, training, workloads
from seqloom.bench.measuring import Deadline, MatrixRates, peak_mb
from seqloom.system.cpu import has_bf16_products

Bench = Callable[..., tuple[int, str, str]]
QUICK = ("--steps", "2", "--repeats", "2", "--sentences", "20")
SIDE_OF_TRAINING = {"tokens_per_second", "precision", "peak_mb", "padding"}
SIDE_OF_DECODING = {"sentences_per_second", "tokens_per_second", "latency_ms"}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Bench:
    """Run the command on the tiny workload, without large products and further processes; gives code, output, errors."""
    monkeypatch.setitem(workloads.WORKLOADS, "translation", TINY)
    monkeypatch.setattr(MatrixRates.__init__, "__defaults__", (32,))
    monkeypatch.setattr(training, "peak_in_own_process", lambda side, settings: 100.0)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["seqloom", "bench", *words])
        with pytest.raises(SystemExit) as left:
            main()
        written = capfd.readouterr()
        return int(left.value.code or 0), written.out, written.err

    return run


def only_object(out: str) -> dict[str, Any]:
    (line,) = out.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.mark.parametrize("batches", ["grouped", "random"])
def test_the_figures_of_training(bench: Bench, batches: str) -> None:
    code, out, _ = bench("train", *QUICK, "--precision", "fp32", "--textbook-batches", batches, "--json")
    report = only_object(out)
    assert code == 0
    assert {"workload", "ours", "textbook", "ratio", "matrix_gflops", "share"} <= report.keys()
    for side in ("ours", "textbook"):
        assert report[side].keys() >= SIDE_OF_TRAINING
        assert report[side]["precision"] == "fp32"
        assert report[side]["peak_mb"] == 100.0
    assert set(report["matrix_gflops"]) == {"fp32", "bf16"}
    speeds = [report[side]["tokens_per_second"] for side in ("ours", "textbook")]
    assert report["ratio"] == pytest.approx(speeds[0] / speeds[1], rel=0.01)
    assert (report["textbook"]["padding"] > 0.2) == (batches == "random")


def test_the_figures_of_decoding(bench: Bench) -> None:
    code, out, _ = bench("decode", *QUICK, "--json")
    report = only_object(out)
    assert code == 0
    assert report["precision"] == "fp32"
    for found in (report, report["greedy"]):
        assert found["ours"].keys() == found["textbook"].keys() == SIDE_OF_DECODING
        assert found["agreement"] == 1.0
        speeds = [found[side]["sentences_per_second"] for side in ("ours", "textbook")]
        assert found["ratio"] == pytest.approx(speeds[0] / speeds[1], rel=0.01)


def test_decoding_is_measured_in_bfloat16(bench: Bench) -> None:
    code, out, err = bench("decode", *QUICK, "--precision", "bf16", "--shortlist", "8", "--json")
    report = only_object(out)
    assert (code, report["precision"], report["shortlist"]) == (0, "bf16", 8)
    assert 0 <= report["agreement"] <= 1
    assert report["warnings"] == []  # outputs may differ
    assert ("emulated" in err) == (not has_bf16_products())


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_an_exported_model_takes_turns_with_torch_and_the_textbook(bench: Bench, precision: str) -> None:
    code, out, _ = bench("decode", *QUICK, "--backend", "runtime", "--precision", precision, "--json")
    report = only_object(out)
    assert (code, report["backend"], report["precision"], report["warnings"]) == (0, "runtime", precision, [])
    assert report["processor"]
    for found in (report, report["greedy"]):
        assert found["ours"].keys() == found["torch"].keys() == SIDE_OF_DECODING
        speeds = [found[side]["sentences_per_second"] for side in ("ours", "torch")]
        assert found["torch_ratio"] == pytest.approx(speeds[0] / speeds[1], rel=0.01)
        assert found["torch_agreement"] == 1.0 or precision == "int8"


def test_without_a_word_both_are_measured_and_shown_as_tables(bench: Bench) -> None:
    code, out, _ = bench(*QUICK, "--repeats", "1")
    assert code == 0
    for heading in ("training, tiny", "decoding, tiny", "of matrix rate", "same outputs", "ours / it"):
        assert heading in out


def test_a_machine_that_is_not_idle_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_IDLE_SHARE", 10.0**6)
    _, out, err = bench("train", *QUICK, "--json")
    assert "probably not idle" in err
    assert "probably not idle" in only_object(out)["warnings"][0]


def test_no_round_begins_after_the_time_is_over(bench: Bench) -> None:
    _, out, _ = bench("train", "--steps", "1", "--repeats", "50", "--seconds", "0", "--json")
    assert only_object(out)["repeats"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "--precision", "int8"], "int8, --shortlist and --backend are for decoding"),
        (["--shortlist", "10"], "int8, --shortlist and --backend are for decoding"),
        (["train", "--backend", "runtime"], "int8, --shortlist and --backend are for decoding"),
        (["decode", *QUICK, "--precision", "int8"], "bench decode --backend runtime --precision int8"),
        (["decode", *QUICK, "--backend", "runtime", "--precision", "bf16"], "fp32 or int8"),
        (["train", "--source", "a.txt"], "--source and --target go together"),
        (["fly"], "'train', 'decode'"),
    ],
)
def test_what_cannot_be_measured_is_bad_usage(bench: Bench, words: list[str], said: str) -> None:
    code, _, err = bench(*words)
    assert (code, said in err) == (2, True)


def test_an_emulated_product_is_sampled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = MatrixRates(size=8)
    monkeypatch.setattr(measuring, "timed", lambda work: 1.0)
    for _ in range(3):
        rates.sample()
    assert rates.gflops == {"fp32": pytest.approx(1.024e-6), "bf16": pytest.approx(1.024e-6)}
    assert [len(seconds) for seconds in rates._seconds.values()] == [1, 1]


@pytest.mark.parametrize("side", training.SIDES)
def test_peak_memory_is_measured_in_a_process_of_its_own(side: training.SideName) -> None:
    ballast = bytearray(600 * 2**20)
    ballast[:: 2**12] = b"x" * len(ballast[:: 2**12])  # touch every page: this process is large now
    assert peak_mb() > 600
    settings = training.TrainSettings(workload=TINY, precision="fp32", steps=1)
    assert 50 < training.peak_in_own_process(side, settings) < 600


def test_a_deadline_passes() -> None:
    assert Deadline(-1.0).passed
    assert not Deadline(60.0).passed
