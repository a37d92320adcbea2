"""Models as ONNX graphs: what a runtime computes with them is what torch computes."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.data.reading.oracles import Oracle
from seqloom.graphs.graph import Precision
from seqloom.graphs.model import best_graph, write_graphs
from seqloom.graphs.vision import features_shape, network_graph
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.encoders.efficientnet import EfficientNetLite0
from seqloom.models.encoders.vision import in_a_row, scaled
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.models.weights import weight_arrays
from seqloom.recipe import sections
from seqloom.runtime.guard import require_harmless
from seqloom.runtime.sessions import Session
from seqloom.runtime.stepper import ModelShape, RuntimeStep, RuntimeStepper
from seqloom.search.contracts import FloatArray, IntArray, Step, Stepper
from seqloom.symbols import BEGIN, UNKNOWN

from .architectures import ARCHITECTURES, PLAIN, TARGET_SIZE, Architecture
from .harness import CLOSE, batch_for, item, make_batch, model_of, padded_further, real_positions, sequences, tokens_of

CLOSE_IN_INT8 = 0.05
"""How far probabilities may be off in int8, of tiny models whose weights are large."""


def _readable(names: list[str]) -> list[Architecture]:
    """Those whose encoders the package has: the tests' own encoder of grids is no part of it."""
    found = [ARCHITECTURES[name] for name in names]
    return [one for one in found if all(kind != "grid" for _, kind in one.sources)]


EVERY = _readable(list(ARCHITECTURES))
SOME = _readable(list(PLAIN))
ATTENDING = [one for one in SOME if one.attends]


