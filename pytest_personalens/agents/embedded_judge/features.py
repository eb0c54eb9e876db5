"""Turns a dialogue into numbers.

They show how surely and how late each act occurs, how far each part of the goal is reached, and how
preferences were used.
"""

from __future__ import annotations

from functools import cached_property
from math import log, log1p
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge import conflicts
from pytest_personalens.agents.embedded_judge.acts import (
    goal_parts,
    knowledge,
    objections,
    promised,
    requests,
    undone,
)
from pytest_personalens.agents.embedded_judge.acts.acts import ACTS, Spoken, spoken
from pytest_personalens.agents.embedded_judge.tool_calls.backing import Backed
from pytest_personalens.agents.language.weights import table
from pytest_personalens.agents.reading import emptiness, goal
from pytest_personalens.agents.reading.limits import Broken, broken_limits
from pytest_personalens.agents.reading.work import Work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.agents.embedded_judge.compared_values import Conflict
    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.scenario import Scenario

#: The numbers of the parts that count with their least value over the parts of a goal. Those in `_MOST` count
#: with their greatest value.
_LEAST: Final = (
    "deed", "informs", "message", "said", "deed, own words", "own words said", "names", "details", "last: deed",
)  # fmt: skip
_MOST: Final = (
    "last: promise",
    "last: failure",
    "last: slip",
    "worst",
    "time other",
    "day other",
    "count other",
)


