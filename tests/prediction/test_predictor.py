from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import untrained_language_run

from seqloom.data.examples import Example, Origin
from seqloom.errors import DataError, UsageError
from seqloom.evaluation.items import items_of
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Beam, Greedy, Sample, Search
from seqloom.results.predictions import Prediction
from seqloom.training.session import train

TOLERANCE = 1e-4
GOLDEN_RUN = Path(__file__).parents[1] / "golden" / "run"
WORDS = [
    "abc",
    "hag",
    "deaf",
    "bead",
    "cab",
    "fed",
    "gebah",
    "head",
    "chef",
    "dada",
    "bag",
    "face",
    "a",
    "hgfedcbahgfedcba",
]
SEARCHES: dict[str, Search] = {"greedy": Greedy(), "beam": Beam(width=4), "sample": Sample(count=2, seed=3)}
every_search = pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES.keys())


@pytest.fixture(scope="module")
def predictor(tiny_run: Path) -> Predictor:
    return Predictor.load(tiny_run)


def assert_same(found: Sequence[Prediction], expected: Sequence[Prediction]) -> None:
    assert [one.text for one in found] == [one.text for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.score == pytest.approx(other.score, abs=TOLERANCE)
        assert one.log_prob == pytest.approx(other.log_prob, abs=TOLERANCE)
        weights, same = one.best.alignment["source"].weights, other.best.alignment["source"].weights
        np.testing.assert_allclose(weights, same, atol=TOLERANCE)


# --- what a result does not depend on -------------------------------------------------------------------------------


@every_search
def test_a_result_does_not_depend_on_the_batch_size(predictor: Predictor, search: Search) -> None:
    whole = predictor.predict(WORDS, search=search)
    for size in (1, 2, 7):
        assert_same(predictor.predict(WORDS, search=search, batch_size=size), whole)


@pytest.mark.parametrize("search", [Greedy(), Beam(width=4)], ids=["greedy", "beam"])
def test_a_result_does_not_depend_on_its_neighbours(predictor: Predictor, search: Search) -> None:
    whole = predictor.predict(WORDS, search=search)
    assert_same([predictor.predict([word], search=search)[0] for word in WORDS], whole)
    assert_same(predictor.predict(WORDS[::-1], search=search)[::-1], whole)
    assert_same(predictor.predict([*WORDS, "abcdefgh" * 10], search=search)[:-1], whole)


def test_in_bfloat16_a_result_does_not_depend_on_its_neighbours_either(tiny_run: Path, predictor: Predictor) -> None:
    """But for numbers about to be rounded either way, for which the last bit of float32 decides."""
    rounded = Predictor.load(tiny_run, precision="bf16")
    whole = rounded.predict(WORDS)
    alone = [rounded.predict([word])[0] for word in WORDS]
    assert [one.text for one in alone] == [one.text for one in whole] == [one.text for one in predictor.predict(WORDS)]
    np.testing.assert_allclose([one.log_prob for one in alone], [one.log_prob for one in whole], atol=0.01)


def test_a_shortlist_leaves_out_all_but_the_most_frequent_symbols(tiny_run: Path, predictor: Predictor) -> None:
    whole = predictor.vocabularies["target"]
    everything = Predictor.load(tiny_run, shortlist=10**6)
    assert_same(everything.predict(WORDS), predictor.predict(WORDS))
    few = Predictor.load(tiny_run, shortlist=2)
    allowed = {whole.symbol(3), whole.symbol(4), "<end>"}
    assert {token for one in few.predict(WORDS) for token in one.tokens} <= allowed
    with pytest.raises(UsageError, match="not on the shortlist"):
        few.predict(["abc"], prefix=whole.symbol(6))


def test_a_result_does_not_depend_on_how_many_are_asked_for(predictor: Predictor) -> None:
    one, four = predictor.predict(WORDS), predictor.predict(WORDS, nbest=4)
    assert_same(four, one)
    assert all(not prediction.alternatives for prediction in one)
    for prediction in four:
        scores = [prediction.score, *(other.score for other in prediction.alternatives)]
        assert len(scores) == 4
        assert scores == sorted(scores, reverse=True)


def test_a_stream_gives_what_a_list_gives(predictor: Predictor) -> None:
    assert_same(list(predictor.predict_stream(iter(WORDS), nbest=1)), predictor.predict(WORDS))
    assert predictor.predict([]) == []
    assert predictor.score([]) == []


# --- inputs ---------------------------------------------------------------------------------------------------------


def test_the_tiny_run_has_learnt_its_task(predictor: Predictor) -> None:
    texts = [prediction.text for prediction in predictor.predict(WORDS[:12])]
    right = sum(text.rstrip("!") == word.upper() for text, word in zip(texts, WORDS[:12], strict=True))
    assert right >= 6


def test_features_are_given_as_a_text_or_as_a_list(predictor: Predictor) -> None:
    inputs: list[Any] = [
        {"source": "abc", "features": "loud"},
        {"source": "abc", "features": ["loud"]},
        Example({"source": "abc"}, None, Origin("x", 1), features=("loud",)),
    ]
    first, second, third = predictor.predict(inputs)
    assert_same([second, third], [first, first])
    assert first.features == ("loud",)
    assert first.best.alignment["source"].symbols == ("<loud>", "a", "b", "c")
    assert first.text.endswith("!")
    plain, empty = predictor.predict([{"source": "abc"}, {"source": "abc", "features": []}])
    assert_same([plain, empty], predictor.predict(["abc", "abc"]))
    assert plain.log_prob != first.log_prob


def test_an_unknown_feature_is_told_the_known_ones(predictor: Predictor) -> None:
    with pytest.raises(DataError, match=r"'quiet' did not occur in training. Known features: loud"):
        predictor.predict([{"source": "abc", "features": "quiet"}])


@pytest.mark.parametrize("wrong", [{"src": "abc"}, {"source": "abc", "feature": "loud"}, {}])
def test_wrong_keys_are_named(predictor: Predictor, wrong: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"input 2: expected the keys `source`, perhaps `features` or `preceding`, found \["):
        predictor.predict(["abc", wrong])


def test_features_of_another_kind_are_refused(predictor: Predictor) -> None:
    with pytest.raises(UsageError, match="features: expected a text or a list of texts, found 3"):
        predictor.predict([{"source": "abc", "features": 3}])


def test_a_blank_line_has_an_empty_output(predictor: Predictor) -> None:
    blank, spaces, text = predictor.predict(["", "  ", "abc"], nbest=2)
    assert (blank.sources, blank.text, blank.tokens, blank.alternatives) == ({"source": ""}, "", (), ())
    assert (spaces.text, text.text) == ("", predictor.predict(["abc"])[0].text)


def test_unknown_symbols_are_read_as_such(predictor: Predictor) -> None:
    [prediction] = predictor.predict(["a語"])
    assert prediction.best.alignment["source"].symbols == ("a", "語")
    assert prediction.best.alignment["source"].unknown == (1,)


@pytest.mark.parametrize(
    ("search", "nbest", "remedy"),
    [
        (Greedy(), 2, "greedy search finds one output. Use beam search"),
        (Beam(width=3), 4, "the beam is 3 wide. Use a width of 4 or more"),
        (Sample(count=2), 3, "the search keeps 2. Raise its count"),
        (Beam(width=3), 0, "the beam is 3 wide"),
    ],
)
def test_more_than_the_search_keeps_is_refused(predictor: Predictor, search: Search, nbest: int, remedy: str) -> None:
    with pytest.raises(UsageError, match=f"{nbest} best outputs were asked for, but {remedy}"):
        predictor.predict(["abc"], search=search, nbest=nbest)


# --- outputs --------------------------------------------------------------------------------------------------------


@every_search
def test_every_output_begins_with_the_prefix(predictor: Predictor, search: Search) -> None:
    for prediction in predictor.predict(["abc", "a", "hgfedc"], search=search, prefix="HAG"):
        assert prediction.text.startswith("HAG")


@every_search
def test_a_log_prob_is_its_re_score(predictor: Predictor, search: Search) -> None:
    features = [("loud",) if number % 2 else () for number in range(len(WORDS))]
    inputs = [
        Example({"source": word}, None, Origin("x", 1), features=tags) for word, tags in zip(WORDS, features, strict=True)
    ]
    predictions = predictor.predict(inputs, search=search)
    finished = [number for number, prediction in enumerate(predictions) if prediction.best.finished]
    assert len(finished) > 5
    examples = [
        Example(predictions[number].sources, predictions[number].text, Origin("x", 1), features=features[number])
        for number in finished
    ]
    for number, scored in zip(finished, predictor.score(examples, batch_size=4), strict=True):
        best = predictions[number].best
        assert scored.log_prob == pytest.approx(best.log_prob, abs=TOLERANCE)
        assert scored.symbols == best.tokens
        np.testing.assert_allclose(scored.log_probs, best.log_probs, atol=TOLERANCE)
        assert sum(scored.log_probs) == pytest.approx(scored.log_prob)


def test_the_alignment_has_a_row_for_each_output_symbol(predictor: Predictor) -> None:
    for prediction in predictor.predict(WORDS, nbest=3):
        for candidate in (prediction.best, *prediction.alternatives):
            alignment = candidate.alignment["source"]
            source = prediction.sources["source"]
            assert alignment.weights.shape == (1, len(candidate.tokens), max(1, len(source)))
            assert "".join(alignment.symbols) == source
            np.testing.assert_allclose(alignment.weights.sum(axis=-1), 1.0, atol=1e-5)
            assert [source[start:end] for start, end in alignment.spans] == list(source)
            assert len(candidate.log_probs) == len(candidate.tokens)
            assert (candidate.tokens[-1] == "<end>") == candidate.finished


def test_scoring_needs_a_target(predictor: Predictor) -> None:
    with pytest.raises(DataError, match=r"^pairs\.tsv:7: this line has no target"):
        predictor.score([Example({"source": "abc"}, None, Origin("pairs.tsv", 7))])


def test_a_reference_symbol_outside_the_vocabulary_never_matches(predictor: Predictor) -> None:
    example = Example({"source": "abc"}, "A語", Origin("x", 1))
    [prediction] = predictor.predict([example])
    [item] = items_of(predictor, [example], [prediction])
    assert item.references == ("A語",)
    assert item.references_symbols[0][1] == -1
    assert item.source_length == 3


def test_a_model_that_writes_no_capitals_is_not_judged_by_them(tiny_recipe: dict[str, Any], tmp_path: Path) -> None:
    lower = {side: {"kind": "characters", "lowercase": True} for side in ("source", "target")}
    data, training = tiny_recipe["data"] | {"vocabularies": lower}, tiny_recipe["training"] | {"steps": 1}
    train(tiny_recipe | {"data": data, "training": training}, tmp_path / "run")
    predictor = Predictor.load(tmp_path / "run")
    example = Example({"source": "abc"}, "ABC", Origin("x", 1))
    [item] = items_of(predictor, [example], predictor.predict([example]))
    assert item.references == ("abc",)


# --- ensembles ------------------------------------------------------------------------------------------------------


@every_search
def test_a_run_with_itself_is_the_run(tiny_run: Path, predictor: Predictor, search: Search) -> None:
    twice = Predictor.load(tiny_run, tiny_run)
    assert_same(twice.predict(WORDS, search=search), predictor.predict(WORDS, search=search))
    examples = [Example({"source": "abc"}, "ABC", Origin("x", 1))]
    assert twice.score(examples)[0].log_prob == pytest.approx(predictor.score(examples)[0].log_prob, abs=TOLERANCE)


def test_an_ensemble_scores_what_it_predicts(tiny_run: Path, tiny_recipe: dict[str, Any], tmp_path: Path) -> None:
    training = {**tiny_recipe["training"], "steps": 30}
    train({**tiny_recipe, "training": training, "seed": 1}, tmp_path / "other")
    both = Predictor.load(tiny_run, tmp_path / "other")
    predictions = both.predict(WORDS[:5])
    examples = [Example(one.sources, one.text, Origin("x", 1)) for one in predictions]
    for prediction, scored in zip(predictions, both.score(examples), strict=True):
        assert scored.log_prob == pytest.approx(prediction.log_prob, abs=TOLERANCE)


def test_members_with_other_vocabularies_are_refused(tiny_run: Path, tiny_recipe: dict[str, Any], tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"x{number}\tX{number}\n" for number in range(60)), encoding="utf-8")
    training = {**tiny_recipe["training"], "steps": 1}
    train({**tiny_recipe, "data": {"train": str(pairs)}, "training": training}, tmp_path / "other")
    with pytest.raises(UsageError, match=rf"{tmp_path / 'other'}: its source vocabulary differs from that of {tiny_run}"):
        Predictor.load(tiny_run, tmp_path / "other")


