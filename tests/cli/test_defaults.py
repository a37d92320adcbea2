"""What `train --pairs` chooses for data that comes without a recipe."""

import random
from pathlib import Path

import pytest

from seqloom.data.preparing.corpus import Corpus
from seqloom.recipe import Recipe
from seqloom.recipe.sections import Characters, Columns, ComparingEncoder
from seqloom.recipe.shipped import shipped_recipe
from seqloom.suggest.defaults import recipe_for
from seqloom.suggest.reasons import reasons
from seqloom.suggest.recognition import recognise


def _recipe(folder: Path, lines: list[str]) -> Recipe:
    path = folder / "pairs.tsv"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return recipe_for(str(path))


def _kinds(recipe: Recipe) -> tuple[str, str, str]:
    vocabularies = recipe.data.vocabularies
    return vocabularies.source.kind, vocabularies.target.kind, recipe.training.validation.metric


def _words(count: int, letters: str = "abcdefghijklmnop") -> list[str]:
    draw = random.Random(3)
    return ["".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(count)]


def _sentences(count: int) -> list[str]:
    draw = random.Random(4)
    words = _words(3000)
    return [" ".join(draw.choices(words, k=draw.randint(4, 12))) for _ in range(count)]


def test_words_are_characters(tmp_path: Path) -> None:
    recipe = _recipe(tmp_path, [f"{word}\t{word.upper()}" for word in _words(300)])
    assert _kinds(recipe) == ("characters", "characters", "cer")


@pytest.mark.parametrize("count", [30, 3000])
def test_phonemes_between_spaces_are_symbols(tmp_path: Path, count: int) -> None:
    recipe = _recipe(tmp_path, [f"{word}\t{' '.join(word.upper())}" for word in _words(count)])
    assert _kinds(recipe) == ("characters", "symbols", "symbol_error_rate")


def test_pronunciations_get_the_shipped_recipe(tmp_path: Path) -> None:
    recipe = _recipe(tmp_path, [f"{word}\t{' '.join(word.upper())}" for word in _words(3600)])
    shipped = shipped_recipe("pronunciation")
    assert (recipe.model, recipe.training, recipe.search) == (shipped.model, shipped.training, shipped.search)
    assert recipe.data.vocabularies == shipped.data.vocabularies
    assert "the recipe pronunciation" in reasons(recipe)


def test_what_does_not_run_along_with_its_source_gets_attention(tmp_path: Path) -> None:
    along = _recipe(tmp_path, [f"{word}\t{' '.join(word.upper())}" for word in _words(300)])
    back = _recipe(tmp_path, [f"{word}\t{' '.join(word.upper()[::-1])}" for word in _words(300)])
    assert (along.model.bridge.kind, back.model.bridge.kind) == ("monotonic", "attention")
    assert "never back, as targets run along with their sources" in reasons(along)
    assert "targets do not run along with their sources" in reasons(back)
    assert back.model == _recipe(tmp_path, [f"{word}\t{word[::-1]}" for word in _words(300)]).model


def test_case_is_kept_where_it_tells_words_apart(tmp_path: Path) -> None:
    words = [*_words(100), "Weg", "weg"]
    recipe = _recipe(tmp_path, [f"{word}\t{' '.join(word)}" for word in words])
    assert recipe.data.vocabularies.source == Characters(lowercase=False, normalise="nfd", begin_end=True)


def test_small_data_gets_a_narrower_model_and_large_data_the_shipped_one(tmp_path: Path) -> None:
    shipped = shipped_recipe("transliteration")
    small = _recipe(tmp_path, [f"{word}\t{word.upper()}" for word in _words(300)])
    large = _recipe(tmp_path, [f"{word}\t{word.upper()}" for word in _words(40_000)])
    assert (large.model, large.training.batch_tokens) == (shipped.model, shipped.training.batch_tokens)
    assert small.model.bridge == shipped.model.bridge
    assert small.model.decoder.size < shipped.model.decoder.size
    assert small.training.batch_tokens < shipped.training.batch_tokens


def test_long_texts_are_not_left_out(tmp_path: Path) -> None:
    long = [" ".join(_sentences(12)[index:] + _sentences(12)[:index]) for index in range(12)]
    assert _recipe(tmp_path, [f"{one}\t{one}" for one in long]).data.maximum_length == 500


@pytest.mark.parametrize("count", [30, 3000])
def test_sentences_are_subwords(tmp_path: Path, count: int) -> None:
    recipe = _recipe(tmp_path, [f"{one}\t{one.upper()}" for one in _sentences(count)])
    assert _kinds(recipe) == ("bpe", "bpe", "chrf")


def test_a_file_sorted_by_length_is_seen_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqloom.suggest.recognition.rows._LOOK", 50)
    lines = [f"{word}.\t{word}!" for word in _words(200)] + [f"{one}\t{one}" for one in _sentences(2000)]
    assert _kinds(_recipe(tmp_path, lines)) == ("bpe", "bpe", "chrf")


