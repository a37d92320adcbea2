"""An ONNX graph that is written node by node, with the few operations that models need under names that one can read.

A value is the name of what a node computes. Shapes are noted where they matter, with the letters of `models.memory`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
Value = str
Precision = Literal["fp32", "int8"]

OPSET = 18
"""All that is used is in it, and runtimes of three years ago know it."""
IR_VERSION = 9

_TYPES = {"float": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL, "uint8": TensorProto.UINT8}
Kind = Literal["float", "int64", "bool", "uint8"]
Shape = Sequence[int | str]

_LEVELS = 127
_WEIGHT_LEVELS = 63
"""Weights have seven bits. Where a processor adds up pairs of products in 16 bits, eight could overflow; so every processor
finds the same numbers."""
_MIDDLE = 128
_TINY = np.float32(1e-30)


class Graph:
    """A graph under construction. precision: how its products with matrices are computed."""

    def __init__(self, name: str, precision: Precision = "fp32") -> None:
        self.precision = precision
        self._name = name
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[Value, onnx.TensorProto] = {}
        self._known: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._given: dict[str, Value] = {}
        self._quantised: dict[Value, tuple[Value, Value]] = {}

    def input(self, name: str, kind: Kind, shape: Shape) -> Value:
        """Something that the graph is given. A string in a shape names a size that is known only then."""
        self._inputs.append(helper.make_tensor_value_info(name, _TYPES[kind], list(shape)))
        return name

    def output(self, name: str, value: Value, kind: Kind, shape: Shape) -> None:
        """Something that the graph gives."""
        self._given[name] = value
        self._outputs.append(helper.make_tensor_value_info(name, _TYPES[kind], list(shape)))

    def model(self) -> onnx.ModelProto:
        """The finished graph, checked."""
        graph = helper.make_graph(self._named_nodes(), self._name, self._inputs, self._outputs, list(self._constants.values()))
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="seqloom")
        made.ir_version = IR_VERSION
        onnx.checker.check_model(made)
        return made

    def _named_nodes(self) -> list[onnx.NodeProto]:
        """The nodes with outputs called as they are given: to copy them under other names takes longer than many a node."""
        computed = {value for node in self._nodes for value in node.output}
        called: dict[Value, str] = {}
        copies = [
            helper.make_node("Identity", [called.get(value, value)], [name])
            for name, value in self._given.items()
            if value not in computed or called.setdefault(value, name) != name
        ]
        for node in self._nodes:
            node.input[:] = [called.get(value, value) for value in node.input]
            node.output[:] = [called.get(value, value) for value in node.output]
        return [*self._nodes, *copies]

    def op(self, kind: str, *inputs: Value, **attributes: Any) -> Value:
        """A node with one output. An empty string stands for an input that is left out."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, outputs: int, *inputs: Value, **attributes: Any) -> list[Value]:
        """A node with several outputs."""
        names = [f"{kind}_{len(self._nodes)}_{index}" for index in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def constant(self, array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """A constant; equal ones are kept once."""
        values = np.asarray(array, dtype=dtype)
        key = (str(values.dtype), values.shape, values.tobytes())
        if key not in self._known:
            self._known[key] = f"constant_{len(self._known)}"
            self._constants[self._known[key]] = numpy_helper.from_array(values, self._known[key])
        return self._known[key]

    def number(self, value: float) -> Value:
        """A single number."""
        return self.constant(value, np.float32)

    def whole(self, *values: int) -> Value:
        """A list of whole numbers."""
        return self.constant(values, np.int64)

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    def add(self, *values: Value) -> Value:
        """The sum."""
        total, *others = values
        for other in others:
            total = self.op("Add", total, other)
        return total

    def sub(self, one: Value, other: Value) -> Value:
        """The difference."""
        return self.op("Sub", one, other)

    def mul(self, one: Value, other: Value) -> Value:
        """The product, entry by entry."""
        return self.op("Mul", one, other)

    def tanh(self, value: Value) -> Value:
        """The hyperbolic tangent."""
        return self.op("Tanh", value)

    def sigmoid(self, value: Value) -> Value:
        """The logistic function."""
        return self.op("Sigmoid", value)

    def to_float(self, value: Value) -> Value:
        """The same numbers in fp32."""
        return self.op("Cast", value, to=TensorProto.FLOAT)

    def where(self, condition: Value, one: Value, other: Value) -> Value:
        """One where the condition holds, the other elsewhere."""
        return self.op("Where", condition, one, other)

    def linear(self, value: Value, matrix: Array, bias: Array | None = None) -> Value:
        """`W x + b` in the graph's precision; matrix [O, I]."""
        product = self._fp32_product(value, matrix) if self.precision == "fp32" else self._int8_product(value, matrix)
        return product if bias is None else self.add(product, self.constant(bias, np.float32))

    def _fp32_product(self, value: Value, matrix: Array) -> Value:
        return self.op("MatMul", value, self.constant(np.ascontiguousarray(matrix.T), np.float32))

    def _int8_product(self, value: Value, matrix: Array) -> Value:
        """Every row has a scale of its own, so that no result depends on what else is computed at the same time."""
        integers, scales = quantised_rows(matrix)
        steps, largest = self._quantised_rows(value)
        sums = self.op(
            "MatMulInteger", steps, self.constant(np.ascontiguousarray(integers.T)), self.constant(_MIDDLE, np.uint8)
        )
        return self.mul(self.mul(self.to_float(sums), self.constant(scales / _LEVELS, np.float32)), largest)

    def _quantised_rows(self, value: Value) -> tuple[Value, Value]:
        """Rows as whole numbers around 128, and the largest absolute value of each, which stands for 127 steps."""
        if value not in self._quantised:
            largest = self.op("ReduceMax", self.op("Abs", value), self.whole(-1), keepdims=1)
            largest = self.op("Max", largest, self.constant(_TINY))
            unit = self.op("Div", value, largest)
            steps = self.op("QuantizeLinear", unit, self.number(1.0 / _LEVELS), self.constant(_MIDDLE, np.uint8))
            self._quantised[value] = steps, largest
        return self._quantised[value]

    def stored(self, matrix: Array) -> Value:
        """A matrix [O, I] to be used in fp32: if the precision is int8, small in the file, made whole when it is opened."""
        if self.precision == "fp32":
            return self.constant(matrix, np.float32)
        integers, scales = quantised_rows(matrix)
        return self.mul(self.to_float(self.constant(integers)), self.constant(scales[:, None], np.float32))

    def rows_of(self, table: Array, ids: Value) -> Value:
        """Rows of a table of embeddings."""
        if self.precision == "fp32":
            return self.op("Gather", self.constant(table, np.float32), ids)
        integers, scales = quantised_rows(table)
        chosen = self.to_float(self.op("Gather", self.constant(integers), ids))
        return self.mul(chosen, self.op("Gather", self.constant(scales[:, None], np.float32), ids))

    def norm(self, value: Value, scale: Array, shift: Array) -> Value:
        """Layer normalisation of the last axis."""
        return self.op(
            "LayerNormalization", value, self.constant(scale, np.float32), self.constant(shift, np.float32), epsilon=1e-5
        )

    # --- shapes -------------------------------------------------------------------------------------------------------

    def concat(self, *values: Value, axis: int = -1) -> Value:
        """Values side by side."""
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=axis)

    def split(self, value: Value, sizes: Sequence[int], axis: int = -1) -> list[Value]:
        """Parts of the given sizes."""
        if len(sizes) == 1:
            return [value]
        return self.ops("Split", len(sizes), value, self.whole(*sizes), axis=axis)

    def unsqueeze(self, value: Value, *axes: int) -> Value:
        """New axes of size 1."""
        return self.op("Unsqueeze", value, self.whole(*axes))

    def squeeze(self, value: Value, *axes: int) -> Value:
        """Without axes of size 1."""
        return self.op("Squeeze", value, self.whole(*axes))

    def transpose(self, value: Value, *order: int) -> Value:
        """Axes in another order."""
        return self.op("Transpose", value, perm=list(order))

    def reshape(self, value: Value, *shape: int) -> Value:
        """Another shape; 0 keeps a size, one size may be -1."""
        return self.op("Reshape", value, self.whole(*shape))

    def size(self, value: Value, axis: int) -> Value:
        """The size of an axis, as a list of one number."""
        return self.op("Shape", value, start=axis, end=axis + 1)

    def zeros(self, *sizes: Value) -> Value:
        """Zeros of a shape whose sizes are lists of one number each."""
        return self.op("Expand", self.number(0.0), self.concat(*sizes, axis=0))

    def positions(self, count: Value, first: Value | None = None) -> Value:
        """Whole numbers from `first` (0) on; sizes as lists of one number each."""
        zero, one = self.constant(0, np.int64), self.constant(1, np.int64)
        numbers = self.op("Range", zero, self.squeeze(count, 0), one)
        return numbers if first is None else self.add(numbers, first)


def quantised_rows(matrix: Array) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """A matrix [O, I] as whole numbers of seven bits, and how much a step of each row is worth [O]."""
    scales = np.maximum(np.abs(matrix).max(axis=1, initial=0.0), _TINY) / _WEIGHT_LEVELS
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales.astype(np.float32)


class Parameters:
    """Weights by name, below a name that they all begin with."""

    def __init__(self, arrays: Mapping[str, Array], prefix: str = "") -> None:
        self._arrays, self._prefix = arrays, prefix

    def __getitem__(self, name: str) -> Array:
        """One of them."""
        return self._arrays[self._prefix + name]

    def get(self, name: str) -> Array | None:
        """One of them, if it is there."""
        return self._arrays.get(self._prefix + name)

    def below(self, name: str) -> "Parameters":
        """Those of a part."""
        return Parameters(self._arrays, f"{self._prefix}{name}.")

    def linear(self, graph: Graph, name: str, value: Value) -> Value:
        """`W x + b` of a layer."""
        return graph.linear(value, self[f"{name}.weight"], self.get(f"{name}.bias"))
