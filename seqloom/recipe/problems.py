"""What is wrong with a recipe, in words a person can act on.

pydantic judges; this module explains. It walks the refused data along the sections' own annotations, because pydantic's
error locations mix union tags and type names with the keys a person wrote, and one wrong value in a union gives several errors.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from re import fullmatch
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from seqloom.recipe.schema import (
    ANY_NAME,
    COMPARISONS,
    ROOT,
    Home,
    Option,
    Place,
    Slot,
    alternatives,
    described,
    dotted,
    expected,
    homes,
    is_place,
    item_slot,
    kind_of,
    listed,
    nearest,
    sentence,
    slot_of,
    slots_of,
)
from seqloom.recipe.sections import Section

_TRUE_WORDS, _FALSE_WORDS = ("true", "yes", "on", "y", "1"), ("false", "no", "off", "n", "0")

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
    return problems or [Problem(place_of(item["loc"], ROOT), sentence(item["msg"])) for item in details]


def _of_validator(loc: Place, text: str) -> Problem:
    """Report what a section's own check says; a check of the whole recipe begins with the place it means."""
    place = place_of(loc, ROOT)
    start, colon, rest = text.partition(": ")
    if not place and colon and is_place(start):
        return Problem(tuple(start.split(".")), sentence(rest))
    return Problem(place, sentence(text))


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
    if option.is_mapping:
        inner = slot.named
        return (first, *place_of(rest, inner)) if inner is not None else (first,)
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
    if isinstance(value, dict) and slot.named is not None:
        for name, item in value.items():
            yield from check(item, slot.named, (*place, name))
    elif isinstance(value, dict) and slot.sections:
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
    return finite and all(COMPARISONS[name](value, limit) for name, limit in option.bounds)


def wrong_value(value: object, slot: Slot, place: Place) -> Problem:
    """Say what was expected, what came, and what was probably meant."""
    return Problem(place, sentence(f"expected {expected(slot)}; got {described(value)}", _remedy(value, slot)))


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


def unknown_key(key: str, section: type[Section], slot: Slot, place: Place) -> Problem:
    """Say that a key is not known, what was probably meant, and which keys are known there."""
    of_kind = f" for kind {kind_of(section)}" if slot.kinds else ""
    remedy = _other_kinds(key, slot) or _near_key(key, section, place)
    return Problem((*place, key), sentence(f"unknown key{of_kind}", remedy, f"Known keys here: {listed(slots_of(section))}"))


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


def _distance(home: tuple[str, ...], place: Place) -> tuple[int, bool, int]:
    """How far a home is from a place. Homes that everyone has are nearer than those under a name."""
    shared = sum(1 for end in range(1, len(place) + 1) if home[:end] == place[:end])
    return -shared, ANY_NAME in home, len(home)


def _named_home(home: Home) -> str:
    owners = {kind for other in homes() if other.place[:-1] == home.place[:-1] for kind in other.kinds}
    return f"`{dotted(home.place)}`" + (f" (kind {listed(home.kinds)})" if len(home.kinds) < len(owners) else "")


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
