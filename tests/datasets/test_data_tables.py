"""The paper's tables about a dataset, from a checkout in the official layout with values of our own."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.support.datasets.official_tree import official_task, write_user
from tests.support.processes.commands import check_dataset as main

CATALOGUE: list[dict[str, object]] = [
    {
        "domain": "Train",
        "affinities": [
            {"name": "Preferred Seat Type", "is_categorical": True, "possible_values": ["window", "aisle"]},
            {
                "name": "Amenity Preference",
                "is_categorical": True,
                "possible_values": ["WiFi", "table", "x", "y"],
            },
        ],
    },
    {
        "domain": "Books",
        # The values of an open type are examples.
        "affinities": [
            {"name": "Favourite Books", "is_categorical": False, "possible_values": ["any title"]}
        ],
    },
]
TYPES = ["Favourite Books"]
TITLES = (["Dune", "Emma"], ["Emma"], ["Persuasion"], ["Ulysses"])
SEATS = ("window", "aisle", "Window", "window")
WIFI: tuple[list[str], ...] = (["WiFi", "table"], ["WiFi"], ["quiet coach"], [])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Four people in the official layout, one of them with a value that is not in the catalogue."""
    for number, (seat, amenities) in enumerate(zip(SEATS, WIFI, strict=True)):
        profile = {
            "affinities": {
                "Books": {"Favourite Books": TITLES[number]},
                "Train": {"Preferred Seat Type": seat, "Amenity Preference": amenities},
            },
            "demographics": {
                "user_id": f"user{number}",
                "age": "25-34 years old",
                "ethnicity": ("White", "Asian", "White", "N/A")[number],
                "religion": "N/A",
            },
            "interests": {"Books": 1, "Train": int(number == 0)},
            "interactions": {"Books": "They read novels.", "Train": "They sit at the window."},
        }
        tasks = {"Task 1": official_task("SD-Books-task-1", ["Books"], TYPES)}
        both = {"Task 1": official_task("MD-task-1", ["Books", "Train"], TYPES)} if number == 0 else {}
        write_user(
            tmp_path / "data" / "profile", f"user{number}", profile=profile, tasks=tasks, tasks_md=both
        )
    for domain, of_domain in (("Books", "SD-Books-task-1"), ("Multi-Domain", "MD-task-1")):
        (tmp_path / "data" / "task" / domain).mkdir(parents=True)
        domains = ["Books", "Train"] if domain == "Multi-Domain" else ["Books"]
        line = official_task(of_domain, domains, TYPES) | {"Task Number": 1}
        (tmp_path / "data" / "task" / domain / "task.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "res").mkdir()
    (tmp_path / "res" / "schema.json").write_text(json.dumps(CATALOGUE))
    return tmp_path


def rows(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, list[str]]:
    assert main(args) == 0
    lines = [re.split(" {2,}", line) for line in capsys.readouterr().out.splitlines()]
    return {cells[0]: cells[1:] for cells in lines if len(cells) > 2}


def evenness(values: list[str]) -> str:
    counts = Counter(values).values()
    shares = [count / sum(counts) for count in counts]
    return f"{-sum(share * math.log(share) for share in shares) / math.log(len(shares)):.2f}"


HEADER = ["Is Categorical", "# Poss.", "# Gen.", "observed", "evenness"]


def test_types_are_counted_as_the_paper_counts_them(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An open type has no number of possible values, whatever examples the catalogue gives."""
    titles = evenness([title for held in TITLES for title in held])
    assert rows(capsys, str(checkout), "--table", "8") == {
        "domain: preference type": HEADER,
        "Books: Favourite Books": ["no", "-", "4", "4", titles],
    }
    assert rows(capsys, str(checkout), "--table", "9") == {
        "domain: preference type": HEADER,
        "Train: Amenity Preference": [
            *("yes", "4", "3", "3"),
            evenness([value for held in WIFI for value in held]),
        ],
        "Train: Preferred Seat Type": ["yes", "2", "2", "3", evenness(list(SEATS))],
    }


def test_table_1_counts_a_multi_domain_task_in_each_of_its_domains(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(capsys, str(checkout), "--table", "1")
    assert found["domain"] == ["tasks", "paper", "dialogues", "paper"]
    assert found["Books"] == ["2", "9", "5", "12,706"]
    assert found["Train"] == ["1", "7", "1", "7,029"]
    assert found["Sports"] == ["0", "7", "0", "3,464"]


def test_the_paper_and_what_the_data_has_differ_in_five_cells(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(checkout), "--table", "1"])
    (note,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Five cells")]
    for cell in ("3,374", "3,464", "7,029", "Messaging", "Shopping"):
        assert cell in note


@pytest.mark.parametrize("table", ["6", "7"])
def test_tables_6_and_7_have_ethnicity(
    checkout: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    found = rows(capsys, str(checkout), "--table", table)
    assert found["age: 25-34"] == ["4", "100.0%", "30.3%"]
    assert found["religion: undisclosed"] == ["4", "100.0%", "3.9%"]
    assert {name: cells for name, cells in found.items() if name.startswith("ethnicity")} == {
        "ethnicity: White": ["2", "50.0%", "-"],
        "ethnicity: Asian": ["1", "25.0%", "-"],
        "ethnicity: undisclosed": ["1", "25.0%", "-"],
    }


def test_without_a_catalogue_nothing_is_known_of_possible_values(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "res" / "schema.json").unlink()
    found = rows(capsys, str(checkout / "data"), "--table", "9")
    assert found["Train: Preferred Seat Type"][1:4] == ["-", "3", "3"]


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
def test_every_type_of_the_official_data_has_a_row(
    official: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    apart = {
        (domain, what): cells[place]
        for domain, cells in found.items()
        for what, place in (("tasks", 0), ("dialogues", 2))
        if cells[place] != cells[place + 1]
    }
    assert apart == {
        ("Messaging", "tasks"): "11",
        ("Shopping", "tasks"): "7",
        ("Sports", "dialogues"): "3,374",
        ("Train", "dialogues"): "3,464",
        ("Travel", "dialogues"): "7,029",
    }
