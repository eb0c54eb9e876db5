"""Who sees what under each protocol, by the requests that reach the endpoint and nothing else.

Every value of the data tells what it is (tests/support/official_tree.py), so that it can be looked for in
what was sent.
"""

from __future__ import annotations

import json
from typing import Final

import pytest

from tests.support.endpoint import Call, Endpoint, Reply
from tests.support.official_tree import write_code, write_data
from tests.support.repository import Repository

SITUATION: Final = {"situ-location", "situ-device", "situ-time", "situ-day", "situ-room"}
PEOPLE: Final = {"demo-age", "demo-country"}
PREFERENCES: Final = {"pref-electric", "pref-window"}
SUMMARIES: Final = {"past-rental", "past-train"}
INTENT, GOAL, OPENING, REPLY, USER_ID = (
    "intent of MD-task-1",
    "goal of MD-task-1",
    "words of the user",
    "words of the assistant",
    "user7",
)
#: All that can be seen, that of another domain among it.
MARKS: Final = {*SITUATION, *PEOPLE, *PREFERENCES, *SUMMARIES, INTENT, GOAL, OPENING, REPLY, USER_ID, "pref-crime", "past-books", "description of MD-task-1"}  # fmt: skip
PERSON: Final = {*PEOPLE, *PREFERENCES, *SUMMARIES, *SITUATION, INTENT}
BOT: Final = ("--personalens-assistant", "openai:bot")
#: A model in each role.
MODELS: Final = ("--personalens-user-model", "openai:user", "--personalens-judge-model", "openai:judge", *BOT)
#: The one task that spans two domains.
RUN: Final = (
    *("--personalens-sample", "1", "--personalens-kind", "multi", "--personalens-data", "."),
    "--personalens-record=live",
)
PROTOCOLS: Final = {
    "default": (),
    "paper": ("--personalens-protocol", "paper"),
    "official": ("--personalens-prompts", "official:."),
}
#: An answer that the readings of every protocol can read.
ANSWER: Final = "\n".join(
    ("Verdict: true", "Explanation: so", "Score: 3", "Justification: so",
     *(f"{name} Score: 3" for name in ("Personalization", "Naturalness", "Coherence")))
)  # fmt: skip


def answer(call: Call) -> Reply:
    """The users' model asks once and is content; the assistant's acts; the judge's reads."""
    if call.model == "user":
        return Reply("Fine. TERMINATE" if REPLY in call.prompt else f"The {OPENING}.")
    if call.model == "bot":
        return Reply(f"The {REPLY}.")
    if "tools" in call.body:
        kind = call.body["tools"][0]["function"]["parameters"]["properties"]["score"]["type"]
        return Reply(
            data={
                "evidence": [{"turn": 1, "quote": REPLY}],
                "justification": "so",
                "score": True if kind == "boolean" else 3,
            }
        )
    return Reply(ANSWER)


def seen(call: Call) -> set[str]:
    sent = json.dumps(call.body, ensure_ascii=False)
    return {mark for mark in MARKS if mark in sent}


@pytest.fixture
def wire(empty_repo: Repository, endpoint: Endpoint) -> Repository:
    endpoint.answer = answer
    write_data(empty_repo.path)
    write_code(empty_repo.path)
    return empty_repo


