"""Recipes from YAML and from Python, and back to YAML.

YAML is read as plain data only: tags that make objects are refused, and so is a file that would grow without bound when its
aliases are followed. Words and numbers are read as YAML 1.2 does, so `3e-3` is a number, and `no` and `on` are words.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from seqloom.errors import RecipeError
from seqloom.recipe.problems import ROOT, Origins, Place, Slot, dotted, homes, listed, nearest, problems_of, report, slots_of
from seqloom.recipe.sections import (
    Additive,
    Aligned,
    AttentionBridge,
    Beam,
    Concat,
    EveryStepBridge,
    Exhaustive,
    Files,
    Greedy,
    InitialBridge,
    MultiHead,
    NoBridge,
    Recipe,
    Recurrence,
    Sample,
    Section,
    Training,
)

MAXIMUM_BYTES = 1_000_000
MAXIMUM_VALUES = 10_000
MAXIMUM_DEPTH = 40


# --- the three ways in ----------------------------------------------------------------------------------------------


def read_recipe(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe from a YAML file; each override is what follows `--set`, as in `training.epochs=3`."""
    return parse_recipe(_read_text(Path(path)), where=os.fspath(path), overrides=overrides)


def parse_recipe(text: str, *, where: str = "recipe", overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe from YAML text; `where` is what messages call it."""
    document = _Document(where)
    data = document.read(text)
    if data is None:
        raise RecipeError(f"{where}: expected a recipe, but there is nothing in it. Begin with `data: {{train: pairs.tsv}}`.")
    if not isinstance(data, dict):
        raise RecipeError(f"{where}: expected a recipe with the keys {listed(slots_of(Recipe))}; got {_kind_of_value(data)}.")
    changed = _override(data, overrides)
    return _validated(data, Origins(where, document.lines, changed))


def recipe_from(mapping: Mapping[str, object]) -> Recipe:
    """Make a recipe from plain Python data, with the same defaults, checks and messages as from YAML."""
    return _validated(_plain(mapping), Origins())


def _validated(data: Any, origins: Origins) -> Recipe:
    _fill_kinds(data, ROOT)
    for place in origins.overridden:
        _drop_keys_of_other_kinds(data, place, origins)
    try:
        # Strict, so that `epochs: true` is not 1 and `epochs: "3"` is not 3.
        return Recipe.model_validate(data, strict=True)
    except ValidationError as error:
        raise RecipeError(report(problems_of(data, error), origins)) from None


def _plain(value: object) -> Any:
    """Turn what Python callers pass into what YAML gives: dictionaries with text as keys, tuples, text for paths."""
    match value:
        case Section():
            return _plain(value.model_dump())
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return tuple(_plain(item) for item in value)
        case os.PathLike():
            return _plain(os.fspath(value))
        case str() if _has_half_pair(value):
            raise RecipeError(f"{value!r}: {_HALF_PAIR}.")
        case _:
            return value


_HALF_PAIR = "expected text; got half of a surrogate pair, which stands for no character"


def _has_half_pair(text: str) -> bool:
    """Find what Python accepts as text, as in a file name that is not UTF-8, but no file can hold as UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _fill_kinds(value: object, slot: Slot) -> None:
    """Give a section without `kind` the default one, as any key that is left out takes its default."""
    if not isinstance(value, dict):
        return
    if slot.default_kind is not None:
        value.setdefault("kind", slot.default_kind)
    section = slot.chosen(value)
    for key, inner in slots_of(section).items() if section else ():
        _fill_kinds(value.get(key), inner)


# --- files ----------------------------------------------------------------------------------------------------------


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAXIMUM_BYTES + 1)
    except FileNotFoundError:
        raise RecipeError(f"{path}: there is no such file.{_similar_file(path)}") from None
    except IsADirectoryError:
        raise RecipeError(f"{path}: expected a recipe (a YAML file); this is a folder.") from None
    except (OSError, ValueError) as error:
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


# --- YAML -----------------------------------------------------------------------------------------------------------

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


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
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

    yaml_implicit_resolvers = _resolvers()
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


@dataclass
class _Document:
    """YAML text as plain data, with the line of every key and list item."""

    name: str
    lines: dict[Place, int] = field(default_factory=dict)
    values: int = 0
    open_nodes: list[yaml.Node] = field(default_factory=list)

    def read(self, text: str) -> Any:
        """Return dictionaries, tuples, text, numbers, true, false and None; refuse all else with the line."""
        try:
            node = _Loader(text).get_single_node()
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
        if _has_half_pair(text):
            raise self._refusal(node, _HALF_PAIR)
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


def _kind_of_value(value: object) -> str:
    return "a list" if isinstance(value, tuple) else f"only {str(value)[:40]!r}"


