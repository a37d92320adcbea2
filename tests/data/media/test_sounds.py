"""Recordings: what is decoded, what is refused, and the rows that become of samples."""

import io
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from seqloom.data.media.files import Media
from seqloom.data.media.sounds import LONGEST_SOUND, SoundProblem, SoundRows, check_header, samples_of, sound_facts
from seqloom.data.media.spectra import Spectra, mel_filters
from seqloom.recipe.sections import SoundSource

RATE = 16_000


def tone(hertz: float, seconds: float, rate: int = RATE) -> npt.NDArray[np.float32]:
    return (0.3 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def encoded(samples: npt.NDArray[Any], rate: int = RATE, format: str = "WAV", subtype: str | None = None) -> bytes:
    stream = io.BytesIO()
    soundfile.write(stream, samples, rate, format=format, subtype=subtype)
    return stream.getvalue()


def media(content: bytes) -> Media:
    return Media("clip", "clip", len(content), 0, lambda: content)


def refusal(content: bytes) -> SoundProblem:
    with pytest.raises(SoundProblem) as caught:
        samples_of(media(content), RATE)
    assert str(caught.value).startswith("clip: ")
    return caught.value


@pytest.mark.parametrize(("format", "subtype"), [("WAV", None), ("WAV", "FLOAT"), ("FLAC", None), ("OGG", None), ("MP3", None)])
def test_all_kinds_of_files_say_the_same(format: str, subtype: str | None) -> None:
    heard = samples_of(media(encoded(tone(440, 0.5), format=format, subtype=subtype)), RATE)
    assert heard.dtype == np.float32
    assert len(heard) == RATE // 2
    assert np.argmax(np.abs(np.fft.rfft(heard))) == 220  # of half a second, every second Hertz


def test_other_rates_are_resampled_and_channels_mixed() -> None:
    rate = 192_000
    silent = np.zeros(rate // 4, np.float32)
    channels = np.stack([tone(440, 0.25, rate), *[silent] * 7], axis=1)
    content = encoded(channels, rate)
    facts = sound_facts(media(content))
    assert (facts.rate, facts.channels, facts.seconds) == (rate, 8, 0.25)
    heard = samples_of(media(content), RATE)
    assert len(heard) == RATE // 4
    assert np.abs(heard[1000:-1000]).max() == pytest.approx(0.3 / 8, rel=0.01)


def test_the_sound_of_a_video_file_is_heard() -> None:
    av = pytest.importorskip("av")
    stream = io.BytesIO()
    with av.open(stream, "w", format="matroska") as container:
        track = container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray((tone(440, 0.5) * 32767).astype(np.int16)[None], format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, 0
        for packet in (*track.encode(frame), *track.encode(None)):
            container.mux(packet)
    heard = samples_of(media(stream.getvalue()), RATE)
    assert len(heard) == RATE // 2
    assert np.argmax(np.abs(np.fft.rfft(heard))) == 220


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"this is no sound at all", "not-a-sound"),
        (b"#EXTM3U\nfile:///etc/passwd\n", "not-a-sound"),
        (b"", "empty-sound"),
        (encoded(tone(440, 0)), "empty-sound"),
        (encoded(tone(440, 1))[:-9000], "truncated-sound"),
        (encoded(tone(440, 1))[:20], "truncated-sound"),
        (encoded(tone(440, 1), format="FLAC")[:-2000], "truncated-sound"),
        (encoded(tone(440, 1), format="OGG", subtype="OPUS")[:-200], "truncated-sound"),
        (encoded(tone(440, 1), format="MP3")[:-500], "truncated-sound"),
        (encoded(tone(440, 1), format="AU"), "not-a-sound"),
    ],
)
def test_what_is_no_whole_sound_is_refused(content: bytes, code: str) -> None:
    assert refusal(content).code == code


