"""What metrics need of a model's outputs."""

from collections.abc import Sequence
from itertools import chain

from seqloom.data.examples import Example
from seqloom.metrics import PAIRS, Item, Name, usual
from seqloom.metrics.names import FAMILIES, REPLIES
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import Recipe
from seqloom.recipe.sections import TARGET
from seqloom.results.predictions import Prediction
from seqloom.symbols import UNKNOWN


def usual_metrics(recipe: Recipe, items: Sequence[Item]) -> tuple[Name, ...]:
    """The metrics that suit the data, if nobody names any.

    Several targets of a text are all of what it may become, such as the pronunciations of a word: they are judged as one target
    is. Several of anything else describe it. What weights are chosen by tells summaries and the like from other pairs.
    """
    if len(recipe.data.text_sources) < len(recipe.data.sources):
        return usual(items)
    metric = recipe.training.validation.metric
    if recipe.data.columns.preceding and metric == "loss":
        return REPLIES
    return FAMILIES.get(metric, PAIRS)


def items_of(predictor: Predictor, examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[Item]:
    """What metrics need of each prediction, in the case and the form in which models write: they know no others.

    A reference symbol outside the vocabulary can never be matched: two unknowns need not be the same. Those that a model can
    copy are known from the source.
    """
    reader, spelling = predictor.reader, predictor.vocabularies[TARGET].normalised
    sources = [reader.read(example) for example in examples]
    references = [reader.targets(example) for example in examples]
    owners = [source for source, several in zip(sources, references, strict=True) for _ in several]
    targets = iter(reader.encode_targets(list(chain.from_iterable(references)), owners))
    written = reader.encode_targets([prediction.text for prediction in predictions], sources)
    return [
        Item(
            hypothesis=spelling(prediction.text),
            references=tuple(map(spelling, several)),
            hypothesis_symbols=tuple(symbols.tolist()),
            references_symbols=tuple(
                tuple(-1 if symbol == UNKNOWN else symbol for symbol in next(targets).tolist()) for _ in several
            ),
            source_length=source.symbols,
            source=" ".join(source.example.sources[name] for name in predictor.recipe.data.text_sources),
        )
        for source, several, prediction, symbols in zip(sources, references, predictions, written, strict=True)
    ]
