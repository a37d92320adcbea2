"""Sessions of ONNX Runtime: one thread, the processor, nothing but what is in the file."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.errors import MissingExtraError, RunError

_DTYPES: Mapping[str, npt.DTypeLike] = {
    "tensor(float)": np.float32,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
    "tensor(uint8)": np.uint8,
}


MOST_MEMORY = 4 << 30
"""Bytes that the graphs of a process may take in all: a stranger's graph could ask for any number."""


@cache
def _bound_memory() -> None:
    """Make the allocator that all sessions of this process share, and which refuses to grow beyond the bound."""
    import onnxruntime as ort

    info = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    usual = {"arena_extend_strategy": -1, "initial_chunk_size_bytes": -1, "max_dead_bytes_per_chunk": -1}
    ort.create_and_register_allocator(info, ort.OrtArenaCfg({"max_mem": MOST_MEMORY, **usual}))


class Session:
    """A graph that can be run. where: the name of its file, for errors; threads: how many it may use."""

    def __init__(self, graph: bytes, *, where: str, threads: int = 1) -> None:
        try:
            import onnxruntime
        except ModuleNotFoundError as problem:
            raise MissingExtraError("Running an exported model", "runtime") from problem
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4
        options.enable_mem_pattern = False  # a plan for each shape: sentences have many, and each would be planned anew
        _bound_memory()
        options.add_session_config_entry("session.use_env_allocators", "1")
        self._where = where
        try:
            self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as problem:  # the runtime's own, of many kinds
            raise RunError(f"{where}: ONNX Runtime cannot open it. Export the run again") from problem
        self._shapes = {one.name: one.shape for one in self._session.get_outputs()}
        self.dtypes = {one.name: _DTYPES.get(one.type, np.float32) for one in self._session.get_inputs()}
        self.outputs = list(self._shapes)

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of an output; sizes that are known only later are 0."""
        return tuple(size if isinstance(size, int) else 0 for size in self._shapes[name])

    def run(self, names: Sequence[str], given: Mapping[str, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """The outputs of the given names."""
        try:
            found: list[npt.NDArray[Any]] = self._session.run(list(names), dict(given))
        except Exception as problem:
            reason = str(problem).splitlines()[0][:200]
            raise RunError(
                f"{self._where}: its sizes do not fit together, or those of its model.json ({reason}). Export the run again"
            ) from problem
        return found
