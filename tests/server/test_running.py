"""How connections are read: heads that come slowly, or never end."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from seqloom.server import running
from seqloom.server.running import PatientProtocol

HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"


class Wire(asyncio.Transport):
    """A connection to nobody: it remembers what was written, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def healthy(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def connected(talk: Callable[[PatientProtocol, Wire], Any]) -> Wire:
    """Talk to a protocol, then look at its wire."""

    async def run() -> Wire:
        config = uvicorn.Config(healthy, ws="none", log_config=None, access_log=False)
        protocol, wire = PatientProtocol(config, ServerState(), {}), Wire()
        protocol.connection_made(wire)
        await talk(protocol, wire)
        protocol.connection_lost(None)
        return wire

    return asyncio.run(run())


def test_requests_follow_one_another_on_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_HEADER_SECONDS", 0.05)

    async def talk(protocol: PatientProtocol, wire: Wire) -> None:
        for _ in range(2):
            protocol.data_received(HEAD)
            protocol.data_received(b"\r\n")
            await asyncio.sleep(0.1)
        assert not wire.closed

    assert connected(talk).written.count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize("before", [b"", HEAD + b"\r\n"])
def test_a_head_that_does_not_end_is_hung_up_on(monkeypatch: pytest.MonkeyPatch, before: bytes) -> None:
    monkeypatch.setattr(running, "_HEADER_SECONDS", 0.1)

    async def talk(protocol: PatientProtocol, wire: Wire) -> None:
        if before:
            protocol.data_received(before)
            await asyncio.sleep(0.01)
        protocol.data_received(HEAD)
        await asyncio.sleep(0.02)
        assert not wire.closed
        protocol.data_received(b"X-A: b\r\n")
        await asyncio.sleep(0.2)
        assert wire.closed

    connected(talk)


def test_a_head_of_any_length_is_not_read() -> None:
    async def talk(protocol: PatientProtocol, wire: Wire) -> None:
        protocol.data_received(HEAD)
        for _ in range(70):
            protocol.data_received(b"X-A: " + b"b" * 1017 + b"\r\n")
        assert wire.closed

    connected(talk)


def test_short_answers_are_not_held_back() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            wire = Wire()
            wire._extra = {"socket": accepted}  # type: ignore[attr-defined]

            async def talk(protocol: PatientProtocol, _: Wire) -> None:
                protocol.connection_made(wire)
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

            connected(talk)


def test_what_is_no_http_is_refused() -> None:
    async def talk(protocol: PatientProtocol, wire: Wire) -> None:
        protocol.data_received(b"\x16\x03\x01 hello\r\n\r\n")

    wire = connected(talk)
    assert wire.closed
    assert wire.written.startswith(b"HTTP/1.1 400")
