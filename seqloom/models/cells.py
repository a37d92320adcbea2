"""Recurrent cells (C1-C3): one step of a tanh RNN, a GRU or an LSTM.

A step has two parts: what the inputs alone contribute, `project`, which can be computed for all steps at once, and what
needs the previous state, `step`. Inputs come in parts, [e; c] say, each with a matrix of its own: U [e; c] = U_e e + U_c c.
The products of a step are handed to it, because dropout on weights must leave out the same at all steps of a sequence.

A new kind is a class that names its layers and has a `step`, a word in `cell` of `recipe.sections.Cells`, and an arm in
`cell_kind`. Prediction lays out its matrices, and operations are counted from them, without being told.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, assert_never

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from seqloom.models.dropout import Thinning
from seqloom.models.initialisation import FORGET_BIAS, start_reading_embedding, start_recurrent
from seqloom.models.memory import CellState
from seqloom.models.mixed_precision import Linear, current_multiplier, linear
from seqloom.models.operations import matrix_entries
from seqloom.recipe import sections

Activation = Callable[[Tensor], Tensor]
"""The lectures' sigma, "a squashing non-linearity": tanh, or the logistic function. Gates are always logistic."""


StateProducts = tuple[Callable[[Tensor], Tensor], ...]
"""What a step does with the state before: `W s + b` of each layer from state to gates."""


