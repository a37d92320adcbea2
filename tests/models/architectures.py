"""The models that every contract is tested on: a covering set of what recipes accept.

Not all combinations, but every pair of options that meet in the code.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import Any

from pydantic import ValidationError

from seqloom.recipe import sections

Settings = Mapping[str, Any]

DECODER_SIZE = 6
SOURCE_SIZE = 9
TARGET_SIZE = 7
"""Vocabulary sizes; differing, so that one taken for the other is noticed."""


@dataclass(frozen=True)
class Architecture:
    """A model section with a name for test ids."""

    name: str
    section: sections.Model
    sources: tuple[tuple[str, str], ...] = (("source", "text"),)
    """Names, and what they are: text, sentences, vector, grid or frames."""

    @property
    def attends(self) -> bool:
        return isinstance(self.section.bridge, sections.LookingBridge)

    @property
    def looks_once(self) -> bool:
        """Whether a step looks at a source once: with one head, in one layer."""
        match self.section:
            case sections.Model(bridge=sections.AttentionBridge(attention=attention, looks=looks)):
                return looks == 1 and not isinstance(attention, sections.MultiHead)
            case sections.Model(bridge=sections.CrossAttentionBridge(), decoder=sections.TransformerDecoder(heads=1, layers=1)):
                return True
            case _:
                return False

    @property
    def looks_everywhere(self) -> bool:
        """Whether all positions of a source have some weight."""
        match self.section.bridge:
            case sections.AttentionBridge(attention=attention):
                return not isinstance(attention, sections.Local | sections.InStep | sections.Hard | sections.Location)
            case bridge:
                return isinstance(bridge, sections.CrossAttentionBridge)

    @property
    def looks_in_step(self) -> bool:
        """Whether step t looks at position t."""
        bridge = self.section.bridge
        return isinstance(bridge, sections.AttentionBridge) and isinstance(bridge.attention, sections.InStep)

    def stride(self, name: str) -> int:
        """How many rows of a source become one position."""
        encoder = self.section.encoder if self.section.encoders is None else self.section.encoders[name]
        return encoder.stride if isinstance(encoder, sections.FramesReader) else 1

    @property
    def text(self) -> str:
        """The name of the first source that is text; empty if there is none."""
        return next((name for name, kind in self.sources if kind == "text"), "")

    @property
    def reads(self) -> bool:
        return bool(self.section.all_encoders)

    @property
    def sizes(self) -> dict[str, int]:
        """Of vocabularies, vectors and pixels."""
        bridge = self.section.bridge
        copies = isinstance(bridge, sections.AttentionBridge) and bridge.copy
        shared = copies or self.section.decoder.tied == "all"
        text = TARGET_SIZE if shared else SOURCE_SIZE
        symbols = ("text", "sentences")
        return {**{name: text if kind in symbols else 3 for name, kind in self.sources}, "target": TARGET_SIZE}


CELLS: Mapping[str, Settings] = {
    "rnn": {"cell": "rnn"},
    "gru": {"cell": "gru"},
    "gru_reset_after": {"cell": "gru", "reset": "after"},
    "lstm": {"cell": "lstm"},
}

SIMPLE_ATTENTIONS: Mapping[str, Settings] = {
    "dot": {"kind": "dot"},
    "dot_scaled": {"kind": "dot", "scaled": True},
    "bilinear": {"kind": "bilinear"},
    "additive": {"kind": "additive", "size": 5},
    "concat": {"kind": "concat", "size": 3},
    "multi_head": {"kind": "multi_head", "heads": 2, "size": 4},
}
FURTHER_ATTENTIONS: Mapping[str, Settings] = {
    "projected": {"kind": "projected", "size": 5},
    "projected_2_layers": {"kind": "projected", "size": 3, "layers": 2, "nonlinearity": "logistic", "scaled": True},
    "projected_relu": {"kind": "projected", "size": 9, "nonlinearity": "relu"},
    "projected_linear": {"kind": "projected", "size": 7, "nonlinearity": "none"},
    "coverage": {"kind": "additive", "size": 5, "coverage": True},
    "local_monotonic": {"kind": "local", "centre": "monotonic", "window": 1, "score": {"kind": "additive", "size": 5}},
    "in_step": {"kind": "in_step"},
    "local_predictive": {"kind": "local", "centre": "predictive", "window": 2, "score": {"kind": "projected", "size": 3}},
    "local_previous": {"kind": "local", "centre": "previous", "window": 1, "score": {"kind": "additive", "size": 5}},
    "location": {"kind": "location", "size": 5, "filters": 2, "width": 3},
    "location_window": {"kind": "location", "size": 5, "filters": 2, "width": 5, "window": 1},
    # Nothing but REINFORCE teaches this one where to look.
    "hard": {"kind": "hard", "score": {"kind": "bilinear"}, "entropy": 0.0, "soft_share": 0.0},
}
"""They meet with the rest of a decoder in one place, where it reads."""
ATTENTIONS: Mapping[str, Settings] = {**SIMPLE_ATTENTIONS, **FURTHER_ATTENTIONS}


def uses_the_recipe_accepts() -> Iterator[Settings]:
    """Every combination of query, into and feed that makes sense, by asking the recipe."""
    ways = ("input", "output", "combined", "state", "concatenated")
    for query in ("previous", "current"):
        for into in chain.from_iterable(combinations(ways, count) for count in range(len(ways) + 1)):
            for feed in (False, True):
                use = {"query": query, "into": into, "feed": feed}
                try:
                    sections.AttentionBridge.model_validate(use)
                except ValidationError:
                    continue
                yield use


USES = tuple(uses_the_recipe_accepts())
DIFFERING_USES = (
    {"query": "previous", "into": ("input",), "feed": False},
    {"query": "previous", "into": ("output",), "feed": False},
    {"query": "current", "into": ("output",), "feed": False},
    {"query": "current", "into": ("combined",), "feed": True},
)
"""Asked before or after the cell, step by step or all at once."""


def use_name(use: Settings) -> str:
    return "-".join([use["query"], "+".join(use["into"]), *(["feed"] if use["feed"] else [])])


def attention_bridge(kind: str, use: Settings, dense: int = 1) -> Settings:
    attention = ATTENTIONS[kind]
    if kind == "multi_head" and "state" in use["into"]:
        attention = {**attention, "size": DECODER_SIZE}
    return {"kind": "attention", "attention": attention, "start": {"dense": dense}, **use}


BAHDANAU = attention_bridge("additive", {"query": "previous", "into": ("input",), "feed": False})
LUONG = attention_bridge("dot", {"query": "current", "into": ("combined",), "feed": True})

BRIDGES: Mapping[str, Settings] = {
    "none": {"kind": "none"},
    "initial": {"kind": "initial"},
    "every_step": {"kind": "every_step"},
    "bahdanau": BAHDANAU,
    "luong": LUONG,
    "004": attention_bridge("bilinear", {"query": "current", "into": ("output",), "feed": False}),
    "state": attention_bridge("bilinear", {"query": "current", "into": ("state",), "feed": False}),
    "concatenated": attention_bridge("additive", {"query": "current", "into": ("concatenated",), "feed": False}),
    "monotonic": {"kind": "monotonic", "score": {"kind": "additive", "size": 7}, "reach": 2},
}


def build_section(
    bridge: Settings,
    *,
    cell: Settings = CELLS["gru"],
    encoder_cell: Settings | None = None,
    layers: tuple[int, int] = (1, 1),
    bidirectional: bool = True,
    tied: str = "none",
    inputs: str = "teacher",
) -> sections.Model:
    """A tiny model whose widths differ wherever the recipe lets them."""
    dot = "dot" in (bridge.get(key, {}).get("kind") for key in ("attention", "score"))
    same = bridge.get("start", {}).get("dense") == 0 or dot
    memory_size = DECODER_SIZE if same or "state" in bridge.get("into", ()) else 8
    encoder = {
        "kind": "text",
        **(cell if encoder_cell is None else encoder_cell),
        "size": memory_size // 2 if bidirectional else memory_size,
        "layers": layers[0],
        "bidirectional": bidirectional,
        "embedding": 6 if tied == "all" else 4,
    }
    decoder = {
        "kind": "recurrent",
        **cell,
        "size": DECODER_SIZE,
        "layers": layers[1],
        "embedding": 5 if tied == "none" else DECODER_SIZE,
        "tied": tied,
        "inputs": {"kind": inputs},
    }
    return sections.Model.model_validate(
        {"encoder": None if bridge["kind"] == "none" else encoder, "decoder": decoder, "bridge": bridge}
    )


def every_attention_with_every_use() -> Iterator[Architecture]:
    pairs = chain(product(SIMPLE_ATTENTIONS, USES), product(FURTHER_ATTENTIONS, DIFFERING_USES))
    for (kind, use), bidirectional in zip(pairs, alternating(), strict=False):
        bridge = attention_bridge(kind, use)
        yield Architecture(f"{kind}-{use_name(use)}", build_section(bridge, bidirectional=bidirectional))


def every_cell_with_every_bridge() -> Iterator[Architecture]:
    for cell, (name, bridge), depth in product(CELLS, BRIDGES.items(), (1, 2)):
        section = build_section(bridge, cell=CELLS[cell], layers=(depth, depth), bidirectional=depth == 1)
        yield Architecture(f"{cell}-{name}-{depth}_layer{'s' if depth > 1 else ''}", section)


def every_cell_with_the_logistic_function() -> Iterator[Architecture]:
    for cell, name in product(CELLS, ("initial", "luong")):
        section = build_section(BRIDGES[name], cell={**CELLS[cell], "activation": "logistic"}, bidirectional=name == "luong")
        yield Architecture(f"{cell}-logistic-{name}", section)


def every_cell_in_two_layers_and_directions() -> Iterator[Architecture]:
    for cell in CELLS:
        yield Architecture(f"{cell}-2_layers-bidirectional", build_section(BAHDANAU, cell=CELLS[cell], layers=(2, 2)))


def cells_and_depths_that_differ() -> Iterator[Architecture]:
    for encoder, decoder, layers in product(("gru", "lstm"), ("rnn", "lstm"), ((1, 2), (2, 1))):
        for name in ("initial", "luong"):
            section = build_section(BRIDGES[name], cell=CELLS[decoder], encoder_cell=CELLS[encoder], layers=layers)
            yield Architecture(f"{encoder}_{layers[0]}-to-{decoder}_{layers[1]}-{name}", section)


def every_start() -> Iterator[Architecture]:
    starting = {"initial": {"kind": "initial"}, "every_step": {"kind": "every_step"}, "bahdanau": BAHDANAU}
    for dense, (name, bridge), cell in product((0, 1, 2), starting.items(), ("gru", "lstm")):
        section = build_section({**bridge, "start": {"dense": dense}}, cell=CELLS[cell], layers=(2, 2))
        yield Architecture(f"dense_{dense}-{name}-{cell}", section)


def every_tie() -> Iterator[Architecture]:
    yield Architecture("tied_output-none", build_section(BRIDGES["none"], tied="output"))
    for tied, name in product(("output", "all"), ("initial", "every_step", "bahdanau", "luong", "004")):
        yield Architecture(f"tied_{tied}-{name}", build_section(BRIDGES[name], tied=tied))


def decoders_that_copy() -> Iterator[Architecture]:
    for cell, name in product(("gru", "lstm"), ("bahdanau", "luong", "004", "state")):
        yield Architecture(f"copying-{cell}-{name}", build_section({**BRIDGES[name], "copy": True}, cell=CELLS[cell]))
    heads = attention_bridge("multi_head", {"query": "previous", "into": ("input",), "feed": False, "copy": True})
    yield Architecture("copying-multi_head", build_section(heads))
    for cell in ("gru", "lstm"):
        named = build_several(("text", "text"), {**BAHDANAU, "copy": "text_1"}, cell=cell)
        yield replace(named, name=f"{named.name}-{cell}-copying")


def contexts_behind_a_gate() -> Iterator[Architecture]:
    for (kind, cell), use in product((("additive", "gru"), ("multi_head", "lstm"), ("coverage", "rnn")), DIFFERING_USES):
        bridge = {**attention_bridge(kind, use), "gate": True}
        yield Architecture(f"gated-{kind}-{use_name(use)}", build_section(bridge, cell=CELLS[cell]))


def decoders_that_read_no_symbols() -> Iterator[Architecture]:
    for inputs, (name, bridge) in product(("distribution", "none"), BRIDGES.items()):
        if name not in ("none", "monotonic"):  # without the symbols that were written, nobody knows where they were read
            yield Architecture(f"inputs_{inputs}-{name}", build_section(bridge, inputs=inputs))
        if name in ("initial", "bahdanau"):
            section = build_section(bridge, cell=CELLS["lstm"], layers=(2, 2), tied="output", inputs=inputs)
            yield Architecture(f"inputs_{inputs}-{name}-lstm-2_layers-tied", section)


PAIRS = (("text", "text"), ("vector", "text"), ("grid", "text"), ("text", "grid"))


def build_several(kinds: Sequence[str], bridge: Settings, *, cell: str = "gru", tied: str = "none") -> Architecture:
    """A model of several sources, whose encoders write states of different widths wherever the recipe lets them."""
    widths: tuple[int, ...] = (4, 8) if bridge.get("attention", {}).get("kind") != "dot" else (DECODER_SIZE, DECODER_SIZE)
    if "state" in bridge.get("into", ()):
        widths = (2, 4) if len(kinds) == 2 else (DECODER_SIZE,)
    embedding = 5 if tied == "none" else DECODER_SIZE
    encoders: dict[str, Settings] = {}
    for number, (kind, width) in enumerate(zip(kinds, widths, strict=False)):
        text = {"kind": "text", **CELLS[cell], "size": width // 2, "embedding": embedding}
        encoders[f"{kind}_{number}"] = text if kind == "text" else {"kind": "dense", "size": width}
    decoder = {"kind": "recurrent", **CELLS[cell], "size": DECODER_SIZE, "embedding": embedding, "tied": tied}
    section = sections.Model.model_validate({"encoders": encoders, "decoder": decoder, "bridge": bridge})
    return Architecture("+".join(kinds), section, tuple(zip(encoders, kinds, strict=True)))


def several_sources() -> Iterator[Architecture]:
    for kinds, (name, bridge) in product((*PAIRS, ("grid",)), BRIDGES.items()):
        if name != "none" and (name != "monotonic" or len(kinds) == 1):
            one = build_several(kinds, bridge)
            yield replace(one, name=f"{one.name}-{name}")
    for name in ("initial", "every_step", "bahdanau", "luong", "004"):
        one = build_several(("grid", "text"), BRIDGES[name], cell="lstm")
        yield replace(one, name=f"{one.name}-lstm-{name}")
    for kind in ("multi_head", "coverage", "local_predictive", "hard"):
        one = build_several(("text", "grid"), attention_bridge(kind, DIFFERING_USES[0]))
        yield replace(one, name=f"{one.name}-{kind}")
    for extra, one in {
        "gated": build_several(("grid", "text"), {**BAHDANAU, "gate": True}),
        "gated-luong": build_several(("text", "text"), {**LUONG, "gate": True}),
        "copying": build_several(("grid", "text"), {**BAHDANAU, "copy": True}),
        "tied_all": build_several(("vector", "text"), BAHDANAU, tied="all"),
    }.items():
        yield replace(one, name=f"{one.name}-{extra}")


TRANSFORMER_DECODER: Settings = {"kind": "transformer", "size": DECODER_SIZE, "layers": 2, "heads": 2, "feed_forward": 10}


def transformer_encoder(size: int = 8, layers: int = 2) -> Settings:
    return {"kind": "transformer", "size": size, "layers": layers, "heads": 2, "feed_forward": 7}


def transformers() -> Iterator[Architecture]:
    """Both sides, with every bridge."""
    cross = {"kind": "cross_attention"}
    models: Mapping[str, Settings] = {
        **{f"weights_of_{whose}": {"bridge": {**cross, "weights_of": whose}} for whose in ("last", "mean", 1)},
        "one_head": {"decoder": {**TRANSFORMER_DECODER, "heads": 1, "layers": 1}, "bridge": cross},
        "tied_output": {"decoder": {**TRANSFORMER_DECODER, "tied": "output"}, "bridge": cross},
        "tied_all": {
            "encoder": transformer_encoder(DECODER_SIZE),
            "decoder": {**TRANSFORMER_DECODER, "tied": "all"},
            "bridge": cross,
        },
        "none": {"encoder": None, "bridge": {"kind": "none"}},
        "none-tied_output": {"encoder": None, "decoder": {**TRANSFORMER_DECODER, "tied": "output"}, "bridge": {"kind": "none"}},
        "initial": {"bridge": {"kind": "initial"}},
        "every_step": {"bridge": {"kind": "every_step"}},
        "initial-dense_0": {
            "encoder": transformer_encoder(DECODER_SIZE),
            "bridge": {"kind": "initial", "start": {"dense": 0}},
        },
    }
    for name, model in models.items():
        whole = {"encoder": transformer_encoder(), "decoder": TRANSFORMER_DECODER, **model}
        yield Architecture(f"transformer-{name}", sections.Model.model_validate(whole))


def transformers_that_meet_others() -> Iterator[Architecture]:
    """One side a transformer, the other recurrent."""
    for cell, name in product(("gru", "lstm"), ("initial", "every_step", "bahdanau", "luong")):
        model = build_section(BRIDGES[name], cell=CELLS[cell], layers=(1, 2)).model_dump()
        size = DECODER_SIZE if name == "luong" else 8
        section = sections.Model.model_validate({**model, "encoder": transformer_encoder(size)})
        yield Architecture(f"transformer-to-{cell}-{name}", section)
    copying = build_section({**BRIDGES["bahdanau"], "copy": True}).model_dump()
    section = sections.Model.model_validate({**copying, "encoder": transformer_encoder()})
    yield Architecture("transformer-to-copying", section)
    for cell, kind in product(("gru", "lstm"), ("initial", "every_step", "cross_attention")):
        model = build_section(BRIDGES["initial"], cell=CELLS[cell], layers=(2, 1)).model_dump()
        section = sections.Model.model_validate({**model, "decoder": TRANSFORMER_DECODER, "bridge": {"kind": kind}})
        yield Architecture(f"{cell}-to-transformer-{kind}", section)


def transformers_and_several_sources() -> Iterator[Architecture]:
    """A transformer decoder over several sources or a grid, and a transformer encoder for one of two sources."""
    for kinds, bridge in product((*PAIRS, ("grid",)), ("initial", "every_step", "cross_attention")):
        one = build_several(kinds, BRIDGES["initial"])
        model = {**one.section.model_dump(), "decoder": TRANSFORMER_DECODER, "bridge": {"kind": bridge}}
        yield replace(one, name=f"{one.name}-to-transformer-{bridge}", section=sections.Model.model_validate(model))
    for kinds, decoder in product((("text", "text"), ("grid", "text")), ("gru", "transformer")):
        one = build_several(kinds, BAHDANAU)
        model = one.section.model_dump()
        model["encoders"]["text_1"] = transformer_encoder()
        if decoder == "transformer":
            model |= {"decoder": TRANSFORMER_DECODER, "bridge": {"kind": "cross_attention", "weights_of": "mean"}}
        yield replace(one, name=f"{kinds[0]}+transformer-to-{decoder}", section=sections.Model.model_validate(model))


FRAME_ENCODERS: Mapping[str, Settings] = {
    "pyramid": {"kind": "pyramid", "size": 4, "layers": 2},
    "pyramid_gru": {"kind": "pyramid", "cell": "gru", "reset": "after", "size": 4, "layers": 2, "halvings": 2},
    "pyramid_forward": {"kind": "pyramid", "cell": "gru", "size": 8, "layers": 1, "bidirectional": False},
    "pyramid_bands": {"kind": "pyramid", "size": 4, "layers": 1, "convolution": {"channels": [2]}},
    "pyramid_time": {
        "kind": "pyramid",
        "size": 4,
        "layers": 2,
        "halvings": 1,
        "convolution": {"over": "time", "channels": [4, 3], "stride": 1, "width": 5},
    },
    "frame_transformer": {**transformer_encoder(layers=1), "kind": "frame_transformer", "convolution": {"channels": [3]}},
    "frame_transformer_plain": {**transformer_encoder(layers=1), "kind": "frame_transformer", "convolution": None},
}


def encoders_of_frames() -> Iterator[Architecture]:
    for name, encoder in FRAME_ENCODERS.items():
        model = build_section(BAHDANAU).model_dump()
        yield Architecture(
            f"{name}-bahdanau", sections.Model.model_validate({**model, "encoder": encoder}), (("source", "frames"),)
        )
    for name, (kind, bridge) in product(("pyramid", "frame_transformer"), (("initial", BRIDGES["initial"]), ("luong", LUONG))):
        size = {"size": DECODER_SIZE // (2 if name == "pyramid" else 1)}
        model = build_section(bridge, cell=CELLS["lstm"]).model_dump()
        section = sections.Model.model_validate({**model, "encoder": {**FRAME_ENCODERS[name], **size}})
        yield Architecture(f"{name}-{kind}", section, (("source", "frames"),))
    spoken = {**build_section(BAHDANAU).model_dump(), "encoder": FRAME_ENCODERS["pyramid"], "ctc": {"weight": 0.4}}
    yield Architecture("pyramid-ctc", sections.Model.model_validate(spoken), (("source", "frames"),))
    spelled = {**build_section(BAHDANAU).model_dump(), "ctc": {"weight": 0.4, "symbols": 3}}
    yield Architecture("text-ctc", sections.Model.model_validate(spelled))
    for name in ("pyramid", "pyramid_time", "pyramid_bands", "frame_transformer"):
        encoders = {"seen": {**FRAME_ENCODERS[name], "beside": "heard"}, "heard": FRAME_ENCODERS["pyramid_gru"]}
        model = {**build_section(BAHDANAU).model_dump(), "encoder": None, "encoders": encoders, "ctc": {"source": "seen"}}
        yield Architecture(f"{name}_beside", sections.Model.model_validate(model), (("seen", "frames"), ("heard", "frames")))
    encoders = {"frames": FRAME_ENCODERS["pyramid"], "text": {"kind": "text", "size": 3, "embedding": 4}}
    model = {"encoders": encoders, "decoder": TRANSFORMER_DECODER, "ctc": {"source": "frames"}}
    section = sections.Model.model_validate(model)
    yield Architecture("pyramid+text-to-transformer", section, (("frames", "frames"), ("text", "text")))


def several_looks() -> Iterator[Architecture]:
    """Looks one after the other, with every use that goes with them, behind a gate, over several sources."""
    for (kind, cell, looks), use in product((("bilinear", "gru", 3), ("multi_head", "lstm", 2)), USES):
        if "state" not in use["into"]:
            bridge = {**attention_bridge(kind, use), "looks": looks}
            yield Architecture(f"{looks}_looks-{kind}-{use_name(use)}", build_section(bridge, cell=CELLS[cell]))
    for kinds in PAIRS[:3]:
        one = build_several(kinds, {**BAHDANAU, "looks": 2, "gate": True})
        yield replace(one, name=f"{one.name}-2_looks-gated")


def positions_that_never_go_back() -> Iterator[Architecture]:
    """With other scores, with weights that are tied, and with what is given instead of the right symbols in training."""
    for kind in ("dot", "bilinear", "concat", "projected"):
        section = build_section({**BRIDGES["monotonic"], "score": ATTENTIONS[kind]}, cell=CELLS["lstm"])
        yield Architecture(f"monotonic-{kind}", section)
    yield Architecture("monotonic-tied", build_section({**BRIDGES["monotonic"], "reach": 1}, tied="all"))


def encoders_of_sentences() -> Iterator[Architecture]:
    """Alone and beside a question, with every bridge."""
    for name, bridge in BRIDGES.items():
        if name != "none":
            model = build_section(bridge)
            encoder = {"kind": "sentences", "size": model.all_encoders[0].memory_size, "ages": 2}
            section = sections.Model.model_validate({**model.model_dump(), "encoder": encoder})
            yield Architecture(f"sentences-{name}", section, (("source", "sentences"),))
    two = build_several(("text", "text"), {**BAHDANAU, "looks": 2, "start": {"dense": 1, "sources": ["text_1"]}})
    body = two.section.model_dump()
    readers: Mapping[str, Settings] = {
        "story": {"kind": "sentences", "size": 3},
        "asked": {"kind": "asked", "source": "text_1", "size": 3, "embedding": 4},
        "related": {"kind": "related", "source": "text_1", "size": 4, "heads": 2, "places": 2, "ages": 3, "layers": 2},
        "asked_lstm_2": {"kind": "asked", "source": "text_1", "cell": "lstm", "size": 3, "layers": 2, "bidirectional": False},
    }
    for name, reader in readers.items():
        body["encoders"]["text_0"] = reader
        kinds = (("text_0", "sentences"), ("text_1", "text"))
        yield Architecture(f"{name}+question", sections.Model.model_validate(body), kinds)


def encoders_beside_others() -> Iterator[Architecture]:
    """The same encoder for two sources, one that reads on, one that compares; summaries compared."""
    first = {"kind": "text", "size": 4, "embedding": 5}
    seconds: Mapping[str, tuple[Settings, Settings]] = {
        "same": (first, {"kind": "same", "source": "text_0"}),
        "same_pooled": ({**first, "summary": "max"}, {"kind": "same", "source": "text_0"}),
        "after": (first, {**first, "after": "text_0"}),
        "after_lstm_2": ({**first, "cell": "lstm", "layers": 2}, {**first, "cell": "lstm", "layers": 2, "after": "text_0"}),
        "after_one_way": ({**first, "bidirectional": False}, {**first, "bidirectional": False, "after": "text_0"}),
        "comparing": (first, {"kind": "comparing", "source": "text_0", "size": 3}),
        "comparing_lstm": (first, {"kind": "comparing", "source": "text_0", "cell": "lstm", "size": 3, "bidirectional": False}),
        "comparing_transformer": (transformer_encoder(), {"kind": "comparing", "source": "text_0", "size": 2}),
    }
    ways: Mapping[str, Settings] = {
        "initial": {"kind": "initial"},
        "second": {"kind": "initial", "start": {"dense": 2, "sources": ["text_1"]}},
        "compared": {"kind": "initial", "start": {"dense": 1, "compare": True}},
        "bahdanau": BAHDANAU,
    }
    decoder = {"kind": "recurrent", "size": DECODER_SIZE, "embedding": 5}
    for (name, pair), (way, bridge) in product(seconds.items(), ways.items()):
        if way != "compared" or not name.startswith("comparing"):
            encoders = {"text_0": pair[0], "text_1": pair[1]}
            section = sections.Model.model_validate({"encoders": encoders, "decoder": decoder, "bridge": bridge})
            yield Architecture(f"{name}-{way}", section, (("text_0", "text"), ("text_1", "text")))


def named(architectures: Sequence[Architecture]) -> dict[str, Architecture]:
    by_name = {one.name: one for one in architectures}
    assert len(by_name) == len(architectures), "two architectures share a name"
    return by_name


def alternating() -> Iterator[bool]:
    while True:
        yield from (True, False, False, True)


ARCHITECTURES = named(
    [
        *every_attention_with_every_use(),
        *every_cell_with_every_bridge(),
        *every_cell_with_the_logistic_function(),
        *every_cell_in_two_layers_and_directions(),
        *cells_and_depths_that_differ(),
        *every_start(),
        *every_tie(),
        *decoders_that_read_no_symbols(),
        *decoders_that_copy(),
        *contexts_behind_a_gate(),
        *several_sources(),
        *transformers(),
        *transformers_that_meet_others(),
        *transformers_and_several_sources(),
        *encoders_of_frames(),
        *several_looks(),
        *positions_that_never_go_back(),
        *encoders_of_sentences(),
        *encoders_beside_others(),
    ]
)

PLAIN = (
    *(f"{'+'.join(kinds)}-{bridge}" for kinds in PAIRS for bridge in ("initial", "every_step", "bahdanau")),
    *(f"{kind}-{use_name(USES[0])}" for kind in ATTENTIONS),
    *(f"{cell}-{bridge}-1_layer" for cell in CELLS for bridge in BRIDGES),
    *(f"transformer-{name}" for name in ("weights_of_last", "weights_of_mean", "none", "initial", "every_step")),
    "transformer-to-gru-bahdanau",
    "gru-to-transformer-cross_attention",
    *(f"{'+'.join(kinds)}-to-transformer-cross_attention" for kinds in PAIRS),
    "text+transformer-to-gru",
    "grid+transformer-to-transformer",
    "pyramid-bahdanau",
    "pyramid_bands-bahdanau",
    "frame_transformer-bahdanau",
    "pyramid+text-to-transformer",
    "story+question",
    "asked+question",
    "related+question",
    "same_pooled-compared",
    "after-second",
    "comparing-second",
    "comparing-bahdanau",
)
"""Names of a few that have every cell, every bridge and every attention."""
