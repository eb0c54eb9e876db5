"""One scenario evaluated: simulate the dialogue, then judge it.

Knows nothing of pytest, files or networks.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from pytest_personalens.core.dialogue import Dialogue, UserAgent, converse
from pytest_personalens.core.errors import (
    AssistantFault,
    BudgetSpent,
    JudgeFault,
    PersonalensError,
    RecordError,
    ends_the_run,
    error_text,
    short_repr,
)
from pytest_personalens.core.measure import Measure, Score
from pytest_personalens.core.message import AssistantMessages
from pytest_personalens.core.scenario import BaseScenario, Frozen, Text, clean
from pytest_personalens.core.usage import Usage
from pytest_personalens.core.verdict import DEFAULT_DIMENSIONS, Dimension, Judge, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LONGEST_DETAIL: Final = 500
#: Whose fault it is that an evaluation has no scores.
Cause = Literal["", "assistant", "user-agent", "judge", "record", "budget", "lost", "unevaluated"]


class Answer(Frozen):
    """The answer that a scorer read in a reply, beside the true one.

    `read` is false where the reply holds none; `value` is null then. Texts are labels or digests, never data.
    """

    read: bool
    value: float | Text | None = None
    truth: float | Text | None = None


class Evaluation(Frozen):
    """The result of one scenario: its dialogue and either every verdict asked for,
    or a `cause` and no score.
    """

    scenario: str = Field(description="The scenario's id.")
    user: str
    task: str
    kind: str
    domains: tuple[str, ...]
    dataset: str
    user_agent: str = Field(description="Identity of the user agent.")
    judge: str = Field(description="Identity of the judge.")
    assistant: str = Field(
        default="", description="Identity of the assistant, where it is a model of ours; empty for yours."
    )
    dialogue: Dialogue
    verdicts: tuple[Verdict, ...] = ()
    cause: Cause = ""
    detail: str = Field(default="", description="One line: what went wrong, when `cause` is set.")
    answer: Answer | None = Field(
        default=None, description="What was answered, in a suite whose items have a true answer."
    )
    usage: dict[str, Usage] = Field(
        default_factory=dict, description="Purpose (user agent, assistant, judge tc, ...) -> what it cost."
    )

    @property
    def scored(self) -> bool:
        """True if every verdict asked for is there. What is not scored is never passed."""
        return not self.cause

    def score(self, dimension: Measure) -> Score | None:
        """The score on `dimension`, or None if it was not asked for or is not scored."""
        return next((v.score for v in self.verdicts if v.dimension == dimension), None)

    @property
    def task_completed(self) -> bool | None:
        """Task completion (TC), or None if unscored."""
        score = self.score(Dimension.TASK_COMPLETION)
        return None if score is None else bool(score)

    @property
    def personalization(self) -> int | None:
        """Personalization (P), 1 to 4, or None if unscored."""
        score = self.score(Dimension.PERSONALIZATION)
        return None if score is None else int(score)


def evaluate(
    scenario: BaseScenario,
    assistant: Callable[[AssistantMessages], object],
    user_agent: UserAgent,
    judge: Judge,
    *,
    dimensions: Sequence[Measure] = DEFAULT_DIMENSIONS,
    max_turns: int = 0,
    progress: Callable[[Evaluation], None] | None = None,
) -> Evaluation:
    """Simulate the dialogue of `scenario` with `assistant`, then judge it on `dimensions`.

    `progress` is called with the unfinished evaluation whenever something more is known (each message, each
    verdict), one call after the other, so that a caller can keep what was paid for. A judge whose attribute
    `parallel` is true gives its readings side by side, in threads. Faults of the three parties end up in
    `cause` and `detail`, never as an exception and never as a low score.
    """
    start = unscored(scenario, user_agent.identity, judge.identity)
    if identity := getattr(assistant, "identity", ""):
        start = start.model_copy(update={"assistant": identity})

    def so_far(dialogue: Dialogue) -> None:
        if progress is not None:
            progress(start.model_copy(update={"dialogue": dialogue}))

    outcome = converse(
        scenario, assistant, user_agent, max_turns=max_turns, progress=so_far if progress else None
    )
    evaluation = start.model_copy(update={"dialogue": outcome.dialogue})
    if outcome.fault is not None:
        return evaluation.model_copy(
            update={"cause": _cause(outcome.fault, "user-agent"), "detail": _line(outcome.fault)}
        )
    try:
        so_far(outcome.dialogue)
    except PersonalensError as fault:
        return evaluation.model_copy(update={"cause": _cause(fault, "judge"), "detail": _line(fault)})
    return _judged(evaluation, scenario, judge, dimensions, progress)


def unscored(
    scenario: BaseScenario, user_agent: str = "", judge: str = "", *, cause: Cause = "", detail: str = ""
) -> Evaluation:
    """An evaluation of `scenario` in which nothing has been said yet; `cause` tells why it stays so, if it
    does.
    """
    return Evaluation(
        scenario=scenario.id,
        user=scenario.user,
        task=scenario.task_id,
        kind=scenario.kind,
        domains=scenario.domains,
        dataset=scenario.dataset,
        user_agent=user_agent,
        judge=judge,
        dialogue=Dialogue(end="fault"),
        cause=cause,
        detail=detail,
    )


def _judged(
    evaluation: Evaluation,
    scenario: BaseScenario,
    judge: Judge,
    dimensions: Sequence[Measure],
    progress: Callable[[Evaluation], None] | None,
) -> Evaluation:
    """The evaluation with its verdicts, in the order of `dimensions` whichever came first; with the first
    fault, if there is one.
    """
    read: dict[Measure, Verdict] = {}
    faults: dict[Measure, PersonalensError] = {}
    ended: list[BaseException] = []
    one_at_a_time = threading.Lock()

    def reading(dimension: Measure) -> None:
        try:
            verdict = read_dialogue(judge, scenario, evaluation.dialogue, dimension)
        except PersonalensError as fault:
            faults[dimension] = fault
            return
        with one_at_a_time:
            read[dimension] = verdict
            try:
                if progress is not None:
                    progress(with_verdicts())
            except PersonalensError as fault:
                faults[dimension] = fault

    def beside(dimension: Measure) -> None:
        try:
            reading(dimension)
        except BaseException as error:  # an exit, or the end of the run: what ends a thread is told to nobody
            ended.append(error)

    def with_verdicts() -> Evaluation:
        return evaluation.model_copy(update={"verdicts": tuple(read[d] for d in dimensions if d in read)})

    if getattr(judge, "parallel", False):
        threads = [
            threading.Thread(target=beside, args=(d,), name=f"personalens-{d.short}", daemon=True)
            for d in dimensions[1:]
        ]
        for thread in threads:
            thread.start()
        reading(dimensions[0])
        for thread in threads:
            thread.join()
        if ended:
            raise ended[0]
    else:
        for dimension in dimensions:
            reading(dimension)
            if faults:
                break
    evaluation = with_verdicts()
    if scenario.takes_answers and (answer := getattr(judge, "answer", None)) is not None:
        evaluation = evaluation.model_copy(update={"answer": answer(scenario, evaluation.dialogue)})
    failed = next((d for d in dimensions if d in faults), None)
    if failed is None:
        return evaluation
    return evaluation.model_copy(
        update={
            "cause": _cause(faults[failed], "judge"),
            "detail": f"{failed.short}: {_line(faults[failed])}",
        }
    )


def read_dialogue(judge: Judge, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
    """The verdict of `judge`, whatever a judge of somebody's own may raise or return.

    Raises `PersonalensError`.
    """
    try:
        verdict = judge.verdict(scenario, dialogue, dimension)
    except PersonalensError:
        raise
    except Exception as error:
        if ends_the_run(error):
            raise
        raise JudgeFault(f"the judge raised {error_text(error)}") from error
    if not isinstance(verdict, Verdict) or verdict.dimension != dimension or not _whole(verdict):
        raise JudgeFault(f"the judge did not return a verdict on {dimension.short} but {short_repr(verdict)}")
    return verdict


def _whole(verdict: Verdict) -> bool:
    """False for a verdict that was made past its own checks (`model_construct`): what reads it would fail,
    far from here.
    """
    lists = (verdict.evidence, verdict.reasons, verdict.turns, verdict.votes)
    return (
        isinstance(verdict.dimension, Measure)
        and verdict.dimension.holds(verdict.score)
        and isinstance(verdict.justification, str)
        and all(isinstance(values, tuple) for values in lists)
    )


def _line(fault: PersonalensError) -> str:
    # What an assistant raises may hold anything: several lines, half a character, a whole page. (A secret is
    # out of it already.)
    return " ".join(clean(str(fault)).split())[:_LONGEST_DETAIL]


def _cause(fault: PersonalensError, otherwise: Cause) -> Cause:
    if isinstance(fault, AssistantFault):
        return "assistant"
    if isinstance(fault, BudgetSpent):
        return "budget"
    return "record" if isinstance(fault, RecordError) else otherwise
