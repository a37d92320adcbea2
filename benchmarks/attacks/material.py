"""Further things to attack: pictures and models of them, of vectors, and a run that was interrupted."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from attacks.ground import Ground, small_recipe, trained, write_pairs, write_recipe


def write_pictures(folder: Path, count: int) -> Path:
    """A table of small pictures with one word each."""
    from PIL import Image

    names = ["red", "green", "blue"]
    lines = []
    for number in range(count):
        colour = [40 * (number % 5)] * 3
        colour[number % 3] = 250
        Image.new("RGB", (24, 20), tuple(colour)).save(folder / f"{number}.png")
        lines.append(f"{number}.png\t{names[number % 3]}\n")
    (folder / "table.tsv").write_text("".join(lines), encoding="utf-8")
    return folder / "table.tsv"


def image_recipe(ground: Ground, *, make: bool = True) -> dict[str, Any]:
    """A tiny model of tiny pictures."""
    folder = ground.folder / "pictures"
    table = write_pictures(ground.place("pictures"), 30) if make else folder / "table.tsv"
    recipe = small_recipe(table, 4)
    recipe["data"] |= {
        "sources": {"image": {"kind": "image", "column": 1, "size": 16}},
        "columns": {"target": 2},
        "split": {"validation": 0.2, "test": 0.2},
    }
    recipe["model"]["encoder"] = {"kind": "cnn", "channels": [4]}
    return recipe


def vector_run(ground: Ground) -> Path:
    """A model that reads four numbers."""
    out = ground.folder / "vectors" / "run"
    if not out.exists():
        table = ground.place("vectors") / "table.tsv"
        draw = ground.draw("vectors")
        rows = ([f"{draw.uniform(-1, 1):.3f}" for _ in range(4)] for _ in range(60))
        table.write_text(
            "".join(f"{' '.join(row)}\t{'up' if float(row[0]) > 0 else 'down'}\n" for row in rows), encoding="utf-8"
        )
        recipe = small_recipe(table, 4)
        recipe["data"] |= {"sources": {"source": {"kind": "vector", "size": 4}}}
        recipe["model"]["encoder"] = {"kind": "dense", "size": 8}
        recipe["model"]["bridge"] = {"kind": "initial"}
        trained(out, recipe)
    return out


def interrupted_run(ground: Ground) -> Path:
    """A run that stopped between two steps, with the optimiser's memory in its checkpoint."""
    folder = ground.place("interrupted")
    recipe = write_recipe(
        folder / "recipe.yaml", small_recipe(write_pairs(folder / "pairs.tsv", ground.draw("begun"), 100), 1000)
    )
    out = folder / "run"
    child = os.fork()
    if not child:
        import seqloom

        seen: list[int] = []

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "os.rename" and str(arguments[1]).endswith("latest"):
                seen.append(1)
                if len(seen) == 6:
                    os.kill(os.getpid(), signal.SIGTERM)

        sys.addaudithook(hook)
        os._exit(1 if seqloom.train(recipe, out=out).finished else 0)
    _, status = os.waitpid(child, 0)
    if status or not (out / "checkpoints" / "latest").exists():
        raise RuntimeError(f"{out}: was not interrupted as it should be (wait status {status})")
    return out
