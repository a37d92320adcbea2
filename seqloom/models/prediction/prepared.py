"""The decoder made ready for prediction: the same model, laid out for speed, in a precision of one's choice.

Nothing is computed differently but for rounding. Matrices are laid out once (`products`); what symbols contribute to the
first cell is looked up in a table; additive attention needs no tanh. The encoder, a few percent of the work, stays as it is.
"""

from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor, nn

from seqloom.models.attention import (
    AdditiveAttention,
    Attention,
    BilinearAttention,
    Carry,
    ConcatAttention,
    HardAttention,
    Keys,
    Look,
    MultiHeadAttention,
    ProjectedAttention,
    ScoredAttention,
)
from seqloom.models.attention.local import LocalAttention
from seqloom.models.bridges import AttentionBridge
from seqloom.models.cells import Cell, GruCell, LstmCell, RnnCell, TorchGruCell, Weights
from seqloom.models.decoders import Decoder, RecurrentDecoder, TransformerDecoder
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.memory import CellState, Memory
from seqloom.models.products import FloatProduct, Product, build_product
from seqloom.system.cpu import InferencePrecision

_LARGEST_TABLE = 1 << 24
"""Entries of the table of what symbols contribute to the first cell: 64 MB at most, and a tenth of a second to fill."""


@torch.inference_mode()
def prepare_model(model: EncoderDecoder, precision: InferencePrecision) -> EncoderDecoder:
    """The model for prediction. It shares the parameters that it does not lay out anew, and does not follow later updates."""
    prepared = _sharing_copy(model).eval()
    prepare_decoder(prepared.decoder, precision)
    return prepared


def _sharing_copy(model: EncoderDecoder) -> EncoderDecoder:
    """New modules around the same parameters."""
    return deepcopy(model, {id(parameter): parameter for parameter in model.parameters()})


def prepare_decoder(decoder: Decoder, precision: InferencePrecision) -> None:
    """Replace the parts of a decoder by prepared ones."""
    match decoder:
        case RecurrentDecoder():
            _prepare_recurrent(decoder, precision)
        case TransformerDecoder():
            _prepare_products(decoder, precision)
    decoder.set_submodule("output", build_product(precision, *decoder.output.joined()))


def _prepare_recurrent(decoder: RecurrentDecoder, precision: InferencePrecision) -> None:
    if decoder.combine is not None:
        decoder.set_submodule("combine", PreparedCombine(decoder.combine, decoder.size, precision))
    if isinstance(decoder.bridge, AttentionBridge):
        for name in list(decoder.bridge.attentions):
            decoder.bridge.attentions[name] = _prepared_attention(decoder.bridge.attention(name), precision)
    for index, cell in enumerate(decoder.cells):
        decoder.cells[index] = _prepared_cell(cell, precision)
    if decoder.reads_symbols:
        _look_up_symbols(decoder)
    if precision == "fp32":  # elsewhere the order of rounding would matter
        _multiply_before_reading(decoder)


def _product(layer: nn.Linear, precision: InferencePrecision) -> Product:
    return build_product(precision, layer.weight, layer.bias)


def _prepare_products(module: nn.Module, precision: InferencePrecision) -> None:
    """Lay out every matrix within a module."""
    for name, part in list(module.named_modules()):
        if isinstance(part, nn.Linear):
            module.set_submodule(name, _product(part, precision))


def _look_up_symbols(decoder: RecurrentDecoder) -> None:
    """Put `U_e e + b` in the place of the embeddings, if the table for all symbols is not too large."""
    project, embeddings = decoder.get_submodule("cells.0.inputs.0"), decoder.embedding.weight
    width = project(embeddings[:1]).shape[-1]
    if len(embeddings) * width <= _LARGEST_TABLE:
        decoder.embedding = nn.Embedding(len(embeddings), width, _weight=project(embeddings), _freeze=True)
        decoder.set_submodule("cells.0.inputs.0", nn.Identity())


# --- cells ----------------------------------------------------------------------------------------------------------


class PreparedCell(Cell):
    """A cell whose matrices are products; `weights` is empty, because they hold them.

    The projected inputs that it is given are its own: it adds to them in place.
    """

    def __init__(self, cell: Cell, precision: InferencePrecision) -> None:
        nn.Module.__init__(self)  # not the cell's own constructor, which would draw new matrices
        self.size, self.squash, self.weight_dropout = cell.size, cell.squash, 0.0
        self.num_leaves = cell.num_leaves
        self.inputs = nn.ModuleList(_product(part, precision) for part in cell.inputs if isinstance(part, nn.Linear))

    @property
    def weights(self) -> Weights:
        """Nothing that would have to be handed over."""
        return ()

    def extend(self, projected: Tensor, *others: Tensor) -> Tensor:
        """Add what the other parts contribute, in place."""
        for product, part in zip(self.inputs[1:], others, strict=True):
            projected.add_(product(part))
        return projected


