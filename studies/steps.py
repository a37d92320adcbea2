"""One output step by step: energies, weights and context in numbers, and what other weights would have written."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import table
from figures import document, line, save_figure, words

from seqloom.backends import OpenedModel, open_model
from seqloom.data.arrays import Padded
from seqloom.data.reading.oracles import Oracle
from seqloom.data.vocabulary import Encoded
from seqloom.planes import Doubles
from seqloom.recipe.sections import SOURCE, TARGET, AttentionBridge
from seqloom.runs import RunFolder
from seqloom.symbols import BEGIN, END
from seqloom.views.drawing.page import number
from seqloom.views.drawing.theme import level
from seqloom.views.text.labels import visible

LEFT, COLUMN, ROW = 138.0, 58.0, 24.0


def walked(path: Path, text: str) -> dict[str, Any]:
    """One greedy output with, at every step, energies, weights, and what would be written with other weights at that step."""
    opened = open_model(path)
    vocabulary = opened.vocabularies[TARGET]
    source = opened.vocabularies[SOURCE].encode_source(text, ())
    tokens: list[int] = []
    while (not tokens or tokens[-1] != END) and len(tokens) < 40:
        tokens.append(int(_distribution(opened, source, tokens, None).argmax()))
    energies, weights = _scored(path, opened, source, tokens)
    steps = []
    for index, token in enumerate(tokens):
        before = tokens[:index]
        own = _distribution(opened, source, before, None)
        even = _distribution(opened, source, before, np.full(len(source.ids), 1 / len(source.ids)))
        alone = [_distribution(opened, source, before, row) for row in np.eye(len(source.ids))]
        steps.append(
            {
                "symbol": vocabulary.symbol(token),
                "energies": np.round(energies[index], 3).tolist(),
                "weights": np.round(weights[index], 4).tolist(),
                "own": _best(own, vocabulary, 4),
                "even": _best(even, vocabulary, 4),
                "alone": [_best(one, vocabulary, 1)[0] for one in alone],
                "chosen": {"own": float(own[token]), "even": float(even[token]), "alone": [float(one[token]) for one in alone]},
            }
        )
    return {"source": text, "symbols": source.symbols, "text": vocabulary.decode(np.asarray(tokens)), "steps": steps}


def _distribution(opened: OpenedModel, source: Encoded, before: Sequence[int], weights: Doubles | None) -> Doubles:
    """P of the next symbol after those before it; weights: look there at this step, instead of where the model would."""
    sources = {SOURCE: Padded.of([source.ids])}
    steps = {} if weights is None else {len(before): weights.astype(np.float32)}
    oracle = Oracle.of([steps], width=len(source.ids), limits=np.asarray([len(before) + 1]))
    state = opened.stepper.start(sources, 1, {} if oracle is None else {SOURCE: oracle})
    for token in (BEGIN, *before):
        step = opened.stepper.step(np.asarray([[token]]), state)
        state = step.state
    probabilities: Doubles = np.exp(step.all()[0, 0].astype(np.float64))
    return probabilities


def _scored(path: Path, opened: OpenedModel, source: Encoded, tokens: Sequence[int]) -> tuple[Doubles, Doubles]:
    """Energies e_j and weights a_j of every step, [T, S], from the model itself: the stepper does not show energies."""
    import torch

    from seqloom.models.attention import ScoredAttention
    from seqloom.models.bridges import AttentionBridge as Bridge
    from seqloom.models.weights import restored_model

    arrays, _ = RunFolder.open(path).load_weights()
    sizes = {name: vocabulary.size for name, vocabulary in opened.vocabularies.items()}
    model = restored_model(opened.recipe, sizes, arrays, where=str(path)).eval()
    section, bridge = opened.recipe.model.bridge, model.decoder.bridge
    if not isinstance(section, AttentionBridge) or not isinstance(bridge, Bridge):
        raise TypeError(section)
    attention = bridge.attention(SOURCE)
    if not isinstance(attention, ScoredAttention):
        raise TypeError(attention)
    energies, weights = [], []
    with torch.inference_mode():
        state = model.decoder.start(model.encode({SOURCE: Padded.of([source.ids])}), 1)
        for token in (BEGIN, *tokens[:-1]):
            decoded = model.decoder.step(torch.tensor([[token]]), state)
            query = state.hidden if section.query == "previous" else decoded.state.hidden
            energies.append(attention.scores(query, state.link.keys[SOURCE])[0, 0, 0].double().numpy())
            weights.append(decoded.weights[SOURCE][0, 0, 0].double().numpy())
            state = decoded.state
    for row, given in zip(energies, weights, strict=True):
        np.testing.assert_allclose(np.exp(row - row.max()) / np.exp(row - row.max()).sum(), given, atol=1e-4)
    return np.stack(energies), np.stack(weights)


def _best(probabilities: Doubles, vocabulary: Any, count: int) -> list[tuple[str, float]]:
    order = np.argsort(-probabilities, kind="stable")[:count]
    return [(vocabulary.symbol(int(one)), round(float(probabilities[one]), 4)) for one in order]


def drawn(found: Mapping[str, Any], chosen: Sequence[int]) -> str:
    """All steps as a table, below a figure of the chosen ones, which are counted from 1."""
    steps = found["steps"]
    title = f"Score, weights, context, word: {found['source']}"
    there = [one - 1 for one in chosen if one <= len(steps)]
    picture = save_figure("alignments-steps", _svg(found, there, title), title)
    head = ["step", "written", "P", "P with even weights", "highest weight on", "its energy", "its weight"]
    rows = []
    for index, step in enumerate(steps):
        place = int(np.argmax(step["weights"]))
        rows.append(
            [
                index + 1,
                f"`{_shown(step['symbol'])}`",
                f"{step['chosen']['own']:.2f}",
                f"{step['chosen']['even']:.2f}",
                f"`{_shown(found['symbols'][place])}`",
                number(step["energies"][place], 2),
                f"{step['weights'][place]:.2f}",
            ]
        )
    return f"{picture}\n\n{table(head, rows)}"


def _shown(symbol: str) -> str:
    return visible(symbol.strip() or symbol)


def _svg(found: Mapping[str, Any], chosen: Sequence[int], title: str) -> str:
    symbols, steps = found["symbols"], found["steps"]
    width = LEFT + COLUMN * len(symbols) + 14
    body, top = words(14, 22, title, "ink bold", size=13), 50.0
    for index in chosen:
        before = " ".join(_shown(one["symbol"]) for one in steps[:index])
        head = f"step {index + 1}: after \u201c{before}\u201d it writes \u201c{_shown(steps[index]['symbol'])}\u201d"
        body += words(14, top, head, "ink", size=12.5)
        body += _step_rows(symbols, steps[index], top + 14)
        top += 7 * ROW + 38
    return document(width, top - 20, body, description=title)


def _step_rows(symbols: Sequence[str], step: Mapping[str, Any], top: float) -> str:
    """Source, energies, weights, and what looking at one place alone would write; then whole distributions in words."""
    rows = ("source", "energy e_j", "weight a_j", "from h_j alone", "its probability")
    body = "".join(words(14, top + (index + 0.7) * ROW, name, "quiet") for index, name in enumerate(rows))
    for index, symbol in enumerate(symbols):
        left = LEFT + index * COLUMN
        middle, (word, probability), weight = left + COLUMN / 2, step["alone"][index], step["weights"][index]
        cell = f'x="{left + 1:.1f}" y="{top + 2 * ROW:.1f}" width="{COLUMN - 2:.1f}" height="{ROW - 2:.1f}"'
        body += f'<rect class="w{level(weight)}" {cell}/>'
        kinds = ("ink", "ink num", "paper num" if weight > 0.5 else "ink num", "ink", "quiet num")
        values = (_shown(symbol), number(step["energies"][index], 2), f"{weight:.2f}", _shown(word), f"{probability:.2f}")
        body += "".join(
            words(middle, top + (row + 0.7) * ROW, value, kind, anchor="middle")
            for row, (value, kind) in enumerate(zip(values, kinds, strict=True))
        )
    body += line((14, top + 5 * ROW), (LEFT + COLUMN * len(symbols), top + 5 * ROW), "axis")
    own, even = ("  \u00b7  ".join(f"{_shown(word)} {value:.2f}" for word, value in step[name]) for name in ("own", "even"))
    for row, (name, written) in enumerate((("from c_t = \u03a3 a_j h_j", own), ("from the mean of h_j", even))):
        body += words(14, top + (5.7 + 0.85 * row) * ROW, name, "quiet") + words(
            LEFT + 8, top + (5.7 + 0.85 * row) * ROW, written, "ink num"
        )
    return body
