"""What a model is and can do, from its folder alone: no weights are read."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from seqloom.data.examples import Example
from seqloom.data.kinds import kind_of
from seqloom.data.kinds.files import FileKind
from seqloom.errors import SeqloomError
from seqloom.prediction.backends import open_vocabularies, own_corpus
from seqloom.prediction.samples import samples_of, texts_of
from seqloom.recipe import Recipe
from seqloom.recipe.sections import TARGET, AttentionBridge, CrossAttentionBridge, LookingBridge, MultiHead, TransformerDecoder
from seqloom.recipe.words import bridge_words
from seqloom.runs import RunFolder
from seqloom.server.settings import ServedModel
from seqloom.symbols import SPECIALS

_EXAMPLES = 12
_CLASSES = 1000


@dataclass(frozen=True)
class Description:
    """A model as `GET /v1/models` shows it. body: that, but for whether it is loaded."""

    name: str
    recipe: Recipe
    languages: tuple[str, str] | None
    body: Mapping[str, Any]

    def as_json(self, *, loaded: bool) -> dict[str, Any]:
        """The object that is shown."""
        return {**self.body, "loaded": loaded}


def describe(run: RunFolder, served: ServedModel) -> Description:
    """Say what a run or an exported model is."""
    recipe = run.recipe
    own = recipe.data.languages
    languages = served.languages or (None if own is None else (own.source, own.target))
    language_model = recipe.is_language_model
    body = {
        "name": served.name,
        "kind": "language" if language_model else "pairs",
        "running": recipe.data.text == "stream",
        "sources": [] if language_model else [{"name": name, "kind": one.kind} for name, one in recipe.data.sources.items()],
        **_target(run),
        "languages": None if languages is None else {"source": languages[0], "target": languages[1]},
        "search": recipe.search.model_dump(mode="json"),
        "can": _abilities(recipe),
        "heads": _heads(recipe),
        "backend": "runtime" if run.is_export else "torch",
        "summary": _summary(recipe),
        "folder": served.folder.resolve().name,
        "examples": _examples(run),
    }
    return Description(served.name, recipe, languages, body)


def _target(run: RunFolder) -> dict[str, Any]:
    vocabulary = open_vocabularies(run)[TARGET]
    if not vocabulary.whole:
        return {"target": "text"}
    classes = [vocabulary.symbol(index) for index in range(len(SPECIALS), vocabulary.size - len(vocabulary.features))]
    return {"target": "class", "classes": classes[:_CLASSES]}


def _abilities(recipe: Recipe) -> list[str]:
    if recipe.is_language_model:
        return ["sample", "complete", "step", "score"]
    looks = ["attention", "oracle"] if isinstance(recipe.model.bridge, LookingBridge) else []
    return ["predict", "stream", *looks, "tree", "step", "score", "sample", "neighbours"]


def _heads(recipe: Recipe) -> int:
    bridge, decoder = recipe.model.bridge, recipe.model.decoder
    if isinstance(bridge, CrossAttentionBridge):
        return decoder.heads if isinstance(decoder, TransformerDecoder) else 1
    if isinstance(bridge, AttentionBridge) and isinstance(bridge.attention, MultiHead):
        return bridge.attention.heads
    return 1 if isinstance(bridge, LookingBridge) else 0


def _summary(recipe: Recipe) -> str:
    encoders = " and ".join(encoder.words for encoder in recipe.encoders.values())
    parts = [encoders, recipe.model.decoder.words, "" if recipe.is_language_model else bridge_words(recipe)]
    return "; ".join(part for part in parts if part)


def _examples(run: RunFolder) -> list[dict[str, Any]]:
    """Inputs to try, out of the samples of the last validation. Files of the server are not offered; drawn scenes are."""
    if run.recipe.is_language_model:
        return [{"text": text} for text in texts_of(run)][:_EXAMPLES]
    samples = [(one.example, one.reference) for one in samples_of(run)] or _built_in(run)
    shown = ((_shown(run.recipe, example), reference) for example, reference in samples)
    return [{"input": given, "target": target} for given, target in shown if given is not None][:_EXAMPLES]


def _built_in(run: RunFolder) -> list[tuple[Example, str]]:
    """Of a built-in task, examples that training did not show: an exported model has no samples of its validations."""
    if run.recipe.data.builtin is None:
        return []
    with suppress(SeqloomError):
        return [(one, one.target or "") for one in islice(own_corpus(run).examples("validation"), _EXAMPLES)]
    return []


def _shown(recipe: Recipe, example: Example) -> Any:
    """An input as a request has it; None if it cannot be shown."""
    sources, features = dict(example.sources), list(example.features)
    for name, text in sources.items():
        kind = kind_of(recipe.data.sources[name])
        if isinstance(kind, FileKind) and not kind.is_named(text):
            return None
    if len(sources) == 1 and not features and not recipe.data.file_sources:
        return next(iter(sources.values()))
    return {**sources, **({"features": features} if features else {})}