class PreparedRnn(PreparedCell):
    """C1."""

    def __init__(self, cell: RnnCell, precision: InferencePrecision) -> None:
        super().__init__(cell, precision)
        self.recurrent = _product(cell.recurrent, precision)

    def step(self, projected: Tensor, state: CellState, weights: Weights) -> CellState:  # noqa: ARG002
        """One step of C1."""
        return (self.squash(projected.add_(self.recurrent(state[0]))),)


class PreparedGru(PreparedCell):
    """C2, the state reset before the matrix."""

    def __init__(self, cell: GruCell, precision: InferencePrecision) -> None:
        super().__init__(cell, precision)
        self.gates, self.candidate = _product(cell.gates, precision), _product(cell.candidate, precision)

    def step(self, projected: Tensor, state: CellState, weights: Weights) -> CellState:  # noqa: ARG002
        """One step of C2; gates in the order o, i."""
        (before,) = state
        for_gates, for_candidate = projected.tensor_split([2 * self.size], dim=-1)
        reset, keep = self.gates(before).add_(for_gates).sigmoid_().chunk(2, dim=-1)
        candidate = self.squash(self.candidate(reset * before).add_(for_candidate))
        return (torch.lerp(candidate, before, keep),)


class PreparedTorchGru(PreparedCell):
    """C2, the state reset after the matrix."""

    def __init__(self, cell: TorchGruCell, precision: InferencePrecision) -> None:
        super().__init__(cell, precision)
        self.recurrent = _product(cell.recurrent, precision)

    def step(self, projected: Tensor, state: CellState, weights: Weights) -> CellState:  # noqa: ARG002
        """One step; gates in the order o, i."""
        (before,) = state
        for_gates, for_candidate = projected.tensor_split([2 * self.size], dim=-1)
        from_gates, from_candidate = self.recurrent(before).tensor_split([2 * self.size], dim=-1)
        reset, keep = from_gates.add_(for_gates).sigmoid_().chunk(2, dim=-1)
        candidate = self.squash(torch.addcmul(for_candidate, reset, from_candidate))
        return (torch.lerp(candidate, before, keep),)


class PreparedLstm(PreparedCell):
    """C3."""

    def __init__(self, cell: LstmCell, precision: InferencePrecision) -> None:
        super().__init__(cell, precision)
        self.recurrent = _product(cell.recurrent, precision)

    def step(self, projected: Tensor, state: CellState, weights: Weights) -> CellState:  # noqa: ARG002
        """One step of C3; gates in the order f, i, o, then the candidate."""
        hidden, memory = state
        for_gates, for_candidate = self.recurrent(hidden).add_(projected).tensor_split([3 * self.size], dim=-1)
        forget, write, output = for_gates.sigmoid_().chunk(3, dim=-1)
        memory = (forget * memory).addcmul_(write, self.squash(for_candidate))
        return output * self.squash(memory), memory


def _prepared_cell(cell: nn.Module, precision: InferencePrecision) -> nn.Module:
    """The prepared form of a cell; a kind that has none stays as it is."""
    match cell:
        case RnnCell():
            return PreparedRnn(cell, precision)
        case GruCell():
            return PreparedGru(cell, precision)
        case TorchGruCell():
            return PreparedTorchGru(cell, precision)
        case LstmCell():
            return PreparedLstm(cell, precision)
        case _:
            return cell


# --- attention ------------------------------------------------------------------------------------------------------

_MOST_QUERY, _MOST_KEY = 43.0, 34.0
"""e^(2 * 43) is almost the largest number in float32. Cut off there, a sum with a key up to 34 is still 9 or more, where
tanh is 1."""


