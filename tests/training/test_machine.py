from pathlib import Path

import pytest
import torch

from seqloom.system import cpu
from seqloom.system.cpu import processor_flags
from seqloom.training.machine import choose_precision, choose_threads, describe

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"avx2", "avx512f"}, "fp32"),
        ({"avx512_bf16"}, "bf16"),
        ({"amx_bf16"}, "bf16"),
        ({"asimd", "bf16"}, "bf16"),
        (set(), "fp32"),
    ],
)
def test_automatic_precision_is_what_the_processor_has(flags: set[str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "processor_flags", lambda: frozenset(flags))
    assert choose_precision("auto", CPU) == expected


def test_a_wish_for_a_precision_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "processor_flags", lambda: frozenset())
    assert choose_precision("bf16", CPU) == "bf16"
    assert choose_precision("fp32", CPU) == "fp32"


def test_flags_are_read_from_either_kind_of_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("processor\t: 0\nflags\t\t: fpu avx2\n", "processor\t: 0\nFeatures\t: fpu avx2\n"):
        (tmp_path / "cpuinfo").write_text(text)
        monkeypatch.setattr(cpu, "Path", lambda _: tmp_path / "cpuinfo")
        assert processor_flags() == {"fpu", "avx2"}
    monkeypatch.setattr(cpu, "Path", lambda _: tmp_path / "nowhere")
    assert processor_flags() == frozenset()


def test_threads_are_the_recipes_then_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert choose_threads(5) == 5
    assert choose_threads(None) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    assert choose_threads(None) >= 1


def test_a_run_records_what_computed_it() -> None:
    assert {"python", "machine", "system", "seqloom", "torch", "numpy", "tokenizers"} <= describe().keys()
