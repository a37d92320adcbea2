"""What may stand where in a recipe, read off the sections' own annotations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from re import fullmatch
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from seqloom.recipe.sections import Recipe, Section

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

    def is_shaped_like(self, value: object) -> bool:
        """Whether it is a list or a mapping as the value is."""
        if isinstance(value, dict):
            return self.is_section or self.is_mapping
        return isinstance(value, tuple) and self.is_list

    def is_tagged(self, tag: str | int) -> bool:
        """Whether this is what pydantic means where it says which member of a union an error is about."""
        if self.is_list:
            return str(tag).startswith("tuple[")
        return self.is_section and tag in (self.form.__name__, kind_of(self.form))


@dataclass(frozen=True)
class Slot:
    """A place of a recipe: all that may stand there."""

    options: tuple[Option, ...]
    annotation: Any = None
    optional: bool = False
    required: bool = False
    default_kind: str | None = None

    def accepts(self, value: object) -> bool:
        """Whether a value may stand here."""
        try:
            TypeAdapter(self.annotation).validate_python(value, strict=True)
        except ValidationError:
            return False
        return True

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
    return str(section.model_fields["kind"].default) if "kind" in section.model_fields else ""


def slot_of(annotation: Any, metadata: Sequence[Any] = ()) -> Slot:
    """Take an annotation apart into its options."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *outer = get_args(annotation)
        unpacked = [item for entry in outer for item in (entry.metadata if isinstance(entry, FieldInfo) else [entry])]
        return slot_of(inner, [*metadata, *unpacked])
    whole = Annotated[annotation, *metadata] if metadata else annotation
    if origin in (Union, UnionType):
        slots = [slot_of(member, metadata) for member in get_args(annotation)]
        return Slot(tuple(option for slot in slots for option in slot.options), whole, any(slot.optional for slot in slots))
    if annotation in (None, NoneType):
        return Slot((), whole, optional=True)
    bounds = [(name, getattr(item, name)) for item in metadata for name in ("ge", "gt", "le", "lt") if hasattr(item, name)]
    return Slot((Option(annotation, tuple(bounds)),), whole)


@cache
def slots_of(section: type[Section]) -> dict[str, Slot]:
    """Return the slots of a section by key, `kind` first."""
    fields = section.model_fields
    slots = {}
    for key in sorted(fields, key=lambda key: key != "kind"):
        field = fields[key]
        slot = slot_of(field.annotation, field.metadata)
        slots[key] = replace(slot, required=field.is_required(), default_kind=_default_kind(field) if slot.kinds else None)
    return slots


def _default_kind(field: FieldInfo) -> str | None:
    """The kind of the section that stands in a field if nothing is said. Most are not made for it: that takes time."""
    made = field.default_factory
    if isinstance(made, type):
        return kind_of(made) if issubclass(made, Section) else None
    default = field.get_default(call_default_factory=True, validated_data={})
    return kind_of(type(default)) if isinstance(default, Section) else None


def item_slot(form: Any, index: int) -> Slot:
    """Return the slot of one item of a list."""
    members = get_args(form)
    return slot_of(members[0] if members[-1] is Ellipsis else members[index])


ROOT = slot_of(Recipe)


def fill_kinds(value: object, slot: Slot = ROOT) -> None:
    """Give a section without `kind` the default one, as any key that is left out takes its default."""
    if not isinstance(value, dict):
        return
    if slot.default_kind is not None:
        value.setdefault("kind", slot.default_kind)
    for key, inner in slot.inner(value).items():
        fill_kinds(value.get(key), inner)


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


def dotted(place: Place) -> str:
    """Write a place as a person would: `data.train[0]`, `model.bridge.kind`."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if fullmatch(r"[\w-]{1,60}", part) else shortened(repr(part)))
    return text


def shortened(text: str, limit: int = 60) -> str:
    """Cut what is too long for a line."""
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."
