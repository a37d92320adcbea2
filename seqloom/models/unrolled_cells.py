"""Recurrence written out: forward and backward through time as plain loops over preallocated buffers.

Autograd records every small operation of every step, and adds up a weight gradient per step. Here a step keeps only what
its backward step needs, and weight gradients are one large product over all steps after the loop (A8). The plain
step-by-step code in `cells`, `attention` and `decoders` stays as the reference, which the contract tests compare with this.

Everything here is time-major, [T, B, ...]. A kernel serves one pass forward and one back, and holds the buffers of both.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqloom.models.cells import Cell, GruCell, LstmCell, RnnCell, TorchGruCell, Weights, unroll
from seqloom.models.memory import CellState
from seqloom.models.multiplying import Multiplier, current_multiplier

WeightGradients = list[tuple[Tensor, Tensor]]


class Squash:
    """A squashing function in place, and its slope from its own value: tanh, or the logistic function."""

    def __init__(self, *, logistic: bool) -> None:
        self._logistic = logistic

    def apply_(self, values: Tensor) -> Tensor:
        """Squash in place."""
        return values.sigmoid_() if self._logistic else values.tanh_()

    def back(self, gradient: Tensor, squashed: Tensor) -> Tensor:
        """The gradient before squashing from the one after it."""
        if self._logistic:
            return torch.ops.aten.sigmoid_backward(gradient, squashed)  # type: ignore[no-any-return]
        return torch.ops.aten.tanh_backward(gradient, squashed)  # type: ignore[no-any-return]


class CellKernel(ABC):
    """One layer through all steps. states[0] holds h or s of every time, [T + 1, B, D]; further leaves as the cell has them.

    gates: how many vectors of the cell's size a step computes; multiplier: what both passes multiply with.
    """

    def __init__(self, cell: Cell, steps: int, state: CellState, gates: int, multiplier: Multiplier) -> None:
        self.multiplier = multiplier
        self.squash = Squash(logistic=cell.squash is torch.sigmoid)
        self.size = cell.size
        batch = len(state[0])
        like = state[0]
        self.states = [like.new_empty(steps + 1, batch, self.size) for _ in state]
        for buffer, leaf in zip(self.states, state, strict=True):
            buffer[0] = leaf
        self.acts = like.new_empty(steps, batch, gates * self.size)
        self.gradients = torch.empty_like(self.acts)
        """Of the projected inputs, filled by the backward steps."""

    @abstractmethod
    def step(self, time: int, projected: Tensor) -> Tensor:
        """From the state at `time` to the next; projected [B, gates * D] may be overwritten. Returns what the layer shows."""

    @abstractmethod
    def step_back(self, time: int, shown: Tensor, hidden: list[Tensor]) -> list[Tensor]:
        """The step at `time` in reverse.

        shown: the gradient of what the layer showed after the step; hidden: those of the further leaves. Fills
        `gradients[time]` and returns the gradients of all leaves of the state before.
        """

    @abstractmethod
    def weight_gradients(self) -> list[Tensor]:
        """Gradients of the weights that the steps used, in their order, after all backward steps."""


class RnnKernel(CellKernel):
    """C1."""

    def __init__(self, cell: RnnCell, steps: int, state: CellState, weights: Weights, multiplier: Multiplier) -> None:
        super().__init__(cell, steps, state, 1, multiplier)
        self._matrix = multiplier.operand(weights[0].detach())

    def step(self, time: int, projected: Tensor) -> Tensor:
        """One step of C1."""
        after = self.states[0][time + 1]
        self.multiplier.addmm(projected, self.states[0][time], self._matrix.t(), out=after)
        return self.squash.apply_(after)

    def step_back(self, time: int, shown: Tensor, hidden: list[Tensor]) -> list[Tensor]:  # noqa: ARG002
        """Through the squashing function and the matrix."""
        self.gradients[time] = self.squash.back(shown, self.states[0][time + 1])
        return [self.multiplier.mm(self.gradients[time], self._matrix)]

    def weight_gradients(self) -> list[Tensor]:
        """Of `W`."""
        return [self.multiplier.gradient(self.gradients, self.states[0][:-1])]


class GruKernel(CellKernel):
    """C2, reset before the matrix. acts: o, i, candidate."""

    def __init__(self, cell: GruCell, steps: int, state: CellState, weights: Weights, multiplier: Multiplier) -> None:
        super().__init__(cell, steps, state, 3, multiplier)
        self._gates, self._candidate = (multiplier.operand(weight.detach()) for weight in weights)
        self._reset_state = torch.empty_like(self.states[0][1:])

    def step(self, time: int, projected: Tensor) -> Tensor:
        """One step of C2."""
        size, before, after = self.size, self.states[0][time], self.states[0][time + 1]
        acts, reset_state = self.acts[time], self._reset_state[time]
        gates, candidate = acts[:, : 2 * size], acts[:, 2 * size :]
        self.multiplier.addmm(projected[:, : 2 * size], before, self._gates.t(), out=gates)
        gates.sigmoid_()
        torch.mul(gates[:, :size], before, out=reset_state)
        self.multiplier.addmm(projected[:, 2 * size :], reset_state, self._candidate.t(), out=candidate)
        self.squash.apply_(candidate)
        return torch.lerp(candidate, before, gates[:, size:], out=after)

    def step_back(self, time: int, shown: Tensor, hidden: list[Tensor]) -> list[Tensor]:  # noqa: ARG002
        """Through the interpolation, the candidate, then the gates."""
        size, before = self.size, self.states[0][time]
        reset, keep, candidate = self.acts[time].chunk(3, dim=1)
        gradients = self.gradients[time]
        kept = shown * keep
        gradients[:, 2 * size :] = self.squash.back(shown - kept, candidate)
        of_reset_state = self.multiplier.mm(gradients[:, 2 * size :], self._candidate)
        gradients[:, :size] = torch.ops.aten.sigmoid_backward(of_reset_state * before, reset)
        gradients[:, size : 2 * size] = torch.ops.aten.sigmoid_backward(shown * (before - candidate), keep)
        kept.addcmul_(of_reset_state, reset)
        return [self.multiplier.addmm(kept, gradients[:, : 2 * size], self._gates, out=kept)]

    def weight_gradients(self) -> list[Tensor]:
        """Of the gates' matrix and the candidate's."""
        of_gates, of_candidate = self.gradients[..., : 2 * self.size], self.gradients[..., 2 * self.size :]
        return [
            self.multiplier.gradient(of_gates, self.states[0][:-1]),
            self.multiplier.gradient(of_candidate, self._reset_state),
        ]


class TorchGruKernel(CellKernel):
    """C2 with the reset after the matrix. acts: o, i, candidate; the recurrent contribution to the candidate apart."""

    def __init__(self, cell: TorchGruCell, steps: int, state: CellState, weights: Weights, multiplier: Multiplier) -> None:
        super().__init__(cell, steps, state, 3, multiplier)
        self._matrix, self._bias = multiplier.operand(weights[0].detach()), weights[1].detach()
        self._recurrent = torch.empty_like(self.acts)

    def step(self, time: int, projected: Tensor) -> Tensor:
        """One step of the form that torch computes."""
        size, before, after = self.size, self.states[0][time], self.states[0][time + 1]
        acts, recurrent = self.acts[time], self._recurrent[time]
        self.multiplier.addmm(self._bias, before, self._matrix.t(), out=recurrent)
        torch.add(projected, recurrent, out=acts)
        acts[:, : 2 * size].sigmoid_()
        torch.addcmul(projected[:, 2 * size :], acts[:, :size], recurrent[:, 2 * size :], out=acts[:, 2 * size :])
        self.squash.apply_(acts[:, 2 * size :])
        return torch.lerp(acts[:, 2 * size :], before, acts[:, size : 2 * size], out=after)

    def step_back(self, time: int, shown: Tensor, hidden: list[Tensor]) -> list[Tensor]:  # noqa: ARG002
        """Through the interpolation, the candidate, then the gates; `_recurrent` becomes the gradient of `W s + c`."""
        size, before = self.size, self.states[0][time]
        reset, keep, candidate = self.acts[time].chunk(3, dim=1)
        gradients, recurrent = self.gradients[time], self._recurrent[time]
        kept = shown * keep
        gradients[:, 2 * size :] = self.squash.back(shown - kept, candidate)
        of_candidate = gradients[:, 2 * size :]
        gradients[:, :size] = torch.ops.aten.sigmoid_backward(of_candidate * recurrent[:, 2 * size :], reset)
        gradients[:, size : 2 * size] = torch.ops.aten.sigmoid_backward(shown * (before - candidate), keep)
        recurrent[:, : 2 * size] = gradients[:, : 2 * size]
        torch.mul(of_candidate, reset, out=recurrent[:, 2 * size :])
        return [self.multiplier.addmm(kept, recurrent, self._matrix, out=kept)]

    def weight_gradients(self) -> list[Tensor]:
        """Of `W` and its bias."""
        return [self.multiplier.gradient(self._recurrent, self.states[0][:-1]), self._recurrent.sum(dim=(0, 1))]


class LstmKernel(CellKernel):
    """C3. acts: f, i, o, candidate; states: h, s."""

    def __init__(self, cell: LstmCell, steps: int, state: CellState, weights: Weights, multiplier: Multiplier) -> None:
        super().__init__(cell, steps, state, 4, multiplier)
        self._matrix = multiplier.operand(weights[0].detach())
        self._squashed = torch.empty_like(self.states[0][1:])

    def step(self, time: int, projected: Tensor) -> Tensor:
        """One step of C3."""
        acts, size = self.acts[time], self.size
        self.multiplier.addmm(projected, self.states[0][time], self._matrix.t(), out=acts)
        acts[:, : 3 * size].sigmoid_()
        self.squash.apply_(acts[:, 3 * size :])
        forget, write, output, candidate = acts.chunk(4, dim=1)
        memory = self.states[1][time + 1]
        torch.mul(forget, self.states[1][time], out=memory)
        memory.addcmul_(write, candidate)
        squashed = self._squashed[time]
        self.squash.apply_(squashed.copy_(memory))
        return torch.mul(output, squashed, out=self.states[0][time + 1])

    def step_back(self, time: int, shown: Tensor, hidden: list[Tensor]) -> list[Tensor]:
        """Through the output gate, the memory, then all gates."""
        size, squashed = self.size, self._squashed[time]
        forget, write, output, candidate = self.acts[time].chunk(4, dim=1)
        gradients = self.gradients[time]
        of_memory = hidden[0] + self.squash.back(shown * output, squashed)
        torch.mul(of_memory, self.states[1][time], out=gradients[:, :size])
        torch.mul(of_memory, candidate, out=gradients[:, size : 2 * size])
        torch.mul(shown, squashed, out=gradients[:, 2 * size : 3 * size])
        gates = gradients[:, : 3 * size]
        gates.copy_(torch.ops.aten.sigmoid_backward(gates, self.acts[time][:, : 3 * size]))
        gradients[:, 3 * size :] = self.squash.back(of_memory * write, candidate)
        return [self.multiplier.mm(gradients, self._matrix), of_memory.mul_(forget)]

    def weight_gradients(self) -> list[Tensor]:
        """Of the recurrent matrix."""
        return [self.multiplier.gradient(self.gradients, self.states[0][:-1])]


def has_kernel(cell: Cell) -> bool:
    """Whether a cell's step is written out here; any other cell works too, through its plain code."""
    return isinstance(cell, RnnCell | GruCell | TorchGruCell | LstmCell)


