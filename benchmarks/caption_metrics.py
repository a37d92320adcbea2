"""Whether metrics of captions agree with people: rank correlation with the experts of Flickr8k.

    python benchmarks/caption_metrics.py FOLDER

FOLDER holds `captions.tsv` (image, index, caption) and `expert_judgements.tsv` (image, caption_of, caption_index, and three
scores from 1, "does not describe the image", to 4). Every judged caption is scored by itself against the captions of the
image that it was shown with, without the judged caption where it is one of them; of CIDEr, document frequencies are of all
these references. The protocol is that of the literature: Kendall's tau-c with the three judgements as three
observations (papers print it x 100); tau-b and tau-c with their mean stand beside. Brackets hold those without the captions
that belong to the image, which papers leave out.

If Java and the extra `captions` are there, it also counts how many captions have the words that PTBTokenizer makes of them.
"""

import argparse
import csv
import math
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seqloom.metrics import CAPTIONS, Item, NotComputedError, sentence_scores
from seqloom.metrics.words import caption_words

JUDGES = ("judge1", "judge2", "judge3")


@dataclass(frozen=True)
class Judged:
    """A caption beside the references of the image it was shown with. own: it was written for that image."""

    item: Item
    judgements: tuple[int, int, int]
    own: bool


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a file of tab-separated columns with a header and no quoting."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_judged(folder: Path) -> list[Judged]:
    """All judged captions with their references."""
    captions = {(row["image"], int(row["index"])): row["caption"] for row in read_table(folder / "captions.tsv")}
    of_image: dict[str, list[int]] = {}
    for image, index in captions:
        of_image.setdefault(image, []).append(index)
    return [_judged(row, captions, of_image[row["image"]]) for row in read_table(folder / "expert_judgements.tsv")]


def _judged(row: dict[str, str], captions: dict[tuple[str, int], str], indices: Iterable[int]) -> Judged:
    shown = (row["caption_of"], int(row["caption_index"]))
    references = tuple(captions[row["image"], index] for index in indices if (row["image"], index) != shown)
    item = Item(captions[shown], references, (), tuple(() for _ in references), 0)
    first, second, third = (int(row[judge]) for judge in JUDGES)
    return Judged(item, (first, second, third), own=row["image"] == row["caption_of"])


def kendall(scores: Sequence[float], judgements: Sequence[float]) -> tuple[float, float]:
    """Kendall's tau-b and tau-c."""
    x, y = np.asarray(scores), np.asarray(judgements)
    surplus, tied_x, tied_y, pairs = 0.0, 0, 0, len(x) * (len(x) - 1) // 2
    for place in range(1, len(x)):
        a, b = np.sign(x[place] - x[:place]), np.sign(y[place] - y[:place])
        surplus += float(a @ b)
        tied_x += int((a == 0).sum())
        tied_y += int((b == 0).sum())
    smaller = min(len(np.unique(x)), len(np.unique(y)))
    return surplus / math.sqrt((pairs - tied_x) * (pairs - tied_y)), 2 * surplus * smaller / (len(x) ** 2 * (smaller - 1))


def row_of(name: str, scores: Sequence[float], judged: Sequence[Judged]) -> str:
    """A line of the table: all captions, and in brackets those written for other images."""
    cells = []
    for chosen in (range(len(judged)), [place for place, one in enumerate(judged) if not one.own]):
        each = [float(value) for place in chosen for value in judged[place].judgements]
        repeated = [scores[place] for place in chosen for _ in JUDGES]
        mean_b, mean_c = kendall([scores[place] for place in chosen], [sum(judged[place].judgements) / 3 for place in chosen])
        cells.append([100 * kendall(repeated, each)[1], 100 * mean_b, 100 * mean_c])
    everything, others = cells
    return f"{name:<20}" + "".join(f"{one:>10.1f} ({other:.1f})" for one, other in zip(everything, others, strict=True))


def print_correlations(judged: Sequence[Judged]) -> None:
    """Print a line for every metric that can be computed here."""
    own = sum(one.own for one in judged)
    print(f"{len(judged):,} judged captions, {own} of them written for the image they were shown with\n")
    print(f"{'':<20}{'tau-c, three':>17}{'tau-b, mean':>17}{'tau-c, mean':>17}")
    items = [one.item for one in judged]
    for name in (*CAPTIONS, "bleu_4_unpenalised", "rouge_1", "rouge_2", "rouge_l", "chrf"):
        try:
            print(row_of(name, sentence_scores(items, name), judged), flush=True)
        except NotComputedError as error:
            print(f"{name:<20}not computed: {error}")


def print_agreement_of_words(captions: Sequence[str]) -> None:
    """Print how many captions have the words that the COCO tools make of them."""
    try:
        from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
    except ImportError:
        return
    if shutil.which("java") is None:
        return
    theirs = PTBTokenizer().tokenize({number: [{"caption": caption}] for number, caption in enumerate(captions)})
    same = sum(caption_words(caption) == theirs[number][0].split() for number, caption in enumerate(captions))
    print(f"\n{same:,} of {len(captions):,} captions have the words that PTBTokenizer makes of them")


def main() -> None:
    """Print correlations with people, and agreement with the reference tokeniser."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder: Path = parser.parse_args().folder
    print_correlations(read_judged(folder))
    print_agreement_of_words([row["caption"] for row in read_table(folder / "captions.tsv")])


if __name__ == "__main__":
    main()
