import base64
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from seqloom.prediction.predictor import Predictor


def events(text: str) -> list[tuple[str, Any]]:
    blocks = [block.split("\n") for block in text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_predictions_are_those_of_the_predictor(client: TestClient, tiny_run: Path) -> None:
    words = ["abc", "hgf", "bead"]
    answer = client.post("/v1/predict", json={"inputs": words, "nbest": 2})
    assert answer.status_code == 200
    offline = Predictor.load(tiny_run).predict(words, nbest=2)
    found = answer.json()["predictions"]
    assert [[one["text"] for one in each["candidates"]] for each in found] == [
        [one.text for one in each.candidates] for each in offline
    ]
    assert found[0]["candidates"][0]["log_prob"] == pytest.approx(offline[0].log_prob, abs=1e-4)


def test_attention_has_a_row_for_each_token_over_the_source(client: TestClient) -> None:
    body = client.post("/v1/predict", json={"inputs": ["abc"], "attention": True}).json()
    best = body["predictions"][0]["candidates"][0]
    looked = best["attention"]["source"]
    assert looked["symbols"] == ["a", "b", "c"]
    assert looked["spans"] == [[0, 1], [1, 2], [2, 3]]
    assert len(looked["weights"]) == len(best["tokens"])
    assert sum(looked["weights"][0]) == pytest.approx(1, abs=1e-3)
    assert looked["layout"] == {"kind": "tokens"}


def test_features_go_with_an_object(client: TestClient) -> None:
    loud = client.post("/v1/predict", json={"inputs": [{"source": "abc", "features": ["loud"]}]}).json()
    assert loud["predictions"][0]["candidates"][0]["text"].endswith("!")


@pytest.mark.parametrize("as_ids", [False, True])
def test_a_prefix_may_be_symbols_or_ids_of_an_answer(client: TestClient, as_ids: bool) -> None:
    other = client.post("/v1/predict", json={"inputs": ["hgf"]}).json()["predictions"][0]["candidates"][0]
    prefix = other["ids" if as_ids else "tokens"][:2]
    found = client.post("/v1/predict", json={"inputs": ["abc"], "prefix": prefix}).json()
    assert found["predictions"][0]["candidates"][0]["text"].startswith(other["text"][:2])


def test_an_oracle_says_where_to_look(client: TestClient) -> None:
    told = [[0.0, 0.0, 1.0]]
    body = client.post("/v1/predict", json={"inputs": ["abc"], "attention": True, "oracle": told}).json()
    assert body["predictions"][0]["candidates"][0]["attention"]["source"]["weights"][0] == [0.0, 0.0, 1.0]
    assert body["predictions"][0]["candidates"][0]["text"].startswith("C")


def test_the_tree_comes_with_its_nodes(client: TestClient) -> None:
    [one] = client.post("/v1/predict", json={"inputs": ["abc"], "beam": 2, "tree": True}).json()["predictions"]
    assert one["tree"]["width"] == 2
    chosen = [branch for step in one["tree"]["steps"] for branch in step if branch["chosen"]]
    assert [branch["id"] for branch in chosen] == one["candidates"][0]["ids"]


def test_a_stream_tells_the_steps_and_then_the_same_prediction(client: TestClient) -> None:
    asked = {"inputs": ["abc"], "nbest": 2, "attention": True, "tree": True}
    answer = client.post("/v1/predict/stream", json=asked)
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer.text)
    assert [name for name, _ in told[-2:]] == ["prediction", "done"]
    assert {name for name, _ in told[:-2]} == {"step"}
    whole = client.post("/v1/predict", json=asked).json()["predictions"][0]
    assert told[-2][1]["candidates"][0]["text"] == whole["candidates"][0]["text"]
    assert told[-2][1]["tree"]["outputs"] == whole["tree"]["outputs"]


def test_a_blank_input_has_an_empty_output(client: TestClient) -> None:
    for path in ("/v1/predict", "/v1/predict/stream"):
        assert client.post(path, json={"inputs": [" "], "tree": True}).status_code == 200


def test_steps_give_distributions_along_a_prefix(client: TestClient) -> None:
    body = client.post("/v1/step", json={"input": "abc", "prefix": "AB", "count": 3, "every": True}).json()
    assert [one["prefix"] for one in body["steps"]] == [[], ["A"], ["A", "B"]]
    assert [one["taken"]["symbol"] for one in body["steps"][:2]] == ["A", "B"]
    last = body["steps"][-1]
    assert len(last["next"]) == 3
    assert last["next"][0]["probability"] >= last["next"][1]["probability"]
    assert sum(last["attention"]["source"]) == pytest.approx(1, abs=1e-3)


def test_what_a_step_says_is_what_a_score_says(client: TestClient) -> None:
    steps = client.post("/v1/step", json={"input": "abc", "prefix": "ABC", "every": True}).json()["steps"]
    [score] = client.post("/v1/score", json={"inputs": ["abc"], "targets": ["ABC"]}).json()["scores"]
    assert [one["taken"]["log_prob"] for one in steps[:3]] == pytest.approx(score["log_probs"][:3], abs=1e-4)


