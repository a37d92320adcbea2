"""The model card: what a run's model is, was trained on and can be expected to do, for whoever is handed the folder."""

from seqloom.data.preparing.prepared import Prepared
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.recipe import jars
from seqloom.runs import RunFolder


def model_card(run: RunFolder, model: EncoderDecoder, prepared: Prepared) -> str:
    """The card as Markdown."""
    best = run.validation_at(run.load_weights()[1]["step"])
    values = "\n".join(
        f"| {name} | {value:.4f} |" for name, value in best.items() if isinstance(value, float) and name != "seconds"
    )
    jar_lines = "\n".join(f"- **{name}**: {text}" for name, text in jars(run.recipe))
    counts = ", ".join(f"{len(split):,} {name}" for name, split in prepared.splits.items())
    versions = ", ".join(f"{name} {version}" for name, version in run.facts["versions"].items())
    return f"""# Model card: {run.path.name}

{jar_lines}

- **Examples**: {counts}
- **Parameters**: {model.num_parameters:,}
- **Trained with**: {versions}; {run.facts["threads"]} threads, {run.facts["precision"]}

## Validation (best step {best.get("step", 0)})

| measure | value |
|---|---|
{values}

{_advice(run)}"""


def _advice(run: RunFolder) -> str:
    advice = _WRITES_TEXT if run.recipe.is_language_model else _READS_A_SOURCE
    return advice.replace("RUN", run.path.name)


_READS_A_SOURCE = """\
Error rates and matches are in percent, of greedy search. They hold for data like the validation split; on other data,
measure with `seqloom evaluate`.

## Use

    seqloom predict RUN FILE
    seqloom explain RUN "an input" --out map.html

## Limits

The model knows the symbols and patterns of its training data only; symbols outside its vocabulary read as unknown. An
output's log-probability says how sure the model is, not whether it is right.
"""

_WRITES_TEXT = """\
The loss is in nats per symbol. It holds for text like the validation split; on other text, measure with `seqloom score`.

## Use

    seqloom sample RUN --prompt "a beginning"
    seqloom score RUN FILE

## Limits

The model knows the symbols and patterns of its training text only. What it writes is made up, and may repeat what it has
read.
"""
