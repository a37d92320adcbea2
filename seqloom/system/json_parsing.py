"""JSON that others may have made, parsed behind one guard: how deep it is nested, and of which types it is.

All failures are ValueErrors with the end of a sentence in them; whoever reads a file says which file it is. How large a text
may be is decided where the file is opened (`files`).
"""

import json
import math
from collections.abc import Mapping
from typing import Any

MAXIMUM_DEPTH = 64
"""How deep values may be nested. What seqloom writes is nested less than ten deep."""

Types = Mapping[str, type | tuple[type, ...]]
"""What the values of an object must be, by their keys."""

NUMBER = (int, float)
MAYBE_NUMBER = (int, float, type(None))


def parse_json(text: str | bytes) -> Any:
    """Any JSON value that is not nested too deeply."""
    written = text.decode() if isinstance(text, bytes) else text
    try:
        value = json.loads(written)
    except RecursionError:
        raise _too_deep() from None
    # So few brackets cannot nest deeper; else it has to be looked at.
    if written.count("[") + written.count("{") > MAXIMUM_DEPTH:
        _require_shallow(value)
    return value


def parse_object(text: str | bytes, types: Types | None = None) -> dict[str, Any]:
    """A JSON object. types: of the values that must be there."""
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, found {_name(value)}")
    require_types(value, types or {})
    return value


def require_types(body: Mapping[str, Any], types: Types, *, optional: bool = False) -> None:
    """Check that an object has these keys and what their values are. optional: keys may be missing."""
    for key, kind in types.items():
        if key not in body:
            if optional:
                continue
            raise ValueError(f"expected a value for {key!r}, found none")
        value = body[key]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        # To Python, true is a number.
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds) or not _is_finite(value):
            names = " or ".join(_NAMES.get(one, one.__name__) for one in kinds)
            raise ValueError(f"expected {names} for {key!r}, found {_name(value)}")


_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _name(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "a number that is not finite"
    return _NAMES.get(type(value), type(value).__name__)


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _require_shallow(value: Any) -> None:
    """Refuse what is nested too deeply, level by level: recursion would end where Python's stack does."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAXIMUM_DEPTH):
        inside = (inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer))
        level = [inner for inner in inside if isinstance(inner, dict | list)]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> ValueError:
    return ValueError(f"expected values nested at most {MAXIMUM_DEPTH} deep, found more")
