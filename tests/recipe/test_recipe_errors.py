"""Every mistake in a recipe gives one line: where, what was expected, what came, what to do. The texts matter."""

from pathlib import Path
from textwrap import dedent
from typing import get_args

import pytest

from seqloom.errors import RecipeError
from seqloom.recipe import parse_recipe, read_recipe, recipe_from
from seqloom.recipe.sections import Metric

DATES = "data: {builtin: dates}\n"
KINDS = "additive, bilinear, concat, dot, hard, local, multi_head, projected"
TOP_KEYS = "Known keys here: data, model, training, search, seed, device."
MODEL_KEYS = "Known keys here: encoder, encoders, decoder, bridge."
TRAINING_KEYS = (
    "Known keys here: epochs, steps, batch_tokens, batch_size, stretch, accumulate, optimiser, learning_rate, schedule, clip, "
    "label_smoothing, sampled_softmax, average, averaging, validation, checkpoint, precision, threads, tensorboard."
)
BEAM_KEYS = "Known keys here: kind, length_factor, length_extra, minimum_length, forbid, width, length_power, coverage."
COLUMN = "the number of a column, counted from 1, or its name in the header line"
TOO_LARGE = "r.yaml: expected at most 10,000 values, nested at most 40 deep, with all aliases followed; this is no recipe."


