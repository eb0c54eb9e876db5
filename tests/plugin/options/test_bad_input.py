"""What a user may give by mistake ends in one line that says what is wrong, and never in a traceback."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_personalens.plugin.stored.resume import calls_folder
from tests.support.datasets.folders import copy_data
from tests.support.datasets.official_tree import write_data
from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import ROOT, Repository, calls
from tests.support.scripted_agents import MODELS, TEST, TOLD_AGENTS

ARGS = ("--personalens-sample=2",)
ANCHORS = ROOT / "data" / "agreement" / "anchors.jsonl"


def test_a_cache_that_cannot_be_written_is_a_warning(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\ncache_dir = kept/cache\n")
    # Also root, for whom no folder is read-only, can make no folder below a file.
    (repo.path / "kept").write_text("")
    run = (*ARGS, "--personalens-gate=tcr >= 0.5")
    told = "*personalens: nothing can be kept in pytest's cache (*"
    assert_ended(repo.run_with_cache(*run), 0, told)
    resumable = repo.run_with_cache(*run, "--personalens-resume")
    assert resumable.ret == 0, "what a run goes on from is in the user's cache"


HOSTILE = r'"home\n::error title=x::pwned\u001b[31m##[error]\u202e"'


def test_a_dataset_drives_neither_terminal_nor_runner(repo: Repository) -> None:
    data = copy_data(repo.path / "own", "adeola", "amara")
    keys = dict.fromkeys((data / "profiles").glob("*.toml"), ("name", "home", "work", "out", "transit"))
    for file, names in (keys | {data / "dataset.toml": ("name", "version")}).items():
        text = file.read_text(encoding="utf-8")
        for name in names:
            hostile = f"{name} = {HOSTILE}".replace("\\", r"\\")
            text = re.sub(rf"(?m)^{name} = .*$", hostile, text, count=1)
        file.write_text(text, encoding="utf-8")
    files = ("--personalens-report=s.md", "--personalens-report=r.json", "-vv", "-rA")
    own = ("--personalens-sample=3", "--personalens-data=own", "-opersonalens_threshold=p>=4")
    result = assert_ended(repo.run(*own, *files), 1)
    assert "pwned" in str(result.stdout)
    written = (repo.path / "s.md").read_text(encoding="utf-8").splitlines()
    for line in [*result.outlines, *result.errlines, *written, *repo.command("report", "r.json").outlines]:
        assert not line.lstrip().startswith("::")
        assert not set("\x1b\u202e") & set(line)


def holds(value: str) -> Callable[[Path], object]:
    def write(file: Path) -> None:
        file.write_text(f"x = {value}" if file.suffix == ".toml" else f'{{"x": {value}}}', encoding="utf-8")

    return write


SPOILERS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda file: file.mkdir(),
    "a loop": lambda file: file.symlink_to(file.name),
    "nested": holds("[" * 100_000),
    "digits": holds("9" * 5000),
}
OWN = ("dataset.toml", "multi.toml", "domains/books.toml", "profiles/kit.toml")
OFFICIAL = ("profile.json", "tasks.json", "tasks_md.json")


@pytest.mark.parametrize("spoil", SPOILERS)
@pytest.mark.parametrize("name", [*OWN, *(f"data/profile/user7/{name}" for name in OFFICIAL)])
def test_a_data_file_of_ones_own(repo: Repository, name: str, spoil: str) -> None:
    own, user = repo.path / "own", "7"
    if name in OWN:
        copy_data(own, user := "kit")
    else:
        write_data(own)
    (own / name).unlink()
    SPOILERS[spoil](own / name)
    options = ("--personalens-kind=multi", f"-opersonalens_users={user}", "--personalens-data=own")
    assert_one_line(repo.inline("--personalens-sample=9", *options))


@pytest.mark.parametrize("spoil", SPOILERS)
def test_a_file_of_labels_a_baseline_and_a_judge(repo: Repository, spoil: str) -> None:
    SPOILERS[spoil](repo.path / "x.json")
    adopt = "-opersonalens_anchors=x.json", "--personalens-adopt-judge=j.json"
    for args in (
        adopt,
        *((f"--personalens-{name}=x.json",) for name in ("baseline", "check-judge", "report")),
    ):
        assert_one_line(repo.inline(*ARGS, *args))
    for command in ("report", "merge"):
        assert_one_line(repo.command(command, "x.json"))


@pytest.mark.parametrize("layout", ["embedded", "official"])
def test_a_name_that_is_no_utf8(repo: Repository, layout: str) -> None:
    if layout == "embedded":
        profiles = copy_data(repo.path / "own", "kit") / "profiles"
        (profiles / "kit.toml").rename(profiles / os.fsdecode(b"\xff.toml"))
    else:
        (repo.path / "own" / "profile" / os.fsdecode(b"user\xff")).mkdir(parents=True)
    assert_one_line(repo.inline(*ARGS, "--personalens-data=own"))


PATHS = (
    "--personalens-data={}", "--personalens-report={}.json", "--personalens-report={}.html", "--personalens-baseline={}",
    "-opersonalens_prompts={}", "-opersonalens_users=file:{}", "--personalens-check-judge={}", "-opersonalens_dialogues={}",
    "-opersonalens_anchors={} --personalens-adopt-judge=j.json",
)  # fmt: skip


@pytest.mark.parametrize("options", PATHS)
@pytest.mark.parametrize("path", ["a" * 300, "~nobody_at_all/x", "/dev/null/x"])
def test_a_path_that_is_none(repo: Repository, options: str, path: str) -> None:
    assert_one_line(repo.inline(*ARGS, *options.format(path).split()))


@pytest.mark.parametrize("key", ["prices", "model_parameters", "users", "data", "report", "gate", "prompts"])
def test_a_toml_configuration_that_holds_anything(repo: Repository, key: str) -> None:
    value = "[[1]]" if key in ("prices", "model_parameters", "gate") else '"file:a\\u0000b"'
    text = f"[tool.pytest.ini_options]\npersonalens_{key} = {value}\n"
    (repo.path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert_one_line(repo.inline(*ARGS))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["é", "☃"])
def test_paths_no_terminal_shows(told: Repository, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert told.inline(*ARGS, *TOLD_AGENTS, "--personalens-report", f"{name}.json").ret == 0
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert told.command("report", f"{name}.json", "--report", f"{name}.md").ret == 0
    assert_one_line(told.command("report", f"{name}/x.json"))


def test_nothing_is_bought_that_cannot_be_kept(paid: Repository) -> None:
    full = "import os\n\ndef no_room(file):\n    raise OSError(28, 'No space left on device')\n\nos.fsync = no_room\n"
    (paid.path / "conftest.py").write_text((paid.path / "conftest.py").read_text() + full)
    live = ("-p", "cacheprovider", "--personalens-sample=4", *MODELS, "--personalens-record=live")
    told = "*what was bought cannot be kept: No space left on device; make room *"
    assert_ended(paid.run_with_cache(*live), 1, told)
    assert calls(paid) == 1, "the one that showed it"


UNREADABLE = ("folder", "[" * 100_000, '{"run": "x", "settings": {}, "sources": {}, "began": NaN}', "\udcff")


@pytest.mark.parametrize("content", UNREADABLE)
def test_a_run_to_resume_that_cannot_be_read(paid: Repository, content: str) -> None:
    kept = calls_folder(paid.path) / "run.json"
    kept.parent.mkdir(parents=True)
    kept.mkdir() if content == "folder" else kept.write_bytes(os.fsencode(content))
    result = paid.inline(*ARGS, *MODELS, "--personalens-record=live", "--personalens-resume")
    if content == "folder":
        assert_one_line(result, "personalens: *run.json: cannot be written: *; remove it")
    else:
        assert result.ret == 0 and calls(paid), "it is a new run"


def test_a_file_of_the_cache_that_became_a_folder(paid: Repository) -> None:
    """While a run is under way, somebody may do anything to what it keeps."""
    spoils = """
    def test_last(personalens):
        import os, pathlib

        for file in pathlib.Path(os.environ["PERSONALENS_CACHE_DIR"]).glob("calls/*/*.json*"):
            if file.is_file():
                file.unlink()
                file.mkdir()
        personalens.check()
    """
    paid.write(test_bot=TEST + spoils)
    result = paid.inline("--personalens-sample=1", *MODELS, "--personalens-record=new")
    assert "INTERNALERROR" not in str(assert_ended(result, 0, passed=2).stderr)


def test_a_dialogue_with_a_line_separator(repo: Repository) -> None:
    line = ANCHORS.read_text(encoding="utf-8").splitlines()[0]
    text = line.replace('"content": "', '"content": "One line\u2028and another. ', 1)
    (repo.path / "labels.jsonl").write_text(f"{text}\r\n", encoding="utf-8")
    assert_ended(repo.command("agreement", "labels.jsonl"), 0)


def test_a_measurement_that_cannot_be_read(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(repo.path / "cache"))
    judge = """
from pytest_personalens import Verdict

class Judge:
    identity, paid, read = "mine", True, 0
    def verdict(self, scenario, dialogue, dimension):
        self.read += 1
        if self.read == STOP:
            raise KeyboardInterrupt
        return Verdict(dimension=dimension, score=1, justification="")
"""
    command = ("agreement", str(ANCHORS), "--judge-model", "mine:Judge", "--live", "--dimensions", "tc")
    repo.write(mine=f"STOP = 3\n{judge}")
    assert repo.command(*command).ret == 130
    kept = list((repo.path / "cache" / "agreement").glob("*.jsonl"))
    assert kept
    for file in kept:
        file.write_bytes(b"\xff\xfe" + file.read_bytes())
    repo.write(mine=f"STOP = 0\n{judge}")
    assert "Traceback" not in str(assert_ended(repo.command(*command), 0).stderr)


def test_a_run_that_was_left_says_so(told: Repository) -> None:
    leaves = "import pytest\n\ndef test_bot(personalens):\n    pytest.exit('enough', returncode=0)\n"
    told.write(test_bot=leaves)
    result = told.inline(*ARGS, *TOLD_AGENTS, "--personalens-gate=tcr >= 0.5")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["personalens: no gate is decided: the run was left before its first result"])
