"""Reading examples: every format gives the same examples, and every mistake names its place."""

import csv
import gzip
import io
import json
import os
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqloom.data.examples import Example, Origin
from seqloom.data.preparing.splitting import split_of
from seqloom.data.reading import lines
from seqloom.data.reading.formats import read_examples
from seqloom.data.reading.prediction_inputs import read_sources
from seqloom.data.reading.tables import FIRST_TWO
from seqloom.errors import DataError, MissingExtraError, UsageError
from seqloom.recipe.sections import Aligned, Columns, Files, Split

Write = Callable[[str, str | bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return write


def pairs(files: Files, columns: Columns = FIRST_TWO) -> list[tuple[str, str | None]]:
    return [(example.sources["source"], example.target) for example in read_examples(files, columns=columns)]


def refusal(files: Files, columns: Columns = FIRST_TWO) -> str:
    with pytest.raises(DataError) as refused:
        list(read_examples(files, columns=columns))
    return str(refused.value)


# --- what every format gives ----------------------------------------------------------------------------------------

CONTENTS = {
    "a.tsv": "one\teins\ntwo, or so\tzwei\n",
    "a.txt": "one\teins\ntwo, or so\tzwei\n",
    "a.csv": 'one,eins\n"two, or so",zwei\n',
    "a.jsonl": '{"source": "one", "target": "eins"}\n{"target": "zwei", "source": "two, or so", "id": 7}\n',
    "a.ndjson": '{"source": "one", "target": "eins"}\n{"target": "zwei", "source": "two, or so"}',
}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("name", CONTENTS)
def test_every_text_format_gives_the_same_examples(write: Write, name: str, compressed: bool) -> None:
    file = write(name + (".gz" if compressed else ""), CONTENTS[name])
    assert list(read_examples(file)) == [
        Example({"source": "one"}, "eins", Origin(file, 1)),
        Example({"source": "two, or so"}, "zwei", Origin(file, 2)),
    ]


@pytest.mark.parametrize("compressed", [False, True])
def test_aligned_files_are_paired_line_by_line(write: Write, compressed: bool) -> None:
    ending = ".gz" if compressed else ""
    source, target = write(f"a.en{ending}", "one\ntwo\n"), write(f"a.de{ending}", "eins\r\nzwei")
    assert list(read_examples(Aligned(source=source, target=target))) == [
        Example({"source": "one"}, "eins", Origin(source, 1)),
        Example({"source": "two"}, "zwei", Origin(source, 2)),
    ]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("columns", [Columns(source=2, target=3, weight=1, features=(4,)), Columns(source="en", target="de")])
def test_parquet_columns_go_by_name_or_number(tmp_path: Path, columns: Columns, compressed: bool) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": [1, 2.5], "en": ["one", "two"], "de": ["eins", "zwei"], "tag": ["x", None]}), path)
    if compressed:
        (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / "a.parquet.gz"
    examples = list(read_examples(str(path), columns=columns))
    assert [(example.sources["source"], example.target) for example in examples] == [("one", "eins"), ("two", "zwei")]
    assert examples[1].origin == Origin(str(path), 2)
    if columns.weight:
        assert [(example.weight, example.features) for example in examples] == [(1.0, ("x",)), (2.5, ())]


def test_parquet_mistakes_name_the_row_or_the_column(tmp_path: Path, write: Write) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"en": ["one", "two"], "de": ["eins", None]}), file)
    assert refusal(file).startswith(f"{file}:2: expected a string for 'de', found null")
    assert "expected a column 'fr', found 'en', 'de'" in refusal(file, Columns(target="fr"))
    assert "expected a column 'number 3'" in refusal(file, Columns(target=3))
    assert "truncated or corrupt" in refusal(write("b.parquet", b"PAR1 this is not Parquet"))
    pq.write_table(pa.table({"en": ["one"], "d\u00e9": ["eins"]}), file)
    foreign = Path(file).read_bytes().replace("d\u00e9".encode(), b"d\xe5A")  # a name that is no text: no error of Arrow's
    assert "truncated or corrupt" in refusal(write("c.parquet", foreign))


def test_parquet_without_its_library_names_the_extra(write: Write, without_library: Callable[[str], None]) -> None:
    without_library("pyarrow")
    with pytest.raises(MissingExtraError, match=r"install .*\[parquet\]"):
        list(read_examples(write("a.parquet", b"PAR1")))


