"""Clusters, labels and ranges of text."""

import pytest

from seqloom.views.pages.differences import marked_pair
from seqloom.views.text.graphemes import clusters, split, utf16_offsets
from seqloom.views.text.labels import clean, label, shortened, visible, wrapped
from seqloom.views.text.segments import Segment, output_spans, segments


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat", ["c", "a", "t"]),
        ("रविवार", ["र", "वि", "वा", "र"]),
        ("क्षत्रिय", ["क्ष", "त्रि", "य"]),
        ("க்க", ["க்", "க"]),
        ("e\u0301a", ["e\u0301", "a"]),
        ("👍🏽👨‍👩‍👧❤️", ["👍🏽", "👨‍👩‍👧", "❤️"]),
        ("🇮🇳🇫🇷", ["🇮🇳", "🇫🇷"]),
        ("\u1112\u1161\u11ab글", ["\u1112\u1161\u11ab", "글"]),
        ("น้ำ", ["น้ำ"]),
        ("a\r\nb", ["a", "\r\n", "b"]),
        ("क्\u200cष", ["क्\u200c", "ष"]),
        ("", []),
    ],
)
def test_clusters_are_what_a_reader_takes_for_letters(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_clusters_cover_the_text_without_gaps() -> None:
    text = "aक्षिb👨‍👩‍👧"
    assert "".join(text[start:end] for start, end in clusters(text)) == text


def test_browser_offsets_count_emoji_twice() -> None:
    assert utf16_offsets("a👍b") == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("\u093f", "\u25cc\u093f"),
        ("\u0301", "\u25cc\u0301"),
        (" ", "\u2423"),
        ("", "\u2205"),
        ("\u200d", "ZWJ"),
        ("\u0007", "U+0007"),
        ("\ud800", "U+D800"),
        ("\u202e", "U+202E"),
        ("का", "का"),
    ],
)
def test_invisible_symbols_and_lone_marks_get_a_visible_label(symbol: str, shown: str) -> None:
    assert visible(symbol) == shown


def test_labels_know_their_direction_and_whether_they_are_one_letter() -> None:
    assert label("שלום").rtl
    assert label("ك").rtl
    assert not label("कि").rtl
    assert label("कि").single
    assert not label("word").single


def test_long_labels_are_cut_between_clusters() -> None:
    assert shortened("कि" * 30, 3) == "किकि\u2026"
    assert label("x" * 100).full == "x" * 100


def test_forbidden_characters_are_replaced_one_for_one() -> None:
    assert clean("a\x00b\ud800c\ufffe\td") == "a\ufffdb\ufffdc\ufffd\td"


def test_a_cluster_belongs_to_all_symbols_that_touch_it() -> None:
    assert segments("किa", [(0, 1), (1, 2), (2, 3)]) == [Segment(0, 2, (0, 1)), Segment(2, 3, (2,))]


def test_a_word_is_one_range_and_spaces_belong_to_no_symbol() -> None:
    assert segments("no way", [(0, 2), (3, 6)]) == [Segment(0, 2, (0,)), Segment(3, 6, (1,))]


def test_marks_and_spans_beyond_the_text_are_ignored() -> None:
    assert segments("ab", [(0, 0), (0, 1), (1, 9), (7, 9)]) == [Segment(0, 1, (1,)), Segment(1, 2, (2,))]


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("ab", ["a", "b", "<end>"], [(0, 1), (1, 2), (2, 2)]),
        ("a b", ["a", " ", "b"], [(0, 1), (1, 2), (2, 3)]),
        ("new york", ["new", "york", "<end>"], [(0, 3), (4, 8), (8, 8)]),
        ("lower case", ["\u2581low", "er", "\u2581case"], [(0, 3), (3, 5), (6, 10)]),
        ("ab", ["x"], None),
        ("ab", ["a"], None),
    ],
)
def test_output_tokens_are_found_in_the_text(text: str, tokens: list[str], expected: list[tuple[int, int]] | None) -> None:
    assert output_spans(text, tokens) == expected


def test_differences_are_marked_by_whole_clusters() -> None:
    reference, output = marked_pair("कि<", "की<")
    assert reference == '<mark class="lacking">कि</mark>&lt;'
    assert output == '<mark class="wrong">की</mark>&lt;'


def test_equal_texts_have_no_marks() -> None:
    assert marked_pair("same", "same") == ("same", "same")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("", [""]),
        ("日本語の文は長い", ["日本語の", "文は長い"]),
        ("a unbreakable", ["a", "unbreak", "able"]),
    ],
)
def test_long_texts_break_between_words_and_else_between_clusters(text: str, lines: list[str]) -> None:
    assert wrapped(text, 4.5) == lines
