"""What the page draws: figures of `explain`, as data and as files, and the files of the page itself."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from seqloom.server.routes.files import ASSETS, PAGE

LARGEST_PAGE = 250_000


def names(element: list[Any]) -> set[str]:
    return {element[0]}.union(*(names(one) for one in element[2] if not isinstance(one, str)))


def test_a_drawing_comes_with_a_prediction_that_asks_for_it(client: TestClient) -> None:
    [found] = client.post("/v1/predict", json={"inputs": ["abc"], "drawing": True, "tree": True}).json()["predictions"]
    assert found["drawing"]["data"]["candidates"][0]["text"] == found["candidates"][0]["text"]
    assert found["drawing"]["markup"][0] == "section"
    assert {"svg", "g", "text"} <= names(found["tree_drawing"])
    [plain] = client.post("/v1/predict", json={"inputs": ["abc"], "tree": True}).json()["predictions"]
    assert not {"drawing", "tree_drawing"} & set(plain)


def test_a_scored_text_can_be_drawn(client: TestClient) -> None:
    body = {"model": "lines", "texts": ["ab"], "drawing": True}
    [found] = client.post("/v1/score", json=body).json()["scores"]
    assert found["drawing"]["markup"][1]["class"] == "shaded"
    assert len(found["drawing"]["data"]["lines"]) == 1


@pytest.mark.parametrize("figure", ["map", "tree", "steps"])
@pytest.mark.parametrize(("form", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("html", b"<!doctype"), ("json", b"{")])
def test_every_figure_is_a_file_in_every_form(client: TestClient, figure: str, form: str, begins: bytes) -> None:
    asked = {"inputs": ["abc"], "figure": figure, "form": form, "prefix": "A"}
    answer = client.post("/v1/figure", json=asked)
    assert (answer.status_code, answer.content.startswith(begins)) == (200, True), answer.text
    assert answer.headers["content-disposition"] == f'attachment; filename="{figure}.{form}"'


@pytest.mark.parametrize(
    "asked", [{"inputs": ["a", "b"]}, {"inputs": ["a"], "model": "lines"}, {"inputs": ["a"], "form": "gif"}, {"inputs": [" "]}]
)
def test_a_figure_is_about_one_input_of_a_model_that_reads_one(client: TestClient, asked: dict[str, Any]) -> None:
    answer = client.post("/v1/figure", json={"figure": "steps", **asked})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]


def test_the_page_is_small_and_names_only_files_that_are_there(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    loaded = [f"/page/{file.name}" for file in PAGE.iterdir()] + ["/page/theme.css"]
    loaded += [f"/assets/{file.name}" for file in ASSETS.iterdir()]
    answers = {path: client.get(path) for path in loaded}
    assert all(answer.status_code == 200 for answer in answers.values())
    assert sum(len(answer.content) for answer in answers.values()) < LARGEST_PAGE
    assert (
        client.get("/page/theme.css", headers={"If-None-Match": answers["/page/theme.css"].headers["etag"]}).status_code == 304
    )
