"""How the positions of a source lie is asked of its layout."""

import numpy as np

from seqloom.results.layouts import Frames, Grid, Tokens
from seqloom.results.predictions import Alignment


def test_layouts_say_how_many_positions_there_are_and_what_they_are_called() -> None:
    assert Tokens().positions(7) == 7
    assert Grid(2, 3).positions(1) == len(Grid(2, 3).names()) == 6
    assert Grid(2, 3).names()[3] == "2,1"
    assert [Frames(4).positions(length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert Frames(4).names(3) == ("1", "5", "9")


def test_json_says_how_positions_lie_that_are_no_symbols() -> None:
    def written(layout: Tokens | Grid | Frames) -> set[str]:
        weights = np.full((1, 1, 2), 0.5, dtype=np.float32)
        return set(Alignment(weights, ("a", "b"), ((0, 1), (1, 2)), layout).as_json()) - {"symbols", "weights"}

    assert [written(one) for one in (Tokens(), Grid(1, 2), Frames(2))] == [set(), {"grid"}, {"stride"}]
