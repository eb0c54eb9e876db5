"""The embedded and the official data: what they hold, and one clear line for what is wrong with them."""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import DOMAINS, ScenarioRef
from pytest_personalens.datasets import OFFICIAL_SAMPLES, EmbeddedDataset, OfficialDataset, open_dataset
from tests.datasets.conftest import Every
from tests.support.datasets.folders import copy_data
from tests.support.datasets.make_data import PACKAGED, packaged_files
from tests.support.datasets.official_tree import official_task, write_user
from tests.support.repository import ROOT

EMBEDDED = EmbeddedDataset()


def test_the_embedded_benchmark_has_its_parts() -> None:
    assert len(EMBEDDED.users()) >= 120
    kinds = Counter(kind for _, kind, _ in EMBEDDED.files.task_names())
    assert kinds == {"single": 86, "multi": 25}
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
    assert list(versions) == sorted(versions, key=lambda v: [int(n) for n in v.split(".")]), (
        "the versions are in order, the newest last"
    )
    assert EMBEDDED.version == list(versions)[-1], (
        f"the last line of {VERSIONS} is that of the version in data/dataset.toml"
    )
    assert versions[EMBEDDED.version] == data_digest(root), (
        f"the data has changed: raise the version in data/dataset.toml and add to {VERSIONS} the line "
        '"<new version>" = "<digest>", the digest being what this test computes with the new version in'
        f" place (now {data_digest(root)})"
    )


