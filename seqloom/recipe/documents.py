"""YAML as plain data that remembers its lines.

Tags that make objects are refused, and so is a file that would grow without bound when its aliases are followed. Words and
numbers are read as YAML 1.2 does, so `3e-3` is a number, and `no` and `on` are words.
"""

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from seqloom.errors import RecipeError
from seqloom.recipe.schema import Place, dotted
from seqloom.system.files import Found, found_at, open_stream
from seqloom.wording import nearest

MAXIMUM_BYTES = 1_000_000
MAXIMUM_VALUES = 10_000
MAXIMUM_DEPTH = 40

HALF_PAIR = "expected text; got half of a surrogate pair, which stands for no character"


def has_half_pair(text: str) -> bool:
    """Find what Python accepts as text, as in a file name that is not UTF-8, but no file can hold as UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def read_text(path: Path) -> str:
    """Read a recipe file, refusing what is missing, too large or not UTF-8."""
    try:
        with open_stream(path) as file:
            content = file.read(MAXIMUM_BYTES + 1)
    except FileNotFoundError:
        raise RecipeError(f"{path}: there is no such file.{_similar_file(path)}") from None
    except (OSError, ValueError) as error:
        if found_at(path) is Found.FOLDER:
            raise RecipeError(f"{path}: expected a recipe (a YAML file); this is a folder.") from None
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise RecipeError(f"{str(path)!r}: cannot be read: {reason}.") from None
    if len(content) > MAXIMUM_BYTES:
        raise RecipeError(
            f"{path}: expected a recipe of at most {MAXIMUM_BYTES:,} bytes; this file is larger. Is it a data file?"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RecipeError(
            f"{path}:{line}: expected UTF-8; got the byte 0x{content[error.start]:02x}. Save it as UTF-8."
        ) from None


def _similar_file(path: Path) -> str:
    try:
        names = [item.name for item in path.parent.iterdir() if item.suffix in (".yaml", ".yml")]
    except OSError:
        return ""
    near = nearest(path.name, names)
    return f" Did you mean {path.with_name(near)}?" if near else ""


_TAG = "tag:yaml.org,2002:"
_PATTERNS = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?(?:0|[1-9][0-9]*(?:_[0-9]+)*)", "-+0123456789"),
    "float": (
        r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "merge": (r"<<", "<"),
}


def resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """Build PyYAML's table: first character -> what a plain scalar may mean."""
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for name, (pattern, starts) in _PATTERNS.items():
        for start in starts:
            table.setdefault(start, []).append((_TAG + name, re.compile(rf"(?:{pattern})\Z")))
    return table


_SYNTAX_HINTS = {
    "mapping values are not allowed": "Is the indentation right? Text that contains `: ` needs quotes.",
    "cannot start any token": "Text that begins with this character needs quotes.",
    "could not find expected ':'": "A key needs `: ` after it.",
    "expected <block end>": "Is the indentation right?",
    "another document": "Keep one document in the file.",
    "stream end": "A bracket or brace is not closed.",
}


class _TooLargeError(Exception):
    """The document nests too deeply or has too many values."""


class _Loader(yaml.SafeLoader):
    """Composes nodes, never objects, and stops early on what no recipe looks like."""

    yaml_implicit_resolvers = resolvers()
    depth = 0
    count = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose one node, counting."""
        self.depth += 1
        self.count += 1
        if self.depth > MAXIMUM_DEPTH or self.count > 2 * MAXIMUM_VALUES:
            raise _TooLargeError
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _QuickLoader(yaml.CSafeLoader if yaml.__with_libyaml__ else _Loader):  # type: ignore[misc]
    """The same by libyaml, ten times as fast. What it composes must have been measured before: it has no limits of its own."""

    yaml_implicit_resolvers = resolvers()


def _is_moderate(text: str) -> bool:
    """Whether a document is neither too deep nor too large to be composed."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, _QuickLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAXIMUM_DEPTH or count > 2 * MAXIMUM_VALUES:
            return False
    return True


def _composed(text: str, *, quickly: bool) -> yaml.Node | None:
    """The nodes of a document. quickly: by libyaml if it has nothing to say against it; our own words are for the other."""
    if quickly and yaml.__with_libyaml__:
        with contextlib.suppress(yaml.YAMLError, ValueError, OverflowError):
            if _is_moderate(text):
                return cast("yaml.Node | None", _QuickLoader(text).get_single_node())
    return _Loader(text).get_single_node()


