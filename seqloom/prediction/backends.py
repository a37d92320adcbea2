"""The one seam between a folder and what can run its model: torch, or ONNX Runtime. Nothing above this line knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.data.preparing.corpus import Corpus, Trained
from seqloom.data.reading.oracles import Oracle
from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import MissingExtraError, RunError, UsageError
from seqloom.recipe import Recipe
from seqloom.results.layouts import Layout
from seqloom.runs import RunFolder
from seqloom.search.contracts import FloatArray, IntArray, State, Stepper
from seqloom.search.ctc import PositionScores
from seqloom.system.cpu import InferencePrecision, TorchPrecision

if TYPE_CHECKING:
    from seqloom.data.media.files import Frontend
    from seqloom.data.media.store import StoredFrontend
    from seqloom.results.language import Studied


class SourceStepper(Stepper, Protocol):
    """A stepper that can also read sources and score whole targets."""

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """How the positions of each source lie, by name."""
        ...

    def start(self, sources: Mapping[str, Padded], count: int, oracle: Mapping[str, Oracle] | None = None) -> State:
        """Read the sources of `count` sentences; one row each. oracle: sources in which attention looks where it is told."""
        ...

    def position_scores(self, state: State) -> PositionScores | None:
        """What the positions say for CTC, given the state before the first symbol; None for a model without it."""
        ...

    def encode(self, sources: Mapping[str, Padded]) -> Mapping[str, FloatArray]:
        """The summary of every source, one vector for all of it, [B, D]."""
        ...

    def looked(self, sources: Mapping[str, Padded]) -> Mapping[str, FloatArray]:
        """Where encoders looked while they read one sentence beside another source, by source [R, H, N, M], round by round."""
        ...

    def energies(self, sources: Mapping[str, Padded], tokens: IntArray) -> Mapping[str, FloatArray]:
        """The scores of attention (A1) while one sentence is written, by source [T, H, S]; none without scores."""
        ...

    def score(self, batch: Batch) -> FloatArray:
        """`log p(y_t | y_<t, x)` of every label, [B, T + 1]; zero on padding."""
        ...

    def score_stream(self, inputs: IntArray, labels: IntArray, state: State) -> tuple[FloatArray, State]:
        """`log p` of the labels [B, T], each after its input [B, T], from a state of one row each; and the state after."""
        ...

    def study_stream(self, inputs: IntArray, labels: IntArray, state: State, *, alternatives: int) -> "tuple[Studied, State]":
        """What `score_stream` says, and ranks, entropies and so many of the most probable symbols."""
        ...

    def hidden_states(self, tokens: IntArray, state: State) -> FloatArray:
        """What every layer shows after each of the symbols [T] is read, [T, layers, D]; from a state of one row."""
        ...


@dataclass(frozen=True)
class OpenedModel:
    """A trained model, ready to be stepped through. frontends: what makes arrays of its sources that are files.

    knows_unknown: training targets had symbols outside the vocabulary, so that it has learnt when to write `unknown`.
    """

    stepper: SourceStepper
    vocabularies: Mapping[str, Vocabulary]
    recipe: Recipe
    frontends: "Mapping[str, StoredFrontend]" = field(default_factory=dict)
    knows_unknown: bool = True
    corpus: Corpus | None = None
    """The data that it was trained on, if it is a run's."""


def own_corpus(run: RunFolder) -> Corpus:
    """The data that a run was trained on. Files that have another content by now are refused when they are to be read."""
    trained = Trained(run.path, run.facts.get("data"), run.facts["fingerprint"])
    return Corpus(run.recipe.data, run.recipe.seed, trained)


def open_vocabularies(run: RunFolder) -> dict[str, Vocabulary]:
    """The vocabularies that a run was trained with, by name."""
    texts = run.vocabularies()
    if missing := [name for name in run.recipe.data.symbol_sides if name not in texts]:
        raise RunError(f"{run.path}: has no vocabulary for {missing[0]}. Restore the run from a copy")
    return {
        name: Vocabulary.from_json(text, where=str(run.path / "tokenizers" / f"{name}.json")) for name, text in texts.items()
    }


