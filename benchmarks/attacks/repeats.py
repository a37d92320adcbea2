"""The same seed twice gives the same run; two trainings in one folder do not disturb each other."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from attacks.ground import Findings, Ground, differences, small_recipe, write_pairs, write_recipe


def same_seed(ground: Ground) -> Findings:
    """Train in two processes that differ in all that should not matter: their hash seed, folder, time, and cache."""
    found, recipe = Findings(), _recipe(ground, "twice", 24)
    runs = []
    for number in (1, 2):
        out = recipe.parent / str(number)
        environment = {**os.environ, "PYTHONHASHSEED": str(number), "SEQLOOM_CACHE": str(recipe.parent / f"cache-{number}")}
        subprocess.run(_words(recipe, out), env=environment, check=True, capture_output=True, cwd=ground.place(f"cwd-{number}"))
        runs.append(out)
    wrong = differences(*runs)
    found.add("the same to the bit", "; ".join(wrong))
    return found


def two_at_once(ground: Ground) -> Findings:
    """Start a second training in the folder of a first one; then kill the first, and start again."""
    found, recipe = Findings(), _recipe(ground, "at-once", 60)
    alone, shared = recipe.parent / "alone", recipe.parent / "shared"
    subprocess.run(_words(recipe, alone), check=True, capture_output=True)
    for number in range(ground.count(3, 1)):
        with subprocess.Popen(_words(recipe, shared), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            _await_lock(shared, first)
            os.kill(first.pid, signal.SIGSTOP)  # it shall not be finished before the second has asked
            second = subprocess.run(_words(recipe, shared), check=False, capture_output=True, text=True)
            os.kill(first.pid, signal.SIGCONT)
            refused = second.returncode == 4 and f"process {first.pid}" in second.stderr
            found.add(
                "the second refused (4), naming the first", "" if refused else f"{second.returncode}: {second.stderr[-400:]}"
            )
            if number < ground.count(3, 1) - 1:
                os.kill(first.pid, signal.SIGKILL)
            first.wait()
    ended = subprocess.run(_words(recipe, shared), check=False, capture_output=True, text=True)
    wrong = ended.stderr[-400:] if ended.returncode else "; ".join(differences(alone, shared))
    found.add("the lock died with its process, and the run ended as one that was alone, to the bit", wrong)
    return found


def _recipe(ground: Ground, name: str, steps: int) -> Path:
    folder = ground.place(name)
    pairs = write_pairs(folder / "pairs.tsv", ground.draw(name), 150)
    return write_recipe(folder / "recipe.yaml", small_recipe(pairs, steps))


def _words(recipe: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "seqloom", "train", str(recipe), "--out", str(out)]


def _await_lock(run: Path, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        lock = run / ".lock"
        if lock.exists() and lock.read_text().strip() and str(process.pid) in lock.read_text():
            return
        time.sleep(0.01)
    raise RuntimeError("the first training ended before it was seen at work")
