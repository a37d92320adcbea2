"""Whether runs differ by more than chance: outputs of each for the same test examples, and a paired bootstrap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seqloom.cli.judging import given_examples, parse_references
from seqloom.cli.options import open_predictor, progress_bar
from seqloom.errors import DataError, UsageError
from seqloom.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from seqloom.data.examples import Example
    from seqloom.metrics import Difference
    from seqloom.prediction.predictor import Predictor

FEW = 30
"""With fewer items, resamples are too much alike: of one item, they are all the same, and any difference looks certain."""


@dataclass(frozen=True)
class Test:
    """What runs are compared on. file: None means the test examples that all of them held out."""

    file: str | None
    columns: str | None = None
    format: str | None = None
    references: str | None = None
    metrics: Sequence[str] | None = None


@dataclass(frozen=True)
class PairedOutcome:
    """How each further run differs from the first, on so many items; notes: what else one should know."""

    first: str
    count: int
    on: str
    further: dict[str, "list[Difference]"]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The outcome as JSON-ready data."""
        from seqloom.metrics.significance import RESAMPLES, SEED

        return {
            "on": self.on,
            "count": self.count,
            "resamples": RESAMPLES,
            "seed": SEED,
            "first": self.first,
            "pairs": [
                {"second": name, "metrics": [one.as_json() for one in differences]}
                for name, differences in self.further.items()
            ],
            "notes": list(self.notes),
        }


def tested(runs: Sequence[str], test: Test) -> PairedOutcome:
    """Let all runs answer the same examples, and compare each further run with the first."""
    from seqloom.evaluation.items import items_of, usual_metrics
    from seqloom.metrics import paired_bootstrap

    if len(runs) < 2:
        raise UsageError("a paired test compares two runs or more, found one. Name another, or use: seqloom evaluate")
    wanted = parse_references(test.references)
    predictors = [open_predictor([run]) for run in runs]
    _require_one_task(runs, predictors)
    if test.file is None:
        examples, notes = _held_out(runs, predictors)
    else:
        examples, notes = _of_file(runs, predictors, test), ()
    examples = _judged_alike(runs, predictors, examples, wanted)
    left_out = _incomparable(predictors)
    items = []
    for run, predictor, own in zip(runs, predictors, examples, strict=True):
        with progress_bar(f"decoding with {run}", len(own)) as advance:
            outputs = [one.without_alignment() for one in predictor.predict_stream(own, progress=advance)]
        items.append(items_of(predictor, own, outputs))
    chosen = [name for name in test.metrics or usual_metrics(predictors[0].recipe, items[0]) if name not in left_out]
    return PairedOutcome(
        first=runs[0],
        count=len(examples[0]),
        on=test.file or "the test examples that all runs held out",
        further={run: paired_bootstrap(items[0], own, chosen) for run, own in zip(runs[1:], items[1:], strict=True)},
        notes=(*_too_few(len(examples[0])), *notes, *left_out.values()),
    )


def _too_few(count: int) -> tuple[str, ...]:
    if count >= FEW:
        return ()
    items = counted(count, "item")
    return (f"{items} cannot tell a difference from chance, whatever interval and p say: test on {FEW} or more",)


def _require_one_task(runs: Sequence[str], predictors: "Sequence[Predictor]") -> None:
    tasks = [{name: source.kind for name, source in one.recipe.data.sources.items()} for one in predictors]
    for run, task in zip(runs[1:], tasks[1:], strict=True):
        if task != tasks[0]:
            shown = [" and ".join(f"{name} ({kind})" for name, kind in one.items()) for one in (tasks[0], task)]
            raise UsageError(f"{runs[0]} reads {shown[0]}, {run} reads {shown[1]}: these are other tasks, and do not compare")


def _key(example: "Example") -> tuple[object, ...]:
    return (*example.sources.values(), example.target)


def _of_file(runs: Sequence[str], predictors: "Sequence[Predictor]", test: Test) -> "list[list[Example]]":
    """The examples of a file as each run reads it, which must be the same ones."""
    read = [given_examples(predictor, test.file, test.columns, test.format) for predictor in predictors]
    for run, others in zip(runs[1:], read[1:], strict=True):
        for one, other in zip(read[0], others, strict=False):
            if _key(one) != _key(other):
                raise UsageError(
                    f"{one.origin}: {runs[0]} reads {_shown(one)} here, {run} reads {_shown(other)}: their recipes name other "
                    "columns. Name them for all: --columns source=1,target=2"
                )
        if len(read[0]) != len(others):
            raise UsageError(f"{test.file}: {runs[0]} finds {len(read[0]):,} examples in it, {run} {len(others):,}")
    return read


