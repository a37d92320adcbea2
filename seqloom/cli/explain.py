"""`seqloom explain`."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqloom.cli.explain_folder import explain_folder
from seqloom.cli.explain_inside import require_alone
from seqloom.cli.options import (
    BeamWidth,
    Feature,
    Json,
    MaximumInput,
    OracleUnit,
    OracleUnitOption,
    OutputPrefix,
    is_folder,
    is_there,
    named_sources,
    print_json,
)
from seqloom.errors import UsageError
from seqloom.symbols import SPECIALS
from seqloom.system.terminals import for_output

if TYPE_CHECKING:
    from seqloom.data.reading.oracles import Entry
    from seqloom.results.predictions import Prediction
    from seqloom.views import Exhibit


_MOST_CLASSES = 20
"""So many classes are shown with their probabilities."""


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... TEXT",
            help="A run folder; several are shown beside each other, to compare them. Then the source: text, an image file, or "
            "a folder of them, for a gallery; several as a JSON object. The text itself for a language model.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write: .html, .svg, .png or .json.")] = Path(
        "map.html"
    ),
    beam: BeamWidth = None,
    feature: Feature = None,
    oracle: Annotated[
        str | None,
        typer.Option("--oracle", metavar="ALIGNMENT|FILE", help="Where attention has to look, such as '0-0 2-1'; or a file."),
    ] = None,
    oracle_unit: OracleUnitOption = OracleUnit.SYMBOLS,
    prefix: OutputPrefix = "",
    units: Annotated[
        str | None,
        typer.Option(
            "--units", metavar="N,...|top", help="Language model: these hidden units of the last layer (LAYER:N of others)."
        ),
    ] = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Instead, the tree of the search: what it looked at, kept and pruned, and why.")
    ] = False,
    steps: Annotated[
        bool, typer.Option("--steps", help="Instead, each output symbol by itself: scores, weights, context, word.")
    ] = False,
    maximum_input: MaximumInput = None,
    json: Json = False,
) -> None:
    """Draw where a model looked as it wrote, or what it expected.

    Examples:
        seqloom explain runs/demo "le 3 mai 1979" --out map.html
        seqloom explain runs/demo "2009年12月31日" --feature ja --out map.png
        seqloom explain runs/soft runs/hard "le 3 mai 1979" --out both.html
        seqloom explain runs/hindi "Main ghar ja raha hoon" --oracle "0-0 4-1 2-2 3-2 1-3"
        seqloom explain runs/demo "le 3 mai 1979" --tree --beam 3 --out tree.svg
        seqloom explain runs/demo "le 3 mai 1979" --steps --out steps.html
        seqloom explain runs/demo "03/05/1979" --prefix 1979-03 --out march.html
        seqloom explain runs/captions dog.jpg --out dog.html
        seqloom explain runs/captions photos --out gallery.html
        seqloom explain runs/questions '{"image": "dog.jpg", "question": "what colour is it?"}'
        seqloom explain runs/book "To be, or not to be" --out next.html
        seqloom explain runs/book "To be, or not to be" --units top --out units.html

    HTML shows all outputs of the beam to choose from, and values when one points at a cell. Several runs get the same
    input and stand beside each other, with how each sees the source. With --oracle the weights are
    those that you hand in, as in `predict`, and the output is what the model says to them. For a language model: what
    it expected at every symbol, or with --units what hidden units show; top: the most selective ones.
    """
    from seqloom.cli.texts import is_text_run

    runs, text = _parted(words)
    if any(is_text_run(run) for run in runs):
        if len(runs) > 1:
            raise UsageError("runs beside each other have to read a source, and a language model reads none. Explain it alone")
        if beam is not None or feature or oracle is not None or prefix or tree or steps:
            raise UsageError(
                "--beam, --feature, --oracle, --prefix, --tree and --steps are for models that read a source; this one is a "
                "language model. Leave them out"
            )
        explain_text(runs[0], text, out, units, json=json)
        return
    if units is not None:
        raise UsageError("--units is for language models; this run reads a source. Leave it out")
    if tree or steps:
        require_alone(runs, tree=tree, steps=steps, oracle=oracle)
        _explain_inside(runs[0], text, feature or [], out, beam, maximum_input, prefix, tree=tree, json=json)
        return
    if is_folder(text) and _reads_files(runs[0]):
        explain_folder(runs, Path(text), out, beam, json=json)
        return
    told = None if oracle is None else _entries(oracle)
    wishes = {"oracle": told, "oracle_unit": oracle_unit.value, "prefix": prefix}
    _explain_source(runs, text, feature or [], out, beam, maximum_input, wishes, json=json)


def _reads_files(run: str) -> bool:
    """Whether a run reads files, such as images: to others, the name of a folder is a text."""
    from seqloom.runs import RunFolder
    from seqloom.runs.seeds import runs_at

    return bool(RunFolder.open(runs_at(Path(run))[0]).recipe.data.file_sources)


def _parted(words: list[str]) -> tuple[list[str], str]:
    """The runs, and the text that stands behind them."""
    from seqloom.runs import RunFolder

    *runs, text = words
    if not runs:
        RunFolder.open(Path(text))  # what is not a run is refused first
        raise UsageError(
            f'explain: say what to look at, behind the run: a text, or an image file. As in: explain {text} "a text"'
        )
    if not text.strip():
        raise UsageError("explain: the text is empty, so there is nothing to look at. Give the text that the model shall read")
    return runs, text


def _explain_inside(
    run: str,
    text: str,
    features: list[str],
    out: Path,
    beam: int | None,
    maximum_input: int | None,
    prefix: str,
    *,
    tree: bool,
    json: bool,
) -> None:
    from seqloom.cli.explain_inside import explain_steps, explain_tree
    from seqloom.prediction.predictor import Predictor
    from seqloom.views import MissingFontWarning

    predictor = Predictor.load(run, maximum_input=maximum_input)
    given = named_sources(list(predictor.recipe.data.sources), text) | ({"features": features} if features else {})
    with told_of(MissingFontWarning):
        (explain_tree if tree else explain_steps)(run, given, predictor, out, beam, prefix, json=json)


@contextmanager
def told_of(kind: type[Warning]) -> Iterator[None]:
    """Say warnings of a kind on standard error, in our own words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", kind)
        yield
    for warning in caught:
        if issubclass(warning.category, kind):
            typer.echo(f"seqloom: {warning.message}", err=True)


