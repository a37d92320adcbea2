"""The little grammar of the studies, and what is measured with it."""

from typing import Any

import numpy as np
import pytest


def test_what_is_asked_about_was_never_learnt_in_either_role(studies: Any) -> None:
    grammar = studies("meanings")
    learnt, asked = grammar.drawn_meanings(1)
    assert (len(learnt), len(asked)) == (grammar.LEARNT, grammar.HELD_OUT)
    assert not {*asked, *(one.swapped for one in asked)} & set(learnt)
    assert not {one.swapped for one in asked} & set(asked)


def test_swapping_changes_two_roles_and_back_again(studies: Any) -> None:
    meaning = studies("meanings").Meaning
    assert meaning("man", "give", "ball", "dog", "noon").swapped == meaning("dog", "give", "ball", "man", "noon")
    chase = meaning("man", "chase", "dog", "", "noon")
    assert chase.swapped.canonical == "chase dog man - noon"
    assert chase.swapped.swapped == chase


def test_all_ways_to_say_a_meaning_differ_and_hold_its_words_where_they_are_said_to_be(studies: Any) -> None:
    grammar, alignments = studies("meanings"), studies("alignments")
    for meaning in grammar.drawn_meanings(1)[1][:20]:
        ways = grammar.english(meaning)
        assert len({way.text for way in ways}) == len({way.form for way in ways}) == len(ways)
        for way in ways:
            told, parts = way.text.split(), meaning.canonical.split()
            for step, place in alignments.true_places(way).items():
                assert told[place][0] == parts[step][0]


def test_german_swaps_are_not_among_the_meanings_and_cases_tell_roles_apart(studies: Any) -> None:
    grammar = studies("meanings")
    meanings = grammar.german_meanings()
    assert not {one.swapped for one in meanings} & set(meanings)
    for meaning in meanings[:40]:
        assert not {way.text for way in grammar.german(meaning)} & {way.text for way in grammar.german(meaning.swapped)}


def test_encodings_of_meanings_and_of_forms_are_told_apart(studies: Any) -> None:
    grammar, plane = studies("meanings"), studies("plane")
    said = [
        way
        for meaning in grammar.drawn_meanings(1)[1][:12]
        for one in (meaning, meaning.swapped)
        for way in grammar.english(one)
    ]

    def one_hot(keys: list[Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
        places = {key: index for index, key in enumerate(dict.fromkeys(keys))}
        return np.eye(len(places), dtype=np.float32)[[places[key] for key in keys]]

    by_meaning = plane.compared(said, one_hot([way.meaning for way in said]))
    assert (by_meaning["nearest_same"], by_meaning["closer"], by_meaning["distance_same"]) == pytest.approx((1.0, 1.0, 0.0))
    by_form = plane.compared(said, one_hot([way.form for way in said]))
    assert by_form["nearest_form"] == pytest.approx(1.0)
    assert (by_form["nearest_same"], by_form["closer"], by_form["distance_swapped"]) == (0.0, 0.0, 0.0)
    of_words = plane.compared(said, plane.bags_of_words([way.text for way in said]))
    assert of_words["nearest_same"] + of_words["nearest_swapped"] == pytest.approx(1.0)  # they cannot be told apart
