"""What `seqloom demo sound` shows: the notes of melodies, and when the model listened."""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from seqloom.cli.demo_captions import describe
from seqloom.cli.demo_showing import DemoOutput, Showing, draw_maps, percent

if TYPE_CHECKING:
    from seqloom.prediction.drawn import DrawnPrediction
    from seqloom.prediction.predictor import Predictor

_SHOWN = 6


def show_sound(predictor: "Predictor", folder: Path) -> Showing:
    """How many melodies are written down without a mistake, and whether the model listens to the notes that it names."""
    from seqloom.data.builtin.scenes import Pointing
    from seqloom.data.builtin.tones import listening_of

    heard = describe(predictor, "test")
    listening = sum((listening_of(prediction) for prediction, _ in heard), start=Pointing())
    figures = {
        "exact_match": percent([prediction.text == example.target for prediction, example in heard]),
        "listening": round(100 * listening.hits / max(1, listening.words), 2),
        "listening_by_chance": round(100 * listening.blind / max(1, listening.words), 2),
    }
    samples = list(islice(heard, _SHOWN))
    return Showing(
        figures,
        titles=("melody", "listens to it"),
        samples=[
            DemoOutput((prediction.sources["sound"], _hits(prediction)), prediction.text, example.target or "")
            for prediction, example in samples
        ],
        sentence=f"Exact match: {figures['exact_match']:.2f} % of {len(heard):,} melodies that training does not have. "
        f"{figures['listening']:.2f} % of the notes were named while listening to them "
        f"(at any moment: {figures['listening_by_chance']:.2f} %).",
        maps=draw_maps(((one.sources["sound"].replace(":", "-"), one) for one, _ in samples), folder),
        next_commands=(
            "predict {run} tones:12 tones:12/20",
            "explain {run} tones:19 --out melody.html",
            "evaluate {run}",
            "train --pairs YOUR.tsv --files YOUR_RECORDINGS --out runs/yours",
        ),
    )


def _hits(prediction: "DrawnPrediction") -> str:
    from seqloom.data.builtin.tones import listening_of

    found = listening_of(prediction)
    return f"{found.hits} of {found.words}"
