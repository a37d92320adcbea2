"""Every mistake in a recipe gives one line: where, what was expected, what came, what to do. The texts matter."""

from pathlib import Path
from textwrap import dedent
from typing import get_args

import pytest

from seqloom.errors import RecipeError
from seqloom.recipe import read_recipe, recipe_from
from seqloom.recipe.sections import Metric

from .refusals import BEAM_KEYS, DATES, refusal

KINDS = "additive, bilinear, concat, dot, hard, in_step, local, location, multi_head, projected"
TOP_KEYS = "Known keys here: data, model, training, search, seed, device."
MODEL_KEYS = "Known keys here: encoder, encoders, decoder, bridge, ctc."
TRAINING_KEYS = (
    "Known keys here: epochs, steps, shortest_epoch, batch_tokens, batch_size, bptt, accumulate, optimiser, learning_rate, "
    "schedule, clip, label_smoothing, dropout_epochs, sampled_softmax, loss_per, augment, ema, rates, validation, checkpoint, "
    "keep, precision, threads, tensorboard."
)
COLUMN = "the number of a column, counted from 1, or its name in the header line"


WRONG_VALUES = {
    "training: {epochs: 0}": "training.epochs: expected a whole number of at least 1; got 0.",
    "training: {epochs: ten}": "training.epochs: expected a whole number of at least 1; got 'ten'.",
    "training: {epochs: '10'}": "training.epochs: expected a whole number of at least 1; got '10'. Remove the quotes.",
    "training: {epochs: 4e3}": "training.epochs: expected a whole number of at least 1; got 4000.0. Write 4000.",
    "training: {epochs: 1.5}": "training.epochs: expected a whole number of at least 1; got 1.5.",
    "training: {epochs: true}": "training.epochs: expected a whole number of at least 1; got true.",
    "training: {epochs: 010}": "training.epochs: expected a whole number of at least 1; got '010'. Remove the quotes.",
    "training: {epochs: null}": (
        "training.epochs: expected a whole number of at least 1; got null (nothing). Remove the key to take the default."
    ),
    "training: {steps: -1}": "training.steps: expected a whole number of at least 1, or null; got -1.",
    "training: {learning_rate: 0}": "training.learning_rate: expected a number above 0; got 0.",
    "training: {learning_rate: .nan}": "training.learning_rate: expected a number above 0; got nan.",
    "training: {learning_rate: .inf}": "training.learning_rate: expected a number above 0; got inf.",
    "training: {label_smoothing: 1}": "training.label_smoothing: expected a number of at least 0 and below 1; got 1.",
    "training: {tensorboard: yes}": "training.tensorboard: expected true or false; got 'yes'. Write true.",
    "training: {tensorboard: off}": "training.tensorboard: expected true or false; got 'off'. Write false.",
    "training: {tensorboard: 1}": "training.tensorboard: expected true or false; got 1.",
    "training: {loss_per: token}": (
        "training.loss_per: expected one of sequences, tokens; got 'token'. Did you mean 'tokens'?"
    ),
    "training: {checkpoint: }": (
        "training.checkpoint: expected a section with the keys seconds, steps; got null (nothing). "
        "Remove the key to take the default."
    ),
    "training: {checkpoint: 60}": "training.checkpoint: expected a section with the keys seconds, steps; got 60.",
    "training: {schedule: cosine}": (
        "training.schedule: expected a section whose kind is one of constant, cosine, inverse_sqrt, linear, plateau; "
        "got 'cosine'. Write {kind: cosine}."
    ),
    "training: {schedule: cosin}": (
        "training.schedule: expected a section whose kind is one of constant, cosine, inverse_sqrt, linear, plateau; "
        "got 'cosin'. Did you mean 'cosine'?"
    ),
    "training: {schedule: {kind: [cosine]}}": (
        "training.schedule.kind: expected one of constant, cosine, inverse_sqrt, linear, plateau; got a list of 1."
    ),
    "training: {optimiser: {betas: [0.9]}}": (
        "training.optimiser.betas: expected a list of 2, each item a number of at least 0 and below 1; got a list of 1."
    ),
    "training: {optimiser: {betas: [0.9, 1]}}": (
        "training.optimiser.betas[1]: expected a number of at least 0 and below 1; got 1."
    ),
    "training: {schedule: {kind: linear, final: 2}}": (
        "training.schedule.final: expected a number of at least 0 and at most 1; got 2."
    ),
    "device: gpu": "device: expected one of auto, cpu, cuda, mps; got 'gpu'. Did you mean 'cuda'?",
    "device: [cpu]": "device: expected one of auto, cpu, cuda, mps; got a list of 1.",
    "seed: {a: 1}": "seed: expected a whole number of at least 0; got a section with the keys a.",
    "search: {forbid: x}": "search.forbid: expected a list, each item text; got 'x'. Write it as a list: [x].",
    "search: {forbid: [1]}": "search.forbid[0]: expected text; got 1.",
    "model: {bridge: {into: input}}": (
        "model.bridge.into: expected a list, each item one of combined, concatenated, input, output, state; got 'input'. "
        "Write it as a list: [input]."
    ),
    "model: {bridge: {kind: attention, attention: {kind: aditive}}}": (
        f"model.bridge.attention.kind: expected one of {KINDS}; got 'aditive'. Did you mean 'additive'?"
    ),
    "model: {bridge: {attention: {kind: Bahdanau}}}": (
        f"model.bridge.attention.kind: expected one of {KINDS}; got 'Bahdanau'. Did you mean 'additive'?"
    ),
    "model: {bridge: {attention: {kind: xyz, size: 0}}}": (f"model.bridge.attention.kind: expected one of {KINDS}; got 'xyz'."),
    "model: {encoder: {kind: text, cell: LSTM}}": (
        "model.encoder.cell: expected one of gru, lstm, rnn; got 'LSTM'. Did you mean 'lstm'?"
    ),
}


