"""Agreement of a judge with labels: formulas against other packages, the file format, the command."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens import DataError, Dialogue, Dimension, JudgeFault, Scenario, Verdict
from pytest_personalens.core.errors import NotJudged
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.judge_quality.agreement import cohen, fleiss, interval, measure
from pytest_personalens.judge_quality.labels import read_labels
from tests.support.processes.commands import agreement as main
from tests.support.processes.commands import refusal
from tests.support.repository import ROOT

LABELS = ROOT / "data" / "agreement" / "calibration.jsonl"


def pairs_of(seed: int, n: int = 60) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    first = (rng.randint(1, 4) for _ in range(n))
    return [(a, a if rng.random() < 0.6 else rng.randint(1, 4)) for a in first]


def test_kappa_is_what_scikit_learn_and_statsmodels_compute() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is a development dependency")
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater", reason="a development dependency")
    for seed in range(5):
        pairs = pairs_of(seed)
        for quadratic, weights in ((False, None), (True, "quadratic")):
            expected = metrics.cohen_kappa_score(*zip(*pairs, strict=True), weights=weights)
            assert cohen(pairs, quadratic=quadratic) == pytest.approx(expected)
        rng = random.Random(seed)
        levels = (rng.randint(1, 4) for _ in range(40))
        ratings = [[min(4, max(1, n + rng.choice((0, 0, 0, 1, -1)))) for _ in range(3)] for n in levels]
        table, _ = inter_rater.aggregate_raters(ratings)
        assert fleiss(ratings) == pytest.approx(inter_rater.fleiss_kappa(table))


def test_kappa_at_its_ends() -> None:
    assert cohen([(1, 1), (2, 2), (3, 3)]) == fleiss([[1, 1], [2, 2]]) == 1.0
    assert cohen([(1, 2), (2, 1)]) == -1.0
    assert cohen([]) is cohen([(1, 1), (1, 1)]) is None, "one score alone says nothing beyond chance"
    assert fleiss([[1], [2]]) is fleiss([[1, 1], [1, 1]]) is None
    assert fleiss([[1, 1], [2, 2], [3]]) == 1.0, "a single rating agrees with nobody"


def test_an_interval_draws_whole_groups() -> None:
    pairs = pairs_of(1, 200)
    alone = interval({i: [p] for i, p in enumerate(pairs)}, cohen)
    grouped = interval({i: pairs[i : i + 20] for i in range(0, 200, 20)}, cohen)
    value = cohen(pairs)
    assert alone and grouped and value
    assert alone[0] < value < alone[1]
    assert alone == interval({i: [p] for i, p in enumerate(pairs)}, cohen), "the same every time"
    assert grouped != alone
    assert interval({1: [(1, 1)], 2: [(1, 1)]}, cohen) is None


@dataclass
class Echo:
    """Gives the majority's label, except for one that it gets wrong and one that it cannot judge."""

    truth: dict[str, dict[Dimension, int]]
    wrong: str
    broken: str
    identity = "echo"
    paid = False

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        if scenario.id == self.broken:
            raise JudgeFault("no idea")
        score, (low, high) = self.truth[scenario.id][dimension], dimension.scale
        if scenario.id == self.wrong:
            score = high if score == low else low
        return Verdict(dimension=dimension, score=score, justification="as told")


def test_a_reason_for_the_unread_stands_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(LABELS.read_text(encoding="utf-8").splitlines()[:5]) + "\n", encoding="utf-8")
    assert main([str(path), "--dimensions", "p,nat-user"]) == 0
    unread = [line for line in capsys.readouterr().out.splitlines() if line.startswith("not judged: ")]
    assert len(unread) == 1
    assert " and 4 more: nat-user: the embedded judge gives no reading of nat-user" in unread[0]


@pytest.mark.slow
def test_a_judge_that_says_what_the_majority_says_agrees_with_it() -> None:
    labelled = read_labels(LABELS)
    read = {i.id: {d: i.majority(d) for d in Dimension} for i in labelled}
    truth = {name: {d: score for d, score in of.items() if score is not None} for name, of in read.items()}
    found = measure(labelled, Echo(truth, wrong="cal-a-002", broken="cal-a-004"))
    assert found.dialogues == 81
    assert found.faults == {"cal-a-004": "coh-assistant: no idea"}
    for reading in found.readings:
        assert reading.majority.dialogues == sum(reading.confusion.values()) == 80
        assert reading.majority.plain is not None and 0.85 < reading.majority.plain < 1
        assert [d.id for d in reading.disagreements] == ["cal-a-002"]
    assert found.readings[0].fleiss == pytest.approx(1.0)


def test_the_labelled_dialogues_are_whole() -> None:
    labelled = read_labels(LABELS)
    assert len(labelled) == 81
    assert all(one.scenario.preferences and one.scenario.task.goal for one in labelled)
    assert all(one.majority(Dimension.PERSONALIZATION) for one in labelled)
    assert {d for one in labelled for d in one.scenario.domains} == set(DOMAINS)


ENTRY: dict[str, Any] = {
    "id": "one",
    "scenario": {
        "preferences": {"Train": {"Preferred Seat Type": "window"}}, "interactions": {"Train": "She sits at the window."},
        "task": {"intent": "You want a ticket.", "goal": "A ticket is booked.", "domains": ["Train"]},
    },
    "dialogue": [{"role": "user", "content": "A ticket."}, {"role": "assistant", "content": "Booked: 9:12, window seat."}],
    "labels": {"ann": {"task_completion": True, "personalization": 3, "why": "fine"}},
}  # fmt: skip


