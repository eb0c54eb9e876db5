"""Large samples: the index of the official data, and what is loaded when."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks.synthetic_data.official import write_data
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.destinations import cached_file
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.datasets import OfficialDataset, draw, official
from pytest_personalens.datasets.official import FORMAT, open_index
from tests.support.processes.runs import assert_ended, collect_ids
from tests.support.repository import Repository, run_at_once

USERS, SCENARIOS = 20, 160


def index_file(data: Path) -> Path:
    return cached_file("official", (data,))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twenty users with 120 single-domain and 40 multi-domain scenarios; the index is used from the fifth user on."""
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(official, "INDEX_FROM", 4)
    return write_data(tmp_path / "data", users=USERS, single=120, multi=40, length=0)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The folder of the index."""
    return tmp_path / "cache"


class Reader:
    """Reads users for the index and remembers whom."""

    def __init__(self, data: Path) -> None:
        self.dataset = OfficialDataset(data)
        self.read: list[str] = []
        self.index = open_index(data, self.dataset.users(), self)

    def __call__(self, user: str) -> Sequence[ScenarioRef]:
        """The user's scenarios from the files, by a dataset that is asked for too few to use the index."""
        self.read.append(user)
        return OfficialDataset(self.dataset.root).refs(user)

    def check(self) -> None:
        """Check that the index has of each user what the files have."""
        for user in self.dataset.users():
            assert self.index.refs(user) == OfficialDataset(self.dataset.root).refs(user)


def touch(file: Path) -> None:
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1))


#: What is done to the folder of user3 -> whose files are then read.
CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no single-domain tasks": (lambda user: (user / "tasks.json").write_text("{}"), "user3"),
    "no other tasks": (lambda user: (user / "tasks_md.json").write_text("{}"), "user3"),
    "another time": (lambda user: touch(user / "tasks.json"), "user3"),
    "another name": (lambda user: user.rename(user.with_name("user77")), "user77"),
}


@pytest.mark.parametrize("how", CHANGES)
def test_the_index_is_built_once_and_a_changed_user_is_read_anew(data: Path, cache: Path, how: str) -> None:
    change, read = CHANGES[how]
    assert len(Reader(data).read) == USERS
    assert list(cache.iterdir()) == [index_file(data)], "no draft is left behind"
    assert Reader(data).read == []
    change(data / "profile" / "user3")
    for expected in ([read], []):
        reader = Reader(data)
        assert reader.read == expected
        reader.check()
    assert reader.index.refs("user999") is None
    assert (reader.index.refs("user3") is None) == (read == "user77")


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "\xff", f'{{"format": {FORMAT + 1}}}',
        '{"users": {"user3": {"stamp": [1, 1, 1, 1], "places": [0]}}}',
    ],
)  # fmt: skip
def test_an_index_that_cannot_be_used_is_built_anew(data: Path, text: str) -> None:
    Reader(data)
    whole = index_file(data).read_bytes()
    index_file(data).write_bytes(text.encode("latin-1"))
    assert len(Reader(data).read) == USERS
    assert index_file(data).read_bytes() == whole


