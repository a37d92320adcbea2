"""What an ONNX file may hold: a closed list of operations, and all of its numbers within it.

A file from a stranger could name other files for its numbers, or operations that load libraries. Such a file is refused before
a runtime sees it. It is read here by the wire format of protocol buffers, as far as the question goes: fields have numbers, and
messages lie within messages.
"""

from collections.abc import Iterator

OPERATIONS = frozenset(
    [
        "Abs",
        "Add",
        "And",
        "ArgMax",
        "Cast",
        "Clip",
        "Concat",
        "Conv",
        "Cos",
        "CumSum",
        "Div",
        "Equal",
        "Exp",
        "Expand",
        "GRU",
        "Gather",
        "GatherElements",
        "Greater",
        "Identity",
        "LSTM",
        "LayerNormalization",
        "Less",
        "LessOrEqual",
        "Log",
        "LogSoftmax",
        "MatMul",
        "MatMulInteger",
        "Max",
        "Min",
        "Mod",
        "Mul",
        "Neg",
        "Not",
        "Or",
        "Pad",
        "QuantizeLinear",
        "RNN",
        "Range",
        "ReduceMax",
        "ReduceMean",
        "ReduceSum",
        "Relu",
        "Reshape",
        "ScatterElements",
        "Shape",
        "Sigmoid",
        "Sin",
        "Softmax",
        "Softplus",
        "Split",
        "Squeeze",
        "Sub",
        "Tanh",
        "TopK",
        "Transpose",
        "Unsqueeze",
        "Where",
    ]
)
"""All that `seqloom.graphs` writes."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""How the value of a field is written."""
Field = tuple[int, memoryview | int]

# Numbers of fields in ONNX's own description of its files.
_MODEL_GRAPH, _MODEL_OPSET, _MODEL_FUNCTIONS = 7, 8, 25
_GRAPH_NODE, _GRAPH_INITIALISER, _GRAPH_SPARSE = 1, 5, 15
_NODE_OPERATION, _NODE_ATTRIBUTE, _NODE_DOMAIN = 4, 5, 7
_ATTRIBUTE_TENSOR, _ATTRIBUTE_PLAIN = 5, frozenset({1, 2, 3, 4, 7, 8, 9, 13, 20})
_TENSOR_EXTERNAL, _TENSOR_LOCATION = 13, 14
_OPSET_DOMAIN = 1


def require_harmless(content: bytes) -> None:
    """Raise ValueError for a file that is no graph of ours."""
    for number, value in _fields(memoryview(content)):
        if number == _MODEL_FUNCTIONS:
            raise ValueError("it brings functions of its own")
        if number == _MODEL_OPSET and any(field == _OPSET_DOMAIN and len(_part(one)) for field, one in _fields(_part(value))):
            raise ValueError("it asks for operations that are not ONNX's own")
        if number == _MODEL_GRAPH:
            _require_graph(_part(value))


def _require_graph(graph: memoryview) -> None:
    for number, value in _fields(graph):
        if number == _GRAPH_NODE:
            _require_node(_part(value))
        elif number == _GRAPH_INITIALISER:
            _require_tensor(_part(value))
        elif number == _GRAPH_SPARSE:
            raise ValueError("it has sparse numbers")


def _require_node(node: memoryview) -> None:
    for number, value in _fields(node):
        if number == _NODE_OPERATION and (name := bytes(_part(value)).decode(errors="replace")) not in OPERATIONS:
            raise ValueError(f"it has the operation {name[:40]!r}, which no exported model has")
        if number == _NODE_DOMAIN and len(_part(value)):
            raise ValueError("it has operations that are not ONNX's own")
        if number == _NODE_ATTRIBUTE:
            for field, one in _fields(_part(value)):
                if field == _ATTRIBUTE_TENSOR:
                    _require_tensor(_part(one))
                elif field not in _ATTRIBUTE_PLAIN:
                    raise ValueError("it has graphs within its graph")


def _require_tensor(tensor: memoryview) -> None:
    for number, value in _fields(tensor):
        if number == _TENSOR_EXTERNAL or (number == _TENSOR_LOCATION and value != 0):
            raise ValueError("its numbers are in another file")


def _part(value: memoryview | int) -> memoryview:
    if isinstance(value, int):
        raise ValueError("it is damaged")
    return value


def _fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message with their numbers, in order."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, place = _varint(message, place)
            yield number, value
            continue
        if kind == _BYTES:
            length, place = _varint(message, place)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError("it is damaged")
        if place + length > len(message):
            raise ValueError("it breaks off")
        yield number, message[place : place + length] if kind == _BYTES else 0
        place += length


_LONGEST_VARINT = 10


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    value = 0
    for index in range(_LONGEST_VARINT):
        if place + index >= len(message):
            raise ValueError("it breaks off")
        byte = message[place + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, place + index + 1
    raise ValueError("it is damaged")
