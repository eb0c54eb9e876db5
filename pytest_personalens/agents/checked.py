"""Checks what a plugin offers as an agent or a model, and one judge made of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from pytest_personalens.core.errors import PersonalensError, SpecError, error_text
from pytest_personalens.core.judging.measure import ALL_CRITERIA, CRITERION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge, Verdict
    from pytest_personalens.core.scenario import BaseScenario


class JudgeByReading:
    """A judge that asks `others` for a reading, unless `by_reading` or `free` has a judge for it.

    Readings of `free` cost nothing. They are made anew each time and no part of the identity, so that what
    was paid for the others stays valid with any version of the free judges.
    """

    def __init__(
        self, others: Judge, by_reading: Mapping[Measure, Judge], free: Mapping[Measure, Judge] = {}
    ) -> None:
        self._others, self._by_reading = others, {**free, **by_reading}
        every = (others, *by_reading.values())
        of_readings = (f"{measure.short}: {judge.identity}" for measure, judge in by_reading.items())
        self.identity = "; ".join((others.identity, *of_readings))
        self.paid = any(judge.paid for judge in every)
        self.parallel = all(getattr(judge, "parallel", False) for judge in every)
        of_criteria = by_reading.get(ALL_CRITERIA, others)
        self.reads_criteria = getattr(of_criteria, "reads_criteria", False)
        if answer := getattr(others, "answer", None):
            self.answer = answer

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the verdict of the judge of this reading."""
        name = ALL_CRITERIA if dimension.startswith(CRITERION) else dimension
        return self._by_reading.get(name, self._others).verdict(scenario, dialogue, dimension)


AgentRole = Literal["user_agent", "judge", "model"]
#: For each role, the attribute that names its player and the method that is called.
_NEEDED: Final[dict[AgentRole, tuple[str, str]]] = {
    "user_agent": ("identity", "turn"),
    "judge": ("identity", "verdict"),
    "model": ("name", "complete"),
}


def offered(role: AgentRole, ask: Callable[[], Any], where: str) -> Any:
    """Return the candidate that `ask` gives for the role, which may be None.

    Raise `SpecError` in one line if `ask` fails, or if the candidate cannot play the role. `where` is the
    option that named the candidate.
    """
    try:
        candidate = ask()
        problem = "" if candidate is None else _problem(role, candidate)
    except PersonalensError:
        raise
    except Exception as error:  # foreign code may raise anything
        raise SpecError(
            f"{where}: the {_called(role)} cannot be had: {error_text(error)}", code="PL307"
        ) from error
    if problem:
        raise SpecError(f"{where}: what is offered as a {_called(role)} {problem}", code="PL307")
    return candidate


def _problem(role: AgentRole, candidate: Any) -> str:
    named, method = _NEEDED[role]
    if isinstance(candidate, type):
        return f"is the class {candidate.__name__}; give an instance of it"
    name, paid = getattr(candidate, named, None), getattr(candidate, "paid", None)
    if not isinstance(name, str) or not name.strip():
        return (
            f"is {type(candidate).__name__}, whose {named} is no text; it needs {named}, paid and {method}()"
        )
    if not isinstance(paid, int):  # True and False are of type int, and 0 and 1 are accepted too
        return (
            f"is {type(candidate).__name__}, whose paid is neither true nor false: may it be asked in a run"
            " that must not spend?"
        )
    if not callable(getattr(candidate, method, None)):
        return (
            f"is {type(candidate).__name__}, which has no method {method}(); it needs {named}, paid and"
            f" {method}()"
        )
    return ""


def _called(role: AgentRole) -> str:
    return role.replace("_", " ")
