"""What goes wrong, as one self-contained page that looks like the report."""

from collections.abc import Sequence
from dataclasses import dataclass

from seqloom.results.mistakes import Case, EditCount, Grouping, JudgedGroup, Mistakes
from seqloom.views.charts.plots import bar_chart
from seqloom.views.drawing.page import foreign, header, number, section, sheet, text, wide_table
from seqloom.views.maps.exhibits import Shown, as_exhibit
from seqloom.views.pages.report import (
    ATTENTION_SCRIPTS,
    ATTENTION_STYLES,
    ShownExample,
    attention,
    charts,
    class_tables,
    example_list,
)
from seqloom.views.text.labels import shortened
from seqloom.wording import counted

_MOST_CONFUSIONS = 40
LONGEST = 60
"""Longer texts are cut in tables."""
NOTHING = "\u2205"
"""What stands where nothing was wanted or written."""


@dataclass(frozen=True)
class Page:
    """What a page of mistakes shows besides them. worst: the predictions of `mistakes.worst`, in the same order."""

    title: str
    measured_on: str
    mistakes: Mistakes
    worst: Sequence[Shown]


def to_html(shown: Page) -> str:
    """Write the page, which needs no network."""
    mistakes = shown.mistakes
    confused = _confusions(mistakes) if mistakes.classes is None else class_tables(mistakes.classes)
    parts = (
        header(
            shown.title,
            f"{mistakes.wrong:,} of {mistakes.count:,} outputs are wrong. Measured on {shown.measured_on}.",
            notes=mistakes.notes,
            facts=_facts(mistakes),
        ),
        section("Classes" if mistakes.classes else "What is taken for what", confused),
        *(section(f"By {one.name}", _grouping(one, mistakes)) for one in mistakes.by),
        section("Worst outputs", _worst(shown)),
    )
    return sheet(shown.title, *parts, styles=ATTENTION_STYLES, scripts=ATTENTION_SCRIPTS)


def _facts(mistakes: Mistakes) -> list[tuple[str, str]]:
    right = 100.0 * (mistakes.count - mistakes.wrong) / max(1, mistakes.count)
    facts = [("exact match", f"{right:.2f} %")]
    if mistakes.classes is None:
        facts.append((f"edits per 100 {mistakes.unit}", f"{mistakes.error_rate:.2f}"))
        facts += [(kind, f"{count:,}") for kind, count in mistakes.edits.items()]
    if mistakes.unseen:
        facts.append(("wanted, never seen in training", counted(mistakes.unseen, "symbol")))
    return facts


def _confusions(mistakes: Mistakes) -> str:
    if not mistakes.confusions:
        return ""
    shown = mistakes.confusions[:_MOST_CONFUSIONS]
    titles = ("times", "of all edits", "of wanted")
    head = "<th></th><th>wanted</th><th>written</th>" + "".join(f"<th class=num>{title}</th>" for title in titles)
    rows = "".join(_confusion_row(one) for one in shown)
    left = len(mistakes.confusions) - len(shown)
    rest = f" {left:,} rarer ones are not shown." if left else ""
    return (
        f"<p>Edits that make the closest reference the output, in {mistakes.unit}. {NOTHING} stands for nothing.{rest}</p>"
        f"{wide_table(f'{head}<th>examples: source, reference, output</th>', rows)}"
    )


def _confusion_row(one: EditCount) -> str:
    of = "" if one.of is None else f"{one.count:,} / {one.of:,}"
    cells = "".join(f"<td class=num>{cell}</td>" for cell in (f"{one.count:,}", f"{number(one.share, 1)} %", of))
    cases = "<br>".join(_case(case) for case in one.examples)
    symbols = "".join(f"<td>{foreign(seen(symbol))}</td>" for symbol in (one.wanted, one.written))
    return f'<tr><th>{one.kind}</th>{symbols}{cells}<td class="cases">{cases}</td></tr>'


def _case(case: Case) -> str:
    return " \u2192 ".join(foreign(shortened(one, LONGEST), tag="bdi") for one in (case.source, case.wanted, case.written))


def seen(symbol: str | None) -> str:
    """A symbol that can be seen: a space has a sign of its own, and so has nothing."""
    if symbol is None:
        return NOTHING
    return symbol if symbol.strip() else "\u2423"


def _grouping(grouping: Grouping, mistakes: Mistakes) -> str:
    def bars(value: str) -> list[tuple[str, float, str]]:
        return [(one.title, _value(one, value), f"n={one.count:,}") for one in grouping.groups]

    drawn = [bar_chart("exact_match", bars("exact_match"), highest=100.0)]
    if mistakes.classes is None:
        drawn.insert(0, bar_chart(f"edits per 100 {mistakes.unit}", bars("error_rate")))
    return f"<p>Counted: {text(grouping.counted)}.</p>{charts(drawn)}"


def _value(group: JudgedGroup, name: str) -> float:
    return group.exact_match if name == "exact_match" else group.error_rate


def _worst(shown: Page) -> str:
    """Each wrong output with its reference, and where the model looked."""
    parts = []
    for mistake, prediction in zip(shown.mistakes.worst, shown.worst, strict=True):
        rate = "wrong" if shown.mistakes.classes else f"{counted(mistake.edits, 'edit')}, {mistake.error_rate:.0f} %"
        note = f"{rate}; p {mistake.probability:.2g}"
        parts.append(example_list([ShownExample(prediction, mistake.case.wanted, note, mistake.others)]))
        exhibit = as_exhibit(prediction)
        if exhibit.prediction.alignment:
            parts.append(attention(exhibit))
    return "".join(parts)
