import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from tokenizers import Tokenizer, models

from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import prepare
from seqloom.data.vocabulary import Vocabulary, build_vocabulary, parts_of
from seqloom.data.vocabulary import building as module
from seqloom.data.vocabulary.kinds import KINDS
from seqloom.errors import DataError, RecipeError, RunError, UsageError
from seqloom.recipe import recipe_from, sections
from seqloom.symbols import BEGIN, END, UNKNOWN

SECTIONS: dict[str, sections.BuiltVocabulary] = {
    "characters": sections.Characters(),
    "graphemes": sections.Characters(graphemes=True),
    "words": sections.Words(),
    "symbols": sections.Symbols(),
    "bpe": sections.Bpe(size=60),
    "unigram": sections.Unigram(size=60),
    "whole": sections.Whole(),
}
every_kind = pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS.keys())
quick = settings(max_examples=25, deadline=None)

PIECES = [*"abZß0<>,'", "é", "e\u0301", "क्ष", "ि", "語", "한", "👨‍👩‍👧", "begin", "unknown", " ", "  ", "\t"]
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), min_size=1, max_size=6)


def normalised(text: str, section: sections.BuiltVocabulary) -> str:
    form = unicodedata.normalize("NFC", text)
    return form if isinstance(section, sections.Characters) else " ".join(form.split())


def slices(vocabulary: Vocabulary, text: str) -> list[tuple[str, str]]:
    """Each symbol beside the piece of the text that it stands for."""
    encoded = vocabulary.encode_source(text)
    return [(symbol, text[start:end]) for symbol, (start, end) in zip(encoded.symbols, encoded.spans, strict=True)]


def built(section: sections.BuiltVocabulary, *texts: str, features: Sequence[str] = ()) -> Vocabulary:
    return build_vocabulary(section, texts).with_features(features)


# --- there and back -------------------------------------------------------------------------------------------------


@every_kind
@quick
@given(texts=TEXTS)
def test_decoding_gives_the_normalised_text_back(section: sections.BuiltVocabulary, texts: list[str]) -> None:
    vocabulary = build_vocabulary(section, texts)
    for text, ids in zip(texts, vocabulary.encode_targets(texts), strict=True):
        assert UNKNOWN not in ids
        assert vocabulary.decode(ids) == normalised(text, section)


@every_kind
@quick
@given(texts=TEXTS)
def test_a_text_encoded_alone_has_the_ids_it_has_among_others(section: sections.BuiltVocabulary, texts: list[str]) -> None:
    vocabulary = build_vocabulary(section, texts)
    for text, ids in zip(texts, vocabulary.encode_sources(texts, [()] * len(texts)), strict=True):
        assert vocabulary.encode_source(text).ids.tolist() == ids.tolist()


ODD_SPACES = [" ", "  ", "\t", "\u00a0", "\u3000", "\x85", "\x1c", "\u200b", "▁"]
ODD_PIECES = [*ODD_SPACES, "¨", "\u0301", "ﬁ", "a", "Bc", ",", "한", "\u1161"]
FORMS = st.sampled_from(["none", "nfc", "nfd", "nfkc", "nfkd"])


@every_kind
@quick
@given(texts=st.lists(st.lists(st.sampled_from(ODD_PIECES), max_size=9).map("".join), min_size=1, max_size=5), form=FORMS)
def test_the_parts_of_a_text_have_its_symbols(section: sections.BuiltVocabulary, texts: list[str], form: str) -> None:
    vocabulary = build_vocabulary(section.model_copy(update={"normalise": form, "lowercase": True}), [*texts, "a bc"])
    parts, counts = parts_of(texts, by_words=vocabulary.kind.by_words)
    encoded = vocabulary.encode_parts(parts).chained(np.arange(len(parts)), counts)
    whole = vocabulary.encode_targets(texts)
    assert encoded.lengths.tolist() == list(map(len, whole))
    assert encoded.ids.tolist() == np.concatenate(whole).tolist()