@pytest.mark.parametrize("home", [True, False])
def test_a_cache_is_done_without(
    data: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, home: bool
) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    cache.write_text("not a folder", encoding="utf-8")
    if not home:
        for name in ("PERSONALENS_CACHE_DIR", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", nowhere)
    for _ in range(2):
        reader = Reader(data)
        reader.check()
        assert len(reader.read) == USERS


def test_where_the_index_lies(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert index_file(data).parent == tmp_path / "cache"
    assert index_file(data) == index_file(data / "profile" / ".."), "one folder by two names"
    assert index_file(data) != index_file(tmp_path)
    monkeypatch.delenv("PERSONALENS_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert index_file(data).parent == tmp_path / "xdg/pytest-personalens"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert index_file(data).parent == tmp_path / ".cache/pytest-personalens"


@pytest.mark.slow
def test_processes_that_build_it_at_once(data: Path, cache: Path) -> None:
    script = (
        "from tests.datasets.test_scale import Reader\n"
        "wait()\n"
        "for _ in range(30):\n"
        "    for file in Path(sys.argv[2]).glob('*.index'): file.unlink(missing_ok=True)\n"
        "    index = Reader(Path(sys.argv[1])).index\n"
        "    assert sum(len(index.refs(f'user{i}')) for i in range(20)) == 160\n"
    )
    run_at_once(script, str(data), str(cache))
    assert [file.suffix for file in cache.iterdir()] in ([], [".index"])


def test_the_draw_is_the_same_with_and_without_it(
    data: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw(OfficialDataset(data), 4, seed="s")
    assert not cache.exists(), "a small draw does without"
    draw(OfficialDataset(data), 5, seed="s")
    assert cache.exists()
    indexed = [draw(OfficialDataset(data), 1000, seed="s") for _ in ("built", "read")]
    monkeypatch.setattr(official, "INDEX_FROM", 1000)
    plain = draw(OfficialDataset(data), 1000, seed="s")
    assert indexed == [plain, plain]
    assert len(plain.refs) == SCENARIOS
    assert draw(OfficialDataset(data), 30, seed="s").refs == plain.refs[:30]


def test_a_bad_file_stops_only_the_draw_of_its_user(data: Path) -> None:
    (data / "profile/user3/tasks.json").write_text("{")
    others = [f"user{i}" for i in range(USERS) if i != 3]
    for _ in ("built", "read"):
        assert len(draw(OfficialDataset(data), 19, seed="s", users=others).refs) == 19
        with pytest.raises(DataError, match=r"user3/tasks\.json: not valid JSON"):
            draw(OfficialDataset(data), 20, seed="s")


def test_a_scenario_that_is_gone_is_told_in_one_line(data: Path) -> None:
    dataset = OfficialDataset(data)
    gone = dataset.refs("user3")[0]._replace(task="movies-99")
    with pytest.raises(DataError, match=r"user3: no such scenario: 'movies-99'$"):
        dataset.load(gone)


def test_progress_is_shown_on_a_terminal_only(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> str:
        Reader(data)
        return capsys.readouterr().err

    monkeypatch.setattr(official, "SHOWN_FROM", 10)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    assert told() == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert told() == "", "nothing is built"
    index_file(data).unlink()
    assert told() == "".join(f"\rpersonalens: indexing the data, {n} of 20 users" for n in (10, 20)) + "\n"
    index_file(data).unlink()
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    assert told() == ""


def collected(repo: Repository, data: Path, size: int, *more: str) -> list[str]:
    return collect_ids(repo, f"--personalens-data={data}", f"--personalens-sample={size}", *more)


@pytest.mark.slow
def test_everything_is_collected(repo: Repository, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = collected(repo, data, 1000)
    assert len(everything) == len(set(everything)) == SCENARIOS
    assert collected(repo, data, 30) == everything[:30]
    monkeypatch.setattr("pytest_personalens.core.runtime._MANY", 100)
    try:
        assert collected(repo, data, 1000) == everything
        assert gc.isenabled()
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(
    "wanted", [{"domain": "Movies"}, {"kind": "multi"}, {"user": "user7"}, {"domain": "Movies", "kind": "single"}]
)  # fmt: skip
def test_items_are_selected_by_their_marks(repo: Repository, data: Path, wanted: dict[str, str]) -> None:
    mark = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
    dataset = OfficialDataset(data)
    expected = {
        ref.id
        for user in dataset.users()
        for ref in dataset.refs(user)
        if wanted.get("domain", ref.domains[0]) in ref.domains
        and wanted.get("kind", ref.kind) == ref.kind
        and wanted.get("user", user) == user
    }
    assert expected
    assert {*collected(repo, data, 1000, "-m", f"personalens({mark})")} == expected


def test_a_bad_profile_ends_a_small_run_and_one_item_of_a_large_one(repo: Repository, data: Path) -> None:
    last = draw(OfficialDataset(data), USERS, seed="personalens").refs[-1]
    (data / f"profile/{last.user}/profile.json").write_text("{}")
    told = f"{last.user}/profile.json: demographics: the field is missing"
    arguments = (f"--personalens-data={data}", "--personalens-sample", str(USERS), "-k", last.id)
    assert_ended(repo.run(*arguments), 4, err=f"*{told}*")
    with repo.path.joinpath("conftest.py").open("a") as conftest:
        conftest.write(
            "from pytest_personalens.plugin.running import run\nrun._LOADED_AHEAD, run._TRIED = 10, 3\n"
        )
    large = assert_ended(repo.run(*arguments), 1, f"*{told}*")
    large.assert_outcomes(errors=1, deselected=USERS - 1)
