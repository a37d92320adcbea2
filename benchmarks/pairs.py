"""Models of pairs on published data: train a packaged recipe, measure the test part once, print a row of docs/results.md.

    python benchmarks/pairs.py multi30k-en-de --data DATA --runs RUNS --threads 2
    python benchmarks/pairs.py multi30k-en-de --data DATA --runs RUNS --threads 1 --minutes 19
    python benchmarks/pairs.py multi30k-en-fr --data DATA --runs RUNS       (and -lower, -transformer: in lower case)
    python benchmarks/pairs.py g2p-dut --data DATA --runs RUNS              (and g2p-ady, g2p-arm, ...)
    python benchmarks/pairs.py g2p --data DATA --runs RUNS --ensemble 5     (all twelve, their mean; five seeds vote)
    python benchmarks/pairs.py g2p-low --data DATA --runs RUNS              (nine languages, 800 words each)
    python benchmarks/pairs.py g2p-all --data DATA --runs RUNS              (one model of the twelve languages)
    python benchmarks/pairs.py dakshina-hi --data DATA --runs RUNS          (and dakshina-ta; -initial, -every_step)
    python benchmarks/pairs.py cmudict --data DATA --runs RUNS              (and cmudict-attention)
    python benchmarks/pairs.py inflection-german --data DATA --runs RUNS    (and inflection-arabic, ...; inflection: all ten)
    python benchmarks/pairs.py tweetqa --data DATA --runs RUNS              (answers in free words)
    python benchmarks/pairs.py aeslc --data DATA --runs RUNS                (mails -> subjects; gigaword: headlines)
    python benchmarks/pairs.py compression --data DATA --runs RUNS          (tags; compression-words: as generation)
    python benchmarks/pairs.py sgd-acts --data DATA --runs RUNS             (and sgd-replies, dailydialog; -alone: no context)
    python benchmarks/pairs.py tanaka-en-ja --data DATA --runs RUNS         (and tanaka-ja-en; -monotonic)
    python benchmarks/pairs.py sick --data DATA --runs RUNS                 (entailment; sick-summaries, sick-reading-on)
    python benchmarks/pairs.py babi-1 --data DATA --runs RUNS               (questions about stories; babi: all tasks)

DATA holds the folders multi30k, sigmorphon2020_g2p, sigmorphon2021_g2p, dakshina, cmudict and so on. A run that was
interrupted goes on, a finished one is picked up. With --split validation, nothing of the test part is looked at: so one
chooses between recipes (--set), and between searches of a run that is there (--search length_power=0.8 --search values=0.5).
"""

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz.distance import Levenshtein
from runs import Found, add_ensemble, add_minutes, arguments, report, voters
from texts import (
    INFLECTED,
    Items,
    accuracy,
    aeslc,
    all_languages,
    compression,
    daily,
    measured_by,
    packed,
    sgd,
    tagged_measures,
    tweetqa,
)
from two_sources import BABI, READING_ON, SUMMARIES, babi, sick

from seqloom.cli.recipes import find_recipe
from seqloom.data.examples import Example
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.splitting import SplitName
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import TARGET, Recipe, Search
from seqloom.runs import RunFolder

LOW = ("ady", "gre", "ice", "ita", "khm", "lav", "mlt_latn", "slv", "wel_sw")
"""Languages of the shared task of 2021 with 800 words to learn from."""
LANGUAGES = ("ady", "arm", "bul", "dut", "fre", "geo", "gre", "hin", "ice", "jpn", "kor", "lit")
Texts = Sequence[str]


@dataclass(frozen=True)
class Task:
    """A data set: the packaged recipe for it, where its files are and what else it sets, and how the field measures it."""

    recipe: str
    settings: Callable[[Path], list[str]]
    measure: Callable[[Items], Found]
    perplexity: bool = False
    """Whether what is wanted is also scored: of many right outputs, the one at hand is seldom written."""


# --- measures --------------------------------------------------------------------------------------------------------


