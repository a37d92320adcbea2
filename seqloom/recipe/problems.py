"""What is wrong with a recipe, in words a person can act on.

pydantic judges; this module explains. It walks the refused data along the sections' own annotations, because pydantic's
error locations mix union tags and type names with the keys a person wrote, and one wrong value in a union gives several errors.
"""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from re import fullmatch
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from seqloom.recipe.sections import Aligned, ColumnName, Files, Recipe, Section

Place = tuple[str | int, ...]
"""The keys, and numbers in lists, that lead from the top of a recipe to one of its values."""

OTHER_NAMES = {
    "batch": "batch_tokens",
    "beam_size": "width",
    "beam_width": "width",
    "clip_norm": "clip",
    "hidden_size": "size",
    "lr": "learning_rate",
    "max_length": "maximum_length",
    "max_steps": "steps",
    "num_heads": "heads",
    "num_layers": "layers",
    "rnn_type": "cell",
    "tokenizer": "vocabularies",
    "type": "kind",
    "units": "size",
}
"""What other toolkits call our keys, where the spelling alone would not lead there."""

OTHER_WORDS = {
    "bahdanau": "additive",
    "bfloat16": "bf16",
    "char": "characters",
    "chars": "characters",
    "float32": "fp32",
    "general": "bilinear",
    "gpu": "cuda",
    "luong": "dot",
    "sentencepiece": "unigram",
}
"""What others call the words and kinds that we offer."""


# --- what may stand where -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """One type that may stand at a place, with its bounds (`ge`, `gt`, `le`, `lt`)."""

    form: Any
    bounds: tuple[tuple[str, float], ...] = ()

    @property
    def is_section(self) -> bool:
        """Whether a mapping of keys may stand here."""
        return isinstance(self.form, type) and issubclass(self.form, Section)

    @property
    def is_list(self) -> bool:
        """Whether a list may stand here."""
        return get_origin(self.form) is tuple


@dataclass(frozen=True)
class Slot:
    """A place of a recipe: all that may stand there."""

    options: tuple[Option, ...]
    optional: bool = False
    required: bool = False
    default_kind: str | None = None

    @property
    def sections(self) -> tuple[type[Section], ...]:
        """The sections that may stand here."""
        return tuple(option.form for option in self.options if option.is_section)

    @property
    def kinds(self) -> dict[str, type[Section]]:
        """The sections that `kind` chooses from; empty where there is no choice."""
        return {kind_of(section): section for section in self.sections} if len(self.sections) > 1 else {}

    @property
    def words(self) -> tuple[str, ...]:
        """The words to choose from, where there is such a choice."""
        return tuple(word for option in self.options if get_origin(option.form) is Literal for word in get_args(option.form))

    @property
    def list_form(self) -> Any | None:
        """The tuple type that may stand here, if any."""
        return next((option.form for option in self.options if option.is_list), None)

    def chosen(self, value: Mapping[str, object]) -> type[Section] | None:
        """Choose the section that a mapping is meant to be, or None if its `kind` is not known."""
        if not self.kinds:
            return self.sections[0] if self.sections else None
        kind = value.get("kind", self.default_kind)
        return self.kinds.get(kind) if isinstance(kind, str) else None


def kind_of(section: type[Section]) -> str:
    """Return what `kind` must say to mean this section."""
    return str(section.model_fields["kind"].default)


