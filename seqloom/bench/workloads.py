"""What is measured on: two shapes of data with a model each, drawn by chance from a fixed seed, or read from given files."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import IntArray
from seqloom.data.preparing.batches import BatchPlan, plan_epoch
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import prepare
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.data.vocabulary import Vocabulary, build_vocabulary
from seqloom.errors import DataError
from seqloom.recipe import sections
from seqloom.recipe.sections import SOURCE, TARGET
from seqloom.symbols import SPECIALS
from seqloom.training.plans import batch_lengths
from seqloom.wording import counted

SEED = 1
_NO_LIMIT = 10**7
"""A token budget that no batch reaches: the workloads fix the number of sentences instead."""


class Side(sections.Section):
    """The symbols of one side: how many kinds, `begin`, `end` and `unknown` included, and how long its sequences are."""

    symbols: sections.Positive
    mean: float
    spread: float
    """Standard deviation of the logarithm of the lengths: lengths of sentences and words are about log-normal."""
    longest: sections.Positive


class Workload(sections.Section):
    """A shape of data, and the model that is trained on it.

    closeness: correlation of the two sides' log-lengths. vocabularies: how given files become symbols.
    """

    name: str
    source: Side
    target: Side
    closeness: sections.Fraction
    examples: sections.Positive
    batch_size: sections.Positive
    model: sections.Model
    vocabularies: sections.Vocabularies
    files: sections.Aligned | None = None

    def recipe(self) -> sections.Recipe:
        """The recipe that trains it."""
        training = sections.Training(batch_size=self.batch_size, batch_tokens=_NO_LIMIT, learning_rate=1e-3, clip=1.0)
        return sections.Recipe(data=self.data(), model=self.model, training=training, seed=SEED, device="cpu")

    def data(self) -> sections.Data:
        """Where its examples come from: its files; a synthetic workload has a name in their place that nobody opens."""
        return sections.Data(
            train=self.files or f"synthetic {self.name}",
            split=sections.Split(validation=0.0, test=0.0),
            vocabularies=self.vocabularies,
        )


def _attention_model(*, embedding: int, encoder: int, decoder: int, dropout: float) -> sections.Model:
    return sections.Model(
        encoder=sections.TextEncoder(cell="lstm", size=encoder, embedding=embedding, dropout=dropout),
        decoder=sections.RecurrentDecoder(cell="lstm", size=decoder, embedding=embedding, dropout=dropout),
        bridge=sections.AttentionBridge(
            query="previous", into=("input", "combined"), attention=sections.Additive(size=decoder)
        ),
    )


TRANSLATION = Workload(
    name="translation",
    source=Side(symbols=5_900, mean=13.0, spread=0.30, longest=40),
    target=Side(symbols=7_900, mean=12.6, spread=0.32, longest=44),
    closeness=0.85,
    examples=29_000,
    batch_size=64,
    model=_attention_model(embedding=256, encoder=256, decoder=512, dropout=0.2),
    vocabularies=sections.Vocabularies(source=sections.Words(minimum_count=2), target=sections.Words(minimum_count=2)),
)
"""Like Multi30k, English to German, in words that occur twice or more."""

CHARACTERS = Workload(
    name="characters",
    source=Side(symbols=30, mean=7.5, spread=0.28, longest=20),
    target=Side(symbols=42, mean=6.4, spread=0.33, longest=18),
    closeness=0.9,
    examples=10_000,
    batch_size=256,
    model=_attention_model(embedding=128, encoder=256, decoder=256, dropout=0.2),
    vocabularies=sections.Vocabularies(source=sections.Characters(), target=sections.Symbols()),
)
"""Like letters to phonemes in a pronouncing dictionary."""

WORKLOADS: dict[str, Workload] = {one.name: one for one in (TRANSLATION, CHARACTERS)}


@dataclass(frozen=True)
class Pairs:
    """A workload's examples as symbol ids, and the vocabularies that spell them."""

    split: PreparedSplit
    vocabularies: Mapping[str, Vocabulary]

    @property
    def vocabulary_sizes(self) -> dict[str, int]:
        """Symbols per side."""
        return {name: vocabulary.size for name, vocabulary in self.vocabularies.items()}

    def texts(self, count: int) -> list[str]:
        """The first sources as texts."""
        flat, offsets = self.split.sides[SOURCE]
        count = min(count, len(self.split))
        return [self.vocabularies[SOURCE].decode(flat[offsets[one] : offsets[one + 1]].tolist()) for one in range(count)]


