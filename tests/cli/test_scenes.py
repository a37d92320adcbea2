"""The built-in pictures, from a recipe's name to captions, answers, views and the demo."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from cli.conftest import Seqloom, words
from seqloom.cli import recipes
from seqloom.data.builtin.scenes import draw, scene, splits
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe, to_yaml

TINY = {
    "training.steps": 2,
    "training.batch_size": 8,
    "training.threads": 1,
    "training.precision": "fp32",
    "model.decoder.size": 12,
    "model.decoder.embedding": 4,
    "model.bridge.attention.size": 8,
}
TINY_CAPTIONS = TINY | {"model.encoder.channels": "[4,8]", "model.encoder.blocks": "0"}
TINY_ANSWERS = TINY | {
    "model.encoders.image.channels": "[4,8]",
    "model.encoders.image.blocks": "0",
    "model.encoders.question.size": 8,
    "model.encoders.question.embedding": 4,
}


@pytest.fixture(scope="module", autouse=True)
def few_pictures() -> Iterator[None]:
    """Splits that are drawn in a moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "PICTURES", {"train": 40, "validation": 8, "test": 12})
        yield


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the recipe `scenes` that has seen a few pictures."""
    return trained("scenes", TINY_CAPTIONS, tmp_path_factory.mktemp("scenes") / "run")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the recipe `scene-questions` that has seen a few pictures."""
    return trained("scene-questions", TINY_ANSWERS, tmp_path_factory.mktemp("scenes") / "run")


def trained(name: str, settings: dict[str, object], run: Path) -> Path:
    from seqloom.training.session import train

    train(read_recipe(recipes.find_recipe(name), [f"{key}={value}" for key, value in settings.items()]), run)
    return run


def test_scenes_and_files_are_described(captions: Path, seqloom: Seqloom, here: Path) -> None:
    Image.fromarray(draw(12)).save(here / "scene.png")
    answer = seqloom("predict", captions, "scene:12", "scene.png", "--json")
    drawn, from_file = answer.objects
    assert drawn["text"] == from_file["text"]
    assert drawn["log_prob"] == pytest.approx(from_file["log_prob"])
    assert drawn["alignment"]["image"]["grid"] == [16, 16]


def test_what_is_no_scene_is_a_sentence(captions: Path, seqloom: Seqloom) -> None:
    answer = seqloom("predict", captions, "scene:twelve")
    assert answer.code == 3
    assert "input:1: expected a scene such as 'scene:12', found 'scene:twelve'" in answer.err


def test_explaining_a_scene_outlines_what_is_named(captions: Path, seqloom: Seqloom, here: Path) -> None:
    predictor = Predictor.load(captions)
    [prediction] = predictor.predict(["scene:12"], prefix=scene(12).caption)
    picture = prediction.exhibit().pictures["image"]
    assert picture.pixels.tolist() == draw(12).tolist()
    named = picture.named_boxes(prediction.best)
    for place, _, thing in scene(12).mentions:
        assert tuple(64 * edge for edge in scene(12).things[thing].box) in named[place]
    assert named[0] == ()  # the word `a` names nothing


def test_questions_are_answered(answers: Path, seqloom: Seqloom, here: Path) -> None:
    given = {"image": "scene:12", "question": "is there a red star ?"}
    [body] = seqloom("predict", answers, "--format", "jsonl", "--json", given=json.dumps(given) + "\n").objects
    assert len(body["tokens"]) == 2  # a class, and the end
    assert set(body["alignment"]) == {"image", "question"}
    assert seqloom("explain", answers, json.dumps(given), "--out", here / "answer.html").code == 0


def test_the_demo_shows_captions_and_says_where_it_looked(
    seqloom: Seqloom, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = read_recipe(recipes.find_recipe("scenes"), words(TINY_CAPTIONS)[1::2])
    (here / "tiny.yaml").write_text(to_yaml(recipe))
    monkeypatch.setattr(recipes, "find_recipe", lambda name: here / "tiny.yaml" if name == "scenes" else None)
    answer = seqloom("demo", "captions", "--out", "run")
    assert answer.code == 0, answer.err
    assert "of 8 pictures of known combinations" in answer.out
    assert "of 12 with a size, a colour and a shape that training never shows together" in answer.out
    assert (here / "run" / "report.html").exists()
    [body] = seqloom("demo", "captions", "--out", "run", "--json").objects
    assert {"exact_match_known", "exact_match_new", "pointing", "pointing_by_chance"} < set(body)
    assert all(Path(one).stat().st_size for one in body["maps"])