def translation_measures(items: Items, language: str, *, lower: bool) -> dict[str, float]:
    """BLEU as papers on Multi30k give it (lower-case, Moses tokens); sacreBLEU and chrF of the text, perhaps in lower case."""
    import sacrebleu
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normaliser, tokenizer = MosesPunctNormalizer(lang=language), MosesTokenizer(lang=language)

    def tokens(texts: Texts) -> list[str]:
        return [tokenizer.tokenize(normaliser.normalize(one.lower()), return_str=True, escape=False) for one in texts]

    plain = sacrebleu.corpus_bleu(tokens(items.outputs), [tokens(items.targets)], tokenize="none", force=True)
    outputs, targets = list(items.outputs), [list(items.targets)]
    own = sacrebleu.corpus_bleu(outputs, targets, lowercase=lower)
    chrf = sacrebleu.CHRF(lowercase=lower).corpus_score(outputs, targets)
    return {"tokenised lower-case BLEU": plain.score, "sacreBLEU": own.score, "chrF": chrf.score}


def token_bleu(items: Items) -> dict[str, float]:
    """BLEU on the tokens that are given."""
    import sacrebleu

    found = sacrebleu.corpus_bleu(list(items.outputs), [list(items.targets)], tokenize="none", force=True)
    return {"tokenised BLEU": found.score}