class Cell(Thinning, ABC):
    """One layer's step. part_sizes: widths of the input's parts.

    weight_dropout: the share of the matrices from state to gates that is left out in training.
    """

    num_leaves: ClassVar[int] = 1
    """How many vectors a state has."""
    num_gates: ClassVar[int]
    """How many vectors as wide as the state a step computes from its inputs, candidates included."""
    state_layers: ClassVar[Mapping[str, int]]
    """The layers from state to gates, by name: how many gates each computes. Prediction puts products in their place."""
    state_bias: ClassVar[bool] = False
    """Whether these have a bias, too."""

    def __init__(
        self, part_sizes: Sequence[int], size: int, *, activation: Activation = torch.tanh, weight_dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.size, self.activation, self.weight_dropout = size, activation, weight_dropout
        # One bias is enough: the first part carries it.
        widths = enumerate(part_sizes)
        self.inputs = nn.ModuleList(Linear(part, self.num_gates * size, bias=index == 0) for index, part in widths)
        for name, gates in self.state_layers.items():
            layer = Linear(size, gates * size, bias=self.state_bias)
            start_recurrent(layer.weight)
            self.add_module(name, layer)

    @property
    def first_input(self) -> Linear:
        """The layer that the first part of the input goes through."""
        layer = self.inputs[0]
        if not isinstance(layer, Linear):
            raise TypeError(layer)
        return layer

    def project(self, first: Tensor) -> Tensor:
        """What the first part of the input contributes, `U_1 x_1 + b` for all gates: [..., I_1] -> [..., gates * D]."""
        projected: Tensor = self.inputs[0](first)
        return projected

    def extend(self, projected: Tensor, *others: Tensor) -> Tensor:
        """Add what the other parts contribute, `U_2 x_2 + ...`."""
        for matrix, part in zip(self.inputs[1:], others, strict=True):
            projected = projected + matrix(part)
        return projected

    @property
    def from_state(self) -> tuple[Linear, ...]:
        """The layers from state to gates."""
        return tuple(getattr(self, name) for name in self.state_layers)

    @property
    def products(self) -> StateProducts:
        """What a step uses, nothing left out."""
        return tuple(layer.forward for layer in self.from_state)

    def drawn_products(self) -> StateProducts:
        """What all steps of one sequence use: in training with weights left out at random, and the others scaled up."""
        if not self.training or not self.share * self.weight_dropout:
            return self.products
        return tuple(partial(linear, matrix=self._drawn(layer), bias=layer.bias) for layer in self.from_state)

    def _drawn(self, layer: Linear) -> Tensor:
        return dropout(layer.weight, self.share * self.weight_dropout, self.training)

    @abstractmethod
    def step(self, projected: Tensor, state: CellState, products: StateProducts) -> CellState:
        """The next state from the projected inputs [..., gates * D] and the state before."""

    @property
    def multiplications(self) -> int:
        """What a step costs."""
        return matrix_entries(self)

    def run(self, state: CellState, first: Tensor, *others: Tensor) -> tuple[Tensor, CellState]:
        """Read whole sequences from a state, leaves [B, D]: what is shown at every step [B, T, D], and the state at the end.

        The parts of the input are [B, T, I], those after the first may also be the same at all steps, [B, 1, I].
        """
        leaves = unroll(self, self.extend(self.project(first), *others), state)
        return leaves[0], tuple(leaf[:, -1] for leaf in leaves)

    def zeros(self, *shape: int, like: Tensor) -> CellState:
        """A state of zeros of the given leading shape."""
        return tuple(like.new_zeros(*shape, self.size) for _ in range(self.num_leaves))


class RnnCell(Cell):
    """C1: `s_t = sigma(U x_t + W s_{t-1} + b)`."""

    num_gates = 1
    state_layers: ClassVar[Mapping[str, int]] = {"recurrent": 1}

    def step(self, projected: Tensor, state: CellState, products: StateProducts) -> CellState:
        """One step of C1."""
        return (self.activation(projected + products[0](state[0])),)


class GruCell(Cell):
    """C2, the lectures' form: the state is reset before the matrix, `s~_t = sigma(W (o_t * s_{t-1}) + U x_t + b)`."""

    num_gates = 3
    state_layers: ClassVar[Mapping[str, int]] = {"gates": 2, "candidate": 1}

    def step(self, projected: Tensor, state: CellState, products: StateProducts) -> CellState:
        """One step of C2; gates in the order o, i."""
        (before,), (to_gates, to_candidate) = state, products
        for_gates, for_candidate = projected.tensor_split([2 * self.size], dim=-1)
        reset, keep = torch.sigmoid(for_gates + to_gates(before)).chunk(2, dim=-1)
        candidate = self.activation(for_candidate + to_candidate(reset * before))
        return (candidate + keep * (before - candidate),)  # i * s + (1 - i) * s~


class TorchGruCell(Cell):
    """C2 as torch computes it: the state is reset after the matrix, `s~_t = sigma(o_t * (W s_{t-1} + c) + U x_t + b)`."""

    num_gates = 3
    state_layers: ClassVar[Mapping[str, int]] = {"recurrent": 3}
    state_bias = True

    def step(self, projected: Tensor, state: CellState, products: StateProducts) -> CellState:
        """One step; gates in the order o, i, as torch's r, z."""
        (before,) = state
        for_gates, for_candidate = projected.tensor_split([2 * self.size], dim=-1)
        from_gates, from_candidate = products[0](before).tensor_split([2 * self.size], dim=-1)
        reset, keep = torch.sigmoid(for_gates + from_gates).chunk(2, dim=-1)
        candidate = self.activation(for_candidate + reset * from_candidate)
        return (candidate + keep * (before - candidate),)


class LstmCell(Cell):
    """C3: the state is (h, s); `h` is what the rest of the model sees."""

    num_leaves = 2
    num_gates = 4
    state_layers: ClassVar[Mapping[str, int]] = {"recurrent": 4}

    def __init__(
        self, part_sizes: Sequence[int], size: int, *, activation: Activation = torch.tanh, weight_dropout: float = 0.0
    ) -> None:
        super().__init__(part_sizes, size, activation=activation, weight_dropout=weight_dropout)
        nn.init.constant_(self.first_input.bias[:size], FORGET_BIAS)

    def step(self, projected: Tensor, state: CellState, products: StateProducts) -> CellState:
        """One step of C3; gates in the order f, i, o, then the candidate."""
        hidden, memory = state
        total = projected + products[0](hidden)
        for_gates, for_candidate = total.tensor_split([3 * self.size], dim=-1)
        forget, write, output = torch.sigmoid(for_gates).chunk(3, dim=-1)
        memory = forget * memory + write * self.activation(for_candidate)
        return output * self.activation(memory), memory

    def run(self, state: CellState, first: Tensor, *others: Tensor) -> tuple[Tensor, CellState]:
        """Read whole sequences, by torch's own kernel where it computes the same (docs/decisions/training-loops.md)."""
        (recurrent,) = self.from_state
        prepared = not isinstance(recurrent, Linear)  # for prediction, maybe in another precision
        if others or prepared or self.activation is not torch.tanh or not current_multiplier().exact:
            return super().run(state, first, *others)
        own = self.first_input.weight, self._drawn(recurrent), self.first_input.bias
        matrices = [_as_in_torch(matrix) for matrix in own]
        matrices.append(torch.zeros_like(matrices[-1]))  # torch has a second bias
        before = [leaf[None] for leaf in state]
        shown, *after = torch.lstm(first, before, matrices, True, 1, 0.0, torch.is_grad_enabled(), False, True)
        return shown, tuple(leaf[0] for leaf in after)


def _as_in_torch(gates: Tensor) -> Tensor:
    """Rows for f, i, o and the candidate, in torch's order: i, f, candidate, o."""
    forget, write, output, candidate = gates.chunk(4)
    return torch.cat([write, forget, candidate, output])


def cell_kind(section: sections.Cells) -> type[Cell]:
    """The class of the cell that a recipe names."""
    match section.cell:
        case "rnn":
            return RnnCell
        case "gru":
            return TorchGruCell if section.reset == "after" else GruCell
        case "lstm":
            return LstmCell
        case _:
            assert_never(section.cell)


def build_cell(section: sections.Cells, part_sizes: Sequence[int], *, embedding_length: float | None = None) -> Cell:
    """The cell that a recipe names, for inputs of the given parts. embedding_length: of the first, if it is a symbol's."""
    activation: Activation = torch.tanh if section.activation == "tanh" else torch.sigmoid
    weight_dropout = section.weight_dropout if isinstance(section, sections.Recurrence) else 0.0
    cell = cell_kind(section)(part_sizes, section.size, activation=activation, weight_dropout=weight_dropout)
    if embedding_length is not None:
        start_reading_embedding(cell.first_input.weight, length=embedding_length)
    return cell


def unroll(cell: Cell, projected: Tensor, state: CellState) -> CellState:
    """Run a cell over all steps: projected [B, T, gates * D], state leaves [B, D] -> states after each step, [B, T, D]."""
    states = []
    products = cell.drawn_products()
    for step in projected.unbind(dim=1):
        state = cell.step(step, state, products)
        states.append(state)
    return tuple(torch.stack(leaf, dim=1) for leaf in zip(*states, strict=True))