class ExponentialAttention(ScoredAttention):
    """Additive and concat attention, `v^T tanh(q + k_j)`, without a tanh for every query and position.

    `tanh(q + k) = 1 - 2 / (1 + e^2q e^2k)`: the exponentials of queries and keys are few, and what is left for every pair is
    a product and a quotient. The 1 adds the same to all positions of a source, which the softmax does not see.
    """

    def __init__(self, from_query: Product, from_memory: Product, energy: Tensor, context_size: int) -> None:
        super().__init__()
        self.context_size = context_size
        self.from_query, self.from_memory = from_query, from_memory
        self.register_buffer("energy", -2.0 * energy, persistent=False)
        self.register_buffer("one", energy.new_ones(()), persistent=False)

    def prepare(self, memory: Memory) -> Keys:
        """Keys `e^2k`."""
        return Keys(_exponentials(self.from_memory(memory.states)), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Energies of the tanh layer, less a constant."""
        queries = _exponentials(self.from_query(query))
        hidden = torch.addcmul(self.get_buffer("one"), queries[:, :, None], keys.keys[:, None]).reciprocal_()  # [B, Q, S, A]
        return (hidden @ self.get_buffer("energy"))[:, None]


def _exponentials(values: Tensor) -> Tensor:
    return values.clamp_(-_MOST_QUERY, _MOST_QUERY).mul_(2.0).exp_()


def _is_in_range(from_query: Tensor, from_memory: Tensor) -> bool:
    """Whether no unit can be cut off on both sides. States are between -1 and 1: a row's absolute values bound its sum."""
    beyond = (from_query.abs().sum(dim=1) > _MOST_QUERY) & (from_memory.abs().sum(dim=1) > _MOST_KEY)
    return not bool(beyond.any())


def _prepared_attention(attention: Attention, precision: InferencePrecision) -> Attention:
    """The prepared form of an attention; a kind that has none stays as it is."""
    match attention:
        case ScoredAttention():
            return _prepared_score(attention, precision)
        case LocalAttention() | HardAttention():
            attention.score = _prepared_score(attention.score, precision)
            return attention
        case _:
            return attention


def _prepared_score(attention: ScoredAttention, precision: InferencePrecision) -> ScoredAttention:
    match attention:
        case AdditiveAttention(from_query=from_query, from_memory=from_memory):
            return _exponential(attention, from_query.weight, from_memory.weight, attention.energy.weight[0], precision)
        case ConcatAttention(query_size=size, hidden=hidden):
            of_query, of_memory = hidden.weight.tensor_split([size], dim=1)
            return _exponential(attention, of_query, of_memory, attention.energy.weight[0], precision)
        case BilinearAttention() | ProjectedAttention() | MultiHeadAttention():
            _prepare_products(attention, precision)
            return attention
        case _:
            return attention


def _exponential(
    attention: ScoredAttention, from_query: Tensor, from_memory: Tensor, energy: Tensor, precision: InferencePrecision
) -> ScoredAttention:
    if not _is_in_range(from_query, from_memory):
        return attention
    products = build_product(precision, from_query), build_product(precision, from_memory)
    return ExponentialAttention(*products, energy.detach(), attention.context_size)


# --- what is done with a context ------------------------------------------------------------------------------------

_LONGEST_READ_AHEAD = 48
"""Longer sources are not multiplied ahead: that would take much memory, and a step would have as much to average."""


class ContextProduct(Product):
    """A product with contexts of a given width; of wider ones, which are multiplied already, the part from `start` on."""

    def __init__(self, product: FloatProduct, start: int) -> None:
        super().__init__(None)
        self.product, self.start = product, start
        self.size, self.width = product.matrix.shape

    def forward(self, vectors: Tensor) -> Tensor:
        """Multiply, or take what is there."""
        if vectors.shape[-1] == self.width:
            return self.product(vectors)  # type: ignore[no-any-return]
        return vectors[..., self.start : self.start + self.size]


class PreparedCombine(nn.Module):
    """`W [s; c]` as a product with the state and one with the context."""

    def __init__(self, combine: nn.Linear, size: int, precision: InferencePrecision) -> None:
        super().__init__()
        self.size = size
        of_state, of_context = combine.weight.tensor_split([size], dim=1)
        self.from_state, self.from_context = build_product(precision, of_state), build_product(precision, of_context)

    def forward(self, vectors: Tensor) -> Tensor:
        """Vectors [..., D + C] -> [..., D]."""
        state, context = vectors.tensor_split([self.size], dim=-1)
        combined: Tensor = self.from_state(state)
        return combined.add_(self.from_context(context))


class ReadAhead(Attention):
    """Averages what has been multiplied, `sum_j a_j (W h_j)`, where others multiply averages, `W sum_j a_j h_j`.

    A source is multiplied once, an average at every step of every row of a beam. inner: says where to look.
    """

    def __init__(self, inner: Attention, product: FloatProduct) -> None:
        super().__init__()
        self.context_size = inner.context_size
        self.inner, self.product = inner, product

    def prepare(self, memory: Memory) -> Keys:
        """Values `W h_j`, unless the source is long."""
        keys = self.inner.prepare(memory)
        if keys.values.shape[1] > _LONGEST_READ_AHEAD:
            return keys
        return replace(keys, values=self.product(keys.values))

    def start(self, keys: Keys) -> Carry:
        """What the attention itself remembers."""
        return self.inner.start(keys)

    def look(self, query: Tensor, keys: Keys, carry: Carry) -> Look:
        """Where the attention itself looks."""
        return self.inner.look(query, keys, carry)


def _multiply_before_reading(decoder: RecurrentDecoder) -> None:
    """Let the attention multiply what would be done to its contexts, if they are averages of states used in that way only."""
    bridge = decoder.bridge
    if not isinstance(bridge, AttentionBridge) or len(bridge.attentions) != 1 or decoder.uses.output or decoder.uses.state:
        return
    (name,) = bridge.attentions
    attention = bridge.attention(name)
    places = ["cells.0.inputs.1"] if decoder.uses.input else []
    places += ["combine.from_context"] if decoder.uses.combined else []
    if not places or isinstance(attention, MultiHeadAttention):
        return
    products = [product for product in map(decoder.get_submodule, places) if isinstance(product, FloatProduct)]
    matrix = torch.cat([one.matrix for one in products])
    if len(matrix) == attention.context_size:  # contexts, multiplied or not, are told apart by their width
        matrix = torch.cat([matrix, torch.zeros_like(matrix[:1])])
    bridge.attentions[name] = ReadAhead(attention, FloatProduct(matrix, None))
    start = 0
    for place, product in zip(places, products, strict=True):
        decoder.set_submodule(place, ContextProduct(product, start))
        start += len(product.matrix)
