"""The typed values of a statement, in the many ways to write them."""

from __future__ import annotations

import pytest

from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.reading.typed_values import agrees, typed_values

TODAY = "2026-04-06"  # a Monday


@pytest.mark.parametrize(
    ("text", "kind", "written"),
    [
        ("A table for 3 on Friday", "count", "3"),
        ("Party of four, please", "count", "4"),
        ("Guests: 6", "count", "6"),
        ("number of nights: two", "count", "2"),
        ("The number of guests is now five", "count", "5"),
        ("Volume three is next", "count", "3"),
        ("the third volume", "count", "3"),
        ("moves of more than 5 %", "count", "5"),
        ("on Friday 10 April", "date", "2026-04-10"),
        ("Fri, Apr 10", "date", "2026-04-10"),
        ("2026-04-10", "date", "2026-04-10"),
        ("on Friday", "date", "2026-04-10"),
        ("tomorrow", "date", "2026-04-07"),
        ("the 10th", "date", "2026-04-10"),
        ("from 10 to 12 April", "date", "2026-04-10"),
        ("April 10-12", "date", "2026-04-12"),
        ("at half past seven in the evening", "time", "19:30"),
        ("19:30", "time", "19:30"),
        ("7:30 PM", "time", "19:30"),
        ("at 7.30", "time", "19:30"),
        ("half an hour before", "duration", "30 minutes"),
        ("30 minutes before", "duration", "30 minutes"),
        ("for two weeks", "duration", "2 weeks"),
        ("a fortnight", "duration", "2 weeks"),
        ("for 120 minutes", "duration", "2 hours"),
        ("$45 a head", "money", "45"),
        ("45 dollars", "money", "45"),
        ("on Tuesday 14 April", "date", "2026-04-10 .. 2026-04-20"),
        ("at 20:15", "time", "17:00 .. 22:00"),
    ],
)
def test_a_value_is_found_however_it_is_written(text: str, kind: str, written: str) -> None:
    found = [v for v in typed_values(plain(text), TODAY) if v.kind == kind]
    assert any(agrees(v, written, TODAY) for v in found), found


@pytest.mark.parametrize(
    ("text", "kind", "written"),
    [
        ("A table for 2 on Friday", "count", "3"),
        ("on Saturday", "date", "2026-04-10"),
        ("on 17 April", "date", "2026-04-10"),
        ("at 04:00", "time", "17:00 .. 22:00"),
        ("at 8:30 PM", "time", "19:30"),
        ("for three weeks", "duration", "2 weeks"),
        ("seats 1 and 2", "count", "1"),
        ("The Ninth Ferry", "date", "2026-04-09"),
        ("A Day in Rome", "duration", "1 day"),
    ],
)
def test_another_value_does_not_agree(text: str, kind: str, written: str) -> None:
    found = [v for v in typed_values(plain(text), TODAY) if v.kind == kind]
    assert not any(agrees(v, written, TODAY) for v in found), found
