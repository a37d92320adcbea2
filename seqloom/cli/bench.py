"""`seqloom bench`."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seqloom.cli.options import Json, Shortlist, open_console, print_json, progress_bar, require_torch, warn_of_emulation
from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.bench.decoding import DecodeSettings
    from seqloom.bench.training import TrainSettings
    from seqloom.bench.workloads import Workload


TrainingPrecision = Literal["auto", "fp32", "bf16"]


class What(StrEnum):
    """What is measured."""

    TRAIN = "train"
    DECODE = "decode"


class WorkloadName(StrEnum):
    """On what data and model."""

    TRANSLATION = "translation"
    CHARACTERS = "characters"


class TextbookBatches(StrEnum):
    """Which sentences the textbook puts together."""

    GROUPED = "grouped"
    RANDOM = "random"


class Backend(StrEnum):
    """What runs our model in decoding."""

    TORCH = "torch"
    RUNTIME = "runtime"


class Precision(StrEnum):
    """What our products are computed in."""

    AUTO = "auto"
    FP32 = "fp32"
    BF16 = "bf16"
    INT8 = "int8"


def bench(
    what: Annotated[What | None, typer.Argument(metavar="[train|decode]", help="What to measure; both without it.")] = None,
    workload: Annotated[
        WorkloadName,
        typer.Option(
            "--workload", metavar="translation|characters", help="Sentences of words, or words of letters to phonemes."
        ),
    ] = WorkloadName.TRANSLATION,
    source: Annotated[
        list[str] | None, typer.Option("--source", metavar="FILE", help="Instead of synthetic data: a file of sources ...")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="FILE", help="... and one of targets, line by line.")
    ] = None,
    textbook_batches: Annotated[
        TextbookBatches | None,
        typer.Option(
            "--textbook-batches",
            metavar="grouped|random",
            help="The textbook's batches: of like lengths (in training, without this option), or as they come (in decoding).",
        ),
    ] = None,
    precision: Annotated[
        Precision,
        typer.Option(
            "--precision",
            metavar="auto|fp32|bf16|int8",
            help="Of our products; int8: --backend runtime only. auto: in training bf16 where the processor has it, else fp32.",
        ),
    ] = Precision.AUTO,
    backend: Annotated[
        Backend,
        typer.Option(
            "--backend",
            metavar="torch|runtime",
            help="What decodes: torch, or ONNX Runtime as it runs exported models, with torch beside it.",
        ),
    ] = Backend.TORCH,
    shortlist: Shortlist = None,
    steps: Annotated[int, typer.Option("--steps", metavar="N", min=1, help="Updates of a round of training.")] = 12,
    sentences: Annotated[int, typer.Option("--sentences", metavar="N", min=1, help="Sentences of a round of decoding.")] = 1000,
    repeats: Annotated[
        int | None, typer.Option("--repeats", metavar="N", min=1, help="Rounds; without it, 7 of training, 3 of decoding.")
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", min=0.0, help="Start no further round after this many seconds.")
    ] = 600.0,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", min=1, help="Threads of both sides; one per core without it.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure the speed of training and decoding on this machine.

    Examples:
        seqloom bench train
        seqloom bench train --workload characters --precision fp32
        seqloom bench decode --sentences 200 --json
        seqloom bench decode --backend runtime --precision int8

    Ours and a plain textbook implementation in torch take turns on the same data with the same weights, so that the ratio
    holds even where the machine is slow. Figures are medians over rounds; share is the part of this machine's own rate of
    multiplying matrices that training reaches. With --json, one object per line for what was measured.
    """
    require_torch("The benchmark")
    chosen = _workload(workload.value, source, target)
    batches = None if textbook_batches is None else textbook_batches.value
    common = {"workload": chosen, "seconds": seconds, "threads": _threads(threads)}
    given = {name: value for name, value in (("repeats", repeats), ("textbook_batches", batches)) if value is not None}
    if what in {None, What.TRAIN}:
        if precision is Precision.INT8 or shortlist is not None or backend is not Backend.TORCH:
            raise UsageError("int8, --shortlist and --backend are for decoding. Measure it alone: bench decode")
        training: TrainingPrecision = (
            "auto" if precision is Precision.AUTO else "bf16" if precision is Precision.BF16 else "fp32"
        )
        _bench_training({**common, **given, "steps": steps}, training, json=json)
    if what in {None, What.DECODE}:
        decoding = "fp32" if precision is Precision.AUTO else precision.value
        warn_of_emulation(decoding)
        wishes = {"sentences": sentences, "precision": decoding, "shortlist": shortlist, "backend": backend.value}
        _bench_decoding({**common, **given, **wishes}, json=json)


