"""Melodies: the same everywhere, their notes when they say, and whether a model listens to them."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from seqloom.data.builtin.tones import NAMES, MelodyRoot, examples, melody, melody_of, time_listening, write_melodies
from seqloom.data.builtin.tones.splits import split_of
from seqloom.data.media.files import MediaError
from seqloom.data.media.sounds import samples_of, sound_facts


def test_a_name_means_one_melody() -> None:
    assert melody_of("tones:12") == melody(12)
    assert melody(12).names == "g5 e4 e5 a4 f4"
    assert len(melody_of("tones:12/20").notes) == 20
    assert all(note.start < note.end for note in melody(12).notes)


@pytest.mark.parametrize("name", ["tones:", "tones:-1", "tones:1/0", "tones:1/999", "tones:１", "scene:1"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(MediaError, match="expected a melody such as 'tones:12'"):
        melody_of(name)


def test_notes_sound_when_they_say_and_as_high_as_they_are() -> None:
    rate, content = 16_000, melody(12)
    samples = content.played(rate)
    assert len(samples) == round(content.seconds * rate)
    for note in content.notes:
        heard = samples[round(note.start * rate) : round(note.end * rate)]
        spectrum = np.abs(np.fft.rfft(heard * np.hanning(len(heard)), 1 << 16))
        peak = np.argmax(spectrum) * rate / (1 << 16)
        order = round(peak / note.hertz)
        assert 1 <= order <= 4
        assert peak / order == pytest.approx(note.hertz, rel=0.02)


def test_a_melody_is_a_file_like_others() -> None:
    media = MelodyRoot().resolve("tones:12")
    assert sound_facts(media).seconds == pytest.approx(melody(12).seconds, abs=1e-3)
    fast, plain = samples_of(media, 8_000, 2.0), samples_of(media, 8_000)
    assert len(fast) == pytest.approx(len(plain) / 2, abs=1)
    assert media.content_hash != MelodyRoot().resolve("tones:13").content_hash


def test_splits_share_nothing() -> None:
    first = {split: next(examples(split)) for split in ("train", "validation", "test")}
    assert {split: split_of(int(one.sources["sound"][6:])) for split, one in first.items()} == {one: one for one in first}
    assert set((first["test"].target or "").split()) <= set(NAMES)


def test_looking_is_judged_by_the_time_of_the_note() -> None:
    content = melody(12)
    seconds, tokens = 0.05, content.names.split()
    places = int(content.seconds / seconds) + 1
    right = np.zeros((len(tokens), places))
    for row, note in zip(right, content.notes, strict=True):
        row[int((note.start + note.end) / 2 / seconds)] = 1.0
    found = time_listening(content, tokens, right, seconds)
    assert (found.words, found.hits) == (len(tokens), len(tokens))
    assert 0 < found.chance < 0.5
    assert time_listening(content, tokens, right[::-1], seconds).hits < len(tokens)
    assert time_listening(content, ["c4"] * len(tokens), right, seconds).words == tokens.count("c4")


def test_a_folder_of_melodies_is_a_table_of_sounds(tmp_path: Path) -> None:
    write_melodies(tmp_path, {"train": 2})
    header, first, _ = (tmp_path / "train.tsv").read_text(encoding="utf-8").splitlines()
    assert header == "sound\tnotes"
    samples, rate = soundfile.read(tmp_path / first.split("\t")[0])
    assert len(samples) / rate == pytest.approx(melody(1_000_000).seconds, abs=1e-3)
