"""Dialogues of a run drawn for people to label, as lines or as a page, labelled and read back; Table 5 of labels."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens import Dimension, Results, read_results
from pytest_personalens.core.errors import SpecError
from pytest_personalens.judge_quality.label_page import draw_dialogues
from pytest_personalens.judge_quality.labels import read_labels
from pytest_personalens.results.values.results import write_json
from tests.support.browser import axe_source
from tests.support.processes.commands import agreement, label, refusal
from tests.support.repository import Repository
from tests.support.results.rich_results import rich_results
from tests.support.scripted_agents import REMEMBERS

if TYPE_CHECKING:
    from tests.support.browser import Page

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
TAKE = "take(arguments[0]); return document.getElementById('message').textContent"
PAGE = ["results.json", "--count", "6", "--out", "label.html"]


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    write_json(rich_results(150, controls=("none",)), folder / "results.json")
    write_json(rich_results(60, seed="another"), folder / "others.json")
    return folder


@pytest.fixture
def stored(two_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, now the current one, with the results of two runs."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(two_runs, tmp_path, dirs_exist_ok=True))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def strata(results: Results) -> Counter[tuple[object, ...]]:
    scored = (item.evaluation for item in results.own if item.evaluation.scored)
    return Counter((one.kind, one.score(TC), one.score(P)) for one in scored)


def test_each_stratum_has_its_share(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert label(["results.json", "--count", "50", "--out", "labels.jsonl"]) == 0
    assert "50 dialogues, 39 single-domain and 11 multi-domain ones: " in capsys.readouterr().out
    results = read_results(stored / "results.json")
    of = {tuple(m.content for m in i.evaluation.dialogue.messages): i for i in results.own}
    said = (tuple(m["content"] for m in entry["dialogue"]) for entry in lines(stored / "labels.jsonl"))
    drawn = strata(results.model_copy(update={"items": tuple(of[texts] for texts in said)}))
    every = strata(results)
    assert sum(drawn.values()) == 50
    for stratum, size in every.items():
        assert abs(drawn[stratum] - 50 * size / sum(every.values())) < 1, stratum


def test_the_draw_is_the_same_each_time_and_says_nothing_of_the_judge_or_the_run(stored: Path) -> None:
    args = ["results.json", "others.json", "--count", "30", "--annotators", "ann"]
    for name, more in (("a", ()), ("b", ()), ("c", ("--seed", "x"))):
        assert label([*args, "--out", f"{name}.jsonl", *more]) == 0
    a, b, c = ((stored / f"{name}.jsonl").read_text(encoding="utf-8") for name in "abc")
    assert a == b != c
    entries = lines(stored / "a.jsonl")
    ids, others = ({entry["id"] for entry in lines(stored / f"{name}.jsonl")} for name in "ac")
    assert len(ids) == len(others) == 30
    assert ids != others, "another seed draws others, not only another order"
    for entry in entries:
        assert sorted(entry) == ["dialogue", "end", "id", "labels", "scenario"]
        assert set(entry["labels"]["ann"].values()) == {None, ""}
        assert not any(name in entry["id"] for name in ("results", "others"))


def test_the_page_says_nothing_of_the_judge_and_is_made_again_alike(stored: Path) -> None:
    pages = []
    for _ in range(2):
        assert label(PAGE) == 0
        pages.append((stored / "label.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
    items = json.loads((stored / "results.json").read_text(encoding="utf-8"))["items"]
    said = [v["justification"] for item in items for v in item["evaluation"]["verdicts"]]
    assert said
    assert not any(one in pages[0] for one in said)
    data = pages[0].partition('id="data">')[2].partition("</script>")[0]
    assert not any(f'"{word}"' in data for word in ("verdicts", "nodeid", "justification", "score"))


@pytest.mark.slow
def test_a_person_labels_by_keys_goes_on_later_and_saves_what_the_commands_read(
    stored: Path, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    assert label(PAGE) == 0
    made = stored / "label.html"
    page.open(made)
    assert page.text("#told") == "0 of 6 done"
    assert not page.faults(axe_source())
    named = "document.getElementById('name')"
    page.js(f"{named}.value = 'ann'; {named}.dispatchEvent(new Event('change'))")
    page.keys("y", "3", "w", *"window", "\ue007", "\ue014", "n", "1", "2", "\ue014", "y")
    assert page.text("#told") == "2 of 6 done"
    page.open(made)  # as after the browser was closed
    assert page.text("#told") == "2 of 6 done"
    page.keys("u")
    assert page.text("#place") == "3 of 6"
    saved = str(page.js("return lines()"))
    (stored / "labels.jsonl").write_text(saved, encoding="utf-8")
    one, two, three = read_labels(stored / "labels.jsonl")
    assert [x.labels["ann"] for x in (one, two, three)] == [{TC: 1, P: 3}, {TC: 0, P: 2}, {TC: 1}]
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
    (stored / "both.jsonl").write_text(str(page.js("return lines()")), encoding="utf-8")
    assert read_labels(stored / "both.jsonl")[0].labels == {"ann": {TC: 1, P: 3}, "bo": {TC: 0}}
    other = json.dumps({**json.loads(saved.splitlines()[0]), "dialogue": [{"role": "user", "content": "x"}]})
    assert page.js(TAKE, other) == "These labels are of other dialogues. Nothing was taken."
    assert str(page.js(TAKE, "{")).startswith("This is no file of labels")
    assert page.requests() == {made.as_uri()}
    assert page.console() == []


def test_a_page_of_a_file_of_labels_leaves_its_labels_out(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert label(["results.json", "--count", "3", "--out", "labels.jsonl", "--annotators", "zoe"]) == 0
    (stored / "below").mkdir()
    monkeypatch.chdir(stored / "below")
    assert label(["../labels.jsonl", "--out", "../again.html"]) == 0
    assert "zoe" not in (stored / "again.html").read_text(encoding="utf-8")
    assert label(["../results.json", "--count", "2", "--out", "../again.html"]) == 0


def relabelled(path: Path, labels: Callable[[int, dict[str, Any]], object]) -> None:
    """Write the labels into each line of a file, by its number and what it holds."""
    filled = [entry | {"labels": labels(number, entry)} for number, entry in enumerate(lines(path))]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in filled), encoding="utf-8")


def test_labels_of_the_judge_itself_agree(repo: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(conftest=REMEMBERS)  # its P differs from scenario to scenario
    args = ("--personalens-sample", "15", "--personalens-gate", "none")
    assert repo.inline(*args, "--personalens-report", "results.json").ret == 0
    assert label(["results.json", "--count", "15", "--out", "labels.jsonl"]) == 0
    results = read_results(repo.path / "results.json")
    of = {item.evaluation.scenario: item.evaluation for item in results.own}
    for one in read_labels(repo.path / "labels.jsonl"):
        assert one.scenario.task.relevant == results.scenarios[one.id].task.relevant
        assert one.dialogue == of[one.id].dialogue
    assert "labels.jsonl: holds no label of tc, p" in refusal(capsys, "agreement", "labels.jsonl")

    def as_judged(number: int, entry: dict[str, Any]) -> dict[str, Any]:
        read = of[entry["id"]]
        scores = {"task_completion": bool(read.score(TC)), "personalization": read.score(P), "why": ""}
        return {"ann": scores, "bo": entry["labels"]["bo"]}

    relabelled(repo.path / "labels.jsonl", as_judged)
    assert agreement(["labels.jsonl", "--report", "agreement.json"]) == 0
    readings = json.loads((repo.path / "agreement.json").read_text(encoding="utf-8"))["readings"]
    (found,) = (reading for reading in readings if reading["dimension"] == "personalization")
    assert found["annotators_mean"] == found["majority"]["plain"] == 1.0
    assert found["disagreements"] == []
    assert set(found["annotators"]) == {"ann"}, "bo labelled nothing"


def test_table_5_gives_the_mean_over_annotators_beside_the_majority(
    stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is a development dependency")
    assert label(["results.json", "--count", "40", "--out", "labels.jsonl"]) == 0
    said = [[1 + (number * step) % 4 for step in (1, 1, 3)] for number in range(40)]
    named = [dict(zip(("ann", "bo", "cy"), scores, strict=True)) for scores in said]
    given = [{name: {"personalization": score} for name, score in of.items()} for of in named]
    relabelled(stored / "labels.jsonl", lambda number, entry: given[number])
    (stored / "counting.py").write_text(JUDGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(stored))
    capsys.readouterr()
    assert agreement(["labels.jsonl", "--judge-model", "counting:Counting"]) == 0
    rows = map(str.split, capsys.readouterr().out.splitlines())
    row = next(words for words in rows if words[-2:] == ["0.520", "0.750"])
    judge = [1 + number % 3 for number in range(40)]
    kappas = [metrics.cohen_kappa_score(scores, judge) for scores in zip(*said, strict=True)]
    mean, majority = f"{sum(kappas) / 3:.3f}", f"{kappas[0]:.3f}"  # two of the three label alike
    assert row[1:3] == [mean, majority]
    assert mean != majority


#: It gives 1, 2, 3, 1, 2, 3, ... to the dialogues in the order that it is asked in.
JUDGE = """
import itertools
from pytest_personalens import Verdict