def write(path: Path, *entries: object) -> Path:
    lines = (entry if isinstance(entry, str) else json.dumps(entry) for entry in entries)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("given", "majority"), [((1, 3, 3, 4), 3), ((1, 1, 3, 3), 1), ((1, 2, 4), 2)], ids=str
)
def test_the_majority_or_the_lower_median_of_labels(
    tmp_path: Path, given: tuple[int, ...], majority: int
) -> None:
    labels = {str(n): {"personalization": score} for n, score in enumerate(given)}
    (one,) = read_labels(write(tmp_path / "l.jsonl", {**ENTRY, "labels": labels}))
    assert one.majority(Dimension.PERSONALIZATION) == majority
    assert one.majority(Dimension.TASK_COMPLETION) is None


#: A tool call of the assistant, and its result.
STEPS = [
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "book_table", "arguments": '{"people": 2}'}}]},
    {"role": "tool", "content": "ok", "tool_call_id": "1"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{", "line 1: not valid JSON"),
        ({**ENTRY, "dialogue": []}, "line 1: dialogue: expected 2 or more, not 0"),
        ({k: v for k, v in ENTRY.items() if k != "id"}, "line 1: id: field required"),
        ({**ENTRY, "labels": {"ann": {"personalization": 5}}}, "line 1: labels.ann.personalization: expected a whole number from 1 to 4, found 5"),
        ({**ENTRY, "labels": {"ann": {"task_completion": "yes"}}}, "labels.ann.task_completion: expected true or false, found 'yes'"),
        ({**ENTRY, "scenario": {**ENTRY["scenario"], "task": {**ENTRY["scenario"]["task"], "domains": ["Books"]}}}, "line 1: scenario.preferences: no preferences for 'Books'"),
        ({**ENTRY, "dialogue": [*ENTRY["dialogue"], *STEPS]}, "has no reply after it"),
        (f"{json.dumps(ENTRY)}\n{json.dumps(ENTRY)}", "line 2: id: the id 'one' stands there twice"),
        ("", "no dialogue in it"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(
    tmp_path: Path, entry: object, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "l.jsonl", entry)
    with pytest.raises(DataError, match=re.escape(problem)):
        read_labels(file)
    assert problem in refusal(capsys, "agreement", str(file))


def test_the_command_reports_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "l.jsonl", *LABELS.read_text(encoding="utf-8").splitlines()[:12])
    reports = [word for name in ("a.json", "a.md") for word in ("--report", str(tmp_path / name))]
    assert main([str(file), "--dimensions", "tc,p", *reports]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^embedded-judge \d+: 12 dialogues over 12 scenarios$", out, re.MULTILINE)
    assert re.search(r"^p +12 +[-\d.]+ +", out, re.MULTILINE)
    assert "rows are the majority, columns the judge" in out
    data = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    # Without facts, the embedded judge does not judge task completion.
    assert [r["dimension"] for r in data["readings"]] == ["personalization"]
    assert "tc: task completion needs facts, tool calls, a state or a model" in out
    assert "| p | 12 |" in (tmp_path / "a.md").read_text(encoding="utf-8")


class Footers:
    """Gives a higher P where a reply has two sentences, and never judges task completion."""

    identity, paid = "footers", False

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        if dimension is Dimension.TASK_COMPLETION:
            raise NotJudged("not judged here")
        footers = any(" " in m.content and m.content.count(".") > 1 for m in dialogue.messages)
        return Verdict(dimension=dimension, score=4 if footers else 2, justification="by its length")


def test_an_idle_sentence_moves_the_verdicts_of_a_judge_that_reads_lengths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    other = {**ENTRY, "id": "two"}
    file = write(tmp_path / "l.jsonl", ENTRY, other)
    judge = ["--judge-model", f"{__name__}:Footers", "--dimensions", "tc,p"]
    assert main([str(file), *judge, "--idle"]) == 0
    out = capsys.readouterr().out
    assert "Verdicts that move with an idle sentence behind each reply" in out
    assert re.search(r"^p +2 of 2 +100.0%$", out, re.MULTILINE)
    assert not re.search(r"^tc +\d+ of", out, re.MULTILINE)
    assert "not judged: one and 1 more: tc: not judged here" in out
    assert main([str(file), *judge]) == 0
    assert "idle" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--judge-model", "bedrock:nova-lite"], "bedrock:nova-lite costs money: add --live to call it"),
        (["--judge-model", "gpt"], "--judge-model: expected embedded, bedrock:MODEL"),
        (["--judge-model", "nowhere:judge"], "cannot take 'judge' from 'nowhere': ModuleNotFoundError"),
        (["--judge-model", "json:loads"], "what is offered as a judge is function, whose identity is no text"),
        (["--dimensions", "q"], "unknown dimension 'q'"),
        (["--report", "/dev/null/x.json", "--dimensions", "tc"], "--report: cannot write to /dev/null: "),
    ],
)  # fmt: skip
def test_bad_arguments_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert problem in refusal(capsys, "agreement", str(write(tmp_path / "l.jsonl", ENTRY)), *arguments)


def test_tool_calls_may_stand_between_the_turns(tmp_path: Path) -> None:
    first, last = ENTRY["dialogue"]
    (one,) = read_labels(write(tmp_path / "l.jsonl", {**ENTRY, "dialogue": [first, *STEPS, last]}))
    assert [m.content for m in one.dialogue.messages] == [first["content"], last["content"]]
    assert one.dialogue.tool_calls("book_table")[0].result == "ok"
