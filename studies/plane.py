"""The plane of encodings (E9): whether sentences of one meaning and different structure lie close.

    python studies/plane.py --data DATA --runs RUNS [--threads 1]

Encodings of two kinds of model: of a little grammar, where paraphrases and swapped roles are known exactly (meanings.py), and
of Multi30k, German to English, asked about sentences of a German grammar and about the hand-written ones of sentences.de.tsv.
DATA holds the folder multi30k. Writes studies/results/plane.json, and the tables and figures of docs/studies/plane.md.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    HERE,
    MEANINGS_ATTENTION,
    MULTI30K_ATTENTION,
    MULTI30K_INITIAL,
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
from meanings import Meaning, Sentence, drawn_meanings, english, german, german_meanings, write_task

from seqloom.metrics import evaluate
from seqloom.prediction.predictor import Predictor
from seqloom.results.plane import Doubles, Plane, cosine_distances
from seqloom.results.predictions import FloatArray
from seqloom.views.charts.plane import plane_sketch

SEED = 1
GRAMMAR = {
    "initial": Run("meanings-initial", "meanings"),
    "attention": MEANINGS_ATTENTION,
    "untrained": Run("meanings-untrained", "meanings", ("training.steps=1", "training.learning_rate=1.0e-9")),
}
TRANSLATION = {"initial": MULTI30K_INITIAL, "attention": MULTI30K_ATTENTION}
WORDS = "bag of words"
ASKED_IN_GERMAN = 100
DRAWN = 3


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up the runs, encode, and compare distances."""
    write_task(wanted.runs / "meanings-text", SEED)
    grammar = {name: trained(run, replace(wanted, data=wanted.runs)) for name, run in GRAMMAR.items()}
    translation = {name: trained(run, wanted) for name, run in TRANSLATION.items()}
    said = [one for meaning in drawn_meanings(SEED)[1] for one in _both(english, meaning)]
    asked = random.Random(SEED).sample(german_meanings(), ASKED_IN_GERMAN)
    in_german = [one for meaning in asked for one in _both(german, meaning)]
    return {
        "grammar": {**_measured(grammar, said), "exact_match": {name: _exact(path) for name, path in grammar.items()}},
        "translation": _measured(translation, in_german),
        "forms": _forms(translation["initial"]),
        "translations": [one.text for one in Predictor.load(translation["initial"]).predict(_written()[0])],
        "costs": {path.name: cost(path) for path in (*grammar.values(), *translation.values())},
        "planes": {
            **{f"grammar-{name}": _plane(path, *_shown(said)) for name, path in grammar.items()},
            **{f"german-{name}": _plane(path, *_written()) for name, path in translation.items()},
        },
    }


def _both(say: Callable[[Meaning], list[Sentence]], meaning: Meaning) -> list[Sentence]:
    """All ways to say a meaning, and all ways to say it with its roles swapped."""
    return [*say(meaning), *say(meaning.swapped)]


def _measured(paths: Mapping[str, Path], sentences: Sequence[Sentence]) -> dict[str, Any]:
    texts = [one.text for one in sentences]
    encodings = {name: Predictor.load(path).encode(texts)["source"] for name, path in paths.items()}
    return {
        "sentences": len(sentences),
        "meanings": len({one.meaning for one in sentences}),
        "compared": {name: compared(sentences, found) for name, found in {**encodings, WORDS: bags_of_words(texts)}.items()},
    }


def bags_of_words(texts: Sequence[str]) -> FloatArray:
    """How often each word occurs in each text [N, V]: an encoding that knows words and no order."""
    split = [text.lower().rstrip(".").split() for text in texts]
    columns = {word: index for index, word in enumerate(dict.fromkeys(word for words in split for word in words))}
    counts = np.zeros((len(texts), len(columns)), dtype=np.float32)
    for row, words in enumerate(split):
        for word in words:
            counts[row, columns[word]] += 1
    return counts