def test_several_files_follow_each_other_and_count_their_own_lines(write: Write) -> None:
    first, second = write("a.tsv", "a\tb\n"), write("b.csv", "c,d\n")
    assert [str(example.origin) for example in read_examples((first, second))] == [f"{first}:1", f"{second}:1"]


def test_several_aligned_files_are_paired_file_by_file(write: Write) -> None:
    files = Aligned(
        source=(write("1.en", "one\n"), write("2.en", "two\n")), target=(write("1.de", "eins\n"), write("2.de", "zwei\n"))
    )
    assert pairs(files) == [("one", "eins"), ("two", "zwei")]
    with pytest.raises(UsageError, match="2 source and 1 target files"):
        read_examples(files.model_copy(update={"target": files.target[0]}))


def test_columns_may_be_in_any_order_with_others_between(write: Write) -> None:
    assert pairs(write("a.tsv", "eins\tone\t3\nzwei\ttwo\t2\n"), columns=Columns(source=2, target=1)) == [
        ("one", "eins"),
        ("two", "zwei"),
    ]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_a_column_name_makes_the_first_line_a_header(write: Write, name: str) -> None:
    separator = "\t" if name.endswith("tsv") else ","
    content = separator.join(["de", "en"]) + "\n" + separator.join(["eins", "one"]) + "\n"
    examples = list(read_examples(write(name, content), columns=Columns(source="en", target=1)))
    assert [(example.sources["source"], example.target, example.origin.line) for example in examples] == [("one", "eins", 2)]


def test_weights_and_features_are_read_and_an_empty_cell_is_no_feature(write: Write) -> None:
    file = write("a.tsv", "one\teins\t2\tde\tformal\ntwo\tzwei\t0.5\t\tformal\n")
    examples = list(read_examples(file, columns=Columns(weight=3, features=(4, 5))))
    assert [(example.weight, example.features) for example in examples] == [(2.0, ("de", "formal")), (0.5, ("formal",))]


def test_json_features_may_be_a_list_a_string_or_absent(write: Write) -> None:
    records = [
        {"source": "a", "target": "b", "features": ["x", "", "y"], "weight": 2},
        {"source": "a", "target": "b", "features": "x", "weight": 1.5},
        {"source": "a", "target": "b", "features": None, "weight": 1},
        {"source": "a", "target": "b", "weight": 1},
    ]
    file = write("a.jsonl", "\n".join(map(json.dumps, records)))
    examples = list(read_examples(file, columns=Columns(weight=3, features=(4,))))
    assert [example.features for example in examples] == [("x", "y"), ("x",), (), ()]
    assert [example.weight for example in examples] == [2.0, 1.5, 1.0, 1.0]


def test_json_keys_may_have_other_names(write: Write) -> None:
    file = write("a.jsonl", '{"en": "one", "de": "eins"}')
    assert pairs(file, columns=Columns(source="en", target="de")) == [("one", "eins")]


def test_a_csv_record_over_several_lines_begins_at_its_first(write: Write) -> None:
    examples = list(read_examples(write("a.csv", '"one\r\nor ""1""",eins\r\ntwo,zwei\r\n')))
    assert [(example.sources["source"], example.origin.line) for example in examples] == [('one\nor "1"', 1), ("two", 3)]


def test_byte_order_mark_and_windows_line_ends_are_accepted(write: Write) -> None:
    assert pairs(write("a.tsv", b"\xef\xbb\xbfone\teins\r\ntwo\tzwei\r\n")) == [("one", "eins"), ("two", "zwei")]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl"])
def test_blank_lines_at_the_end_are_tolerated(write: Write, name: str) -> None:
    assert len(pairs(write(name, CONTENTS[name] + "\n \n\n"))) == 2


def test_blank_lines_at_the_end_of_aligned_files_need_not_agree(write: Write) -> None:
    assert pairs(Aligned(source=write("s", "a\n\n\n"), target=write("t", "b\n\n"))) == [("a", "b")]


def test_an_empty_file_gives_no_example(write: Write) -> None:
    assert pairs(write("a.tsv", "")) == []
    assert pairs(write("b.tsv", ""), columns=Columns(source="x")) == []


def test_only_line_feeds_end_a_line(write: Write) -> None:
    assert pairs(write("a.tsv", "a\u2028b\x0cc\x85d\te\rf\n")) == [("a\u2028b\x0cc\x85d", "e\rf")]


