"""What training never had is said with the place where it stands."""

from seqloom.data.examples import Example, Origin
from seqloom.data.unseen import unseen_sentences
from seqloom.data.vocabulary import Vocabulary, build_vocabulary
from seqloom.recipe.sections import Characters, Whole

CLASSES = build_vocabulary(Whole(), ["yes", "no"])
LETTERS = build_vocabulary(Characters(), ["abc"]).with_features(["sg", "pl"])


def said(*examples: Example, target: Vocabulary = CLASSES) -> list[str]:
    return unseen_sentences(examples, {"source": LETTERS, "target": target}, ["source"])


def example(line: int, target: str, *features: str) -> Example:
    return Example({"source": "abc"}, target, Origin("test.tsv", line), features=features)


def test_a_class_that_training_never_had_is_said_with_its_first_place() -> None:
    assert said(example(1, "yes"), example(2, "maybe"), example(3, "maybe")) == [
        "test.tsv:2: the class 'maybe' did not occur in training, so that no output can be right there"
    ]


def test_tags_that_training_never_had_are_said_with_their_first_places() -> None:
    several = [example(line, "yes", "sg", f"tag-{line}") for line in range(1, 6)]
    assert said(*several) == [
        "test.tsv:1: the feature 'tag-1', test.tsv:2: the feature 'tag-2', test.tsv:3: the feature 'tag-3', and 2 more, each "
        "did not occur in training and counts as absent"
    ]


def test_what_is_known_is_not_spoken_of_and_texts_have_no_classes() -> None:
    assert said(example(1, "no", "pl")) == []
    assert said(example(1, "never seen"), target=LETTERS) == []
