"""Stories with questions about them, as the bAbI tasks are distributed: numbered lines, answers between tabs.

    1 Mary went to the garden.
    2 John took the milk.
    3 Where is Mary?	garden	1

A line that is numbered 1 begins a new story. A question is about all sentences of its story before it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from seqloom.data.examples import Example, Origin, ReadingProblem, Report, abbreviated
from seqloom.data.reading.lines import Line, read_lines
from seqloom.data.reading.tables import Row, read_table
from seqloom.recipe.sections import Form

STORY_SOURCES = ("story", "question")
"""What the first two of the three columns hold that stories are read as; the third has the answers."""

_NUMBERED = re.compile(r"([0-9]{1,6}) +(\S.*)")


def read_stories(file: str, form: Form, report: Report) -> Iterator[Example]:
    """Read stories as a table of three columns: the sentences so far, the question, the answer."""
    return read_table(file, story_rows(file, read_lines(file, report), report), form, report)


def story_rows(file: str, lines: Iterator[Line], report: Report) -> Iterator[Row]:
    """A row for each question: the sentences of its story before it, the question, and its answer."""
    sentences: list[str] = []
    begun = asked = last = 0
    for number, line in lines:
        if line is None or not line.strip():
            continue
        origin = Origin(file, number)
        found = _NUMBERED.fullmatch(line.rstrip("\r"))
        if found is None:
            report(_malformed("a number, a space, and a sentence or a question", line, origin))
            continue
        place, text = int(found[1]), found[2]
        if place == 1:
            if begun and not asked:
                report(_unasked(Origin(file, begun)))
            sentences, begun, asked = [], number, 0
        elif place != last + 1:
            report(_malformed(f"the number {last + 1}, or 1 for a new story", line, origin))
        last = place
        if "\t" not in text:
            sentences.append(_closed(text))
            continue
        question, answer = (part.strip() for part in text.split("\t")[:2])
        asked += 1
        if not sentences:
            report(_malformed("a sentence of the story before its first question", line, origin))
        else:
            yield number, [" ".join(sentences), question, answer]
    if begun and not asked:
        report(_unasked(Origin(file, begun)))


def are_stories(lines: Sequence[str]) -> bool:
    """Whether a file that begins with these lines holds stories: numbered from 1 on, some with an answer between tabs."""
    found = [_NUMBERED.fullmatch(line) for line in lines]
    numbers = [int(one[1]) for one in found if one is not None]
    if len(numbers) < len(lines) or numbers[:2] != [1, 2]:
        return False
    follow = all(after in (1, before + 1) for before, after in pairwise(numbers))
    tabs = ["\t" in line for line in lines]
    return follow and any(tabs) and not all(tabs)


class StoryBegins:
    """Names stories by how they begin. Questions come in order, each with more of its story than the one before."""

    def __init__(self) -> None:
        self._begin = self._before = "\n"

    def of(self, story: str) -> str:
        """The part of a story that its first question is about."""
        if not story.startswith(self._before):
            self._begin = story
        self._before = story
        return self._begin


def _closed(sentence: str) -> str:
    """A sentence with a mark at its end, so that it can be told from the next one."""
    return sentence if sentence.rstrip().endswith((".", "!", "?")) else f"{sentence.rstrip()} ."


def _malformed(expected: str, line: str, origin: Origin) -> ReadingProblem:
    text = f"expected {expected}, found {abbreviated(line)}. Write stories as `1 A sentence.` and `2 A question?<tab>answer`."
    return ReadingProblem("malformed-record", origin, text)


def _unasked(origin: Origin) -> ReadingProblem:
    text = "expected a question about the story that begins here, found none. Add `number question<tab>answer`, or remove it."
    return ReadingProblem("no-question", origin, text)
