"""Each irregularity of the official data, on small files of our own: what is read, and what is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens import Scenario
from pytest_personalens.datasets import OfficialDataset, open_dataset
from pytest_personalens.datasets.quality import Finding, assess, read_corpus
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


def write(
    root: Path, people: dict[str, Files], master: dict[str, list[dict[str, Any]]] | None = None
) -> Path:
    for name, files in people.items():
        write_user(root / "profile", name, **files)
    for domain, tasks in (master or {}).items():
        (root / "task" / domain).mkdir(parents=True)
        (root / "task" / domain / "task.jsonl").write_text(
            "".join(json.dumps(t) + "\n" for t in tasks), encoding="utf-8"
        )
    return root


def load(root: Path, task_id: str, name: str = "user7") -> Scenario:
    dataset = OfficialDataset(root)
    return dataset.load(next(ref for ref in dataset.refs(name) if ref.task == task_id))


def found(root: Path, rule: str) -> list[Finding]:
    return [f for f in assess(read_corpus(str(root)), words=10).findings if f.rule == rule]


def messages(root: Path, rule: str) -> list[str]:
    return [f.message for f in found(root, rule)]


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
    master = {"Media": [{**task("", [], ["Favorite Media"]), "Task Number": 2}]}
    root = write(tmp_path, {"user7": user("user7")}, master)
    assert load(root, "media-2").task.relevant == (("Media", "Favourite Media"),)
    assert messages(root, "reference") == ["no preference type 'Favorite Media' in Media (1 scenario)"]


def test_a_name_with_its_domain_in_brackets_means_that_domain(tmp_path: Path) -> None:
    assert load(write(tmp_path, {"user7": user("user7")}), "multi-9").task.relevant == (
        ("Music", "Preferred Genres"),
    )


def test_a_name_of_several_domains_means_each(tmp_path: Path) -> None:
    files = user("user7")
    files["tasks_md"]["Task 1"] = task("MD-task-9", ["Media", "Music"], ["Preferred Genres"])
    master = {"Multi-Domain": [{**task("", ["Media", "Music"], ["Preferred Genres"]), "Task Number": 9}]}
    root = write(tmp_path, {"user7": files}, master)
    assert load(root, "multi-9").task.relevant == (
        ("Media", "Preferred Genres"),
        ("Music", "Preferred Genres"),
    )
    assert messages(root, "ambiguous") == ["'Preferred Genres' exists in Media and in Music"]


def test_a_type_that_the_domains_have_not_is_dropped_and_found(tmp_path: Path) -> None:
    files = user("user7")
    files["tasks_md"]["Task 1"]["Relevant Affinity Types"] = ["Location Preference"]
    master = {"Multi-Domain": [{**task("", ["Media", "Music"], ["Location Preference"]), "Task Number": 9}]}
    root = write(tmp_path, {"user7": files}, master)
    assert load(root, "multi-9").task.relevant == ()
    assert "no preference type 'Location Preference' in Media or Music (1 scenario)" in messages(
        root, "reference"
    )


def test_a_domain_without_a_relevant_type(tmp_path: Path) -> None:
    master = {"Multi-Domain": [{**task("", ["Media", "Music"], ["Platform Preference"]), "Task Number": 9}]}
    root = write(tmp_path, {"user7": user("user7")}, master)
    assert messages(root, "no-type") == ["no relevant preference type of Media"]


def test_a_users_copy_that_differs_from_the_task(tmp_path: Path) -> None:
    master = {"Multi-Domain": [{**task("", ["Media", "Music"], ["Preferred Genres"]), "Task Number": 9}]}
    root = write(tmp_path, {"user7": user("user7")}, master)
    assert [
        (Path(f.file).parent.name, f.message) for f in found(root, "task-copy") if "multi-9" in f.field
    ] == [("user7", "relevant types differ from the task's: Preferred Genres, Preferred Genres (Music)")]


def test_preferences_outside_the_interests(tmp_path: Path) -> None:
    files = user("user7")
    files["profile"]["interests"]["Restaurants"] = 0
    root = write(tmp_path, {"user7": files})
    assert messages(root, "outside-mask") == ["preferences for domains without interest: Restaurants"]
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


def edit(*path: str, value: object) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        for key in path[:-1]:
            files = files[key]
        files[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "rule", "message"),
    [
        (edit("profile", "interests", "Buses**", value=0), "interest-key", "no such domain: 'Buses**'"),
        (edit("profile", "demographics", "ethnicity", value="N/A"), "undisclosed", "'N/A'; elsewhere it is 'Prefer not to say'"),
        (edit("profile", "demographics", "religion", value="N/A"), "undisclosed", "'N/A'; elsewhere it is 'Prefer not to say'"),
        (edit("profile", "interactions", "Media", value=f"Here is a summary: {STORY}"), "preamble", "begins like a model's answer"),
        (edit("profile", "interactions", "Media", value=f"Based on the conversations: {STORY}"), "preamble", "begins like a model's answer"),
        (edit("profile", "interactions", "Media", value="Ayer pidió dos entradas para el teatro y mañana quiere volver con su hermana."), "language", "not English"),
        (edit("tasks", "Task 1", "situations", "Device", value="[Laptop]"), "situation", "'[Laptop]' is not one of: Smartphone"),
        (edit("tasks", "Task 1", "situations", "Device", value="Smart TV"), "situation", "'Smart TV' is not one of: Smartphone"),
        (edit("tasks", "Task 1", "situations", "Day of the Week", value="Friday or Saturday"), "situation", "'Friday or Saturday' is not one of"),
        (edit("tasks", "Task 1", "situations", "Day of the Week", value="Weekday (e.g., Tuesday)"), "situation", "is not one of: Monday"),
        (edit("tasks", "Task 1", "situations", "Time of Day", value="Late afternoon"), "situation", "'Late afternoon' is not one of: Morning"),
        (edit("tasks", "Task 1", "situations", "Location", value="[City's name], UK"), "situation", "a placeholder, not a place: "),
    ],
)  # fmt: skip
def test_an_odd_value_is_read_as_it_is_and_found(
    tmp_path: Path, change: Callable[[Files], None], rule: str, message: str
) -> None:
    root = write(tmp_path / "plain", {name: user(name) for name in ("user7", "user8")})
    assert not [f for f in found(root, rule) if message in f.message]
    files = user("user7")
    change(files)
    root = write(tmp_path / "odd", {"user7": files, "user8": user("user8")})
    assert len([f for f in found(root, rule) if message in f.message and "user7" in f.file]) == 1
    assert load(root, "media-2").situation.device == files["tasks"]["Task 1"]["situations"]["Device"]


def test_another_spelling_of_a_value_is_found(tmp_path: Path) -> None:
    people = {name: user(name) for name in ("user7", "user8", "user9")}
    people["user9"]["profile"]["affinities"]["Restaurants"]["Dietary Restrictions"] = ["Vegetarian"]
    assert messages(write(tmp_path, people), "spelling") == ["'Vegetarian' is elsewhere 'vegetarian'"]


def test_the_domains_of_a_master_task_are_its_folder_where_it_names_none(tmp_path: Path) -> None:
    single = {k: v for k, v in task("", [], ["Favourite Media"]).items() if k != "Relevant Domains"}
    root = write(tmp_path, {"user7": user("user7")}, {"Media": [{**single, "Task Number": 2}]})
    assert [t.domains for t in read_corpus(str(root)).tasks] == [("Media",)]


def test_the_published_files_hold_them(official: Path) -> None:
    """What counts over all 1,500 users say of those at hand; `test_quality.py` counts findings of tasks."""
    dataset = open_dataset(str(official))
    scenarios = [dataset.load(ref) for name in dataset.users() for ref in dataset.refs(name)]
    assert any(
        values == () for s in scenarios for types in s.preferences.values() for values in types.values()
    )
    assert all("user_id" not in s.demographics for s in scenarios)
    rules = {f.rule for f in assess(read_corpus(str(official)), words=1000).findings}
    assert {
        "interest-key",
        "outside-mask",
        "reference",
        "ambiguous",
        "no-type",
        "task-copy",
        "situation",
        "preamble",
    } <= rules
    assert "unreadable" not in rules
