"""What several commands share: options, input, progress, and output in two forms, for people and for programs."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqloom.errors import DataError, MissingExtraError, UsageError
from seqloom.system.files import Found, found_at
from seqloom.system.json_parsing import parse_json
from seqloom.system.terminals import for_output

if TYPE_CHECKING:
    from rich.console import Console

    from seqloom.data.reading.endings import Format
    from seqloom.prediction.predictor import Predictor
    from seqloom.recipe.sections import Columns, Data, Files
    from seqloom.suggest.recognition import Recognised

_PIPE_WIDTH = 160
CUT_OFF = " …"
"""What stands behind an output that reached its longest length before it came to an end."""

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run folder.")]
WIDEST_BEAM = 1000
"""As recipes have it (`recipe.sections.search`), which help would take long to import."""
BeamWidth = Annotated[
    int | None,
    typer.Option(
        "--beam", metavar="N", min=1, max=WIDEST_BEAM, help="Beam search of this width, instead of the recipe's search."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="PART=COLUMN,...",
        help="Which column is what, e.g. source=2,target=1: by number (from 1) or header name. "
        "Parts: source (or the names of the sources), target, weight, features and preceding (several joined by +).",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Of the input, if its ending does not tell: tsv, csv, jsonl, parquet, text, cmudict, cmudict-unstressed, stories.",
    ),
]
Feature = Annotated[
    list[str] | None,
    typer.Option("--feature", metavar="NAME", help="A feature of every input, such as a language tag. Repeatable."),
]
BatchSize = Annotated[
    int, typer.Option("--batch-size", metavar="N", min=1, help="Sentences decoded together; results do not depend on it.")
]
Fuse = Annotated[
    str | None,
    typer.Option("--fuse", metavar="LM_RUN", help="A language model to add at every step (shallow fusion)."),
]
FusionWeight = Annotated[
    float | None,
    typer.Option("--weight", metavar="X", min=0, help="With --fuse: how much its log-probabilities count.  [default: 0.3]"),
]


CtcWeight = Annotated[
    float | None,
    typer.Option(
        "--ctc-weight",
        metavar="X",
        min=0,
        max=1,
        help="The share of CTC in what ranks symbols, of models that learned it.",
    ),
]


Speeds = Annotated[
    str | None,
    typer.Option(
        "--speeds", metavar="X,...", help="Recordings are heard at each of these, such as 0.85,1,1.15; 1: as they are."
    ),
]


Bias = Annotated[
    list[str] | None,
    typer.Option(
        "--bias", metavar="SYMBOL=X", help="Added to the log-probability of a symbol, which is thus likelier. Repeatable."
    ),
]


class PredictionPrecision(StrEnum):
    """What prediction computes its matrix products in."""

    FP32 = "fp32"
    BF16 = "bf16"
    INT8 = "int8"


PrecisionOption = Annotated[
    PredictionPrecision,
    typer.Option(
        "--precision",
        metavar="fp32|bf16|int8",
        help="Of a run's decoder; bf16 is for processors that have it. int8 is for exported models, which have it already.",
    ),
]
Shortlist = Annotated[
    int | None,
    typer.Option("--shortlist", metavar="N", min=1, help="Write only the N target symbols most frequent in training."),
]


MaximumInput = Annotated[
    int | None,
    typer.Option(
        "--maximum-input",
        metavar="N",
        min=1,
        help="Refuse inputs of more symbols than this; time and memory grow with its square.  [default: the recipe's, 2000]",
    ),
]


OutputPrefix = Annotated[str, typer.Option("--prefix", metavar="TEXT", help="What every output must begin with.")]


class OracleUnit(StrEnum):
    """What the source positions of an oracle count."""

    SYMBOLS = "symbols"
    WORDS = "words"


OracleUnitOption = Annotated[
    OracleUnit,
    typer.Option(
        "--oracle-unit",
        metavar="symbols|words",
        help="With --oracle: its source positions count symbols of the vocabulary, or words between spaces.",
    ),
]


def split_places(places: list[str]) -> tuple[list[str], list[str]]:
    """The runs, one or several, and what is named after them."""
    count = next((number for number, place in enumerate(places) if number and not is_folder(place)), len(places))
    for place in places[1:count]:
        if all(found_at(Path(place) / name) is Found.NOTHING for name in ("run.json", "seeds.json")):
            raise DataError(f"{place}: expected a file to read or a run folder, found another folder. Name the files in it")
    return places[:count], places[count:]


def is_folder(place: str) -> bool:
    """Whether a folder has this name."""
    return place != "" and found_at(place) is Found.FOLDER  # an empty text is no folder, though an empty path is


def is_there(place: str) -> bool:
    """Whether a file or a folder has this name; a text that is longer than any name may be is none."""
    return place != "" and found_at(place) not in (Found.NOTHING, Found.OVERLONG)


def named_sources(names: Sequence[str], text: str) -> dict[str, Any]:
    """The one source as it was typed, or several, typed as a JSON object, by their names.

    One source may be such an object, too, if texts that precede it, or features, stand beside it.
    """
    try:
        given = parse_json(text)
    except ValueError:
        given = None
    if len(names) == 1:
        beside = isinstance(given, dict) and {names[0]} < set(given) <= {names[0], "preceding", "features"}
        return given if isinstance(given, dict) and beside else {names[0]: text}
    if not isinstance(given, dict):
        raise UsageError(
            f"this run reads {' and '.join(names)}. Give a JSON object with these keys, as in "
            f"'{{{', '.join(f'{json.dumps(name)}: ...' for name in names)}}}'"
        )
    return given


def open_predictor(
    runs: Sequence[str],
    fuse: str | None = None,
    weight: float | None = None,
    *,
    precision: PredictionPrecision = PredictionPrecision.FP32,
    shortlist: int | None = None,
    maximum_input: int | None = None,
) -> "Predictor":
    """The model of one run, or of several as an ensemble, with a language model fused in if one is named."""
    from seqloom.prediction.predictor import FUSION_WEIGHT, Predictor

    if fuse is None and weight is not None:
        raise UsageError("--weight says how much a language model counts: name its run with --fuse LM_RUN")
    warn_of_emulation(precision.value)
    return Predictor.load(
        *runs,
        language_model=fuse,
        weight=FUSION_WEIGHT if weight is None else weight,
        precision=precision.value,
        shortlist=shortlist,
        maximum_input=maximum_input,
    )


def warn_of_emulation(precision: str) -> None:
    """Say so if a precision can only be slower here."""
    from seqloom.system.cpu import has_bf16_products

    if precision == "bf16" and not has_bf16_products():
        typer.echo(
            "seqloom: warning: this processor has no bfloat16 products, so they are emulated: bf16 is slower than fp32 here",
            err=True,
        )


ImagesOption = Annotated[
    str | None,
    typer.Option(
        "--images",
        "--files",
        metavar="FOLDER|ZIP|TAR",
        help="Where the names of images or other files begin; by default the folder of the table that names them.",
    ),
]


def recognised(files: "Files", columns: str | None, images: str | None, format: "Format" = "auto") -> "Recognised":
    """What the columns of files hold that come without a recipe, and that a command line may say more about.

    Standard error says which were taken and why, where there was a choice.
    """
    from seqloom.suggest.recognition import recognise

    found = recognise(files, {} if columns is None else _column_parts(columns, None), root=images, format=format)
    if found.said:
        typer.echo(f"seqloom: {found.said}", err=True)
    return found


def parse_columns(text: str) -> "Columns":
    """`source=2,target=1,features=3+4` as a section."""
    from seqloom.recipe.sections.columns import PARTS

    return _checked_columns(_column_parts(text, PARTS), text)


def with_columns(data: "Data", text: str | None) -> "Data":
    """A recipe's data section with the columns that a command line names, those of its sources by their names."""
    from seqloom.recipe.sections import Named
    from seqloom.recipe.sections.columns import PARTS, is_lone

    if text is None:
        return data
    if is_lone(data.sources):
        told = parse_columns(text).model_copy(update={"separator": data.columns.separator})
        return data.model_copy(update={"columns": told})
    others = [name for name in PARTS if name != "source"]
    parts = _column_parts(text, (*data.sources, *others))
    columns = _checked_columns({**data.columns.model_dump(), **{name: parts[name] for name in others if name in parts}}, text)
    named = {name: parts.get(name, source.column) for name, source in data.sources.items()}
    sources = Named({name: source.model_copy(update={"column": named[name]}) for name, source in data.sources.items()})
    return data.model_copy(update={"columns": columns, "sources": sources})


