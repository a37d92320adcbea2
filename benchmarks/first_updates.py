"""How a model learns from its first updates on: ours beside the same model with other weights at the start.

    python benchmarks/first_updates.py multi30k --data DATA --runs RUNS
    python benchmarks/first_updates.py dutch --data DATA --runs RUNS --cells lstm gru rnn --uses previous current --seeds 1 2 3
    python benchmarks/first_updates.py dates --runs RUNS --signals
    python benchmarks/first_updates.py dates --runs RUNS --transformer

Tasks: multi30k and dutch (folders DATA/multi30k, DATA/sigmorphon2020_g2p), dates (built in), shakespeare, treebank (folders
DATA/tinyshakespeare, DATA/ptb). Every start sees the same batches, the same dropout and the same optimiser; the recipes are in
benchmarks/recipes/first. Printed are the training loss (nats, mean of the last 20 updates) and the validation loss.
With --signals: the scale (root of the mean square) of what each part writes and of the gradient that comes back to it, before
the first update.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from language_models import prepared_text
from starts import STARTS
from torch import Tensor, nn

from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import Prepared, prepare
from seqloom.models.encoder_decoder import EncoderDecoder, build_model
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import Recipe
from seqloom.training.loop import update
from seqloom.training.machine import computing
from seqloom.training.optimisation import build_optimiser
from seqloom.training.plans import build_plans
from seqloom.training.validation import validation_loss

RECIPES = Path(__file__).parent / "recipes" / "first"
TEXTS = {"shakespeare": "tinyshakespeare", "treebank": "ptb"}
USES = {
    "previous": ["model.bridge.query=previous", "model.bridge.into=[input, combined]"],
    "current": ["model.bridge.query=current", "model.bridge.into=[combined]", "model.bridge.feed=true"],
}
TRANSFORMER = [
    "model.encoder={kind: transformer, size: 128, layers: 2, heads: 4}",
    "model.decoder={kind: transformer, size: 128, layers: 2, heads: 4}",
    "model.bridge={kind: cross_attention}",
    "training.learning_rate=1.0e-3",
]
AVERAGED = 20
"""So many updates make up a figure of the training loss: a single batch is noise."""


@dataclass(frozen=True)
class Variant:
    """One model on one task. settings: what it changes in the task's recipe."""

    name: str
    settings: Sequence[str]


def variants(task: str, cells: Sequence[str], uses: Sequence[str], *, transformer: bool) -> Iterator[Variant]:
    """The models to measure: a language model has cells only."""
    if transformer:
        yield Variant("transformer", TRANSFORMER)
        return
    for cell in cells:
        of_decoder = [f"model.decoder.cell={cell}"]
        if task in TEXTS:
            yield Variant(cell, of_decoder)
            continue
        for use in uses:
            yield Variant(f"{cell}, {use}", [*of_decoder, f"model.encoder.cell={cell}", *USES[use]])


def recipe_of(task: str, variant: Variant, data: Path | None, runs: Path, seed: int) -> Recipe:
    """The recipe of a task, with its files and what the variant changes."""
    path = RECIPES / f"{task}.yaml"
    plain = read_recipe(path)
    files = []
    if task in TEXTS:
        texts = prepared_text(TEXTS[task], _required(data) / TEXTS[task], runs)
        files = [f"data.{name}={texts[name]}" for name in ("train", "validation")]
    elif task == "multi30k":
        files = [
            f"data.{name}.{side}={_required(data) / 'multi30k' / file}.{language}.gz"
            for name, file in (("train", "train"), ("validation", "val"))
            for side, language in (("source", "en"), ("target", "de"))
        ]
    elif plain.data.builtin is None:
        folder = _required(data) / "sigmorphon2020_g2p"
        files = [f"data.{name}={folder / str(getattr(plain.data, name))}" for name in ("train", "validation")]
    return read_recipe(path, [*files, *variant.settings, f"seed={seed}", "training.threads=1"])


def _required(data: Path | None) -> Path:
    if data is None:
        raise SystemExit("this task reads files: name the folder of the data sets with --data")
    return data


def started(recipe: Recipe, prepared: Prepared, start: str) -> EncoderDecoder:
    """A model whose weights are drawn as `start` says."""
    model = build_model(recipe, {name: vocabulary.size for name, vocabulary in prepared.vocabularies.items()})
    torch.manual_seed(recipe.seed)
    STARTS[start](model)
    return model.train()


