"""The plugin's surface, through pytest itself: items, fixtures, selection, options and errors."""

from __future__ import annotations

import gc
import os
import re
import shlex
from xml.etree import ElementTree as ET

import pytest

from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.results.shards import read_computed
from tests.support.processes.runs import assert_ended, assert_one_line, collect_ids
from tests.support.repository import Repository
from tests.support.scripted_agents import BOT, TOLD, TOLD_AGENTS


def test_without_a_sample_each_test_is_skipped_once_with_a_reason(repo: Repository) -> None:
    repo.write(test_other="def test_plain(): pass\ndef test_scenario(personalens_scenario): pass\n")
    assert_ended(repo.inline("-rs"), 0, "*--personalens-sample N*", passed=1, skipped=2)


def test_a_sample_makes_one_item_of_each_scenario(repo: Repository) -> None:
    head = "personalens: 5 scenarios of embedded *, seed 'personalens'*"
    end = (
        "*= personalens =*",
        "*items*scored*TCR*P*Facts*Intr.",
        "overall *5 *5 *",
        "dialogues: * user turns on *",
    )
    item = "test_bot.py::test_bot[[]*-*-*[]] PASSED*"
    assert_ended(repo.inline("--personalens-sample=5", "-v"), 0, head, item, *end, passed=5)


@pytest.mark.slow
def test_the_built_in_suite_runs_where_there_is_no_test(empty_repo: Repository) -> None:
    empty_repo.write(conftest=BOT, test_unit="def test_unit(): pass\n")
    for args in ((), ("-n", "2"), (".",)):
        empty_repo.run("--personalens-sample=4", *args).assert_outcomes(passed=5)
    result = empty_repo.run("--personalens-sample=4", "-k", "[books-1-nobody] or books", "-v")
    result.stdout.fnmatch_lines(["personalens::test_personalens[[]books*[]] PASSED*"])
    assert empty_repo.run("--personalens-sample=4", "test_unit.py").ret == 4, "nothing of the sample is run"


def test_items_are_selected_by_mark_also_with_workers(repo: Repository) -> None:
    sample, multi = ("--personalens-sample=20", "--strict-markers"), ("-m", "personalens(kind='multi')")
    every, of_kind = collect_ids(repo, *sample), collect_ids(repo, *sample, *multi)
    assert of_kind == [case for case in every if case.startswith("multi-")] != []
    repo.write(
        test_bot="def test_bot(personalens_scenario):\n    assert personalens_scenario.kind == 'multi'\n"
    )
    repo.run(*sample, *multi, "-n", "2").assert_outcomes(passed=len(of_kind))
    # Each domain of an item selects it.
    args = ("--personalens-sample=12", "--personalens-kind=multi")
    assert len(collect_ids(repo, *args)) == 12
    both = "personalens(domain='Restaurants') and personalens(domain='Movies')"
    assert 0 < len(collect_ids(repo, *args, "-m", both)) < 12


NATIVE = pytest.mark.skipif(pytest.version_tuple < (9,), reason="[tool.pytest] is read since pytest 9")
#: The tests of a file, the arguments, and how many pass.
PASSING = {
    "the fixtures of a scenario and its context": ("""
        def test_bot(personalens_scenario, personalens_context):
            assert personalens_context.user == personalens_scenario.user
            assert personalens_context.demographics == {}
            assert personalens_context.interactions == personalens_scenario.summaries
            assert personalens_context.situation is None
        """, ("-opersonalens_context=I",), 3),
    "an async object as the assistant": ("""
        import asyncio, pytest

        class Bot:
            async def __call__(self, messages):
                await asyncio.sleep(0)
                return "I've booked it for 19:30, reference QX77."

        @pytest.fixture
        def personalens_assistant():
            return Bot()

        def test_bot(personalens):
            assert 'QX77' in personalens.evaluate().dialogue.messages[1].content
        """, (), 3),
    "dimensions": ("""
        def test_bot(personalens):
            assert len(personalens.evaluate().verdicts) == 4
        """, ("--personalens-dimensions=all",), 3),
    "asserts of one's own, with the garbage collector off while items are collected": ("""
        import gc
        from pytest_personalens import Evaluation

        def test_bot(personalens):
            evaluation = personalens.evaluate()
            assert isinstance(evaluation, Evaluation)
            assert evaluation.personalization in (1, 2, 3, 4)
            assert evaluation.dialogue.messages[0].role == "user"
            assert personalens.evaluate() is evaluation
            assert gc.isenabled() and gc.get_freeze_count()
        """, (), 3),
    "a test that changes its scenario changes no other": ("""
        def test_one(personalens_scenario):
            assert personalens_scenario.preferences.popitem()
        test_two = test_one
        """, (), 6),
    "thresholds of marks, and of an option": ("""
        import pytest

        @pytest.mark.personalens(p=4, tc=False)
        def test_strict(personalens): personalens.check()

        @pytest.mark.personalens(p=1, tc=False)
        def test_lenient(personalens): personalens.check()
        """, ("-opersonalens_context=none", "-opersonalens_threshold=p>=1,tc>=0"), 6),
}  # fmt: skip


