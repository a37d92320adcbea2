"""An exported model is used as its run is, and says the same."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import seqloom
from seqloom.errors import MissingExtraError, RunError, UsageError
from seqloom.export.writing import Exported, export_run
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Sample
from seqloom.runs import RunFolder
from seqloom.runs.documents import seal_of, sha256
from seqloom.runtime.guard import OPERATIONS, require_harmless
from seqloom.runtime.sessions import MOST_MEMORY, Session

WORDS = ["abc", "hgfedc", "badcafe", "", "zzz"]


@pytest.fixture(scope="module")
def exported(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return export_run(tiny_run, tmp_path_factory.mktemp("exports") / "fp32")


@pytest.fixture(scope="module")
def small(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return export_run(tiny_run, tmp_path_factory.mktemp("exports") / "int8", precision="int8")


@pytest.fixture
def copy(exported: Exported, tmp_path: Path) -> Path:
    """An exported model that may be damaged."""
    return Path(shutil.copytree(exported.path, tmp_path / "model"))


def test_it_is_compared_with_its_run(exported: Exported, small: Exported) -> None:
    assert exported.checked > 10
    assert exported.difference < 1e-4
    assert small.difference < 0.3
    assert small.size < 0.6 * exported.size
    assert exported.as_json()["largest_difference"] == exported.difference


def test_predictions_are_those_of_the_run(tiny_run: Path, exported: Exported) -> None:
    one, other = seqloom.load(tiny_run), seqloom.load(exported.path)
    for beam in (1, 4):
        for ours, theirs in zip(other.predict(WORDS[:3], beam=beam), one.predict(WORDS[:3], beam=beam), strict=True):
            assert ours.text == theirs.text
            assert ours.log_prob == pytest.approx(theirs.log_prob, abs=1e-4)
            assert np.allclose(ours.alignment["source"].mean, theirs.alignment["source"].mean, atol=1e-4)


def test_samples_and_prefixes_are_those_of_the_run(tiny_run: Path, exported: Exported) -> None:
    one, other = seqloom.load(tiny_run), seqloom.load(exported.path)
    drawn = Sample(seed=3, count=2)
    assert [p.text for p in other.predict(WORDS[:2], search=drawn)] == [p.text for p in one.predict(WORDS[:2], search=drawn)]
    assert other.predict("abc", prefix="H")[0].text.startswith("H")


def test_a_language_model_is_exported_too(tiny_language_run: Path, tmp_path: Path) -> None:
    found = export_run(tiny_language_run, tmp_path / "letters")
    assert found.difference < 1e-4
    one, other = LanguageModel.load(tiny_language_run), LanguageModel.load(found.path)
    assert [written.text for written in other.sample(2, length=5)] == [written.text for written in one.sample(2, length=5)]


def test_a_shortlist_goes_into_the_export(tiny_run: Path, tmp_path: Path) -> None:
    found = export_run(tiny_run, tmp_path / "short", shortlist=3)
    assert found.difference < 1e-4
    written = {letter for word in seqloom.load(found.path).predict(WORDS[:3]) for letter in word.text}
    assert len(written) <= 3


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
sys.modules["onnx"] = None
import seqloom
model = seqloom.load(sys.argv[1])
print(model.predict("abc")[0].text)
"""


def test_neither_torch_nor_onnx_is_needed_to_use_it(tiny_run: Path, small: Exported) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, small.path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == seqloom.load(tiny_run).predict("abc")[0].text


NOT_NEEDED = {
    "seqloom.data.media.files",
    "seqloom.data.reading.formats",
    "seqloom.cli.train",
    "seqloom.results.language",
    "rich",
}
ONE_LINE = f"""
import sys
from seqloom.__main__ import main
sys.argv = ["seqloom", "predict", sys.argv[1], "abc"]
try: main()
finally: print(sorted({NOT_NEEDED} & set(sys.modules)))
"""


