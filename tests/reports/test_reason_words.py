"""One wording of a reason in all reports, the goal as a list, and the dialogues that explain a headline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from pytest_personalens import Dialogue, Evaluation, Evidence, Message, Scenario, Situation, Task, Verdict
from pytest_personalens.core.judging.verdict import Dimension, Reason, ReasonCode
from pytest_personalens.reports.content.why_items_failed import (
    goal_parts,
    reason_text,
    reasons_of,
    said_by_judge,
)
from pytest_personalens.reports.html.payload import payload
from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.results.reasons import alike_note, explanations
from pytest_personalens.results.summarize import attach_replayed, summarize
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.item import Earlier, Item
from pytest_personalens.results.values.results import Provenance, Results
from pytest_personalens.results.wording import trust_note
from tests.support.repository import ROOT, Repository

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
SCENARIO = Scenario(
    id="alarm-1-ann", kind="single", user="ann", dataset="d 1", domains=("Alarm",),
    demographics={}, summaries={},
    preferences={"Alarm": {"Alarm Time Preference": ("4:30 AM",), "Alarm Sound Preference": ("vibration only",)}},
    situation=Situation(location="home", device="Phone", time_of_day="Evening", day_of_week="Friday", environment="Quiet"),
    task=Task(id="alarm-1", description="d", intent="i", goal="g"),
)  # fmt: skip


def of(code: ReasonCode, kind: str = "Alarm Sound Preference", value: str = "vibration only") -> Reason:
    return Reason(code=code, domain="Alarm", type=kind, value=value, turn=1)


AGAINST = of("contradicts", "Alarm Time Preference", "7:00 AM")
PARTS = Verdict(
    dimension=TC, score=0, justification="a hotel room is booked: not seen",
    reasons=(
        Reason(code="done", part="a train is booked", turn=1),
        Reason(code="missing", part="a hotel room is booked"),
        Reason(code="wrong", part="its day", turn=1, detail="its day: Tuesday, wanted Wednesday"),
    ),
)  # fmt: skip


def item(user: str, reasons: tuple[Reason, ...], *, then: tuple[ReasonCode, ...], said: str = "No.") -> Item:
    asked = Message(role="user", content="An alarm, please.")
    now, before = (
        Message(role="assistant", content=text)
        for text in (said, said.removeprefix("I remember you. ") + " Done.")
    )
    verdict = Verdict(dimension=P, score=1, justification="low", reasons=reasons)
    return Item(
        nodeid=f"test_bot.py::test[alarm-1-{user}]", status="low",
        evaluation=Evaluation(
            scenario=f"alarm-1-{user}", user=user, task="alarm-1", kind="single", domains=("Alarm",),
            dialogue=Dialogue(messages=(asked, now), end="user"), verdicts=(verdict, PARTS),
            user_agent="u", judge="embedded-judge", assistant="", dataset="d 1",
        ),
        earlier=Earlier(source="baseline", scores={P: 3, TC: 0}, reasons={P: then}, messages=(asked, before)),
    )  # fmt: skip


def run(*items: Item) -> Results:
    gate = Gate(name="p", value=1.0, limit=2.3, passed=False, message="mean personalization 1.00 < 2.30")
    settings = {"judge_model": "embedded", "sample": 3, "gate": [["", "p", 2.3, ">=", "", ""]]}
    made = summarize(items, settings=settings, dataset="d 1", requested=3, drawn=3)
    tested = Provenance(commit="a" * 40, url="https://github.com/o/r/actions/runs/7")
    return made.model_copy(
        update={"gates": (gate,), "scenarios": {"alarm-1-ann": SCENARIO}, "provenance": tested}
    )


ASKS, GOES = of("asks-known"), AGAINST
#: By the alphabet the dialogues that ask come first; more of those that go against what is known are new.
MOVED = run(
    item("ann", (ASKS,), then=("asks-known",)),
    item("ben", (ASKS,), then=()),
    item("cleo", (GOES, ASKS), then=("asks-known",)),
    item("dora", (GOES,), then=()),
)
REMEMBERED = "I remember you. It is set."
SAME = run(*(item(user, (ASKS,), then=("asks-known",), said=REMEMBERED) for user in ("ann", "ben", "cleo")))


def test_values_that_users_got_alike_are_named() -> None:
    """A memory that is another user's is told from one that is lost."""
    users, same = ("ann", "ben", "cleo"), AGAINST.value
    note = f"(a default, or another user's memory): '{same}' (Alarm, {AGAINST.type}) for 3 users"
    told = run(*(item(user, (AGAINST, ASKS), then=()) for user in users))
    assert alike_note(told) == f"got alike against what is known of each {note}"
    other = [of("contradicts", AGAINST.type, value) for value in (same, same, "8:15 AM")]
    assert not alike_note(run(*(item(user, (one,), then=()) for user, one in zip(users, other, strict=True))))
    assert not alike_note(run(*(item(user, (ASKS,), then=()) for user in users)))


def test_records_that_are_replayed_as_they_are_tell_no_change() -> None:
    replayed = [one.model_copy(update={"earlier": None, "record": "replayed"}) for one in MOVED.items]
    told = explanations(attach_replayed(run(*replayed)))[0]
    assert reasons_of(told) == "asks for what is known 3, goes against what is known 2"
    mixed = explanations(attach_replayed(run(MOVED.items[1], *replayed[2:])))[0]
    assert reasons_of(mixed) == "asks for what is known 2 (+1); change since the baseline"


