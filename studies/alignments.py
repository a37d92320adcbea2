"""Where models look (A1): maps of translations and a headline, entropy and coverage over test sets, and one step in numbers.

    python studies/alignments.py --data DATA --runs RUNS [--threads 1]

Models: Multi30k, German to English; headlines of news; and a little grammar (meanings.py) whose alignments are known, for
several kinds of attention. DATA holds the folders multi30k and gigaword_sample. The sentences that are shown are written for
this study; those of data sets are only counted. Writes studies/results/alignments.json, and the tables and figures of
docs/studies/alignments.md.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import steps
from common import (
    MEANINGS_ATTENTION,
    MULTI30K_ATTENTION,
    Options,
    Run,
    cost,
    cost_table,
    examples_of,
    made,
    options,
    outputs,
    results,
    save_figure,
    table,
    trained,
    write_page,
)
from meanings import DEEDS, GIFTS, Sentence, drawn_meanings, english, write_task

from seqloom.metrics import evaluate
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import SOURCE
from seqloom.results.plane import Doubles
from seqloom.results.predictions import Alignment, Candidate
from seqloom.views import to_svg
from seqloom.views.charts.figures import Curve, line_figure
from seqloom.views.text.labels import END_SIGN
from seqloom.views.text.segments import output_spans

SEED = 1
HEADLINES = Run("headlines", "headlines")
KINDS = {
    "additive, `previous` into `input`": MEANINGS_ATTENTION,
    "additive, `current` into `combined`": Run(
        "meanings-current", "meanings", ("model.bridge={kind: attention, query: current, into: [combined]}",)
    ),
    "dot, `current` into `combined`": Run(
        "meanings-dot",
        "meanings",
        ("model.bridge={kind: attention, query: current, into: [combined], attention: {kind: dot}}",),
    ),
    "additive, `previous` into `input`, both directions": Run(
        "meanings-both",
        "meanings",
        ("model.bridge={kind: attention}", "model.encoder.bidirectional=true", "model.encoder.size=64"),
    ),
}
TRANSLATED = (
    "Ein kleiner Junge, der einen roten Ball in der Hand hält, läuft über eine Wiese.",
    "Auf einer belebten Straße spielt ein alter Mann mit einem Hut Gitarre.",
    "Zwei Frauen sitzen auf einer Bank, während ein Kind mit einem Hund spielt.",
)
SUMMARISED = (
    "the government of portugal said on friday it would sell its remaining stake in the national airline to help reduce the "
    "public debt ."
)
STEPPED = "Ein Mann, der einen Hut trägt, sitzt auf einer Bank."
DRAWN_STEPS = (3, 5, 7)
"""Counted from 1."""


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up the runs, and look at where they look."""
    write_task(wanted.runs / "meanings-text", SEED)
    translation, headlines = trained(MULTI30K_ATTENTION, wanted), trained(HEADLINES, wanted)
    kinds = {name: trained(run, replace(wanted, data=wanted.runs)) for name, run in KINDS.items()}
    return {
        "maps": {
            **{f"translation-{index + 1}": _map(translation, text) for index, text in enumerate(TRANSLATED)},
            "headline": _map(headlines, SUMMARISED),
        },
        "looks": {"translation": looks(translation, GERMAN_FUNCTION), "headlines": looks(headlines, ENGLISH_FUNCTION)},
        "quality": {"translation": _quality(translation), "headlines": _quality(headlines)},
        "steps": steps.walked(translation, STEPPED),
        "kinds": {name: aligned(path) for name, path in kinds.items()},
        "costs": {path.name: cost(path) for path in (translation, headlines, *kinds.values())},
    }


def _quality(path: Path) -> dict[str, float]:
    return dict(evaluate(outputs(path, "test"), ["bleu", "chrf"]).metrics)


def _map(path: Path, text: str) -> dict[str, Any]:
    """All that a map needs, as JSON."""
    prediction = Predictor.load(path).predict([text])[0]
    alignment = prediction.alignment[SOURCE]
    return {
        "source": text,
        "text": prediction.text,
        "tokens": prediction.tokens,
        "log_probs": np.round(prediction.best.log_probs, 4).tolist(),
        "symbols": alignment.symbols,
        "spans": alignment.spans,
        "weights": np.round(alignment.mean.astype(np.float64), 4).tolist(),
    }


