"""A recipe in a reader's words: the six jars of a model, and what may be written where."""

from typing import assert_never

from seqloom.recipe.schema import Slot, dotted, homes, slots_of
from seqloom.recipe.sections import (
    TARGET,
    Additive,
    Aligned,
    AnyEncoder,
    Attention,
    AttentionBridge,
    Beam,
    Bilinear,
    Concat,
    ConvolutionalEncoder,
    CrossAttentionBridge,
    DenseEncoder,
    DistributionInputs,
    Dot,
    EfficientNetLite0Encoder,
    EveryStepBridge,
    Exhaustive,
    Files,
    Greedy,
    Hard,
    InitialBridge,
    Inputs,
    Local,
    MixedInputs,
    MultiHead,
    NoBridge,
    NoInputs,
    OwnInputs,
    Projected,
    Recipe,
    Recurrence,
    Sample,
    TeacherInputs,
    TextEncoder,
    Transformer,
    TransformerEncoder,
    Vocabulary,
    Whole,
)
from seqloom.wording import listed


def jars(recipe: Recipe) -> list[tuple[str, str]]:
    """Describe a recipe by the lectures' six jars: task, data, model, loss, learning algorithm, evaluation."""
    return [
        ("task", _task(recipe)),
        ("data", _data(recipe)),
        ("model", _model(recipe)),
        ("loss", _loss(recipe)),
        ("learning algorithm", _algorithm(recipe)),
        ("evaluation", _evaluation(recipe)),
    ]


def _task(recipe: Recipe) -> str:
    if isinstance(recipe.model.bridge, NoBridge):
        return "Language model: predict each symbol of a text from the symbols before it."
    sources = recipe.data.sources
    kinds = " and ".join(source.kind for source in sources.values())
    is_class = isinstance(recipe.data.vocabulary_of(TARGET), Whole)
    if recipe.data.builtin is not None:
        return f"The built-in task {recipe.data.builtin}, {kinds} to {'class' if is_class else 'text'}."
    kinds = kinds.capitalize()
    named = f"given its sources {' and '.join(sources)}" if len(sources) > 1 else ""
    if is_class:
        return f"{kinds} to class: say of which class {f'an example is, {named}' if named else 'the source of a pair is'}."
    return f"{kinds} to text: write the target of {f'an example, {named}' if named else 'a pair, given its source'}."


def _data(recipe: Recipe) -> str:
    data = recipe.data
    if data.train is None:
        origin = [f"built-in examples of {data.builtin}"]
    else:
        shares = (("validation", data.validation, data.split.validation), ("test", data.test, data.split.test))
        form = {"lines": ", line by line", "stream": ", as one running text", None: ""}[data.text]
        what = "text" if data.text is not None else "pairs" if len(data.sources) == 1 else "examples"
        origin = [f"{what} from {_files(data.train)}{form}"]
        origin += [
            f"{100 * share:.3g} % kept for {name}" if files is None else f"{name} from {_files(files)}"
            for name, files, share in shares
        ]
    target = _symbols(data.vocabulary_of(TARGET))
    if data.text is not None:
        return _joined(*origin, target)
    sources = [_source(recipe, name) for name in data.sources]
    if data.vocabularies.shared:
        others = [source for name, source in zip(data.sources, sources, strict=True) if name not in data.text_sources]
        symbols = " and ".join([*others, f"one vocabulary of {target} for both sides"])
    elif sources == [target]:
        symbols = f"{target} on both sides"
    else:
        symbols = f"{' and '.join(sources)} to {target}"
    return _joined(*origin, symbols)


def _source(recipe: Recipe, name: str) -> str:
    """What a source consists of."""
    source = recipe.data.sources[name]
    return _symbols(recipe.data.vocabulary_of(name)) if source.has_vocabulary else source.in_words


def _symbols(vocabulary: Vocabulary) -> str:
    return "whole texts" if isinstance(vocabulary, Whole) else vocabulary.kind


def _files(files: Files) -> str:
    if isinstance(files, Aligned):
        return f"{_files(files.source)} aligned with {_files(files.target)}"
    if isinstance(files, str):
        return files
    return f"{files[0]} and {len(files) - 1} more" if len(files) > 1 else listed(files) or "no file"