def slot_of(annotation: Any, metadata: Iterable[Any] = ()) -> Slot:
    """Take an annotation apart into its options."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *outer = get_args(annotation)
        unpacked = [item for entry in outer for item in (entry.metadata if isinstance(entry, FieldInfo) else [entry])]
        return slot_of(inner, [*metadata, *unpacked])
    if origin in (Union, UnionType):
        slots = [slot_of(member, metadata) for member in get_args(annotation)]
        return Slot(tuple(option for slot in slots for option in slot.options), any(slot.optional for slot in slots))
    if annotation in (None, NoneType):
        return Slot((), optional=True)
    bounds = [(name, getattr(item, name)) for item in metadata for name in ("ge", "gt", "le", "lt") if hasattr(item, name)]
    return Slot((Option(annotation, tuple(bounds)),))


@cache
def slots_of(section: type[Section]) -> dict[str, Slot]:
    """Return the slots of a section by key, `kind` first."""
    fields = section.model_fields
    slots = {}
    for key in sorted(fields, key=lambda key: key != "kind"):
        field = fields[key]
        slot = slot_of(field.annotation, field.metadata)
        default_kind = kind_of(type(field.default)) if slot.kinds and isinstance(field.default, Section) else None
        slots[key] = Slot(slot.options, slot.optional, field.is_required(), default_kind)
    return slots


def item_slot(form: Any, index: int) -> Slot:
    """Return the slot of one item of a list."""
    members = get_args(form)
    return slot_of(members[0] if members[-1] is Ellipsis else members[index])


ROOT = Slot((Option(Recipe),))


@dataclass(frozen=True)
class Home:
    """A place where a key is known: its slot in each section that may stand there, and the kinds of those that know it."""

    place: tuple[str, ...]
    slots: tuple[Slot, ...]
    kinds: tuple[str, ...]


@cache
def homes() -> tuple[Home, ...]:
    """List all keys that a recipe may have, with their places."""
    found: dict[tuple[str, ...], Home] = {}
    for home in _homes_under(ROOT, ()):
        known = found.get(home.place)
        found[home.place] = Home(home.place, known.slots + home.slots, known.kinds + home.kinds) if known else home
    return tuple(found.values())


def _homes_under(slot: Slot, place: tuple[str, ...]) -> Iterator[Home]:
    for section in slot.sections:
        for key, inner in slots_of(section).items():
            yield Home((*place, key), (inner,), (kind_of(section),) if slot.kinds else ())
            yield from _homes_under(inner, (*place, key))


# --- words ----------------------------------------------------------------------------------------------------------

_NAMED = (
    (slot_of(Files).options, "a file, a list of files, or a section with the keys source and target"),
    (slot_of(Aligned.model_fields["source"].annotation).options, "a file or a list of files"),
    (slot_of(ColumnName).options, "the number of a column, counted from 1, or its name in the header line"),
)
_BOUND_WORDS = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lt": operator.lt,
}
_TRUE_WORDS, _FALSE_WORDS = ("true", "yes", "on", "y", "1"), ("false", "no", "off", "n", "0")


def expected(slot: Slot) -> str:
    """Say in plain words what may stand at a place."""
    named = next((words for options, words in _NAMED if options == slot.options), None)
    kinds = ["a section whose kind is one of " + listed(sorted(slot.kinds))] if slot.kinds else []
    rest = [_expected_option(option) for option in slot.options if not (slot.kinds and option.is_section)]
    words = named or alternatives(kinds + rest)
    return f"{words}, or null" if slot.optional else words


def _expected_option(option: Option) -> str:
    if option.is_section:
        return "a section with the keys " + listed(slots_of(option.form))
    if option.is_list:
        members = get_args(option.form)
        length = "" if members[-1] is Ellipsis else f" of {len(members)}"
        return f"a list{length}, each item {expected(item_slot(option.form, 0))}"
    if get_origin(option.form) is Literal:
        return "one of " + listed(sorted(get_args(option.form)))
    if option.form is bool:
        return "true or false"
    if option.form is str:
        return "text"
    return _expected_number(option)


def _expected_number(option: Option) -> str:
    noun = "a whole number" if option.form is int else "a number"
    bounds = " and ".join(f"{_BOUND_WORDS[name]} {limit:g}" for name, limit in option.bounds)
    return f"{noun} {bounds}".rstrip()


def described(value: object) -> str:
    """Say what came, briefly and on one line."""
    match value:
        case None:
            return "null (nothing)"
        case bool():
            return "true" if value else "false"
        case str():
            return _short(repr(value))
        case int() | float():
            return _short(_number(value))
        case tuple():
            return f"a list of {len(value)}" if value else "an empty list"
        case dict():
            return "a section with the keys " + _short(listed(value)) if value else "an empty section"
        case _:
            return f"a Python {type(value).__name__}"


def _number(value: float) -> str:
    # Python refuses to write out integers of several thousand digits.
    return f"about 10^{int(math.log10(abs(value)))}" if isinstance(value, int) and abs(value) > 10**50 else repr(value)


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def listed(words: Iterable[object]) -> str:
    """Join names with commas."""
    return ", ".join(map(str, words))


def alternatives(words: list[str]) -> str:
    """Join phrases with commas and a last `or`."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "nothing"


def dotted(place: Place) -> str:
    """Write a place as a person would: `data.train[0]`, `model.bridge.kind`."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if fullmatch(r"[\w-]{1,60}", part) else _short(repr(part)))
    return text


def nearest(word: str, choices: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the choice whose spelling is nearest, if any is near."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = get_close_matches(word[:60].lower().replace("-", "_"), by_lower, n=1, cutoff=likeness)
    return by_lower[close[0]] if close else None


def _sentence(*parts: str) -> str:
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)


# --- the walk -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where."""

    place: Place
    text: str


