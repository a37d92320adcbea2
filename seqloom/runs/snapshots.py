"""The weights that a run keeps of some validations, beside the best ones: a file for each, by its step."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from seqloom.runs.hashed_arrays import Arrays, sealed, sealed_number, unsealed
from seqloom.system.atomic_files import replace_file, writing
from seqloom.system.files import make_folder


@dataclass(frozen=True)
class KeptWeights:
    """A folder of weights inside a run; it need not exist as long as there are none."""

    path: Path

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps whose weights are there, the first one first."""
        return tuple(sorted(int(file.stem) for file in self.path.glob("*.safetensors") if file.stem.isdecimal()))

    def values(self) -> dict[int, float]:
        """What each was judged by, by its step."""
        return {step: sealed_number(self._file(step), "value", inside=self.path.parent) for step in self.steps}

    def save(self, step: int, weights: Arrays, facts: Mapping[str, str]) -> None:
        """Keep the weights of a step. facts: what they were judged by."""
        with writing(self.path):
            make_folder(self.path)
            replace_file(self._file(step), sealed(weights, facts))

    def load(self, step: int) -> dict[str, npt.NDArray[Any]]:
        """The weights of a step, checked against their own hash."""
        return unsealed(self._file(step), inside=self.path.parent)[0]

    def drop(self, steps: Iterable[int]) -> None:
        """Remove the weights of some steps."""
        unwanted = tuple(steps)
        if not unwanted:
            return
        with writing(self.path):
            make_folder(self.path)  # refuses a link, which would lead elsewhere
            for step in unwanted:
                self._file(step).unlink(missing_ok=True)

    def _file(self, step: int) -> Path:
        return self.path / f"{step}.safetensors"
