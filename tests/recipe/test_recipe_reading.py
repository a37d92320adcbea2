"""Recipes go from YAML to Recipe and back unchanged, and nothing that is not a recipe gets through or crashes."""

from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from seqloom.errors import RecipeError
from seqloom.recipe import Recipe, choices, differences, jars, parse_recipe, read_recipe, recipe_from, to_yaml
from seqloom.recipe.problems import problems_of
from seqloom.recipe.schema import ROOT, Option, Slot, fill_kinds, item_slot, slots_of
from seqloom.recipe.sections import (
    Additive,
    Beam,
    CrossAttentionBridge,
    Dot,
    Greedy,
    ImageSource,
    InitialBridge,
    Model,
    MultiHead,
    NoBridge,
    TextEncoder,
    TextSource,
    TransformerDecoder,
)

DATES = "data: {builtin: dates}\n"

GOOD = {
    "the design's example": """
        data: {builtin: dates}
        model:
          encoder: {kind: text, cell: gru, size: 128, bidirectional: true}
          decoder: {kind: recurrent, cell: gru, size: 256}
          bridge: {kind: attention, query: previous, into: [input], attention: {kind: additive, size: 128}}
        training: {epochs: 4, batch_tokens: 4000, learning_rate: 3.0e-3}
        search: {kind: beam, width: 5, length_power: 1.0}
        """,
    "Luong": """
        data: {train: [a.tsv, b.tsv], columns: {source: 2, target: word, features: [lang, 3]}}
        model: {bridge: {query: current, into: [combined], feed: true, attention: {kind: bilinear}}}
        search: {kind: sample, top_p: 0.9, top_k: 40, temperature: 0.7}
        """,
    "language model": """
        data: {train: 'a: b.txt', test: [x, y], text: lines, vocabularies: {target: {kind: bpe, size: 500}}}
        model: {encoder: null, bridge: {kind: none}}
        training: {optimiser: {kind: sgd, momentum: 0.9}, clip: null, schedule: {kind: plateau, patience: 3}}
        search: {kind: greedy, forbid: ['no', 'null', '3e-3', '1', '', ' ', "\\u2028", '<<', 'a: b', "\\n", "\\x85", " \\r "]}
        """,
}


def plainly(text: str) -> Recipe:
    return parse_recipe(text, where="r.yaml")


@pytest.mark.parametrize("name", GOOD)
def test_a_recipe_survives_yaml(name: str) -> None:
    recipe = plainly(GOOD[name])
    assert plainly(to_yaml(recipe)) == recipe
    assert to_yaml(plainly(to_yaml(recipe))) == to_yaml(recipe)


def test_the_resolved_recipe_is_readable() -> None:
    text = to_yaml(plainly(DATES + "model: {bridge: {kind: initial}}\nsearch: {kind: greedy}"))
    assert text.startswith("data:\n  builtin: dates\n  train: null\n")
    assert "\n  bridge: {kind: initial, start: {dense: 1, sources: [], compare: false}}\n" in text
    assert "\n  optimiser: {kind: adam, betas: [0.9, 0.999], epsilon: 1.0e-08}\n" in text
    assert text.endswith(
        "\nsearch:\n  kind: greedy\n  length_factor: 2.0\n  length_extra: 10\n  minimum_length: 0\n  forbid: []\n  bias: {}"
        "\n  ctc: 0.0\n  speeds: []\nseed: 1\ndevice: auto\n"
    )
    assert "&" not in text


def test_all_ways_in_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "dates.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + DATES.replace("\n", "\r\n").encode() + b"seed: 3\r\n")
    from_file = read_recipe(str(path))
    assert from_file == plainly(DATES + "seed: 3") == recipe_from({"data": {"builtin": "dates"}, "seed": 3})
    assert recipe_from(from_file.model_dump()) == from_file
    assert recipe_from({"data": from_file.data, "seed": 3}) == from_file


def test_python_callers_may_pass_paths_and_lists() -> None:
    recipe = recipe_from({"data": {"train": [Path("a.tsv"), "b.tsv"]}, "training": {"optimiser": {"betas": [0.5, 0.5]}}})
    assert recipe.data.train == ("a.tsv", "b.tsv")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("3e-3", 0.003),
        ("3.0e-3", 0.003),
        ("3E-3", 0.003),
        (".003", 0.003),
        ("1_000", 1000.0),
        ("1", 1.0),
        ("+2.5", 2.5),
        ("1.", 1.0),
    ],
)
def test_numbers_are_read_as_people_write_them(written: str, read: float) -> None:
    assert plainly(f"{DATES}training: {{learning_rate: {written}}}").training.learning_rate == read


