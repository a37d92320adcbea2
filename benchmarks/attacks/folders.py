"""Folders from strangers: things that are no files, links that lead out, documents that lie, numbers without end."""

import itertools
import json
import os
import re
import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attacks.exported import GRAPHS, changed, exported
from attacks.ground import Answer, Findings, Ground, command, limit_memory, tiny_run
from attacks.malformed import reseal
from attacks.recordings import array_run, sound_run, video_run

_PARTS = ("run.json", "recipe.yaml", "tokenizers/source.json", "weights.safetensors", "checkpoints/latest", "metrics.jsonl")
_READ = {
    "predict": set(_PARTS[:4]),
    "explain": set(_PARTS[:4]),
    "score": set(_PARTS[:4]),
    "report": set(_PARTS),
    "compare": {"run.json", "recipe.yaml", "checkpoints/latest", "metrics.jsonl"},
}
"""Which parts a command has to read, and so to refuse."""
_EXPORTED = ("model.json", "recipe.yaml", "tokenizers/source.json", *GRAPHS)
_DEEP = "[" * 100_000
_DOCUMENTS = [
    "",
    "null",
    "5",
    "[]",
    "{}",
    '"x"',
    _DEEP,
    '{"a":' * 20_000,
    '{"format": 1e999}',
    '{"step": ' + "9" * 5000 + "}",
    "\0",
    "\ud800",
]


def attack(ground: Ground) -> Findings:
    """Put what is no file of the folder in the place of each of its parts; then documents that lie, with the right hashes."""
    run, model, found = tiny_run(ground), exported(ground), Findings()
    copy = ground.place("hostile") / "run"
    recordings = [sound_run(ground), video_run(ground), array_run(ground)]
    limit_memory()
    _replaced(found, ground, run, copy, _READ)
    _replaced(found, ground, model, copy, {one: set(_EXPORTED) for one in ("predict", "explain", "score")})
    _documents(found, run, copy)
    _numbers(found, run, copy, every=12 if ground.quick else 1)
    _facts(found, model, copy, every=9 if ground.quick else 1)
    _data(found, ground, copy, recordings)
    return found


def _replaced(found: Findings, ground: Ground, folder: Path, copy: Path, read: Mapping[str, set[str]]) -> None:
    """Things that are no files, in the place of every part that some command has to read."""
    for part in sorted(set().union(*read.values())):
        ground.say(f"{folder.name}: {part}")
        for name, make in _impostors().items():
            _renewed(folder, copy)
            (copy / part).unlink()
            make(copy / part)
            for one in [next(one for one in read if part in read[one])] if ground.quick else read:
                codes = {4} if part in read[one] else {0, 3, 4}
                answer = _ask(one, copy)
                found.add(
                    _outcome(found, answer),
                    (fault := answer.fault(codes)) and f"{one}, {part} of {folder.name} is {name}: {fault}",
                )


def _outcome(found: Findings, answer: Answer) -> str:
    found.facts["slowest answer, seconds"] = max(found.facts.get("slowest answer, seconds", 0), round(answer.seconds, 1))
    return (
        "done as usual: the command does not need what was changed (0)"
        if not answer.code
        else f"refused with a sentence ({answer.code})"
    )


def _reader(part: str) -> str:
    """A command that has to read this part."""
    return "predict" if part in _READ["predict"] else "compare"


def _renewed(run: Path, copy: Path) -> None:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)


def _ask(name: str, run: Path) -> Answer:
    further: dict[str, list[object]] = {"explain": ["abc", "--out", run.parent / "map.html"], "compare": [run]}
    return command(name, run, *further.get(name, []), given=b"abc\n")


def _impostors() -> dict[str, Callable[[Path], object]]:
    def listener(path: Path) -> None:
        short = Path("/tmp") / f"seqloom-{os.getpid()}.socket"  # noqa: S108 (a socket's path must be short)
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(short))
        shutil.move(short, path)

    def sparse(path: Path) -> None:
        with path.open("wb") as stream:
            stream.truncate(1 << 41)

    return {
        "a named pipe": os.mkfifo,
        "a link to an endless device": lambda path: path.symlink_to("/dev/zero"),
        "a link out of the folder": lambda path: path.symlink_to("/etc/passwd"),
        "a link to itself": lambda path: path.symlink_to(path),
        "a folder": lambda path: path.mkdir(),
        "a socket": listener,
        "two terabytes of nothing": sparse,
    }


