"""Changes to a recipe from the command line: `--set training.epochs=3`."""

from collections.abc import Sequence
from typing import Any

from seqloom.errors import RecipeError
from seqloom.recipe.documents import Document
from seqloom.recipe.problems import Origins
from seqloom.recipe.renamed import advise, current
from seqloom.recipe.schema import ROOT, Place, Slot, dotted, homes, slots_of


def override(data: dict[str, Any], overrides: Sequence[str]) -> tuple[Place, ...]:
    """Put the values of `--set` into the data; return the places they went to."""
    places = []
    for override in overrides:
        place, value = _parse_override(override)
        section = data
        for depth, key in enumerate(place[:-1], start=1):
            if section.get(key) is None:
                section[key] = {}
            section = _inner(section[key], override, place[:depth])
        section[place[-1]] = value
        places.append(place)
    return tuple(places)


def _parse_override(override: str) -> tuple[tuple[str, ...], Any]:
    path, equals, text = override.partition("=")
    place = tuple(part.strip() for part in path.split("."))
    if not equals or not all(place):
        raise RecipeError(f"--set {override}: expected key.key=value, as in training.epochs=3.")
    if not text.strip():
        raise RecipeError(f"--set {override}: expected a value after `=`. Write `null` for none, or `''` for empty text.")
    now = current(place)
    if now != place:
        advise("--set", [place])
    return _with_name_joined(tuple(map(str, now))), Document(f"--set {override}").read(text)


def _with_name_joined(place: tuple[str, ...]) -> tuple[str, ...]:
    """A place in which a name that a person chose is one key, dots and all, if what it has is no section."""
    for home in homes():
        depth = len(home.place)
        free = any(slot.named is not None and not slot.named.sections for slot in home.slots)
        if free and home.place == place[:depth] and len(place) > depth:
            return (*place[:depth], ".".join(place[depth:]))
    return place


def _inner(value: object, override: str, place: Place) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    came = "a list. Set the whole list at once" if isinstance(value, tuple) else f"the value {value!r}"
    raise RecipeError(f"--set {override}: expected a section at {dotted(place)}; the recipe has {came}.")


def drop_keys_of_other_kinds(data: dict[str, Any], place: Place, origins: Origins) -> None:
    """After `--set ….kind=new`, forget the file's keys that only other kinds know, so that a kind can be changed alone.

    Keys that were themselves set stay, and so do keys that no kind knows: both deserve their error.
    """
    if place[-1] != "kind":
        return
    section, slot = _section_at(data, place[:-1])
    new = slot.kinds.get(str(section.get("kind")))
    if new is None:
        return
    foreign = {key for other in slot.kinds.values() for key in slots_of(other)} - set(slots_of(new))
    set_here = {other[len(place) - 1] for other in origins.overridden if other[: len(place) - 1] == place[:-1]}
    for key in foreign - set_here:
        section.pop(key, None)


def _section_at(data: dict[str, Any], place: Place) -> tuple[dict[str, Any], Slot]:
    """Follow keys to a section and its slot; a slot without options if the path is not one of a recipe."""
    value: Any = data
    slot = ROOT
    for key in place:
        known = slot.inner(value) if isinstance(value, dict) else {}
        if key not in known:
            return {}, Slot(())
        value, slot = value.get(key), known[str(key)]
    return (value, slot) if isinstance(value, dict) else ({}, Slot(()))