def calls(repo: Repository, endpoint: Endpoint, protocol: str, *more: str) -> dict[str, list[Call]]:
    """Model -> its calls in a run of the one task that spans two domains."""
    endpoint.calls.clear()
    repo.inline(*RUN, *MODELS, *PROTOCOLS[protocol], *more).assert_outcomes(passed=1)
    return {
        name: [call for call in endpoint.calls if call.model == name] for name in ("user", "bot", "judge")
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_user_sees_the_person_and_never_the_goal(
    wire: Repository, endpoint: Endpoint, protocol: str
) -> None:
    opening, later = calls(wire, endpoint, protocol)["user"]
    assert seen(opening) == PERSON
    assert seen(later) == PERSON | {OPENING, REPLY}
    assert [(c.body["temperature"], c.body["max_tokens"]) for c in (opening, later)] == [(0.5, 800)] * 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("context", "known"),
    [
        ("none", set()),
        ("D", PEOPLE),
        ("I", SUMMARIES),
        ("S", SITUATION),
        ("DIS", PEOPLE | SUMMARIES | SITUATION),
    ],
)
def test_the_assistant_sees_what_its_context_allows(
    wire: Repository, endpoint: Endpoint, protocol: str, context: str, known: set[str]
) -> None:
    first, last = calls(wire, endpoint, protocol, "--personalens-context", context)["bot"]
    assert seen(first) == known | {OPENING}
    assert seen(last) == known | {OPENING, REPLY}
    assert [(c.body["temperature"], c.body["max_tokens"]) for c in (first, last)] == [(0, 800)] * 2
    assert len(last.history) == (2 if protocol == "default" else 0), (
        "the paper shows the dialogue in one message"
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_reading_sees_what_its_figure_gives_it(
    wire: Repository, endpoint: Endpoint, protocol: str
) -> None:
    """Figure 16: the goal; Figure 17: the person; the others: the conversation alone."""
    read = calls(wire, endpoint, protocol, "--personalens-dimensions", "all")["judge"]
    assert len(read) == 6, "one call a reading"
    talk = {OPENING, REPLY}
    with_id = {USER_ID} if protocol == "official" else set()
    assert sorted(map(sorted, map(seen, read))) == sorted(
        map(sorted, (talk | {GOAL}, talk | PERSON | with_id, talk, talk, talk, talk))
    )
    assert {(c.body["temperature"], c.body["max_tokens"]) for c in read} == {(0, 4000)}
    assert all(("tools" in c.body) == (protocol == "default") for c in read)
    # Under the paper's protocol a reading has its own rubric alone; under ours, all stand in the system text.
    assert all(bool(c.system) == (protocol == "default") for c in read)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("reading", "told"),
    [("p-turns", PERSON), ("leak", PREFERENCES | {INTENT}), ("unbacked", set())],
)
def test_an_extra_reading_sees_no_more_than_it_needs(
    wire: Repository, endpoint: Endpoint, protocol: str, reading: str, told: set[str]
) -> None:
    wire.inline(*RUN, *MODELS, *PROTOCOLS[protocol], "--personalens-dimensions", reading)
    read = [call for call in endpoint.calls if call.model == "judge"]
    if (protocol, reading) == ("official", "unbacked"):
        assert not read, "the official code has no such prompt"
        return
    with_id = {USER_ID} if (protocol, reading) == ("official", "p-turns") else set()
    assert {frozenset(seen(call)) for call in read} == {frozenset({OPENING, REPLY} | told | with_id)}


def test_an_unreadable_answer_is_not_asked_for_again_under_the_paper_protocol(
    wire: Repository, endpoint: Endpoint
) -> None:
    endpoint.answer = lambda call: Reply("Hm.") if call.model == "judge" else answer(call)
    run = ("--personalens-sample", "1", "--personalens-data", ".", "--personalens-record=live")
    result = wire.inline(*run, *MODELS, *PROTOCOLS["paper"], "--personalens-dimensions", "p")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*unreadable verdict on p: expected one line 'Score: ...', found 0*"])
    assert sum(call.model == "judge" for call in endpoint.calls) == 1


def words_of(call: Call) -> str:
    return f"{call.system}\n{call.prompt}"


def test_what_the_paper_tells_each_role_in_our_words(wire: Repository, endpoint: Endpoint) -> None:
    ours, paper = (
        calls(wire, endpoint, protocol, "--personalens-context", "none") for protocol in ("default", "paper")
    )
    # Figures 13 and 14: the profile shows in what the user writes, and nobody gives up.
    assert "do not offer a preference nobody asked for" in words_of(ours["user"][1])
    assert "have given up" in words_of(ours["user"][1])
    assert "Let your profile show" in words_of(paper["user"][1])
    assert "given up" not in words_of(paper["user"][1])
    # Table 4: base emphasizes personalization.
    assert "personali" not in words_of(ours["bot"][0])
    assert "Fit every reply to this person" in words_of(paper["bot"][0])
    # Figure 17's four criteria, and what it asks for beside a score; Figure 16 without our additions.
    completion, personal = sorted(paper["judge"], key=lambda call: "Agency" in call.prompt)
    for asked in (
        "- Learning:",
        "- Preferences:",
        "- Context:",
        "- Agency:",
        "Observations:",
        "Justification:",
        "Improvements:",
    ):
        assert asked in personal.prompt
    assert "suits them" not in completion.prompt
    assert any("do not judge whether the outcome suits them" in words_of(call) for call in ours["judge"])


@pytest.mark.parametrize("protocol", ["default", "paper"])
def test_vanilla_is_told_nothing(wire: Repository, endpoint: Endpoint, protocol: str) -> None:
    first, _ = calls(wire, endpoint, protocol, "-o", "personalens_assistant_prompt=vanilla")["bot"]
    assert first.body["messages"] == [{"role": "user", "content": f"The {OPENING}."}]