def line_measures(items: Items, split: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """Word error, every line an item; symbol error: edits a symbol of the reference, over all lines."""
    pairs = [(split(output), split(target)) for output, target in zip(items.outputs, items.targets, strict=True)]
    edits = sum(Levenshtein.distance(output, target) for output, target in pairs)
    symbols = sum(len(target) for _, target in pairs)
    wrong = sum(output != target for output, target in pairs)
    return {"word error": 100 * wrong / len(pairs), "symbol error": 100 * edits / symbols}


def any_measures(items: Items, split: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """The same with every distinct source once, right if any of its references is written; edits count to the closest."""
    wanted: dict[str, list[Sequence[str]]] = defaultdict(list)
    written = {source: split(output) for source, output in zip(items.sources, items.outputs, strict=True)}
    for source, target in zip(items.sources, items.targets, strict=True):
        wanted[source].append(split(target))
    closest = [
        min(((Levenshtein.distance(written[source], one), len(one)) for one in targets), key=lambda found: found[0])
        for source, targets in wanted.items()
    ]
    wrong = sum(edits > 0 for edits, _ in closest)
    share = sum(edits for edits, _ in closest) / sum(length for _, length in closest)
    return {"word error, any reference": 100 * wrong / len(closest), "symbol error, closest reference": 100 * share}


def pronunciation_measures(items: Items) -> dict[str, float]:
    """Of phonemes between spaces."""
    return line_measures(items, str.split)


def languages_measures(items: Items) -> Found:
    """The same of several languages, by which lines are tagged: of each, and their mean."""
    found = {language: pronunciation_measures(one) for language, one in items.by_tag().items()}
    return {**mean(found.values()), "languages": found}


def dictionary_measures(items: Items) -> dict[str, float]:
    """Of a dictionary with variants: any listed one is right."""
    return any_measures(items, str.split)


def transliteration_measures(items: Items) -> dict[str, float]:
    """Of characters: each line an item, and each source once."""
    return {**line_measures(items, list), **any_measures(items, list)}


# --- data sets -------------------------------------------------------------------------------------------------------


LOWER = tuple(f"data.vocabularies.{side}.lowercase=true" for side in ("source", "target"))
"""As papers on Multi30k have it, which measure lower-case text: capitals are no part of what is learnt."""


def multi30k(language: str, recipe: str = "translation", *, lower: bool = False) -> Task:
    """English into another language."""

    def settings(data: Path) -> list[str]:
        parts = (("train", "train"), ("validation", "val"), ("test", "test_2016_flickr"))
        sides = (("source", "en"), ("target", language))
        files = [f"data.{part}.{side}={data / 'multi30k' / f'{file}.{one}.gz'}" for part, file in parts for side, one in sides]
        return [*files, *(LOWER if lower else ())]

    return Task(recipe, settings, lambda items: translation_measures(items, language, lower=lower))


def g2p(language: str, *, year: int = 2020, size: str = "") -> Task:
    """Words of a language and their phonemes. size: how the files of 2021 begin, which come in several."""
    return Task("pronunciation", packed(f"sigmorphon{year}_g2p", f"{size}{language}_{{}}.tsv.gz"), pronunciation_measures)


ONE_LAYER = ("model.encoder.layers=1", "data.vocabularies.source.begin_end=false")
"""As the recipe was when models without attention were measured."""


def dakshina(language: str, bridge: str | None = None) -> Task:
    """Latin letters into native script. The third column says how many people wrote it so."""
    columns = "data.columns={source: 2, target: 1, weight: 3}"
    other = () if bridge is None else (f"model.bridge={{kind: {bridge}}}", *ONE_LAYER)
    files = packed("dakshina", f"{language}.{{}}.tsv.gz", columns, *other)
    return Task("transliteration", files, transliteration_measures)


def inflection(language: str) -> Task:
    """Words, tags and forms of a language."""
    return Task("inflection", packed("sigmorphon2016_inflection", f"{language}.{{}}.tsv.gz"), accuracy)


INFLECTIONS = all_languages("inflection", "sigmorphon2016_inflection", "{language}.{part}.tsv.gz", INFLECTED)
PRONUNCIATIONS = all_languages("g2p", "sigmorphon2020_g2p", "{language}_{part}.tsv.gz", LANGUAGES)
ATTENTION = (
    "model.encoder={kind: text, cell: lstm, size: 256, embedding: 128, bidirectional: true, dropout: 0.4}",
    "model.decoder={kind: recurrent, cell: lstm, size: 512, embedding: 128, dropout: 0.4}",
    "model.bridge={kind: attention, query: current, into: [combined], attention: {kind: bilinear}}",
    "data.vocabularies.source.begin_end=false",
)
"""As rows of many words were measured before positions never went back."""
TOGETHER = (
    *ATTENTION,
    "data.columns={source: 1, target: 2, features: [3]}",
    "training.epochs=15",
    "training.batch_tokens=800",
    "training.dropout_epochs=5",
    "training.ema.decay=0.997",
)
"""One model of twelve languages, which has twelve times the words."""
DICTIONARY = (
    "model.encoder.dropout=0.3",
    "model.decoder.dropout=0.3",
    "training.epochs=8",
    "training.batch_tokens=1200",
    "training.dropout_epochs=4",
    "training.ema.decay=0.998",
    "training.validation.examples=1500",
)
"""A hundred thousand words: fewer epochs, larger batches, ..."""
WIDER = ("model.encoder.size=192", "model.decoder.size=384")
"""... and half as many units again."""
SMALLER = (
    "model.encoder={kind: text, cell: lstm, size: 128, embedding: 128, bidirectional: true, dropout: 0.2}",
    "model.decoder={kind: recurrent, cell: lstm, size: 192, embedding: 192, dropout: 0.2, tied: output}",
    "model.bridge={kind: attention, query: current, into: [combined], attention: {kind: additive, size: 128}}",
    "training.epochs=4",
    "training.learning_rate=2.0e-3",
    "training.ema.decay=0.99",
)
"""For sentences of ten words: what flows back from step to step is left out, so that all of a target is computed at once."""


def tanaka(source: int, *further: str) -> Task:
    """Between English (column 1) and Japanese (column 2), in words between spaces, as the data set has them."""
    columns = f"data.columns={{source: {source}, target: {3 - source}}}"
    symbols = [f"data.vocabularies.{side}={{kind: symbols, size: 4000, minimum_count: 2}}" for side in ("source", "target")]
    return Task("translation", packed("tanaka_eng_jpn", "{}.tsv.gz", columns, *symbols, *SMALLER, *further), token_bleu)


TOKENS = "data.vocabularies={source: {kind: symbols, size: 5000, minimum_count: 3}, shared: true}"
"""Headlines come in tokens between spaces, such as 's and ####, which words would be cut into."""
KEPT = (
    "model.encoder.dropout=0.4",
    "model.decoder.dropout=0.4",
    "training.epochs=10",
    "training.dropout_epochs=4",
    "training.validation.metric=kept_f1",
    "training.validation.examples=900",
)
"""Compressions written word by word: summaries, of which F1 counts; of few sentences, so more often and with more dropout."""
MONOTONIC = "model.bridge.attention={kind: local, centre: monotonic, window: 5}"
REPLIES = measured_by("bleu", "distinct_1", "distinct_2")
ALONE = "data.columns.preceding=[]"

TASKS: dict[str, Task] = {
    **{f"multi30k-en-{language}": multi30k(language) for language in ("de", "fr")},
    **{f"multi30k-en-{language}-lower": multi30k(language, lower=True) for language in ("de", "fr")},
    **{f"multi30k-en-{one}-transformer": multi30k(one, "translation-transformer", lower=True) for one in ("de", "fr")},
    **{f"g2p-{language}": g2p(language) for language in LANGUAGES},
    **{f"g2p-low-{language}": g2p(language, year=2021, size="low.") for language in LOW},
    **{f"dakshina-{language}": dakshina(language) for language in ("hi", "ta")},
    **{f"dakshina-{one}-{bridge}": dakshina(one, bridge) for one in ("hi", "ta") for bridge in ("initial", "every_step")},
    "cmudict": Task("pronunciation", packed("cmudict", "{}.tsv.gz", *WIDER, *DICTIONARY), dictionary_measures),
    "cmudict-attention": Task("pronunciation", packed("cmudict", "{}.tsv.gz", *ATTENTION, *DICTIONARY), dictionary_measures),
    **{f"inflection-{language}": inflection(language) for language in INFLECTED},
    "inflection-all": Task(
        "inflection", lambda data: [*INFLECTIONS(data), "data.columns.features=[4, 2]", "training.epochs=3"], accuracy
    ),
    "g2p-all": Task("pronunciation", lambda data: [*PRONUNCIATIONS(data), *TOGETHER], languages_measures),
    "tweetqa": Task("answers", tweetqa, measured_by("bleu_1", "meteor", "rouge_l")),
    "aeslc": Task("summaries", aeslc, measured_by("rouge_1", "rouge_2", "rouge_l")),
    "gigaword": Task(
        "summaries",
        packed("gigaword_sample", "{}.tsv.gz", TOKENS, validation="valid"),
        measured_by("rouge_1", "rouge_2", "rouge_l"),
    ),
    "compression": Task("compression", compression, tagged_measures),
    "compression-words": Task(
        "summaries", packed("sentence_compression", "{}.tsv.gz", *KEPT), measured_by("kept_f1", "exact_match")
    ),
    "sgd-acts": Task("acts", lambda data: sgd(data, 6, 7), measured_by("bleu", "slot_error_rate")),
    "sgd-replies": Task("dialogue", lambda data: sgd(data, 4, 5, 7), REPLIES, perplexity=True),
    "sgd-replies-alone": Task("dialogue", lambda data: [*sgd(data, 4, 5, 7), ALONE], REPLIES, perplexity=True),
    "dailydialog": Task("dialogue", daily, REPLIES, perplexity=True),
    "dailydialog-alone": Task("dialogue", lambda data: [*daily(data), ALONE], REPLIES, perplexity=True),
    "tanaka-en-ja": tanaka(1),
    "tanaka-ja-en": tanaka(2),
    "tanaka-en-ja-monotonic": tanaka(1, MONOTONIC),
    "tanaka-ja-en-monotonic": tanaka(2, MONOTONIC),
    "sick": Task("entailment", sick(), accuracy),
    "sick-summaries": Task("entailment", sick(*SUMMARIES), accuracy),
    "sick-reading-on": Task("entailment", sick(*READING_ON), accuracy),
    **{f"babi-{task}": Task("reasoning", babi(task), accuracy) for task in BABI},
}
GROUPS = {"g2p": LANGUAGES, "g2p-low": LOW, "inflection": INFLECTED, "babi": tuple(map(str, BABI))}
"""Data sets of several languages or tasks, of which the mean is of interest."""


# --- rows ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """The command line. recipe: another one than the task's own. searches: settings of the search that measures.

    minutes: how long to train, in place of all epochs.
    """

    data: Path
    runs: Path
    threads: int
    split: SplitName
    recipe: str | None
    settings: Sequence[str]
    ensemble: int
    searches: Sequence[str] = ()
    minutes: float | None = None

    def of(self, name: str, seed: int) -> Recipe:
        """The recipe that trains a task."""
        return self._read(name, [f"training.threads={self.threads}", f"seed={seed}", *self.settings])

    def search(self, name: str) -> Search:
        """How its outputs are found: as its recipe says, and as the command line says beside."""
        return self._read(name, [*self.settings, *(f"search.{one}" for one in self.searches)]).search

    def _read(self, name: str, settings: Sequence[str]) -> Recipe:
        task = TASKS[name]
        return read_recipe(find_recipe(self.recipe or task.recipe), [*task.settings(self.data), *settings])


def measured(name: str, runs: Sequence[Path], split: SplitName, search: Search) -> Found:
    """What a model, or several that vote, do on a part of the data."""
    opened = RunFolder.open(runs[0])
    predictor = Predictor.load(*runs)
    # Tags that training never had count as absent, as they do in `seqloom evaluate`.
    examples = predictor.tolerant(Corpus(opened.recipe.data, opened.recipe.seed).examples(split))
    spelling = predictor.vocabularies[TARGET].normalised  # as in `seqloom evaluate`, too: no capitals where none are written
    outputs = [spelling(prediction.text) for prediction in predictor.predict(examples, search=search)]
    # All sources: equal questions about different texts are different items.
    sources, targets = ["\t".join(one.sources.values()) for one in examples], [spelling(one.target or "") for one in examples]
    items = Items(sources, targets, outputs, [one.features[0] if one.features else "" for one in examples])
    task = TASKS[name]
    surprise = {"perplexity": perplexity(predictor, examples)} if task.perplexity else {}
    return {"count": len(items.outputs), "split": split, **surprise, **task.measure(items)}


def perplexity(predictor: Predictor, examples: Sequence[Example]) -> float:
    """Of the wanted symbols, `end` included."""
    scored = predictor.score(examples)
    return math.exp(-sum(one.log_prob for one in scored) / sum(len(one.log_probs) for one in scored))


def row(name: str, wanted: Wanted) -> Found:
    """Train or pick up the runs of a task, and print its row."""
    out = wanted.runs / name
    paths = voters(lambda seed: wanted.of(name, seed), out, wanted.ensemble, minutes=wanted.minutes)
    kept: Found = {}

    def measure(_: Path) -> Found:
        kept.update(measured(name, paths, wanted.split, wanted.search(name)))
        return kept

    report(name, wanted.of(name, 1), out, measure=measure, figures=figures, minutes=wanted.minutes)
    return kept


def figures(found: Found) -> str:
    """The figures of a row, in the order in which they were measured."""
    return " | ".join(f"{value:.2f}" for name, value in found.items() if isinstance(value, float) and name != "minutes")


def mean(found: Iterable[Found]) -> Found:
    """The mean of each figure over several rows."""
    rows = list(found)
    names = [name for name, value in rows[0].items() if isinstance(value, float)]
    return {name: round(statistics.fmean(float(one[name]) for one in rows), 2) for name in names}


def main() -> None:
    """Print a row, or those of all languages and their mean."""
    parser = arguments(__doc__)
    parser.add_argument("name", choices=[*TASKS, *GROUPS])
    parser.add_argument("--split", choices=["validation", "test"], default="test")
    parser.add_argument("--recipe", help="another recipe than the packaged one of the task")
    add_ensemble(parser)
    parser.add_argument("--search", action="append", default=[], metavar="KEY=VALUE", help="measure with another search")
    add_minutes(parser)
    given = parser.parse_args()
    wanted = Wanted(
        given.data,
        given.runs,
        given.threads,
        given.split,
        given.recipe,
        given.set,
        given.ensemble,
        given.search,
        given.minutes,
    )
    names = [f"{given.name}-{language}" for language in GROUPS[given.name]] if given.name in GROUPS else [given.name]
    rows = [row(name, wanted) for name in names]
    if len(rows) > 1:
        print(json.dumps({"name": given.name, "mean": mean(rows)}))


if __name__ == "__main__":
    main()
