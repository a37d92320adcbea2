"""The tree of a search: a column for each symbol, what was kept above, what was pruned below, and a page that says why."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seqloom.results.search_tree import Branch, SearchTree
from seqloom.views.drawing.elements import Element, as_elements
from seqloom.views.drawing.forms import as_document, write_form
from seqloom.views.drawing.page import foreign, header, number, section, sheet, text, wide, wide_table
from seqloom.views.drawing.sketch import Area, Group, Rectangle, Shape, Sketch, Stroke, Symbol, TextLine
from seqloom.views.text.labels import END_SIGN, estimated_width, isolated, label, shortened, titled

JSON_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away; new fields do not count."""

MOST_PRUNED = 4
"""So many of the pruned continuations of a step are drawn, the best ones; a page and JSON have all that were looked at."""

_LEFT, _TOP, _ROW, _GAP = 34.0, 92.0, 46.0, 34.0
_SYMBOL, _NUMBER = 13.0, 10.0
_MARKS = {"finished": "\u25a0", "cut off": "\u2702", "left": "\u2026"}


def write_tree(tree: SearchTree, path: str | Path) -> Path:
    """Write a search tree as .html, .svg, .png or .json, and return the path."""
    title = f"{_way(tree)}: {titled(tree.sources)}"
    return write_form(
        path,
        {
            ".html": lambda: tree_page(tree, title),
            ".svg": lambda: tree_sketch(tree, title).svg(title),
            ".png": lambda: tree_sketch(tree, title).png(),
            ".json": lambda: as_document(JSON_VERSION, tree.as_json()),
        },
    )


def tree_drawing(tree: SearchTree) -> Element:
    """The tree as data, for a page whose script makes its elements; `data-index` numbers the branches of all steps."""
    return as_elements(tree_sketch(tree, listed=False).inline(f"{_way(tree)}: {titled(tree.sources)}"))


def _way(tree: SearchTree) -> str:
    return "Greedy search" if tree.width == 1 else f"A beam of {tree.width}"


# --- the drawing ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Placed:
    """A branch in the drawing: its middle, how far it reaches to either side, and where its parent's line begins.

    number: its place among the branches of all steps, in order.
    """

    branch: Branch
    number: int
    x: float
    y: float
    half: float
    start: tuple[float, float]


def tree_sketch(tree: SearchTree, title: str = "", *, listed: bool = True) -> Sketch:
    """The tree from left to right. Below a symbol: its probability, and the sum of logarithms up to it.

    listed: with the outputs below.
    """
    placed = _placed(tree)
    behind_first = sorted(placed, key=lambda one: (one.branch.chosen, one.branch.greedy, one.branch.stays))
    lines: list[Shape] = [shape for one in behind_first for shape in _lines(one)]
    nodes: list[Shape] = [Group(_node(one), _told(one.branch), "node", one.number) for one in placed]
    rest = _numbers_left(tree, placed)
    right = max((one.x + one.half for one in placed), default=0.0)
    width = max(right + 20, 640.0, estimated_width(title) * 14 + 40)
    lowest = max([one.y for one in (*placed,)] + [shape.y for shape in rest], default=_TOP)
    heading: list[Shape] = [TextLine(14, 24, title, size=14, bold=True)] if title else []
    root = Area([(_LEFT - 14, _TOP - 4)], "quiet", 4)
    outputs = _outputs(tree, lowest + 54) if listed else []
    height = lowest + 40 + (18 * len(tree.outputs) + 34 if listed else 0)
    return Sketch(width, height, [*heading, *_keys(), *lines, root, *nodes, *rest, *outputs])


def _shown(step: Sequence[Branch]) -> list[int]:
    """Which branches are drawn, in the order of rows: those that stayed, then the best of the others."""
    stay = [index for index, one in enumerate(step) if one.stays]
    others = [index for index, one in enumerate(step) if not one.stays]
    # What greedy search wrote is drawn even where the beam has dropped it.
    chosen = [*others[:MOST_PRUNED], *(index for index in others[MOST_PRUNED:] if step[index].greedy)]
    return [*stay, *chosen]