def test_a_predictor_needs_a_model() -> None:
    with pytest.raises(UsageError, match="at least one model"):
        Predictor.load()


# --- shallow fusion -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fused(tiny_run: Path, tiny_language_run: Path) -> Predictor:
    return Predictor.load(tiny_run, language_model=tiny_language_run, weight=0.5)


@every_search
def test_a_language_model_without_weight_changes_nothing(
    tiny_run: Path, tiny_language_run: Path, predictor: Predictor, search: Search
) -> None:
    silent = Predictor.load(tiny_run, language_model=tiny_language_run, weight=0)
    for one, other in zip(silent.predict(WORDS, search=search), predictor.predict(WORDS, search=search), strict=True):
        assert one.best.as_json() == other.best.as_json()
        assert (one.fusion_weight, other.fusion_weight) == (0, None)


def test_a_heavy_language_model_writes_what_it_likes(tiny_run: Path, tiny_language_run: Path) -> None:
    heavy = Predictor.load(tiny_run, language_model=tiny_language_run, weight=20)
    [prediction] = heavy.predict(["abc"], search=Greedy())
    assert prediction.text.startswith("HHHH")


@every_search
def test_a_fused_result_does_not_depend_on_the_batch_size(fused: Predictor, search: Search) -> None:
    whole = fused.predict(WORDS, search=search)
    for size in (1, 3):
        assert_same(fused.predict(WORDS, search=search, batch_size=size), whole)


