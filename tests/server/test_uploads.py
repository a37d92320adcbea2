"""Models that read pictures: uploads, drawn scenes, and what is refused."""

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from seqloom.data.builtin.scenes import draw
from seqloom.server.app import build_app
from seqloom.server.settings import Limits, ServedModel, Settings
from server.conftest import HOST


def encoded(content: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(content).decode()}


def png(number: int = 12) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(draw(number)).save(stream, format="PNG")
    return stream.getvalue()


def untrained(path: Path) -> Path:
    """A captioner with random weights, as training would leave it."""
    from seqloom.data.kinds import kind_of
    from seqloom.data.vocabulary import build_vocabulary
    from seqloom.models.encoder_decoder import build_model
    from seqloom.models.weights import weight_arrays
    from seqloom.recipe import recipe_from
    from seqloom.runs import RunFolder

    recipe = recipe_from(
        {
            "data": {"builtin": "scenes", "vocabularies": {"target": {"kind": "words"}}},
            "model": {
                "encoder": {"kind": "cnn", "channels": [4, 8], "blocks": 0, "summary": "dense"},
                "decoder": {"size": 12, "embedding": 4},
                "bridge": {"kind": "attention", "query": "current", "into": ["output"], "attention": {"kind": "bilinear"}},
            },
            "search": {"kind": "beam", "width": 2, "length_factor": 0.0, "length_extra": 6},
        }
    )
    symbols = build_vocabulary(recipe.data.vocabularies.target, ["a small red circle", "a large blue square"])
    run = RunFolder.create(path, recipe, {"target": symbols.to_json()}, {"fingerprint": ""})
    sizes = {"image": kind_of(recipe.data.sources["image"]).input_size(0), "target": symbols.size}
    arrays = weight_arrays(build_model(recipe, sizes))  # type: ignore[arg-type]
    random = np.random.default_rng(3)
    run.save_weights({name: random.normal(0, 0.3, one.shape).astype(np.float32) for name, one in arrays.items()}, {})
    return path


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    run = untrained(tmp_path_factory.mktemp("scenes") / "captions")
    settings = Settings(models=(ServedModel("captions", run),), limits=Limits(upload_bytes=100_000))
    with TestClient(build_app(settings), base_url=HOST, raise_server_exceptions=False) as client:
        yield client


def test_an_upload_is_read_as_the_scene_that_it_shows(client: TestClient) -> None:
    inputs: list[Any] = [{"image": encoded(png())}, {"image": "scene:12"}, "scene:12"]
    body = client.post("/v1/predict", json={"inputs": inputs, "attention": True}).json()
    upload, scene, short = (one["candidates"][0] for one in body["predictions"])
    assert upload["log_prob"] == pytest.approx(scene["log_prob"], abs=1e-5)
    assert upload["log_prob"] == pytest.approx(short["log_prob"], abs=1e-5)
    looked = upload["attention"]["image"]
    assert looked["layout"]["kind"] == "grid"
    assert looked["picture"].startswith("data:image/png;base64,")
    assert body["predictions"][0]["input"] == {"image": "the upload"}


def test_two_uploads_of_one_size_are_two_pictures(client: TestClient) -> None:
    stream = [Image.fromarray(draw(number)) for number in (3, 4)]
    contents = []
    for picture in stream:
        buffer = io.BytesIO()
        picture.save(buffer, format="BMP")  # the same number of bytes, whatever it shows
        contents.append(buffer.getvalue())
    assert len(contents[0]) == len(contents[1])
    inputs = [{"image": encoded(one)} for one in contents]
    together = client.post("/v1/predict", json={"inputs": inputs}).json()["predictions"]
    assert together[0]["candidates"][0]["log_prob"] != together[1]["candidates"][0]["log_prob"]


@pytest.mark.parametrize(
    ("image", "code"),
    [
        ("/etc/hostname", "bad-input"),
        ("scene.png", "bad-input"),
        ("scene:twelve", "bad-input"),
        ({"base64": "no base64!"}, "bad-input"),
        ({"base64": "data:image/png;base64,AAAA"}, "bad-input"),
        (encoded(b"no picture"), "bad-input"),
        (encoded(png()[:200]), "bad-input"),
        (encoded(b"\0" * 200_000), "too-long"),
        ({"base64": "AAAA", "path": "/etc/hostname"}, "invalid"),
        ([1.0], "bad-input"),
    ],
)
def test_what_is_no_picture_is_refused_and_no_file_of_the_server_is_read(client: TestClient, image: Any, code: str) -> None:
    answer = client.post("/v1/predict", json={"inputs": [{"image": image}]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert "/etc" not in answer.text


def test_an_enormous_picture_is_refused_by_its_header(client: TestClient) -> None:
    stream = io.BytesIO()
    Image.new("1", (30_000, 30_000)).save(stream, format="PNG", optimize=True)
    answer = client.post("/v1/predict", json={"inputs": [{"image": encoded(stream.getvalue()[:90_000])}]})
    assert answer.status_code == 422


def test_a_caption_can_be_watched_and_asked_about(client: TestClient) -> None:
    given = {"image": "scene:12"}
    assert client.post("/v1/predict/stream", json={"inputs": [given], "tree": True}).status_code == 200
    [step] = client.post("/v1/step", json={"input": given, "prefix": "a small"}).json()["steps"]
    assert step["prefix"] == ["a", "small"]
    [score] = client.post("/v1/score", json={"inputs": [{"image": encoded(png())}], "targets": ["a red circle"]}).json()[
        "scores"
    ]
    assert len(score["log_probs"]) == 4


def test_nothing_of_an_upload_is_kept(client: TestClient, own_cache: Path) -> None:
    before = sum(path.stat().st_size for path in own_cache.rglob("*") if path.is_file())
    content = png(77)
    client.post("/v1/score", json={"inputs": [{"image": encoded(content)}], "targets": ["a red circle"]})
    assert sum(path.stat().st_size for path in own_cache.rglob("*") if path.is_file()) == before
