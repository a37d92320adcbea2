"""Starting from what another run has learnt (`--from`): weights by name, and rows of symbols by symbol.

What was put together is kept in the new run until its first checkpoint, so that the other run is needed only once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import torch
from torch import nn

from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import RunError
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.encoders import TextEncoder, TransformerEncoder
from seqloom.prediction.backends import open_vocabularies
from seqloom.recipe import Recipe
from seqloom.recipe.sections import TARGET
from seqloom.runs import RunFolder
from seqloom.runs.documents import StartFacts
from seqloom.runs.hashed_arrays import digest

_SHOWN = 5


@dataclass(frozen=True)
class StartingRun:
    """The wish to start from another run. keeps_vocabularies: its symbols stay, and what the data has besides is added."""

    path: Path
    keeps_vocabularies: bool = False

    def opened(self, recipe: Recipe) -> "OpenedStart":
        """Open the other run, refusing one whose model is of another kind than the recipe's."""
        run = RunFolder.open(self.path)
        if run.recipe.is_language_model != recipe.is_language_model:
            words = ("is a language model", "is none") if run.recipe.is_language_model else ("is no language model", "is one")
            raise RunError(
                f"{self.path}: its model {words[0]} and the new one {words[1]}. Name a run of the same kind to start from"
            )
        weights, _ = run.load_weights()
        return OpenedStart(self.path.resolve(), weights, open_vocabularies(run), self.keeps_vocabularies)

    def require_same(self, run: RunFolder) -> None:
        """Refuse a run that is there already and started from something else. The other run need not be there any more."""
        recorded = run.facts.get("start")
        if recorded is None:
            raise RunError(f"{run.path}: was not started from another run. Leave --from out to go on, or choose another --out")
        if recorded["run"] == str(self.path.resolve()):
            return
        weights, _ = RunFolder.open(self.path).load_weights()
        if digest(weights, {}) != recorded["weights"]:
            raise RunError(f"{run.path}: was started from {recorded['run']}, not from {self.path}. Choose another --out")


@dataclass(frozen=True)
class Taken:
    """What a model took over. fresh: the parameters that it did not; new: how many symbols of a side have fresh rows."""

    parts: int
    fresh: tuple[str, ...]
    new: Mapping[str, int]

    def sentence(self, path: Path) -> str:
        """Say from where a training starts, and what did not fit."""
        if not self.fresh and not self.new:
            return f"starts from {path}, whose weights all fit"
        symbols = [f"{count:,} new {side} symbols" for side, count in self.new.items()]
        more = f" and {len(self.fresh) - _SHOWN} more" if len(self.fresh) > _SHOWN else ""
        parts = [f"{', '.join(self.fresh[:_SHOWN])}{more} (absent there, or of another shape)"] if self.fresh else []
        total = self.parts + len(self.fresh)
        return f"starts from {path}: {self.parts} of {total} parts taken over; drawn fresh: {'; '.join([*parts, *symbols])}"


@dataclass(frozen=True)
class OpenedStart:
    """Another run's best weights and vocabularies."""

    path: Path
    weights: Mapping[str, npt.NDArray[Any]]
    vocabularies: Mapping[str, Vocabulary]
    keeps_vocabularies: bool

    def put_into(self, model: EncoderDecoder, vocabularies: Mapping[str, Vocabulary]) -> Taken:
        """Let a model with these vocabularies take over what fits; the rest stays as it was drawn."""
        sides = _sides_of_rows(model)
        fresh, parts = [], 0
        for name, parameter in model.named_parameters():
            array = self.weights.get(name)
            rows = self._rows(vocabularies, sides[name]) if name in sides else None
            places = model.ctc.places if model.ctc is not None and name.startswith("ctc.") else 1
            if array is None or not _fits(array, parameter, rows, places):
                fresh.append(name)
                continue
            _copy(parameter, torch.from_numpy(array.copy()), rows, places)
            parts += 1
        if not parts:
            raise RunError(f"{self.path}: nothing of its weights fits this model, so it cannot start from it. Name another run")
        new = {side: count for side in vocabularies if (count := self._new_symbols(vocabularies, side))}
        return Taken(parts, tuple(fresh), new)

    def _rows(self, vocabularies: Mapping[str, Vocabulary], side: str) -> tuple[list[int], list[int]]:
        """Rows of the new vocabulary, and the rows that the other run has for the same symbols."""
        before = self.vocabularies.get(side)
        known = {symbol: number for number, symbol in enumerate(_symbols(before))} if before is not None else {}
        pairs = [(row, known[symbol]) for row, symbol in enumerate(_symbols(vocabularies[side])) if symbol in known]
        return [row for row, _ in pairs], [row for _, row in pairs]

    def _new_symbols(self, vocabularies: Mapping[str, Vocabulary], side: str) -> int:
        return vocabularies[side].size - len(self._rows(vocabularies, side)[0])

    def facts(self, weights: Mapping[str, npt.NDArray[Any]], taken: Taken) -> StartFacts:
        """What run.json records. weights: those that training starts with."""
        return {
            "run": str(self.path),
            "weights": digest(self.weights, {}),
            "sha256": digest(weights, {}),
            "fresh": list(taken.fresh),
            "new_symbols": dict(taken.new),
        }


def _fits(array: npt.NDArray[Any], parameter: nn.Parameter, rows: tuple[list[int], list[int]] | None, places: int) -> bool:
    """Whether a parameter can take over numbers; of rows it needs only those of the symbols that both know.

    places: how often it has the rows of all symbols, one time after the other.
    """
    if array.dtype.kind != "f":
        return False
    if rows is None:
        return array.shape == tuple(parameter.shape)
    alike = array.ndim > 0 and array.shape[1:] == tuple(parameter.shape[1:]) and len(array) % places == 0
    return alike and max(rows[1], default=0) < len(array) // places


@torch.no_grad()
def _copy(parameter: nn.Parameter, values: torch.Tensor, rows: tuple[list[int], list[int]] | None, places: int) -> None:
    if rows is None:
        parameter.copy_(values)
        return
    own, others = (one.view(places, -1, *parameter.shape[1:]) for one in (parameter, values))
    own[:, rows[0]] = others[:, rows[1]].to(parameter)


def _symbols(vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """What each row of a vocabulary stands for; a feature is not the symbol that is written like it."""
    return [*(("text", symbol) for symbol in vocabulary.stored), *(("feature", one) for one in vocabulary.features)]


def _sides_of_rows(model: EncoderDecoder) -> dict[str, str]:
    """The parameters that have a row for each symbol, by name, and whose symbols they are."""
    spoken = () if model.ctc is None else model.ctc.parameters()
    sides = {id(one): TARGET for one in (*model.decoder.symbol_rows, *spoken)}
    for source, encoder in model.encoders.items():
        if isinstance(encoder, TextEncoder | TransformerEncoder):
            sides[id(encoder.embedding.weight)] = source
    return {name: sides[id(parameter)] for name, parameter in model.named_parameters() if id(parameter) in sides}