def open_model(path: Path, *, precision: InferencePrecision = "fp32", shortlist: int | None = None) -> OpenedModel:
    """Open the best weights of a run, to compute in a precision. shortlist: write only so many most frequent symbols.

    An exported model has its precision and its shortlist already.
    """
    run = RunFolder.open(path)
    vocabularies = open_vocabularies(run)
    if run.is_export:
        return _open_export(run, vocabularies, precision=precision, shortlist=shortlist)
    require_shortlist(run, vocabularies, shortlist)
    if precision == "int8":
        raise UsageError(
            f"{path}: a run computes in fp32 or bf16; int8 is for exported models. "
            f"Write one, then use it in place of the run: seqloom export {path} --out FOLDER --precision int8"
        )
    return _open_run(run, vocabularies, precision=precision, shortlist=shortlist)


def require_shortlist(run: RunFolder, vocabularies: Mapping[str, Vocabulary], shortlist: int | None) -> None:
    """Refuse a shortlist where it has no meaning."""
    path = run.path
    if shortlist is not None and vocabularies["target"].kind.learnt:
        raise UsageError(
            f"{path}: a shortlist takes the most frequent target symbols, but those of this run are learnt parts of words, "
            "which are not in the order of their frequency. Leave the shortlist out"
        )
    if shortlist is not None and run.recipe.copies:
        raise UsageError(
            f"{path}: a shortlist keeps rare symbols from being written, and this run copies them from the source. "
            "Leave the shortlist out"
        )


def _open_export(
    run: RunFolder, vocabularies: Mapping[str, Vocabulary], *, precision: InferencePrecision, shortlist: int | None
) -> OpenedModel:
    from seqloom.runtime.exports import ExportedModel

    exported = ExportedModel(run)
    if shortlist is not None or precision not in ("fp32", exported.precision):
        raise UsageError(
            f"{run.path}: was exported in {exported.precision}, which is settled, as its shortlist is. "
            "Leave --precision and --shortlist out, or export the run again with them"
        )
    frontends = _stored(exported.frontends())
    return OpenedModel(exported.stepper(), vocabularies, run.recipe, frontends, knows_unknown(run), own_corpus(run))


def _stored(frontends: "Mapping[str, Frontend]") -> "dict[str, StoredFrontend]":
    """What keeps the arrays that are made of files; most models read none."""
    if not frontends:
        return {}
    from seqloom.data.media.store import StoredFrontend

    return {name: StoredFrontend(frontend) for name, frontend in frontends.items()}


def knows_unknown(run: RunFolder) -> bool:
    """Whether training targets had symbols outside the vocabulary."""
    return bool(run.facts.get("unknown_targets", 1) > 0)  # runs of before do not say


def _open_run(
    run: RunFolder, vocabularies: Mapping[str, Vocabulary], *, precision: TorchPrecision, shortlist: int | None
) -> OpenedModel:
    weights, _ = run.load_weights()
    try:
        from seqloom.models.weights import restored_model
    except ModuleNotFoundError as problem:
        if problem.name != "torch":
            raise
        raise MissingExtraError("Running a model", "train") from problem
    from seqloom.models.encoders.frontends import build_frontends
    from seqloom.models.prediction.stepper import TorchStepper

    sizes = {name: vocabulary.size for name, vocabulary in vocabularies.items()}
    model = restored_model(run.recipe, sizes, weights, where=str(run.path / "weights.safetensors"))
    stepper = TorchStepper(model, precision=precision, shortlist=shortlist)
    frontends = _stored(build_frontends(run.recipe))
    return OpenedModel(stepper, vocabularies, run.recipe, frontends, knows_unknown(run), own_corpus(run))