def test_a_line_of_text_does_not_wait_for_what_others_need(small: Exported) -> None:
    done = subprocess.run([sys.executable, "-c", ONE_LINE, small.path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


# --- what is refused ------------------------------------------------------------------------------------------------


def test_an_export_is_not_exported_again_nor_trained_on(exported: Exported, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="exported model already"):
        export_run(exported.path, tmp_path / "again")
    with pytest.raises(RunError, match="no weights"):
        RunFolder.open(exported.path).load_weights()


def test_nothing_is_overwritten(tiny_run: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(RunError, match="exists already"):
        export_run(tiny_run, tmp_path / "there")


def test_precision_and_shortlist_are_settled(small: Exported) -> None:
    with pytest.raises(UsageError, match="exported in int8"):
        Predictor.load(small.path, precision="bf16")
    with pytest.raises(UsageError, match="settled"):
        Predictor.load(small.path, shortlist=3)


def test_a_missing_runtime_names_its_extra(exported: Exported, without_library: Callable[[str], None]) -> None:
    sys.modules.pop("onnxruntime", None)
    without_library("onnxruntime")
    with pytest.raises((MissingExtraError, ImportError)):
        seqloom.load(exported.path)


def rewritten(model: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what model.json says, and seal it anew, as a stranger could."""
    body = json.loads((model / "model.json").read_text(encoding="utf-8"))
    del body["sha256"]
    change(body)
    (model / "model.json").write_text(json.dumps({**body, "sha256": seal_of(body)}), encoding="utf-8")


def replaced(model: Path, name: str, content: bytes) -> None:
    """Put another graph in the place of one, hash and all."""
    (model / name).write_bytes(content)
    rewritten(model, lambda body: body["graphs"]["files"].update({name: sha256(content)}))


@pytest.mark.parametrize("name", ["encoder.onnx", "step.onnx", "best.onnx", "recipe.yaml", "tokenizers/target.json"])
def test_a_flipped_bit_is_noticed(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(RunError):
        seqloom.load(copy)


def test_a_newer_format_is_refused(copy: Path) -> None:
    rewritten(copy, lambda body: body["graphs"].update(format=2))
    with pytest.raises(RunError, match="format 2"):
        seqloom.load(copy)


@pytest.mark.parametrize(
    ("key", "value"),
    [("rows", 3), ("files", []), ("vocabulary_size", "9"), ("attended", [1]), ("sentences", []), ("grids", {"source": [1]})],
)
def test_a_model_json_of_others_is_refused(copy: Path, key: str, value: object) -> None:
    rewritten(copy, lambda body: body["graphs"].update({key: value}))
    with pytest.raises(RunError, match="not written by seqloom"):
        seqloom.load(copy)


def test_a_file_that_is_missing_is_named(copy: Path) -> None:
    (copy / "step.onnx").unlink()
    with pytest.raises(RunError, match=r"step\.onnx"):
        seqloom.load(copy)


def graph(*nodes: onnx.NodeProto, constants: tuple[onnx.TensorProto, ...] = (), domain: str = "") -> bytes:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    made = helper.make_graph(list(nodes), "g", [value], [value], list(constants))
    opsets = [helper.make_opsetid("", 18), *([helper.make_opsetid(domain, 1)] if domain else [])]
    content: bytes = helper.make_model(made, opset_imports=opsets).SerializeToString()
    return content


def outside() -> onnx.TensorProto:
    tensor = numpy_helper.from_array(np.ones(2, np.float32), "w")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    return tensor


HOSTILE = {
    "another file": graph(constants=(outside(),)),
    "another file in a node": graph(helper.make_node("Identity", ["x"], ["y"], value=outside())),
    "an operation of others": graph(helper.make_node("Trick", ["x"], ["y"], domain="evil"), domain="evil"),
    "an operation that is not used": graph(helper.make_node("Loop", ["x"], ["y"])),
    "a graph within": graph(
        helper.make_node("Identity", ["x"], ["y"], body=helper.make_graph([], "inner", [], []))  # as If and Loop have them
    ),
    "nothing": b"\xff" * 40,
    "a half": graph(helper.make_node("Identity", ["x"], ["y"]))[:-7],
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_graph_that_could_do_harm_is_refused(copy: Path, content: bytes) -> None:
    replaced(copy, "step.onnx", content)
    with pytest.raises(RunError, match=r"step\.onnx"):
        seqloom.load(copy)


def test_a_graph_of_other_sizes_is_refused_with_a_sentence(copy: Path, tiny_language_run: Path, tmp_path: Path) -> None:
    other = export_run(tiny_language_run, tmp_path / "other")
    replaced(copy, "step.onnx", (other.path / "step.onnx").read_bytes())
    with pytest.raises(RunError, match="do not fit together"):
        seqloom.load(copy).predict("abc")


def test_our_own_graphs_are_harmless_and_use_all_that_is_allowed(exported: Exported) -> None:
    for file in exported.path.glob("*.onnx"):
        require_harmless(file.read_bytes())
        assert {node.op_type for node in onnx.load(file).graph.node} <= OPERATIONS


def test_a_graph_that_asks_for_endless_memory_is_refused() -> None:
    many = numpy_helper.from_array(np.array([MOST_MEMORY], np.int64), "many")  # so many floats: four times the bound
    nodes = helper.make_node("Expand", ["x", "many"], ["z"]), helper.make_node("ReduceMax", ["z"], ["x2"])
    given, out = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "x2"))
    made = helper.make_graph(list(nodes), "g", [given], [out], [many])
    content = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
    with pytest.raises(RunError, match=r"cannot open it|do not fit together"):
        Session(content, where="g.onnx").run(["x2"], {"x": np.ones(1, np.float32)})