def losses(recipe: Recipe, prepared: Prepared, start: str, marks: Sequence[int]) -> dict[str, float]:
    """Training losses after so many updates each, and the validation loss after the last."""
    model = started(recipe, prepared, start)
    optimiser = build_optimiser(recipe.training.optimiser, model, recipe.training.learning_rate)
    plans, carried = build_plans(prepared.splits["train"], recipe), None
    recent: list[tuple[float, int]] = []
    found = {}
    for step in range(max(marks)):
        batches = plans.batches(step)
        nll, carried = update(model, batches, optimiser, recipe, step=step, precision="fp32", carried=carried)
        recent = [*recent[1 - AVERAGED :], (nll, sum(batch.num_symbols for batch in batches))]
        if step + 1 in marks:
            found[str(step + 1)] = round(sum(nll for nll, _ in recent) / sum(symbols for _, symbols in recent), 3)
    return {**found, "validation": round(validation_loss(model, prepared.splits["validation"], recipe), 3)}


def signals(recipe: Recipe, prepared: Prepared, start: str) -> list[tuple[str, float, float]]:
    """For each part with weights of its own: its name, the scale of what it writes, that of the gradient that comes back."""
    model = started(recipe, prepared, start)
    written: dict[str, list[Tensor]] = {}
    for name, module in model.named_modules():
        if any(True for _ in module.parameters(recurse=False)):
            module.register_forward_hook(_keeping(written.setdefault(name, [])))
    (batch, *_) = build_plans(prepared.splits["train"], recipe).batches(0)
    loss = model(batch)
    (loss.objective / batch.num_symbols).backward()
    return [
        (name, _scale(tensors), _scale([tensor.grad for tensor in tensors if tensor.grad is not None]))
        for name, tensors in written.items()
        if tensors
    ]


def _keeping(kept: list[Tensor]):  # type: ignore[no-untyped-def]  # torch's own type of hooks says no more
    def hook(module: nn.Module, inputs: object, outputs: object) -> None:  # noqa: ARG001
        if isinstance(outputs, Tensor) and outputs.requires_grad:
            outputs.retain_grad()
            kept.append(outputs)

    return hook


def _scale(tensors: Sequence[Tensor]) -> float:
    numbers = sum(tensor.numel() for tensor in tensors)
    return math.sqrt(sum(float(tensor.detach().square().sum()) for tensor in tensors) / max(1, numbers))


def main() -> None:
    """Print a row for each model, seed and start."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=sorted(path.stem for path in RECIPES.glob("*.yaml")))
    parser.add_argument("--data", type=Path, help="the folder with the data sets")
    parser.add_argument("--runs", type=Path, required=True, help="where cut texts are kept")
    parser.add_argument("--cells", nargs="+", default=["lstm"], choices=["lstm", "gru", "rnn"])
    parser.add_argument("--uses", nargs="+", default=["previous"], choices=sorted(USES))
    parser.add_argument("--transformer", action="store_true", help="a small transformer in place of recurrent cells")
    parser.add_argument("--starts", nargs="+", default=sorted(STARTS), choices=sorted(STARTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--updates", nargs="+", type=int, default=[50, 100, 200])
    parser.add_argument("--signals", action="store_true", help="print scales at the start, train nothing")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="change the recipe, as `seqloom train --set`")
    wanted = parser.parse_args()
    for variant in variants(wanted.task, wanted.cells, wanted.uses, transformer=wanted.transformer):
        for seed in wanted.seeds:
            changed = Variant(variant.name, [*variant.settings, *wanted.set])
            recipe = recipe_of(wanted.task, changed, wanted.data, wanted.runs, seed)
            prepared = prepare(Corpus(recipe.data, recipe.seed))
            with computing(1):
                for start in wanted.starts:
                    row = {"task": wanted.task, "model": variant.name, "start": start, "seed": seed}
                    if wanted.signals:
                        for part, forward, back in signals(recipe, prepared, start):
                            print(
                                json.dumps(
                                    {**row, "part": part, "scale": float(f"{forward:.3g}"), "gradient": float(f"{back:.3g}")}
                                )
                            )
                    else:
                        print(json.dumps({**row, **losses(recipe, prepared, start, wanted.updates)}), flush=True)


if __name__ == "__main__":
    main()