def test_words_that_yaml_once_took_for_booleans_times_and_dates_are_words() -> None:
    recipe = plainly("data: {train: 2020-01-01}\nsearch: {forbid: [no, yes, on, off, y, 1:30, 0x1F, none]}")
    assert recipe.data.train == "2020-01-01"
    assert recipe.search.forbid == ("no", "yes", "on", "off", "y", "1:30", "0x1F", "none")


def test_anchors_and_merges_work() -> None:
    text = """
    data: {train: a, vocabularies: {source: &v {kind: words, size: 9}, target: {<<: [*v, {size: 7}], minimum_count: 2}}}
    model: {encoder: &e {size: 64, embedding: 32}, decoder: {<<: *e, size: 128, kind: recurrent}}
    """
    recipe = plainly(text)
    assert recipe.data.vocabularies.target.model_dump()["size"] == 9
    assert (recipe.model.decoder.size, recipe.model.decoder.embedding) == (128, 32)


def test_a_section_without_kind_is_of_the_default_kind() -> None:
    recipe = plainly(DATES + "search: {width: 3}\nmodel: {bridge: {attention: {size: 7}}}")
    assert recipe.search == Beam(width=3)
    assert recipe.model.bridge.model_dump()["attention"] == {"kind": "additive", "size": 7, "coverage": False}


# --- overrides ------------------------------------------------------------------------------------------------------


def test_overrides_replace_add_and_create() -> None:
    overrides = ["training.epochs=3", "search.width=7", "data.columns={source: 2, target: 1}", "training.clip=null", "seed = 5"]
    recipe = parse_recipe(DATES + "training: {epochs: 9, batch_tokens: 100}", where="r.yaml", overrides=overrides)
    assert (recipe.training.epochs, recipe.training.batch_tokens, recipe.training.clip, recipe.seed) == (3, 100, None, 5)
    assert recipe.search == Beam(width=7)
    assert recipe.data.columns.source == 2


def test_the_last_of_two_equal_overrides_wins() -> None:
    assert parse_recipe(DATES, where="r.yaml", overrides=["seed=1", "seed=2"]).seed == 2


def test_a_value_may_hold_an_equals_sign() -> None:
    assert parse_recipe(DATES, where="r.yaml", overrides=["search.forbid=['=']"]).search.forbid == ("=",)


@pytest.mark.parametrize(
    ("override", "attention"),
    [
        ("model.bridge.attention.kind=dot", Dot()),
        ("model.bridge.attention.kind=concat", None),
        ("model.bridge.attention={kind: multi_head, heads: 2}", MultiHead(heads=2)),
    ],
)
def test_an_overridden_kind_drops_only_what_it_does_not_know(override: str, attention: Dot | MultiHead | None) -> None:
    text = DATES + "model: {bridge: {kind: attention, attention: {kind: additive, size: 64}}}"
    bridge = parse_recipe(text, where="r.yaml", overrides=[override]).model.bridge.model_dump()
    assert bridge["attention"] == (attention.model_dump() if attention else {"kind": "concat", "size": 64})


def test_an_overridden_kind_drops_whole_sections() -> None:
    text = DATES + "model: {bridge: {query: previous, start: {dense: 2}, attention: {kind: additive}}}\nsearch: {width: 3}"
    recipe = parse_recipe(text, where="r.yaml", overrides=["model.bridge.kind=initial", "search.kind=greedy"])
    assert isinstance(recipe.model.bridge, InitialBridge)
    assert recipe.model.bridge.start.dense == 2
    assert recipe.search == Greedy()


def test_a_part_that_is_null_can_be_set() -> None:
    text = "data: {train: a, text: lines}\nmodel: {encoder: null, bridge: {kind: none}}"
    assert isinstance(plainly(text).model.bridge, NoBridge)
    overrides = ["data.text=null", "model.encoder.size=32", "model.bridge.kind=attention"]
    recipe = parse_recipe(text, where="r.yaml", overrides=overrides)
    assert isinstance(recipe.model.encoder, TextEncoder)
    assert recipe.model.encoder.size == 32


