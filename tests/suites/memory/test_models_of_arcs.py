"""Models that play the user of arcs and judge them, behind an endpoint on loopback: what they are told, and what
is made of what they say."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_personalens.suites.memory.arcs import KINDS
from tests.suites.memory.arcs import ARC, CONTROL, DATA, GATE, LISTENER, REPORT, SUITE, said_by_user
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint, Reply

JUDGE = ("--personalens-judge-model", "openai:judge", "--personalens-record")
RUN = (*SUITE, DATA, "arcs.toml", GATE, "valid >= 0", *REPORT)
USER = ("--personalens-user-model", "openai:user")
PLAYED = (*RUN, *USER)
QUOTE = {"turn": 7, "quote": "reply 1"}
FORGOT = {"evidence": [QUOTE], "justification": "It never names the tea.", "score": False}
KNOWS = {**FORGOT, "justification": "It names the tea.", "score": True}
NO_QUOTE = {**FORGOT, "evidence": [{"turn": 7, "quote": "Ordered rooibos."}]}


@pytest.fixture
def one_arc(empty_repo: Repository, endpoint: Endpoint) -> Repository:
    empty_repo.write(conftest=LISTENER)
    (empty_repo.path / "arcs.toml").write_text(ARC)
    return empty_repo


def judged(repo: Repository, endpoint: Endpoint, *says: Any, options: tuple[str, ...] = ()) -> Any:
    """The evaluation of the arc by a model that gives these answers, one after the other."""
    endpoint.calls.clear()
    endpoint.replies = [Reply(one) if isinstance(one, str) else Reply(data=one) for one in says]
    repo.inline(*RUN, *JUDGE, "all", *options)
    (item,) = repo.results()["items"]
    assert not endpoint.replies
    return item["evaluation"]


def test_a_model_is_told_the_rule_values_and_sessions(one_arc: Repository, endpoint: Endpoint) -> None:
    (verdict,) = judged(one_arc, endpoint, FORGOT)["verdicts"]
    assert (verdict["dimension"], verdict["score"]) == ("memory", 0)
    assert verdict["justification"] == "It never names the tea."
    assert [(e["turn"], e["quote"]) for e in verdict["evidence"]] == [(7, "reply 1")]
    (call,) = endpoint.calls
    assert {
        '{"turn": 0, "session": "2026-01-05", "role": "user", "content": "Put tea on the list, I drink rooibos."}',
        '{"turn": 7, "session": "2026-02-01", "role": "assistant", "content": "reply 1"}',
        "2026-02-01", "ada", "</last>", "rooibos | redbush", "none",
    } <= {*call.prompt.splitlines()}  # fmt: skip
    assert "every right value, which the person told in an earlier session" in call.prompt
    assert call.body["tools"][0]["function"]["parameters"]["properties"]["score"] == {"type": "boolean"}


@pytest.mark.slow
def test_each_kind_has_a_rule_of_its_own(empty_repo: Repository, endpoint: Endpoint) -> None:
    empty_repo.write(conftest=LISTENER)
    endpoint.answer = lambda call: Reply("Justification: so\nScore: true")
    only_memory = ("--personalens-dimensions", "memory")
    empty_repo.inline(*SUITE[:3], "20", *JUDGE, "live", *only_memory, GATE, "valid >= 1", *REPORT)
    items = empty_repo.results()["items"]
    assert len({item["evaluation"]["kind"] for item in items}) == len(KINDS)
    rules = {re.findall(r"^The rule: (.+)$", call.prompt, re.MULTILINE)[0] for call in endpoint.calls}
    assert len(rules) == len(KINDS)


@pytest.mark.parametrize(
    "bad", ["Score: true", {**FORGOT, "score": 3}, {**FORGOT, "justification": ""}, NO_QUOTE]
)
def test_an_answer_without_score_or_quote_is_asked_for_again(
    one_arc: Repository, endpoint: Endpoint, bad: Any
) -> None:
    (verdict,) = judged(one_arc, endpoint, bad, KNOWS)["verdicts"]
    assert (verdict["score"], verdict.get("unsupported", False)) == (1, False)
    assert endpoint.calls[1].prompt.startswith(endpoint.calls[0].prompt)
    never = judged(one_arc, endpoint, bad, bad)
    if bad is NO_QUOTE:
        assert [(v["score"], v["unsupported"]) for v in never["verdicts"]] == [(0, True)]
    else:
        assert (never["cause"], never["verdicts"]) == ("judge", [])
        assert "unreadable verdict on memory: " in never["detail"]


def test_further_votes_decide_on_a_failure(one_arc: Repository, endpoint: Endpoint) -> None:
    votes = ("-o", "personalens_judge_votes=3")
    (verdict,) = judged(one_arc, endpoint, FORGOT, KNOWS, KNOWS, options=votes)["verdicts"]
    assert [vote["score"] for vote in verdict["votes"]] == [0, 1, 1]
    assert verdict["score"] == 1
    (verdict,) = judged(one_arc, endpoint, KNOWS, options=votes)["verdicts"]
    assert "votes" not in verdict or not verdict["votes"]


def test_control_and_estimate_count_a_call_for_each_message(one_arc: Repository, endpoint: Endpoint) -> None:
    run = (*RUN, *JUDGE, "live", CONTROL, "alone")
    told = one_arc.inline(*run, *USER, "--personalens-assistant", "openai:bot", "--personalens-estimate")
    told.stdout.fnmatch_lines([
        "assistant *5 *",
        "judge memory * 2 *",
        "user agent * 5 *",
        "An estimate: *, one reply to each message, *",
    ])  # fmt: skip
    assert not endpoint.calls
    endpoint.answer = lambda call: Reply(data={**KNOWS, "evidence": [{"turn": 0, "quote": "Order my tea."}]})
    one_arc.inline(*run)
    assert sorted("2026-01-05" in call.prompt for call in endpoint.calls) == [False, True]


#: What the model says for the four messages of the arc.
OWN_WORDS = ("Tea, please; rooibos is mine.", "Milk, too.", "Is it dry in Oban?", "More tea!")


def said(repo: Repository, endpoint: Endpoint, *texts: str) -> Any:
    """The item of the arc with a user who says these texts."""
    endpoint.calls.clear()
    endpoint.replies = [Reply(text) for text in texts]
    repo.inline(*PLAYED, "--personalens-record", "all")
    (item,) = repo.results()["items"]
    return item


def test_a_model_says_the_written_messages_in_their_sessions(one_arc: Repository, endpoint: Endpoint) -> None:
    item = said(one_arc, endpoint, *OWN_WORDS)
    days = ("2026-01-05", "2026-01-05", "2026-01-07", "2026-02-01")
    assert said_by_user(item) == list(zip(days, OWN_WORDS, strict=True))
    assert item["evaluation"]["usage"]["user agent"]["calls"] == 4
    assert len(endpoint.calls) == 4
    written_of = {"I drink rooibos.": "rooibos", "And some milk.": "none", "weather in Oban?": "none", "Order my tea.": "none"}  # fmt: skip
    for call, (written, words) in zip(endpoint.calls, written_of.items(), strict=True):
        assert f"{written}\n</message>\nWords that your message must have:\n<words>\n{words}\n" in call.prompt
    # It sees the session that it is in, and no value of the test in the last one.
    assert ["rooibos" in call.prompt.lower() for call in endpoint.calls] == [True, True, False, False]
    one_arc.inline(*PLAYED)
    (item,) = one_arc.results()["items"]
    assert (item["record"], len(endpoint.calls)) == ("replayed", 4)


@pytest.mark.parametrize(
    ("texts", "fault"),
    [
        ((*OWN_WORDS[:3], "My rooibos, please."), "named 'rooibos', unlike the written message"),
        ((*OWN_WORDS[:1], "And redbush."), "named 'rooibos', unlike the written message"),
        (("Put tea on the list.",), "left out 'rooibos', unlike the written message"),
    ],
)
def test_a_message_that_changes_the_test_is_the_users_fault(
    one_arc: Repository, endpoint: Endpoint, texts: tuple[str, ...], fault: str
) -> None:
    evaluation = said(one_arc, endpoint, *texts)["evaluation"]
    assert (evaluation["cause"], evaluation["verdicts"]) == ("user-agent", [])
    assert fault in evaluation["detail"]


OWN = """
class Own:
    identity, paid = "own", False

    def turn(self, scenario, transcript): ...

def pytest_personalens_user_agent(spec):
    return Own() if spec == "own" else None
"""


def test_an_agent_that_is_no_model_is_refused(one_arc: Repository) -> None:
    one_arc.write(conftest=LISTENER + OWN)
    told = "*--personalens-user-model: 'own' is no model, and only a model can say *"
    assert_usage_error(one_arc.inline(*PLAYED[:-1], "own"), told)