def _column_parts(text: str, known: Sequence[str] | None) -> dict[str, Any]:
    """The columns by the names of parts. known: the names that there are; None if any may be that of a source."""
    values: dict[str, Any] = {}
    for part in text.split(","):
        name, found, value = part.partition("=")
        is_known = name.strip() in known if known else name.strip().isidentifier()
        if not found or not is_known or not value.strip():
            such = f"{known[0]}=2,target=1 with names out of {', '.join(known)}" if known else "source=2,target=1"
            raise UsageError(f"--columns: expected NAME=COLUMN pairs such as {such}; got {part!r}")
        values[name.strip()] = (
            [_column(one) for one in value.split("+")] if name.strip() in ("features", "preceding") else _column(value.strip())
        )
    if 0 in values.values():
        raise UsageError(f"--columns: {text!r} does not name columns: numbers count from 1")
    return values


def _checked_columns(values: dict[str, Any], text: str) -> "Columns":
    from seqloom.recipe.sections import Columns

    try:
        return Columns.model_validate(values)
    except ValueError as problem:
        raise UsageError(f"--columns: {text!r} does not name columns: numbers count from 1") from problem


def _column(text: str) -> int | str:
    return int(text) if text.strip().isdecimal() else text.strip()


def parse_format(text: str | None) -> "Format":
    """The name of a format; `auto` if none is given."""
    from typing import get_args

    from seqloom.data.reading.endings import Format

    known: tuple[Format, ...] = get_args(Format)
    for name in known:
        if name == (text or "auto"):
            return name
    raise UsageError(f"--format: expected one of {', '.join(known)}; got {text!r}")