def test_a_header_that_promises_more_than_there_is_is_found_without_decoding() -> None:
    whole = bytearray(encoded(tone(440, 1)))
    place = whole.index(b"data") + 4
    whole[place : place + 4] = (10 * 2 * RATE).to_bytes(4, "little")
    found = check_header(media(bytes(whole)))
    assert found == ("clip: expected 10.00 seconds of sound, as its header says, found 1.00. Copy or download it again")


def test_a_header_of_unknown_length_is_no_lie() -> None:
    streamed = bytearray(encoded(tone(440, 1)))
    place = streamed.index(b"data") + 4
    streamed[place : place + 4] = b"\xff\xff\xff\xff"
    assert len(samples_of(media(bytes(streamed)), RATE)) == RATE


def test_a_sound_of_hours_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    content = encoded(np.zeros(1000 * (LONGEST_SOUND + 60), np.int16), 1000, "FLAC")
    monkeypatch.setattr(soundfile.SoundFile, "read", lambda *_, **__: pytest.fail("it was decoded"))
    found = refusal(content)
    assert found.code == "enormous-sound"
    assert "at most 2 hours, found 2.02 hours" in str(found)


def test_samples_that_are_no_numbers_are_refused() -> None:
    samples = tone(440, 1)
    samples[RATE // 2] = np.nan
    assert "NaN or infinity 0.50 seconds into it" in str(refusal(encoded(samples, subtype="FLOAT")))


# --- rows -----------------------------------------------------------------------------------------------------------


def test_a_tone_is_loudest_in_its_band() -> None:
    spectra = Spectra.of(SoundSource(bands=40, normalise="none"))
    rows = spectra.rows(tone(1000, 1.0))
    assert rows.shape == (spectra.length(RATE), 40) == (98, 40)
    filters = mel_filters(RATE, 512, 40)
    assert (rows.argmax(axis=1) == filters[round(1000 / (RATE / 512))].argmax()).all()


def test_energies_are_those_of_the_definition() -> None:
    spectra = Spectra(8_000, 200, 80, 20, None, "none")
    samples = np.random.default_rng(1).normal(size=500).astype(np.float32)
    sharp = np.concatenate([samples[:1] * 0.03, samples[1:] - 0.97 * samples[:-1]]).astype(np.float64)
    window = sharp[160:360] * np.hanning(202)[1:-1]
    frequencies = np.exp(-2j * np.pi * np.outer(np.arange(129), np.arange(200)) / 256) @ window
    expected = np.log(np.abs(frequencies) ** 2 @ mel_filters(8_000, 256, 20))
    np.testing.assert_allclose(spectra.rows(samples)[2], expected, rtol=1e-3)


def test_loudness_does_not_matter_once_rows_are_normalised() -> None:
    random = np.random.default_rng(1).normal(size=RATE).astype(np.float32)
    spectra = Spectra.of(SoundSource())
    rows = spectra.rows(0.1 * random)
    np.testing.assert_allclose(rows, spectra.rows(0.01 * random), atol=1e-3)
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-4)
    assert np.isfinite(spectra.rows(np.zeros(100, np.float32))).all()


def test_bands_normalised_together_keep_how_much_each_of_them_varies() -> None:
    samples = np.random.default_rng(1).normal(scale=0.01, size=RATE).astype(np.float32)
    samples[RATE // 2 :] += tone(1000, 0.5)
    plain, together, alone = (
        Spectra.of(SoundSource(normalise=how)).rows(samples).std(axis=0) for how in ("none", "together", "recording")
    )
    np.testing.assert_allclose(together / together[0], plain / plain[0], rtol=1e-3)
    assert np.sqrt(np.square(together).mean()) == pytest.approx(1.0, rel=1e-2)
    assert not np.allclose(alone, together, rtol=0.1)


def test_coefficients_are_fewer_than_bands() -> None:
    frontend = SoundRows(Spectra.of(SoundSource(features="mfcc")))
    (rows,) = frontend.arrays([media(encoded(tone(440, 0.5)))])
    assert (rows.shape, frontend.row) == ((48, 13), (13,))
    assert rows.dtype == np.float16
    assert frontend.key != SoundRows(Spectra.of(SoundSource())).key