# --- overrides ------------------------------------------------------------------------------------------------------


def _override(data: dict[str, Any], overrides: Sequence[str]) -> tuple[Place, ...]:
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
    return place, _Document(f"--set {override}").read(text)


def _inner(value: object, override: str, place: Place) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    came = "a list. Set the whole list at once" if isinstance(value, tuple) else f"the value {value!r}"
    raise RecipeError(f"--set {override}: expected a section at {dotted(place)}; the recipe has {came}.")


def _drop_keys_of_other_kinds(data: dict[str, Any], place: Place, origins: Origins) -> None:
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
        section = slot.chosen(value) if isinstance(value, dict) else None
        known = slots_of(section) if section else {}
        if key not in known:
            return {}, Slot(())
        value, slot = value.get(key), known[str(key)]
    return (value, slot) if isinstance(value, dict) else ({}, Slot(()))


# --- back to YAML ---------------------------------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Writes what `_Loader` reads, short lists and sections on one line."""

    yaml_implicit_resolvers = _resolvers()
    line_width: float = 100

    def ignore_aliases(self, _data: Any) -> bool:
        """Write equal values out each time: anchors are hard to read."""
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        """Represent a list, on one line if it is short."""
        node = super().represent_sequence(tag, sequence, flow_style)
        node.flow_style = _is_short(node.value, self.line_width)
        return node

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        """Represent a section, on one line if it is short."""
        node = super().represent_mapping(tag, mapping, flow_style)
        node.flow_style = _is_short([part for pair in node.value for part in pair], self.line_width)
        return node


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # PyYAML breaks lines at these characters inside single quotes, and reads back something else.
    return dumper.represent_scalar(f"{_TAG}str", text, style='"' if re.search("[\n\r\x85\u2028\u2029]", text) else None)


_Dumper.add_representer(str, _represent_text)


class _OneLineDumper(_Dumper):
    """Writes everything on one line."""

    line_width = float("inf")


def _is_short(nodes: list[yaml.Node], width: float) -> bool:
    return (
        all(not isinstance(node, yaml.CollectionNode) or node.flow_style for node in nodes) and sum(map(_width, nodes)) <= width
    )


def _width(node: yaml.Node) -> int:
    if isinstance(node, yaml.ScalarNode):
        return len(node.value) + 2
    parts = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
    return 2 + sum(map(_width, parts))


def to_yaml(recipe: Recipe) -> str:
    """Write the fully resolved recipe; reading it gives an equal one."""
    return _dump(_kind_first(recipe.model_dump()), _Dumper)


def _dump(value: object, dumper: type[_Dumper]) -> str:
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=dumper.line_width + 20)
    return text


def _kind_first(value: Any) -> Any:
    """Order keys as declared, but begin with `kind`, which inheritance declares late."""
    if not isinstance(value, dict):
        return value
    return {key: _kind_first(value[key]) for key in sorted(value, key=lambda key: key != "kind")}


def differences(old: Recipe, new: Recipe) -> list[str]:
    """List the values in which two recipes differ, one line each: `training.learning_rate: 0.001 -> 0.003`."""
    return list(_differences(_kind_first(old.model_dump()), _kind_first(new.model_dump()), ()))


_ABSENT = object()


def _differences(old: Any, new: Any, place: Place) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            yield from _differences(old.get(key, _ABSENT), new.get(key, _ABSENT), (*place, key))
    elif old != new:
        yield f"{dotted(place)}: {_one_line(old)} -> {_one_line(new)}"


def _one_line(value: object) -> str:
    # The list around the value keeps PyYAML from ending a lone scalar with a document end mark.
    return "absent" if value is _ABSENT else _dump([value], _OneLineDumper).strip()[1:-1]


# --- in words -------------------------------------------------------------------------------------------------------


def jars(recipe: Recipe) -> list[tuple[str, str]]:
    """Describe a recipe by the lectures' six jars: task, data, model, loss, learning algorithm, evaluation."""
    return [
        ("task", _task(recipe)),
        ("data", _data(recipe)),
        ("model", _model(recipe)),
        ("loss", _loss(recipe.training)),
        ("learning algorithm", _algorithm(recipe.training)),
        ("evaluation", _evaluation(recipe)),
    ]


def _task(recipe: Recipe) -> str:
    if isinstance(recipe.model.bridge, NoBridge):
        return "Language model: predict each symbol of a text from the symbols before it."
    if recipe.data.builtin is not None:
        return f"The built-in task {recipe.data.builtin}, text to text."
    return "Text to text: write the target of a pair, given its source."