def _entries(oracle: str) -> "list[Entry]":
    """What is told about the one input: an alignment or a list as it stands, or the entries of a file."""
    from seqloom.data.reading.oracles import parse_entry, read_oracle

    if not is_there(oracle) and (oracle.lstrip().startswith("[") or set(oracle) <= set("0123456789- ")):
        return [parse_entry(oracle, "--oracle")]
    return list(read_oracle(oracle))


def _explain_source(
    runs: list[str],
    text: str,
    features: list[str],
    out: Path,
    beam: int | None,
    maximum_input: int | None,
    wishes: dict[str, Any],
    *,
    json: bool,
) -> None:
    from seqloom.views import MissingFontWarning, write_map

    exhibits = [_exhibit(run, text, features, beam, maximum_input, wishes, labelled=len(runs) > 1) for run in runs]
    with told_of(MissingFontWarning):
        written = write_map(exhibits, out)
    if len(runs) == 1:
        body, lines = exhibits[0].as_json(), _said(exhibits[0].prediction)
    else:
        said = list(zip(runs, exhibits, strict=True))
        body = {"predictions": [{"run": run, **one.as_json()} for run, one in said]}
        lines = [f"{run}: {one.prediction.text}" for run, one in said]
    if json:
        print_json({**body, "written": str(written)})
    else:
        typer.echo(for_output("\n".join([*lines, str(written)])))


