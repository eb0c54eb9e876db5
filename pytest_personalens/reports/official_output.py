"""Dialogues and verdicts in the form of the official scripts, for their gatherer."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.links import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: Readings that the official scripts have; the end of a name says of whom, and ends the name of the file too.
_READING: Final = re.compile(r"(task_completion|personalization|naturalness|coherence)(?:_(user|asst))?")
#: The judges in whose folders the official gatherer looks for task completion and for the rest.
_OF_TC, _OF_REST = "claude-3-sonnet-v1", "claude-3-5-sonnet-v2"
#: What the assistant knew, as the official scripts end the name of its folder.
_KNOWN: Final = {"D": "_d", "I": "_p", "S": "_s"}


def write_official(results: Results, source: Path, root: Path) -> str:
    """Write the dialogues of the first trial, with their verdicts, below `root`; return what was written.

    Raise `DataError` for a user without a number, and for a folder that holds such dialogues already.
    """
    files: dict[Path, str] = {}
    folders: set[str] = set()
    for item in results.items:
        e = item.evaluation
        if item.trial > 1 or item.given_user or e.dialogue.end == "fault":
            continue
        number = re.fullmatch(r"user(\d+)", e.user)
        if number is None:
            problem = f"the official scripts know users by number, and the run has the user {e.user!r}"
            raise DataError(source, f"{problem}; export a run over the official data", field=e.scenario)
        assistant, task = _assistant_of(item), _task_of(e)
        folders.add(assistant)
        folder = root / "dialogue" / e.user / assistant
        if folder.exists():
            raise DataError(folder, "there are dialogues already; name another folder, or remove it")
        scenario = results.scenarios.get(e.scenario)
        dialogue = {
            "user_id": int(number[1]),
            "task_id": task,
            "task_description": scenario.task.intent if scenario is not None else "",
            "user_model": e.user_agent,
            "assistant_model": e.assistant or assistant,
            "dialogue": [{"role": m.role, "content": m.content} for m in e.dialogue.messages],
        }
        files[folder / f"{task}_dialogue.json"] = json.dumps(dialogue, indent=4)
        for verdict in e.verdicts:
            reading = _READING.fullmatch(verdict.dimension.value.replace("assistant", "asst"))
            if reading is not None:
                judge = _OF_TC if reading[1] == "task_completion" else _OF_REST
                file = f"{task}_{reading[2]}.txt" if reading[2] else f"{task}.txt"
                path = root / "evaluation" / e.user / assistant / reading[1] / judge / file
                files[path] = _verdict_text(verdict, reading[1])
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    count = sum(path.name.endswith("_dialogue.json") for path in files)
    return f"official output: {root}: {count} dialogues of {', '.join(sorted(folders)) or 'nobody'}"


def _assistant_of(item: Item) -> str:
    """Return the folder of an assistant: its model, and what it knew."""
    model = item.evaluation.assistant.partition(" ")[0].rpartition(":")[2]
    known = "".join(end for letter, end in _KNOWN.items() if letter in item.given)
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', model) or 'assistant'}{known}"


def _task_of(evaluation: Evaluation) -> str:
    number = evaluation.task.rpartition("-")[2]
    return f"MD-task-{number}" if evaluation.kind == "multi" else f"SD-{evaluation.domains[0]}-task-{number}"


def _verdict_text(verdict: Verdict, name: str) -> str:
    score = f"{name.capitalize()} Score: {verdict.score}"
    if name == "task_completion":
        score = f"VERDICT: {bool(verdict.score)}"
    return f"{score}\nJustification: {' '.join(verdict.justification.split())}\n"