def test_log_prob_stays_the_models_own_and_the_score_adds_the_language_model(fused: Predictor) -> None:
    search = Beam(width=4, length_power=0)
    predictions = fused.predict(WORDS[:6], search=search)
    examples = [Example(one.sources, one.text, Origin("x", 1)) for one in predictions]
    for prediction, scored in zip(predictions, fused.score(examples), strict=True):
        assert prediction.fusion_weight == 0.5
        assert prediction.as_json()["fusion_weight"] == 0.5
        assert scored.log_prob == pytest.approx(prediction.log_prob, abs=TOLERANCE)
        assert prediction.score < prediction.log_prob


def test_the_score_is_what_both_models_say_of_the_output(fused: Predictor, tiny_language_run: Path) -> None:
    from seqloom.data.arrays import Padded
    from seqloom.data.preparing.batches import Batch
    from seqloom.prediction.backends import open_model

    [prediction] = fused.predict(["deaf"], search=Beam(width=4, length_power=0))
    language_model = open_model(tiny_language_run)
    target = language_model.vocabularies["target"].encode_targets([prediction.text])[0]
    batch = Batch({}, Padded.of([target]), np.ones(1, dtype=np.float32), (Origin("x", 1),))
    log_prob = float(language_model.stepper.score(batch).sum())
    assert prediction.score == pytest.approx(prediction.log_prob + 0.5 * log_prob, abs=TOLERANCE)


