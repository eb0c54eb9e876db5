"""Parsed TOML in the cache folder: never stale, never believed where it is damaged, never needed."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from pytest_personalens.datasets.toml_cache import read_toml
from tests.support.repository import run_at_once

TEXT = 'name = "Amara"\nlist = ["ü", 1, 2.5, true]\n[domains."Rental Cars"]\nsummary = """\nHi.\n"""\n'
DATA = {"name": "Amara", "list": ["ü", 1, 2.5, True], "domains": {"Rental Cars": {"summary": "Hi.\n"}}}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder."""
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A TOML file."""
    path = tmp_path / "file.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_file_is_parsed_once(file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_toml(file) == DATA
    monkeypatch.setattr(tomllib, "loads", lambda text: pytest.fail("parsed again"))
    assert read_toml(file) == DATA
    assert [kept.suffix for kept in (cache / "toml").iterdir()] == [".json"], "no draft is left behind"


def test_a_change_is_seen_though_size_and_time_are_the_same(file: Path) -> None:
    before = file.stat()
    read_toml(file)
    file.write_text(TEXT.replace("Amara", "Aamar"), encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    for _ in range(2):
        assert read_toml(file) == {**DATA, "name": "Aamar"}


@pytest.mark.parametrize("damage", [(b"Amara", b"Amala"), (b"}}", b""), (b'"', b"'"), (b"{", b"[")])
def test_what_is_damaged_is_parsed_anew(file: Path, cache: Path, damage: tuple[bytes, bytes]) -> None:
    read_toml(file)
    (kept,) = (cache / "toml").iterdir()
    whole = kept.read_bytes()
    for broken in (whole.replace(*damage), whole[:20], whole[1:], b""):
        assert broken != whole
        kept.write_bytes(broken)
        assert read_toml(file) == DATA
        assert kept.read_bytes() == whole


def test_it_is_done_without_where_it_cannot_be(
    file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("not a folder", encoding="utf-8")
    assert read_toml(file) == DATA

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("PERSONALENS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert read_toml(file) == DATA


def test_what_json_cannot_hold_is_not_kept(file: Path, cache: Path) -> None:
    file.write_text("day = 2026-01-01\n", encoding="utf-8")
    for _ in range(2):
        assert read_toml(file) == tomllib.loads("day = 2026-01-01")
    assert not cache.exists()


def test_what_is_nested_too_deeply_for_the_cache_is_parsed_each_time(file: Path) -> None:
    file.write_text(f"list = {'[' * 250}{']' * 250}\n", encoding="utf-8")
    assert read_toml(file) == read_toml(file) == tomllib.loads(file.read_text(encoding="utf-8"))


def test_files_of_the_same_name_are_kept_apart(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / file.name
    other.parent.mkdir()
    other.write_text('name = "Jun-ho"', encoding="utf-8")
    for _ in range(2):
        assert (read_toml(file), read_toml(other)) == (DATA, {"name": "Jun-ho"})


def test_processes_that_write_it_at_once(file: Path, cache: Path) -> None:
    script = (
        "from pytest_personalens.datasets.toml_cache import read_toml\n"
        "wait()\n"
        "for _ in range(100):\n"
        "    for kept in Path(sys.argv[2]).glob('toml/*.json'): kept.unlink(missing_ok=True)\n"
        "    assert read_toml(Path(sys.argv[1]))['name'] == 'Amara'\n"
    )
    run_at_once(script, str(file), str(cache))
    assert [kept.suffix for kept in (cache / "toml").iterdir()] in ([], [".json"])
