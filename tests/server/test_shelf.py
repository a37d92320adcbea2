"""Models are opened when they are wanted, and anew when their folders have changed, without a failed request."""

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from seqloom.errors import RunError
from seqloom.runs import RunFolder
from seqloom.server import shelf
from seqloom.server.app import build_app
from seqloom.server.settings import ServedModel, Settings
from server.conftest import MakeClient


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "_LOOK_EVERY", 0.0)


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def weaken(run: Path) -> None:
    """Write other weights, as a training that goes on would: beside them, and renamed."""
    folder = RunFolder.open(run)
    weights, facts = folder.load_weights()
    folder.save_weights({name: 0 * array for name, array in weights.items()}, facts)


def test_only_the_first_model_is_opened_before_it_is_asked(make_client: MakeClient) -> None:
    client = make_client()
    until(lambda: client.get("/ready").status_code == 200)
    assert [one["loaded"] for one in client.get("/v1/models").json()["models"]] == [True, False, False]
    assert client.post("/v1/score", json={"model": "lines", "texts": ["a cat"]}).status_code == 200
    assert [one["loaded"] for one in client.get("/v1/models").json()["models"]] == [True, True, False]


def test_a_changed_model_is_opened_while_the_old_one_answers(make_client: MakeClient, tiny_run_copy: Path) -> None:
    client = make_client(models=(ServedModel("tiny", tiny_run_copy),))

    def log_prob() -> float:
        answer = client.post("/v1/predict", json={"inputs": ["abc"]})
        assert answer.status_code == 200
        return float(answer.json()["predictions"][0]["candidates"][0]["log_prob"])

    before, statuses, stop = log_prob(), [200], threading.Event()

    def ask() -> None:
        while not stop.is_set():
            statuses.append(client.post("/v1/predict", json={"inputs": ["hg"]}).status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    weaken(tiny_run_copy)
    # Not `!=`: a batch of both requests rounds otherwise than one of them alone, with the old weights, too.
    until(lambda: abs(log_prob() - before) > 1e-3)
    stop.set()
    asking.join()
    assert set(statuses) == {200}
    assert 'seqloom_reloads_total{model="tiny"} 1.0' in client.get("/metrics").text


def test_a_damaged_folder_leaves_the_model_of_before(make_client: MakeClient, tiny_run_copy: Path) -> None:
    client = make_client(models=(ServedModel("tiny", tiny_run_copy),))
    assert client.post("/v1/predict", json={"inputs": ["abc"]}).status_code == 200
    weights = tiny_run_copy / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    for _ in range(5):
        assert client.post("/v1/predict", json={"inputs": ["abc"]}).status_code == 200
        time.sleep(0.02)
    shutil.rmtree(tiny_run_copy)
    assert client.post("/v1/predict", json={"inputs": ["abc"]}).status_code == 200


def test_a_model_that_cannot_be_opened_says_so_until_it_can(make_client: MakeClient, tiny_run_copy: Path) -> None:
    weights = tiny_run_copy / "weights.safetensors"
    aside = tiny_run_copy / "aside"
    weights.rename(aside)
    client = make_client(models=(ServedModel("tiny", tiny_run_copy),))
    answer = client.post("/v1/predict", json={"inputs": ["abc"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "loading-failed")
    assert str(tiny_run_copy) not in answer.text
    assert client.get("/ready").status_code == 503
    aside.rename(weights)
    assert client.post("/v1/predict", json={"inputs": ["abc"]}).status_code == 200


def test_a_folder_that_is_no_run_is_refused_when_the_server_starts(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        build_app(Settings(models=(ServedModel("x", tmp_path),)))
