"""`seqloom evaluate`."""

from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.judging import JudgedPlaces, ReferencesOption, judged_examples, runs_and_file
from seqloom.cli.options import (
    BatchSize,
    BeamWidth,
    Bias,
    ColumnsOption,
    CtcWeight,
    FormatOption,
    Fuse,
    FusionWeight,
    Json,
    MaximumInput,
    PrecisionOption,
    PredictionPrecision,
    Shortlist,
    Speeds,
    open_console,
    open_predictor,
    print_json,
    progress_bar,
)
from seqloom.cli.unknown import UnknownSymbols
from seqloom.errors import UsageError
from seqloom.system.terminals import visible

if TYPE_CHECKING:
    from rich.console import Console

    from seqloom.metrics import Evaluation
    from seqloom.results.confusion import Classes

MetricsOption = Annotated[
    str | None,
    typer.Option(
        "--metrics", metavar="NAME,...", help="Which metrics, instead of those that suit the data. See docs/metrics.md."
    ),
]


def evaluate(
    places: JudgedPlaces,
    columns: ColumnsOption = None,
    format: FormatOption = None,
    beam: BeamWidth = None,
    fuse: Fuse = None,
    weight: FusionWeight = None,
    ctc_weight: CtcWeight = None,
    speeds: Speeds = None,
    bias: Bias = None,
    precision: PrecisionOption = PredictionPrecision.FP32,
    shortlist: Shortlist = None,
    maximum_input: MaximumInput = None,
    batch_size: BatchSize = 64,
    metrics: MetricsOption = None,
    references: ReferencesOption = None,
    json: Json = False,
) -> None:
    """Measure a model on pairs, in all and by source length.

    Examples:
        seqloom evaluate runs/demo
        seqloom evaluate runs/words held-out.tsv --columns source=2,target=1 --json
        seqloom evaluate runs/words --fuse runs/language-model --weight 0.3
        seqloom evaluate runs/words --shortlist 3000
        seqloom evaluate runs/a runs/b runs/c
        seqloom evaluate runs/summaries --metrics rouge_1,rouge_2,rouge_l
        seqloom evaluate runs/pronunciation test.tsv --references grouped

    Exact match; symbol, character and word error rates; BLEU and chrF: all in percent. A phoneme error rate is the symbol
    error rate; the g2p field's "WER" is 100 - exact match. With several references an output is right if it equals any of
    them, and edits are counted to the closest. Where they describe an image, what papers on captions print instead: BLEU-1
    to BLEU-4, METEOR, ROUGE-L and CIDEr-D. Where every target is one symbol, a class, exact match is
    the accuracy; a table says which classes are found and which are confused.
    """
    from seqloom.cli.searching import choose_search, parse_biases, parse_speeds
    from seqloom.evaluation.items import items_of, usual_metrics
    from seqloom.metrics import evaluate as measure

    runs, file = runs_and_file("evaluate", places)
    names = parse_metrics(metrics)
    predictor = open_predictor(runs, fuse, weight, precision=precision, shortlist=shortlist, maximum_input=maximum_input)
    common = {"ctc": ctc_weight, "speeds": parse_speeds(speeds), "bias": parse_biases(bias)}
    search = choose_search(predictor.recipe.search, beam={"width": beam}, common=common)
    examples = judged_examples(predictor, file, columns, format, references)
    with progress_bar("evaluating", len(examples)) as advance:
        # In a stream, and without where the model looked: of long texts that would fill the memory.
        unknown, predictions = UnknownSymbols(), []
        for one in predictor.predict_stream(examples, search=search, batch_size=batch_size, progress=advance):
            unknown.see(one)
            predictions.append(one.without_alignment())
    unknown.say()
    items = items_of(predictor, examples, predictions)
    evaluation = measure(items, names, usual=usual_metrics(predictor.recipe, items))
    texts = sum(len(item.references) for item in items)
    if json:
        fusion = {} if predictor.fusion_weight is None else {"fusion_weight": predictor.fusion_weight}
        several = {"references": texts} if texts > len(items) else {}
        print_json({**evaluation.as_json(), **several, **unknown.as_json(), **fusion})
        return
    _print_evaluation(open_console(), evaluation, len(items), texts)


def _print_evaluation(console: "Console", evaluation: "Evaluation", items: int, texts: int) -> None:
    """The table by lengths, how each number was computed, and classes. texts: how many references the items have in all."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("source length\n(examples)", no_wrap=True)
    table.add_column(f"any\n({evaluation.count:,})", justify="right")
    groups = evaluation.by_length if len(evaluation.by_length) > 1 else ()  # images are all of one length
    for bucket in groups:
        shortest, longest = int(bucket["from"]), int(bucket["to"])
        lengths = str(shortest) if shortest == longest else f"{shortest}-{longest}"
        table.add_column(f"{lengths}\n({bucket['count']:,.0f})", justify="right")
    for name in evaluation.telling:
        table.add_row(name, *(f"{values[name]:.2f}" for values in (evaluation.metrics, *groups)))
    console.print(table)
    notes = [
        *([("references", f"{texts:,} for {items:,} sources; any of them is right")] if texts > items else []),
        *((name, evaluation.signatures[name]) for name in evaluation.telling),
        *((several, f"not shown: {reason}") for several, reason in evaluation.unsaid.items()),
        *((name, f"not computed: {reason}") for name, reason in evaluation.absent.items()),
    ]
    for name, note in notes:
        console.print(f"{name}: {note}", style="dim", highlight=False, markup=False, soft_wrap=True)
    if evaluation.classes is not None:
        print_classes(console, evaluation.classes)


def parse_metrics(text: str | None) -> list[str] | None:
    """`bleu_4,cider` as names, each of which exists; None if not given."""
    from seqloom.metrics.names import ALL, unknown

    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in ALL:
            raise UsageError(f"--metrics: {unknown(name, ALL)}")
    return list(dict.fromkeys(names))


_MOST_CLASSES = 20
_MOST_CONFUSIONS = 10


def print_classes(console: "Console", classes: "Classes") -> None:
    """Tables of the most frequent classes and confusions; --json has all."""
    from rich.table import Table
    from rich.text import Text  # a class is called what it is called, square brackets and all

    found = Table(box=None, padding=(0, 2, 0, 0))
    found.add_column("class")
    for title in ("wanted", "written", "precision", "recall", "f1"):
        found.add_column(title, justify="right")
    qualities = classes.qualities
    for one in qualities[:_MOST_CLASSES]:
        shares = ("-" if share is None else f"{share:.2f}" for share in (one.precision, one.recall, one.f1))
        found.add_row(Text(visible(one.name)), f"{one.wanted:,}", f"{one.written:,}", *shares)
    console.print()
    console.print(found)
    left = len(qualities) - _MOST_CLASSES
    more = f"; {left:,} rarer classes are not shown (--json has all)" if left > 0 else ""
    console.print(f"macro f1: {classes.macro_f1:.2f}, the mean of all wanted classes{more}", style="dim", highlight=False)
    if not classes.confusions:
        return
    confused = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("wanted", "written instead"):
        confused.add_column(title)
    confused.add_column("times", justify="right")
    for pair in classes.confusions[:_MOST_CONFUSIONS]:
        confused.add_row(Text(visible(pair.wanted)), Text(visible(pair.written)), f"{pair.count:,}")
    console.print()
    console.print(confused)
