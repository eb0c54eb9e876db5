"""`--personalens-record`: what each mode writes and pays for, what is said of records that do not fit, and
what other tests' records give.
"""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import ROOT, Repository, calls, forget_calls, records, unwrapped
from tests.support.scripted_agents import MODELS, TEST

KEPT = ("-p", "cacheprovider")
OWN_SNAPSHOT = "def test_own(snapshot):\n    assert {} == snapshot\n"


#: A model that plays user and judge, and writes down each call.
MODEL = """
    import os, pytest
    from pytest_personalens.models import Answer

    class Model:
        name, paid = "m", True
        def complete(self, request):
            fd = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(fd, b"call\\n")
            os.close(fd)
            if request.answer is not None:
                yes = request.answer["properties"]["score"]["type"] == "boolean"
                return Answer(input_tokens=9, output_tokens=9, data={"evidence": [{"turn": 0, "quote": "I need"}], "justification": "It fits.", "score": True if yes else 3})
            return Answer(text="Thanks! TERMINATE" if "<transcript>" in request.prompt else "I need something done.", input_tokens=9, output_tokens=9)

    def pytest_personalens_model(spec, config):
        return Model() if spec == "m" else None

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: "It is booked for Thursday at 16:00."
"""


def texts(repo: Repository) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in records(repo)}


def command(result: pytest.RunResult) -> list[str]:
    """The words of the command that the summary names; it must name one only."""
    (line,) = [line for line in result.outlines if "pytest " in line and "--personalens-record new" in line]
    return shlex.split(line[line.index("pytest ") :])[1:]


