"""Who sees what under each protocol, by the requests that reach the endpoint and nothing else.

Every value of the data tells what it is (tests/support/datasets/official_tree.py), so that a request can be searched.
"""

from __future__ import annotations

import json
from typing import Final

import pytest

from pytest_personalens.core.judging.verdict import READINGS
from tests.support.datasets.official_tree import write_code, write_data
from tests.support.repository import Repository
from tests.support.servers.endpoint import Call, Endpoint, Reply

SITUATION: Final = {"situ-location", "situ-device", "situ-time", "situ-day", "situ-room"}
PEOPLE: Final = {"demo-age", "demo-country"}
PREFERENCES: Final = {"pref-electric", "pref-window"}
SUMMARIES: Final = {"past-rental", "past-train"}
INTENT, GOAL, USER_ID = "intent of MD-task-1", "goal of MD-task-1", "user7"
OPENING, REPLY = "words of the user", "words of the assistant"
#: All that can be seen, that of another domain among it.
MARKS: Final = {*SITUATION, *PEOPLE, *PREFERENCES, *SUMMARIES, INTENT, GOAL, OPENING, REPLY, USER_ID, "pref-crime", "past-books", "description of MD-task-1"}  # fmt: skip
PERSON: Final = {*PEOPLE, *PREFERENCES, *SUMMARIES, *SITUATION, INTENT}
#: A model in each role.
MODELS: Final = ("--personalens-user-model=openai:user", "--personalens-judge-model=openai:judge", "--personalens-assistant=openai:bot")  # fmt: skip
#: The one task that spans two domains.
SAMPLE: Final = ("--personalens-sample=1", "--personalens-kind=multi", "--personalens-data=.")
RUN: Final = (*SAMPLE, "--personalens-record=live")
PROTOCOLS: Final = {
    "default": (),
    "paper": ("-opersonalens_protocol=paper",),
    "official": ("-opersonalens_prompts=official:.",),
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
        evidence = [{"turn": 1, "quote": REPLY}]
        score = True if kind == "boolean" else 3
        return Reply(data={"evidence": evidence, "justification": "so", "score": score})
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
    return {name: [c for c in endpoint.calls if c.model == name] for name in ("user", "bot", "judge")}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_user_sees_all_but_the_goal(wire: Repository, endpoint: Endpoint, protocol: str) -> None:
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
def test_the_assistants_context(
    wire: Repository, endpoint: Endpoint, protocol: str, context: str, known: set[str]
) -> None:
    first, last = calls(wire, endpoint, protocol, f"-opersonalens_context={context}")["bot"]
    assert seen(first) == known | {OPENING}
    assert seen(last) == known | {OPENING, REPLY}
    assert [(c.body["temperature"], c.body["max_tokens"]) for c in (first, last)] == [(0, 800)] * 2
    # The paper shows the dialogue in one message, with the context before it; by default it is the system text's.
    assert len(last.history) == (2 if protocol == "default" else 0)
    before, _, after = first.prompt.partition("The conversation so far:")
    where = {"default": first.system, "paper": before}.get(protocol, "")
    if where:
        assert {mark for mark in known if mark in where} == known
    if protocol == "paper":
        assert not any(mark in first.system + after for mark in known)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_reading_sees_what_is_its_own(wire: Repository, endpoint: Endpoint, protocol: str) -> None:
    """Figure 16: the goal; Figure 17: the person; the others: the conversation alone."""
    read = calls(wire, endpoint, protocol, "--personalens-dimensions=all")["judge"]
    assert len(read) == 6, "one call a reading"
    talk = {OPENING, REPLY}
    with_id = {USER_ID} if protocol == "official" else set()
    shown = (talk | {GOAL}, talk | PERSON | with_id, talk, talk, talk, talk)
    assert sorted(map(sorted, map(seen, read))) == sorted(map(sorted, shown))
    assert {(c.body["temperature"], c.body["max_tokens"]) for c in read} == {(0, 4000)}
    assert all(("tools" in c.body) == (protocol == "default") for c in read)
    # Under the paper's protocol a reading has its own rubric alone; under ours, all stand in the system text.
    assert all(bool(c.system) == (protocol == "default") for c in read)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("reading", "told"), [("p-turns", PERSON), ("leak", PREFERENCES | {INTENT}), ("unbacked", set())]
)
def test_an_extra_reading(
    wire: Repository, endpoint: Endpoint, protocol: str, reading: str, told: set[str]
) -> None:
    wire.inline(*RUN, *MODELS, *PROTOCOLS[protocol], "--personalens-dimensions", reading)
    read = [call for call in endpoint.calls if call.model == "judge"]
    if (protocol, reading) == ("official", "unbacked"):
        assert not read, "the official code has no such prompt"
        return
    with_id = {USER_ID} if (protocol, reading) == ("official", "p-turns") else set()
    assert {frozenset(seen(call)) for call in read} == {frozenset({OPENING, REPLY} | told | with_id)}


