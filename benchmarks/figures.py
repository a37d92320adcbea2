"""All figures of docs/performance.md: run the benchmark in every setting that the page shows, and print the page's tables.

    python benchmarks/figures.py --out figures.jsonl          (an hour or less on two idle cores)
    python benchmarks/figures.py --show figures.jsonl         (the tables again, without measuring)

Every object that `seqloom bench --json` prints becomes a line of the file, with the command that printed it.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TRAINING = (
    ("translation", "fp32", "grouped"),
    ("translation", "bf16", "grouped"),
    ("translation", "auto", "random"),
    ("characters", "fp32", "grouped"),
    ("characters", "bf16", "grouped"),
)
DECODING = ("translation", "characters")


def commands(*, bf16: bool) -> list[list[str]]:
    """The words after `seqloom` of every measurement; bf16 only where the processor has it, else it takes hours."""
    training = [
        ["bench", "train", "--workload", workload, "--precision", precision, "--textbook-batches", batches, "--json"]
        for workload, precision, batches in TRAINING
        if bf16 or precision != "bf16"
    ]
    return training + [["bench", "decode", "--workload", workload, "--json"] for workload in DECODING]


def measure(out: Path) -> None:
    """Run all commands, one after the other, and keep what they print."""
    from seqloom.bench.measuring import precision_here

    with out.open("w", encoding="utf-8") as stream:
        for words in commands(bf16=precision_here("auto") == "bf16"):
            print(f"seqloom {' '.join(words)}", file=sys.stderr, flush=True)
            done = subprocess.run([sys.executable, "-m", "seqloom", *words], stdout=subprocess.PIPE, text=True, check=True)
            stream.write(json.dumps({"command": words, **json.loads(done.stdout)}) + "\n")
            stream.flush()


def show(path: Path) -> None:
    """Print the tables in Markdown."""
    reports = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    print("| workload | precision | textbook's batches | ours, tokens/s | textbook | ratio | share | textbook's share | MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for report in reports:
        if "share" in report:
            print(_training_row(report))
    print(
        "\n| workload | search | ours, sentences/s | textbook | ratio | ours, tokens/s | ours alone, ms | textbook alone, ms |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for report in reports:
        if "greedy" in report:
            print(_decoding_row(report["workload"], report["search"], report))
            print(_decoding_row(report["workload"], "greedy", report["greedy"]))
    for warning in (warning for report in reports for warning in report["warnings"]):
        print(f"\nwarning: {warning}")


def _training_row(report: dict[str, Any]) -> str:
    ours, textbook = report["ours"], report["textbook"]
    cells = [
        report["workload"],
        ours["precision"],
        textbook["batches"],
        f"{ours['tokens_per_second']:,.0f}",
        f"{textbook['tokens_per_second']:,.0f}",
        f"{report['ratio']:.2f}",
        f"{100 * report['share']:.0f} %",
        f"{100 * textbook['share']:.0f} %",
        f"{ours['peak_mb']:,.0f} / {textbook['peak_mb']:,.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _decoding_row(workload: str, search: str, report: dict[str, Any]) -> str:
    ours, textbook = report["ours"], report["textbook"]
    cells = [
        workload,
        search,
        f"{ours['sentences_per_second']:,.0f}",
        f"{textbook['sentences_per_second']:,.0f}",
        f"{report['ratio']:.2f}",
        f"{ours['tokens_per_second']:,.0f}",
        f"{ours['latency_ms']:.1f}",
        f"{textbook['latency_ms']:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure, or show what was measured."""
    parser = argparse.ArgumentParser(description="All figures of docs/performance.md.")
    parser.add_argument("--out", type=Path, help="measure, and write the objects here")
    parser.add_argument("--show", type=Path, help="only print the tables of such a file")
    wanted = parser.parse_args()
    if wanted.out is None and wanted.show is None:
        parser.error("give --out FILE to measure, or --show FILE to see what was measured")
    if wanted.out is not None:
        measure(wanted.out)
    show(wanted.show or wanted.out)


if __name__ == "__main__":
    main()
