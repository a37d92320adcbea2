"""Inputs of requests as examples. A request never names a file of the server: files come with it."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from seqloom.data.examples import INPUT, Example, Origin
from seqloom.data.kinds import kind_of
from seqloom.data.kinds.files import FileKind
from seqloom.data.kinds.vector import as_text
from seqloom.data.media.files import HandedFile
from seqloom.recipe.sections import AnySource, FileSource
from seqloom.server.problems import RequestError
from seqloom.server.schemas import Upload
from seqloom.server.settings import Limits

_FEATURES = "features"


def examples_of(inputs: Sequence[Any], sources: Mapping[str, AnySource], limits: Limits) -> list[Example]:
    """All inputs of a request."""
    if len(inputs) > limits.texts:
        raise too_long(f"inputs: expected {limits.texts} at most, found {len(inputs)}. Send them in several requests")
    return [example_of(one, sources, limits, number) for number, one in enumerate(inputs, start=1)]


def example_of(given: Any, sources: Mapping[str, AnySource], limits: Limits, number: int = 1) -> Example:
    """One input of a request; number: from 1."""
    if isinstance(given, str):
        if len(sources) > 1:
            named = ", ".join(sources)
            raise bad_input(f"input {number}: this model reads {named}. Give an object with these keys")
        given = {next(iter(sources)): given}
    features = given.get(_FEATURES, [])
    if set(given) - {_FEATURES} != set(sources) or not isinstance(features, list):
        named = ", ".join(sources)
        raise bad_input(f"input {number}: expected the keys {named}, and perhaps a list of `features`")
    values = {name: _value(given[name], name, source, limits, number) for name, source in sources.items()}
    return Example(values, None, Origin(INPUT, number), features=tuple(map(str, features)))


def _value(given: Any, name: str, source: AnySource, limits: Limits, number: int) -> str:
    place = f"input {number}, {name}"
    if isinstance(source, FileSource):
        return _file(given, source, limits, place)
    if isinstance(given, Upload):
        raise bad_input(f"{place}: expected {'text' if source.has_vocabulary else 'numbers'}, found an upload")
    if isinstance(given, list):
        if source.has_vocabulary:
            raise bad_input(f"{place}: expected a text, found a list")
        return as_text(given) or ""
    return readable(str(given), limits, place)


def _file(given: Any, source: FileSource, limits: Limits, place: str) -> str:
    kind = kind_of(source)
    if isinstance(given, str) and isinstance(kind, FileKind) and kind.is_named(given):
        return given
    if not isinstance(given, Upload):
        raise bad_input(f"{place}: expected the {source.kind} itself, as {{base64: ...}}")
    if len(given.base64) > 4 * (limits.upload_bytes // 3 + 1):
        raise too_long(f"{place}: expected an upload of {limits.upload_bytes:,} bytes at most")
    try:
        content = base64.b64decode(given.base64, validate=True)
    except (binascii.Error, ValueError):
        raise bad_input(f"{place}: expected base64, without white space and without `data:` before it") from None
    return HandedFile.of("the upload", content)


def readable(text: str, limits: Limits, place: str) -> str:
    """A text that is not too long."""
    if len(text) > limits.characters:
        raise too_long(f"{place}: expected {limits.characters:,} characters at most, found {len(text):,}. Cut it into parts")
    return text


def within(value: int, most: int, name: str) -> int:
    """A number that is not too large."""
    if value > most:
        raise RequestError(422, "invalid", f"{name}: expected {most:,} at most, found {value:,}")
    return value


def bad_input(message: str) -> RequestError:
    """An input that cannot be read."""
    return RequestError(422, "bad-input", message)


def too_long(message: str) -> RequestError:
    """More than the server takes at once."""
    return RequestError(422, "too-long", message)
