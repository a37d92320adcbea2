"""The service under load: throughput beside offline prediction, overload, made-up requests, memory. Loopback only.

    python benchmarks/service.py RUN [--only throughput overload schema memory] [--requests 50000] [--schema 10000]

Starts `seqloom serve RUN` as a process of its own and asks it from this one; inputs are those of the run's validation. All is
bounded in count and in time (--seconds for each part). Prints a row of docs/performance.md for each part.

Processor time is the server's own, all of its threads, as the kernel counts it; that of the asking process is told beside it
and is in no other figure. But by the clock both share the machine: on two cores the server has less than two.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

CLIENTS = 64
OVERLOAD = 4
_SECONDS = 10.0
"""The time limit of an answer that the server is started with."""


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    address: str
    process: "subprocess.Popen[bytes]"

    @property
    def memory(self) -> float:
        """What it holds of the machine's memory, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else float("nan")

    @property
    def processor_seconds(self) -> float:
        """What it has computed so far."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(run: Path, queue: int) -> Iterator[Server]:
    """Start a server, wait until it is ready, and stop it at the end."""
    words = [
        sys.executable,
        "-m",
        "seqloom",
        "serve",
        str(run),
        "--port",
        "0",
        "--seconds",
        str(_SECONDS),
        "--queue",
        str(queue),
    ]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as stream:
            process = subprocess.Popen(words, stderr=stream, env={**os.environ, "OMP_NUM_THREADS": "1"})
        try:
            while not (found := re.search(r"http://\S+", log.read_text(encoding="utf-8"))):
                time.sleep(0.1)
                if process.poll() is not None:
                    raise SystemExit(log.read_text(encoding="utf-8"))
            while httpx.get(f"{found[0]}ready").status_code != 200:
                time.sleep(0.1)
            yield Server(found[0], process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
            faults = log.read_text(encoding="utf-8").count("fault:")
            print(f"faults in the server's log: {faults}", file=sys.stderr)


@dataclass
class Answers:
    """What came back: how often each status, and how long answers took by status."""

    statuses: Counter[int] = field(default_factory=Counter)
    times: dict[int, list[float]] = field(default_factory=dict)

    def add(self, status: int, seconds: float) -> None:
        """Count one."""
        self.statuses[status] += 1
        self.times.setdefault(status, []).append(seconds)

    def percentile(self, status: int, percent: int) -> float:
        """So many of a status were answered within these seconds."""
        times = sorted(self.times.get(status, [float("nan")]))
        return times[min(len(times) - 1, len(times) * percent // 100)]


class Client:
    """One connection that is kept. Plain sockets: a client library would take more time than the server."""

    def __init__(self, address: str) -> None:
        self._place = urlsplit(address)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, body: bytes) -> int:
        """Send a request, and read its answer to the end; the status."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._place.hostname, self._place.port)
        reader, writer = self._streams
        head = f"POST /v1/predict HTTP/1.1\r\nHost: {self._place.netloc}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer)
        await reader.readexactly(int(length[1]) if length else 0)
        if b"connection: close" in answer.lower():
            self.close()
        return int(answer[9:12])

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def in_turn(server: Server, bodies: Sequence[bytes], requests: int, seconds: float, clients: int = CLIENTS) -> Answers:
    """So many requests from clients each of which waits for its answer before it asks again."""
    answers, numbers, until = Answers(), iter(range(requests)), time.monotonic() + seconds

    async def one() -> None:
        client = Client(server.address)
        for number in numbers:
            began = time.monotonic()
            answers.add(await client.ask(bodies[number % len(bodies)]), time.monotonic() - began)
            if time.monotonic() > until:
                break
        client.close()

    await asyncio.gather(*(one() for _ in range(clients)))
    return answers


