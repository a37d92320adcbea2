"""Why settings that were chosen for some data are what they are, in words."""

from seqloom.recipe import Recipe
from seqloom.recipe.sections import TARGET, MonotonicBridge, Vocabulary
from seqloom.suggest.defaults import BASES, DIALOGUE, INFLECTION, SUMMARIES
from seqloom.suggest.recognition.naming import ANSWER_SOURCES
from seqloom.suggest.two_texts import ANSWERS

_SYMBOLS = {
    "characters": "characters, as texts of a few words are written letter by letter",
    "symbols": "what stands between spaces, as there are few kinds of short pieces, such as phonemes",
    "words": "words",
    "bpe": "parts of words, as there are whole sentences",
    "unigram": "parts of words, as there are whole sentences",
    "whole": "one class for each text, as there are few different ones",
    "file": "the symbols of a given vocabulary",
}

_ALONG = "every symbol is read off one position, never back, as targets run along with their sources; "
_NOT_ALONG = "every symbol looks at the whole source, as targets do not run along with their sources; "


def reasons(recipe: Recipe, *, timed: bool = False) -> str:
    """What was chosen for the data of a recipe, and why, in a sentence. timed: its updates are still to be counted."""
    data, training = recipe.data, recipe.training
    sources = () if recipe.is_language_model else data.text_sources
    sides = {name: _of(data.vocabulary_of(name)) for name in (*sources, TARGET)}
    if len(set(sides.values())) == 1:
        symbols = f"{'both sides are ' if sources else ''}{sides[TARGET]}"
    else:
        symbols = "; ".join(f"the {name} is {words}" for name, words in sides.items())
    start = "" if data.file_sources else f"the recipe {_base(recipe)}, fitted to the data: "
    sized = f"the decoder has {recipe.model.decoder.size} units, which suits this amount of data"
    along = _ALONG if isinstance(recipe.model.bridge, MonotonicBridge) else ""
    if len(sources) == 1 and data.vocabularies.target.kind == "symbols" and not along:
        along = _NOT_ALONG
    length = "" if timed else f"at most {training.epochs} epochs, as small data is gone over more often; "
    judged = f"judged by {training.validation.metric}, which suits the targets"
    return (
        f"{start}{symbols}; {along}{sized}; {length}{judged}. Change anything with --set, or take a recipe (seqloom recipes ls)"
    )


def _base(recipe: Recipe) -> str:
    """The shipped recipe that a recipe for texts was made from."""
    vocabularies = recipe.data.vocabularies
    if recipe.is_language_model:
        return "text"
    if recipe.data.columns.separator is not None:
        return INFLECTION
    if recipe.data.columns.preceding:
        return DIALOGUE
    if recipe.copies and set(recipe.data.sources) == set(ANSWER_SOURCES):
        return ANSWERS
    if recipe.copies:
        return SUMMARIES
    kind = vocabularies.target.kind
    if kind == "whole":
        kind = recipe.data.vocabulary_of(next(iter(recipe.data.text_sources))).kind
    return next((name for base, name in BASES.items() if base == kind), BASES["bpe"])


def _of(vocabulary: Vocabulary) -> str:
    return _SYMBOLS[vocabulary.kind]
