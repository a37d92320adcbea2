"""Mistakes in the YAML of a recipe, and in what `--set` changes of it."""

import pytest

from seqloom.errors import RecipeError
from seqloom.recipe import parse_recipe, recipe_from, to_yaml

from .refusals import BEAM_KEYS, DATES, refusal

TOO_LARGE = "r.yaml: expected at most 10,000 values, nested at most 40 deep, with all aliases followed; this is no recipe."

SYNTAX = {
    "": "r.yaml: expected a recipe, but there is nothing in it. Begin with `data: {train: pairs.tsv}`.",
    "# nothing\n": "r.yaml: expected a recipe, but there is nothing in it. Begin with `data: {train: pairs.tsv}`.",
    "- a": "r.yaml: expected a recipe with the keys data, model, training, search, seed, device; got a list.",
    "hello": "r.yaml: expected a recipe with the keys data, model, training, search, seed, device; got only 'hello'.",
    "a:\n\tb: 1": "r.yaml:2:1: not valid YAML: a tab where spaces are expected. Indent with spaces.",
    "a: b: c": (
        "r.yaml:1:5: not valid YAML: mapping values are not allowed here. "
        "Is the indentation right? Text that contains `: ` needs quotes."
    ),
    "a: [1": (
        "r.yaml:1:6: not valid YAML: while parsing a flow sequence, expected ',' or ']', but got '<stream end>'. "
        "A bracket or brace is not closed."
    ),
    "a: @b": (
        "r.yaml:1:4: not valid YAML: while scanning for the next token, found character '@' that cannot start any token. "
        "Text that begins with this character needs quotes."
    ),
    "a: 1\n---\nb: 2": (
        "r.yaml:2:1: not valid YAML: expected a single document in the stream, but found another document. "
        "Keep one document in the file."
    ),
    "seed: 1\nmodel:\n  encoder: {size: 1}\n  encoder: {size: 2}": (
        "r.yaml:4: model.encoder: this key was given before, in line 3. Keep one of them."
    ),
    "seed: 1\nseed: 1": "r.yaml:2: seed: this key was given before, in line 1. Keep one of them.",
    "seed: !!python/object/apply:os.system [ls]": (
        "r.yaml:1: the tag !!python/object/apply:os.system is not allowed, because recipes are plain data. Remove it."
    ),
    "seed: !mine 3": "r.yaml:1: the tag !mine is not allowed, because recipes are plain data. Remove it.",
    "seed: !!int x": "r.yaml:1: 'x' cannot be read as int.",
    "seed: 1\n? [a]\n: 2": "r.yaml:2: expected a word as the key; got a list or a mapping.",
    "<<: 3": "r.yaml:1: `<<` expects a mapping or a list of mappings to merge.",
    "seed: 1\ndevice: \x07": "r.yaml:2: not valid YAML: the character U+0007 is not allowed. Remove it.",
    'device: "\\ud800"': "r.yaml:1: expected text; got half of a surrogate pair, which stands for no character.",
    'device: "\\UFFFFFFFF"': "r.yaml: not valid YAML: an escape stands for no character.",
    "a: *b": "r.yaml:1:4: not valid YAML: found undefined alias 'b'.",
    "a: &a [*a]": TOO_LARGE,
    "[" * 5000: TOO_LARGE,
    f"a: [{'1,' * 11_000}]": TOO_LARGE,
}


@pytest.mark.parametrize(("text", "message"), SYNTAX.items(), ids=lambda text: repr(text[:20]))
def test_a_mistake_in_yaml_is_one_sentence(text: str, message: str) -> None:
    assert refusal(text) == message


def test_aliases_that_multiply_are_refused() -> None:
    levels = "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
    )
    assert refusal("a: &a [x]\n" + levels) == TOO_LARGE