def _said(prediction: "Prediction") -> list[str]:
    """The output, of a sound with when each word was heard; of classes, all that were found, with bars of probability."""
    from seqloom.prediction.transcription import heard_words

    if prediction.best.probability is None:
        return [prediction.text, *(f"{one.start:8.2f} s  {one.text}" for one in heard_words(prediction))]
    width = max(len(one.text) for one in prediction.candidates)
    return [_bar(one.text.ljust(width), one.probability or 0.0) for one in prediction.candidates]


def _bar(text: str, chance: float) -> str:
    return f"{text}  {chance:6.1%}  {'█' * round(30 * chance)}".rstrip()


def _exhibit(
    run: str,
    text: str,
    features: list[str],
    beam: int | None,
    maximum_input: int | None,
    wishes: dict[str, Any],
    *,
    labelled: bool,
) -> "Exhibit":
    """What one run says; labelled: with the run's name and how it sees the source, to be told from others."""
    from seqloom.cli.searching import choose_search
    from seqloom.prediction.predictor import Predictor
    from seqloom.recipe import bridge_words
    from seqloom.recipe.sections import TARGET, Beam

    predictor = Predictor.load(run, maximum_input=maximum_input)
    search = choose_search(predictor.recipe.search, beam={"width": beam})
    classes = predictor.vocabularies[TARGET]
    nbest = search.width if isinstance(search, Beam) else 1
    nbest = min(classes.size - len(SPECIALS), _MOST_CLASSES) if classes.whole else nbest
    source = named_sources(list(predictor.recipe.data.sources), text) | ({"features": features} if features else {})
    [prediction] = predictor.predict([source], search=search, nbest=nbest, **wishes)
    return prediction.exhibit(label=f"{run}: {bridge_words(predictor.recipe)}" if labelled else "")


# --- language models ------------------------------------------------------------------------------------------------

_MOST_SYMBOLS = 2000
"""A page goes into every symbol, so a long text makes one that nobody reads to its end."""


def explain_text(run: str, text: str, out: Path, units: str | None, *, json: bool) -> None:
    """Write what a language model expected along a text, or what its hidden units show."""
    from seqloom.prediction.language_model import LanguageModel
    from seqloom.results.language import Summary
    from seqloom.views.drawing.forms import require_ending
    from seqloom.views.language.files import write_next_symbols, write_units
    from seqloom.views.text.labels import shortened

    require_ending(out)
    model = LanguageModel.load(run)
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    symbols = model.count_symbols(lines)
    if symbols > _MOST_SYMBOLS:
        raise UsageError(
            f"the text has {symbols:,} symbols; a page goes into {_MOST_SYMBOLS:,} at most. "
            "Give a shorter one, or use `score --html`"
        )
    scored = model.score(lines)
    summary = Summary.of(scored)
    title = shortened(lines[0], 60)
    if units is None:
        written = write_next_symbols(model.read(lines), summary, out, title=title)
    else:
        written = write_units(model.activations(lines, parse_units(units, model.layers)), out, title=title)
    if json:
        print_json({"summary": summary.as_json(), "lines": [one.as_json() for one in scored], "written": str(written)})
    else:
        typer.echo(f"log-probability {summary.log_prob:.4f}, {summary.bits_per_symbol:.4f} bits per symbol\n{written}")


def parse_units(text: str, layers: int) -> "list[tuple[int, int]] | None":
    """`top` as None; else hidden units as (layer, number): of the last layer unless the layer is given before a colon."""
    if text.strip() == "top":
        return None
    found = []
    for part in text.split(","):
        layer, colon, number = part.strip().rpartition(":")
        if not number.isdecimal() or (colon and not layer.isdecimal()):
            raise UsageError(f"--units: expected numbers such as 0,5,17 or 1:5 (layer 1), or top; got {part.strip()!r}")
        found.append((int(layer) if colon else layers, int(number)))
    return found