# --- differences, jars, choices -------------------------------------------------------------------------------------


def test_differences_are_one_line_a_value() -> None:
    old = plainly(DATES + "training: {learning_rate: 1e-3, clip: 1}")
    new = plainly(
        "data: {train: [a, b]}\ntraining: {learning_rate: 3e-3, clip: null}\nsearch: {kind: greedy, forbid: ['null']}"
    )
    assert differences(old, old) == []
    assert differences(old, new) == [
        "data.builtin: dates -> null",
        "data.train: null -> [a, b]",
        "training.learning_rate: 0.001 -> 0.003",
        "training.clip: 1.0 -> null",
        "search.kind: beam -> greedy",
        "search.forbid: [] -> ['null']",
        "search.width: 5 -> absent",
        "search.length_power: 1.0 -> absent",
        "search.coverage: 0.0 -> absent",
        "search.values: 0.0 -> absent",
    ]


def test_a_section_that_appears_is_shown_on_one_line() -> None:
    old, new = plainly("data: {train: a}"), plainly("data: {train: {source: a, target: b}}")
    assert differences(old, new) == ["data.train: a -> {source: a, target: b}"]


def test_the_six_jars_are_named() -> None:
    assert jars(plainly(GOOD["the design's example"])) == [
        ("task", "The built-in task dates, text to text."),
        ("data", "Built-in examples of dates; characters on both sides."),
        (
            "model",
            "A bidirectional GRU encoder (128 wide) and a GRU decoder (256 wide); additive attention (128 wide), "
            "queried by the previous state, into the input.",
        ),
        ("loss", "Cross-entropy of the target's symbols, averaged over tokens."),
        (
            "learning algorithm",
            "Adam at a learning rate of 0.003 (constant); gradients clipped at 1; batches of at most 4000 symbols; 4 epochs.",
        ),
        ("evaluation", "Validation by loss once an epoch; beam search (5 wide, length power 1)."),
    ]
    assert jars(plainly(GOOD["language model"]))[:3] == [
        ("task", "Language model: predict each symbol of a text from the symbols before it."),
        ("data", "Text from a: b.txt, line by line; 5 % kept for validation; test from x and 1 more; bpe."),
        ("model", "A GRU decoder (256 wide); no source."),
    ]


INPUTS = {
    "teacher": "into the input.",
    "own": "into the input; in training the decoder reads what it wrote itself.",
    "mixed, share: 0.5": "into the input; in training 50 % of what the decoder reads it wrote itself.",
    "mixed, rise: 100": "into the input; in training 25 % of what the decoder reads it wrote itself, rising over 100 steps.",
    "distribution": "into the input; the decoder reads the distribution of the step before.",
    "none": "into the input; the decoder reads nothing of what it wrote.",
}


@pytest.mark.parametrize(("inputs", "words"), INPUTS.items())
def test_the_model_jar_says_what_the_decoder_is_given(inputs: str, words: str) -> None:
    recipe = plainly(f"data: {{builtin: dates}}\nmodel: {{decoder: {{inputs: {{kind: {inputs}}}}}}}")
    assert dict(jars(recipe))["model"].endswith(f"queried by the previous state, {words}")


USES = {
    "[combined], feed: true": "combined with the state and fed to the next step.",
    "[output]": "into the output.",
    "[state]": "as the new state.",
    "[concatenated]": "concatenated to the state.",
    "[output], copy: true": "into the output; symbols of the source can be copied.",
}


@pytest.mark.parametrize(("into", "words"), USES.items())
def test_the_model_jar_says_what_becomes_of_the_context(into: str, words: str) -> None:
    data = "data: {builtin: dates, vocabularies: {shared: true}}"
    recipe = plainly(f"{data}\nmodel: {{bridge: {{query: current, into: {into}}}}}")
    assert dict(jars(recipe))["model"].endswith(f"queried by the current state, {words}")


def test_choices_are_listed() -> None:
    kinds = ("dot", "bilinear", "additive", "concat", "projected", "multi_head", "local", "in_step", "hard", "location")
    assert choices("model.bridge.attention") == kinds
    assert choices("model.bridge.attention.score") == kinds[:5]
    assert choices("training.loss_per") == ("tokens", "sequences")
    assert choices("data.split") == ("validation", "test", "by")
    assert choices("search.kind") == ("greedy", "beam", "sample", "exhaustive")
    assert choices("training.epochs") == choices("no.such.place") == ()


