"""Markup of our own as plain data, for pages whose scripts make elements of it: text can only become text there."""

from typing import Any
from xml.etree import ElementTree as ET

Element = list[Any]
"""Name, attributes, and what is inside, texts and elements: `["b", {"dir": "auto"}, ["le 3 mai"]]`."""


def as_elements(markup: str) -> Element:
    """Markup that a view made, one element with all that is in it, as data."""
    return _element(ET.fromstring(markup))  # noqa: S314 (our own markup, which declares nothing)


def _element(found: ET.Element) -> Element:
    inside: list[Any] = [found.text] if found.text else []
    for child in found:
        inside.append(_element(child))
        if child.tail:
            inside.append(child.tail)
    return [found.tag, dict(found.attrib), inside]