def build_kernel(cell: Cell, steps: int, state: CellState, weights: Weights, multiplier: Multiplier) -> CellKernel:
    """The kernel of a cell for a sequence of so many steps; state: leaves [B, D]; weights: what its steps use."""
    match cell:
        case RnnCell():
            return RnnKernel(cell, steps, state, weights, multiplier)
        case GruCell():
            return GruKernel(cell, steps, state, weights, multiplier)
        case TorchGruCell():
            return TorchGruKernel(cell, steps, state, weights, multiplier)
        case LstmCell():
            return LstmKernel(cell, steps, state, weights, multiplier)
        case _:
            raise TypeError(cell)


class _UnrolledCell(torch.autograd.Function):
    """One layer over a whole sequence: projected [T, B, gates * D] and a state -> all states, leaves [T, B, D].

    `rest`: the leaves of the state and the weights of the steps: what gradients are wanted of.
    """

    @staticmethod
    def forward(ctx: Any, kernel: CellKernel, projected: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:  # noqa: ARG004
        for time in range(len(projected)):
            kernel.step(time, projected[time])
        ctx.kernel = kernel
        return tuple(buffer[1:].clone() for buffer in kernel.states)

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor | None, ...]:
        kernel: CellKernel = ctx.kernel
        steps = len(outputs[0])
        leaves = [torch.zeros_like(output[0]) for output in outputs]
        for time in reversed(range(steps)):
            after = [leaf + output[time] for leaf, output in zip(leaves, outputs, strict=True)]
            leaves = kernel.step_back(time, after[0], after[1:])
        return (None, kernel.gradients, *leaves, *kernel.weight_gradients())


def unroll_written_out(cell: Cell, projected: Tensor, state: CellState) -> CellState:
    """What `cells.unroll` gives, faster: projected [B, T, gates * D], leaves [B, D] -> leaves [B, T, D]."""
    if not has_kernel(cell):
        return unroll(cell, projected, state)
    weights = cell.drawn_weights()
    kernel = build_kernel(cell, projected.shape[1], tuple(leaf.detach() for leaf in state), weights, current_multiplier())
    states: Sequence[Tensor] = _UnrolledCell.apply(  # type: ignore[no-untyped-call]
        kernel, projected.transpose(0, 1).contiguous(), *state, *weights
    )
    return tuple(leaf.transpose(0, 1) for leaf in states)