def test_tsv_knows_no_quotes(write: Write) -> None:
    assert pairs(write("a.tsv", '"a\t"b"\n')) == [('"a', '"b"')]


def test_a_file_is_read_as_it_is_asked_for(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 64)
    examples = read_examples(write("a.tsv", b"one\teins\n" * 10 + b"\xff\n" * 10))
    assert [next(examples).target for _ in range(5)] == ["eins"] * 5


# --- refusals -------------------------------------------------------------------------------------------------------

REFUSED = {
    "bad UTF-8": (
        "a.tsv",
        b"a\tb\ncaf\xe9\td\n",
        ":2: expected UTF-8, found the byte 0xe9 at byte 4 of the line: b'caf",
    ),
    "gzip without .gz": ("a.tsv", gzip.compress(b"a\tb\n"), "The file is gzipped: add .gz to its name."),
    "UTF-16": ("a.tsv", "a\tb\n".encode("utf-16"), "The file is UTF-16."),
    "NUL": ("a.tsv", "a\tb\nc\0\td\n", ":2: expected text, found a NUL character at character 2: 'c\\x00\\td'"),
    "too many columns": ("a.tsv", "a\tb\nc\td\te\n", ":2: expected 2 columns, as in the lines before, found 3: 'c | d | e'"),
    "too few columns": ("a.tsv", "a b\n", ":1: expected at least 2 columns, found 1: 'a b'"),
    "empty source": ("a.tsv", "a\tb\n \tb\n", ":2: expected text in the source, found none"),
    "empty target": ("a.csv", "a,b\nc,\n", ":2: expected text in the target, found none"),
    "blank line": ("a.tsv", "a\tb\n\nc\td\n", ":2: expected an example, found a blank line"),
    "blank JSON line": ("a.jsonl", '\n{"source": "a", "target": "b"}', ":1: expected an example, found a blank line"),
    "open quote": ("a.csv", 'a,b\n"c,d\ne,f\n', ":2: expected a CSV record, but unexpected end of data"),
    "not JSON": ("a.jsonl", "a\tb\n", ":1: expected one JSON object on the line, found 'a\\tb' (Expecting value"),
    "JSON list": ("a.jsonl", '["a", "b"]\n', ':1: expected one JSON object on the line, found \'["a", "b"]\''),
    "deep JSON": ("a.jsonl", "[" * 200_000, ":1: expected one JSON object"),
    "missing key": ("a.jsonl", '{"source": "a", "tgt": "b"}', ":1: expected the key 'target', found 'source', 'tgt'"),
    "number": ("a.jsonl", '{"source": "a", "target": 5}', ":1: expected a string for 'target', found a number, 5"),
    "JSON NUL": ("a.jsonl", '{"source": "a\\u0000", "target": "b"}', ":1: expected text, found a NUL character"),
    "surrogate": (
        "a.jsonl",
        '{"source": "a", "target": "b\\ud800"}',
        ":1: expected Unicode text for 'target', found half",
    ),
}


@pytest.mark.parametrize(("name", "content", "message"), REFUSED.values(), ids=REFUSED)
def test_a_mistake_is_refused_with_file_and_line(write: Write, name: str, content: str | bytes, message: str) -> None:
    file = write(name, content)
    refused = refusal(file)
    assert refused.startswith(f"{file}:")
    assert message in refused


@pytest.mark.parametrize("weight", ["-1", "nan", "inf", "", "much", "1_000"])
def test_a_weight_must_be_a_number_of_zero_or_more(write: Write, weight: str) -> None:
    file = write("a.tsv", f"a\tb\t1\na\tb\t{weight}\n")
    message = f"{file}:2: expected a weight that is a number of 0 or more, found {weight!r}."
    assert refusal(file, Columns(weight=3)).startswith(message)


@pytest.mark.parametrize("weight", ["-1", "NaN", "true", "null", "[1]"])
def test_a_weight_in_json_must_be_a_number_too(write: Write, weight: str) -> None:
    file = write("a.jsonl", f'{{"source": "a", "target": "b", "weight": {weight}}}')
    assert f"{file}:1: expected a weight" in refusal(file, Columns(weight="weight"))


