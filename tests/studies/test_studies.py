"""What the studies are made of, without training anything."""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqloom.data.examples import Example, Origin
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import Exhaustive
from seqloom.results.layouts import Frames, Tokens
from seqloom.results.predictions import Alignment, Candidate, Prediction, ScoredTarget
from seqloom.search import run
from seqloom.search.walk import Walk

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize("path", sorted((STUDIES / "recipes").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_recipe_of_a_study_is_valid(path: Path) -> None:
    read_recipe(path)


def test_every_run_of_the_switchboard_is_valid_and_has_a_folder_of_its_own(studies: Any) -> None:
    common, switchboard = studies("common"), studies("switchboard")
    wanted = common.Options(data=Path("data"), runs=Path("runs"), threads=1)
    recipes: dict[str, Any] = {}
    for task in switchboard.TASKS:
        for rows in switchboard.runs_of(task).values():
            for one in rows.values():
                recipe = common.recipe_of(one, wanted)
                assert recipes.setdefault(one.name, recipe) == recipe
    assert len({repr(recipe) for recipe in recipes.values()}) == len(recipes)


def test_prose_stays_when_generated_parts_change(studies: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    common = studies("common")
    monkeypatch.setattr(common, "PAGES", tmp_path)
    common.write_page("tea", {"made": "first", "table": "| a |"})
    page = tmp_path / "tea.md"
    page.write_text(page.read_text().replace("# Tea", "# Tea\n\nWritten by hand."))
    common.write_page("tea", {"made": r"second \1"})
    assert page.read_text() == (
        "# Tea\n\nWritten by hand.\n\n<!-- begin: made -->\nsecond \\1\n<!-- end: made -->\n\n"
        "<!-- begin: table -->\n| a |\n<!-- end: table -->\n"
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_bounded_search_finds_what_exhaustive_search_finds(studies: Any, seed: int) -> None:
    exact, tables = studies("exact"), studies("transition_table")
    table = tables.random_table(seed)
    request = tables.request_for(table, limit=5)
    [[best, *others]] = run(table, table.start(), Exhaustive(count=10, length_power=0.0), request)
    for known in (best, others[-1]):
        found = exact.most_probable(Walk(table, table.start(), request, minimum_length=0), known.log_prob)
        assert found.tokens.tolist() == best.tokens.tolist()


def test_slots_and_what_is_said_of_them_agree(studies: Any, tmp_path: Path) -> None:
    copying = studies("copying")
    copying.write_tables(tmp_path)
    rows = [line.split("\t") for line in (tmp_path / "test.tsv").read_text().splitlines()]
    assert len(rows) == copying.COUNTS["test"]
    assert all(sentence in copying.said_of(acts) for acts, sentence in rows)
    known = {acts.split()[2] for acts, _ in (line.split("\t") for line in (tmp_path / "train.tsv").read_text().splitlines())}
    assert not known & {acts.split()[2] for acts, _ in rows[len(rows) // 2 :]}


@pytest.mark.parametrize(("order", "distance"), [(lambda place: place, 0.0), (lambda place: 3 - place, 2 / 3)])
def test_the_distance_is_that_from_the_diagonal(studies: Any, order: Any, distance: float) -> None:
    weights = np.zeros((1, 5, 4), dtype=np.float32)
    weights[0, np.arange(4), [order(place) for place in range(4)]] = 1
    alignment = Alignment(weights, ("a", "b", "c", "d"), ((0, 1),) * 4, Tokens())
    best = Candidate(
        "w x y z", ("w", "x", "y", "z", "<end>"), 0.0, 0.0, (0.0,) * 5, finished=True, alignment={"source": alignment}
    )
    found = studies("orders").distances_of(Prediction({"source": "a b c d"}, best))
    assert float(np.mean(found)) == pytest.approx(distance, abs=1e-6)


def test_every_run_of_the_orders_is_valid(studies: Any) -> None:
    common, orders = studies("common"), studies("orders")
    wanted = common.Options(data=Path("data"), runs=Path("runs"), threads=1)
    recipes = [common.recipe_of(run, wanted) for run in orders.runs_of().values()]
    assert len({repr(recipe) for recipe in recipes}) == len(recipes) == 6


def babi_in(folder: Path, task: int, lines: str) -> None:
    (folder / "babi_en10k").mkdir()
    for part in ("train", "test"):
        with gzip.open(folder / "babi_en10k" / f"qa{task}_some-facts_{part}.txt.gz", "wt", encoding="utf-8") as stream:
            stream.write(lines)


def test_every_run_of_the_looks_is_valid(studies: Any, tmp_path: Path) -> None:
    common, looks = studies("common"), studies("looks")
    wanted = common.Options(data=tmp_path, runs=tmp_path / "runs", threads=1)
    babi_in(tmp_path, 15, "1 A fact.\n")
    recipes = [common.recipe_of(looks.run_of(tmp_path, 15, number), wanted) for number in looks.LOOKS]
    assert [recipe.model.bridge.looks for recipe in recipes] == [1, 2, 3]
    assert all("qa15_some-facts_train" in str(recipe.data.train) for recipe in recipes)


def test_the_story_of_the_looks_has_no_sentence_of_the_data_set(studies: Any, tmp_path: Path) -> None:
    looks = studies("looks")
    babi_in(tmp_path, looks.DRAWN, f"1 Something else.\n2 {looks.STORY[0]}\n")
    with pytest.raises(SystemExit, match="is a sentence of the data set"):
        looks.require_own(tmp_path)


def test_every_way_to_listen_is_valid_and_has_a_folder_of_its_own(studies: Any) -> None:
    common, listening = studies("common"), studies("listening")
    wanted = common.Options(data=Path("data"), runs=Path("runs"), threads=1)
    runs = listening.runs_of()
    assert len({repr(common.recipe_of(run, wanted)) for run in runs.values()}) == len({run.name for run in runs.values()}) == 4


def test_a_step_is_how_far_the_place_went_on_that_was_listened_to_most(studies: Any) -> None:
    weights = np.zeros((1, 4, 6), dtype=np.float32)
    weights[0, np.arange(4), [1, 4, 3, 0]] = 1
    alignment = Alignment(weights, tuple("abcdef"), ((0, 1),) * 6, Frames(4, 0.01))
    best = Candidate(
        "c4 d4 e4", ("c4", "d4", "e4", "<end>"), 0.0, 0.0, (0.0,) * 4, finished=True, alignment={"sound": alignment}
    )
    assert studies("listening").steps_of(Prediction({"sound": "tones:1/3"}, best)) == [3, -1]


def test_noise_is_as_loud_as_it_is_said_to_be_and_the_same_every_time(studies: Any) -> None:
    noise = studies("noise")
    voice = np.random.default_rng(1).normal(size=4000).astype(np.float32)
    voice[:1000] = 0.0
    spectrum = noise.mean_spectrum([voice], 4000)
    made = noise.noise_of(spectrum, 4000, [18, 0, 1])
    assert (made == noise.noise_of(spectrum, 4000, [18, 0, 1])).all()
    for decibels in (-5.0, 10.0):
        added = noise.in_noise(voice, slice(1000, 4000), made, decibels) - voice
        power = np.mean(voice[1000:] ** 2) / np.mean(added**2)
        assert 10 * np.log10(power) == pytest.approx(decibels, abs=0.01)
    assert np.abs(noise.within_bounds(10 * voice)).max() == pytest.approx(0.99)
    assert (noise.within_bounds(voice / 10) == voice / 10).all()


def test_every_clip_is_heard_at_every_level(studies: Any) -> None:
    seeing = studies("seeing_and_hearing")
    clip = seeing.Clip("bbaf3s.mp4", "train", ("bin", "blue", "at"), seeing.times_of("17-22 22-27 27-46"))
    assert (clip.spoken.start, clip.spoken.stop) == (17 * 640, 46 * 640)
    assert [piece[:2] for piece in seeing.pieces_of(clip)][1] == ("bbaf3s-word-1", "blue")
    voice = np.ones(48000, dtype=np.float32)
    sounds = dict(seeing.heard(voice, clip.spoken, np.ones(24001, dtype=np.float32), 3))
    assert sounds.keys() == seeing.LEVELS.keys() == seeing.PLACES.keys()
    assert (sounds["clean"] == voice).all()
    assert np.std(sounds["-5"]) > np.std(sounds["0"]) > np.std(sounds["10"]) > 0
    assert len(seeing.LOOKS) == len(seeing.LEVELS)  # in training, each level has its own


def test_lips_that_do_not_move_are_nothing_and_numbers_are_apart_otherwise(studies: Any) -> None:
    lips = studies("lips")
    random = np.random.default_rng(1)
    corners = np.full((75, 2), (8.5, 18.25), dtype=np.float32)
    still = np.repeat(random.integers(0, 256, (1, lips.HEIGHT, lips.WIDTH), dtype=np.uint8), 75, axis=0)
    assert np.abs(lips.Film(still, corners).movement()).max() < 1e-3
    moving = [lips.Film(random.integers(0, 256, (75, lips.HEIGHT, lips.WIDTH), dtype=np.uint8), corners) for _ in range(4)]
    components = lips.components_of(moving, 6)
    numbers = np.concatenate([one.movement(look)[::3] @ components for one in moving for look in lips.LOOKS[:2]])
    shared = numbers.T @ numbers / len(numbers)
    variances = np.diag(shared)
    np.testing.assert_allclose(shared, np.diag(variances), atol=1e-3)
    assert variances.mean() == pytest.approx(1.0, abs=1e-3)
    assert (np.diff(variances) < 0).all()


def test_a_mouth_is_found_wherever_the_head_is(studies: Any) -> None:
    lips = studies("lips")
    wide = np.random.default_rng(1).integers(0, 256, (100, 120), dtype=np.uint8)

    def clip(down: int, across: int) -> Any:
        """The same picture for 20 frames, its content so much further down and to the right."""
        frame = wide[30 - down : 30 - down + lips.HEIGHT, 30 - across : 30 - across + lips.WIDTH]
        return np.repeat(frame[None], 20, axis=0)

    moves = [(0, 0), (3, -5), (-4, 9), (-2, -7)]
    face = lips.face_of([clip(*move) for move in moves])
    first = np.add(lips.FIRST, lips.MOUTH)
    for move in moves:
        np.testing.assert_allclose(lips.corners_of(clip(*move), face), np.tile(first + move, (20, 1)), atol=0.1)
    slow = np.concatenate([clip(0, 0), clip(0, 1), clip(0, 2)])
    path = lips.corners_of(slow, face)[:, 1] - first[1]
    np.testing.assert_allclose(path[[5, 30, 55]], [0, 1, 2], atol=0.1)
    assert (np.diff(path) > -0.05).all()


def test_a_window_between_pixels_is_a_mean_of_its_neighbours(studies: Any) -> None:
    lips = studies("lips")
    rows, columns = np.mgrid[: lips.HEIGHT, : lips.WIDTH]
    frames = (rows + 2 * columns).astype(np.uint8)[None]
    film = lips.Film(frames, np.array([[6.5, 10.25]], dtype=np.float32))
    np.testing.assert_allclose(film.mouth()[0, :2, :2], [[27.0, 29.0], [28.0, 30.0]], atol=1e-4)
    np.testing.assert_allclose(film.mouth(lips.Look(1.0, -1.0))[0, 0, 0], 26.0, atol=1e-4)
    assert (film.mouth(lips.Look(mirrored=True)) == film.mouth()[:, :, ::-1]).all()
    edge = lips.Film(frames, np.array([[-5.0, 0.0]], dtype=np.float32)).mouth()[0]
    assert (edge[:6] == edge[0]).all()


def test_every_run_of_seeing_and_hearing_is_valid(studies: Any) -> None:
    common, seeing = studies("common"), studies("seeing_and_hearing")
    wanted = common.Options(data=Path("data"), runs=Path("runs"), threads=1)
    runs = seeing.runs_of(Path("tables"))
    recipes = {name: common.recipe_of(run, wanted) for name, run in runs.items()}
    assert [list(one.data.sources) for one in recipes.values()] == [["sound"], ["lips"], ["lips"], ["sound", "lips"]]
    assert runs["both"].start == runs["picture"].name


def test_two_runs_agree_on_what_both_think_likely(studies: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seeing = studies("seeing_and_hearing")

    @dataclass
    class Member:
        """Thinks of some sentences what it thinks; its first is the likeliest."""

        thinks: dict[str, float]

        def predict(self, examples: list[Example], **_: int) -> list[Prediction]:
            first, *others = [Candidate(text, (), value, value, ()) for text, value in list(self.thinks.items())[:2]]
            return [Prediction({}, first, tuple(others)) for _ in examples]

        def score(self, examples: list[Example]) -> list[ScoredTarget]:
            return [ScoredTarget(self.thinks[one.target or ""], (), ()) for one in examples]

    example = Example({}, "bin red", Origin("test.tsv", 1))
    monkeypatch.setattr(seeing, "examples_in", lambda _member, _test: [example])
    hears = Member({"pin red": -0.9, "bin red": -1.0, "bin blue": -6.0})
    sees = Member({"bin blue": -0.5, "bin red": -1.0, "pin red": -7.0})
    ballots = seeing.ballots_of([hears, sees], Path("test.tsv"))
    assert seeing.elected(ballots, 1.0)["wer"]["score"] == 0.0
    assert [one.winner(0.001) for one in ballots] == ["pin red"]
    assert seeing.chosen_weight(ballots) == 0.1  # the least of those with which nothing is wrong
