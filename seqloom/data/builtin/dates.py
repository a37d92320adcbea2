"""The built-in task `dates`: a date as people write it, in many languages and scripts, becomes ISO 8601.

    hi   रविवार, १५ नवंबर २०२६      2026-11-15
    fr   le 3 mai 1979              1979-05-03
    zh   2009年12月31日             2009-12-31

Formats, month names and weekday names are those of CLDR, read through Babel; the calendar is always the Gregorian one and a
year always has its four digits. The tag in front is the example's feature. It settles orders that the text leaves open
(03/05/1979 is in March for en_US and in May for en_GB), and every sixth example or so comes without it, so that a model
learns to answer either way. With its tag, a text means one day only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple

from seqloom.data.examples import Example, Origin
from seqloom.errors import MissingExtraError

if TYPE_CHECKING:
    from babel import Locale

Split = Literal["train", "validation", "test"]

SIZES: Mapping[Split, int] = {"train": 60_000, "validation": 2_000, "test": 4_000}
"""How many examples each split has."""

FIRST_DAY = date(1900, 1, 1)
LAST_DAY = date(2099, 12, 31)

UNTAGGED = 1 / 6
"""The share of examples without a tag."""

LOCALES: Mapping[str, str] = {
    "en_US": "Latin",
    "en_GB": "Latin",
    "de": "Latin",
    "fr": "Latin",
    "es": "Latin",
    "it": "Latin",
    "pt_BR": "Latin",
    "nl": "Latin",
    "sv": "Latin",
    "da": "Latin",
    "fi": "Latin",
    "pl": "Latin",
    "cs": "Latin",
    "hu": "Latin",
    "ro": "Latin",
    "tr": "Latin",
    "id": "Latin",
    "vi": "Latin",
    "sw": "Latin",
    "ru": "Cyrillic",
    "uk": "Cyrillic",
    "bg": "Cyrillic",
    "sr": "Cyrillic",
    "el": "Greek",
    "ar": "Arabic",
    "fa": "Arabic",
    "ur": "Arabic",
    "he": "Hebrew",
    "hi": "Devanagari",
    "mr": "Devanagari",
    "ne": "Devanagari",
    "bn": "Bengali",
    "gu": "Gujarati",
    "ta": "Tamil",
    "te": "Telugu",
    "ml": "Malayalam",
    "th": "Thai",
    "km": "Khmer",
    "my": "Myanmar",
    "zh": "Han",
    "zh_TW": "Han",
    "ja": "Japanese",
    "ko": "Hangul",
    "ka": "Georgian",
    "hy": "Armenian",
    "am": "Ethiopic",
}
"""The tags, which are CLDR's names of locales, and the script that each writes its month names in."""


class Showpiece(NamedTuple):
    """One line of a demonstration: a tag or None, a text, and the day it means."""

    tag: str | None
    text: str
    target: str


SHOWCASE = (
    Showpiece("hi", "मंगलवार, २४ जनवरी १९८४", "1984-01-24"),
    Showpiece("fr", "le 25 septembre 1994", "1994-09-25"),
    Showpiece("zh", "2001年4月13日周五", "2001-04-13"),
    Showpiece("ar", "الثلاثاء، ٢٢ نوفمبر ١٩٩٤", "1994-11-22"),
    Showpiece("th", "วันจันทร์ที่ 29 กรกฎาคม ค.ศ. 2024", "2024-07-29"),
    Showpiece("en_US", "10/12/2056", "2056-10-12"),
    Showpiece("en_GB", "10/12/2056", "2056-12-10"),
    Showpiece(None, "понедельник, 23 июля 1973 г.", "1973-07-23"),
    Showpiece(None, "2024년 1월 12일 금요일", "2024-01-12"),
)
"""Days of the test split in several scripts, for a table that a person looks at. One text stands there twice: see its tags."""

