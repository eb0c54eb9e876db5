"""The paper's tables about a dataset, from a checkout in the official layout with values of our own."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.datasets.official_tree import official_task, write_user
from tests.support.processes.commands import check_dataset as main

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def kind(name: str, *values: str, closed: bool = True) -> dict[str, Any]:
    """A preference type of the catalogue; the values of an open one are examples."""
    return {"name": name, "is_categorical": closed, "possible_values": values}


CATALOGUE = [
    {"domain": "Train", "affinities": [kind("Preferred Seat Type", "window", "aisle"), kind("Amenity Preference", "WiFi", "table", "x", "y")]},
    {"domain": "Books", "affinities": [kind("Favourite Books", "any title", closed=False)]},
]  # fmt: skip
TYPES = ["Favourite Books"]
TITLES = (["Dune", "Emma"], ["Emma"], ["Persuasion"], ["Ulysses"])
SEATS = ("window", "aisle", "Window", "window")
WIFI: tuple[list[str], ...] = (["WiFi", "table"], ["WiFi"], ["quiet coach"], [])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Four people in the official layout, one of them with a value that is not in the catalogue."""
    single = official_task("SD-Books-task-1", ["Books"], TYPES)
    multi = official_task("MD-task-1", ["Books", "Train"], TYPES)
    for number, (seat, amenities) in enumerate(zip(SEATS, WIFI, strict=True)):
        train = {"Preferred Seat Type": seat, "Amenity Preference": amenities}
        profile = {
            "affinities": {"Books": {"Favourite Books": TITLES[number]}, "Train": train},
            "demographics": {
                "user_id": f"user{number}", "age": "25-34 years old", "religion": "N/A",
                "ethnicity": ("White", "Asian", "White", "N/A")[number],
            },
            "interests": {"Books": 1, "Train": int(number == 0)},
            "interactions": {"Books": "They read novels.", "Train": "They sit at the window."},
        }  # fmt: skip
        of_user = {"profile": profile, "tasks": {"Task 1": single}, "tasks_md": {}}
        write_user(tmp_path / "data" / "profile", f"user{number}", **of_user)
    (tmp_path / "data/profile/user0/tasks_md.json").write_text(json.dumps({"Task 1": multi}))
    for folder, task in (("Books", single), ("Multi-Domain", multi)):
        (tmp_path / "data" / "task" / folder).mkdir(parents=True)
        line = json.dumps({**task, "Task Number": 1})
        (tmp_path / "data" / "task" / folder / "task.jsonl").write_text(f"{line}\n")
    (tmp_path / "res").mkdir()
    (tmp_path / "res" / "schema.json").write_text(json.dumps(CATALOGUE))
    return tmp_path


def rows(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, list[str]]:
    assert main(args) == 0
    lines = [re.split(" {2,}", line) for line in capsys.readouterr().out.splitlines()]
    return {cells[0]: cells[1:] for cells in lines if len(cells) > 2}


def test_the_tables(checkout: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    """Table 1 counts a multi-domain task in each of its domains, and says in which five cells data and paper differ."""
    shown = {}
    for table in ("1", "6", "7", "8", "9"):
        assert main([str(checkout), "--table", table]) == 0
        shown[table] = capsys.readouterr().out
    assert shown.pop("7") == shown["6"], "each has both"
    assert shown == snapshot


def test_values_are_counted_as_in_the_paper(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An open type has no number of possible values, whatever examples the catalogue gives."""

    def evenness(values: Iterable[str]) -> str:
        counts = Counter(values).values()
        shares = [count / sum(counts) for count in counts]
        return f"{-sum(share * math.log(share) for share in shares) / math.log(len(shares)):.2f}"

    def held(values: Iterable[list[str]]) -> str:
        return evenness(value for of_user in values for value in of_user)

    found = rows(capsys, str(checkout), "--table", "8") | rows(capsys, str(checkout), "--table", "9")
    assert found["Books: Favourite Books"] == ["no", "-", "4", "4", held(TITLES)]
    assert found["Train: Amenity Preference"] == ["yes", "4", "3", "3", held(WIFI)]
    assert found["Train: Preferred Seat Type"] == ["yes", "2", "2", "3", evenness(SEATS)]
    (checkout / "res" / "schema.json").unlink()
    found = rows(capsys, str(checkout / "data"), "--table", "9")
    assert found["Train: Preferred Seat Type"][1:4] == ["-", "3", "3"], "without a catalogue"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({}, "expected a JSON array, found dict"),
        ([3], "[0]: expected an object with domain and affinities"),
        ([{"domain": "Train", "affinities": [{}]}], "[0].affinities[0]: expected an object with a name"),
    ],
)
def test_a_catalogue_of_another_form_is_a_finding_and_hides_nothing_else(
    checkout: Path, capsys: pytest.CaptureFixture[str], content: object, told: str
) -> None:
    (checkout / "res" / "schema.json").write_text(json.dumps(content))
    main([str(checkout), "--table", "9"])
    table = capsys.readouterr().out
    assert re.search(r"(?m)^Train: Preferred Seat Type +\S+ +- ", table)
    (note,) = (line for line in table.splitlines() if line.startswith("# Poss. is not known: "))
    assert note.endswith(f"schema.json: {told}.")
    assert main([str(checkout), "--words", "1000"]) == 1
    out = capsys.readouterr().out
    assert "schema.json: " + told in out
    assert ": unreadable: 1" in out


@pytest.mark.slow
def test_each_official_type_has_a_row(official: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, str(official), "--table", "8") | rows(capsys, str(official), "--table", "9")
    del found["domain: preference type"]
    assert len(found) == 90
    assert all(0 <= float(cells[-1]) <= 1 for cells in found.values())
    if (official / "res" / "schema.json").exists():
        assert sum(cells[0] == "no" for cells in found.values()) == 20
        assert all((cells[0] == "no") == (cells[1] == "-") for cells in found.values())


def test_table_1_of_the_whole_official_data_is_the_papers_but_for_five_cells(
    official: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if len(list((official / "data" / "profile").iterdir())) < 1500:
        pytest.skip("the folder holds a sample of the official users")
    found = rows(capsys, str(official), "--table", "1")
    del found["domain"]
    cells = [
        (domain, what, *row[at : at + 2])
        for domain, row in found.items()
        for at, what in ((0, "tasks"), (2, "dialogues"))
    ]
    assert [(domain, what, ours) for domain, what, ours, papers in cells if ours != papers] == [
        ("Messaging", "tasks", "11"),
        ("Shopping", "tasks", "7"),
        ("Sports", "dialogues", "3,374"),
        ("Train", "dialogues", "3,464"),
        ("Travel", "dialogues", "7,029"),
    ]
