"""Reads labelled dialogues: on each line a JSON object with a scenario, a dialogue and labels."""

from __future__ import annotations

import re
from collections import Counter
from statistics import median_low
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.dialogue.message import group_turns
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.json_lines import read_json_lines
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.frozen import clean
from pytest_personalens.core.judging.verdict import LABELLED, Dimension
from pytest_personalens.core.runtime import once
from pytest_personalens.core.scenario import GoalPart, Scenario, Situation, Task
from pytest_personalens.datasets.embedded.packaged import PackagedFiles
from pytest_personalens.datasets.world.resolve import fill_from_match, goal_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_personalens.datasets.embedded.dataset_entries import PartEntry


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Values = Annotated[list[str], BeforeValidator(_listed)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Task(_Line):
    description: str = ""
    intent: str
    goal: str
    domains: list[str] = Field(min_length=1)
    relevant_preferences: list[str] = []


class _Scenario(_Line):
    kind: Literal["single", "multi"] = "single"
    demographics: dict[str, str] = {}
    preferences: dict[str, dict[str, Values]]
    interactions: dict[str, str] = {}
    situation: dict[str, str] = {}
    task: _Task


class _Entry(_Line):
    id: str = Field(min_length=1)
    scenario: _Scenario | None = None
    #: The whole scenario, with the facts of its task, as a record has it.
    whole: Scenario | None = None
    dialogue: Annotated[list[Message], Field(min_length=2), AfterValidator(group_turns)]
    end: Literal["user", "unserved", "silence", "limit"] | None = None
    labels: dict[str, dict[str, Any]] = {}

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.scenario is None) == (self.whole is None):
            raise ValueError("expected either 'scenario' or 'whole'")
        return self


class Labelled(BaseModel):
    """One dialogue with its scenario and the labels of its annotators.

    `labels` holds, for each annotator, a score on each dimension that they labelled. `reasons` holds the
    reason of each annotator.
    """

    model_config = ConfigDict(frozen=True)
    id: str
    scenario: Scenario
    dialogue: Dialogue
    labels: dict[str, dict[Dimension, int]]
    reasons: dict[str, str] = {}

    def majority(self, dimension: Dimension) -> int | None:
        """Return the commonest label, the lower median of all if two are tied, or None without labels."""
        labels = [scores[dimension] for scores in self.labels.values() if dimension in scores]
        if not labels:
            return None
        ranked = Counter(labels).most_common(2)
        tied = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        return median_low(labels) if tied else ranked[0][0]

    @property
    def group(self) -> str:
        """A key of dialogues over the same scenario, which are not independent of each other."""
        return f"{self.scenario.task.intent}\x1f{sorted(self.scenario.summaries.items())}"


def read_labels(path: Path) -> list[Labelled]:
    """Return the labelled dialogues of a file; `DataError` names the file, the line and the field."""
    by_id: dict[str, Labelled] = {}
    for line in read_json_lines(path):
        where = line.where
        try:
            entry = _Entry.model_validate(line.value())
        except ValidationError as error:
            field, problem = first_problem(error)
            raise DataError(path, problem, field=f"{where}: {field}".removesuffix(": ")) from None
        if entry.id in by_id:
            raise DataError(path, f"the id {entry.id!r} stands there twice", field=f"{where}: id")
        by_id[entry.id] = _labelled(entry, path, where)
    if not by_id:
        raise DataError(path, "no dialogue in it")
    return list(by_id.values())


#: What a line says of a dialogue before anybody has labelled it.
_UNLABELLED: Final = ("id", "scenario", "whole", "dialogue", "end")


def read_unlabelled(path: Path) -> list[tuple[dict[str, Any], Scenario]]:
    """Return each line of such a file with nothing but its dialogue and its scenario; see `read_labels`."""
    labelled = read_labels(path)
    lines = ({k: v for k, v in line.value().items() if k in _UNLABELLED} for line in read_json_lines(path))
    return [(line, one.scenario) for line, one in zip(lines, labelled, strict=True)]


