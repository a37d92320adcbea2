"""An exported model's folder, opened: what its model.json says of the graphs, and the graphs themselves."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seqloom.errors import RunError
from seqloom.recipe.sections import AnyEncoder, FileSource, FrameEncoder, SentencesEncoder, VideoEncoder
from seqloom.results.layouts import Film, Frames, Grid, Layout, Sentences, Tokens
from seqloom.runs import RunFolder
from seqloom.runs.documents import reason_of, sha256
from seqloom.runtime.guard import require_harmless
from seqloom.runtime.sessions import Session
from seqloom.runtime.stepper import ModelShape, RuntimeStepper
from seqloom.system.files import LARGEST_WEIGHTS, read_regular
from seqloom.system.json_parsing import require_types

if TYPE_CHECKING:
    from seqloom.data.media.files import Frontend

FORMAT = 1
"""The format number of exported models. A reader refuses other numbers with a sentence."""

Encoders = Mapping[str, AnyEncoder]
ENCODER, STEP, BEST = "encoder.onnx", "step.onnx", "best.onnx"


def network_file(source: str) -> str:
    """The network that sees the images of a source, where it is no part of the encoder."""
    return f"network.{source}.onnx"


class ExportedModel:
    """The graphs of an exported model."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._facts = _graph_facts(run)

    @property
    def precision(self) -> str:
        """That of its products with matrices."""
        return str(self._facts["precision"])

    def stepper(self) -> RuntimeStepper:
        """The model as search sees it."""
        encoder, step, best = map(self._session, (ENCODER, STEP, BEST))
        return RuntimeStepper(encoder, step, best, _shape(self._facts, self._run.recipe.encoders))

    def frontends(self) -> "dict[str, Frontend]":
        """What makes arrays of the sources that are files."""
        return {name: self._frontend(name, source) for name, source in self._run.recipe.data.file_sources.items()}

    def _frontend(self, name: str, source: FileSource) -> "Frontend":
        from seqloom.data.kinds import file_kind_of
        from seqloom.data.media.images import ImagePixels
        from seqloom.runtime.frontends import SeenFeatures

        frontend, network = file_kind_of(source).frontend(), network_file(name)
        if network in self._facts["files"] and isinstance(frontend, ImagePixels):
            return SeenFeatures(self._session(network), frontend, self._facts["files"][network])
        return frontend

    @property
    def leaves(self) -> dict[str, list[str]]:
        """The names of the arrays in a state, and of the sources that are attended to."""
        return {name: list(self._facts[name]) for name in ("rows", "sentences", "attended")}

    def _session(self, name: str) -> Session:
        return Session(self.content(name), where=str(self._run.path / name))

    def content(self, name: str) -> bytes:
        """A graph as it lies in the folder, if it is the one that was written, and harmless."""
        path = self._run.path / name
        if name not in self._facts["files"]:
            raise RunError(f"{self._run.path}: its model.json names no {name}. Export the run again")
        try:
            content = read_regular(path, limit=LARGEST_WEIGHTS, inside=self._run.path)
            if sha256(content) != self._facts["files"][name]:
                raise ValueError("it does not match its hash")
            require_harmless(content)
        except (OSError, ValueError) as problem:
            advice = "Restore it from a copy, or export the run again"
            raise RunError(f"{path}: cannot be used: {reason_of(problem)}. {advice}") from problem
        return content


def stepper_of(files: Mapping[str, bytes], facts: Mapping[str, Any], encoders: Encoders, *, threads: int = 1) -> RuntimeStepper:
    """The model of graphs that were just made, as search sees it. facts: what a model.json would say of them."""
    encoder, step, best = (Session(files[name], where=name, threads=threads) for name in (ENCODER, STEP, BEST))
    return RuntimeStepper(encoder, step, best, _shape(facts, encoders))


def _shape(facts: Mapping[str, Any], encoders: Encoders) -> ModelShape:
    leaves = {name: tuple(facts[name]) for name in ("rows", "sentences", "attended")}
    layouts = {name: _layout(facts["grids"].get(name), encoder) for name, encoder in encoders.items()}
    return ModelShape(**leaves, vocabulary_size=facts["vocabulary_size"], layouts=layouts)


def _layout(grid: Sequence[int] | None, encoder: AnyEncoder) -> Layout:
    """How the positions of a source lie."""
    if isinstance(encoder, FrameEncoder):
        return Frames(encoder.stride)
    if isinstance(encoder, VideoEncoder):
        return Frames(encoder.stride) if grid is None else Film(*grid)
    if isinstance(encoder, SentencesEncoder):
        return Sentences()
    return Tokens() if grid is None else Grid(*grid)


def _graph_facts(run: RunFolder) -> Mapping[str, Any]:
    facts = run.facts["graphs"]
    try:
        require_types({"graphs": facts}, {"graphs": dict})
        if facts.get("format") != FORMAT:
            raise RunError(
                f"{run.path}: was exported in format {facts.get('format')}; this version of seqloom reads format {FORMAT}. "
                "Install the version that wrote it, or export the run again"
            )
        require_types(facts, {"precision": str, "files": dict, "rows": list, "sentences": list, "attended": list})
        require_types(facts, {"vocabulary_size": int, "grids": dict})
        require_types(facts["files"], dict.fromkeys(facts["files"], str))
        for one in (*facts["rows"], *facts["sentences"], *facts["attended"]):
            require_types({"a name": one}, {"a name": str})
        for one in facts["attended"]:
            if f"mask.{one}" not in facts["sentences"]:
                raise ValueError(f"expected mask.{one} among what is the same at every step")
        for name, grid in facts["grids"].items():
            if not isinstance(grid, list) or len(grid) != 2 or not all(isinstance(side, int) for side in grid):
                raise ValueError(f"expected rows and columns of {name}")
    except ValueError as problem:
        raise RunError(f"{run.path}: its model.json was not written by seqloom ({problem})") from problem
    return dict(facts)
