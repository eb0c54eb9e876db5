"""`--personalens-record`: what each mode writes and pays for, and what is said of records that do not fit."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository, forget_calls, record_bytes, records, run_for, unwrapped
from tests.support.scripted_agents import MODELS, PAID, TEST

KEPT = ("-p", "cacheprovider")
ONE = ("--personalens-sample=1", *MODELS)
TWO = ("--personalens-sample=2", *MODELS)
NEW = "--personalens-record=new"

#: A model that plays user and judge, and writes down each call: a cap counts the calls of models.
MODEL = """
    import os, pytest
    from pytest_personalens import Answer, FakeModel

    def answer(request):
        fd = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(fd, b"call\\n")
        os.close(fd)
        if request.answer is not None:
            yes = request.answer["properties"]["score"]["type"] == "boolean"
            return Answer(data={"evidence": [{"turn": 0, "quote": "I need"}], "justification": "It fits.", "score": True if yes else 3})
        return "Thanks! TERMINATE" if "<transcript>" in request.prompt else "I need something done."

    def pytest_personalens_model(spec, config):
        return FakeModel(answer, name=spec, paid=True) if spec == "m" else None

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: "It is booked for Thursday at 16:00."
"""


def command(result: pytest.RunResult) -> list[str]:
    """The words of the command that the summary names; it must name one only."""
    (line,) = [line for line in result.outlines if "pytest " in line and "--personalens-record new" in line]
    return shlex.split(line[line.index("pytest ") :])[1:]


def test_new_asks_only_for_what_no_record_fits(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    run_for(paid, 2 * 5, *TWO, NEW).assert_outcomes(passed=2)
    before = record_bytes(paid)
    for more in ((), ("-n", "2"), (NEW,), ("--personalens-record=live",)):
        run_for(paid, 0, *TWO, *more).assert_outcomes(passed=2)
        assert record_bytes(paid) == before
    grown = run_for(paid, 2 * 5, "--personalens-sample=4", *MODELS, NEW)
    grown.stdout.fnmatch_lines(["records: 2 replayed, 2 written"])
    assert before.items() <= record_bytes(paid).items()
    monkeypatch.setenv("CHANGE", "!")
    told = "*the record is stale (the assistant's turn 1 differs); record it with --personalens-record new"
    assert_ended(run_for(paid, 0, *TWO), 1, told, failed=2)
    # The opening is equal evidence still.
    run_for(paid, 2 * 4, *TWO, NEW).stdout.fnmatch_lines(["records: 2 written"])


def test_a_live_run_pays_once_and_leaves_records(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    live = (*KEPT, *TWO, "--personalens-record=live")
    for number in (10, 0):
        run_for(paid, number, *live).assert_outcomes(passed=2)
        assert records(paid) == []
    run_for(paid, 0, *KEPT, *TWO, NEW).assert_outcomes(passed=2)
    kept = record_bytes(paid)
    for change, number in (("!", 8), ("", 0), ("!", 0)):
        monkeypatch.setenv("CHANGE", change)
        run_for(paid, number, *live).assert_outcomes(passed=2)
        assert record_bytes(paid) == kept


def test_all_asks_for_everything_and_goes_on_under_resume(paid: Repository) -> None:
    args = (*KEPT, *TWO)
    run_for(paid, 10, *args, "--personalens-record=live")
    paid.write(test_other=TEST)  # whose records do not count either
    for _ in range(2):  # neither a record nor what an earlier run kept is used
        run_for(paid, 10, *args, "--personalens-record=all").stdout.fnmatch_lines(["records: 4 written"])
    assert run_for(paid, 0, *args, "--personalens-record=none").ret == 0
    (paid.path / "test_other.py").unlink()
    paid.write(conftest=MODEL)
    models = ("--personalens-user-model=m", "--personalens-judge-model=m", "--personalens-record=all")
    for more, number in (("--personalens-budget=7calls", 7), ("-q", 3 * 4 - 7)):
        done = run_for(paid, number, *KEPT, "--personalens-sample=3", *models, "--personalens-resume", more)
    done.assert_outcomes(passed=3)


def test_what_was_bought_before_a_crash_is_kept(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASH", "p")
    run_for(paid, 5, *ONE, NEW, *KEPT)
    monkeypatch.delenv("CRASH")
    # Only the reading that had not finished is bought.
    run_for(paid, 1, *ONE, NEW, *KEPT).assert_outcomes(passed=1)


@pytest.mark.parametrize("flag", ["--snapshot-update", "--snapshot-update-new-only"])
def test_syrupys_options_buy_none(paid: Repository, monkeypatch: pytest.MonkeyPatch, flag: str) -> None:
    told = "*the record is missing; record it with --personalens-record new"
    summed_up = "not scored: 2, the record is missing, stale or damaged"
    missing = assert_ended(run_for(paid, 0, *TWO, flag), 1, told, summed_up, failed=2)
    assert records(paid) == []
    assert paid.run(*command(missing)).ret == 0
    before = record_bytes(paid)
    assert "--personalens-record" not in str(run_for(paid, 0, *TWO, flag).stdout)
    monkeypatch.setenv("CHANGE", "!")
    stale = assert_ended(run_for(paid, 0, *TWO, flag), 1, failed=2)
    assert flag not in command(stale), "it would accept the team's own snapshots"
    assert record_bytes(paid) == before


def test_one_command_mends_all_and_can_be_pasted(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paid.run(*TWO, NEW)
    monkeypatch.setenv("CHANGE", "!")
    (paid.path / "other.ini").write_text("[pytest]\npersonalens_gate = p >= 5\n")  # which -o puts right
    args = ("-c", "other.ini", "--personalens-sample=4", *MODELS, "-o", "personalens_gate=p >= 2")
    again = command(assert_ended(paid.run(*args, "--personalens-record=none"), 1, failed=2 + 2 + 2))
    assert "-c other.ini" in " ".join(again)
    assert again[-2:] == ["--personalens-record", "new"] and "--personalens-record=none" not in again
    paid.run(*again).assert_outcomes(passed=6)
    assert paid.run(*args).ret == 0


def test_the_command_of_a_worker_keeps_what_overrides_the_configuration(repo: Repository) -> None:
    (repo.path / "other.ini").write_text("[pytest]\npersonalens_threshold = p>=4\n")
    given = ("-c", "other.ini", "-opersonalens_context=none", "-o", "personalens_max_turns=3")
    result = repo.run("--personalens-sample=1", *given, "-n", "2")
    (again,) = {line.partition("again:")[2].strip() for line in result.outlines if "again:" in line}
    words = shlex.split(again)[1:]
    assert " ".join(words).startswith("-c other.ini -o personalens_context=none -o personalens_max_turns=3 ")
    repo.run(*words).assert_outcomes(failed=1)


LONG = "word " * 100 + "open until noon, " + "word " * 100
#: What the assistant says now in its three turns -> the turn that differs, and how it is shown.
REPLIES = {
    f"other|{LONG}|answer 5": (1, [r"    - answer 1", r"    \+ other"]),
    f"answer 1|{LONG.replace('noon', 'nine')}|answer 5": (3, [r"    - \.\.\..*until noon.*\.\.\.$", r"    \+ \.\.\..*until nine.*\.\.\.$"]),
    f"answer 1|{LONG}|answer 5\nmore\x1b[2J": (5, [r"    - answer 5", r"    \+ answer 5\\nmore\\x1b\[2J"]),
}  # fmt: skip


def test_a_stale_item_shows_what_differs(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    said = PAID.replace('f"answer {len(messages)}"', 'os.environ["SAY"].split("|")[len(messages) // 2]')
    paid.write(conftest=said)
    monkeypatch.setenv("SAY", f"answer 1|{LONG}|answer 5")
    paid.run(*ONE, NEW)
    for now, (turn, shown) in REPLIES.items():
        monkeypatch.setenv("SAY", now)
        result = paid.run(*ONE)
        assert f"the record is stale (the assistant's turn {turn} differs)" in unwrapped(result)
        result.stdout.re_match_lines(shown)
        assert all(len(line) < 130 for line in result.outlines if re.match(r" +[-+] \.\.\.", line))


def test_a_stale_record_says_what_else_changed(paid: Repository) -> None:
    paid.run(*ONE, NEW)
    for change, more, why in (
        ("user", (), "the user agent was paid-user, and is other-user now"),
        ("judge", (), "the judge was paid-judge, and is other-judge now"),
        ("", ("--personalens-dimensions=all",), "no verdict on nat-user for this dialogue"),
    ):
        paid.write(conftest=PAID.replace(f'"paid-{change}"', f'"other-{change}"') if change else PAID)
        assert_ended(paid.run(*ONE, *more), 1, f"*the record is stale ({why}); record it with *", failed=1)


MODES = [("live", "live", 0), ("new", "none", 2), ("new", "live", 2), ("new", "new", 6)]


@pytest.mark.parametrize(("first", "mode", "written"), MODES)
def test_what_another_test_bought(paid: Repository, first: str, mode: str, written: int) -> None:
    """Known from the user's cache, or from the records alone, which only a run that writes adds to."""
    run_for(paid, 10, *TWO, f"--personalens-record={first}")
    if first == "new":
        forget_calls()
    (paid.path / "test_bot.py").rename(paid.path / "test_renamed.py")
    paid.write(sub__test_other=TEST)
    run_for(paid, 0, *TWO, f"--personalens-record={mode}").assert_outcomes(passed=4)
    assert len(list(paid.path.rglob("__personalens__/*/*.json"))) == written
    if mode == "new":  # each has a record of its own now, which stands alone
        for path in paid.path.glob("__personalens__/**/*.json"):
            path.unlink()
        paid.run(*TWO, "sub").stdout.fnmatch_lines(["records: 2 replayed"])


