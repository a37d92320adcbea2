"""How long waiting will take, learnt from batches that were computed."""

_FORGETTING = 0.9
"""What a batch counts after the next one."""
_LEARNT = 3
"""After so many batches an estimate is better than none."""


class BatchPace:
    """A batch takes some time whatever is in it, and some more for each part of its cost: a line through what was seen.

    A batch of one costs nearly as much time as a batch of many, so that time per input would tell nothing.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._sums = (0.0, 0.0, 0.0, 0.0, 0.0)

    @property
    def is_known(self) -> bool:
        """Whether enough was seen."""
        return self._seen >= _LEARNT

    def learn(self, cost: float, seconds: float) -> None:
        """Take note of a batch."""
        count, costs, times, squares, products = (_FORGETTING * one for one in self._sums)
        self._seen += 1
        self._sums = (count + 1, costs + cost, times + seconds, squares + cost * cost, products + cost * seconds)

    def estimate(self, cost: float, batches: float) -> float:
        """The seconds that work of this cost takes in so many batches."""
        count = self._sums[0]
        if not count:
            return 0.0
        mean_cost, mean_time, square, product = (one / count for one in self._sums[1:])
        spread = square - mean_cost**2
        slope = (product - mean_cost * mean_time) / spread if spread > 1e-6 * mean_cost**2 else 0.0
        slope = min(max(0.0, slope), mean_time / max(mean_cost, 1e-9))
        return batches * (mean_time - slope * mean_cost) + cost * slope
