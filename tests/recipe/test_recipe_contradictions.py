"""Settings that are right one by one and cannot go together: the recipe says why, and what to change."""

import pytest

from seqloom.errors import RecipeError
from seqloom.recipe import parse_recipe

from .refusals import DATES, refusal

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
        "model: `copy: true` copies symbols of the source, and the encoder efficientnet_lite0 has no positions "
        "for them. Use the encoder text or transformer, or remove `copy`."
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
    "{decoder: {kind: transformer}, bridge: {kind: monotonic}}": (
        "model: `bridge: {kind: monotonic}` reads a symbol off one position for each state of a recurrent decoder; a "
        "transformer decoder reads in every layer. Write `decoder: {kind: recurrent}`, or leave the bridge out."
    ),
    "{encoders: {one: {}, other: {}}, bridge: {kind: monotonic}}": (
        "model: `bridge: {kind: monotonic}` walks along one source, and there are 2. Write `bridge: {kind: attention}`."
    ),
    "{decoder: {inputs: {kind: none}}, bridge: {kind: monotonic}}": (
        "model: `inputs: {kind: none}` keeps from the decoder which symbols were written, and `bridge: {kind: monotonic}` "
        "knows by them how far it has come. Write `inputs: {kind: teacher}`."
    ),
    "bridge: {kind: monotonic, score: {kind: additive, coverage: true}}": (
        "model.bridge: a `score` depends on query and state alone, so it cannot see the coverage. Remove `coverage` from it, "
        "or use `kind: additive` with `coverage: true` as the attention itself."
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
    assert refusal(sampled + "}\nmodel: {bridge: {kind: monotonic}}\n") == (
        "r.yaml:2: training.sampled_softmax: it looks at part of the vocabulary, and with `bridge: {kind: monotonic}` every "
        "position speaks of all of it. Remove `sampled_softmax`."
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


def test_running_text_does_not_come_in_other_pieces_each_time() -> None:
    text = (
        "data: {train: a.txt, text: stream, vocabularies: {target: {kind: bpe, dropout: 0.1}}}\n"
        "model: {encoder: null, bridge: {kind: none}}\n"
    )
    assert refusal(text) == (
        "r.yaml:1: data.vocabularies.target.dropout: running text is cut into windows of symbols before training begins, so "
        "its words cannot come in other pieces each time. Remove it, or read lines by themselves (`text: lines`)."
    )


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
        (VECTOR.replace("}}}", "}}, columns: {features: [3]}}"), "`columns.features` stands in front of a text"),
        (VECTOR.replace("}}}", "}}, vocabularies: {shared: true}}"), "of the source, and none of the sources is text"),
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


STORY = "data: {train: a.tsv, sources: {story: {}, question: {}}}\nmodel: {encoders: {story: READER, question: {}}}\n"


@pytest.mark.parametrize(
    ("reader", "part"),
    [
        ("{kind: asked, source: answer}", "needs another source than story; these are: question. Name one of them"),
        ("{kind: asked, source: story}", "needs another source than story; these are: question. Name one of them"),
        ("{kind: asked, source: question}", "data.sources.story: an encoder of sentences must know where they end"),
        ("{kind: comparing, source: question}", "model.encoders.story: it reads story as question is read, and both have"),
        ("{kind: related, source: question}", "model.encoders.story: it reads story as question is read, and both have"),
    ],
)
def test_what_is_read_beside_another_source_needs_that_one(reader: str, part: str) -> None:
    assert part in refusal(STORY.replace("READER", reader))


CLIP = """
data: {train: a.tsv, sources: {video: {kind: video, column: 1}, OTHER}}
model: {encoders: {video: {kind: video, time: {kind: pyramid, beside: other}}, other: READER}}
"""


@pytest.mark.parametrize(
    ("other", "reader", "part"),
    [
        (
            "other: {kind: text}",
            "{kind: text}",
            "the states of other stand beside its frames, moment by moment",
        ),
        (
            "other: {kind: image}",
            "{kind: cnn}",
            "and other is not read as frames. Use `kind: pyramid` there",
        ),
        ("other: {kind: video}", "{kind: video, memory: grid, time: {kind: none}}", "other has one for every place of a frame"),
        ("sound: {kind: sound}", "{kind: pyramid}", "Give each source an encoder of its name"),
    ],
)
def test_what_stands_beside_frames_is_read_as_frames(other: str, reader: str, part: str) -> None:
    assert part in refusal(CLIP.replace("OTHER", other).replace("READER", reader))


@pytest.mark.parametrize(
    ("sources", "part"),
    [
        ("{}", "data: `sources` names no source. Name at least one"),
        ("{target: {}}", "called 'target'. A name begins with a small letter"),
        ("{a b: {}}", "called 'a b'. A name begins with a small letter"),
        ("{source: {column: 2}}", "data: the column of the one source called `source` stands in `columns.source`"),
        ("{a: {}, b: {}}, vocabularies: {shared: true}", "and a and b have one each. Write `together: true` beside it"),
        ("{a: {kind: image}}, columns: {features: [3]}", "none of the sources is text"),
        ("{a: {kind: image, size: [4]}}", "data.sources.a.size: expected a whole number of at least 1"),
        ("{a: {kind: image, fit: croop}}", "data.sources.a.fit: expected one of crop, pad, stretch; got 'croop'. Did you mean"),
        ("{a: {sise: 3}}", "data.sources.a.sise: unknown key for kind text"),
        (
            "[a]",
            "each with a section whose kind is one of features, image, movement, sound, text, vector, video; got a list",
        ),
        ("{a: {}, b: {}}, split: {by: c}", "data: `split: {by: c}` names no source; found a, b. Name one of them, or remove"),
        ("{a: {}, b: {}}, train: {source: x, target: y}", "aligned files hold one source, and `sources` names several"),
    ],
)
def test_sources_have_names_and_columns_that_make_sense(sources: str, part: str) -> None:
    train = "" if "train" in sources else "train: a.tsv, "
    assert part in refusal(f"data: {{{train}sources: {sources}}}\n")


def test_values_of_acts_stand_in_a_text() -> None:
    vectors = f"{VECTOR}model: {{encoder: {{kind: dense}}, bridge: {{kind: initial}}}}\nsearch: {{values: 0.5}}\n"
    with pytest.raises(RecipeError, match=r"mine\.yaml:3: search\.values: values of acts .* no source is one"):
        parse_recipe(vectors, where="mine.yaml")