def _placed(tree: SearchTree) -> list[_Placed]:
    found: list[_Placed] = []
    before: dict[int, _Placed] = {}
    x, before_step = _LEFT, 0
    kept_rows = max((sum(one.stays for one in step) for step in tree.steps), default=1)
    for step in tree.steps:
        rows = _shown(step)
        half = max(estimated_width(label(step[index].symbol).text) for index in rows) * _SYMBOL / 2 + 6
        half = max(half, 30.0)
        x += _GAP + half
        here: dict[int, _Placed] = {}
        pruned = 0
        for row, index in enumerate(rows):
            place = row
            if not step[index].stays:
                place, pruned = kept_rows + pruned, pruned + 1
            parent = before.get(step[index].parent)
            start = (parent.x + parent.half, parent.y - 4) if parent else (_LEFT - 10, _TOP - 4)
            extra = 10.0 if place >= kept_rows else 0.0
            here[index] = _Placed(step[index], before_step + index, x, _TOP + place * _ROW + extra, half, start)
        found += here.values()
        before, x, before_step = here, x + half, before_step + len(step)
    return found


def _lines(one: _Placed) -> list[Shape]:
    """From the parent to a symbol; on top of it the ways of greedy search and of the best output."""
    (left, top), end = one.start, (one.x - one.half, one.y - 4)
    middle = (left + end[0]) / 2
    way = [(left, top), (middle - 6, top), (middle + 6, end[1]), end]
    if not one.branch.stays and not one.branch.greedy:
        return [Stroke(way, "rule", 1)]
    shapes: list[Shape] = [Stroke(way, "quiet", 1, faint=True)]
    if one.branch.greedy:
        shapes.append(Stroke([(x, y + 3) for x, y in way], "doubt", 2, dashed=True))
    if one.branch.chosen:
        shapes.append(Stroke(way, "accent", 2.5))
    return shapes


def _node(one: _Placed) -> list[Shape]:
    branch, mark = one.branch, label(one.branch.symbol, mark=not one.branch.stays or one.branch.symbol == END_SIGN)
    ground = (
        [Rectangle(one.x - one.half, one.y - 13, 2 * one.half, 18, "w4" if branch.chosen else "panel")] if branch.stays else []
    )
    sign = _MARKS.get(branch.fate, "")
    below = f"{_probability(branch)}  {number(branch.total, 2)}"
    shapes: list[Shape] = [
        *ground,
        Symbol(one.x, one.y, mark, _SYMBOL),
        TextLine(one.x, one.y + 16, below, "quiet", _NUMBER, "middle"),
    ]
    if branch.fate == "forbidden":
        shapes.append(Stroke([(one.x - one.half + 4, one.y - 4), (one.x + one.half - 4, one.y - 4)], "doubt", 1.2))
    if sign:
        shapes.append(TextLine(one.x + one.half + 4, one.y, sign, "accent" if branch.fate == "finished" else "quiet", 9))
    return shapes


def _told(branch: Branch) -> str:
    score = "" if branch.score is None else f", score {number(branch.score)}"
    return (
        f"{isolated(label(branch.symbol).full)}: {branch.fate}; {branch.reason}. "
        f"Probability {math.exp(branch.log_prob):.4f}, sum {number(branch.total)}{score}"
    )


def _probability(branch: Branch) -> str:
    value = math.exp(min(branch.log_prob, 0.0))
    return f"{value:.2f}" if value >= 0.01 else f"{value:.0e}".replace("e-0", "e\u2212").replace("e-", "e\u2212")


def _numbers_left(tree: SearchTree, placed: Sequence[_Placed]) -> list[TextLine]:
    """Below each column, how many more continuations were pruned than are drawn."""
    words = []
    start = 0
    for step in tree.steps:
        drawn = _shown(step)
        column = placed[start : start + len(drawn)]
        start += len(drawn)
        if len(step) > len(drawn):
            lowest = max(one.y for one in column)
            words.append(TextLine(column[0].x, lowest + 36, f"and {len(step) - len(drawn)} more", "quiet", _NUMBER, "middle"))
    return words


