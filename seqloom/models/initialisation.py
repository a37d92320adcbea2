"""How weights start, for every part of a model, and why.

There is one rule: signals keep their scale. A layer that is given entries around 1 writes entries around 1, so that at the
first update already the loss hears what the encoder wrote, through gates, attention and the output layer alike, and its
gradient comes back as loudly. A factor of two that is lost in each of five layers is a model that reads its source a
thousand updates later. `benchmarks/first_updates.py` measures it; docs/decisions/initialisation.md has what was measured.

- A matrix is drawn by the number of its inputs alone (LeCun et al. 1998). Its outputs have no say: the gates of a cell are
  computed in one product, but each is a layer by itself, and so is every symbol's row of the output layer.
- Inputs that come in parts, [e; c] say, have a matrix each, drawn by the width of its own part: a wide part does not drown
  a narrow one.
- A row of an embedding has length 1, or `TIED_LENGTH` where it is a row of a recurrent decoder's output layer as well (tied
  weights). A cell that reads embeddings makes up for their small entries, by half: see `start_reading_embedding`.
- What the parts of a transformer add to the states that pass by them is as loud, all of it together, as those states: see
  `start_added`.
- From state to state, blocks are orthogonal: over many steps they neither shrink nor blow up what is remembered.
- An LSTM's forget gate starts open, so that gradients reach far from the first update on. All other biases are zero.
"""

import math

import torch
from torch import Tensor, nn


def start_matrix(weight: Tensor, *, input_scale: float = 1.0) -> None:
    """Draw a matrix [outputs, inputs]. input_scale: how large the entries are that it will be given."""
    bound = math.sqrt(3.0 / max(1, weight.shape[1])) / input_scale  # of variance 1 / inputs, for entries around 1
    nn.init.uniform_(weight, -bound, bound)


def start_recurrent(weight: Tensor) -> None:
    """Draw the matrix from a state to gates [gates * size, size]: an orthogonal block for each gate."""
    with torch.no_grad():
        for block in weight.chunk(weight.shape[0] // weight.shape[1]):
            nn.init.orthogonal_(block)


def start_embedding(weight: Tensor, *, length: float = 1.0) -> None:
    """Draw an embedding [symbols, size]. length: that of its rows, in expectation."""
    nn.init.normal_(weight, std=length / math.sqrt(max(1, weight.shape[1])))


def start_reading_embedding(weight: Tensor, *, length: float) -> None:
    """Draw the matrix [gates * size, embedding] of a cell that reads symbols, rows of the given length.

    Whatever that is, they add entries around a half to the cell's gates.
    Louder, they drown the source: a decoder that hears its own symbols well learns to attend later, as random strings show.
    """
    start_matrix(weight, input_scale=2.0 * length / math.sqrt(max(1, weight.shape[1])))


def start_added(weight: Tensor, *, parts: int) -> None:
    """Quieten a matrix that `start_matrix` drew: what it writes is added to states, as what all of `parts` parts write is.

    Each as loud as the states themselves, they would drown what was read with every layer (Radford et al. 2019).
    """
    with torch.no_grad():
        weight.div_(math.sqrt(parts))


def start_small(vector: Tensor) -> None:
    """Draw weights of something that is to be learned beside what is there already, and must not drown it."""
    nn.init.normal_(vector, std=0.1)


STATE_SCALE = 0.5
"""How large the entries of a recurrent state are at the start, or less: what gates let through of what tanh squashed.

The output layer makes up for it, which has thousands of symbols to tell apart. Layers inside of the model do not: drawn twice
as large as well, they learned no faster on words, and more slowly on letters.
"""
TIED_LENGTH = 1.0 / STATE_SCALE
"""How long the rows of an embedding are that is also a recurrent decoder's output layer: as loud as one of its own."""
FORGET_BIAS = 1.0
"""What an LSTM's forget gate starts with: `logistic(1)` of the memory stays, where a bias of 0 would halve it at every step."""
ENCODER_PARTS = 2
"""What a layer of a transformer's encoder adds to its states: what other positions say, and what it makes of that."""
DECODER_PARTS = 3
"""What a layer of its decoder adds: what the sources say as well."""
