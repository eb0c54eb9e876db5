"""Manners of the simulated user: other words over the same facts, by scenario, and results by manner."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from statistics import median
from typing import TYPE_CHECKING

import pytest

from pytest_personalens import FakeModel
from pytest_personalens.agents.by_model.model_agents import ModelAgents
from pytest_personalens.agents.embedded.audit import user_faults
from pytest_personalens.agents.embedded.embedded_agents import EmbeddedUserAgent
from pytest_personalens.agents.embedded.manners import MannerlyUserAgent
from pytest_personalens.core.dialogue.dialogue import Dialogue, converse
from pytest_personalens.core.options.option_table import MANNERS
from pytest_personalens.models.meter import Meter
from tests.support.datasets.dinner import dialogue as talk
from tests.support.datasets.embedded import drawn
from tests.support.scripted_agents import BOT

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Scenario
    from tests.support.repository import Repository

SCENARIOS = drawn(60, "manners")
FLIGHT = next(s for s in SCENARIOS if s.task.id == "flights-1")
FACTS = {fact.name: fact.says for fact in FLIGHT.task.facts}


def said(scenario: Scenario, reply: str, manner: str = "") -> Dialogue:
    user = MannerlyUserAgent(manner) if manner else EmbeddedUserAgent()
    return converse(scenario, lambda _: reply, user).dialogue


def messages(manner: str, reply: str = "Done.") -> list[str]:
    return [m.content for m in said(FLIGHT, reply, manner).messages if m.role == "user"]


@pytest.mark.parametrize("manner", MANNERS)
def test_a_manner_changes_the_words_and_no_fact(manner: str) -> None:
    changed = 0
    for number, scenario in enumerate(SCENARIOS):
        reply = ("Done.", "Which day, and how many people?", "Hello! How can I help you?")[number % 3]
        dialogue = said(scenario, reply, manner)
        assert not user_faults(scenario, dialogue), (scenario.id, [m.content for m in dialogue.messages])
        changed += dialogue != said(scenario, reply)
    assert changed > 35


def test_each_manner_speaks_as_it_is_called() -> None:
    plain, (terse, rest, *_) = messages("")[0], messages("terse")
    assert FACTS["to"] in terse and all(FACTS[name] in rest for name in ("out", "back"))
    assert not re.search(r"\b(?:please|hello|hi|would like|want to)\b", terse, re.IGNORECASE)
    vague, told, *_ = messages("vague")
    assert "flights" in vague and FACTS["to"] not in vague and FACTS["to"] in told
    assert f", no, sorry, {FACTS['out']}" in messages("corrects")[0]
    first, second, *_ = messages("changes-mind")
    assert FACTS["out"] not in first and FACTS["out"] in second
    assert messages("digresses")[0].startswith(plain) and messages("impatient")[0].startswith(plain)


def test_a_terse_user_opens_as_short_as_people_and_leaves_without_thanks() -> None:
    dialogues = [said(scenario, f"I've done it: {scenario.task.intent}", "terse") for scenario in SCENARIOS]
    assert median(len(dialogue.messages[0].content.split()) for dialogue in dialogues) <= 14
    assert {"silence"} <= {dialogue.end for dialogue in dialogues} <= {"silence", "unserved"}


def test_who_changed_their_mind_objects_if_the_old_value_stays() -> None:
    wrong = re.search(r"out on (\w+ \d+ \w+)", messages("changes-mind")[0])
    assert wrong is not None
    third = messages("changes-mind", f"I've booked the flight to {FACTS['to']}, out on {wrong[1]}.")[2]
    assert FACTS["out"] in third and wrong[1] in third


def test_a_wrong_value_that_is_never_taken_back_is_a_contradiction() -> None:
    first, second = messages("changes-mind")[:2]
    for then, codes in ((second, []), ("And how long is it?", ["contradicted"])):
        dialogue = talk(first, "Fine.", then, "Yes.").model_copy(update={"end": "limit"})
        assert [f.code for f in user_faults(FLIGHT, dialogue)] == codes


def test_a_model_is_told_a_manner_only_where_there_is_one() -> None:
    model, agents = FakeModel("A flight to Denver."), ModelAgents()
    users = [agents.user_agent(model, Meter(), manner) for manner in ("", *MANNERS)]
    for user in users:
        user.turn(FLIGHT, ())
    plain, *others = [request.prompt for request in model.requests]
    assert all(p.startswith(plain) and "How this person speaks" in p[len(plain) :] for p in others)
    assert len({*others}) == len(MANNERS) and len({user.identity for user in users}) == len(users)
    assert "manner" not in users[0].identity


def test_results_are_shown_by_manner(repo: Repository) -> None:
    args = ("--personalens-sample=12", "--personalens-gate=none", "--personalens-report=results.json")
    run = repo.run(*args, "-opersonalens_manner=all")
    run.stdout.fnmatch_lines(["manner *users *scored *TCR *P*"])
    run.stdout.no_fnmatch_line("*gap*")
    results = repo.results()
    drawn = {item["slices"]["manner"] for item in results["items"]}
    assert len(drawn) > 2 and drawn <= set(MANNERS) and {s["name"] for s in results["slices"]} == drawn
    for item in results["items"]:
        assert item["evaluation"]["user_agent"].endswith(f", manner {item['slices']['manner']}")


OWN = """
    from pytest_personalens.agents.embedded.embedded_agents import EmbeddedUserAgent

    def pytest_personalens_user_agent(spec, config):
        own = EmbeddedUserAgent()
        own.manners = {"terse": EmbeddedUserAgent()}
        return own if spec == "own" else None
"""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-opersonalens_manner=rude",), "personalens_manner: *terse*"),
        (("-opersonalens_manner=terse", "--personalens-suite=memory"), "personalens_manner: means nothing in*"),
        (("-opersonalens_manner=terse", "--personalens-user-model=bedrock:x", "-opersonalens_protocol=paper"), "*terse: the prompts*have no manners*"),
        (("-opersonalens_manner=vague", "--personalens-user-model=own"), "the user agent own has no manner vague; it has terse"),
    ],
)  # fmt: skip
def test_an_unknown_manner_is_one_line(repo: Repository, args: tuple[str, ...], message: str) -> None:
    repo.write(conftest=BOT + OWN)
    result = repo.inline("--personalens-sample=2", *args)
    assert any(fnmatch(line, f"*: {message}*") for line in result.outlines + result.errlines)