def test_a_score_tells_whose_error_it_is(client: TestClient) -> None:
    asked = {"inputs": ["abc", "abc"], "targets": ["ABC", "HHHH"], "search": True}
    scores = client.post("/v1/score", json=asked).json()["scores"]
    assert [one["verdict"] for one in scores] == ["right", "model-error"]
    assert scores[1]["found"]["text"] == "ABC"


def test_neighbours_are_training_examples(client: TestClient) -> None:
    body = client.post("/v1/neighbours", json={"input": "abc", "count": 3}).json()
    assert body["indexed"] > 100
    distances = [one["distance"] for one in body["neighbours"]]
    assert distances == sorted(distances)
    assert body["neighbours"][0]["target"].rstrip("!") == body["neighbours"][0]["input"]["source"].upper()


def test_sampling_depends_on_its_seed_alone(client: TestClient) -> None:
    texts = [events(client.post("/v1/sample", json={"input": "abc", "seed": 3}).text)[-2] for _ in range(2)]
    assert texts[0] == texts[1]
    assert texts[0][0] == "text"


# --- language models ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["lines", "book"])
def test_a_language_model_completes_samples_scores_and_steps(client: TestClient, model: str) -> None:
    texts = client.post("/v1/complete", json={"model": model, "prompt": "the ", "beam": 2, "length": 5}).json()["texts"]
    assert len(texts) == 2
    assert all(one["text"].startswith("the ") for one in texts)
    told = events(client.post("/v1/sample", json={"model": model, "prompt": "the ", "length": 8}).text)
    assert "".join(data["text"] for name, data in told if name == "piece") == dict(told)["text"]["text"]
    scored = client.post("/v1/score", json={"model": model, "texts": ["the cat"]}).json()
    assert len(scored["scores"][0]["symbols"]) == len("the cat") + 1
    assert scored["summary"]["symbols"] == 8
    [step] = client.post("/v1/step", json={"model": model, "prefix": "the c", "count": 4}).json()["steps"]
    following = scored["scores"][0]["symbols"][5]
    every = client.post("/v1/step", json={"model": model, "prefix": "the c", "count": 100}).json()["steps"][0]["next"]
    [said] = [one for one in every if one["symbol"] == following["symbol"]]
    assert said["log_prob"] == pytest.approx(following["log_prob"], abs=1e-4)
    assert step["next"] == every[:4]


def test_models_say_what_they_cannot_do(client: TestClient) -> None:
    refused = [
        client.post("/v1/predict", json={"model": "lines", "inputs": ["a"]}),
        client.post("/v1/complete", json={"model": "tiny", "prompt": "a"}),
        client.post("/v1/neighbours", json={"model": "book", "input": "a"}),
    ]
    assert [one.status_code for one in refused] == [422, 422, 422]
    assert {one.json()["error"]["code"] for one in refused} == {"cannot"}


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"inputs": ["a"], "modle": "tiny"}, "invalid"),
        ({"inputs": []}, "invalid"),
        ({"inputs": ["a"], "beam": 0}, "invalid"),
        ({"inputs": ["a"], "beam": 1000}, "invalid"),
        ({"inputs": ["a"], "beam": 2, "nbest": 3}, "invalid"),
        ({"inputs": ["a"] * 200}, "too-long"),
        ({"inputs": ["a" * 6000]}, "too-long"),
        ({"inputs": [{"sauce": "a"}]}, "bad-input"),
        ({"inputs": [{"source": "a", "features": ["nothing of the kind"]}]}, "bad-input"),
        ({"inputs": [{"source": {"base64": "AAAA"}}]}, "bad-input"),
        ({"inputs": ["a"], "prefix": "ü"}, "bad-input"),
        ({"inputs": ["a"], "prefix": [999999]}, "bad-input"),
        ({"inputs": ["a"], "prefix": ["<end>"]}, "bad-input"),
        ({"inputs": ["a"], "oracle": [[0.5, 0.5]]}, "bad-input"),
        ({"inputs": ["a"], "oracle": "x"}, "bad-input"),
        ({"inputs": ["a", "b"], "tree": True}, "invalid"),
        ({"inputs": ["a"], "forbid": ["nothing"]}, "bad-input"),
        ({"inputs": ["a"], "minimum_length": 9, "maximum_length": 3}, "invalid"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(client: TestClient, body: dict[str, Any], code: str) -> None:
    answer = client.post("/v1/predict", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == code
    assert answer.json()["error"]["message"]


def test_an_unknown_model_is_not_there(client: TestClient) -> None:
    answer = client.post("/v1/predict", json={"model": "other", "inputs": ["a"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no-such-model")


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 50_000, b"null", b'"a"', b'{"inputs": ["\\ud800"]}', b"\xff\xfe"])
def test_malformed_bodies_are_refused(client: TestClient, content: bytes) -> None:
    answer = client.post("/v1/predict", content=content, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["code"] in ("bad-request", "invalid")


def test_a_neighbour_in_the_batch_does_no_harm(client: TestClient) -> None:
    bad = base64.b64encode(b"x").decode()
    assert client.post("/v1/predict", json={"inputs": ["abc", {"source": {"base64": bad}}]}).status_code == 422
    assert client.post("/v1/predict", json={"inputs": ["abc"]}).status_code == 200
