"""Checks that compare pairs with each other: repeats, contradictions, overlap between splits, unlikely lengths.

They work on the ledgers, once all pairs are in.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from seqloom.data.doctor.checks import SHOWN, TRAIN, Finding, Severity, percent
from seqloom.data.doctor.ledger import Ledger, as_integers, as_lengths
from seqloom.wording import counted

Ledgers = Mapping[str, Ledger]

FEW = 100
"""Fewer training pairs than this teach next to nothing; fewer test pairs give rough figures."""

LEAK = 0.1
"""From this share of a test on that training also holds, pair by pair, its figures measure memory rather than skill."""

OVERLAP = 0.01
"""From this share of sources on, an overlap between splits is worth a warning."""

REPEATS = 0.05
"""From this share on, repeated pairs are worth a warning."""

LONG = 0.05
"""From this share on, pairs that training may leave out are worth a warning."""

SPREAD = 6.0
"""How many (robust) standard deviations from the median a length ratio must be to look wrong."""


def compare(ledgers: Ledgers, maximum_length: int, *, of_files: bool = False) -> Iterator[Finding]:
    """Make all comparisons. of_files: a source is the name of a file, which says little: two names may be one picture."""
    yield from few_pairs(ledgers)
    yield from repeated_pairs(ledgers)
    if not of_files:
        yield from several_targets(ledgers)
        yield from overlaps(ledgers)
    yield from unlikely_lengths(ledgers)
    yield from long_sides(ledgers, maximum_length)


def few_pairs(ledgers: Ledgers) -> Iterator[Finding]:
    """Find splits that are empty or too small for their purpose."""
    for split, ledger in ledgers.items():
        count = len(ledger)
        if count == 0:
            yield Finding("no-pairs", "error", 0, f"{split} has no pair that can be read")
        elif count < FEW:
            severity: Severity = "warning" if split == TRAIN else "note"
            reason = "too few to learn much from" if split == TRAIN else "too few for more than rough figures"
            yield Finding("few-pairs", severity, count, f"{split} has only {counted(count, 'pair')}: {reason}")


def repeated_pairs(ledgers: Ledgers) -> Iterator[Finding]:
    """Find pairs that occur more than once in their split."""
    counts: dict[str, int] = {}
    examples: list[str] = []
    share = 0.0
    for split, ledger in ledgers.items():
        hashes = as_integers(ledger.pairs)
        repeats = _repeats(hashes)
        if repeats.size:
            counts[split] = repeats.size
            share = max(share, repeats.size / len(ledger))
            for place in repeats[: SHOWN - len(examples)]:
                first = int(np.argmax(hashes == hashes[place]))
                examples.append(f"{ledger.origin(int(place))}: the same pair as {ledger.origin(first)}")
    if counts:
        message = f"pairs repeat an earlier one ({_by_split(counts, ledgers)}): repeats weigh more, in training and in figures"
        severity: Severity = "warning" if share >= REPEATS else "note"
        yield Finding("duplicate-pairs", severity, sum(counts.values()), message, tuple(examples))


def _repeats(hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places, in order, of hashes that occurred before."""
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    return np.sort(order[1:][ranked[1:] == ranked[:-1]])


def _by_split(counts: Mapping[str, int], ledgers: Ledgers) -> str:
    return ", ".join(f"{percent(count / len(ledgers[split]))} of {split}" for split, count in counts.items())


def several_targets(ledgers: Ledgers) -> Iterator[Finding]:
    """Find sources that have more than one target within their split."""
    total = 0
    examples: list[str] = []
    for ledger in ledgers.values():
        firsts = np.sort(np.unique(as_integers(ledger.pairs), return_index=True)[1])
        sources = as_integers(ledger.sources)[firsts]
        again = _repeats(sources)
        total += np.unique(sources[again]).size
        for place in again[: SHOWN - len(examples)]:
            first = int(np.argmax(sources == sources[place]))
            here, there = ledger.origin(int(firsts[place])), ledger.origin(int(firsts[first]))
            examples.append(f"{here}: the same source as {there} with another target")
    if total:
        message = "sources have several targets: no model can give them all, so exact match cannot reach 100 %"
        yield Finding("several-targets", "note", total, message, tuple(examples))


