"""Arcs that cannot be used: one line with the file, the field and what is wrong."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pytest_personalens.core.errors import DataError
from pytest_personalens.suites.memory.arc_files import open_arcs
from tests.suites.memory.arcs import ARC, DATA, LISTENER, SUITE, WITH_TASK
from tests.suites.personaconv.arguments import check_refused
from tests.support.processes.commands import check_dataset as main
from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository
from tests.support.scripted_agents import says

APART = ARC.replace('"recall"', '"apart"').replace('"2026-01-07"', '"2026-01-07"\nperson = "bo"')


@pytest.mark.parametrize(
    ("arc", "old", "new", "problem"),
    [
        (ARC, 'kind = "recall"', 'kind = "recal"', "kind: expected 'recall', 'revise', *, not 'recal'"),
        (ARC, 'kind = "recall"', 'kind = "revise"', "arcs.1.test.wrong: a test of the kind revise needs at least one value"),
        (ARC, 'right = ["rooibos | redbush"]', "", "arcs.1.test.right: a test of the kind recall needs at least one value"),
        (ARC, '"rooibos | redbush"', '"rooibos | "', "arcs.1.test.right.1: expected a value, such as 'oat milk | oatmilk', not *"),
        (ARC, '"rooibos | redbush"', '"camomile"', "arcs.1.test.right: 'camomile' is said in no earlier session, so nobody can know it"),
        (ARC, "Order my tea.", "Order my rooibos.", "arcs.1.test.right: 'rooibos' is said in the last session, so that tests no memory"),
        (ARC, 'right = ["rooibos', 'wrong = ["rooibos tea"]\nright = ["rooibos', "arcs.1.test.wrong: a wrong value holds the right one, 'rooibos'"),
        (ARC, '"2026-01-07"', '"2026-01-04"', "arcs.1.sessions.2.date: expected a later day than 2026-01-05, not 2026-01-04"),
        (ARC, '"2026-01-07"', '"7 January"', "arcs.1.sessions.2.date: '7 January' is no day of the calendar, *"),
        (ARC, 'date = "2026-01-07"', "", "arcs.1.sessions.2.date: field required"),
        (ARC, 'date = "2026-01-07"', 'date = "2026-01-07"\nperson = "bo"', "arcs.1.sessions.2.person: only an arc of the kind apart has other users; *"),
        (ARC, 'kind = "recall"', 'kind = "apart"', "arcs.1.sessions: an arc of the kind apart needs a session of another person"),
        (ARC, 'kind = "recall"', 'kind = "abstain"', "arcs.1.test.right: a test of the kind abstain has nothing that must be said; leave it out"),
        (ARC, '"Shopping"', '"Shops"', "arcs.1.domain: expected one of Alarm, *, not 'Shops'"),
        (ARC, 'id = "tea"', 'id = "My tea"', "arcs.1.id: expected small letters, digits and hyphens, *, not 'My tea'"),
        (ARC, 'says = ["Order my tea."]', "says = []", "arcs.1.sessions.3.says: expected 1 or more, not 0*"),
        (ARC, 'says = ["Order my tea."]', 'says = "Order my tea."', "arcs.1.sessions.3.says: expected a list, not 'Order my tea.'*"),
        (ARC, 'says = ["Order my tea."]', "says = [5]", "arcs.1.sessions.3.says.1: expected a text, not 5*"),
        (ARC, 'says = ["Order my tea."]', 'say = ["Order my tea."]', "arcs.1.sessions.3.says: field required, and 'say' is unknown here*"),
        (ARC, '"2026-01-07"', "2026-01-07", 'arcs.1.sessions.2.date: expected a text; put it in quotes: "2026-01-07"*'),
        (ARC, 'person = "ada"', 'person = "ada"\nmood = "good"', "arcs.1.mood: unknown field; correct its name, or remove it*"),
        (ARC, "[arcs.test]", "[[arcs.test]]", "arcs.1.test: expected a table, not [{'right': *"),
        (ARC, "[[arcs]]", "[[arcs", "not valid TOML: *"),
        (ARC, ARC, ARC + ARC.partition('"recall"')[2], "arcs.2.id: a second arc 'tea' of ada"),
        (APART, 'date = "2026-02-01"', 'date = "2026-02-01"\nperson = "bo"', "arcs.1.sessions.3.person: the last session, with the test, must be ada's"),
        (WITH_TASK, 'kind = "recall"', 'kind = "forget"', "arcs.1.task: only arcs of the kinds recall, revise, whose may have a task"),
        (WITH_TASK, "You want to order", "Order", "arcs.1.task.intent: expected a sentence that begins with 'You want to '"),
        (WITH_TASK, "order your tea", "order your rooibos", "arcs.1.task.intent: it names a value of the test"),
        (WITH_TASK, 'preference = "Tea"\n', "", "arcs.1.task.preference: field required"),
        (WITH_TASK, 'right = ["rooibos | redbush"]', "", "arcs.1.test.right: an arc with a task needs at least one value"),
    ],
)  # fmt: skip
def test_a_bad_arc_is_one_line_with_field(tmp_path: Path, arc: str, old: str, new: str, problem: str) -> None:
    assert old in arc
    file = tmp_path / "arcs.toml"
    file.write_text(arc.replace(old, new, 1))
    with pytest.raises(DataError) as raised:
        open_arcs(file)
    line = str(raised.value)
    assert fnmatch(line, f"{file}: {problem}*".replace("[", "[[]")), line
    assert "\n" not in line


def test_arcs_that_cannot_be_used_stop_the_run(empty_repo: Repository) -> None:
    empty_repo.write(conftest=LISTENER)
    (empty_repo.path / "none").mkdir()
    (empty_repo.path / "arcs.toml").write_text(ARC.replace('"recall"', '"recal"'))
    for name, problem in {
        "arcs.toml": "kind: expected 'recall', 'revise', *, not 'recal'", "none": "no file of arcs (*.toml) in it", "gone.toml": "the file is missing",
    }.items():  # fmt: skip
        check_refused(empty_repo, f"personalens: *{name}: {problem}", *SUITE, DATA, name)


def checked(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    code = main(list(args))
    return code, capsys.readouterr().out


def test_check_dataset_finds_no_fault_in_our_arcs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = checked(capsys, "memory", "--report", str(tmp_path / "q.json"))
    assert code == 0
    assert "memory: no findings (6 rules)" in told
    (report,) = json.loads((tmp_path / "q.json").read_text())
    kinds = ("recall", "revise", "forget", "whose", "apart", "restraint", "belief", "audience", "abstain")
    assert report["arcs"] == sum(report[kind] for kind in kinds)
    assert min(report[kind] for kind in kinds) >= 3


def test_check_dataset_tells_faults_and_counts_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = ARC.partition('"recall"')[2]
    bad = one.replace('"tea"', '"two"').replace('"2026-01-07"', '"2026-01-04"').replace("Shopping", "Shops")
    (tmp_path / "recall.toml").write_text(ARC + bad + one)
    (tmp_path / "whose.toml").write_text('kind = "whose"\n[[arcs')
    (tmp_path / "notes.toml").write_text("title = 'no arcs'")
    code, told = checked(capsys, str(tmp_path), "--all")
    assert code == 1
    assert "recall                            1" in told.splitlines()
    for line in (
        "recall.toml: arcs.2.domain: expected one of Alarm, ", "recall.toml: arcs.3.id: a second arc 'tea' of ada", "whose.toml: not valid TOML: ",
        "recall.toml: arcs.2.sessions.2.date: expected a later day than 2026-01-05, not 2026-01-04",
    ):  # fmt: skip
        assert told.count(f"\n  {line}") == 1, line


def test_an_assistant_must_be_told_user_and_session(empty_repo: Repository) -> None:
    (empty_repo.path / "arcs.toml").write_text(ARC)
    empty_repo.write(conftest=says("'rooibos'"))
    told = "personalens: the fixture personalens_assistant returned an assistant without a parameter 'context', *"
    assert_ended(empty_repo.inline(*SUITE, DATA, "arcs.toml"), 1, told)
    empty_repo.write(bot="def reply(messages):\n    return 'rooibos'\n")
    named = ("--personalens-assistant", "bot:reply")
    told = "*--personalens-assistant bot:reply: a callable without a parameter 'context', *"
    check_refused(empty_repo, told, *SUITE, DATA, "arcs.toml", *named)