def read_scenario(data: object, path: Path, where: str, *, user: str, task: str) -> Scenario:
    """Return the scenario in the form that a label file has; raise `DataError` for one that is wrong."""
    try:
        entry = _Scenario.model_validate(data)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(path, problem, field=f"{where}: scenario.{field}".rstrip(".")) from None
    return _scenario(entry, path, where, user=user, task=task)


def _scenario(s: _Scenario, path: Path, where: str, *, user: str, task: str) -> Scenario:
    for domain in s.task.domains:
        if domain not in s.preferences:
            raise DataError(path, f"no preferences for {domain!r}", field=f"{where}: scenario.preferences")
    situation = {
        k.lower().replace(" of the ", "_of_").replace(" of ", "_of_").replace(" ", "_"): v
        for k, v in s.situation.items()
    }
    return Scenario(
        id=user,
        user=user,
        dataset="labelled",
        kind=s.kind,
        domains=tuple(s.task.domains),
        demographics=s.demographics,
        preferences={d: {t: tuple(v) for t, v in types.items()} for d, types in s.preferences.items()},
        summaries={d: s.interactions.get(d, "") for d in s.task.domains},
        situation=Situation(**{k: v for k, v in situation.items() if k in Situation.model_fields}),
        task=Task(
            id=task,
            description=s.task.description or s.task.intent,
            intent=s.task.intent,
            goal=s.task.goal,
            relevant=_relevant(s),
            parts=_parts_of(s.task.goal),
        ),
    )


def _scenario_of(entry: _Entry, path: Path, where: str) -> Scenario:
    if entry.scenario is not None:
        return _scenario(entry.scenario, path, where, user=entry.id, task=entry.id)
    assert entry.whole is not None
    return entry.whole


def _labelled(entry: _Entry, path: Path, where: str) -> Labelled:
    return Labelled(
        id=entry.id,
        scenario=_scenario_of(entry, path, where),
        dialogue=Dialogue(
            messages=tuple(entry.dialogue),
            end=entry.end or ("user" if entry.dialogue[-1].role == "assistant" else "silence"),
        ),
        labels={
            name: _scores(annotation, path, f"{where}: labels.{name}")
            for name, annotation in entry.labels.items()
        },
        reasons={
            name: clean(annotation["why"])
            for name, annotation in entry.labels.items()
            if annotation.get("why")
        },
    )


def _relevant(scenario: _Scenario) -> tuple[tuple[str, str], ...]:
    """Return the relevant pairs (domain, type); a type named alone counts in every domain that has it."""
    named = (
        (d, t)
        for name in scenario.task.relevant_preferences
        for d in scenario.task.domains
        for t in (name, name.removeprefix(f"{d}: "))
    )
    return tuple(dict.fromkeys((d, t) for d, t in named if t in scenario.preferences[d]))


@once
def _embedded_goals() -> list[tuple[re.Pattern[str], tuple[PartEntry, ...]]]:
    """Return the goals of the embedded benchmark as patterns, each with its parts."""
    return [(goal_pattern(task.goal), task.parts) for _, task in PackagedFiles().tasks()]


@once
def _parts_of(goal: str) -> tuple[GoalPart, ...]:
    """Return the parts of a goal of the embedded benchmark, whatever values stand in it."""
    for pattern, parts in _embedded_goals():
        if match := pattern.fullmatch(goal):
            values = match.groupdict()
            return tuple(p.part(fill_from_match(p.text, values), "") for p in parts)
    return ()


def _scores(annotation: Mapping[str, Any], path: Path, where: str) -> dict[Dimension, int]:
    scores = {}
    for dimension in LABELLED:
        value = annotation.get(dimension.value)
        if value is None:  # the annotator has not labelled this dimension yet
            continue
        low, high = dimension.scale
        if not isinstance(value, int) or not low <= int(value) <= high:
            expected = "true or false" if high == 1 else f"a whole number from {low} to {high}"
            raise DataError(path, f"expected {expected}, found {value!r}", field=f"{where}.{dimension.value}")
        scores[dimension] = int(value)
    return scores
