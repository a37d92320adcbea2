"""Symbols as a model of a given vocabulary sees them."""

import numpy as np

from seqloom.graphs.graph import Graph, Value
from seqloom.symbols import UNKNOWN


def known(graph: Graph, symbols: Value, vocabulary_size: int) -> Value:
    """All that lies outside the vocabulary is unknown alike."""
    inside = graph.op("Less", symbols, graph.constant(vocabulary_size, np.int64))
    return graph.where(inside, symbols, graph.constant(UNKNOWN, np.int64))
