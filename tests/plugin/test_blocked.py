"""``-p no:personalens`` turns the plugin off, and what a repository then needs."""

from __future__ import annotations

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.scripted_agents import BOT, TEST

OFF = ("-p", "no:personalens")
PLAIN = """
    import sys

    def test_plain():
        assert not [name for name in sys.modules if name.split(".")[0] == "pytest_personalens"]
"""


@pytest.mark.slow
def test_a_plain_run_loads_nothing_of_the_plugin(empty_repo: Repository) -> None:
    empty_repo.write(test_plain=PLAIN)
    empty_repo.run_fresh(*OFF).assert_outcomes(passed=1)
    options = [empty_repo.run_fresh(*words, "--help").stdout.str() for words in (OFF, ())]
    assert ["--personalens-sample" in text for text in options] == [False, True]
    run = empty_repo.run_fresh(*OFF, "--personalens-sample", "3")
    assert_usage_error(run, "*unrecognized arguments: --personalens-sample*")


@pytest.mark.slow
def test_a_repository_runs_its_other_tests_as_the_page_says(empty_repo: Repository) -> None:
    """Tests of personalization are in a folder of their own, and hooks are optional."""
    hook = "\n@pytest.hookimpl(optionalhook=True)\ndef pytest_personalens_report_lines(results, config):\n    return []\n"
    (empty_repo.path / "tests" / "personal").mkdir(parents=True)
    empty_repo.write(tests__test_plain=PLAIN, tests__personal__test_bot=TEST, tests__personal__conftest=BOT)
    conftest = empty_repo.path / "conftest.py"
    conftest.write_text("import pytest\n" + hook, encoding="utf-8")
    without = empty_repo.run_fresh(*OFF, "--ignore=tests/personal")
    without.assert_outcomes(passed=1)
    assert empty_repo.run_fresh("tests/personal", "--personalens-sample", "1").ret == 0

    conftest.write_text(hook.replace("@pytest.hookimpl(optionalhook=True)\n", ""), encoding="utf-8")
    refused = empty_repo.run_fresh(*OFF, "--ignore=tests/personal")
    assert "unknown hook 'pytest_personalens_report_lines'" in refused.stdout.str() + refused.stderr.str()


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict-config",), 4)])
def test_its_keys_are_unknown(empty_repo: Repository, strict: tuple[str, ...], code: int) -> None:
    empty_repo.write(test_plain=PLAIN)
    (empty_repo.path / "pytest.ini").write_text("[pytest]\npersonalens_gate = tcr >= 0.5\n", encoding="utf-8")
    result = empty_repo.run_fresh(*OFF, *strict)
    assert result.ret == code
    assert "Unknown config option: personalens_gate" in result.stdout.str() + result.stderr.str()
