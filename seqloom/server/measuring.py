"""Counters of a server, as Prometheus reads them at /metrics. No label holds anything that a client made up."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Meters:
    """All that is counted, in a registry of its own: several servers may live in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "seqloom_requests", "Requests by route and status.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "seqloom_request_seconds", "Time to the answer's end.", ["route"], buckets=_SECONDS, registry=self.registry
        )
        self.batches = Histogram(
            "seqloom_batch_inputs", "Inputs that were computed together.", buckets=_SIZES, registry=self.registry
        )
        self.refused = Counter("seqloom_refused", "Requests that found the queue full.", registry=self.registry)
        self.late = Counter("seqloom_late", "Requests that were not answered in time.", registry=self.registry)
        self.dropped = Counter("seqloom_dropped", "Requests whose client went away.", registry=self.registry)
        self.reloads = Counter("seqloom_reloads", "Models that were opened anew.", ["model"], registry=self.registry)
        self._queue = Gauge("seqloom_queue_inputs", "Inputs that wait or are being computed.", registry=self.registry)
        self._models = Gauge("seqloom_models_loaded", "Models in memory.", registry=self.registry)

    def watch_queue(self, length: Callable[[], int]) -> None:
        """Ask for the queue's length whenever it is to be shown."""
        self._queue.set_function(length)

    def watch_models(self, count: Callable[[], int]) -> None:
        """Ask for the number of models whenever it is to be shown."""
        self._models.set_function(count)

    def text(self) -> bytes:
        """All of them in Prometheus's form."""
        return generate_latest(self.registry)