def _keys() -> list[Shape]:
    return [
        Stroke([(14, 44), (36, 44)], "accent", 2.5),
        TextLine(42, 48, "the best output", size=11.5),
        Stroke([(150, 44), (172, 44)], "doubt", 2, dashed=True),
        TextLine(178, 48, "greedy search", size=11.5),
        Rectangle(272, 38, 16, 12, "panel"),
        TextLine(294, 48, "kept", size=11.5),
        TextLine(332, 48, "without ground: pruned", "quiet", 11.5),
        TextLine(
            14, 66, "below a symbol: its probability, and the sum of logarithms up to it;  \u25a0 an output ends", "quiet", 11.5
        ),
    ]


def _outputs(tree: SearchTree, top: float) -> list[Shape]:
    shapes: list[Shape] = [TextLine(14, top, "outputs, by score", "quiet", 11.5)]
    for index, one in enumerate(tree.outputs, start=1):
        y = top + 18 * index
        said = f"{index}   score {number(one.score)}   log p {number(one.log_prob)}   symbols {one.length}"
        shapes += [
            TextLine(14, y, said, "quiet", 11.5),
            TextLine(290, y, shortened(one.text, 80) or "\u2205", size=12, bold=index == 1),
        ]
    return shapes


# --- the page -------------------------------------------------------------------------------------------------------


def tree_page(tree: SearchTree, title: str) -> str:
    """The drawing, the outputs, and every step with all of its continuations and what became of each."""
    return sheet(
        title,
        header(title, _summary(tree)),
        section("", wide(tree_sketch(tree, listed=False).inline(title))),
        section("Outputs", _output_table(tree)),
        section("Step by step", "".join(_step_table(tree, index) for index in range(len(tree.steps)))),
    )


def _summary(tree: SearchTree) -> str:
    looked, taken = sum(map(len, tree.steps)), sum(one.stays for step in tree.steps for one in step)
    return f"{_way(tree)}: {len(tree.steps)} steps, {looked} continuations looked at, {taken} taken."


def _output_table(tree: SearchTree) -> str:
    rows = "".join(
        f"<tr><td class=num>{index}</td><th>{foreign(one.text or chr(0x2205))}</th><td class=num>{number(one.score)}</td>"
        f"<td class=num>{number(one.log_prob)}</td><td class=num>{one.length}</td>"
        f"<td>{'' if one.finished else 'cut off'}</td></tr>"
        for index, one in enumerate(tree.outputs, start=1)
    )
    head = "".join(f"<th class=num>{one}</th>" for one in ("score", "log p", "symbols"))
    how = "the log-probability" if not tree.length_power else f"the log-probability / symbols<sup>{tree.length_power:g}</sup>"
    greedy = f"Greedy search writes {foreign(tree.greedy[0] or chr(0x2205))}, log p {number(tree.greedy[1])}."
    table = wide_table(f"<th></th><th>output</th>{head}<th></th>", rows)
    return f"{table}<p>The score is {how}. {greedy}</p>"


def _step_table(tree: SearchTree, index: int) -> str:
    step = tree.steps[index]
    rows = "".join(_row(tree, index, one) for one in step)
    head = "<th>after</th><th>symbol</th><th class=num>probability</th><th class=num>sum</th><th>what became of it</th>"
    taken = " ".join(foreign(label(one.symbol).text) for one in step if one.stays)
    return f"<details><summary>Step {index + 1}: {taken}</summary>{wide_table(head, rows)}</details>"


def _row(tree: SearchTree, index: int, branch: Branch) -> str:
    before, place, step = [], branch.parent, index - 1
    while place >= 0:
        before.append(tree.steps[step][place].symbol)
        place, step = tree.steps[step][place].parent, step - 1
    written = " ".join(foreign(label(one).text) for one in reversed(before)) or '<span class="small">begin</span>'
    named = foreign(label(branch.symbol).text)
    return (
        f"<tr><td>{written}</td><th>{f'<b>{named}</b>' if branch.chosen else named}</th>"
        f"<td class=num>{math.exp(branch.log_prob):.4f}</td><td class=num>{number(branch.total)}</td>"
        f"<td>{branch.fate}: {text(branch.reason)}{'' if branch.score is None else f', score {number(branch.score)}'}</td></tr>"
    )
