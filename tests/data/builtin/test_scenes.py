"""The built-in task `scenes`: pictures that mean what their captions say, splits that hold combinations out, fair questions."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from seqloom.data.builtin import scenes
from seqloom.data.builtin.scenes import COLOURS, HELD_OUT, PICTURES, SHAPES, Question, Scene, Thing, draw, questions, scene
from seqloom.data.builtin.scenes.questions import ASKED
from seqloom.data.builtin.scenes.splits import number_of, numbers
from seqloom.data.examples import Example
from seqloom.data.media.files import Media, MediaError
from seqloom.data.media.images import ImagePixels, open_image
from seqloom.errors import WriteError

PIXEL = 1 / 64
MEAN_OF_12 = [176.1, 174.78, 179.14]
SCENES = scenes.SceneRoot()
DRAWN = [scene(number) for number in range(1500)]

THING = rf"a (small|large) ({'|'.join(COLOURS)}) ({'|'.join(SHAPES)})"
CAPTION = re.compile(rf"{THING}(( and {THING})? (left of|above) {THING}( and {THING})?| inside {THING})?")


# --- what is in a picture -------------------------------------------------------------------------------------------


def test_a_number_means_the_same_picture_everywhere() -> None:
    assert [scene(number).caption for number in (0, 12, 1_000_009)] == [
        "a large black heart above a large yellow star",
        "a large white triangle",
        "a large blue square above a large blue circle",
    ]
    # The mean colour, and not every bit: processors may round differently.
    assert draw(12).mean(axis=(0, 1)).tolist() == pytest.approx(MEAN_OF_12, abs=0.02)
    np.testing.assert_array_equal(draw(12), draw(12))


def test_captions_follow_the_grammar() -> None:
    assert all(CAPTION.fullmatch(one.caption) for one in DRAWN)
    assert Counter(len(one.things) for one in DRAWN).keys() == {1, 2, 3}
    assert max(len(one.caption.split()) for one in DRAWN) == 15


def test_every_relation_is_what_it_looks_like_and_nothing_touches() -> None:
    for one in DRAWN:
        leading, following = one.things[: one.leading], one.things[one.leading :]
        for first in leading:
            for second in following:
                match one.relation:
                    case "left of":
                        assert second.box.left - first.box.right > PIXEL
                    case "above":
                        assert second.box.top - first.box.bottom > PIXEL
                    case "inside":
                        assert first.box.left > second.box.left
                        assert first.box.right < second.box.right
                        assert first.box.top > second.box.top
                        assert first.box.bottom < second.box.bottom


def test_the_order_within_a_group_is_reading_order() -> None:
    groups = [(one.relation, group) for one in DRAWN for group in (one.things[: one.leading], one.things[one.leading :])]
    couples = [(relation, *group) for relation, group in groups if len(group) == 2]
    assert {relation for relation, _, _ in couples} >= {"above", "left of"}
    for relation, first, second in couples:
        aside, below = second.box.left - first.box.right, second.box.top - first.box.bottom
        assert (aside if relation == "above" else below) > PIXEL


def test_two_things_lie_along_the_axis_that_the_caption_names() -> None:
    couples = [one for one in DRAWN if len(one.things) == 2 and one.relation in ("left of", "above")]
    assert {one.relation for one in couples} == {"left of", "above"}
    for one in couples:
        rightward, downward = one.things[1].x - one.things[0].x, one.things[1].y - one.things[0].y
        along, aside = (rightward, downward) if one.relation == "left of" else (downward, rightward)
        assert along > 2 * abs(aside)


def test_things_are_wholly_in_the_picture() -> None:
    assert all(min(thing.box) > 0 and max(thing.box) < 1 for one in DRAWN for thing in one.things)


def test_no_size_is_between_small_and_large() -> None:
    for shape in SHAPES:
        widths: dict[str, list[float]] = defaultdict(list)
        for thing in (thing for one in DRAWN for thing in one.things if thing.shape == shape):
            widths[thing.size].append(thing.box.right - thing.box.left)
        assert min(widths["large"]) > 1.3 * max(widths["small"])


def test_no_two_things_are_the_same_in_colour_and_shape() -> None:
    for one in DRAWN:
        assert len({(thing.colour, thing.shape) for thing in one.things}) == len(one.things)


def test_what_is_inside_has_another_colour() -> None:
    inside = [one for one in DRAWN if one.relation == "inside"]
    assert len(inside) > 100
    assert all(one.things[0].colour != one.things[1].colour for one in inside)


def test_words_are_equally_frequent() -> None:
    said = Counter(word for one in DRAWN for thing in one.things for word in thing.words)
    for words in (COLOURS, SHAPES, ("small", "large")):
        assert max(said[word] for word in words) < 1.35 * min(said[word] for word in words)


def test_mentions_say_which_thing_a_word_is_about() -> None:
    for one in DRAWN[:200]:
        words = one.caption.split()
        assert all(words[place] == word and word in one.things[thing].words for place, word, thing in one.mentions)
        assert len(one.mentions) == 3 * len(one.things)


# --- what is drawn --------------------------------------------------------------------------------------------------


def names_of_pixels(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.str_]:
    """What colour each pixel is, as one who knows only the palette sees it; `grey` for the background."""
    palette: dict[str, tuple[float, ...]] = {**COLOURS, "grey": (170, 170, 170)}
    distances = [((picture - np.asarray(colour, dtype=np.float32)) ** 2).sum(axis=2) for colour in palette.values()]
    names: npt.NDArray[np.str_] = np.asarray(list(palette))[np.argmin(distances, axis=0)]
    return names


@pytest.mark.parametrize("side", [64, 96])
def test_a_thing_is_drawn_in_its_colour_and_fills_its_box(side: int) -> None:
    for one in DRAWN[:100]:
        seen = names_of_pixels(draw(one.number, side))
        for thing in one.things:
            if sum(other.colour == thing.colour for other in one.things) > 1:
                continue
            left, top, right, bottom = (edge * side for edge in thing.box)
            own = seen == thing.colour
            inner = own[int(top) : int(bottom) + 1, int(left) : int(right) + 1]
            down, across = np.nonzero(inner)
            # Tips of stars and hearts are thinner than a pixel.
            assert across.min() <= 3
            assert down.min() <= 3
            assert across.max() >= right - left - 3.5
            assert down.max() >= bottom - top - 3.5
            assert inner.sum() > 0.4 * (right - left) * (bottom - top) or thing.shape == "star" or one.relation == "inside"


def test_nothing_is_drawn_outside_the_boxes() -> None:
    for one in DRAWN[:100]:
        seen = names_of_pixels(draw(one.number))
        for thing in one.things:
            left, top, right, bottom = (edge * 64 for edge in thing.box)
            seen[int(top) : int(bottom) + 1, int(left) : int(right) + 1] = "grey"
        assert (seen == "grey").all()


def test_drawing_is_fast() -> None:
    # The goal is 1,500 in a second; half of it leaves room for a busy machine.
    start = time.process_time()
    for number in range(300):
        draw(number)
    assert 300 / (time.process_time() - start) > 750


# What people see who lack one of the three kinds of cones (Machado and others, 2009), for linear red, green and blue.
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def as_lab(colour: tuple[float, ...], vision: Any) -> npt.NDArray[np.float64]:
    """CIE L*a*b* of a colour, in which distances are about as large as they look."""
    share = np.asarray(colour) / 255
    linear = np.asarray(vision) @ np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ np.clip(linear, 0, 1) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_are_told_apart_by_all_kinds_of_colour_vision(vision: str) -> None:
    seen = [as_lab(colour, VISIONS[vision]) for colour in (*COLOURS.values(), (170, 170, 170))]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 20


# --- splits ---------------------------------------------------------------------------------------------------------


def held_out(one: Scene) -> int:
    return sum(HELD_OUT[thing.size][thing.colour] == thing.shape for thing in one.things)


def test_held_out_are_each_colour_and_each_shape_once_in_either_size() -> None:
    for of_colours in HELD_OUT.values():
        assert set(of_colours) == set(COLOURS)
        assert set(of_colours.values()) == set(SHAPES)


def test_training_shows_any_two_words_of_what_is_held_out_together() -> None:
    shown = [set(thing.words) for one in DRAWN if scenes.split_of(one.number) == "train" for thing in one.things]
    for size, of_colours in HELD_OUT.items():
        for colour, shape in of_colours.items():
            for pair in combinations((size, colour, shape), 2):
                assert any(words.issuperset(pair) for words in shown), pair


def test_every_picture_of_test_shows_one_unseen_combination_and_no_other_split_any() -> None:
    for one in DRAWN:
        assert held_out(one) == (scenes.split_of(one.number) == "test")


def test_splits_have_equally_many_things() -> None:
    for split in ("train", "validation", "test"):
        counts = Counter(len(scene(number).things) for number, _ in zip(numbers(split), range(600), strict=False))
        assert all(150 < counts[count] < 250 for count in (1, 2, 3))


def test_examples_are_the_splits_as_large_as_declared() -> None:
    drawn = {split: list(scenes.examples(split)) for split in ("validation", "test")}
    assert {split: len(examples) for split, examples in drawn.items()} == {"validation": 1_000, "test": 2_000}
    first = drawn["test"][0]
    assert first == Example({"image": "scene:1000009"}, scene(1_000_009).caption, first.origin)
    assert str(first.origin) == "builtin:scenes/test:1"
    assert sum(1 for _ in numbers("train")) == PICTURES["train"]


def test_seeds_share_no_picture() -> None:
    assert not set(numbers("test", seed=1)) & set(numbers("test", seed=2))
    assert all(scenes.split_of(number) == "test" for number in numbers("test", seed=2))


# --- questions ------------------------------------------------------------------------------------------------------


def asked(split: scenes.Split, pictures: int) -> list[Question]:
    return [one for number, _ in zip(numbers(split), range(pictures), strict=False) for one in questions(number)]


@pytest.fixture(scope="module")
def trained() -> list[Question]:
    return asked("train", 4000)


def test_each_picture_has_three_questions_of_different_kinds() -> None:
    for number in range(300):
        kinds = [one.kind for one in questions(number)]
        assert len(kinds) == len(set(kinds)) == ASKED


def answer_by_looking(question: str, things: tuple[Thing, ...]) -> set[str]:
    """All answers that the question could have, worked out from the words and the things alone."""
    words = question.removesuffix(" ?").split()

    def meant(description: list[str]) -> list[Thing]:
        return [thing for thing in things if set(description) - {"thing"} <= set(thing.words)]

    def related(one: Thing, relation: str, other: Thing) -> bool:
        first, second = one.box, other.box
        return {
            "left of": first.right < second.left,
            "right of": first.left > second.right,
            "above": first.bottom < second.top,
            "below": first.top > second.bottom,
            "inside": second.left < first.left and first.right < second.right,
        }[relation]

    relation = next((one for one in ("left of", "right of", "above", "below", "inside") if f" {one} " in question), None)
    if words[:2] == ["how", "many"]:
        wanted = [re.sub(r"(cross)es$|s$", r"\1", word) for word in words[2:-2]]
        return {("zero", "one", "two", "three")[len(meant(wanted))]}
    if words[:2] == ["is", "there"]:
        return {"yes" if meant(words[3:]) else "no"}
    if relation is None:
        attribute, (one,) = words[1], meant(words[4:])
        return {str(getattr(one, attribute))}
    before, behind = question.removesuffix(" ?").split(f" {relation} ")
    (other,) = meant(behind.split()[1:])
    if words[0] == "is":
        (one,) = meant(before.split()[2:])
        return {"yes" if related(one, relation, other) else "no"}
    return {str(getattr(one, words[1])) for one in things if one != other and related(one, relation, other)}


def test_every_question_has_the_answer_that_one_sees_and_no_other(trained: list[Question]) -> None:
    for one in (*trained[:2000], *asked("test", 300)):
        assert answer_by_looking(one.text, scene(one.number).things) == {one.answer}, one


def test_answers_of_a_kind_are_equally_frequent(trained: list[Question]) -> None:
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for one in trained:
        answers["things" if one.text == "how many things are there ?" else one.kind][one.answer] += 1
    for kind, most in {
        "exists": 0.53,
        "compare": 0.53,
        "size": 0.53,
        "count": 0.38,
        "things": 0.4,
        "colour": 0.2,
        "shape": 0.2,
    }.items():
        assert max(answers[kind].values()) / answers[kind].total() < most, kind


def test_the_question_alone_does_not_give_the_answer_away(trained: list[Question]) -> None:
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for one in trained:
        answers[one.text][one.answer] += 1
    guesses = {text: seen.most_common(1)[0][0] for text, seen in answers.items()}
    fresh = asked("validation", 500)
    assert sum(guesses.get(one.text) == one.answer for one in fresh) / len(fresh) < 0.42


def test_question_examples_have_two_sources() -> None:
    first = next(scenes.question_examples("validation"))
    one = questions(number_of(first.sources["image"]))[0]
    assert first.sources == {"image": "scene:1000008", "question": one.text}
    assert first.target == one.answer


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_scene_is_a_file_like_any_other() -> None:
    file = SCENES.resolve("scene:12")
    np.testing.assert_array_equal(np.asarray(open_image(file)), draw(12))
    assert file.name == "scene:12"
    assert file.content_hash != SCENES.resolve("scene:13").content_hash


@pytest.mark.parametrize("name", ["scene:", "scene:-1", "scene:1.5", "12", "scene:१२", "scene:" + "9" * 40])
def test_what_is_no_scene_is_refused(name: str) -> None:
    with pytest.raises(MediaError, match="expected a scene such as 'scene:12', found"):
        SCENES.resolve(name)


def test_scenes_become_arrays_without_pillow(without_library: Callable[[str], None]) -> None:
    without_library("PIL")
    pixels = ImagePixels(32, 32)
    arrays = list(pixels.arrays([SCENES.resolve("scene:3"), SCENES.resolve("scene:4")]))
    assert [array.shape for array in arrays] == [(1, *pixels.row)] * 2
    np.testing.assert_array_equal(arrays[1][0], draw(4, 32))


def test_drawing_small_and_making_small_show_the_same() -> None:
    pixels, scene_file = ImagePixels(32, 32), SCENES.resolve("scene:12")
    file = Media(scene_file.name, scene_file.where, scene_file.size, scene_file.stamp, scene_file.read)
    drawn, resized = (pixels.array(media).astype(float) for media in (scene_file, file))
    assert 0 < np.abs(drawn - resized).mean() < 4


def test_written_scenes_are_tables_and_pictures(tmp_path: Path) -> None:
    scenes.write_scenes(tmp_path / "scenes", {"train": 3, "test": 2})
    folder = tmp_path / "scenes"
    head, first, *others = (folder / "train.tsv").read_text().splitlines()
    assert head == "image\tcaption"
    assert first == f"pictures/1000000.png\t{scene(1_000_000).caption}"
    assert len(others) == 2
    asked = [line.split("\t") for line in (folder / "test-questions.tsv").read_text().splitlines()]
    assert asked[0] == ["image", "question", "answer"]
    assert len(asked) == 1 + 2 * ASKED
    with Image.open(folder / "pictures/1000009.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), draw(1_000_009))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(WriteError, match="taken: could not be written"):
        scenes.write_scenes(tmp_path / "taken", {"train": 1})


# --- pointing -------------------------------------------------------------------------------------------------------


def looks_at(
    one: Scene, tokens: list[str], cells: dict[int, tuple[int, int]], grid: tuple[int, int]
) -> npt.NDArray[np.float32]:
    """Attention that is largest at a given cell (row, column) for given words, and even elsewhere."""
    weights = np.full((len(tokens), *grid), 0.5 / (grid[0] * grid[1]), dtype=np.float32)
    for place, (row, column) in cells.items():
        weights[place, row, column] += 0.5
    return weights.reshape(len(tokens), -1)


def cell_of(thing: Thing, grid: tuple[int, int]) -> tuple[int, int]:
    return int(thing.y * grid[0]), int(thing.x * grid[1])


TWO = next(one for one in DRAWN if one.relation == "left of" and len(one.things) == 2)


def test_looking_at_what_is_named_is_always_a_hit() -> None:
    tokens = [*(f" {word}" for word in TWO.caption.split()), "<end>"]
    cells = {place: cell_of(TWO.things[thing], (8, 8)) for place, _, thing in TWO.mentions}
    found = scenes.pointing_accuracy(TWO, tokens, looks_at(TWO, tokens, cells, (8, 8)), (8, 8))
    assert (found.words, found.hits, found.accuracy) == (6, 6, 1.0)


def test_looking_at_the_other_thing_is_a_miss() -> None:
    tokens = TWO.caption.split()
    cells = {place: cell_of(TWO.things[1 - thing], (8, 8)) for place, _, thing in TWO.mentions}
    assert scenes.pointing_accuracy(TWO, tokens, looks_at(TWO, tokens, cells, (8, 8)), (8, 8)).hits == 0


def test_only_words_that_the_reference_has_at_this_place_are_judged() -> None:
    size, colour, shape = TWO.things[0].words
    tokens = ["a", size, "purple", shape]
    cells = {place: cell_of(TWO.things[0], (4, 4)) for place in range(4)}
    found = scenes.pointing_accuracy(TWO, tokens, looks_at(TWO, tokens, cells, (4, 4)), (4, 4))
    assert (found.words, found.hits) == (2, 2)
    assert colour != "purple"


def test_chance_is_the_share_of_cells_that_overlap() -> None:
    thing = Thing("large", "red", "circle", 0.5, 0.5, 0.25, 0.0, (0, 0, 0))
    one = Scene(0, (thing,), None, 1, (0, 0, 0), (0, 0))
    tokens = ["a", "large", "red", "circle"]
    # A box from 0.25 to 0.75 overlaps the cells 1 and 2 of four in both directions, and touches the others.
    found = scenes.pointing_accuracy(one, tokens, np.ones((4, 16)), (4, 4))
    assert (found.words, found.hits, found.chance) == (3, 0, 0.25)
    assert scenes.pointing_accuracy(one, tokens, np.eye(16)[[0, 5, 6, 9]], (4, 4)).hits == 3


def test_pointings_add_up() -> None:
    total = sum([scenes.Pointing(3, 2, 0.5), scenes.Pointing(1, 1, 0.5)], start=scenes.Pointing())
    assert (total.accuracy, total.chance) == (0.75, 0.25)
    assert np.isnan(scenes.Pointing().accuracy)


def test_weights_that_do_not_fit_the_grid_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected weights of shape \(1, 12\), found \(1, 16\)"):
        scenes.pointing_accuracy(TWO, ["a"], np.ones((1, 16)), (3, 4))