BOT = f"""
    import sys

    import pytest

    sys.path.insert(0, {str(ROOT / "example_project")!r})

    @pytest.fixture
    def personalens_assistant(personalens_context):
        from helpbot import Memory
        from helpbot.bot import Helpbot

        memory = Memory()
        for domain, text in personalens_context.interactions.items():
            memory.remember("me", domain, text)
        return Helpbot("me", memory)
"""


def test_a_control_tells_whose_values_were_used(empty_repo: Repository) -> None:
    empty_repo.write(conftest=BOT)
    words = ("--personalens-sample=20", "--personalens-control=other-user", "--personalens-gate=none")
    assert empty_repo.run(*words, "--personalens-report=r.json", "--personalens-report=r.html").ret == 0
    items = empty_repo.results("r.json")["items"]
    reasons = [(i, r) for i in items for v in i["evaluation"]["verdicts"] for r in v["reasons"]]
    told = [(i, r["detail"]) for i, r in reasons if r["code"] == "contradicts" and "detail" in r]
    assert len({(i["given_user"], detail) for i, detail in told}) >= 3
    assert all(detail == f"{i['given_user']}'s" for i, detail in told)
    assert all(i["arm"] for i, _ in told), "of the run itself nobody knows"
    page = (empty_repo.path / "r.html").read_text(encoding="utf-8")
    assert (
        sum(bool(re.search(rf"did [^\"]+: {detail}", page)) for detail in {detail for _, detail in told}) >= 3
    )


def test_the_sentence_of_a_judge_has_the_same_words() -> None:
    verdict = Verdict(
        dimension=P, score=1, justification="goes against what is known: Alarm Time Preference, 7:00 AM",
        reasons=(AGAINST, ASKS),
        evidence=(Evidence(turn=1, quote="q", note="asks for what is known: Alarm Sound Preference, vibration only"),),
    )  # fmt: skip
    words = "goes against Alarm Time (known 4:30 AM, did 7:00 AM)"
    assert said_by_judge(verdict.justification, verdict, SCENARIO) == words
    asked = said_by_judge(verdict.evidence[0].note, verdict, SCENARIO)
    assert asked == "asks for Alarm Sound (known: vibration only)"
    assert said_by_judge("a model's own sentence", verdict, SCENARIO) == "a model's own sentence"
    results = run(item("ann", (AGAINST,), then=()))
    told = results.items[0].evaluation.model_copy(update={"verdicts": (verdict, PARTS)})
    one = results.items[0].model_copy(update={"evaluation": told})
    shown = payload(results.model_copy(update={"items": (one,)}))
    assert list(shown.dialogues["items"])
    assert {words, asked} <= set(shown.dialogues["texts"]())


def test_a_reason_names_what_is_known_and_what_was_done_and_the_goal_is_a_list_of_parts() -> None:
    assert reason_text([AGAINST, ASKS], SCENARIO) == (
        "goes against Alarm Time (known 4:30 AM, did 7:00 AM); asks for Alarm Sound (known: vibration only)"
    )
    assert reason_text([AGAINST]) == "goes against Alarm Time (did 7:00 AM)"
    assert [part.line for part in goal_parts(PARTS)] == [
        "✓ a train is booked (turn 1)",
        "✗ a hotel room is booked: not seen",
        "✗ its day: not as wanted (its day: Tuesday, wanted Wednesday) (turn 1)",
    ]
    shown = payload(MOVED)
    (parts,) = [v["goalParts"] for v in next(shown.dialogues["items"])["verdicts"] if "goalParts" in v]
    assert [done for done, _, _ in parts] == [1, 0, 0]
    assert shown.rows["command"] == "pytest --personalens-sample 3 -o personalens_gate=", "without gates"


def test_a_comment_names_the_loss_and_where_to_go_on(snapshot: SnapshotAssertion) -> None:
    """The dialogues that it shows carry the reason of its headline; without a new reason it says so, and shows
    the words that differ.
    """
    pages = {"reasons": markdown_report(MOVED, brief=True), "no reason": markdown_report(SAME, brief=True)}
    assert pages == snapshot
    assert pages["reasons"].count("\n") <= 60
    settings = {**MOVED.settings, "judge_model": "openai:gpt-4o"}
    assert trust_note(MOVED)
    assert not trust_note(MOVED.model_copy(update={"settings": settings})), "a model needs no word of trust"


def test_a_comment_links_a_dialogue_only_if_its_record_is_current() -> None:
    def page(record: Literal["none", "replayed", "stale", "written"]) -> str:
        update = {"record": record, "record_file": "__personalens__/t/test[alarm-1-ann].json"}
        items = (one.model_copy(update=update) for one in MOVED.items)
        results = MOVED.model_copy(update={"items": tuple(items)})
        return markdown_report(results, brief=True, link="https://github.com/o/r/blob/1")

    link = "[alarm-1-cleo](https://github.com/o/r/blob/1/__personalens__/t/test%5Balarm-1-ann%5D.json)"
    assert link in page("replayed")
    assert link in page("written")
    assert "/blob/" not in page("stale")
