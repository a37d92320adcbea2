"""BLEU and chrF as sacreBLEU computes them: metrics of translations."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from seqloom.errors import MissingExtraError
from seqloom.metrics.sums import Item, Measure, Table

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as LibraryMetric

_ORDER = 4
_MANY_PIECES, _MOST_SOUNDS, _LONGEST_SOUND = 200, 150, 2.5
_SOUNDS = "the targets are sounds or letters between spaces, and BLEU is a metric of words in sentences"


def bleu(items: Sequence[Item], *, single_sentences: bool) -> Measure:
    """SacreBLEU's BLEU."""
    measure = _from_library(_sacrebleu("bleu", single_sentences), items)
    # sacreBLEU's second statistic of an item is the length of its closest reference, in its own tokens.
    if measure.table[:, 1].max() < _ORDER:
        return replace(measure, silent=too_short(_ORDER))
    return replace(measure, silent=_SOUNDS) if _are_sounds(items) else measure


def chrf(items: Sequence[Item]) -> Measure:
    """SacreBLEU's chrF."""
    return _from_library(_sacrebleu("chrf", single_sentences=False), items)


def _are_sounds(items: Sequence[Item]) -> bool:
    """Whether what stands between spaces are sounds or letters rather than words: few, short, and always the same."""
    pieces = [piece for item in items for reference in item.references for piece in reference.split()]
    if len(set(pieces)) > _MOST_SOUNDS:
        return False
    # Words of Chinese or Japanese are as short as sounds. Only in many pieces does it show how many different ones there are.
    if len(pieces) < _MANY_PIECES and any(unicodedata.east_asian_width(letter) == "W" for piece in pieces for letter in piece):
        return False
    letters = sum(not unicodedata.category(letter).startswith("M") for piece in pieces for letter in piece)
    return letters / len(pieces) < _LONGEST_SOUND


def too_short(order: int) -> str:
    """Why BLEU would say nothing."""
    number = ("", "one word", "two words", "three words", "four words")[order]
    return f"no reference has {number} in a row, which is what BLEU counts, so it is 0 for any output"


def _sacrebleu(name: Literal["bleu", "chrf"], single_sentences: bool) -> "LibraryMetric":
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise MissingExtraError("Computing metrics", "metrics") from error
    if name == "chrf":
        return CHRF()
    # effective_order: a sentence of fewer than four words has no 4-grams, and its BLEU would be 0 however good it is.
    # force: data that is tokenised already is our users' choice, and no reason for a warning in the middle of a training.
    return BLEU(effective_order=single_sentences, force=True)


def _from_library(metric: "LibraryMetric", items: Sequence[Item]) -> Measure:
    """Take sacreBLEU's own statistics per sentence.

    Its public functions would count all n-grams again for every group of lengths and every resample. A test holds the
    result against them.
    """
    most = max(len(item.references) for item in items)
    # sacreBLEU wants the first reference of every item, then the second of every item ..., None where there is none.
    streams = [[item.references[rank] if rank < len(item.references) else None for item in items] for rank in range(most)]
    hypotheses = [item.hypothesis for item in items]
    rows = metric._extract_corpus_statistics(hypotheses, streams)  # type: ignore[arg-type]  # noqa: SLF001

    def score(sums: Table) -> float:
        return float(metric._compute_score_from_stats([round(value) for value in sums]).score)  # noqa: SLF001

    return Measure(np.array(rows, dtype=np.float64), score, str(metric.get_signature()))
