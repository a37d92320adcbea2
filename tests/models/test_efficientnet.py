"""The pretrained network: its weights are the known ones, and it sees what the package's own code sees with them."""

import sys
from pathlib import Path

import pytest
import torch
from efficientnet_lite_pytorch import EfficientNet
from torch import Tensor

from seqloom.errors import MissingExtraError, RunError
from seqloom.models.encoders import pretrained
from seqloom.models.encoders.efficientnet import EfficientNetLite0


@pytest.fixture(scope="module")
def package() -> EfficientNet:
    """The network as the package that the weights belong to computes it."""
    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(pretrained._original())
    return network.double().eval()


@pytest.fixture(scope="module")
def images() -> Tensor:
    return torch.rand(2, 3, 224, 224, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 2 - 1


@torch.inference_mode()
def test_the_last_features_are_those_of_the_package(package: EfficientNet, images: Tensor) -> None:
    network = EfficientNetLite0("last").eval()
    network.load_pretrained()
    seen = network.double()(images)
    assert seen.shape == (2, network.channels, 7, 7) == (2, 1280, 7, 7)
    assert (seen - package.extract_features(images)).abs().max() < 1e-5


@torch.inference_mode()
def test_the_features_in_the_middle_are_those_after_the_eleventh_block_of_the_package(
    package: EfficientNet, images: Tensor
) -> None:
    network = EfficientNetLite0("middle").eval()
    network.load_pretrained()
    expected = package._swish(package._bn0(package._conv_stem(images)))
    for block in package._blocks[:11]:
        expected = block(expected)
    seen = network.double()(images)
    assert seen.shape == (2, network.channels, 14, 14) == (2, 112, 14, 14)
    assert (seen - expected).abs().max() < 1e-5


@torch.inference_mode()
def test_any_size_of_image_gives_a_grid_rounded_up() -> None:
    assert EfficientNetLite0("last")(torch.zeros(1, 3, 97, 64)).shape == (1, 1280, 4, 2)


def test_weights_are_converted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path))
    first = pretrained.pretrained_weights()
    (file,) = (tmp_path / "weights").iterdir()
    assert file.suffix == ".safetensors"
    with monkeypatch.context() as without:
        without.setattr(pretrained, "PRETRAINED_PACKAGE", "no_such_package")
        again = pretrained.pretrained_weights()
    assert first.keys() == again.keys()
    assert all(torch.equal(first[name], again[name]) for name in first)
    file.write_bytes(file.read_bytes()[:1000])
    assert pretrained.pretrained_weights().keys() == first.keys()


def test_a_package_that_is_not_there_is_named_by_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(pretrained, "PRETRAINED_PACKAGE", "no_such_package")
    with pytest.raises(MissingExtraError, match="needs the extra 'images'"):
        pretrained.pretrained_weights()


def test_other_weights_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "foreign_weights" / pretrained._FILE
    file.parent.mkdir(parents=True)
    (tmp_path / "foreign_weights" / "__init__.py").write_text("raise RuntimeError('this must not run')")
    file.write_bytes(b"anything else")
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(pretrained, "PRETRAINED_PACKAGE", "foreign_weights")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(RunError, match="not the weights that seqloom knows"):
        pretrained.pretrained_weights()
