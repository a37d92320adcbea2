"""Search over any stepper, in NumPy: greedy, beam, sampling, exhaustive, ensembles."""

from seqloom.search.contracts import Hypotheses, Hypothesis, State, Step, Stepper
from seqloom.search.dispatch import run, search
from seqloom.search.ensembles import Ensemble, EnsembleState
from seqloom.search.fusion import Fused, FusedState
from seqloom.search.request import Request, longest_outputs
from seqloom.search.traces import Trace

__all__ = [
    "Ensemble",
    "EnsembleState",
    "Fused",
    "FusedState",
    "Hypotheses",
    "Hypothesis",
    "Request",
    "State",
    "Step",
    "Stepper",
    "Trace",
    "longest_outputs",
    "run",
    "search",
]
