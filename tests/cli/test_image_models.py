"""Images as the source: from a folder of pictures and a table to trained models and their outputs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cli.conftest import Seqloom
from seqloom.models.encoders import efficientnet
from seqloom.training.session import train

COLOURS = {"red": (220, 30, 30), "green": (30, 180, 30), "blue": (40, 40, 220)}
SIDE = 32


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of a square on one side, and which colour is where."""
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(1)
    lines = []
    for number in range(160):
        name, right = random.choice(list(COLOURS)), int(random.integers(2))
        pixels = np.full((SIDE, SIDE, 3), 255, dtype=np.uint8)
        top, left = random.integers(0, SIDE - 12), right * SIDE // 2 + random.integers(0, 4)
        pixels[top : top + 12, left : left + 12] = COLOURS[name]
        Image.fromarray(pixels).save(folder / f"{number}.png")
        lines.append(f"{number}.png\t{name} {'right' if right else 'left'}\n")
    (folder / "table.tsv").write_text("".join(lines))
    return folder / "table.tsv"


def trained(table: Path, encoder: dict[str, Any], **training: Any) -> Path:
    """A run beside the table, whose folder says what the encoder is."""
    run = table.parent / "-".join(map(str, encoder.values()))
    recipe = {
        "data": {
            "train": str(table),
            "split": {"validation": 0.1, "test": 0.1},
            "sources": {"picture": {"kind": "image", "size": SIDE}},
            "vocabularies": {"target": {"kind": "words"}},
        },
        "model": {"encoder": encoder, "decoder": {"size": 24, "embedding": 8}, "bridge": {"kind": "attention"}},
        "training": {"batch_size": 16, "precision": "fp32", "threads": 1, **training},
    }
    train(recipe, run)
    return run


def test_a_convolutional_network_learns_what_is_where(table: Path, seqloom: Seqloom) -> None:
    run = trained(table, {"kind": "cnn", "channels": [8, 16], "size": 24, "summary": "dense"}, epochs=16, learning_rate=0.01)
    [body] = seqloom("evaluate", run, "--json").objects
    assert body["metrics"]["exact_match"] >= 80
    wanted = dict(line.split("\t") for line in table.read_text().splitlines()[:3])
    answer = seqloom("predict", run, given="".join(f"{table.parent / name}\n" for name in wanted))
    assert answer.out.splitlines() == list(wanted.values())


def test_a_frozen_network_is_no_part_of_the_run(table: Path, seqloom: Seqloom) -> None:
    run = trained(table, {"kind": "efficientnet_lite0", "features": "middle", "size": 16}, steps=2)
    assert (run / "weights.safetensors").stat().st_size < 200_000
    assert seqloom("predict", run, given=f"{table.parent / '0.png'}\n").code == 0


def test_a_tuned_network_is_all_in_the_run(table: Path, seqloom: Seqloom, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(table, {"kind": "efficientnet_lite0", "features": "middle", "tuned": True}, steps=1)
    assert (run / "weights.safetensors").stat().st_size > 1_000_000
    monkeypatch.setattr(efficientnet, "pretrained_weights", lambda: pytest.fail("a run has its own weights"))
    assert seqloom("predict", run, given=f"{table.parent / '0.png'}\n").code == 0


def test_a_folder_of_pictures_becomes_a_gallery(table: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    run = trained(table, {"kind": "cnn", "channels": [4], "size": 8}, epochs=1)
    folder = tmp_path / "some"
    folder.mkdir()
    refused = seqloom("explain", run, folder, "--out", tmp_path / "gallery.svg")
    assert (refused.code, "holds no pictures" in refused.err) == (3, True)
    for number in range(3):
        (folder / f"{number}.png").write_bytes((table.parent / f"{number}.png").read_bytes())
    answer = seqloom("explain", run, folder, "--out", tmp_path / "gallery.svg")
    assert [line.split("\t")[0] for line in answer.out.splitlines()[:3]] == ["0.png", "1.png", "2.png"]
    assert (tmp_path / "gallery.svg").read_text(encoding="utf-8").count("<image") == 3
