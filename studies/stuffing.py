"""The bottleneck (E10): quality against the source's length, if one vector carries all and if attention reads anew.

    python studies/stuffing.py --data DATA --runs RUNS [--threads 1]

Three models of Multi30k, German to English, that differ in their bridge alone: `initial`, `every_step`, attention. DATA
holds the folder multi30k. Writes studies/results/stuffing.json, and the tables and figures of docs/studies/stuffing.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from common import (
    MULTI30K_ATTENTION,
    MULTI30K_INITIAL,
    Options,
    Run,
    cost,
    made,
    options,
    outputs,
    results,
    save_figure,
    scores,
    table,
    trained,
    with_interval,
    write_page,
)

from seqloom.metrics import Item, evaluate
from seqloom.views.charts.figures import Curve, line_figure

RUNS = {
    "attention": MULTI30K_ATTENTION,
    "every_step": Run("multi30k-every_step", "multi30k", ("model.bridge={kind: every_step}",)),
    "initial": MULTI30K_INITIAL,
}
METRICS = {"bleu": "BLEU", "chrf": "chrF"}


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up the three runs, and judge each on the test part, in all and by length."""
    paths = {bridge: trained(run, wanted) for bridge, run in RUNS.items()}
    return {"runs": {bridge: {**cost(path), **judged(outputs(path, "test"))} for bridge, path in paths.items()}}


def judged(items: Sequence[Item]) -> dict[str, Any]:
    """Quality over all items and in each fifth of them by source length, with intervals and lengths of the outputs."""
    fifths = [(int(one["from"]), int(one["to"])) for one in evaluate(items, list(METRICS)).by_length]
    groups = [[item for item in items if shortest <= item.source_length <= longest] for shortest, longest in fifths]
    return {
        "test": _judgement(items),
        "by_length": [
            {"from": shortest, "to": longest, **_judgement(group)}
            for (shortest, longest), group in zip(fifths, groups, strict=True)
        ],
    }


def _judgement(items: Sequence[Item]) -> dict[str, Any]:
    written = sum(len(item.hypothesis.split()) for item in items)
    return {
        "count": len(items),
        "length_ratio": written / sum(len(item.references[0].split()) for item in items),
        **scores(items, list(METRICS)),
    }


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    runs = found["runs"]
    return {
        "made": made("stuffing", found),
        "models": _models(runs),
        "figures": _figures(runs),
        "relative": _relative(runs),
        "lengths": _lengths(runs),
    }


def _models(runs: Mapping[str, Any]) -> str:
    head = [
        "bridge",
        "parameters",
        "updates",
        "minutes",
        "tokens/s",
        "validation BLEU (greedy)",
        "BLEU",
        "chrF",
        "length ratio",
    ]
    rows = [
        [
            f"`{bridge}`",
            f"{run['parameters']:,}",
            f"{run['steps']:,}",
            run["cpu_minutes"],
            f"{run['tokens_per_second']:,}",
            f"{run['validation']['bleu']:.1f}",
            *(with_interval(run["test"][metric]) for metric in METRICS),
            f"{run['test']['length_ratio']:.2f}",
        ]
        for bridge, run in runs.items()
    ]
    return table(head, rows)


def _figures(runs: Mapping[str, Any]) -> str:
    groups = next(iter(runs.values()))["by_length"]
    marks = [(float(index), f"{one['from']}-{one['to']}") for index, one in enumerate(groups)]
    drawn = []
    for metric, name in METRICS.items():
        curves = [
            Curve(
                bridge,
                [(float(index), one[metric]["score"]) for index, one in enumerate(run["by_length"])],
                [one[metric]["interval"] for one in run["by_length"]],
            )
            for bridge, run in runs.items()
        ]
        title = f"{name} by source length, 95 % intervals"
        svg = line_figure(title, curves, x_label="source length in subwords", marks=marks, floor=0.0)
        drawn.append(save_figure(f"stuffing-{metric}", svg, title))
    return "\n".join(drawn)


def _lengths(runs: Mapping[str, Any]) -> str:
    head = ["source length", "sentences", *(f"`{bridge}`" for bridge in runs)]
    parts = []
    for metric, name in METRICS.items():
        rows = [
            [f"{group[0]['from']}-{group[0]['to']}", group[0]["count"], *(with_interval(one[metric]) for one in group)]
            for group in zip(*(run["by_length"] for run in runs.values()), strict=True)
        ]
        parts.append(f"{name}:\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _relative(runs: Mapping[str, Any]) -> str:
    """What share of attention's quality the others reach, which takes out that long sentences are harder for all."""
    best, others = runs["attention"], [bridge for bridge in runs if bridge != "attention"]
    head = ["source length", *(f"{name}, `{bridge}`" for name in METRICS.values() for bridge in others)]
    rows = [
        [
            f"{group['from']}-{group['to']}",
            *(
                f"{100 * runs[bridge]['by_length'][index][metric]['score'] / group[metric]['score']:.0f} %"
                for metric in METRICS
                for bridge in others
            ),
        ]
        for index, group in enumerate(best["by_length"])
    ]
    return table(head, rows)


if __name__ == "__main__":
    write_page("stuffing", page(results("stuffing", options(__doc__), measure)))
