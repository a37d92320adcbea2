"""Recipes back to YAML, and how two of them differ."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from seqloom.recipe.documents import _TAG, resolvers
from seqloom.recipe.schema import Place, dotted
from seqloom.recipe.sections import Recipe


class _Dumper(yaml.SafeDumper):
    """Writes what `_Loader` reads, short lists and sections on one line."""

    yaml_implicit_resolvers = resolvers()
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
        if old.keys() == new.keys() and list(old) != list(new):  # names, not keys: the order of sources means something
            yield f"{dotted(place)}: in the order {', '.join(old)} -> {', '.join(new)}"
        for key in old | new:
            yield from _differences(old.get(key, _ABSENT), new.get(key, _ABSENT), (*place, key))
    elif old != new:
        yield f"{dotted(place)}: {_one_line(old)} -> {_one_line(new)}"


def _one_line(value: object) -> str:
    # The list around the value keeps PyYAML from ending a lone scalar with a document end mark.
    return "absent" if value is _ABSENT else _dump([value], _OneLineDumper).strip()[1:-1]
