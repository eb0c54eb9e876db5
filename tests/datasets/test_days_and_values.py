"""Days in words, and typed values: how they are read, moved, said, and what lies beside them."""

from __future__ import annotations

import datetime as dt

import pytest

from pytest_personalens.core.facts import FactKind
from pytest_personalens.core.scenario import Situation
from pytest_personalens.datasets.world import written
from pytest_personalens.datasets.world.dates import clock, days_of

WEDNESDAY = dt.date(2026, 4, 15)


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("today", "2026-04-15", ""), ("tomorrow", "2026-04-16", ""), ("yesterday", "2026-04-14", ""), ("Friday", "2026-04-17", ""),
        ("Wednesday", "2026-04-22", ""), ("Tuesday", "2026-04-21", ""), ("Tuesday next week", "2026-04-21", ""),
        ("Sunday next week", "2026-04-26", ""), ("in 3 days", "2026-04-18", ""), ("in 2 weeks", "2026-04-29", ""),
        ("Saturday in 2 weeks", "2026-05-02", ""), ("5 days ago", "2026-04-10", ""), ("last weekend", "2026-04-11", "2026-04-12"),
        ("the last Friday of the month", "2026-04-24", ""), ("2026-07-01", "2026-07-01", ""), ("birthday", "2027-02-28", ""),
    ],
)  # fmt: skip
def test_words_mean_days(words: str, first: str, last: str) -> None:
    assert [day.isoformat() for day in days_of(words, WEDNESDAY, "02-29")] == [first, last or first]


@pytest.mark.parametrize("words", ["2026-02-30", "someday", "friday", "birthday", ""])
def test_other_words_mean_no_day(words: str) -> None:
    with pytest.raises(ValueError, match="is no day; write"):
        days_of(words, WEDNESDAY)


def test_the_last_weekday_of_a_month_that_has_passed_is_that_of_the_next() -> None:
    assert days_of("the last Friday of the month", dt.date(2026, 4, 24))[0] == dt.date(2026, 5, 29)
    assert days_of("the last Friday of the month", dt.date(2026, 12, 30))[0] == dt.date(2027, 1, 29)


@pytest.mark.parametrize("day", ["Monday", "Thursday", "Sunday"])
@pytest.mark.parametrize("time", ["Morning", "Afternoon", "Evening", "Night"])
def test_a_clock_agrees_with_its_situation(day: str, time: str) -> None:
    where = Situation(location="", device="", time_of_day=time, day_of_week=day, environment="")
    for key in ("a", "b", "c"):
        now = clock(where, zone="Europe/London", key=key)
        assert f"{dt.date.fromisoformat(now.date):%A}" == day
        before = clock(where, zone="", key=key, birthday="07-20")
        assert "2026-06-29" <= before.date <= "2026-07-12"
        assert f"{dt.date.fromisoformat(before.date):%A}" == day


@pytest.mark.parametrize(
    ("kind", "text", "as_written", "said"),
    [
        ("count", "03", "3", "three"), ("count", "14", "14", "14"), ("time", "7:45 AM", "07:45", "07:45"), ("time", "12:10 PM", "12:10", "12:10"),
        ("time", "12:10 AM", "00:10", "00:10"), ("duration", "half an hour", "30 minutes", "half an hour"),
        ("duration", "1 hour", "1 hour", "an hour"), ("duration", "2 week", "2 weeks", "two weeks"), ("money", "45", "45", "$45"),
        ("date", "2026-04-10", "2026-04-10", "Friday 10 April"), ("person", "Jean", "Jean", "Jean"),
    ],
)  # fmt: skip
def test_values_are_read_and_said(kind: FactKind, text: str, as_written: str, said: str) -> None:
    assert written.parse(kind, text) == as_written
    assert written.say(kind, as_written) == said


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("count", "three"),
        ("time", "25:00"),
        ("time", "7 PM"),
        ("duration", "a while"),
        ("money", "$5"),
        ("item", " "),
    ],
)
def test_what_is_no_value_is_refused(kind: FactKind, text: str) -> None:
    with pytest.raises(ValueError, match=r"is no|expected"):
        written.parse(kind, text)


@pytest.mark.parametrize(
    ("kind", "value", "beside"),
    [
        ("count", "3", {"2", "4"}), ("count", "2 .. 10", {"1", "11"}), ("date", "2026-04-10", {"2026-04-09", "2026-04-11", "2026-04-17"}),
        ("time", "23:30", {"22:30"}), ("duration", "2 weeks", {"1 week", "3 weeks"}), ("duration", "1 month", {"2 months"}),
        ("duration", "30 minutes", {"15 minutes", "45 minutes"}), ("money", "1 .. 60", {"0", "90"}), ("place", "Leeds", set()),
    ],
)  # fmt: skip
def test_what_lies_beside_a_value(kind: FactKind, value: str, beside: set[str]) -> None:
    assert set(written.neighbours(kind, value)) == beside