def _shown(example: "Example") -> str:
    from seqloom.data.examples import abbreviated

    return f"{', '.join(map(abbreviated, example.sources.values()))} -> {abbreviated(example.target)}"


def _held_out(runs: Sequence[str], predictors: "Sequence[Predictor]") -> "tuple[list[list[Example]], tuple[str, ...]]":
    """The test examples that all runs have; where the runs differ in some, each of the common ones once."""
    tests = [given_examples(predictor, None, None) for predictor in predictors]
    keys = [[_key(example) for example in test] for test in tests]
    if all(one == keys[0] for one in keys):
        return tests, ()
    tables = [dict(zip(own, test, strict=True)) for own, test in zip(keys, tests, strict=True)]
    common = [key for key in tables[0] if all(key in table for table in tables)]
    sizes = ", ".join(f"{len(test):,} of {run}" for run, test in zip(runs, tests, strict=True))
    if not common:
        sources = [{key[:-1] for key in table} for table in tables]
        shared = set.intersection(*sources)
        reason = f"{len(shared):,} sources are in all, but with other references" if shared else "no source is in all"
        raise DataError(f"the runs held out other test examples ({sizes}): {reason}. Name a file for all: --test FILE")
    note = f"the runs held out other test examples ({sizes}); the {len(common):,} that all of them have are compared"
    return [[table[key] for key in common] for table in tables], (note,)


def _judged_alike(
    runs: Sequence[str], predictors: "Sequence[Predictor]", examples: "list[list[Example]]", references: bool | None
) -> "list[list[Example]]":
    """Sources once, with all their targets, where that is wanted. references: True groups, None leaves it to the recipes."""
    from seqloom.data.examples import grouped

    ways = [one.recipe.data.groups_references for one in predictors] if references is None else [references]
    if len(set(ways)) > 1:
        raise UsageError(
            f"{runs[0]} and {runs[ways.index(not ways[0])]} disagree on judging sources that occur several times "
            "(`data.references`). Say how: --references grouped (any target is right) or --references single"
        )
    if not ways[0]:
        return examples
    together = [grouped(own) for own in examples]
    for run, own in zip(runs[1:], together[1:], strict=True):
        if [one.targets for one in own] != [one.targets for one in together[0]]:
            raise UsageError(
                f"{runs[0]} and {run} know other features, by which sources are told apart, and would be judged by other "
                "references. Judge line by line: --references single"
            )
    return together


def _incomparable(predictors: "Sequence[Predictor]") -> dict[str, str]:
    """The metrics that do not compare, with the reason: symbols must be the same to be counted."""
    if len({one.vocabularies["target"].to_json() for one in predictors}) == 1:
        return {}
    name = "symbol_error_rate"
    return {name: f"{name} is left out: the runs have other target vocabularies, so their symbols do not compare"}


def print_outcome(console: "Console", outcome: PairedOutcome) -> None:
    """Tables, one for each further run."""
    from rich.table import Table
    from rich.text import Text

    from seqloom.metrics.significance import RESAMPLES, SEED

    for name, differences in outcome.further.items():
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("")
        for title in (outcome.first, name, "difference", "95 % interval", "p"):
            table.add_column(Text(title), justify="right", overflow="fold")
        for one in differences:
            interval = f"{one.interval[0]:+.2f} to {one.interval[1]:+.2f}"
            values = f"{one.first:.2f}", f"{one.second:.2f}", f"{one.difference:+.2f}"
            table.add_row(one.metric, *values, interval, f"{one.p_value:.3f}")
        console.print()
        console.print(table)
    what = (
        f"{counted(outcome.count, 'item')} of {outcome.on}. "
        f"Paired bootstrap: {RESAMPLES:,} resamples, seed {SEED}, p two-sided. "
        "Where the interval holds 0, the difference may be chance."
    )
    for note in (what, *outcome.notes):
        console.print(note, style="dim", highlight=False, markup=False, soft_wrap=True)
