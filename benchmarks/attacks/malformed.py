"""Malformed inputs of every kind: each is answered by a sentence and the right exit code, or turns out to be readable."""

import gzip
import hashlib
import io
import json
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attacks.exported import changed, exported, graph_of, with_graph
from attacks.ground import Answer, Findings, Ground, command, limit_memory, small_recipe, tiny_run, trained, words
from attacks.material import image_recipe, vector_run
from attacks.recordings import array, array_run, ending_of, sound, sound_run, video, video_run
from attacks.requests import asker, request

NASTY = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\r", b"\r\n", b"\n\n\n", b"\t\t\t", b'"', b"'", b"\\",
    b"\x1b[31m", "\u2028\u202e\u0085".encode(), b"1e999", b"-0", b"NaN", b"Infinity", b"9" * 400, b"[" * 3000, b'{"a":' * 500,
    b"]" * 50, b"}" * 50, b"null", b"true", b"&a [*a, *a]", b"!!python/object/apply:os.system [id]", b"<<: *x", b"__proto__",
    b"../../../../etc/passwd", b"/dev/zero", b"x" * 70_000, b"%s%n", b"${HOME}", b"\x80\x04K\x01.", b"-1",
    b"0x7fffffffffffffff",     b"1" + b"0" * 30, b": :", b"- - -", b"? ",
]  # fmt: skip
"""What is put into the middle of well-formed inputs."""


_ANSWERS = {0: "readable after all", 1: "findings of the doctor, in words", 2: "refused with a sentence"}


@dataclass(frozen=True)
class Kind:
    """A kind of input. make: a well-formed one; ask: what to do with a malformed one; codes: the answers that are right."""

    name: str
    share: float
    make: Callable[[random.Random], bytes]
    ask: Callable[[bytes, random.Random], Answer]
    codes: set[int]


def attack(ground: Ground) -> Findings:
    """Make inputs of every kind, spoil them, and look at the answers."""
    found, total = Findings(), ground.count(10_000, 60)
    kinds = list(_kinds(ground))
    limit_memory()
    for kind in kinds:
        draw, wanted = ground.draw(kind.name), max(1, round(total * kind.share))
        tally = dict.fromkeys(_ANSWERS.values(), 0)
        for number in range(wanted):
            content = spoilt(kind.make(draw), draw)
            answer = kind.ask(content, draw)
            fault = answer.fault(kind.codes)
            outcome = _ANSWERS[min(max(answer.code, 0), 2)]
            tally[outcome] += not fault
            found.add(outcome, fault and f"{kind.name} {number} ({content[:80]!r}...): {fault}")
        ground.say(f"{kind.name}: {wanted}, {tally}")
        found.facts[kind.name] = {"inputs": wanted, **tally}
    return found


def spoilt(content: bytes, draw: random.Random) -> bytes:
    """Change a content in one to four places: flip, cut, repeat, drop, insert."""
    spoiled = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(spoiled) + 1)
        other = min(len(spoiled), place + draw.randint(1, 40))
        match draw.randrange(6):
            case 0 if spoiled:
                spoiled[min(place, len(spoiled) - 1)] ^= 1 << draw.randrange(8)
            case 1:
                del spoiled[place:]
            case 2:
                spoiled[place:place] = spoiled[place:other] * draw.choice([1, 5, 200])
            case 3:
                del spoiled[place:other]
            case 4:
                spoiled[place:place] = draw.randbytes(draw.randint(1, 20))
            case _:
                spoiled[place:place] = draw.choice(NASTY)
    return bytes(spoiled)


