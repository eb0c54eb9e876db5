"""Each irregularity of the official data, on small files of our own: what is read, and what is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_personalens import Scenario
from pytest_personalens.datasets import OfficialDataset, open_dataset
from pytest_personalens.datasets.quality import read_corpus
from tests.support.datasets.official_tree import official_task, write_user

SITUATION = {
    "Location": "Leeds",
    "Device": "Laptop",
    "Time of Day": "Evening",
    "Day of the Week": "Sunday",
    "Environment": "Quiet",
}
STORY = "She asked for the window on each of her trips, and for the same bench in the park that they have at the end of the line."
Files = dict[str, Any]


def task(name: str, domains: list[str], types: list[str]) -> dict[str, Any]:
    return official_task(name, domains, types, situation=dict(SITUATION))


def user(name: str) -> Files:
    return {
        "profile": {
            "affinities": {
                "Media": {"Preferred Genres": ["drama"], "Favourite Media": ["Wolf Hall"]},
                "Music": {"Preferred Genres": ["folk"], "Platform Preference": ["radio"]},
                "Restaurants": {"Dietary Restrictions": ["vegetarian"], "Price Range": "moderate"},
            },
            "demographics": {"user_id": name, "age": "35-44", "ethnicity": "White"},
            "interests": {"Media": 1, "Music": 1, "Restaurants": 1},
            "interactions": {
                d: f"{STORY} That was about {d} for {name}." for d in ("Media", "Music", "Restaurants")
            },
        },
        "tasks": {"Task 1": task("SD-Media-task-2", ["Media"], ["Favorite Media"])},
        "tasks_md": {"Task 1": task("MD-task-9", ["Media", "Music"], ["Preferred Genres (Music)"])},
    }


def write(root: Path, people: dict[str, Files]) -> Path:
    for name, files in people.items():
        write_user(root / "profile", name, **files)
    return root


def load(root: Path, task_id: str, name: str = "user7") -> Scenario:
    dataset = OfficialDataset(root)
    return dataset.load(next(ref for ref in dataset.refs(name) if ref.task == task_id))


def messages(root: Path, rule: str) -> list[str]:
    return [f.message for f in read_corpus(str(root)).found if f.rule == rule]


def test_users_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    write(tmp_path, {name: user(name) for name in ("user10", "user9", "user100")})
    assert OfficialDataset(tmp_path).users() == ("user9", "user10", "user100")


def test_task_ids_repeat_from_user_to_user(tmp_path: Path) -> None:
    write(tmp_path, {name: user(name) for name in ("user1", "user2")})
    ids = [ref.id for name in ("user1", "user2") for ref in OfficialDataset(tmp_path).refs(name)]
    assert ids == ["media-2-user1", "multi-9-user1", "media-2-user2", "multi-9-user2"], (
        "the key is a position, and no number of the task"
    )


def test_a_domain_with_a_blank(tmp_path: Path) -> None:
    files = user("user7")
    files["tasks"]["Task 1"] = task("SD-Rental Cars-task-1", ["Rental Cars"], ["Price"])
    files["profile"]["affinities"]["Rental Cars"] = {"Price": "low"}
    files["profile"]["interactions"]["Rental Cars"] = STORY
    assert load(write(tmp_path, {"user7": files}), "rental-cars-1").preferences == {
        "Rental Cars": {"Price": ("low",)}
    }


def test_fields_in_another_order(tmp_path: Path) -> None:
    files, turned = user("user7"), user("user8")
    turned["tasks_md"]["Task 1"] = dict(reversed(turned["tasks_md"]["Task 1"].items()))
    turned["profile"]["interests"] = dict(reversed(turned["profile"]["interests"].items()))
    root = write(tmp_path, {"user7": files, "user8": turned})
    assert load(root, "multi-9").task == load(root, "multi-9", "user8").task


def test_favorite_is_spelled_favourite(tmp_path: Path) -> None:
    root = write(tmp_path, {"user7": user("user7")})
    assert load(root, "media-2").task.relevant == (("Media", "Favourite Media"),)
    assert messages(root, "reference") == [], "the plugin reads the other spelling as the same"


def test_a_name_with_its_domain_in_brackets_means_that_domain(tmp_path: Path) -> None:
    assert load(write(tmp_path, {"user7": user("user7")}), "multi-9").task.relevant == (
        ("Music", "Preferred Genres"),
    )


def test_a_name_of_several_domains_means_each(tmp_path: Path) -> None:
    files = user("user7")
    files["tasks_md"]["Task 1"] = task("MD-task-9", ["Media", "Music"], ["Preferred Genres"])
    assert load(write(tmp_path, {"user7": files}), "multi-9").task.relevant == (
        ("Media", "Preferred Genres"),
        ("Music", "Preferred Genres"),
    )


def test_a_type_that_the_domains_have_not_is_dropped_and_found(tmp_path: Path) -> None:
    files = user("user7")
    files["tasks_md"]["Task 1"]["Relevant Affinity Types"] = ["Location Preference"]
    root = write(tmp_path, {"user7": files})
    assert load(root, "multi-9").task.relevant == ()
    assert messages(root, "reference") == ["no preference type 'Location Preference' in Media or Music"]


def test_preferences_outside_the_interests(tmp_path: Path) -> None:
    files = user("user7")
    files["profile"]["interests"]["Restaurants"] = 0
    root = write(tmp_path, {"user7": files})
    assert set(load(root, "multi-9").preferences) == {"Media", "Music"}, (
        "a scenario holds its own domains only"
    )


def test_an_empty_list_is_nothing_stated(tmp_path: Path) -> None:
    files = user("user7")
    files["profile"]["affinities"]["Media"]["Favourite Media"] = []
    assert load(write(tmp_path, {"user7": files}), "media-2").preferences["Media"]["Favourite Media"] == ()


def test_the_id_is_no_demographic(tmp_path: Path) -> None:
    assert set(load(write(tmp_path, {"user7": user("user7")}), "media-2").demographics) == {
        "age",
        "ethnicity",
    }


@pytest.mark.parametrize("device", ["[Laptop]", "Smart TV"])
def test_an_odd_value_is_read_as_it_is(tmp_path: Path, device: str) -> None:
    files = user("user7")
    files["tasks"]["Task 1"]["situations"]["Device"] = device
    assert load(write(tmp_path, {"user7": files}), "media-2").situation.device == device


def test_the_published_files_hold_them(official: Path) -> None:
    """What counts over all 1,500 users say of those at hand."""
    dataset = open_dataset(str(official))
    scenarios = [dataset.load(ref) for name in dataset.users() for ref in dataset.refs(name)]
    assert any(
        values == () for s in scenarios for types in s.preferences.values() for values in types.values()
    )
    assert all("user_id" not in s.demographics for s in scenarios)
    assert "unreadable" not in {f.rule for f in read_corpus(str(official)).found}
