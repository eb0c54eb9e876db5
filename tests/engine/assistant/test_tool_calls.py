"""Assistants that act: what they may return, what is kept of it, and who gets to see it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_personalens import AssistantFault, Dialogue, Message, Scenario, UserTurn, called
from pytest_personalens.core.dialogue.dialogue import converse
from pytest_personalens.core.dialogue.message import AssistantMessages, Function
from pytest_personalens.core.dialogue.reply import MAX_CALLS, MAX_TOOL_CHARS
from pytest_personalens.engine.assistant.assistant import EventLoop, guarded
from tests.support.repository import Repository, ScriptedUser, calls, record_bytes, records, unwrapped
from tests.support.scripted_agents import ACTING, MODELS, TEST

ARGUMENTS = '{"people": 2,  "time": "19:30"}'
TEXT = "I've booked a table for two at 19:30."


def call(name: str = "book_table", arguments: Any = ARGUMENTS, key: Any = "call_1") -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def acting(
    *tool_calls: dict[str, Any], result: Any = '{"ok": true}', text: str = TEXT
) -> list[dict[str, Any]]:
    results = ({"role": "tool", "tool_call_id": c["id"], "content": result} for c in tool_calls)
    first = {"role": "assistant", "content": None, "tool_calls": list(tool_calls)}
    return [first, *results, {"role": "assistant", "content": text}]


def turn_of(scenario: Scenario, reply: object) -> Message:
    """The assistant's turn as the dialogue has it; a fault is an error."""
    outcome = converse(scenario, lambda _: reply, ScriptedUser(UserTurn("hello", done=True)))
    if outcome.fault is not None:
        raise outcome.fault
    return outcome.dialogue.messages[1]


def test_calls_and_results_are_kept_as_they_were_written(scenario: Scenario) -> None:
    assert turn_of(scenario, acting(call())).model_dump(mode="json") == {
        "role": "assistant", "content": TEXT,
        "steps": [
            {"role": "assistant", "content": "", "tool_calls": [call()]},
            {"role": "tool", "content": '{"ok": true}', "tool_call_id": "call_1"},
        ],
    }  # fmt: skip


ORPHAN = {"role": "tool", "tool_call_id": "of the turn before", "content": "confirmed"}
OBJECT = SimpleNamespace(id="a", function=SimpleNamespace(name="f", arguments="{}"))
BEFORE = {"role": "user", "content": "before"}


@pytest.mark.parametrize(
    ("reply", "path"),
    [
        (TEXT, None),
        ({"content": TEXT}, None),
        ({"role": "assistant", "content": TEXT, "tool_calls": None}, None),
        ({"content": TEXT, "tool_calls": [call()]}, ["book_table"]),
        (SimpleNamespace(role="assistant", content=TEXT, tool_calls=[]), None),
        (SimpleNamespace(content=TEXT, tool_calls=[OBJECT]), ["f"]),
        ([{"role": "assistant", "content": TEXT}], []),
        ({"content": [{"type": "text", "text": TEXT[:9]}, {"type": "image_url"}, {"text": TEXT[9:]}]}, None),
        ({"content": None, "refusal": TEXT}, None),
        ({"content": TEXT, "tool_calls": [{"id": "c", "custom": {"name": "sql", "input": "x"}}]}, ["sql"]),
        ([BEFORE, ORPHAN, *acting(call())[2:]], ["confirmed"]),
        ([ORPHAN, *acting(call())], ["confirmed", "book_table", '{"ok": true}']),
        ([acting(call())[0], acting(call())[2]], ["book_table"]),
        ([*acting(call("old_call")), BEFORE, *acting(call())], ["book_table", '{"ok": true}']),
    ],
)  # fmt: skip
def test_shapes_of_a_reply_and_its_calls(scenario: Scenario, reply: object, path: list[str] | None) -> None:
    turn = turn_of(scenario, reply)
    assert turn.content == TEXT
    assert turn.acts == (path is not None)
    steps = [m for m in turn.path if m.role == "tool" or m.tool_calls]
    found = [text for m in steps for text in [*(c.function.name for c in m.tool_calls)] or [m.content]]
    assert found == (path or [])
    assert turn_of(scenario, turn.returned()) == turn, "a kept turn can be returned again"


@dataclass(slots=True)
class Said:
    """A message as some clients have it: an object without a dictionary."""

    role: str
    content: str | None
    tool_calls: list[Any]