async def at_rate(server: Server, bodies: Sequence[bytes], rate: float, seconds: float, connections: int) -> Answers:
    """Requests that come at a rate, whether or not others were answered: as people do."""
    answers, began = Answers(), time.monotonic()
    idle: list[Client] = [Client(server.address) for _ in range(connections)]
    tasks: set[asyncio.Task[None]] = set()

    async def one(client: Client, number: int) -> None:
        start = time.monotonic()
        try:
            answers.add(await client.ask(bodies[number % len(bodies)]), time.monotonic() - start)
        except (OSError, EOFError):
            answers.add(0, time.monotonic() - start)
            client.close()
        idle.append(client)

    number = 0
    while (now := time.monotonic() - began) < seconds:
        while number < now * rate:
            if idle:
                task = asyncio.create_task(one(idle.pop(), number))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            number += 1
        await asyncio.sleep(0.002)
    await asyncio.gather(*tasks)
    for client in idle:
        client.close()
    return answers


def inputs_of(run: Path, count: int) -> list[Any]:
    """Inputs of the run's validation."""
    from seqloom.prediction.predictor import Predictor

    examples = Predictor.load(run).corpus.examples("validation")
    return [{**one.sources, **({"features": list(one.features)} if one.features else {})} for one in islice(examples, count)]


def offline(run: Path, inputs: Sequence[Any]) -> tuple[float, float]:
    """Predictions a second, and processor seconds of each, of a fresh process that has nothing else to do."""
    program = (
        "import json, sys, time\nfrom seqloom.prediction.predictor import Predictor\n"
        "model, inputs = Predictor.load(sys.argv[1]), json.load(sys.stdin)\nmodel.predict(inputs[:64])\n"
        "wall, own = time.perf_counter(), time.process_time()\nmodel.predict(inputs)\n"
        "print(json.dumps([len(inputs) / (time.perf_counter() - wall), (time.process_time() - own) / len(inputs)]))"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(run)],
        input=json.dumps(list(inputs)).encode(),
        capture_output=True,
        env=environment,
        check=True,
    )
    rate, own = json.loads(done.stdout)
    return float(rate), float(own)


@dataclass(frozen=True)
class Bench:
    """What the parts share."""

    run: Path
    inputs: Sequence[Any]
    bodies: Sequence[bytes]
    seconds: float
    requests: int
    schema: int


def throughput(bench: Bench) -> None:
    """64 clients beside offline prediction, taking turns."""
    rates, shares, costs, plain, asking = [], [], [], [], []
    for _ in range(3):
        alone, own = offline(bench.run, bench.inputs)
        with running(bench.run, 512) as server:
            asyncio.run(in_turn(server, bench.bodies, 512, bench.seconds))
            began, before, mine = time.monotonic(), server.processor_seconds, time.process_time()
            answers = asyncio.run(in_turn(server, bench.bodies, 4 * len(bench.bodies), bench.seconds))
            took, computed = time.monotonic() - began, server.processor_seconds - before
            mine = time.process_time() - mine
        done = answers.statuses[200]
        rates.append(done / took)
        shares.append(done / took / alone)
        costs.append(1000 * computed / done)
        plain.append(1000 * own)
        asking.append(1000 * mine / done)
        others = {status: count for status, count in answers.statuses.items() if status != 200}
        print(f"offline {alone:.0f}/s, service {done / took:.0f}/s, others {others}", file=sys.stderr)
    print(
        f"| {CLIENTS} clients, one input each | {statistics.median(rates):.0f} answers/s, "
        f"{100 * statistics.median(shares):.0f} % of offline; processor time of an answer "
        f"{statistics.median(costs):.2f} ms, offline {statistics.median(plain):.2f} ms "
        f"({100 * statistics.median(plain) / statistics.median(costs):.0f} %); of asking {statistics.median(asking):.2f} ms |"
    )