def _kinds(ground: Ground) -> Iterator[Kind]:
    """All kinds, with the share that each has of all inputs."""
    folder = ground.place("malformed")
    run = tiny_run(ground)
    yield Kind("tables", 0.22, _table, lambda content, draw: _check(folder, content, draw), {0, 1, 2, 3})
    yield Kind("Parquet files", 0.06, _parquet, lambda content, _: _checked(folder / "a.parquet", content), {0, 1, 2, 3})
    recipe = _recipe_for(ground.folder / "tiny" / "pairs.tsv")
    yield Kind("recipes", 0.16, recipe, lambda content, _: _checked(folder / "a.yaml", content), {0, 1, 2, 3})
    yield Kind("oracles", 0.08, _oracle, lambda content, _: _told(folder, run, content), {0, 2, 3})
    yield from _sources(ground, folder)
    yield Kind("archives", 0.06, _archive, lambda content, draw: _from_archive(folder, content, draw), {0, 1, 2, 3})
    copy = shutil.copytree(run, folder / "run")
    yield Kind("headers of weights", 0.04, _header_of(copy), lambda content, _: _with_header(copy, content), {0, 4})
    yield Kind("vocabularies", 0.04, _vocabulary_of(copy), lambda content, _: _with_vocabulary(copy, content), {0, 4})
    model, other = exported(ground), folder / "model"
    yield Kind("graphs", 0.04, graph_of(model), lambda content, _: with_graph(model, other, content), {0, 4})
    ask = asker(run)
    yield Kind("requests", 0.04, request, lambda content, _: ask(content), {0, 2})


def _sources(ground: Ground, folder: Path) -> Iterator[Kind]:
    """What models read besides text, each by a model of its own."""
    vectors = vector_run(ground)
    yield Kind("vectors", 0.06, _vectors, lambda content, _: command("predict", vectors, given=content), {0, 3})
    pictures = trained(ground.folder / "pictures" / "run", image_recipe(ground))
    for name, share, run, make in (
        ("pictures", 0.08, pictures, _picture),
        ("sounds", 0.06, sound_run(ground), sound),
        ("videos", 0.03, video_run(ground), video),
        ("arrays", 0.03, array_run(ground), array),
    ):
        yield Kind(name, share, make, _reader(folder / name, run), {0, 3})


# --- tables ---------------------------------------------------------------------------------------------------------


def _table(draw: random.Random) -> bytes:
    rows = [(one, one.upper(), str(draw.randint(1, 9))) for one in words(draw, draw.randint(5, 30))]
    match draw.randrange(4):
        case 0:
            text = "source,target,weight\n" + "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)
        case 1:
            text = "".join(json.dumps(dict(zip(("source", "target", "weight"), row, strict=True))) + "\n" for row in rows)
        case 2:
            text = "".join(f"{row[0].upper()}  {' '.join(row[1])}\n" for row in rows)
        case _:
            text = "".join("\t".join(row) + "\n" for row in rows)
    return text.encode()


def _check(folder: Path, content: bytes, draw: random.Random) -> Answer:
    ending = draw.choice(["tsv", "csv", "jsonl", "dict", "txt", "tsv.gz", "jsonl.gz"])
    packed = spoilt(gzip.compress(content), draw) if ending.endswith("gz") and draw.random() < 0.5 else content
    return _checked(folder / f"table.{ending}", packed)


def _checked(path: Path, content: bytes) -> Answer:
    path.write_bytes(content)
    return command("check", path, *(["--json"] if len(content) % 4 else []))


def _parquet(draw: random.Random) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    some = words(draw, draw.randint(3, 20))
    stream = io.BytesIO()
    pq.write_table(pa.table({"source": some, "target": [one.upper() for one in some]}), stream)
    return stream.getvalue()


def _vectors(draw: random.Random) -> bytes:
    return "".join(" ".join(f"{draw.uniform(-9, 9):.3g}" for _ in range(4)) + "\n" for _ in range(3)).encode()


# --- documents ------------------------------------------------------------------------------------------------------


def _recipe_for(pairs: Path) -> Callable[[random.Random], bytes]:
    return lambda draw: _recipe(pairs, draw)


def _recipe(pairs: Path, draw: random.Random) -> bytes:
    """A recipe, half of the time with one value of another kind."""
    import yaml

    body = small_recipe(pairs, 5)
    if draw.random() < 0.5:
        section: Any = body[draw.choice(["data", "model", "training", "search"])]
        key = draw.choice(list(section))
        section[key] = draw.choice([None, -1, 10**400, 1e308, True, "x", [], {}, [[[]]], {"kind": "?"}, "../..", section[key]])
    return yaml.safe_dump(body).encode()


def _oracle(draw: random.Random) -> bytes:
    if draw.random() < 0.5:
        return " ".join(f"{draw.randint(0, 3)}-{draw.randint(0, 4)}" for _ in range(4)).encode() + b"\n"
    rows = [[draw.random() for _ in range(4)] for _ in range(3)]
    return json.dumps([[[one / sum(row) for one in row] for row in rows]]).encode()


