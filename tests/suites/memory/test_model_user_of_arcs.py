"""A model that says the messages of an arc in its own words, behind an endpoint on loopback."""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.memory.arcs import ARC, DATA, GATE, LISTENER, REPORT, SUITE, said_by_user
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint, Reply

RUN = (*SUITE, DATA, "arcs.toml", GATE, "valid >= 0", *REPORT, "--personalens-user-model", "openai:user")
OWN_WORDS = ("Tea, please; rooibos is mine.", "Milk, too.", "Is it dry in Oban?", "More tea!")


@pytest.fixture
def one_arc(empty_repo: Repository, endpoint: Endpoint) -> Repository:
    empty_repo.write(conftest=LISTENER)
    (empty_repo.path / "arcs.toml").write_text(ARC)
    return empty_repo


def said(repo: Repository, endpoint: Endpoint, *texts: str) -> Any:
    """The item of the arc with a user who says these texts."""
    endpoint.calls.clear()
    endpoint.replies = [Reply(text) for text in texts]
    repo.inline(*RUN, "--personalens-record", "all")
    (item,) = repo.results()["items"]
    return item


def test_a_model_says_the_written_messages_in_their_sessions(one_arc: Repository, endpoint: Endpoint) -> None:
    item = said(one_arc, endpoint, *OWN_WORDS)
    days = ("2026-01-05", "2026-01-05", "2026-01-07", "2026-02-01")
    assert said_by_user(item) == list(zip(days, OWN_WORDS, strict=True))
    assert item["evaluation"]["usage"]["user agent"]["calls"] == 4
    assert len(endpoint.calls) == 4
    for call, written, words in zip(
        endpoint.calls,
        ("I drink rooibos.", "And some milk.", "weather in Oban?", "Order my tea."),
        ("rooibos", "none", "none", "none"),
        strict=True,
    ):
        assert f"{written}\n</message>\nWords that your message must have:\n<words>\n{words}\n" in call.prompt
    # It sees the session that it is in, and no value of the test in the last one.
    assert ["rooibos" in call.prompt.lower() for call in endpoint.calls] == [True, True, False, False]
    one_arc.inline(*RUN)
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


def test_an_estimate_counts_a_call_for_each_message(one_arc: Repository, endpoint: Endpoint) -> None:
    told = one_arc.inline(*RUN, "--personalens-estimate")
    told.stdout.fnmatch_lines(["user agent * 4 *", "An estimate: *, one reply to each message, *"])
    assert not endpoint.calls


OWN = """
class Own:
    identity, paid = "own", False

    def turn(self, scenario, transcript): ...

def pytest_personalens_user_agent(spec):
    return Own() if spec == "own" else None
"""


def test_an_agent_that_is_no_model_is_refused(one_arc: Repository) -> None:
    one_arc.write(conftest=LISTENER + OWN)
    assert_usage_error(
        one_arc.inline(*RUN[:-1], "own"),
        "*--personalens-user-model: 'own' is no model, and only a model can say *",
    )
