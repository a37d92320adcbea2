"""Examples as lines of JSON: those of validation are kept as they were read, so that nobody has to look for them again."""

import json
from collections.abc import Iterator
from pathlib import Path

from seqloom.data.examples import Example, Origin
from seqloom.system.files import open_regular
from seqloom.system.json_parsing import parse_json

VALIDATION = "validation.jsonl"


def as_line(example: Example) -> str:
    """An example as a line."""
    place = (example.origin.file, example.origin.line)
    return json.dumps([dict(example.sources), example.target, *place, example.weight, example.features]) + "\n"


def from_lines(path: Path) -> Iterator[Example]:
    """The examples of a file, whose checksum was compared."""
    with open_regular(path, inside=path.parent) as stream:
        for line in stream:
            sources, target, file, number, weight, features = parse_json(line)
            yield Example(sources, target, Origin(file, number), weight, tuple(features))