class Counting:
    identity, paid, scores = "counting", False, itertools.cycle((1, 2, 3))

    def verdict(self, scenario, dialogue, dimension):
        return Verdict(dimension=dimension, score=next(self.scores), justification="counted")
"""


def test_what_cannot_be_drawn_is_one_line(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_json(rich_results(3, profiles=False), stored / "none.json")
    assert label(["results.json", "--count", "3", "--out", "labels.jsonl"]) == 0
    page = ("--out", "x.html")
    for words, told in (
        (("results.json", "--count", "10000", *page), "--count 10000: there are only 146 scored dialogues; give at most that"),
        (("labels.jsonl", "--count", "4", *page), "--count 4: labels.jsonl has only 3 dialogues"),
        (("labels.jsonl", "results.json", *page), "give one file of labels, or results"),
        (("results.json", "--out", "results.json"), "--out: expected a path that ends in .html or .jsonl, not results.json"),
        (("results.json", "--out", "labels.jsonl"), "--out: labels.jsonl is there, and may hold what somebody wrote; give another path, or remove it"),
        (("results.json", *page, "--annotators", ","), "--annotators: expected names separated by commas"),
        (("results.json", *page, "--dimensions", "facts"), "--dimensions facts: people label tc, p"),
        (("none.json", *page), "there is no scored dialogue whose scenario these files hold"),
        (("missing.json", *page), "missing.json: cannot be read"),
    ):  # fmt: skip
        assert told in refusal(capsys, "label", *words), words
    assert not (stored / "x.html").exists()
    of_memory = rich_results(3).model_copy(update={"suite": "memory"})
    with pytest.raises(SpecError, match="results of the suite memory: people label those of personalens"):
        draw_dialogues([of_memory], 1, seed="s")


@pytest.mark.parametrize(
    ("name", "domains"),
    [("Location Preference", ["Hotels", "Services"]), ("Services: Location Preference", ["Services"])],
)
def test_a_type_of_one_domain_is_named_with_its_domain(tmp_path: Path, name: str, domains: list[str]) -> None:
    both = ["Hotels", "Services"]
    task = {
        "intent": "You want both.",
        "goal": "Both are booked.",
        "domains": both,
        "relevant_preferences": [name],
    }
    scenario = {
        "kind": "multi",
        "preferences": {d: {"Location Preference": ["near"]} for d in both},
        "task": task,
    }
    said = [{"role": "user", "content": "Both."}, {"role": "assistant", "content": "Booked."}]
    entry = json.dumps({"id": "one", "scenario": scenario, "dialogue": said})
    (tmp_path / "l.jsonl").write_text(entry, encoding="utf-8")
    (one,) = read_labels(tmp_path / "l.jsonl")
    assert [domain for domain, _ in one.scenario.task.relevant] == domains