def test_a_name_that_the_header_does_not_have_is_refused_with_those_it_has(write: Write) -> None:
    file = write("a.tsv", "english\tgerman\none\teins\n")
    message = f"{file}:1: expected a header line with one column named 'en', found 'english', 'german'"
    assert refusal(file, Columns(source="en", target="german")).startswith(message)
    assert "one column named 'x', found 'x', 'x'" in refusal(write("b.tsv", "x\tx\na\tb\n"), Columns(source="x"))


def test_unequal_line_counts_name_both(write: Write) -> None:
    longer, shorter = write("a", "1\n2\n3\n4\n\n"), write("b", "1\n2\n")
    assert f"{longer}: expected as many lines as in {shorter}, found 4 here and 2 there" in refusal(
        Aligned(source=longer, target=shorter)
    )
    assert "found 2 here and 4 there" in refusal(Aligned(source=shorter, target=longer))
    assert "found 0 here and 2 there" in refusal(Aligned(source=write("c", ""), target=shorter))


def test_an_empty_line_in_one_aligned_file_names_that_file(write: Write) -> None:
    source, target = write("a", "1\n2\n"), write("b", "1\n\n")
    assert refusal(Aligned(source=source, target=target)).startswith(f"{target}:2: expected text in the target")


def test_a_line_over_the_limit_is_refused_before_it_is_all_read() -> None:
    stream = io.BytesIO(b"short\n" + b"x" * 5_000_000 + b"\n")
    examples = read_sources(stream)
    assert next(examples).sources["source"] == "short"
    with pytest.raises(DataError, match="<stdin>:2: expected a line of at most 1,000,000 bytes"):
        next(examples)
    assert stream.tell() < 1_500_000


def test_a_line_at_the_limit_is_read(write: Write) -> None:
    long = "x" * (lines.LINE_LIMIT - 2)
    assert pairs(write("a.tsv", f"a\tb\n{long}\ty\nc\td")) == [("a", "b"), (long, "y"), ("c", "d")]
    assert ":2: expected a line of at most" in refusal(write("b.tsv", f"a\tb\n{long}x\ty\nc\td"))


def test_long_texts_are_abbreviated_in_messages(write: Write) -> None:
    assert len(refusal(write("a.tsv", "word " * 10_000))) < 400