@quick
@given(texts=st.lists(st.lists(st.sampled_from(ODD_PIECES), max_size=9).map("".join), min_size=1, max_size=30))
def test_counted_words_teach_the_subwords_that_texts_teach(texts: list[str]) -> None:
    section = sections.Bpe(size=40)
    plain = Tokenizer(models.BPE())
    plain.normalizer, plain.pre_tokenizer = KINDS["bpe"].normaliser(section), KINDS["bpe"].splitter(section)
    plain.train_from_iterator(texts, module._trainer(section))
    learnt = json.loads(build_vocabulary(section, texts).to_json())["tokenizer"]["model"]
    wanted = json.loads(plain.to_str())["model"]
    assert (learnt["vocab"], learnt["merges"]) == (wanted["vocab"], wanted["merges"])


def test_subwords_are_learnt_from_the_first_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SUBWORD_SAMPLE", 2)
    section = sections.Bpe(size=60)
    assert build_vocabulary(section, ["ab", "abc", "xyz"]).to_json() == build_vocabulary(section, ["ab", "abc"]).to_json()


@every_kind
def test_lower_casing_and_normalisation_are_part_of_the_vocabulary(section: sections.BuiltVocabulary) -> None:
    folded = section.model_copy(update={"lowercase": True, "normalise": "nfkc"})
    vocabulary = built(folded, "Ｆine ﬁgs")
    assert vocabulary.decode(vocabulary.encode_source("FINE FIGS").ids) == "fine figs"


def test_without_normalisation_two_spellings_stay_two() -> None:
    plain = built(sections.Characters(normalise="none"), "e\u0301é")
    assert plain.size == 3 + 3
    assert built(sections.Characters(), "e\u0301é").size == 3 + 1


# --- spans ----------------------------------------------------------------------------------------------------------


@quick
@given(texts=TEXTS)
def test_every_character_of_the_text_belongs_to_one_symbol(texts: list[str]) -> None:
    for section in (SECTIONS["characters"], SECTIONS["graphemes"]):
        vocabulary = build_vocabulary(section, texts)
        for text in filter(None, texts):
            assert "".join(piece for _, piece in slices(vocabulary, text)) == text


@every_kind
@quick
@given(texts=TEXTS)
def test_a_symbol_is_what_its_span_spells(section: sections.BuiltVocabulary, texts: list[str]) -> None:
    vocabulary = build_vocabulary(section, texts)
    for text in texts:
        encoded = vocabulary.encode_source(text)
        starts = [start for start, _ in encoded.spans]
        assert starts == sorted(starts)
        for symbol, piece in slices(vocabulary, text):
            spelt = " ".join(piece.split()) if vocabulary.whole else piece.strip()
            assert symbol == "<end>" or unicodedata.normalize("NFC", spelt) == symbol.strip()


def test_a_composed_symbol_spans_all_it_was_composed_of() -> None:
    assert slices(built(sections.Characters(), "cafe\u0301s"), "cafe\u0301s")[3:] == [("é", "e\u0301"), ("s", "s")]
    jamo = unicodedata.normalize("NFD", "한국")
    assert slices(built(sections.Characters(), jamo), jamo) == [("한", jamo[:3]), ("국", jamo[3:])]


def test_decomposed_symbols_share_the_span_of_what_they_came_from() -> None:
    vocabulary = built(sections.Characters(normalise="nfd"), "née")
    assert slices(vocabulary, "née") == [("n", "n"), ("e", "é"), ("\u0301", "é"), ("e", "e")]


def test_graphemes_of_devanagari_and_emoji_stay_whole() -> None:
    text = "नमस्ते 👨‍👩‍👧"
    pieces = slices(built(sections.Characters(graphemes=True), text), text)
    assert [piece for _, piece in pieces] == ["न", "म", "स्", "ते", " ", "👨‍👩‍👧"]
    assert all(symbol == piece for symbol, piece in pieces)


def test_spans_point_into_the_text_before_lower_casing() -> None:
    assert slices(built(sections.Characters(lowercase=True), "İX"), "İX") == [("i", "İ"), ("\u0307", "İ"), ("x", "X")]


def test_a_words_span_has_no_spaces() -> None:
    vocabulary = built(sections.Words(), "one two , three")
    assert slices(vocabulary, "  one   two,three ") == [("one", "one"), ("two", "two"), (",", ","), ("<unknown>", "three")]


# --- marks and features ---------------------------------------------------------------------------------------------