def overlaps(ledgers: Ledgers) -> Iterator[Finding]:
    """Find sources that two splits share. Sharing whole pairs with training is what spoils an evaluation."""
    for (earlier, one), (later, other) in combinations(ledgers.items(), 2):
        shared = np.isin(as_integers(other.sources), as_integers(one.sources))
        count = int(shared.sum())
        if not count:
            continue
        pairs = int(np.isin(as_integers(other.pairs), as_integers(one.pairs)).sum())
        share = count / len(other)
        message = f"pairs of {later} ({percent(share)}) have a source that {earlier} has too, {pairs:,} with the same target"
        severity: Severity = "warning" if earlier == TRAIN and share >= OVERLAP else "note"
        if earlier == TRAIN and pairs / len(other) >= LEAK:
            severity = "error"
            message += f": figures on {later} would measure memory. Split again, keeping equal sources together"
        places = np.flatnonzero(shared)[:SHOWN]
        yield Finding("split-overlap", severity, count, message, tuple(str(other.origin(int(place))) for place in places))


def unlikely_lengths(ledgers: Ledgers) -> Iterator[Finding]:
    """Find pairs of which one side is far too long for the other: often a wrong alignment."""
    enough = {split: ledger for split, ledger in ledgers.items() if len(ledger) >= FEW and len(ledger.sides) > 1}
    if not enough:
        return
    ratios = {split: _log_ratios(ledger) for split, ledger in enough.items()}
    everything = np.concatenate(list(ratios.values()))
    middle = float(np.median(everything))
    # 1.4826 makes the median deviation a standard deviation where data is normal. The floor is for regular data,
    # where most ratios agree and the smallest difference would stand out.
    deviation = max(1.4826 * float(np.median(np.abs(everything - middle))), 0.1)
    count = 0
    extremes: list[tuple[float, str]] = []
    for split, ledger in enough.items():
        distance = np.abs(ratios[split] - middle) / deviation
        places = np.flatnonzero(distance > SPREAD)
        count += places.size
        worst = places[np.argsort(-distance[places], kind="stable")][:SHOWN]
        extremes.extend((float(distance[place]), _lengths_at(ledger, int(place))) for place in worst)
    if count:
        message = "pairs have sides whose lengths do not fit together: look for wrong alignment or missing text"
        extremes.sort(key=lambda extreme: -extreme[0])
        yield Finding("length-ratio", "warning", count, message, tuple(text for _, text in extremes[:SHOWN]))


def _log_ratios(ledger: Ledger) -> NDArray[np.float32]:
    """Logarithm of target length by source length; a few characters are added so that short texts may differ freely."""
    source, target = ledger.source_characters(), ledger.target_characters()
    if source is None:
        return np.zeros(0, dtype=np.float32)
    return np.asarray(np.log((target.astype(np.float32) + 5) / (source.astype(np.float32) + 5)), dtype=np.float32)


def _lengths_at(ledger: Ledger, place: int) -> str:
    *sources, target = (ledger.characters[side][place] for side in ledger.sides)
    return f"{ledger.origin(place)}: {f'{sum(sources)} characters against {target}' if sources else f'{target} characters'}"


def long_sides(ledgers: Ledgers, maximum_length: int) -> Iterator[Finding]:
    """Find pairs that training would leave out if every character is a symbol."""
    counts: dict[str, int] = {}
    examples: list[str] = []
    for split, ledger in ledgers.items():
        longest = np.max([as_lengths(ledger.characters[side]) for side in ledger.sides], axis=0)
        places = np.flatnonzero(longest > maximum_length)
        if places.size:
            counts[split] = places.size
            examples.extend(_lengths_at(ledger, int(place)) for place in places[: SHOWN - len(examples)])
    if counts:
        message = (
            f"pairs have a side of more than {maximum_length} characters ({_by_split(counts, ledgers)}): training on "
            "characters leaves them out. Raise `maximum_length`, or use words or subwords"
        )
        share = max(count / len(ledgers[split]) for split, count in counts.items())
        severity: Severity = "warning" if share >= LONG else "note"
        yield Finding("long-sides", severity, sum(counts.values()), message, tuple(examples))
