"""Records: what is replayed, what is refused, and that no value of one can be changed unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.core.dialogue.dialogue import AssistantMessages, Dialogue, Message, UserTurn
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.judging.evaluation import evaluate
from pytest_personalens.core.judging.verdict import Dimension, Verdict
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.core.scenario import Context, Scenario
from pytest_personalens.datasets import EmbeddedDataset
from pytest_personalens.engine.agents_on_tape import JudgeOnTape, UserOnTape, dialogue_digest
from pytest_personalens.engine.engine import work
from pytest_personalens.engine.job import Job, JobResult, ParticipantSpecs
from pytest_personalens.engine.participants import Participants
from pytest_personalens.engine.record import read_record, record_of
from pytest_personalens.models.tape import Tape, TapeRules
from tests.support.processes.runs import assert_ended
from tests.support.repository import ROOT, Repository, ScriptedUser, record_bytes, records

HOSTILE = "\u202e]}\x00\n<|end|>\u2028 ünï 日本 \x1b[2J"
BYE = UserTurn("bye", done=True)


class CountingJudge:
    identity, paid = "counting", False

    def __init__(self) -> None:
        self.asked = 0

    def verdict(self, scenario: Scenario, dialogue: object, dimension: Dimension) -> Verdict:
        self.asked += 1
        return Verdict(dimension=dimension, score=1, justification="counted")


@pytest.fixture
def text(scenario: Scenario) -> str:
    """The record of a short dialogue with hostile words and a tool call."""
    call = {"id": "1", "type": "function", "function": {"name": "book", "arguments": '{"people": 2}'}}
    tape = Tape(TapeRules(writes=True))

    def assistant(messages: AssistantMessages) -> list[dict[str, Any]]:
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "ok"},
            {"role": "assistant", "content": f"reply {len(messages)} {HOSTILE}"},
        ]

    user, judge = UserOnTape(ScriptedUser(UserTurn("a"), BYE), tape), JudgeOnTape(CountingJudge(), tape)
    return record_of(evaluate(scenario, assistant, user, judge), scenario, scenario.id, tape.rows).text


A, B = UserTurn("a"), UserTurn("b")


@pytest.mark.parametrize(
    ("turns", "limit"),
    [((A, B, BYE), 0), ((A, B, UserTurn("", done=True)), 0), ((BYE,), 0), ((A,), 3)],
    ids=["a farewell", "silence", "one turn", "the limit"],
)
def test_every_end_is_replayed(scenario: Scenario, turns: tuple[UserTurn, ...], limit: int) -> None:
    judge = CountingJudge()
    agents = {"user_agent": ScriptedUser(*turns), "judge": judge}
    specs = ParticipantSpecs(".", Settings.default(user_model="u", judge_model="j"))
    participants = Participants(specs, added=lambda role, spec: agents.get(role))
    readings, rules = (Dimension.TASK_COMPLETION,), TapeRules(writes=True)
    job = Job(scenario, Context(user="Ada"), readings, {}, limit, 5.0, rules)
    done = work(job, participants, lambda m: f"reply {len(m)}")
    record = read_record(record_of(done.evaluation, scenario, "", done.rows).text, "r.json")
    job, asked = job._replace(rules=TapeRules(), record=record), judge.asked

    def replayed(odd: object, turn: int, **special: Any) -> tuple[JobResult, list[int]]:
        heard = []

        def reply(messages: AssistantMessages) -> object:
            heard.append(len(messages))
            if len(messages) == turn and isinstance(odd, Exception):
                raise odd
            return odd if len(messages) == turn else f"reply {len(messages)}"

        return work(job, participants, reply, **special), heard

    replies = sum(message.role == "assistant" for message in done.evaluation.dialogue.messages)
    again, heard = replayed("", 0)
    assert (again.evaluation, again.rows, again.replayed) == (done.evaluation, (), True)
    assert len(heard) == replies and judge.asked == asked
    for turn in range(1, 2 * replies, 2):
        for odd in ("other", {"role": "assistant", "content": f"reply {turn}"}, "", ValueError("no")):
            short, heard = replayed(odd, turn)
            long, all_heard = replayed(odd, turn, direct=lambda user: user)
            assert (short.evaluation, short.rows, short.replayed) == (long[0], long.rows, False)
            assert heard == all_heard
            assert (short.exception is odd) == isinstance(odd, Exception)


def test_another_scenario_is_other_evidence(scenario: Scenario, text: str) -> None:
    other = scenario.model_copy(update={"summaries": {"Train": "changed"}})
    tape = Tape(record=read_record(text, "r.json").rows)
    user = UserOnTape(ScriptedUser(BYE), tape)
    evaluate(other, lambda m: f"reply {len(m)}", user, JudgeOnTape(CountingJudge(), tape))
    assert tape.bought.total() == 3


def leaves(data: Any, *path: Any) -> list[tuple[Any, ...]]:
    """The places of all values in plain data."""
    if isinstance(data, dict | list) and data:
        pairs = data.items() if isinstance(data, dict) else enumerate(data)
        return [leaf for key, value in pairs for leaf in leaves(value, *path, key)]
    return [path]


def test_no_value_of_a_record_can_be_changed_unseen(text: str) -> None:
    places, told = leaves(json.loads(text)), []
    assert len(places) > 20
    for *path, last in places:
        data = place = json.loads(text)
        for key in path:
            place = place[key]
        value = place[last]
        odd = f"{value}x" if isinstance(value, str) else ["x"]
        place[last] = value + 1 if isinstance(value, int) else odd
        with pytest.raises(RecordError) as error:
            read_record(json.dumps(data, indent=2, sort_keys=True), "r.json")
        told += [("verdicts" in path, str(error.value).partition("the record ")[2][:13])]
        del place[last]
        with suppress(RecordError):  # but for a value that goes without saying
            same = read_record(json.dumps(data, indent=2, sort_keys=True), "r.json").data
            assert same == read_record(text, "r.json").data
    assert (True, "was edited by") in told, "a score within its scale"


def test_a_record_that_is_written_otherwise_is_the_same_record(text: str) -> None:
    data = json.loads(text)
    assert data["dialogue"]["messages"][1]["content"] == f"reply 1 {HOSTILE}"
    backwards = dict(reversed(data.items()))
    lines = json.dumps(data, indent=1).replace("\n", "\r\n")
    for other in (
        json.dumps(data),
        json.dumps(data, sort_keys=True),
        lines,
        json.dumps(backwards, indent=7, ensure_ascii=False),
    ):
        assert read_record(other, "r.json").data == data


def test_evidence_tells_dialogues_apart_in_any_order(scenario: Scenario) -> None:
    dialogues = [Dialogue(messages=(Message(role="user", content=text),)) for text in ("a", "b", "a")]
    assert len({dialogue_digest(dialogue) for dialogue in dialogues}) == 2

    def read_all(tape: Tape) -> Tape:
        judge = JudgeOnTape(CountingJudge(), tape)
        for dialogue in (*dialogues, *reversed(dialogues)):
            for dimension in Dimension:
                judge.verdict(scenario, dialogue, dimension)
        return tape

    assert not read_all(Tape(record=read_all(Tape(TapeRules(writes=True))).rows)).bought


def edit(change: Callable[[str], str]) -> Callable[[Path], object]:
    return lambda file: file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


def moved(what: Path) -> None:
    """Put a link out of the repository where a file or a folder was."""
    what.symlink_to(what.rename(Path.cwd().parent / f"{what.name}.victim"))


#: What happens to a record -> what a run says of it, and if a run that records replaces it.
DAMAGE: dict[str, tuple[Callable[[Path], object], str, bool]] = {
    "cut": (edit(lambda text: text[: len(text) // 2]), "the record cannot be read (", True),
    "empty": (edit(lambda text: ""), "the record cannot be read (", True),
    "zeros": (edit(lambda text: "\0" * len(text)), "the record cannot be read (", True),
    "a list": (edit(lambda text: "[]"), "the record cannot be read (", True),
    "nested": (edit(lambda text: "[" * 100_000), "the record cannot be read (", True),
    "edited": (edit(lambda text: text.replace("nudge", "budge")), "edited by hand", True),
    "no score": (edit(lambda text: text.replace('"score": ', '"score": 9', 1)), "the record cannot be read (", True),
    "newer": (edit(lambda text: '{"record": 3}'), "the record is of a newer version (record 3); update the plugin", False),
    "foreign": (edit(lambda text: '{"name": "mine"}'), "is no record, and stays as it is; move it away", False),
    "a folder": (folder, "the record cannot be read: *; remove it, or restore it", False),
    "a link": (moved, "*a symbolic link, which is not followed*", False),
    "a folder that is a link": (lambda file: moved(file.parent), "*a symbolic link, which is not followed*", False),
    "a loop": (loop, "*a symbolic link, which is not followed*", False),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_record_gets_one_line_and_ours_is_mended(repo: Repository, damage: str) -> None:
    args = ("--personalens-sample=1", "--personalens-gate=p >= 1", "-opersonalens_context=none")
    run = repo.run if "link" in damage else repo.inline  # a process remembers which folders are no links
    run(*args, "--personalens-record=new")
    (path,) = records(repo)
    change, told, mended = DAMAGE[damage]
    whole = path.read_text(encoding="utf-8")
    change(path)
    before = path.read_bytes() if path.is_file() else None
    for mode in ("none", "new", "all"):
        result = run(*args, f"--personalens-record={mode}")
        if mode != "none" and mended:
            assert (result.ret, json.loads(path.read_text(encoding="utf-8"))) == (0, json.loads(whole))
            continue
        assert_ended(result, 1, f"*{path.name.replace('[', '[[]')}: *{told}*")
        result.stdout.no_fnmatch_line("*Traceback*")
        assert before is None or path.read_bytes() == before


def test_a_record_of_another_scenario_is_replaced_on_request_only(repo: Repository) -> None:
    args = ("--personalens-sample=2", "--personalens-gate=none")
    repo.inline(*args, "--personalens-record=new")
    one, other = records(repo)
    other.write_bytes(one.read_bytes())
    told = "*the record belongs to scenario *; record it with --personalens-record new"
    repo.inline(*args).stdout.fnmatch_lines([told])
    assert repo.inline(*args, "--personalens-record=new").ret == 0
    repo.inline(*args).stdout.fnmatch_lines(["records: 2 replayed"])


def test_free_agents_go_on_where_a_record_is_stale(repo: Repository) -> None:
    args = ("--personalens-sample=3", "-opersonalens_threshold=p>=1,tc>=0")
    repo.inline(*args, "--personalens-record=new")
    before = record_bytes(repo)
    repo.bot("'At 8:15.'")
    advice = "write the records that are missing or stale with: pytest *--personalens-record new"
    assert_ended(repo.inline(*args), 0, "records: 3 stale (another dialogue than now)", advice, passed=3)
    assert before == record_bytes(repo)


def test_a_run_of_fewer_dimensions_keeps_the_other_verdicts(repo: Repository) -> None:
    args = ("--personalens-sample=1", "--personalens-record=new", "--personalens-gate=p >= 1")
    repo.inline(*args, "--personalens-dimensions=all")
    repo.inline(*args, "--personalens-dimensions=p")
    (path,) = records(repo)
    assert len(json.loads(path.read_text())["verdicts"]) == 4


def test_the_committed_records_of_the_example_project_are_whole() -> None:
    files = sorted((ROOT / "example_project/tests/__personalens__/test_helpbot").glob("*.json"))
    version = EmbeddedDataset().version
    read = [read_record(file.read_text(encoding="utf-8"), str(file)).data["dataset"] for file in files]
    assert read == [f"embedded {version}"] * 30