_FORMATS = ("short", "medium", "long", "full")
_SKELETONS = ("yMd", "yMEd", "yMMMd", "yMMMEd", "yMMMMd", "yMMMMEd")

# The word that a running text puts before a day number; CLDR has no such field.
_PREFIXES = {
    "en_GB": "on ",
    "de": "am ",
    "fr": "le ",
    "es": "el ",
    "it": "il ",
    "pt_BR": "em ",
    "nl": "op ",
    "sv": "den ",
    "da": "den ",
}

# CLDR's names of decimal digits, and the code point of each zero; the other nine follow it.
_ZEROS = {
    "arab": 0x0660,
    "arabext": 0x06F0,
    "deva": 0x0966,
    "beng": 0x09E6,
    "gujr": 0x0AE6,
    "tamldec": 0x0BE6,
    "telu": 0x0C66,
    "mlym": 0x0D66,
    "thai": 0x0E50,
    "khmr": 0x17E0,
    "mymr": 0x1040,
}

# CLDR's spaces that do not break and its marks of direction, which keyboards do not have.
_AS_TYPED = {0x00A0: " ", 0x202F: " ", 0x200E: None, 0x200F: None}


def examples(split: Split, *, seed: int = 1) -> Iterator[Example]:
    """Yield the examples of a split, `SIZES[split]` in number, the same ones for the same seed.

    The seed decides which days are drawn and how they are written. It does not decide which days belong to a split: no seed
    shows a model the days that another seed tests it on.
    """
    writers = [_writer(tag) for tag in LOCALES]
    days = _days_of(split)
    random = Random(f"dates/{split}/{seed}")
    for index in range(SIZES[split]):
        day, writer = random.choice(days), random.choice(writers)
        yield Example(
            sources={"source": writer.write(day, random)},
            target=day.isoformat(),
            origin=Origin(f"builtin:dates/{split}", index + 1),
            features=() if random.random() < UNTAGGED else (writer.tag,),
        )


def split_of(day: date) -> Split:
    """Say which split a day belongs to, by a hash of it: 90 % train, 5 % validation, 5 % test."""
    share = int.from_bytes(blake2b(f"seqloom dates {day.isoformat()}".encode(), digest_size=8).digest()) / 2**64
    return "train" if share < 0.90 else "validation" if share < 0.95 else "test"


@cache
def _days_of(split: Split) -> tuple[date, ...]:
    every_day = (FIRST_DAY + timedelta(days=index) for index in range((LAST_DAY - FIRST_DAY).days + 1))
    return tuple(day for day in every_day if split_of(day) == split)


@dataclass(frozen=True)
class _Field:
    """A place in a form that depends on the day: what each value of one part of the date is written as."""

    part: Literal["year", "month", "day", "weekday"]
    written: Mapping[int, str]

    def of(self, day: date) -> str:
        return self.written[day.weekday() if self.part == "weekday" else getattr(day, self.part)]


_Form = tuple[str | _Field, ...]
"""A pattern made ready: literal text, and fields."""


def _fill(form: _Form, day: date) -> str:
    return "".join(piece if isinstance(piece, str) else piece.of(day) for piece in form)


@dataclass(frozen=True)
class _Writer:
    """Writes days as one locale does; `native` turns digits into the locale's own, if it has any."""

    tag: str
    forms: tuple[_Form, ...]
    native: Mapping[int, str] | None

    def write(self, day: date, random: Random) -> str:
        text = _fill(random.choice(self.forms), day)
        own_digits, as_typed = random.random() < 0.5, random.random() < 0.5
        if own_digits and self.native:
            text = text.translate(self.native)
        return text.translate(_AS_TYPED) if as_typed else text

    def all_ways(self, day: date) -> Iterator[str]:
        """Yield everything that `write` can write for this day."""
        for form in self.forms:
            text = _fill(form, day)
            for digits in (text, text.translate(self.native or {})):
                yield from (digits, digits.translate(_AS_TYPED))


