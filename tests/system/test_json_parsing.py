"""JSON that others may have made."""

import pytest

from seqloom.system.json_parsing import MAXIMUM_DEPTH, MAYBE_NUMBER, parse_json, parse_object, require_types


@pytest.mark.parametrize("depth", [MAXIMUM_DEPTH + 1, 900, 100_000])
def test_what_is_nested_too_deeply_is_refused(depth: int) -> None:
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        with pytest.raises(ValueError, match="nested at most 64 deep"):
            parse_json(text)


def test_what_is_wide_and_shallow_is_not() -> None:
    assert parse_json(str([[1]] * 1000)) == [[1]] * 1000
    depth = MAXIMUM_DEPTH
    parse_json("[" * depth + "]" * depth)


@pytest.mark.parametrize("text", ["1", "[]", "null", '"a"', "", "{", b"\xff{}", "1" * 10_000])
def test_what_is_no_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (each has its own words)
        parse_object(text)


def test_types_are_checked() -> None:
    require_types({"a": 1, "b": None}, {"a": int, "b": MAYBE_NUMBER})
    for body, words in (
        ({}, "expected a value for 'a', found none"),
        ({"a": "1"}, "expected a whole number for 'a', found text"),
        ({"a": True}, "expected a whole number for 'a', found true or false"),
        ({"a": {}}, "expected a whole number for 'a', found an object"),
    ):
        with pytest.raises(ValueError, match=words):
            require_types(body, {"a": int})
    with pytest.raises(ValueError, match="a number that is not finite"):
        require_types({"a": float("inf")}, {"a": MAYBE_NUMBER})
