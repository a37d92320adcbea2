"""The report of a run: one self-contained page from plain data that the caller has collected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from seqloom.results.confusion import Classes, ClassQuality
from seqloom.views.charts.plots import Panel, bar_chart, line_chart, spoken
from seqloom.views.drawing.page import foreign, header, number, section, sheet, text, wide_table
from seqloom.views.drawing.pixels import data_uri, rgb_png, shrunk
from seqloom.views.maps import heatmap, listening
from seqloom.views.maps.exhibits import Exhibit, Picture, Shown, as_exhibit
from seqloom.views.pages.differences import marked_pair

_RANGE = ("from", "to", "count")
_PERCENT = 100.0
_THUMBNAIL = 160
ATTENTION_STYLES = (*heatmap.STYLES, *listening.STYLES)
ATTENTION_SCRIPTS = (*heatmap.SCRIPTS, *listening.SCRIPTS)


@dataclass(frozen=True)
class Metric:
    """One measured quality. interval: the ends of its 95 % confidence interval. signature: how exactly it was computed.

    percent: whether it is a number between 0 and 100, as most are, which can be drawn on a line.
    """

    name: str
    value: float
    interval: tuple[float, float] | None = None
    signature: str = ""
    percent: bool = True


@dataclass(frozen=True)
class ShownExample:
    """A prediction beside what it should have been; one about pictures as an exhibit, with their pixels.

    note: anything to say of it, such as its number of errors. others: what would have been as right.
    """

    shown: Shown
    reference: str
    note: str = ""
    others: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """All that a report shows; whatever is empty is left out.

    facts: label and value, such as the size of the model. panels: charts over training. validation: one row per validation,
    as a table. by_length: rows with `from`, `to`, `count` and one value per metric. classes: which are found and
    which are confused, where outputs are classes. best and worst: examples.
    maps: predictions whose attention is shown; those about pictures as exhibits, with their pixels. texts: what a language
    model wrote, each below a caption. recipe_text: the resolved recipe. notes: sentences at the top.
    """

    title: str
    summary: str = ""
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    metrics: Sequence[Metric] = ()
    panels: Sequence[Panel] = ()
    validation: Sequence[Mapping[str, float | str]] = ()
    by_length: Sequence[Mapping[str, float]] = ()
    classes: Classes | None = None
    best: Sequence[ShownExample] = ()
    worst: Sequence[ShownExample] = ()
    maps: Sequence[Shown] = ()
    texts: Sequence[tuple[str, str]] = ()
    recipe_text: str = ""


def to_html(report: Report) -> str:
    """Write the report as one HTML page that needs no network."""
    parts = (
        header(report.title, report.summary, notes=report.notes, facts=report.facts),
        section("Quality", _metrics(report.metrics)),
        section("Classes", "" if report.classes is None else class_tables(report.classes)),
        section("Training", charts(line_chart(panel) for panel in report.panels) + _validation(report.validation)),
        section("Quality by source length", charts(_by_length(report.by_length))),
        section("Worst outputs", example_list(report.worst)),
        section("Best outputs", example_list(report.best)),
        section("Attention", "".join(attention(as_exhibit(one)) for one in report.maps)),
        section("What it writes", "".join(_written(*one) for one in report.texts)),
        section("Recipe", _recipe(report.recipe_text)),
    )
    return sheet(report.title, *parts, styles=ATTENTION_STYLES, scripts=ATTENTION_SCRIPTS if report.maps else ())


def attention(exhibit: Exhibit) -> str:
    """Where a model looked; over a sound, where it listened. Sources beside the sound have their maps below."""
    if listening.heard_source(exhibit) is None:
        return heatmap.component(exhibit, compact=True)
    heard = listening.component(exhibit, named=True, largest=listening.LARGEST_AMONG_OTHERS)
    return heard if len(exhibit.prediction.alignment) == 1 else heard + heatmap.component(exhibit, compact=True)


def _metrics(metrics: Sequence[Metric]) -> str:
    if not metrics:
        return ""
    rows = "".join(_metric_row(one) for one in metrics)
    head = "<th>metric</th><th class=num>value</th><th class=num>95 % interval</th><th></th><th>computed as</th>"
    return wide_table(head, rows, "metrics")


def _metric_row(metric: Metric) -> str:
    interval = ""
    if metric.interval is not None:
        interval = f"{number(metric.interval[0], 2)} \u2013 {number(metric.interval[1], 2)}"
    return (
        f"<tr><th>{text(metric.name)}</th><td class='num value'>{number(metric.value, 2)}</td>"
        f"<td class='num'>{interval}</td><td>{_interval_bar(metric)}</td>"
        f"<td class='signature'>{text(metric.signature)}</td></tr>"
    )


def _interval_bar(metric: Metric) -> str:
    """Draw the value and its interval on a line from 0 to 100, for metrics that live there."""
    low, high = metric.interval or (metric.value, metric.value)
    if not metric.percent or not 0 <= low <= high <= _PERCENT + 1e-6:  # a perfect BLEU is a rounding error above 100
        return ""
    place, start = metric.value * 1.6, low * 1.6
    return (
        '<svg class="sl" width="164" height="12" viewBox="-2 0 164 12" aria-hidden="true">'
        '<line class="axis" x1="0" x2="160" y1="6" y2="6"/>'
        f'<rect class="accent bar" x="{start:.1f}" y="3" width="{max((high - low) * 1.6, 1):.1f}" height="6" rx="1"/>'
        f'<rect class="ink" x="{place - 0.75:.1f}" y="0" width="1.5" height="12"/></svg>'
    )


_MOST_CLASSES = 20
_MOST_CONFUSIONS = 12


def class_tables(classes: Classes) -> str:
    """Each class with what is found of it; then what is taken for what, as a table of all where there are few."""
    rows = "".join(_class_row(one) for one in classes.qualities[:_MOST_CLASSES])
    head = "".join(f"<th class=num>{title}</th>" for title in ("wanted", "written", "precision", "recall", "F1"))
    left = len(classes.names) - _MOST_CLASSES
    rest = f" The {left:,} rarest classes are not shown." if left > 0 else ""
    return (
        f"{wide_table(f'<th>class</th>{head}', rows)}"
        f"<p>Mean F1 of all wanted classes: {number(classes.macro_f1, 2)}.{rest}</p>"
        f"{_confusion_table(classes) if left <= 0 else _confusion_list(classes)}"
    )


def _class_row(one: ClassQuality) -> str:
    shares = ("" if share is None else number(share, 2) for share in (one.precision, one.recall, one.f1))
    cells = "".join(f"<td class=num>{cell}</td>" for cell in (f"{one.wanted:,}", f"{one.written:,}", *shares))
    return f"<tr><th>{foreign(one.name)}</th>{cells}</tr>"


def _confusion_table(classes: Classes) -> str:
    """Rows are wanted, columns written; a cell is the darker the more of its row is in it."""
    names = classes.names
    head = "".join(f"<th class=num>{foreign(name)}</th>" for name in names)
    rows = "".join(
        f"<tr><th>{foreign(name)}</th>{''.join(_confusion_cell(count, max(1, sum(counts))) for count in counts)}</tr>"
        for name, counts in zip(names, classes.table(names), strict=True)
    )
    return f"<h3>Rows: wanted. Columns: written.</h3>{wide_table(f'<th></th>{head}', rows, 'confusions')}"


def _confusion_cell(count: int, total: int) -> str:
    return f'<td class=num style="--share: {_PERCENT * count / total:.0f}%">{count:,}</td>' if count else "<td></td>"


def _confusion_list(classes: Classes) -> str:
    rows = "".join(
        f"<tr><td>{foreign(one.wanted)}</td><td>{foreign(one.written)}</td><td class=num>{one.count:,}</td></tr>"
        for one in classes.confusions[:_MOST_CONFUSIONS]
    )
    return wide_table("<th>wanted</th><th>written instead</th><th class=num>times</th>", rows) if rows else ""


def charts(drawings: Iterable[str]) -> str:
    """Charts beside each other."""
    drawn = "".join(drawings)
    return f'<div class="charts">{drawn}</div>' if drawn else ""


def _validation(rows: Sequence[Mapping[str, float | str]]) -> str:
    if not rows:
        return ""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th class=num>{text(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td class=num>{_cell(row.get(name, ''))}</td>" for name in columns) + "</tr>" for row in rows
    )
    return f"<details><summary>All {len(rows)} validations</summary>{wide_table(head, body)}</details>"


def _cell(value: float | str) -> str:
    return text(value) if isinstance(value, str) else spoken(value)


def _by_length(rows: Sequence[Mapping[str, float]]) -> list[str]:
    """One chart per metric; below each bar the range of source lengths and how many examples fell into it."""
    names = list(dict.fromkeys(name for row in rows for name in row if name not in _RANGE))
    return [
        bar_chart(
            name,
            [(_length_range(row), row[name], f"n={int(row.get('count', 0))}") for row in rows if name in row],
            highest=_PERCENT if name == "exact_match" else None,
            x_label="symbols in the source",
        )
        for name in names
    ]


def _length_range(row: Mapping[str, float]) -> str:
    low, high = int(row["from"]), int(row["to"])
    return str(low) if low == high else f"{low}\u2013{high}"


def example_list(examples: Sequence[ShownExample]) -> str:
    """Outputs beside what was wanted, one below the other."""
    if not examples:
        return ""
    return f'<ol class="examples">{"".join(_example(one) for one in examples)}</ol>'


def _example(example: ShownExample) -> str:
    exhibit = as_exhibit(example.shown)
    prediction = exhibit.prediction
    features = "".join(foreign(one, "feature") for one in prediction.features)
    sources = "".join(
        f"<dt dir=auto>{text(name)}</dt><dd>{features if index == 0 else ''}{_source(one, exhibit.pictures.get(name))}</dd>"
        for index, (name, one) in enumerate(prediction.sources.items())
    )
    note = f'<p class="small" dir="auto">{text(example.note)}</p>' if example.note else ""
    score = f'<p class="small">log p {number(prediction.log_prob)}</p>'
    return f"<li><dl>{sources}{_compared(example, prediction.text)}</dl><div>{note}{score}</div></li>"


def _source(given: str, picture: Picture | None) -> str:
    """A source as it was given; a picture with its name above it."""
    if picture is None:
        return foreign(given)
    return f'{foreign(given, "named")}<img src="{data_uri(rgb_png(shrunk(picture.pixels, _THUMBNAIL)))}" alt="">'


def _compared(example: ShownExample, output: str) -> str:
    """The reference and the output with their differences; of several references none is the one to differ from."""
    if example.others:
        wanted = "<br>".join(foreign(one) for one in (example.reference, *example.others))
        return f"<dt>references</dt><dd>{wanted}</dd><dt>output</dt><dd>{foreign(output)}</dd>"
    marked, written = marked_pair(example.reference, output)
    return (
        f'<dt>reference</dt><dd><span dir="auto">{marked}</span></dd><dt>output</dt><dd><span dir="auto">{written}</span></dd>'
    )


def _written(caption: str, written: str) -> str:
    return f'<h3>{text(caption)}</h3><pre class="written" dir="auto">{text(written)}</pre>'


def _recipe(recipe_text: str) -> str:
    if not recipe_text.strip():
        return ""
    return f'<details><summary>The resolved recipe</summary><pre dir="ltr">{text(recipe_text)}</pre></details>'
