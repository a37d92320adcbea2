"""A recipe in a reader's words: the six jars of a model, and what may be written where."""

from seqloom.recipe.schema import Slot, dotted, homes, slots_of
from seqloom.recipe.sections import (
    TARGET,
    Aligned,
    AttentionBridge,
    Beam,
    Exhaustive,
    Files,
    Greedy,
    Hard,
    NoBridge,
    Recipe,
    Sample,
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
    parts = [encoder.words + (f" for {name}" if len(encoders) > 1 else "") for name, encoder in encoders.items()]
    listing = " and ".join(filter(None, [", ".join(parts), decoder.words]))
    return _joined(listing, recipe.model.bridge.words(several=len(encoders) > 1), decoder.inputs.words)


def bridge_words(recipe: Recipe) -> str:
    """Say briefly how the decoder sees the source: what tells models apart that are shown beside each other."""
    bridge = recipe.model.bridge
    return bridge.attention.words if isinstance(bridge, AttentionBridge) else bridge.words(several=len(recipe.encoders) > 1)


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
    growth = "" if training.dropout_epochs is None else f"dropout that rises for {training.dropout_epochs:g} epochs"
    rates = ", ".join(f"{part} {f'at {rate:g} times that' if rate else 'as it is'}" for part, rate in training.rates.items())
    shortest = f" of at least {training.shortest_epoch} steps" if training.shortest_epoch is not None else ""
    steps = f", at most {training.steps} steps" if training.steps is not None else ""
    return _joined(
        f"{training.optimiser.kind} at a learning rate of {training.learning_rate:g} ({training.schedule.kind})",
        rates,
        clip,
        _batches(recipe),
        ema,
        growth,
        _counted(training.epochs, "epoch") + shortest + steps,
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
