"""`seqloom predict`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from seqloom.cli.options import BatchSize, ColumnsOption, Feature, Json, parse_columns, print_json, progress_bar, with_features
from seqloom.errors import DataError, UsageError

if TYPE_CHECKING:
    from seqloom.predictions import Prediction
    from seqloom.recipe.sections import Beam, Sample, Search

_Section = TypeVar("_Section", "Beam", "Sample")


def predict(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [FILE|-]", help="One run, or several as an ensemble; then the input, by default standard input."
        ),
    ],
    beam: Annotated[
        int | None, typer.Option("--beam", metavar="N", min=1, help="Beam search of this width; 1 is greedy.")
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
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="Draw so many outputs at random instead.")
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
    prefix: Annotated[str, typer.Option("--prefix", metavar="TEXT", help="What every output must begin with.")] = "",
    minimum_length: Annotated[
        int | None, typer.Option("--minimum-length", metavar="N", min=0, help="So many symbols before an output may end.")
    ] = None,
    forbid: Annotated[
        list[str] | None, typer.Option("--forbid", metavar="SYMBOL", help="A symbol that may not be written. Repeatable.")
    ] = None,
    columns: ColumnsOption = None,
    feature: Feature = None,
    attention: Annotated[
        Path | None, typer.Option("--attention", metavar="FILE", help="Save all attention weights to this .npz file.")
    ] = None,
    batch_size: BatchSize = 64,
    json: Json = False,
) -> None:
    """Write the best output for every line of input.

    Examples:
        echo "le 3 mai 1979" | seqloom predict runs/demo
        seqloom predict runs/demo table.tsv --columns source=1,features=2
        seqloom predict runs/a runs/b input.txt --beam 10 --nbest 3 --json

    With --nbest above 1, plain output has columns: line number, rank, score, text. Without --columns a
    whole line is the source.
    """
    from seqloom.data.examples import read_sources
    from seqloom.predict import Predictor
    from seqloom.recipe.sections import Columns

    runs, source = _split_places(places)
    most = nbest or sample or 1
    predictor = Predictor.load(*runs)
    given: dict[str, dict[str, Any]] = {
        "beam": {"width": beam, "length_power": length_power, "coverage": coverage},
        "sample": {"count": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed},
        "common": {"minimum_length": minimum_length, "forbid": tuple(forbid) if forbid else None},
    }
    search = choose_search(predictor.recipe.search, given)
    chosen = parse_columns(columns)
    stream = sys.stdin.buffer if source == "-" else source
    examples = with_features(read_sources(stream, Columns(**chosen.model_dump()) if chosen else None), feature)
    kept: dict[str, Any] = {}
    with progress_bar("predicting", None) as advance:
        wishes: dict[str, Any] = {
            "search": search,
            "nbest": most,
            "prefix": prefix,
            "batch_size": batch_size,
            "progress": advance,
        }
        answers = (
            (predictor.predict([example], **wishes)[0] for example in examples)  # a person waits for each
            if source == "-" and sys.stdin.isatty()
            else predictor.predict_stream(examples, **wishes)
        )
        for number, prediction in enumerate(answers):
            _print(prediction, number, most, json=json)
            if attention is not None:
                kept |= _attention_arrays(prediction, number)
    if attention is not None:
        _save_attention(attention, kept)


def _split_places(places: list[str]) -> tuple[list[str], str]:
    """The runs, and the input: the last word if it is `-` or a file."""
    last = Path(places[-1])
    if len(places) == 1 or last.is_dir():
        return places, "-"
    if places[-1] != "-" and not last.exists():
        raise DataError(f"{last}: expected a file to read or a run folder, found nothing there. Check the path")
    return places[:-1], places[-1]


def choose_search(default: "Search", given: dict[str, dict[str, Any]]) -> "Search":
    """The recipe's search, changed by what was given on the command line."""
    from seqloom.recipe.sections import Beam, Greedy, Sample

    beam, sample, common = ({name: value for name, value in group.items() if value is not None} for group in given.values())
    shared = {name: getattr(default, name) for name in ("length_factor", "length_extra", "minimum_length", "forbid")} | common
    if beam and sample:
        raise UsageError(
            f"options of beam search ({', '.join(beam)}) and of sampling ({', '.join(sample)}) exclude each other. "
            "Give those of one"
        )
    if sample:
        if "count" not in sample:
            raise UsageError("sampling options go with --sample N: say how many outputs to draw")
        return _checked(Sample, shared | sample)
    if beam:
        before = default.model_dump() if isinstance(default, Beam) else {}
        return _checked(Beam, before | shared | beam)
    if isinstance(default, Greedy) or common:
        return default.model_copy(update=shared)
    return default


def _checked(kind: "type[_Section]", values: dict[str, Any]) -> "_Section":
    from pydantic import ValidationError

    try:
        return kind(**values)
    except ValidationError as problem:
        first = problem.errors()[0]
        name = str(first["loc"][0]).replace("_", "-")
        raise UsageError(f"--{name}: {first['msg']}, got {first['input']}") from None


def _print(prediction: "Prediction", number: int, nbest: int, *, json: bool) -> None:
    if json:
        print_json(prediction.as_json())
    elif nbest == 1:
        sys.stdout.write(prediction.text + "\n")
    else:
        for rank, candidate in enumerate(prediction.candidates, start=1):
            sys.stdout.write(f"{number + 1}\t{rank}\t{candidate.score:.4f}\t{candidate.text}\n")


def _attention_arrays(prediction: "Prediction", number: int) -> dict[str, Any]:
    import numpy as np

    arrays: dict[str, Any] = {f"{number}/tokens": np.asarray(prediction.tokens)}
    for name, alignment in prediction.alignment.items():
        arrays[f"{number}/{name}/weights"] = alignment.weights
        arrays[f"{number}/{name}/symbols"] = np.asarray(alignment.symbols)
    return arrays


def _save_attention(path: Path, arrays: dict[str, Any]) -> None:
    import io

    import numpy as np

    from seqloom.runs import write_file

    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_file(path, buffer.getvalue())
