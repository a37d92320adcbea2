"""Exported models are served without torch."""

import subprocess
import sys
from pathlib import Path

from seqloom.export.writing import export_run

PROGRAM = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("no torch", name="torch")

sys.meta_path.insert(0, NoTorch())
from pathlib import Path
from starlette.testclient import TestClient
from seqloom.server.app import build_app
from seqloom.server.settings import ServedModel, Settings

settings = Settings(models=(ServedModel("export", Path(sys.argv[1])),))
with TestClient(build_app(settings), base_url="http://127.0.0.1") as client:
    [model] = client.get("/v1/models").json()["models"]
    assert model["backend"] == "runtime", model
    body = {"inputs": ["abc"], "nbest": 2, "attention": True, "tree": True}
    answer = client.post("/v1/predict", json=body)
    assert answer.status_code == 200, answer.text
    assert client.post("/v1/step", json={"input": "abc", "prefix": "A", "oracle": [[0, 1, 0]]}).status_code == 200
    assert client.post("/v1/score", json={"inputs": ["abc"], "targets": ["ABC"], "search": True}).status_code == 200
    assert client.post("/v1/predict/stream", json=body).status_code == 200
    assert "torch" not in sys.modules
    print(answer.json()["predictions"][0]["candidates"][0]["text"])
"""


def test_an_export_is_served_without_torch(tiny_run: Path, tmp_path: Path) -> None:
    export = export_run(tiny_run, tmp_path / "export").path
    words = [sys.executable, "-c", PROGRAM, str(export)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "ABC"