@pytest.mark.parametrize(("line", "message"), WRONG_VALUES.items())
def test_a_wrong_value_is_explained(line: str, message: str) -> None:
    assert refusal(f"{DATES}{line}\n") == f"r.yaml:2: {message}"


WRONG_DATA = {
    "{builtin: date}": (
        "data.builtin: expected one of dates, moves, scene-questions, scenes, tones, or null; got 'date'. Did you mean 'dates'?"
    ),
    "{train: 3}": "data.train: expected a file, a list of files, or a section with the keys source and target, or null; got 3.",
    "{train: [a, 1]}": "data.train[1]: expected text; got 1.",
    "{train: {source: a, targt: b}}": "data.train.targt: unknown key. Did you mean 'target'? Known keys here: source, target.",
    "{train: {source: a}}": "data.train.target: this key is missing; expected a file or a list of files.",
    "{train: {source: a, target: 2}}": "data.train.target: expected a file or a list of files; got 2.",
    "{train: a, columns: {source: 0}}": f"data.columns.source: expected {COLUMN}, or null; got 0.",
    "{train: a, columns: {weight: [1]}}": f"data.columns.weight: expected {COLUMN}, or null; got a list of 1.",
    "{train: a, columns: {features: [0.5]}}": f"data.columns.features[0]: expected {COLUMN}; got 0.5.",
    "{train: a, vocabularies: {source: {kind: char}}}": (
        "data.vocabularies.source.kind: expected one of bpe, characters, file, symbols, unigram, whole, words; got 'char'. "
        "Did you mean 'characters'?"
    ),
    "{train: a, max_length: 9}": (
        "data.max_length: unknown key. Did you mean 'maximum_length'? Known keys here: builtin, train, validation, test, "
        "split, seed, format, text, columns, weights, sources, vocabularies, references, maximum_length, maximum_input, "
        "languages."
    ),
    "{}": "data: give `train` (a file or a list of files) or `builtin` (the name of a built-in task).",
    "{builtin: dates, test: a}": (
        "data: `builtin` brings its own examples: remove `train`, `validation` and `test`, or remove `builtin`."
    ),
    "{builtin: scene-questions, sources: {image: {kind: image}}}": (
        "data: the built-in task scene-questions has the sources {image: {kind: image}, question: {kind: text}}, and `sources` "
        "names others. Leave `sources` out, or name these."
    ),
}


