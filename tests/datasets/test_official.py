"""The official layout: its irregularities on small files of our own, mistakes in it, and the published files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens import Scenario
from pytest_personalens.core.errors import DataError
from pytest_personalens.datasets import OFFICIAL_SAMPLES, OfficialDataset, open_dataset
from pytest_personalens.datasets.quality.corpus import read_corpus
from tests.datasets.test_wrong_values import MISSING, spoilt
from tests.support.datasets import official_tree

SITUATION = {**official_tree.SITUATION, "Device": "[Laptop]", "Day of the Week": "Friday or Saturday"}
STORY = "She asked for the window on each of her trips, and for the same bench in the park that they have at the end of the line."
Files = dict[str, Any]
#: Places in the files of a user -> what stands there instead; None takes the field out.
Changes = dict[tuple[str, ...], Any]
MEDIA, BOTH = ("tasks", "Task 1"), ("tasks_md", "Task 1")


def task(name: str, domains: list[str], types: list[str]) -> dict[str, Any]:
    return official_tree.official_task(name, domains, types, situation=dict(SITUATION))


def user(name: str, changes: Changes) -> Files:
    files: Files = {
        "profile": {
            "affinities": {
                "Media": {"Preferred Genres": ["drama"], "Favourite Media": ["Wolf Hall"]},
                "Music": {"Preferred Genres": ["folk"], "Platform Preference": ["radio"]},
                "Restaurants": {"Dietary Restrictions": ["vegetarian"], "Price Range": "moderate"},
            },
            "demographics": {"user_id": name, "age": "35-44", "ethnicity": "White"},
            "interests": {"Media": 1, "Music": 1, "Restaurants": 1, "Buses**": 0},
            "interactions": {
                d: f"{STORY} That was about {d} for {name}." for d in ("Media", "Music", "Restaurants")
            },
        },
        "tasks": {"Task 1": task("SD-Media-task-2", ["Media"], ["Favorite Media"])},
        "tasks_md": {"Task 1": task("MD-task-9", ["Media", "Music"], ["Preferred Genres (Music)"])},
    }
    for place, value in changes.items():
        files = spoilt(files, place, MISSING if value is None else value)
    return files


def write(root: Path, changes: Changes | None = None, *names: str) -> OfficialDataset:
    for name in names or ("user7",):
        official_tree.write_user(root / "profile", name, **user(name, changes or {}))
    return OfficialDataset(root)


def load(dataset: OfficialDataset, task_id: str) -> Scenario:
    return dataset.load(next(ref for ref in dataset.refs("user7") if ref.task == task_id))


def messages(root: Path, rule: str) -> list[str]:
    return [f.message for f in read_corpus(str(root)).found if f.rule == rule]


RENTAL = {
    MEDIA: task("SD-Rental Cars-task-1", ["Rental Cars"], ["Price"]),
    ("profile", "affinities", "Rental Cars"): {"Price": "low"},
    ("profile", "interactions", "Rental Cars"): STORY,
}
LOCATION: Changes = {(*BOTH, "Relevant Affinity Types"): ["Location Preference"]}
#: What is irregular -> its scenario, a part of that, and the part's value; all have the irregular situation.
READ: dict[str, tuple[Changes, str, Callable[[Scenario], object], object]] = {
    "a domain with a blank": (RENTAL, "rental-cars-1", lambda s: s.preferences, {"Rental Cars": {"Price": ("low",)}}),
    "Favorite for Favourite": ({}, "media-2", lambda s: s.task.relevant, (("Media", "Favourite Media"),)),
    "a name with its domain in brackets": ({}, "multi-9", lambda s: s.task.relevant, (("Music", "Preferred Genres"),)),
    "a name of several domains": (
        {(*BOTH, "Relevant Affinity Types"): ["Preferred Genres"]},
        "multi-9", lambda s: s.task.relevant, (("Media", "Preferred Genres"), ("Music", "Preferred Genres")),
    ),
    "a type that the domains have not": (LOCATION, "multi-9", lambda s: s.task.relevant, ()),
    "preferences outside the interests": (
        {("profile", "interests", "Restaurants"): 0}, "multi-9", lambda s: set(s.preferences), {"Media", "Music"}
    ),
    "an empty list": (
        {("profile", "affinities", "Media", "Favourite Media"): []},
        "media-2", lambda s: s.preferences["Media"]["Favourite Media"], (),
    ),
    "the id is no demographic": ({}, "media-2", lambda s: set(s.demographics), {"age", "ethnicity"}),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "task_id", "part", "value"), READ.values(), ids=READ)
def test_what_is_irregular_is_read(
    tmp_path: Path, changes: Changes, task_id: str, part: Callable[[Scenario], object], value: object
) -> None:
    scenario = load(write(tmp_path, changes), task_id)
    assert part(scenario) == value
    assert scenario.situation.device == "[Laptop]"
    assert scenario.situation.day_of_week == "Friday or Saturday"
    dropped = ["no preference type 'Location Preference' in Media or Music"]
    assert messages(tmp_path, "reference") == (dropped if changes is LOCATION else [])


def test_users_are_in_the_order_of_their_numbers_and_task_ids_repeat(tmp_path: Path) -> None:
    dataset = write(tmp_path, {}, "user10", "user9", "user100")
    assert dataset.users() == ("user9", "user10", "user100")
    ids = [ref.id for name in ("user9", "user10") for ref in dataset.refs(name)]
    assert ids == ["media-2-user9", "multi-9-user9", "media-2-user10", "multi-9-user10"], (
        "the key is a position, and no number of the task"
    )
    with pytest.raises(DataError, match="no such user"):
        dataset.refs("../profile/user9")


def test_fields_in_another_order(tmp_path: Path) -> None:
    plain = user("user7", {})
    turned: Changes = {BOTH: dict(reversed(plain["tasks_md"]["Task 1"].items()))}
    scenarios = [load(write(tmp_path / str(n), each), "multi-9") for n, each in enumerate([{}, turned])]
    assert scenarios[0].task == scenarios[1].task


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({(*MEDIA, "Relevant Domains"): ["Opera"]}, "tasks.json: Task 1: Relevant Domains: unknown domain 'Opera'"),
        ({(*MEDIA, "Relevant Domains"): None}, "tasks.json: Task 1: Relevant Domains: the field is missing"),
        ({(*MEDIA, "Task Goal"): None}, "tasks.json: SD-Media-task-2: Task Goal: the field is missing"),
        ({(*MEDIA, "task_id"): "first"}, "expected 'SD-<domain>-task-<n>'"),
        ({(*MEDIA, "situations"): {}}, "situations.Location: the field is missing"),
        ({("profile", "affinities", "Media", "Genre"): 3}, "profile.json: affinities.Media.Genre: expected a list of t"),
        *(({("profile", name): None}, f"profile.json: {name}: the field is missing") for name in ("demographics", "affinities", "interactions")),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_a_finding(tmp_path: Path, changes: Changes, told: str) -> None:
    dataset = write(tmp_path, changes)
    with pytest.raises(DataError) as caught:
        for ref in dataset.refs("user7"):
            dataset.load(ref)
    assert told in str(caught.value)
    found = [f for f in read_corpus(str(tmp_path)).found if f.rule == "unreadable"]
    assert any(told in f"{f.file}: {f.field}: {f.message}" for f in found)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [("profile.json", "[]", "expected a JSON object, found list"), ("tasks.json", "{", "not valid JSON")],
)
def test_a_file_of_no_object_is_one_finding(tmp_path: Path, file: str, content: str, message: str) -> None:
    write(tmp_path)
    path = tmp_path / "profile" / "user7" / file
    path.write_text(content, encoding="utf-8")
    (found,) = [f for f in read_corpus(str(tmp_path)).found if f.rule == "unreadable"]
    assert found.file == str(path)
    assert message in found.message


def test_the_official_sample_has_its_scenarios(official: Path) -> None:
    dataset = open_dataset(str(official))
    refs = [ref for user in OFFICIAL_SAMPLES["official-30"] for ref in dataset.refs(user)]
    assert sum(ref.kind == "single" for ref in refs) == 1930
    assert sum(ref.kind == "multi" for ref in refs) == 486
    assert len({ref.id for ref in refs}) == 2416
    books = next(ref for ref in dataset.refs("user7") if ref.task == "books-1")
    assert ("Books", "Favourite Authors") in dataset.load(books).task.relevant, "the task spells it Favorite"
    raw = json.loads((official / "data/profile/user7/profile.json").read_bytes())
    movies = next(ref for ref in dataset.refs("user7") if ref.task == "movies-1")
    assert dataset.load(movies).summaries["Movies"] == raw["interactions"]["Movies"], "byte for byte"


def test_the_published_files_are_irregular_and_read(official: Path) -> None:
    """What counts over all 1,500 users say of some of those at hand; test_quality.py reads them all."""
    dataset = open_dataset(str(official))
    scenarios = [dataset.load(ref) for name in dataset.users()[::4] for ref in dataset.refs(name)]
    held = [values for s in scenarios for types in s.preferences.values() for values in types.values()]
    assert () in held
    assert all("user_id" not in s.demographics for s in scenarios)
    assert all(name in s.preferences[domain] for s in scenarios for domain, name in s.task.relevant)
