"""Made-up predictions with plausible alignments, for tests of pictures."""

from collections.abc import Sequence

import numpy as np

from seqloom.results.predictions import Alignment, Candidate, FloatArray, Prediction


def diagonal(rows: int, columns: int, *, heads: int = 1, seed: int = 0) -> FloatArray:
    """Weights [H, T, S] that wander from the first source symbol to the last."""
    random = np.random.default_rng(seed)
    place = np.linspace(0, columns - 1, rows)[None, :, None] + random.normal(0, 0.4, (heads, rows, 1))
    width = random.uniform(0.4, 1.2, (heads, rows, 1))
    scores = np.exp(-(((np.arange(columns)[None, None, :] - place) / width) ** 2)) + 1e-3
    weights: FloatArray = (scores / scores.sum(axis=-1, keepdims=True)).astype(np.float32)
    return weights


def character_alignment(source: str, rows: int, *, heads: int = 1, seed: int = 0, tag: str = "") -> Alignment:
    symbols = ([tag] if tag else []) + list(source) + ["<end>"]
    lead = [(0, 0)] if tag else []
    spans = [*lead, *((index, index + 1) for index in range(len(source))), (len(source), len(source))]
    return Alignment(diagonal(rows, len(symbols), heads=heads, seed=seed), tuple(symbols), tuple(spans))


def word_alignment(source: str, rows: int, *, heads: int = 1, seed: int = 0) -> Alignment:
    symbols, spans, position = [], [], 0
    for word in source.split():
        start = source.index(word, position)
        position = start + len(word)
        symbols.append(word)
        spans.append((start, position))
    weights = diagonal(rows, len(symbols), heads=heads, seed=seed)
    return Alignment(weights, tuple(symbols), tuple(spans))


def candidate(text: str, tokens: Sequence[str], *, seed: int = 0, **alignment: Alignment) -> Candidate:
    random = np.random.default_rng(seed)
    log_probs = tuple(float(one) for one in np.log(random.uniform(0.35, 1.0, len(tokens)) ** 0.3))
    total = sum(log_probs)
    return Candidate(text, tuple(tokens), total / max(len(tokens), 1), total, log_probs, alignment)


def characters(source: str, *outputs: str, heads: int = 1, tag: str = "") -> Prediction:
    """A character model's outputs, best first."""
    found = []
    for seed, text in enumerate(outputs):
        tokens = [*text, "<end>"]
        alignment = character_alignment(source, len(tokens), heads=heads, seed=seed, tag=tag)
        found.append(candidate(text, tokens, seed=seed, source=alignment))
    return Prediction({"source": source}, found[0], tuple(found[1:]), (tag,) if tag else ())


def words(source: str, *outputs: str, heads: int = 1) -> Prediction:
    """A word model's outputs, best first."""
    found = []
    for seed, text in enumerate(outputs):
        tokens = [*text.split(), "<end>"]
        found.append(candidate(text, tokens, seed=seed, source=word_alignment(source, len(tokens), heads=heads, seed=seed)))
    return Prediction({"source": source}, found[0], tuple(found[1:]))


def two_sources() -> Prediction:
    tokens = [*"நன்றி", "<end>"]
    spelling = character_alignment("nandri", len(tokens), heads=2)
    gloss = word_alignment("thank you very much", len(tokens), seed=3)
    best = candidate("நன்றி", tokens, spelling=spelling, gloss=gloss)
    return Prediction({"spelling": "nandri", "gloss": "thank you very much"}, best)


def without_attention() -> Prediction:
    return Prediction({"source": "dhanyavaad"}, candidate("धन्यवाद", [*"धन्यवाद", "<end>"]))


def long(rows: int = 60, columns: int = 80, *, heads: int = 1) -> Prediction:
    source = ("the quick brown fox jumps over the lazy dog and " * 10)[: columns - 1]
    output = ("le renard brun et rapide saute par-dessus le chien " * 10)[: rows - 1]
    return characters(source, output, heads=heads)
