"""The program itself on the loopback: many clients, slow ones, vanishing ones, and the end."""

import http.client
import json
import socket
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from server.live import TOKEN, LiveServer

HEADERS = {"Authorization": f"Bearer {TOKEN}"}
WORDS = ["abc", "hgfe", "bead", "cab", "feed", "gag"]


def connected(server: LiveServer) -> socket.socket:
    place = urlsplit(server.address)
    return socket.create_connection((place.hostname or "", place.port or 0), timeout=30)


def head(server: LiveServer, length: int, path: str = "/v1/predict") -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {urlsplit(server.address).netloc}",
        f"Authorization: Bearer {TOKEN}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def metric(server: LiveServer, name: str) -> float:
    lines = httpx.get(f"{server.address}metrics", headers=HEADERS).text.splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).split()[-1])


def test_many_clients_are_all_answered_rightly(live: LiveServer) -> None:
    def ask(number: int) -> list[tuple[str, str]]:
        with httpx.Client(base_url=live.address, headers=HEADERS, timeout=60) as client:
            words = [WORDS[(number + turn) % len(WORDS)] for turn in range(20)]
            answers = [client.post("/v1/predict", json={"inputs": [word]}) for word in words]
            assert {one.status_code for one in answers} == {200}
            texts = [one.json()["predictions"][0]["candidates"][0]["text"] for one in answers]
            return list(zip(words, texts, strict=True))

    with ThreadPoolExecutor(16) as pool:
        found = [pair for pairs in pool.map(ask, range(16)) for pair in pairs]
    assert len(found) == 320
    assert len(set(found)) == len(WORDS)  # a word has one answer, whatever its neighbours


def test_a_client_that_goes_away_leaves_no_work_behind(live: LiveServer) -> None:
    body = json.dumps({"inputs": ["abcdefgh" * 30] * 100, "beam": 50, "minimum_length": 400, "maximum_length": 1000}).encode()
    before = metric(live, "seqloom_dropped_total")
    with connected(live) as client:
        client.sendall(head(live, len(body)) + body)
        time.sleep(0.5)
    until = time.monotonic() + 30
    while metric(live, "seqloom_queue_inputs") > 0 or metric(live, "seqloom_dropped_total") == before:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_stream_that_nobody_reads_on_is_dropped(live: LiveServer) -> None:
    with httpx.Client(base_url=live.address, headers=HEADERS, timeout=60) as client:
        asked = {"inputs": ["abcdefgh" * 20], "minimum_length": 900, "maximum_length": 1000, "beam": 20}
        with client.stream("POST", "/v1/predict/stream", json=asked) as answer:
            next(answer.iter_lines())
    until = time.monotonic() + 30
    while metric(live, "seqloom_queue_inputs") > 0:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_slow_clients_do_not_hold_up_others(live: LiveServer) -> None:
    body = b'{"inputs": ["abc"]}'
    slow = [connected(live) for _ in range(30)]
    for client in slow:
        client.sendall(head(live, len(body)) + body[:5])
    times = []
    for _ in range(10):
        began = time.monotonic()
        assert httpx.post(f"{live.address}v1/predict", json={"inputs": ["abc"]}, headers=HEADERS).status_code == 200
        times.append(time.monotonic() - began)
    assert statistics.median(times) < 2
    slow[0].sendall(body[5:])
    assert slow[0].recv(100).startswith(b"HTTP/1.1 200")
    for client in slow:
        client.close()


@pytest.fixture(scope="module")
def narrow(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One with a short queue, which the last test stops."""
    server = LiveServer([str(tiny_run), "--queue", "4"], tmp_path_factory.mktemp("narrow") / "log.txt")
    server.start()
    yield server
    if server.process.poll() is None:
        server.stop()


def test_more_than_can_be_done_is_refused_at_once(narrow: LiveServer) -> None:
    def ask(_: int) -> tuple[int, str]:
        asked = {"inputs": ["abcdefgh" * 10] * 4, "beam": 10}
        answer = httpx.post(f"{narrow.address}v1/predict", json=asked, headers=HEADERS, timeout=60)
        return answer.status_code, answer.headers.get("retry-after", "")

    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(ask, range(48)))
    assert {status for status, _ in found} == {200, 429}
    assert all(int(after) >= 1 for status, after in found if status == 429)
    assert httpx.post(f"{narrow.address}v1/predict", json={"inputs": ["abc"]}, headers=HEADERS, timeout=60).status_code == 200


def test_told_to_stop_it_ends_what_it_has_begun(narrow: LiveServer) -> None:
    place = urlsplit(narrow.address)
    client = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    asked = json.dumps({"inputs": ["abcdefgh" * 20] * 30, "beam": 10})
    client.request("POST", "/v1/predict", asked, {**HEADERS, "Content-Type": "application/json"})
    until = time.monotonic() + 10
    while metric(narrow, "seqloom_queue_inputs") == 0 and time.monotonic() < until:
        time.sleep(0.01)
    narrow.process.terminate()
    answer = client.getresponse()
    assert answer.status == 200
    assert len(json.loads(answer.read())["predictions"]) == 30
    assert narrow.process.wait(timeout=60) in (0, -15)
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"{narrow.address}health")
    assert "Traceback" not in narrow.log.read_text(encoding="utf-8")