def parse_files(text: str) -> "Files":
    """`pairs.tsv`, or two aligned text files as `sources.txt,targets.txt`; a file with a comma in its name wins."""
    from seqloom.recipe.sections import Aligned

    source, comma, target = text.partition(",")
    if not comma or "," in target or found_at(text) is Found.FILE:
        return text
    return Aligned(source=source, target=target)


def print_json(body: Any, *, indent: int | None = None) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(for_output(json.dumps(body, ensure_ascii=False, indent=indent, allow_nan=False)) + "\n")


def open_console() -> "Console":
    """Standard output for tables: as wide as the terminal, and wide enough for whole lines in a file or a pipe."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar on standard error during long work, if that is a terminal; call the value with how much more is done."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.update(task, advance=count)


def next_commands(commands: Iterable[str]) -> str:
    """What one might type next, a line each. commands: what stands behind `seqloom`.

    If the shell does not find the program, the first line is what makes it; where nothing does, its path is shown.
    """
    import shutil

    from seqloom.installation import activation

    first = activation()
    program = "seqloom" if first is not None or shutil.which("seqloom") else sys.argv[0]
    return "\n".join(f"  {line}" for line in (*([first] if first else []), *(f"{program} {one}" for one in commands)))


def require_torch(what: str) -> None:
    """Say which extra to install if torch is missing."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise MissingExtraError(what, "train")
