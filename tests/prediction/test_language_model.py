"""Language models: scores, samples, completions, readings, hidden units."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import TEXT

import seqloom.prediction.language_model as module
from seqloom.data.vocabulary import Vocabulary, build_vocabulary
from seqloom.errors import UsageError
from seqloom.prediction.hidden_units import selectivity_of
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.prediction.writing import Speller
from seqloom.recipe.sections import Beam, Bpe, Characters, Sample, Symbols, Words
from seqloom.results.language import Summary
from seqloom.runs import RunFolder
from seqloom.symbols import BEGIN, END, UNKNOWN

TOLERANCE = 1e-4
RUNS = ["lines-characters", "lines-words", "stream-characters", "stream-words"]


@pytest.fixture(params=RUNS)
def model(text_runs: dict[str, Path], request: pytest.FixtureRequest) -> LanguageModel:
    return LanguageModel.load(text_runs[request.param])


@pytest.fixture
def lines(text_runs: dict[str, Path]) -> LanguageModel:
    return LanguageModel.load(text_runs["lines-characters"])


@pytest.fixture
def running(text_runs: dict[str, Path]) -> LanguageModel:
    return LanguageModel.load(text_runs["stream-characters"])


def step_log_probs(model: LanguageModel, ids: list[int], first: int) -> list[float]:
    """Log-probabilities by steps of one symbol: the plain definition."""
    state, before, found = model._stepper.start({}, 1), first, []
    for one in ids:
        step = model._stepper.step(np.asarray([[before]]), state)
        found.append(float(step.at(np.asarray([[[one]]]))[0, 0, 0]))
        state, before = step.state, one
    return found


# --- scoring --------------------------------------------------------------------------------------------------------


def test_each_line_of_a_model_of_lines_is_scored_by_itself(lines: LanguageModel) -> None:
    for text, scored in zip(TEXT, lines.score(TEXT), strict=True):
        ids = [*lines.vocabulary.encode_targets([text])[0].tolist(), END]
        np.testing.assert_allclose(scored.log_probs, step_log_probs(lines, ids, BEGIN), atol=TOLERANCE)
        assert scored.symbols == (*text, "<end>")
        assert scored.log_prob == pytest.approx(sum(scored.log_probs))


def test_running_text_begins_after_an_end_and_carries_its_state(running: LanguageModel) -> None:
    ids = [one for text in TEXT for one in [*running.vocabulary.encode_targets([text])[0].tolist(), END]]
    expected = step_log_probs(running, ids, END)
    found = [value for scored in running.score(TEXT) for value in scored.log_probs]
    np.testing.assert_allclose(found, expected, atol=TOLERANCE)


def test_a_score_does_not_depend_on_the_length_of_stretches(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = model.score(TEXT * 3)
    monkeypatch.setattr(module, "_WINDOW", 7)
    for one, other in zip(model.score(TEXT * 3), whole, strict=True):
        np.testing.assert_allclose(one.log_probs, other.log_probs, atol=TOLERANCE)


def test_rows_side_by_side_agree_beyond_their_start_up(running: LanguageModel) -> None:
    texts = TEXT * 80
    whole = running.score(texts, rows=1)
    for rows in (2, 5):
        for one, other in zip(running.score(texts, rows=rows), whole, strict=True):
            np.testing.assert_allclose(one.log_probs, other.log_probs, atol=1e-3)


def test_a_short_text_is_read_in_one_row(running: LanguageModel) -> None:
    ids = running._encode(["a" * 18_000]).ids
    assert [len(laid_out.inputs) for laid_out in running._text_rows(running._encode(["a" * 18_000]), None)] == [1]
    assert [len(laid_out.inputs) for laid_out in running._text_rows(running._encode(["a" * 60_000]), None)] == [6]
    assert len(ids) == 18_001


def test_lines_of_very_different_lengths_are_scored_alike_together_and_alone(lines: LanguageModel) -> None:
    texts = ["a", "the cat " * 300, "", "rat", "sat " * 50]
    together = lines.score(texts)
    for text, scored in zip(texts, together, strict=True):
        np.testing.assert_allclose(lines.score([text])[0].log_probs, scored.log_probs, atol=TOLERANCE)


def test_unknown_symbols_are_counted_and_the_summary_adds_up(lines: LanguageModel) -> None:
    scored = lines.score(["the cat", "a zoo"])
    summary = Summary.of(scored)
    assert scored[1].unknown == (2,)
    assert (summary.lines, summary.symbols, summary.characters, summary.unknown) == (2, 14, 14, 1)
    assert summary.log_prob == pytest.approx(sum(one.log_prob for one in scored))
    assert summary.perplexity == pytest.approx(np.exp(-summary.log_prob / 14))
    assert summary.bits_per_character == pytest.approx(-summary.log_prob / 14 / np.log(2))


def test_bits_per_character_count_characters_and_line_ends_not_words(text_runs: dict[str, Path]) -> None:
    summary = Summary.of(LanguageModel.load(text_runs["lines-words"]).score(["the cat", "a dog"]))
    assert (summary.symbols, summary.characters) == (6, 14)


# --- sampling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", ["", "the cat"])
def test_the_score_of_a_sampled_text_is_the_sum_of_its_steps(model: LanguageModel, prompt: str) -> None:
    for sampled in model.sample(20, prompt=prompt, length=30, search=Sample(temperature=1.5, seed=7)):
        scored = model.score(sampled.text.split("\n"))
        found = [value for one in scored for value in one.log_probs]
        if not sampled.finished:  # the text was cut off, so its last line has no end of its own
            found = found[:-1]
        np.testing.assert_allclose(found, sampled.log_probs, atol=TOLERANCE)
        assert sampled.log_prob == pytest.approx(sum(found), abs=1e-3)
        assert sampled.text.startswith(prompt)


def test_a_sample_depends_on_its_seed_and_number_alone(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    ten = model.sample(10, length=20)
    assert [one.text for one in model.sample(4, length=20)] == [one.text for one in ten[:4]]
    monkeypatch.setattr(module, "_SAMPLED_TOGETHER", 3)
    assert [one.text for one in model.sample(10, length=20)] == [one.text for one in ten]
    assert [one.text for one in model.sample(10, length=20, search=Sample(seed=2))] != [one.text for one in ten]


@pytest.mark.parametrize("prompt", ["", "the cat"])
def test_a_text_that_comes_piece_by_piece_is_the_first_sample(model: LanguageModel, prompt: str) -> None:
    for seed in range(5):
        search = Sample(seed=seed)
        [whole] = model.sample(1, prompt=prompt, search=search, length=40)
        assert "".join(model.stream(prompt=prompt, search=search, length=40)) == whole.text


def test_running_text_goes_on_over_line_ends_until_its_length(running: LanguageModel) -> None:
    texts = running.sample(8, length=60)
    assert all(len(one.symbols) == 60 and not one.finished for one in texts)
    assert any("\n" in one.text for one in texts)


def test_a_line_stops_at_its_end_or_its_length(lines: LanguageModel) -> None:
    texts = lines.sample(40, length=15)
    assert all("\n" not in one.text for one in texts)
    assert {one.finished for one in texts} == {True, False}
    assert all((one.symbols[-1] == "<end>") == one.finished and len(one.symbols) <= 15 for one in texts)


def test_neither_marks_nor_unknown_symbols_are_written(model: LanguageModel) -> None:
    written = {symbol for one in model.sample(50, length=30) for symbol in one.symbols}
    assert not written & {"<begin>", "<unknown>"}


def test_a_prompt_is_read_as_the_text_before(running: LanguageModel) -> None:
    [one] = running.sample(1, prompt="the cat\na d", length=5)
    assert one.text.startswith("the cat\na d")
    assert one.given == 11
    assert one.completion_log_prob == pytest.approx(sum(one.log_probs[11:]))


def test_a_prompt_outside_the_vocabulary_is_refused_with_what_it_lacks(lines: LanguageModel) -> None:
    with pytest.raises(UsageError, match=r"^prompt: 'X', 'z' did not occur in training.*Leave it out$"):
        lines.sample(prompt="the zX")


def test_a_line_break_in_the_prompt_of_a_line_is_refused(lines: LanguageModel) -> None:
    with pytest.raises(UsageError, match="trained on single lines"):
        lines.sample(prompt="the\ncat")


def test_the_most_probable_completions_are_the_best_of_all(lines: LanguageModel) -> None:
    """A beam as wide as all beginnings finds the best endings of at most three symbols."""
    symbols = [one for one in range(lines.vocabulary.size) if one not in (BEGIN, END, UNKNOWN)]
    endings = [[END]] + [[one, END] for one in symbols] + [[one, other, END] for one in symbols for other in symbols]
    prompt = lines.vocabulary.encode_targets(["the "])[0].tolist()
    texts = [lines.vocabulary.decode([*prompt, *ending]) for ending in endings]
    expected = sorted(zip((one.log_prob for one in lines.score(texts)), texts, strict=True), reverse=True)[:3]
    found = lines.complete("the ", search=Beam(width=400, length_power=0.0), length=3)
    finished = [one for one in found if one.finished][:3]
    assert [one.text for one in finished] == [text for _, text in expected]
    np.testing.assert_allclose([one.log_prob for one in finished], [value for value, _ in expected], atol=TOLERANCE)


def test_completions_of_running_text_end_with_the_line(running: LanguageModel) -> None:
    found = running.complete("the cat\na", search=Beam(width=3, length_power=0.0), length=30)
    assert len(found) == 3
    assert all(one.text.startswith("the cat\na") and one.text.count("\n") == 1 for one in found)
    assert [one.log_prob for one in found] == sorted((one.log_prob for one in found), reverse=True)


# --- spelling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("section", [Characters(), Words(), Symbols(), Bpe(size=40)], ids=lambda one: one.kind)
def test_symbols_one_by_one_spell_what_they_spell_together(section: Any) -> None:
    vocabulary: Vocabulary = build_vocabulary(section, [*TEXT, "don't, you (really)?"])
    speller = Speller(vocabulary)
    for text in [*TEXT, "don't, you (really)?", "a zebra"]:
        ids = vocabulary.encode_targets([text])[0].tolist()
        assert "".join(speller.add(one) for one in ids) == vocabulary.decode(ids)
        assert speller.add(END) == "\n"


# --- readings and hidden units --------------------------------------------------------------------------------------


def test_a_reading_says_what_scores_and_steps_say(model: LanguageModel) -> None:
    ranked: list[tuple[str, str]] = []
    for reading, scored in zip(model.read(TEXT), model.score(TEXT), strict=True):
        np.testing.assert_allclose(reading.log_probs, scored.log_probs, atol=TOLERANCE)
        assert reading.line.symbols == scored.symbols
        for symbol, rank, others in zip(scored.symbols, reading.ranks.tolist(), reading.alternatives, strict=True):
            values = [value for _, value in others]
            assert values == sorted(values, reverse=True)
            ranked += [(others[rank - 1][0], symbol)] if rank <= len(others) else []
        assert (reading.entropies >= 0).all()
        assert (reading.entropies <= np.log2(reading.choices) + 1e-4).all()
    assert ranked, "some symbols are among the most probable ones"
    assert all(listed == symbol for listed, symbol in ranked)


def test_only_the_most_surprising_lines_are_read_where_all_are_too_many(lines: LanguageModel) -> None:
    scored = lines.score(TEXT)
    worst = max(range(len(TEXT)), key=lambda number: scored[number].surprise)
    assert [one.number for one in lines.read(TEXT, most=1)] == [worst + 1]
    some = lines.read(TEXT, most=40)
    assert sum(len(one.line.symbols) for one in some) <= 40
    assert [one.number for one in some] == sorted(one.number for one in some)


def test_a_unit_has_a_value_after_every_symbol_that_is_read(model: LanguageModel) -> None:
    activations = model.activations(["the cat", "a dog"], [(2, 3), (1, 0)])
    assert [(unit.layer, unit.number) for unit in activations.units] == [(2, 3), (1, 0)]
    for unit in activations.units:
        for line, values in zip(activations.lines, unit.values, strict=True):
            assert values.shape == (len(line.symbols),)
            assert (line.symbols[-1] == "<end>") == model.running


def test_the_last_layer_is_what_the_output_layer_sees(lines: LanguageModel, text_runs: dict[str, Path]) -> None:
    ids = lines.vocabulary.encode_targets(["the cat"])[0]
    state = lines._stepper.start({}, 1)
    before = np.append(BEGIN, ids)
    hidden = lines._stepper.hidden_states(before, state)
    arrays, _ = RunFolder.open(text_runs["lines-characters"]).load_weights()
    logits = hidden[:, -1] @ arrays["decoder.output.weight"].T + arrays["decoder.output.bias"]
    log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    labels = np.append(ids, END)
    np.testing.assert_allclose(log_probs[np.arange(len(labels)), labels], lines.score(["the cat"])[0].log_probs, atol=TOLERANCE)


def test_selectivity_is_high_for_a_switch_and_low_for_a_constant() -> None:
    switch, constant, rare = [1, 1, -1, -1], [0.9] * 4, [1, -1, -1, -1]
    found = selectivity_of(np.asarray([switch, constant, rare], dtype=np.float32).T[:, None])
    np.testing.assert_allclose(found, [[1.0, 0.0, 0.75]], atol=1e-6)
    assert selectivity_of(np.ones((1, 2, 3), np.float32)).shape == (2, 3)


def test_a_unit_that_is_not_there_is_refused(lines: LanguageModel) -> None:
    with pytest.raises(UsageError, match="layers 1 to 2 with units 0 to 11"):
        lines.activations(["the"], [(2, 12)])


# --- loading --------------------------------------------------------------------------------------------------------


def test_each_kind_of_model_says_what_to_use_for_the_other(text_runs: dict[str, Path], tiny_run: Path) -> None:
    with pytest.raises(UsageError, match="found a model that reads a source"):
        LanguageModel.load(tiny_run)
    with pytest.raises(UsageError, match=r"is a language model.*`sample`"):
        Predictor.load(text_runs["lines-characters"])