def problems_of(data: object, error: ValidationError) -> list[Problem]:
    """Explain all that made pydantic refuse the data."""
    details = error.errors(include_url=False)
    problems = list(check(data, ROOT, ()))
    problems += [_of_validator(item["loc"], str(item["ctx"]["error"])) for item in details if item["type"] == "value_error"]
    # The walk and pydantic agree (a test says so); should they ever differ, pydantic's own words are better than none.
    return problems or [Problem(place_of(item["loc"], ROOT), _sentence(item["msg"])) for item in details]


def _of_validator(loc: Place, text: str) -> Problem:
    """Report what a section's own check says; a check of the whole recipe begins with the place it means."""
    place = place_of(loc, ROOT)
    start, colon, rest = text.partition(": ")
    if not place and colon and any(dotted(home.place) == start for home in homes()):
        return Problem(tuple(start.split(".")), _sentence(rest))
    return Problem(place, _sentence(text))


def place_of(loc: Place, slot: Slot) -> Place:
    """Strip union tags and type names from a location that pydantic reports."""
    if not loc:
        return ()
    first, rest = loc[0], loc[1:]
    if len(slot.options) > 1:
        tagged = [option for option in slot.options if first in _tags(option)]
        return place_of(rest, Slot((tagged[0],))) if tagged else ()
    option = slot.options[0]
    if option.is_list and isinstance(first, int):
        return (first, *place_of(rest, item_slot(option.form, first)))
    if option.is_section and first in slots_of(option.form):
        return (first, *place_of(rest, slots_of(option.form)[str(first)]))
    return (first,)


def _tags(option: Option) -> tuple[str, ...]:
    if option.is_section:
        return (option.form.__name__, *([kind_of(option.form)] if "kind" in option.form.model_fields else []))
    name = str(option.form) if option.is_list else getattr(option.form, "__name__", "")
    return (name, f"constrained-{name}")


def check(value: object, slot: Slot, place: Place) -> Iterator[Problem]:
    """Compare a value with what may stand at its place."""
    if value is None and slot.optional:
        return
    form = slot.list_form
    if isinstance(value, dict) and slot.sections:
        yield from _check_section(value, slot, place)
    elif isinstance(value, tuple) and form is not None and _length_fits(value, form):
        for index, item in enumerate(value):
            yield from check(item, item_slot(form, index), (*place, index))
    elif not any(fits(value, option) for option in slot.options):
        yield wrong_value(value, slot, place)


def _check_section(value: dict[str, object], slot: Slot, place: Place) -> Iterator[Problem]:
    section = slot.chosen(value)
    if section is None:
        kind = value.get("kind")
        yield wrong_value(kind, slot_of(Literal[tuple(slot.kinds)]), (*place, "kind"))
        guess = nearest(kind, slot.kinds) if isinstance(kind, str) else None
        if guess is None:
            return
        section, value = slot.kinds[guess], value | {"kind": guess}
    known = slots_of(section)
    for key, item in value.items():
        if key in known:
            yield from check(item, known[key], (*place, key))
        else:
            yield unknown_key(key, section, slot, place)
    strangers = [key for key in value if key not in known]
    for key, inner in known.items():
        # A required key that is only misspelt has been reported as such.
        if inner.required and key not in value and not nearest(key, strangers, likeness=0.7):
            yield Problem((*place, key), f"this key is missing; expected {expected(inner)}.")


def _length_fits(value: tuple[object, ...], form: Any) -> bool:
    members = get_args(form)
    return members[-1] is Ellipsis or len(members) == len(value)


def fits(value: object, option: Option) -> bool:
    """Judge a single value as pydantic's strict mode does: no text for numbers, no numbers for true and false."""
    if get_origin(option.form) is Literal:
        return isinstance(value, str) and value in get_args(option.form)
    if option.form is str:
        return isinstance(value, str)
    if option.form is bool:
        return isinstance(value, bool)
    if option.form in (int, float):
        wanted = (int,) if option.form is int else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool) and _within(value, option)
    return False


def _within(value: float, option: Option) -> bool:
    try:
        finite = math.isfinite(value) or option.form is int
    except OverflowError:  # a whole number beyond all floating-point numbers
        finite = option.form is int
    return finite and all(_COMPARISONS[name](value, limit) for name, limit in option.bounds)


# --- one wrong value ------------------------------------------------------------------------------------------------


def wrong_value(value: object, slot: Slot, place: Place) -> Problem:
    """Say what was expected, what came, and what was probably meant."""
    return Problem(place, _sentence(f"expected {expected(slot)}; got {described(value)}", _remedy(value, slot)))


