"""Requests made up from the service's own description: whatever comes, the server makes no mistake."""

from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from starlette.testclient import TestClient

PATHS = (
    "/v1/predict",
    "/v1/predict/stream",
    "/v1/step",
    "/v1/score",
    "/v1/sample",
    "/v1/complete",
    "/v1/neighbours",
    "/translate",
    "/detect",
)
EXAMPLES = 20


@pytest.fixture(scope="module")
def schema(client: TestClient) -> Any:
    return schemathesis.openapi.from_dict(client.get("/openapi.json").json())


@pytest.mark.parametrize("model", ["tiny", "lines"])
@pytest.mark.parametrize("path", PATHS)
def test_no_request_of_the_schema_is_a_fault(client: TestClient, schema: Any, path: str, model: str) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=schema[path]["POST"].as_strategy())
    def ask(case: Any) -> None:
        body = case.body if isinstance(case.body, dict) else {}
        if path.startswith("/v1"):
            body = {**body, "model": model}  # a name that was made up would be all there is to say
        answer = client.post(path, json=body)
        assert answer.status_code < 500, (body, answer.text)
        if answer.status_code >= 400:
            assert "error" in answer.json()

    ask()


def test_the_description_is_itself_well_formed(schema: Any) -> None:
    assert len(list(schema.get_all_operations())) >= 15


def test_every_route_that_takes_json_is_reached_the_short_way(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    described = client.get("/openapi.json").json()["paths"]
    paths = {path for path, methods in described.items() if "post" in methods} - {"/translate", "/detect"}
    monkeypatch.setattr(FastAPI, "__call__", None)  # the framework's own way would fail
    assert {client.post(path, json={}).status_code for path in paths} == {422}
    assert len(paths) == 8
