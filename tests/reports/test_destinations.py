"""What a run writes replaces nothing that it reads, nothing of somebody else's, and nothing else that it
writes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import pytest

from pytest_personalens.results.values.results import write_json
from tests.support.datasets.folders import write_own_domains
from tests.support.processes.commands import refusal
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.results.rich_results import rich_results
from tests.support.results.scored_items import write_shards
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample", "4", *TOLD_AGENTS, "--personalens-gate", "valid >= 0.9")
LINKS: dict[str, Callable[[Path, Path], None]] = {
    "the same": lambda link, target: None,
    "a symbolic link": lambda link, target: link.symlink_to(target.name),
    "a hard link": lambda link, target: link.hardlink_to(target),
}


@pytest.mark.parametrize(
    ("ending", "how", "problem"),
    [
        (
            "json",
            "the same",
            "is what --personalens-baseline reads, and would be replaced; give another path",
        ),
        (
            "json",
            "a hard link",
            "is what --personalens-baseline reads, and would be replaced; give another path",
        ),
        ("json", "a symbolic link", "is or goes through a symbolic link, which is not followed; *"),
        ("html", "the same", "was not written by this plugin; give another path, or remove it"),
        ("html", "a symbolic link", "is or goes through a symbolic link, which is not followed; *"),
        ("md", "a hard link", "was not written by this plugin; give another path, or remove it"),
    ],
)
def test_no_report_replaces_the_baseline(told: Repository, ending: str, how: str, problem: str) -> None:
    base = told.path / f"base.{ending}"
    told.inline(*ARGS, "--personalens-save-baseline", base.name)
    before, path = base.read_bytes(), base if how == "the same" else told.path / f"other.{ending}"
    LINKS[how](path, base)
    (told.path / "pytest.ini").write_text(
        f"[pytest]\npersonalens_baseline = {base.name}\npersonalens_report = {path.name}\n"
    )
    assert_usage_error(told.inline(*ARGS), f"ERROR: --personalens-report: *{path.name} {problem}")
    assert base.read_bytes() == before
    replaced = told.inline(*ARGS, "-o", "personalens_report=", "--personalens-save-baseline", base.name)
    assert replaced.ret == 0, "this is what was asked for"


def test_no_two_outputs_share_a_path(told: Repository) -> None:
    outputs = ("report", "report", "save-baseline", "adopt-judge")
    for ending, (one, other) in product(("json", "html", "md"), combinations(outputs, 2)):
        first, second = f"--personalens-{one}", f"--personalens-{other}"
        with pytest.raises(pytest.UsageError, match=rf"x/y\.{ending}"):
            told.settings(*ARGS, first, f"x/y.{ending}", second, f"x/../x/y.{ending}")


@pytest.mark.parametrize(
    ("output", "name"),
    [
        *(("report", name) for name in ("README.md", "page.html", "data.json")),
        *((output, name) for output in ("save-baseline", "adopt-judge") for name in ("README.md", "test_bot.py", "page.html", "data.json")),
    ],
)  # fmt: skip
def test_a_file_of_somebody_else_is_not_replaced(told: Repository, output: str, name: str) -> None:
    (told.path / "README.md").write_text("# personalens and we\n")
    (told.path / "page.html").write_text("<!doctype html><title>personalens</title>")
    (told.path / "data.json").write_text('{"schema": "mine"}')
    before = (told.path / name).read_bytes()
    why = f"*{name} was not written by this plugin; give another path, or remove it"
    result = told.inline(*ARGS, f"--personalens-{output}", name)
    assert_usage_error(result, f"ERROR: --personalens-{output}: {why}")
    assert (told.path / name).read_bytes() == before


@pytest.mark.slow
def test_reports_of_an_earlier_run_are_replaced(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = ("--personalens-report=r.json", "--personalens-report=r.html", "--personalens-report=r.md")
    for _ in range(2):
        assert told.run(*ARGS, *outputs).ret == 0
    for more in ((), ("--table", "3"), ("--table", "4")) * 2:
        page = f"t{''.join(more[1:])}.md"
        assert told.command("report", "r.json", "--report", page, *more).ret == 0
    (told.path / "step.md").write_text("what an earlier command of the step wrote")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(told.path / "step.md"))
    assert told.inline(*ARGS, "--personalens-report", "step.md").ret == 0


def test_commands_replace_nothing_that_they_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shards(tmp_path)
    write_json(rich_results(3), tmp_path / "r.json")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for ending in ("json", "html", "md"):
        (tmp_path / f"link.{ending}").symlink_to("2.json")
        (tmp_path / f"report.{ending}").symlink_to("r.json")
    linked = "is or goes through a symbolic link, which is not followed; "
    for output in ("report", "save-baseline"):
        for path in ("2.json", "link.json", "link.html", "link.md"):
            why = (
                linked
                if path != "2.json"
                else "is what this command (shard 2) reads, and would be replaced; "
            )
            told = refusal(capsys, "merge", "1.json", "2.json", f"--{output}", path)
            assert told.startswith(f"error: --{output}: {path} {why}")
    for more in (("report.html",), ("report.md",), ("report.md", "--table", "3")):
        assert linked in refusal(capsys, "report", "r.json", "--report", *more)
    assert {path: path.read_bytes() for path in before} == before


FULL = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("output", "name"), [("report", "r.json"), ("report", "r.html"), ("save-baseline", "b.json")]
)
def test_a_full_disk_leaves_the_file_of_the_run_before(told: Repository, output: str, name: str) -> None:
    args = ("--personalens-sample", "30", *ARGS[2:], f"--personalens-{output}", name, "-p", "no:logging")
    assert told.run(*args).ret == 0
    before = (told.path / name).read_bytes()
    assert len(before) > 4096
    told.write(conftest=TOLD + FULL)
    result = told.run(*args)
    assert result.ret == 3
    result.stdout.fnmatch_lines([f"*could not be written to *{name}: File too large"])
    assert (told.path / name).read_bytes() == before
    assert not list(told.path.glob(".*.tmp"))


@pytest.mark.parametrize("output", ["report", "save-baseline"])
@pytest.mark.parametrize("name", ["r.json", "out/r.json"])
def test_no_link_is_followed(told: Repository, output: str, name: str) -> None:
    (told.path / "store").mkdir()
    (told.path / name.partition("/")[0]).symlink_to("store" if "/" in name else "store/r.json")
    why = f"*{name} is or goes through a symbolic link, which is not followed; *"
    result = told.inline(*ARGS, f"--personalens-{output}", name)
    assert_usage_error(result, f"ERROR: --personalens-{output}: {why}")
    assert not list((told.path / "store").iterdir())


def test_no_baseline_is_read_through_a_link_out_of_the_folder(told: Repository) -> None:
    outside = told.path.parent / f"{told.path.name}-outside.json"
    told.inline(*ARGS, "--personalens-save-baseline", "b.json")
    (told.path / "b.json").rename(outside)
    (told.path / "b.json").symlink_to(outside)
    why = "cannot be read: a symbolic link out of this folder, which is not followed; *"
    assert_usage_error(told.inline(*ARGS, "--personalens-baseline=b.json"), f"ERROR: *b.json: {why}")


def test_a_dataset_that_is_checked_replaces_no_file_of_somebody_elses(repo: Repository) -> None:
    notes = repo.path / "notes.json"
    notes.write_text('{"cats": 3}\n')
    write_own_domains(repo.path / "shop")
    command = ("check-dataset", "shop", "--report")
    assert repo.command(*command, "conftest.py").ret == 4
    why = "notes.json was not written by this plugin; give another path, or remove it"
    assert_usage_error(repo.command(*command, "notes.json"), f"error: --report: {why}")
    assert notes.read_text() == '{"cats": 3}\n'
    for _ in range(2):  # one of ours may be replaced
        assert repo.command(*command, "new/quality.json").ret in (0, 1)
    assert (repo.path / "new" / "quality.json").stat().st_size
