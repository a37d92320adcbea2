"""`seqloom evaluate`."""

from pathlib import Path

from seqloom.cli.options import (
    BatchSize,
    BeamWidth,
    ColumnsOption,
    FormatOption,
    Fuse,
    FusionWeight,
    Json,
    PairsFile,
    PrecisionOption,
    PredictionPrecision,
    Run,
    Shortlist,
    given_examples,
    open_console,
    open_predictor,
    print_json,
    progress_bar,
)
from seqloom.errors import UsageError


def evaluate(
    run: Run,
    file: PairsFile = None,
    columns: ColumnsOption = None,
    format: FormatOption = None,  # noqa: A002
    beam: BeamWidth = None,
    fuse: Fuse = None,
    weight: FusionWeight = None,
    precision: PrecisionOption = PredictionPrecision.FP32,
    shortlist: Shortlist = None,
    batch_size: BatchSize = 64,
    json: Json = False,
) -> None:
    """Measure a model on pairs, in all and by source length.

    Examples:
        seqloom evaluate runs/demo
        seqloom evaluate runs/words held-out.tsv --columns source=2,target=1 --json
        seqloom evaluate runs/words --fuse runs/language-model --weight 0.3
        seqloom evaluate runs/words --precision int8

    Exact match; symbol, character and word error rates; BLEU and chrF: all in percent. A phoneme error rate is the symbol
    error rate; the g2p field's "WER" is 100 - exact match.
    """
    from seqloom.cli.searching import choose_search
    from seqloom.metrics import evaluate as measure
    from seqloom.runs import RunFolder

    if RunFolder.open(Path(run)).recipe.data.text is not None:
        raise UsageError(f"{run}: is a language model, which has no outputs to compare. Use: seqloom score {run} FILE")
    predictor = open_predictor([run], fuse, weight, precision=precision, shortlist=shortlist)
    search = choose_search(predictor.recipe.search, beam={"width": beam})
    examples = given_examples(predictor, file, columns, format)
    with progress_bar("evaluating", len(examples)) as advance:
        predictions = predictor.predict(examples, search=search, batch_size=batch_size, progress=advance)
    evaluation = measure(predictor.items(examples, predictions))
    if json:
        fusion = {} if predictor.fusion_weight is None else {"fusion_weight": predictor.fusion_weight}
        print_json({**evaluation.as_json(), **fusion})
        return

    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("source length\n(examples)", no_wrap=True)
    table.add_column(f"any\n({evaluation.count:,})", justify="right")
    for bucket in evaluation.by_length:
        shortest, longest = int(bucket["from"]), int(bucket["to"])
        lengths = str(shortest) if shortest == longest else f"{shortest}-{longest}"
        table.add_column(f"{lengths}\n({bucket['count']:,.0f})", justify="right")
    for name in evaluation.telling:
        table.add_row(name, *(f"{values[name]:.2f}" for values in (evaluation.metrics, *evaluation.by_length)))
    console = open_console()
    console.print(table)
    notes = {**evaluation.signatures, **{name: f"not shown: {reason}" for name, reason in evaluation.silent.items()}}
    for name, note in notes.items():
        console.print(f"{name}: {note}", style="dim", highlight=False, markup=False, soft_wrap=True)
