"""A training that is killed again and again, at random moments and while it writes, ends as one that was left alone."""

import os
import random
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from attacks.ground import Findings, Ground, clock, differences, small_recipe, write_pairs, write_recipe

_CHAIN = 12
"""So often is one training killed before it may come to its end."""
_STEPS, _FEW_STEPS = 45, 12
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"})
_MOMENT, _OPERATION, _HALF = "at a random moment", "between two changes of the file system", "with a file half written"


def attack(ground: Ground) -> Findings:
    """Kill trainings of two recipes until there are enough kills; compare every end with that of an undisturbed run."""
    found, draw = Findings(), ground.draw("kills")
    for number, (name, body) in enumerate(_recipes(ground).items()):
        wanted = ground.count(100, 4) * (number + 1) // 2
        recipe = write_recipe(ground.folder / f"{name}.yaml", body)
        undisturbed, killed = ground.folder / f"{name}-undisturbed", ground.folder / f"{name}-killed"
        _forked(recipe, undisturbed, lambda out: None)  # prepares the data, too
        shutil.rmtree(undisturbed)
        began = clock()
        _forked(recipe, undisturbed, lambda out: None)
        usual, ends = clock() - began, 0
        while found.attempts < wanted:
            shutil.rmtree(killed, ignore_errors=True)
            _chain(found, draw, wanted, usual, partial(_forked, recipe, killed))
            ends += 1
            ground.say(f"{name}: {found.attempts} kills, {ends} trainings brought to their end")
            for difference in differences(undisturbed, killed):
                found.faults.append(f"{name}, training {ends}: not the same: {difference}")
        found.facts[f"trainings of {name} that were compared to the bit"] = ends
    return found


def _recipes(ground: Ground) -> dict[str, dict[str, Any]]:
    """Pairs in float32, and running text in bfloat16, whose state goes on from update to update, with averaged weights."""
    folder, draw, steps = ground.place("kill-data"), ground.draw("kill-data"), _FEW_STEPS if ground.quick else _STEPS
    pairs = write_pairs(folder / "pairs.tsv", draw, 150)
    (folder / "text.txt").write_text(pairs.read_text(encoding="utf-8").replace("\t", "\n"), encoding="utf-8")
    text = small_recipe(pairs, steps, batch_size=4, bptt=10, ema={"decay": 0.9}, precision="bf16")
    text["training"].pop("batch_tokens"), text["training"].pop("label_smoothing")
    text["data"] = {"train": str(folder / "text.txt"), "text": "stream", "split": {"validation": 0.1, "test": 0.1}}
    text["model"] = {
        "encoder": None,
        "decoder": {"size": 16, "embedding": 8, "dropout": 0.2, "cell": "lstm"},
        "bridge": {"kind": "none"},
    }
    return {"pairs": small_recipe(pairs, steps), "running text": text}


def _chain(
    found: Findings, draw: random.Random, wanted: int, usual: float, train: Callable[[Callable[[Path], None]], int]
) -> None:
    """Train and kill, train and kill, and in the end train to the end."""
    for _ in range(_CHAIN):
        if found.attempts >= wanted:
            break
        how, arm = _way_to_die(draw, usual)
        status = train(arm)
        if not os.WIFSIGNALED(status):
            return  # it was faster than the kill
        found.add(how)
    train(lambda out: None)


def _way_to_die(draw: random.Random, usual: float) -> tuple[str, Callable[[Path], None]]:
    """How a child is to be killed: a name, and what arms it inside the child."""
    chance = draw.random()
    if chance < 0.5:
        seconds = draw.uniform(0, usual / 3)
        return _MOMENT, lambda out: _kill_later(seconds)
    if chance < 0.8:
        count = draw.randint(1, 60)
        return _OPERATION, lambda out: _kill_at_change(out, count)
    size = draw.randint(1, 20_000)
    return _HALF, lambda out: _kill_beyond(size)


def _kill_later(seconds: float) -> None:
    parent = os.getpid()
    if not os.fork():  # a killer that is no thread: it must not wait for Python's lock
        time.sleep(seconds)
        if os.getppid() == parent:
            os.kill(parent, signal.SIGKILL)
        os._exit(0)


def _kill_at_change(out: Path, count: int) -> None:
    """Die just before the given change to the run folder: a file opened to be written, a rename, a removal, a new folder."""
    left = [count]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        opens = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES
        if (opens or event in _CHANGES) and str(arguments[0]).startswith(str(out.parent)):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _kill_beyond(size: int) -> None:
    """The kernel kills whoever makes a file larger than this, when so much of it is written."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _forked(recipe: Path, out: Path, arm: Callable[[Path], None]) -> int:
    """Train in a child; how it ended, as a wait status."""
    child = os.fork()
    if not child:
        import seqloom

        arm(out)
        try:
            outcome = seqloom.train(recipe, out=out)
        except BaseException as problem:
            print(f"  a training failed: {problem!r}", file=sys.stderr, flush=True)
            os._exit(3)
        os._exit(0 if outcome.finished else 4)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"{out}: a training that nobody killed ended with {os.WEXITSTATUS(status)}")
    return status
