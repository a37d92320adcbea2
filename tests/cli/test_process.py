"""The settings of the process that the command line makes before anything else."""

import ctypes
import sys

import pytest

from seqloom.__main__ import _ALLOCATOR_VARIABLES, _keep_freed_memory

MMAP, TRIM = (-3, 32 << 20), (-1, 1 << 30)


class Libc:
    """A C library that notes what it is told, and says whether it will do it."""

    def __init__(self, answer: int = 1) -> None:
        self.told: list[tuple[int, int]] = []
        self._answer = answer

    def mallopt(self, option: int, value: int) -> int:
        self.told.append((option, value))
        return self._answer


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in _ALLOCATOR_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("answer", "told"), [(1, [MMAP, TRIM]), (0, [MMAP])], ids=["accepted", "refused"])
def test_the_allocator_is_told_to_keep_large_blocks(
    monkeypatch: pytest.MonkeyPatch, answer: int, told: list[tuple[int, int]]
) -> None:
    libc = Libc(answer)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: libc)
    _keep_freed_memory()
    assert libc.told == told


@pytest.mark.parametrize("name", sorted(_ALLOCATOR_VARIABLES))
def test_settings_of_the_environment_come_first(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    libc = Libc()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: libc)
    monkeypatch.setenv(name, "1")
    _keep_freed_memory()
    assert libc.told == []


def test_other_libraries_and_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    _keep_freed_memory()
    libc = Libc()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: libc)
    monkeypatch.setattr(sys, "platform", "darwin")
    _keep_freed_memory()
    assert libc.told == []
