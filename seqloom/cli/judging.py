"""Pairs that commands measure models on: those of a file or of the recipe's test split, each alone or with all its targets."""

from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import parse_files, parse_format, split_places, with_columns
from seqloom.errors import DataError, UsageError

if TYPE_CHECKING:
    from seqloom.data.examples import Example
    from seqloom.data.reading.endings import Format
    from seqloom.prediction.predictor import Predictor

JudgedPlaces = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN... [FILE]",
        help="One run, or several as an ensemble; then a file of pairs, or SOURCES,TARGETS; "
        "without one, the test split of the (first) run's recipe.",
    ),
]
ReferencesOption = Annotated[
    str | None,
    typer.Option(
        "--references",
        metavar="single|grouped",
        help="Of sources that occur several times: judge each line by its own target, or each source once, where any of "
        "its targets is right.  [default: as the recipe's data.references]",
    ),
]


def parse_references(text: str | None) -> bool | None:
    """Whether sources that occur several times are judged once, with all their targets; None leaves it to the recipe."""
    if text not in (None, "single", "grouped"):
        raise UsageError(f"--references: expected single or grouped, got {text!r}")
    return None if text is None else text == "grouped"


def runs_and_file(command: str, places: list[str]) -> tuple[list[str], str | None]:
    """The runs and the one file of pairs, if any, that were named; refuses language models, which have no outputs to judge."""
    from seqloom.cli.texts import is_text_run

    runs, files = split_places(places)
    if len(files) > 1:
        raise UsageError(f"{command}: expected one file of pairs, found {len(files)}. Put them together, or run it for each")
    for run in runs:
        if is_text_run(run):
            raise UsageError(f"{run}: is a language model, which has no outputs to compare. Use: seqloom score {run} FILE")
    return runs, files[0] if files else None


def given_examples(
    predictor: "Predictor",
    file: str | None,
    columns: str | None,
    format: str | None = None,
    *,
    empty_targets: bool = False,
) -> "list[Example]":
    """Pairs to measure a model on: those of a file, read as the recipe reads its own, or the recipe's test split.

    empty_targets: a target may be empty. Features that training never saw count as absent, as they do in validation; standard
    error says where, and which classes training never saw.
    """
    from seqloom.data.unseen import unseen_sentences

    if file is None:
        examples = _test_split(predictor)
    else:
        examples = _pairs_of(predictor, file, columns, parse_format(format), empty_targets=empty_targets)
    for sentence in unseen_sentences(examples, predictor.vocabularies, predictor.recipe.data.text_sources):
        typer.echo(f"seqloom: {sentence}", err=True)
    return predictor.tolerant(examples)


def judged_examples(
    predictor: "Predictor",
    file: str | None,
    columns: str | None,
    format: str | None = None,
    references: str | None = None,
) -> "list[Example]":
    """Pairs to judge outputs by: `given_examples`, those with equal sources as one with several right targets if wanted.

    references: `single` or `grouped`; None leaves it to the recipe. Standard error says what is judged one by one.
    """
    from seqloom.data.examples import grouped

    wanted = parse_references(references)
    examples = given_examples(predictor, file, columns, format)
    together = grouped(examples)
    if predictor.recipe.data.groups_references if wanted is None else wanted:
        return together
    several = sum(len(one.targets) > 1 for one in together)
    if several and wanted is None:
        typer.echo(
            f"seqloom: {several:,} {'source has' if several == 1 else 'sources have'} several targets, and each line is judged "
            "by its own (--references grouped: any of them is right)",
            err=True,
        )
    return examples


def _test_split(predictor: "Predictor") -> "list[Example]":
    corpus = predictor.corpus
    examples = list(corpus.examples("test")) if corpus.has("test") else []
    if not examples:
        raise DataError("the recipe has no test examples. Name a file of pairs")
    return examples


def _pairs_of(
    predictor: "Predictor", file: str, columns: str | None, chosen: "Format", *, empty_targets: bool
) -> "list[Example]":
    from seqloom.data.reading.endings import ending_format, format_beside
    from seqloom.data.reading.formats import read_examples

    data, files = with_columns(predictor.recipe.data, columns), parse_files(file)
    own = "tsv" if data.format == "text" or data.builtin else data.format
    known = not isinstance(files, str) or ending_format(files) is not None
    chosen = format_beside(file, chosen, own)
    kind = own if chosen == "auto" and not known else chosen
    stream = read_examples(files, format=kind, columns=data.columns, sources=data.sources, empty_targets=empty_targets)
    examples = list(stream)
    if not examples:
        raise DataError(f"{file}: holds no examples. Give a file with at least one pair")
    return examples