def test_new_asks_only_for_what_no_record_fits(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paid.run("--personalens-sample=2", *MODELS, "--personalens-record=new").assert_outcomes(passed=2)
    before, _ = texts(paid), calls(paid)
    grown = paid.run("--personalens-sample=4", *MODELS, "--personalens-record=new")
    grown.stdout.fnmatch_lines(["records: 2 replayed, 2 written"])
    assert calls(paid) == 2 * 5
    assert before.items() <= texts(paid).items()
    monkeypatch.setenv("CHANGE", "!")
    paid.run("--personalens-sample=4", *MODELS, "--personalens-record=new").stdout.fnmatch_lines(
        ["records: 4 written"]
    )
    assert calls(paid) == 4 * 4, "the opening is equal evidence still"


def test_all_asks_for_everything(paid: Repository) -> None:
    run, args = paid.run_with_cache, (*KEPT, "--personalens-sample=2", *MODELS)
    run(*args, "--personalens-record=live")
    assert calls(paid) == 10
    for _ in range(2):
        run(*args, "--personalens-record=all").stdout.fnmatch_lines(["records: 2 written"])
        assert calls(paid) == 10, "neither a record nor what an earlier run kept is used"
    assert run(*args, "--personalens-record=none").ret == 0
    assert calls(paid) == 0


@pytest.mark.slow
def test_all_goes_on_where_it_was_broken_off_if_asked_to(paid: Repository) -> None:
    run = paid.run_with_cache
    args = (*KEPT, "--personalens-sample=4", *MODELS, "--personalens-record")
    run(*args, "new")
    calls(paid)
    paid.write(
        test_bot="""
        import os, pathlib

        def test_bot(personalens):
            personalens.check()
            if not pathlib.Path("broken").exists():
                pathlib.Path("broken").touch()
                os._exit(9)
        """
    )
    run(*args, "all", "--personalens-resume")
    assert calls(paid) == 5
    run(*args, "all", "--personalens-resume").assert_outcomes(passed=4)
    assert calls(paid) == 3 * 5


def test_the_mode_is_read_from_the_configuration_and_the_command_line_wins(paid: Repository) -> None:
    paid.pytester.makeini("[pytest]\npersonalens_record = new\n")
    args = ("--personalens-sample=1", *MODELS)
    assert paid.run(*args, "--personalens-record=none").ret == 1
    assert calls(paid) == 0
    paid.run(*args).stdout.fnmatch_lines(["records: 1 written"])
    assert_usage_error(
        paid.run(*args, "--personalens-record=some"), "ERROR: --personalens-record: *none*new*all*'some'*"
    )


@pytest.mark.parametrize("flag", ["--snapshot-update", "--snapshot-update-new-only"])
def test_syrupys_options_neither_pay_nor_write_and_the_run_says_what_does(
    paid: Repository, monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    args = ("--personalens-sample=2", *MODELS)
    missing = paid.run(*args, flag)
    missing.assert_outcomes(failed=2)
    assert (calls(paid), records(paid)) == (0, [])
    assert paid.run(*command(missing)).ret == 0
    before, _ = texts(paid), calls(paid)
    fitting = paid.run(*args, flag)
    assert "--personalens-record" not in str(fitting.stdout)
    monkeypatch.setenv("CHANGE", "!")
    stale = paid.run(*args, flag)
    stale.assert_outcomes(failed=2)
    assert flag not in command(stale), "it would accept the team's own snapshots"
    assert (calls(paid), texts(paid)) == (0, before)


@pytest.mark.parametrize("mode", ["new", "all"])
def test_the_teams_own_snapshots_are_never_accepted_by_ours(repo: Repository, mode: str) -> None:
    repo.write(test_own=OWN_SNAPSHOT)
    args = ("--personalens-sample=1", "--personalens-gate=none", "--personalens-record", mode)
    repo.run(*args).assert_outcomes(passed=1, failed=1)
    assert not list(repo.path.rglob("__snapshots__"))
    repo.run("--snapshot-update")
    (own,) = repo.path.rglob("__snapshots__/*")
    before = own.read_bytes()
    repo.write(test_own=OWN_SNAPSHOT.replace("{}", "{1: 2}"))
    repo.run(*args).assert_outcomes(passed=1, failed=1)
    assert own.read_bytes() == before
    assert len(records(repo)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_cap_stops_a_recording_run_in_order_and_the_next_one_goes_on(
    paid: Repository, workers: tuple[str, ...]
) -> None:
    run = paid.run_with_cache
    # A cap counts the calls of models, so here a model plays the user and judges.
    paid.write(conftest=MODEL)
    args = (
        *KEPT,
        "--personalens-sample=6",
        "--personalens-user-model=m",
        "--personalens-judge-model=m",
        *workers,
    )
    first = run(*args, "--personalens-record=new", "--personalens-budget=10calls")
    assert calls(paid) == 10
    first.stdout.fnmatch_lines(
        ["not scored: *, the cap on calls or money was reached; what was bought is kept*"]
    )
    written = texts(paid)
    second = run(*args, "--personalens-record=new")
    second.assert_outcomes(passed=6)
    assert calls(paid) == 6 * 4 - 10, "nothing is bought twice"
    assert written.items() <= texts(paid).items()
    run(*args).stdout.fnmatch_lines(["records: 6 replayed"])
    assert calls(paid) == 0


def test_all_with_a_cap_goes_on_under_resume(paid: Repository) -> None:
    run = paid.run_with_cache
    paid.write(conftest=MODEL)
    args = (
        *KEPT,
        "--personalens-sample=3",
        "--personalens-user-model=m",
        "--personalens-judge-model=m",
        "--personalens-record",
    )
    run(*args, "new")
    assert calls(paid) == 3 * 4
    run(*args, "all", "--personalens-resume", "--personalens-budget=7calls")
    assert calls(paid) == 7
    run(*args, "all", "--personalens-resume").assert_outcomes(passed=3)
    assert calls(paid) == 3 * 4 - 7


def test_one_command_mends_all_and_can_be_pasted(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paid.run("--personalens-sample=2", *MODELS, "--personalens-record=new")
    calls(paid)
    monkeypatch.setenv("CHANGE", "!")
    paid.pytester.makeini("[pytest]\npersonalens_gate = p >= 5\n")  # which -o below puts right
    args = ("--personalens-sample=4", *MODELS, "-o", "personalens_gate=p >= 2", "--personalens-record=none")
    result = paid.run(*args)
    result.assert_outcomes(failed=2 + 2 + 2)
    again = command(result)
    assert again[-2:] == ["--personalens-record", "new"]
    assert "--personalens-record=none" not in again
    paid.run(*again).assert_outcomes(passed=6)
    assert paid.run(*args).ret == 0


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_commands_keep_what_overrides_the_configuration(repo: Repository, workers: tuple[str, ...]) -> None:
    (repo.path / "other.ini").write_text("[pytest]\npersonalens_threshold = p>=4\n")
    result = repo.run(
        "--personalens-sample=1",
        "-c",
        "other.ini",
        "-opersonalens_context=none",
        "-o",
        "personalens_max_turns=3",
        *workers,
    )
    (again,) = {line.partition("again:")[2].strip() for line in result.outlines if "again:" in line}
    words = shlex.split(again)[1:]
    assert words[:2] == ["-c", "other.ini"]
    assert words[2:6] == ["-o", "personalens_context=none", "-o", "personalens_max_turns=3"]
    repo.run(*words).assert_outcomes(failed=1)


@pytest.mark.slow
def test_a_stale_item_shows_the_first_reply_that_differs(
    paid: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("--personalens-sample=1", *MODELS)
    paid.run(*args, "--personalens-record=new")
    said = (paid.path / "conftest.py").read_text()
    more = '("\\nand more\\x1b[2J" if len(messages) >= int(os.environ["FROM"]) else "")'
    paid.write(conftest=said.replace('f"answer {len(messages)}"', 'f"answer {len(messages)}" + ' + more))
    for turn in (1, 3, 5):
        monkeypatch.setenv("FROM", str(turn))
        result = paid.run(*args)
        assert f"the record is stale (the assistant's turn {turn} differs)" in unwrapped(result)
        result.stdout.fnmatch_lines([f"    - answer {turn}", f"    + answer {turn}\\nand more\\x1b[[]2J"])


def test_a_difference_far_into_a_long_reply_is_shown_in_short(paid: Repository) -> None:
    text = (paid.path / "conftest.py").read_text()
    args = ("--personalens-sample=1", *MODELS)
    for end in ("until noon", "until nine"):
        paid.write(
            conftest=text.replace(
                'f"answer {len(messages)}"', f'"word " * 100 + "open {end}, " + "word " * 100'
            )
        )
        result = paid.run(*args, *(("--personalens-record=new",) if end == "until noon" else ()))
    result.stdout.re_match_lines(
        [r"^    - \.\.\..*until noon.*\.\.\.$", r"^    \+ \.\.\..*until nine.*\.\.\.$"]
    )
    assert all(len(line) < 130 for line in result.outlines if re.match(r" +[-+] \.\.\.", line))


def test_another_dimension_is_said_to_be_missing(paid: Repository) -> None:
    args = ("--personalens-sample=1", *MODELS)
    paid.run(*args, "--personalens-record=new")
    result = paid.run(*args, "--personalens-dimensions=all")
    result.stdout.fnmatch_lines(
        ["*the record is stale (no verdict on nat-user for this dialogue); record it with *"]
    )


@pytest.mark.slow
def test_a_record_of_another_scenario_is_replaced_on_request_only(repo: Repository) -> None:
    args = ("--personalens-sample=2", "--personalens-gate=none")
    repo.run(*args, "--personalens-record=new")
    one, other = records(repo)
    other.write_bytes(one.read_bytes())
    repo.run(*args).stdout.fnmatch_lines(
        ["*the record belongs to scenario *; record it with --personalens-record new"]
    )
    assert repo.run(*args, "--personalens-record=new").ret == 0
    repo.run(*args).stdout.fnmatch_lines(["records: 2 replayed"])


@pytest.mark.slow
def test_what_another_test_has_on_record_is_not_bought_again(paid: Repository) -> None:
    args = ("--personalens-sample=2", *MODELS)
    paid.run(*args, "--personalens-record=new")
    assert calls(paid) == 10
    forget_calls()
    paid.write(sub__test_other=TEST)
    result = paid.run(*args, "--personalens-record=new")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["records: 2 replayed, 2 written"])
    assert calls(paid) == 0
    # Each has a record of its own now, which stands alone.
    for path in paid.path.glob("__personalens__/**/*.json"):
        path.unlink()
    paid.run(*args, "sub").stdout.fnmatch_lines(["records: 2 replayed"])


def test_a_renamed_test_replays_its_old_records(paid: Repository) -> None:
    args = ("--personalens-sample=2", *MODELS)
    paid.run(*args, "--personalens-record=new")
    calls(paid)
    forget_calls()
    (paid.path / "test_bot.py").rename(paid.path / "test_renamed.py")
    assert paid.run(*args).ret == 0
    assert calls(paid) == 0


@pytest.mark.parametrize("mode", ["live", "new"])
def test_a_renamed_test_is_not_bought_again_whatever_the_mode(paid: Repository, mode: str) -> None:
    args = ("--personalens-sample=2", *MODELS, f"--personalens-record={mode}")
    paid.run(*args)
    assert calls(paid) == 10
    (paid.path / "test_bot.py").rename(paid.path / "test_renamed.py")
    paid.write(test_other=TEST)
    assert paid.run(*args).ret == 0
    assert calls(paid) == 0


def test_within_a_run_the_second_test_of_a_scenario_pays_for_nothing(paid: Repository) -> None:
    paid.write(
        test_second=TEST,
        test_third="import pytest\n@pytest.mark.parametrize('n', ['a', 'b-c'])\ndef test_x(n, personalens):\n    personalens.check()\n",
    )
    paid.run("--personalens-sample=2", *MODELS, "--personalens-record=new").assert_outcomes(passed=8)
    assert calls(paid) == 2 * 5


def test_dialogues_of_other_tests_are_taken_as_far_as_they_are_equal(paid: Repository) -> None:
    args = ("--personalens-sample=1", *MODELS, "--personalens-record=new")
    paid.run(*args)
    calls(paid)
    forget_calls()
    text = (
        (paid.path / "conftest.py")
        .read_text()
        .replace('f"answer {len(messages)}"', 'f"answer {len(messages)}" + "!" * (len(messages) > 1)')
    )
    paid.write(conftest=text, test_other=TEST)
    paid.run(*args, "test_other.py").assert_outcomes(passed=1)
    assert calls(paid) == 1 + 2, "the last question, after the reply that differs, and two readings"


def test_trials_and_controls_stay_apart(paid: Repository) -> None:
    args = (
        "--personalens-sample=1",
        *MODELS,
        "--personalens-record=new",
        "--personalens-trials=2",
        "--personalens-control=no-context",
    )
    paid.run(*args)
    assert calls(paid) == 4 * 5
    forget_calls()
    paid.write(test_other=TEST)
    paid.run(*args)
    assert calls(paid) == 0, "each from its own like"


@pytest.mark.parametrize("damage", ["{", "edited"])
def test_a_damaged_record_of_another_test_is_no_source(paid: Repository, damage: str) -> None:
    args = ("--personalens-sample=1", *MODELS, "--personalens-record=new")
    paid.run(*args)
    calls(paid)
    (path,) = records(paid)
    data = json.loads(path.read_text())
    data["verdicts"][0]["score"] = 0
    path.write_text(json.dumps(data) if damage == "edited" else damage)
    forget_calls()
    paid.write(test_other=TEST)
    paid.run(*args, "test_other.py").assert_outcomes(passed=1)
    assert calls(paid) == 5


@pytest.mark.parametrize("place", ["node_modules", ".venv", "env"])
def test_records_of_what_is_installed_are_no_source(paid: Repository, place: str) -> None:
    args = ("--personalens-sample=1", *MODELS, "--personalens-record=new")
    paid.run(*args)
    calls(paid)
    (paid.path / place / "tests").mkdir(parents=True)
    if place == "env":
        (paid.path / "env" / "pyvenv.cfg").touch()
    (paid.path / "__personalens__").rename(paid.path / place / "tests" / "__personalens__")
    forget_calls()
    paid.write(test_bot=TEST)
    paid.run(*args, "test_bot.py")
    assert calls(paid) == 5


@pytest.mark.slow
def test_a_record_that_is_stale_stays_so_though_another_test_has_all(
    paid: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("--personalens-sample=1", *MODELS)
    paid.run(*args, "--personalens-record=new")
    monkeypatch.setenv("CHANGE", "!")
    paid.write(test_other=TEST)
    paid.run(*args, "--personalens-record=new", "test_other.py")
    calls(paid)
    result = paid.run(*args)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["records: 1 replayed, 1 stale (another dialogue than now)"])
    assert paid.run(*command(result)).ret == 0
    assert calls(paid) == 0
    paid.run(*args).stdout.fnmatch_lines(["records: 2 replayed"])


def test_a_live_run_takes_what_other_tests_have_on_record_and_writes_none(paid: Repository) -> None:
    args = ("--personalens-sample=1", *MODELS)
    paid.run(*args, "--personalens-record=new")
    calls(paid)
    paid.write(test_other=TEST)
    before = texts(paid)
    result = paid.run(*args, "--personalens-record=live")
    result.assert_outcomes(passed=2)
    assert (calls(paid), texts(paid)) == (0, before)
    assert "--personalens-record" not in str(result.stdout)


def test_docs_and_make_targets_speak_of_the_option() -> None:
    files = [ROOT / "Makefile", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    told = {file.name for file in files if "--snapshot-update" in file.read_text(encoding="utf-8")}
    assert told <= {"records.md"}, "syrupy's options are named only where they are told from ours"
    assert "--personalens-record" in (ROOT / "Makefile").read_text(encoding="utf-8")
