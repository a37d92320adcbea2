"""A recipe in a reader's words: the six jars of a model, and what may be written where."""

from seqloom.recipe.schema import Slot, dotted, homes, listed, slots_of
from seqloom.recipe.sections import (
    Additive,
    Aligned,
    AttentionBridge,
    Beam,
    Concat,
    EveryStepBridge,
    Exhaustive,
    Files,
    Greedy,
    InitialBridge,
    MultiHead,
    NoBridge,
    Recipe,
    Recurrence,
    Sample,
    Training,
)


def jars(recipe: Recipe) -> list[tuple[str, str]]:
    """Describe a recipe by the lectures' six jars: task, data, model, loss, learning algorithm, evaluation."""
    return [
        ("task", _task(recipe)),
        ("data", _data(recipe)),
        ("model", _model(recipe)),
        ("loss", _loss(recipe.training)),
        ("learning algorithm", _algorithm(recipe)),
        ("evaluation", _evaluation(recipe)),
    ]


def _task(recipe: Recipe) -> str:
    if isinstance(recipe.model.bridge, NoBridge):
        return "Language model: predict each symbol of a text from the symbols before it."
    if recipe.data.builtin is not None:
        return f"The built-in task {recipe.data.builtin}, text to text."
    return "Text to text: write the target of a pair, given its source."


def _data(recipe: Recipe) -> str:
    data = recipe.data
    if data.train is None:
        origin = [f"built-in examples of {data.builtin}"]
    else:
        shares = (("validation", data.validation, data.split.validation), ("test", data.test, data.split.test))
        form = {"lines": ", line by line", "stream": ", as one running text", None: ""}[data.text]
        origin = [f"{'pairs' if data.text is None else 'text'} from {_files(data.train)}{form}"]
        origin += [
            f"{100 * share:.3g} % kept for {name}" if files is None else f"{name} from {_files(files)}"
            for name, files, share in shares
        ]
    source, target = data.vocabularies.source.kind, data.vocabularies.target.kind
    if data.vocabularies.shared:
        symbols = f"one vocabulary of {source} for both sides"
    elif data.text is not None:
        symbols = target
    else:
        symbols = f"{source} on both sides" if source == target else f"{source} to {target}"
    return _joined(*origin, symbols)


def _files(files: Files) -> str:
    if isinstance(files, Aligned):
        return f"{_files(files.source)} aligned with {_files(files.target)}"
    if isinstance(files, str):
        return files
    return f"{files[0]} and {len(files) - 1} more" if len(files) > 1 else listed(files) or "no file"


def _model(recipe: Recipe) -> str:
    encoder, decoder = recipe.model.encoder, recipe.model.decoder
    parts = [_network("decoder", decoder)]
    if encoder is not None:
        parts.insert(0, _network("encoder", encoder, "bidirectional " if encoder.bidirectional else ""))
    return _joined(" and ".join(parts), _bridge(recipe))


def _network(name: str, section: Recurrence, quality: str = "") -> str:
    layers = f", {section.layers} layers" if section.layers > 1 else ""
    # An LSTM and an RNN are spoken as their letters, a GRU as a word.
    article = "a" if quality or section.cell == "gru" else "an"
    return f"{article} {quality}{section.cell.upper()} {name} ({section.size} wide{layers})"


def _bridge(recipe: Recipe) -> str:
    match recipe.model.bridge:
        case NoBridge():
            return "no source"
        case InitialBridge():
            return "the source gives the first state only"
        case EveryStepBridge():
            return "the source's summary is seen at every step"
        case AttentionBridge() as bridge:
            feed = " and fed to the next step" if bridge.feed else ""
            return f"{_attention(bridge)}, queried by the {bridge.query} state, into the {' and the '.join(bridge.into)}{feed}"


def _attention(bridge: AttentionBridge) -> str:
    match bridge.attention:
        case Additive(size=size) | Concat(size=size):
            return f"{bridge.attention.kind} attention ({size} wide)"
        case MultiHead(heads=heads, size=size):
            return f"multi-head attention ({heads} heads, {size} wide)"
        case attention:
            return f"{attention.kind} attention"


def _loss(training: Training) -> str:
    smoothing = f"labels smoothed by {training.label_smoothing:g}" if training.label_smoothing else ""
    return _joined(f"cross-entropy of the target's symbols, averaged over {training.average}", smoothing)


def _algorithm(recipe: Recipe) -> str:
    training = recipe.training
    clip = f"gradients clipped at {training.clip:g}" if training.clip is not None else ""
    averaging = "" if training.averaging is None else f"weights averaged with a decay of {training.averaging.decay:g}"
    steps = f", at most {training.steps} steps" if training.steps is not None else ""
    return _joined(
        f"{training.optimiser.kind} at a learning rate of {training.learning_rate:g} ({training.schedule.kind})",
        clip,
        _batches(recipe),
        averaging,
        _counted(training.epochs, "epoch") + steps,
    )


def _batches(recipe: Recipe) -> str:
    training = recipe.training
    if recipe.data.text == "stream":
        rows = training.batch_size or max(1, training.batch_tokens // training.stretch)
        return f"stretches of {training.stretch} symbols at {_counted(rows, 'place')} of the text"
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
