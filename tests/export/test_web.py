"""A model as a page: its script cuts texts as Python does, writes what Python writes, and asks nobody for anything."""

import json
import os
import random
import shutil
import subprocess
import sys
import unicodedata
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Seqloom, seqloom

from seqloom.data.builtin import dates
from seqloom.data.vocabulary import Vocabulary, build_vocabulary
from seqloom.export.web import export_page
from seqloom.export.writing import export_run
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import sections
from seqloom.training.session import train
from seqloom.views.drawing.page import asset
from seqloom.views.pages.web import SCRIPTS

__all__ = ["seqloom"]

MODULES = Path(sys.prefix) / "node" / "node_modules"
RANGES = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x531, 0x587), (0x591, 0x5F4), (0x600, 0x6FF),
    (0x900, 0x963), (0x980, 0x9CC), (0xB82, 0xBCD), (0xE01, 0xE5B), (0x1000, 0x104F), (0x10A0, 0x10FF), (0x1100, 0x11FF),
    (0x1E00, 0x1EFF), (0x1F00, 0x1FFC), (0x2000, 0x206F), (0x2100, 0x214F), (0x2581, 0x2581), (0x3000, 0x30FF),
    (0x4E00, 0x4E80), (0xAC00, 0xAC80), (0xF900, 0xF930), (0xFB00, 0xFB06), (0xFF01, 0xFF5E),
    (0x1F600, 0x1F64F), (0x9, 0xD), (0x85, 0x85),
    (0xFEFF, 0xFEFF),
)  # fmt: skip
"""First and last letters of many scripts, with marks, spaces of every kind, and what compositions are made of."""


def node() -> str:
    found = shutil.which("node")
    if (found is None or not MODULES.is_dir()) and not os.environ.get("CI"):
        pytest.skip("needs Node and onnxruntime-web, which `make test` installs where there is npm")
    assert found is not None
    return found


