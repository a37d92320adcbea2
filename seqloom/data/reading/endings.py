"""The formats of files by their endings. Whoever only asks for a format does not need what reads all of them."""

from pathlib import PurePath
from typing import Literal

from seqloom.errors import UsageError

Format = Literal["auto", "tsv", "csv", "jsonl", "parquet", "text", "cmudict", "cmudict-unstressed", "stories"]

_ENDINGS: dict[str, Format] = {
    ".tsv": "tsv",
    ".txt": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".dict": "cmudict",
}


def format_of(file: str, told: Format = "auto") -> Format:
    """The format of a file: what a person said of it, or what its ending stands for, .gz aside."""
    found = ending_format(file) if told == "auto" else told
    if found is None:
        raise UsageError(
            f"{file}: the ending {_ending(file)!r} does not tell the format. "
            f"Use one of {', '.join(_ENDINGS)} (.gz may follow), or say the format: --format tsv, csv, jsonl, parquet, "
            "cmudict or stories; in a recipe, `data.format`"
        )
    return found


def ending_format(file: str) -> Format | None:
    """The format that a file's ending stands for, .gz aside; None if it stands for none."""
    return _ENDINGS.get(_ending(file))


def format_beside(file: str, told: Format, own: Format) -> Format:
    """How to read a file for a model whose own data has the format `own`: as told, but `auto` may be made plainer.

    Stories are called `.txt` as often as tables are; who has learnt from stories is asked about stories.
    """
    return own if told == "auto" and own == "stories" and _ending(file) in ("", ".txt") else told


def _ending(file: str) -> str:
    return PurePath(file.removesuffix(".gz")).suffix.lower()