@pytest.mark.parametrize(("section", "message"), WRONG_DATA.items())
def test_a_mistake_in_data_gives_one_line_even_in_a_union(section: str, message: str) -> None:
    assert refusal(f"data: {section}\n") == f"r.yaml:1: {message}"


UNKNOWN_KEYS = {
    "model: {brige: 1}": f"model.brige: unknown key. Did you mean 'bridge'? {MODEL_KEYS}",
    "training: {optimizer: adam}": f"training.optimizer: unknown key. Did you mean 'optimiser'? {TRAINING_KEYS}",
    "training: {lr: 1}": f"training.lr: unknown key. Did you mean 'learning_rate'? {TRAINING_KEYS}",
    "learning_rate: 1": f"learning_rate: unknown key. It belongs elsewhere: write `training.learning_rate`. {TOP_KEYS}",
    "epoch: 1": f"epoch: unknown key. Did you mean `training.epochs`? {TOP_KEYS}",
    "heads: 1": (
        "heads: unknown key. It belongs elsewhere: write `model.encoder.heads` (kind transformer, related, frame_transformer), "
        "`model.decoder.heads` "
        "(kind transformer), `model.encoder.time.heads` (kind frame_transformer) or `model.bridge.attention.heads` "
        f"(kind multi_head). {TOP_KEYS}"
    ),
    "steps: 1": (
        "steps: unknown key. It belongs elsewhere: write `training.steps` or `training.checkpoint.steps`. "
        "Known keys here: data, model, training, search, seed, device."
    ),
    "model: {decoder: {kind: transformer, cell: gru}}": (
        "model.decoder.cell: unknown key for kind transformer. It belongs to kind recurrent: change the kind or remove the "
        "key. Known keys here: kind, size, layers, heads, feed_forward, dropout, inputs, tied."
    ),
    "model: {decoder: {kind: transformer}, bridge: {kind: cross_attention, feed: true}}": (
        "model.bridge.feed: unknown key for kind cross_attention. It belongs to kind attention: change the kind or remove the "
        "key. Known keys here: kind, weights_of."
    ),
    "model: {bridge: {heads: 2}}": (
        "model.bridge.heads: unknown key for kind attention. "
        "It belongs elsewhere: write `model.bridge.attention.heads` (kind multi_head), `model.encoder.heads` (kind "
        "transformer, related, frame_transformer), `model.decoder.heads` (kind transformer) or `model.encoder.time.heads` "
        "(kind frame_transformer). "
        "Known keys here: kind, copy, start, query, into, feed, gate, attention, looks, coverage_loss, doubly_stochastic."
    ),
    "model: {bridge: {attention: {kind: dot, size: 3}}}": (
        "model.bridge.attention.size: unknown key for kind dot. "
        "It belongs to the kinds additive, concat, projected, multi_head, location: "
        "change the kind or remove the key. Known keys here: kind, scaled."
    ),
    "search: {kind: beam, top_k: 3}": (
        f"search.top_k: unknown key for kind beam. It belongs to kind sample: change the kind or remove the key. {BEAM_KEYS}"
    ),
    "zzzz: 1": f"zzzz: unknown key. {TOP_KEYS}",
    "3: 1": f"3: unknown key. {TOP_KEYS}",
    '"a\\nb": 1': f"'a\\nb': unknown key. {TOP_KEYS}",
}


