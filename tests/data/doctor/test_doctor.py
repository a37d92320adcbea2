"""The data doctor: it finds what is wrong, finds nothing in good data, and never gives up."""

import gzip
import json
import random
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqloom.data.doctor.examination import Diagnosis, Finding, examine
from seqloom.data.reading.endings import Format
from seqloom.data.reading.formats import read_examples
from seqloom.errors import DataError, UsageError
from seqloom.recipe.sections import Aligned, Columns

Write = Callable[[str, str | bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def numbers(first: int, last: int) -> list[str]:
    """Give good pairs, all different, of the same few characters."""
    return [f"number {number:05}\tNummer {number:05}" for number in range(first, last)]


def table(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


GOOD = table(numbers(0, 200))


def finding(diagnosis: Diagnosis, code: str) -> Finding:
    found = [one for one in diagnosis.findings if one.code == code]
    assert len(found) == 1, f"{code} among {diagnosis.findings}"
    return found[0]


def codes(diagnosis: Diagnosis) -> dict[str, str]:
    return {one.code: one.severity for one in diagnosis.findings}


def test_good_data_gives_no_finding(write: Write) -> None:
    splits = {
        "train": write("train.tsv", GOOD),
        "validation": write("validation.tsv", table(numbers(200, 300))),
        "test": write("test.tsv", table(numbers(300, 400))),
    }
    diagnosis = examine(splits)
    assert diagnosis.findings == ()
    assert not diagnosis.unwise
    assert {name: summary.pairs for name, summary in diagnosis.splits.items()} == {"train": 200, "validation": 100, "test": 100}


def test_lengths_are_summarised_in_characters_and_words(write: Write) -> None:
    lines = [f"{'x' * length}\t{'ab ' * length}c" for length in range(1, 101)]
    summary = examine({"train": write("a.tsv", table(lines))}).splits["train"]
    source, target = summary.characters["source"], summary.words["target"]
    assert (source.median, source.percentile_95, source.maximum) == pytest.approx((50.5, 95.05, 100), abs=0.06)
    assert (target.median, target.maximum) == (51.5, 101)


# --- what stops a training ------------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[str, str | bytes, str]] = {
    "bad-utf8": ("a.tsv", GOOD.encode() + b"caf\xe9\tx\n", "a.tsv:201: expected UTF-8, found the byte 0xe9 at byte 4"),
    "nul-character": ("a.tsv", GOOD + "a\0\tb\n", "a.tsv:201: expected text, found a NUL character"),
    "over-long-line": ("a.tsv", GOOD + "a" * 1_000_001 + "\tb\n", "a.tsv:201: expected a line of at most 1,000,000 bytes"),
    "wrong-columns": ("a.tsv", GOOD + "a\tb\tc\n", "a.tsv:201: expected 2 columns"),
    "empty-side": ("a.tsv", GOOD + "a\t\n", "a.tsv:201: expected text in the target"),
    "blank-line": ("a.tsv", "\n" + GOOD, "a.tsv:1: expected an example, found a blank line"),
    "malformed-record": ("a.jsonl", '{"source": "a"\n', "a.jsonl:1: expected one JSON object"),
    "missing-column": ("a.jsonl", '{"source": "a"}\n', "a.jsonl:1: expected the key 'target'"),
    "not-text": ("a.jsonl", '{"source": "a", "target": [1]}\n', "a.jsonl:1: expected a string for 'target', found a list"),
    "damaged-file": ("a.tsv.gz", gzip.compress(GOOD.encode())[:-9], "a.tsv.gz: expected a whole file"),
}


@pytest.mark.parametrize("code", ERRORS)
def test_what_reading_refuses_is_an_error_with_its_place(write: Write, code: str) -> None:
    name, content, example = ERRORS[code]
    diagnosis = examine({"train": write(name, content)})
    found = finding(diagnosis, code)
    assert (found.severity, found.count) == ("error", 1)
    assert example in found.examples[0]
    assert diagnosis.unwise


def test_the_doctor_reads_on_after_a_problem_and_counts_them_all(write: Write) -> None:
    diagnosis = examine({"train": write("a.tsv", b"\xff\n" * 10 + GOOD.encode() + b"a\n" * 7)})
    assert finding(diagnosis, "bad-utf8").count == 10
    assert finding(diagnosis, "wrong-columns").count == 7
    assert len(finding(diagnosis, "bad-utf8").examples) == 5
    assert diagnosis.splits["train"].pairs == 200


def test_blank_lines_beside_a_bad_line_are_told_apart(write: Write) -> None:
    diagnosis = examine({"train": write("a.tsv", b"\n\n\xff\n\na\tb\n\n")})
    assert [example.split(": ")[0].rsplit(":")[1] for example in finding(diagnosis, "blank-line").examples] == ["1", "2", "4"]


def test_unequal_aligned_files_are_an_error_and_paired_as_far_as_they_go(write: Write) -> None:
    files = Aligned(source=write("a", "1\n2\n3\n"), target=write("b", "1\n2\n"))
    diagnosis = examine({"train": files})
    assert "found 3 here and 2 there" in finding(diagnosis, "unequal-lines").examples[0]
    assert diagnosis.splits["train"].pairs == 2


def test_a_bad_line_does_not_shift_aligned_files(write: Write) -> None:
    files = Aligned(source=write("a", b"1\n\xff\n3\n"), target=write("b", "1\n2\n3\n"))
    diagnosis = examine({"train": files})
    assert "unequal-lines" not in codes(diagnosis)
    assert finding(diagnosis, "copies").count == 2


def test_bad_weights_are_an_error(write: Write) -> None:
    diagnosis = examine({"train": write("a.tsv", "a\tb\tmuch\n")}, columns=Columns(weight=3))
    assert finding(diagnosis, "bad-weight").severity == "error"


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl"])
def test_a_split_without_pairs_is_an_error(write: Write, name: str) -> None:
    assert codes(examine({"train": write(name, "")})) == {"no-pairs": "error"}


def test_few_pairs_are_a_warning_for_training_and_a_note_for_others(write: Write) -> None:
    diagnosis = examine({"train": write("a.tsv", table(numbers(0, 99))), "test": write("b.tsv", table(numbers(100, 110)))})
    assert [(one.code, one.severity, one.count) for one in diagnosis.findings] == [
        ("few-pairs", "warning", 99),
        ("few-pairs", "note", 10),
    ]
    assert not diagnosis.unwise


def test_a_file_that_is_not_there_raises(tmp_path: Path, write: Write) -> None:
    with pytest.raises(DataError, match="found nothing there"):
        examine({"train": write("a.tsv", GOOD), "test": str(tmp_path / "none.tsv")})
    with pytest.raises(UsageError, match="does not tell the format"):
        examine({"train": write("a.dat", GOOD)})


# --- what is worth a look -------------------------------------------------------------------------------------------

UNTIDY = {
    "control-characters": ("warning", "a\x07b\tc", "'a\\x07b' in the source"),
    "replacement-characters": ("warning", "a\tcaf\ufffd", "'caf\ufffd' in the target"),
    "html-entities": ("warning", "salt &amp; pepper\tb", "'salt &amp; pepper' in the source"),
    "untidy-spaces": ("note", "a\tb  c", "'b  c' in the target"),
}


@pytest.mark.parametrize("code", UNTIDY)
def test_untidy_text_is_found_with_its_place(write: Write, code: str) -> None:
    severity, line, example = UNTIDY[code]
    file = write("a.tsv", table([*numbers(0, 150), line]))
    found = finding(examine({"train": file}), code)
    assert (found.severity, found.count, found.examples) == (severity, 1, (f"{file}:151: {example}",))


@pytest.mark.parametrize("line", [" a\tb", "a \tb", "a\t\u00a0b", "a\tb\u3000"])
def test_spaces_at_the_ends_are_found(write: Write, line: str) -> None:
    assert finding(examine({"train": write("a.tsv", GOOD + line + "\n")}), "untidy-spaces").count == 1


def test_joiners_of_indic_and_persian_text_are_no_control_characters(write: Write) -> None:
    assert codes(examine({"train": write("a.tsv", GOOD + "क्\u200dष\tمی\u200cشود\n")})) == {}


def test_two_spellings_of_a_letter_are_found_side_by_side(write: Write) -> None:
    composed, decomposed = "caf\u00e9", unicodedata.normalize("NFD", "th\u00e9")
    file = write("a.tsv", GOOD + f"{composed}\tx\n{decomposed}\ty\n")
    found = finding(examine({"train": file}), "mixed-normal-forms")
    assert (found.severity, found.count) == ("warning", 1)
    assert found.examples[0].startswith(f"{file}:202: ")
    assert found.message.startswith("source texts")


def test_forms_that_differ_between_the_sides_are_not_mixed(write: Write) -> None:
    decomposed = unicodedata.normalize("NFD", "caf\u00e9")
    diagnosis = examine({"train": write("a.tsv", GOOD + f"{decomposed}\tcaf\u00e9\n")})
    assert codes(diagnosis) == {"not-nfc": "note"}


def test_characters_that_training_lacks_are_found_in_other_splits(write: Write) -> None:
    test = write("b.tsv", table([*numbers(200, 300), "number Ž\tNummer Z"]))
    diagnosis = examine({"test": test, "train": write("a.tsv", GOOD)})
    source, target = (one for one in diagnosis.findings if one.code == "unseen-characters")
    assert source.examples == (f"{test}:101: U+017D LATIN CAPITAL LETTER Z WITH CARON",)
    assert "target of test" in target.message
    assert list(diagnosis.splits) == ["test", "train"]


def test_tags_that_training_lacks_are_found_in_other_splits(write: Write) -> None:
    columns = Columns(source=1, features=(2,), target=3, separator=";")
    train = write("a.tsv", table([f"{one}\tV;PST\t{one}" for one in "abcdefgh"]))
    test = write("b.tsv", table(["a\tV;FUT\ta", "b\tN;FUT\tb"]))
    diagnosis = examine({"train": train, "test": test}, columns=columns)
    (found,) = (one for one in diagnosis.findings if one.code == "unseen-features")
    assert (found.severity, found.examples) == ("warning", (f"{test}:1: 'FUT'", f"{test}:2: 'N'"))


def test_classes_that_training_lacks_are_found_where_targets_are_classes(write: Write) -> None:
    train = write("a.tsv", table([f"text {one}\t{('yes', 'no')[one % 2]}" for one in range(120)]))
    test = write("b.tsv", table(["one\tyes", "two\tperhaps", "three\tperhaps"]))
    found = finding(examine({"train": train, "test": test}, classes=True), "unseen-classes")
    assert (found.severity, found.count, found.examples) == ("warning", 1, (f"{test}:2: 'perhaps'",))
    assert "unseen-classes" not in codes(examine({"train": train, "test": test}))


def test_repeated_pairs_are_found_with_the_first(write: Write) -> None:
    file = write("a.tsv", GOOD + "number 00003\tNummer 00003\n")
    found = finding(examine({"train": file}), "duplicate-pairs")
    assert (found.severity, found.count) == ("note", 1)
    assert found.examples == (f"{file}:201: the same pair as {file}:4",)


def test_many_repeated_pairs_are_a_warning(write: Write) -> None:
    found = finding(examine({"train": write("a.tsv", GOOD * 2)}), "duplicate-pairs")
    assert (found.severity, found.count) == ("warning", 200)
    assert "50.0 % of train" in found.message


def test_sources_with_several_targets_are_noted(write: Write) -> None:
    file = write("a.tsv", GOOD + "number 00003\tdrei\nnumber 00003\tDrei\n")
    found = finding(examine({"train": file}), "several-targets")
    assert (found.severity, found.count) == ("note", 1)
    assert found.examples[0] == f"{file}:201: the same source as {file}:4 with another target"


def test_a_feature_makes_another_source(write: Write) -> None:
    lines = [*(f"{line}\t" for line in numbers(0, 100)), "number 00003\tnumero 0003\tit", "number 00003\tNummer 00003\tde"]
    diagnosis = examine({"train": write("a.tsv", table(lines))}, columns=Columns(features=(3,)))
    assert "several-targets" not in codes(diagnosis)
    assert "duplicate-pairs" not in codes(diagnosis)


def test_origins_are_right_across_files(write: Write) -> None:
    first, second = write("a.tsv", table(numbers(0, 5000))), write("b.tsv", table([*numbers(5000, 5010), *numbers(7, 8)]))
    found = finding(examine({"train": (first, second)}), "duplicate-pairs")
    assert found.examples == (f"{second}:11: the same pair as {first}:8",)


@pytest.mark.parametrize(("shared", "severity"), [(0, None), (1, "note"), (5, "warning"), (50, "error")])
def test_pairs_that_a_test_shares_with_training_weigh_by_their_share(write: Write, shared: int, severity: str | None) -> None:
    test = table([*numbers(0, shared), *numbers(1000, 1200 - shared)])
    diagnosis = examine({"train": write("a.tsv", GOOD), "test": write("b.tsv", test)})
    assert codes(diagnosis).get("split-overlap") == severity
    assert diagnosis.unwise == (severity == "error")


def test_shared_sources_with_other_targets_are_only_a_warning(write: Write) -> None:
    test = table([f"number {number:05}\tmumrer {number:05}" for number in range(150)])
    found = finding(examine({"train": write("a.tsv", GOOD), "test": write("b.tsv", test)}), "split-overlap")
    assert (found.severity, found.count) == ("warning", 150)
    assert "0 with the same target" in found.message


def test_what_validation_and_test_share_is_only_a_note(write: Write) -> None:
    other = table(numbers(300, 400))
    splits = {"train": write("a.tsv", GOOD), "validation": write("b.tsv", other), "test": write("c.tsv", other)}
    assert finding(examine(splits), "split-overlap").severity == "note"


def test_sides_that_do_not_fit_in_length_are_found_worst_first(write: Write) -> None:
    draw = random.Random(1)
    lines = []
    for _ in range(500):
        size = draw.randint(20, 60)
        lines.append(f"{'ab' * size}\t{'cd' * round(size * draw.uniform(0.8, 1.3))}")
    file = write("a.tsv", table([*lines, f"{'ab' * 50}\tcd", f"ab\t{'cd' * 240}"]))
    found = finding(examine({"train": file}), "length-ratio")
    assert (found.severity, found.count) == ("warning", 2)
    assert found.examples == (f"{file}:502: 2 characters against 480", f"{file}:501: 100 characters against 2")


def test_short_texts_may_differ_in_length(write: Write) -> None:
    lines = [f"{'a' * (1 + number % 4)}\t{'b' * (1 + number // 4 % 4)}" for number in range(400)]
    assert "length-ratio" not in codes(examine({"train": write("a.tsv", table(lines))}))


def test_pairs_too_long_for_training_are_counted(write: Write) -> None:
    file = write("a.tsv", GOOD + f"{'ab' * 30}\t{'cd' * 30}\n")
    assert finding(examine({"train": file}, maximum_length=50), "long-sides").severity == "note"
    assert finding(examine({"train": file}, maximum_length=10), "long-sides").severity == "warning"
    assert "long-sides" not in codes(examine({"train": file}))


def test_targets_that_repeat_the_source_are_counted(write: Write) -> None:
    found = finding(examine({"train": write("a.tsv", GOOD + "Taxi\tTaxi\n")}), "copies")
    assert (found.severity, found.count) == ("note", 1)
    same = examine({"train": write("b.tsv", GOOD)}, columns=Columns(source=1, target=1))
    assert finding(same, "copies").severity == "warning"


def test_a_header_that_is_read_as_a_pair_is_found(write: Write) -> None:
    file = write("a.tsv", "Source\tTarget\n" + GOOD)
    assert finding(examine({"train": file}), "header-line").examples == (f"{file}:1: 'Source', 'Target'",)
    assert codes(examine({"train": file}, columns=Columns(source="Source", target="Target"))) == {}


def test_byte_order_mark_and_windows_line_ends_are_noted(write: Write) -> None:
    file = write("a.tsv", b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    diagnosis = examine({"train": file})
    assert codes(diagnosis) == {"byte-order-mark": "note", "crlf": "note"}
    assert finding(diagnosis, "crlf").examples == (file,)


# --- what comes out -------------------------------------------------------------------------------------------------


def test_findings_come_gravest_first_as_rows_and_as_json(write: Write) -> None:
    file = write("a.tsv", "a\tb  c\nd\t\n")
    diagnosis = examine({"train": file})
    assert [row[0] for row in diagnosis.rows()] == ["error", "warning", "note"]
    assert next(diagnosis.rows()) == (
        "error",
        "pairs have an empty side",
        1,
        f"{file}:2: expected text in the target, found none. Fill it in or remove the pair.",
    )
    plain = json.loads(json.dumps(diagnosis.as_json()))
    assert plain["unwise"] is True
    assert plain["splits"]["train"]["pairs"] == 1
    assert plain["splits"]["train"]["characters"]["target"] == {"median": 4.0, "percentile_95": 4.0, "maximum": 4}
    assert [one["code"] for one in plain["findings"]] == ["empty-side", "few-pairs", "untidy-spaces"]


FRAGMENTS = [b"a", b"\t", b",", b'"', b"\n", b"\r\n", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", "é".encode(), b'{"source": "a", ']
FRAGMENTS += [b'"target": "b"}', b"a\tb\n", b"a,b\n", b"\xed\xa0\x80", b"\x1f\x8b"]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(b"".join), st.sampled_from(["tsv", "csv", "jsonl"]))
def test_the_doctor_finds_an_error_exactly_when_training_would_refuse(tmp_path: Path, content: bytes, kind: Format) -> None:
    path = tmp_path / "a.data"
    path.write_bytes(content)
    diagnosis = examine({"train": str(path)}, format=kind)
    try:
        readable = len(list(read_examples(str(path), format=kind))) > 0
    except DataError:
        readable = False
    assert diagnosis.unwise != readable
