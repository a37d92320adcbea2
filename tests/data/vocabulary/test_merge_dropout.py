"""Words that are cut into other subwords each time."""

import numpy as np
import pytest

from seqloom.data.arrays import Padded
from seqloom.data.vocabulary import MergeDropout, Vocabulary, build_vocabulary
from seqloom.recipe import sections
from seqloom.symbols import END, UNKNOWN

TEXTS = ["the water of the rivers, the water of the sea.", "rivers water the 3.5 seas", "weather, weather and seas"]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return build_vocabulary(sections.Bpe(size=80), TEXTS * 20).with_features(["north", "south"])


def padded(vocabulary: Vocabulary) -> Padded:
    return Padded.of(vocabulary.encode_targets(TEXTS))


def drawn(vocabulary: Vocabulary, rate: float, seed: int = 1) -> Padded:
    return MergeDropout(vocabulary, rate).drawn(padded(vocabulary), np.random.default_rng(seed))


def rows(texts: Padded) -> list[list[int]]:
    return [row[:length].tolist() for row, length in zip(texts.values, texts.lengths, strict=True)]


def test_texts_stay_the_same_in_other_pieces(vocabulary: Vocabulary) -> None:
    found = rows(drawn(vocabulary, 0.3))
    assert [vocabulary.decode(row) for row in found] == TEXTS
    assert found != rows(padded(vocabulary))
    assert rows(drawn(vocabulary, 0.3, seed=2)) != found


def test_without_dropout_words_are_cut_as_ever(vocabulary: Vocabulary) -> None:
    assert rows(drawn(vocabulary, 0.0)) == rows(padded(vocabulary))


def test_where_nearly_all_merges_are_left_out_letters_remain(vocabulary: Vocabulary) -> None:
    found = rows(drawn(vocabulary, 0.999))
    assert [len(row) for row in found] == [len(text) + 1 for text in TEXTS]  # a space before the first word, too


def test_a_way_to_cut_a_word_is_the_same_in_every_process(vocabulary: Vocabulary) -> None:
    assert rows(drawn(vocabulary, 0.3)) == rows(drawn(vocabulary, 0.3))
    others = MergeDropout(vocabulary, 0.3)
    others.drawn(padded(vocabulary), np.random.default_rng(7))  # what was asked for before changes nothing
    assert rows(others.drawn(padded(vocabulary), np.random.default_rng(1))) == rows(drawn(vocabulary, 0.3))


def test_specials_features_and_what_is_copied_are_left_alone(vocabulary: Vocabulary) -> None:
    word = vocabulary.encode_targets(["water"])[0]
    ids = np.concatenate([vocabulary.feature_ids, word, [UNKNOWN], [vocabulary.size + 4], [END]])
    found = MergeDropout(vocabulary, 0.999).drawn(Padded.of([ids]), np.random.default_rng(1)).values[0]
    assert found[:2].tolist() == list(vocabulary.feature_ids)
    assert found[-3:].tolist() == [UNKNOWN, vocabulary.size + 4, END]
    assert vocabulary.decode(found[2:-3]) == "water"
    assert len(found) == 2 + len("_water") + 3


def test_a_source_without_symbols_stays_one(vocabulary: Vocabulary) -> None:
    found = MergeDropout(vocabulary, 0.5).drawn(Padded.of([np.zeros(0, dtype=np.int64)]), np.random.default_rng(1))
    assert found.lengths.tolist() == [0]