def _told(folder: Path, run: Path, content: bytes) -> Answer:
    path = folder / "oracle.json" if content.startswith(b"[") else folder / "oracle.txt"
    path.write_bytes(content)
    return command("predict", run, "--oracle", path, given=b"abcd\n")


def _header_of(run: Path) -> Callable[[random.Random], bytes]:
    content = (run / "weights.safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    return lambda draw: content[8 : 8 + size]


def _with_header(run: Path, header: bytes) -> Answer:
    """Weights whose header says something else; half of the time, its length is right."""
    path = run / "weights.safetensors"
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    length = size if len(header) % 2 else len(header)
    path.write_bytes(length.to_bytes(8, "little") + header + content[8 + size :])
    try:
        return command("predict", run, given=b"abcd\n")
    finally:
        path.write_bytes(content)


def _vocabulary_of(run: Path) -> Callable[[random.Random], bytes]:
    content = (run / "tokenizers" / "source.json").read_bytes()
    body = json.loads(content)
    return lambda draw: _odd(body, draw) if draw.random() < 0.5 else content


def _odd(body: Any, draw: random.Random) -> bytes:
    """The same document with one value, at some depth, replaced by another kind of value."""
    odd = json.loads(json.dumps(body))
    place = odd
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and draw.random() < 0.8:
            place = place[key]
            continue
        place[key] = draw.choice([None, -1, 10**30, "", "x", [], {}, True, [[1]], {"type": "Sequence"}, 1.5])
        return json.dumps(odd).encode()


def _with_vocabulary(run: Path, content: bytes) -> Answer:
    """A vocabulary as a stranger can make it: with the right hash in run.json."""
    path, facts = run / "tokenizers" / "source.json", run / "run.json"
    before = path.read_bytes(), facts.read_bytes()
    path.write_bytes(content)
    reseal(run)
    try:
        return command("predict", run, given=b"abcd\n")
    finally:
        path.write_bytes(before[0])
        facts.write_bytes(before[1])


def reseal(run: Path, change: Callable[[dict[str, Any]], object] = lambda body: None) -> None:
    """Give run.json the hashes of the files as they are now, and of itself."""

    def rehash(body: dict[str, Any]) -> None:
        names = [name for name in body["files"] if (run / name).is_file()]
        body["files"] = {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in names}
        change(body)

    changed(run / "run.json", rehash)


# --- pictures and archives ------------------------------------------------------------------------------------------


def _picture(draw: random.Random) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    image = Image.frombytes("RGB", (12, 9), draw.randbytes(12 * 9 * 3))
    image.save(stream, draw.choice(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"]))
    return stream.getvalue()


def _reader(path: Path, run: Path) -> Callable[[bytes, random.Random], Answer]:
    """Gives contents to a model, as a file that it is to read."""

    def read(content: bytes, _: random.Random) -> Answer:
        named = path.with_suffix(f".{ending_of(content)}")
        named.write_bytes(content)
        return command("predict", run, named)

    return read


def _archive(draw: random.Random) -> bytes:
    stream = io.BytesIO()
    names = ["a.png", "b.png", draw.choice(["../c.png", "/etc/passwd", "c.png", "d/../../c.png"])]
    if draw.random() < 0.5:
        with zipfile.ZipFile(stream, "w", draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as packed:
            for name in names:
                packed.writestr(name, _picture(draw))
    else:
        with tarfile.open(fileobj=stream, mode="w") as tape:
            for name in names:
                content = _picture(draw)
                info = tarfile.TarInfo(name)
                info.size = len(content)
                if draw.random() < 0.2:
                    info.type, info.linkname, info.size = draw.choice([tarfile.SYMTYPE, tarfile.LNKTYPE]), "/etc/passwd", 0
                tape.addfile(info, io.BytesIO(content[: info.size]))
    return stream.getvalue()


def _from_archive(folder: Path, content: bytes, draw: random.Random) -> Answer:
    (folder / "named.tsv").write_text("a.png\tone\nb.png\ttwo\nc.png\tthree\n" * 3, encoding="utf-8")
    path = folder / f"pictures.{draw.choice(['zip', 'tar'])}"
    path.write_bytes(content)
    return command("check", folder / "named.tsv", "--images", path)