def overload(bench: Bench) -> None:
    """Four times what the server can do."""
    with running(bench.run, 512) as server:
        warm = asyncio.run(in_turn(server, bench.bodies, 2000, bench.seconds))
        began = time.monotonic()
        capacity = asyncio.run(in_turn(server, bench.bodies, 2000, bench.seconds)).statuses[200] / (time.monotonic() - began)
        before = server.memory
        answers = asyncio.run(at_rate(server, bench.bodies, OVERLOAD * capacity, min(20.0, bench.seconds), 2000))
        grown, began = server.memory - before, time.monotonic()
        usual, recovered = warm.percentile(200, 99), float("nan")
        while time.monotonic() - began < 30:
            one = asyncio.run(in_turn(server, bench.bodies, 1, 10, clients=1))
            if one.statuses[200] and one.percentile(200, 99) < max(0.3, usual):
                recovered = time.monotonic() - began
                break
    print(
        f"| {OVERLOAD} x capacity ({OVERLOAD * capacity:.0f} requests/s) | statuses {dict(answers.statuses)}; accepted p99 "
        f"{answers.percentile(200, 99):.2f} s (limit {_SECONDS:g} s); 429 median {1000 * answers.percentile(429, 50):.0f} ms, "
        f"p99 {1000 * answers.percentile(429, 99):.0f} ms; memory {grown:+.0f} MB; usual again after {recovered:.1f} s |"
    )


def made_up(cases: Any, turn: int, ask: Callable[[Any], None]) -> None:
    """Fifty cases of a strategy, others at every turn."""
    from hypothesis import HealthCheck, Phase, given, seed, settings

    phases = [Phase.explicit, Phase.generate]
    quiet = settings(max_examples=50, deadline=None, database=None, phases=phases, suppress_health_check=list(HealthCheck))

    def one(case: Any) -> None:
        ask(case)

    seed(turn)(quiet(given(case=cases)(one)))()


def _note(statuses: Counter[int], client: httpx.Client, path: str, case: Any) -> None:
    """Send a case to the first model, and count what comes back."""
    body = {**case.body} if isinstance(case.body, dict) else {}
    body.pop("model", None)
    statuses[client.post(path, json=body).status_code] += 1


def schema_driven(bench: Bench) -> None:
    """Requests made up from the service's description."""
    import schemathesis

    statuses: Counter[int] = Counter()
    with running(bench.run, 512) as server, httpx.Client(base_url=server.address, timeout=60) as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        paths = [path for path, methods in schema.raw_schema["paths"].items() if "post" in methods]
        until, turn = time.monotonic() + bench.seconds, 0
        while sum(statuses.values()) < bench.schema and time.monotonic() < until:
            turn += 1
            for path in paths:
                made_up(schema[path]["POST"].as_strategy(), turn, partial(_note, statuses, client, path))
    print(f"| {sum(statuses.values()):,} requests made from the schema | statuses {dict(sorted(statuses.items()))} |")


def memory(bench: Bench) -> None:
    """Whether memory stays what it is."""
    with running(bench.run, 512) as server:
        asyncio.run(in_turn(server, bench.bodies, 3000, bench.seconds))
        begun, done, seen = time.monotonic(), 3000, [server.memory]
        while done < bench.requests and time.monotonic() - begun < bench.seconds:
            part = min(5000, bench.requests - done)
            done += sum(asyncio.run(in_turn(server, bench.bodies, part, bench.seconds)).statuses.values())
            seen.append(server.memory)
            print(f"{done} requests, {seen[-1]:.1f} MB", file=sys.stderr)
    print(
        f"| {done:,} requests | memory {seen[0]:.0f} MB after 3,000, {seen[-1]:.0f} MB at the end, {max(seen):.0f} MB at most |"
    )


PARTS: dict[str, Callable[[Bench], None]] = {
    "throughput": throughput,
    "overload": overload,
    "schema": schema_driven,
    "memory": memory,
}


def main() -> None:
    """Measure, and print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--schema", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=600.0)
    options = parser.parse_args()
    inputs = inputs_of(options.run, options.inputs)
    bodies = [json.dumps({"inputs": [one]}).encode() for one in inputs]
    bench = Bench(options.run, inputs, bodies, options.seconds, options.requests, options.schema)
    print("| what | found |\n|---|---|")
    for name in options.only:
        PARTS[name](bench)


if __name__ == "__main__":
    main()