def test_an_ensemble_takes_a_language_model_too(tiny_run: Path, tiny_language_run: Path, fused: Predictor) -> None:
    twice = Predictor.load(tiny_run, tiny_run, language_model=tiny_language_run, weight=0.5)
    assert_same(twice.predict(WORDS, prefix="HAG"), fused.predict(WORDS, prefix="HAG"))


def test_what_cannot_be_fused_is_refused_with_a_remedy(tiny_run: Path, tiny_language_run: Path, tmp_path: Path) -> None:
    remedy = rf"train --text TARGETS --lines --vocabulary {tiny_run} --out LM"
    with pytest.raises(UsageError, match=rf"expected a language model to fuse, found a model that reads a source.*{remedy}"):
        Predictor.load(tiny_run, language_model=tiny_run)
    stream = untrained_language_run(tmp_path / "stream", tiny_run, favourite="H", text="stream")
    with pytest.raises(UsageError, match=rf"{stream}: is a language model of running text.*{remedy}"):
        Predictor.load(tiny_run, language_model=stream)
    other = untrained_language_run(tmp_path / "other", GOLDEN_RUN, favourite="A")
    with pytest.raises(
        UsageError, match=rf"{other}: its vocabulary differs from the target vocabulary of {tiny_run}.*{remedy}"
    ):
        Predictor.load(tiny_run, language_model=other)
    with pytest.raises(UsageError, match="is a number from 0 up"):
        Predictor.load(tiny_run, language_model=tiny_language_run, weight=-1)


def test_a_language_model_has_nothing_to_predict_from(tiny_language_run: Path) -> None:
    with pytest.raises(UsageError, match=rf"{tiny_language_run}: is a language model, which has no source.* --fuse"):
        Predictor.load(tiny_language_run)


# --- told where to look ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", [Greedy(), Beam(width=1), Sample(count=1, seed=3)], ids=["greedy", "beam", "sample"])
def test_told_its_own_weights_a_model_says_the_same(predictor: Predictor, search: Search) -> None:
    # One output is followed: with more of them, all would be told what the best one looked at.
    free = predictor.predict(WORDS, search=search)
    assert_same(predictor.predict(WORDS, search=search, oracle=[one.alignment["source"].mean for one in free]), free)


@every_search
def test_told_to_look_elsewhere_a_model_writes_what_is_there(predictor: Predictor, search: Search) -> None:
    backwards = ["2-0 1-1 0-2", "0-0 1-1 2-2", None]
    turned = predictor.predict(["abc", "abc", "abc"], search=search, oracle=backwards)
    weights = turned[0].alignment["source"].weights[0]
    np.testing.assert_allclose(weights[:3], np.eye(3)[::-1], atol=1e-6)
    if not isinstance(search, Sample):
        assert [one.text for one in turned] == ["CBA", "ABC", "ABC"]