FORGERIES = ["< begin >", "<begin>", "< end >", "<end>", "< unknown >", "<unknown>", "<s>", "</s>", "<pad>", "<loud>"]


@every_kind
@pytest.mark.parametrize("text", FORGERIES)
def test_no_text_can_forge_a_mark(section: sections.BuiltVocabulary, text: str) -> None:
    vocabulary = build_vocabulary(section, [*FORGERIES, "plain text"]).with_features(["loud"])
    forged = text if vocabulary.whole else f"{text} {text}"
    ids = vocabulary.encode_source(forged).ids
    assert ids.min() > UNKNOWN
    assert vocabulary.size - 1 not in ids
    assert vocabulary.decode(ids) == forged


def test_features_lead_and_may_be_absent() -> None:
    vocabulary = built(sections.Characters(), "ab", features=["en", "fr"])
    with_feature = vocabulary.encode_source("ab", ["fr"])
    assert with_feature.symbols == ("<fr>", "a", "b")
    assert with_feature.spans == ((0, 0), (0, 1), (1, 2))
    assert with_feature.ids[0] == vocabulary.size - 1
    assert vocabulary.encode_source("ab").symbols == ("a", "b")
    assert vocabulary.decode(with_feature.ids) == "ab"


def test_an_unknown_feature_is_told_the_known_ones() -> None:
    vocabulary = built(sections.Characters(), "ab", features=["en", "fr"])
    with pytest.raises(DataError, match=r"'de' did not occur in training\. Known features: en, fr\."):
        vocabulary.encode_source("ab", ["de"])
    with pytest.raises(DataError, match="Known features: none"):
        built(sections.Characters(), "ab").encode_sources(["ab"], [["de"]])


def test_of_many_features_some_are_named_and_the_nearest_one_is_proposed() -> None:
    many = built(sections.Characters(), "ab", features=[f"case={number}" for number in range(10, 40)])
    with pytest.raises(DataError, match=r"Did you mean case=17\? Known features: case=10, .* and 10 more\. Leave it out"):
        many.encode_source("ab", ["caze=17"])


def test_begin_and_end_frame_the_source_if_wanted_and_never_the_target() -> None:
    vocabulary = built(sections.Characters(begin_end=True), "ab", features=["en"])
    encoded = vocabulary.encode_source("ab", ["en"])
    assert encoded.symbols == ("<en>", "<begin>", "a", "b", "<end>")
    assert encoded.spans == ((0, 0), (0, 0), (0, 1), (1, 2), (2, 2))
    assert vocabulary.encode_targets(["ab"])[0].tolist() == encoded.ids[2:4].tolist()
    assert vocabulary.decode(encoded.ids) == "ab"


@every_kind
def test_an_empty_source_is_its_end_alone(section: sections.BuiltVocabulary) -> None:
    vocabulary = build_vocabulary(section, ["a b"]).with_features(["en"])
    assert vocabulary.encode_source("").ids.tolist() == [END]
    assert vocabulary.encode_source("").spans == ((0, 0),)
    assert vocabulary.encode_source("", ["en"]).symbols == ("<en>", "<end>")
    assert len(vocabulary.encode_targets([""])[0]) == 0
    framed = build_vocabulary(section.model_copy(update={"begin_end": True}), ["a b"])
    assert framed.encode_source("").ids.tolist() == [BEGIN, END]


@every_kind
def test_what_training_did_not_have_is_unknown(section: sections.BuiltVocabulary) -> None:
    vocabulary = build_vocabulary(section, ["a b ab"])
    encoded = vocabulary.encode_source("a q")
    assert UNKNOWN in encoded.ids
    assert "<unknown>" in encoded.symbols
    assert vocabulary.decode(encoded.ids) == ("<unknown>" if vocabulary.whole else "a <unknown>")


# --- sizes ----------------------------------------------------------------------------------------------------------


def test_minimum_count_leaves_rare_symbols_out() -> None:
    for section in (sections.Characters(minimum_count=2), sections.Symbols(minimum_count=2), sections.Words(minimum_count=2)):
        vocabulary = built(section, "a", "a", "b")
        assert vocabulary.symbols(range(3, vocabulary.size)) == ("a",)