# --- over a test set ------------------------------------------------------------------------------------------------

_ENGLISH = """a an the of in on at to with and or but by for from as that this is are was were be been being has have had his
her its their it he she they who which while into over up down out off near through around under behind next not no 's"""
_GERMAN = """ein eine einen einem einer eines der die das den dem des und oder aber in im an am ans auf mit von vom zu zum zur
bei beim über unter vor hinter neben zwischen aus nach für durch um als wie während dass ist sind wird werden hat haben sich er
sie es ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner"""
ENGLISH_FUNCTION, GERMAN_FUNCTION = frozenset(_ENGLISH.split()), frozenset(_GERMAN.split())
_WORD = re.compile(r"[\w#'.<>-]*\w[\w#'.<>-]*|[^\w\s]")


@dataclass(frozen=True)
class Looked:
    """How one output looked at the words of its source: weights [T, W], the words, and the kind of each output symbol."""

    weights: Doubles
    words: tuple[str, ...]
    kinds: tuple[str, ...]


def by_words(text: str, candidate: Candidate) -> Looked:
    """A candidate's weights, with those of the pieces of a source word added up.

    A piece that is a word and a comma is the word's, and the comma is not counted.
    """
    alignment = candidate.alignment[SOURCE]
    found = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    owners = [int(np.argmax([min(end, last) - max(start, first) for first, last in found])) for start, end in alignment.spans]
    owning = sorted(set(owners))
    weights = np.zeros((len(candidate.tokens), len(owning)))
    for column, owner in enumerate(owners):
        weights[:, owning.index(owner)] += alignment.mean[:, column]
    return Looked(weights, tuple(text[slice(*found[one])] for one in owning), tuple(step_kinds(candidate)))


