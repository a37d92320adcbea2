"""Ctrl-C and requests to terminate, as a wish that training grants when it can be saved."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stops_politely() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C, or a request to terminate, into a wish that the loop grants between two steps."""
    wanted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield wanted.is_set
        return

    def wish(number: int, frame: object) -> None:  # noqa: ARG001
        if wanted.is_set():
            raise KeyboardInterrupt
        wanted.set()

    previous = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wanted.is_set
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
