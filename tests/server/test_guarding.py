"""Who may ask, how much, and what every answer carries."""

import logging
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from seqloom.errors import UsageError
from seqloom.server.guarding import HEADERS
from seqloom.server.settings import Limits, ServedModel, Settings
from server.conftest import MakeClient
from server.live import TOKEN

ASKED = {"inputs": ["abc"]}


def code_of(answer: object) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "10.0.0.1", ""])
def test_a_foreign_name_is_not_answered(client: TestClient, host: str) -> None:
    assert code_of(client.get("/v1/models", headers={"host": host})) == (403, "foreign-host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000"])
def test_the_loopback_has_several_names(client: TestClient, host: str) -> None:
    assert client.get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "file://"])
def test_a_page_of_another_site_is_refused(client: TestClient, origin: str) -> None:
    assert code_of(client.post("/v1/predict", json=ASKED, headers={"origin": origin})) == (403, "foreign-origin")


def test_the_page_itself_may_ask(client: TestClient) -> None:
    headers = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}
    assert client.post("/v1/predict", json=ASKED, headers=headers).status_code == 200


def test_every_answer_has_the_headers_that_protect_it(client: TestClient) -> None:
    answers = [client.get("/health"), client.get("/nothing"), client.post("/v1/predict", json=ASKED), client.put("/v1/models")]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "server" not in answer.headers


def test_without_its_content_type_a_body_is_not_read(client: TestClient) -> None:
    assert code_of(client.post("/v1/predict", content=b'{"inputs": ["a"]}')) == (415, "wrong-content-type")


def test_a_body_may_not_be_too_large_however_it_comes(make_client: MakeClient) -> None:
    client = make_client(limits=Limits(body_bytes=1000))

    def chunks() -> Iterator[bytes]:
        yield from [b" " * 400] * 5

    headers = {"content-type": "application/json"}
    assert code_of(client.post("/v1/predict", content=b" " * 2000, headers=headers)) == (413, "body-too-large")
    assert code_of(client.post("/v1/predict", content=chunks(), headers=headers)) == (413, "body-too-large")
    assert client.post("/translate", content=chunks()).status_code == 413


def test_a_token_is_wanted_where_there_is_one(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN)
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}, {"authorization": "Basic eA=="}):
        assert code_of(client.post("/v1/predict", json=ASKED, headers=headers)) == (401, "token-needed")
        assert code_of(client.get("/metrics", headers=headers)) == (401, "token-needed")
    assert client.post("/v1/predict", json=ASKED, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert [client.get(path).status_code for path in ("/health", "/assets/map.js")] == [200, 200]
    refused = client.post("/translate", json={"q": "a", "source": "en", "target": "de"})
    assert refused.status_code == 403
    assert isinstance(refused.json()["error"], str)


def test_beyond_the_loopback_a_server_needs_a_token(served: tuple[ServedModel, ...]) -> None:
    for host in ("0.0.0.0", "192.168.1.2", "models.example.org", "::"):  # noqa: S104
        with pytest.raises(UsageError, match="token"):
            Settings(models=served, host=host)
    with pytest.raises(UsageError, match="short"):
        Settings(models=served, token="abc")  # noqa: S106
    Settings(models=served, host="::1")


def test_beyond_the_loopback_names_have_to_be_allowed(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN, host="0.0.0.0", hosts=("models.example.org",))  # noqa: S104
    statuses = [
        client.get("/health", headers={"host": host}).status_code for host in ("models.example.org", "10.1.2.3", "other")
    ]
    assert statuses == [200, 200, 403]


def test_what_people_write_is_not_logged(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    private = "hedgehag"
    client.post("/v1/predict", json={"inputs": [private]})
    client.post("/v1/predict", json={"inputs": [{private: private}]})
    client.post(f"/translate?q={private}&source=en&target=de")
    client.get(f"/{private}")
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("httpx")]
    assert ours
    assert not [line for line in ours if private in line]
    assert private not in client.get("/metrics").text


def test_a_fault_is_told_without_a_traceback(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("hedgehag")

    monkeypatch.setattr("seqloom.server.routes.predicting.find", broken)
    answer = client.post("/v1/predict", json=ASKED)
    assert code_of(answer) == (500, "fault")
    assert "hedgehag" not in answer.text
    assert "hedgehag" not in caplog.text
    assert "RuntimeError at" in caplog.text


@pytest.mark.parametrize(
    "path",
    ["/page/../app.py", "/page/..%2fapp.py", "/assets/..%2f..%2f__init__.py", "/page//etc/passwd", "/page/x.py", "/page/%00"],
)
def test_only_files_of_the_page_are_handed_out(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_files_of_the_page_are_asked_for_again_only_if_they_changed(client: TestClient) -> None:
    first = client.get("/assets/map.js")
    assert first.headers["content-type"].startswith("text/javascript")
    assert client.get("/assets/map.js", headers={"if-none-match": first.headers["etag"]}).status_code == 304


def test_the_description_has_an_example_for_every_request(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/v1/predict", "/v1/step", "/v1/score", "/v1/sample", "/translate", "/detect", "/languages"} <= paths.keys()
    for path, methods in paths.items():
        for operation in methods.values():
            assert operation["summary"], path
    assert client.get("/docs").status_code == 404  # it would fetch scripts from elsewhere


def test_models_are_described_without_their_paths(client: TestClient, served: tuple[ServedModel, ...]) -> None:
    body = client.get("/v1/models")
    tiny, lines, book = body.json()["models"]
    assert (tiny["kind"], tiny["sources"], tiny["languages"]) == (
        "pairs",
        [{"name": "source", "kind": "text"}],
        {"source": "en", "target": "de"},
    )
    assert "oracle" in tiny["can"]
    assert tiny["examples"]
    assert (lines["kind"], lines["running"], book["running"]) == ("language", False, True)
    assert str(served[0].folder) not in body.text