def test_an_oracle_is_followed_in_bfloat16_too(tiny_run: Path) -> None:
    [turned] = Predictor.load(tiny_run, precision="bf16").predict(["abc"], oracle=["2-0 1-1 0-2"])
    assert turned.text == "CBA"
    np.testing.assert_allclose(turned.alignment["source"].weights[0, :3], np.eye(3)[::-1], atol=1e-6)


def test_an_oracle_of_some_is_no_matter_of_their_neighbours(predictor: Predictor) -> None:
    oracle: list[Any] = ["1-0 0-1" if number % 2 else None for number in range(len(WORDS) - 2)]
    words = WORDS[: len(oracle)]
    whole = predictor.predict(words, oracle=oracle)
    assert_same(predictor.predict(words, oracle=oracle, batch_size=3), whole)
    free = predictor.predict(words)
    assert_same([one for one, entry in zip(whole, oracle, strict=True) if entry is None], free[::2])
    assert_same(list(predictor.predict_stream(words, oracle=iter(oracle), at_once=5)), whole)


def test_words_of_the_source_stand_for_their_symbols(predictor: Predictor) -> None:
    loud = {"source": "abc", "features": ["loud"]}
    [told] = predictor.predict([loud], oracle=["0-0"], oracle_unit="words")
    assert told.alignment["source"].symbols[0] == "<loud>"
    np.testing.assert_allclose(told.alignment["source"].weights[0, 0], [0, 1 / 3, 1 / 3, 1 / 3], atol=1e-6)


def test_members_of_an_ensemble_are_told_the_same(tiny_run: Path, predictor: Predictor) -> None:
    both = Predictor.load(tiny_run, tiny_run)
    assert_same(both.predict(["abc"], oracle=["2-0 1-1 0-2"]), predictor.predict(["abc"], oracle=["2-0 1-1 0-2"]))


def test_what_an_oracle_cannot_say_is_one_clear_sentence(predictor: Predictor) -> None:
    with pytest.raises(DataError, match="oracle 2: the pair 3-0 names source position 3, but the source has 3 symbols"):
        predictor.predict(["abc", "abc"], oracle=[None, "3-0"])
    with pytest.raises(UsageError, match="the oracle has 1 entries for 2 inputs"):
        predictor.predict(["abc", "abc"], oracle=["0-0"])
    with pytest.raises(DataError, match="the oracle has 1 entries, but there are more inputs"):
        list(predictor.predict_stream(["abc", "abc"], oracle=["0-0"]))
    with pytest.raises(DataError, match="more entries than the 1 inputs"):
        list(predictor.predict_stream(["abc"], oracle=["0-0", None]))


def test_a_model_that_does_not_look_cannot_be_told_where(tiny_recipe: dict[str, Any], tmp_path: Path) -> None:
    blind = {**tiny_recipe["model"], "bridge": {"kind": "initial"}}
    train({**tiny_recipe, "model": blind, "training": {**tiny_recipe["training"], "steps": 2}}, tmp_path / "blind")
    with pytest.raises(UsageError, match="with the bridge initial does not look"):
        Predictor.load(tmp_path / "blind").predict(["abc"], oracle=["0-0"])


# --- encodings ------------------------------------------------------------------------------------------------------


def test_encodings_are_the_summaries_in_the_order_of_the_inputs_whatever_their_neighbours(predictor: Predictor) -> None:
    whole = predictor.encode(WORDS)["source"]
    assert whole.shape == (len(WORDS), 2 * 24)  # both directions
    assert len({tuple(row) for row in whole.round(4).tolist()}) == len(WORDS)
    for size in (1, 5):
        np.testing.assert_allclose(predictor.encode(WORDS, batch_size=size)["source"], whole, atol=TOLERANCE)
    np.testing.assert_allclose(predictor.encode(WORDS[::-1])["source"][::-1], whole, atol=TOLERANCE)


def test_features_are_part_of_an_encoding(predictor: Predictor) -> None:
    plain, loud = predictor.encode(["abc", {"source": "abc", "features": "loud"}])["source"]
    assert np.abs(plain - loud).max() > 0.01


def test_an_ensemble_has_no_encodings(tiny_run: Path) -> None:
    with pytest.raises(UsageError, match="encodings are those of one model"):
        Predictor.load(tiny_run, tiny_run).encode(["abc"])
