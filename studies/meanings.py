"""A little grammar: who does what to whom, and when, said in several ways. Paraphrases are known exactly.

An English one to train on, whose target is the meaning in a fixed order, `give man ball dog morning`; and a German one in the
style of image descriptions, to ask a translator that never saw it.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

Words = tuple[str, ...]


@dataclass(frozen=True)
class Meaning:
    """Who (agent) does what (action) to whom (patient), perhaps for whom (recipient), and when or where (setting)."""

    agent: str
    action: str
    patient: str
    recipient: str = ""
    setting: str = ""

    @property
    def swapped(self) -> "Meaning":
        """The same words with the roles of two living beings changed: the agent with the recipient, or with the patient."""
        if self.recipient:
            return replace(self, agent=self.recipient, recipient=self.agent)
        return replace(self, agent=self.patient, patient=self.agent)

    @property
    def canonical(self) -> str:
        """The meaning as a text of five words, with a dash for what is not said."""
        return " ".join(part or "-" for part in (self.action, self.agent, self.patient, self.recipient, self.setting))


@dataclass(frozen=True)
class Sentence:
    """One way to say a meaning; form: which way."""

    text: str
    form: str
    meaning: Meaning


# --- English --------------------------------------------------------------------------------------------------------

BEINGS = ("man", "woman", "boy", "girl", "dog", "cat", "horse", "child", "teacher", "farmer", "doctor", "bird")
THINGS = ("ball", "book", "letter", "apple", "hat", "key", "rope", "cup")
DEEDS = {
    "see": ("sees", "seen"),
    "follow": ("follows", "followed"),
    "help": ("helps", "helped"),
    "call": ("calls", "called"),
    "chase": ("chases", "chased"),
    "find": ("finds", "found"),
    "watch": ("watches", "watched"),
    "push": ("pushes", "pushed"),
    "carry": ("carries", "carried"),
    "paint": ("paints", "painted"),
}
GIFTS = {
    "give": ("gives", "given"),
    "show": ("shows", "shown"),
    "send": ("sends", "sent"),
    "bring": ("brings", "brought"),
    "sell": ("sells", "sold"),
    "throw": ("throws", "thrown"),
}
TIMES = {
    "morning": "in the morning",
    "evening": "in the evening",
    "noon": "at noon",
    "night": "at night",
    "monday": "on monday",
    "sunday": "on sunday",
}


def english_meanings() -> list[Meaning]:
    """All that can be said."""
    pairs = [(one, other) for one, other in product(BEINGS, BEINGS) if one != other]
    deeds = [Meaning(one, deed, other, "", time) for (one, other), deed, time in product(pairs, DEEDS, TIMES)]
    gifts = [Meaning(one, gift, thing, other, time) for (one, other), gift, thing, time in product(pairs, GIFTS, THINGS, TIMES)]
    return deeds + gifts


def english(meaning: Meaning) -> list[Sentence]:
    """All ways to say a meaning: active and passive, each with the time at the end and in front."""
    agent, patient, time = f"the {meaning.agent}", f"the {meaning.patient}", TIMES[meaning.setting]
    if meaning.recipient:
        does, done = GIFTS[meaning.action]
        recipient, thing = f"the {meaning.recipient}", f"a {meaning.patient}"
        clauses = {
            "active": f"{agent} {does} {recipient} {thing}",
            "active with to": f"{agent} {does} {thing} to {recipient}",
            "passive of the thing": f"{thing} is {done} to {recipient} by {agent}",
            "passive of the recipient": f"{recipient} is {done} {thing} by {agent}",
        }
    else:
        does, done = DEEDS[meaning.action]
        clauses = {"active": f"{agent} {does} {patient}", "passive": f"{patient} is {done} by {agent}"}
    return [
        sentence
        for form, clause in clauses.items()
        for sentence in (
            Sentence(f"{clause} {time}", form, meaning),
            Sentence(f"{time} {clause}", f"{form}, time in front", meaning),
        )
    ]


HELD_OUT = 150
LEARNT = 8000


def drawn_meanings(seed: int) -> tuple[list[Meaning], list[Meaning]]:
    """Meanings to learn from, and others to ask about; of the latter, neither one nor its swap is ever learnt."""
    every = english_meanings()
    draw = random.Random(seed)
    draw.shuffle(every)
    asked: list[Meaning] = []
    for one in every:
        if one not in asked and one.swapped not in asked:
            asked.append(one)
        if len(asked) == HELD_OUT:
            break
    kept_apart = {*asked, *(one.swapped for one in asked)}
    return [one for one in every if one not in kept_apart][:LEARNT], asked


def write_task(folder: Path, seed: int) -> None:
    """Write train, validation and test as tables: a sentence, a tab, its meaning. Two ways to say each meaning are learnt."""
    learnt, asked = drawn_meanings(seed)
    draw = random.Random(seed)
    lines = [line for meaning in learnt for line in _lines(draw.sample(english(meaning), 2))]
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        "train": lines[:-600],
        "validation": lines[-600:],
        "test": [line for meaning in asked for line in _lines(english(meaning))],
    }
    for name, part in parts.items():
        (folder / f"{name}.tsv").write_text("".join(part), encoding="utf-8")


def _lines(sentences: Sequence[Sentence]) -> Iterator[str]:
    return (f"{one.text}\t{one.meaning.canonical}\n" for one in sentences)


# --- German ---------------------------------------------------------------------------------------------------------

PEOPLE = {  # nominative, accusative, after "von"
    "man": ("ein Mann", "einen Mann", "einem Mann"),
    "woman": ("eine Frau", "eine Frau", "einer Frau"),
    "boy": ("ein Junge", "einen Jungen", "einem Jungen"),
    "girl": ("ein Mädchen", "ein Mädchen", "einem Mädchen"),
    "dog": ("ein Hund", "einen Hund", "einem Hund"),
    "player": ("ein Spieler", "einen Spieler", "einem Spieler"),
}
ACTS = {
    "photograph": ("fotografiert", "fotografiert"),
    "watch": ("beobachtet", "beobachtet"),
    "carry": ("trägt", "getragen"),
    "pull": ("zieht", "gezogen"),
    "hold": ("hält", "gehalten"),
    "chase": ("jagt", "gejagt"),
}
PLACES = {
    "park": "in einem Park",
    "beach": "am Strand",
    "street": "auf der Straße",
    "field": "auf einem Feld",
    "water": "im Wasser",
}


def german_meanings() -> list[Meaning]:
    """One of each pair of meanings that differ in their roles alone; what a dog cannot do is left out."""
    found: list[Meaning] = []
    for agent, patient, act, place in product(PEOPLE, PEOPLE, ACTS, PLACES):
        meaning = Meaning(agent, act, patient, "", place)
        handy = act in ("photograph", "carry", "hold") and "dog" in (agent, patient)
        if agent != patient and not handy and meaning.swapped not in found:
            found.append(meaning)
    return found


def german(meaning: Meaning) -> list[Sentence]:
    """All ways to say a meaning: active, the place in front, passive, both, and the object in front where its case shows."""
    (agent, _, by), (patient, accused, _) = PEOPLE[meaning.agent], PEOPLE[meaning.patient]
    does, done = ACTS[meaning.action]
    place = PLACES[meaning.setting]
    ways = {
        "active": f"{agent} {does} {accused} {place}",
        "place in front": f"{place} {does} {agent} {accused}",
        "passive": f"{patient} wird {place} von {by} {done}",
        "passive, place in front": f"{place} wird {patient} von {by} {done}",
    }
    if patient != accused:
        ways["object in front"] = f"{accused} {does} {agent} {place}"
    return [Sentence(f"{text[0].upper()}{text[1:]}.", form, meaning) for form, text in ways.items()]
