"""Flipped bits and lost ends in every file of runs, exported models and caches: noticed, or without any consequence."""

import hashlib
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attacks.exported import exported
from attacks.ground import Findings, Ground, limit_memory, small_recipe, tiny_run, watched
from attacks.material import image_recipe, interrupted_run
from seqloom.runs import RunFolder

_TRUNCATED = 0.2
"""The share of attempts that cut a file short; the others flip a bit."""

_NUMBERS = re.compile(r"[0-9a-f]{32}[-0-9]*|[0-9]+(-\w+)?")

Observe = Callable[[], str]


@dataclass(frozen=True)
class Target:
    """A folder whose files are damaged. observe: all that any command makes of it, as a text; or a SeqloomError."""

    name: str
    folder: Path
    observe: Observe


def attack(ground: Ground) -> Findings:
    """Damage every file of every folder equally often; look at what becomes of the outputs."""
    targets = _targets(ground)
    attempts = ground.count(2000, 40)
    files = [(target, path) for target in targets for path in sorted(target.folder.rglob("*")) if _is_content(path)]
    found = Findings(facts={"files": len(files), "folders": [target.name for target in targets]})
    expected = {target.name: target.observe() for target in targets}
    draw = ground.draw("damage")
    limit_memory()
    for number in range(attempts):
        target, path = files[number % len(files)]
        _attempt(found, draw, target, path, expected[target.name])
        if number % 200 == 199:
            ground.say(f"{number + 1} of {attempts}: {dict(found.outcomes)}")
    return found


def _targets(ground: Ground) -> list[Target]:
    """Further kinds of folders that seqloom writes belong here."""
    run = tiny_run(ground)
    begun = interrupted_run(ground)
    model = exported(ground)
    recipes = {"of pairs": small_recipe(ground.folder / "tiny" / "pairs.tsv", 30), "of pictures": image_recipe(ground)}
    return [
        Target("a finished run", run, lambda: _outputs(run) + _state(run)),
        Target("an exported model", model, lambda: _outputs(model) + json.dumps(RunFolder.open(model).facts)),
        Target("a run that was interrupted", begun, lambda: _state(begun)),
        *(
            Target(f"the caches {name}", ground.folder / f"cache {name}", _prepared_observer(ground, name, body))
            for name, body in recipes.items()
        ),
    ]


def _is_content(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_size) and path.name not in {".lock", "lock"}


def _outputs(run: Path) -> str:
    import seqloom

    predictions = seqloom.load(run).predict(["abcd", "hgfe", "a"], nbest=2)
    return json.dumps([one.as_json() for one in predictions])


def _state(run: Path) -> str:
    """What `compare`, and a training that goes on, have of the run."""
    from seqloom.runs.hashed_arrays import digest

    opened = RunFolder.open(run)
    checkpoint = opened.load_checkpoint()
    digests = [] if checkpoint is None else [digest(one, {}) for one in (checkpoint.weights, checkpoint.optimiser)]
    kept = [digest(opened.kept.load(step), {}) for step in opened.kept.steps]
    facts = [opened.counters(), opened.metrics(), opened.facts, opened.vocabularies(), opened.num_parameters, digests, kept]
    return json.dumps(facts, default=str)


def _prepared_observer(ground: Ground, name: str, body: dict[str, object]) -> Observe:
    """Prepare data into a cache of its own; what a training sees of it, as a hash."""
    from seqloom.data.preparing.corpus import Corpus
    from seqloom.data.preparing.prepared import prepare
    from seqloom.models.encoders.frontends import build_frontends
    from seqloom.recipe import recipe_from

    cache = ground.place(f"cache {name}")
    recipe = recipe_from(body)

    def observe() -> str:
        with _cache_in(cache):
            prepared = prepare(Corpus(recipe.data, recipe.seed), frontends=build_frontends(recipe))
            digest = hashlib.sha256(prepared.fingerprint.encode())
            for split in prepared.splits.values():
                for start in range(0, len(split), 64):
                    batch = split.batch(np.arange(start, min(start + 64, len(split))))
                    for padded in (*batch.sources.values(), batch.target):
                        digest.update(padded.values.tobytes() + padded.lengths.tobytes())
            for vocabulary in prepared.vocabularies.values():
                digest.update(vocabulary.to_json().encode())
            return digest.hexdigest()

    observe()
    return observe


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    before = os.environ["SEQLOOM_CACHE"]
    os.environ["SEQLOOM_CACHE"] = str(folder)
    try:
        yield
    finally:
        os.environ["SEQLOOM_CACHE"] = before


def _attempt(found: Findings, draw: random.Random, target: Target, path: Path, expected: str) -> None:
    """Damage one file, look, and put it back."""
    from seqloom.errors import SeqloomError

    content = path.read_bytes()
    what, damaged = _damaged(content, draw)
    where = f"{target.name}: {path.relative_to(target.folder)}: {what}"
    before = _whole(target.folder)
    path.write_bytes(damaged)
    try:
        with watched(60):
            same = target.observe() == expected
        found.add("without consequence: all outputs the same", "" if same else f"{where}: SILENTLY other outputs")
        name = f"{target.name}: {_NUMBERS.sub('*', str(path.relative_to(target.folder)))}"
        harmless = found.facts.setdefault("without consequence, by file", {})
        harmless[name] = harmless.get(name, 0) + 1
    except SeqloomError as problem:
        found.add("refused with a sentence", "" if problem.exit_code in (3, 4) else f"{where}: exit code {problem.exit_code}")
    except BaseException as problem:
        found.add("", f"{where}: {problem!r}")
    finally:
        _restore(target.folder, before)


def _whole(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _restore(folder: Path, before: dict[Path, bytes]) -> None:
    """Put back all that changed: where damage is not recognised as content, a cache grows by what is made anew."""
    for path, content in _whole(folder).items():
        if path not in before:
            path.unlink()
        elif content != before[path]:
            path.write_bytes(before[path])
    for path in before.keys() - _whole(folder).keys():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before[path])


def _damaged(content: bytes, draw: random.Random) -> tuple[str, bytes]:
    if draw.random() < _TRUNCATED:
        length = draw.randrange(len(content))
        return f"cut to {length:,} of {len(content):,} bytes", content[:length]
    place, bit = draw.randrange(len(content)), draw.randrange(8)
    flipped = bytearray(content)
    flipped[place] ^= 1 << bit
    return f"bit {bit} of byte {place:,} flipped", bytes(flipped)
