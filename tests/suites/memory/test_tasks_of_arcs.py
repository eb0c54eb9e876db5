"""Arcs whose last session is a task: the simulated user goes on, and P is read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.memory.arcs import ARC, DATA, GATE, LISTENER, REPORT, SUITE, WITH_TASK, said_by_user
from tests.support.processes.runs import assert_ended, assert_usage_error
from tests.support.repository import Repository, records
from tests.support.scripted_agents import says
from tests.support.servers.endpoint import Endpoint, Reply

RUN = (*SUITE, DATA, "arcs.toml", GATE, "valid >= 1", *REPORT)
#: Serves everybody at once.
ORDERS = says("'I have ordered your tea, two boxes of redbush.'", takes="messages, context")


def one_by_one(*replies: str) -> str:
    """An assistant that says one text after the other in the last session."""
    said = f"SAID = iter({[*replies, *['You are welcome.'] * 9]})"
    last = "context.date == '2026-02-01'"
    return says(f"next(SAID) if {last} else 'All right.'", takes="messages, context", head=said)


@pytest.fixture
def one_arc(empty_repo: Repository) -> Repository:
    (empty_repo.path / "arcs.toml").write_text(WITH_TASK)
    return empty_repo


def run(repo: Repository, *replies: str) -> tuple[Any, list[str], dict[str, int]]:
    """The item, what the user says in the last session, and the scores."""
    repo.write(conftest=one_by_one(*replies))
    repo.inline(*RUN)
    (item,) = repo.results()["items"]
    said = [text for session, text in said_by_user(item) if session == "2026-02-01"]
    return item, said, {v["dimension"]: v["score"] for v in item["evaluation"]["verdicts"]}


#: The arc, with a value that is wrong now.
CAMOMILE = WITH_TASK.replace("I drink rooibos.", "I drink camomile. No, rooibos.") + 'wrong = ["camomile"]\n'
QUESTION = WITH_TASK.replace("to order your tea", "to know which tea you drink")
#: The arc, what the assistant says, what the user then says in turn (words with "-" before them must not be
#: there), and the scores of memory and of P.
GOES_ON: dict[str, tuple[str, list[str], list[str], tuple[int, int] | None]] = {
    "who is asked answers, which is no memory": (
        WITH_TASK, ["Which tea would you like?", "I have ordered your tea: rooibos."], ["rooibos|-redbush"], (0, 1)
    ),
    "who is asked otherwise does not tell, and tells who does not know": (
        WITH_TASK,
        ["Which size would you like?", "I do not know that. Could you tell me?", "You have not told me that. What is it?"],
        ["-rooibos", "rooibos", "rooibos"], (0, 1),
    ),
    "a request is repeated without 'also' where nothing is done": (
        WITH_TASK, ["Your usual is rooibos; the shop opens at nine."],
        ["order my tea|-also|-too|-as well|-and |-good|-thanks"], None,
    ),
    "nobody asks whether an answer is done": (
        QUESTION, ["Let me look into that.", "I am looking into it now.", "Sure, one moment."],
        ["which tea i drink|-done|-do it|-worked|-settled", "-done|-do it|-worked|-settled"], None,
    ),
    "the user objects to a value that is wrong now": (
        CAMOMILE, ["I have ordered your tea, camomile.", "Sorry, it is rooibos now."], ["camomile|rooibos"], (0, 1)
    ),
    "the user names the preference where every offer is against it": (
        CAMOMILE, ["There are two kinds:\n1. Camomile, loose\n2. Camomile, in bags", "I have ordered rooibos."],
        ["rooibos"], None,
    ),
    "a question is answered although the rest looks done": (
        WITH_TASK,
        ["Your tea is in the basket, 4 euros. Which tea would you like? I have put the order on hold for it.",
         "I have ordered your tea: rooibos."],
        ["rooibos"], (0, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arc", "replies", "words", "expected"), GOES_ON.values(), ids=GOES_ON)
def test_the_user_goes_on_after_the_test(
    one_arc: Repository, arc: str, replies: list[str], words: list[str], expected: tuple[int, int] | None
) -> None:
    (one_arc.path / "arcs.toml").write_text(arc)
    item, said, scores = run(one_arc, *replies)
    for text, wanted in zip(said[1:], words, strict=False):
        for word in wanted.split("|"):
            assert (word.removeprefix("-") in text.lower()) != word.startswith("-"), (word, text)
    assert len(set(said[1 : len(words) + 1])) == len(words), "and nothing twice"
    assert expected in (None, tuple(scores.values()))
    # The evidence counts the messages of the whole dialogue.
    messages, verdicts = item["evaluation"]["dialogue"]["messages"], item["evaluation"]["verdicts"]
    for told in (e for v in verdicts for e in v["evidence"]):
        assert " ".join(told["quote"].split()) in " ".join(messages[told["turn"]]["content"].split())
    turns = [r["turn"] for v in verdicts for r in v["reasons"] if r.get("turn") is not None]
    assert {messages[turn]["session"] for turn in turns} <= {"2026-02-01"}


def test_a_user_who_is_served_at_once_leaves(one_arc: Repository) -> None:
    _, said, scores = run(one_arc, "I have ordered your tea, two boxes of redbush.")
    assert (len(said), said[0]) == (2, "Order my tea.")
    assert scores == {"memory": 1, "personalization": 3}


def test_a_failure_quotes_the_reply_to_the_test_and_not_the_goodbye(one_arc: Repository) -> None:
    says_two = WITH_TASK.replace('"Order my tea."', '"Good morning.", "Order my tea."')
    (one_arc.path / "arcs.toml").write_text(says_two)
    one_arc.write(conftest=one_by_one("Hello.", "Two boxes are on their way."))
    args = (*SUITE, DATA, "arcs.toml", GATE, "recall: memory >= 1", *REPORT)
    result = one_arc.inline(*args, "--personalens-report", "r.md")
    item, said = one_arc.results()["items"][0], said_by_user(one_arc.results()["items"][0])
    assert len(said) > 4, "the user goes on after the test"
    memory = item["evaluation"]["verdicts"][0]
    assert (memory["reasons"][0]["turn"], memory["evidence"][0]["turn"]) == (9, 9)
    shown = ["      user Order my tea.", "    + now  Two boxes are on their way."]
    result.stdout.fnmatch_lines([*shown, "      why: does not say rooibos"], consecutive=True)
    assert "  user: Order my tea.\n+ Two boxes are on their way.\n" in (one_arc.path / "r.md").read_text()


def test_an_arc_without_a_task_has_no_p(one_arc: Repository) -> None:
    (one_arc.path / "arcs.toml").write_text(ARC)
    item, said, scores = run(one_arc, "I have ordered rooibos.")
    assert (said, scores, item["evaluation"]["unread"]) == (["Order my tea."], {"memory": 1}, {})


def test_gates_on_p_rest_on_the_arcs_with_a_task(one_arc: Repository) -> None:
    one_arc.write(conftest=one_by_one("Which tea would you like?", "Ordered."))
    result = one_arc.inline(*RUN, GATE, "p >= 2.5")
    assert_ended(result, 1, "gate p: FAILED, mean personalization 1.00 * < 2.50 *")
    plain = ARC.replace('kind = "recall"', "").replace('"ada"', '"bea"')
    (one_arc.path / "arcs.toml").write_text((one_arc.path / "arcs.toml").read_text() + plain)
    one_arc.write(conftest=ORDERS)
    lift = (GATE, "lift(p, alone) >= 0", "--personalens-control", "alone")
    result = one_arc.inline(*RUN, GATE, "p >= 2.5", *lift)
    result.stdout.fnmatch_lines(["gate p: passed, mean personalization 3.00 (*) >= 2.50 over 1 arc"])
    result.stdout.fnmatch_lines(["gate lift(p, alone): passed, * over 1 arc, *"])
    (one_arc.path / "arcs.toml").write_text(ARC)
    none = "gate p: FAILED (not decided), *: no arc of recall or revise or whose in this sample counts for it"
    one_arc.inline(*RUN, GATE, "p >= 2.5").stdout.fnmatch_lines([none])


def test_a_model_plays_the_rest_of_the_session_and_judges_p(one_arc: Repository, endpoint: Endpoint) -> None:
    one_arc.write(conftest=LISTENER)
    says = iter(
        [
            "Tea, please; rooibos is mine.",
            "Milk, too.",
            "Is it dry in Oban?",
            "More tea!",
            "Thanks. TERMINATE",
        ]
    )
    user, judge = (f"--personalens-{role}-model" for role in ("user", "judge"))
    models = (user, "openai:user", judge, "openai:judge")

    def answer(call: Any) -> Reply:
        if call.body["model"] == "user":
            return Reply(next(says))
        turn, score = (7, "true") if "The rule:" in call.prompt else (1, "2")
        return Reply(f'Evidence: turn {turn}: "reply 1"\nJustification: so\nScore: {score}')

    endpoint.answer = answer
    one_arc.inline(*RUN, *models, "--personalens-record", "new")
    (item,) = one_arc.results()["items"]
    assert [text for session, text in said_by_user(item)][-2:] == ["More tea!", "Thanks."]
    verdicts = {v["dimension"]: v for v in item["evaluation"]["verdicts"]}
    assert [(v["score"], v["evidence"][0]["turn"]) for v in verdicts.values()] == [(1, 7), (2, 7)]
    last = next(c for c in reversed(endpoint.calls) if c.body["model"] == "user")
    assert "You want to order your tea." in last.prompt
    about_p = next(c for c in endpoint.calls if "judge" in c.body["model"] and "The rule:" not in c.prompt)
    assert "- Tea: rooibos\n" in about_p.prompt
    assert "What is the weather in Oban?" in about_p.prompt  # what the user said before sums up the past
    assert '"content": "reply 1"' in about_p.prompt
    assert len(records(one_arc)) == 1
    calls = len(endpoint.calls)
    one_arc.inline(*RUN, *models)
    assert len(endpoint.calls) == calls


def test_a_mark_of_a_test_for_other_suites_does_not_cut_an_arc(one_arc: Repository) -> None:
    test = "@pytest.mark.personalens(max_turns=1)\ndef test_it(personalens): personalens.check()"
    one_arc.write(conftest=ORDERS, test_it=f"import pytest\n{test}")
    assert one_arc.inline("test_it.py", *RUN).ret == 0


def test_a_dimension_that_no_arc_of_the_kinds_has_stops_the_run(one_arc: Repository) -> None:
    kinds = ("--personalens-kind", "forget,apart", "--personalens-dimensions", "p")
    told = "*--personalens-dimensions p: no arc of the kind forget, apart has a score there, *; leave it out*"
    assert_usage_error(one_arc.inline(*SUITE, *kinds), told)
