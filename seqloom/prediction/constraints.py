"""What outputs are bound to: how they begin, where attention has to look, and what they are expected to say."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import IntArray
from seqloom.data.examples import Example
from seqloom.data.kinds.text import Limit
from seqloom.data.reading.oracles import Entry, Steps, Unit, parse_steps
from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import UsageError
from seqloom.metrics.generation import values_of
from seqloom.prediction.inputs import Reader, ReadExample
from seqloom.recipe.sections import LookingBridge
from seqloom.symbols import BEGIN, END, UNKNOWN

OracleInput = str | Sequence[Any] | npt.NDArray[np.floating] | Entry | None
"""Where one input has to be looked at: an alignment, a list of distributions, or nothing said (`data.reading.oracles`)."""

Prefix = str | Sequence[str | int]
"""What an output must begin with: a text, or symbols, each as a person reads it or by its id, which tells apart what reads
alike."""


def forced_symbols(prefix: Prefix, vocabulary: Vocabulary, limit: Limit, size: int) -> IntArray:
    """The symbols of a prefix; size: how many the model writes."""
    if isinstance(prefix, str):
        limit.require(vocabulary, prefix, "prefix")
        ids = vocabulary.encode_targets([prefix])[0]
    else:
        ids = np.asarray([_symbol(one, vocabulary) for one in prefix], dtype=np.int64)
    if UNKNOWN in ids:
        raise UsageError(
            f"prefix {prefix!r}: it has symbols that did not occur in training targets, so no output can begin with it. "
            "Leave them out"
        )
    if (ids >= size).any():
        raise UsageError(f"prefix {prefix!r}: it has symbols that are not on the shortlist. Make the shortlist longer")
    return ids


def _symbol(one: str | int, vocabulary: Vocabulary) -> int:
    index = vocabulary.find(one) if isinstance(one, str) else one
    if not 0 <= index < vocabulary.size or index in (BEGIN, END, *vocabulary.feature_ids):
        raise UsageError(f"prefix: {one!r} is no symbol that an output may begin with. Leave it out")
    return index


def told_steps(
    oracle: Sequence[OracleInput] | None, read: Sequence[ReadExample], unit: Unit, *, reader: Reader, bridges: Iterable[Any]
) -> list[Steps]:
    """What each input is told, checked against its source; nothing without an oracle. bridges: those of all models."""
    if oracle is None:
        return [{}] * len(read)
    for bridge in bridges:
        if not isinstance(bridge, LookingBridge):
            raise UsageError(
                f"an oracle says where attention looks, and a model with the bridge {bridge.kind} does not look. "
                "Use a run with `bridge: {kind: attention}`, or leave the oracle out"
            )
    if len(oracle) != len(read):
        raise UsageError(f"the oracle has {len(oracle)} entries for {len(read)} inputs. Give one for each, or None")
    entries = [one if isinstance(one, Entry) else Entry(one, f"oracle {index + 1}") for index, one in enumerate(oracle)]
    return [parse_steps(entry, reader.positions(one, unit)) for entry, one in zip(entries, read, strict=True)]


def said_values(read: Sequence[ReadExample], vocabulary: Vocabulary) -> list[list[IntArray]]:
    """For each example, the values of its acts (`slot = value ; ...`) as symbols of an output that says them."""
    return [[vocabulary.encode_copying(value, one.copies) for value in dict.fromkeys(_values_in(one.example))] for one in read]


def _values_in(example: Example) -> Iterator[str]:
    for text in example.sources.values():
        yield from values_of(text)