@dataclass
class Document:
    """YAML text as plain data, with the line of every key and list item."""

    name: str
    lines: dict[Place, int] = field(default_factory=dict)
    values: int = 0
    open_nodes: list[yaml.Node] = field(default_factory=list)

    def read(self, text: str, *, quickly: bool = False) -> Any:
        """Return dictionaries, tuples, text, numbers, true, false and None; refuse all else with the line.

        quickly: a program wrote it, so that it is most likely in order.
        """
        try:
            node = _composed(text, quickly=quickly)
            return None if node is None else self._value(node, ())
        except _TooLargeError:
            raise RecipeError(
                f"{self.name}: expected at most {MAXIMUM_VALUES:,} values, nested at most {MAXIMUM_DEPTH} deep, "
                "with all aliases followed; this is no recipe."
            ) from None
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            code = f"U+{ord(text[error.position]):04X}"
            raise RecipeError(f"{self._at(line)}: not valid YAML: the character {code} is not allowed. Remove it.") from None
        except yaml.MarkedYAMLError as error:
            raise RecipeError(self._syntax(error)) from None
        except (ValueError, OverflowError):  # PyYAML lets Python's own errors through, for example from "\UFFFFFFFF"
            raise RecipeError(f"{self.name}: not valid YAML: an escape stands for no character.") from None

    def _value(self, node: yaml.Node, place: Place) -> Any:
        self.values += 1
        if self.values > MAXIMUM_VALUES or node in self.open_nodes:
            raise _TooLargeError
        self.open_nodes.append(node)
        value = self._by_tag(node, place)
        self.open_nodes.pop()
        return value

    def _by_tag(self, node: yaml.Node, place: Place) -> Any:
        match node.tag.removeprefix(_TAG), node:
            case "map", yaml.MappingNode():
                return self._mapping(node, place)
            case "seq", yaml.SequenceNode():
                return self._sequence(node, place)
            case ("str" | "null" | "bool" | "int" | "float" | "merge") as form, yaml.ScalarNode():
                return self._scalar(node, form)
            case _:
                raise self._refusal(
                    node, f"the tag {node.tag.replace(_TAG, '!!')} is not allowed, because recipes are plain data. Remove it"
                )

    def _sequence(self, node: yaml.SequenceNode, place: Place) -> tuple[Any, ...]:
        items = []
        for index, item in enumerate(node.value):
            self.lines[(*place, index)] = _line(item)
            items.append(self._value(item, (*place, index)))
        return tuple(items)

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        self.lines.setdefault(place, _line(node))
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        first_lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.tag == f"{_TAG}merge":
                merged = self._merge(value_node, place) | merged
                continue
            key = self._key(key_node)
            if key in first_lines:
                path, first = dotted((*place, key)), first_lines[key]
                raise self._refusal(key_node, f"{path}: this key was given before, in line {first}. Keep one of them")
            first_lines[key] = _line(key_node)
            own[key] = self._value(value_node, (*place, key))
        self.lines.update({(*place, key): line for key, line in first_lines.items()})
        return merged | own

    def _merge(self, node: yaml.Node, place: Place) -> dict[str, Any]:
        """Read what `<<` brings: a mapping, or a list of mappings of which the first wins."""
        value = self._value(node, place)
        found: dict[str, Any] = {}
        for mapping in value if isinstance(value, tuple) else (value,):
            if not isinstance(mapping, dict):
                raise self._refusal(node, "`<<` expects a mapping or a list of mappings to merge")
            found = mapping | found
        return found

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._refusal(node, "expected a word as the key; got a list or a mapping")
        return str(self._scalar(node, "str"))

    def _scalar(self, node: yaml.ScalarNode, form: str) -> Any:
        text: str = node.value
        try:
            match form:
                case "null":
                    return None
                case "bool":
                    return {"true": True, "false": False}[text.lower()]
                case "int":
                    return int(text)
                case "float":
                    return float(re.sub(r"_|\.(?=inf|nan)", "", text.lower()))
        except (ValueError, KeyError):
            raise self._refusal(node, f"{text[:40]!r} cannot be read as {form}") from None
        if has_half_pair(text):
            raise self._refusal(node, HALF_PAIR)
        return text

    def _refusal(self, node: yaml.Node, text: str) -> RecipeError:
        return RecipeError(f"{self._at(_line(node))}: {text}.")

    def _at(self, *numbers: int) -> str:
        """Name a line, and a column if given; an override is one line anyway."""
        return self.name if self.name.startswith("--set ") else ":".join([self.name, *map(str, numbers)])

    def _syntax(self, error: yaml.MarkedYAMLError) -> str:
        """Write PyYAML's error as one sentence with line and column."""
        mark = error.problem_mark or error.context_mark
        start = self._at(mark.line + 1, mark.column + 1) if mark else self.name
        if "'\\t'" in (error.problem or ""):
            return f"{start}: not valid YAML: a tab where spaces are expected. Indent with spaces."
        text = ", ".join(part for part in (error.context, error.problem) if part).replace("\n", " ")
        hint = next((hint for problem, hint in _SYNTAX_HINTS.items() if problem in text), "")
        return f"{start}: not valid YAML: {text}. {hint}".rstrip()


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def kind_of_value(value: object) -> str:
    """Say what stands where a recipe should."""
    return "a list" if isinstance(value, tuple) else f"only {str(value)[:40]!r}"
