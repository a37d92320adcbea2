"""What is seen in a table that comes without a recipe: its header, its columns, and what is refused rather than guessed."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seqloom.data.reading.headings import role_of
from seqloom.errors import DataError, MissingExtraError, UsageError
from seqloom.recipe.sections import Aligned, Columns
from seqloom.suggest.recognition import recognise

WORDS = ["abandon", "able", "about", "above", "absent", "absorb", "abuse", "academy", "accept", "access", "accord", "ache"]
SOUNDS = [" ".join(word.upper()) for word in WORDS]
SENTENCES = [f"there is {word} in the garden , and more of it" for word in WORDS]
LABELS = ["yes", "no"]


def table(folder: Path, rows: list[list[str]], *header: str, name: str = "table.tsv") -> str:
    """A table of rows, below a header if one is given."""
    lines = ["\t".join(row) for row in ([list(header)] if header else []) + rows]
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(folder / name)


def columns(*lists: list[str]) -> list[list[str]]:
    """Rows out of columns; short ones are repeated."""
    return [[one[number % len(one)] for one in lists] for number in range(max(map(len, lists)))]


NUMBERS = [str(number) for number in range(len(WORDS))]


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        (("word", "pronunciation"), ("word", "pronunciation")),
        (("pron", "word"), ("word", "pron")),
        (("Wort", "Aussprache"), ("Wort", "Aussprache")),
        (("слово", "произношение"), ("слово", "произношение")),
        (("単語", "発音"), ("単語", "発音")),
        (("English", "French"), ("English", "French")),
        (("src_text", "tgt_text"), ("src_text", "tgt_text")),
        (("source", "target"), ("source", "target")),
        (("sana", "ääntäminen"), ("sana", "ääntäminen")),  # not known, but not spelled out either
    ],
)
def test_a_header_is_known_by_its_names_or_by_being_unlike_its_columns(
    tmp_path: Path, header: tuple[str, str], taken: tuple[str, str]
) -> None:
    found = recognise(table(tmp_path, columns(WORDS, SOUNDS), *header))
    assert found.columns == Columns(source=taken[0], target=taken[1])
    assert found.said == f"columns: source = `{taken[0]}`, target = `{taken[1]}` (by the names of the columns)"
    assert found.count == len(WORDS)


def test_a_stray_tab_in_one_line_makes_no_third_column(tmp_path: Path) -> None:
    rows = [[f"{word}{number}", f"{number}{word}"] for number in range(20) for word in WORDS]
    rows[100].append("x")
    assert recognise(table(tmp_path, rows)).columns == Columns()  # the line itself is named when the table is read


def test_codes_of_languages_are_a_header_of_sentences_not_of_words(tmp_path: Path) -> None:
    assert recognise(table(tmp_path, columns(SENTENCES, SENTENCES), "en", "de")).columns == Columns(source="en", target="de")
    assert recognise(table(tmp_path, [["it", "es"], *columns(WORDS, WORDS[::-1])])).columns == Columns()


@pytest.mark.parametrize("first", [["word", "W O R D"], ["wording", "W O R"], ["text", "T"]])
def test_a_pair_is_no_header(tmp_path: Path, first: list[str]) -> None:
    found = recognise(table(tmp_path, [first, *columns(WORDS, SOUNDS)]))
    assert (found.columns, found.said, found.count) == (Columns(), "", len(WORDS) + 1)


@pytest.mark.parametrize(
    ("header", "rows", "taken", "unread"),
    [
        (("id", "word", "pron"), columns(NUMBERS, WORDS, SOUNDS), {"source": "word", "target": "pron"}, "id"),
        ((), columns(NUMBERS, WORDS, SOUNDS), {"source": 2, "target": 3}, "1"),
        ((), columns(WORDS, SOUNDS, ["2", "1"]), {"source": 1, "target": 2}, "3"),
        (("text", "stars", "date"), columns(SENTENCES, ["5", "4"], ["x"]), {"source": "text", "target": "stars"}, "date"),
        (
            ("pair_ID", "sentence_A", "sentence_B", "entailment_label", "relatedness_score"),
            columns(NUMBERS, SENTENCES, SENTENCES[::-1], LABELS, ["4.5", "3.2"]),
            {"sentence_a": "sentence_A", "sentence_b": "sentence_B", "target": "entailment_label"},
            "pair_ID, relatedness_score",
        ),
        (
            ("qid", "question", "context", "answer"),
            columns(NUMBERS, SENTENCES, SENTENCES, WORDS),
            {"question": "question", "text": "context", "target": "answer"},
            "qid",
        ),
    ],
)
def test_what_is_beside_source_and_target_is_left_and_said(
    tmp_path: Path, header: tuple[str, ...], rows: list[list[str]], taken: dict[str, object], unread: str
) -> None:
    found = recognise(table(tmp_path, rows, *header))
    assert found.as_json()["taken"] == taken
    assert found.said.endswith(f"; not read: {unread}")


def test_five_columns_without_a_header_are_asked_about(tmp_path: Path) -> None:
    rows = columns([str(number) for number in range(40)], SENTENCES, SENTENCES[::-1], LABELS, ["4.5", "3.2"])
    with pytest.raises(UsageError) as asked:
        recognise(table(tmp_path, rows))
    told = str(asked.value)
    assert "which of its 5 columns is the source" in told
    assert "\n  1: ids: '0', '1', ...\n  2: text: " in told
    assert "\n  4: 2 classes: 'yes', 'no'\n  5: numbers: '4.5', '3.2'\n" in told
    assert told.endswith("\n  --columns text_1=2,text_2=3,target=4\n  --columns source=3,target=4")
    found = recognise(table(tmp_path, rows), {"premise": 2, "hypothesis": 3, "target": 4})
    assert found.as_json()["taken"] == {"premise": 2, "hypothesis": 3, "target": 4}


def test_an_id_is_never_a_source(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"1: ids: '0', '1', \.\.\."):
        recognise(table(tmp_path, columns(NUMBERS, WORDS)))
    assert recognise(table(tmp_path, columns(NUMBERS, WORDS)), {"source": 1, "target": 2}).columns == Columns()
    assert recognise(table(tmp_path, columns(NUMBERS, NUMBERS))).columns == Columns()


@pytest.mark.parametrize("header", [(), ("file", "transcript")])
def test_names_of_clips_are_videos(tmp_path: Path, header: tuple[str, ...]) -> None:
    path = table(tmp_path, columns([f"{word}.mp4" for word in WORDS], SENTENCES), *header)
    (tmp_path / f"{WORDS[0]}.mp4").touch()
    assert {name: source.kind for name, source in recognise(path).sources.items()} == {"video": "video"}


@pytest.mark.parametrize("header", [(), ("file", "transcript")])
def test_names_of_recordings_are_sounds(tmp_path: Path, header: tuple[str, ...]) -> None:
    path = table(tmp_path, columns([f"{word}.wav" for word in WORDS], SENTENCES), *header)
    with pytest.raises(DataError, match=r"sound files such as .*, and none of them .* Say where they are: --files FOLDER"):
        recognise(path)
    (tmp_path / f"{WORDS[0]}.wav").touch()
    assert {name: source.kind for name, source in recognise(path).sources.items()} == {"sound": "sound"}


def test_files_are_no_outputs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Outputs are text; files can be sources: --columns image=2,target=1"):
        recognise(table(tmp_path, columns(SENTENCES, [f"{word}.jpg" for word in WORDS])))


def test_pictures_that_are_elsewhere_or_cannot_be_read_are_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path, columns([f"{word}.jpg" for word in WORDS], SENTENCES))
    with pytest.raises(DataError, match=r"none of them is in the folder of the table. Say where they are: --images FOLDER"):
        recognise(path)
    monkeypatch.setattr("seqloom.suggest.recognition.deciding.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"image holds names of image files. Reading them needs the extra 'images'"):
        recognise(path)


def test_numbers_that_a_person_gives_skip_the_header(tmp_path: Path) -> None:
    found = recognise(table(tmp_path, columns(NUMBERS, WORDS, SOUNDS), "id", "word", "ipa"), {"source": 3, "target": 2})
    assert found.columns == Columns(source="ipa", target="word")


def test_quoted_commas_do_not_cut(tmp_path: Path) -> None:
    rows = "".join(f'"{one}, ""or"" not",{LABELS[number % 2]}\n' for number, one in enumerate(SENTENCES * 2))
    (tmp_path / "table.csv").write_text(f'"sentence","label"\n{rows}')
    found = recognise(str(tmp_path / "table.csv"))
    assert found.columns == Columns(source="sentence", target="label")
    assert found.texts("source")[0] == f'{SENTENCES[0]}, "or" not'


def test_records_have_names(tmp_path: Path) -> None:
    lines = [f'{{"ipa": "{sounds}", "id": {number}, "word": "{WORDS[number]}"}}\n' for number, sounds in enumerate(SOUNDS)]
    (tmp_path / "table.jsonl").write_text("".join(lines))
    pq.write_table(pa.table({"ipa": SOUNDS, "id": range(len(WORDS)), "word": WORDS}), tmp_path / "table.parquet")
    for name in ("table.jsonl", "table.parquet"):
        found = recognise(str(tmp_path / name))
        assert found.columns == Columns(source="word", target="ipa")
        assert found.texts("target") == SOUNDS


def test_a_part_without_a_name_is_the_key_of_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "table.jsonl").write_text('{"target": "A", "tag": "x", "source": "a"}\n')
    found = recognise(str(tmp_path / "table.jsonl"), {"features": ["tag"]})
    assert found.as_json()["taken"] == {"source": "source", "target": "target"}


def test_classes_are_few_and_frequent_and_of_many_sources(tmp_path: Path) -> None:
    draw = random.Random(1)
    many = [f"{draw.choice(WORDS)} {draw.choice(WORDS)} {number}" for number in range(300)]
    assert (
        recognise(table(tmp_path, columns(many, LABELS))).said == "columns: source = column 1, target = column 2 with 2 classes"
    )
    assert not recognise(table(tmp_path, columns(WORDS * 30, SOUNDS * 30))).classes  # a list of words, again and again
    assert not recognise(table(tmp_path, columns(many, many[::-1]))).classes


def test_aligned_files_and_pipes_are_taken_as_they_are(tmp_path: Path) -> None:
    one, other = table(tmp_path, columns(NUMBERS), name="a.txt"), table(tmp_path, columns(WORDS), name="b.txt")
    assert recognise(Aligned(source=one, target=other)).columns == Columns()
    assert recognise("/dev/null", {"source": 2, "target": 1}).columns == Columns(source=2, target=1)


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("Sentence 1", "either"),
        ("text_b", "either"),
        ("gold_label", "target"),
        ("pair_ID", "aside"),
        ("Datei", "source"),
        ("chien", None),
        ("", None),
    ],
)
def test_names_of_columns_say_what_they_are(heading: str, role: str | None) -> None:
    assert role_of(heading) == role


TAGS = ["V;IND;PRS", "V;IND;PST", "V;SBJV;PRS", "N;SG", "N;PL"]


@pytest.mark.parametrize(
    ("order", "header", "taken"),
    [
        ((0, 2, 1), (), (1, 3, (2,))),
        ((0, 1, 2), (), (1, 2, (3,))),
        ((1, 0, 2), ("form", "lemma", "tags"), ("lemma", "form", ("tags",))),
    ],
)
def test_tags_beside_words_and_forms_are_features(
    tmp_path: Path, order: tuple[int, ...], header: tuple[str, ...], taken: tuple[object, ...]
) -> None:
    rows = [[row[place] for place in order] for row in columns(WORDS * 3, [f"{word}s" for word in WORDS * 3], TAGS * 8)]
    found = recognise(table(tmp_path, rows, *header))
    assert (found.columns.source, found.columns.target, found.columns.features) == taken
    assert found.columns.separator == ";"
    assert "words, tags and forms" in found.said


def test_labels_of_sentences_are_no_tags_of_forms(tmp_path: Path) -> None:
    rows = columns(SENTENCES * 3, SENTENCES, TAGS)
    assert recognise(table(tmp_path, rows, "title", "text", "tags"), {"source": 2, "target": 1}).columns.separator is None
    with pytest.raises(UsageError, match="which of its 3 columns"):
        recognise(table(tmp_path, rows))


def test_named_features_are_cut_where_they_hold_several(tmp_path: Path) -> None:
    file = table(tmp_path, columns(WORDS * 3, WORDS, TAGS))
    assert recognise(file, {"source": 1, "target": 2, "features": [3]}).columns.separator == ";"
    told = recognise(file, {"source": 2, "target": 3, "preceding": [1]})
    assert told.columns.preceding == (1,)
    assert "preceding = column 1" in told.said


def test_a_question_and_the_text_that_it_is_about_are_named_so_unless_answers_are_classes(tmp_path: Path) -> None:
    asked = [f"what is {word} ?" for word in WORDS]
    free = recognise(table(tmp_path, columns(SENTENCES, asked, WORDS), "context", "question", "answer"))
    assert free.as_json()["taken"] == {"question": "question", "text": "context", "target": "answer"}
    assert "a question about a text" in free.said
    few = recognise(table(tmp_path, columns(SENTENCES * 3, asked, LABELS), "context", "question", "answer"))
    assert list(few.sources) == ["context", "question"]


@pytest.mark.parametrize("mark", ["?", " ？", "؟"])
def test_a_column_that_asks_is_a_question_about_the_longer_of_the_others(tmp_path: Path, mark: str) -> None:
    asked = [f"what is {word}{mark}" for word in WORDS]
    found = recognise(table(tmp_path, columns(NUMBERS, WORDS, asked, SENTENCES)))
    assert found.as_json()["taken"] == {"question": 3, "text": 4, "target": 2}
    assert found.said.endswith("(one column asks, and one is long enough to hold the answers); not read: 1")


def test_a_column_that_asks_beside_two_as_long_is_asked_about(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="which of its 3 columns"):
        recognise(table(tmp_path, columns(WORDS, [f"what is {word}?" for word in WORDS], WORDS[::-1])))
