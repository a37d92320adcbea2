"""Long recordings, written down: cut at pauses, each piece read by a model, each word with the time at which it was heard."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from seqloom.data.examples import INPUT, Origin
from seqloom.data.kinds import file_kind_of
from seqloom.data.media.files import HandedFile
from seqloom.data.media.sounds import samples_of, wav
from seqloom.data.media.spectra import Samples
from seqloom.errors import UsageError
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import SoundSource
from seqloom.results.layouts import Frames
from seqloom.results.predictions import Prediction
from seqloom.views.text.segments import output_spans

Form = Literal["txt", "srt", "vtt", "json"]

_MOMENT = 0.02
"""Seconds, for each of which it is said how loud it is."""
_QUIET = 0.05
"""What has less than this share of the loudness of the loudest moments is a pause."""
_MARGIN = 0.1
"""Seconds of a pause that stay with the words beside it."""
_PASSAGES_AT_ONCE = 32


@dataclass(frozen=True)
class Word:
    """A word, and when it was heard, in seconds from the beginning of the recording."""

    text: str
    start: float
    end: float


@dataclass(frozen=True)
class Passage:
    """What was said between two pauses. words: with their times, if the model looks at what it writes."""

    text: str
    start: float
    end: float
    words: tuple[Word, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The passage as JSON-ready data."""
        words = [{"text": one.text, "start": round(one.start, 3), "end": round(one.end, 3)} for one in self.words]
        return {"text": self.text, "start": round(self.start, 3), "end": round(self.end, 3), "words": words}


class Transcriber:
    """Writes down recordings with a model of sounds. pause: silence of so many seconds ends a passage."""

    def __init__(self, predictor: Predictor, *, pause: float = 0.5) -> None:
        sources = predictor.recipe.data.sources
        self._name, source = next(iter(sources.items()))
        if len(sources) != 1 or not isinstance(source, SoundSource):
            kinds = ", ".join(f"{name} ({one.kind})" for name, one in sources.items())
            raise UsageError(f"transcribe: expected a model whose one source is a sound, found one of {kinds}. Use predict")
        self._predictor, self._source, self._pause = predictor, source, pause

    @property
    def rate(self) -> int:
        """At which the model hears."""
        return self._source.rate

    def transcribe(self, place: str) -> Iterator[Passage]:
        """Write down a file. Raises `DataError` for one that cannot be read."""
        media = file_kind_of(self._source).find(place, Origin(INPUT, 1))
        return self.transcribe_samples(samples_of(media, self.rate), place)

    def transcribe_samples(self, samples: Samples, name: str) -> Iterator[Passage]:
        """Write down samples at the model's rate. name: what they are called in messages."""
        spans = passages(samples, self.rate, pause=self._pause, longest=self._source.longest)
        for first in range(0, len(spans), _PASSAGES_AT_ONCE):
            some = spans[first : first + _PASSAGES_AT_ONCE]
            pieces = [
                HandedFile.of(f"{name} at {start / self.rate:.2f} s", wav(samples[start:end], self.rate)) for start, end in some
            ]
            for (start, end), prediction in zip(some, self._predictor.predict(pieces), strict=True):
                yield passage_of(prediction, self._name, start / self.rate, end / self.rate)


# --- cutting --------------------------------------------------------------------------------------------------------


def passages(samples: Samples, rate: int, *, pause: float, longest: float) -> list[tuple[int, int]]:
    """Where something is said between pauses, in samples. What is longer than `longest` seconds is cut where it is quietest."""
    moment = max(1, round(_MOMENT * rate))
    loudness = _loudness(samples, moment)
    loud = np.flatnonzero(loudness > _QUIET * np.quantile(loudness, 0.95)) if len(loudness) else np.zeros(0, np.int64)
    if not len(loud):
        return []
    gaps = np.flatnonzero(np.diff(loud) * _MOMENT > pause)
    starts, ends = loud[np.append(0, gaps + 1)], loud[np.append(gaps, len(loud) - 1)] + 1
    margin, most = round(_MARGIN / _MOMENT), max(1, int(longest / _MOMENT))
    found: list[tuple[int, int]] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        found += _cut(loudness, max(0, start - margin), min(len(loudness), end + margin), most)
    return [(start * moment, min(len(samples), end * moment)) for start, end in found]