def _remedy(value: object, slot: Slot) -> str:
    if value is None:
        return "" if slot.required else "Remove the key to take the default"
    if _is_lone_item(value, slot):
        return f"Write it as a list: [{value}]"
    if isinstance(value, str):
        return _remedy_for_text(value, slot)
    whole = any(option.form is int for option in slot.options)
    if whole and isinstance(value, float) and value.is_integer() and any(fits(int(value), option) for option in slot.options):
        return f"Write {int(value)}"
    return ""


def _is_lone_item(value: object, slot: Slot) -> bool:
    form = slot.list_form
    if form is None or not isinstance(value, str | int | float) or not _length_fits((value,), form):
        return False
    return not any(check(value, item_slot(form, 0), ()))


def _remedy_for_text(value: str, slot: Slot) -> str:
    if value in slot.kinds:
        return f"Write {{kind: {value}}}"
    forms = [option.form for option in slot.options]
    if bool in forms and value.lower() in _TRUE_WORDS + _FALSE_WORDS:
        return "Write true" if value.lower() in _TRUE_WORDS else "Write false"
    if (int in forms or float in forms) and fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", value):
        return "Remove the quotes"
    offered = [*slot.words, *slot.kinds]
    meant = OTHER_WORDS.get(value.lower())
    near = meant if meant in offered else nearest(value, offered)
    return f"Did you mean {near!r}?" if near else ""


# --- one unknown key ------------------------------------------------------------------------------------------------


def unknown_key(key: str, section: type[Section], slot: Slot, place: Place) -> Problem:
    """Say that a key is not known, what was probably meant, and which keys are known there."""
    of_kind = f" for kind {kind_of(section)}" if slot.kinds else ""
    remedy = _other_kinds(key, slot) or _near_key(key, section, place)
    return Problem((*place, key), _sentence(f"unknown key{of_kind}", remedy, f"Known keys here: {listed(slots_of(section))}"))


def _other_kinds(key: str, slot: Slot) -> str:
    kinds = [kind for kind, section in slot.kinds.items() if key in slots_of(section)]
    if not kinds:
        return ""
    return f"It belongs to {'kind' if len(kinds) == 1 else 'the kinds'} {listed(kinds)}: change the kind or remove the key"


def _near_key(key: str, section: type[Section], place: Place) -> str:
    name = OTHER_NAMES.get(key.lower(), key)
    here = nearest(name, slots_of(section), likeness=0.7)
    if here:
        return f"Did you mean {here!r}?"
    near = nearest(name, {home.place[-1] for home in homes()}, likeness=0.8)
    if near is None:
        return ""
    elsewhere = sorted((home for home in homes() if home.place[-1] == near), key=lambda home: _distance(home.place, place))
    options = [_named_home(home) for home in elsewhere[:3]]
    return f"It belongs elsewhere: write {alternatives(options)}" if near == name else f"Did you mean {alternatives(options)}?"


def _distance(home: tuple[str, ...], place: Place) -> tuple[int, int]:
    shared = sum(1 for end in range(1, len(place) + 1) if home[:end] == place[:end])
    return -shared, len(home)


def _named_home(home: Home) -> str:
    owners = {kind for other in homes() if other.place[:-1] == home.place[:-1] for kind in other.kinds}
    return f"`{dotted(home.place)}`" + (f" (kind {listed(home.kinds)})" if len(home.kinds) < len(owners) else "")


# --- the report -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Origins:
    """Where each value came from: a line of a file, or `--set`. Without a name, from Python."""

    name: str | None = None
    lines: Mapping[Place, int] | None = None
    overridden: tuple[Place, ...] = ()

    def of(self, place: Place) -> tuple[int, str]:
        """Return the line, for sorting, and the beginning of a message about this place."""
        lines = self.lines or {}
        path = dotted(place)
        inside = any(place[: len(override)] == override for override in self.overridden)
        above = any(override[: len(place)] == place for override in self.overridden)
        if inside or (place and above and place not in lines):
            return 0, f"--set {path}: "
        line = next((lines[place[:end]] for end in range(len(place), -1, -1) if place[:end] in lines), None)
        start = [self.name] if self.name else []
        start += [str(line)] if self.name and line is not None else []
        return line or 0, "".join(f"{part}: " for part in filter(None, [":".join(start), path]))


def report(problems: Iterable[Problem], origins: Origins) -> str:
    """Write one line for each problem, in the order of the file, with a headline if there are several."""
    placed = sorted(((*origins.of(problem.place), problem.text) for problem in problems), key=lambda item: item[0])
    lines = list(dict.fromkeys(start + text for _, start, text in placed))
    if len(lines) == 1:
        return lines[0]
    subject = (origins.name or "the recipe") + (" with --set" if any(line.startswith("--set ") for line in lines) else "")
    return "\n".join([f"{subject} has {len(lines)} mistakes:", *lines])