@pytest.mark.parametrize(("protocol", "asked"), [("default", 2), ("paper", 2), ("official", 1)])
def test_an_unreadable_answer_is_asked_for_once_more_unless_the_official_code_reads_it(
    wire: Repository, endpoint: Endpoint, protocol: str, asked: int
) -> None:
    endpoint.answer = lambda call: Reply("Hm.") if call.model == "judge" else answer(call)
    result = wire.inline(*RUN, *MODELS, *PROTOCOLS[protocol], "--personalens-dimensions=p")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*unreadable verdict on p: expected *"])
    assert sum(call.model == "judge" for call in endpoint.calls) == asked


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_unread_p_turns_costs_p_turns_alone(wire: Repository, endpoint: Endpoint, protocol: str) -> None:
    """The one score of the answer is none for each of the two replies."""
    run = (*RUN, *MODELS, *PROTOCOLS[protocol], "--personalens-dimensions=all,p-turns")
    wire.inline(*run, "--personalens-report=results.json").assert_outcomes(passed=1)
    stored = wire.results()
    assert stored["overall"]["scored"] == 1
    read = {name: f["count"] for name, f in stored["overall"]["figures"].items()}
    assert read == dict.fromkeys((dimension.value for dimension in READINGS), 1)
    (item,) = stored["items"]
    assert list(item["evaluation"]["unread"]) == ["personalization_turns"]


def test_a_replay_repeats_what_was_unread_and_buying_asks_again(wire: Repository, endpoint: Endpoint) -> None:
    run = (
        *SAMPLE, *MODELS, *PROTOCOLS["paper"], "--personalens-dimensions=all,p-turns", "--personalens-report=results.json",
        "--personalens-gate=valid >= 0.8",
    )  # fmt: skip
    wire.inline(*run, "--personalens-record=new").assert_outcomes(passed=2)
    bought, before = len(endpoint.calls), wire.results()["items"][0]
    assert before["evaluation"]["unread"]
    wire.inline(*run).assert_outcomes(passed=2)
    assert len(endpoint.calls) == bought, "the record repeats the fault"
    replayed = wire.results()["items"][0]
    assert replayed["record"] == "replayed"
    assert replayed["evaluation"]["unread"] == before["evaluation"]["unread"]
    scores = Reply("Score: 3, 2\nJustification: so")
    endpoint.answer = lambda call: scores if "each of its replies" in call.prompt else answer(call)
    wire.inline(*run, "--personalens-record=new").assert_outcomes(passed=2)
    assert len(endpoint.calls) == bought + 1, "only what is missing is bought"
    (item,) = wire.results()["items"]
    assert item["evaluation"]["unread"] == {}
    (turns,) = [v["turns"] for v in item["evaluation"]["verdicts"] if v["turns"]]
    assert turns == [3, 2]


def words_of(call: Call) -> str:
    return f"{call.system}\n{call.prompt}"


def test_what_the_paper_tells_each_role_in_our_words(wire: Repository, endpoint: Endpoint) -> None:
    ours, paper = (calls(wire, endpoint, name, "-opersonalens_context=none") for name in ("default", "paper"))
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
    for asked in ("- Learning:", "- Preferences:", "- Context:", "- Agency:", "Observations:", "Justification:", "Improvements:"):  # fmt: skip
        assert asked in personal.prompt
    assert "suits them" not in completion.prompt
    assert any("do not judge whether the outcome suits them" in words_of(call) for call in ours["judge"])


def test_vanilla_is_told_nothing_and_that_of_the_paper_to_be_personal(
    wire: Repository, endpoint: Endpoint
) -> None:
    """Of the paper: a system text, and one message: the conversation, then what to write."""
    vanilla = "-opersonalens_assistant_prompt=vanilla"
    first, _ = calls(wire, endpoint, "default", vanilla)["bot"]
    assert first.body["messages"] == [{"role": "user", "content": f"The {OPENING}."}]
    first, last = calls(wire, endpoint, "paper", vanilla)["bot"]
    for call in (first, last):
        assert all(word in call.system for word in ("natural", "engaging", "personal", "this user"))
        ask = "Write the assistant's next reply to this user, and nothing before or after it."
        assert call.prompt.endswith(ask) and not call.history
    assert seen(last) == {OPENING, REPLY}
