"""Tests, plugins and datasets beside ours that the plugin was not made for are told in one line."""

from __future__ import annotations

import re

import pytest

from tests.support.processes.runs import assert_ended, assert_usage_error
from tests.support.repository import Repository
from tests.support.scripted_agents import BOT, TOLD_AGENTS, TOLD_ALONE

SAMPLE = ("--personalens-sample=2", "-opersonalens_threshold=p>=1")
AUTOUSE = f"{BOT}\n    @pytest.fixture(autouse=True)\n    def everywhere(FIXTURE):\n        pass\n"
UNIT = "import unittest\n\nclass TestUnit(unittest.TestCase):\n    def test_unit(self):\n        pass\n"
ONE_LINE = "*personalens: methods of unittest.TestCase and doctests cannot stand for scenarios; write a *"


@pytest.mark.parametrize("fixture", ["personalens", "personalens_scenario", "personalens_context"])
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "workers"])
def test_unittest_and_doctest(repo: Repository, fixture: str, workers: tuple[str, ...]) -> None:
    documented = 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n'
    repo.write(conftest=AUTOUSE.replace("FIXTURE", fixture), test_unit=UNIT, documented=documented)
    result = repo.run(*SAMPLE, "--doctest-modules", *workers)
    assert_ended(result, 1, ONE_LINE, ONE_LINE, passed=2, errors=2)
    if fixture == "personalens_scenario" and not workers:
        repo.inline().assert_outcomes(skipped=2)  # without a sample
    assert not re.search("Traceback|INTERNALERROR", str(result.stdout) + str(result.stderr))


def test_pytest_snapshot_beside_syrupy(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "pytest_snapshot/__init__.py": "",
        "pytest_snapshot/plugin.py": "def pytest_addoption(parser):\n    parser.addoption('--snapshot-update', action='store_true')\n",
        "pytest_snapshot-0.9.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: pytest-snapshot\nVersion: 0.9.0\n",
        "pytest_snapshot-0.9.0.dist-info/entry_points.txt": "[pytest11]\nsnapshot = pytest_snapshot.plugin\n",
    }.items():
        (repo.path / "installed" / name).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / "installed" / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(repo.path / "installed"))
    told = "ERROR: personalens: pytest-snapshot and syrupy, *; run with -p no:syrupy *"
    assert_usage_error(repo.run(), told)
    assert repo.run("-p", "no:snapshot", *SAMPLE).ret == 0
    assert repo.run("-p", "no:syrupy", *SAMPLE).ret == 0


@pytest.mark.parametrize("value", ["None", "'a text'", "snapshot.with_defaults()"])
def test_a_fixture_of_ones_own_that_is_called_snapshot(repo: Repository, value: str) -> None:
    asks = "snapshot" if "snapshot" in value else ""
    repo.write(conftest=BOT + f"\n    @pytest.fixture\n    def snapshot({asks}):\n        return {value}\n")
    repo.inline(*SAMPLE, "--personalens-record=new").assert_outcomes(passed=2)
    assert_ended(repo.inline(*SAMPLE), 0, "records: 2 replayed", passed=2)


def test_usage_errors_of_others_keep_their_lines(repo: Repository) -> None:
    raises = "def pytest_collection_finish():\n        raise pytest.UsageError('one\\ntwo')\n"
    repo.write(conftest=f"{BOT}\n    {raises}")
    assert_usage_error(repo.inline(*SAMPLE), "ERROR: one", "two")


def test_each_property_is_written_once_beside_native_subtests(repo: Repository) -> None:
    pytest.importorskip("_pytest.subtests", reason="this pytest has no subtests of its own")
    subtests = "for number in range(3):\n        with subtests.test(number=number):\n            pass\n"
    repo.write(test_bot=f"def test_bot(personalens, subtests):\n    personalens.evaluate()\n    {subtests}")
    repo.inline(*SAMPLE, "--junitxml=junit.xml")
    text = (repo.path / "junit.xml").read_text()
    assert text.count('name="personalens_task_completion"') == 2  # of two items


def test_collecting_with_workers_where_warnings_are_errors(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    for args in (SAMPLE, ()):
        result = repo.run(*args, "--collect-only", "-q", "-n", "2")
        assert result.ret == 0
        assert "syrupy" not in result.stdout.str() + result.stderr.str()


def test_groups_that_xdist_takes_apart_are_told(repo: Repository) -> None:
    marked = "import pytest\n\n@pytest.mark.xdist_group('g')\ndef test_{}():\n    pass\n"
    repo.write(test_own=marked.format("own"))
    told = "personalens: 1 test marked xdist_group ran in any worker: *--dist loadscope or loadfile"
    for dist, tells in (("loadgroup", True), ("load", False)):
        result = repo.run(*SAMPLE, "-n", "2", f"--dist={dist}", "-v")
        kept = "test_own.py::test_own@g" in result.stdout.str()  # as the versions before did
        if tells and not kept:
            result.stdout.fnmatch_lines([told])
        else:
            assert "xdist_group" not in result.stdout.str()


def test_a_plugin_that_reads_where_a_failure_is_finds_it_of_gates_too(repo: Repository) -> None:
    """As pytest-json-report does."""
    hook = """
    def pytest_runtest_logreport(report):
        if report.failed:
            crash = report.longrepr.reprcrash
            print("crash", str(crash.path), crash.lineno + 0, crash.message)
    """
    repo.write(conftest=BOT + hook)
    result = repo.inline(*SAMPLE, "--personalens-gate=valid >= 1, p >= 4", "-s")
    result.stdout.fnmatch_lines(["*crash personalens::gate[[]p[]] 0 *"])
    assert "INTERNALERROR" not in result.stdout.str()


def test_the_last_attempt_of_an_item_that_is_run_again_within_its_report_counts(repo: Repository) -> None:
    """As pytest-retry does."""
    hook = """
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(item, call):
        report = yield
        if call.when == "call" and report.failed:
            item.session._setupstate.teardown_exact(None)
            item._initrequest()
            item.ihook.pytest_runtest_setup(item=item)
            item.ihook.pytest_runtest_call(item=item)
            report.outcome, report.longrepr = "passed", None
        return report

    tries = []

    @pytest.fixture
    def personalens_assistant():
        tries.append(1)
        return lambda messages: 1 / 0 if len(tries) == 1 else "fine"
    """
    repo.write(conftest=TOLD_ALONE + hook)
    args = ("--personalens-sample=1", *TOLD_AGENTS, "--personalens-gate=valid >= 1")
    for workers in ((), ("-n", "1")):
        valid = "gate valid: passed, 1 of 1 item could be scored*"
        assert_ended(repo.run(*args, *workers), 0, valid)
