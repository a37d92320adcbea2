"""What pydantic finds wrong with a recipe, in words a person can act on.

pydantic judges; this module renders its errors. A location of pydantic's mixes union tags and type names with the keys that a
person wrote, and one wrong value in a union gives an error for each member: `_follow` finds what is meant.
"""

import copy
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from re import fullmatch
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from seqloom.recipe.schema import (
    ANY_NAME,
    ROOT,
    Home,
    Option,
    Place,
    Slot,
    dotted,
    fill_kinds,
    homes,
    is_place,
    item_slot,
    kind_of,
    shortened,
    slot_of,
    slots_of,
)
from seqloom.recipe.sections import Aligned, ColumnName, Files, Recipe, Section
from seqloom.wording import alternatives, listed, nearest

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
class RecipeProblem:
    """One thing that is wrong, and where."""

    place: Place
    text: str


@dataclass(frozen=True)
class _Spot:
    """Where an error is: its place, what stands there and what may, and the section around it with what that may be."""

    place: Place
    value: object
    slot: Slot
    around: Mapping[str, object]
    around_slot: Slot


def problems_of(data: Any, error: ValidationError) -> list[RecipeProblem]:
    """Explain all that made pydantic refuse the data, in the order of the data; what sections say themselves comes last."""
    details = error.errors(include_url=False)
    found = [problem for item in details if item["type"] != "value_error" for problem in _explained(item, data)]
    guessed = _with_likely_kinds(data, [item for item in details if item["type"].startswith("union_tag")])
    if guessed is not None:  # a section whose kind is misspelt may have further mistakes
        try:
            Recipe.model_validate(guessed, strict=True)
        except ValidationError as further:
            rest = [item for item in further.errors(include_url=False) if item["type"] != "value_error"]
            found += [problem for item in rest for problem in _explained(item, guessed)]
    found.sort(key=lambda problem: _order(problem.place, data))
    checks = [_of_validator(item, data) for item in details if item["type"] == "value_error"]
    return list(dict.fromkeys([*found, *checks]))


def _explained(item: ErrorDetails, data: object) -> Iterator[RecipeProblem]:
    spot = _follow(item["loc"], _Spot((), data, ROOT, {}, ROOT))
    if spot is None:
        return
    match item["type"]:
        case "extra_forbidden":
            yield unknown_key(spot)
        case "missing" if spot.value is None:
            if not _is_misspelt(spot):
                yield RecipeProblem(spot.place, f"this key is missing; expected {expected(spot.slot)}.")
        case "union_tag_invalid" | "union_tag_not_found" if isinstance(spot.value, dict):
            kinds = slot_of(Literal[tuple(spot.slot.kinds)])
            yield wrong_value(spot.value.get("kind"), kinds, (*spot.place, "kind"))
        case _:
            yield wrong_value(spot.value, spot.slot, spot.place)


def _is_misspelt(spot: _Spot) -> bool:
    """Whether a key that is missing stands there with another spelling, which has been reported as unknown."""
    strangers = [key for key in spot.around if key not in spot.around_slot.inner(spot.around)]
    return nearest(str(spot.place[-1]), strangers, likeness=0.7) is not None


def _of_validator(item: ErrorDetails, data: object) -> RecipeProblem:
    """Report what a section's own check says; a check of the whole recipe begins with the place it means."""
    spot, text = _follow(item["loc"], _Spot((), data, ROOT, {}, ROOT)), str(item["ctx"]["error"])
    start, colon, rest = text.partition(": ")
    if spot is None or (not spot.place and colon and is_place(start)):
        return RecipeProblem(tuple(start.split(".")), sentence(rest))
    return RecipeProblem(spot.place, sentence(text))


def _follow(loc: Place, spot: _Spot) -> _Spot | None:
    """Follow a location of pydantic's; None if it is about a member of a union that the value is not meant to be."""
    if not loc:
        return spot
    [option, *others], rest = spot.slot.options, loc
    if others:
        if str(loc[0]).startswith("function-"):  # a check around some members: which of them comes next
            return _follow(loc[1:], spot)
        meant = [one for one in spot.slot.options if one.is_shaped_like(spot.value)]
        if not meant:
            return spot
        tagged = [one for one in meant if one.is_tagged(loc[0])]
        if not tagged:
            return None
        option, rest = tagged[0], loc[1:]
    return _into(option, rest, spot) if rest else spot


