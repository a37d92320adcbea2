"""`seqloom score`."""

import math
import sys

import typer

from seqloom.cli.options import BatchSize, ColumnsOption, Json, PairsFile, Run, given_examples, print_json, progress_bar


def score(
    run: Run,
    file: PairsFile = None,
    columns: ColumnsOption = None,
    batch_size: BatchSize = 64,
    json: Json = False,
) -> None:
    """Say how probable given targets are, one by one and in all.

    Examples:
        seqloom score runs/words pairs.tsv --columns source=2,target=1
        seqloom score runs/words pairs.tsv --json

    Plain output has columns: log p(y|x), source, target. The summary (perplexity, bits per symbol) goes to standard
    error; with --json it is the last line.
    """
    from seqloom.predict import Predictor

    predictor = Predictor.load(run)
    examples = given_examples(predictor, file, columns)
    with progress_bar("scoring", len(examples)) as advance:
        scored = predictor.score(examples, batch_size=batch_size, progress=advance)
    log_prob = sum(one.log_prob for one in scored)
    symbols = sum(len(one.symbols) for one in scored)
    summary = {
        "count": len(scored),
        "symbols": symbols,
        "log_prob": log_prob,
        "perplexity": math.exp(min(700.0, -log_prob / symbols)),
        "bits_per_symbol": -log_prob / symbols / math.log(2),
    }
    if json:
        for one in scored:
            print_json(one.as_json())
        print_json({"summary": summary})
        return
    for example, one in zip(examples, scored, strict=True):
        sys.stdout.write(f"{one.log_prob:.4f}\t{' | '.join(example.sources.values())}\t{example.target}\n")
    typer.echo(
        f"{len(scored):,} targets, {symbols:,} symbols: log-probability {log_prob:.2f}, "
        f"perplexity {summary['perplexity']:.4f}, {summary['bits_per_symbol']:.4f} bits per symbol",
        err=True,
    )
