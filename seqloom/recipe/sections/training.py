"""How a model learns, and when it is judged and saved."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from seqloom.recipe.sections.base import Count, Fraction, Named, Positive, Rate, Section

MetricName = Literal[
    "exact_match",
    "symbol_error_rate",
    "cer",
    "wer",
    "bleu",
    "chrf",
    "bleu_1",
    "bleu_2",
    "bleu_3",
    "bleu_4",
    "bleu_1_unpenalised",
    "bleu_2_unpenalised",
    "bleu_3_unpenalised",
    "bleu_4_unpenalised",
    "meteor",
    "rouge_l_coco",
    "cider",
    "rouge_1",
    "rouge_2",
    "rouge_l",
    "slot_error_rate",
    "distinct_1",
    "distinct_2",
    "kept_f1",
]
"""Every metric that can be computed from outputs and references."""

Metric = Literal["loss", MetricName]
"""What validation may go by."""


class Adam(Section):
    """Adam; `epsilon` is torch's eps."""

    kind: Literal["adam"] = "adam"
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    epsilon: Annotated[float, Field(gt=0)] = 1e-8


class AdamW(Section):
    """Adam with decoupled weight decay."""

    kind: Literal["adamw"] = "adamw"
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    epsilon: Annotated[float, Field(gt=0)] = 1e-8
    weight_decay: Annotated[float, Field(ge=0)] = 0.01


class Sgd(Section):
    """Gradient descent, with momentum if wanted."""

    kind: Literal["sgd"] = "sgd"
    momentum: Fraction = 0.0
    weight_decay: Annotated[float, Field(ge=0)] = 0.0


Optimiser = Annotated[Adam | AdamW | Sgd, Field(discriminator="kind")]


class Constant(Section):
    """The learning rate stays, after `warmup` steps of linear rise."""

    kind: Literal["constant"] = "constant"
    warmup: Count = 0


class Linear(Section):
    """Linear fall to `final` times the learning rate at the last step, after `warmup`."""

    kind: Literal["linear"] = "linear"
    warmup: Count = 0
    final: Annotated[float, Field(ge=0, le=1)] = 0.0


class Cosine(Section):
    """Half a cosine down to `final` times the learning rate at the last step, after `warmup`."""

    kind: Literal["cosine"] = "cosine"
    warmup: Count = 0
    final: Annotated[float, Field(ge=0, le=1)] = 0.0


class InverseSqrt(Section):
    """Falls as 1/sqrt(step) after `warmup`."""

    kind: Literal["inverse_sqrt"] = "inverse_sqrt"
    warmup: Positive = 1000


class Plateau(Section):
    """Multiplied by `factor` whenever `patience` validations bring nothing better."""

    kind: Literal["plateau"] = "plateau"
    warmup: Count = 0
    factor: Annotated[float, Field(gt=0, lt=1)] = 0.5
    patience: Positive = 1


Schedule = Annotated[Constant | Linear | Cosine | InverseSqrt | Plateau, Field(discriminator="kind")]


class Validation(Section):
    """When the model is judged, and by what."""

    every_steps: Positive | None = None
    """Validate every so many steps; once an epoch if not given. The last step is always validated."""
    metric: Metric = "loss"
    examples: Positive = 500
    """How many validation examples, taken evenly, are decoded (greedily) for metrics and samples; the loss is over all."""
    patience: Positive | None = None
    """Stop after so many validations without an improvement, or when none is possible: all exact, or no error."""


class Checkpoint(Section):
    """How often the state of training is saved, whichever comes first."""

    seconds: Annotated[float, Field(gt=0)] = 60.0
    steps: Positive | None = None


class Ema(Section):
    """Use an exponential moving average of the weights, `ema = decay * ema + (1 - decay) * weights` after every update.

    It is what is judged and kept; training itself goes on from the weights.
    """

    decay: Annotated[float, Field(gt=0, lt=1)] = 0.999


class Keep(Section):
    """Of which validations the weights stay in the run folder, so that `seqloom average` can average them."""

    last: Count = 0
    """The latest so many."""
    best: Count = 0
    """The best so many by `validation.metric`."""

    @model_validator(mode="after")
    def _something_is_kept(self) -> Self:
        if not self.last and not self.best:
            raise ValueError("nothing would be kept. Write `last: 5` or `best: 5`, or remove `keep`")
        return self


Rates = Annotated[dict[str, Rate], AfterValidator(Named)]
"""Factors of the learning rate by how names of parameters begin."""


class Augment(Section):
    """Changes sources while a model learns, so that it sees no two examples alike; nothing else hears of it.

    Of frames, bands and stretches of time are covered (SpecAugment, Park et al. 2019), and recordings are played at other
    speeds (Ko et al. 2015). What moves is mirrored. Of texts, symbols are hidden.
    """

    band_masks: Count = 2
    """So many bands of neighbouring numbers are covered, each up to `band_width` wide."""
    band_width: Positive = 8
    time_masks: Count = 2
    """So many stretches of time are covered, each up to `time_width` frames long, and to a fifth of the recording."""
    time_width: Positive = 20
    speeds: Annotated[tuple[Annotated[float, Field(ge=0.5, le=2.0)], ...], Field(max_length=9)] = ()
    """Each time, one of these is drawn, such as 0.9, 1.0 and 1.1; of sounds only. Nothing: as they are."""
    flip: bool = False
    """What moves in half of the clips is mirrored; of `kind: movement` only, and where left and right mean nothing."""
    hidden: Fraction = 0.0
    """Of the different symbols of a text, this share is read as unknown. What can be copied can then only be copied: it is
    hidden in the target, too."""


class Training(Section):
    """How the model learns."""

    epochs: Positive = 10
    steps: Positive | None = None
    """Stop after so many updates, even within an epoch."""
    shortest_epoch: Positive | None = None
    """An epoch has at least so many updates: data that is gone through sooner is gone through again within it."""
    batch_tokens: Positive = 4000
    """A batch holds at most so many symbols on its longer side, padding included."""
    batch_size: Positive | None = None
    """At most so many examples in a batch; of running text, so many places in it that are read at once."""
    bptt: Positive = 64
    """Running text only: so many symbols between two updates. The state goes on, the gradient is cut there."""
    accumulate: Positive = 1
    optimiser: Optimiser = Field(default_factory=Adam)
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    schedule: Schedule = Field(default_factory=Constant)
    clip: Annotated[float, Field(gt=0)] | None = 1.0
    label_smoothing: Fraction = 0.0
    dropout_epochs: Annotated[float, Field(gt=0)] | None = None
    """Dropout rises from nothing to what the parts of the model say within so many epochs: what was seen once or twice cannot
    be known by heart yet (curriculum dropout, Morerio et al. 2017). Nothing: all of it from the first update on."""
    sampled_softmax: Positive | None = None
    """Tell each label from the other labels of its batch and so many symbols that are drawn, not from the whole vocabulary."""
    loss_per: Literal["tokens", "sequences"] = "tokens"
    """What the loss is averaged over."""
    augment: Augment | None = None
    """Of sources that are sounds, other frames, or texts."""
    ema: Ema | None = None
    rates: Rates = Named({})
    """What the learning rate is multiplied with in parts of the model; 0 leaves a part as it is."""
    validation: Validation = Field(default_factory=Validation)
    checkpoint: Checkpoint = Field(default_factory=Checkpoint)
    keep: Keep | None = None
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    threads: Positive | None = None
    tensorboard: bool = False

    @property
    def rows(self) -> int:
        """At how many places running text is read at once."""
        return self.batch_size or max(1, self.batch_tokens // self.bptt)