@pytest.mark.parametrize(("line", "message"), UNKNOWN_KEYS.items())
def test_an_unknown_key_is_led_to_the_right_one(line: str, message: str) -> None:
    assert refusal(f"{DATES}{line}\n") == f"r.yaml:2: {message}"


def test_all_mistakes_are_reported_at_once_in_the_order_of_the_file() -> None:
    text = """\
    seed: -1
    model:
      bridge:
        kind: attention
        attention: {kind: aditive, siz: 3}
    training:
      epochs: ten
      validation:
        metric: blue
    """
    assert refusal(dedent(text)).splitlines() == [
        "r.yaml has 6 mistakes:",
        "r.yaml:1: seed: expected a whole number of at least 0; got -1.",
        "r.yaml:1: data: this key is missing; expected a section with the keys builtin, train, validation, test, split, "
        "seed, format, text, columns, weights, sources, vocabularies, references, maximum_length, maximum_input, languages.",
        f"r.yaml:5: model.bridge.attention.kind: expected one of {KINDS}; got 'aditive'. Did you mean 'additive'?",
        "r.yaml:5: model.bridge.attention.siz: unknown key for kind additive. Did you mean 'size'? "
        "Known keys here: kind, size, coverage.",
        "r.yaml:7: training.epochs: expected a whole number of at least 1; got 'ten'.",
        f"r.yaml:9: training.validation.metric: expected one of {', '.join(sorted(get_args(Metric)))}; "
        "got 'blue'. Did you mean 'bleu'?",
    ]


def test_a_contradiction_and_a_wrong_value_are_reported_together() -> None:
    assert refusal("data: {}\nseed: x\n").splitlines() == [
        "r.yaml has 2 mistakes:",
        "r.yaml:1: data: give `train` (a file or a list of files) or `builtin` (the name of a built-in task).",
        "r.yaml:2: seed: expected a whole number of at least 0; got 'x'.",
    ]


def test_mistakes_from_python_have_no_line() -> None:
    with pytest.raises(RecipeError) as caught:
        recipe_from(
            {"data": {"train": b"bytes"}, "seed": 10**5000, "training": {"learning_rate": 10**400}, "search": {"width": {}}}
        )
    assert str(caught.value).splitlines() == [
        "the recipe has 3 mistakes:",
        "data.train: expected a file, a list of files, or a section with the keys source and target, or null; "
        "got a Python bytes.",
        "training.learning_rate: expected a number above 0; got about 10^400.",
        "search.width: expected a whole number of at least 1 and at most 1000; got an empty section.",
    ]


def test_a_file_name_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(RecipeError) as caught:
        recipe_from({"data": {"train": Path("a\udce9")}})
    assert str(caught.value) == "'a\\udce9': expected text; got half of a surrogate pair, which stands for no character."


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "dates.yaml").write_text(DATES)
    latin, large = tmp_path / "latin.yml", tmp_path / "large.yml"
    latin.write_bytes(b"seed: 1\n# caf\xe9\n")
    large.write_bytes(b"#" * 1_000_001)
    messages = {
        tmp_path / "date.yaml": f"{tmp_path}/date.yaml: there is no such file. Did you mean {tmp_path}/dates.yaml?",
        tmp_path / "no" / "x.yaml": f"{tmp_path}/no/x.yaml: there is no such file.",
        tmp_path: f"{tmp_path}: expected a recipe (a YAML file); this is a folder.",
        tmp_path / "dates.yaml" / "x": f"'{tmp_path}/dates.yaml/x': cannot be read: Not a directory.",
        latin: f"{latin}:2: expected UTF-8; got the byte 0xe9. Save it as UTF-8.",
        large: f"{large}: expected a recipe of at most 1,000,000 bytes; this file is larger. Is it a data file?",
    }
    for path, message in messages.items():
        with pytest.raises(RecipeError) as caught:
            read_recipe(path)
        assert str(caught.value) == message