class Shy:
    """A message that cannot be looked at."""

    tool_calls = None

    @property
    def content(self) -> str:
        raise OSError("closed")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({"role": "user", "content": "hi"}, "a message of role 'user'; it must be assistant"),
        ([*acting(call())[:2]], "ends with a tool message; the last one must be the assistant's text"),
        ([*acting(call())[:1]], "has tool calls and no text; the last one must be its text"),
        ([{"content": "hi"}], "message 1 of the list that the assistant returned has the role None"),
        ([{"role": "narrator", "content": "hi"}], "has the role 'narrator'; it must be assistant or tool"),
        ([acting(call())[0], {"role": "tool"}], "message 2 of the list that the assistant returned is dict without"),
        ([None, *acting(call())], "message 1 of the list that the assistant returned is NoneType without content"),
        ([], "the assistant returned list; it must return text"),
        ({"content": 5}, "a message whose content is int; it must be text"),
        ({"content": "hi", "tool_calls": "book"}, "tool_calls are str; they must be a list"),
        ({"content": "hi", "tool_calls": [{"name": "f"}]}, "a tool call of the assistant names no function"),
        ({"content": "hi", "tool_calls": [call(name="")]}, "a tool call of the assistant names no function"),
        ({"content": "hi", "tool_calls": [None]}, "a tool call of the assistant names no function"),
        (Shy(), "the assistant's reply cannot be read: OSError: closed"),
        ({"content": "x" * 100_001}, "100,001 characters"),
        ({"content": " "}, "an empty text"),
        (None, "returned NoneType; it must return text"),
        (b"hello", "returned bytes"),
        ({"text": "hi"}, "returned dict"),
        (" \n\t ", "empty"),
        ("x" * 10_000_000, "10,000,000 characters"),
        (iter([5]), "the assistant's stream yielded int; it must yield text or deltas"),
        (iter([{"choices": {"x": 1}}]), "the assistant's stream yielded dict that cannot be read: KeyError: 0"),
        (iter([{"tool_calls": [{"index": []}]}]), "yielded dict that cannot be read: TypeError: unhashable"),
        (iter(["x" * 60_000] * 2), "more than 100,000 characters"),
        (iter([{"content": {}}]), "a delta whose content is no text"),
        (iter(()), "an empty text"),
        (iter([acting(call())[1]]), "ends with a tool message"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_line(scenario: Scenario, reply: object, told: str) -> None:
    with pytest.raises(AssistantFault, match=told.replace("(", r"\(")) as caught:
        turn_of(scenario, reply)
    assert "\n" not in str(caught.value)


def test_huge_calls_are_cut_and_the_cut_is_marked(scenario: Scenario) -> None:
    huge = acting(call(arguments="x" * 20_000, name="n" * 999, key="i" * 999), result="y" * 10_000_000)
    turn = turn_of(scenario, huge)
    assert turn.steps is not None
    (kept,), result = turn.steps[0].tool_calls, turn.steps[1]
    assert len(kept.function.name) == len(kept.id) == 200
    assert result.tool_call_id == kept.id
    for text, more in ((kept.function.arguments, 20_000), (result.content, 10_000_000)):
        assert text[MAX_TOOL_CHARS:] == f" [... {more - MAX_TOOL_CHARS:,} more characters]"


MANY = [call(key=f"c{i}") for i in range(10_000)]
UNKEPT_FIRST = [acting(*MANY)[0], *acting(*MANY)[MAX_CALLS + 1 : -1], *acting(*MANY)[1 : MAX_CALLS + 1], acting(*MANY)[-1]]  # fmt: skip
RESULTS = [ORPHAN | {"tool_call_id": f"c{i}"} for i in range(10_000)]


@pytest.mark.parametrize(
    ("reply", "calls", "kept"),
    [(acting(*MANY), 10_000, MAX_CALLS), ([m for c in MANY for m in acting(c)], 10_000, MAX_CALLS), (UNKEPT_FIRST, 10_000, MAX_CALLS), ([*RESULTS, *acting(call())], 1, 0)],
    ids=["one message", "many messages", "results of others first", "no call"],
)  # fmt: skip
def test_the_first_of_ten_thousand_are_kept(
    scenario: Scenario, reply: list[Any], calls: int, kept: int
) -> None:
    turn = turn_of(scenario, reply)
    assert turn.calls == calls
    first = [f"c{i}" for i in range(MAX_CALLS)]
    assert [c.id for m in turn.path for c in m.tool_calls if c.id != "call_1"] == first[:kept]
    assert [m.tool_call_id for m in turn.path if m.role == "tool"] == first


def test_control_characters_and_half_emojis_are_data(scenario: Scenario) -> None:
    turn = turn_of(scenario, acting(call(name="a\x1b[31m\ud800", arguments={"x": "\x00"}), result={"a": 1}))
    assert turn.steps is not None
    assert turn.steps[0].tool_calls[0].function == Function(name="a\x1b[31m?", arguments='{"x": "\\u0000"}')
    assert turn.steps[1].content == '{"a": 1}'
    assert Dialogue.model_validate_json(Dialogue(messages=(turn,)).model_dump_json()).messages == (turn,)


def test_an_assistant_gets_its_own_messages_back_whole_and_the_user_agent_no_call(scenario: Scenario) -> None:
    hello, bye = {"role": "user", "content": "hello"}, {"role": "user", "content": "bye"}
    huge, last = acting(call(), result="y" * 9_000), Said("assistant", TEXT, [])
    huge[0]["extra_content"] = {"thought_signature": "abc"}
    del last.tool_calls
    first = {"role": "assistant", "content": None, "tool_calls": [call()]}
    for reply, back in (
        (huge, huge),
        (" fine ", [{"role": "assistant", "content": "fine"}]),
        ([Said("assistant", None, [call()]), last], [first, {"role": "assistant", "content": TEXT}]),
    ):
        told, seen = list[AssistantMessages](), list[Sequence[Message]]()

        class User(ScriptedUser):
            def turn(self, scenario: Scenario, transcript: Sequence[Message], seen: Any = seen) -> UserTurn:
                seen.append(transcript)
                return super().turn(scenario, transcript)

        def assistant(messages: AssistantMessages, told: Any = told, reply: object = reply) -> object:
            told.append(messages)
            return reply

        outcome = converse(scenario, assistant, User(UserTurn("hello"), UserTurn("bye", done=True)))
        assert outcome.fault is None
        assert list(told[1]) == [hello, *back, bye]
        said = "fine" if reply == " fine " else TEXT
        assert list(seen[1]) == [Message(**hello), Message(role="assistant", content=said)]
        assert outcome.dialogue.messages[1].calls == (reply != " fine ")


PIECES = (
    {"id": "call_1", "function": {"name": "book_table"}},
    {"function": {"arguments": ARGUMENTS[:7]}},
    {"function": {"arguments": ARGUMENTS[7:]}},
)
CHUNKS: list[Any] = [
    {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"delta": {"content": TEXT[:5]}}]},
    {"choices": [{"delta": {"content": TEXT[5:]}}]},
    *({"choices": [{"delta": {"tool_calls": [{"index": 0, **piece}]}}]} for piece in PIECES),
    {"choices": [], "usage": {"total_tokens": 9}},
    None,
]


