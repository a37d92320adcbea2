"""The data doctor on pictures: it finds what training would refuse, what is too small, and what splits share."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seqloom.data.doctor.checks import Chunk, Finding
from seqloom.data.doctor.examination import examine
from seqloom.data.doctor.file_checks import NamedFiles
from seqloom.data.examples import Example, Origin
from seqloom.data.kinds.image import ImageKind
from seqloom.recipe.sections import ImageSource


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twenty pictures that differ, and what can be wrong with one."""
    for number in range(20):
        Image.fromarray(np.full((40, 60, 3), number * 10, dtype=np.uint8)).save(tmp_path / f"{number}.png")
    Image.new("RGB", (9, 90)).save(tmp_path / "narrow.png")
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (60, 40)).save(tmp_path / "turned.jpg", exif=turned)
    (tmp_path / "page.jpg").write_text("<html>not found</html>")
    (tmp_path / "half.png").write_bytes((tmp_path / "3.png").read_bytes()[:80])
    (tmp_path / "copy.png").write_bytes((tmp_path / "3.png").read_bytes())
    return tmp_path


def pictures(folder: Path, *, height: int = 32, width: int = 32) -> NamedFiles:
    return NamedFiles(ImageKind(ImageSource(root=str(folder), size=(height, width))), "source", sized=True)


def chunk(split: str, *pairs: tuple[str, str]) -> Chunk:
    return Chunk.of(
        split, [Example({"source": name}, target, Origin(split, line + 1)) for line, (name, target) in enumerate(pairs)]
    )


def numbered(numbers: Sequence[int], target: str = "grey") -> list[tuple[str, str]]:
    return [(f"{number}.png", target) for number in numbers]


def found(check: NamedFiles, *chunks: Chunk) -> dict[str, Finding]:
    for one in chunks:
        check.see(one)
    return {finding.code: finding for finding in check.findings()}


def test_good_pictures_give_no_finding(folder: Path) -> None:
    assert not found(pictures(folder), chunk("train", *numbered(range(10))), chunk("test", *numbered(range(10, 20))))


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("none.png", "missing-picture", "train:2: expected a file '"),
        (
            "page.jpg",
            "not-a-picture",
            "train:2: page.jpg: expected a picture (JPEG, PNG, WebP, GIF, BMP or TIFF), found a file that",
        ),
        ("half.png", "truncated-picture", "train:2: half.png: expected a whole picture, found one that breaks off."),
    ],
)
def test_what_training_would_refuse_is_an_error_with_its_place(folder: Path, name: str, code: str, text: str) -> None:
    findings = found(pictures(folder), chunk("train", ("0.png", "a"), (name, "b"), (name, "c")))
    assert list(findings) == [code]
    assert (findings[code].severity, findings[code].count) == ("error", 1)
    assert findings[code].examples[0].startswith(text)


def test_small_pictures_weigh_by_their_share(folder: Path) -> None:
    few = found(pictures(folder, height=20, width=20), chunk("train", *numbered(range(20)), ("narrow.png", "a")))
    assert (few["small-pictures"].severity, few["small-pictures"].count) == ("note", 1)
    assert few["small-pictures"].examples == ("train:21: narrow.png: 9 x 90",)
    assert found(pictures(folder, height=50), chunk("train", *numbered(range(20))))["small-pictures"].severity == "warning"


def test_a_picture_is_as_wide_as_it_is_shown(folder: Path) -> None:
    findings = found(pictures(folder, height=60, width=60), chunk("train", ("turned.jpg", "a")))
    assert findings["small-pictures"].examples == ("train:1: turned.jpg: 40 x 60",)


def test_copies_within_a_split_are_counted_once_for_each_name(folder: Path) -> None:
    findings = found(
        pictures(folder), chunk("train", *numbered(range(20)), ("copy.png", "a"), ("copy.png", "b"), ("3.png", "c"))
    )
    assert (findings["duplicate-pictures"].severity, findings["duplicate-pictures"].count) == ("note", 1)
    assert findings["duplicate-pictures"].examples == ("train:21: copy.png: the same picture as 3.png (train:4)",)


def test_a_copy_in_another_split_is_found_whatever_its_name(folder: Path) -> None:
    train, test = chunk("train", *numbered(range(10))), chunk("test", *numbered(range(10, 18)), ("copy.png", "other"))
    shared = found(pictures(folder), train, test)["shared-pictures"]
    assert (shared.severity, shared.count) == ("warning", 1)
    assert "pictures of test (11.1 %) are in train too, 0 times with the same target" in shared.message
    assert shared.examples == ("test:9: copy.png: the same picture as 3.png (train:4)",)


@pytest.mark.parametrize(("target", "severity"), [("grey", "error"), ("dark", "warning")])
def test_whole_pairs_that_training_has_spoil_a_test(folder: Path, target: str, severity: str) -> None:
    train, test = chunk("train", *numbered(range(10))), chunk("test", *numbered(range(8, 12), target))
    assert found(pictures(folder), train, test)["shared-pictures"].severity == severity


def test_what_validation_and_test_share_is_only_a_note(folder: Path) -> None:
    chunks = [chunk(split, *numbered([5, 6])) for split in ("validation", "test")]
    assert found(pictures(folder), *chunks)["shared-pictures"].severity == "note"


def test_another_question_about_a_picture_is_another_pair(folder: Path) -> None:
    def asked(split: str, question: str) -> Chunk:
        example = Example({"source": "5.png", "question": question}, "grey", Origin(split, 1))
        return Chunk.of(split, [example])

    assert found(pictures(folder), asked("train", "what?"), asked("test", "how?"))["shared-pictures"].severity == "warning"
    assert found(pictures(folder), asked("train", "what?"), asked("test", "what?"))["shared-pictures"].severity == "error"


def test_the_doctor_reports_pictures_among_its_findings(folder: Path) -> None:
    table = folder / "train.tsv"
    table.write_text("".join(f"{name}\t{target}\n" for name, target in [*numbered(range(20)), ("page.jpg", "grey")]))
    diagnosis = examine({"train": str(table)}, further=[pictures(folder)])
    assert diagnosis.findings[0].code == "not-a-picture"
    assert diagnosis.findings[0].examples[0].startswith(f"{table}:21: page.jpg: ")
    assert diagnosis.unwise