def refusal(text: str, *overrides: str) -> str:
    with pytest.raises(RecipeError) as caught:
        parse_recipe(text, where="r.yaml", overrides=overrides)
    return str(caught.value)


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
    "training: {average: token}": ("training.average: expected one of sequences, tokens; got 'token'. Did you mean 'tokens'?"),
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
        "data.builtin: expected one of dates, scene-questions, scenes, or null; got 'date'. Did you mean 'dates'?"
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
        "split, format, text, columns, sources, vocabularies, references, maximum_length."
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
        "heads: unknown key. It belongs elsewhere: write `model.encoder.heads` (kind transformer), `model.decoder.heads` "
        f"(kind transformer) or `model.bridge.attention.heads` (kind multi_head). {TOP_KEYS}"
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
        "transformer) or `model.decoder.heads` (kind transformer). "
        "Known keys here: kind, copy, start, query, into, feed, gate, attention, coverage_loss, doubly_stochastic."
    ),
    "model: {bridge: {attention: {kind: dot, size: 3}}}": (
        "model.bridge.attention.size: unknown key for kind dot. "
        "It belongs to the kinds additive, concat, projected, multi_head: "
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


CONTRADICTIONS = {
    "bridge: {attention: {kind: projected, layers: 3, nonlinearity: none}}": (
        "model.bridge.attention: 3 layers with `nonlinearity: none` between them can do no more than one. "
        "Use `layers: 1`, or a nonlinearity such as tanh."
    ),
    "bridge: {attention: {kind: hard, score: {kind: additive, coverage: true}}}": (
        "model.bridge.attention: a `score` depends on query and state alone, so it cannot see the coverage. "
        "Remove `coverage` from it, or use `kind: additive` with `coverage: true` as the attention itself."
    ),
    "bridge: {doubly_stochastic: 1.0, attention: {kind: hard}}": (
        "model.bridge: `doubly_stochastic` teaches soft weights where to lie, and those of hard attention are drawn. "
        "Remove `doubly_stochastic`, or use another kind of attention."
    ),
    "{decoder: {size: 100}, bridge: {attention: {kind: local, score: {kind: dot}}}}": (
        "model: dot attention multiplies a decoder state of size 100 with encoder states of size 256. Make them agree "
        "(a bidirectional encoder writes twice its size), or use `kind: bilinear`."
    ),
    "bridge: {attention: {kind: local, score: {kind: multi_head}}}": (
        "model.bridge.attention.score.kind: expected one of additive, bilinear, concat, dot, projected; got 'multi_head'."
    ),
    "bridge: {attention: {kind: multi_head, heads: 5}}": (
        "model.bridge.attention: 5 heads cannot share a size of 256. Use a number of heads that divides 256, such as 4 or 8."
    ),
    "{encoder: {kind: cnn, channels: [8, 16], blocks: [0, 1, 1]}}": (
        "model.encoder: `blocks` names 3 stages, and `channels` 2. Give each stage a number, or write one number for all."
    ),
    "{encoder: {kind: cnn, summary: flatten}, bridge: {start: {dense: 0}}}": (
        "model: `start: {dense: 0}` would hand all states side by side, which `summary: flatten` makes of an image, to the "
        "decoder as they are. Use `start: {dense: 1}`, or another `summary`."
    ),
    "{encoder: {kind: cnn, summary: dense}, decoder: {kind: transformer}}": (
        "model: `summary: dense` makes one vector of an image, and `bridge: {kind: cross_attention}` reads the states alone. "
        "Remove `summary`."
    ),
    "{encoder: {kind: cnn}, decoder: {size: 128, cell: lstm}, bridge: {start: {dense: 0}}}": (
        "model: `start: {dense: 0}` cannot start an lstm decoder, which has two states, from a cnn encoder, which has one. "
        "Use `cell: gru` in the decoder, or `start: {dense: 1}`."
    ),
    "{encoder: {kind: efficientnet_lite0}, bridge: {copy: true}}": (
        "model: `copy: true` copies symbols of the source, and the encoder efficientnet_lite0 reads none. "
        "Use the encoder text or transformer, or remove `copy`."
    ),
    "{encoder: {kind: cnn}, decoder: {tied: all, embedding: 256}}": (
        "model: `tied: all` shares the source's embedding, and a cnn encoder has none. Write `tied: output`."
    ),
    "bridge: {into: []}": (
        "model.bridge: `into` is empty, so the context would be unused. "
        "List at least one of input, output, combined, state, concatenated."
    ),
    "bridge: {into: [input, concatenated]}": (
        "model.bridge: `into: [concatenated]` decides alone what the output layer and the next step see, so it goes with no "
        "other use; found ['input', 'concatenated']. Keep one of them."
    ),
    "bridge: {into: [state]}": (
        "model.bridge: `into: [state]` puts the context in the place of the state that asked for it; with `query: previous` "
        "nothing would be left of the current one. Use `query: current`, or `into: [concatenated]`."
    ),
    "bridge: {query: current, into: [state], attention: {kind: multi_head, size: 64}}": (
        "model: `into: [state]` puts a context 64 wide in the place of a decoder state of size 256. Make them agree "
        "(a bidirectional encoder writes twice its size), or use `into: [concatenated]`."
    ),
    "{bridge: {copy: true}, decoder: {inputs: {kind: none}}}": (
        "model: `copy: true` goes with a decoder that reads what it wrote, copies too; with `inputs: {kind: none}` it does "
        "not. Write `inputs: {kind: teacher}`, or remove `copy`."
    ),
    "decoder: {embedding_dropout: 0.1, inputs: {kind: none}}": (
        "model.decoder: `embedding_dropout` leaves out symbols that the decoder reads, and with `inputs: {kind: none}` it "
        "reads none. Remove `embedding_dropout`, or give the decoder inputs."
    ),
    "{encoder: null, bridge: {kind: none}, decoder: {inputs: {kind: distribution}}}": (
        "model: `inputs: {kind: distribution}` keeps from the decoder which symbols were written, and a language model has "
        "nothing else to go by. Write `inputs: {kind: teacher}`, or give the model an encoder and a bridge."
    ),
    "encoder: {cell: lstm, reset: after}": (
        "model.encoder: `reset` belongs to the cell gru; this cell is lstm. Remove `reset` or write `cell: gru`."
    ),
    "encoder: {locked: true}": (
        "model.encoder: `locked: true` says how dropout is drawn, and there is none here. "
        "Give `dropout` or `input_dropout` a rate above 0, or remove `locked`."
    ),
    "decoder: {locked: true, weight_dropout: 0.5}": (
        "model.decoder: `locked: true` says how dropout is drawn, and there is none here. "
        "Give `dropout` or `input_dropout` or `output_dropout` a rate above 0, or remove `locked`."
    ),
    "encoder: {dropout: 0.1, input_dropout: 0.2}": (
        "model.encoder: `dropout` would act between layers only, as `input_dropout` says what happens elsewhere, and there is "
        "one layer. Remove `dropout`, or use more layers."
    ),
    "decoder: {dropout: 0.1, input_dropout: 0.2, output_dropout: 0}": (
        "model.decoder: `dropout` would act between layers only, as `input_dropout` and `output_dropout` say what happens "
        "elsewhere, and there is one layer. Remove `dropout`, or use more layers."
    ),
    "decoder: {kind: transformer, heads: 3}": (
        "model.decoder: 3 heads cannot share a size of 128. Use a number of heads that divides 128, such as 2 or 4."
    ),
    "{decoder: {kind: transformer}, bridge: {query: previous}}": (
        "model: `bridge: {kind: attention}` reads one context a step for the state of a recurrent decoder, and its keys say "
        "what becomes of it; a transformer decoder reads one in every layer. Write `bridge: {kind: cross_attention}`, or "
        "`decoder: {kind: recurrent}`."
    ),
    "bridge: {kind: cross_attention}": (
        "model: `bridge: {kind: cross_attention}` reads the source in every layer of a transformer decoder, and this decoder "
        "is recurrent. Write `bridge: {kind: attention, attention: {kind: multi_head}}`, or `decoder: {kind: transformer}`."
    ),
    "{decoder: {kind: transformer}, bridge: {kind: cross_attention, weights_of: 3}}": (
        "model: `weights_of: 3` names a layer of the decoder, which has 2. Use a number up to 2, last or mean."
    ),
    "{encoder: {kind: transformer, size: 64}, decoder: {kind: transformer}, bridge: {kind: initial, start: {dense: 0}}}": (
        "model: `start: {dense: 0}` hands the encoder's last state (64 wide) to a decoder of size 128 as it is. "
        "Make the widths agree, or use `start: {dense: 1}`."
    ),
    "{encoder: {kind: transformer, size: 256}, decoder: {cell: lstm}, bridge: {kind: initial, start: {dense: 0}}}": (
        "model: `start: {dense: 0}` cannot start an lstm decoder, which has two states, from a transformer encoder, which has "
        "one. Use `cell: gru` in the decoder, or `start: {dense: 1}`."
    ),
    "{encoder: {kind: transformer}, decoder: {kind: transformer, size: 64, tied: all}}": (
        "model: `tied: all` needs one embedding width on both sides; the encoder has 128, the decoder 64. "
        "Write `size: 64` in the encoder, or `tied: output`."
    ),
    "encoder: null": "model: the bridge attention needs an encoder. Add one, or write `bridge: {kind: none}`.",
}


@pytest.mark.parametrize(("line", "message"), CONTRADICTIONS.items())
def test_what_a_section_itself_refuses_keeps_its_words(line: str, message: str) -> None:
    expected_line = 3 if message.startswith("model.") else 2
    assert refusal(f"{DATES}model:\n  {line}\n") == f"r.yaml:{expected_line}: {message}"


def test_a_check_of_the_whole_recipe_points_at_the_section_it_names() -> None:
    text = DATES + "model:\n  encoder: {embedding: 256}\n  decoder: {tied: all, embedding: 256}\n"
    assert refusal(text) == (
        "r.yaml:4: model.decoder: `tied: all` needs one vocabulary for both sides. "
        "Write `vocabularies: {shared: true}` in data, or `tied: output`."
    )


def test_copying_needs_one_vocabulary_and_plain_labels() -> None:
    copying = "model: {bridge: {copy: true}}\n"
    assert refusal(DATES + copying) == (
        "r.yaml:2: model.bridge: `copy: true` needs one vocabulary for both sides, so that a symbol of the source is one of "
        "the target. Write `vocabularies: {shared: true}` in data, or remove `copy`."
    )
    smoothed = "data: {builtin: dates, vocabularies: {shared: true}}\ntraining: {label_smoothing: 0.1}\n" + copying
    assert refusal(smoothed) == (
        "r.yaml:2: training.label_smoothing: it spreads a label over the whole vocabulary, and with `copy: true` an output may "
        "lie outside of it. Write `label_smoothing: 0`, or remove `copy`."
    )


def test_a_sampled_softmax_needs_plain_labels_and_no_copying() -> None:
    sampled = "data: {builtin: dates, vocabularies: {shared: true}}\ntraining: {sampled_softmax: 5"
    assert refusal(sampled + ", label_smoothing: 0.1}\n") == (
        "r.yaml:2: training.sampled_softmax: it looks at part of the vocabulary, and `label_smoothing` spreads a label over "
        "all of it. Write `label_smoothing: 0`, or remove `sampled_softmax`."
    )
    assert refusal(sampled + "}\nmodel: {bridge: {copy: true}}\n") == (
        "r.yaml:2: training.sampled_softmax: it looks at part of the vocabulary, and with `copy: true` an output may be any "
        "symbol of the source. Remove one of them."
    )


def test_running_text_is_read_as_it_is() -> None:
    text = "data: {train: a.txt, text: stream}\nmodel: {encoder: null, bridge: {kind: none}, decoder: {inputs: {kind: own}}}\n"
    assert refusal(text) == (
        "r.yaml:2: model.decoder: `inputs: {kind: own}` lets the decoder go its own way from the beginning of an output, and "
        "running text has no beginning. Write `inputs: {kind: teacher}`, or `text: lines` in data."
    )


def test_a_transformer_does_not_read_running_text() -> None:
    text = "data: {train: a.txt, text: stream}\nmodel: {encoder: null, bridge: {kind: none}, decoder: {kind: transformer}}\n"
    assert refusal(text) == (
        "r.yaml:2: model.decoder: a transformer decoder looks back at all that it has read, and running text has no end. "
        "Write `text: lines` in data, or `decoder: {kind: recurrent}`."
    )


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
        "format, text, columns, sources, vocabularies, references, maximum_length.",
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
        "--set model.brige: unknown key. Did you mean 'bridge'? Known keys here: encoder, encoders, decoder, bridge."
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
        "Known keys here: kind, length_factor, length_extra, minimum_length, forbid."
    )


