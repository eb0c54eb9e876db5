"""Training of the embedded judge on a slice: it repeats, and the held-out labels are held out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from pytest_personalens.agents.embedded_judge.acts.acts import ACTS
from pytest_personalens.agents.language.weights import Table, table
from pytest_personalens.cli.judges.train import main
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.judge_quality import Labelled, read_labels
from pytest_personalens.judge_quality.training import examples, fitting

LABELS = data_folder() / "agreement"
TRAINED_ON = ("calibration", "embedded", "written", "simulated", "voices")
TABLES = ("acts-assistant", "acts-user", "acts-in-context", "goal-parts", *(d.value for d in fitting.SCORED))

READING = ("statements", "parts-done", "parts-told")


@cache
def labelled(name: str) -> tuple[Labelled, ...]:
    return tuple(read_labels(LABELS / f"{name}.jsonl"))


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
        [sys.executable, "-m", "pytest_personalens", "train", str(path), "--write", str(folder)],
        env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


@pytest.mark.slow
def test_training_runs_and_gives_the_same_weights_every_time(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is a development dependency")
    path = slice_of("embedded", 20, tmp_path)
    once, again = (trained(path, tmp_path / seed, seed) for seed in ("1", "2"))
    assert once == again
    assert set(once) == {f"{name}.tsv" for name in TABLES} | {"known.txt", "vocabulary.txt", "common.txt"}
    for role, acts in ACTS.items():
        assert Table.parse(once[f"acts-{role}.tsv"]).questions == tuple(acts.values())


@pytest.mark.slow
def test_cross_validation_has_rows_for_a_voice_with_enough_dialogues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is a development dependency")
    lines = (LABELS / "voices.jsonl").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if json.loads(line)["voice"] == "gpt"]
    few = [line for line in lines if json.loads(line)["voice"] == "coach"][:29]
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join([*wanted, *few]) + "\n", encoding="utf-8")
    assert main([str(path)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("voice: ")]
    assert [(row[1], row[2], int(row[3])) for row in rows] == [
        ("gpt", "tc", len(wanted)),
        ("gpt", "p", len(wanted)),
    ]
    assert all(-1 <= float(row[4]) <= 1 for row in rows)


@pytest.mark.slow
def test_the_reader_of_work_is_trained_on_statements_and_labelled_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is a development dependency")
    monkeypatch.setattr("pytest_personalens.judge_quality.training.reading_training._SCENARIOS", 30)
    chosen = [str(slice_of("embedded", 20, tmp_path)), str(slice_of("by-hand", 12, tmp_path))]
    folder = tmp_path / "weights"
    folder.mkdir()
    assert main([*chosen, "--reading", str(LABELS / "acts.txt"), "--write", str(folder)]) == 0
    for name in READING:
        found, shipped = Table.parse((folder / f"{name}.tsv").read_text(encoding="utf-8")), table(name)
        assert found.questions == shipped.questions
        assert found.rows


@pytest.mark.parametrize("name", (*TABLES, *READING))
def test_a_table_is_the_same_after_it_is_written_and_read(name: str) -> None:
    found = table(name)
    again = Table.parse(found.render())
    assert (again.questions, again.bias, again.rows) == (found.questions, found.bias, found.rows)


def test_there_are_weights_for_every_act_and_every_step() -> None:
    for role, acts in ACTS.items():
        assert table(f"acts-{role}").questions == tuple(acts.values())
    assert table("acts-in-context").questions == tuple(ACTS["assistant"].values())
    for dimension in fitting.SCORED:
        low, high = dimension.scale
        assert table(dimension.value).questions == tuple(str(step) for step in range(low + 1, high + 1))


@pytest.mark.slow
def test_the_word_lists_are_those_of_the_labels() -> None:
    for name, words in examples.word_lists([one for file in TRAINED_ON for one in labelled(file)]).items():
        assert (data_folder() / "judge" / f"{name}.txt").read_text(encoding="utf-8").splitlines() == words, (
            f"{name}.txt: train again"
        )


def test_the_held_out_labels_share_nothing_with_those_trained_on() -> None:
    held, known = labelled("heldout"), [one for file in TRAINED_ON for one in labelled(file)]
    assert len(held) >= 200
    assert not {one.dialogue.messages for one in held} & {one.dialogue.messages for one in known}
    assert not {one.id for one in held} & {one.id for one in known}
    assert not {one.group for one in held} & {one.group for one in known}
    assert not {one.voice for one in held if one.voice} & {one.voice for one in known if one.voice}


def test_every_dialogue_trained_on_has_its_sentences_tagged() -> None:
    for name in TRAINED_ON:
        assert all(one.pieces for one in labelled(name)), name


def test_the_tags_of_a_piece_reach_the_statements_it_becomes(tmp_path: Path) -> None:
    line = json.loads((LABELS / "voices.jsonl").read_text(encoding="utf-8").splitlines()[0])
    line["dialogue"] = [
        {"role": "user", "content": "Book it please."},
        {"role": "assistant", "content": "Great!\n- **Room 4** is booked.\n- Shall I add breakfast?"},
    ]
    line["pieces"] = [
        [["R", "Book it please."]],
        [["C", "Great!"], ["D", "- **Room 4** is booked."], ["K", "- Shall I add breakfast?"]],
    ]
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    (one,) = examples.examples(read_labels(path))
    assert list(zip([s.text for s in one.user.lines], one.user.tags, strict=True)) == [
        ("Book it please.", "R"), ("Room 4 is booked.", "D"), ("Shall I add breakfast?", "K"),
    ]  # fmt: skip


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
    def perfect(
        chosen: list[examples.Example], statements: object
    ) -> list[tuple[dict[Dimension, int], dict[Dimension, int]]]:
        own = [{d: e.labelled.majority(d) or d.scale.low for d in fitting.SCORED} for e in chosen]
        return [(scores, {**scores, Dimension.PERSONALIZATION: 1}) for scores in own]

    monkeypatch.setattr("pytest_personalens.cli.judges.train.cross_validate", perfect)
    assert main([str(slice_of(name, 6, tmp_path)) for name in ("calibration", "embedded")]) == 0
    printed = capsys.readouterr().out.splitlines()
    for name, count in (("calibration", "6"), ("embedded", "6"), ("all", "12")):
        assert [line.split()[2] for line in printed if line.split()[:2] == [name, "p"]] == [count]
    assert all(line.split()[3:] in (["1.00", "1.00"], ["-", "-"]) for line in printed[1:-1])
    assert printed[-1].startswith("mean P: ")
    assert printed[-1].endswith(", under a stranger's profile 1.00")


@pytest.mark.slow
def test_too_few_dialogues_to_learn_from_are_an_error_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is a development dependency")
    assert main([str(slice_of("embedded", 1, tmp_path)), "--write", str(tmp_path)]) == 4
    assert (
        capsys.readouterr().err
        == "error: 1 tagged dialogues are too few to learn from (some hundred are a start) (PL207)\n"
    )