OVERRIDES = {
    "model": "--set model: expected key.key=value, as in training.epochs=3.",
    "=3": "--set =3: expected key.key=value, as in training.epochs=3.",
    "model..size=3": "--set model..size=3: expected key.key=value, as in training.epochs=3.",
    "seed=": "--set seed=: expected a value after `=`. Write `null` for none, or `''` for empty text.",
    "seed=[1": (
        "--set seed=[1: not valid YAML: while parsing a flow sequence, expected ',' or ']', but got '<stream end>'. "
        "A bracket or brace is not closed."
    ),
    "seed=!!python/none x": (
        "--set seed=!!python/none x: the tag !!python/none is not allowed, because recipes are plain data. Remove it."
    ),
    "seed.deep=1": "--set seed.deep=1: expected a section at seed; the recipe has the value 7.",
    "search.forbid.0=a": (
        "--set search.forbid.0=a: expected a section at search.forbid; the recipe has a list. Set the whole list at once."
    ),
    "training.epochs=ten": "--set training.epochs: expected a whole number of at least 1; got 'ten'.",
    "model.brige.kind=initial": (
        "--set model.brige: unknown key. Did you mean 'bridge'? Known keys here: encoder, encoders, decoder, bridge, ctc."
    ),
    "search.widht=3": f"--set search.widht: unknown key for kind beam. Did you mean 'width'? {BEAM_KEYS}",
    "search={kind: beam, widht: 3}": f"--set search.widht: unknown key for kind beam. Did you mean 'width'? {BEAM_KEYS}",
    "search.kind=beem": "--set search.kind: expected one of beam, exhaustive, greedy, sample; got 'beem'. Did you mean 'beam'?",
    "data.train=a.tsv": (
        "r.yaml:1: data: `builtin` brings its own examples: remove `train`, `validation` and `test`, or remove `builtin`."
    ),
}


@pytest.mark.parametrize(("override", "message"), OVERRIDES.items())
def test_a_mistake_in_an_override_says_so(override: str, message: str) -> None:
    assert refusal(f"{DATES}seed: 7\nsearch: {{kind: beam, forbid: [x]}}\n", override) == message


def test_a_file_with_overrides_is_reported_with_both() -> None:
    assert refusal(f"{DATES}seed: -7\n", "training.epochs=0").splitlines() == [
        "r.yaml with --set has 2 mistakes:",
        "--set training.epochs: expected a whole number of at least 1; got 0.",
        "r.yaml:2: seed: expected a whole number of at least 0; got -7.",
    ]


def test_a_key_that_was_set_is_not_dropped_when_the_kind_is_changed_too() -> None:
    assert refusal(DATES, "search.width=3", "search.kind=greedy") == (
        "--set search.width: unknown key for kind greedy. It belongs to kind beam: change the kind or remove the key. "
        "Known keys here: kind, length_factor, length_extra, minimum_length, forbid, bias, ctc, speeds."
    )


def test_a_misspelt_key_of_the_file_is_not_dropped_when_the_kind_is_changed() -> None:
    text = f"{DATES}search: {{kind: beam, width: 3, minimum_lenght: 2}}\n"
    assert refusal(text, "search.kind=greedy") == (
        "r.yaml:2: search.minimum_lenght: unknown key for kind greedy. Did you mean 'minimum_length'? "
        "Known keys here: kind, length_factor, length_extra, minimum_length, forbid, bias, ctc, speeds."
    )


def test_an_override_reaches_a_source_by_its_name() -> None:
    text = "data: {train: a.tsv, sources: {picture: {kind: vector, size: 3}}}\nmodel: {encoder: {kind: dense}}\n"
    sources = parse_recipe(text, overrides=["data.sources.picture.size=5", "data.sources.picture.column=2"]).data.sources
    assert (sources["picture"].kind, sources["picture"].column) == ("vector", 2)
    changed = parse_recipe(text, overrides=["data.sources.picture.kind=text", "model.encoder.kind=text"])
    assert changed.data.sources["picture"].kind == "text"
    assert "--set data.sources.picture.size: expected a whole number" in refusal(text, "data.sources.picture.size=x")


def test_what_a_program_wrote_is_read_quickly_and_to_the_same_recipe() -> None:
    text = to_yaml(recipe_from({"data": {"train": "a.tsv"}, "search": {"kind": "beam", "forbid": ["no", "1", "é: x"]}}))
    assert parse_recipe(text, by_hand=False) == parse_recipe(text)


@pytest.mark.parametrize("text", ["a: [" * 60, "x: &a [1]\ny: *b", "data: {train: a}\n---\n{}", "a: \x07", "[" * 100_000])
def test_what_no_program_wrote_is_refused_in_the_same_words(text: str) -> None:
    said = []
    for by_hand in (True, False):
        with pytest.raises(RecipeError) as caught:
            parse_recipe(text, by_hand=by_hand)
        said.append(str(caught.value))
    assert said[0] == said[1]
