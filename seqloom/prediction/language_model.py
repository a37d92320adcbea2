"""A trained language model, as the command line and notebooks hold it: it scores text, goes on with it, and shows its mind.

    LanguageModel.load("runs/book").sample(3, prompt="Once ")

A model of lines reads every line by itself, from `begin`. A model of running text reads lines one after the other with its
state carried over; a line's end is the symbol `end`, and the text begins as if an `end` had come before.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from seqloom.data.kinds.text import Limit
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.text_rows import TextRows, line_rows, running_rows
from seqloom.data.vocabulary import Sequences, Vocabulary
from seqloom.errors import DataError, UsageError
from seqloom.prediction.backends import OpenedModel, open_model
from seqloom.prediction.hidden_units import UnitName, checked_unit, most_selective, selectivity_of
from seqloom.prediction.inputs import Advance
from seqloom.prediction.tasks import Watch
from seqloom.prediction.writing import Beginning, Prompt, Speller, Writing
from seqloom.recipe import Recipe
from seqloom.recipe.sections import TARGET, Beam, Sample, Search, SearchSection
from seqloom.results.language import (
    Activations,
    FloatArray,
    GeneratedText,
    IntArray,
    Line,
    Reading,
    ScoredText,
    Studied,
    Unit,
    unknown_pieces,
)
from seqloom.search.bias import biased
from seqloom.search.contracts import Hypothesis, State
from seqloom.search.dispatch import to_the_end
from seqloom.search.endings import endings
from seqloom.search.request import Request
from seqloom.search.running_text import Continued, Endless
from seqloom.symbols import BEGIN, END, UNKNOWN

LENGTH = 500
"""How many symbols a text has at most unless told otherwise."""
ALTERNATIVES = 5
"""How many of the most probable symbols are shown at a place."""

START_UP = 1000
"""In how many symbols a row of a long text brings its state up before what it is there for."""
_WINDOW = 512
_ROW = 10_000
"""A long text is read in rows of at least so many symbols, side by side; less than twice as much is read in one row."""
_MOST_ROWS = 32
_BATCH = 16_384
"""Lines are read together as long as they have no more symbols than this, padding included."""
_SAMPLED_TOGETHER = 256


class LanguageModel:
    """An opened model without a source. `running`: it reads lines as one running text."""

    def __init__(self, model: OpenedModel, *, maximum_input: int | None = None) -> None:
        self._limit = Limit(maximum_input or model.recipe.data.longest_input)
        self._stepper = model.stepper
        self.vocabulary: Vocabulary = model.vocabularies[TARGET]
        self.recipe: Recipe = model.recipe
        self.corpus = model.corpus or Corpus(self.recipe.data, self.recipe.seed)
        self.running = model.recipe.data.text == "stream"

    @classmethod
    def load(cls, folder: str | Path, *, maximum_input: int | None = None) -> Self:
        """Open the best weights of a run. maximum_input: refuse longer lines, in symbols, in place of the recipe's limit."""
        model = open_model(Path(folder))
        if not model.recipe.is_language_model:
            raise UsageError(
                f"{folder}: expected a language model, found a model that reads a source. "
                "Use `predict` to let it write, and `score` and `explain` with sources"
            )
        return cls(model, maximum_input=maximum_input)

    def __repr__(self) -> str:
        return f"LanguageModel({'running text' if self.running else 'lines'}, {self.vocabulary.size} symbols)"

    # --- text in, symbols out ---------------------------------------------------------------------------------------

    def require_readable(self, text: str, where: object, *, part: bool = False) -> None:
        """Refuse a text that is too long. part: if it is a line of running text, any amount of which is read bit by bit."""
        if not (part and self.running):
            self._limit.require(self.vocabulary, text, where)

    def line(self, text: str, *, end: bool = True) -> Line:
        """A line as its symbols, and where they stand; end: with `end` as the last."""
        encoded = self.vocabulary.encode_source(text)
        kept = [index for index, one in enumerate(encoded.ids) if one not in (BEGIN, END)]
        tail = (END,) if end else ()
        ids = (*(int(encoded.ids[index]) for index in kept), *tail)
        spans = (*(encoded.spans[index] for index in kept), *((len(text), len(text)) for _ in tail))
        return Line(text, self.vocabulary.symbols(ids), spans, tuple(one == UNKNOWN for one in ids))

    def count_symbols(self, texts: Sequence[str]) -> int:
        """How many symbols lines have, `end` included. Nothing is computed with them."""
        return len(self._encode(texts).ids)

    def _encode(self, texts: Sequence[str]) -> Sequences:
        """The symbols of every line, `end` behind each."""
        ends = Sequences(np.full(len(texts), END, dtype=np.int64), np.ones(len(texts), dtype=np.int64))
        return Sequences.joined([self.vocabulary.encode_parts(list(texts)), ends])

    def _spell(self, ids: IntArray) -> str:
        """The text of symbols; `end` is a line break, except as the last symbol of a single line."""
        lines = np.split(ids, np.flatnonzero(ids == END))
        written = "\n".join(self.vocabulary.decode(line) for line in lines)
        return written if self.running else written.removesuffix("\n")

    # --- scoring ----------------------------------------------------------------------------------------------------

    def score(
        self, texts: Sequence[str], *, rows: int | None = None, progress: Advance = lambda count: None
    ) -> list[ScoredText]:
        """`log p` of every line and of each of its symbols, `end` included.

        Of running text, lines follow one another. A long one is computed in several rows, side by side; every row but the first
        starts from nothing START_UP symbols early. rows: that many, in place of a number that suits the length; one is exact.
        """
        encoded = self._encode(texts)
        log_probs = np.zeros(len(encoded.ids), np.float32)
        for laid_out in self._text_rows(encoded, rows):
            state = self._stepper.start({}, len(laid_out.inputs))
            for part in laid_out.windows(_WINDOW):
                scores, state = self._stepper.score_stream(part.inputs, part.labels, state)
                log_probs[part.places[part.counted]] = scores[part.counted]
                progress(int(part.counted.sum()))
        return self._scored(texts, encoded, log_probs)

    def read(self, texts: Sequence[str], *, most: int | None = None, progress: Advance = lambda count: None) -> list[Reading]:
        """What the model said at every symbol of every line, in their order.

        most: if the lines have more symbols than this, the most surprising ones up to it, the first of them in any case.
        """
        encoded = self._encode(texts)
        studied = _nothing_studied(len(encoded.ids), min(ALTERNATIVES, self._stepper.vocabulary_size))
        for laid_out in self._text_rows(encoded, None):
            state = self._stepper.start({}, len(laid_out.inputs))
            for part in laid_out.windows(_WINDOW):
                found, state = self._stepper.study_stream(part.inputs, part.labels, state, alternatives=ALTERNATIVES)
                _put(studied, found, part)
                progress(int(part.counted.sum()))
        chosen = _most_surprising(studied.log_probs, encoded.lengths, most)
        return [self._reading(texts, encoded, studied, int(number)) for number in chosen]

    def _text_rows(self, encoded: Sequences, rows: int | None) -> Iterator[TextRows]:
        if self.running:
            suitable = rows or max(1, min(_MOST_ROWS, len(encoded.ids) // _ROW))
            yield running_rows(encoded.ids, rows=suitable, window=_WINDOW, start_up=START_UP)
        else:
            yield from line_rows(encoded, budget=_BATCH)

    def _scored(self, texts: Sequence[str], encoded: Sequences, log_probs: FloatArray) -> list[ScoredText]:
        # A symbol's text is made once, however often it occurs.
        names = {int(one): self.vocabulary.symbol(int(one)) for one in np.unique(encoded.ids)}
        ends = np.cumsum(encoded.lengths)
        found = []
        for text, start, end in zip(texts, (ends - encoded.lengths).tolist(), ends.tolist(), strict=True):
            ids, values = encoded.ids[start:end], log_probs[start:end]
            found.append(
                ScoredText(
                    text=text,
                    log_prob=float(values.sum(dtype=np.float64)),
                    symbols=tuple(map(names.__getitem__, ids.tolist())),
                    log_probs=tuple(values.tolist()),
                    unknown=tuple(np.flatnonzero(ids == UNKNOWN).tolist()),
                )
            )
        return found

    def _reading(self, texts: Sequence[str], encoded: Sequences, studied: Studied, number: int) -> Reading:
        end = int(encoded.lengths[: number + 1].sum())
        own = slice(end - int(encoded.lengths[number]), end)
        return Reading(
            number=number + 1,
            line=self.line(texts[number]),
            log_probs=studied.log_probs[own],
            ranks=studied.ranks[own],
            entropies=studied.entropies[own],
            alternatives=tuple(
                tuple(zip(self.vocabulary.symbols(ids), values.tolist(), strict=True))
                for ids, values in zip(studied.top_ids[own], studied.top_log_probs[own], strict=True)
            ),
            choices=self._stepper.vocabulary_size,
        )

    # --- hidden units -----------------------------------------------------------------------------------------------

    def activations(self, texts: Sequence[str], units: Sequence[UnitName] | None = None) -> Activations:
        """What hidden units show after each symbol is read. units: which; None takes the most selective ones.

        `end` is read in running text only, so only there it has a value.
        """
        lines = tuple(self.line(text, end=self.running) for text in texts)
        hidden = self._hidden(texts)
        values = np.concatenate(hidden)  # [symbols, layers, D]
        if not len(values):
            raise DataError("the text has no symbols, so no unit has a value. Give a text")
        selectivity = selectivity_of(values)
        chosen = most_selective(selectivity) if units is None else [checked_unit(unit, selectivity.shape) for unit in units]
        return Activations(
            lines,
            tuple(
                Unit(layer, number, float(selectivity[layer - 1, number]), tuple(one[:, layer - 1, number] for one in hidden))
                for layer, number in chosen
            ),
        )

    @property
    def layers(self) -> int:
        """How many layers of hidden units there are."""
        return self.recipe.model.decoder.layers

    def _hidden(self, texts: Sequence[str]) -> list[FloatArray]:
        """Per line, the hidden states after each of its symbols, [T, layers, D]."""
        encoded = self._encode(texts)
        if self.running:
            found = self._stepper.hidden_states(np.append(END, encoded.ids), self._stepper.start({}, 1))
            return np.split(found[1:], np.cumsum(encoded.lengths)[:-1])
        lines = np.split(encoded.ids, np.cumsum(encoded.lengths)[:-1])
        return [self._stepper.hidden_states(np.append(BEGIN, ids[:-1]), self._stepper.start({}, 1))[1:] for ids in lines]

    # --- writing ----------------------------------------------------------------------------------------------------

    def sample(
        self,
        count: int = 1,
        *,
        prompt: str = "",
        search: Sample | None = None,
        length: int = LENGTH,
        progress: Advance = lambda count: None,
    ) -> list[GeneratedText]:
        """So many random texts that begin with the prompt. A text depends on the search's seed and its own number alone.

        length: of what is written after the prompt, in symbols. Running text has just that length; a line may end before.
        progress: is told of every symbol.
        """
        section = (search or Sample()).model_copy(update={"count": 1})
        given = self._given(prompt)
        found: list[GeneratedText] = []
        for start in range(0, count, _SAMPLED_TOGETHER):
            keys = np.arange(start, min(count, start + _SAMPLED_TOGETHER))
            writing = self._writing(given, section, keys, length)
            for tokens in writing.steps():
                progress(tokens.size)
            found += [self._generated(given, writing.ids(one[0].tokens), one[0]) for one in writing.hypotheses]
        return found

    def stream(self, *, prompt: str = "", search: Sample | None = None, length: int = LENGTH) -> Iterator[str]:
        """The text that `sample` would give first, piece by piece as it is written, the prompt first."""
        section = (search or Sample()).model_copy(update={"count": 1})
        given = self._given(prompt)
        speller = Speller(self.vocabulary)
        yield "".join(speller.add(int(one)) for one in given.ids)
        writing = self._writing(given, section, np.zeros(1, dtype=np.int64), length)
        for tokens in writing.steps():
            if self.running or tokens[0, 0] != END:
                yield speller.add(int(tokens[0, 0]))

    def complete(
        self, prompt: str = "", *, search: Beam | None = None, length: int = LENGTH, watch: Watch = lambda: None
    ) -> list[GeneratedText]:
        """The most probable ways to end the line that the prompt begins, best first: as many as the beam is wide.

        Only if fewer than that end within `length` symbols do others follow; they are not `finished`. watch: is called at
        every step; what it raises ends the work.
        """
        given = self._given(prompt)
        section = search or Beam(length_power=0.0)
        stepper, state, request = self._start(given, section, np.zeros(1, dtype=np.int64), length)
        [found] = to_the_end(endings(stepper, state, section, request), watch)
        return [self._generated(given, one.tokens, one) for one in found]

    def beginning(self, text: str) -> Beginning:
        """A text that is about to be read, symbol by symbol, by those who want to watch."""
        first = END if self.running else BEGIN
        return Beginning(self._stepper, self._stepper.start({}, 1), first, self._known(text))

    def _known(self, prompt: str) -> IntArray:
        """The symbols of a prompt, all of which the model knows."""
        self.require_readable(prompt, "prompt")
        lines = prompt.replace("\r\n", "\n").split("\n")
        if len(lines) > 1 and not self.running:
            raise UsageError("prompt: it has a line break, but this model was trained on single lines. Give one line")
        pieces = unknown_pieces(self.line(line) for line in lines)
        if pieces:
            named = ", ".join(map(repr, sorted(pieces)))
            raise UsageError(f"prompt: {named} did not occur in training, so the model cannot go on from there. Leave it out")
        return self._encode(lines).ids[:-1]

    def _given(self, prompt: str) -> Prompt:
        """Read the prompt."""
        begun = self.beginning(prompt)
        ids, state = begun.ids, begun.state
        before, log_probs = np.append(begun.first, ids), []
        for place in range(0, len(ids), _WINDOW):
            part = slice(place, min(place + _WINDOW, len(ids)))
            scores, state = self._stepper.score_stream(before[part][None], ids[part][None], state)
            log_probs.append(scores[0])
        return Prompt(ids, np.concatenate([np.zeros(0, np.float32), *log_probs]), int(before[-1]), state)

    def _writing(self, given: Prompt, section: Search, keys: IntArray, length: int) -> Writing:
        continued, state, request = self._start(given, section, keys, length)
        return Writing(Endless(continued) if self.running else continued, state, section, request)

    def _start(self, given: Prompt, section: SearchSection, keys: IntArray, length: int) -> tuple[Continued, State, Request]:
        """All that a search needs in order to go on from what was given."""
        count = len(keys)
        places = np.zeros(count, dtype=np.int64)
        state = given.state if count == 1 else given.state.select(places, places[:, None])
        request = Request(limits=np.full(count, length, dtype=np.int64), keys=keys, forbid=self._forbidden(section))
        stepper = biased(self._stepper, self.vocabulary.by_ids(section.bias))
        return Continued(stepper, given.last), state, request

    def _forbidden(self, section: SearchSection) -> IntArray:
        """What is never written: what the search says, features, and the unknown symbol, which has no text."""
        named = map(self.vocabulary.find, section.forbid)
        return np.asarray([*named, *self.vocabulary.feature_ids, UNKNOWN], dtype=np.int64)

    def _generated(self, given: Prompt, ids: IntArray, hypothesis: Hypothesis) -> GeneratedText:
        whole = np.concatenate([given.ids, ids])
        text = self._spell(whole[:-1] if hypothesis.finished else whole)
        log_probs = (*given.log_probs.tolist(), *hypothesis.log_probs.tolist())
        return GeneratedText(text, self.vocabulary.symbols(whole), log_probs, len(given.ids), hypothesis.finished)


# --- what was found --------------------------------------------------------------------------------------------------


def _nothing_studied(symbols: int, alternatives: int) -> Studied:
    several = (symbols, alternatives)
    return Studied(
        log_probs=np.zeros(symbols, np.float32),
        ranks=np.zeros(symbols, np.int64),
        entropies=np.zeros(symbols, np.float32),
        top_ids=np.zeros(several, np.int64),
        top_log_probs=np.zeros(several, np.float32),
    )


def _put(whole: Studied, found: Studied, part: TextRows) -> None:
    """Put what was found about a window to where it stands in the text."""
    places = part.places[part.counted]
    for name in Studied.__dataclass_fields__:
        getattr(whole, name)[places] = getattr(found, name)[part.counted]


def _most_surprising(log_probs: FloatArray, lengths: IntArray, most: int | None) -> IntArray:
    """The numbers of the lines to show, in order."""
    if most is None or len(log_probs) <= most:
        return np.arange(len(lengths))
    ends = np.cumsum(lengths)
    sums = np.add.reduceat(log_probs.astype(np.float64), ends - lengths)
    order = np.argsort(sums / lengths, kind="stable")
    fits = max(1, int(np.searchsorted(np.cumsum(lengths[order]), most, side="right")))
    chosen: IntArray = np.sort(order[:fits])
    return chosen
