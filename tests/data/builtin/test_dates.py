"""The built-in task `dates`: what CLDR says, one meaning per tagged text, and splits that share no day."""

import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import get_args

import pytest
from babel.dates import format_date

from seqloom.data.builtin import dates
from seqloom.data.examples import Example, Origin
from seqloom.errors import MissingExtraError
from seqloom.installation import install_command

LEAP_YEAR = [date(2024, 1, 1) + timedelta(days=index) for index in range(366)]


def text_of(example: Example) -> str:
    return example.sources["source"]


@pytest.fixture(scope="module")
def drawn() -> dict[dates.Split, list[Example]]:
    return {split: list(dates.examples(split)) for split in get_args(dates.Split)}


def test_each_split_has_the_size_it_declares(drawn: dict[dates.Split, list[Example]]) -> None:
    assert {split: len(examples) for split, examples in drawn.items()} == dict(dates.SIZES)


def test_an_example_says_where_it_comes_from(drawn: dict[dates.Split, list[Example]]) -> None:
    assert drawn["train"][0].origin == Origin("builtin:dates/train", 1)
    assert drawn["test"][-1].origin == Origin("builtin:dates/test", dates.SIZES["test"])


def test_the_same_seed_draws_the_same_examples(drawn: dict[dates.Split, list[Example]]) -> None:
    assert list(dates.examples("test")) == drawn["test"]
    assert list(dates.examples("test", seed=2)) != drawn["test"]


def test_no_day_is_in_two_splits_whatever_the_seed(drawn: dict[dates.Split, list[Example]]) -> None:
    train, validation = ({example.target for example in drawn[split]} for split in ("train", "validation"))
    test = {example.target for seed in (1, 2) for example in dates.examples("test", seed=seed)}
    assert not train & validation
    assert not train & test
    assert not validation & test


def test_targets_are_iso_days_of_the_two_centuries(drawn: dict[dates.Split, list[Example]]) -> None:
    days = [date.fromisoformat(str(example.target)) for example in drawn["train"]]
    assert all(dates.FIRST_DAY <= day <= dates.LAST_DAY for day in days)
    assert {day.year for day in days} == set(range(1900, 2100))


def test_about_a_sixth_is_untagged_and_the_rest_is_spread_over_all_locales(drawn: dict[dates.Split, list[Example]]) -> None:
    for examples in drawn.values():
        tags = Counter(example.features for example in examples)
        assert 0.14 < tags.pop(()) / len(examples) < 0.20
        assert {tag for (tag,) in tags} == set(dates.LOCALES)
        assert max(tags.values()) < 3 * min(tags.values())


def test_there_are_forty_locales_and_ten_scripts() -> None:
    assert len(dates.LOCALES) >= 40
    assert len(set(dates.LOCALES.values())) >= 10


@pytest.mark.parametrize(("tag", "script"), dates.LOCALES.items())
def test_a_locale_writes_in_the_script_it_is_listed_under(tag: str, script: str) -> None:
    # Unicode names Han "CJK UNIFIED IDEOGRAPH"; our Japanese forms have Han characters only.
    wanted = {"Han": "CJK", "Japanese": "CJK"}.get(script, script.upper())
    text = format_date(date(2026, 11, 15), "full", locale=tag)
    names = Counter(unicodedata.name(character).split()[0] for character in text if character.isalpha())
    assert names.most_common(1)[0][0] == wanted


@pytest.mark.parametrize("tag", dates.LOCALES)
def test_a_day_is_written_as_babel_writes_it(tag: str) -> None:
    locale = dates._locale(tag)
    random = Random(tag)
    for pattern in dates._patterns(locale):
        form = dates._form(pattern, locale)
        for _ in range(15):
            day = dates.FIRST_DAY + timedelta(days=random.randrange(73_000))
            assert dates._fill(form, day) == format_date(day, pattern, locale=tag)


@pytest.mark.parametrize("tag", dates.LOCALES)
def test_the_long_and_the_full_form_are_among_the_ways(tag: str) -> None:
    ways = set(dates._writer(tag).all_ways(date(1987, 3, 5)))
    assert format_date(date(1987, 3, 5), "long", locale=tag) in ways
    assert format_date(date(1987, 3, 5), "full", locale=tag) in ways