class Features:
    """A dialogue as the judge reads it under a scenario.

    It has the statements with their acts, the parts of the goal, the preferences, and the numbers from which
    scores are computed.
    """

    def __init__(
        self,
        scenario: Scenario,
        messages: Sequence[Message],
        spoken_lines: Sequence[Spoken] | None = None,
        state: State | None = None,
    ) -> None:
        self.scenario, self.messages, self.state = scenario, tuple(messages), state
        self.spoken = spoken(scenario, self.messages) if spoken_lines is None else tuple(spoken_lines)

    @cached_property
    def statements(self) -> tuple[goal_parts.AssistantStatement, ...]:
        """Return the assistant's statements in the form for a comparison with the goal."""
        return goal_parts.assistant_statements(self.spoken)

    @cached_property
    def parts(self) -> tuple[goal.Part, ...]:
        """Return the parts of the goal."""
        return goal.parts(self.scenario.task)

    @cached_property
    def part_numbers(self) -> list[dict[str, float]]:
        """Return the numbers about each part."""
        return goal_parts.numbers(self.scenario.task, self.statements)

    @cached_property
    def reached(self) -> tuple[float, ...]:
        """Return, for each part, the probability that it was done or told."""
        return tuple(table("goal-parts").of_numbers(numbers)["reached"] for numbers in self.part_numbers)

    @cached_property
    def backed(self) -> Backed | None:
        """The tool calls, or what the system holds, against the goal and the words; None without either."""
        if self.state is None and not any(m.acts for m in self.messages):
            return None
        return Backed(self.scenario, self.messages, self.parts, self.spoken, self.state)

    @cached_property
    def work(self) -> Work:
        """The last state of each part of the goal, by the words."""
        return Work(self.scenario, self.messages)

    @cached_property
    def broken(self) -> tuple[Broken, ...]:
        """The hard limits of the user that the assistant breaks."""
        limits = self.scenario.limits
        return broken_limits(limits, self.work.statements) if limits else ()

    @cached_property
    def findings(self) -> tuple[knowledge.PreferenceFinding, ...]:
        """Return the use of each preference."""
        return self._said if self.backed is None else self.backed.with_preferences(self._said)

    @cached_property
    def _said(self) -> tuple[knowledge.PreferenceFinding, ...]:
        """Return the use of each preference by words alone."""
        return knowledge.findings(self.scenario, self.messages, self.spoken)

    @property
    def applied_by_call(self) -> bool:
        """True if a call holds the value of a preference that nobody said, and nothing goes against one."""
        if self.backed is None:
            return False
        silent = {(f.domain, f.type) for f in self._said if f.code == "ignores"}
        codes = {f.code for f in self.findings}
        applied = any(f.code == "applies" and (f.domain, f.type) in silent for f in self.findings)
        return applied and "contradicts" not in codes

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the deeds with other values than the user asked for.

        There are none if the assistant tells its calls: then their arguments decide.
        """
        if self.backed is not None:
            return ()
        return conflicts.conflicts(self.scenario, self.messages, self.spoken)

    @cached_property
    def undone(self) -> Spoken | None:
        """Return the statement that takes back at the end what was done, or None.

        It is None if the assistant tells its calls: then they decide.
        """
        return undone.at_the_end(self.scenario, self.spoken) if self.backed is None else None

    @cached_property
    def promised(self) -> tuple[goal.Part, Spoken] | None:
        """Return a part of the goal that is only promised, with the promise, or None."""
        return promised.only(self.parts, self.statements) if self.backed is None else None

    @cached_property
    def objection(self) -> Spoken | None:
        """Return what the user says at the end against the work of the assistant, or None.

        It is None if the assistant tells its calls: then they decide.
        """
        return objections.at_the_end(self.messages, self.spoken) if self.backed is None else None

    @cached_property
    def empty(self) -> str:
        """Return why the replies say nothing of their own about this user's task.

        The text is empty if they do.
        """
        return emptiness.of(self.scenario, self.messages)

    @cached_property
    def style(self) -> dict[str, float]:
        """Return the numbers of the acts alone."""
        return acts_in_numbers(self.messages, self.spoken)

    @cached_property
    def task_completion(self) -> dict[str, float]:
        """Return the numbers for task completion."""
        return completion(self, self.reached)

    @cached_property
    def personalization(self) -> dict[str, float]:
        """Return the numbers for personalization."""
        return self.style | knowledge.numbers(self.findings)


def acts_in_numbers(messages: Sequence[Message], spoken_lines: Sequence[Spoken]) -> dict[str, float]:
    """Return numbers for each act of each role.

    They are its highest probability, its sum over the turns, and its probability in the last turn.
    """
    numbers: dict[str, float] = {}
    for role, acts in ACTS.items():
        of_role = [s for s in spoken_lines if s.line.role == role]
        turns = sorted({s.line.turn for s in of_role})
        for act in acts.values():
            at = {turn: max(s.acts[act] for s in of_role if s.line.turn == turn) for turn in turns}
            name = f"{role} {act}"
            numbers[f"{name}, surest"] = max(at.values(), default=0.0)
            numbers[f"{name}, turns"] = log1p(sum(at.values()))
            numbers[f"{name}, last"] = at[turns[-1]] if turns else 0.0
            if role == "user":
                numbers[f"{name}, later"] = max((p for turn, p in at.items() if turn), default=0.0)
    numbers["ends with the user"] = float(bool(messages) and messages[-1].role == "user")
    numbers["user turns"] = log1p(sum(m.role == "user" for m in messages))
    return numbers


def completion(features: Features, reached: Sequence[float]) -> dict[str, float]:
    """Return the numbers for task completion, with `reached` as the parts' probabilities."""
    numbers = dict(features.style)
    numbers |= {
        f"request: {name}": value
        for name, value in requests.numbers(features.messages, features.statements).items()
    }
    return numbers | {
        f"goal: {name}": value for name, value in _over_parts(features.part_numbers, reached).items()
    }


def _over_parts(numbers: Sequence[Mapping[str, float]], reached: Sequence[float]) -> dict[str, float]:
    least = min(reached)
    product = 1.0
    for p in reached:
        product *= p
    summary = {
        "parts": len(reached) / 4,
        "least reached": least,
        "least reached, logit": log((least + 0.01) / (1.01 - least)),
        "mean reached": sum(reached) / len(reached),
        "all reached": product,
    }
    summary |= {f"least {name}": min((n[name] for n in numbers if name in n), default=1.0) for name in _LEAST}
    return summary | {
        f"most {name}": max((n[name] for n in numbers if name in n), default=0.0) for name in _MOST
    }
