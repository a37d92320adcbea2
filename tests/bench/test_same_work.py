"""Both sides of the benchmark do the same work: same loss, same gradients' effect, same outputs."""

import numpy as np
import pytest
import torch

from bench.tiny import TINY
from seqloom.bench.copying import copy_weights
from seqloom.bench.decoding import SEARCHES, Decoders, DecodeSettings, open_decoders, search_textbook
from seqloom.bench.textbook import IGNORED, Textbook, tensors
from seqloom.bench.training import SIDES, TrainSettings, open_trainee
from seqloom.bench.workloads import CHARACTERS, Pairs, open_pairs, random_batches
from seqloom.models.encoder_decoder import build_model
from seqloom.recipe import sections


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return open_pairs(TINY)


def test_copied_weights_give_the_same_loss(pairs: Pairs) -> None:
    ours = build_model(TINY.recipe(), pairs.vocabulary_sizes)
    textbook = Textbook(TINY.model, pairs.vocabulary_sizes)
    copy_weights(ours, textbook)
    batch = pairs.split.batch(random_batches(pairs, TINY.batch_size)[0])
    source, lengths, inputs, labels = tensors(batch)
    logits = textbook(source, lengths, inputs)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
    assert loss.item() == pytest.approx(ours(batch).nll.item() / batch.num_symbols, abs=1e-5)


def test_every_parameter_of_the_textbook_is_copied(pairs: Pairs) -> None:
    ours = build_model(TINY.recipe(), pairs.vocabulary_sizes)
    textbook = Textbook(TINY.model, pairs.vocabulary_sizes)
    with torch.no_grad():
        for parameter in textbook.parameters():
            parameter.fill_(torch.nan)
    copy_weights(ours, textbook)
    assert all(bool(torch.isfinite(parameter).all()) for parameter in textbook.parameters())
    biases = sum(parameter.numel() for name, parameter in textbook.named_parameters() if "bias_hh" in name)
    assert sum(parameter.numel() for parameter in textbook.parameters()) - biases == ours.num_parameters


def test_both_sides_learn_alike(pairs: Pairs) -> None:
    settings = TrainSettings(workload=TINY, precision="fp32", steps=4)
    trainees = [open_trainee(side, settings, pairs) for side in SIDES]
    for ours, textbook in zip(*(trainee.batches for trainee in trainees), strict=True):
        assert np.array_equal(ours, textbook)
        losses = [trainee.learn(ours) for trainee in trainees]
        # Not equal to the last digit: torch's two biases move one step each where ours moves one.
        assert losses[0] == pytest.approx(losses[1], abs=2e-2)


def test_another_architecture_than_the_textbooks_is_refused() -> None:
    with pytest.raises(ValueError, match="one architecture only"):
        Textbook(sections.Model(), {"source": 9, "target": 9})


@pytest.fixture(scope="module")
def decoders(pairs: Pairs) -> Decoders:
    return open_decoders(DecodeSettings(workload=TINY, batch_size=16), pairs)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("order", ["random", "grouped"])
def test_both_sides_write_the_same(decoders: Decoders, pairs: Pairs, search: str, order: str) -> None:
    ordered = Decoders(decoders.predictors, decoders.textbook, decoders.settings.model_copy(update={"textbook_batches": order}))
    texts = pairs.texts(48)
    assert ordered.run("ours", search, texts) == ordered.run("textbook", search, texts)


@pytest.mark.parametrize(
    "section",
    [sections.Beam(width=3, length_factor=0.0, length_extra=2), sections.Greedy(length_factor=0.0, length_extra=2)],
    ids=["beam", "greedy"],
)
def test_outputs_that_reach_their_limit_are_the_same(
    decoders: Decoders, pairs: Pairs, section: sections.Beam | sections.Greedy
) -> None:
    texts = pairs.texts(16)
    vocabularies = decoders.predictors["ours"].vocabularies
    sources = vocabularies["source"].encode_sources(texts, [()] * len(texts))
    ours = [prediction.tokens for prediction in decoders.predictors["ours"].predict(texts, search=section)]
    textbook = search_textbook(decoders.textbook, section, sources)
    assert ours == [vocabularies["target"].symbols(ids) for ids in textbook]
    assert any("<end>" not in output for output in ours)


def test_outputs_end_by_themselves_and_are_as_long_as_the_data() -> None:
    workload = CHARACTERS.model_copy(update={"examples": 200})
    pairs = open_pairs(workload)
    outputs = open_decoders(DecodeSettings(workload=workload), pairs).run("ours", "greedy", pairs.texts(100))
    assert all(output[-1] == "<end>" for output in outputs)
    lengths = [len(output) - 1 for output in outputs]
    assert np.mean(lengths) == pytest.approx(workload.target.mean, rel=0.15)
    assert np.corrcoef(lengths, [len(text.split()) for text in pairs.texts(100)])[0, 1] > 0.8
