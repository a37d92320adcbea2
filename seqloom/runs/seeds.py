"""A folder of runs that differ in their seed alone: `seqloom train --seeds 5 --out RUN` makes RUN/1 to RUN/5.

`seeds.json` says which seeds there shall be, so that a folder in which some are still missing is not taken for a whole one.
"""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

from seqloom.errors import RunError
from seqloom.runs import SEEDS_FILE
from seqloom.runs.documents import reason_of
from seqloom.system.atomic_files import replace_file, writing
from seqloom.system.files import LARGEST_DOCUMENT, Found, found_at, read_regular
from seqloom.system.json_parsing import parse_object

_FORMAT = 1


@dataclass(frozen=True)
class SeedFolder:
    """An opened folder of runs. seeds: that of each run, in the order of their numbers."""

    path: Path
    seeds: tuple[int, ...]

    @staticmethod
    def exists_at(path: Path) -> bool:
        """Whether the path holds such a folder."""
        return found_at(path / SEEDS_FILE) is Found.FILE

    @classmethod
    def open(cls, path: Path) -> "SeedFolder":
        """Open a folder, refusing one that is damaged or foreign."""
        try:
            content = read_regular(path / SEEDS_FILE, limit=LARGEST_DOCUMENT, inside=path)
            body = parse_object(content, {"format": int, "seeds": list})
            seeds = tuple(body["seeds"])
            if body["format"] != _FORMAT or not seeds:
                raise ValueError(f"format {body['format']}, {len(seeds)} seeds")
            if not all(type(seed) is int for seed in seeds):
                raise ValueError("expected seeds that are whole numbers")
        except (OSError, ValueError) as problem:
            raise RunError(
                f"{path / SEEDS_FILE}: is damaged or was not written by seqloom ({reason_of(problem)}). "
                "Name the runs beside it one by one; they are not touched by this"
            ) from problem
        return cls(path, seeds)

    @classmethod
    def planned(cls, path: Path, seeds: tuple[int, ...]) -> "SeedFolder":
        """A folder for runs of these seeds, new or with fewer of them; refused if something else is there."""
        if found_at(path / "run.json") is Found.FILE:
            raise RunError(f"{path}: holds a single run. For several seeds choose another --out, or leave --seeds out")
        if cls.exists_at(path):
            there = cls.open(path)
            if there.seeds[: len(seeds)] != seeds[: len(there.seeds)]:
                raise RunError(
                    f"{path}: holds runs of the seeds {_listed(there.seeds)}, and now {_listed(seeds)} are asked for. "
                    "Use the same seed, or choose another --out"
                )
            if len(seeds) < len(there.seeds):
                raise RunError(
                    f"{path}: holds {len(there.seeds)} runs, and --seeds asks for {len(seeds)}. "
                    f"Use --seeds {len(there.seeds)} or more, or choose another --out"
                )
        elif not _is_free(path):
            raise RunError(f"{path}: exists and is no folder of runs. Choose another --out, or remove it first")
        return cls(path, seeds)

    def write(self) -> None:
        """Say on disk which runs there shall be."""
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            replace_file(self.path / SEEDS_FILE, json.dumps({"format": _FORMAT, "seeds": list(self.seeds)}).encode())

    @property
    def runs(self) -> tuple[Path, ...]:
        """Where each run is, or will be."""
        return tuple(self.path / str(number) for number in range(1, len(self.seeds) + 1))

    def trained(self) -> tuple[Path, ...]:
        """The runs, all of which are there."""
        missing = [run for run in self.runs if found_at(run / "run.json") is not Found.FILE]
        if missing:
            raise RunError(
                f"{self.path}: {len(missing)} of its {len(self.seeds)} runs are not there yet. Go on with the command that "
                f"trained the others, or name those that are there, such as {self.runs[0]}"
            )
        return self.runs


def runs_at(path: Path) -> tuple[Path, ...]:
    """The run at a path, or the several ones of a folder of seeds."""
    return SeedFolder.open(path).trained() if SeedFolder.exists_at(path) else (path,)


def _is_free(path: Path) -> bool:
    """Whether a folder can be made at a path: nothing is there, or an empty one."""
    found = found_at(path)
    if found is Found.FOLDER:
        with contextlib.suppress(OSError):
            return not any(path.iterdir())
    return found is Found.NOTHING


def _listed(seeds: tuple[int, ...]) -> str:
    return ", ".join(map(str, seeds))
