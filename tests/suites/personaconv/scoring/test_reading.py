"""What is read in a reply."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_personalens.suites.personaconv.metrics import read_answer


@pytest.mark.parametrize(
    "reply",
    [
        "positive", "Positive", " POSITIVE.\n", "**positive**", "`positive`.", "'positive'", "\u201cpositive\u201d", "```\npositive\n```",
        "```text\npositive.\n```", "<think>negative?</think>positive", "<think>a</think>\n<THINK>b</THINK> positive", '{"answer": "positive"}',
        '  {"answer": "Positive."}', {"answer": "positive"},
    ],
)  # fmt: skip
def test_a_class_alone(reply: Any) -> None:
    assert read_answer(reply, "sentiment").value == "positive"


@pytest.mark.parametrize(
    "reply",
    [
        None, 5, ["positive"], {"label": "positive"}, {"answer": None}, {"answer": ["positive"]}, "", "yes", "not negative", "positive or negative",
        "It is positive", "<think>never closed, so positive", '{"label": "positive"}', '{"answer": true}', "posi tive", "positive" * 1_000_000,
        "\ud83d", "\x1b[31mpositive",
    ],
)  # fmt: skip
def test_no_class(reply: Any) -> None:
    answer = read_answer(reply, "sentiment")
    assert not answer.read
    assert answer.reason
    assert len(answer.reason) < 150
    answer.reason.encode()


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("12", 12), ("-7.", -7), ("+18", 18), ("\u22125", -5), ("1,234", 1234), ("-1,234,567.5", -1234567.5), ("1e3", 1000), ("**44.5**", 44.5), ("007", 7),
        ("<think>maybe 40</think> 22", 22), ('{"answer": 12}', 12), ('{"answer": "12"}', 12), ({"answer": 12.5}, 12.5), ("```json\n12\n```", 12),
    ],
)  # fmt: skip
def test_a_number_alone(reply: Any, number: float) -> None:
    assert read_answer(reply, "impact").value == number


@pytest.mark.parametrize(
    "reply",
    [
        "no idea", "2-9", "5 to 7", "2024-01-05", "1 2", "10 upvotes", "about 10", "nan", "inf", "-Infinity", "1e999", "12,34", "1,2345", "1.2.3", {"answer": True},
        {"answer": float("nan")}, {"answer": "nan"}, '{"answer": NaN}', "9" * 1000, None, "", "--5",
    ],
)  # fmt: skip
def test_no_number(reply: Any) -> None:
    assert not read_answer(reply, "impact").read


def test_a_text() -> None:
    assert read_answer("<think>hm</think> So it is. ", "next-text").value == "So it is."
    assert read_answer({"answer": "So"}, "next-text").value == "So"
    assert read_answer('{"text": "So"}', "next-text").value == '{"text": "So"}'
    assert read_answer("<think>hm</think>", "next-text", "official").value == "<think>hm</think>"
    assert read_answer("half \ud83d", "next-text").value == "half ?"
    for nothing in ("", "  ", "<think>all of it", None, {"answer": ""}):
        assert not read_answer(nothing, "next-text").read


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Positive", "positive"),
        (" negative\n", "negative"),
        ("Positive.", None),
        ("**positive**", None),
        ("", None),
    ],
)
def test_a_class_as_the_live_scripts_read_it(reply: str, value: str | None) -> None:
    assert read_answer(reply, "sentiment", "official").value == value


@pytest.mark.parametrize(
    ("reply", "value"),
    [("12", 12), ("1e3", 1000), ("1,234", 234), ("I think 5 (range 2-9)", -9), ("10 upvotes on 2024-01-05", -5), ("nan", None), ("none", None)],
)  # fmt: skip
def test_a_number_as_the_live_scripts_read_it(reply: str, value: float | None) -> None:
    assert read_answer(reply, "impact", "official").value == value
