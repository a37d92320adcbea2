"""Two texts whose relation is plain: stories with questions, and pairs that entail or contradict."""

from pathlib import Path

from seqloom.recipe.sections import AttentionBridge, ComparingEncoder, RelatedEncoder
from seqloom.suggest.defaults import recipe_for
from seqloom.suggest.recognition import recognise

CLASSES = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")


def test_pairs_with_classes_of_entailment_are_a_premise_and_a_hypothesis(tmp_path: Path) -> None:
    table = tmp_path / "pairs.tsv"
    lines = [f"{n}\tA man number {n} is singing\tThe man {n} sings a song\t{CLASSES[n % 3]}\t{n % 5}.5" for n in range(1, 60)]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = recognise(str(table))
    assert (list(found.sources), found.columns.target) == (["premise", "hypothesis"], 4)
    recipe = recipe_for(str(table), found)
    assert isinstance(recipe.model.encoder_of("hypothesis"), ComparingEncoder)
    assert recipe.data.vocabularies.together


def test_numbered_lines_with_questions_are_stories(tmp_path: Path) -> None:
    table = tmp_path / "qa.txt"
    names, places = ("Mary", "John", "Tom"), ("garden", "office", "hall")
    pairs = [(names[n % 3], places[n // 3 % 3]) for n in range(60)]
    lines = "1 {who} went to the {place}.\n2 It rains.\n3 Where is {who}?\t{place}\t1\n"
    stories = [lines.format(who=f"{who} {n}", place=place) for n, (who, place) in enumerate(pairs)]
    table.write_text("".join(stories), encoding="utf-8")
    found = recognise(str(table))
    assert (list(found.sources), found.format) == (["story", "question"], "stories")
    recipe = recipe_for(str(table), found)
    assert isinstance(recipe.model.encoder_of("story"), RelatedEncoder)
    assert isinstance(recipe.model.bridge, AttentionBridge)
    assert recipe.model.bridge.looks == 3
