"""`seqloom sample`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import CUT_OFF, WIDEST_BEAM, Json, MaximumInput, Run, print_json, progress_bar
from seqloom.errors import UsageError
from seqloom.system.terminals import for_output

if TYPE_CHECKING:
    from seqloom.prediction.language_model import LanguageModel
    from seqloom.recipe.sections import Beam, Sample
    from seqloom.results.language import GeneratedText


def sample(
    run: Run,
    prompt: Annotated[str, typer.Option("--prompt", metavar="TEXT", help="How every text begins.")] = "",
    count: Annotated[int | None, typer.Option("--count", metavar="N", min=1, help="How many texts.  [default: 1]")] = None,
    length: Annotated[
        int, typer.Option("--length", metavar="N", min=1, help="At most this many symbols after the prompt.")
    ] = 500,
    temperature: Annotated[
        float | None, typer.Option("--temperature", metavar="X", help="Below 1 is safer, above 1 bolder.  [default: 1]")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option("--top-k", metavar="K", min=1, help="Draw from the k most probable symbols only.")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option("--top-p", metavar="P", help="Draw from the most probable symbols that make up this share."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="The random seed.  [default: 1]")] = None,
    beam: Annotated[
        int | None,
        typer.Option("--beam", metavar="K", min=1, max=WIDEST_BEAM, help="Instead, the k most probable ways to end the line."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Also draw the texts, shaded by surprise, as .html, .svg, .png or .json."),
    ] = None,
    maximum_input: MaximumInput = None,
    json: Json = False,
) -> None:
    """Let a language model write, or complete a beginning.

    Examples:
        seqloom sample runs/book
        seqloom sample runs/book --prompt "Once upon" --temperature 0.7 --count 5
        seqloom sample runs/book --prompt "The king" --beam 5
        seqloom sample runs/book --length 300 --out written.svg

    A model of lines writes up to the end of a line; one of running text goes on over line ends until --length. A single text
    appears as it is written; the same seed gives the same texts. With --beam, plain output has columns: log-probability of
    the completion, text. A line that --length cut off ends in " …".
    """
    from seqloom.prediction.language_model import LanguageModel
    from seqloom.views.drawing.forms import require_ending

    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    if beam is not None:
        _require_nothing_drawn({**drawing, "count": count})
    if out is not None:
        require_ending(out)
    model = LanguageModel.load(run, maximum_input=maximum_input)
    if beam is not None:
        texts = model.complete(prompt, search=_beam(model, beam), length=length)
        _print_completions(texts, json=json)
        _draw(model, texts, out, run)
        return
    search = _sample(model, drawing)
    if (count or 1) == 1 and not json and out is None:
        _print_as_written(model, prompt, search, length)
        return
    with progress_bar("sampling", (count or 1) * length) as advance:
        texts = model.sample(count or 1, prompt=prompt, search=search, length=length, progress=advance)
    _print_texts(texts, several_lines=model.running, json=json)
    _draw(model, texts, out, run)


def _draw(model: "LanguageModel", texts: "Sequence[GeneratedText]", out: Path | None, run: str) -> None:
    """Draw what was written, shaded by how surprising each symbol is to the model itself."""
    if out is None:
        return
    from seqloom.cli.explain import told_of
    from seqloom.results.language import Summary
    from seqloom.views import MissingFontWarning
    from seqloom.views.language.files import write_surprise

    lines = [line for one in texts for line in one.text.split("\n")]
    readings, summary, title = model.read(lines), Summary.of(model.score(lines)), f"Written by {Path(run).name}"
    with told_of(MissingFontWarning):
        written = write_surprise(readings, summary, out, title=title, ranked=False)
    typer.echo(f"seqloom: wrote {for_output(str(written))}", err=True)


def _require_nothing_drawn(settings: Mapping[str, float | int | None]) -> None:
    given = [f"--{name.replace('_', '-')}" for name, value in settings.items() if value is not None]
    if given:
        raise UsageError(f"--beam finds the most probable texts and draws nothing: leave out {', '.join(given)}")


def _sample(model: "LanguageModel", drawing: Mapping[str, float | int | None]) -> "Sample":
    from seqloom.cli.searching import choose_search
    from seqloom.recipe.sections import Sample

    section = choose_search(model.recipe.search, sample={"count": 1, **drawing})
    if not isinstance(section, Sample):
        raise TypeError(section)
    return section


def _beam(model: "LanguageModel", width: int) -> "Beam":
    """By probability itself: a mean over symbols would rank whole texts, prompt and all, by something else."""
    from seqloom.cli.searching import choose_search
    from seqloom.recipe.sections import Beam

    section = choose_search(model.recipe.search, beam={"width": width, "length_power": 0.0, "coverage": 0.0})
    if not isinstance(section, Beam):
        raise TypeError(section)
    return section


def _print_as_written(model: "LanguageModel", prompt: str, search: "Sample", length: int) -> None:
    live = sys.stdout.isatty()
    pieces = 0
    for pieces, piece in enumerate(model.stream(prompt=prompt, search=search, length=length)):  # noqa: B007
        sys.stdout.write(for_output(piece))
        if live:
            sys.stdout.flush()
    # The prompt is the first piece, and each symbol but the end is one more.
    sys.stdout.write(f"{CUT_OFF if pieces == length and not model.running else ''}\n")


def _print_texts(texts: "Sequence[GeneratedText]", *, several_lines: bool, json: bool) -> None:
    for number, one in enumerate(texts, start=1):
        if json:
            print_json(one.as_json())
            continue
        if several_lines and len(texts) > 1:
            sys.stdout.write(f"--- {number} ---\n")
        sys.stdout.write(for_output(one.text) + ("" if one.finished or several_lines else CUT_OFF) + "\n")


def _print_completions(texts: "Sequence[GeneratedText]", *, json: bool) -> None:
    for one in texts:
        if json:
            print_json(one.as_json())
        else:
            sys.stdout.write(f"{one.completion_log_prob:.4f}\t{for_output(one.text)}{'' if one.finished else CUT_OFF}\n")
