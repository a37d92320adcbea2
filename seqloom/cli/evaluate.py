"""`seqloom evaluate`."""

from seqloom.cli.options import (
    BatchSize,
    BeamWidth,
    ColumnsOption,
    Json,
    PairsFile,
    Run,
    given_examples,
    open_console,
    print_json,
    progress_bar,
)


def evaluate(
    run: Run,
    file: PairsFile = None,
    columns: ColumnsOption = None,
    beam: BeamWidth = None,
    batch_size: BatchSize = 64,
    json: Json = False,
) -> None:
    """Measure a model on pairs, in all and by source length.

    Examples:
        seqloom evaluate runs/demo
        seqloom evaluate runs/words held-out.tsv --columns source=2,target=1 --json

    Exact match; symbol, character and word error rates; BLEU and chrF: all in percent. A phoneme error rate is the symbol
    error rate; the g2p field's "WER" is 100 - exact match.
    """
    from seqloom.cli.searching import choose_search
    from seqloom.metrics import evaluate as measure
    from seqloom.predict import Predictor

    predictor = Predictor.load(run)
    search = choose_search(predictor.recipe.search, beam={"width": beam})
    examples = given_examples(predictor, file, columns)
    with progress_bar("evaluating", len(examples)) as advance:
        predictions = predictor.predict(examples, search=search, batch_size=batch_size, progress=advance)
    evaluation = measure(predictor.items(examples, predictions))
    if json:
        print_json(evaluation.as_json())
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