def test_a_misspelt_key_of_the_file_is_not_dropped_when_the_kind_is_changed() -> None:
    text = f"{DATES}search: {{kind: beam, width: 3, minimum_lenght: 2}}\n"
    assert refusal(text, "search.kind=greedy") == (
        "r.yaml:2: search.minimum_lenght: unknown key for kind greedy. Did you mean 'minimum_length'? "
        "Known keys here: kind, length_factor, length_extra, minimum_length, forbid."
    )


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
        "search.width: expected a whole number of at least 1; got an empty section.",
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


def test_coverage_without_attention_is_refused_at_its_place() -> None:
    text = "data: {train: p.tsv}\nmodel: {bridge: {kind: initial}}\nsearch: {coverage: 0.5}\n"
    with pytest.raises(RecipeError, match=r"mine\.yaml:3: search\.coverage: it judges where the model looked"):
        parse_recipe(text, where="mine.yaml")


VECTOR = "data: {train: a.tsv, sources: {source: {kind: vector, size: 3}}}\n"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (VECTOR, "model.encoder: an encoder of kind text reads text, and the source is a vector. Write `{kind: dense}`"),
        (
            f"{DATES}model: {{encoder: {{kind: dense}}}}\n",
            "kind dense reads a vector, and the source is text. Write `{kind: text}`",
        ),
        ("data: {train: a, sources: {source: {kind: vector}}}\n", "data.sources.source.size: this key is missing"),
        (VECTOR.replace("}}}", "}}, columns: {features: [3]}}"), "`columns.features` are symbols in front of a text"),
        (VECTOR.replace("}}}", "}}, vocabularies: {shared: true}}"), "of one text source, and none of the sources is text"),
        (VECTOR.replace("}}}", "}}, text: lines}"), "here there is text alone. Remove `sources`"),
        (
            f"{VECTOR}model: {{encoder: {{kind: dense, dropout: 0.1}}}}\n",
            "`dropout` acts between layers, and there is one layer",
        ),
        (
            f"{VECTOR}model: {{encoder: {{kind: dense, size: 8}}, decoder: {{cell: lstm, size: 8}}, "
            "bridge: {kind: initial, start: {dense: 0}}}\n",
            "cannot start an lstm decoder, which has two states, from a dense encoder",
        ),
        (
            f"{VECTOR}model: {{encoder: {{kind: dense}}, decoder: {{tied: all, size: 8, embedding: 8}}}}\n",
            "`tied: all` shares the source's embedding, and a dense encoder has none",
        ),
    ],
)
def test_a_vector_goes_with_what_can_read_it(text: str, part: str) -> None:
    assert part in refusal(text)