async def later(pieces: Sequence[object]) -> AsyncIterator[object]:
    for piece in pieces:
        yield piece


async def returns(pieces: Any) -> Any:
    return pieces


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    loop = EventLoop()
    yield loop
    loop.close()


@pytest.mark.parametrize(
    ("assistant", "names"),
    [
        (lambda _: iter((TEXT[:4], TEXT[4:])), []),
        (lambda _: later((TEXT[:4], TEXT[4:])), []),
        (lambda _: iter(CHUNKS), ["book_table"]),
        (lambda _: later(CHUNKS), ["book_table"]),
        (lambda _: returns(later(CHUNKS)), ["book_table"]),
        (lambda _: returns(iter(CHUNKS)), ["book_table"]),
        (lambda _: iter(acting(call())), ["book_table"]),
        (lambda _: (SimpleNamespace(delta=c["choices"][0]["delta"]) for c in CHUNKS[:6] if c), ["book_table"]),
    ],
)  # fmt: skip
def test_streams(
    scenario: Scenario, loop: EventLoop, assistant: Callable[[Any], Any], names: list[str]
) -> None:
    turn = turn_of(scenario, guarded(assistant, timeout=5, loop=loop)([]))
    assert turn.content == TEXT
    assert [c.function for m in turn.path for c in m.tool_calls] == [
        Function(name=name, arguments=ARGUMENTS) for name in names
    ]


async def never_ends(_: Any) -> AsyncIterator[object]:
    import asyncio

    while True:
        yield {"content": ""}
        await asyncio.sleep(0.01)


async def cancels_all(_: Any) -> None:
    import asyncio

    try:
        await asyncio.sleep(60)
    finally:  # as frameworks do when they end
        for task in asyncio.all_tasks():
            task.cancel()


@pytest.mark.parametrize("assistant", [never_ends, cancels_all, lambda _: iter(str, "no end")])
def test_a_stream_has_the_time_of_a_reply(loop: EventLoop, assistant: Callable[[Any], Any]) -> None:
    with pytest.raises(AssistantFault, match=r"did not answer within 0\.3 s"):
        guarded(assistant, timeout=0.3, loop=loop)([])


