"""A disk that is full after so many bytes: one sentence, exit code 5, and a run that goes on where there is room again."""

import contextlib
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from attacks.ground import (
    Answer,
    Findings,
    Ground,
    command,
    differences,
    isolated,
    small_recipe,
    trained,
    write_pairs,
    write_recipe,
)

_PLENTY = 64 << 20


def attack(ground: Ground) -> Findings:
    """Train on disks of growing sizes, make room, go on, and compare with a run that always had room; the same for caches."""
    folder = ground.place("disks")
    pairs = write_pairs(folder / "pairs.tsv", ground.draw("disks"), 150)
    recipe = write_recipe(folder / "recipe.yaml", small_recipe(pairs, 24))
    undisturbed = trained(folder / "undisturbed", recipe)
    draw, count = ground.draw("offsets"), ground.count(10, 1)
    found = Findings()
    with _small_disk(folder / "disk") as disk:
        found.facts["disk"] = disk.kind
        for what, whole in (("run", undisturbed), ("cache", Path(os.environ["SEQLOOM_CACHE"]))):
            sizes = [path.stat().st_size for path in whole.rglob("*") if path.is_file()]
            total = sum(sizes) if disk.mounted else max(sizes)
            for number in range(count):
                size = int(total * (number + draw.random()) / count)
                ground.say(f"{what}: full after {size:,} bytes")
                _attempt(found, disk, recipe, undisturbed, size, what)
    return found


class _Disk:
    """A folder in which only so much can be written. kind: how that is done here."""

    def __init__(self, path: Path, *, mounted: bool) -> None:
        self.path, self.mounted = path, mounted
        self.kind = "a tmpfs of that size" if mounted else "no right to mount here: files may not grow beyond that size (EFBIG)"

    def resize(self, size: int) -> None:
        """Give it room for so many bytes."""
        if self.mounted:
            pages = max(1, size // 4096)
            subprocess.run(["mount", "-o", f"remount,size={pages * 4096}", str(self.path)], check=True)

    def clear(self) -> None:
        """Empty it."""
        for one in self.path.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()


@contextlib.contextmanager
def _small_disk(path: Path) -> Iterator[_Disk]:
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_PLENTY}", "tmpfs", str(path)]
    try:
        mounted = not subprocess.run(mount, capture_output=True, check=False).returncode
    except FileNotFoundError:
        mounted = False
    try:
        yield _Disk(path, mounted=mounted)
    finally:
        if mounted:
            subprocess.run(["umount", str(path)], check=True)


def _attempt(found: Findings, disk: _Disk, recipe: Path, undisturbed: Path, size: int, what: str) -> None:
    """Train until the disk is full; then with room; the second must end as the undisturbed run."""
    disk.resize(_PLENTY)
    disk.clear()
    disk.resize(size)
    room, cache = disk.path, os.environ["SEQLOOM_CACHE"]
    out = (room if what == "run" else room.parent) / "trained"
    shutil.rmtree(out, ignore_errors=True)
    if what == "cache":
        os.environ["SEQLOOM_CACHE"] = str(room)
    try:
        full = _train(recipe, out, None if disk.mounted else size)
        fault = full.fault({0, 5}) or _left_behind(out)
        disk.resize(_PLENTY)
        fault = fault or _train(recipe, out, None).fault({0})
        fault = fault or "; ".join(differences(undisturbed, out))
    finally:
        os.environ["SEQLOOM_CACHE"] = cache
    outcome = f"a {what} that was refused with a sentence (5), then brought to the same end, to the bit"
    found.add(outcome if full.code else f"a {what} that fitted", fault and f"{what}, full after {size:,} bytes: {fault}")


def _train(recipe: Path, out: Path, limit: int | None) -> Answer:
    """In a child, since a limit on the size of files cannot be taken back. None: without a limit."""

    def work() -> Findings:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        answer = command("train", recipe, "--out", out)
        return Findings(facts={"answer": [answer.code, answer.out, answer.err]})

    found = isolated(work)
    return Answer(*found.facts["answer"]) if found.facts else Answer(-1, "", "; ".join(found.faults))


def _left_behind(out: Path) -> str:
    """What is wrong with what a full disk leaves: a run that predicts, one that says that it has no weights yet, or nothing."""

    def work() -> Findings:
        answer = command("predict", out, given=b"abc\n")
        return Findings(faults=[answer.fault({0, 4})])

    return isolated(work).faults[0] if out.exists() else ""
