"""Write a run, or a model that is exported already, as one HTML page that runs it in a browser."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import RunError, UsageError
from seqloom.export.writing import export_run
from seqloom.prediction.backends import knows_unknown, open_vocabularies
from seqloom.prediction.samples import samples_of
from seqloom.recipe.sections import SOURCE, TARGET, Beam, Recipe, SearchSection, TextSource
from seqloom.runs import RunFolder
from seqloom.runtime.exports import ENCODER, STEP, ExportedModel
from seqloom.symbols import UNKNOWN
from seqloom.system.atomic_files import write_synced
from seqloom.system.json_parsing import parse_object
from seqloom.views.pages.web import WebModel, web_page

if TYPE_CHECKING:
    from seqloom.graphs.graph import Precision

_RUNTIME = {"runtime.mjs": "ort.wasm.bundle.min.mjs", "runtime.wasm": "ort-wasm-simd-threaded.wasm"}
"""What a page calls the files of onnxruntime-web, and what they are called there: the smallest build, for processors."""
_PLACES = (".", "dist", "onnxruntime-web/dist", "node_modules/onnxruntime-web/dist")
LARGEST_PAGE = 100_000_000
"""Of more bytes a page takes long to open, and phones give up."""
_WIDEST = 5
"""A browser has one thread: the beam that the page begins with is no wider than this."""


@dataclass(frozen=True)
class WebPage:
    """A page that was written. size: in bytes."""

    path: Path
    precision: str
    size: int

    def as_json(self) -> dict[str, Any]:
        """The object that `export --web --json` prints."""
        return {"page": str(self.path), "precision": self.precision, "bytes": self.size}


def export_page(
    run: Path, out: Path, ort: Path | None, *, precision: "Precision | None" = None, shortlist: int | None = None
) -> WebPage:
    """Write a model as a page, whole or not at all. ort: a folder with the npm package onnxruntime-web."""
    opened = RunFolder.open(run)
    _require_text(opened)
    if out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{out}: with --web, --out is the page to write, such as page.html")
    if out.exists():
        raise RunError(f"{out}: exists already. Choose another --out, or remove it first")
    runtime = _runtime_files(ort)
    if opened.is_export:
        if precision is not None or shortlist is not None:
            raise UsageError(f"{run}: is exported already, in its precision. Leave --precision and --shortlist out")
        return _write(opened, opened, out, runtime)
    with tempfile.TemporaryDirectory() as folder:
        exported = export_run(run, Path(folder) / "model", precision=precision or "fp32", shortlist=shortlist)
        return _write(opened, RunFolder.open(exported.path), out, runtime)


def _require_text(run: RunFolder) -> None:
    """Refuse what a page cannot read."""
    recipe, reads = run.recipe, list(run.recipe.data.sources.values())
    reason = (
        "it is a language model"
        if recipe.is_language_model
        else f"it reads {len(reads)} sources"
        if len(reads) != 1
        else "it does not read text"
        if not isinstance(reads[0], TextSource)
        else "it copies symbols from its source"
        if recipe.copies
        else "its vocabulary is of grapheme clusters, which browsers cut in their own way"
        if _is_of_clusters(open_vocabularies(run)[next(iter(recipe.data.sources))])
        else None
    )
    if reason is not None:
        raise UsageError(
            f"{run.path}: a page runs models that read one text and write, but {reason}. "
            "Export it without --web; `seqloom predict` and other programs can use that"
        )


def _is_of_clusters(vocabulary: Vocabulary) -> bool:
    splitter = parse_object(vocabulary.to_json())["tokenizer"]["pre_tokenizer"] or {}
    return bool(splitter.get("pattern") == {"Regex": r"\X"})


def _runtime_files(folder: Path | None) -> dict[str, bytes]:
    """The files of onnxruntime-web."""
    advice = "Run `npm install onnxruntime-web` in an empty folder, and name that folder with --ort"
    if folder is None:
        raise UsageError(f"--web needs onnxruntime-web, which the page carries. {advice}")
    for place in _PLACES:
        paths = {name: folder / place / file for name, file in _RUNTIME.items()}
        if all(path.is_file() for path in paths.values()):
            return {name: path.read_bytes() for name, path in paths.items()}
    raise UsageError(
        f"{folder}: expected the npm package onnxruntime-web, found no {' and '.join(_RUNTIME.values())}. {advice}"
    )


def _write(run: RunFolder, export: RunFolder, out: Path, runtime: Mapping[str, bytes]) -> WebPage:
    model, vocabularies = ExportedModel(export), open_vocabularies(export)
    (name,) = export.recipe.data.sources
    search, samples = export.recipe.search, [one.example for one in samples_of(run)]
    document = web_page(
        WebModel(
            title=f"{run.path.resolve().name}: a model in your browser",
            facts=_facts(export, model, vocabularies),
            files={**runtime, ENCODER: model.content(ENCODER), STEP: model.content(STEP)},
            features=vocabularies[name].features,
            sample=next((one.sources[name] for one in samples if not one.features), ""),
            width=min(search.width, _WIDEST) if isinstance(search, Beam) else 1,
            about="Everything is inside this page: the model, and onnxruntime-web, which runs it. What you type stays here. "
            f"Written by seqloom; the model is in {model.precision}.",
        )
    ).encode()
    if len(document) > LARGEST_PAGE:
        raise UsageError(
            f"{out}: expected a page of {LARGEST_PAGE // 10**6} MB at most, found {len(document) / 1e6:.0f} MB. "
            "Export with --precision int8, or with --shortlist"
        )
    write_synced(out, document)
    return WebPage(out, model.precision, len(document))


def _facts(export: RunFolder, model: ExportedModel, vocabularies: Mapping[str, Vocabulary]) -> dict[str, Any]:
    """What the page's script has to know."""
    recipe = export.recipe
    ((name, section),) = recipe.data.sources.items()
    sides = {SOURCE: vocabularies[name], TARGET: vocabularies[TARGET]}
    return {
        "source": name,
        "vocabularies": {side: parse_object(vocabulary.to_json()) for side, vocabulary in sides.items()},
        "graphs": model.leaves,
        "rules": _rules(recipe, vocabularies[TARGET], knows_unknown=knows_unknown(export)),
        "longest": recipe.data.maximum_input,
        "first": section.first if isinstance(section, TextSource) else None,
    }


def _rules(recipe: Recipe, target: Vocabulary, *, knows_unknown: bool) -> dict[str, Any]:
    """What a search has to keep to; a class is one symbol and `end`."""
    search: SearchSection = recipe.search
    never = {*map(target.find, search.forbid), *target.feature_ids, *(() if knows_unknown else (UNKNOWN,))}
    power = search.length_power if isinstance(search, Beam) else 1.0
    return {
        "factor": search.length_factor,
        "extra": search.length_extra,
        "minimum": 1 if target.whole else search.minimum_length,
        "power": 0.0 if target.whole else power,
        "forbid": sorted(never | ({UNKNOWN} if target.whole else set())),
        "bias": [[one, bias] for one, bias in target.by_ids(search.bias).items()],
        "closed": target.whole,
    }
