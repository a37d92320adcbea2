"""A server in this process, on the tiny run, and clients for it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from seqloom.server.app import build_app
from seqloom.server.settings import Limits, ServedModel, Settings
from server.live import LiveServer

HOST = "http://127.0.0.1"
MakeClient = Callable[..., TestClient]


@pytest.fixture(scope="session")
def served(tiny_run: Path, text_runs: dict[str, Path]) -> tuple[ServedModel, ...]:
    return (
        ServedModel("tiny", tiny_run, ("en", "de")),
        ServedModel("lines", text_runs["lines-characters"]),
        ServedModel("book", text_runs["stream-characters"]),
    )


@pytest.fixture
def make_client(served: tuple[ServedModel, ...]) -> Iterator[MakeClient]:
    """Starts a server of its own, with settings of its own."""
    begun: list[TestClient] = []

    def make(*, limits: Limits | None = None, models: tuple[ServedModel, ...] = served, **settings: object) -> TestClient:
        app = build_app(Settings(models=models, limits=limits or Limits(), **settings))  # type: ignore[arg-type]
        client = TestClient(app, base_url=HOST, raise_server_exceptions=False)
        client.__enter__()
        begun.append(client)
        return client

    yield make
    for client in begun:
        client.__exit__(None, None, None)


@pytest.fixture(scope="module")
def client(served: tuple[ServedModel, ...]) -> Iterator[TestClient]:
    """One server for all tests of a file."""
    with TestClient(build_app(Settings(models=served)), base_url=HOST, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="session")
def live(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A real server with a token, for all tests."""
    server = LiveServer([str(tiny_run), "--languages", "en:de"], tmp_path_factory.mktemp("live") / "log.txt")
    server.start()
    yield server
    server.stop()
