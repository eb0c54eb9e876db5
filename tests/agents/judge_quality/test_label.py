"""Dialogues of a run drawn for people to label, as lines or as a page, labelled and read back; Table 5 of labels."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.judge_quality import read_labels
from pytest_personalens.judge_quality.label_page import draw_dialogues
from pytest_personalens.results.values.results import Results, read_results, write_json
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


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, now the current one, with the results of two runs."""
    monkeypatch.chdir(tmp_path)
    write_json(rich_results(150, controls=("none",)), tmp_path / "results.json")
    write_json(rich_results(60, seed="another"), tmp_path / "others.json")
    return tmp_path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def strata(results: Results) -> Counter[tuple[object, ...]]:
    return Counter(
        (i.evaluation.kind, i.evaluation.score(TC), i.evaluation.score(P))
        for i in results.own
        if i.evaluation.scored
    )


def test_each_stratum_has_its_share(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert label(["results.json", "--count", "50", "--out", "labels.jsonl"]) == 0
    assert "50 dialogues, 39 single-domain and 11 multi-domain ones: " in capsys.readouterr().out
    results = read_results(stored / "results.json")
    of = {tuple(m.content for m in i.evaluation.dialogue.messages): i for i in results.own}
    items = [
        of[tuple(message["content"] for message in entry["dialogue"])]
        for entry in lines(stored / "labels.jsonl")
    ]
    drawn = strata(results.model_copy(update={"items": tuple(items)}))
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
    (stored / "labels.jsonl").write_text(saved, encoding="utf-8")
    one, two, three = read_labels(stored / "labels.jsonl")
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
    (stored / "both.jsonl").write_text(str(page.js("return lines()")), encoding="utf-8")
    assert read_labels(stored / "both.jsonl")[0].labels == {"ann": {TC: 1, P: 3}, "bo": {TC: 0}}
    other = json.dumps({**json.loads(saved.splitlines()[0]), "dialogue": [{"role": "user", "content": "x"}]})
    assert page.js(TAKE, other) == "These labels are of other dialogues. Nothing was taken."
    assert str(page.js(TAKE, "{")).startswith("This is no file of labels")
    assert page.requests() == {made.as_uri()}
    assert page.console() == []


def test_a_page_of_a_file_of_labels_leaves_its_labels_out_wherever_it_is_made(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert label(["results.json", "--count", "3", "--out", "labels.jsonl", "--annotators", "zoe"]) == 0
    (stored / "below").mkdir()
    monkeypatch.chdir(stored / "below")
    assert label(["../labels.jsonl", "--out", "../again.html"]) == 0
    assert "zoe" not in (stored / "again.html").read_text(encoding="utf-8")
    assert label(["../results.json", "--count", "2", "--out", "../again.html"]) == 0


def test_labels_that_are_the_judges_own_agree_with_it(
    repo: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write(conftest=REMEMBERS)  # its P differs from scenario to scenario
    args = ("--personalens-sample", "15", "--personalens-gate", "none")
    assert repo.inline(*args, "--personalens-report", "results.json").ret == 0
    assert label(["results.json", "--count", "15", "--out", "labels.jsonl"]) == 0
    given = read_labels(repo.path / "labels.jsonl")
    results = read_results(repo.path / "results.json")
    of = {item.evaluation.scenario: item.evaluation for item in results.own}
    for one in given:
        assert one.scenario.task.relevant == results.scenarios[one.id].task.relevant
        assert one.dialogue == of[one.id].dialogue
    assert agreement(["labels.jsonl"]) == 4
    assert "labels.jsonl: holds no label of tc, p" in capsys.readouterr().err
    filled = []
    for entry in lines(repo.path / "labels.jsonl"):
        read = of[entry["id"]]
        entry["labels"] = {
            "ann": {"task_completion": bool(read.score(TC)), "personalization": read.score(P), "why": ""},
            "bo": entry["labels"]["bo"],
        }
        filled.append(json.dumps(entry) + "\n")
    (repo.path / "labels.jsonl").write_text("".join(filled), encoding="utf-8")
    assert agreement(["labels.jsonl", "--report", "agreement.json"]) == 0
    found = {
        r["dimension"]: r
        for r in json.loads((repo.path / "agreement.json").read_text(encoding="utf-8"))["readings"]
    }
    assert found["personalization"]["annotators_mean"] == found["personalization"]["majority"]["plain"] == 1.0
    assert found["personalization"]["disagreements"] == []
    assert set(found["personalization"]["annotators"]) == {"ann"}, "bo labelled nothing"


def test_table_5_gives_the_mean_over_annotators_beside_the_majority(
    stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is a development dependency")
    assert label(["results.json", "--count", "40", "--out", "labels.jsonl"]) == 0
    filled, said = [], []
    for number, entry in enumerate(lines(stored / "labels.jsonl")):
        scores = [1 + (number * step) % 4 for step in (1, 1, 3)]
        entry["labels"] = {
            name: {"personalization": s} for name, s in zip(("ann", "bo", "cy"), scores, strict=True)
        }
        filled.append(json.dumps(entry) + "\n")
        said.append((*scores, 1 + number % 3))
    (stored / "labels.jsonl").write_text("".join(filled), encoding="utf-8")
    (stored / "counting.py").write_text(JUDGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(stored))
    capsys.readouterr()
    assert agreement(["labels.jsonl", "--judge-model", "counting:Counting"]) == 0
    row = next(
        line for line in capsys.readouterr().out.splitlines() if line.split()[-2:] == ["0.520", "0.750"]
    )
    judge = [one[3] for one in said]
    kappas = [metrics.cohen_kappa_score([one[n] for one in said], judge) for n in range(3)]
    majority = metrics.cohen_kappa_score([one[0] for one in said], judge)
    assert row.split()[1:3] == [f"{sum(kappas) / 3:.3f}", f"{majority:.3f}"]
    assert f"{majority:.3f}" != f"{sum(kappas) / 3:.3f}"


#: It gives 1, 2, 3, 1, 2, 3, ... to the dialogues in the order that it is asked in.
JUDGE = """
import itertools
from pytest_personalens import Verdict

class Counting:
    identity, paid, scores = "counting", False, itertools.cycle((1, 2, 3))

    def verdict(self, scenario, dialogue, dimension):
        return Verdict(dimension=dimension, score=next(self.scores), justification="counted")
"""


def test_what_cannot_be_drawn_is_refused_in_one_line(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_a_type_of_one_domain_is_named_with_its_domain(tmp_path: Path) -> None:
    preferences = {domain: {"Location Preference": ["near"]} for domain in ("Hotels", "Services")}
    entry: dict[str, Any] = {
        "id": "one",
        "scenario": {
            "kind": "multi",
            "preferences": preferences,
            "task": {
                "intent": "You want both.",
                "goal": "Both are booked.",
                "domains": ["Hotels", "Services"],
            },
        },
        "dialogue": [{"role": "user", "content": "Both."}, {"role": "assistant", "content": "Booked."}],
    }
    for name, relevant in (
        ("Location Preference", ["Hotels", "Services"]),
        ("Services: Location Preference", ["Services"]),
    ):
        entry["scenario"]["task"]["relevant_preferences"] = [name]
        (tmp_path / "l.jsonl").write_text(json.dumps(entry), encoding="utf-8")
        assert [
            domain for domain, _ in read_labels(tmp_path / "l.jsonl")[0].scenario.task.relevant
        ] == relevant