def looks(path: Path, source_function: frozenset[str]) -> dict[str, Any]:
    """Entropies of the weights by kind of output symbol, and coverage by kind and place of source word, over the test part."""
    predictor = Predictor.load(path)
    examples = examples_of(predictor, "test")
    predictions = predictor.predict(examples)
    entropies: dict[str, list[float]] = {}
    coverages: dict[str, list[float]] = {}
    places: list[list[float]] = [[] for _ in range(PLACES)]
    jumps: list[int] = []
    for example, prediction in zip(examples, predictions, strict=True):
        looked = by_words(example.sources[SOURCE], prediction.best)
        for kind, entropy in zip(looked.kinds, _entropies(looked.weights), strict=True):
            entropies.setdefault(kind, []).append(entropy)
        for index, (word, covered) in enumerate(zip(looked.words, looked.weights.sum(axis=0), strict=True)):
            coverages.setdefault(_word_kind(word, source_function), []).append(float(covered))
            places[PLACES * index // len(looked.words)].append(float(covered))
        jumps += _jumps(looked)
    return {
        "sentences": len(examples),
        "entropies": {kind: _described(values) for kind, values in entropies.items()},
        "entropy_shares": {kind: _histogram(values, ENTROPY_BINS) for kind, values in entropies.items()},
        "coverages": {
            kind: {**_described(values), "below": _share(values, 0.0, 0.1), "above": _share(values, 2.0, np.inf)}
            for kind, values in coverages.items()
        },
        "coverage_by_place": [float(np.mean(values)) for values in places],
        "jumps": {
            "back": float(np.mean([jump < 0 for jump in jumps])),
            "stay": float(np.mean([jump == 0 for jump in jumps])),
            "next": float(np.mean([jump == 1 for jump in jumps])),
            "ahead": float(np.mean([jump > 1 for jump in jumps])),
        },
    }


PLACES = 10
ENTROPY_BINS = tuple(np.arange(0.0, 4.51, 0.25).tolist())


def step_kinds(candidate: Candidate) -> list[str]:
    """The kind of each output symbol: that of the word it begins; `continued` if it goes on with one."""
    spans = output_spans(candidate.text, candidate.tokens)
    if spans is None:
        return ["unknown"] * len(candidate.tokens)
    kinds = []
    for token, (start, _) in zip(candidate.tokens, spans, strict=True):
        begun = start == 0 or candidate.text[start - 1].isspace()
        kind = "end" if token == END_SIGN else _word_kind(token, ENGLISH_FUNCTION)
        kinds.append("continued" if not begun and kind in ("content", "function") else kind)
    return kinds


def _word_kind(word: str, function: frozenset[str]) -> str:
    if not any(character.isalnum() or character == "#" for character in word):
        return "punctuation"
    return "function" if word.lower().rstrip(".,") in function else "content"


def _entropies(weights: Doubles) -> list[float]:
    """In bits, of each row."""
    shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
    listed: list[float] = (-(shares * np.log2(np.maximum(shares, 1e-12))).sum(axis=1)).tolist()
    return listed


def _jumps(looked: Looked) -> list[int]:
    """How many source words the highest weight moves from one content word of the output to the next."""
    chosen = [index for index, kind in enumerate(looked.kinds) if kind == "content"]
    places = looked.weights[chosen].argmax(axis=1) if chosen else np.zeros(0, dtype=np.int64)
    return [int(jump) for jump in np.diff(places)]


def _described(values: Sequence[float]) -> dict[str, float]:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return {
        "count": len(values),
        "mean": float(np.mean(values)),
        "median": float(middle),
        "low": float(low),
        "high": float(high),
    }


def _share(values: Sequence[float], low: float, high: float) -> float:
    return float(np.mean([low <= value < high for value in values]))


def _histogram(values: Sequence[float], bins: Sequence[float]) -> list[float]:
    counts, _ = np.histogram(np.clip(values, bins[0], bins[-1] - 1e-9), bins=bins)
    return [float(one) for one in counts / max(1, len(values))]


# --- known alignments -----------------------------------------------------------------------------------------------


PARTS = ("verb", "agent", "patient", "recipient", "time")


def aligned(path: Path) -> dict[str, Any]:
    """Where a model of the grammar looks while it writes a word of the meaning, if it writes it rightly.

    misses: what it looks at most in the place of the right word, as (part of the meaning, word, how far behind, share of all).
    """
    predictor = Predictor.load(path)
    sentences = [one for meaning in drawn_meanings(SEED)[1] for one in english(meaning)]
    predictions = predictor.predict([one.text for one in sentences])
    found: dict[str, list[float]] = {name: [] for name in ("right", "before", "after", "hit", "entropy")}
    exact, misses = 0, Counter[tuple[str, str, int]]()
    for sentence, prediction in zip(sentences, predictions, strict=True):
        if prediction.text != sentence.meaning.canonical:
            continue
        exact += 1
        weights = prediction.alignment[SOURCE].mean.astype(np.float64)
        for step, place in true_places(sentence).items():
            found["right"].append(weights[step, place])
            found["before"].append(weights[step, place - 1] if place else 0.0)
            found["after"].append(weights[step, place + 1] if place + 1 < weights.shape[1] else 0.0)
            highest = int(weights[step].argmax())
            found["hit"].append(float(highest == place))
            if highest != place:
                misses[PARTS[step], sentence.text.split()[highest], highest - place] += 1
        found["entropy"] += _entropies(weights)
    return {
        "exact_match": 100 * exact / len(sentences),
        **{name: float(np.mean(values)) for name, values in found.items()},
        "misses": [[*miss, count / len(found["hit"])] for miss, count in misses.most_common(2)],
    }


def true_places(sentence: Sentence) -> dict[int, int]:
    """By the number of a word of the meaning, where in the sentence the word stands that says it."""
    told = sentence.text.split()
    said = {name: forms for deeds in (DEEDS, GIFTS) for name, forms in deeds.items()}
    return {
        step: next(place for place, word in enumerate(told) if word == part or word in said.get(part, ()))
        for step, part in enumerate(sentence.meaning.canonical.split())
        if part != "-"
    }


# --- the page -------------------------------------------------------------------------------------------------------


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    return {
        "made": made("alignments", found),
        **{f"map-{name}": _map_figure(name, one) for name, one in found["maps"].items()},
        "entropy": _entropy(found["looks"]),
        "coverage": _coverage(found["looks"]),
        "jumps": _jump_table(found["looks"]),
        "steps": steps.drawn(found["steps"], DRAWN_STEPS),
        "kinds": _kinds(found["kinds"]),
        "costs": _costs(found["costs"], found["quality"]),
    }


def _map_figure(name: str, one: Mapping[str, Any]) -> str:
    weights = np.asarray(one["weights"], dtype=np.float32)[None]
    alignment = Alignment(weights, tuple(one["symbols"]), tuple((start, end) for start, end in one["spans"]))
    total = float(sum(one["log_probs"]))
    candidate = Candidate(one["text"], tuple(one["tokens"]), total, total, tuple(one["log_probs"]), {SOURCE: alignment})
    return save_figure(f"alignments-{name}", to_svg(candidate), f"{one['source']} \u2192 {one['text']}")


def _entropy(found: Mapping[str, Any]) -> str:
    shown = ("content", "function", "end")
    centres = [(low + high) / 2 for low, high in pairwise(ENTROPY_BINS)]
    curves = [
        Curve(
            f"{kind} words" if kind != "end" else "end",
            list(zip(centres, found["translation"]["entropy_shares"][kind], strict=True)),
        )
        for kind in shown
    ]
    title = "Translation: how spread the weights are"
    marks = [(float(bits), f"{bits}") for bits in range(5)]
    svg = line_figure(title, curves, x_label="entropy over source words, bits", marks=marks, floor=0.0)
    head = ["model", "output", "steps", "mean entropy, bits", "quartiles"]
    rows = [
        [name, kind, f"{one['count']:,}", f"{one['mean']:.2f}", f"{one['low']:.2f} to {one['high']:.2f}"]
        for name, looked in found.items()
        for kind, one in sorted(looked["entropies"].items(), key=lambda pair: pair[1]["mean"])
    ]
    return f"{save_figure('alignments-entropy', svg, title)}\n\n{table(head, rows)}"


def _coverage(found: Mapping[str, Any]) -> str:
    curves = [
        Curve(name, [(10 * (index + 0.5), value) for index, value in enumerate(looked["coverage_by_place"])])
        for name, looked in found.items()
    ]
    title = "How much weight a source word gets in all, by its place"
    marks = [(float(place), f"{place} %") for place in range(0, 101, 20)]
    svg = line_figure(title, curves, x_label="place in the source", marks=marks, floor=0.0)
    head = ["model", "source words", "count", "mean coverage", "below 0.1", "2 or more"]
    rows = [
        [
            name,
            kind,
            f"{one['count']:,}",
            f"{one['mean']:.2f}",
            f"{100 * one['below']:.0f} %",
            f"{100 * one['above']:.0f} %",
        ]
        for name, looked in found.items()
        for kind, one in sorted(looked["coverages"].items(), key=lambda pair: -pair[1]["mean"])
    ]
    return f"{save_figure('alignments-coverage', svg, title)}\n\n{table(head, rows)}"


def _jump_table(found: Mapping[str, Any]) -> str:
    names = {"next": "to the next word", "stay": "stays", "ahead": "further ahead", "back": "back"}
    rows = [[name, *(f"{100 * looked['jumps'][key]:.1f} %" for key in names)] for name, looked in found.items()]
    return table(["model", *names.values()], rows)


def _kinds(found: Mapping[str, Any]) -> str:
    head = [
        "attention",
        "right outputs",
        "weight on the right word",
        "on the word before",
        "on the word after",
        "highest weight on the right word",
        "entropy, bits",
        "else most often",
    ]
    rows = [
        [
            name,
            f"{one['exact_match']:.1f} %",
            *(f"{one[key]:.2f}" for key in ("right", "before", "after")),
            f"{100 * one['hit']:.1f} %",
            f"{one['entropy']:.2f}",
            ", ".join(_miss(*miss) for miss in one["misses"]),
        ]
        for name, one in found.items()
    ]
    return table(head, rows)


def _miss(part: str, word: str, behind: int, share: float) -> str:
    where = f"{abs(behind)} {'behind' if behind > 0 else 'before'}"
    return f"{part}: *{word}*, {where} ({100 * share:.1f} %)"


def _costs(found: Mapping[str, Any], quality: Mapping[str, Any]) -> str:
    tested = {MULTI30K_ATTENTION.name: quality["translation"], HEADLINES.name: quality["headlines"]}
    scores = {name: [f"{tested[name][metric]:.1f}" if name in tested else "" for metric in ("bleu", "chrf")] for name in found}
    return cost_table(found, ["test BLEU", "test chrF"], scores)


if __name__ == "__main__":
    write_page("alignments", page(results("alignments", options(__doc__), measure)))