@cache
def _writer(tag: str) -> _Writer:
    locale = _locale(tag)
    forms = [_form(pattern, locale) for pattern in _patterns(locale)]
    prefix = _PREFIXES.get(tag)
    prefixed = [(prefix, *form) for form in forms if _starts_with_day_then_name(form)] if prefix else []
    return _Writer(tag, (*forms, *prefixed), _native_digits(locale))


def _locale(tag: str) -> "Locale":
    try:
        from babel import Locale
    except ImportError as error:
        raise MissingExtraError("The built-in task dates", "dates") from error
    return Locale.parse(tag)


def _patterns(locale: "Locale") -> list[str]:
    """Return the locale's date patterns, with full years, each once, without those that would leave the order open."""
    formats = [locale.date_formats[name].pattern for name in _FORMATS]
    skeletons = [locale.datetime_skeletons[name].pattern for name in _SKELETONS if name in locale.datetime_skeletons]
    patterns = list(dict.fromkeys(_with_full_year(pattern) for pattern in formats + skeletons))
    orders = {pattern: _numeric_order(pattern) for pattern in patterns}
    usual = next((order for order in orders.values() if order), None)
    return [pattern for pattern, order in orders.items() if order in (None, usual)]


def _with_full_year(pattern: str) -> str:
    """Write the year with all its digits: `yy` would leave the century open."""
    from babel.dates import tokenize_pattern, untokenize_pattern

    tokens = tokenize_pattern(pattern)
    return untokenize_pattern((kind, ("y", 1)) if value == ("y", 2) else (kind, value) for kind, value in tokens)


def _numeric_order(pattern: str) -> str | None:
    """Return "dM" or "Md", the order of day and month, if both are numbers and the pattern can therefore be mistaken.

    A few locales (Kannada is one) have both orders in CLDR, and then even a tag does not say which is meant.
    """
    from babel.dates import tokenize_pattern

    fields = [value for kind, value in tokenize_pattern(pattern) if kind == "field"]
    numbers = [str(value[0]).replace("L", "M") for value in fields if value[0] in "dML" and int(value[1]) <= 2]
    return "".join(numbers) if len(numbers) == 2 else None


def _form(pattern: str, locale: "Locale") -> _Form:
    from babel.dates import tokenize_pattern

    return tuple(value if isinstance(value, str) else _field(*value, locale) for _, value in tokenize_pattern(pattern))


@cache
def _field(letter: str, width: int, locale: "Locale") -> str | _Field:
    """Let Babel write every value of a field once, so that writing a day is a few look-ups."""
    from babel.dates import format_date

    def written(day: date) -> str:
        return format_date(day, letter * width, locale=locale)

    match letter:
        case "y":
            return _Field("year", {year: written(date(year, 1, 1)) for year in range(FIRST_DAY.year, LAST_DAY.year + 1)})
        case "M" | "L":
            return _Field("month", {month: written(date(2000, month, 1)) for month in range(1, 13)})
        case "d":
            return _Field("day", {number: written(date(2000, 1, number)) for number in range(1, 32)})
        case "E" | "c":
            return _Field("weekday", {number: written(date(2000, 1, 3 + number)) for number in range(7)})  # 3rd: a Monday
        case _:  # The era, the same for all our days.
            return written(FIRST_DAY)


def _starts_with_day_then_name(form: _Form) -> bool:
    fields = [piece for piece in form if isinstance(piece, _Field)]
    begins_with_day = form[0] is fields[0] and fields[0].part == "day"
    return begins_with_day and fields[1].part == "month" and not fields[1].written[1].isdecimal()


def _native_digits(locale: "Locale") -> Mapping[int, str] | None:
    zero = _ZEROS.get(locale.other_numbering_systems.get("native", "latn"))
    return None if zero is None else {ord("0") + value: chr(zero + value) for value in range(10)}
