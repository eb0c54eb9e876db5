"""The training of the embedded judge, on a slice: it runs, gives the same every time, and the held-out labels are held out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.agents.acts import ACTS
from pytest_personalens.agents.features import PAST_THE_USER
from pytest_personalens.agreement import Labelled, read_labels, train
from pytest_personalens.datasets.embedded import data_folder
from pytest_personalens.errors import DataError
from pytest_personalens.verdict import READINGS, Dimension

LABELS = data_folder() / "agreement"
TRAINED_ON = ("calibration", "embedded", "written", "simulated")
WEIGHTS = files("pytest_personalens.agents") / "weights"


@cache
def labelled(name: str) -> tuple[Labelled, ...]:
    return tuple(read_labels(LABELS / f"{name}.jsonl"))


def stored(name: str) -> Any:
    return json.loads((WEIGHTS / f"{name}.json").read_text(encoding="utf-8"))


def slice_of(name: str, count: int, folder: Path) -> Path:
    """The first dialogues of a file of labels, in a file of their own."""
    path = folder / f"{name}.jsonl"
    lines = (LABELS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:count]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def trained(path: Path, folder: Path, seed: str) -> dict[str, str]:
    """The files that training in a process of its own writes."""
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-m", "pytest_personalens.agreement.train", str(path), "--write", str(folder)],
        env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


@pytest.mark.slow
def test_training_runs_and_gives_the_same_weights_every_time(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is a development dependency")
    path = slice_of("embedded", 20, tmp_path)
    once, again = (trained(path, tmp_path / seed, seed) for seed in ("1", "2"))
    assert once == again
    assert set(once) == {"acts_assistant.json", "acts_user.json", "scores.json", "words.txt", "common.txt"}
    assert set(json.loads(once["scores.json"])) == {d.value for d in READINGS}
    for role, acts in ACTS.items():
        assert set(json.loads(once[f"acts_{role}.json"])) == set(acts.values())
    assert not earned_past_the_user(json.loads(once["scores.json"]))


def earned_past_the_user(scores: dict[str, Any]) -> list[tuple[str, str, int]]:
    steps = [(name, step) for name, of_score in scores.items() for step in of_score["steps"]]
    return [(name, what, weight) for name, step in steps for what, weight in step.items() if what.startswith(PAST_THE_USER) and weight > 0]


def test_what_is_said_past_the_user_earns_nothing() -> None:
    scores = stored("scores")
    assert any(what.startswith(PAST_THE_USER) for of_score in scores.values() for step in of_score["steps"] for what in step)
    assert earned_past_the_user(scores) == []


def test_the_weights_are_whole_numbers() -> None:
    acts = [w for role in ACTS for of_act in stored(f"acts_{role}").values() for w in of_act.values()]
    scores = [w for of_score in stored("scores").values() for step in of_score["steps"] for w in step.values()]
    assert acts
    assert scores
    assert {type(w) for w in (*acts, *scores)} == {int}


def test_there_are_weights_for_every_act_and_every_step() -> None:
    for role, acts in ACTS.items():
        assert set(stored(f"acts_{role}")) == set(acts.values())
    assert {name: len(s["steps"]) for name, s in stored("scores").items()} == {d.value: d.scale.high - d.scale.low for d in READINGS}


def test_the_word_lists_are_those_of_the_labels() -> None:
    for name, words in train.word_lists([one for file in TRAINED_ON for one in labelled(file)]).items():
        assert (WEIGHTS / f"{name}.txt").read_text(encoding="utf-8").splitlines() == words, f"{name}.txt: train again"


def test_the_held_out_labels_share_nothing_with_those_trained_on() -> None:
    held, known = labelled("heldout"), [one for file in TRAINED_ON for one in labelled(file)]
    assert not {one.group for one in held} & {one.group for one in known}
    assert not {one.scenario.task.intent for one in held} & {one.scenario.task.intent for one in known}
    assert not {one.dialogue.messages for one in held} & {one.dialogue.messages for one in known}
    assert not {one.id for one in held} & {one.id for one in known}


def test_every_dialogue_trained_on_has_its_sentences_tagged() -> None:
    for name in TRAINED_ON:
        assert all(one.acts for one in labelled(name)), name


def test_acts_for_another_number_of_sentences_are_an_error_in_one_line(tmp_path: Path) -> None:
    path = slice_of("embedded", 2, tmp_path)
    first, second = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    second["acts"][1].append("D")
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 2: acts: expected acts for .* sentences") as error:
        read_labels(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_the_report_names_every_file_and_the_mean_under_a_strangers_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def perfect(chosen: list[train.Example]) -> list[tuple[dict[Dimension, int], dict[Dimension, int]]]:
        own = [{d: e.labelled.majority(d) or d.scale.low for d in READINGS} for e in chosen]
        return [(scores, {**scores, Dimension.PERSONALIZATION: 1}) for scores in own]

    monkeypatch.setattr(train, "cross_validate", perfect)
    assert train.main([str(slice_of(name, 6, tmp_path)) for name in ("calibration", "embedded")]) == 0
    printed = capsys.readouterr().out.splitlines()
    for name, count in (("calibration", "6"), ("embedded", "6"), ("all", "12")):
        assert [line.split()[2] for line in printed if line.split()[:2] == [name, "p"]] == [count]
    assert all(line.split()[3:] in (["1.00", "1.00"], ["-", "-"]) for line in printed[1:-1])
    assert printed[-1].startswith("mean P: ")
    assert printed[-1].endswith(", under a stranger's profile 1.00")


@pytest.mark.slow
def test_too_few_dialogues_to_learn_from_are_an_error_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is a development dependency")
    assert train.main([str(slice_of("embedded", 1, tmp_path)), "--write", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "error: 0 tagged dialogues are too few to learn from (some hundred are a start)\n"
    assert train.main([str(slice_of("written", 9, tmp_path)), "--write", str(tmp_path)]) == 0
