"""`seqloom transcribe` as typed: what it needs, and what it says."""

from pathlib import Path

from cli.conftest import Seqloom


def test_it_needs_a_recording_or_a_microphone(seqloom: Seqloom, here: Path) -> None:
    answer = seqloom("transcribe", "run")
    assert answer.code == 2
    assert "name recordings, or listen with --microphone SECONDS" in answer.err


def test_a_form_that_is_not_known_is_refused(seqloom: Seqloom, here: Path) -> None:
    answer = seqloom("transcribe", "run", "talk.wav", "--format", "doc")
    assert answer.code == 2
    assert "--format: expected one of txt, srt, vtt, json, found 'doc'" in answer.err
