"""Records: what is replayed, what is written, what is refused, and that nothing bought is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from pytest_personalens.core.dialogue.dialogue import AssistantMessages, Dialogue, Message, UserTurn
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.judging.evaluation import Evaluation, evaluate
from pytest_personalens.core.judging.verdict import Dimension, Verdict
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.core.scenario import Context, Scenario
from pytest_personalens.datasets import EmbeddedDataset
from pytest_personalens.engine.engine import work
from pytest_personalens.engine.job import Job, JobResult, ParticipantSpecs
from pytest_personalens.engine.participants import Participants
from pytest_personalens.engine.records.on_tape import JudgeOnTape, UserOnTape, dialogue_digest
from pytest_personalens.engine.records.record import read_record, record_of
from pytest_personalens.models.tape import Tape, TapeRules
from tests.support.repository import ROOT, Repository, ScriptedUser, calls, records
from tests.support.scripted_agents import MODELS, PAID


@pytest.mark.slow
def test_all_thirty_are_written_with_workers_and_replayed_after(repo: Repository) -> None:
    args = ("--personalens-sample=30", "--personalens-gate=p >= 1")
    first = repo.run(*args, "--personalens-record=new", "-n", "2")
    first.stdout.fnmatch_lines(["records: 30 written"])
    first.stdout.no_fnmatch_line("*snapshot*")
    assert len(records(repo)) == 30
    before = {path: path.read_bytes() for path in records(repo)}
    for extra in ((), ("-n", "2")):
        again = repo.run(*args, *extra)
        assert again.ret == 0
        again.stdout.fnmatch_lines(["records: 30 replayed"])
        again.stdout.no_fnmatch_line("*snapshot*")
    unchanged = repo.run(*args, "--personalens-record=new")
    unchanged.stdout.fnmatch_lines(["records: 30 replayed"])
    assert before == {path: path.read_bytes() for path in records(repo)}


@pytest.mark.slow
def test_other_samples_report_nothing_as_unused_and_delete_nothing(repo: Repository) -> None:
    args = ("--personalens-gate=p >= 1", "--personalens-gate=valid >= 0")
    repo.run("--personalens-sample=12", "--personalens-record=new", *args)
    before = {path: path.read_bytes() for path in records(repo)}
    for other in (
        ("--personalens-sample=3",),
        ("--personalens-sample=3", "-n", "2"),
        ("--personalens-sample=12", "-m", "personalens(kind='multi')"),
        ("--personalens-sample=12", "-k", "music or alarm"),
        ("--personalens-sample=5", "--personalens-seed=x"),
        ("--personalens-sample=3", "--personalens-record=new"),
        ("--personalens-sample=12", "-m", "personalens(kind='multi')", "--personalens-record=new", "-n", "2"),
        (),
    ):
        result = repo.run(*(args if other else ()), *other)
        assert result.ret == 0, other
        assert " unused" not in result.stdout.str()
        assert before.items() <= {path: path.read_bytes() for path in records(repo)}.items()


def test_paid_agents_are_never_called_unasked(paid: Repository) -> None:
    result = paid.run("--personalens-sample=2", *MODELS)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*the record is missing; record it with --personalens-record new"])
    result.stdout.fnmatch_lines(["not scored: 2, the record is missing, stale or damaged"])
    assert calls(paid) == 0


@pytest.mark.parametrize("role", ["user", "judge"])
def test_a_stale_record_says_which_agent_changed(paid: Repository, role: str) -> None:
    args = ("--personalens-sample=1", *MODELS)
    paid.run(*args, "--personalens-record=new").assert_outcomes(passed=1)
    paid.write(conftest=PAID.replace(f'"paid-{role}"', f'"other-{role}"'))
    stale = paid.run(*args)
    stale.assert_outcomes(failed=1)
    who = "user agent" if role == "user" else role
    stale.stdout.fnmatch_lines(
        [f"*the record is stale (the {who} was paid-{role}, and is other-{role} now); record it with *"]
    )


@pytest.mark.slow
def test_paid_agents_record_once_and_replay_for_nothing(
    paid: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("--personalens-sample=2", *MODELS)
    paid.run(*args, "--personalens-record=new").assert_outcomes(passed=2)
    assert calls(paid) == 2 * 5
    for extra in ((), ("-n", "2"), ("--personalens-record=new",), ("--personalens-record=live",)):
        paid.run(*args, *extra).assert_outcomes(passed=2)
        assert calls(paid) == 0
    monkeypatch.setenv("CHANGE", "!")
    stale = paid.run(*args)
    stale.assert_outcomes(failed=2)
    stale.stdout.fnmatch_lines(
        ["*the record is stale (the assistant's turn 1 differs); record it with --personalens-record new"]
    )
    assert calls(paid) == 0
    paid.run(*args, "--personalens-record=new").assert_outcomes(passed=2)
    # The opening is equal evidence still: it is not bought again.
    assert calls(paid) == 2 * 4


def test_a_live_run_leaves_the_records_alone_and_pays_once(paid: Repository) -> None:
    args = ("--personalens-sample=2", *MODELS, "--personalens-record=live")
    cached = ("-p", "cacheprovider")
    run = paid.run_with_cache
    run(*cached, *args).assert_outcomes(passed=2)
    assert calls(paid) == 10
    assert not records(paid)
    run(*cached, *args).assert_outcomes(passed=2)
    assert calls(paid) == 0


@pytest.mark.slow
def test_a_live_run_uses_the_record_and_what_it_bought_before(
    paid: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("-p", "cacheprovider", "--personalens-sample=1", *MODELS)
    run = paid.run_with_cache
    run(*args, "--personalens-record=new").assert_outcomes(passed=1)
    assert calls(paid) == 5
    monkeypatch.setenv("CHANGE", "!")
    run(*args, "--personalens-record=live").assert_outcomes(passed=1)
    assert calls(paid) == 4
    for change in ("", "!"):
        monkeypatch.setenv("CHANGE", change)
        run(*args, "--personalens-record=live").assert_outcomes(passed=1)
        assert calls(paid) == 0


def test_what_was_bought_before_a_crash_is_kept(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ("--personalens-sample=1", *MODELS, "--personalens-record=new")
    run = paid.run_with_cache
    monkeypatch.setenv("CRASH", "p")
    run(*args)
    assert calls(paid) == 5
    monkeypatch.delenv("CRASH")
    run(*args).assert_outcomes(passed=1)
    assert calls(paid) == 1, "only the reading that had not finished"


def test_free_agents_go_on_where_a_record_is_stale(repo: Repository) -> None:
    args = ("--personalens-sample=3", "-opersonalens_threshold=p>=1,tc>=0")
    repo.run(*args, "--personalens-record=new")
    before = {path: path.read_bytes() for path in records(repo)}
    repo.write(
        conftest="""
        import pytest

        @pytest.fixture
        def personalens_assistant():
            return lambda messages: "Something else entirely, booked for 8:15."
        """
    )
    result = repo.run(*args)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "records: 3 stale (another dialogue than now)",
            "write the records that are missing or stale with: pytest *--personalens-record new",
        ]
    )
    assert before == {path: path.read_bytes() for path in records(repo)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda text: text[: len(text) // 2], "the record cannot be read ("),
        (lambda text: "", "the record cannot be read ("),
        (lambda text: "\0" * len(text), "the record cannot be read ("),
        (lambda text: "[]", "the record cannot be read ("),
        (lambda text: text.replace("nudge", "budge"), "edited by hand"),
        (lambda text: text.replace('"score": ', '"score": 9', 1), "the record cannot be read ("),
    ],
)
def test_a_damaged_record_gets_one_line_and_is_not_deleted(
    repo: Repository, damage: object, told: str
) -> None:
    args = ("--personalens-sample=1", "--personalens-gate=p >= 1")
    repo.run(*args, "--personalens-record=new", "-opersonalens_context=none")
    (path,) = records(repo)
    damaged = damage(path.read_text(encoding="utf-8"))  # type: ignore[operator]
    path.write_text(damaged, encoding="utf-8")
    result = repo.run(*args)
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"*{path.name.replace('[', '[[]')}: *{told}*--personalens-record new"])
    result.stdout.no_fnmatch_line("*Traceback*")
    assert path.read_text(encoding="utf-8") == damaged
    assert repo.run(*args, "--personalens-record=new").ret == 0
    assert path.read_text(encoding="utf-8") != damaged


def test_records_of_the_users_own_snapshots_are_left_to_syrupy(repo: Repository) -> None:
    repo.write(
        test_own="""
        from syrupy.extensions.json import JSONSnapshotExtension

        def test_own(snapshot):
            assert {"a": 1} == snapshot(extension_class=JSONSnapshotExtension)
        """
    )
    args = ("--personalens-sample=2", "--personalens-gate=p >= 1")
    assert repo.run(*args, "--personalens-record=new", "--snapshot-update").ret == 0
    result = repo.run(*args)
    assert result.ret == 0
    assert "unused" not in result.stdout.str()


def test_a_run_of_fewer_dimensions_keeps_the_other_verdicts(repo: Repository) -> None:
    args = ("--personalens-sample=1", "--personalens-record=new", "--personalens-gate=p >= 1")
    repo.run(*args, "--personalens-dimensions=all")
    repo.run(*args, "--personalens-dimensions=p")
    (path,) = records(repo)
    assert len(json.loads(path.read_text())["verdicts"]) == 4


class CountingJudge:
    identity, paid = "counting", False

    def __init__(self) -> None:
        self.asked = 0

    def verdict(self, scenario: Scenario, dialogue: object, dimension: Dimension) -> Verdict:
        self.asked += 1
        return Verdict(dimension=dimension, score=1, justification="counted")


def record(scenario: Scenario, *turns: UserTurn, max_turns: int = 0) -> tuple[Evaluation, str]:
    tape = Tape(TapeRules(writes=True))
    evaluation = evaluate(
        scenario,
        lambda m: f"reply {len(m)}",
        UserOnTape(ScriptedUser(*turns), tape),
        JudgeOnTape(CountingJudge(), tape),
        max_turns=max_turns,
    )
    return evaluation, record_of(evaluation, scenario, scenario.id, tape.rows).text


@pytest.mark.parametrize(
    ("turns", "limit"),
    [
        ((UserTurn("a"), UserTurn("b"), UserTurn("bye", done=True)), 0),
        ((UserTurn("a"), UserTurn("b"), UserTurn("", done=True)), 0),
        ((UserTurn("only", done=True),), 0),
        ((UserTurn("on and on"),), 3),
    ],
)
def test_every_end_is_replayed_and_the_assistant_asked_each_turn_once(
    scenario: Scenario, turns: tuple[UserTurn, ...], limit: int
) -> None:
    judge = CountingJudge()
    agents = {"user_agent": ScriptedUser(*turns), "judge": judge}
    specs = ParticipantSpecs(".", Settings.default(user_model="u", judge_model="j"))
    participants = Participants(specs, added=lambda role, spec: agents.get(role))
    job = Job(
        scenario, Context(user="Ada"), (Dimension.TASK_COMPLETION,), {}, limit, 5.0, TapeRules(writes=True)
    )
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
            assert (short.raised is odd) == isinstance(odd, Exception)


def test_another_scenario_judge_or_user_agent_is_other_evidence(scenario: Scenario) -> None:
    _, text = record(scenario, UserTurn("a"), UserTurn("bye", done=True))
    other = scenario.model_copy(update={"summaries": {"Train": "changed"}})
    tape = Tape(record=read_record(text, "r.json").rows)
    evaluate(
        other,
        lambda m: f"reply {len(m)}",
        UserOnTape(ScriptedUser(UserTurn("x", done=True)), tape),
        JudgeOnTape(CountingJudge(), tape),
    )
    assert tape.bought.total() == 3


def test_an_edited_record_is_refused(scenario: Scenario) -> None:
    _, text = record(scenario, UserTurn("a"), UserTurn("bye", done=True))
    with pytest.raises(RecordError, match="edited by hand"):
        read_record(text.replace("reply 1", "reply one"), "r.json")


def leaves(data: Any, *path: Any) -> list[tuple[Any, ...]]:
    """The places of all values in plain data."""
    if isinstance(data, dict | list) and data:
        pairs = data.items() if isinstance(data, dict) else enumerate(data)
        return [leaf for key, value in pairs for leaf in leaves(value, *path, key)]
    return [path]


def test_no_value_of_a_record_can_be_changed_unseen(scenario: Scenario) -> None:
    _, text = record(scenario, UserTurn("a"), UserTurn("bye", done=True))
    places = leaves(json.loads(text))
    assert len(places) > 20
    for *path, last in places:
        data = place = json.loads(text)
        for key in path:
            place = place[key]
        value = place[last]
        place[last] = (
            value + 1 if isinstance(value, int) else f"{value}x" if isinstance(value, str) else ["x"]
        )
        with pytest.raises(RecordError):
            read_record(json.dumps(data, indent=2, sort_keys=True), "r.json")
        del place[last]
        with suppress(RecordError):  # but for a value that goes without saying
            assert (
                read_record(json.dumps(data, indent=2, sort_keys=True), "r.json").data
                == read_record(text, "r.json").data
            )


def test_a_score_within_its_scale_cannot_be_raised(scenario: Scenario) -> None:
    _, text = record(scenario, UserTurn("a"), UserTurn("bye", done=True))
    data = json.loads(text)
    assert data["verdicts"][1]["dimension"] == "personalization"
    data["verdicts"][1]["score"] = 4
    with pytest.raises(RecordError, match="edited by hand"):
        read_record(json.dumps(data, indent=2, sort_keys=True), "r.json")


@pytest.mark.parametrize(
    "reformatted",
    [
        lambda data: json.dumps(data),
        lambda data: json.dumps(dict(reversed(data.items())), indent=7, ensure_ascii=False),
        lambda data: json.dumps(data, sort_keys=True),
        lambda data: json.dumps(data, indent=1).replace("\n", "\r\n"),
    ],
)
def test_a_record_that_is_written_otherwise_is_the_same_record(
    repo: Repository, reformatted: Callable[[Any], str]
) -> None:
    args = ("--personalens-sample=1", "--personalens-gate=p >= 1")
    repo.run(*args, "--personalens-record=new")
    (path,) = records(repo)
    before = read_record(path.read_text(encoding="utf-8"), "before")
    text = reformatted(json.loads(path.read_text(encoding="utf-8"))).encode()
    path.write_bytes(text)
    assert read_record(path.read_text(encoding="utf-8"), "after").data == before.data
    result = repo.inline(*args)
    result.stdout.fnmatch_lines(["records: 1 replayed"])
    assert path.read_bytes() == text, "only --personalens-record writes"


def test_evidence_tells_dialogues_apart_in_any_order(scenario: Scenario) -> None:
    dialogues = [Dialogue(messages=(Message(role="user", content=text),)) for text in ("a", "b", "a")]
    assert len({dialogue_digest(dialogue) for dialogue in dialogues}) == 2
    tape, judge = Tape(TapeRules(writes=True)), CountingJudge()
    on_tape = JudgeOnTape(judge, tape)
    for dialogue in (*dialogues, *reversed(dialogues)):
        for dimension in Dimension:
            on_tape.verdict(scenario, dialogue, dimension)
    again = Tape(record=tape.rows)
    for dialogue in (*dialogues, *reversed(dialogues)):
        for dimension in Dimension:
            JudgeOnTape(judge, again).verdict(scenario, dialogue, dimension)
    assert not again.bought


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "workers"])
def test_records_need_no_plugin_of_syrupys(repo: Repository, workers: tuple[str, ...]) -> None:
    repo.write(test_own="def test_own(snapshot):\n    assert {} == snapshot\n")
    args = ("--personalens-sample=2", "--personalens-gate=p >= 1", "-p", "no:syrupy", *workers)
    first = repo.run(*args, "--personalens-record=new", "test_bot.py")
    assert first.ret == 0
    first.stdout.fnmatch_lines(["records: 2 written"])
    kept = {path: path.read_bytes() for path in records(repo)}
    again = repo.run(*args)
    again.assert_outcomes(passed=4, errors=1)  # 2 items, 2 gates; the team's own snapshot alone is missed
    again.stdout.fnmatch_lines(["*fixture 'snapshot' not found", "records: 2 replayed"])
    assert repo.run(*args[:2], "--personalens-record=new", "test_bot.py").ret == 0
    assert {path: path.read_bytes() for path in records(repo)} == kept, "the same files as with it"


def test_snapshots_of_ones_own_in_the_same_item(repo: Repository) -> None:
    repo.write(
        test_bot="def test_bot(personalens, snapshot):\n    personalens.check()\n    assert personalens.scenario.id == snapshot\n"
    )
    args = ("--personalens-sample=2", "--personalens-gate=p >= 1")
    repo.inline(*args, "--personalens-record=new", "--snapshot-update").stdout.fnmatch_lines(
        ["2 snapshots generated."]
    )
    repo.inline(*args).stdout.fnmatch_lines(["2 snapshots passed."])


def test_messages_survive_a_record(scenario: Scenario) -> None:
    hostile = "\u202e]}\x00\n<|end|>\u2028 ünï 日本 \x1b[2J"
    evaluation = evaluate(
        scenario, lambda m: hostile, ScriptedUser(UserTurn("a"), UserTurn("bye", done=True)), CountingJudge()
    )
    stored = read_record(record_of(evaluation, scenario, scenario.id, ()).text, "r.json")
    assert stored.dialogue.messages[1] == Message(role="assistant", content=hostile.strip())


def test_the_committed_records_of_the_example_project_are_whole() -> None:
    folder = ROOT / "example_project/tests/__personalens__/test_helpbot"
    files = sorted(folder.glob("*.json"))
    assert len(files) == 30
    version = EmbeddedDataset().version
    for file in files:
        assert (
            read_record(file.read_text(encoding="utf-8"), str(file)).data["dataset"] == f"embedded {version}"
        )
