"""What is read in a reply and how it is scored, and what an item needs on its way."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.errors import SpecError
from pytest_personalens.suites.personaconv.metrics import Asker, Scorer, read_answer
from pytest_personalens.suites.personaconv.open_posts import open_posts
from pytest_personalens.suites.personaconv.predictions import Prediction
from pytest_personalens.suites.personaconv.texts import TextScorer
from tests.suites.personaconv.trees import people, written

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


@pytest.fixture
def items(tmp_path: Path) -> dict[str, Prediction]:
    dataset = open_posts(written(tmp_path, people()), settings=("P-Conv", "none"))
    return {kind: dataset.load(dataset.items(kind)[0]) for kind in ("sentiment", "impact", "next-text")}


def never() -> TextScorer:
    raise AssertionError


def test_each_kind_has_its_values(items: dict[str, Prediction]) -> None:
    scorer, texts = Scorer(never), Scorer(TextScorer)
    truths = {kind: item.truth for kind, item in items.items()}
    other = {"positive": "negative", "negative": "positive"}[str(truths["sentiment"])]
    for reply, score in ((f"**{truths['sentiment']}**", 1), (other, 0), ("hm", 0)):
        answer, values = scorer.score(items["sentiment"], reply)
        assert (values, answer.read) == ({"correct": score}, reply != "hm")
    assert scorer.score(items["impact"], str(truths["impact"]))[1] == {"log-error": 0}
    assert scorer.score(items["impact"], "hm")[1] == texts.score(items["next-text"], "")[1] == {}
    assert scorer.score(items["impact"], "1000")[1]["log-error"] % Fraction(1, 100) == 0
    assert texts.score(items["next-text"], truths["next-text"])[1]["rouge1"] == 1
    assert all(value % Fraction(1, 1000) == 0 for value in texts.score(items["next-text"], "One")[1].values())


def test_names_hold_all_that_a_value_depends_on() -> None:
    assert Asker().identity != Asker("official").identity
    assert Scorer(never, kind="impact").identity != Scorer(never, "official", "impact").identity
    assert TextScorer().identity in Scorer(TextScorer, kind="next-text").identity


def test_an_item_can_be_sent_to_another_process(items: dict[str, Prediction]) -> None:
    for item in items.values():
        assert pickle.loads(pickle.dumps(item)) == item
        assert Prediction.model_validate_json(item.model_dump_json()) == item
        assert item.id.startswith(item.kind)
        own, alone = item.in_setting("P-Conv"), item.in_setting("none")
        assert Asker().turn(own, ()) == UserTurn(item.requests["P-Conv"].text, done=True)
        assert own.digest != alone.digest
        with pytest.raises(SpecError, match=r"no request for NP-Conv in this run; give personalens_context"):
            item.in_setting("NP-Conv")
