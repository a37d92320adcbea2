"""An output symbol by symbol: for each, the scores and weights of the source, and what the context says."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from seqloom.results.steps import Said, Walkthrough, WrittenSymbol
from seqloom.views.drawing.forms import as_document, write_form
from seqloom.views.drawing.page import foreign, header, number, section, sheet, wide
from seqloom.views.drawing.sketch import Rectangle, Shape, Sketch, Stroke, Symbol, TextLine
from seqloom.views.drawing.theme import level
from seqloom.views.text.labels import END_SIGN, estimated_width, isolated, label, shortened, titled

JSON_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away; new fields do not count."""

MOST_PLACES = 36
"""Of a longer source, the places with the greatest weights are drawn."""

_WIDTH, _LEFT, _ROW = 920.0, 132.0, 22.0
_NARROWEST, _WIDEST = 44.0, 110.0


def write_steps(walk: Walkthrough, path: str | Path) -> Path:
    """Write the steps as .html, .svg, .png or .json, and return the path."""
    title = f"{titled(walk.sources)} \u2192 {isolated(shortened(walk.text, 60))}"
    every = range(len(walk.steps))
    return write_form(
        path,
        {
            ".html": lambda: steps_page(walk, title),
            ".svg": lambda: steps_sketch(walk, every, title).svg(title),
            ".png": lambda: steps_sketch(walk, every, title).png(),
            ".json": lambda: as_document(JSON_VERSION, walk.as_json()),
        },
    )


def steps_sketch(walk: Walkthrough, chosen: Sequence[int], title: str = "", *, noted: bool = True) -> Sketch:
    """The chosen steps below each other; their numbers count from 0. noted: with how they are to be read at the foot."""
    shapes: list[Shape] = [TextLine(14, 24, title, size=14, bold=True)] if title else []
    top, widest = (52.0 if title else 22.0), estimated_width(title) * 14
    for index in chosen:
        shapes.append(TextLine(14, top, _headline(walk, index), size=12.5, bold=True))
        drawn, right, bottom = _step(walk, walk.steps[index], top + 12)
        shapes += drawn
        widest, top = max(widest, right), bottom + 34
    notes = _notes(walk) if noted else []
    shapes += [TextLine(14, top - 6 + 16 * row, note, "quiet", 11) for row, note in enumerate(notes)]
    return Sketch(max(widest + 20, 640.0), top + 16 * len(notes), shapes)


def steps_page(walk: Walkthrough, title: str) -> str:
    """All steps on a page, one section each."""
    sections = (
        section("", wide(steps_sketch(walk, [index], noted=False).inline(_headline(walk, index))), name=f"step-{index + 1}")
        for index in range(len(walk.steps))
    )
    links = " ".join(
        f'<a href="#step-{index + 1}">{foreign(label(one.symbol).text)}</a>' for index, one in enumerate(walk.steps)
    )
    links = f'<nav class="symbols">{links}</nav>'
    return sheet(title, header(title, _summary(walk), links=links), *sections)


def _summary(walk: Walkthrough) -> str:
    notes = (f"{note[0].upper()}{note[1:]}." for note in _notes(walk))
    order = "Weight, what each place says, word." if walk.spoken else "Score, weight, context, word."
    return " ".join([order, *notes])


def _notes(walk: Walkthrough) -> list[str]:
    notes = ["from h_j alone: what is most probable if the model looks at that place only"]
    if walk.spoken:
        notes.append("no scores: where a step reads depends on where the one before has read, and it never goes back")
    elif walk.steps and walk.steps[0].energies is None:
        notes.append("no scores: the weights of this attention are no softmax of one score for each place")
    if len(walk.symbols) > MOST_PLACES:
        notes.append(f"of {len(walk.symbols)} places, the {MOST_PLACES} with the greatest weights")
    return notes


def _headline(walk: Walkthrough, index: int) -> str:
    before = " ".join(isolated(label(one.symbol).text) for one in walk.steps[max(0, index - 8) : index])
    start = "\u2026 " if index > 8 else ""
    after = f"after \u201c{start}{before}\u201d" if index else "at the beginning"
    step = walk.steps[index]
    return f"{index + 1}  {after}: {isolated(label(step.symbol).text)}, probability {step.probability:.2f}"


