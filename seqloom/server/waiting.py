"""Waiting for the engine, on the side of the event loop: until the answer, the time limit, or the client is gone."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import StreamingResponse

from seqloom.prediction.tasks import Watch
from seqloom.server.engine import BatchJob, Engine, StreamJob
from seqloom.server.measuring import Meters
from seqloom.server.problems import GONE, LATE, RequestError, as_problem, dumps, gone, late
from seqloom.server.settings import Limits, Settings
from seqloom.server.shelf import Opened, Shelf

Event = tuple[str, Any]
"""The name of a server-sent event, and its JSON-ready data."""


@dataclass(frozen=True)
class Service:
    """What routes work with."""

    settings: Settings
    shelf: Shelf
    engine: Engine
    meters: Meters

    @classmethod
    async def of(cls, request: Request) -> "Service":
        """The service that a request has come to. Awaited although it waits for nothing: else a thread would be asked."""
        app: FastAPI = request.app
        service: Service = app.state.service
        return service

    @property
    def limits(self) -> Limits:
        """How much it takes of anything."""
        return self.settings.limits

    async def opened(self, name: str | None) -> Opened:
        """A model, opened within the time limit; the first one without a name."""
        found = self.shelf.at_hand(name)
        if found is not None:
            return found
        try:
            return await asyncio.wait_for(self.shelf.get(name), self.limits.stream_seconds)
        except TimeoutError:
            raise late(self.limits.stream_seconds) from None

    async def answered(
        self,
        request: Request,
        inputs: Sequence[Any],
        compute: Callable[[Sequence[Any], Watch], Sequence[Any]],
        *,
        shape: Callable[[Sequence[Any]], Any],
        key: Hashable | None = None,
        cost: float,
    ) -> Any:
        """What the engine computes. key: jobs with an equal one may be computed together; without, it is alone."""
        seconds = self.limits.seconds
        deadline = time.monotonic() + seconds
        own = object() if key is None else key
        job = BatchJob(cost=cost, deadline=deadline, key=own, inputs=inputs, compute=compute, shape=shape)
        self.engine.submit(job)
        hang_up = asyncio.create_task(_until_gone(request))
        hang_up.add_done_callback(lambda task: None if task.cancelled() else job.settle(gone()))
        limit = job.loop.call_later(seconds, lambda: job.settle(late(seconds)))
        try:
            return await job.answer
        except RequestError as problem:
            self._count(problem)
            raise
        finally:
            job.gone = True
            limit.cancel()
            hang_up.cancel()

    def _count(self, problem: RequestError) -> None:
        """Note who did not get an answer."""
        if problem.status == GONE:
            self.meters.dropped.inc()
        elif problem.status == LATE:
            self.meters.late.inc()

    async def streamed(self, steps: Iterator[Event], *, cost: float) -> StreamingResponse:
        """Server-sent events of what the engine finds bit by bit. A failure before the first is an ordinary error."""
        job = self.begun(steps, cost=cost)
        first = await self.next_event(job)
        if isinstance(first, Exception):
            raise as_problem(first)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(job, first), media_type="text/event-stream", headers=headers)

    def begun(self, steps: Iterator[Any], *, cost: float) -> StreamJob:
        """Work that the engine does bit by bit, queued."""
        job = StreamJob(cost=cost, deadline=time.monotonic() + self.limits.stream_seconds, steps=steps)
        self.engine.submit(job)
        return job

    async def next_event(self, job: StreamJob) -> Any:
        """The next event of a stream; an exception instead if it fails or its time is over."""
        try:
            return await asyncio.wait_for(job.events.get(), max(0.0, job.deadline - time.monotonic()))
        except TimeoutError:
            job.gone = True
            self.meters.late.inc()
            return late(self.limits.stream_seconds)
        except asyncio.CancelledError:
            job.gone = True
            raise

    async def _events(self, job: StreamJob, first: Any) -> AsyncIterator[bytes]:
        began, event = time.monotonic(), first
        try:
            while isinstance(event, tuple):
                yield sent(*event)
                event = await self.next_event(job)
            if isinstance(event, Exception):
                problem = as_problem(event)
                yield sent("error", {"error": {"code": problem.code, "message": problem.message}})
            else:
                yield sent("done", {"milliseconds": round(1000 * (time.monotonic() - began), 2)})
        finally:
            job.gone = True


def sent(name: str, body: Any) -> bytes:
    """One server-sent event."""
    return b"event: " + name.encode() + b"\ndata: " + dumps(body) + b"\n\n"


async def _until_gone(request: Request) -> None:
    """Return when the client has hung up. What else comes is not wanted: the body has been read."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return


def cost_of(lengths: Sequence[int], rows: int) -> float:
    """A guess at how much work inputs of such lengths are, in rows of a beam times symbols."""
    return float(sum(length + 10 for length in lengths) * rows)
