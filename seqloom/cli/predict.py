"""`seqloom predict`."""

import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqloom.cli.options import (
    CUT_OFF,
    WIDEST_BEAM,
    BatchSize,
    Bias,
    ColumnsOption,
    CtcWeight,
    Feature,
    FormatOption,
    Fuse,
    FusionWeight,
    Json,
    MaximumInput,
    OracleUnit,
    OracleUnitOption,
    OutputPrefix,
    PrecisionOption,
    PredictionPrecision,
    Shortlist,
    Speeds,
    open_predictor,
    parse_format,
    print_json,
    progress_bar,
    split_places,
    with_columns,
)
from seqloom.cli.searching import SearchKind, choose_search, parse_biases, parse_speeds
from seqloom.cli.typed import typed_texts
from seqloom.cli.unknown import UnknownSymbols
from seqloom.errors import UsageError
from seqloom.system.terminals import for_output

if TYPE_CHECKING:
    from seqloom.data.examples import Example
    from seqloom.data.reading.oracles import Entry
    from seqloom.recipe.sections import Data
    from seqloom.results.predictions import Candidate, Prediction


def predict(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [FILE...|TEXT...|-]",
            help="One run, or several as an ensemble; then the input: a file, texts as they are, or - for standard input, "
            "which is the default. For a run that reads images: the files themselves.",
        ),
    ],
    kind: Annotated[
        SearchKind | None,
        typer.Option(
            "--search",
            metavar="greedy|beam|sample|exhaustive",
            help="Instead of the recipe's search. exhaustive: every possible output, for tiny vocabularies.",
        ),
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option("--beam", metavar="N", min=1, max=WIDEST_BEAM, help="Beam search of this width; 1 is greedy."),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option("--nbest", metavar="N", min=1, help="Outputs per input, at most the beam's width; 1 unless --sample."),
    ] = None,
    length_power: Annotated[
        float | None, typer.Option("--length-power", metavar="X", min=0, help="Beam: rank by log-probability / length^power.")
    ] = None,
    coverage: Annotated[
        float | None, typer.Option("--coverage", metavar="X", min=0, help="Beam: weight of the coverage penalty.")
    ] = None,
    values: Annotated[
        float | None,
        typer.Option("--values", metavar="X", min=0, help="Beam: what each value of `slot = value` costs that is not said."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="Draw this many outputs at random instead.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option("--temperature", metavar="X", help="Sampling: below 1 is safer, above 1 bolder.")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option("--top-k", metavar="K", min=1, help="Sampling: only the k most probable symbols.")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option("--top-p", metavar="P", help="Sampling: only the most probable symbols that make up this share."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="Sampling: the random seed.")] = None,
    prefix: OutputPrefix = "",
    minimum_length: Annotated[
        int | None, typer.Option("--minimum-length", metavar="N", min=0, help="At least this many symbols before the end.")
    ] = None,
    maximum_length: Annotated[
        int | None, typer.Option("--maximum-length", metavar="N", min=1, help="At most this many symbols, the end included.")
    ] = None,
    forbid: Annotated[
        list[str] | None, typer.Option("--forbid", metavar="SYMBOL", help="A symbol that may not be written. Repeatable.")
    ] = None,
    fuse: Fuse = None,
    weight: FusionWeight = None,
    ctc_weight: CtcWeight = None,
    speeds: Speeds = None,
    bias: Bias = None,
    precision: PrecisionOption = PredictionPrecision.FP32,
    shortlist: Shortlist = None,
    columns: ColumnsOption = None,
    format: FormatOption = None,
    feature: Feature = None,
    attention: Annotated[
        Path | None, typer.Option("--attention", metavar="FILE", help="Save all attention weights to this .npz file.")
    ] = None,
    oracle: Annotated[
        str | None,
        typer.Option(
            "--oracle", metavar="FILE", help="Where attention has to look: an alignment or weights for each input, or null."
        ),
    ] = None,
    oracle_unit: OracleUnitOption = OracleUnit.SYMBOLS,
    maximum_input: MaximumInput = None,
    batch_size: BatchSize = 64,
    json: Json = False,
) -> None:
    r"""Write the best output for every line or record of input.

    Examples:
        seqloom predict runs/demo "le 3 mai 1979" "3 mai"
        seqloom predict runs/demo dates.txt
        seqloom predict runs/words pairs.tsv
        seqloom predict runs/demo table.tsv --columns source=1,features=2
        seqloom predict runs/a runs/b input.txt --beam 10 --nbest 3 --json
        seqloom predict runs/demo input.txt --fuse runs/language-model --weight 0.3
        seqloom predict runs/words input.txt --shortlist 3000
        seqloom predict runs/words input.txt --oracle alignments.txt --oracle-unit words
        seqloom predict runs/captions *.jpg
        seqloom predict runs/scenes scene:12 scene:13

    What is not the name of a file is taken as the text itself. An output that reached its longest length before it ended has
    " …" behind it.

    With --nbest above 1, plain output has columns: line number, rank, score (of a class its probability), text. CSV, JSON lines
    and Parquet are known by their ending. In other files a whole line is the source, unless --columns names tab-separated
    ones or the first line has a tab: then columns are those of training, and a target stands beside its output, after a tab.
    --format text takes lines as they are. A line break in an output is written as \n, so that output i belongs to input i;
    --json gives it as it is. Standard error says how many symbols the model did not know.

    A model of several sources reads a table with the columns of its training, or JSON lines whose keys are the sources' names;
    so does standard input.

    An oracle replaces the attention weights. Its line i is for input i: an alignment source-target from 0 such as
    0-0 4-1 2-2 3-2 1-3, or as JSON a list with a distribution over the source, or null, for each output step. A .json file
    is one list of such entries. Where it says null or nothing, the model's own weights are used.
    """
    runs, rest = split_places(places)
    most = nbest or sample or 1
    predictor = open_predictor(runs, fuse, weight, precision=precision, shortlist=shortlist, maximum_input=maximum_input)
    search = choose_search(
        predictor.recipe.search,
        kind=kind,
        nbest=nbest,
        beam={"width": beam, "length_power": length_power, "coverage": coverage, "values": values},
        sample={"count": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed},
        common={
            "minimum_length": minimum_length,
            "length_factor": None if maximum_length is None else 0.0,
            "length_extra": maximum_length,
            "forbid": tuple(forbid) if forbid else None,
            "ctc": ctc_weight,
            "speeds": parse_speeds(speeds),
            "bias": parse_biases(bias),
        },
    )
    data, given = predictor.recipe.data, rest or ["-"]
    examples = _with_features(_asked_for(data, given, columns, format), data, feature)
    waited_for = given == ["-"] and sys.stdin.isatty()  # a person waits for each answer
    beside = columns is None and _first_line_tells(data, given, format)
    with progress_bar("predicting", None) as advance:
        predictions = predictor.predict_stream(
            examples,
            search=search,
            nbest=most,
            prefix=prefix,
            batch_size=batch_size,
            at_once=1 if waited_for else None,
            progress=advance,
            oracle=_oracle(oracle),
            oracle_unit=oracle_unit.value,
        )
        _write_all(predictions, most, attention, beside=beside, json=json)


def _oracle(file: str | None) -> "Iterator[Entry] | None":
    if file is None:
        return None
    from seqloom.data.reading.oracles import read_oracle

    return read_oracle(file)


def _write_all(predictions: "Iterator[Prediction]", nbest: int, attention: Path | None, *, beside: bool, json: bool) -> None:
    """Print every prediction when it is there, as text or as JSON, and keep its attention; then say what was not known."""
    unknown = UnknownSymbols()
    with _attention_file(attention) as kept:
        for number, prediction in enumerate(predictions):
            if json:
                print_json(prediction.as_json())
            else:
                _print(prediction, number, nbest, beside=beside)
            unknown.see(prediction)
            if kept is not None:
                kept.add(number, prediction)
    unknown.say()


def _asked_for(data: "Data", given: list[str], columns: str | None, format: str | None) -> "Iterator[Example]":
    """The texts that were typed, or what the files that were named hold."""
    texts = typed_texts(data, given, columns or format)
    return texts if texts is not None else _examples(data, given, columns, format)


def _with_features(examples: "Iterator[Example]", data: "Data", given: list[str] | None) -> "Iterator[Example]":
    """Add features given on the command line to every example."""
    from dataclasses import replace

    features = [feature for one in given or () for feature in data.form.features_of(one)]
    for example in examples:
        yield replace(example, features=(*example.features, *features)) if features else example


def _examples(data: "Data", given: list[str], columns: str | None, format: str | None) -> "Iterator[Example]":
    """What is to be predicted from: the lines or records of one file or of standard input, or the files themselves."""
    from seqloom.data.reading.endings import ending_format, format_beside
    from seqloom.data.reading.prediction_inputs import read_sources

    files = list(data.file_sources) if len(data.sources) == 1 else []
    if files and columns is None and format is None and all(ending_format(one) is None and one != "-" for one in given):
        from seqloom.data.examples import INPUT, Example, Origin

        return (Example({files[0]: one}, None, Origin(INPUT, number)) for number, one in enumerate(given, start=1))
    if len(given) > 1:
        raise UsageError(f"predict: expected one file to read, found {len(given)}. Put them together, or run it for each")
    placed = with_columns(data, columns)
    piped, told = given == ["-"], parse_format(format)
    return read_sources(
        sys.stdin.buffer if piped else given[0],
        None if columns is None else placed.columns,
        format=told if piped else format_beside(given[0], told, data.format),
        usual=data.columns,
        sources=placed.sources,
    )


def _first_line_tells(data: "Data", given: list[str], format: str | None) -> bool:
    """Whether the first line tells if lines are sources, or pairs, of which people want to see both outputs and targets."""
    from seqloom.data.reading.endings import ending_format

    return len(data.sources) == 1 and parse_format(format) == "auto" and ending_format(given[0]) in (None, "tsv")


def _print(prediction: "Prediction", number: int, nbest: int, *, beside: bool) -> None:
    """Print the outputs. beside: with the target, if there is one."""
    target = f"\t{_one_line(prediction.target)}" if beside and prediction.target is not None else ""
    if nbest == 1:
        sys.stdout.write(f"{_shown(prediction.best)}{target}\n")
        return
    for rank, candidate in enumerate(prediction.candidates, start=1):
        worth = candidate.score if candidate.probability is None else candidate.probability
        sys.stdout.write(f"{number + 1}\t{rank}\t{worth:.4f}\t{_shown(candidate)}{target}\n")


def _shown(candidate: "Candidate") -> str:
    return _one_line(candidate.text) + ("" if candidate.finished else CUT_OFF)


def _one_line(text: str) -> str:
    """Keep an output on its line. A backslash stays alone, since outputs such as formulas are full of them."""
    return for_output(text.replace("\n", r"\n").replace("\r", r"\r"))


class _AttentionFile:
    """An .npz file that is written prediction by prediction: only one is held in memory, however many there are."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, number: int, prediction: "Prediction") -> None:
        """Add the best output of input `number`."""
        import numpy as np

        self._write(f"{number}/tokens", np.asarray(prediction.tokens))
        for name, alignment in prediction.alignment.items():
            self._write(f"{number}/{name}/weights", alignment.weights)
            self._write(f"{number}/{name}/symbols", np.asarray(alignment.symbols))

    def _write(self, name: str, array: Any) -> None:
        from numpy.lib.format import write_array

        with self._archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
            write_array(stream, array, allow_pickle=False)


@contextmanager
def _attention_file(path: Path | None) -> "Iterator[_AttentionFile | None]":
    """Open the file for attention weights, if one is wanted."""
    if path is None:
        yield None
        return
    from seqloom.system.atomic_files import open_file

    with open_file(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        yield _AttentionFile(archive)
