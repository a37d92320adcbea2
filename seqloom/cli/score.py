"""`seqloom score`."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.judging import given_examples
from seqloom.cli.options import (
    BatchSize,
    ColumnsOption,
    FormatOption,
    Json,
    MaximumInput,
    Run,
    print_json,
    progress_bar,
)
from seqloom.errors import UsageError
from seqloom.system.terminals import for_output
from seqloom.wording import counted

if TYPE_CHECKING:
    from seqloom.data.examples import Example
    from seqloom.prediction.predictor import Predictor
    from seqloom.results.predictions import ScoredTarget

_MOST_PLACES = 5

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE]...",
        help="A file of pairs, or SOURCES,TARGETS. For a language model: text files, - for standard input. "
        "Without one, the recipe's test split.",
    ),
]


def score(
    run: Run,
    files: Files = None,
    columns: ColumnsOption = None,
    format: FormatOption = None,
    ranked: Annotated[
        bool, typer.Option("--ranked", help="Language model: the most surprising lines first, by bits per symbol.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Language model: write a page with the text in colours.")
    ] = None,
    maximum_input: MaximumInput = None,
    batch_size: BatchSize = 64,
    json: Json = False,
) -> None:
    """Say how probable targets or texts are, one by one and in all.

    Examples:
        seqloom score runs/words pairs.tsv --columns source=2,target=1
        seqloom score runs/words pairs.tsv --json
        seqloom score runs/book chapter.txt --ranked --html surprise.html
        echo "To be, or not to be" | seqloom score runs/book -

    Plain output has columns: log p(y|x), source, target; for a language model log p(y), bits per symbol, text, with --ranked
    the line's number first (with several files, FILE:LINE). A target may be empty, as models can write nothing. The summary
    (perplexity, bits per symbol and, for text, per character) goes to standard error; with --json it is the last line. On a
    terminal the most surprising symbols of a text are red and yellow.
    """
    from seqloom.cli.texts import is_text_run, score_text

    if is_text_run(run):
        if columns is not None or format is not None:
            raise UsageError("--columns and --format are for pairs; a language model reads whole lines. Leave them out")
        score_text(run, files or [], ranked=ranked, html=html, maximum_input=maximum_input, json=json)
        return
    if ranked or html is not None or len(files or []) > 1:
        raise UsageError("--ranked, --html and several files are for language models; this run reads pairs. Leave them out")
    from seqloom.prediction.predictor import Predictor

    predictor = Predictor.load(run, maximum_input=maximum_input)
    _score_pairs(predictor, files[0] if files else None, columns, format, batch_size, json=json)


def _score_pairs(
    predictor: "Predictor", file: str | None, columns: str | None, format: str | None, batch_size: int, *, json: bool
) -> None:
    examples = given_examples(predictor, file, columns, format, empty_targets=True)
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
        "unknown": sum(len(one.unknown) for one in scored),
    }
    if json:
        for example, one in zip(examples, scored, strict=True):
            print_json({"line": example.origin.line, **one.as_json()})
        print_json({"summary": summary})
        return
    for example, one in zip(examples, scored, strict=True):
        pair = for_output(f"{' | '.join(example.sources.values())}\t{example.target}")
        sys.stdout.write(f"{one.log_prob:.4f}\t{pair}\n")
    typer.echo(
        f"{counted(len(scored), 'target')}, {counted(symbols, 'symbol')}: log-probability {log_prob:.2f}, "
        f"perplexity {summary['perplexity']:.4f}, {summary['bits_per_symbol']:.4f} bits per symbol",
        err=True,
    )
    if summary["unknown"]:
        typer.echo(f"seqloom: {_unknown_sentence(examples, scored)}", err=True)


def _unknown_sentence(examples: "Sequence[Example]", scored: "Sequence[ScoredTarget]") -> str:
    """Say which targets have symbols that the model does not know."""
    places = [str(example.origin) for example, one in zip(examples, scored, strict=True) if one.unknown]
    symbols = sum(len(one.unknown) for one in scored)
    more = f" and {len(places) - _MOST_PLACES:,} more" if len(places) > _MOST_PLACES else ""
    return (
        f"{symbols:,} symbol{'s' if symbols > 1 else ''} of the targets at {', '.join(places[:_MOST_PLACES])}{more} did not "
        "occur in training. Each counts as the one symbol `unknown`, whatever it is"
    )
