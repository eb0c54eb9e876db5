"""What a run writes replaces nothing that it reads, nothing of somebody else's, and nothing else that it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

ARGS = (
    "--personalens-sample",
    "4",
    *TOLD_AGENTS,
    "--personalens-gate",
    "valid >= 0.9",
)
LINKS: dict[str, Callable[[Path, Path], None]] = {
    "the same": lambda link, target: None,
    "a symbolic link": lambda link, target: link.symlink_to(target.name),
    "a hard link": lambda link, target: link.hardlink_to(target),
}


@pytest.mark.parametrize("how", LINKS)
@pytest.mark.parametrize("output", ["json", "html", "markdown"])
def test_no_output_replaces_the_baseline(told: Repository, output: str, how: str) -> None:
    told.inline(*ARGS, "--personalens-save-baseline", "base.json")
    before, path = (told.path / "base.json").read_bytes(), told.path / ("base.json" if how == "the same" else "other")
    LINKS[how](path, told.path / "base.json")
    (told.path / "pytest.ini").write_text(f"[pytest]\npersonalens_baseline = base.json\npersonalens_{output} = {path.name}\n")
    result = told.inline(*ARGS)
    assert result.ret == 4
    problem = f"*{path.name} is what --personalens-baseline reads, and would be replaced; give another path"
    if output != "json":  # it is no report either
        problem = f"*{path.name} was not written by this plugin; give another path, or remove it"
    result.stderr.fnmatch_lines([f"ERROR: --personalens-{output}: {problem}"])
    assert (told.path / "base.json").read_bytes() == before
    replaced = told.inline(*ARGS, "-o", f"personalens_{output}=", "--personalens-save-baseline", "base.json")
    assert replaced.ret == 0, "this is what was asked for"


def test_results_that_are_the_baseline_of_the_next_run_stay_it(told: Repository) -> None:
    """A second try of a bad run must not be held against the first one."""
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_baseline = results.json\npersonalens_report = results.json\n")
    assert told.inline(*ARGS, "-o", "personalens_baseline=").ret == 0
    told.write(conftest=TOLD.replace("score=low if", "score=low if True or"))
    assert [told.inline(*ARGS).ret for _ in range(2)] == [4, 4]


def test_no_two_outputs_share_a_path(told: Repository) -> None:
    outputs = ("json", "html", "markdown", "save-baseline", "adopt-judge")
    for number, one in enumerate(outputs):
        for other in outputs[number + 1 :]:
            result = told.inline(*ARGS, f"--personalens-{one}", "x/y", f"--personalens-{other}", "x/../x/y")
            assert result.ret == 4, (one, other)
            assert "x/y" in str(result.stderr)
            assert not (told.path / "x" / "y").exists()


@pytest.mark.parametrize("output", ["json", "html", "markdown", "save-baseline", "adopt-judge"])
@pytest.mark.parametrize("name", ["README.md", "test_bot.py", "page.html", "data.json"])
def test_a_file_of_somebody_else_is_not_replaced(told: Repository, output: str, name: str) -> None:
    texts = {
        "README.md": "# personalens and we\n",
        "page.html": "<!doctype html><title>personalens</title>",
        "data.json": '{"schema": "mine"}',
    }
    file = told.path / name
    file.write_text(texts.get(name, file.read_text() if file.exists() else ""))
    before = file.read_bytes()
    result = told.inline(*ARGS, f"--personalens-{output}", name)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: --personalens-{output}: *{name} was not written by this plugin; give another path, or remove it"])
    assert file.read_bytes() == before


def test_reports_of_an_earlier_run_and_the_summary_of_a_step_are_replaced(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = ("--personalens-report", "r.json", "--personalens-report", "r.html", "--personalens-report", "r.md")
    for _ in range(2):
        assert told.run(*ARGS, *outputs).ret == 0
    for _ in range(2):
        for more in ((), ("--table", "3"), ("--table", "4")):
            assert told.python("-m", "pytest_personalens", "report", "r.json", "--markdown", f"t{len(more and more[1])}.md", *more).ret == 0
    (told.path / "step").write_text("what an earlier command of the step wrote")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(told.path / "step"))
    assert told.inline(*ARGS, "--personalens-report", "step").ret == 0


@pytest.mark.parametrize("output", ["json", "html", "markdown", "save-baseline"])
def test_a_merge_replaces_none_of_its_shards(told: Repository, output: str) -> None:
    for number in (1, 2):
        told.inline(*ARGS, "--personalens-shard", f"{number}/2", "--personalens-report", f"{number}.json")
    before = (told.path / "2.json").read_bytes()
    (told.path / "link").symlink_to("2.json")
    for path in ("2.json", "link"):
        merged = told.python("-m", "pytest_personalens", "merge", "1.json", "2.json", f"--{output}", path)
        assert merged.ret == 4
        merged.stderr.fnmatch_lines([f"error: --{output}: {path} is what this command (shard 2) reads, and would be replaced; *"])
        assert (told.path / "2.json").read_bytes() == before


@pytest.mark.parametrize("more", [("--html", "r.json"), ("--markdown", "r.json"), ("--markdown", "r.json", "--table", "3")])
def test_a_report_does_not_replace_what_it_reports_on(told: Repository, more: tuple[str, ...]) -> None:
    told.inline(*ARGS, "--personalens-report", "r.json")
    before = (told.path / "r.json").read_bytes()
    assert told.python("-m", "pytest_personalens", "report", "r.json", *more).ret == 4
    assert (told.path / "r.json").read_bytes() == before


FULL = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
"""


@pytest.mark.parametrize(("output", "name"), [("json", "r.json"), ("html", "r.html"), ("save-baseline", "b.json")])
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


def test_a_link_to_the_results_keeps_pointing_there(told: Repository) -> None:
    (told.path / "store").mkdir()
    (told.path / "r.json").symlink_to("store/r.json")
    assert told.inline(*ARGS, "--personalens-report", "r.json").ret == 0
    assert (told.path / "r.json").is_symlink()
    assert (told.path / "store" / "r.json").is_file()


def test_a_dataset_that_is_checked_replaces_no_file_of_somebody_elses(repo: Repository) -> None:
    (repo.path / "notes.json").write_text('{"cats": 3}\n')
    command = ("-m", "pytest_personalens", "check-dataset", "embedded", "--json")
    for path in ("notes.json", "conftest.py"):
        before = (repo.path / path).read_bytes()
        result = repo.python(*command, path)
        assert result.ret == 4
        result.stderr.fnmatch_lines([f"error: --json: {path} was not written by this plugin; give another path, or remove it"])
        assert (repo.path / path).read_bytes() == before
    for _ in range(2):  # one of ours may be replaced
        assert repo.python(*command, "new/quality.json").ret in (0, 1)
    assert (repo.path / "new" / "quality.json").stat().st_size


def test_a_folder_that_comes_into_the_way_of_a_report_stays(told: Repository) -> None:
    told.write(conftest=TOLD + "\n    def pytest_collection_finish():\n        pathlib.Path('r.md').mkdir(exist_ok=True)\n")
    result = told.run(*ARGS, "--personalens-report", "r.md")
    assert result.ret == 3
    assert (told.path / "r.md").is_dir()
    assert not list(told.path.glob(".*before"))
