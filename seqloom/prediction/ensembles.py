"""Runs that work together: an ensemble whose members vote on symbols, and a language model that has a say."""

from collections.abc import Sequence
from pathlib import Path

from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import UsageError
from seqloom.prediction.backends import OpenedModel
from seqloom.recipe.sections import TARGET


def require_agreement(folders: Sequence[str | Path], models: Sequence[OpenedModel]) -> None:
    """Refuse models that have no source, and those that read other sources or symbols than the first one."""
    for folder, model in zip(folders, models, strict=True):
        _require_source(folder, model)
    for folder, model in zip(folders[1:], models[1:], strict=True):
        if _readable(model) != _readable(models[0]):
            raise UsageError(
                f"{folder}: it reads other sources than {folders[0]}. Train the members of an ensemble on the same data"
            )
        for name, vocabulary in models[0].vocabularies.items():
            if model.vocabularies[name].to_json() != vocabulary.to_json():
                raise UsageError(
                    f"{folder}: its {name} vocabulary differs from that of {folders[0]}, so they cannot vote on symbols. "
                    "Train the members of an ensemble on the same data with the same vocabularies"
                )


def agree_on_copying(models: Sequence[OpenedModel], language_model: OpenedModel | None) -> str | None:
    """The source from which the models copy symbols that no vocabulary has; None if they do not."""
    copied, *others = {one.recipe.copied for one in models}
    if others:
        raise UsageError(
            "some of these models copy symbols of a source (`copy`) and some do not, or of another one, so they cannot vote on "
            "symbols. Use models that agree on it"
        )
    if language_model is not None and copied is not None:
        raise UsageError(
            "a model that copies (`copy: true`) writes symbols that a language model does not know, so none can be fused in. "
            "Leave the language model out"
        )
    return copied


def _require_source(folder: str | Path, model: OpenedModel) -> None:
    if model.recipe.is_language_model:
        raise UsageError(
            f"{folder}: is a language model, which has no source to predict from. Use `sample` to let it write, or fuse it "
            f"into a model that reads a source: predict RUN --fuse {folder}"
        )


def require_fusible(folder: str | Path, model: OpenedModel, vocabulary: Vocabulary, *, beside: str | Path) -> None:
    """Refuse what cannot have a say in the outputs of the run `beside`, which has the given target vocabulary."""
    remedy = f"train --text TARGETS --lines --vocabulary {beside} --out LM"
    if not model.recipe.is_language_model:
        raise UsageError(
            f"{folder}: expected a language model to fuse, found a model that reads a source. Train one on target texts: "
            f"{remedy}. To let several models vote, name them as runs"
        )
    if model.recipe.data.text == "stream":
        raise UsageError(
            f"{folder}: is a language model of running text, which has not learnt where an output begins and ends. "
            f"Train one on lines (`data.text: lines`): {remedy}"
        )
    if model.vocabularies[TARGET].to_json() != vocabulary.to_json():
        raise UsageError(
            f"{folder}: its vocabulary differs from the target vocabulary of {beside}, so it cannot judge the same symbols. "
            f"Train a language model with that vocabulary: {remedy}"
        )


def _readable(model: OpenedModel) -> dict[str, object]:
    """What the members of an ensemble must agree on of their sources: not where a table has them, nor where files lie."""
    sources = model.recipe.data.sources.items()
    here = {name: source.model_dump(exclude={"column", "root", "vocabulary"}) for name, source in sources}
    return {**here, "frontends": {name: frontend.key for name, frontend in model.frontends.items()}}
