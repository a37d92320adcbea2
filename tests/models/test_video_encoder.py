"""The encoder of videos: frames as images, then frames in their order."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from seqloom.models.encoders.frames import at_the_same_moments
from seqloom.models.encoders.video import VideoEncoder
from seqloom.models.memory import Memory
from seqloom.recipe import sections
from seqloom.results.layouts import Film, Frames

LENGTHS = torch.tensor([3, 5, 0])
CNN = {"kind": "cnn", "channels": [4, 6], "blocks": 0, "summary": "dense"}
TIMES: dict[str, dict[str, Any]] = {
    "recurrent": {"kind": "pyramid", "layers": 1, "size": 5},
    "transformer": {"kind": "frame_transformer", "size": 8, "heads": 2, "layers": 1, "convolution": None},
    "positions": {"kind": "none"},
    "bag": {"kind": "none", "positions": False},
}


def encoder_of(time: str, **settings: Any) -> VideoEncoder:
    torch.manual_seed(3)
    section = sections.VideoEncoder.model_validate({"frames": CNN, "time": TIMES[time], **settings})
    return VideoEncoder(section, 8, 12, 3).double().eval()


def clips(length: int = 5) -> Tensor:
    return torch.from_numpy(np.random.default_rng(5).integers(0, 256, (3, length, 8, 12, 3), dtype=np.uint8))


@pytest.mark.parametrize("memory", ["frames", "grid"])
@pytest.mark.parametrize("time", TIMES)
def test_a_batch_equals_its_clips_whatever_the_padding(time: str, memory: str) -> None:
    encoder, frames = encoder_of(time, memory=memory, differences=True), clips()
    places = 6 if memory == "grid" else 1
    whole = encoder(frames, LENGTHS)
    assert whole.states.shape == (3, 5 * places, encoder.memory_size)
    assert whole.mask.sum(dim=1).tolist() == [places * one for one in LENGTHS.tolist()]
    padded = encoder(torch.cat([frames, torch.full_like(frames, 99)], dim=1), LENGTHS)
    for row, length in enumerate(LENGTHS[:2].tolist()):
        alone = encoder(frames[row : row + 1, :length], LENGTHS[row : row + 1])
        real = length * places
        torch.testing.assert_close(alone.states[0], whole.states[row, :real])
        torch.testing.assert_close(padded.states[row, :real], whole.states[row, :real])
        torch.testing.assert_close(alone.summary[0], whole.summary[row])
    torch.testing.assert_close(whole.summary[2], torch.zeros_like(whole.summary[2]))


def test_places_lie_frame_by_frame() -> None:
    assert encoder_of("recurrent", memory="grid").layout == Film(2, 3)
    assert encoder_of("recurrent").layout == Frames(1)
    assert Film(2, 3).names(7)[5:] == ("1,2,3", "2,1,1")


def test_a_bag_of_frames_is_the_same_backwards_and_others_are_not() -> None:
    frames, lengths = clips()[:1], torch.tensor([5])
    for time, differences, same in (("bag", False, True), ("bag", True, False), ("recurrent", False, False)):
        encoder = encoder_of(time, differences=differences)
        forwards, backwards = encoder(frames, lengths).summary, encoder(frames.flip(1), lengths).summary
        assert torch.allclose(forwards, backwards) is same


def test_all_frames_of_a_clip_are_shifted_and_mirrored_alike() -> None:
    encoder = encoder_of("bag", shift=0.25, flip=True).train()
    still = clips(1).expand(3, 5, 8, 12, 3)
    torch.manual_seed(1)
    moved = encoder._prepared(still)
    assert (moved == moved[:, :1]).all()
    assert (moved != still).any()
    assert (encoder.eval()._prepared(still) == still).all()


def test_gradients_reach_every_parameter() -> None:
    encoder = encoder_of("recurrent", memory="grid", differences=True).train()
    memory = encoder(clips(), LENGTHS)
    (memory.states.square().sum() + memory.summary.sum()).backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in encoder.parameters())


def test_frozen_features_are_read_as_they_come() -> None:
    frames = {"kind": "efficientnet_lite0", "size": 7}
    pooled = encoder_of("recurrent", frames=frames)
    assert pooled(torch.rand(3, 5, 1280).double(), LENGTHS).states.shape == (3, 5, 10)
    grid = encoder_of("recurrent", frames=frames, memory="grid")
    assert grid(torch.rand(3, 5, 1, 1280).double(), LENGTHS).states.shape == (3, 5, 10)


def test_the_cost_counts_every_frame() -> None:
    assert encoder_of("recurrent").multiplications.source > 4 * 16 * 3 * 4 * 6


def heard(lengths: list[int], width: int = 4) -> Memory:
    """Another source, of two numbers a state: the state's own, counted from 1, and its clip's."""
    numbers = torch.arange(1, width + 1, dtype=torch.float64).expand(len(lengths), width)
    clip = torch.arange(len(lengths), dtype=torch.float64)[:, None].expand_as(numbers)
    states, there = torch.stack([numbers, clip], dim=-1), torch.tensor(lengths)
    total = states.sum(dim=1)
    return Memory(states, torch.arange(width) < there[:, None], total, ((total,),))


def test_states_of_another_source_stand_beside_the_frames_of_the_same_moments() -> None:
    found = at_the_same_moments(heard([4, 2, 4, 0]), 4, torch.tensor([4, 4, 2, 3]))
    assert found[..., 0].tolist() == [[1, 2, 3, 4], [1, 1, 2, 2], [2, 4, 4, 4], [0, 0, 0, 0]]
    assert found[:3, :, 1].tolist() == [[0] * 4, [1] * 4, [2] * 4]
    assert (at_the_same_moments(heard([0], 0), 3, torch.tensor([3])) == 0).all()


@pytest.mark.parametrize("time", ["recurrent", "transformer"])
def test_a_clip_beside_its_sound_does_not_depend_on_its_neighbours(time: str) -> None:
    torch.manual_seed(3)
    section = sections.VideoEncoder.model_validate({"frames": CNN, "time": {**TIMES[time], "beside": "sound"}})
    encoder = VideoEncoder(section, 8, 12, 3, beside=2).double().eval()
    whole = encoder.read_beside({"sound": heard([3, 4, 2])}, clips(), LENGTHS)
    other = encoder.read_beside({"sound": heard([4, 4, 2])}, clips(), LENGTHS)
    assert not torch.allclose(whole.states[0, :3], other.states[0, :3])
    torch.testing.assert_close(whole.states[1], other.states[1])
    alone = encoder.read_beside({"sound": heard([3], 3)}, clips()[:1, :3], LENGTHS[:1])
    torch.testing.assert_close(alone.states[0], whole.states[0, :3])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"frames": {**CNN, "summary": "flatten"}}, "as long as its grid is large"),
        ({"frames": {"kind": "efficientnet_lite0"}, "differences": True}, "has learnt to see three"),
        ({"memory": "grid", "time": {"kind": "pyramid", "layers": 2}}, "makes one state of 2 frames"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        sections.VideoEncoder.model_validate(settings)
