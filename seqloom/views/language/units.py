"""Single hidden units over a text: what each shows after a symbol is read, as the background of that symbol."""

from collections.abc import Sequence

from seqloom.results.language import Activations, Unit
from seqloom.views.drawing.page import headline, number, page
from seqloom.views.language.shading import Shade, shaded
from seqloom.views.language.surprise import STYLES


def units_page(activations: Activations, title: str) -> str:
    """The text once for each unit."""
    # Cells squash what they show to 1 and less; the layers of a transformer do not.
    scale = max([1.0, *(float(abs(values).max(initial=0.0)) for unit in activations.units for values in unit.values)])
    units = "".join(_unit(activations, unit, scale) for unit in activations.units)
    most = f"{scale:.2g}"
    legend = (
        f'<p class="shades"><span>\u2212{most}</span><i class="both"></i><span>{most}</span>'
        "<span>value of the unit after the symbol is read</span></p>"
    )
    body = f'<main class="report language"><header>{headline(title)}{legend}</header>{units}</main>'
    return page(title, body, styles=STYLES)


def _unit(activations: Activations, unit: Unit, scale: float) -> str:
    lines = []
    for line, values in zip(activations.lines, unit.values, strict=True):

        def shade(symbols: Sequence[int], values: Sequence[float] = tuple(values.tolist())) -> Shade:
            # Symbols that share a shape show the last one's value: that is what the unit holds when the shape is read.
            value = values[symbols[-1]]
            return Shade(value / scale, number(value, 2))

        lines.append(f'<p class="line">{shaded(line, shade)}</p>')
    place = f"layer {unit.layer}, unit {unit.number}"
    return (
        f'<section class="unit"><h2>{place}<small>selectivity {number(unit.selectivity)}</small></h2>{"".join(lines)}</section>'
    )
