"""Samples of whole datasets and of the benchmark's own users, and runs that were asked for and test nothing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from pytest_personalens.core.options.option_table import ALL
from pytest_personalens.datasets import OFFICIAL_SAMPLES, draw, open_dataset
from tests.support.processes.runs import assert_ended, assert_one_line, collect_ids
from tests.support.repository import Repository
from tests.support.scripted_agents import BOT

REPORT = ("--personalens-gate=none", "--personalens-report=results.json")
ALONE_OR_NOT = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
UNIT = "def test_unit():\n    pass\n"


def test_the_official_samples_lie_within_each_other() -> None:
    sizes = {name: len(set(users)) for name, users in OFFICIAL_SAMPLES.items()}
    assert sizes == {f"official-{size}": size for size in (20, 30, 50, 100)}
    assert all(set(small) < set(large) for small, large in pairwise(OFFICIAL_SAMPLES.values()))


@pytest.mark.parametrize(("name", "sizes"), [("official-20", (1284, 319)), ("official-30", (1930, 486))])
def test_an_official_sample_is_that_of_the_run(official: Path, name: str, sizes: tuple[int, int]) -> None:
    dataset = open_dataset(str(official))
    kinds = [ref.kind for user in OFFICIAL_SAMPLES[name] for ref in dataset.refs(user)]
    assert (kinds.count("single"), kinds.count("multi")) == sizes


def test_users_by_number_and_by_id_are_the_same(official: Path) -> None:
    dataset, both = open_dataset(str(official)), (["user66", "user7"], ["66", "user7", "7"])
    by_id, by_number = (draw(dataset, 10**6, seed="s", users=users) for users in both)
    assert {ref.user for ref in by_number.refs} == {"user7", "user66"}
    assert by_number == by_id


def test_official_data_runs_and_users_may_be_numbers(repo: Repository, official: Path) -> None:
    run = ("--personalens-sample=2", f"--personalens-data={official}", "-opersonalens_users=7,user66")
    assert_ended(repo.inline(*run, *REPORT), 0, "personalens: 2 scenarios of official *", "overall *2 *2 *")
    assert {item["evaluation"]["user"] for item in repo.results()["items"]} == {"user7", "user66"}


@ALONE_OR_NOT
def test_a_sample_of_all_misses_none(repo: Repository, workers: tuple[str, ...]) -> None:
    books = ("--personalens-sample=all", "-opersonalens_users=kenji", "--personalens-domain=Books")
    result = assert_ended(repo.run(*books, *REPORT, *workers), 0)
    assert "asked for" not in str(result.stdout)
    found, refs = repo.results(), open_dataset("embedded").refs("kenji")
    expected = {ref.task for ref in refs if "Books" in ref.domains}
    assert {item["evaluation"]["task"] for item in found["items"]} == expected
    size = len(expected)
    assert (found["requested"], found["drawn"], found["settings"]["sample"]) == (size, size, "all")


NATIVE = pytest.mark.skipif(pytest.version_tuple < (9,), reason="[tool.pytest] is read since pytest 9")
TABLES = ["[tool.pytest.ini_options]", pytest.param("[tool.pytest]", marks=NATIVE)]


@pytest.mark.parametrize("table", ["[pytest]", *TABLES])
@pytest.mark.parametrize(("size", "read"), [("all", ALL), (2, 2)])
def test_a_configured_sample(repo: Repository, table: str, size: str | int, read: int) -> None:
    toml = "tool" in table
    value = f'"{size}"' if toml and size == "all" else size
    file = repo.path / ("pyproject.toml" if toml else "pytest.ini")
    file.write_text(f"{table}\npersonalens_sample = {value}\n")
    assert repo.settings().sample == read


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    ("value", "told"), [('"most"', "'most'"), ("-1", "'-1'"), ("2.5", "'2.5'"), ("true", "'True'")]
)
def test_no_configured_sample(repo: Repository, table: str, value: str, told: str) -> None:
    (repo.path / "pyproject.toml").write_text(f"{table}\npersonalens_sample = {value}\n")
    with pytest.raises(pytest.UsageError) as error:
        repo.settings()
    expected = f"personalens_sample: expected a whole number 1 or more, or all, not {told} (PL101)"
    assert error.value.args == (expected,)


SAMPLE = ("--personalens-sample=4",)


@ALONE_OR_NOT
def test_a_sample_that_no_test_asks_for(empty_repo: Repository, workers: tuple[str, ...]) -> None:
    empty_repo.write(conftest=BOT, tests__test_unit=UNIT)
    told = "--personalens-sample: no test that is left asks for the fixture personalens and is run, so nothing is tested; *"
    assert_one_line(empty_repo.run("tests", *SAMPLE, *workers), told)
    (empty_repo.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 4\n")
    assert empty_repo.run("tests", *workers).ret == 0, "a sample of the configuration lets unit tests run"


@pytest.mark.parametrize("selection", [("-k", "nobody"), ("-m", "personalens(domain='Nowhere')")])
def test_a_selection_that_leaves_nothing_of_the_sample(repo: Repository, selection: tuple[str, str]) -> None:
    told = "*see what the selection (-k, *) leaves of the sample of 4, which is drawn first (--personalens-domain, *"
    assert_one_line(repo.inline(*SAMPLE, *selection), told)


def test_the_built_in_suite_says_that_it_sees_the_root_conftest_only(empty_repo: Repository) -> None:
    empty_repo.write(tests__conftest=BOT, tests__test_unit=UNIT)
    told = "*The built-in suite sees the conftest.py of the root folder only: move the one in tests/conftest.py there, or *"
    assert_ended(empty_repo.inline(*SAMPLE), 1, told)


@ALONE_OR_NOT
def test_a_test_of_another_suite_alone(empty_repo: Repository, workers: tuple[str, ...]) -> None:
    mark = "@pytest.mark.personalens(suite='memory')"
    empty_repo.bot("''", test_memory=f"import pytest\n\n{mark}\ndef test_it(personalens): ...\n")
    told = "is a test of the suite memory, which is run by pytest --personalens-suite memory --personalens-sample 4, so *"
    assert_one_line(empty_repo.run(*SAMPLE, *workers), f"personalens: test_memory.py::test_it {told}")
    gate = "--personalens-gate=recall: memory >= 0.5"
    told = "unknown metric 'memory' (of the suite memory: give --personalens-suite memory); known: *"
    assert_one_line(empty_repo.inline(*SAMPLE, gate), f"--personalens-gate: {told}")


def test_the_head_of_a_larger_sample_is_the_smaller_one(repo: Repository) -> None:
    large, small = (collect_ids(repo, f"--personalens-sample={size}") for size in (20, 8))
    assert (len(large), large[:8]) == (20, small)


@pytest.mark.slow
@ALONE_OR_NOT
def test_a_sample_larger_than_the_universe_says_so(repo: Repository, workers: tuple[str, ...]) -> None:
    multi = ("--personalens-sample=1000", "-opersonalens_users=kenji", "--personalens-kind=multi")
    told = "sample: 1000 scenarios asked for; there are only *, and all of them are in it"
    assert_ended(repo.run(*multi, "--personalens-gate=p >= 1", *workers), 0, told)


def test_domains_of_the_configuration_are_named_where_they_leave_scenarios_out(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_domain = Train, Movies\n", encoding="utf-8")
    other, none = ("--personalens-suite=questions", "--personalens-sample=1"), "--personalens-gate=none"
    mend = "; -o personalens_domain= leaves out the domains of the configuration"
    few = ("--personalens-kind=multi", "-opersonalens_users=nia", "-opersonalens_domain=Finance")
    for args, told in (
        (other, f"unknown domain 'Train'; known: *who{mend}"),
        (("--personalens-sample=1", *few), f"no scenario of dataset 'embedded' fits *{mend}"),
        ((*other, "--personalens-domain=Opera"), "unknown domain 'Opera'; known: *who"),
    ):
        repo.run(*args).stderr.fnmatch_lines([f"ERROR: personalens: {told}"])
    of_nia = ("-opersonalens_users=nia", "--personalens-sample=all", none)
    note = r"\d+ of \d+ scenarios fit personalens_domain; -o personalens_domain= takes them all"
    repo.inline(*of_nia).stdout.re_match_lines([note])
    repo.inline(*of_nia, "--personalens-domain=Train").stdout.no_re_match_line(note)
    # The sample ends before the dataset does.
    repo.inline(of_nia[0], "--personalens-sample=1", none).stdout.no_re_match_line(note)
