"""What of examples that a model is judged by was never in its training: features and classes, each with its place."""

from collections.abc import Iterator, Mapping, Sequence

from seqloom.data.examples import Example, Origin
from seqloom.data.vocabulary import Vocabulary
from seqloom.recipe.sections import TARGET
from seqloom.symbols import UNKNOWN

_SHOWN = 3


def unseen_sentences(examples: Sequence[Example], vocabularies: Mapping[str, Vocabulary], texts: Sequence[str]) -> list[str]:
    """A sentence for features and one for classes that training never had. texts: the names of the sources that are text."""
    known = frozenset(vocabularies[texts[0]].features) if texts else frozenset()
    features = _first_places((one, name) for one in examples for name in one.features if name not in known)
    classes = _first_places(_unseen_classes(examples, vocabularies[TARGET]))
    said = []
    if features:
        said.append(f"{_listed(features, 'feature')} did not occur in training and counts as absent")
    if classes:
        said.append(f"{_listed(classes, 'class')} did not occur in training, so that no output can be right there")
    return said


def _unseen_classes(examples: Sequence[Example], vocabulary: Vocabulary) -> Iterator[tuple[Example, str]]:
    if not vocabulary.whole:
        return
    for example in examples:
        for text, ids in zip(example.targets, vocabulary.encode_targets(example.targets), strict=True):
            if UNKNOWN in ids:
                yield example, text


def _first_places(found: Iterator[tuple[Example, str]]) -> dict[str, Origin]:
    places: dict[str, Origin] = {}
    for example, name in found:
        places.setdefault(name, example.origin)
    return places


def _listed(places: Mapping[str, Origin], what: str) -> str:
    """The first of them, each with the place where it is first; and how many more there are."""
    shown = ", ".join(f"{origin}: the {what} {name!r}" for name, origin in [*places.items()][:_SHOWN])
    left = len(places) - _SHOWN
    return f"{shown}, and {left:,} more, each" if left > 0 else f"{shown}{', each' if len(places) > 1 else ''}"
