"""Samples of whole datasets and of the benchmark's own users, as they are asked for on the command line."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from pytest_personalens.core.options.option_table import ALL
from pytest_personalens.datasets import OFFICIAL_SAMPLES, draw, open_dataset
from tests.support.repository import Repository

REPORT_ONLY = ("--personalens-gate=none",)


def test_the_official_samples_lie_within_each_other() -> None:
    assert {name: len(set(users)) for name, users in OFFICIAL_SAMPLES.items()} == {
        "official-20": 20, "official-30": 30, "official-50": 50, "official-100": 100,
    }  # fmt: skip
    within = list(OFFICIAL_SAMPLES.values())
    assert all(set(small) < set(large) for small, large in pairwise(within))


@pytest.mark.parametrize(
    ("name", "single", "multi"), [("official-20", 1284, 319), ("official-30", 1930, 486)]
)
def test_an_official_sample_has_the_scenarios_of_the_official_run(
    official: Path, name: str, single: int, multi: int
) -> None:
    refs = [ref for user in OFFICIAL_SAMPLES[name] for ref in open_dataset(str(official)).refs(user)]
    assert (sum(ref.kind == "single" for ref in refs), sum(ref.kind == "multi" for ref in refs)) == (
        single,
        multi,
    )


def test_users_by_number_and_by_id_are_the_same(official: Path) -> None:
    dataset = open_dataset(str(official))
    by_id, by_number = (
        draw(dataset, 10**6, seed="s", users=users) for users in (["user66", "user7"], ["66", "user7", "7"])
    )
    assert {ref.user for ref in by_number.refs} == {"user7", "user66"}
    assert by_number == by_id


def test_users_of_the_command_line_may_be_numbers(repo: Repository, official: Path) -> None:
    args = (
        "--personalens-sample=2",
        f"--personalens-data={official}",
        "--personalens-report=results.json",
        *REPORT_ONLY,
    )
    assert repo.inline(*args, "-opersonalens_users=7,user66").ret == 0
    assert {item["evaluation"]["user"] for item in repo.results()["items"]} == {"user7", "user66"}


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_sample_of_all_takes_every_scenario_and_misses_none(
    repo: Repository, workers: tuple[str, ...]
) -> None:
    args = (
        "-opersonalens_users=kenji",
        "--personalens-domain=Books",
        "--personalens-report=results.json",
        *REPORT_ONLY,
        *workers,
    )
    result = repo.run("--personalens-sample=all", *args)
    assert result.ret == 0
    assert "asked for" not in str(result.stdout)
    found, expected = (
        repo.results(),
        [ref for ref in open_dataset("embedded").refs("kenji") if "Books" in ref.domains],
    )
    assert {item["evaluation"]["task"] for item in found["items"]} == {ref.task for ref in expected}
    assert (found["requested"], found["drawn"], found["settings"]["sample"]) == (
        len(expected),
        len(expected),
        "all",
    )


NATIVE = pytest.mark.skipif(pytest.version_tuple < (9,), reason="[tool.pytest] is read since pytest 9")


@pytest.mark.parametrize(
    ("file", "table"),
    [
        ("pytest.ini", "[pytest]"),
        ("pyproject.toml", "[tool.pytest.ini_options]"),
        pytest.param("pyproject.toml", "[tool.pytest]", marks=NATIVE),
    ],
)
@pytest.mark.parametrize(("size", "read"), [("all", ALL), (2, 2)])
def test_the_configuration_takes_what_the_option_takes(
    repo: Repository, file: str, table: str, size: str | int, read: int
) -> None:
    quote = '"' if file.endswith(".toml") and size == "all" else ""
    (repo.path / file).write_text(f"{table}\npersonalens_sample = {quote}{size}{quote}\n")
    assert repo.settings().sample == read


@pytest.mark.parametrize("table", ["[tool.pytest.ini_options]", pytest.param("[tool.pytest]", marks=NATIVE)])
@pytest.mark.parametrize(("value", "told"), [('"most"', "'most'"), ("2.5", "'2.5'"), ("true", "'True'")])
def test_a_configured_sample_that_is_neither_is_refused_in_one_line(
    repo: Repository, table: str, value: str, told: str
) -> None:
    (repo.path / "pyproject.toml").write_text(f"{table}\npersonalens_sample = {value}\n")
    with pytest.raises(pytest.UsageError) as error:
        repo.settings()
    expected = f"personalens_sample: expected a whole number 1 or more, or all, not {told} (PL101)"
    assert error.value.args == (expected,)
