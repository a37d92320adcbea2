"""One thread computes. Requests wait before it in a bounded queue, and those that ask alike are computed together.

The event loop hands over jobs and never waits for the thread, so that a full queue is answered at once. A job that nobody
waits for any more is dropped: before it is begun, or between two steps of a search.
"""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from seqloom.prediction.tasks import Watch
from seqloom.server.measuring import Meters
from seqloom.server.pacing import BatchPace
from seqloom.server.problems import RequestError, as_problem, busy
from seqloom.server.settings import Limits

_SLICE = 0.02
"""So long a stream goes on before others have their turn."""
_SHARE = 0.5
"""Of the time limit, what waiting may take by what is known; the rest is for being wrong about it."""
_PAUSE, _LONGEST_PAUSE = 0.2, 0.03
"""Between two batches, the share of the first one's time that others get to come along; and at most, in seconds."""
_UNKNOWN = 2
"""So many batches may wait as long as it is not known how long one takes."""


class _DroppedError(Exception):
    """Nobody waits for this any more."""


@dataclass(eq=False)
class Job:
    """Something to compute, and who waits for it. cost: a guess at its size, in any unit; inputs: how many it has.

    deadline and since: by `time.monotonic`. gone: nobody waits any more.
    """

    cost: float
    deadline: float
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    gone: bool = False
    since: float = field(default_factory=time.monotonic)

    @property
    def size(self) -> int:
        """How many inputs it has."""
        return 1

    @property
    def is_wanted(self) -> bool:
        """Whether it is still worth computing."""
        return not self.gone and time.monotonic() < self.deadline


@dataclass(eq=False, kw_only=True)
class BatchJob(Job):
    """Inputs that may be computed together with those of other jobs that have the same key, by the same function.

    shape: makes the answer of what was found for its own inputs.
    """

    key: Hashable
    inputs: Sequence[Any]
    compute: Callable[[Sequence[Any], Watch], Sequence[Any]]
    shape: Callable[[Sequence[Any]], Any]
    answer: "asyncio.Future[Any]" = field(init=False)

    def __post_init__(self) -> None:
        self.answer = self.loop.create_future()

    @property
    def size(self) -> int:
        """How many inputs it has."""
        return len(self.inputs)

    def settle(self, answer: Any) -> None:
        """Give the answer, or an exception, to whoever waits; on the side of the event loop."""
        if not self.answer.done():
            if isinstance(answer, Exception):
                self.answer.set_exception(answer)
            else:
                self.answer.set_result(answer)


@dataclass(eq=False, kw_only=True)
class StreamJob(Job):
    """Work that tells what it finds bit by bit. The last event is None, or an exception."""

    steps: Iterator[Any]
    events: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue)

    def tell(self, events: Sequence[Any]) -> None:
        """Hand events over to the event loop."""
        self.loop.call_soon_threadsafe(self._put, list(events))

    def _put(self, events: Sequence[Any]) -> None:
        for event in events:
            self.events.put_nowait(event)


