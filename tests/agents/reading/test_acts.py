"""The acts of statements that the table has not learned from."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_personalens.agents.language.statements import of_message
from pytest_personalens.agents.reading.acts import act
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.judge_quality.training.reading_training import ACTS

FIRM = ("done", "told")


def held() -> list[tuple[str, str]]:
    """The statements kept for testing, as (text, act)."""
    found = []
    for line in (data_folder() / "agreement" / "acts-held.txt").read_text(encoding="utf-8").splitlines():
        letter, _, text = line.partition(" | ")
        said = [statement for statement, _ in of_message(text)]
        found += [(said[0], ACTS.get(letter, "other"))] if said else []
    return found


def test_most_held_out_statements_are_read_right() -> None:
    statements = held()
    right = Counter[str]()
    firm = Counter[str]()
    every = Counter(wanted for _, wanted in statements)
    for text, wanted in statements:
        read = act(text)
        right[wanted] += read == wanted or (read in FIRM and wanted in FIRM)
        firm[wanted] += read in FIRM
    assert len(statements) >= 600
    assert sum(right.values()) / len(statements) >= 0.77
    # What leaves the work open is not read as done.
    left_open = ("promised", "handed-back", "refused", "taken-back")
    assert sum(firm[name] for name in left_open) / sum(every[name] for name in left_open) <= 0.25
    assert (right["done"] + right["told"]) / (every["done"] + every["told"]) >= 0.88


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I've booked a table for three on Friday.", "done"),
        ("Table for three, Friday: booked.", "done"),
        ("I'll book the table in a moment.", "promised"),
        ("Table for three, Friday: will book it.", "promised"),
        ("The table is being arranged.", "promised"),
        ("You can book the table on their website.", "handed-back"),
        ("Table for three, Friday: please call them.", "handed-back"),
        ("I couldn't book the table, they are full.", "refused"),
        ("Which day suits you?", "asked"),
        ("Would you like a window or an aisle seat?", "asked"),
    ],
)
def test_statements_that_look_alike_do_different_things(text: str, wanted: str) -> None:
    assert act(text) == wanted