def scripts(folder: Path) -> Path:
    """The page's modules where Node finds them."""
    for name in SCRIPTS[:-1]:
        (folder / name).write_text(asset(name), encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def in_node(folder: Path, code: str, given: Any) -> Any:
    """What a module of Node says about something, both as JSON."""
    (folder / "main.js").write_text(code, encoding="utf-8")
    (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
    done = subprocess.run([node(), folder / "main.js"], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lines(count: int) -> list[str]:
    """Dates in many languages, and mixtures of letters, marks and spaces that no language has."""
    rng = random.Random(1)
    each = [[chr(one) for one in range(first, last + 1) if unicodedata.category(chr(one)) != "Cn"] for first, last in RANGES]
    letters = [one for several in each for one in several]
    mixed = []
    for _ in range(count // 2):
        few = [*rng.choice(each), *"  ,.-Aa\u0301\u0327"]
        mixed.append("".join(rng.choice(few if rng.random() < 0.8 else letters) for _ in range(rng.randint(0, 24))))
    return [*mixed, *(str(one.sources["source"]) for one in islice(dates.examples("train"), count - len(mixed)))]


VOCABULARIES: dict[str, sections.BuiltVocabulary] = {
    "characters": sections.Characters(),
    "characters, decomposed, with ends": sections.Characters(normalise="nfd", begin_end=True),
    "characters, compatible": sections.Characters(normalise="nfkc", lowercase=True),
    "words": sections.Words(lowercase=True),
    "words as they are": sections.Words(normalise="none"),
    "symbols": sections.Symbols(normalise="nfkd"),
    "bpe": sections.Bpe(size=2500),
    "unigram": sections.Unigram(size=3000, normalise="nfkc"),
}

ENCODE = """
import fs from "node:fs";
import { Vocabulary } from "./tokenisation.js";
const { body, lines } = JSON.parse(fs.readFileSync("given.json", "utf8"));
const vocabulary = new Vocabulary(body);
const found = lines.map((line) => {
  const symbols = vocabulary.source(line), ids = symbols.map((one) => one.id);
  return { ids, spans: symbols.map((one) => [one.start, one.end]), text: vocabulary.decode(ids) };
});
process.stdout.write(JSON.stringify(found));
"""


@pytest.mark.parametrize("name", VOCABULARIES)
def test_texts_are_cut_as_in_python(name: str, tmp_path: Path) -> None:
    texts = lines(1000)
    vocabulary = build_vocabulary(VOCABULARIES[name], texts[::2])
    found = in_node(scripts(tmp_path), ENCODE, {"body": json.loads(vocabulary.to_json()), "lines": texts})
    differing = [text for text, one in zip(texts, found, strict=True) if one["ids"] != ids_of(vocabulary, text)]
    assert differing == []
    assert [one["text"] for one in found] == [vocabulary.decode(one["ids"]) for one in found]
    for text, one in zip(texts, found, strict=True):
        assert all(0 <= start <= end <= len(text.encode("utf-16-le")) // 2 for start, end in one["spans"])


def ids_of(vocabulary: Vocabulary, text: str) -> list[int]:
    return [int(one) for one in vocabulary.encode_source(text).ids]


SEARCH = """
import fs from "node:fs";
import * as runtime from "onnxruntime-web";
import { Model, search } from "./decoding.js";
import { END, Vocabulary } from "./tokenisation.js";
const { folder, facts, texts, width } = JSON.parse(fs.readFileSync("given.json", "utf8"));
const { source, target } = facts.vocabularies, { factor, extra, ...rules } = facts.rules;
const reader = new Vocabulary(source), writer = new Vocabulary(target);
const graph = (name) => fs.readFileSync(`${folder}/${name}.onnx`);
const model = await Model.open(runtime, facts.graphs, { encoder: graph("encoder"), step: graph("step") });
const found = [];
for (const text of texts) {
  const ids = reader.source(text).map((one) => one.id), limit = Math.max(Math.floor(factor * ids.length) + extra, 1);
  const outputs = await search(model, facts.source, ids, width, { ...rules, limit, forbid: new Set(rules.forbid) });
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  found.push(outputs.map((one) => [writer.decode(one.symbols.filter((id) => id !== END)), sum(one.logProbs), one.score]));
}
process.stdout.write(JSON.stringify(found));
"""


@pytest.mark.parametrize(("width", "bias"), [(1, {}), (5, {}), (5, {"A": 1.5, "B": -2.0})])
def test_what_is_written_is_what_python_writes(tiny_run: Path, tmp_path: Path, width: int, bias: dict[str, float]) -> None:
    writes_what_python_writes(tiny_run, tmp_path, width, bias)


def test_so_it_is_where_every_position_speaks(tiny_recipe: dict[str, Any], tmp_path: Path) -> None:
    """What is carried from step to step has a number for every position and symbol there."""
    model = {**tiny_recipe["model"], "bridge": {"kind": "monotonic"}}
    run = train({**tiny_recipe, "model": model, "training": {**tiny_recipe["training"], "epochs": 1}}, tmp_path / "run").path
    writes_what_python_writes(run, tmp_path, width=5, bias={})


def writes_what_python_writes(run: Path, tmp_path: Path, width: int, bias: dict[str, float]) -> None:
    (folder := tmp_path / "scripts").mkdir()
    (scripts(folder) / "node_modules").symlink_to(MODULES)
    export = export_run(run, tmp_path / "model").path
    page = tmp_path / "page.html"
    export_page(export, page, MODULES)
    texts = ["badge", "fed", "abcdefgh"]
    predictor, facts = Predictor.load(export), facts_of(page)
    facts["rules"]["bias"] = [list(pair) for pair in predictor.vocabularies["target"].by_ids(bias).items()]
    found = in_node(folder, SEARCH, {"folder": str(export), "facts": facts, "texts": texts, "width": width})
    search = sections.Beam.like(predictor.recipe.search, width=width).model_copy(update={"bias": bias})
    for text, outputs in zip(texts, found, strict=True):
        [wanted] = predictor.predict([text], search=search, nbest=width)
        assert [one[0] for one in outputs] == [one.text for one in wanted.candidates]
        for one, other in zip(outputs, wanted.candidates, strict=True):
            assert one[1:] == pytest.approx([other.log_prob, other.score], abs=1e-4)


def facts_of(page: Path) -> dict[str, Any]:
    """What a page carries of its model."""
    written = page.read_text(encoding="utf-8").split('<script type="application/json">')[1].split("</script>")[0]
    found: dict[str, Any] = json.loads(written)
    return found


def test_a_page_is_written_from_a_run_and_asks_for_nothing(seqloom: Seqloom, tiny_run: Path, tmp_path: Path) -> None:
    node()
    page = tmp_path / "page.html"
    answer = seqloom("export", tiny_run, "--web", "--ort", MODULES.parent, "--precision", "int8", "--out", page, "--json")
    assert answer.code == 0
    assert answer.objects[0] == {"page": str(page), "precision": "int8", "bytes": page.stat().st_size}
    document = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in document
    assert "http://" not in document.replace("http://www.w3.org/2000/svg", "")
    again = seqloom("export", tiny_run, "--web", "--ort", MODULES.parent, "--out", page)
    assert (again.code, "exists already" in again.err) == (4, True)


def test_what_cannot_be_a_page_is_said_in_a_sentence(
    seqloom: Seqloom, tiny_run: Path, tiny_language_run: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    for words, said in (
        ([tiny_run, "--web"], "npm install onnxruntime-web"),
        ([tiny_run, "--web", "--ort", tmp_path], "npm install onnxruntime-web"),
        ([tiny_language_run, "--web", "--ort", tmp_path], "it is a language model"),
        ([tiny_run, "--ort", tmp_path], "--ort goes with --web"),
    ):
        answer = seqloom("export", *words, "--out", page)
        assert (answer.code, said in answer.err) == (2, True), answer.err
    assert seqloom("export", tiny_run, "--web", "--ort", tmp_path, "--out", tmp_path / "folder").code == 2
    assert not page.exists()


def test_a_browser_runs_it(tiny_run: Path, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if (browser is None or not MODULES.is_dir()) and not os.environ.get("CI"):
        pytest.skip("needs Chromium and onnxruntime-web, which `make test` installs where it can")
    playwright = pytest.importorskip("playwright.sync_api")
    export_page(export_run(tiny_run, tmp_path / "model").path, page := tmp_path / "page.html", MODULES)
    [wanted] = Predictor.load(tmp_path / "model").predict(["badge"], beam=3)
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        tab, asked = opened.new_page(), list[str]()
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(page.as_uri())
        tab.fill("textarea", "badge")
        tab.select_option("select[name=width]", "3")
        tab.click("form button")
        tab.wait_for_selector(".seqloom-web[data-ready] li:nth-child(3) .candidate", timeout=120_000)
        assert tab.inner_text(".output .run") == wanted.text
        assert tab.locator(".candidate").count() == 3
        opened.close()
    assert {one.split(":")[0] for one in asked} == {"file", "blob"}
