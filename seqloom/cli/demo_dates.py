"""What `seqloom demo` shows: dates."""

from pathlib import Path
from typing import TYPE_CHECKING

from seqloom.cli.demo_showing import DemoOutput, Showing, draw_maps, percent
from seqloom.cli.options import progress_bar

if TYPE_CHECKING:
    from seqloom.prediction.predictor import Predictor


def show_dates(predictor: "Predictor", folder: Path) -> Showing:
    """Exact match on unseen dates, some that show what there is to it, and where the model looked."""
    from seqloom.data.builtin.dates import SHOWCASE

    figures = _measure(predictor)
    inputs = [{"source": piece.text, "features": [piece.tag] if piece.tag else []} for piece in SHOWCASE]
    shown = predictor.predict(inputs, nbest=3)
    return Showing(
        figures,
        titles=("tag", "source"),
        samples=[
            DemoOutput((" ".join(one.features) or "-", one.sources["source"]), one.text, piece.target)
            for one, piece in zip(shown, SHOWCASE, strict=True)
        ],
        sentence=f"Exact match on unseen dates: {figures['exact_match_tagged']:.2f} % of {figures['count_tagged']:,} with a "
        f"locale tag, {figures['exact_match_untagged']:.2f} % of {figures['count_untagged']:,} without.",
        maps=draw_maps((("-".join([str(number), *one.features]), one) for number, one in enumerate(shown, start=1)), folder),
        next_commands=(
            'predict {run} "le 3 mai 1979"',
            'explain {run} "2009年12月31日" --feature ja --out map.html',
            "serve {run}",
            "evaluate {run}",
            "train --pairs YOUR.tsv --out runs/yours",
        ),
    )


def _measure(predictor: "Predictor") -> dict[str, float]:
    """Exact match on unseen dates, tagged and untagged apart."""
    examples = list(predictor.corpus.examples("test"))
    with progress_bar("testing", len(examples)) as advance:
        predictions = predictor.predict(examples, progress=advance)
    figures: dict[str, float] = {}
    for label, wanted in (("tagged", True), ("untagged", False)):
        right = [
            prediction.text == example.target
            for prediction, example in zip(predictions, examples, strict=True)
            if bool(example.features) == wanted
        ]
        figures |= {f"exact_match_{label}": percent(right), f"count_{label}": len(right)}
    return figures