TWO = "data: {train: a.tsv, sources: {picture: {kind: image}, question: {}}SETTINGS}\n"
ENCODERS = "model: {encoders: {picture: {kind: dense}, question: {}}}\n"


@pytest.mark.parametrize(
    ("settings", "model", "part"),
    [
        ("", "", "r.yaml:1: model.encoder: it reads one source, and data.sources names picture, question. Write `encoders:"),
        ("", "model: {encoders: {question: {}}}\n", "has encoders for question, and data.sources names picture, question"),
        ("", "model: {encoders: {}}\n", "model: `encoders` names no source"),
        ("", ENCODERS.replace("}}}", "}}, encoder: {}}"), "model: `encoder` is for one source and `encoders` for several"),
        ("", ENCODERS, "model.encoders.picture: an encoder of kind dense reads a vector, and the source `picture` is an image"),
        ("", ENCODERS.replace("dense", "cn"), "r.yaml:2: model.encoders.picture.kind: expected one of "),
        (", columns: {source: 2}", "", "`columns.source` is about the one source of pairs, and `sources` names picture, quest"),
        (", vocabularies: {shared: true}", "", "model.encoder"),
    ],
)
def test_the_names_of_sources_agree_everywhere(settings: str, model: str, part: str) -> None:
    assert part in refusal(TWO.replace("SETTINGS", settings) + model)


