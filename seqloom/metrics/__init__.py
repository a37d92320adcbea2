"""How good the outputs are, as numbers with what was computed written beside.

For pairs: exact match, edit rates, BLEU and chrF. For captions: the BLEU, METEOR, ROUGE-L and CIDEr-D that papers print. For
summaries: ROUGE. Edit distances are rapidfuzz's, BLEU and chrF are sacreBLEU's; those of captions and summaries are our own,
held against the public tools by tests, but for METEOR, which is a Java program.

Every metric of a corpus is a function of sums over its items (so many edits, so many reference characters ...). The sums are
therefore taken from one small table of numbers per metric: over all items for the score, over some for the score by length,
over resampled items for confidence intervals.

Several references are allowed throughout: an exact match is with any of them, edits are counted to the closest.
"""

from seqloom.metrics.evaluation import (
    Evaluation,
    absence,
    better,
    cannot_improve,
    evaluate,
    intervals,
    sentence_scores,
    silence,
)
from seqloom.metrics.names import ALL, CAPTIONS, HIGHER_IS_BETTER, PAIRS, SLOW, Name, usual
from seqloom.metrics.significance import Difference, paired_bootstrap
from seqloom.metrics.sums import Item, NotComputedError

__all__ = [
    "ALL",
    "CAPTIONS",
    "HIGHER_IS_BETTER",
    "PAIRS",
    "SLOW",
    "Difference",
    "Evaluation",
    "Item",
    "Name",
    "NotComputedError",
    "absence",
    "better",
    "cannot_improve",
    "evaluate",
    "intervals",
    "paired_bootstrap",
    "sentence_scores",
    "silence",
    "usual",
]
