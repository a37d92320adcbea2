"""`seqloom export`, and the commands that take what it writes."""

from pathlib import Path

from .conftest import Seqloom


def test_an_export_is_taken_where_a_run_is(tiny_run: Path, tiny_pairs: Path, tmp_path: Path, seqloom: Seqloom) -> None:
    model = tmp_path / "model"
    answer = seqloom("export", tiny_run, "--out", model)
    assert answer.code == 0
    assert "differ from the run's by at most" in answer.out
    for words in (
        ["predict", "abc", "--json"],
        ["predict", tiny_pairs],
        ["score", tiny_pairs, "--json"],
        ["evaluate", tiny_pairs],
    ):
        command, *rest = words
        ours, theirs = seqloom(command, model, *rest), seqloom(command, tiny_run, *rest)
        assert ours.code == theirs.code == 0
        if "--json" not in rest:
            assert ours.out == theirs.out
    for view in ([], ["--tree"], ["--steps"]):
        page = tmp_path / f"map{len(view)}.html"
        assert seqloom("explain", model, "abc", *view, "--out", page).code == 0
        assert page.is_file()


def test_export_prints_json(tiny_run: Path, tmp_path: Path, seqloom: Seqloom) -> None:
    answer = seqloom("export", tiny_run, "--out", tmp_path / "model", "--precision", "int8", "--json")
    assert answer.objects[0]["precision"] == "int8"
    assert answer.objects[0]["largest_difference"] < 0.3


def test_a_wrong_place_or_run_is_a_sentence(tiny_run: Path, tmp_path: Path, seqloom: Seqloom) -> None:
    assert seqloom("export", tmp_path / "none", "--out", tmp_path / "model").code == 4
    assert not (tmp_path / "model").exists()
    answer = seqloom("export", tiny_run, "--out", tmp_path)
    assert answer.code == 4
    assert "exists already" in answer.err
