"""Numbers in sentences agree with their nouns."""

import re
from pathlib import Path

import pytest

from seqloom.wording import counted

RIDDLES = ("six jars", "would be unwise", "making arrays")
TOP = Path(__file__).parents[1]


@pytest.mark.parametrize(("count", "words"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (12345, "12,345 pairs")])
def test_a_noun_agrees_with_its_number(count: int, words: str) -> None:
    assert counted(count, "pair") == words


def test_a_plural_may_be_given() -> None:
    assert counted(2, "query", "queries") == "2 queries"


def test_help_messages_and_pages_have_no_riddles() -> None:
    pages = [TOP / "README.md", *(TOP / "docs").rglob("*.md"), *(TOP / "seqloom" / "cli").rglob("*.py")]
    found = [f"{page.name}: {riddle}" for page in pages for riddle in RIDDLES if riddle in page.read_text(encoding="utf-8")]
    assert found == ["glossary.md: six jars"], "the lectures' word stands in the glossary alone"
    assert not any(re.search(r"(?<![\d,.])1 (pairs|files|lines)\b", page.read_text(encoding="utf-8")) for page in pages)