# --- any recipe, any garbage ----------------------------------------------------------------------------------------

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(),
    st.sampled_from(["", "dot", "beam", "none", "additiv", "3", "yes"]),
    st.just(()),
    st.just({}),
    st.just((1, "a")),
    st.just({"kind": "dot"}),
    st.just({"size": 1, "nonsense": 2}),
)


def values(slot: Slot, junk: bool) -> st.SearchStrategy[Any]:
    """Values that may stand at a place; with `junk`, sometimes values that may not."""
    options = [values_of(option, slot, junk) for option in slot.options]
    if slot.optional:
        options.append(st.none())
    if junk:
        options.append(JUNK)
    return st.one_of(options)


def values_of(option: Option, slot: Slot, junk: bool) -> st.SearchStrategy[Any]:
    if option.is_section:
        fields = slots_of(option.form)
        required = {key: values(inner, junk) for key, inner in fields.items() if inner.required}
        others = {key: values(inner, junk) for key, inner in fields.items() if not inner.required}
        if slot.kinds:
            required["kind"] = others.pop("kind")
        return st.fixed_dictionaries(required, optional=others)
    if option.is_mapping:
        assert slot.named is not None
        names = st.sampled_from(["source", "image", "question"])
        return st.dictionaries(names, values(slot.named, junk), min_size=1, max_size=2)
    if option.is_list:
        if get_args(option.form)[-1] is Ellipsis:
            return st.lists(values(item_slot(option.form, 0), junk), max_size=3).map(tuple)
        return st.tuples(*(values(item_slot(option.form, index), junk) for index in range(len(get_args(option.form)))))
    if get_origin(option.form) is Literal:
        return st.sampled_from(get_args(option.form))
    if option.form is bool:
        return st.booleans()
    if option.form is str:
        return st.text(st.characters(codec="utf-8"), max_size=8)
    if option.form is int:
        return st.sampled_from([8, 16])
    return st.sampled_from([0.5, 0.25, 1e-8, 0.1 + 0.2])


def with_one_origin(data: dict[str, Any]) -> dict[str, Any]:
    named = {split: data["data"].get(split) or "pairs.tsv" for split in ("train", "validation", "test")}
    return data | {"data": data["data"] | named | {"builtin": None, "text": None, "split": {}}}


RECIPES = values(ROOT, junk=False).map(with_one_origin)
QUICK = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@settings(QUICK, max_examples=40)
@given(RECIPES)
def test_any_recipe_survives_yaml(data: dict[str, Any]) -> None:
    try:
        recipe = recipe_from(data)
    except RecipeError:
        # The generator knows types and bounds, not which parts go together.
        simple = {
            "model": {},
            "search": data.get("search", {}) | {"ctc": 0.0, "speeds": []},
            "data": data["data"] | {"sources": {"source": {}}, "columns": {}},
        }
        absent = dict.fromkeys(("sampled_softmax", "keep", "augment"))
        recipe = recipe_from(data | simple | {"training": data.get("training", {}) | absent})
    assert plainly(to_yaml(recipe)) == recipe
    assert differences(recipe, plainly(to_yaml(recipe))) == []
    assert all(sentence.endswith(".") for _, sentence in jars(recipe))


@QUICK
@given(values(ROOT, junk=True))
def test_whatever_pydantic_refuses_is_explained(data: Any) -> None:
    fill_kinds(data)
    try:
        Recipe.model_validate(data, strict=True)
    except ValidationError as error:
        problems = problems_of(data, error)
        assert problems
        for problem in problems:
            assert problem.text.endswith((".", "?")), problem
            assert "Input should" not in problem.text, problem
        checks = {str(item["ctx"]["error"]) for item in error.errors() if item["type"] == "value_error"}
        assert bool(checks) or any("expected" in problem.text or "unknown key" in problem.text for problem in problems)


def outcome_of(text: str, overrides: list[str]) -> Recipe | None:
    """The recipe that a text turns out to be, or None after a refusal whose form is as promised."""
    try:
        return parse_recipe(text, where="r.yaml", overrides=overrides)
    except RecipeError as error:
        lines = str(error).splitlines()
        assert len(lines) == 1 or lines[0].endswith("mistakes:")
        assert all(line.startswith(("r.yaml", "--set ")) for line in lines)
        return None