def test_a_whole_text_is_one_symbol_spaces_and_all() -> None:
    vocabulary = built(sections.Whole(), "entailment", "not entailment", "entailment")
    assert vocabulary.whole
    assert not any(build_vocabulary(section, ["a b"]).whole for name, section in SECTIONS.items() if name != "whole")
    ids = vocabulary.encode_targets(["entailment", "not  entailment", "not"])
    assert [one.tolist() for one in ids] == [[UNKNOWN + 1], [UNKNOWN + 2], [UNKNOWN]]
    assert vocabulary.decode(ids[1]) == "not entailment"
    assert Vocabulary.from_json(vocabulary.to_json(), where="x").whole
    assert vocabulary.find("not entailment") == UNKNOWN + 2


def test_size_keeps_the_most_frequent_words() -> None:
    for section in (sections.Symbols(size=2), sections.Words(size=2)):
        vocabulary = built(section, "x", "y", "y", "z", "z", "z")
        assert vocabulary.symbols(range(vocabulary.size)) == ("<begin>", "<end>", "<unknown>", "z", "y")


def test_subwords_keep_to_their_size() -> None:
    texts = ["abcabc abd", "bcd abc cab", "dab cad bad abc"] * 5
    assert build_vocabulary(sections.Bpe(size=16), texts).size == 16
    assert build_vocabulary(sections.Unigram(size=16), texts).size <= 16


@pytest.mark.parametrize("kind", [sections.Bpe, sections.Unigram])
def test_subwords_are_cut_around_punctuation_but_not_inside_a_word(kind: type[sections.Bpe | sections.Unigram]) -> None:
    texts = ['A well-known street, he said: "It\'s 3.5 km (or more)..."', "l\u2019eau, and/or 今日は、いい。"]
    vocabulary = build_vocabulary(kind(size=400), texts * 50)
    pieces = [piece for text in texts for piece in vocabulary.kind.splitter(kind()).pre_tokenize_str(text)]
    assert " ".join(piece for piece, _ in pieces).replace("\u2581", "_") == (
        '_A _well-known _street , _he _said : _" It\'s _3.5 _km _( or _more )..." _l\u2019eau , _and / or _今日は 、 いい 。'
    )
    for text in texts:
        assert vocabulary.decode(vocabulary.encode_source(text).ids) == text


def test_a_size_too_small_for_the_characters_is_refused_with_a_remedy() -> None:
    with pytest.raises(RecipeError, match=r"kind unigram could not be learnt .* Raise its size"):
        built(sections.Unigram(size=8), "abcdefghijklmnop")


def test_a_mistake_in_the_data_passes_through_the_building() -> None:
    def texts() -> list[str]:
        raise DataError("x.tsv:3: no target")

    for section in SECTIONS.values():
        with pytest.raises(DataError, match=r"^x\.tsv:3: no target$"):
            build_vocabulary(section, (text for make in (texts,) for text in make()))


def test_a_symbol_is_found_by_its_spelling() -> None:
    words = built(sections.Words(), "one two")
    assert words.symbol(words.find("two")) == "two"
    with pytest.raises(UsageError, match="'three' is not in the vocabulary of 5 symbols"):
        words.find("three")


def test_a_shared_vocabulary_serves_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "pairs.tsv"
    path.write_text("ab\tcd\ten\nba\tdc\t\n", encoding="utf-8")
    data = {"train": str(path), "split": {"validation": 0.0, "test": 0.0}, "columns": {"features": [3]}}
    shared = prepare(Corpus(recipe_from({"data": {**data, "vocabularies": {"shared": True}}}).data, 1)).vocabularies
    assert shared["source"].to_json() == shared["target"].to_json()
    assert shared["source"].symbols(range(3, shared["source"].size)) == ("a", "b", "c", "d", "<en>")
    apart = prepare(Corpus(recipe_from({"data": data}).data, 1)).vocabularies
    assert apart["source"].symbols(range(3, 6)) == ("a", "b", "<en>")
    assert apart["target"].symbols(range(3, apart["target"].size)) == ("c", "d")


# --- as a file ------------------------------------------------------------------------------------------------------


