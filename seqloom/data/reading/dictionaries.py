"""Pronunciation dictionaries as CMUdict is distributed: `word(2)  P R OW1 N # comment`, a variant on each line."""

import re
from collections.abc import Iterator

from seqloom.data.examples import Example, Origin, ReadingProblem, Report, abbreviated
from seqloom.data.reading.lines import Line, read_lines
from seqloom.data.reading.tables import Row, read_table
from seqloom.recipe.sections import Form

_COMMENT_LINE = (";;;", "##")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_VARIANT = re.compile(r"(?<=.)\(\d+\)$")
_STRESS = re.compile(r"(?<=[A-Za-z])[0-9]+(?=\s|$)")


def read_dictionary(file: str, form: Form, report: Report, *, stress: bool) -> Iterator[Example]:
    """Read a dictionary as a table of two columns: word and phonemes. stress: keep the digits that mark it."""
    return read_table(file, dictionary_rows(file, read_lines(file, report), report, stress=stress), form, report)


def dictionary_rows(file: str, lines: Iterator[Line], report: Report, *, stress: bool) -> Iterator[Row]:
    """Lines as words and phonemes, without comments and the numbers of variants.

    Without stress, variants of a word that were told apart by it alone become equal; each is given once. Variants stand one
    below the other.
    """
    word, given = "", set[str]()
    for number, line in lines:
        if line is None or line.startswith(_COMMENT_LINE):
            continue
        entry = _COMMENT.sub("", line).split(maxsplit=1)
        if not entry:
            if not line.strip():
                yield number, [""]  # whoever reads the table says where blank lines may be
            continue
        if len(entry) == 1:
            report(_no_phonemes(line, Origin(file, number)))
            continue
        spelled = _VARIANT.sub("", entry[0])
        phonemes = " ".join((entry[1] if stress else _STRESS.sub("", entry[1])).split())
        if spelled != word:
            word, given = spelled, set()
        if phonemes not in given:
            given.add(phonemes)
            yield number, [spelled, phonemes]


def _no_phonemes(line: str, origin: Origin) -> ReadingProblem:
    expected = f"expected a word, spaces and phonemes, found {abbreviated(line)}."
    return ReadingProblem("wrong-columns", origin, f"{expected} Correct the line, or begin it with ;;; to leave it out.")
