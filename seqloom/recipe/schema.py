"""What may stand where in a recipe, read off the sections' own annotations, and how to say it."""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from re import fullmatch
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from seqloom.recipe.sections import Aligned, ColumnName, Files, Recipe, Section

Place = tuple[str | int, ...]
"""The keys, and numbers in lists, that lead from the top of a recipe to one of its values."""


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

    @property
    def is_mapping(self) -> bool:
        """Whether sections by names that a person chooses may stand here."""
        return get_origin(self.form) is dict


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

    @property
    def named(self) -> "Slot | None":
        """What may stand at each name, where a person chooses the names. Without a `kind` it is of the first one."""
        form = next((option.form for option in self.options if option.is_mapping), None)
        if form is None:
            return None
        inner = slot_of(get_args(form)[1])
        return replace(inner, default_kind=next(iter(inner.kinds), None))

    def inner(self, value: Mapping[str, object]) -> "Mapping[str, Slot]":
        """The slots of all keys that a mapping at this place has or may have; none if its `kind` is not known."""
        if self.named is not None:
            return dict.fromkeys(value, self.named)
        section = self.chosen(value)
        return slots_of(section) if section is not None else {}

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


ANY_NAME = "NAME"
"""Stands in a home's place for what a person calls a source."""


def _homes_under(slot: Slot, place: tuple[str, ...]) -> Iterator[Home]:
    if slot.named is not None:
        yield Home((*place, ANY_NAME), (slot.named,), ())
        yield from _homes_under(slot.named, (*place, ANY_NAME))
    for section in slot.sections:
        for key, inner in slots_of(section).items():
            yield Home((*place, key), (inner,), (kind_of(section),) if slot.kinds else ())
            yield from _homes_under(inner, (*place, key))


def is_place(path: str) -> bool:
    """Whether a dotted path is one that a recipe may have."""
    parts = tuple(path.split("."))
    return any(
        len(home.place) == len(parts) and all(known in (part, ANY_NAME) for known, part in zip(home.place, parts, strict=True))
        for home in homes()
    )


_NAMED = (
    (slot_of(Files).options, "a file, a list of files, or a section with the keys source and target"),
    (slot_of(Aligned.model_fields["source"].annotation).options, "a file or a list of files"),
    (slot_of(ColumnName).options, "the number of a column, counted from 1, or its name in the header line"),
)
_BOUND_WORDS = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lt": operator.lt,
}


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
    if option.is_mapping:
        return f"names, each with {expected(slot_of(get_args(option.form)[1]))}"
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


def sentence(*parts: str) -> str:
    """Put parts together, each closed by a full stop; empty ones are left out."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)