@pytest.mark.parametrize("name", PASSING)
def test_what_a_test_is_given(repo: Repository, name: str) -> None:
    text, args, passed = PASSING[name]
    repo.write(test_bot=text)
    before = gc.get_freeze_count()
    repo.inline("--personalens-sample=3", *args).assert_outcomes(passed=passed)
    assert gc.isenabled() and gc.get_freeze_count() <= before
    if "threshold" in name:
        outcomes = repo.inline("--personalens-sample=3", args[0]).parseoutcomes()
        assert outcomes["failed"] >= 2 and outcomes["passed"] >= 3


def test_a_failing_item_shows_what_it_takes_to_understand_it(repo: Repository) -> None:
    repo.bot("'I will see. \\x1b[31mred'")
    result = repo.run("--personalens-sample=1", "--personalens-seed=my seed", "-opersonalens_threshold=p>=3")
    result.stdout.fnmatch_lines([
        "E   task not completed: *", "E   personalization ?, below the required 3: *", "wants: *", "goal: *", "known: *",
        "*0 user *", "*1 assistant I will see. *x1b[[]31mred*", "task completion: no*", "personalization: ? (1 to 4), *",
        "again:  pytest -o 'personalens_threshold=p>=3' --personalens-sample 1 --personalens-seed 'my seed' 'test_bot.py::test_bot[[]*[]]'",
        "test_bot.py:*: Failed",
    ])  # fmt: skip
    assert "\x1b[31mred" not in result.stdout.str()
    repo.run(*again(result)).assert_outcomes(failed=1)


def again(result: pytest.RunResult) -> list[str]:
    """The arguments of the command that runs a failed item again."""
    line = next(line for line in result.outlines if line.startswith("again:"))
    return shlex.split(line.split("pytest ", 1)[1])


