"""Stories with questions: numbered lines as the bAbI tasks have them."""

from pathlib import Path

import pytest

from seqloom.data.examples import Example, ReadingProblem
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.reading.endings import Format, format_beside
from seqloom.data.reading.formats import read_examples, stream_examples
from seqloom.data.reading.stories import are_stories
from seqloom.errors import DataError
from seqloom.recipe.sections import Columns, Data, TextSource

SOURCES = {"story": TextSource(), "question": TextSource()}
TWO_STORIES = (
    "1 Mary went home.\n2 Where is Mary? \thome\t1\n3 Mary took the milk\n4 Where is the milk?\thome\t1 3\n"
    "1 Tom is a cat.\n2 What is Tom?\tcat\n"
)


def read(path: Path, text: str) -> list[Example]:
    path.write_text(text, encoding="utf-8")
    return list(read_examples(str(path), format="stories", columns=Columns(source=None, target=3), sources=SOURCES))


def test_a_question_is_about_all_sentences_before_it_and_no_question(tmp_path: Path) -> None:
    first, second, third = read(tmp_path / "a.txt", TWO_STORIES)
    assert first.sources == {"story": "Mary went home.", "question": "Where is Mary?"}
    assert second.sources["story"] == "Mary went home. Mary took the milk ."  # closed, to be told from the next one
    assert (third.sources["story"], third.target, third.origin.line) == ("Tom is a cat.", "cat", 6)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("1 Mary went home.\n1 Tom sleeps.\n2 Who sleeps?\tTom\n", 1, "expected a question about the story that begins here"),
        ("1 Tom sleeps.\n2 Who sleeps?\tTom\n1 Mary went home.\n", 3, "expected a question about the story that begins here"),
        ("1 Where is Mary?\thome\n", 1, "expected a sentence of the story before its first question"),
        ("1 Mary went home.\n3 Where is Mary?\thome\n", 2, "expected the number 2, or 1 for a new story"),
        ("Mary went home.\n", 1, "expected a number, a space, and a sentence or a question"),
    ],
)
def test_what_is_no_story_is_told_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    with pytest.raises(DataError, match=rf"a.txt:{line}: {said}"):
        read(tmp_path / "a.txt", text)


def test_the_doctor_reads_on_behind_a_story_without_a_question(tmp_path: Path) -> None:
    path, problems = tmp_path / "a.txt", list[ReadingProblem]()
    path.write_text(f"1 Nobody asks.\n{TWO_STORIES}", encoding="utf-8")
    columns = Columns(source=None, target=3)
    found = list(stream_examples(str(path), format="stories", columns=columns, report=problems.append, sources=SOURCES))
    assert len(found) == 3
    assert [(one.code, one.origin.line) for one in problems] == [("no-question", 1)]


def test_all_questions_about_a_story_are_in_one_split(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    stories = [f"1 Child {n} went home.\n2 Who went?\tchild\n3 It slept.\n4 Who slept?\tchild\n" for n in range(60)]
    path.write_text("".join(stories), encoding="utf-8")
    data = Data.model_validate({"train": str(path), "format": "stories", "sources": SOURCES, "split": {"validation": 0.3}})
    splits: dict[int, set[str]] = {}
    for split, example in Corpus(data, seed=1).everything():
        splits.setdefault((example.origin.line - 1) // 4, set()).add(split)
    assert all(len(found) == 1 for found in splits.values())
    assert {"train"} != set.union(*splits.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [(TWO_STORIES, True), ("1 one\ta\n2 two\tb\n", False), ("Mary went home.\thome\n", False), ("", False)],
)
def test_stories_are_recognised_by_their_numbers(text: str, expected: bool) -> None:
    assert are_stories(text.splitlines()) is expected


@pytest.mark.parametrize(
    ("file", "told", "own", "read_as"),
    [
        ("more.txt", "auto", "stories", "stories"),
        ("more.txt.gz", "auto", "stories", "stories"),
        ("more", "auto", "stories", "stories"),
        ("more.txt", "tsv", "stories", "tsv"),
        ("more.tsv", "auto", "stories", "auto"),
        ("more.txt", "auto", "auto", "auto"),
    ],
)
def test_who_has_learnt_from_stories_is_asked_about_stories(file: str, told: Format, own: Format, read_as: Format) -> None:
    assert format_beside(file, told, own) == read_as