def _documents(found: Findings, run: Path, copy: Path) -> None:
    """JSON that is no object, is nested without end, or holds numbers that no machine has."""
    for part in ("run.json", "tokenizers/source.json", "checkpoints/latest", "metrics.jsonl"):
        for number, text in enumerate(_DOCUMENTS):
            _renewed(run, copy)
            (copy / part).write_bytes(text.encode("utf-8", "surrogatepass"))
            if part.startswith("tokenizers"):
                reseal(copy)
            one = _reader(part)
            answer = _ask(one, copy)
            codes = {0, 4} if part == "metrics.jsonl" and not text.strip() else {4}
            found.add(
                _outcome(found, answer),
                (fault := answer.fault(codes)) and f"{one}, {part}, document {number}: {fault}",
            )


def _numbers(found: Findings, run: Path, copy: Path, *, every: int) -> None:
    """Recipes of a run, with the right hash, in which one number after the other is far too large; every: so manieth line."""
    lines = (run / "recipe.yaml").read_text(encoding="utf-8").splitlines()
    for number, line in list(enumerate(lines))[::every]:
        name, colon, value = line.partition(": ")
        if not colon or not re.fullmatch(r"[0-9.]+", value):
            continue
        for enormous in (str(10**12), "1.0e+300"):
            _renewed(run, copy)
            changed = [*lines[:number], f"{name}: {enormous}", *lines[number + 1 :]]
            (copy / "recipe.yaml").write_text("\n".join(changed), encoding="utf-8")
            reseal(copy)
            answer = _ask("predict", copy)
            fault = answer.fault({0, 3, 4}) or ("a warning of a library" if "Warning:" in answer.err else "")
            found.add(_outcome(found, answer), fault and f"predict, {name.strip()}: {enormous}: {fault}")


def _facts(found: Findings, model: Path, copy: Path, *, every: int) -> None:
    """A model.json, with the right hash, one of whose facts is of another kind or far too large; every: so manieth of them."""
    facts = json.loads((model / "model.json").read_bytes())["graphs"]
    others: tuple[object, ...] = (None, -1, 10**12, "x", [], {}, [[1]], {"step.onnx": "0" * 64})
    for name, other in list(itertools.product(facts, others))[::every]:
        _renewed(model, copy)
        changed(copy / "model.json", lambda body, told={name: other}: body["graphs"].update(told))  # type: ignore[misc]
        answer = _ask("predict", copy)
        fault = answer.fault({0, 4})  # 0: a fact that only other commands need, or of which every value is possible
        found.add(_outcome(found, answer), fault and f"predict, graphs.{name} is {other}: {fault}")


def _data(found: Findings, ground: Ground, copy: Path, recordings: Sequence[Path]) -> None:
    """Tables, oracles, archives, recordings and names of files that are none; and a run that names a file of yours."""
    run = tiny_run(ground)
    folder = ground.place("hostile-data")
    os.mkfifo(folder / "pipe.zip")
    (folder / "table.tsv").write_text("a.png\tone\n" * 5, encoding="utf-8")
    things: list[tuple[list[object], set[int]]] = [
        (["check", folder / "table.tsv", "--images", folder / "pipe.zip"], {3}),
        (["check", folder / "table.tsv", "--images", "/dev/zero"], {3}),
        (["check", "/dev/zero"], {2, 3}),
        (["predict", run, "/dev/zero"], {2, 3}),
        (["score", run, "/dev/urandom"], {2, 3}),
        (["predict", run, "--oracle", "/dev/zero"], {2, 3}),
        (["predict", "x" * 5000], {3, 4}),
        (["check", "a\0b"], {2, 3}),
        (["predict", run, "--beam", "100000"], {2}),
    ]
    for reader in recordings:
        things += [(["predict", reader, thing], {3}) for thing in ("/dev/zero", folder / "pipe.zip", folder)]
    for words, codes in things:
        answer = command(*words, given=b"abc\n")
        found.add(_outcome(found, answer), (fault := answer.fault(codes)) and f"{words[:4]}: {fault}")
    _renewed(run, copy)
    private = folder / "private.tsv"
    private.write_text("my\tSECRET\n" * 40, encoding="utf-8")
    recipe = copy / "recipe.yaml"
    pairs = str(ground.folder / "tiny" / "pairs.tsv")
    recipe.write_text(recipe.read_text(encoding="utf-8").replace(pairs, str(private)), encoding="utf-8")
    reseal(copy, lambda body: body.update(data={str(private): "0" * 64}))
    for one in ("evaluate", "score", "errors", "report"):
        answer = command(one, copy)
        told = "SECRET" in answer.out + answer.err and "something of the file was shown"
        found.add(
            _outcome(found, answer),
            (fault := told or answer.fault({4})) and f"{one}, the recipe names a file of yours: {fault}",
        )