@pytest.mark.parametrize("where", ["at a desk", "in CI"])
def test_a_dialogue_is_printed_once(repo: Repository, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where it is set, pytest's short summary repeats messages whole.
    monkeypatch.setenv("CI", "true") if where == "in CI" else monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("BUILD_NUMBER", raising=False)
    repo.bot("'I will see to it for 19:30.'")
    result = repo.run("--personalens-sample=1", "-opersonalens_threshold=p>=4", "--junitxml", "junit.xml")
    assert result.stdout.str().count("\nagain:") == 1
    # What was wrong begins at once: the id stands before it, and 80 columns hold little more.
    start = r"FAILED test_bot.py::test_bot\[.*\] - (task not completed: |p \d < 4: |p \d.*\.\.\.).*"
    result.stdout.re_match_lines([start])
    (failure,) = ET.parse(repo.path / "junit.xml").iter("failure")
    assert "\n" not in failure.attrib["message"] and "again: " in (failure.text or "")


#: What an assistant returns -> why its dialogue is not scored.
FAULTS = {
    "1 / 0": "the assistant raised ZeroDivisionError: division by zero",
    "int('\\ud800\\n\\x1b[31m')": "the assistant raised ValueError: invalid literal for int",
    "None": "the assistant returned NoneType; it must return text (str)",
    "''": "the assistant returned an empty text",
    "__import__('time').sleep(30)": "did not answer within 0.2 s",
}


@pytest.mark.parametrize("gate", [(), ("--personalens-gate=tcr >= 0.5",)], ids=["no gate", "a gate"])
def test_a_faulty_assistant(repo: Repository, gate: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # what was wrong is wrapped to the terminal
    for answer, told in FAULTS.items():
        repo.bot(answer)
        result = repo.inline("--personalens-sample=1", "-o", "personalens_turn_timeout=0.2", *gate)
        fault = f"*not scored, assistant at fault: *{told}*"
        assert_ended(result, 1, fault, "*0 user *", "not scored: 1, the assistant failed")


def test_a_fixture_that_cannot_be_called(repo: Repository) -> None:
    for fixture, told in (
        ("return 42", "int, which cannot be called"),
        ("return", "NoneType"),
        ("yield 'bot'", "str"),
    ):
        repo.write(conftest=f"import pytest\n@pytest.fixture\ndef personalens_assistant():\n    {fixture}\n")
        result = repo.inline("--personalens-sample=9")
        assert_ended(result, 1, f"*personalens_assistant returned {told}*", errors=1)
        result.stdout.no_fnmatch_line("*Traceback*")


def test_without_an_assistant_lines_are_given_to_paste(repo: Repository) -> None:
    repo.write(conftest="")
    result = assert_ended(repo.inline("--personalens-sample=9"), 1, errors=1)
    assert not re.search("shards|\noverall ", result.stdout.str())
    lines = [line.removeprefix("    ") for line in result.outlines]
    start = lines.index("import pytest")
    repo.write(conftest="\n".join(lines[start : start + 10]) + "\n")
    repo.inline("--personalens-sample=1", "--personalens-gate=none").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("--personalens-domain=Opera", "unknown domain 'Opera'; known: Alarm, Books"),
        ("--personalens-domain=Opera -n 2", "unknown domain 'Opera'"),
        ("--personalens-data=/nowhere", "no such folder"),
        ("--personalens-data=.", "not a data folder"),
        ("-opersonalens_users=bob", "unknown user 'bob'"),
        ("-opersonalens_users=kenji --personalens-domain=Games", "no scenario of dataset 'embedded' fits"),
        ("--personalens-judge-model=oracle", "--personalens-judge-model: no provider knows 'oracle'"),
        ("--personalens-user-model=acme:x", "--personalens-user-model: no provider knows 'acme:x'"),
        ("--personalens-judge-model=bedrock-agent:A/B", "--personalens-judge-model: no provider knows 'bedrock-agent:A/B'"),
        ("--personalens-judge-model=bedrock:x?regoin=us", "'bedrock:x?regoin=us': unknown parameter 'regoin'"),
        ("-opersonalens_prompts=nowhere", "nowhere: no such folder of prompt templates"),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_is_one_line_and_exit_4(repo: Repository, given: str, told: str) -> None:
    run = repo.run if "-n" in given else repo.inline
    assert_one_line(run("--personalens-sample=1", *shlex.split(given)), f"*{told}*")


@pytest.mark.parametrize("more", [(), ("-o", "personalens_domain=")], ids=["as it is", "set back"])
def test_commands_set_back_what_is_configured(repo: Repository, more: tuple[str, ...]) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_domain = Train\n", encoding="utf-8")
    sample = "-opersonalens_users=nia", "--personalens-sample=3", "--personalens-gate=tcr >= 1, p >= 4"
    repo.inline(*sample, "--personalens-report=page.html", "--personalens-report=results.json", *more)
    page = (repo.path / "page.html").read_text(encoding="utf-8")
    comment = markdown_report(read_computed(repo.path / "results.json"), brief=True)
    assert ("-o personalens_domain= " in page) == bool(more)
    assert bool(re.search("Re-run: .*-o personalens_domain= ", comment)) == bool(more)


_INI = "[pytest]\npersonalens_sample = 3\npersonalens_domain =\n    Movies\n    Train\npersonalens_gate = p >= 1.0\n"
_TOML = '[tool.pytest]\nstrict = true\npersonalens_sample = 3\npersonalens_domain = ["Movies", "Train"]\npersonalens_gate = ["p >= 1.0"]\n'


@pytest.mark.parametrize(("file", "text"), [("pytest.ini", _INI), pytest.param("pyproject.toml", _TOML, marks=NATIVE)])  # fmt: skip
def test_keys_are_typed_and_the_command_line_wins(repo: Repository, file: str, text: str) -> None:
    (repo.path / file).write_text(text)
    result = assert_ended(repo.inline("-v"), 0, passed=5)
    items = [line for line in result.outlines if "test_bot[" in line]
    assert all(any(domain in line for domain in ("movies", "train", "multi")) for line in items)
    repo.inline("--personalens-sample=2").assert_outcomes(passed=4)


def test_marks_set_a_test_up_between_ini_and_command_line(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 3\npersonalens_context = DIS\n")
    repo.write(test_bot="""
        import pytest

        @pytest.mark.personalens(domain="Movies", context="none", sample=2)
        def test_movies(personalens_scenario, personalens_context):
            assert "Movies" in personalens_scenario.domains and personalens_context.text() == ""
        """)  # fmt: skip
    repo.inline().assert_outcomes(passed=2)
    repo.inline("-opersonalens_context=D").assert_outcomes(failed=2)
    repo.inline("--personalens-sample=1").assert_outcomes(passed=1)
    repo.inline("--personalens-sample=4").assert_outcomes(passed=2)


_TWO_MARKED = """
import pytest

@pytest.mark.personalens(domain="Restaurants", sample=3)
def test_table(personalens):
    assert "Restaurants" in personalens.evaluate().domains

@pytest.mark.personalens(kind="single")
def test_any(personalens):
    personalens.evaluate()
"""


@pytest.mark.slow
def test_a_mark_and_the_command_line_narrow_each_other(repo: Repository) -> None:
    repo.write(test_bot=_TWO_MARKED)
    args, line = ("--personalens-sample=2", "--personalens-gate=none", "-rs", "-v"), "and the command line"
    for given, outcome, told in (
        ("--personalens-domain=music --personalens-kind=single", {"passed": 2, "skipped": 1}, f"*test_table: no scenario fits both its mark (domain='Restaurants') {line} (--personalens-domain music --personalens-kind single)"),
        ("--personalens-domain=Travel,Restaurants", {"passed": 4}, "*"),
        # Of the two domains, a scenario must span one of the mark's too.
        ("--personalens-domain=movies -k test_table", {"passed": 2}, "*test_table[[]multi-*"),
        ("--personalens-kind=multi", {"passed": 2, "skipped": 1}, f"*test_any: no scenario fits both its mark (kind='single') {line} (--personalens-kind multi)"),
    ):  # fmt: skip
        assert_ended(repo.inline(*args, *given.split()), 0, told).assert_outcomes(**outcome)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_mark_and_a_command_line_that_leave_nothing(repo: Repository, workers: tuple[str, ...]) -> None:
    repo.write(test_bot=_TWO_MARKED)
    options = "--personalens-sample=2", "--personalens-domain=Music", "--personalens-kind=multi", *workers
    told = "*test_bot.py::test_table: no scenario fits both its mark *, so nothing is tested"
    assert_one_line(repo.run(*options), told)


@pytest.mark.slow
def test_classes_parameters_and_sets_in_marks(repo: Repository) -> None:
    repo.write(test_bot="""
        import pytest

        @pytest.mark.personalens(domain={"Movies", "Train"}, kind="single")
        class TestBot:
            @pytest.mark.parametrize("tone", ["a b", "c"])
            def test_bot(self, tone, personalens):
                assert personalens.scenario.domains[0] in ("Movies", "Train")
                personalens.check()
        """)  # fmt: skip
    args = ("--personalens-sample=2",)
    repo.run(*args, "--personalens-record=new", "-n", "2").assert_outcomes(passed=4)
    result = repo.run(*args, "-opersonalens_threshold=p>=4")
    assert_ended(result, 1, "records: 4 replayed", failed=2, passed=2)
    repo.run(*again(result)).assert_outcomes(failed=1)


def test_the_markers_and_fixtures_explain_themselves(repo: Repository) -> None:
    repo.inline("--markers").stdout.fnmatch_lines(["@pytest.mark.personalens(domain, kind, *"])
    fixtures = repo.inline("--fixtures").stdout.str()
    for name in ("personalens", "personalens_assistant", "personalens_context", "personalens_scenario"):
        assert f"\n{name} -- " in fixtures
    ours = fixtures.split("pytest_personalens.plugin", 1)[1].split("fixtures defined from")[0]
    assert "no docstring available" not in ours


#: As pytest-forked does it.
FORKS = """
    import json, os
    from _pytest.runner import runtestprotocol

    def pytest_runtest_protocol(item, nextitem):
        hook, config = item.ihook, item.config
        receive, send = os.pipe()
        if os.fork() == 0:
            reports = runtestprotocol(item, log=False, nextitem=nextitem)
            with os.fdopen(send, "w") as out:
                json.dump([hook.pytest_report_to_serializable(config=config, report=one) for one in reports], out)
            os._exit(0)
        os.close(send)
        with os.fdopen(receive) as told:
            for data in json.load(told):
                hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=config, data=data))
        os.wait()
        return True
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_results_of_an_item_that_runs_in_a_fork_arrive(repo: Repository) -> None:
    repo.write(conftest=BOT + FORKS)
    result = repo.run("--personalens-sample=3", "--personalens-gate=p >= 1, valid >= 1")
    valid = "gate valid: passed, 3 of 3 items could be scored; the floor is 100%"
    result.stdout.fnmatch_lines(["overall * 3 * 3 *", valid])


def test_the_reading_that_failed_stands_first_and_marks_its_turns_alone(told: Repository) -> None:
    told_why = 'score=1, justification="asks again" if dimension.short == "p" else "done"'
    turn = 'int(dimension.short == "p")'
    quoted = f"evidence=(Evidence.of({turn}, dialogue.messages[{turn}].content),)"
    judge = TOLD.replace("import UserTurn", "import Evidence, UserTurn")
    told.write(conftest=judge.replace('score=score, justification="told"', f"{told_why}, {quoted}"))
    result = told.inline("--personalens-sample=1", *TOLD_AGENTS)
    result.stdout.fnmatch_lines([
        "E   personalization 1, below the required 2: asks again", "wants: *", "task completion: yes, done",
        "personalization: 1 (1 to 4), asks again", "again: *",
    ])  # fmt: skip
    marked = [line[:6] for line in result.outlines if re.match(r">\s+\d+ (user|assistant)", line)]
    assert marked == [">    1"]
