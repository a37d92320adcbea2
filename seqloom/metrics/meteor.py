"""METEOR 1.5: a Java program, which the extra `captions` brings and this module runs.

The program aligns words by form, stem, synonym and paraphrase, and tells what it counted of each item. What sums of these
counts are worth is computed here, so that METEOR has intervals and scores by length like all other metrics; a test holds it
against the program's own score.
"""

import shutil
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from seqloom.errors import MissingExtraError
from seqloom.metrics.captions import WORDS, Captions
from seqloom.metrics.sums import Measure, NotComputedError, Table

_JAR = "meteor-1.5.jar"
_BETWEEN = " ||| "
_SECONDS = 600.0
_NUMBERS, _CHUNKS = 23, 20
_LONGEST_COMPLAINT = 200

# The program's parameters for English, and its weights of words alike in form, stem, meaning and as paraphrases.
_ALPHA, _BETA, _GAMMA, _DELTA = 0.85, 0.2, 0.6, 0.75
_STAGES = np.array([1.0, 0.6, 0.8, 0.6])


def absence() -> str:
    """Why METEOR cannot be computed on this machine, and what to do; empty if it can."""
    if _jar() is None:
        return str(MissingExtraError("METEOR", "captions"))
    if shutil.which("java") is None:
        return "METEOR 1.5 is a Java program, and there is no `java` to run it. Install a Java runtime, version 8 or later"
    return ""


def meteor(captions: Captions) -> Measure:
    """The score of METEOR 1.5 with its parameters for English."""
    texts = [[*references, hypothesis] for hypothesis, references in zip(captions.hypotheses, captions.references, strict=True)]
    lines = tuple(_BETWEEN.join(["SCORE", *map(" ".join, each)]) for each in texts)
    table = _statistics(lines)
    signature = f"METEOR 1.5 for English, with synonyms and paraphrases, {WORDS}, pycocoevalcap {version('pycocoevalcap')}"
    return Measure(table, _score, signature)


# The scores of a report and their intervals are asked for one after the other, and the program takes seconds to start.
@lru_cache(maxsize=1)
def _statistics(lines: tuple[str, ...]) -> Table:
    """Run the program once for all items. Of several references it takes the one that gives most."""
    if reason := absence():
        raise NotComputedError(reason)
    java = [str(shutil.which("java")), "-Xmx2G", "-Dfile.encoding=UTF-8", "-jar", str(_jar())]
    text = "".join(f"{line}\n" for line in lines)
    try:
        done = subprocess.run(
            [*java, "-", "-", "-stdio", "-l", "en", "-norm"],
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotComputedError(
            f"METEOR did not answer within {_SECONDS:.0f} seconds for {len(lines):,} items. Measure fewer, or leave it out"
        ) from error
    except OSError as error:
        raise NotComputedError(f"METEOR could not be started: {error}. Check that `java -version` works") from error
    rows = [row.split() for row in done.stdout.splitlines()]
    if done.returncode or len(rows) != len(lines) or any(len(row) != _NUMBERS for row in rows):
        complaint = (done.stderr.strip() or done.stdout.strip() or "it said nothing")[:_LONGEST_COMPLAINT]
        raise NotComputedError(
            f"METEOR answered {len(rows):,} of {len(lines):,} items and ended with code {done.returncode}: {complaint!r}. "
            "Check that `java -version` works and that 2 GB of memory are free"
        )
    return _without_breaks_where_whole(np.array(rows, dtype=np.float64))


def _without_breaks_where_whole(table: Table) -> Table:
    """A text that is its reference is one chunk, which the program does not count as a break: neither alone nor in sums."""
    content_written, content_wanted, function_written, function_wanted = table[:, 4:20].reshape(-1, 4, 4).sum(axis=1).T
    whole = (content_written + function_written == table[:, 0]) & (content_wanted + function_wanted == table[:, 1])
    table[whole & (table[:, _CHUNKS] == 1), _CHUNKS] = 0
    return table


def _jar() -> Path | None:
    spec = find_spec("pycocoevalcap")
    folders: Sequence[str] = () if spec is None else spec.submodule_search_locations or ()
    return next((path for folder in folders if (path := Path(folder, "meteor", _JAR)).exists()), None)


def _score(sums: Table) -> float:
    """What summed counts are worth: a mean of precision and recall, less for each break in the order of words.

    The counts: words and function words of both texts; for each stage the content and function words that were matched in
    both texts; chunks of words matched in order, and words matched in both texts.
    """
    written, wanted, written_function, wanted_function = sums[:4]
    content_written, content_wanted, function_written, function_wanted = sums[4:20].reshape(4, 4).T
    chunks, matched_written, matched_wanted = sums[_CHUNKS:]
    if not matched_written or not matched_wanted:
        return 0.0

    def share(content: Table, function: Table, size: float, function_words: float) -> float:
        matches = _DELTA * content @ _STAGES + (1 - _DELTA) * function @ _STAGES
        return float(matches / (_DELTA * (size - function_words) + (1 - _DELTA) * function_words))

    precision = share(content_written, function_written, written, written_function)
    recall = share(content_wanted, function_wanted, wanted, wanted_function)
    mean = 1 / ((1 - _ALPHA) / precision + _ALPHA / recall)
    breaks = chunks / ((matched_written + matched_wanted) / 2)
    return float(100.0 * max(0.0, mean * (1 - _GAMMA * breaks**_BETA)))