def compared(sentences: Sequence[Sentence], encodings: FloatArray) -> dict[str, float]:
    """Whose neighbours the encodings make of sentences.

    nearest_*: shares of sentences whose nearest neighbour has the same meaning, or the same words in swapped roles, or is
    of the same form. closer: how often a paraphrase of another form is closer than the same form with its roles swapped,
    over all such pairs; ties count half. distance_*: means, divided by that of all pairs.
    """
    distances = cosine_distances(encodings)
    meanings = {meaning: index for index, meaning in enumerate(dict.fromkeys(one.meaning for one in sentences))}
    forms = {form: index for index, form in enumerate(dict.fromkeys(one.form for one in sentences))}
    meaning = np.asarray([meanings[one.meaning] for one in sentences])
    swap = np.asarray([meanings.get(one.meaning.swapped, -1) for one in sentences])
    form = np.asarray([forms[one.form] for one in sentences])
    same, swapped = meaning[:, None] == meaning[None], swap[:, None] == meaning[None]
    alike = form[:, None] == form[None]
    others = ~np.eye(len(sentences), dtype=bool)
    nearest = _nearest(distances)
    average = float(distances[others].mean())
    return {
        "nearest_same": float(nearest[same].sum() / len(sentences)),
        "nearest_swapped": float(nearest[swapped].sum() / len(sentences)),
        "nearest_form": float(nearest[alike].sum() / len(sentences)),
        "chance_same": float((same & others).sum() / others.sum()),
        "closer": _closer(distances, same & ~alike, swapped & alike),
        "distance_same": float(distances[same & ~alike].mean()) / average,
        "distance_swapped": float(distances[swapped & alike].mean()) / average,
    }


def _nearest(distances: Doubles) -> Doubles:
    """One for the nearest other sentence of each [N, N]; shared among equally near ones, which rounding alone tells apart."""
    far = np.round(distances, 9)
    np.fill_diagonal(far, np.inf)
    nearest = (far == far.min(axis=1, keepdims=True)).astype(np.float64)
    shared: Doubles = nearest / nearest.sum(axis=1, keepdims=True)
    return shared


def _closer(distances: Doubles, paraphrases: Any, swaps: Any) -> float:
    """Over all sentences, their paraphrases and their swaps: how often the paraphrase is closer."""
    wins = count = 0.0
    for row in range(len(distances)):
        near, far = distances[row, paraphrases[row]], distances[row, swaps[row]]
        difference = np.round(far[None] - near[:, None], 9)
        wins += float((difference > 0).sum()) + 0.5 * float((difference == 0).sum())
        count += difference.size
    return wins / count


def _exact(path: Path) -> float:
    return float(evaluate(outputs(path, "test"), ["exact_match"]).metrics["exact_match"])


FORMS = {
    "beginning with a preposition": re.compile(
        r"(in|im|auf|an|am|vor|hinter|neben|bei|unter|über|zwischen|aus|mit)\b", re.IGNORECASE
    ),
    "passive with *von*": re.compile(r".*\b(wird|werden)\b.*\bvon\b", re.IGNORECASE),
    "beginning with an object's article": re.compile(r"(einen|einem|den|dem|einer)\b", re.IGNORECASE),
}
"""What the sentences of the German grammar have that need not be common, as a pattern that fits from a sentence's beginning."""


def _forms(path: Path) -> dict[str, float]:
    """The share of training sentences of each form."""
    texts = [one.sources["source"] for one in examples_of(Predictor.load(path), "train")]
    return {name: sum(bool(form.match(text)) for text in texts) / len(texts) for name, form in FORMS.items()}


def _shown(said: Sequence[Sentence]) -> tuple[list[str], list[str]]:
    """The first sentences of the grammar that have no recipient, with their groups: few enough to draw."""
    chosen = [one for one in said if not one.meaning.recipient]
    meanings = list(dict.fromkeys(one.meaning for one in chosen))[: 2 * DRAWN]
    shown = [one for one in chosen if one.meaning in meanings]
    return [one.text for one in shown], [_group(one) for one in shown]


def _group(one: Sentence) -> str:
    return f"{one.meaning.action}: {one.meaning.agent} \u2192 {one.meaning.patient}, {one.meaning.setting}"


def _written() -> tuple[list[str], list[str]]:
    lines = (HERE / "sentences.de.tsv").read_text(encoding="utf-8").splitlines()
    texts, groups = zip(*(line.split("\t") for line in lines), strict=True)
    return list(texts), list(groups)


