"""Keys that had another name once. They keep working, in recipes and in run folders, and advice says what to write."""

import warnings
from collections.abc import Iterable
from typing import Any

from seqloom.errors import SeqloomWarning
from seqloom.recipe.schema import Place, dotted

RENAMED: dict[tuple[str, ...], str] = {
    ("training", "average"): "loss_per",
    ("training", "averaging"): "ema",
    ("training", "stretch"): "bptt",
}
"""Old places, and what the last key is called now. `average` and `averaging` were easily taken for each other."""


class OldKeyWarning(SeqloomWarning):
    """A recipe has a key that has another name now."""


def current(place: Place) -> Place:
    """A place as it is called now."""
    for old, new in RENAMED.items():
        if place[: len(old)] == old:
            return (*old[:-1], new, *place[len(old) :])
    return place


def rename_old_keys(data: dict[str, Any]) -> list[Place]:
    """Give old keys their new names; return the old places. Where both names stand, the old one stays, to be refused."""
    found: list[Place] = []
    for place, new in RENAMED.items():
        section: Any = data
        for key in place[:-1]:
            section = section.get(key) if isinstance(section, dict) else None
        if isinstance(section, dict) and place[-1] in section and new not in section:
            renamed = {new if key == place[-1] else key: value for key, value in section.items()}
            section.clear()
            section.update(renamed)
            found.append(place)
    return found


def advise(where: str | None, places: Iterable[Place]) -> None:
    """Warn of old keys in what a person wrote; `where` is what messages call it."""
    start = f"{where}: " if where else ""
    for place in places:
        warnings.warn(
            f"{start}{dotted(place)} is called {dotted(current(place))} now. The old name still works; write the new one",
            OldKeyWarning,
            stacklevel=2,
        )
