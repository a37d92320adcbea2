"""The frontend of a frozen network: what it sees of files, in order, however many threads there are."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from seqloom.data.builtin.moves import MovesRoot
from seqloom.data.media.files import Media, MediaRoot
from seqloom.data.media.images import ImagePixels
from seqloom.errors import DataError
from seqloom.models.encoders.frontends import build_frontend
from seqloom.models.encoders.frozen_features import FrozenFrames, frozen_network
from seqloom.models.encoders.vision import in_a_row
from seqloom.recipe.sections import ConvolutionalEncoder, EfficientNetLite0Encoder, ImageSource, VideoEncoder, VideoSource

SOURCE, PIXELS = ImageSource(size=(64, 96)), ImagePixels(64, 96)
LAST, MIDDLE = EfficientNetLite0Encoder(), EfficientNetLite0Encoder(features="middle")


@pytest.fixture
def files(tmp_path: Path) -> Sequence[Media]:
    """More than go through the network together, and not a multiple of that."""
    random = np.random.default_rng(1)
    for number in range(11):
        Image.fromarray(random.integers(0, 256, (64, 96, 3), dtype=np.uint8)).save(tmp_path / f"{number}.png")
    root = MediaRoot.open(tmp_path)
    return [root.resolve(f"{number}.png") for number in range(11)]


@torch.inference_mode()
def test_features_are_what_the_network_sees_of_scaled_pixels(files: Sequence[Media]) -> None:
    frontend = build_frontend(SOURCE, LAST)
    found = list(frontend.arrays(files))
    network = frozen_network("last")
    assert len(found) == len(files)
    for media, features in zip(files, found, strict=True):
        assert features.shape == (2 * 3, *frontend.row) == (2 * 3, 1280)
        pixels = torch.tensor(PIXELS.array(media)).float()
        seen = in_a_row(network(((pixels - 127) / 128).permute(2, 0, 1)[None]))[0]
        np.testing.assert_allclose(features, seen, atol=3e-3)  # half precision of numbers up to 6


def test_threads_change_nothing_and_leave_those_of_torch_as_they_are(files: Sequence[Media]) -> None:
    before = torch.get_num_threads()
    one, three = (list(build_frontend(SOURCE, MIDDLE, threads=threads).arrays(files)) for threads in (1, 3))
    assert torch.get_num_threads() == before
    for some, others in zip(one, three, strict=True):
        np.testing.assert_array_equal(some, others)


def test_what_arrays_depend_on_is_in_the_key() -> None:
    keys = {
        build_frontend(SOURCE, LAST).key,
        build_frontend(SOURCE, MIDDLE).key,
        build_frontend(ImageSource(size=(96, 64)), LAST).key,
        build_frontend(ImageSource(size=(64, 96), fit="pad"), LAST).key,
        build_frontend(SOURCE, ConvolutionalEncoder()).key,
    }
    assert len(keys) == 5
    assert build_frontend(SOURCE, LAST, threads=1).key == build_frontend(SOURCE, LAST, threads=2).key


@pytest.mark.parametrize("encoder", [ConvolutionalEncoder(), EfficientNetLite0Encoder(tuned=True)])
def test_a_network_that_learns_reads_pixels(
    encoder: ConvolutionalEncoder | EfficientNetLite0Encoder, files: Sequence[Media]
) -> None:
    frontend = build_frontend(SOURCE, encoder)
    assert frontend.row == (64, 96, 3)
    np.testing.assert_array_equal(next(frontend.arrays(files)), PIXELS.array(files[0])[None])


def test_a_file_that_is_no_picture_is_named(files: Sequence[Media], tmp_path: Path) -> None:
    (tmp_path / "7.png").write_text("not a picture")
    with pytest.raises(DataError, match=r"7\.png"):
        list(build_frontend(SOURCE, LAST, threads=2).arrays(files))


def films_of(**settings: object) -> FrozenFrames:
    """What is seen of films. settings: of their encoder."""
    encoder = VideoEncoder.model_validate({"frames": {"kind": "efficientnet_lite0"}, **settings})
    found = build_frontend(VideoSource(size=32), encoder)
    assert isinstance(found, FrozenFrames)
    return found


def test_a_frozen_network_sees_a_clip_in_every_form_to_learn_from() -> None:
    assert films_of().forms() == []
    assert [len(films_of(**one).forms()) for one in ({"flip": True}, {"shift": 0.1}, {"flip": True, "shift": 0.1})] == [
        2,
        5,
        10,
    ]
    forms = films_of(flip=True, shift=0.1).forms()
    assert forms[0].key == films_of().key
    assert len({one.key for one in forms}) == len(forms)


def test_forms_of_a_clip_are_seen_differently() -> None:
    film = [MovesRoot().resolve("moves:3")]
    plain, mirrored = (next(one.arrays(film)) for one in films_of(flip=True).forms())
    assert plain.shape == mirrored.shape == (8, 1280)
    assert np.abs(plain.astype(np.float32) - mirrored).max() > 0.1