def open_pairs(workload: Workload) -> Pairs:
    """The workload's examples: those of its files, else synthetic ones."""
    return _synthetic(workload) if workload.files is None else _from_files(workload)


def _from_files(workload: Workload) -> Pairs:
    prepared = prepare(Corpus(workload.data(), SEED))
    split = prepared.splits["train"]
    if len(split) < workload.batch_size:
        raise DataError(
            f"the given files hold {counted(len(split), 'pair')}; "
            f"a batch of the workload {workload.name} has {workload.batch_size}. Give larger files"
        )
    return Pairs(split, prepared.vocabularies)


def _synthetic(workload: Workload) -> Pairs:
    """Examples drawn by chance: log-normal lengths that go together, and ids as frequent as words are, by Zipf's law."""
    generator = np.random.default_rng(SEED)
    count = workload.examples
    common, source, target = generator.standard_normal((3, count))
    own = math.sqrt(1.0 - workload.closeness)
    shared = math.sqrt(workload.closeness) * common
    lengths = {
        SOURCE: _lengths(workload.source, shared + own * source),
        TARGET: _lengths(workload.target, shared + own * target),
    }
    sizes = {SOURCE: workload.source.symbols, TARGET: workload.target.symbols}
    split = PreparedSplit(
        sides={name: _flat(lengths[name], sizes[name], generator) for name in (SOURCE, TARGET)},
        weights=np.ones(count, dtype=np.float32),
        places=np.stack([np.zeros(count, dtype=np.int64), np.arange(1, count + 1)], axis=1),
        files=[f"synthetic {workload.name}"],
        dropped=0,
    )
    return Pairs(split, {name: _numbered_symbols(size) for name, size in sizes.items()})


def _lengths(side: Side, normal: npt.NDArray[np.float64]) -> IntArray:
    """Log-normal lengths of the side's mean from standard normal numbers."""
    centre = math.log(side.mean) - side.spread**2 / 2  # so that the mean, not the median, is the given one
    lengths: IntArray = np.clip(np.rint(np.exp(centre + side.spread * normal)), 1, side.longest).astype(np.int64)
    return lengths


def _flat(lengths: IntArray, symbols: int, generator: np.random.Generator) -> tuple[npt.NDArray[np.uint16], IntArray]:
    """Ids of all sequences one after the other, and where each begins: what a prepared split holds."""
    specials = len(SPECIALS)
    frequencies = 1.0 / np.arange(1, symbols - specials + 1)
    drawn = generator.choice(symbols - specials, size=int(lengths.sum()), p=frequencies / frequencies.sum())
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    return (drawn + specials).astype(np.uint16), offsets


def _numbered_symbols(size: int) -> Vocabulary:
    """A vocabulary of the given size whose symbols are numbers."""
    return build_vocabulary(sections.Symbols(), [" ".join(map(str, range(size - len(SPECIALS))))])


# --- batches --------------------------------------------------------------------------------------------------------


def grouped_batches(pairs: Pairs, recipe: sections.Recipe) -> list[IntArray]:
    """The first epoch's batches as training plans them."""
    training = recipe.training
    plan: BatchPlan = plan_epoch(
        batch_lengths(pairs.split), budget=training.batch_tokens, most=training.batch_size, seed=recipe.seed, epoch=0
    )
    return list(plan.batches)


def random_batches(pairs: Pairs, batch_size: int) -> list[IntArray]:
    """Batches as many tutorials make them: shuffle, then cut."""
    order = np.random.default_rng(SEED).permutation(len(pairs.split))
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def padding(pairs: Pairs, batches: list[IntArray]) -> float:
    """The share of padding among all positions of both sides."""
    sides = np.stack(batch_lengths(pairs.split))
    padded = sum(int(sides[:, batch].max(axis=1).sum()) * len(batch) for batch in batches)
    return 1.0 - sum(int(sides[:, batch].sum()) for batch in batches) / padded


def spread_out(pairs: Pairs, batches: list[IntArray], count: int) -> list[IntArray]:
    """A few batches that stand for all: evenly spaced when lined up by length, so that no lucky draw decides a figure."""
    sides = np.stack(batch_lengths(pairs.split))
    ordered = sorted(batches, key=lambda batch: int(sides[:, batch].sum()) / len(batch))
    count = min(count, len(ordered))
    return [ordered[int((index + 0.5) * len(ordered) / count)] for index in range(count)]