def _threads(wanted: int | None) -> int:
    from seqloom.training.machine import choose_threads

    return choose_threads(wanted)


def _workload(name: str, source: list[str] | None, target: list[str] | None) -> "Workload":
    from seqloom.bench.workloads import WORKLOADS
    from seqloom.recipe.sections import Aligned

    if bool(source) != bool(target):
        raise UsageError("--source and --target go together: line i of one belongs to line i of the other")
    files = Aligned(source=tuple(source), target=tuple(target)) if source and target else None
    return WORKLOADS[name].model_copy(update={"files": files})


def _bench_training(settings: dict[str, Any], precision: TrainingPrecision, *, json: bool) -> None:
    from seqloom.bench.measuring import precision_here
    from seqloom.bench.training import TrainSettings, bench_training

    wishes = TrainSettings(**settings, precision=precision_here(precision))
    with progress_bar("training", wishes.steps * wishes.repeats) as advance:
        report = bench_training(wishes, advance)
    _warn(report)
    if json:
        print_json(report)
    else:
        _tell_training(wishes, report)


def _bench_decoding(settings: dict[str, Any], *, json: bool) -> None:
    from seqloom.bench.decoding import SEARCHES, DecodeSettings, bench_decoding

    wishes = DecodeSettings(**settings)
    with progress_bar("decoding", wishes.sentences * wishes.repeats * len(wishes.sides) * len(SEARCHES)) as advance:
        report = bench_decoding(wishes, advance)
    _warn(report)
    if json:
        print_json(report)
    else:
        _tell_decoding(wishes, report)


def _warn(report: dict[str, Any]) -> None:
    for warning in report["warnings"]:
        sys.stderr.write(f"seqloom: warning: {warning}\n")


def _tell_training(settings: "TrainSettings", report: dict[str, Any]) -> None:
    rows = [
        [
            side,
            f"{figures['tokens_per_second']:,.0f}",
            figures["precision"],
            f"{100 * figures['share']:.0f} %",
            f"{figures['peak_mb']:,.0f}",
            f"{100 * figures['padding']:.1f} %",
        ]
        for side, figures in ((side, report[side]) for side in ("ours", "textbook"))
    ]
    _print_table(
        f"training, {report['workload']}, batches of {settings.workload.batch_size}, threads: {report['threads']}",
        ["", "tokens/s", "precision", "of matrix rate", "peak MB", "padding"],
        rows,
    )
    rates = ", ".join(f"{rate:,.0f} {name}" for name, rate in report["matrix_gflops"].items())
    _print_line(
        f"ours / textbook ({report['textbook']['batches']} batches): {report['ratio']:.2f}. Matrix rate in GFLOP/s: {rates}. "
        f"Medians of {report['repeats']} rounds of {report['steps']} updates."
    )


def _tell_decoding(settings: "DecodeSettings", report: dict[str, Any]) -> None:
    rows = [
        [
            search,
            side,
            f"{figures['sentences_per_second']:,.1f}",
            f"{figures['tokens_per_second']:,.0f}",
            f"{figures['latency_ms']:.1f}",
            "" if side == "ours" else f"{found[_RATIOS[side]]:.2f}",
            "" if side == "ours" else f"{100 * found[_AGREEMENTS[side]]:.1f} %",
        ]
        for search, found in ((report["search"], report), ("greedy", report["greedy"]))
        for side, figures in ((side, found[side]) for side in settings.sides)
    ]
    _print_table(
        f"decoding, {report['workload']}, batches of {settings.batch_size}, threads: {report['threads']}",
        ["search", "", "sentences/s", "tokens/s", "one alone, ms", "ours / it", "same outputs"],
        rows,
    )
    _print_line(
        f"{report['sentences']:,} sentences, outputs of {report['mean_length']:.1f} symbols; the textbook's batches: "
        f"{report['textbook_batches']}; ours in {_kind(report)}, the textbook in fp32. Medians of {report['repeats']} rounds, "
        f"{report['clock']} time, on {report['processor']}."
    )


_RATIOS = {"torch": "torch_ratio", "textbook": "ratio"}
_AGREEMENTS = {"torch": "torch_agreement", "textbook": "agreement"}


def _kind(report: dict[str, Any]) -> str:
    """How ours computed."""
    short = f" with the {report['shortlist']:,} most frequent symbols" if report["shortlist"] is not None else ""
    by = "" if report["backend"] == "torch" else " by ONNX Runtime"
    return f"{report['precision']}{by}{short}"


def _print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="", box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="left" if column in {"", "search"} else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    open_console().print(table, highlight=False)


def _print_line(text: str) -> None:
    open_console().print(text, style="dim", highlight=False, markup=False, soft_wrap=True)