def _model(recipe: Recipe) -> str:
    decoder, encoders = recipe.model.decoder, recipe.encoders
    parts = [_encoder(encoder) + (f" for {name}" if len(encoders) > 1 else "") for name, encoder in encoders.items()]
    listing = " and ".join(filter(None, [", ".join(parts), _network("decoder", decoder)]))
    return _joined(listing, _bridge(recipe), _inputs(decoder.inputs))


def _encoder(section: AnyEncoder) -> str:
    match section:
        case TextEncoder(bidirectional=bidirectional):
            return _network("encoder", section, "bidirectional " if bidirectional else "")
        case TransformerEncoder():
            return _network("encoder", section)
        case DenseEncoder(size=size, layers=layers):
            return f"a dense encoder ({size} wide{_layers(layers)})"
        case ConvolutionalEncoder(channels=channels):
            return f"a convolutional encoder ({section.memory_size} wide, {_counted(len(channels), 'stage')})"
        case EfficientNetLite0Encoder():
            state = "tuned" if section.tuned else "frozen"
            return f"EfficientNet-Lite0, {state}, as the encoder ({section.memory_size} wide, {section.features} features)"
        case _:
            assert_never(section)


def _network(name: str, section: Recurrence | Transformer, quality: str = "") -> str:
    if isinstance(section, Transformer):
        return f"a transformer {name} ({section.size} wide{_layers(section.layers)}, {_counted(section.heads, 'head')})"
    # An LSTM and an RNN are spoken as their letters, a GRU as a word.
    article = "a" if quality or section.cell == "gru" else "an"
    return f"{article} {quality}{section.cell.upper()} {name} ({section.size} wide{_layers(section.layers)})"


def _layers(count: int) -> str:
    return f", {count} layers" if count > 1 else ""


_USES = {
    "input": "into the input",
    "output": "into the output",
    "combined": "combined with the state",
    "state": "as the new state",
    "concatenated": "concatenated to the state",
}


def _bridge(recipe: Recipe) -> str:
    several = len(recipe.encoders) > 1
    sources = "the sources give" if several else "the source gives"
    whose = "the sources' summaries are" if several else "the source's summary is"
    match recipe.model.bridge:
        case NoBridge():
            return "no source"
        case InitialBridge():
            return f"{sources} the first state only"
        case EveryStepBridge():
            return f"{whose} seen at every step"
        case AttentionBridge() as bridge:
            feed = " and fed to the next step" if bridge.feed else ""
            copied = "; symbols of the source can be copied" if bridge.copy else ""
            uses = [_USES[use] for use in bridge.into]
            gated = ", behind a gate" if bridge.gate else ""
            looks = f"{_attention(bridge.attention)}{gated}, queried by the {bridge.query} state"
            return f"{looks}, {' and '.join(uses)}{feed}{copied}"
        case CrossAttentionBridge(weights_of=layer):
            shown = {"last": "of the last", "mean": "the mean of all"}.get(str(layer), f"of layer {layer}")
            seen = "every source" if several else "the source"
            return f"every layer of the decoder attends to {seen} (weights shown: {shown})"


def bridge_words(recipe: Recipe) -> str:
    """Say briefly how the decoder sees the source: what tells models apart that are shown beside each other."""
    bridge = recipe.model.bridge
    return _attention(bridge.attention) if isinstance(bridge, AttentionBridge) else _bridge(recipe)


def _inputs(section: Inputs) -> str:
    """What the decoder is given of the step before, unless it is the right symbol."""
    match section:
        case TeacherInputs():
            return ""
        case OwnInputs():
            return "in training the decoder reads what it wrote itself"
        case MixedInputs(share=share, rise=rise):
            slowly = f", rising over {_counted(rise, 'step')}" if rise else ""
            return f"in training {100 * share:.3g} % of what the decoder reads it wrote itself{slowly}"
        case DistributionInputs():
            return "the decoder reads the distribution of the step before"
        case NoInputs():
            return "the decoder reads nothing of what it wrote"
        case _:
            assert_never(section)


