"""What `seqloom demo video` shows: captions of drawn films, and whether the model looks when things happen."""

from pathlib import Path
from typing import TYPE_CHECKING

from seqloom.cli.demo_captions import describe, samples_of
from seqloom.cli.demo_showing import DemoOutput, Showing, draw_maps, percent

if TYPE_CHECKING:
    from seqloom.cli.demo_captions import Described
    from seqloom.prediction.drawn import DrawnPrediction
    from seqloom.prediction.predictor import Predictor


def show_films(predictor: "Predictor", folder: Path) -> Showing:
    """Exact match on known and on new combinations, at which frames the model looks, and maps of it."""
    known, new = describe(predictor, "validation"), describe(predictor, "test")
    figures = measure_films(known, new)
    samples = samples_of(new)
    return Showing(
        figures,
        titles=("film", "looks in time"),
        samples=[
            DemoOutput((prediction.sources["video"], _hits(prediction)), prediction.text, example.target or "")
            for prediction, example in samples
        ],
        sentence=f"Exact match: {figures['exact_match_known']:.2f} % of {len(known):,} films of known combinations, "
        f"{figures['exact_match_new']:.2f} % of {len(new):,} with a colour, a shape and an action that training never shows "
        f"together. There, {figures['time_pointing']:.2f} % of the words for what happens were written looking at frames in "
        f"which it does (at any frame: {figures['time_pointing_by_chance']:.2f} %).",
        maps=draw_maps(((one.sources["video"].replace(":", "-"), one) for one, _ in samples), folder),
        next_commands=(
            "predict {run} moves:12 moves:13",
            "explain {run} moves:19 --out moves.html",
            "evaluate {run}",
            "train --pairs YOUR.tsv --out runs/yours",
        ),
    )


def measure_films(known: "Described", new: "Described") -> dict[str, float]:
    """Exact match on both, in percent; on the new combinations also how often the model looked when it happened."""
    from seqloom.data.builtin.moves import time_pointing_of
    from seqloom.data.builtin.scenes import Pointing

    pointing = sum((time_pointing_of(prediction) for prediction, _ in new), start=Pointing())
    return {
        "exact_match_known": percent([prediction.text == example.target for prediction, example in known]),
        "exact_match_new": percent([prediction.text == example.target for prediction, example in new]),
        "time_pointing": round(100 * pointing.hits / max(1, pointing.words), 2),
        "time_pointing_by_chance": round(100 * pointing.blind / max(1, pointing.words), 2),
    }


def _hits(prediction: "DrawnPrediction") -> str:
    from seqloom.data.builtin.moves import time_pointing_of

    pointing = time_pointing_of(prediction)
    return f"{pointing.hits} of {pointing.words}"
