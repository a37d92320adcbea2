"""Several voices as one stepper: the members of an ensemble, biases and CTC where a search wants them, a language model."""

from collections.abc import Mapping, Sequence

import numpy as np

from seqloom.data.arrays import Padded
from seqloom.data.reading.oracles import Oracle
from seqloom.errors import UsageError
from seqloom.prediction.backends import SourceStepper
from seqloom.search.bias import biased
from seqloom.search.contracts import State, Stepper
from seqloom.search.ctc import Joint, JointState, PositionScores, PrefixState
from seqloom.search.ensembles import Ensemble, EnsembleState
from seqloom.search.forms import Forms
from seqloom.search.fusion import Fused, FusedState


class Voices:
    """Models that share their target vocabulary. language_model: has a say of the given weight, if there is one."""

    def __init__(self, models: Sequence[SourceStepper], language_model: SourceStepper | None, weight: float) -> None:
        self.models = tuple(models)
        self._together: Stepper = self.models[0] if len(self.models) == 1 else Ensemble(self.models)
        self._weight = weight
        self._language_model = None
        if language_model is not None:
            Fused(self._together, language_model, weight)  # refuses what does not fit, whatever the weight is
            self._language_model = language_model if weight else None  # without weight it is not even asked

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._together.vocabulary_size

    @property
    def alone(self) -> SourceStepper:
        """The one model, where what is asked makes sense for a single one only."""
        if len(self.models) > 1 or self._language_model is not None:
            raise UsageError("this looks inside one model, and here several have their say. Name one run, without --fuse")
        return self.models[0]

    def start(
        self,
        forms: Sequence[Mapping[str, Padded]],
        count: int,
        oracle: Mapping[str, Oracle],
        *,
        ctc: float,
        biases: Mapping[int, float],
    ) -> tuple[Stepper, State]:
        """All of them as one stepper, and its state once the sources are read.

        forms: the sources as they are, and then in other forms, if there are any. ctc: the share of what positions say. biases:
        of what models say, by the ids of symbols.
        """
        stepper = biased(self._together, biases)
        if ctc:
            stepper = Joint(stepper, ctc)
        states = tuple(self._state(sources, count, oracle, ctc=ctc) for sources in forms)
        state = states[0]
        if len(states) > 1:
            stepper, state = Forms(stepper, len(states)), EnsembleState(states)
        if self._language_model is not None:
            stepper = Fused(stepper, self._language_model, self._weight)
            state = FusedState(state, self._language_model.start({}, count))
        return stepper, state

    def _state(self, sources: Mapping[str, Padded], count: int, oracle: Mapping[str, Oracle], *, ctc: float) -> State:
        """The state of all models, and of CTC if it has a share, once the sources are read."""
        states = tuple(model.start(sources, count, oracle) for model in self.models)
        state = states[0] if len(states) == 1 else EnsembleState(states)
        return JointState(state, PrefixState.start(self._position_scores(states))) if ctc else state

    def _position_scores(self, states: Sequence[State]) -> PositionScores:
        """What positions say; of several models, the mean of their probabilities."""
        found = [model.position_scores(state) for model, state in zip(self.models, states, strict=True)]
        said = [one for one in found if one is not None]
        if len(said) < len(found):
            raise UsageError(
                "a share of CTC (`search.ctc`, --ctc-weight) needs a model that was trained with CTC, and this one was not. "
                "Leave it out, or train with `model: {ctc: {weight: 0.3}}`"
            )
        if len({one.log_probs.shape for one in said}) > 1:
            raise UsageError("members of an ensemble read the source as different numbers of positions. Use --ctc-weight 0")
        total = np.logaddexp.reduce([one.log_probs for one in said])
        return PositionScores((total - np.log(len(said))).astype(np.float32), said[0].lengths)
