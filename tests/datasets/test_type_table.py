"""Tables 8 and 9 of the paper from a dataset: possible values, values that occur, Shannon evenness."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from pytest_personalens.cli.check_dataset import main

SEATS = ("window", "aisle", "Window", "window")
WIFI: tuple[list[str], ...] = (["WiFi", "table"], ["WiFi"], ["quiet coach"], [])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Four people in the official layout, one of them with a value that is not in the catalogue."""
    for number, (seat, amenities) in enumerate(zip(SEATS, WIFI, strict=True)):
        folder = tmp_path / "data" / "profile" / f"user{number}"
        folder.mkdir(parents=True)
        profile = {
            "affinities": {"Train": {"Preferred Seat Type": seat, "Amenity Preference": amenities}},
            "demographics": {"user_id": f"user{number}", "age": "25-34"},
            "interests": {"Train": int(number == 0)},
            "interactions": {"Train": "They sit at the window."},
        }
        (folder / "profile.json").write_text(json.dumps(profile))
        for name in ("tasks.json", "tasks_md.json"):
            (folder / name).write_text("{}")
    (tmp_path / "res").mkdir()
    catalogue = {
        "Train": {
            "Preferred Seat Type": {"possible_values": ["window", "aisle"]},
            "Amenity Preference": {"possible_values": ["WiFi", "table", "x", "y"]},
        }
    }
    (tmp_path / "res" / "schema.json").write_text(json.dumps(catalogue))
    return tmp_path


def rows(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, list[str]]:
    assert main(args) == 0
    lines = [re.split(" {2,}", line) for line in capsys.readouterr().out.splitlines()]
    return {cells[0]: cells[1:] for cells in lines if len(cells) == 5}


def evenness(values: list[str]) -> str:
    counts = Counter(values).values()
    shares = [count / sum(counts) for count in counts]
    return f"{-sum(share * math.log(share) for share in shares) / math.log(len(shares)):.2f}"


def test_types_are_counted_as_the_paper_counts_them(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rows(capsys, str(checkout), "--table", "8") == {
        "domain: preference type": ["# Poss.", "# Gen.", "observed", "evenness"],
        "Train: Amenity Preference": ["4", "3", "3", evenness([value for held in WIFI for value in held])],
        "Train: Preferred Seat Type": ["2", "2", "3", evenness(list(SEATS))],
    }


@pytest.mark.parametrize("text", ["{}", '{"Train": [], "Books": {"Genre": 3}}', ""])
def test_a_catalogue_that_is_missing_or_has_another_form_says_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = checkout / "res" / "schema.json"
    file.unlink()
    if text:
        file.write_text(text)
    assert rows(capsys, str(checkout / "data"), "--table", "9")["Train: Preferred Seat Type"][:3] == [
        "-",
        "3",
        "3",
    ]


def test_a_catalogue_that_is_no_object_is_refused(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "res" / "schema.json").write_text("[]")
    assert main([str(checkout), "--table", "9"]) == 4
    assert re.fullmatch(
        r"error: .*schema\.json: expected a JSON object, found list\n", capsys.readouterr().err
    )


def test_every_type_of_the_official_data_has_a_row(
    official: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(capsys, str(official), "--table", "8")
    del found["domain: preference type"]
    assert len(found) == 90
    assert all(0 <= float(cells[-1]) <= 1 for cells in found.values())