def _into(option: Option, loc: Place, spot: _Spot) -> _Spot | None:
    """Follow a location into a list, a mapping or a section."""
    key, value = loc[0], spot.value
    place = (*spot.place, key)
    if isinstance(value, tuple) and isinstance(key, int):
        if key >= len(value):
            return spot  # too short: the list is what is wrong
        return _follow(loc[1:], replace(spot, place=place, value=value[key], slot=item_slot(option.form, key)))
    if not isinstance(value, dict):
        return spot
    inner = spot.slot.named if option.is_mapping else slots_of(option.form).get(str(key))
    return _follow(loc[1:], _Spot(place, value.get(key), inner or Slot(()), value, spot.slot))


def _with_likely_kinds(data: Any, wrong: list[ErrorDetails]) -> Any | None:
    """The data with kinds as they were probably meant; None if no guess can be made."""
    guessed, changed = copy.deepcopy(data), False
    for item in wrong:
        spot = _follow(item["loc"], _Spot((), guessed, ROOT, {}, ROOT))
        if spot is None or not isinstance(spot.value, dict):
            continue
        kind = spot.value.get("kind")
        if isinstance(kind, str) and (likely := nearest(kind, spot.slot.kinds)):
            spot.value["kind"], changed = likely, True
    fill_kinds(guessed)
    return guessed if changed else None


def _order(place: Place, data: object) -> tuple[int, ...]:
    """Where a place stands in the data; what is missing comes last."""
    positions = []
    for key in place:
        inside = dict(enumerate(data)) if isinstance(data, tuple) else data if isinstance(data, dict) else {}
        positions.append(list(inside).index(key) if key in inside else len(inside))
        data = inside.get(key)
    return tuple(positions)


_NAMED = (
    (slot_of(Files).options, "a file, a list of files, or a section with the keys source and target"),
    (slot_of(Aligned.model_fields["source"].annotation).options, "a file or a list of files"),
    (slot_of(ColumnName).options, "the number of a column, counted from 1, or its name in the header line"),
)
_BOUND_WORDS = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}


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
            return shortened(repr(value))
        case int() | float():
            return shortened(_number(value))
        case tuple():
            return f"a list of {len(value)}" if value else "an empty list"
        case dict():
            return "a section with the keys " + shortened(listed(value)) if value else "an empty section"
        case _:
            return f"a Python {type(value).__name__}"


def _number(value: float) -> str:
    # Python refuses to write out integers of several thousand digits.
    return f"about 10^{int(math.log10(abs(value)))}" if isinstance(value, int) and abs(value) > 10**50 else repr(value)


def sentence(*parts: str) -> str:
    """Put parts together, each closed by a full stop; empty ones are left out."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)


def wrong_value(value: object, slot: Slot, place: Place) -> RecipeProblem:
    """Say what was expected, what came, and what was probably meant."""
    return RecipeProblem(place, sentence(f"expected {expected(slot)}; got {described(value)}", _remedy(value, slot)))


def _remedy(value: object, slot: Slot) -> str:
    if value is None:
        return "" if slot.required else "Remove the key to take the default"
    if slot.list_form is not None and isinstance(value, str | int | float) and slot.accepts((value,)):
        return f"Write it as a list: [{value}]"
    if isinstance(value, str):
        return _remedy_for_text(value, slot)
    if isinstance(value, float) and value.is_integer() and slot.accepts(int(value)):
        return f"Write {int(value)}"
    return ""


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


def unknown_key(spot: _Spot) -> RecipeProblem:
    """Say that a key is not known, what was probably meant, and which keys are known there."""
    slot, key, place = spot.around_slot, str(spot.place[-1]), spot.place[:-1]
    section = slot.chosen(spot.around) or Recipe
    of_kind = f" for kind {kind_of(section)}" if slot.kinds else ""
    remedy = _other_kinds(key, slot) or _near_key(key, section, place)
    return RecipeProblem(
        (*place, key), sentence(f"unknown key{of_kind}", remedy, f"Known keys here: {listed(slots_of(section))}")
    )


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
    options = [_named_home(home) for home in elsewhere[:4]]
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


def report(problems: Iterable[RecipeProblem], origins: Origins) -> str:
    """Write one line for each problem, in the order of the file, with a headline if there are several."""
    placed = sorted(((*origins.of(problem.place), problem.text) for problem in problems), key=lambda item: item[0])
    lines = list(dict.fromkeys(start + text for _, start, text in placed))
    if len(lines) == 1:
        return lines[0]
    subject = (origins.name or "the recipe") + (" with --set" if any(line.startswith("--set ") for line in lines) else "")
    return "\n".join([f"{subject} has {len(lines)} mistakes:", *lines])
