"""The page to label dialogues: by keys, blind to the judge, resumed, and saved as labels that commands read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.judge_quality import read_labels
from pytest_personalens.judge_quality.agreement.label_page import draw_dialogues
from pytest_personalens.results.values.results import write_json
from tests.support.browser import axe_source
from tests.support.processes.commands import agreement, label
from tests.support.results.rich_results import rich_results

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.browser import Page

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
TAKE = "take(arguments[0]); return document.getElementById('message').textContent"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with six dialogues of a run."""
    monkeypatch.chdir(tmp_path)
    write_json(rich_results(20), tmp_path / "results.json")
    assert label(["results.json", "--count", "6", "--out", "label.html"]) == 0
    return tmp_path / "label.html"


def test_the_page_says_nothing_of_the_judge_and_is_made_again_alike(made: Path) -> None:
    text = made.read_text(encoding="utf-8")
    run = json.loads((made.parent / "results.json").read_text(encoding="utf-8"))
    said = [v["justification"] for item in run["items"] for v in item["evaluation"]["verdicts"]]
    assert said
    assert not any(one in text for one in said)
    data = text.partition('id="data">')[2].partition("</script>")[0]
    assert not any(f'"{word}"' in data for word in ("verdicts", "nodeid", "justification", "score"))
    assert label(["results.json", "--count", "6", "--out", "label.html"]) == 0
    assert made.read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_a_person_labels_by_keys_goes_on_later_and_saves_what_the_commands_read(
    made: Path, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    page.open(made)
    assert page.text("#told") == "0 of 6 done"
    assert not page.faults(axe_source())
    page.js(
        "document.getElementById('name').value = 'ann'; document.getElementById('name').dispatchEvent(new Event('change'))"
    )
    page.keys("y", "3", "w", *"window", "\ue007", "\ue014", "n", "1", "2", "\ue014", "y")
    assert page.text("#told") == "2 of 6 done"
    page.open(made)  # as after the browser was closed
    assert page.text("#told") == "2 of 6 done"
    page.keys("u")
    assert page.text("#place") == "3 of 6"
    saved = str(page.js("return lines()"))
    (made.parent / "labels.jsonl").write_text(saved, encoding="utf-8")
    one, two, three = read_labels(made.parent / "labels.jsonl")
    assert [one.labels["ann"], two.labels["ann"], three.labels["ann"]] == [
        {TC: 1, P: 3},
        {TC: 0, P: 2},
        {TC: 1},
    ]
    assert one.reasons == {"ann": "window"}
    assert agreement(["labels.jsonl", "--dimensions", "tc,p"]) == 0
    assert "3 dialogues" in capsys.readouterr().out
    # Another person opens the page: what ann said is not shown, and is saved beside the own labels.
    page.js("localStorage.clear()")
    page.open(made)
    page.js("kept.name = 'bo'")
    assert str(page.js(TAKE, saved)).startswith("Taken: 0 dialogues with labels of bo;")
    assert page.text("#told") == "0 of 6 done"
    page.keys("n")
    (made.parent / "both.jsonl").write_text(str(page.js("return lines()")), encoding="utf-8")
    assert read_labels(made.parent / "both.jsonl")[0].labels == {"ann": {TC: 1, P: 3}, "bo": {TC: 0}}
    other = json.dumps({**json.loads(saved.splitlines()[0]), "dialogue": [{"role": "user", "content": "x"}]})
    assert page.js(TAKE, other) == "These labels are of other dialogues. Nothing was taken."
    assert str(page.js(TAKE, "{")).startswith("This is no file of labels")
    assert page.requests() == {made.as_uri()}
    assert page.console() == []


def test_a_page_of_a_file_of_labels_leaves_its_labels_out_and_bad_input_is_one_line(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert label(["results.json", "--count", "3", "--out", "labels.jsonl", "--annotators", "zoe"]) == 0
    assert label(["labels.jsonl", "--out", "again.html"]) == 0
    assert "zoe" not in (made.parent / "again.html").read_text(encoding="utf-8")
    capsys.readouterr()
    of_memory = rich_results(3).model_copy(update={"suite": "memory"})
    with pytest.raises(SpecError, match="results of the suite memory: people label those of personalens"):
        draw_dialogues([of_memory], 1, seed="s")
    (made.parent / "below").mkdir()
    monkeypatch.chdir(made.parent / "below")
    assert label(["../labels.jsonl", "--out", "../beside.html"]) == 0
    assert label(["../results.json", "--count", "2", "--out", "../beside.html"]) == 0
    monkeypatch.chdir(made.parent)
    capsys.readouterr()
    for words, told in (
        (["labels.jsonl", "--count", "4", "--out", "x.html"], "--count 4: labels.jsonl has only 3 dialogues"),
        (["labels.jsonl", "results.json", "--out", "x.html"], "give one file of labels, or results"),
        (["results.json", "--out", "x.txt"], "--out: expected a path that ends in .html or .jsonl"),
        (
            ["results.json", "--out", "labels.jsonl"],
            "labels.jsonl was not written by this plugin; give another path, or remove it",
        ),
        (
            ["results.json", "--dimensions", "facts", "--out", "x.html"],
            "--dimensions facts: people label tc, p",
        ),
        (["missing.json", "--out", "x.html"], "missing.json: cannot be read"),
    ):
        assert label(words) == 4
        error = capsys.readouterr().err
        assert told in error
        assert error.count("\n") == 1
