"""Looks: how many facts of a story a model can put together, by how often it looks at the story.

    python studies/looks.py --runs RUNS [--threads 1]

Stories, made here, say in which box a thing is, who has the box, and where this person is, among as much about others, in any
order. Where is Mary? takes one fact, where is the red box? two, where is the milk? three. The same model looks once, twice or
three times. Writes studies/results/looks.json, and the tables and figures of docs/studies/looks.md.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import Options, Run, cost, cost_table, examples_of, made, options, results, trained, write_page
from figures import save_figure

from seqloom.data.examples import Example
from seqloom.prediction.predictor import Predictor
from seqloom.results.predictions import Candidate, Prediction
from seqloom.views import to_svg

PEOPLE = ("Mary", "John", "Daniel", "Sandra")
BOXES = ("red box", "blue box", "green box", "grey box")
THINGS = ("milk", "apple", "football", "letter")
PLACES = ("garden", "office", "kitchen", "hallway")
CHAINS = 3
"""So many things, boxes and people a story tells of: who only knows which places it names is right in one of three answers."""
COUNTS = {"train": 1500, "validation": 60, "test": 200}
"""Stories. About each, one question of each kind."""
LOOKS = (1, 2, 3)


def stories(count: int, seed: int) -> Iterator[tuple[list[str], list[tuple[str, str]]]]:
    """Sentences, and questions with answers: the first takes one fact, the next two, the last three."""
    draw = random.Random(seed)
    for _ in range(count):
        chains = list(zip(*(draw.sample(names, CHAINS) for names in (PEOPLE, BOXES, THINGS, PLACES)), strict=True))
        told = [
            sentence
            for person, box, thing, place in chains
            for sentence in (f"{person} is in the {place}.", f"{person} has the {box}.", f"The {thing} is in the {box}.")
        ]
        draw.shuffle(told)
        person, box, thing = (draw.choice(chains) for _ in range(3))
        asked = [(person[0], person[3]), (f"the {box[1]}", box[3]), (f"the {thing[2]}", thing[3])]
        yield told, [(f"Where is {what}?", place) for what, place in asked]


def write_tables(folder: Path) -> None:
    """The data of all runs."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (part, count) in enumerate(COUNTS.items()):
        lines = []
        for told, asked in stories(count, seed):
            lines += [*told, *("\t".join(one) for one in asked)]
        # Every story has as many lines, so the numbers begin anew by themselves.
        numbered = [f"{index % (3 * CHAINS + 3) + 1} {line}\n" for index, line in enumerate(lines)]
        (folder / f"{part}.txt").write_text("".join(numbered), encoding="utf-8")


def runs_of() -> dict[str, Run]:
    """A run for each number of looks."""
    return {str(count): Run(f"looks-{count}", "looks", (f"model.bridge.looks={count}",)) for count in LOOKS}


def facts_of(example: Example) -> int:
    """How many facts the question takes."""
    question = example.sources["question"]
    return 2 if "box" in question else 3 if any(thing in question for thing in THINGS) else 1


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up all runs; how right each is, by facts."""
    write_tables(wanted.runs / "tables" / "looks")
    placed = Options(wanted.runs / "tables", wanted.runs, wanted.threads, wanted.show, wanted.finished)
    paths = {name: trained(run, placed) for name, run in runs_of().items()}
    return {"runs": {name: {**cost(path), **judged(path)} for name, path in paths.items()}}


def judged(path: Path) -> dict[str, Any]:
    """Of the test questions: right answers by number of facts, and what is looked at while one of three facts is answered."""
    predictor = Predictor.load(path)
    examples = examples_of(predictor, "test")
    pairs = list(zip(predictor.predict(examples), examples, strict=True))
    by_facts = {count: [one for one in pairs if facts_of(one[1]) == count] for count in LOOKS}
    return {
        "right": {str(count): right_share(some) for count, some in by_facts.items()},
        "count": {str(count): len(some) for count, some in by_facts.items()},
        "map": to_svg(answer_alone(by_facts[3][0][0]), title=by_facts[3][0][1].sources["question"]),
    }


def right_share(pairs: Sequence[tuple[Prediction, Example]]) -> float:
    """How many answers are right, in percent."""
    return 100 * sum(one.text == example.target for one, example in pairs) / len(pairs)


def answer_alone(prediction: Prediction) -> Candidate:
    """The answer and what of the story it looked at: `end`, which follows every class, tells nothing."""
    best = prediction.best
    story = best.alignment["story"]
    first = replace(story, weights=story.weights[:, :1])
    return replace(best, tokens=best.tokens[:1], log_probs=best.log_probs[:1], alignment={"story": first})


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    runs = found["runs"]
    facts = [f"{count} fact{'s' if count > 1 else ''}" for count in LOOKS]
    cells = {name: [f"{one['right'][str(count)]:.1f} %" for count in LOOKS] for name, one in runs.items()}
    maps = [save_figure(f"looks-{name}", one["map"], f"What is looked at, looks: {name}") for name, one in runs.items()]
    return {
        "made": made("looks", found).replace(" --data DATA", ""),
        "models": cost_table(runs, facts, cells),
        "figures": "\n\n".join(maps),
    }


if __name__ == "__main__":
    write_page("looks", page(results("looks", options(__doc__, needs_data=False), measure)))
