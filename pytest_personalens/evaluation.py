"""One scenario evaluated: simulate the dialogue, then judge it. Knows nothing of pytest, files or networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from pytest_personalens.dialogue import AssistantMessages, Dialogue, UserAgent, clean, converse
from pytest_personalens.errors import AssistantFault, BudgetSpent, JudgeFault, PersonalensError, RecordError
from pytest_personalens.scenario import Frozen, Kind, Scenario
from pytest_personalens.verdict import DEFAULT_DIMENSIONS, Dimension, Judge, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LONGEST_DETAIL: Final = 500
#: Whose fault it is that an evaluation has no scores.
Cause = Literal["", "assistant", "user-agent", "judge", "record", "budget"]


class Usage(Frozen):
    """What was asked of models: calls, and tokens where they tell.

    `input_tokens` were billed at full price; `cached_tokens` were read from a provider's cache, `written_tokens` written to it.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
        )


class Evaluation(Frozen):
    """The result of one scenario: its dialogue and either every verdict asked for, or a `cause` and no score."""

    scenario: str = Field(description="The scenario's id.")
    user: str
    task: str
    kind: Kind
    domains: tuple[str, ...]
    dataset: str
    user_agent: str = Field(description="Identity of the user agent.")
    judge: str = Field(description="Identity of the judge.")
    assistant: str = Field(default="", description="Identity of the assistant, where it is a model of ours; empty for yours.")
    dialogue: Dialogue
    verdicts: tuple[Verdict, ...] = ()
    cause: Cause = ""
    detail: str = Field(default="", description="One line: what went wrong, when `cause` is set.")
    usage: dict[str, Usage] = Field(default_factory=dict, description="Purpose (user agent, assistant, judge tc, ...) -> what it cost.")

    @property
    def scored(self) -> bool:
        """True if every verdict asked for is there. What is not scored is never passed."""
        return not self.cause

    def score(self, dimension: Dimension) -> int | None:
        """The score on `dimension`, or None if it was not asked for or is not scored."""
        return next((v.score for v in self.verdicts if v.dimension is dimension), None)

    @property
    def task_completed(self) -> bool | None:
        """Task completion (TC), or None if unscored."""
        score = self.score(Dimension.TASK_COMPLETION)
        return None if score is None else bool(score)

    @property
    def personalization(self) -> int | None:
        """Personalization (P), 1 to 4, or None if unscored."""
        return self.score(Dimension.PERSONALIZATION)


def evaluate(
    scenario: Scenario,
    assistant: Callable[[AssistantMessages], object],
    user_agent: UserAgent,
    judge: Judge,
    *,
    dimensions: Sequence[Dimension] = DEFAULT_DIMENSIONS,
    max_turns: int = 0,
    progress: Callable[[Evaluation], None] = lambda evaluation: None,
) -> Evaluation:
    """Simulate the dialogue of `scenario` with `assistant`, then judge it on `dimensions`.

    `progress` is called with the unfinished evaluation whenever something more is known (the dialogue, each
    verdict), so that a caller can keep what was paid for. Faults of the three parties end up in `cause` and
    `detail`, never as an exception and never as a low score.
    """
    outcome = converse(scenario, assistant, user_agent, max_turns=max_turns)
    evaluation = Evaluation(
        scenario=scenario.id,
        user=scenario.user,
        task=scenario.task.id,
        kind=scenario.kind,
        domains=scenario.domains,
        dataset=scenario.dataset,
        user_agent=user_agent.identity,
        judge=judge.identity,
        assistant=getattr(assistant, "identity", ""),
        dialogue=outcome.dialogue,
    )
    if outcome.fault is not None:
        return evaluation.model_copy(update={"cause": _cause(outcome.fault, "user-agent"), "detail": _line(outcome.fault)})
    progress(evaluation)
    for dimension in dimensions:
        try:
            verdict = read_dialogue(judge, scenario, outcome.dialogue, dimension)
        except PersonalensError as fault:
            detail = f"{dimension.short}: {_line(fault)}"
            return evaluation.model_copy(update={"cause": _cause(fault, "judge"), "detail": detail})
        evaluation = evaluation.model_copy(update={"verdicts": (*evaluation.verdicts, verdict)})
        progress(evaluation)
    return evaluation


def read_dialogue(judge: Judge, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
    """The verdict of `judge`, whatever a judge of somebody's own may raise or return. Raises `PersonalensError`."""
    try:
        verdict = judge.verdict(scenario, dialogue, dimension)
    except PersonalensError:
        raise
    except Exception as error:
        raise JudgeFault(f"the judge raised {type(error).__name__}: {error}") from error
    if not isinstance(verdict, Verdict) or verdict.dimension is not dimension:
        raise JudgeFault(f"the judge did not return a verdict on {dimension.short} but {verdict!r:.80}")
    return verdict


def _line(fault: PersonalensError) -> str:
    # What an assistant raises may hold anything: several lines, half a character, a whole page.
    return " ".join(clean(str(fault)).split())[:_LONGEST_DETAIL]


def _cause(fault: PersonalensError, otherwise: Cause) -> Cause:
    if isinstance(fault, AssistantFault):
        return "assistant"
    if isinstance(fault, BudgetSpent):
        return "budget"
    return "record" if isinstance(fault, RecordError) else otherwise
