"""A training that is killed and resumed is the same training, to the bit."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seqloom.errors import RunError
from seqloom.recipe import recipe_from, to_yaml
from seqloom.runs import RunFolder
from seqloom.training.reporting.display import SilentDisplay, StepReport
from seqloom.training.session import train

KILLS = int(os.environ.get("SEQLOOM_KILLS", "4"))
"""How often the training is killed. By hand: SEQLOOM_KILLS=20 python -m pytest tests/invariants."""
INTERVAL = 3
STEPS = max(40, 5 * KILLS)
INTERRUPTED = 10


def pairs(folder: Path, words: list[str]) -> dict[str, Any]:
    """Pairs of words, and a model that reads one to write the other, more and more from what it wrote itself.

    Where it looks is drawn, so that a resumed run must draw the same.
    """
    (folder / "pairs.tsv").write_text("".join(f"{word}\t{word[::-1]}\n" for word in words), encoding="utf-8")
    return {
        "data": {"train": str(folder / "pairs.tsv")},
        "model": {
            "encoder": {"size": 12, "embedding": 8, "dropout": 0.2},
            "decoder": {"size": 16, "embedding": 8, "dropout": 0.2, "cell": "lstm", "inputs": {"kind": "mixed", "rise": 50}},
            "bridge": {"kind": "attention", "attention": {"kind": "hard"}},
        },
        "training": {"batch_tokens": 40, "label_smoothing": 0.1, "dropout_epochs": 2, "precision": "fp32"},
    }


def running_text(folder: Path, words: list[str]) -> dict[str, Any]:
    """Running text, whose state goes on from update to update; averaged weights, sampled softmax, all dropout, in bfloat16."""
    thinning = {"weight_dropout": 0.2, "embedding_dropout": 0.1, "output_dropout": 0.3}
    (folder / "text.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    return {
        "data": {"train": str(folder / "text.txt"), "text": "stream"},
        "model": {
            "encoder": None,
            "decoder": {"size": 16, "layers": 2, "embedding": 8, "dropout": 0.2, "locked": True, "cell": "lstm"} | thinning,
            "bridge": {"kind": "none"},
        },
        "training": {
            "batch_size": 4,
            "bptt": 10,
            "ema": {"decay": 0.9},
            "sampled_softmax": 1,
            "precision": "bf16",
        },
    }


@pytest.fixture(scope="module", params=[pairs, running_text])
def recipe(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Dropout, accumulation, a schedule that counts validations, rates by part, kept weights, checkpoints within epochs."""
    folder = tmp_path_factory.mktemp("resume")
    draw = random.Random(5)
    body = request.param(folder, ["".join(draw.choices("abcdef", k=draw.randint(1, 8))) for _ in range(150)])
    body["data"]["split"] = {"validation": 0.1, "test": 0.1}
    body["training"] |= {
        "steps": STEPS,
        "epochs": 1000,
        "accumulate": 2,
        "learning_rate": 0.01,
        "schedule": {"kind": "plateau", "warmup": 5, "patience": 1},
        "validation": {"every_steps": 7, "examples": 4},
        "checkpoint": {"steps": INTERVAL},
        "keep": {"last": 2, "best": 2},
        "rates": {"decoder.embedding": 0.5, "decoder.output.bias": 0.0},
        "threads": 1,
    }
    path = folder / "recipe.yaml"
    path.write_text(to_yaml(recipe_from(body)), encoding="utf-8")
    return path


def driven(recipe: Path, out: Path, plan: list[tuple[int, int, float]]) -> list[tuple[int, int, int]]:
    """What became of each child of the driver: first step, last step, wait status."""
    described = out.with_suffix(".plan.json")
    described.write_text(json.dumps(plan))
    script = Path(__file__).with_name("driver.py")
    ended = subprocess.run([sys.executable, script, recipe, out, described], capture_output=True, text=True, check=True)
    return [(start, last, status) for start, last, status in map(json.loads, ended.stdout.splitlines())]


@pytest.fixture(scope="module")
def undisturbed(recipe: Path) -> Path:
    out = recipe.with_name("undisturbed")
    [(start, last, status)] = driven(recipe, out, [])
    assert (start, last, status) == (0, STEPS, 0)
    return out


def assert_same_run(one: Path, other: Path) -> None:
    def content(path: Path, pattern: str) -> dict[str, bytes]:
        return {found.name: found.read_bytes() for found in path.glob(pattern)}

    for pattern in (
        "weights.safetensors",
        "kept/*",
        "checkpoints/*/weights.safetensors",
        "validation/*.json",
        "tokenizers/*.json",
    ):
        assert content(one, pattern)
        assert content(one, pattern) == content(other, pattern)
    assert records(one) == records(other)


def records(path: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in record.items() if name != "seconds"} for record in RunFolder.open(path).metrics()]


def test_the_reference_is_worth_comparing_with(undisturbed: Path) -> None:
    found = records(undisturbed)
    assert [record["step"] for record in found if record["kind"] == "validation"] == sorted({*range(7, STEPS + 1, 7), STEPS})
    assert [record["step"] for record in found if record["kind"] == "train"] == list(range(20, STEPS + 1, 20))
    assert found[0]["loss"] > found[-1]["loss"]


def test_kills_at_random_moments_change_nothing(recipe: Path, undisturbed: Path) -> None:
    draw = random.Random(os.environ.get("SEQLOOM_KILL_SEED", "1"))
    # The first kill comes after the first checkpoint; the others wherever they may, also before the first step.
    plan = [
        (int(signal.SIGKILL), draw.randint(0, 8) + (5 if number == 0 else 0), draw.uniform(0, 0.05)) for number in range(KILLS)
    ]
    children = driven(recipe, out := recipe.with_name("killed"), plan)
    assert children[-1][1:] == (STEPS, 0)
    assert [status for _, _, status in children[:-1]].count(signal.SIGKILL) >= KILLS - 1  # the last may come too late
    reached = 0
    for start, last, _ in children[1:]:
        assert start > 0
        assert start >= reached - INTERVAL
        reached = last
    assert_same_run(out, undisturbed)


def test_an_interruption_saves_at_once_and_changes_nothing(recipe: Path, undisturbed: Path) -> None:
    children = driven(
        recipe, out := recipe.with_name("interrupted"), [(int(signal.SIGINT), 4, 0.0), (int(signal.SIGTERM), 6, 0.0)]
    )
    assert [os.waitstatus_to_exitcode(status) for _, _, status in children] == [INTERRUPTED, INTERRUPTED, 0]
    for (_, last, _), (start, _, _) in itertools.pairwise(children):
        assert start == last > 0
    assert_same_run(out, undisturbed)


def test_a_second_training_of_a_live_run_is_refused(recipe: Path, tmp_path: Path) -> None:
    refused: list[str] = []

    class Doubler(SilentDisplay):
        def stepped(self, report: StepReport) -> None:
            if report.step == 2:
                with pytest.raises(RunError) as caught:
                    train(recipe, tmp_path / "run")
                refused.append(str(caught.value))
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path / "run", display=Doubler())
    [text] = refused
    assert f"is being trained by another process (process {os.getpid()})" in text