def _step(walk: Walkthrough, step: WrittenSymbol, top: float) -> tuple[list[Shape], float, float]:
    """The table of one step, in as many lines as the source needs, and the distributions; where they end."""
    shapes: list[Shape] = []
    places = _places(step)
    column = _column_width(walk, step, places)
    each = max(1, int((_WIDTH - _LEFT) // column))
    right = _LEFT + column * min(each, len(places))
    for start in range(0, len(places), each):
        shapes += _line(walk, step, places[start : start + each], column, top)
        top += (5 if step.energies is not None else 4) * _ROW + 8
    shapes.append(Stroke([(14, top), (right, top)], "rule"))
    mixture = ("\u03a3 a_j p(y | h_j)", "all h_j alike") if walk.spoken else ("c = \u03a3 a_j h_j says", "the mean of h_j says")
    for name, said in zip(mixture, (step.own, step.even), strict=True):
        top += _ROW
        drawn = list(_bars(name, said, top))
        shapes += drawn
    return shapes, max(right, _LEFT + 5 * 118.0), top


def _places(step: WrittenSymbol) -> list[int]:
    order = sorted(range(len(step.weights)), key=lambda one: -step.weights[one])
    return sorted(order[:MOST_PLACES])


def _column_width(walk: Walkthrough, step: WrittenSymbol, places: Sequence[int]) -> float:
    symbols = [*(walk.symbols[one] for one in places), *(step.alone[one].symbol for one in places)]
    return min(max(max(estimated_width(label(one).text) for one in symbols) * 12.5 + 8, _NARROWEST), _WIDEST)


def _line(walk: Walkthrough, step: WrittenSymbol, places: Sequence[int], column: float, top: float) -> list[Shape]:
    scored = [] if step.energies is None else ["score e_j"]
    names = [shortened(walk.name, 16), *scored, "weight a_j", "from h_j alone", "its probability"]
    shapes: list[Shape] = [TextLine(14, top + (row + 0.7) * _ROW, name, "quiet", 11.5) for row, name in enumerate(names)]
    for index, place in enumerate(places):
        x, weight = _LEFT + (index + 0.5) * column, step.weights[place]
        shown = label(walk.symbols[place], unknown=place in walk.unknown)
        row = len(scored) + 1
        ground = Rectangle(x - column / 2 + 1, top + row * _ROW + 1, column - 2, _ROW - 2, f"w{level(weight)}")
        shapes += [Symbol(x, top + 0.7 * _ROW, shown, _fitting(shown.text, column)), ground]
        if step.energies is not None:
            shapes.append(TextLine(x, top + 1.7 * _ROW, number(step.energies[place], 2), size=11, anchor="middle"))
        ink = "paper" if weight > 0.5 else "ink"
        shapes.append(TextLine(x, top + (row + 0.7) * _ROW, f"{weight:.2f}", ink, 11, "middle"))
        said = step.alone[place]
        alone = label(said.symbol, mark=said.symbol == END_SIGN)
        shapes.append(Symbol(x, top + (row + 1.7) * _ROW, alone, _fitting(alone.text, column)))
        shapes.append(TextLine(x, top + (row + 2.7) * _ROW, f"{said.probability:.2f}", "quiet", 11, "middle"))
    return shapes


def _fitting(shown: str, column: float) -> float:
    return max(min(12.5, column / max(estimated_width(shown), 1e-6)), 7.0)


def _bars(name: str, said: Sequence[Said], y: float) -> Iterator[Shape]:
    """The most probable symbols, each with a bar as long as its probability."""
    yield TextLine(14, y, name, "quiet", 11.5)
    for index, one in enumerate(said):
        x = _LEFT + 8 + index * 118.0
        yield Rectangle(x, y + 3, max(one.probability * 104, 0.5), 3, "accent", faint=True)
        yield Symbol(x, y, label(one.symbol, mark=one.symbol == END_SIGN), _fitting(label(one.symbol).text, 66), "start")
        yield TextLine(x + 104, y, f"{one.probability:.2f}", "quiet", 11, "end")
