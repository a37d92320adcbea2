"""Work for several threads, with its results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2
"""How many items for each thread are begun before the first of them is asked for."""


def in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    threads: int,
    prepare: Callable[[], None] = lambda: None,
) -> Iterator[Result]:
    """Yield what becomes of each item. A few are begun ahead, and never more: results that nobody has taken yet cost memory.

    prepare: what each thread does first.
    """
    waiting = iter(items)
    ahead: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads, initializer=prepare) as pool:
        try:
            ahead.extend(pool.submit(work, item) for item in islice(waiting, _AHEAD * threads))
            while ahead:
                result = ahead.popleft().result()
                ahead.extend(pool.submit(work, item) for item in islice(waiting, 1))
                yield result
        finally:
            for future in ahead:
                future.cancel()
