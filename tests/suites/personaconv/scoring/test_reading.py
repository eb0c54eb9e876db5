"""What is read in a reply."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_personalens.suites.personaconv.metrics import read_answer

#: Kind and protocol -> replies, each with what is read in it.
READ: dict[tuple[str, str], list[tuple[Any, Any]]] = {
    ("sentiment", "fixed"): [
        (reply, "positive")
        for reply in (
            "positive", "Positive", " POSITIVE.\n", "**positive**", "`positive`.", "'positive'", "\u201cpositive\u201d", "```\npositive\n```",
            "```text\npositive.\n```", "<think>negative?</think>positive", "<think>a</think>\n<THINK>b</THINK> positive", '{"answer": "positive"}',
            '  {"answer": "Positive."}', {"answer": "positive"},
        )
    ],
    ("impact", "fixed"): [
        ("12", 12), ("-7.", -7), ("+18", 18), ("\u22125", -5), ("1,234", 1234), ("-1,234,567.5", -1234567.5), ("1e3", 1000), ("**44.5**", 44.5), ("007", 7),
        ("<think>maybe 40</think> 22", 22), ('{"answer": 12}', 12), ('{"answer": "12"}', 12), ({"answer": 12.5}, 12.5), ("```json\n12\n```", 12),
    ],
    ("next-text", "fixed"): [
        ("<think>hm</think> So it is. ", "So it is."), ({"answer": "So"}, "So"), ('{"text": "So"}', '{"text": "So"}'), ("half \ud83d", "half ?"),
    ],
    ("sentiment", "official"): [("Positive", "positive"), (" negative\n", "negative")],
    ("impact", "official"): [
        ("12", 12), ("1e3", 1000), ("1,234", 234), ("I think 5 (range 2-9)", -9), ("10 upvotes on 2024-01-05", -5),
    ],
    ("next-text", "official"): [("<think>hm</think>", "<think>hm</think>")],
}  # fmt: skip
#: The same of replies in which nothing is read.
UNREAD: dict[tuple[str, str], list[Any]] = {
    ("sentiment", "fixed"): [
        None, 5, ["positive"], {"label": "positive"}, {"answer": None}, {"answer": ["positive"]}, "", "yes", "not negative", "positive or negative",
        "It is positive", "<think>never closed, so positive", '{"label": "positive"}', '{"answer": true}', "posi tive", "positive" * 1_000_000,
        "\ud83d", "\x1b[31mpositive",
    ],
    ("impact", "fixed"): [
        "no idea", "2-9", "5 to 7", "2024-01-05", "1 2", "10 upvotes", "about 10", "nan", "inf", "-Infinity", "1e999", "12,34", "1,2345", "1.2.3", {"answer": True},
        {"answer": float("nan")}, {"answer": "nan"}, '{"answer": NaN}', "9" * 1000, None, "", "--5",
    ],
    ("next-text", "fixed"): ["", "  ", "<think>all of it", None, {"answer": ""}],
    ("sentiment", "official"): ["Positive.", "**positive**", ""],
    ("impact", "official"): ["nan", "none"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("form", "reply", "value"), [(form, *row) for form, rows in READ.items() for row in rows]
)
def test_what_is_read(form: tuple[str, str], reply: Any, value: Any) -> None:
    assert read_answer(reply, *form).value == value


@pytest.mark.parametrize(("form", "reply"), [(form, row) for form, rows in UNREAD.items() for row in rows])
def test_what_cannot_be_read_has_a_short_reason(form: tuple[str, str], reply: Any) -> None:
    answer = read_answer(reply, *form)
    assert not answer.read
    assert 0 < len(answer.reason.encode()) < 150