def each(architectures: list[Architecture]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("architecture", [pytest.param(one, id=one.name) for one in architectures])


@cache
def best() -> Session:
    return Session(best_graph().SerializeToString(), where="best")


@cache
def exported(architecture: Architecture, precision: Precision = "fp32", shortlist: int | None = None) -> RuntimeStepper:
    shapes: dict[str, tuple[int, ...]] = {
        name: () if kind in ("text", "sentences") else (architecture.sizes[name],) for name, kind in architecture.sources
    }
    return runtime_of(
        model_of(architecture, torch.float32), architecture.section, shapes if architecture.reads else {}, precision, shortlist
    )


def runtime_of(
    model: EncoderDecoder,
    section: sections.Model,
    shapes: dict[str, tuple[int, ...]],
    precision: Precision = "fp32",
    shortlist: int | None = None,
) -> RuntimeStepper:
    graphs = write_graphs(section, weight_arrays(model), shapes, precision=precision, shortlist=shortlist)
    written = [one.SerializeToString() for one in (graphs.encoder, graphs.step)]
    for one in written:
        require_harmless(one)
    encoder, step = (Session(one, where="a graph") for one in written)
    return RuntimeStepper(
        encoder, step, best(), ModelShape(graphs.rows, graphs.sentences, graphs.attended, graphs.vocabulary_size)
    )


def read(stepper: Stepper, batch: Batch, oracle: dict[str, Oracle] | None = None) -> list[Step]:
    """What a stepper says while it reads the targets of a batch."""
    state, steps = stepper.start(batch.sources, len(batch.target.lengths), oracle), []  # type: ignore[attr-defined]
    for tokens in tokens_of(batch).numpy().T:
        steps.append(stepper.step(tokens[:, None], state))
        state = steps[-1].state
    return steps


def probabilities(steps: list[Step]) -> FloatArray:
    found: FloatArray = np.exp(np.concatenate([step.all() for step in steps], axis=1))
    return found


def assert_close(one: FloatArray, other: FloatArray, tolerance: float = CLOSE) -> None:
    assert one.shape == other.shape
    assert not one.size or float(np.abs(one - other).max()) <= tolerance


def test_two_texts_may_differ_in_length() -> None:
    architecture = ARCHITECTURES["story+question"]
    batch = batch_for(architecture)
    shorter = {**batch.sources, "text_1": Padded.of(sequences((2, 1, 2), architecture.sizes["text_1"], 5))}
    unequal = replace(batch, sources=shorter)
    expected = read(TorchStepper(model_of(architecture, torch.float32)), unequal)
    for ours, wanted in zip(read(exported(architecture), unequal), expected, strict=True):
        assert np.abs(ours.all() - wanted.all()).max() < 100 * CLOSE


@each(EVERY)
def test_a_graph_says_what_torch_says(architecture: Architecture) -> None:
    batch = batch_for(architecture, (2, 0, 4))  # one source is empty
    torch_steps = read(TorchStepper(model_of(architecture, torch.float32)), batch)
    steps = read(exported(architecture), batch)
    assert_close(probabilities(steps), probabilities(torch_steps))
    for one, other in zip(steps, torch_steps, strict=True):
        assert one.weights.keys() == other.weights.keys()
        for name, weights in other.weights.items():
            assert_close(one.weights[name], weights)


@each(SOME)
def test_in_int8_it_is_close_and_a_row_is_its_own(architecture: Architecture) -> None:
    batch = batch_for(architecture)
    together = probabilities(read(exported(architecture, "int8"), batch))
    assert_close(together, probabilities(read(exported(architecture), batch)), CLOSE_IN_INT8)
    if architecture.reads:
        alone = probabilities(read(exported(architecture, "int8"), item(batch, 1)))
        assert_close(together[1, : alone.shape[1]], alone[0])
        more_padding = replace(batch, sources=padded_further(batch).sources)
        assert_close(probabilities(read(exported(architecture, "int8"), more_padding)), together)


@each(SOME)
def test_whole_targets_summaries_and_energies_are_the_same(architecture: Architecture) -> None:
    batch, torch_stepper = batch_for(architecture), TorchStepper(model_of(architecture, torch.float32))
    stepper = exported(architecture)
    assert_close(stepper.score(batch), torch_stepper.score(batch))
    if not architecture.reads:
        return
    for name, summary in torch_stepper.encode(batch.sources).items():
        assert_close(stepper.encode(batch.sources)[name], summary)
    one = item(batch, 0).sources
    tokens: IntArray = np.array([3, 4, 1])
    for name, energies in torch_stepper.energies(one, tokens).items():
        assert_close(stepper.energies(one, tokens)[name], energies, 1e-4)


@each(_readable(["related+question", "comparing-second", "comparing-bahdanau"]))
def test_encoders_looked_at_the_same(architecture: Architecture) -> None:
    one = item(batch_for(architecture), 0).sources
    found, wanted = exported(architecture).looked(one), TorchStepper(model_of(architecture, torch.float32)).looked(one)
    assert found.keys() == wanted.keys() != set()
    for name, weights in wanted.items():
        assert_close(found[name], weights, 1e-5)


@each(ATTENDING)
def test_it_looks_where_it_is_told(architecture: Architecture) -> None:
    batch = batch_for(architecture)
    name = next(name for name, source in batch.sources.items() if source.values.shape[1] > 1)
    sentences, positions = real_positions(architecture, name).shape
    weights = np.zeros((sentences, 2, positions), np.float32)
    weights[:, :, 0] = 1.0
    oracle = {name: Oracle(weights, np.array([[True, False]] * sentences))}
    steps, torch_steps = (
        read(one, batch, oracle) for one in (exported(architecture), TorchStepper(model_of(architecture, torch.float32)))
    )
    assert_close(probabilities(steps), probabilities(torch_steps))


@pytest.mark.parametrize("shortlist", [None, 3])
@pytest.mark.parametrize(
    ("name", "places"), [("pyramid-ctc", [3, 0, 5]), ("text-ctc", [6, 0, 12]), ("pyramid+text-to-transformer", [3, 0, 5])]
)
def test_positions_say_the_same_for_ctc(name: str, places: list[int], shortlist: int | None) -> None:
    architecture = ARCHITECTURES[name]
    batch = batch_for(architecture, (2, 0, 4))
    found = []
    for stepper in (
        exported(architecture, shortlist=shortlist),
        TorchStepper(model_of(architecture, torch.float32), shortlist=shortlist),
    ):
        scores = stepper.position_scores(stepper.start(batch.sources, 3))
        assert scores is not None
        found.append(scores)
    one, other = found
    assert one.lengths.tolist() == other.lengths.tolist() == places
    assert_close(one.log_probs[2], other.log_probs[2])
    assert one.log_probs.shape[-1] == (TARGET_SIZE if shortlist is None else 6)


def test_rows_of_a_beam_follow_their_parents() -> None:
    architecture = ARCHITECTURES["lstm-bahdanau-2_layers"]
    batch = batch_for(architecture)
    one, other = exported(architecture), TorchStepper(model_of(architecture, torch.float32))
    sentences, parents = np.array([0, 2]), np.array([[0, 0, 0], [0, 0, 0]])
    tokens = np.array([[2, 3, 4], [4, 3, 2]])
    found = []
    for stepper in (one, other):
        step = stepper.step(np.full((3, 1), BEGIN), stepper.start(batch.sources, 3))
        step = stepper.step(tokens, step.state.select(sentences, parents))
        found.append(stepper.step(tokens, step.state.select(np.array([0, 1]), np.array([[2, 0, 1], [1, 1, 0]]))).all())
    assert_close(found[0], found[1], 1e-4)


def test_a_shortlist_writes_no_others() -> None:
    architecture, batch = ARCHITECTURES["gru-luong-1_layer"], batch_for(ARCHITECTURES["gru-luong-1_layer"])
    stepper = exported(architecture, shortlist=2)
    torch_stepper = TorchStepper(model_of(architecture, torch.float32), shortlist=2)
    assert stepper.vocabulary_size == torch_stepper.vocabulary_size < TARGET_SIZE
    ours = probabilities(read(stepper, batch))
    assert_close(ours, probabilities(read(torch_stepper, batch)))
    assert not ours[..., [BEGIN, UNKNOWN]].any()


def test_the_best_symbols_leave_out_what_is_forbidden() -> None:
    architecture = ARCHITECTURES["gru-luong-1_layer"]
    batch = batch_for(architecture)
    step, torch_step = (
        read(one, batch)[0] for one in (exported(architecture), TorchStepper(model_of(architecture, torch.float32)))
    )
    assert isinstance(step, RuntimeStep)
    before = step.all().copy()
    for k in (1, 3, TARGET_SIZE):
        (ids, values), (torch_ids, torch_values) = (one.top(k, np.array([1, 2, 99])) for one in (step, torch_step))
        real = np.isfinite(torch_values)
        assert (ids[real] == torch_ids[real]).all()
        assert (np.isfinite(values) == real).all()
    assert (step.all() == before).all()


def test_a_language_model_reads_streams_the_same() -> None:
    architecture = ARCHITECTURES["lstm-none-2_layers"]
    tokens = np.stack(sequences((5, 5), TARGET_SIZE, seed=3))
    inputs, labels = tokens[:, :-1], tokens[:, 1:]
    one, other = exported(architecture), TorchStepper(model_of(architecture, torch.float32))
    scores, after = one.score_stream(inputs, labels, one.start({}, 2))
    torch_scores, torch_after = other.score_stream(inputs, labels, other.start({}, 2))
    assert_close(scores, torch_scores)
    assert_close(one.score_stream(inputs, labels, after)[0], other.score_stream(inputs, labels, torch_after)[0])
    studied, _ = one.study_stream(inputs, labels, one.start({}, 2), alternatives=3)
    torch_studied, _ = other.study_stream(inputs, labels, other.start({}, 2), alternatives=3)
    assert (studied.ranks == torch_studied.ranks).all()
    assert (studied.top_ids == torch_studied.top_ids).all()
    assert_close(studied.entropies, torch_studied.entropies)
    assert_close(one.hidden_states(tokens[0], one.start({}, 1)), other.hidden_states(tokens[0], other.start({}, 1)))


CONVOLUTIONAL = {"kind": "cnn", "channels": [4, 6], "blocks": 1, "size": 5, "positions": True}


@pytest.mark.parametrize(
    "encoder",
    [
        CONVOLUTIONAL,
        {**CONVOLUTIONAL, "size": None, "summary": "flatten"},
        {**CONVOLUTIONAL, "summary": "dense", "positions": False},
        {**CONVOLUTIONAL, "summary": "attend"},
        {"kind": "efficientnet_lite0", "size": 5, "tuned": True},
        {"kind": "efficientnet_lite0", "size": 5, "tuned": True, "features": "middle"},
    ],
    ids=["pool", "flatten", "dense", "attend", "efficientnet", "middle"],
)
def test_images_are_seen_the_same(encoder: dict[str, object]) -> None:
    section = sections.Model.model_validate({"encoder": encoder, "decoder": {"kind": "recurrent", "size": 6, "embedding": 4}})
    torch.manual_seed(3)
    model = EncoderDecoder(section, {"image": (37, 45, 3), "target": TARGET_SIZE}).eval()
    pixels = np.random.default_rng(1).integers(0, 256, (2, 1, 37, 45, 3), dtype=np.uint8)
    batch = make_batch({"image": Padded(pixels, np.array([1, 0]))}, Padded.of(sequences((2, 3), TARGET_SIZE, seed=2)))
    steps = read(runtime_of(model, section, {"image": (37, 45, 3)}), batch)
    torch_steps = read(TorchStepper(model), batch)
    assert_close(probabilities(steps), probabilities(torch_steps))
    assert_close(steps[-1].weights["image"], torch_steps[-1].weights["image"])


def test_sound_and_picture_are_read_together_the_same() -> None:
    frames = {"kind": "cnn", "channels": [4, 6], "blocks": 0, "summary": "dense"}
    video = {"kind": "video", "frames": frames, "differences": True, "time": {"kind": "pyramid", "beside": "sound"}}
    sound = {"kind": "pyramid", "size": 3, "layers": 1, "convolution": {"channels": [2]}}
    section = sections.Model.model_validate({"encoders": {"video": video, "sound": sound}, "ctc": {"source": "video"}})
    model = EncoderDecoder(section, {"video": (9, 12, 1), "sound": 8, "target": TARGET_SIZE}).eval()
    random = np.random.default_rng(1)
    clips = Padded(random.integers(0, 256, (3, 4, 9, 12, 1), dtype=np.uint8), np.array([4, 3, 2]))
    rows = Padded.of([random.normal(size=(count, 8)).astype(np.float32) for count in (9, 0, 4)])
    batch = make_batch({"video": clips, "sound": rows}, Padded.of(sequences((2, 3, 1), TARGET_SIZE, seed=2)))
    steps = read(runtime_of(model, section, {"video": (9, 12, 1), "sound": (8,)}), batch)
    torch_steps = read(TorchStepper(model), batch)
    assert_close(probabilities(steps), probabilities(torch_steps))
    assert_close(steps[-1].weights["video"], torch_steps[-1].weights["video"])


def test_a_frozen_network_sees_the_same() -> None:
    torch.manual_seed(1)
    network = EfficientNetLite0("middle").eval()
    pixels = np.random.default_rng(1).integers(0, 256, (2, 40, 52, 3), dtype=np.uint8)
    weights = {name: weight.detach().numpy() for name, weight in network.named_parameters()}
    section = sections.EfficientNetLite0Encoder(features="middle")
    session = Session(network_graph(section, weights, (40, 52)).SerializeToString(), where="a network")
    (features,) = session.run(["features"], {"pixels": pixels})
    with torch.inference_mode():
        seen = in_a_row(network(scaled(torch.from_numpy(pixels), like=network.stem.weight))).numpy()
    assert session.shape_of("features")[1:] == features_shape(section, (40, 52)) == seen.shape[1:]
    assert_close(features, seen, 1e-4)
