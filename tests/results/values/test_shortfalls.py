"""Shortfalls are values in the program and words in the results file, which the reader turns back into
values.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_personalens import DataError, read_results
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.results.values.item import Shortfall, parse_shortfall
from pytest_personalens.results.values.results import write_json
from tests.support.results.rich_results import rich_results


@pytest.mark.parametrize("dimension", Dimension)
def test_the_words_of_a_shortfall_are_read_back_as_the_same_value(dimension: Dimension) -> None:
    low, high = dimension.scale
    for least in range(low + 1, high + 1):
        shortfall = Shortfall(dimension, low, least)
        assert parse_shortfall(str(shortfall)) == shortfall


def test_a_results_file_holds_words_and_is_read_as_values(tmp_path: Path) -> None:
    file, results = tmp_path / "results.json", rich_results(12)
    write_json(results, file)
    stored = {
        words
        for item in json.loads(file.read_text(encoding="utf-8"))["items"]
        for words in item["shortfalls"]
    }
    assert stored == {"task not completed", "p 1 < 2"}
    assert [item.shortfalls for item in read_results(file).items] == [
        item.shortfalls for item in results.items
    ]


@pytest.mark.parametrize("words", ["p 1", "colour 1 < 2", "p 1 < 2 < 3", "", 7, None])
def test_other_words_are_refused_with_file_and_field(tmp_path: Path, words: object) -> None:
    file = tmp_path / "results.json"
    write_json(rich_results(1), file)
    data = json.loads(file.read_text(encoding="utf-8"))
    data["items"][0]["shortfalls"] = [words]
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(
        DataError, match=r"results\.json.*items\.0\.shortfalls\.0.* is no shortfall, such as 'p 1 < 2'"
    ):
        read_results(file)