def test_within_a_run_the_second_test_of_a_scenario_pays_for_nothing(paid: Repository) -> None:
    two = "import pytest\n@pytest.mark.parametrize('n', ['a', 'b-c'])\ndef test_x(n, personalens): personalens.check()\n"
    paid.write(test_second=TEST, test_third=two)
    run_for(paid, 2 * 5, *TWO, NEW).assert_outcomes(passed=8)


def test_dialogues_of_other_tests_are_taken_as_far_as_they_are_equal(paid: Repository) -> None:
    paid.run(*ONE, NEW)
    forget_calls()
    other = PAID.replace('f"answer {len(messages)}"', 'f"answer {len(messages)}" + "!" * (len(messages) > 1)')
    paid.write(conftest=other, test_other=TEST)
    # The last question, after the reply that differs, and two readings.
    run_for(paid, 1 + 2, *ONE, NEW, "test_other.py").assert_outcomes(passed=1)


def test_trials_and_controls_stay_apart(paid: Repository) -> None:
    args = (*ONE, NEW, "--personalens-trials=2", "--personalens-control=no-context")
    run_for(paid, 4 * 5, *args)
    forget_calls()
    paid.write(test_other=TEST)
    run_for(paid, 0, *args)  # each has its own like


def test_neither_damaged_records_nor_those_of_what_is_installed_are_a_source(paid: Repository) -> None:
    paid.run(*ONE, NEW)
    (path,) = records(paid)
    whole = path.read_text()
    data = json.loads(whole)
    data["verdicts"][0]["score"] = 0
    paid.write(test_other=TEST)
    (paid.path / "env").mkdir()
    (paid.path / "env" / "pyvenv.cfg").touch()
    installed = ((whole, place) for place in ("node_modules/tests", ".venv/tests", "env/tests"))
    for text, place in (("{", "."), (json.dumps(data), "."), *installed):
        path.write_text(text)
        folder = path.parents[1]
        (paid.path / place).mkdir(parents=True, exist_ok=True)
        folder = folder.rename(paid.path / place / "__personalens__")
        path = folder / "test_bot" / path.name
        forget_calls()
        run_for(paid, 5, *ONE, "--personalens-record=live", "test_other.py").assert_outcomes(passed=1)


def test_a_stale_record_stays_so(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paid.run(*ONE, NEW)
    monkeypatch.setenv("CHANGE", "!")
    paid.write(test_other=TEST)
    paid.run(*ONE, NEW, "test_other.py")
    told = "records: 1 replayed, 1 stale (another dialogue than now)"
    result = assert_ended(paid.run(*ONE), 0, told, passed=2)
    assert run_for(paid, 0, *command(result)).ret == 0
    paid.run(*ONE).stdout.fnmatch_lines(["records: 2 replayed"])
