"""The notebooks run from top to bottom, as a notebook program runs them; here with little data and few updates."""

import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
nbformat = pytest.importorskip("nbformat")
SHORT = {r"^COUNT = \d+$": "COUNT = 200", r"^STEPS = \d+$": "STEPS = 3"}


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["teaching-attention", "train-and-look"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert not any(cell.outputs or cell.execution_count for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for long, short in SHORT.items():
            cell.source = re.sub(long, short, cell.source, flags=re.MULTILINE)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    drawn = [output for cell in notebook.cells for output in cell.get("outputs", []) if "text/html" in output.get("data", {})]
    assert drawn, "predictions draw themselves"