def _loudness(samples: Samples, moment: int) -> Samples:
    """The root mean square of each moment."""
    whole = np.pad(samples, (0, -len(samples) % moment)).reshape(-1, moment)
    loudness: Samples = np.sqrt(np.square(whole).mean(axis=1))
    return loudness


def _cut(loudness: Samples, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Parts of at most so many moments, cut at the quietest one of the second half."""
    while end - start > most:
        middle = start + most // 2
        cut = middle + int(np.argmin(loudness[middle : start + most])) if most > 1 else start + 1
        yield start, max(cut, start + 1)
        start = max(cut, start + 1)
    yield start, end


# --- times ----------------------------------------------------------------------------------------------------------


def passage_of(prediction: Prediction, source: str, start: float, end: float) -> Passage:
    """What a model wrote for a piece of a recording from `start` to `end` seconds."""
    text = prediction.text.strip()
    moments = _moments(prediction, source)
    spans = output_spans(prediction.text, prediction.tokens)
    if moments is None or spans is None:
        return Passage(text, start, end)
    heard: dict[tuple[int, int], list[float]] = {}
    for span, moment in zip(spans, moments, strict=False):
        if word := _word_at(prediction.text, span):
            heard.setdefault(word, []).append(moment)
    begins = np.maximum.accumulate([min(found) for found in heard.values()]) if heard else np.zeros(0)
    times = np.clip(start + np.asarray(begins), start, end)
    ends = np.append(times[1:], end)
    words = tuple(
        Word(prediction.text[slice(*word)], float(one), float(other))
        for word, one, other in zip(heard, times, ends, strict=True)
    )
    return Passage(text, start, end, words)


def heard_words(prediction: Prediction) -> tuple[Word, ...]:
    """The words of an output with their times, by its first source that is heard; nothing if there is none."""
    for name, alignment in prediction.alignment.items():
        if isinstance(alignment.layout, Frames) and (seconds := alignment.layout.position_seconds):
            return passage_of(prediction, name, 0.0, seconds * alignment.weights.shape[-1]).words
    return ()


def _moments(prediction: Prediction, source: str) -> Sequence[float] | None:
    """When each symbol was heard, in seconds: where attention is largest. None if it lies over nothing in time."""
    alignment = prediction.alignment.get(source)
    if alignment is None or not isinstance(alignment.layout, Frames) or not alignment.layout.position_seconds:
        return None
    moments: list[float] = (alignment.mean.argmax(axis=-1) * alignment.layout.position_seconds).tolist()
    return moments


def _word_at(text: str, span: tuple[int, int]) -> tuple[int, int] | None:
    """The word in which a span lies; None for a span of spaces."""
    start, end = span
    if not text[start:end].strip():
        return None
    start += len(text[start:end]) - len(text[start:end].lstrip())
    before = text[: start + 1].rsplit(maxsplit=1)[-1]
    first = start + 1 - len(before)
    return first, first + len(text[first:].split(maxsplit=1)[0])


# --- forms ----------------------------------------------------------------------------------------------------------


def as_text(found: Sequence[Passage], form: Form, name: str) -> str:
    """All that was said, as plain lines, subtitles or JSON."""
    import json

    match form:
        case "txt":
            return "".join(f"{one.text}\n" for one in found)
        case "srt":
            blocks = [f"{number}\n{_from_to(one, ',')}\n{one.text}\n" for number, one in enumerate(found, start=1)]
            return "\n".join(blocks)
        case "vtt":
            return "WEBVTT\n" + "".join(f"\n{_from_to(one, '.')}\n{_timed(one)}\n" for one in found)
        case "json":
            return json.dumps({"file": name, "passages": [one.as_json() for one in found]}, ensure_ascii=False) + "\n"


def _from_to(passage: Passage, mark: str) -> str:
    return f"{_clock(passage.start, mark)} --> {_clock(passage.end, mark)}"


def _timed(passage: Passage) -> str:
    """The words of a passage, each after the first with its time, as WebVTT has it."""
    if not passage.words:
        return passage.text
    first, *others = passage.words
    return " ".join([first.text, *(f"<{_clock(word.start, '.')}>{word.text}" for word in others)])


def _clock(seconds: float, mark: str) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02d}:{whole // 60_000 % 60:02d}:{whole // 1000 % 60:02d}{mark}{whole % 1000:03d}"