def _data(recipe: Recipe) -> str:
    data = recipe.data
    if data.train is None:
        origin = [f"built-in examples of {data.builtin}"]
    else:
        shares = (("validation", data.validation, data.split.validation), ("test", data.test, data.split.test))
        origin = [f"{'text' if recipe.model.encoder is None else 'pairs'} from {_files(data.train)}"]
        origin += [
            f"{100 * share:.3g} % kept for {name}" if files is None else f"{name} from {_files(files)}"
            for name, files, share in shares
        ]
    source, target = data.vocabularies.source.kind, data.vocabularies.target.kind
    if data.vocabularies.shared:
        symbols = f"one vocabulary of {source} for both sides"
    elif recipe.model.encoder is None:
        symbols = target
    else:
        symbols = f"{source} on both sides" if source == target else f"{source} to {target}"
    return _joined(*origin, symbols)


def _files(files: Files) -> str:
    if isinstance(files, Aligned):
        return f"{_files(files.source)} aligned with {_files(files.target)}"
    if isinstance(files, str):
        return files
    return f"{files[0]} and {len(files) - 1} more" if len(files) > 1 else listed(files) or "no file"


def _model(recipe: Recipe) -> str:
    encoder, decoder = recipe.model.encoder, recipe.model.decoder
    parts = [_network("decoder", decoder)]
    if encoder is not None:
        parts.insert(0, _network("encoder", encoder, "bidirectional " if encoder.bidirectional else ""))
    return _joined(" and ".join(parts), _bridge(recipe))


def _network(name: str, section: Recurrence, quality: str = "") -> str:
    layers = f", {section.layers} layers" if section.layers > 1 else ""
    return f"a {quality}{section.cell.upper()} {name} ({section.size} wide{layers})"


def _bridge(recipe: Recipe) -> str:
    match recipe.model.bridge:
        case NoBridge():
            return "no source"
        case InitialBridge():
            return "the source gives the first state only"
        case EveryStepBridge():
            return "the source's summary is seen at every step"
        case AttentionBridge() as bridge:
            feed = " and fed to the next step" if bridge.feed else ""
            return f"{_attention(bridge)}, queried by the {bridge.query} state, into the {' and the '.join(bridge.into)}{feed}"


def _attention(bridge: AttentionBridge) -> str:
    match bridge.attention:
        case Additive(size=size) | Concat(size=size):
            return f"{bridge.attention.kind} attention ({size} wide)"
        case MultiHead(heads=heads, size=size):
            return f"multi-head attention ({heads} heads, {size} wide)"
        case attention:
            return f"{attention.kind} attention"


def _loss(training: Training) -> str:
    smoothing = f"labels smoothed by {training.label_smoothing:g}" if training.label_smoothing else ""
    return _joined(f"cross-entropy of the target's symbols, averaged over {training.average}", smoothing)


def _algorithm(training: Training) -> str:
    clip = f"gradients clipped at {training.clip:g}" if training.clip is not None else ""
    size = f"{training.batch_size} examples and " if training.batch_size is not None else ""
    steps = f", at most {training.steps} steps" if training.steps is not None else ""
    return _joined(
        f"{training.optimiser.kind} at a learning rate of {training.learning_rate:g} ({training.schedule.kind})",
        clip,
        f"batches of at most {size}{training.batch_tokens} symbols",
        _counted(training.epochs, "epoch") + steps,
    )


def _evaluation(recipe: Recipe) -> str:
    validation = recipe.training.validation
    often = "once an epoch" if validation.every_steps is None else f"every {_counted(validation.every_steps, 'step')}"
    patience = f"stop after {validation.patience} without improvement" if validation.patience is not None else ""
    return _joined(f"validation by {validation.metric} {often}", patience, _search(recipe))


def _search(recipe: Recipe) -> str:
    match recipe.search:
        case Greedy():
            return "greedy search"
        case Beam(width=width, length_power=power):
            return f"beam search ({width} wide, length power {power:g})"
        case Sample(count=count, temperature=temperature):
            return f"{_counted(count, 'sample')} at temperature {temperature:g}"
        case Exhaustive():
            return "exhaustive search"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _joined(*parts: str) -> str:
    text = "; ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}."


# --- what may be written --------------------------------------------------------------------------------------------


def choices(path: str) -> tuple[str, ...]:
    """List what may be written at a dotted path: kinds, the words of a choice, or keys; nothing for free values."""
    slots = [slot for home in homes() if dotted(home.place) == path for slot in home.slots]
    found = [choice for slot in slots for choice in slot.kinds or slot.words or _keys(slot)]
    return tuple(dict.fromkeys(found))


def _keys(slot: Slot) -> tuple[str, ...]:
    return tuple(key for section in slot.sections for key in slots_of(section))
