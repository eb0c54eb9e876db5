"""Reads labelled dialogues: on each line a JSON object with a scenario, a dialogue and labels."""

from __future__ import annotations

import re
from collections import Counter
from statistics import median_low
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeVar

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
from pytest_personalens.core.files.jsonfile import first_problem, read_json_lines
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


_Model = TypeVar("_Model", bound=BaseModel)
Values = Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]


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


class _Holder(_Line):
    scenario: _Scenario


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

    def labels_on(self, dimension: Dimension) -> dict[str, int]:
        """Return the score of each annotator who labelled the dimension."""
        return {name: scores[dimension] for name, scores in self.labels.items() if dimension in scores}

    def majority(self, dimension: Dimension) -> int | None:
        """Return the commonest label, the lower median of all if two are tied, or None without labels."""
        labels = list(self.labels_on(dimension).values())
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
    return [labelled for _, labelled in _read(path)]


#: What a line says of a dialogue before anybody has labelled it.
_UNLABELLED: Final = ("id", "scenario", "whole", "dialogue", "end")


def read_unlabelled(path: Path) -> list[tuple[dict[str, Any], Scenario]]:
    """Return each line of such a file with nothing but its dialogue and its scenario; see `read_labels`."""
    return [({k: v for k, v in line.items() if k in _UNLABELLED}, one.scenario) for line, one in _read(path)]


def _read(path: Path) -> list[tuple[dict[str, Any], Labelled]]:
    by_id: dict[str, tuple[dict[str, Any], Labelled]] = {}
    for line in read_json_lines(path):
        where, value = line.where, line.value()
        entry = _validated(_Entry, value, path, where)
        if entry.id in by_id:
            raise DataError(path, f"the id {entry.id!r} stands there twice", field=f"{where}: id")
        scenario = entry.whole
        if entry.scenario is not None:
            scenario = _scenario(entry.scenario, path, where, user=entry.id, task=entry.id)
        assert scenario is not None  # an entry has either
        end = entry.end or ("user" if entry.dialogue[-1].role == "assistant" else "silence")
        given = entry.labels.items()
        by_id[entry.id] = (
            value,
            Labelled(
                id=entry.id,
                scenario=scenario,
                dialogue=Dialogue(messages=tuple(entry.dialogue), end=end),
                labels={name: _scores(labels, path, f"{where}: labels.{name}") for name, labels in given},
                reasons={name: clean(labels["why"]) for name, labels in given if labels.get("why")},
            ),
        )
    if not by_id:
        raise DataError(path, "no dialogue in it")
    return list(by_id.values())


def _validated(kind: type[_Model], value: object, path: Path, where: str) -> _Model:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(path, problem, field=f"{where}: {field}".removesuffix(": ")) from None


def read_scenario(data: object, path: Path, where: str, *, user: str, task: str) -> Scenario:
    """Return the scenario in the form that a label file has; raise `DataError` for one that is wrong."""
    return _scenario(
        _validated(_Holder, {"scenario": data}, path, where).scenario, path, where, user=user, task=task
    )


def _scenario(s: _Scenario, path: Path, where: str, *, user: str, task: str) -> Scenario:
    for domain in s.task.domains:
        if domain not in s.preferences:
            raise DataError(path, f"no preferences for {domain!r}", field=f"{where}: scenario.preferences")
    situation = {
        k.lower().replace(" of the ", "_of_").replace(" of ", "_of_").replace(" ", "_"): v
        for k, v in s.situation.items()
    }
    # A relevant type that is named alone counts in every domain that has it.
    relevant = dict.fromkeys(
        (d, t)
        for name in s.task.relevant_preferences
        for d in s.task.domains
        for t in (name, name.removeprefix(f"{d}: "))
        if t in s.preferences[d]
    )
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
            relevant=tuple(relevant),
            parts=_parts_of(s.task.goal),
        ),
    )


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