def _plane(path: Path, texts: Sequence[str], groups: Sequence[str]) -> dict[str, Any]:
    plane = Plane.of(Predictor.load(path).encode(texts)["source"], texts, groups)
    return {
        "texts": plane.texts,
        "groups": plane.groups,
        "places": np.round(plane.places, 5).tolist(),
        "shares": plane.shares,
        "distances": np.round(plane.distances, 6).tolist(),
    }


# --- the page -------------------------------------------------------------------------------------------------------

MEASURES = {"bleu": "BLEU", "exact_match": "exact"}
TITLES = {
    "grammar-initial": "A little grammar, one vector carries all",
    "grammar-attention": "The same sentences, a model with attention",
    "grammar-untrained": "The same sentences, before training",
    "german-initial": "German sentences, a translator whose one vector carries all",
    "german-attention": "The same sentences, a translator with attention",
}


def _figure(name: str, plane: Plane) -> str:
    title = TITLES[name]
    return save_figure(f"plane-{name}", plane_sketch(plane, title).svg(title), title)


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    planes = {name: _restored(one) for name, one in found["planes"].items()}
    return {
        "made": made("plane", found),
        "grammar": _comparison(found["grammar"]),
        "translation": _comparison(found["translation"]),
        "forms": table(
            ["form", "share of training sentences"], [[name, f"{100 * share:.1f} %"] for name, share in found["forms"].items()]
        ),
        "costs": _costs(found["costs"]),
        **{name: _figure(name, plane) for name, plane in planes.items()},
        "neighbours": _neighbours(planes["german-initial"], found["translations"]),
    }


def _restored(one: Mapping[str, Any]) -> Plane:
    first, second = one["shares"]
    places, distances = (np.asarray(one[name], dtype=np.float64) for name in ("places", "distances"))
    return Plane(tuple(one["texts"]), tuple(one["groups"]), places, (first, second), distances)


def _comparison(found: Mapping[str, Any]) -> str:
    head = [
        "encoder",
        "nearest has the same meaning",
        "nearest has swapped roles",
        "nearest has the same form",
        "paraphrase closer than swap",
        "mean distance of paraphrases",
        "mean distance of swaps",
    ]
    exact = found.get("exact_match", {})
    if exact:
        head.insert(1, "right outputs")
    rows = []
    for name, one in found["compared"].items():
        shares = [f"{100 * one[key]:.1f} %" for key in ("nearest_same", "nearest_swapped", "nearest_form", "closer")]
        means = [f"{one[key]:.2f}" for key in ("distance_same", "distance_swapped")]
        right = ([f"{exact[name]:.1f} %"] if name in exact else [""]) if exact else []
        rows.append([name, *right, *shares, *means])
    chance = next(iter(found["compared"].values()))["chance_same"]
    counts = f"{found['sentences']:,} sentences of {found['meanings']:,} meanings"
    return (
        f"{table(head, rows)}\n\n{counts}; by chance, {100 * chance:.1f} % of nearest neighbours would have the same meaning."
    )


def _costs(found: Mapping[str, Any]) -> str:
    validation = {
        name: [", ".join(f"{MEASURES[metric]} {value:.1f}" for metric, value in one["validation"].items())]
        for name, one in found.items()
    }
    return cost_table(found, ["validation (greedy)"], validation)


def _neighbours(plane: Plane, translations: Sequence[str]) -> str:
    rows = []
    for index, (text, translation) in enumerate(zip(plane.texts, translations, strict=True)):
        other = plane.neighbours(index, 1)[0]
        agree = "yes" if plane.groups[index] == plane.groups[other] else "no"
        rows.append([index + 1, text, other + 1, f"{plane.distances[index, other]:.3f}", agree, translation])
    nearest, able = plane.alike
    listed = table(["", "sentence", "nearest", "distance", "same meaning", "the model's translation"], rows)
    return f"{listed}\n\nThe same meaning: {nearest} of {able}."


if __name__ == "__main__":
    write_page("plane", page(results("plane", options(__doc__), measure)))
