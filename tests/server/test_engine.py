"""The queue before the thread that computes: batches, refusals, time limits, what nobody waits for."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from seqloom.prediction.tasks import Watch
from seqloom.server.engine import BatchJob, Engine, StreamJob
from seqloom.server.measuring import Meters
from seqloom.server.pacing import BatchPace
from seqloom.server.problems import RequestError
from seqloom.server.settings import Limits


class Bench:
    """An engine with jobs that double numbers, and remember in which batches they were."""

    def __init__(self, **limits: Any) -> None:
        self.engine = Engine(Limits(**limits), Meters())
        self.batches: list[list[int]] = []
        self.gate = threading.Event()
        self.gate.set()

    def compute(self, inputs: Sequence[int], watch: Watch) -> list[int]:
        self.gate.wait(10)
        watch()
        self.batches.append(list(inputs))
        if any(one < 0 for one in inputs):
            raise ValueError("below zero")
        return [2 * one for one in inputs]

    def job(self, *inputs: int, key: str = "double", seconds: float = 10.0) -> BatchJob:
        deadline = time.monotonic() + seconds
        return BatchJob(
            cost=float(len(inputs)),
            deadline=deadline,
            key=key,
            inputs=inputs,
            compute=self.compute,
            shape=lambda found: list(found),
        )

    def stream(self, steps: Iterator[Any], seconds: float = 10.0) -> StreamJob:
        return StreamJob(cost=1.0, deadline=time.monotonic() + seconds, steps=steps)

    def submit(self, *jobs: BatchJob) -> list[BatchJob]:
        for job in jobs:
            self.engine.submit(job)
        return list(jobs)


def run(bench: Bench, story: Callable[[], Any]) -> None:
    """Let a story happen while the engine runs."""

    async def told() -> None:
        bench.engine.start()
        try:
            await asyncio.wait_for(story(), 20)
        finally:
            bench.gate.set()
            await asyncio.to_thread(bench.engine.stop)

    asyncio.run(told())


def test_jobs_that_ask_alike_are_computed_together() -> None:
    bench = Bench(window=0.05)

    async def story() -> None:
        jobs = bench.submit(bench.job(1), bench.job(2, 3), bench.job(9, key="other"), bench.job(4))
        assert [await job.answer for job in jobs] == [[2], [4, 6], [18], [8]]
        assert bench.batches == [[1, 2, 3, 4], [9]]

    run(bench, story)


def test_a_batch_has_a_bounded_size() -> None:
    bench = Bench(window=0.05, batch=3)

    async def story() -> None:
        jobs = bench.submit(*(bench.job(one) for one in range(5)))
        await asyncio.gather(*(job.answer for job in jobs))
        assert [len(batch) for batch in bench.batches] == [3, 2]

    run(bench, story)


def test_a_mistake_does_not_harm_its_neighbours() -> None:
    bench = Bench(window=0.05)

    async def story() -> None:
        good, bad, other = bench.submit(bench.job(1), bench.job(-1), bench.job(2))
        assert await good.answer == [2]
        assert await other.answer == [4]
        with pytest.raises(RequestError) as problem:
            await bad.answer
        assert (problem.value.status, problem.value.code) == (500, "fault")

    run(bench, story)


def test_a_full_queue_refuses_at_once_and_takes_again_later() -> None:
    bench = Bench(queue=4, window=0.0)
    bench.gate.clear()

    async def story() -> None:
        jobs = bench.submit(*(bench.job(one) for one in range(4)))
        began = time.monotonic()
        with pytest.raises(RequestError) as problem:
            bench.engine.submit(bench.job(5))
        assert time.monotonic() - began < 0.05
        assert (problem.value.status, int((problem.value.headers or {})["Retry-After"]) >= 1) == (429, True)
        bench.gate.set()
        await asyncio.gather(*(job.answer for job in jobs))
        while bench.engine.is_full:
            await asyncio.sleep(0.01)
        [late] = bench.submit(bench.job(6))
        assert await late.answer == [12]

    run(bench, story)


def test_what_would_wait_too_long_is_refused_although_there_is_room() -> None:
    bench = Bench(seconds=0.4, window=0.0, batch=1)

    def slowly(inputs: Sequence[int], watch: Watch) -> list[int]:
        time.sleep(0.04)
        return list(inputs)

    async def story() -> None:
        for number in range(3):  # so that it knows how long one takes
            job = bench.job(number)
            job.compute = slowly
            await bench.submit(job)[0].answer
        bench.gate.clear()
        accepted = 0
        while not bench.engine.is_full and accepted < 100:
            bench.engine.submit(bench.job(1))
            accepted += 1
        assert 1 <= accepted < 12

    run(bench, story)


def test_what_has_waited_too_long_stops_more_from_coming() -> None:
    bench = Bench(seconds=0.2, window=0.0)
    bench.gate.clear()

    async def story() -> None:
        bench.submit(bench.job(1), bench.job(2, key="other"))
        assert not bench.engine.is_full
        await asyncio.sleep(0.15)
        assert bench.engine.is_full

    run(bench, story)


def test_the_time_of_a_batch_is_not_taken_for_that_of_each_of_its_inputs() -> None:
    pace = BatchPace()
    for _ in range(5):
        pace.learn(10.0, 0.1)
    assert pace.estimate(640.0, 1) == pytest.approx(0.1)  # nothing tells yet that more takes longer
    pace.learn(640.0, 0.73)
    assert pace.estimate(640.0, 1) == pytest.approx(0.73, rel=0.01)
    assert pace.estimate(10.0, 1) == pytest.approx(0.1, rel=0.1)
    assert pace.estimate(1280.0, 2) == pytest.approx(1.46, rel=0.01)


def test_what_nobody_waits_for_is_not_computed() -> None:
    bench = Bench(window=0.0)
    bench.gate.clear()

    async def story() -> None:
        running, gone, expired, wanted = bench.submit(
            bench.job(1), bench.job(2, key="a"), bench.job(3, key="b", seconds=0.0), bench.job(4, key="c")
        )
        gone.gone = True
        bench.gate.set()
        assert await wanted.answer == [8]
        assert await running.answer == [2]
        assert bench.batches == [[1], [4]]
        assert not gone.answer.done()
        assert not expired.answer.done()

    run(bench, story)


def test_work_is_dropped_between_two_steps_once_nobody_waits() -> None:
    bench = Bench(window=0.0)
    steps = threading.Semaphore(0)

    def endless(inputs: Sequence[int], watch: Watch) -> list[int]:
        while True:
            watch()
            steps.release()
            time.sleep(0.001)

    async def story() -> None:
        job, after = bench.job(1), bench.job(2, key="after")
        job.compute = endless
        bench.submit(job, after)
        await asyncio.to_thread(steps.acquire)
        job.gone = True
        assert await after.answer == [4]

    run(bench, story)


def test_streams_take_turns_with_others() -> None:
    bench = Bench(window=0.0)

    def slow_numbers() -> Iterator[int]:
        for number in range(30):
            time.sleep(0.005)
            yield number

    async def story() -> None:
        stream = bench.stream(slow_numbers())
        bench.engine.submit(stream)
        assert await stream.events.get() == 0
        [job] = bench.submit(bench.job(1))
        assert await job.answer == [2]
        seen = 0
        while (event := await stream.events.get()) is not None:
            seen = event
        assert seen == 29

    run(bench, story)


def test_a_stream_whose_reader_is_gone_ends() -> None:
    bench = Bench(window=0.0)
    closed = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                time.sleep(0.001)
                yield 1
        finally:
            closed.set()

    async def story() -> None:
        stream = bench.stream(endless())
        bench.engine.submit(stream)
        await stream.events.get()
        stream.gone = True
        assert await asyncio.to_thread(closed.wait, 5)

    run(bench, story)


def test_only_so_many_streams_go_on_at_once() -> None:
    bench = Bench(streams=1, window=0.0)

    async def story() -> None:
        first = bench.stream(iter(range(3)))
        bench.engine.submit(bench.job(1))
        bench.engine.submit(first)
        with pytest.raises(RequestError, match="waiting"):
            bench.engine.submit(bench.stream(iter([1])))
        while await first.events.get() is not None:
            pass

    run(bench, story)


def test_stopping_finishes_what_waits_and_takes_nothing_more() -> None:
    bench = Bench(window=0.0)
    bench.gate.clear()

    async def story() -> None:
        jobs = bench.submit(*(bench.job(one, key=str(one)) for one in range(5)))
        stopping = asyncio.create_task(asyncio.to_thread(bench.engine.stop))
        await asyncio.sleep(0.05)
        with pytest.raises(RequestError, match="stopped"):
            bench.engine.submit(bench.job(9))
        bench.gate.set()
        await stopping
        assert [await job.answer for job in jobs] == [[0], [2], [4], [6], [8]]

    run(bench, story)
