"""Films that are drawn from a number: what happens in them, when, and whether a model looked."""

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from seqloom.data.builtin.moves import ACTIONS, FRAMES, HELD_OUT, MovesRoot, draw, examples, film, time_pointing, write_moves
from seqloom.data.builtin.moves.events import PAINTS, SHAPES
from seqloom.data.builtin.moves.splits import numbers
from seqloom.data.builtin.scenes import split_of
from seqloom.data.media.files import MediaError
from seqloom.results.layouts import Film as FilmLayout
from seqloom.results.predictions import Alignment


def test_a_caption_tells_what_happens_in_its_order() -> None:
    for number in range(40):
        content = film(number)
        assert [one.begin for one in content.actors] == sorted(one.begin for one in content.actors)
        assert content.caption.count(", then") == len(content.actors) - 1
        words = content.caption.replace(",", " ,").split()
        assert all(words[place] == word for place, word, _ in content.mentions)
        assert len(content.mentions) == sum(len(one.words) for one in content.actors)


def test_frames_change_when_the_caption_says_so_and_only_then() -> None:
    for number in range(30):
        pixels = draw(number, 40).astype(int)
        changed = {frame for frame in range(1, FRAMES) if (pixels[frame] != pixels[frame - 1]).any()}
        assert changed == {frame for one in film(number).actors for frame in one.frames}


def test_things_stay_in_the_picture() -> None:
    for number in range(200):
        for actor in (*film(number).actors, *film(number).still):
            for thing in (actor.start, actor.end):
                assert min(thing.box[:2]) > -0.01
                assert max(thing.box[2:]) < 1.01


def test_only_test_shows_what_is_held_out_and_every_pair_of_words_is_known() -> None:
    seen: Counter[tuple[str, ...]] = Counter()
    for number in range(3000):
        content = film(number)
        unseen = [one for one in content.actors if HELD_OUT[one.start.colour][one.start.shape] == one.action]
        assert len(unseen) == (split_of(number) == "test")
        if split_of(number) == "train":
            for one in content.actors:
                seen.update(
                    [(one.start.colour, one.action), (one.start.shape, one.action), (one.start.colour, one.start.shape)]
                )
    assert len(seen) == len(ACTIONS) * (len(PAINTS) + len(SHAPES)) + len(PAINTS) * len(SHAPES)


def test_a_film_is_the_same_in_any_size_and_everywhere() -> None:
    assert draw(12, 40).shape == (FRAMES, 40, 40, 3)
    np.testing.assert_array_equal(draw(12), draw(12))
    assert MovesRoot().resolve("moves:12").content_hash != MovesRoot().resolve("moves:13").content_hash
    with pytest.raises(MediaError, match="expected a film such as 'moves:12'"):
        MovesRoot().resolve("moves:twelve")


def test_splits_do_not_overlap() -> None:
    assert {split_of(number) for number in islice(numbers("train"), 50)} == {"train"}
    first = next(iter(examples("test")))
    assert first.sources["video"] == "moves:1000009"
    assert first.target == film(1_000_009).caption


def test_films_can_be_written_as_files(tmp_path: Path) -> None:
    write_moves(tmp_path, {"train": 2, "test": 1}, side=16)
    lines = (tmp_path / "train.tsv").read_text().splitlines()
    assert lines[0] == "video\tcaption"
    assert (tmp_path / lines[1].split("\t")[0]).read_bytes().startswith(b"\x89PNG")


def test_looking_in_time_is_a_hit_and_looking_elsewhere_is_none() -> None:
    content = film(12)
    tokens = content.caption.replace(",", " ,").split()
    there, elsewhere = np.zeros((2, len(tokens), FRAMES), np.float32)
    for place, _, frames in content.mentions:
        there[place, frames.start] = 1
        elsewhere[place, 0] = 1
    assert time_pointing(content, tokens, there).accuracy == 1.0
    assert time_pointing(content, tokens, elsewhere).accuracy == 0.0
    assert time_pointing(content, tokens, there).chance == pytest.approx(0.25)
    assert time_pointing(content, ["a", "wrong", "word"], there).words == 0


def test_weights_over_places_are_weights_over_frames() -> None:
    weights = np.arange(12, dtype=np.float32).reshape(1, 1, 12)
    alignment = Alignment(weights, ("",) * 12, ((0, 0),) * 12, FilmLayout(2, 2))
    assert alignment.in_time().mean.tolist() == [[6.0, 22.0, 38.0]]
    assert alignment.in_time().symbols == ("1", "2", "3")