@pytest.mark.parametrize(
    ("sources", "part"),
    [
        ("{}", "data: `sources` names no source. Name at least one"),
        ("{target: {}}", "called 'target'. A name begins with a small letter"),
        ("{a b: {}}", "called 'a b'. A name begins with a small letter"),
        ("{source: {column: 2}}", "data: the column of the one source called `source` stands in `columns.source`"),
        ("{a: {}, b: {}}, vocabularies: {shared: true}", "of one text source, and there are 2: a, b"),
        ("{a: {kind: image}}, columns: {features: [3]}", "none of the sources is text"),
        ("{a: {kind: image, size: [4]}}", "data.sources.a.size: expected a whole number of at least 1"),
        ("{a: {kind: image, fit: croop}}", "data.sources.a.fit: expected one of crop, pad, stretch; got 'croop'. Did you mean"),
        ("{a: {sise: 3}}", "data.sources.a.sise: unknown key for kind text"),
        ("[a]", "data.sources: expected names, each with a section whose kind is one of image, text, vector; got a list of 1"),
        ("{a: {}, b: {}}, train: {source: x, target: y}", "aligned files hold one source, and `sources` names several"),
    ],
)
def test_sources_have_names_and_columns_that_make_sense(sources: str, part: str) -> None:
    train = "" if "train" in sources else "train: a.tsv, "
    assert part in refusal(f"data: {{{train}sources: {sources}}}\n")


def test_an_override_reaches_a_source_by_its_name() -> None:
    text = "data: {train: a.tsv, sources: {picture: {kind: vector, size: 3}}}\nmodel: {encoder: {kind: dense}}\n"
    sources = parse_recipe(text, overrides=["data.sources.picture.size=5", "data.sources.picture.column=2"]).data.sources
    assert (sources["picture"].kind, sources["picture"].column) == ("vector", 2)
    changed = parse_recipe(text, overrides=["data.sources.picture.kind=text", "model.encoder.kind=text"])
    assert changed.data.sources["picture"].kind == "text"
    assert "--set data.sources.picture.size: expected a whole number" in refusal(text, "data.sources.picture.size=x")
