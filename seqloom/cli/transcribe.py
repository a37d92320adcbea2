"""`seqloom transcribe`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import Json, Run
from seqloom.errors import UsageError, WriteError

if TYPE_CHECKING:
    from seqloom.prediction.transcription import Form, Passage, Transcriber

_FORMS = ("txt", "srt", "vtt", "json")


def transcribe(
    run: Run,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Recordings; videos have their sound read.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="txt|srt|vtt|json", help="Plain lines, subtitles, or all times as JSON.")
    ] = "txt",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write to this file in place of standard output; of one recording."),
    ] = None,
    pause: Annotated[float, typer.Option("--pause", metavar="SECONDS", min=0.05, help="Silence that ends a passage.")] = 0.5,
    microphone: Annotated[
        float | None,
        typer.Option(
            "--microphone", metavar="SECONDS", min=0.5, max=3600, help="Listen for so long in place of reading a file."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write down recordings of any length, with times of words.

    Examples:
        seqloom transcribe runs/speech talk.wav
        seqloom transcribe runs/speech talk.mp4 --format srt --out talk.srt
        seqloom transcribe runs/speech --microphone 10

    A recording is cut at pauses, and where a passage is longer than the recipe's `longest`, at its quietest moment. Each
    passage is written by the model as `predict` would. A word begins where attention was largest at its first symbol.
    """
    chosen = _form("json" if json else form)
    if bool(files) == (microphone is not None):
        raise UsageError("transcribe: name recordings, or listen with --microphone SECONDS")
    if out is not None and len(files or [""]) > 1:
        raise UsageError(f"transcribe: --out takes one recording, found {len(files or [])}. Leave it out, or name one")
    from seqloom.prediction.predictor import Predictor
    from seqloom.prediction.transcription import Transcriber, as_text

    transcriber = Transcriber(Predictor.load(run), pause=pause)
    for name, found in _heard(transcriber, files or [], microphone):
        text = as_text(found, chosen, name)
        if out is None:
            typer.echo(text, nl=False)
        else:
            _write(out, text)


def _form(form: str) -> "Form":
    for known in _FORMS:
        if form == known:
            return known  # type: ignore[return-value]
    raise UsageError(f"--format: expected one of {', '.join(_FORMS)}, found {form!r}")


def _heard(transcriber: "Transcriber", files: list[str], microphone: float | None) -> "list[tuple[str, list[Passage]]]":
    if microphone is None:
        return [(name, list(transcriber.transcribe(name))) for name in files]
    from seqloom.data.media.microphone import listen

    samples = listen(microphone, transcriber.rate, begins=lambda: typer.echo(f"listening for {microphone:g} seconds", err=True))
    return [("microphone", list(transcriber.transcribe_samples(samples, "microphone")))]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise WriteError(f"{path}: could not be written ({problem.strerror}). Choose another file") from problem
    typer.echo(f"written: {path}", err=True)
