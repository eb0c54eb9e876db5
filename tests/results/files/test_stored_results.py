"""A report shows figures that are computed from a file's items, whatever figures stand in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.results.shards import read_computed
from pytest_personalens.results.values.item import Shortfall, parse_shortfall
from pytest_personalens.results.values.results import Results, read_results, write_json
from tests.support.processes.commands import report as main
from tests.support.results.rich_results import rich_results

Tamper = Callable[[dict[str, Any]], object]


@cache
def run_text(**how: Any) -> str:
    """A file of results, which takes long to make."""
    with TemporaryDirectory() as folder:
        write_json(rich_results(12, compared=True, **how), file := Path(folder) / "r.json")
        return file.read_text(encoding="utf-8")


def edited_run(folder: Path, tamper: Tamper, **how: Any) -> Path:
    file = folder / "r.json"
    data = json.loads(run_text(**how))
    tamper(data)
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def stored(folder: Path, tamper: Tamper = lambda data: None) -> Path:
    return edited_run(folder, tamper, trials=2, controls=("none",))


def gate(data: dict[str, Any], name: str) -> Any:
    return next(gate for gate in data["gates"] if gate["name"] == name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return read_computed(stored(tmp_path_factory.mktemp("whole")))


@pytest.mark.parametrize(
    "tamper",
    [
        lambda d: d["overall"]["figures"]["personalization"].update(value=3.99, low=3.9, high=4.0),
        lambda d: d["overall"].update(scored=d["overall"]["scored"] + 1),
        lambda d: d["domains"].pop(),
        lambda d: d["trials"]["pass_k"].__setitem__(1, 1.0),
        lambda d: d["arms"][0]["lift"][1].update(change=3.0, low=2.9, high=3.0),
        lambda d: gate(d, "p").update(value=3.9, passed=not gate(d, "p")["passed"], message="as it was"),
    ],
)
def test_a_figure_that_somebody_wrote_does_not_count(tamper: Tamper, whole: Results, tmp_path: Path) -> None:
    assert read_computed(stored(tmp_path, tamper)) == whole


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (lambda d: d["items"][0]["evaluation"]["verdicts"][0].update(score=10**400), "is scored 0 to 1, not 1000"),
        (lambda d: d["items"][0]["evaluation"]["verdicts"][0].update(score=10**4200), "is scored 0 to 1, not 1000"),
        (lambda d: gate(d, "p").update(name="x y"), "has no metric for the gate 'x y'"),
        (lambda d: gate(d, "p").update(name="p(tcr)"), "has no metric for the gate 'p(tcr)'"),
        (lambda d: gate(d, "p").update(name="lift(p, nobody)"), "there is no control for the gate 'lift(p, nobody)'"),
        (lambda d: d["settings"].update(prompts=10**30), "prompts is 1000"),
        *(
            (lambda d, words=words: d["items"][0].update(shortfalls=[words]), "r.json: items.0.shortfalls.0: *is no shortfall, such as 'p 1 < 2'")
            for words in ("p 1", "colour 1 < 2", "p 1 < 2 < 3", "", 7, None)
        ),
        (lambda d: d.update(suite="x y"), "unknown suite 'x y'"),
    ],
)  # fmt: skip
def test_numbers_of_any_size_and_unknown_words_are_refused_in_a_line(
    tamper: Tamper, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(stored(tmp_path, tamper))]) == 4
    (told,) = capsys.readouterr().err.splitlines()
    pytest.LineMatcher([told]).fnmatch_lines([f"*{problem}*"])


@pytest.mark.parametrize("dimension", Dimension)
def test_the_words_of_a_shortfall_are_read_back_as_the_same_value(dimension: Dimension) -> None:
    low, high = dimension.scale
    for least in range(low + 1, high + 1):
        shortfall = Shortfall(dimension, low, least)
        assert parse_shortfall(str(shortfall)) == shortfall


def test_a_results_file_holds_words_and_is_read_as_values(tmp_path: Path) -> None:
    file, results = tmp_path / "results.json", rich_results(12)
    write_json(results, file)
    items = json.loads(file.read_text(encoding="utf-8"))["items"]
    assert {words for item in items for words in item["shortfalls"]} == {"task not completed", "p 1 < 2"}
    assert [item.shortfalls for item in read_results(file).items] == [i.shortfalls for i in results.items]
