"""A run that was asked for and tests nothing says so, and what to do about it."""

from __future__ import annotations

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.scripted_agents import BOT

SAMPLE = ("--personalens-sample=4",)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_sample_in_a_folder_without_a_test_that_asks_for_it(
    empty_repo: Repository, workers: tuple[str, ...]
) -> None:
    empty_repo.write(conftest=BOT, tests__test_unit="def test_unit():\n    pass\n")
    assert_usage_error(
        empty_repo.run("tests", *SAMPLE, *workers),
        "ERROR: --personalens-sample: no test that is left asks for the fixture personalens and is run, so nothing is tested; *",
    )


def test_a_sample_of_the_configuration_lets_unit_tests_run(empty_repo: Repository) -> None:
    empty_repo.write(conftest=BOT, tests__test_unit="def test_unit():\n    pass\n")
    (empty_repo.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 4\n")
    assert empty_repo.inline("tests").ret == 0


@pytest.mark.parametrize("selection", [("-k", "nobody"), ("-m", "personalens(domain='Nowhere')")])
def test_a_selection_that_leaves_nothing_of_the_sample(repo: Repository, selection: tuple[str, str]) -> None:
    assert_usage_error(
        repo.inline(*SAMPLE, *selection),
        "ERROR: *see what the selection (-k, *) leaves of the sample of 4, which is drawn first (--personalens-domain, *",
    )


def test_the_built_in_suite_says_that_it_sees_the_root_conftest_only(empty_repo: Repository) -> None:
    empty_repo.write(tests__conftest=BOT, tests__test_unit="def test_unit():\n    pass\n")
    result = empty_repo.inline(*SAMPLE)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*The built-in suite sees the conftest.py of the root folder only: move the one in tests/conftest.py there, or *"
        ]
    )


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_test_of_another_suite_alone_says_how_it_is_run(
    empty_repo: Repository, workers: tuple[str, ...]
) -> None:
    test = "import pytest\n\n@pytest.mark.personalens(suite='memory')\ndef test_it(personalens):\n    personalens.check()\n"
    empty_repo.write(conftest=BOT, test_memory=test)
    told = "is a test of the suite memory, which is run by pytest --personalens-suite memory --personalens-sample 4, so *"
    assert_usage_error(
        empty_repo.run(*SAMPLE, *workers), f"ERROR: personalens: test_memory.py::test_it {told}"
    )
    gate = "--personalens-gate=recall: memory >= 0.5"
    told = "unknown metric 'memory' (of the suite memory: give --personalens-suite memory); known: *"
    assert_usage_error(empty_repo.inline(*SAMPLE, gate), f"ERROR: --personalens-gate: {told}")