@pytest.mark.parametrize("count", [30, 200, 2000])
def test_small_data_is_validated_and_makes_enough_updates(tmp_path: Path, count: int) -> None:
    recipe = _recipe(tmp_path, [f"{word}\t{word}" for word in _words(count)])
    corpus = Corpus(recipe.data, recipe.seed)
    sizes = {split: len(list(corpus.examples(split))) for split in ("train", "validation", "test")}
    assert min(sizes.values()) >= 2
    assert sizes["train"] >= 0.5 * count
    once = 6 * count / recipe.training.batch_tokens
    assert recipe.training.epochs * max(recipe.training.shortest_epoch or 1, once) >= 100


def test_a_header_of_source_and_target_is_not_a_pair(tmp_path: Path) -> None:
    recipe = _recipe(tmp_path, ["source\ttarget", *(f"{word}\t{word}" for word in _words(40))])
    assert recipe.data.columns == Columns(source="source", target="target")
    assert len(list(Corpus(recipe.data, 0)._read(recipe.data.train or ""))) == 40


def test_columns_and_settings_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word.upper()}\t{word}\n" for word in _words(50)))
    table = recognise(str(path), {"source": 2, "target": 1})
    recipe = recipe_for(str(path), table, overrides=["training.epochs=3", "seed=8"])
    assert (recipe.data.columns.source, recipe.training.epochs, recipe.seed) == (2, 3, 8)


def test_a_few_targets_that_come_again_and_again_are_classes(tmp_path: Path) -> None:
    recipe = _recipe(tmp_path, [f"{one}\t{'with a' if 'a' in one else 'without'}" for one in _words(300)])
    assert _kinds(recipe) == ("characters", "whole", "exact_match")


def test_two_texts_have_two_encoders(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"{number}\t{one}\t{one[::-1]}\n" for number, one in enumerate(_words(50))))
    table = recognise(str(tmp_path / "pairs.tsv"), {"left": 2, "right": 3, "target": 1})
    recipe = recipe_for(str(tmp_path / "pairs.tsv"), table)
    assert [(name, source.column) for name, source in recipe.data.sources.items()] == [("left", 2), ("right", 3)]
    assert list(recipe.model.encoders or {}) == ["left", "right"]
    assert recipe.data.columns.target == 1


def test_words_tags_and_forms_get_the_recipe_of_inflection(tmp_path: Path) -> None:
    tags = ["V;PST;1", "V;PRS;1", "V;PST;2", "N;SG"]
    recipe = _recipe(tmp_path, [f"{word}\t{tags[number % 4]}\t{word}ed" for number, word in enumerate(_words(200))])
    assert (recipe.data.columns.features, recipe.data.columns.separator, recipe.copies) == ((2,), ";", True)
    assert "the recipe inflection" in reasons(recipe)


def test_long_texts_with_short_targets_get_the_recipe_of_summaries(tmp_path: Path) -> None:
    sentences = _sentences(400)
    recipe = _recipe(
        tmp_path, [" ".join(sentences[number : number + 6]) + "\t" + sentences[number][:30] for number in range(300)]
    )
    assert recipe.data.sources["source"].model_dump()["first"] == 400
    assert (recipe.data.vocabularies.shared, recipe.training.validation.metric) == (True, "rouge_1")
    assert "the recipe summaries" in reasons(recipe)


def test_texts_that_others_precede_get_the_recipe_of_dialogue(tmp_path: Path) -> None:
    path = tmp_path / "turns.tsv"
    path.write_text("".join(f"{one}\twhat is {word} ?\t{word}\n" for one, word in _asked_about()))
    recipe = recipe_for(str(path), recognise(str(path), {"source": 1, "preceding": [2], "target": 3}))
    assert "the recipe dialogue" in reasons(recipe)
    assert (recipe.data.columns.preceding, recipe.copies) == ((2,), False)


@pytest.mark.parametrize("told", [None, {"text": 1, "question": 2, "target": 3}])
def test_texts_questions_and_answers_get_the_recipe_of_answers(tmp_path: Path, told: dict[str, int] | None) -> None:
    path = tmp_path / "asked.tsv"
    path.write_text("".join(f"{one}\twhat is {word} ?\t{word}\n" for one, word in _asked_about()))
    recipe = recipe_for(str(path), recognise(str(path), told))
    assert "the recipe answers" in reasons(recipe)
    assert {name: source.column for name, source in recipe.data.sources.items()} == {"question": 2, "text": 1}
    assert (recipe.copied, recipe.data.split.by, recipe.data.columns.target) == ("text", "text", 3)
    assert isinstance(recipe.model.encoder_of("text"), ComparingEncoder)
    assert recipe.training.epochs > 6  # small data is gone over more often


def test_questions_about_texts_without_spaces_are_read_by_their_characters(tmp_path: Path) -> None:
    path = tmp_path / "asked.tsv"
    path.write_text("".join(f"{one.replace(' ', '') * 2}\t{word}？\t{word}\n" for one, word in _asked_about()))
    recipe = recipe_for(str(path))
    assert (recipe.data.vocabularies.source.kind, recipe.copied) == ("characters", "text")


def _asked_about() -> list[tuple[str, str]]:
    return list(zip(_sentences(200), _words(200), strict=True))
