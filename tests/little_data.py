"""Small data for tutorials and journeys, made here: enough to learn something from in seconds."""

import random
from itertools import product
from pathlib import Path

SOUNDS = {"ch": "ʃ", "on": "ɔ̃", "ou": "u", "an": "ɑ̃"} | {letter: letter for letter in "abdilmnst"}
DEVANAGARI = {"ka": "क", "ma": "म", "na": "न", "ra": "र", "la": "ल", "ta": "त", "sa": "स", "pa": "प"}
VERBS = {"ar": {"1 sg": "o", "1 pl": "amos", "3 sg": "a"}, "er": {"1 sg": "o", "1 pl": "emos", "3 sg": "e"}}


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_tones(folder: Path, rate: int) -> Path:
    """Twelve recordings of low and high tones, a quarter of a second each, and the table that names them."""
    import numpy as np
    import soundfile

    draw, lines = np.random.default_rng(1), []
    for number in range(12):
        words = draw.choice(["low", "high"], size=1 + number % 3)
        hertz = np.repeat([300.0 if word == "low" else 900.0 for word in words], rate // 4)
        samples = 0.3 * np.sin(2 * np.pi * np.cumsum(hertz) / rate) + draw.normal(scale=0.01, size=len(hertz))
        soundfile.write(folder / f"{number}.wav", samples, rate)
        lines.append(f"{number}.wav\t{' '.join(words)}")
    write_lines(folder / "table.tsv", lines)
    return folder / "table.tsv"


def pronunciations(count: int, seed: int = 1) -> list[str]:
    """Words by a few of the rules of French, and their sounds."""
    draw = random.Random(seed)
    consonants, vowels = ["ch", "b", "d", "l", "m", "t", "s"], ["a", "i", "ou", "on", "an"]
    words = [
        "".join(draw.choice(consonants) + draw.choice(vowels) for _ in range(draw.randint(1, 3))) for _ in range(count * 2)
    ]
    return [f"{word}\t{' '.join(sounds(word))}" for word in dict.fromkeys(words)][:count]


def sounds(word: str) -> list[str]:
    found, place = [], 0
    while place < len(word):
        letters = next(one for one in SOUNDS if word.startswith(one, place))
        found.append(SOUNDS[letters])
        place += len(letters)
    return found


def transliterations(count: int, seed: int = 2) -> list[str]:
    """Romanised syllables, and the same in Devanagari."""
    draw = random.Random(seed)
    chosen = [draw.choices(sorted(DEVANAGARI), k=draw.randint(2, 4)) for _ in range(count)]
    return [f"{''.join(one)}\t{''.join(DEVANAGARI[part] for part in one)}" for one in chosen]


def translations() -> list[str]:
    """A little English and French, in which adjectives and nouns change places."""
    nouns = {"cat": "chat", "house": "logement", "garden": "jardin", "station": "quai", "train": "train"}
    adjectives = {"red": "rouge", "green": "vert", "old": "ancien", "quiet": "calme", "dear": "cher"}
    verbs = {"I see": "je vois", "we like": "nous aimons", "you have": "tu as", "they want": "ils veulent"}
    return [
        f"{verb} the {adjective} {noun}\t{verbs[verb]} le {nouns[noun]} {adjectives[adjective]}"
        for verb, adjective, noun in product(verbs, adjectives, nouns)
    ]


def inflections() -> list[str]:
    """A verb, the form that is wanted, and the verb in this form."""
    beginnings, ends = ("cant", "habl", "com", "beb", "mir", "corr"), ("", "o", "ul", "ig", "an", "el")
    stems = [f"{first}{last}" for first in beginnings for last in ends]
    return [f"{stem}{kind}\t{form}\t{stem}{ending}" for stem in stems for kind in VERBS for form, ending in VERBS[kind].items()]


def tagged_forms() -> list[str]:
    """A verb, the tags of a form, and the form."""
    rows = [line.split("\t") for line in inflections()]
    return [f"{verb}\tind;prs;{form.replace(' ', ';')}\t{written}" for verb, form, written in rows]


_PEOPLE = ("Ann", "Bob", "Cem", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jill", "Kai", "Lea")
_RANGES = ("by a mile", "by a nose", "by three points", "in the end", "with ease", "after a long fight")


def questions(count: int, seed: int = 5) -> list[str]:
    """A sentence on a game, a question about it, and the answer."""
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        (winner, loser), how = draw.sample(_PEOPLE, 2), f"{draw.choice(_RANGES)} in minute {draw.randint(2, 999)}"
        question, answer = draw.choice((("who won ?", winner), ("who lost ?", loser), ("how did it end ?", how)))
        lines.append(f"{winner} beat {loser} {how} today .\t{question}\t{answer.lower()}")
    return lines


def articles(count: int, seed: int = 6) -> list[str]:
    """A report of some sentences, and what it is about."""
    draw = random.Random(seed)
    reports = []
    for number in range(count):
        first, second = draw.sample(_PEOPLE, 2)
        place = f"{draw.choice(('harbour', 'station', 'garden', 'castle', 'market'))} {number}"
        told = " ".join(
            f"{one} was seen near the {place} with {two} and said {draw.randint(2, 99999)} words ."
            for one, two in (draw.sample(_PEOPLE, 2) for _ in range(4))
        )
        reports.append(f"{first} met {second} at the {place} last night . {told}\t{first} meets {second} at the {place}")
    return reports


def turns(count: int, seed: int = 7) -> list[str]:
    """The turn before, what is said, and the reply."""
    draw = random.Random(seed)
    things = [
        f"{size} {thing}" for size in ("small", "old", "red", "loud", "warm") for thing in ("tea", "rain", "music", "cats")
    ]
    openings = [("", "hello .", "hello , how are you ?"), ("hello , how are you ?", "fine , and you ?", "fine , too .")]
    asked = [(f"i like {one} .", f"do you like {one} , too ?", f"yes , i like {one} .") for one in things]
    told = [("", f"i have {one} .", f"good , i like {one} .") for one in things]
    return ["\t".join(draw.choice([*openings, *asked, *told])) for _ in range(count)]


_WIDER = {"guitar": "instrument", "flute": "instrument", "tennis": "game", "chess": "game"}


def entailments(count: int, seed: int = 8) -> list[str]:
    """Premise, hypothesis, and whether the second follows from the first: a wider word follows, a denial contradicts."""
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        who, thing = draw.choice(("man", "woman", "boy", "girl")), draw.choice(sorted(_WIDER))
        other = draw.choice([one for one in _WIDER if _WIDER[one] != _WIDER[thing]])
        premise = f"A {who} is playing {_with_article(thing)}"
        hypothesis, answer = draw.choice(
            (
                (
                    f"A {draw.choice((who, 'person'))} is playing {_with_article(draw.choice((thing, _WIDER[thing])))}",
                    "ENTAILMENT",
                ),
                (f"Nobody is playing {_with_article(draw.choice((thing, _WIDER[thing])))}", "CONTRADICTION"),
                (
                    f"A {draw.choice((who, 'person'))} is playing {_with_article(draw.choice((other, _WIDER[other])))}",
                    "NEUTRAL",
                ),
            )
        )
        lines.append(f"{premise}\t{hypothesis}\t{answer}")
    return lines


def _with_article(thing: str) -> str:
    return thing if thing in ("tennis", "chess") else f"an {thing}" if thing == "instrument" else f"a {thing}"


def stories(count: int, seed: int = 9) -> list[str]:
    """Numbered lines: people go somewhere, some take something. Where is a person (one fact), where is a thing (two)?"""
    draw = random.Random(seed)
    lines: list[str] = []
    for _ in range(count):
        people = draw.sample(("John", "Mary", "Daniel", "Sandra"), 3)
        places = draw.sample(("garden", "office", "kitchen", "hallway"), 3)
        takers = dict(zip(draw.sample(people, 2), draw.sample(("milk", "apple", "football"), 2), strict=True))
        told = [f"{who} went to the {where}." for who, where in zip(people, places, strict=True)]
        told += [f"{who} took the {thing}." for who, thing in takers.items()]
        draw.shuffle(told)
        [asked, *_], where_is = takers.items(), dict(zip(people, places, strict=True))
        told.append(f"Where is the {asked[1]}?\t{where_is[asked[0]]}")
        told.append(f"Where is {people[0]}?\t{places[0]}")
        lines += [f"{number} {line}" for number, line in enumerate(told, start=1)]
    return lines


def labelled(count: int, seed: int = 3) -> list[str]:
    """Words made of the letters that two languages like, and which of them it is."""
    draw = random.Random(seed)
    letters = {"Finnish": ["kk", "aa", "i", "u", "nen"], "Welsh": ["ll", "wy", "dd", "y", "rh"]}
    languages = [draw.choice(sorted(letters)) for _ in range(count)]
    return [f"{''.join(draw.choices(letters[one], k=4))}\t{one}" for one in languages]


def story(lines: int, seed: int = 4) -> list[str]:
    """Lines of plain text."""
    draw = random.Random(seed)
    who, what, where = (
        ["the king", "a cat", "the old man"],
        ["sleeps", "sings", "walks"],
        ["in the garden", "by the sea", "at night"],
    )
    return [f"{draw.choice(who)} {draw.choice(what)} {draw.choice(where)} ." for _ in range(lines)]
