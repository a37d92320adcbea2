"""Exported models as a stranger can make them: graphs and model.json changed, with the right hashes."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks.ground import Answer, Ground, command, tiny_run

GRAPHS = ("encoder.onnx", "step.onnx", "best.onnx")


def exported(ground: Ground) -> Path:
    """The tiny run, exported; made once."""
    from seqloom.export.writing import export_run

    out = ground.folder / "exported"
    return out if out.exists() else export_run(tiny_run(ground), out, precision="int8").path


def changed(document: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a run.json or a model.json says, and give it the right hash, as a stranger can."""
    from seqloom.runs.documents import seal_of

    body = json.loads(document.read_bytes())
    body.pop("sha256")
    change(body)
    document.write_text(json.dumps({**body, "sha256": seal_of(body)}), encoding="utf-8")


def graph_of(model: Path) -> Callable[[random.Random], bytes]:
    """One of its graphs, its name and a NUL in front."""
    contents = [name.encode() + b"\0" + (model / name).read_bytes() for name in GRAPHS]
    return lambda draw: draw.choice(contents)


def with_graph(model: Path, copy: Path, content: bytes) -> Answer:
    """Ask a copy of the model one of whose graphs is this content. A name that was spoilt is that of the step."""
    from seqloom.runs.documents import sha256

    name, _, graph = content.partition(b"\0")
    place = name.decode("utf-8", "replace") if name in map(str.encode, GRAPHS) else "step.onnx"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(model, copy)
    (copy / place).write_bytes(graph)
    changed(copy / "model.json", lambda body: body["graphs"]["files"].update({place: sha256(graph)}))
    return command("predict", copy, given=b"abcd\n")
