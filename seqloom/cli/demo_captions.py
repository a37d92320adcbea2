"""What `seqloom demo captions` shows: descriptions of drawn scenes."""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from seqloom.cli.demo_showing import DemoOutput, Showing, draw_maps, percent
from seqloom.cli.options import progress_bar

if TYPE_CHECKING:
    from seqloom.data.examples import Example
    from seqloom.data.preparing.splitting import SplitName
    from seqloom.prediction.drawn import DrawnPrediction
    from seqloom.prediction.predictor import Predictor

    Described = list[tuple[DrawnPrediction, Example]]

_RIGHT, _WRONG = 4, 2
"""How many captions that are right and wrong are shown, if there are so many."""


def show_captions(predictor: "Predictor", folder: Path) -> Showing:
    """Exact match on known and on new combinations, whether the model looks at what it names, and where it looked."""
    known, new = describe(predictor, "validation"), describe(predictor, "test")
    figures = measure_captions(known, new)
    samples = samples_of(new)
    return Showing(
        figures,
        titles=("scene", "points at it"),
        samples=[
            DemoOutput((prediction.sources["image"], _hits(prediction)), prediction.text, example.target or "")
            for prediction, example in samples
        ],
        sentence=f"Exact match: {figures['exact_match_known']:.2f} % of {len(known):,} pictures of known combinations, "
        f"{figures['exact_match_new']:.2f} % of {len(new):,} with a size, a colour and a shape that training never shows "
        f"together. There, {figures['pointing']:.2f} % of the words for a thing were written looking at it "
        f"(anywhere: {figures['pointing_by_chance']:.2f} %).",
        maps=draw_maps(((one.sources["image"].replace(":", "-"), one) for one, _ in samples), folder),
        next_commands=(
            "predict {run} scene:12 scene:13",
            "explain {run} scene:19 --out scene.html",
            "serve {run}",
            "evaluate {run}",
            "train --pairs YOUR.tsv --images YOUR_IMAGES --out runs/yours",
        ),
    )


def describe(predictor: "Predictor", split: "SplitName") -> "Described":
    """The captions of a split's pictures, with what they should have been."""
    examples = list(predictor.corpus.examples(split))
    with progress_bar(f"describing {split}", len(examples)) as advance:
        return list(zip(predictor.predict(examples, progress=advance), examples, strict=True))


def measure_captions(known: "Described", new: "Described") -> dict[str, float]:
    """Exact match on both, in percent; on the new combinations also how often the model looked at what it named."""
    from seqloom.data.builtin.scenes import Pointing, pointing_of

    pointing = sum((pointing_of(prediction) for prediction, _ in new), start=Pointing())
    return {
        "exact_match_known": percent([prediction.text == example.target for prediction, example in known]),
        "exact_match_new": percent([prediction.text == example.target for prediction, example in new]),
        "pointing": round(100 * pointing.hits / max(1, pointing.words), 2),
        "pointing_by_chance": round(100 * pointing.blind / max(1, pointing.words), 2),
    }


def samples_of(described: "Described") -> "Described":
    """The first pictures with a right caption, and the first with a wrong one."""
    right = (one for one in described if one[0].text == one[1].target)
    wrong = (one for one in described if one[0].text != one[1].target)
    return [*islice(right, _RIGHT), *islice(wrong, _WRONG)]


def _hits(prediction: "DrawnPrediction") -> str:
    from seqloom.data.builtin.scenes import pointing_of

    pointing = pointing_of(prediction)
    return f"{pointing.hits} of {pointing.words}"
