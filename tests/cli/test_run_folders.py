"""Every command that takes a run refuses what is not one, with exit code 4, before it does anything else."""

from pathlib import Path

import pytest

from cli.conftest import Seqloom

COMMANDS = [
    ["predict", "RUN"],
    ["evaluate", "RUN"],
    ["score", "RUN"],
    ["explain", "RUN", "abc"],
    ["report", "RUN"],
    ["compare", "RUN", "RUN"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_missing_or_foreign_folder_is_refused(seqloom: Seqloom, here: Path, command: list[str]) -> None:
    (here / "photos").mkdir()
    (here / "file.txt").write_text("x")
    for place, part in (("nosuch", "found nothing"), ("photos", "not a run folder"), ("file.txt", "found a file")):
        answer = seqloom(*(place if word == "RUN" else word for word in command))
        assert (answer.code, part in answer.err, answer.out) == (4, True, ""), answer.err


@pytest.mark.parametrize("command", COMMANDS[:5], ids=lambda command: command[0])
def test_damaged_weights_are_refused(seqloom: Seqloom, finished: Path, command: list[str]) -> None:
    path = finished / "weights.safetensors"
    content = bytearray(path.read_bytes())
    content[-10] ^= 1
    path.write_bytes(content)
    answer = seqloom(*(finished if word == "RUN" else word for word in command))
    assert (answer.code, "weights.safetensors" in answer.err) == (4, True)


@pytest.mark.parametrize("name", ["run.json", "recipe.yaml", "tokenizers/source.json"])
def test_a_changed_file_is_refused(seqloom: Seqloom, finished: Path, name: str) -> None:
    (finished / name).write_text((finished / name).read_text().replace("1", "2", 1))
    answer = seqloom("predict", finished, given="abc\n")
    assert answer.code == 4
    assert name in answer.err


def test_a_run_without_weights_says_how_to_go_on(seqloom: Seqloom, finished: Path) -> None:
    (finished / "weights.safetensors").unlink()
    answer = seqloom("predict", finished, given="abc\n")
    assert answer.code == 4
    assert f"seqloom train {finished}/recipe.yaml --out {finished}" in answer.err


@pytest.mark.parametrize(
    "command",
    [
        ["explain", "RUN", "abc", "--out", "file.txt/map.html"],
        ["report", "RUN", "--most", "5", "--out", "file.txt/report.html"],
        ["predict", "RUN", "--attention", "file.txt/weights.npz"],
    ],
    ids=lambda command: command[0],
)
def test_what_cannot_be_written_has_exit_code_5(seqloom: Seqloom, tiny_run: Path, here: Path, command: list[str]) -> None:
    (here / "file.txt").write_text("x")
    answer = seqloom(*(tiny_run if word == "RUN" else word for word in command), given="abc\n")
    assert answer.code == 5
    assert "file.txt" in answer.err


def test_an_interruption_has_exit_code_130(seqloom: Seqloom, tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*words: object, **wishes: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("seqloom.prediction.predictor.Predictor.predict", interrupted)
    assert seqloom("predict", tiny_run, given="abc\n").code == 130