def _attention(section: Attention) -> str:
    match section:
        case Additive(size=size, coverage=coverage):
            return f"additive attention ({size} wide{', seeing its coverage' if coverage else ''})"
        case Concat(size=size):
            return f"concat attention ({size} wide)"
        case Projected(size=size, layers=layers):
            return f"dot attention on learned keys and queries ({_counted(layers, 'layer')}, {size} wide)"
        case MultiHead(heads=heads, size=size):
            return f"multi-head attention ({heads} heads, {size} wide)"
        case Local(score=score, window=window, centre=centre):
            around = "the step's number" if centre == "monotonic" else "a place that the query names"
            return f"local {_attention(score)}, {_counted(window, 'position')} to either side of {around}"
        case Hard(score=score):
            return f"hard {_attention(score)}, one position at a time"
        case Dot() | Bilinear():
            return f"{section.kind} attention"
        case _:
            assert_never(section)


def _loss(recipe: Recipe) -> str:
    training, bridge = recipe.training, recipe.model.bridge
    smoothing = f"labels smoothed by {training.label_smoothing:g}" if training.label_smoothing else ""
    entropy = f"cross-entropy of the target's symbols, averaged over {training.loss_per}"
    drawn = "" if training.sampled_softmax is None else f"over a batch's labels and {training.sampled_softmax} symbols drawn"
    return _joined(entropy, smoothing, drawn, *(_looking(bridge) if isinstance(bridge, AttentionBridge) else []))


def _looking(bridge: AttentionBridge) -> list[str]:
    """The terms of the loss about where the decoder looks."""
    terms = []
    if bridge.coverage_loss:
        terms.append(f"{bridge.coverage_loss:g} times what is looked at again (coverage)")
    if bridge.doubly_stochastic:
        terms.append(f"{bridge.doubly_stochastic:g} times how unevenly positions are looked at (doubly stochastic)")
    if isinstance(bridge.attention, Hard):
        terms.append("positions that are drawn learn by REINFORCE")
    return terms


def _algorithm(recipe: Recipe) -> str:
    training = recipe.training
    clip = f"gradients clipped at {training.clip:g}" if training.clip is not None else ""
    ema = "" if training.ema is None else f"weights averaged with a decay of {training.ema.decay:g}"
    rates = ", ".join(f"{part} {f'at {rate:g} times that' if rate else 'as it is'}" for part, rate in training.rates.items())
    steps = f", at most {training.steps} steps" if training.steps is not None else ""
    return _joined(
        f"{training.optimiser.kind} at a learning rate of {training.learning_rate:g} ({training.schedule.kind})",
        rates,
        clip,
        _batches(recipe),
        ema,
        _counted(training.epochs, "epoch") + steps,
    )


def _batches(recipe: Recipe) -> str:
    training = recipe.training
    if recipe.data.text == "stream":
        return f"truncated BPTT over {training.bptt} symbols at {_counted(training.rows, 'place')} of the text"
    size = f"{training.batch_size} examples and " if training.batch_size is not None else ""
    return f"batches of at most {size}{training.batch_tokens} symbols"


def _evaluation(recipe: Recipe) -> str:
    validation = recipe.training.validation
    often = "once an epoch" if validation.every_steps is None else f"every {_counted(validation.every_steps, 'step')}"
    patience = f"stop after {validation.patience} without improvement" if validation.patience is not None else ""
    return _joined(f"validation by {validation.metric} {often}", patience, _search(recipe))


def _search(recipe: Recipe) -> str:
    match recipe.search:
        case Greedy():
            return "greedy search"
        case Beam(width=width, length_power=power):
            return f"beam search ({width} wide, length power {power:g})"
        case Sample(count=count, temperature=temperature):
            return f"{_counted(count, 'sample')} at temperature {temperature:g}"
        case Exhaustive():
            return "exhaustive search"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _joined(*parts: str) -> str:
    text = "; ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}."


def choices(path: str) -> tuple[str, ...]:
    """List what may be written at a dotted path: kinds, the words of a choice, or keys; nothing for free values."""
    slots = [slot for home in homes() if dotted(home.place) == path for slot in home.slots]
    found = [choice for slot in slots for choice in slot.kinds or slot.words or _keys(slot)]
    return tuple(dict.fromkeys(found))


def _keys(slot: Slot) -> tuple[str, ...]:
    return tuple(key for section in slot.sections for key in slots_of(section))