def test_a_change_of_any_file_changes_the_digest(copy: Path) -> None:
    before = data_digest(copy)
    for file in ("profiles/amara.toml", "domains/alarm.toml", "multi.toml", "dataset.toml"):
        path = copy / file
        path.write_bytes(path.read_bytes() + b"# x\n")
        assert data_digest(copy) != before
        before = data_digest(copy)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert data_digest(copy) == before, "a checkout with other line ends is the same data"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the embedded data to break."""
    return copy_data(tmp_path / "data", "amara")


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
def test_damaged_data_of_the_package_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    data = Path(shutil.copytree(PACKAGED, tmp_path / "data"))
    tasks = data / "tasks.jsonl"
    if change == "missing":
        tasks.unlink()
    else:
        tasks.write_bytes(tasks.read_bytes().replace(b'"number":2', b'"number":'))
    monkeypatch.setattr("pytest_personalens.datasets.embedded.packaged._DATA", data)
    dataset = EmbeddedDataset()
    ref = next(ref for ref in dataset.refs("amara") if ref.task == "alarm-2")
    with pytest.raises(DataError, match=rf"tasks\.jsonl: .*{change}.*; reinstall pytest-personalens$"):
        dataset.load(ref)


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("profiles/amara.toml", 'gender = "Female"\n', "", "demographics.gender: field required"),
        ("profiles/amara.toml", 'gender = "Female"', 'gender = "F"', "demographics.gender"),
        ("profiles/amara.toml", '"Alarm Time Preference" = "4:30 AM"\n', "", "domains.Alarm.Alarm Time Preference: the field is missing"),
        ("profiles/amara.toml", '"4:30 AM"', '"4:31 AM"', "'4:31 AM' is not one of: 4:30 AM"),
        ("profiles/amara.toml", '["comedy", "romance"]', '"comedy"', "expected a list of texts"),
        ("profiles/amara.toml", "[domains.Movies]", "[domains.Opera]", "unknown domain 'Opera'; known: Alarm"),
        ("profiles/amara.toml", "[routine]", "[routine", "not valid TOML"),
        ("domains/alarm.toml", '"Alarm Sound Preference", ', '"Alarm Colour", ', "no preference type 'Alarm Colour'"),
        ("domains/alarm.toml", "number = 1\n", "", "tasks.1.number: field required"),
        ("domains/alarm.toml", "number = 2\n", "number = 1\n", "tasks.1.number: expected 2: tasks are numbered 1, 2, 3"),
        ("domains/alarm.toml", 'kind = "categorical"', 'kind = "open"', "preferences.Alarm Time Preference.values: an open type has no list"),
        ("multi.toml", 'domains = ["Movies", "Restaurants"]', 'domains = ["Movies", "Opera"]', "unknown domain 'Opera'"),
        ("multi.toml", 'domains = ["Movies", "Restaurants"]', 'domains = ["Movies", "Movies"]', "tasks.1.domains: a domain stands there twice"),
        ("dataset.toml", "version = ", "version = 2 # ", "version: expected a text, such as version ="),
        ("dataset.toml", 'name = "embedded"', "", "name: expected a text, such as name ="),
        ("profiles/amara.toml", '["comedy", "romance"]', '["comedy", "comedy"]', "a value stands there twice"),
        ("profiles/amara.toml", 'free = ["', 'free = ["Someday", "', "routine.free.1: expected 'Monday', 'Tuesday'"),
    ],
)  # fmt: skip
def test_a_broken_file_gets_one_line_with_file_and_field(
    copy: Path, file: str, old: str, new: str, told: str
) -> None:
    path = copy / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        dataset = EmbeddedDataset(copy)
        dataset.refs("amara")
    assert str(caught.value).startswith(f"{path}: ")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_in_the_embedded_layout_is_a_dataset(copy: Path) -> None:
    path = copy / "dataset.toml"
    path.write_text('name = "ours"\nversion = "7"\n', encoding="utf-8")
    dataset = open_dataset(str(copy))
    ref = dataset.refs("amara")[0]
    assert (dataset.name, dataset.load(ref).dataset) == ("ours", "ours 7")


def test_the_official_sample_has_its_scenarios(official: Path) -> None:
    dataset = open_dataset(str(official))
    refs = [ref for user in OFFICIAL_SAMPLES["official-30"] for ref in dataset.refs(user)]
    assert sum(ref.kind == "single" for ref in refs) == 1930
    assert sum(ref.kind == "multi" for ref in refs) == 486
    assert len({ref.id for ref in refs}) == 2416


def test_the_official_irregularities_are_read(official: Path) -> None:
    dataset = open_dataset(str(official / "data"))
    for user in ("user874", "user205", "user7"):
        for ref in dataset.refs(user):
            scenario = dataset.load(ref)
            assert "user_id" not in scenario.demographics
            assert all(name in scenario.preferences[domain] for domain, name in scenario.task.relevant)
    books = next(ref for ref in dataset.refs("user7") if ref.task == "books-1")
    assert ("Books", "Favourite Authors") in dataset.load(books).task.relevant, "the task spells it Favorite"


def test_official_summaries_are_kept_byte_for_byte(official: Path) -> None:
    dataset = open_dataset(str(official))
    raw = json.loads((official / "data/profile/user7/profile.json").read_bytes())
    ref = next(ref for ref in dataset.refs("user7") if ref.task == "movies-1")
    assert dataset.load(ref).summaries["Movies"] == raw["interactions"]["Movies"]


ODD_SITUATION = {
    "Location": "[City]", "Device": "[Laptop]", "Time of Day": "late", "Day of the Week": "Friday or Saturday", "Environment": "Quiet",
}  # fmt: skip
TYPES = ["Favorite Seats", "Preferred Genres (Movies)"]
TASK = official_task("SD-Rental Cars-task-1", ["Rental Cars"], TYPES, situation=ODD_SITUATION)
PROFILE = {
    "affinities": {"Rental Cars": {"Favourite Seats": [], "Price": "low"}},
    "demographics": {"user_id": "user3", "age": "N/A"},
    "interests": {"Buses**": 0},
    "interactions": {"Rental Cars": "Here is a summary."},
}


def official_like(root: Path, task: dict[str, Any], profile: dict[str, Any]) -> OfficialDataset:
    write_user(root / "profile", "user3", profile=profile, tasks={"Task 1": task}, tasks_md={})
    return OfficialDataset(root)


def test_irregular_values_in_the_official_layout(tmp_path: Path) -> None:
    dataset = official_like(tmp_path, TASK, PROFILE)
    scenario = dataset.load(dataset.refs("user3")[0])
    assert scenario.id == "rental-cars-1-user3"
    assert scenario.preferences == {"Rental Cars": {"Favourite Seats": (), "Price": ("low",)}}
    assert scenario.task.relevant == (("Rental Cars", "Favourite Seats"),)
    assert scenario.situation.day_of_week == "Friday or Saturday"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"Relevant Domains": ["Opera"]}, "tasks.json: Task 1: Relevant Domains: unknown domain 'Opera'"),
        ({"Task Goal": None}, "tasks.json: SD-Rental Cars-task-1: Task Goal: the field is missing"),
        ({"task_id": "first"}, "expected 'SD-<domain>-task-<n>'"),
        ({"situations": {}}, "situations.Location: the field is missing"),
    ],
)
def test_a_broken_official_file_gets_one_line(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    dataset = official_like(tmp_path, {**TASK, **change}, PROFILE)
    with pytest.raises(DataError) as caught:
        dataset.load(dataset.refs("user3")[0])
    assert told in str(caught.value)


@pytest.mark.parametrize("missing", ["demographics", "affinities", "interactions"])
def test_a_profile_with_a_missing_field(tmp_path: Path, missing: str) -> None:
    dataset = official_like(tmp_path, TASK, {k: v for k, v in PROFILE.items() if k != missing})
    with pytest.raises(DataError, match=rf"profile\.json: {missing}: the field is missing"):
        dataset.load(dataset.refs("user3")[0])


def test_a_path_that_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a data folder"):
        open_dataset(str(tmp_path))
    with pytest.raises(DataError, match="no such folder"):
        open_dataset(str(tmp_path / "nowhere"))


def test_a_user_cannot_name_a_path(tmp_path: Path) -> None:
    dataset = official_like(tmp_path, TASK, PROFILE)
    with pytest.raises(DataError, match="no such user"):
        dataset.refs("../profile/user3")
    with pytest.raises(DataError, match="no such user"):
        EMBEDDED.load(ScenarioRef("../domains/alarm", "alarm-1", "single", ("Alarm",)))