def test_a_truncated_gzip_file_is_refused(write: Write, tmp_path: Path) -> None:
    whole = Path(write("a.tsv.gz", os.urandom(30_000).hex())).read_bytes()
    (tmp_path / "b.tsv.gz").write_bytes(whole[: len(whole) // 2])
    assert "truncated or corrupt" in refusal(str(tmp_path / "b.tsv.gz"))


def test_a_corrupt_gzip_file_is_refused(write: Write, tmp_path: Path) -> None:
    whole = bytearray(Path(write("a.tsv.gz", "a\tb\n" * 1000)).read_bytes())
    whole[-8:-4] = b"\0\0\0\0"
    (tmp_path / "b.tsv.gz").write_bytes(whole)
    assert "truncated or corrupt (CRC check failed" in refusal(str(tmp_path / "b.tsv.gz"))


def test_plain_text_named_gz_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_text("a\tb\n")
    assert "expected gzip, as the ending .gz says" in refusal(str(tmp_path / "a.tsv.gz"))


def test_missing_files_are_refused_before_any_is_read(write: Write, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no\.tsv: expected a file, found nothing there"):
        read_examples((write("a.tsv", "a\tb\n"), str(tmp_path / "no.tsv")))
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(DataError, match="expected a file, found a directory"):
        read_examples(str(tmp_path / "folder.tsv"))


def test_a_file_without_permission_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("a.tsv", "a\tb\n")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # for root, who may read everything
    with pytest.raises(DataError, match=r"without permission\. Run: chmod u\+r"):
        read_examples(file)


def test_formats_that_cannot_be_are_refused(write: Write) -> None:
    file = write("a.dat", "a\tb\n")
    assert len(list(read_examples(file, format="tsv"))) == 1
    with pytest.raises(UsageError, match=r"the ending '\.dat' does not tell the format"):
        read_examples(file)
    with pytest.raises(UsageError, match="the format text needs two aligned files"):
        read_examples(file, format="text")
    with pytest.raises(UsageError, match="plain text, but the format says csv"):
        read_examples(Aligned(source=file, target=file), format="csv")
    with pytest.raises(UsageError, match="no columns for a weight or features"):
        read_examples(Aligned(source=file, target=file), columns=Columns(weight=3))


# --- sources to predict from ----------------------------------------------------------------------------------------


def test_plain_sources_are_whole_lines_and_empty_ones_are_kept() -> None:
    stream = io.BytesIO(b"\xef\xbb\xbfone\ttwo\r\n\nthree")
    assert list(read_sources(stream, format="text")) == [
        Example({"source": "one\ttwo"}, None, Origin("<stdin>", 1)),
        Example({"source": ""}, None, Origin("<stdin>", 2)),
        Example({"source": "three"}, None, Origin("<stdin>", 3)),
    ]


@pytest.mark.parametrize(
    ("content", "usual", "wanted"),
    [
        (b"one\nt\two\n", Columns(), [("one", None), ("t\two", None)]),
        (b"\none\teins\ntwo\n", Columns(), [("", None), ("one", "eins"), ("two", None)]),
        (b"eins\tone\n", Columns(source=2, target=1), [("one", "eins")]),
        (b"de\ten\neins\tone\n", Columns(source="en", target="de"), [("one", "eins")]),
        (b"en\none\n", Columns(source="en", target="de"), [("one", None)]),
        (b"one\ntwo\n", Columns(source="en", target="de"), [("one", None), ("two", None)]),
    ],
)
def test_the_first_line_tells_whether_lines_are_a_table(
    content: bytes, usual: Columns, wanted: list[tuple[str, str | None]]
) -> None:
    examples = read_sources(io.BytesIO(content), usual=usual)
    assert [(example.sources["source"], example.target) for example in examples] == wanted


def test_sources_in_columns_need_no_target(write: Write) -> None:
    file = write("a.txt.gz", "one\n\ntwo\tzwei\ttag\n")
    examples = list(read_sources(Path(file), Columns(features=(3,), weight=4)))
    assert [(example.sources["source"], example.target, example.features) for example in examples] == [
        ("one", None, ()),
        ("", None, ()),
        ("two", "zwei", ("tag",)),
    ]


def test_sources_find_their_columns_in_a_header() -> None:
    columns = Columns(source="en", target="de", features=("tag",))
    [example] = read_sources(io.BytesIO(b"id\ten\n7\tone\n"), columns)
    assert (example.sources["source"], example.target, example.origin.line) == ("one", None, 2)
    with pytest.raises(DataError, match="<stdin>:1: expected a header line with one column named 'en', found 'id'"):
        list(read_sources(io.BytesIO(b"id\n7\n"), columns))


def test_a_source_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(DataError, match="<stdin>:1: expected at least 2 tab-separated columns, found 1"):
        list(read_sources(io.BytesIO(b"one\n"), Columns(source=2, target=1)))


@pytest.mark.parametrize("columns", [None, Columns()])
def test_sources_that_are_not_text_are_refused(columns: Columns | None) -> None:
    with pytest.raises(DataError, match="<stdin>:2: expected UTF-8"):
        list(read_sources(io.BytesIO(b"one\n\xff\n"), columns))
    with pytest.raises(DataError, match="<stdin>:1: expected text, found a NUL"):
        list(read_sources(io.BytesIO(b"\0\n"), columns))


def test_a_line_from_a_pipe_is_answered_before_the_next_is_written() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", buffering=0) as person:
        # If the reader waited for more, this would end the wait and the test fails instead of hanging.
        timer = threading.Timer(5, lambda: person.write(b"late\n"))
        timer.start()
        person.write(b"first\n")
        assert next(read_sources(stream)).sources["source"] == "first"
        assert timer.is_alive()
        timer.cancel()


# --- for any text ---------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r\ufeff"), min_size=1, max_size=20)
PAIRS = st.lists(st.tuples(*[TEXT.filter(lambda text: not text.isspace())] * 2), max_size=20)
ANY = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@ANY
@given(PAIRS)
def test_any_text_comes_back_from_any_format(tmp_path: Path, content: list[tuple[str, str]]) -> None:
    table = io.StringIO()
    csv.writer(table).writerows(content)
    texts = {
        "a.tsv": "".join(f"{source}\t{target}\n" for source, target in content),
        "a.csv": table.getvalue(),
        "a.jsonl": "".join(json.dumps({"source": source, "target": target}) + "\n" for source, target in content),
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
        assert pairs(str(tmp_path / name)) == content


@ANY
@given(st.lists(st.text(st.sampled_from("aé\0\r€\ud800"), max_size=12)), st.integers(1, 4), st.integers(4, 20))
def test_lines_do_not_depend_on_where_blocks_end(content: list[str], block: int, limit: int) -> None:
    data = "\n".join(content).encode("utf-8", "surrogatepass")
    seen: list[tuple[str, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", block)
        patch.setattr(lines, "LINE_LIMIT", limit)
        read = list(lines.lines_of(io.BytesIO(data), "f", lambda problem: seen.append((problem.code, problem.origin.line))))
    raw = data.removesuffix(b"\n").split(b"\n") if data else []
    assert [number for number, _ in read] == list(range(1, len(raw) + 1))
    for (number, line), expected in zip(read, raw, strict=True):
        codes = [code for code, place in seen if place == number]
        if len(expected) > limit:
            assert (line, codes) == (None, ["over-long-line"])
        elif b"\xed" in expected:
            assert (line, codes) == (None, ["bad-utf8"])
        elif b"\0" in expected:
            assert (line, codes) == (None, ["nul-character"])
        else:
            assert (line, codes) == (expected.decode().removesuffix("\r"), [])


# --- splits ---------------------------------------------------------------------------------------------------------


def test_a_split_is_the_same_everywhere_and_for_ever() -> None:
    split = Split(validation=0.3, test=0.3)
    parts = [split_of(text, 1, split) for text in ("a", "b", "c", "d", "é", "अ", "")]
    assert parts == ["validation", "train", "train", "test", "test", "train", "test"]


def test_a_split_has_the_shares_asked_for() -> None:
    counts = Counter(split_of(str(number), 7, Split(validation=0.1, test=0.2)) for number in range(20_000))
    assert counts["validation"] == pytest.approx(2000, rel=0.1)
    assert counts["test"] == pytest.approx(4000, rel=0.1)
    assert {split_of(str(number), 7, Split(validation=0, test=0)) for number in range(100)} == {"train"}


def test_another_seed_splits_otherwise() -> None:
    split = Split(validation=0.3, test=0.3)
    first, second = ([split_of(str(number), seed, split) for number in range(100)] for seed in (1, 2))
    assert first != second


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0))
def test_the_test_part_does_not_depend_on_the_share_of_validation(text: str, seed: int) -> None:
    parts = {split_of(text, seed, Split(validation=share, test=0.2)) == "test" for share in (0.0, 0.1, 0.5)}
    assert len(parts) == 1


def test_a_cell_of_features_is_cut_at_its_separator(write: Write) -> None:
    file = write("a.tsv", "run\tV; PST,x\tran\nbe\t\tis\n")
    cut = Columns(source=1, features=(2,), target=3, separator=";")
    assert [example.features for example in read_examples(file, columns=cut)] == [("V", "PST,x"), ()]
    records = write("a.jsonl", '{"source": "run", "target": "ran", "features": "V;PST"}\n')
    assert [one.features for one in read_examples(records, columns=cut)] == [("V", "PST")]


def test_preceding_texts_stand_before_the_source_as_far_as_there_are_any(write: Write) -> None:
    rows = "Hi .\tWhat ?\tHow are you ?\tFine .\n\t\tBye .\tBye .\n"
    columns = Columns(preceding=(1, 2), source=3, target=4)
    wanted = ["Hi . \u2016 What ? \u2016 How are you ?", "Bye ."]
    assert [one.sources["source"] for one in read_examples(write("a.tsv", rows), columns=columns)] == wanted
    assert [one.sources["source"] for one in read_sources(write("b.tsv", rows), usual=columns)] == wanted
    records = write("a.jsonl", '{"source": "c", "target": "d", "preceding": ["a", "", "b"]}\n{"source": "c", "target": "d"}\n')
    found = [one.sources["source"] for one in read_examples(records, columns=Columns(preceding=("preceding",)))]
    assert found == ["a \u2016 b \u2016 c", "c"]


def test_a_turn_without_words_is_told_of_with_its_line(write: Write) -> None:
    file = write("a.tsv", "Hi .\tYes .\tNo .\nHi .\t\tNo .\n")
    with pytest.raises(DataError, match=r"a.tsv:2: expected text in the source, found none"):
        list(read_examples(file, columns=Columns(preceding=(1,), source=2, target=3)))
