"""What the data doctor says of questions about texts."""

from pathlib import Path

from seqloom.data.doctor.answer_checks import answer_checks
from seqloom.data.doctor.checks import Finding
from seqloom.data.doctor.examination import examine
from seqloom.recipe.sections import Columns, TextSource

SOURCES = {"question": TextSource(column=2), "text": TextSource(column=1)}


def findings(folder: Path, **splits: list[str]) -> dict[str, Finding]:
    for name, lines in splits.items():
        (folder / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    files = {name: str(folder / f"{name}.tsv") for name in splits}
    found = examine(files, columns=Columns(source=None, target=3), sources=SOURCES, further=answer_checks("text", "text"))
    return {finding.code: finding for finding in found.findings}


def test_a_text_that_two_splits_share_is_told_of_though_other_things_are_asked(tmp_path: Path) -> None:
    found = findings(
        tmp_path, train=["Ann won .\twho ?\tann"], test=["Ann won .\twhat did she ?\twon", "It rains .\twhat ?\tit"]
    )
    assert found["shared-texts"].severity == "warning"
    assert found["shared-texts"].count == 1
    assert "(50.0 % of what is called text)" in found["shared-texts"].message
    assert found["shared-texts"].examples[0].endswith(f"the same text as {tmp_path / 'train.tsv'}:1, which is in train")


def test_several_questions_about_a_text_of_one_split_are_right(tmp_path: Path) -> None:
    assert "shared-texts" not in findings(
        tmp_path, train=["Ann won .\twho ?\tann", "Ann won .\twhat ?\twon"], test=["It .\ta ?\tit"]
    )


def test_answers_without_a_word_of_their_text_are_counted(tmp_path: Path) -> None:
    found = findings(tmp_path, train=["Ann won .\twho ?\tann", "Ann won .\twhy ?\tluck", "安が勝った\t誰？\t安"])
    assert (found["not-in-text"].count, found["not-in-text"].severity) == (1, "note")
    assert found["not-in-text"].examples == (f"{tmp_path / 'train.tsv'}:2: 'luck'",)
