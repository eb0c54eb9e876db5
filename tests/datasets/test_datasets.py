"""The embedded data: what they hold, their versions, and the files of the package that are made of them."""

from __future__ import annotations

import hashlib
import shutil
import tomllib
from pathlib import Path

import pytest

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import DOMAINS, ScenarioRef
from pytest_personalens.datasets import EmbeddedDataset, open_dataset
from tests.datasets.conftest import Every
from tests.support.datasets.folders import copy_data
from tests.support.datasets.make_data import PACKAGED, packaged_files
from tests.support.repository import ROOT

EMBEDDED = EmbeddedDataset()


def test_the_embedded_benchmark_covers_its_domains_and_no_id_is_there_twice() -> None:
    refs = [ref for user in EMBEDDED.users() for ref in EMBEDDED.refs(user)]
    assert {d for ref in refs for d in ref.domains} == set(DOMAINS)
    assert len({ref.id for ref in refs}) == len(refs)


@pytest.mark.slow
def test_every_embedded_scenario_loads_and_is_whole(every_scenario: Every) -> None:
    for ref, scenario in every_scenario.items():
        assert scenario.id == ref.id
        assert all(scenario.summaries[d] and scenario.preferences[d] for d in ref.domains)
        assert all(name in scenario.preferences[d] for d, name in scenario.task.relevant)


@pytest.mark.slow
def test_situations_follow_the_routine_and_do_not_change(every_scenario: Every) -> None:
    again = EmbeddedDataset()
    for number, (ref, scenario) in enumerate(every_scenario.items()):
        routine, situation = EMBEDDED.files.profile(ref.user).routine, scenario.situation
        if number % 7 == 0:  # loaded alone, and not after all others
            assert scenario == again.load(ref)
        assert situation.device in routine.devices
        assert situation.location in (routine.home, routine.work, routine.transit, routine.out)
        if situation.location == routine.work:
            assert situation.day_of_week not in routine.free


VERSIONS = ROOT / "tests/support/datasets/versions.toml"


def data_digest(root: Path) -> str:
    """A digest of everything the scenarios are made of; line ends do not matter."""
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.toml")):
        parts = file.relative_to(root).parts
        # Suites have versions of their own, and no scenario is made of wordings or labels.
        if not {"suites", "wordings", "agreement"}.intersection(parts) and file.name != "versions.toml":
            digest.update(f"{file.relative_to(root).as_posix()}\n{file.read_text(encoding='utf-8')}".encode())
    return digest.hexdigest()


def test_changed_data_has_a_new_version() -> None:
    """A change of the data is a new version in `versions.toml`, never a new digest of an old one."""
    root = ROOT / "data"
    versions = tomllib.loads(VERSIONS.read_text(encoding="utf-8"))
    in_order = sorted(versions, key=lambda v: [int(n) for n in v.split(".")])
    assert list(versions) == in_order, "the versions are in order, the newest last"
    assert EMBEDDED.version == in_order[-1], f"{VERSIONS} has no line of the version in data/dataset.toml"
    digest = data_digest(root)
    assert versions[EMBEDDED.version] == digest, (
        f"the data has changed: raise the version in data/dataset.toml and add to {VERSIONS} the line"
        f' "<new version>" = "<digest>", which this test computes with the new version in place (now {digest})'
    )


def test_the_package_holds_what_the_files_say() -> None:
    made = packaged_files(ROOT / "data")
    there = {file.relative_to(PACKAGED).as_posix() for file in PACKAGED.rglob("*") if file.is_file()}
    assert there == set(made)
    wrong = [name for name, text in made.items() if (PACKAGED / name).read_text(encoding="utf-8") != text]
    assert not wrong, f"the files of data/ have changed: run `make data` ({', '.join(wrong)})"


@pytest.mark.slow
def test_the_package_and_the_files_that_people_edit_give_the_same(every_scenario: Every) -> None:
    folder = EmbeddedDataset(ROOT / "data")
    refs = [ref for user in folder.users() for ref in folder.refs(user)]
    assert refs == list(every_scenario)
    for ref in refs[::23]:
        scenario, packaged = folder.load(ref), every_scenario[ref]
        assert (scenario, repr(scenario)) == (packaged, repr(packaged))


@pytest.mark.parametrize("change", ["damaged", "missing"])
def test_a_damaged_package_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    data = Path(shutil.copytree(PACKAGED, tmp_path / "data"))
    tasks = data / "tasks.jsonl"
    tasks.write_bytes(tasks.read_bytes().replace(b'"number":2', b'"number":'))
    if change == "missing":
        tasks.unlink()
    monkeypatch.setattr("pytest_personalens.datasets.embedded.packaged._DATA", data)
    dataset = EmbeddedDataset()
    ref = next(ref for ref in dataset.refs("amara") if ref.task == "alarm-2")
    with pytest.raises(DataError, match=rf"tasks\.jsonl: .*{change}.*; reinstall pytest-personalens$"):
        dataset.load(ref)


def test_a_folder_in_the_embedded_layout_is_a_dataset(tmp_path: Path) -> None:
    copy = copy_data(tmp_path / "data", "amara")
    (copy / "dataset.toml").write_text('name = "ours"\nversion = "7"\n', encoding="utf-8")
    dataset = open_dataset(str(copy))
    assert (dataset.name, dataset.load(dataset.refs("amara")[0]).dataset) == ("ours", "ours 7")


def test_a_path_that_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a data folder"):
        open_dataset(str(tmp_path))
    with pytest.raises(DataError, match="no such folder"):
        open_dataset(str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="no such user"):
        EMBEDDED.load(ScenarioRef("../domains/alarm", "alarm-1", "single", ("Alarm",)))