@pytest.fixture
def bought(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with records of dialogues that somebody paid for, of an assistant that acts."""
    monkeypatch.setenv("CALLS", str(repo.path / "calls.log"))
    monkeypatch.setenv("NEW_IDS", "1")
    repo.write(conftest=ACTING, test_bot=TEST)
    repo.inline(*MODELS, "--personalens-sample=2", "--personalens-record=new").assert_outcomes(passed=2)
    assert calls(repo) > 0
    return repo


RUN = (*MODELS, "--personalens-sample=2", "--personalens-report=results.json")


def test_records_replay_calls_whatever_the_ids_are(
    bought: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = json.loads(records(bought)[0].read_text())
    step = record["dialogue"]["messages"][1]["steps"][0]
    assert step["tool_calls"][0]["function"] == {"name": "book", "arguments": '{"people": 2}'}
    kept = record_bytes(bought)
    for how in (("-n", "2"), ("-n", "0", "-opersonalens_parallel=2"), ("--personalens-record=new",)):
        bought.run(*RUN, *how).assert_outcomes(passed=2)
        items = bought.results()["items"]
        turns = [item["evaluation"]["dialogue"]["messages"][1] for item in items]
        assert [turn["steps"][1]["content"] for turn in turns] == ["ok", "ok"]
        assert {item["record"] for item in items} == {"replayed"}
        assert (calls(bought), record_bytes(bought)) == (0, kept)
    # Another result is other evidence for the judge, and none for the user.
    monkeypatch.setenv("RESULT", "no table left")
    result = bought.inline(*RUN)
    result.stdout.fnmatch_lines(["*- book(people=2) -> ok", "*+ book(people=2) -> no table left"])
    assert "the record is stale (the tool calls of the assistant's turn 1 differ)" in unwrapped(result)
    bought.inline(*RUN, "--personalens-record=new")
    assert set((bought.path / "calls.log").read_text().split()) == {"judge"}


def test_calls_are_parsed_and_in_order(scenario: Scenario) -> None:
    found_table, booked = call("find_table", {"day": "Friday"}, "a"), call("book_table", ARGUMENTS, "b")
    notes = (call("note", "no JSON", "c"), call("note", "[1]", "d"))
    user = ScriptedUser(UserTurn("hello"), UserTurn("bye", done=True))
    made = acting(found_table, booked, *notes)
    dialogue = converse(scenario, lambda m: made if len(m) < 2 else TEXT, user).dialogue
    found = dialogue.tool_calls()
    assert [c.name for c in found] == ["find_table", "book_table", "note", "note"]
    (one,) = dialogue.tool_calls("book_table")
    assert (one.arguments, one.result, one.turn) == ({"people": 2, "time": "19:30"}, '{"ok": true}', 1)
    assert [c.arguments for c in dialogue.tool_calls("note")] == [{}, {}]
    wanted = ({"people": 2}, {"people": 3}, {"day": None})
    assert [called("book_table", **arguments) in found for arguments in wanted] == [True, False, False]
    assert [*map(repr, found[1:3])] == ["book_table(people=2, time='19:30')", "note(no JSON)"]


CRASHES = """
    import pytest

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: {}["profile"]
"""
OWN_ASSERTS = """
    from pytest_personalens import called

    def test_called(personalens):
        assert called("book", people=5) in personalens.evaluate().dialogue.tool_calls()

    def test_any(personalens):
        calls = personalens.evaluate().dialogue.tool_calls("book")
        assert len(calls) == 1

    def test_not_called(personalens):
        assert called("book") not in personalens.evaluate().dialogue.tool_calls()

    def test_of_another():
        assert called("book") in []
"""


def test_a_failed_assertion_says_why_the_dialogue_was_not_scored(empty_repo: Repository) -> None:
    empty_repo.write(conftest=CRASHES, test_bot=OWN_ASSERTS)
    result = empty_repo.inline("--personalens-sample=1", "--personalens-gate=none", "--tb=short")
    result.assert_outcomes(failed=5)  # and the gate on the share of scored dialogues
    why = "not scored, assistant at fault: the assistant raised KeyError: 'profile' (conftest.py, line *)"
    for test in ("test_called", "test_any", "test_not_called"):
        result.stdout.fnmatch_lines([f"*_ {test}* _*", f"E*AssertionError: the dialogue was {why}"])
    told = "E*assert called('book') in the calls of the dialogue"
    result.stdout.fnmatch_lines(["*_ test_of_another _*", told])
    assert "- personalens -" not in str(result.stdout)  # which would say the same again


ASSERTS = """
    from pytest_personalens import called

    def test_bot(personalens):
        calls = personalens.evaluate().dialogue.tool_calls()
        assert called("book", people=5) in calls

    def test_no_call(personalens):
        assert called("book", people=2) not in personalens.evaluate().dialogue.tool_calls()
"""


def test_a_failed_assertion_prints_the_calls(bought: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    bought.write(test_bot=ASSERTS)
    result = bought.inline(*MODELS, "--personalens-sample=1", "--personalens-record=live")
    result.assert_outcomes(failed=2)
    lines = ["E*the assistant called:", "E*  turn 1: book(people=2)", "E*  turn 3: book(people=2)"]
    for wanted in ("called('book', people=5) in", "called('book', people=2) not in"):
        result.stdout.fnmatch_lines([f"E*assert {wanted} the calls of the dialogue", *lines])
