"""What training shows: a live display on a terminal, plain lines elsewhere, or nothing."""

import contextlib
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from seqloom.system.terminals import visible

if TYPE_CHECKING:
    from seqloom.training.validation import ValidationResult

_WINDOW = 50
_PLAIN_SECONDS = 10.0
_TIMED_UPDATES, _TIMED_SECONDS = 10, 3.0
"""After so many updates, and so long, it can be said how long training will take ..."""
_WORTH_SAYING = 20.0
"""... if it is longer than this."""


@dataclass(frozen=True)
class StepReport:
    """One update: how many target symbols it saw, their mean loss, and the learning rate. seconds: of training so far."""

    step: int
    seconds: float
    symbols: int
    loss: float
    learning_rate: float


class Display(Protocol):
    """What the loop tells its watcher."""

    def say(self, text: str) -> None:
        """Show a sentence."""
        ...

    def preparing(self, what: str, count: int) -> None:
        """Data is being read: so many examples of it."""
        ...

    def started(self, *, step: int, total: int, steps_per_epoch: int, waste: float) -> None:
        """Training begins, or goes on from `step`. waste: the share of padding."""
        ...

    def stepped(self, report: StepReport) -> None:
        """One update is done."""
        ...

    def validated(self, step: int, result: "ValidationResult", *, best: bool) -> None:
        """The model was judged."""
        ...

    def closed(self) -> None:
        """Training is over, or was interrupted."""
        ...


class SilentDisplay:
    """Shows nothing: for Python callers."""

    def say(self, text: str) -> None:
        """Do not."""

    def preparing(self, what: str, count: int) -> None:
        """Do not."""

    def started(self, *, step: int, total: int, steps_per_epoch: int, waste: float) -> None:
        """Do not."""

    def stepped(self, report: StepReport) -> None:
        """Do not."""

    def validated(self, step: int, result: "ValidationResult", *, best: bool) -> None:
        """Do not."""

    def closed(self) -> None:
        """Do not."""


class _Rates:
    """Tokens per second and mean loss over the last updates."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, int, float]] = deque(maxlen=_WINDOW)

    def add(self, report: StepReport) -> None:
        self._recent.append((report.seconds, report.symbols, report.loss))

    @property
    def tokens_per_second(self) -> float:
        if len(self._recent) < 2:
            return 0.0
        spent = self._recent[-1][0] - self._recent[0][0]
        return sum(symbols for _, symbols, _ in list(self._recent)[1:]) / spent if spent > 0 else 0.0

    @property
    def loss(self) -> float:
        symbols = sum(symbols for _, symbols, _ in self._recent)
        return sum(symbols * loss for _, symbols, loss in self._recent) / max(1, symbols)


class _Estimate:
    """Says once, after the first few updates, how long all of them will take."""

    def __init__(self) -> None:
        self._first: StepReport | None = None
        self._told = False
        self._total = 0

    def start(self, total: int) -> None:
        self._total = total

    def sentence(self, report: StepReport) -> str:
        """What to say after an update; mostly nothing."""
        if self._told or self._first is None:
            self._first = self._first or report
            return ""
        updates, seconds = report.step - self._first.step, report.seconds - self._first.seconds
        if updates < _TIMED_UPDATES or seconds < _TIMED_SECONDS:
            return ""
        self._told = True
        left = (self._total - report.step) * seconds / updates
        if left < _WORTH_SAYING:
            return ""
        return f"{seconds / updates:.2g} s an update: about {_duration(left)} more, unless it ends before"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


class PlainDisplay:
    """Lines for logs: now and then where training stands, and every validation."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rates = _Rates()
        self._estimate = _Estimate()
        self._told = 0.0
        self._total = 0

    def say(self, text: str) -> None:
        """Print it; if nobody listens any more, training goes on in silence."""
        with contextlib.suppress(BrokenPipeError):
            self._console.print(visible(text), highlight=False, soft_wrap=True, markup=False)

    def preparing(self, what: str, count: int) -> None:
        """Print now and then."""
        if time.monotonic() - self._told > _PLAIN_SECONDS:
            self._told = time.monotonic()
            self.say(f"{what}: {count:,}")

    def started(self, *, step: int, total: int, steps_per_epoch: int, waste: float) -> None:
        """Print the plan."""
        self._total = total
        self._estimate.start(total)
        self._told = time.monotonic()
        self.say(_plan(step, total, steps_per_epoch, waste))

    def stepped(self, report: StepReport) -> None:
        """Print now and then."""
        self._rates.add(report)
        if sentence := self._estimate.sentence(report):
            self.say(sentence)
        if time.monotonic() - self._told > _PLAIN_SECONDS:
            self._told = time.monotonic()
            self.say(
                f"step {report.step:,} of {self._total:,}  loss {self._rates.loss:.4f}  "
                f"{self._rates.tokens_per_second:,.0f} tokens/s  {report.seconds:.0f} s"
            )

    def validated(self, step: int, result: "ValidationResult", *, best: bool) -> None:
        """Print loss and metrics."""
        for line in _verdict(step, result, best=best):
            self.say(line)

    def closed(self) -> None:
        """Nothing is open."""