def is_refused_or_a_recipe(text: str, overrides: list[str]) -> None:
    recipe = outcome_of(text, overrides)
    assert recipe is None or plainly(to_yaml(recipe)) == recipe


YAMLISH = st.text(st.sampled_from(list("ab01-:,[]{}&*!|>'\"%@`#?~<. \n\t\\xuU\x85\u2028\ufeff\x00\U0001f600é")), max_size=40)


@QUICK
@given(st.one_of(YAMLISH, st.text(max_size=30).filter(lambda text: "data" not in text)))
def test_garbage_is_refused_and_nothing_else(text: str) -> None:
    assert outcome_of(text, []) is None, "a recipe without data"


@QUICK
@given(YAMLISH)
def test_garbage_within_a_recipe_is_refused_or_changes_nothing(text: str) -> None:
    recipe = outcome_of(f"{DATES}model:\n  {text}", [])
    assert recipe in (None, plainly(DATES)), "no garbage is a setting"


@QUICK
@given(
    values(ROOT, junk=True),
    st.sampled_from(["a", "model", "model.bridge.kind", "search", "search.kind", "data.train.x"]),
    YAMLISH,
)
def test_garbage_in_shape_of_a_recipe_is_refused_or_means_something(data: Any, key: str, value: str) -> None:
    is_refused_or_a_recipe(yaml.safe_dump(data, sort_keys=False), [])
    line = " ".join(value.split())
    is_refused_or_a_recipe(DATES, [f"{key}={line}"])


def test_attention_defaults_are_the_sections_own() -> None:
    assert plainly(DATES) == Recipe.model_validate({"data": {"builtin": "dates"}})
    assert Additive().kind in choices("model.bridge.attention")


@pytest.mark.parametrize(
    ("shown", "words"), [("last", "of the last"), ("mean", "the mean of all"), (1, "of layer 1")], ids=["last", "mean", "one"]
)
def test_a_transformer_is_called_what_it_is(shown: str | int, words: str) -> None:
    bridge = {"kind": "cross_attention", "weights_of": shown}
    model = {"encoder": {"kind": "transformer", "layers": 1}, "decoder": {"kind": "transformer"}, "bridge": bridge}
    assert dict(jars(recipe_from({"data": {"builtin": "dates"}, "model": model})))["model"] == (
        "A transformer encoder (128 wide, 4 heads) and a transformer decoder (128 wide, 2 layers, 4 heads); "
        f"every layer of the decoder attends to the source (weights shown: {words})."
    )


def test_a_transformer_decoder_has_the_bridge_that_is_made_for_it() -> None:
    for decoder in ({"kind": "transformer"}, TransformerDecoder()):
        recipe = recipe_from({"data": {"builtin": "dates"}, "model": {"decoder": decoder}})
        assert isinstance(recipe.model.bridge, CrossAttentionBridge)
    assert isinstance(Model(decoder=TransformerDecoder()).bridge, CrossAttentionBridge)


def test_vectors_and_classes_are_called_what_they_are() -> None:
    data = {
        "train": "a.tsv",
        "sources": {"source": {"kind": "vector", "size": 3}},
        "vocabularies": {"target": {"kind": "whole"}},
    }
    said = dict(jars(recipe_from({"data": data, "model": {"encoder": {"kind": "dense", "size": 8, "layers": 2}}})))
    assert said["task"] == "Vector to class: say of which class the source of a pair is."
    assert said["data"].endswith("vectors of 3 numbers to whole texts.")
    assert said["model"].startswith("A dense encoder (8 wide, 2 layers) and a GRU decoder")


def test_a_builtin_task_has_sources_of_its_own() -> None:
    model = {"encoders": {"image": {"kind": "cnn"}, "question": {"kind": "text"}}}
    recipe = recipe_from({"data": {"builtin": "scene-questions"}, "model": model})
    assert recipe.data.sources == {"image": ImageSource(size=64), "question": TextSource()}
    assert (recipe.data.columns.source, recipe.data.columns.target) == (None, 3)  # of tables that are predicted from
    assert jars(recipe)[0] == ("task", "The built-in task scene-questions, image and text to text.")
    larger = {"image": {"kind": "image", "size": 96}, "question": {"kind": "text"}}
    changed = recipe_from({"data": {"builtin": "scene-questions", "sources": larger}, "model": model})
    assert changed.data.sources["image"] == ImageSource(size=96)
