"""What the commands share that show text to a language model: reading it, and how its scores are printed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seqloom.cli.options import print_json, progress_bar
from seqloom.errors import DataError
from seqloom.system.terminals import as_pictures, for_output
from seqloom.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.text import Text

    from seqloom.data.examples import Example, Origin
    from seqloom.prediction.language_model import LanguageModel
    from seqloom.results.language import ScoredText, Summary

_SHOWN_UNKNOWN = 5
_MARKED = ((0.02, "bold red"), (0.10, "yellow"))
"""Shares of the most surprising symbols of all, and how a terminal shows them."""


def is_text_run(run: str) -> bool:
    """Whether a run, or each of a folder of seeds, holds a language model; its weights are not read."""
    from seqloom.runs import RunFolder
    from seqloom.runs.seeds import runs_at

    return RunFolder.open(runs_at(Path(run))[0]).recipe.is_language_model


def score_text(
    run: str, files: "Sequence[str]", *, ranked: bool, html: Path | None, maximum_input: int | None, json: bool
) -> None:
    """Print how probable each line is, and what all of them come to; `html`: where a page goes."""
    from seqloom.prediction.language_model import LanguageModel
    from seqloom.results.language import Summary

    model = LanguageModel.load(run, maximum_input=maximum_input)
    examples = given_lines(model, files)
    texts = [example.target or "" for example in examples]
    with progress_bar("scoring", None) as advance:
        scored = model.score(texts, progress=advance)
    summary = Summary.of(scored)
    places = [example.origin for example in examples]
    if html is not None:
        _write_page(model, texts, places, summary, html, title=", ".join(files) or "test split")
    numbers = list(range(len(scored)))
    if ranked:
        numbers.sort(key=lambda number: -scored[number].surprise)
    several = len({place.file for place in places}) > 1
    if json:
        for number in numbers:
            place = places[number]
            print_json({"line": place.line, **({"file": place.file} if several else {}), **scored[number].as_json()})
        print_json({"summary": summary.as_json()})
        return
    names = [f"{place if several else place.line}\t" if ranked else "" for place in places]
    _print_lines(model, scored, [(number, names[number]) for number in numbers])
    print_summary(model, scored, summary)


def given_lines(model: "LanguageModel", files: "Sequence[str]") -> "list[Example]":
    """The lines of text files, `-` for standard input; of the recipe's test split if none is named.

    Where every line stands by itself, blank ones do not count, as in training; the others keep their numbers.
    """
    examples = []
    for example in _examples(model, files):
        model.require_readable(example.target or "", example.origin, part=True)
        examples.append(example)
    if not any((example.target or "").strip() for example in examples):
        named = ", ".join("standard input" if file == "-" else file for file in files) or "the recipe's test split"
        raise DataError(f"{named}: holds no text. Give at least one line of it")
    return examples


def _examples(model: "LanguageModel", files: "Sequence[str]") -> "Iterator[Example]":
    from seqloom.data.reading.formats import read_text

    if not files:
        yield from model.corpus.examples("test") if model.corpus.has("test") else ()
    for file in files:
        yield from _standard_input(model) if file == "-" else read_text(file, blank=model.running)


def _standard_input(model: "LanguageModel") -> "Iterator[Example]":
    from dataclasses import replace

    from seqloom.data.reading.prediction_inputs import read_sources

    for example in read_sources(sys.stdin.buffer, format="text"):
        text = example.sources["source"]
        if model.running or text.strip():
            yield replace(example, sources={}, target=text)


def print_summary(model: "LanguageModel", scored: "Sequence[ScoredText]", summary: "Summary") -> None:
    """What all lines come to, and which symbols the model does not know; on standard error."""
    typer.echo(
        f"{counted(summary.lines, 'line')}, {counted(summary.symbols, 'symbol')}: log-probability {summary.log_prob:.2f}, "
        f"perplexity {summary.perplexity:.4f}, {summary.bits_per_symbol:.4f} bits per symbol, "
        f"{summary.bits_per_character:.4f} bits per character",
        err=True,
    )
    if summary.unknown:
        typer.echo(f"seqloom: {unknown_sentence(model, scored, summary)}", err=True)


def unknown_sentence(model: "LanguageModel", scored: "Sequence[ScoredText]", summary: "Summary") -> str:
    """Say how many symbols are unknown, and which most often."""
    from seqloom.results.language import unknown_pieces

    pieces = unknown_pieces(model.line(one.text) for one in scored if one.unknown)
    shown = ", ".join(f"{piece!r} ({count:,})" for piece, count in pieces.most_common(_SHOWN_UNKNOWN))
    more = f" and {len(pieces) - _SHOWN_UNKNOWN:,} others" if len(pieces) > _SHOWN_UNKNOWN else ""
    share = 100 * summary.unknown / summary.symbols
    return (
        f"{summary.unknown:,} symbols ({share:.2g} %) are not in the vocabulary: {shown}{more}. "
        "Each counts as the one symbol `unknown`, whatever it is"
    )


def _write_page(
    model: "LanguageModel", texts: list[str], places: "Sequence[Origin]", summary: "Summary", path: Path, *, title: str
) -> None:
    from dataclasses import replace

    from seqloom.views.drawing.forms import require_ending
    from seqloom.views.language.files import write_surprise
    from seqloom.views.language.surprise import MOST_SYMBOLS

    require_ending(path)
    with progress_bar("page", summary.symbols) as advance:
        readings = model.read(texts, most=MOST_SYMBOLS, progress=advance)
    numbered = [replace(one, number=places[one.number - 1].line) for one in readings]
    written = write_surprise(numbered, summary, path, title=f"Surprise in {title}")
    typer.echo(f"seqloom: wrote {for_output(str(written))}", err=True)


def _print_lines(model: "LanguageModel", scored: "Sequence[ScoredText]", chosen: "Sequence[tuple[int, str]]") -> None:
    """chosen: numbers of lines, in the order in which they are printed, and what stands before each."""
    if not sys.stdout.isatty():
        for number, before in chosen:
            sys.stdout.write(before + _columns(scored[number]) + scored[number].text + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    limits = _limits(scored)
    console = Console(soft_wrap=True, highlight=False)
    for number, before in chosen:
        line = Text(before + _columns(scored[number]))
        console.print(line.append_text(coloured(model, scored[number], limits)))


def _columns(one: "ScoredText") -> str:
    return f"{one.log_prob:.4f}\t{one.surprise:.4f}\t"


def _limits(scored: "Sequence[ScoredText]") -> list[tuple[float, str]]:
    """Log-probabilities below which a symbol is marked, and how."""
    import numpy as np

    values = np.asarray([value for one in scored for value in one.log_probs])
    return [(float(np.quantile(values, share)), style) for share, style in _MARKED]


def coloured(model: "LanguageModel", one: "ScoredText", limits: "Sequence[tuple[float, str]]") -> "Text":
    """A line for the terminal: its most surprising symbols in colour, unknown ones underlined."""
    from rich.text import Text

    text = Text(as_pictures(one.text))
    line = model.line(one.text)
    for (start, end), value, unknown in zip(line.spans, one.log_probs, line.unknown, strict=True):
        style = next((style for limit, style in limits if value <= limit), "")
        marks = " ".join(filter(None, [style, "underline" if unknown else ""]))
        if marks:
            text.stylize(marks, start, end)
    return text