class LiveDisplay:
    """A progress bar with numbers beside it, and the validations above, on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rates = _Rates()
        self._estimate = _Estimate()
        self._numbers = Text("")
        self._bar = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task("preparing", total=None)
        self._live = Live(Group(self._bar, self._numbers), console=console, refresh_per_second=4, transient=True)
        self._live.start()

    def say(self, text: str) -> None:
        """Print it above the bar."""
        self._live.console.print(visible(text), highlight=False, markup=False)

    def preparing(self, what: str, count: int) -> None:
        """Show the count in the bar's place."""
        self._bar.update(self._task, description=what, completed=count)

    def started(self, *, step: int, total: int, steps_per_epoch: int, waste: float) -> None:
        """Show the plan and start the bar."""
        self.say(_plan(step, total, steps_per_epoch, waste))
        self._estimate.start(total)
        self._bar.reset(self._task, total=total, completed=step, description="training")

    def stepped(self, report: StepReport) -> None:
        """Move the bar."""
        self._rates.add(report)
        if sentence := self._estimate.sentence(report):
            self.say(sentence)
        self._bar.update(self._task, completed=report.step)
        rate = f"{self._rates.tokens_per_second:,.0f} tokens/s"
        self._numbers.plain = f"loss {self._rates.loss:.4f}   {rate}   learning rate {report.learning_rate:.2e}"

    def validated(self, step: int, result: "ValidationResult", *, best: bool) -> None:
        """Print numbers and a few samples above the bar."""
        for line in _verdict(step, result, best=best):
            self.say(line)
        self._live.console.print(Text(visible(result.texts[0]), style="dim") if result.texts else _samples(result))

    def closed(self) -> None:
        """Remove the bar."""
        self._live.stop()


_UNUSED = (
    "  the model does not use its source: wrong sources give nearly the same loss. "
    "Train longer; if it stays so, check that the columns belong together (seqloom check)"
)


def open_display() -> Display:
    """A live display if standard error is a terminal, else plain lines there; results alone go to standard output."""
    console = Console(stderr=True)
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)


def _plan(step: int, total: int, steps_per_epoch: int, waste: float) -> str:
    begin = f"going on from step {step:,}" if step else "starting"
    return f"{begin}: {total:,} steps, {steps_per_epoch:,} an epoch, padding {100 * waste:.1f} %"


def _verdict(step: int, result: "ValidationResult", *, best: bool) -> list[str]:
    """What a validation found, as lines."""
    found = f"validation at step {step:,}: {_numbers(result)}{'  (best)' if best else ''}"
    return [found] if result.uses_source else [found, _UNUSED]


_PRECISE = frozenset({"loss", "bits_per_symbol"})


def _numbers(result: "ValidationResult") -> str:
    return "  ".join(
        f"{name} {value:.4f}" if name in _PRECISE else f"{name} {value:.1f}"
        for name, value in result.values.items()
        if name not in result.silent
    )


def _samples(result: "ValidationResult") -> Table:
    table = Table(box=None, padding=(0, 2), show_header=True, header_style="dim")
    sources = " | ".join(result.samples[0][0].sources) if result.samples else "source"
    for title in (sources, "output", "wanted"):
        table.add_column(title, overflow="ellipsis", no_wrap=True, max_width=48)
    for prediction, reference in result.samples[:3]:
        style = "green" if prediction.text == reference else "red"
        source = " | ".join(prediction.sources.values())
        table.add_row(Text(visible(source)), Text(visible(prediction.text), style=style), Text(visible(reference)))
    return table
