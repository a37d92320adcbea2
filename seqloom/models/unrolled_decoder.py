"""The decoder's step-by-step training pass written out: cells, attention and their backward pass in one loop each.

It serves the bridges whose reading flows back into the cells (`into: input`, `feed`); the others need no loop over attention.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from seqloom.models.attention import Attention, Keys
from seqloom.models.bridges import ContextUses
from seqloom.models.cells import Cell, Weights
from seqloom.models.memory import CellState
from seqloom.models.multiplying import Multiplier
from seqloom.models.unrolled_attention import AttentionKernel, build_attention_kernel
from seqloom.models.unrolled_cells import WeightGradients, build_kernel


@dataclass(frozen=True)
class DrawnLayer:
    """What a layer's steps use of it in one pass, with what dropout leaves out.

    weights: those of the cell; masks: what the layer's inputs are multiplied with, [T, B, D], or None.
    """

    weights: Weights
    masks: Tensor | None


class GateLoop:
    """How much of each source's context counts, `beta_t = sigmoid(w^T s + b)`, through all steps, forward and back.

    contexts: for each source what is left of its context, [T, B, C], filled by `open`.
    """

    def __init__(self, gate: nn.Linear, readers: Sequence[AttentionKernel], multiplier: Multiplier) -> None:
        self.gate, self.readers, self.multiplier = gate, readers, multiplier
        self._matrix = multiplier.operand(gate.weight.detach())
        steps, batch, _ = readers[0].contexts.shape
        self._openings = readers[0].contexts.new_empty(steps, batch, len(readers))
        self._gradients = torch.empty_like(self._openings)  # of what the sigmoid squashes
        self.contexts = [torch.empty_like(reader.contexts) for reader in readers]

    def open(self, time: int, query: Tensor) -> None:
        """Scale the contexts of one step, which have been read; query [B, D]."""
        self.multiplier.addmm(self.gate.bias.detach(), query, self._matrix.t(), out=self._openings[time]).sigmoid_()
        for reader, opening, context in zip(self.readers, self._of_each(time), self.contexts, strict=True):
            torch.mul(reader.contexts[time], opening, out=context[time])

    def back_to_contexts(self, time: int, scaled: Sequence[Tensor]) -> list[Tensor]:
        """From the gradients of the scaled contexts of one step to those of what was read."""
        of_openings = [(one * reader.contexts[time]).sum(dim=1) for one, reader in zip(scaled, self.readers, strict=True)]
        self._gradients[time] = torch.ops.aten.sigmoid_backward(torch.stack(of_openings, dim=1), self._openings[time])
        return [one * opening for one, opening in zip(scaled, self._of_each(time), strict=True)]

    def _of_each(self, time: int) -> Sequence[Tensor]:
        """The shares of all sources at one step, [B, 1] each."""
        return self._openings[time].chunk(len(self.readers), dim=1)

    def back_to_query(self, time: int) -> Tensor:
        """The gradient of the query, as far as the gate saw it; after `back_to_contexts`."""
        return self.multiplier.mm(self._gradients[time], self._matrix)

    def weight_gradients(self, queries: Tensor) -> WeightGradients:
        """After all backward steps; queries [T, B, D], as they were asked."""
        return [
            (self.gate.weight, self.multiplier.gradient(self._gradients, queries)),
            (self.gate.bias, self._gradients.sum(dim=(0, 1))),
        ]


class DecoderLoop:
    """One pass through a decoder, forward and back.

    drawn: what the steps use of every layer; multiplier: what both passes multiply with.
    """

    def __init__(
        self,
        cells: list[Cell],
        attentions: Mapping[str, Attention],
        gate: nn.Linear | None,
        combine: nn.Linear | None,
        uses: ContextUses,
        *,
        state: tuple[CellState, ...],
        feed: Tensor | None,
        keys: Mapping[str, Keys],
        steps: int,
        drawn: Sequence[DrawnLayer],
        multiplier: Multiplier,
    ) -> None:
        self.multiplier = multiplier
        self.uses, self.combine, self.drawn, self.steps = uses, combine, drawn, steps
        self.cells = cells
        self.kernels = [
            build_kernel(cell, steps, leaves, one.weights, multiplier)
            for cell, leaves, one in zip(cells, _detached(state), drawn, strict=True)
        ]
        self.readers: list[AttentionKernel] = [
            build_attention_kernel(attentions[name], one, steps, multiplier) for name, one in keys.items()
        ]
        self.gate = None if gate is None else GateLoop(gate, self.readers, multiplier)
        # What the rest of the decoder sees of the sources, [T, B, C] each.
        self._shown = [reader.contexts for reader in self.readers] if self.gate is None else self.gate.contexts
        self.names = list(keys)
        top = self.kernels[-1].states[0]
        self.combined = top.new_empty(top.shape) if combine is not None else None  # [T + 1, B, D]
        if self.combined is not None:  # at time 0: what is fed to the first step
            self.combined[0] = feed.detach() if feed is not None else 0.0
            self.combined_gradients = torch.empty_like(self.combined[1:])
        # Made ready once: for further parts of the first layer's input, for the inputs of further layers, for combining.
        self._parts = [multiplier.operand(part.get_parameter("weight").detach()) for part in cells[0].inputs[1:]]
        self._layers = [multiplier.operand(cell.get_parameter("inputs.0.weight").detach()) for cell in cells[1:]]
        self._combining = None if combine is None else multiplier.operand(combine.weight.detach())
        self.inputs: list[Tensor] = [torch.empty_like(kernel.states[0][1:]) for kernel in self.kernels[:-1]]

    @property
    def top(self) -> Tensor:
        """What the last layer shows at every time, [T + 1, B, D]."""
        return self.kernels[-1].states[0]

    def contexts(self, time: int) -> Tensor:
        """All sources' contexts of a step side by side."""
        return _side_by_side([context[time] for context in self._shown])

    # --- forward ----------------------------------------------------------------------------------------------------

    def run(self, projected: Tensor) -> None:
        """All steps; projected [T, B, gates * D]."""
        for time in range(self.steps):
            if not self.uses.query_current:
                self._read(time, self.top[time])
            shown = self.kernels[0].step(time, self._extended(projected[time], time))
            for index in range(1, len(self.kernels)):
                shown = self.kernels[index].step(time, self._between(index, time, shown))
            if self.uses.query_current:
                self._read(time, shown)
            if self._combining is not None and self.combined is not None:
                self._combine(shown, self.contexts(time), self._combining, out=self.combined[time + 1])

    def _read(self, time: int, query: Tensor) -> None:
        for reader in self.readers:
            reader.read(time, query)
        if self.gate is not None:
            self.gate.open(time, query)

    def _extended(self, projected: Tensor, time: int) -> Tensor:
        index = 1
        if self.uses.input:
            projected = self.multiplier.addmm(projected, self.contexts(time), self._parts[index - 1].t())
            index += 1
        if self.uses.feed and self.combined is not None:
            projected = self.multiplier.addmm(projected, self.combined[time], self._parts[index - 1].t())
        return projected

    def _between(self, index: int, time: int, shown: Tensor) -> Tensor:
        """The projected input of a layer above the first."""
        inputs = self.inputs[index - 1][time]
        inputs.copy_(shown)
        masks = self.drawn[index].masks
        if masks is not None:
            inputs.mul_(masks[time])
        bias = self.cells[index].get_parameter("inputs.0.bias").detach()
        return self.multiplier.addmm(bias, inputs, self._layers[index - 1].t())

    def _combine(self, shown: Tensor, context: Tensor, matrix: Tensor, *, out: Tensor) -> None:
        size = shown.shape[1]
        self.multiplier.mm(shown, matrix[:, :size].t(), out=out)
        self.multiplier.addmm(out, context, matrix[:, size:].t(), out=out).tanh_()

    def features(self) -> Tensor:
        """What the output layer sees, [T, B, O]."""
        if self.combined is not None:
            return self.combined[1:].clone()
        if self.uses.output:
            return torch.cat([self.top[1:], _side_by_side(self._shown)], dim=-1)
        return self.top[1:].clone()

    # --- backward ---------------------------------------------------------------------------------------------------

    def run_back(self, features: Tensor) -> tuple[list[list[Tensor]], Tensor | None]:
        """All steps in reverse from the gradient of the features [T, B, O]: gradients of the first state and the first feed."""
        leaves = [[torch.zeros_like(buffer[0]) for buffer in kernel.states] for kernel in self.kernels]
        fed: Tensor | None = None
        for time in reversed(range(self.steps)):
            shown, context = self._back_through_features(time, features[time], fed)
            shown = shown + leaves[-1][0]
            if self.uses.query_current and context is not None:
                shown = shown + self._read_back(time, context)
            for index in reversed(range(len(self.kernels))):
                kernel = self.kernels[index]
                leaves[index] = kernel.step_back(time, shown, leaves[index][1:])
                if index > 0:
                    below = self.multiplier.mm(kernel.gradients[time], self._layers[index - 1])
                    masks = self.drawn[index].masks
                    if masks is not None:
                        below.mul_(masks[time])
                    shown = below + leaves[index - 1][0]
            of_input, fed = self._back_through_extended(time)
            if not self.uses.query_current:
                total = _sum(context, of_input)
                if total is not None:
                    leaves[-1][0] = leaves[-1][0] + self._read_back(time, total)
        return leaves, fed

    def _back_through_features(self, time: int, features: Tensor, fed: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Gradients of what the last layer showed and of the context, as far as the output layer and the feed saw them."""
        size = self.top.shape[2]
        if self._combining is not None and self.combined is not None:
            total = features if fed is None else features + fed
            before = torch.ops.aten.tanh_backward(total, self.combined[time + 1])
            self.combined_gradients[time] = before
            both = self.multiplier.mm(before, self._combining)
            return both[:, :size], both[:, size:]
        if self.uses.output:
            return features[:, :size], features[:, size:]
        return features, None

    def _back_through_extended(self, time: int) -> tuple[Tensor | None, Tensor | None]:
        gradients = self.kernels[0].gradients[time]
        index = 1
        of_context = None
        if self.uses.input:
            of_context = self.multiplier.mm(gradients, self._parts[index - 1])
            index += 1
        return of_context, self.multiplier.mm(gradients, self._parts[index - 1]) if self.uses.feed else None

    def _read_back(self, time: int, context: Tensor) -> Tensor:
        parts: Sequence[Tensor] = context.split_with_sizes([reader.contexts.shape[2] for reader in self.readers], dim=1)
        if self.gate is not None:
            parts = self.gate.back_to_contexts(time, parts)
        queries = [reader.read_back(time, part) for reader, part in zip(self.readers, parts, strict=True)]
        if self.gate is not None:
            queries.append(self.gate.back_to_query(time))
        return reduce(torch.add, queries)

    def weight_gradients(self) -> WeightGradients:
        """Of all parameters used inside the loop, after all backward steps; those of the attentions are found apart."""
        found: WeightGradients = []
        for index, kernel in enumerate(self.kernels):
            found += zip(self.drawn[index].weights, kernel.weight_gradients(), strict=True)
            if index > 0:
                cell = self.cells[index]
                found.append(
                    (cell.get_parameter("inputs.0.weight"), self.multiplier.gradient(kernel.gradients, self.inputs[index - 1]))
                )
                found.append((cell.get_parameter("inputs.0.bias"), kernel.gradients.sum(dim=(0, 1))))
        found += self._part_gradients()
        if self.gate is not None:
            found += self.gate.weight_gradients(self.queries)
        if self.combine is not None:
            inputs = torch.cat([self.top[1:], _side_by_side(self._shown)], dim=-1)
            found.append((self.combine.weight, self.multiplier.gradient(self.combined_gradients, inputs)))
        return found

    def _part_gradients(self) -> WeightGradients:
        found: WeightGradients = []
        gradients, index = self.kernels[0].gradients, 1
        if self.uses.input:
            contexts = _side_by_side(self._shown)
            found.append((self.cells[0].get_parameter(f"inputs.{index}.weight"), self.multiplier.gradient(gradients, contexts)))
            index += 1
        if self.uses.feed and self.combined is not None:
            fed = self.multiplier.gradient(gradients, self.combined[:-1])
            found.append((self.cells[0].get_parameter(f"inputs.{index}.weight"), fed))
        return found

    def last_state(self) -> tuple[CellState, ...]:
        """The state after the last step, leaves [B, D] per layer."""
        return tuple(tuple(buffer[-1] for buffer in kernel.states) for kernel in self.kernels)

    @property
    def queries(self) -> Tensor:
        """What the attentions were asked with, [T, B, D]."""
        return self.top[1:] if self.uses.query_current else self.top[:-1]


def _detached(state: tuple[CellState, ...]) -> list[CellState]:
    return [tuple(leaf.detach() for leaf in layer) for layer in state]


def _side_by_side(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    if one is None or other is None:
        return one if other is None else other
    return one + other


class _UnrolledDecoder(torch.autograd.Function):
    """`rest`: leaves of all layers, keys and values of all sources, parameters: what gradients are wanted of."""

    @staticmethod
    def forward(
        ctx: Any,
        loop: DecoderLoop,
        projected: Tensor,
        feed: Tensor | None,
        parameters: list[Tensor],
        *rest: Tensor,  # noqa: ARG004
    ) -> tuple[Tensor, ...]:
        loop.run(projected)
        ctx.loop, ctx.parameters, ctx.fed = loop, parameters, feed is not None
        ctx.set_materialize_grads(False)  # most losses do not see the weights
        features = loop.features()
        return features, *(reader.weights.permute(1, 2, 0, 3) for reader in loop.readers)

    @staticmethod
    def backward(ctx: Any, features: Tensor | None, *weights: Tensor | None) -> tuple[Tensor | None, ...]:
        loop: DecoderLoop = ctx.loop
        features = torch.zeros_like(loop.features()) if features is None else features
        for reader, gradient in zip(loop.readers, weights, strict=True):
            reader.weight_gradients = None if gradient is None else gradient.permute(2, 0, 1, 3)
        leaves, fed = loop.run_back(features.contiguous())
        found = loop.weight_gradients()
        of_sources: list[Tensor | None] = []
        for reader in loop.readers:
            gradients = reader.gradients(loop.queries)
            of_sources += [gradients.keys, gradients.values]
            found += gradients.parameters
        by_parameter = {id(parameter): gradient for parameter, gradient in found}
        of_parameters = [by_parameter[id(parameter)] for parameter in ctx.parameters]
        flat = [leaf for layer in leaves for leaf in layer]
        return (None, loop.kernels[0].gradients, fed if ctx.fed else None, None, *flat, *of_sources, *of_parameters)


def decode_written_out(
    loop: DecoderLoop, projected: Tensor, feed: Tensor | None, state: tuple[CellState, ...], keys: Mapping[str, Keys]
) -> tuple[Tensor, dict[str, Tensor]]:
    """Run a loop over projected inputs [B, T, gates * D]: features [B, T, O], attention weights by source [B, H, T, S].

    state: leaves [B, D].
    """
    parameters = _loop_parameters(loop)
    leaves = [leaf for layer in state for leaf in layer]
    sources = [tensor for one in keys.values() for tensor in (one.keys, one.values)]
    features, *weights = _UnrolledDecoder.apply(  # type: ignore[no-untyped-call]
        loop, projected.transpose(0, 1).contiguous(), feed, parameters, *leaves, *sources, *parameters
    )
    return features.transpose(0, 1), dict(zip(loop.names, weights, strict=True))


def _loop_parameters(loop: DecoderLoop) -> list[Tensor]:
    """The parameters whose gradients the loop finds, in a fixed order."""
    found: list[Tensor] = []
    for index, cell in enumerate(loop.cells):
        found += loop.drawn[index].weights
        projected_before = index == 0  # the first part of the first layer's input is no business of the loop
        found += [parameter for part in cell.inputs[projected_before:] for parameter in part.parameters()]
    if loop.gate is not None:
        found += loop.gate.gate.parameters()
    if loop.combine is not None:
        found.append(loop.combine.weight)
    for reader in loop.readers:
        found += reader.parameters
    return found
