"""Long recordings: cut at pauses, and words with their times."""

import json

import numpy as np
import numpy.typing as npt
import pytest

from seqloom.prediction.transcription import Passage, Word, as_text, passage_of, passages
from seqloom.results.layouts import Frames
from seqloom.results.predictions import Alignment, Candidate, Prediction

RATE = 1_000


def spoken(*parts: tuple[float, float]) -> npt.NDArray[np.float32]:
    """Noise of so many seconds and so loud, one after the other."""
    random = np.random.default_rng(1)
    return np.concatenate([random.normal(scale=loud, size=round(seconds * RATE)) for seconds, loud in parts]).astype(np.float32)


def test_pauses_part_passages() -> None:
    samples = spoken((0.4, 0.0), (1.0, 0.1), (0.3, 0.001), (1.0, 0.1), (0.8, 0.001), (2.0, 0.1))
    found = [(start / RATE, end / RATE) for start, end in passages(samples, RATE, pause=0.5, longest=30)]
    np.testing.assert_allclose(found, [(0.3, 2.8), (3.4, 5.5)], atol=0.05)


def test_a_long_passage_is_cut_where_it_is_quietest() -> None:
    samples = spoken((3.0, 0.1), (0.1, 0.02), (3.0, 0.1))
    (first, second) = passages(samples, RATE, pause=0.5, longest=4)
    assert first[1] == second[0]
    assert 3.0 <= first[1] / RATE <= 3.1
    assert all(end - start <= 4 * RATE for start, end in passages(spoken((50.0, 0.1)), RATE, pause=0.5, longest=4))


@pytest.mark.parametrize("samples", [np.zeros(0, np.float32), np.zeros(5_000, np.float32)])
def test_silence_has_no_passages(samples: npt.NDArray[np.float32]) -> None:
    assert passages(samples, RATE, pause=0.5, longest=4) == []


def prediction(text: str, tokens: tuple[str, ...], places: tuple[int, ...]) -> Prediction:
    weights = np.zeros((1, len(tokens), 20), np.float32)
    weights[0, np.arange(len(tokens)), places] = 1.0
    alignment = Alignment(weights, ("",) * 20, ((0, 0),) * 20, Frames(4, 0.01))
    best = Candidate(text, tokens, 0.0, 0.0, (0.0,) * len(tokens), {"sound": alignment})
    return Prediction({"sound": "clip"}, best)


def test_words_begin_where_their_first_symbol_was_heard() -> None:
    found = passage_of(prediction("bin blue", ("b", "in", " ", "bl", "ue", "<end>"), (2, 3, 4, 10, 11, 19)), "sound", 5.0, 6.0)
    assert [(word.text, round(word.start, 2), round(word.end, 2)) for word in found.words] == [
        ("bin", 5.08, 5.4),
        ("blue", 5.4, 6.0),
    ]


def test_subtitles_say_when() -> None:
    found = [Passage("bin blue", 0.5, 1.25, (Word("bin", 0.5, 1.0), Word("blue", 1.0, 1.25))), Passage("now", 3661.0, 3662.0)]
    assert as_text(found, "txt", "a.wav") == "bin blue\nnow\n"
    assert as_text(found, "srt", "a.wav") == (
        "1\n00:00:00,500 --> 00:00:01,250\nbin blue\n\n2\n01:01:01,000 --> 01:01:02,000\nnow\n"
    )
    assert as_text(found, "vtt", "a.wav").splitlines()[:4] == [
        "WEBVTT",
        "",
        "00:00:00.500 --> 00:00:01.250",
        "bin <00:00:01.000>blue",
    ]
    assert json.loads(as_text(found, "json", "a.wav"))["passages"][0]["words"][1] == {"text": "blue", "start": 1.0, "end": 1.25}