@pytest.mark.parametrize("tag", dates.LOCALES)
def test_with_its_tag_a_text_means_one_day(tag: str) -> None:
    # One leap year proves it for all: every form has the year's four digits, as the next test shows.
    meanings: dict[str, date] = {}
    for day in LEAP_YEAR:
        for text in dates._writer(tag).all_ways(day):
            assert meanings.setdefault(text, day) == day


@pytest.mark.parametrize("tag", dates.LOCALES)
def test_the_gregorian_year_has_its_four_digits_in_every_form(tag: str) -> None:
    for text in dates._writer(tag).all_ways(date(1987, 3, 5)):
        digits = "".join(str(unicodedata.digit(character)) if character.isdecimal() else character for character in text)
        assert digits.count("1987") == 1


def test_drawn_tagged_texts_never_contradict_each_other(drawn: dict[dates.Split, list[Example]]) -> None:
    meanings: dict[tuple[str, str], str | None] = {}
    for example in (example for examples in drawn.values() for example in examples if example.features):
        assert meanings.setdefault((example.features[0], text_of(example)), example.target) == example.target


def test_the_tag_settles_the_order_of_day_and_month() -> None:
    assert "10/12/2056" in set(dates._writer("en_US").all_ways(date(2056, 10, 12)))
    assert "10/12/2056" in set(dates._writer("en_GB").all_ways(date(2056, 12, 10)))


def test_patterns_of_the_other_order_are_left_out() -> None:
    # CLDR gives Kannada d/M/y, but M/d/y with a weekday.
    orders = {dates._numeric_order(pattern) for pattern in dates._patterns(dates._locale("kn"))}
    assert orders == {"dM", None}


def test_texts_that_people_write_can_be_written() -> None:
    assert "रविवार, 15 नवंबर 2026" in set(dates._writer("hi").all_ways(date(2026, 11, 15)))
    assert "le 3 mai 1979" in set(dates._writer("fr").all_ways(date(1979, 5, 3)))
    assert "2009年12月31日" in set(dates._writer("zh").all_ways(date(2009, 12, 31)))


@pytest.mark.parametrize(
    ("tag", "year"),
    [
        ("ar", "١٩٨٧"),
        ("fa", "۱۹۸۷"),
        ("ur", "۱۹۸۷"),
        ("hi", "१९८७"),
        ("mr", "१९८७"),
        ("ne", "१९८७"),
        ("bn", "১৯৮৭"),
        ("gu", "૧૯૮૭"),
        ("ta", "௧௯௮௭"),
        ("te", "౧౯౮౭"),
        ("ml", "൧൯൮൭"),
        ("th", "๑๙๘๗"),
        ("km", "១៩៨៧"),
        ("my", "၁၉၈၇"),
    ],
)
def test_native_digits_are_written_as_often_as_latin_ones(tag: str, year: str) -> None:
    ways = list(dates._writer(tag).all_ways(date(1987, 3, 5)))
    assert sum(year in text for text in ways) == sum("1987" in text for text in ways) == len(ways) / 2


def test_marks_that_keyboards_lack_come_and_go() -> None:
    ways = set(dates._writer("ru").all_ways(date(1987, 3, 5)))
    assert {"5 марта 1987\u202fг.", "5 марта 1987 г."} <= ways
    ways = set(dates._writer("ar").all_ways(date(1987, 3, 5)))
    assert {"5\u200f/3\u200f/1987", "5/3/1987"} <= ways


def test_all_that_can_be_written_is_drawn_sooner_or_later() -> None:
    writer, day, random = dates._writer("ar"), date(1987, 3, 5), Random(1)
    assert {writer.write(day, random) for _ in range(1000)} == set(writer.all_ways(day))


def test_the_showcase_is_right_and_unseen_in_training() -> None:
    assert len({showpiece.tag for showpiece in dates.SHOWCASE}) >= 7
    for tag, text, target in dates.SHOWCASE:
        day = date.fromisoformat(target)
        assert dates.split_of(day) == "test"
        assert any(text in set(dates._writer(locale).all_ways(day)) for locale in ([tag] if tag else dates.LOCALES))


def test_without_babel_the_extra_is_named(without_library: Callable[[str], None]) -> None:
    dates._writer.cache_clear()
    without_library("babel")
    with pytest.raises(MissingExtraError) as caught:
        next(dates.examples("test"))
    assert str(caught.value) == (
        "The built-in task dates needs the extra 'dates', which is not installed. Run: " + install_command("dates")
    )


def test_babel_is_imported_only_when_needed() -> None:
    code = "import sys, seqloom.data.builtin.dates; sys.exit('babel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
