"""What a run read and wrote at its last validation."""

from dataclasses import dataclass
from typing import Any

from seqloom.data.examples import INPUT, Example, Origin
from seqloom.runs import RunFolder
from seqloom.system.files import LARGEST_RECORDS, read_regular
from seqloom.system.json_parsing import parse_object


@dataclass(frozen=True)
class ValidationSample:
    """One of them. example: its target is what the model wrote; reference: what it should have written."""

    example: Example
    reference: str


def samples_of(run: RunFolder) -> list[ValidationSample]:
    """The samples of the last validation; none if there are none or they cannot be read any more."""
    try:
        samples = [sample for sample in _last_validation(run)["samples"] if sample["text"]]
        return [_sample(sample, list(run.recipe.data.sources), number) for number, sample in enumerate(samples, start=1)]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def texts_of(run: RunFolder) -> list[str]:
    """What a language model wrote at its last validation."""
    try:
        return [str(text) for text in _last_validation(run)["texts"]]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def _last_validation(run: RunFolder) -> dict[str, Any]:
    files = [path for path in (run.path / "validation").glob("*.json") if path.stem.isdecimal()]
    last = max(files, key=lambda path: int(path.stem))
    return parse_object(read_regular(last, limit=LARGEST_RECORDS, inside=run.path), {"samples": list})


def _sample(sample: dict[str, Any], names: list[str], number: int) -> ValidationSample:
    source = sample["source"]
    sources = {name: str(source[name]) for name in names} if isinstance(source, dict) else {names[0]: str(source)}
    features = tuple(map(str, sample.get("features", ())))
    example = Example(sources, str(sample["text"]), Origin(INPUT, number), features=features)
    return ValidationSample(example, str(sample.get("reference", "")))