class Engine:
    """The thread and its queue."""

    def __init__(self, limits: Limits, meters: Meters) -> None:
        self._limits, self._meters = limits, meters
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._waiting = 0
        self._ahead = 0.0
        self._streams = 0
        self._pace = BatchPace()
        self._expected = limits.batch
        self._wanted = 1
        self._pause = limits.window
        meters.watch_queue(lambda: self._waiting)

    # --- on the side of the event loop ------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to compute."""
        self._thread = threading.Thread(target=self._run, name="seqloom-engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Compute what waits, then end."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    @property
    def seconds_ahead(self) -> float:
        """How long what is waiting will take, by what is known so far."""
        return self._pace.estimate(self._ahead, math.ceil(self._waiting / self._limits.batch))

    @property
    def is_full(self) -> bool:
        """Whether nothing more is taken now: too much waits, would wait too long, or has waited too long already."""
        most = self._limits.queue if self._pace.is_known else min(self._limits.queue, _UNKNOWN * self._limits.batch)
        if self._waiting >= most:
            return True
        patience = _SHARE * self._limits.seconds
        return self.seconds_ahead > patience or self._oldest < time.monotonic() - patience

    @property
    def _oldest(self) -> float:
        """Since when the next job to be done has been waiting."""
        try:
            return self._jobs[0].since
        except IndexError:
            return math.inf

    def submit(self, job: Job) -> None:
        """Queue a job, or refuse it at once."""
        if self.is_full:
            self._meters.refused.inc()
            raise busy(self.seconds_ahead)
        if isinstance(job, StreamJob) and self._streams >= self._limits.streams:
            self._meters.refused.inc()
            raise busy(1.0)
        if self._waiting and self._waiting + job.size > self._limits.queue + self._limits.texts:
            self._meters.refused.inc()
            raise busy(self.seconds_ahead)
        with self._changed:
            if self._stopping:
                raise RequestError(503, "stopping", "The server is being stopped. Ask another one, or again later")
            self._waiting += job.size
            self._ahead += job.cost
            self._streams += isinstance(job, StreamJob)
            self._jobs.append(job)
            if self._queued >= self._wanted:  # else the thread would be woken in vain
                self._changed.notify()

    # --- on the side of the thread ----------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            taken = self._take()
            if not taken:
                return
            first = taken[0]
            if isinstance(first, StreamJob):
                self._go_on(first)
            else:
                self._compute([job for job in taken if isinstance(job, BatchJob)])

    def _take(self) -> list[Job]:
        """The next jobs to be done together; none at the end."""
        with self._changed:
            while not self._jobs:
                if self._stopping:
                    return []
                self._wanted = 1
                self._changed.wait()
            self._gather()
            first = self._jobs.popleft()
            if isinstance(first, StreamJob):
                return [first]
            return [first, *self._alike(first)]

    def _gather(self) -> None:
        """Give others a moment to come along, if it is a job that they could share.

        After a batch, those whom it has answered may be about to ask again. The pause is meant to let them join the next; who
        asks alone is not made to wait. The thread sleeps until as many are there as may come, or the pause is over.
        """
        until = time.monotonic() + self._pause
        while not self._stopping and self._jobs and isinstance(self._jobs[0], BatchJob) and self._queued < self._expected:
            left = until - time.monotonic()
            if left <= 0:
                return
            self._wanted = self._expected
            self._changed.wait(left)

    @property
    def _queued(self) -> int:
        return sum(job.size for job in self._jobs)

    def _alike(self, first: Job) -> list[Job]:
        found: list[Job] = []
        room = self._limits.batch - first.size
        for job in list(self._jobs):
            alike = isinstance(job, BatchJob) and isinstance(first, BatchJob) and job.key == first.key
            if alike and job.size <= room:
                found.append(job)
                room -= job.size
        for job in found:
            self._jobs.remove(job)
        return found

    def _compute(self, jobs: list[BatchJob]) -> None:
        began, cost = time.monotonic(), sum(job.cost for job in jobs)
        wanted = [job for job in jobs if job.is_wanted]
        try:
            if wanted:
                self._meters.batches.observe(sum(job.size for job in wanted))
                self._answer(wanted)
                self._learn(wanted, time.monotonic() - began)
        finally:
            self._release(jobs, cost)

    def _learn(self, jobs: Sequence[Job], seconds: float) -> None:
        """How long batches take, and how many inputs the next may have: those that wait, and those that come again."""
        self._pace.learn(sum(job.cost for job in jobs), seconds)
        with self._changed:
            self._expected = min(self._limits.batch, self._queued + sum(job.size for job in jobs))
        self._pause = min(_LONGEST_PAUSE, max(self._limits.window, _PAUSE * seconds))

    def _answer(self, jobs: list[BatchJob]) -> None:
        """Compute jobs together; if that fails, each alone, so that nobody suffers from a neighbour's mistake."""

        def watch() -> None:
            if not any(job.is_wanted for job in jobs):
                raise _DroppedError

        try:
            found = jobs[0].compute([one for job in jobs for one in job.inputs], watch)
        except _DroppedError:
            return
        except Exception as error:
            if len(jobs) == 1:
                _settle([(jobs[0], as_problem(error))])
                return
            for job in jobs:
                self._answer([job])
            return
        _settle(list(_shaped(jobs, found)))

    def _go_on(self, job: StreamJob) -> None:
        """Let a stream go on for a while; then others have their turn."""
        began, events = time.monotonic(), list[Any]()
        try:
            while True:
                if not job.is_wanted:
                    raise _DroppedError
                events.append(next(job.steps))
                if time.monotonic() - began > _SLICE or not self._jobs:
                    job.tell(events)
                    events = []
                    if self._jobs:
                        with self._changed:
                            self._jobs.append(job)
                        return
        except StopIteration:
            job.tell([*events, None])
        except _DroppedError:
            _close(job.steps)
            job.tell([*events, None])
        except Exception as error:
            job.tell([*events, as_problem(error)])
        self._release([job], job.cost)

    def _release(self, jobs: Sequence[Job], cost: float) -> None:
        with self._changed:
            self._waiting -= sum(job.size for job in jobs)
            self._ahead = self._ahead - cost if self._waiting else 0.0
            self._streams -= sum(isinstance(job, StreamJob) for job in jobs)


def _shaped(jobs: Sequence[BatchJob], found: Sequence[Any]) -> Iterator[tuple[BatchJob, Any]]:
    """Each job with its own part of what was found, as its answer."""
    start = 0
    for job in jobs:
        own = found[start : start + job.size]
        start += job.size
        try:
            yield job, job.shape(own)
        except Exception as error:
            yield job, as_problem(error)


def _settle(answers: Sequence[tuple[BatchJob, Any]]) -> None:
    """Hand the answers of a batch over to the event loop, which is woken once for all of them."""

    def settle() -> None:
        for job, answer in answers:
            job.settle(answer)

    answers[0][0].loop.call_soon_threadsafe(settle)


def _close(steps: Iterator[Any]) -> None:
    close = getattr(steps, "close", None)
    if close is not None:
        close()