@every_kind
def test_a_vocabulary_survives_its_file(section: sections.BuiltVocabulary) -> None:
    texts = ["one two", "नमस्ते 👨‍👩‍👧", "it's < begin >"]
    before = build_vocabulary(section.model_copy(update={"begin_end": True}), texts).with_features(["en", "fr"])
    after = Vocabulary.from_json(before.to_json(), where="source.json")
    assert after.to_json() == before.to_json()
    assert after.size == before.size
    for text in [*texts, "unseen"]:
        ids = before.encode_source(text, ["fr"])
        assert after.encode_source(text, ["fr"]).ids.tolist() == ids.ids.tolist()
        assert after.encode_source(text, ["fr"]).symbols == ids.symbols
        assert after.decode(ids.ids) == before.decode(ids.ids)


@every_kind
def test_a_vocabulary_says_its_kind_and_one_that_was_stored_before_is_recognised(section: sections.BuiltVocabulary) -> None:
    body = json.loads(build_vocabulary(section, ["one two"]).to_json())
    assert body.pop("kind") == section.kind
    assert Vocabulary.from_json(json.dumps(body), where="source.json").kind is KINDS[section.kind]
    with pytest.raises(RunError, match="not a vocabulary that seqloom wrote"):
        Vocabulary.from_json(json.dumps({**body, "kind": "runes"}), where="source.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"format": "seqloom-vocabulary"}', '"text"'])
def test_a_foreign_file_is_refused(text: str) -> None:
    with pytest.raises(RunError, match=r"^source\.json: not a vocabulary that seqloom wrote"):
        Vocabulary.from_json(text, where="source.json")


def test_a_damaged_pipeline_and_another_version_are_refused() -> None:
    body = TypeAdapter(dict[str, object]).validate_json(built(sections.Characters(), "ab").to_json())
    with pytest.raises(RunError, match="expected a seqloom-vocabulary of version 1, found seqloom-vocabulary 99"):
        Vocabulary.from_json(json.dumps({**body, "version": 99}), where="source.json")
    with pytest.raises(RunError, match="not a vocabulary that seqloom wrote"):
        Vocabulary.from_json(json.dumps({**body, "tokenizer": {"model": "?"}}), where="source.json")


# --- symbols that can be copied -------------------------------------------------------------------------------------

COPIED = {
    "words": ("Anna met  Zyx, Zyx and Uli", "Uli met Zyx,", ("Zyx", ",", "Uli")),
    "symbols": ("Anna met  Zyx, Zyx and Uli", "Uli met Zyx,", ("Zyx,", "Zyx", "Uli")),
    "characters": ("Anna 7 and 8 or 7", "met 87", ("7", "8", "o")),
}


@pytest.mark.parametrize("kind", COPIED)
@pytest.mark.parametrize("begin_end", [False, True])
def test_unknown_symbols_are_told_apart_and_spelled_as_they_stand(kind: str, begin_end: bool) -> None:
    source, target, unknown = COPIED[kind]
    section = SECTIONS[kind].model_copy(update={"begin_end": begin_end})
    vocabulary = built(section, "Anna met Bert and", features=["de"])
    encoded = vocabulary.told_apart(vocabulary.encode_source(source), source)
    assert vocabulary.symbols(encoded.copies, encoded.copies) == unknown
    assert set(unknown) <= set(encoded.symbols)
    assert "<unknown>" not in encoded.symbols
    assert encoded.unknown_in(source) == ()
    assert [vocabulary.size + np.flatnonzero(encoded.ids == one)[0] for one in encoded.copies] == list(encoded.copies)
    assert UNKNOWN not in encoded.ids
    assert vocabulary.decode(encoded.ids, encoded.copies) == normalised(source, section)
    ids = vocabulary.encode_copying(target, encoded.copies)
    assert set(ids.tolist()) <= {*range(3, vocabulary.size), *encoded.copies}
    assert vocabulary.decode(ids, encoded.copies) == target
    assert target.endswith(vocabulary.symbols(ids[-1:], encoded.copies))


def test_a_target_has_unknown_symbols_that_its_source_does_not_have() -> None:
    vocabulary = built(sections.Words(), "Anna met Bert")
    assert vocabulary.encode_copying("Anna met Zyx", {9: "Uli"}).tolist()[-1] == UNKNOWN
    assert vocabulary.encode_copying("", {9: "Uli"}).tolist() == []
