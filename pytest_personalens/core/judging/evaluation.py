"""Evaluates one scenario, without pytest, files or networks: simulates the dialogue, then judges it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import Field

from pytest_personalens.core.dialogue.dialogue import Dialogue, Raised, UserAgent, converse
from pytest_personalens.core.dialogue.message import AssistantMessages
from pytest_personalens.core.errors import (
    AssistantFault,
    BudgetSpent,
    JudgeFault,
    NotJudged,
    PersonalensError,
    RecordError,
    faults_of,
    short_repr,
)
from pytest_personalens.core.frozen import Sparse, clean
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.judging.measure import CRITERION, NEEDS_MODEL, Measure, Score
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.judging.verdict import (
    DEFAULT_DIMENSIONS,
    HARMLESS,
    Dimension,
    Judge,
    MeasureField,
    UserFault,
    Verdict,
)
from pytest_personalens.core.runtime import SPARE
from pytest_personalens.core.safe_text import one_line
from pytest_personalens.core.scenario import BaseScenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.facts import StoreLook


_LONGEST_DETAIL: Final = 500
#: Why an evaluation has no scores: the role at fault, or another reason.
Cause = Literal["", "assistant", "user-agent", "judge", "record", "budget", "lost", "unevaluated"]


class Evaluation(Sparse):
    """The result of one scenario: its dialogue, and its verdicts or a `cause`.

    With a `cause`, it has no verdict and counts as not scored: what was read before is on its record only.
    Without one, it holds at least one verdict, or nothing that was asked for is judged here. `unread`
    names every reading that was asked for and has no verdict, because the judge was at fault. `not_judged`
    names every reading that the judge does not give for this scenario by its own rules, which is no fault.
    Such readings are missing from their own figures only.
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
    unread: dict[MeasureField, str] = Field(
        default_factory=dict,
        description="Reading that the judge did not give, while it gave others -> one line: what went wrong.",
    )
    not_judged: dict[MeasureField, str] = Field(
        default_factory=dict,
        description="Reading that the judge does not give for this scenario -> one line: what that needs.",
    )
    cause: Cause = ""
    detail: str = Field(default="", description="One line: what went wrong, when `cause` is set.")
    raised: Raised | None = Field(
        default=None, description="What the team's code raised, if that is the cause; left out if it is not."
    )
    answer: Answer | None = Field(
        default=None, description="What was answered, in a suite whose items have a true answer."
    )
    user_faults: tuple[UserFault, ...] | None = Field(
        default=None,
        description="What the simulated user did wrong, by turn; null where no audit was made.",
    )
    latencies: tuple[float | None, ...] = Field(
        default=(),
        description="Seconds that each reply took, to a tenth; null for a replayed one, empty without any.",
    )
    first_pieces: tuple[float | None, ...] = Field(
        default=(), description="Seconds until the first piece of each reply; empty if none was streamed."
    )
    usage: dict[str, Usage] = Field(
        default_factory=dict, description="Purpose (user agent, assistant, judge tc, ...) -> what it cost."
    )
    waited: tuple[float, ...] = Field(
        default=(),
        description="Seconds of each wait for the team's memory store; left out if there was none.",
    )
    rare: ClassVar[Mapping[str, object]] = {"raised": None, "waited": ()}

    @property
    def read(self) -> tuple[Measure, ...]:
        """What was asked of the judge: the measures with a verdict, and those without."""
        return (*(v.dimension for v in self.verdicts), *self.unread, *self.not_judged)

    @property
    def scored(self) -> bool:
        """True if a verdict that was asked for is there; an evaluation without one never passes."""
        return not self.cause

    @property
    def judged(self) -> bool:
        """True unless it is scored and nothing that was asked for is judged here."""
        return bool(self.verdicts or self.unread or not self.not_judged or self.cause)

    def gives(self, measure: Measure | None) -> bool:
        """True if the evaluation is scored, and no fault kept the judge from this reading."""
        return self.scored and measure not in self.unread

    @property
    def share(self) -> float:
        """Share of its readings that have a verdict: 0 without scores, 1 if nothing was asked for."""
        if not self.scored:
            return 0.0
        return len(self.verdicts) / (len(self.verdicts) + len(self.unread)) if self.unread else 1.0

    def score(self, dimension: Measure) -> Score | None:
        """Return the score on `dimension`, or None if there is none."""
        found = [v.score for v in self.verdicts if v.dimension == dimension]
        return found[0] if found else None

    @property
    def task_completed(self) -> bool | None:
        """Task completion (TC), or None if it has no score."""
        score = self.score(Dimension.TASK_COMPLETION)
        return None if score is None else bool(score)

    @property
    def personalization(self) -> int | None:
        """Personalization (P), 1 to 4, or None if it has no score."""
        score = self.score(Dimension.PERSONALIZATION)
        return None if score is None else int(score)

    @property
    def lost_to_user(self) -> UserFault | None:
        """The first fault of the user that may have cost the task, if the task is not completed."""
        if not self.user_faults or self.task_completed is not False:
            return None
        return next((fault for fault in self.user_faults if fault.code != HARMLESS), None)


def evaluate(
    scenario: BaseScenario,
    assistant: Callable[[AssistantMessages], object],
    user_agent: UserAgent,
    judge: Judge,
    *,
    dimensions: Sequence[Measure] = DEFAULT_DIMENSIONS,
    max_turns: int = 0,
    progress: Callable[[Evaluation], None] | None = None,
    state: Callable[[Dialogue], State] | None = None,
    store: Callable[[], StoreLook | None] | None = None,
    in_session: Callable[[str], Callable[[AssistantMessages], object]] | None = None,
) -> Evaluation:
    """Simulate the dialogue of `scenario` with `assistant`, then judge it on `dimensions`.

    After the dialogue, the function calls `state` for what the team's system holds now, and `store` for what
    its memory store held before the last session. Both become a part of the dialogue.

    The function calls `progress` with the unfinished evaluation after each message and each verdict, so that
    a caller can keep paid results. It makes one such call at a time.

    In a dialogue of several sessions, `in_session` returns the assistant as it is called in one of them.

    A judge whose attribute `parallel` is true gives its readings at the same time, in threads.

    A fault of the assistant, the user agent or the judge is stored in `cause` and `detail`. It is never an
    exception and never a low score.
    """
    start = empty_evaluation(scenario, user_agent.identity, judge.identity)
    if identity := getattr(assistant, "identity", ""):
        start = start.model_copy(update={"assistant": identity})

    def so_far(dialogue: Dialogue) -> None:
        if progress is not None:
            progress(start.model_copy(update={"dialogue": dialogue}))

    outcome = converse(
        scenario,
        assistant,
        user_agent,
        max_turns=max_turns,
        progress=so_far if progress else None,
        in_session=in_session,
    )
    evaluation = start.model_copy(update={"dialogue": outcome.dialogue})
    if outcome.fault is not None:
        return _broken_off(evaluation, outcome.fault, "user-agent")
    try:
        if state is not None or store is not None:
            held = {} if state is None else {"state": state(outcome.dialogue)}
            looked = {} if store is None else {"store": store()}
            dialogue = outcome.dialogue.model_copy(update=held | looked)
            evaluation = evaluation.model_copy(update={"dialogue": dialogue})
        so_far(evaluation.dialogue)
    except PersonalensError as fault:
        return _broken_off(evaluation, fault, "judge")
    return judge_dialogue(evaluation, scenario, judge, dimensions, progress)


def empty_evaluation(
    scenario: BaseScenario, user_agent: str = "", judge: str = "", *, cause: Cause = "", detail: str = ""
) -> Evaluation:
    """Return an evaluation without a dialogue; `cause` says why it stays without a score, if it does."""
    dialogue = Dialogue(end="fault")
    return evaluation_of(scenario, user_agent, judge, dialogue=dialogue, cause=cause, detail=detail)


def evaluation_of(scenario: BaseScenario, user_agent: str, judge: str, **fields: Any) -> Evaluation:
    """Return an evaluation of the scenario by agents of these identities; the other `fields` are checked."""
    return Evaluation(
        scenario=scenario.id,
        user=scenario.user,
        task=scenario.task_id,
        kind=scenario.kind,
        domains=scenario.domains,
        dataset=scenario.dataset,
        user_agent=user_agent,
        judge=judge,
        **fields,
    )


def judge_dialogue(
    evaluation: Evaluation,
    scenario: BaseScenario,
    judge: Judge,
    dimensions: Sequence[Measure],
    progress: Callable[[Evaluation], None] | None = None,
) -> Evaluation:
    """Return the evaluation of a dialogue with its verdicts, in the order of `dimensions`.

    A `JudgeFault` costs its own reading only. Any other fault, such as a cap that is reached, costs all:
    no further reading is asked for. An evaluation that has a cause already is returned as it is.
    """
    if evaluation.cause:
        return evaluation
    verdicts: dict[Measure, Verdict] = {}
    faults: dict[Measure, PersonalensError] = {}
    not_judged: dict[Measure, str] = {}
    one_at_a_time = threading.Lock()

    def with_verdicts() -> Evaluation:
        given = tuple(verdicts[d] for d in dimensions if d in verdicts)
        return evaluation.model_copy(update={"verdicts": given})

    def read(dimension: Measure) -> None:
        try:
            verdict = read_dialogue(judge, scenario, evaluation.dialogue, dimension)
            with one_at_a_time:
                verdicts[dimension] = verdict
                if progress is not None:
                    progress(with_verdicts())
        except NotJudged as reason:
            not_judged[dimension] = _line(reason)
        except PersonalensError as fault:
            faults[dimension] = fault

    if getattr(judge, "parallel", False) and dimensions:
        others = [SPARE.submit(read, dimension) for dimension in dimensions[1:]]
        read(dimensions[0])
        for other in others:
            other.result()
    else:
        for dimension in dimensions:
            read(dimension)
            if any(not isinstance(fault, JudgeFault) for fault in faults.values()):
                break
    evaluation = with_verdicts()
    if not_judged:
        in_order = {d: not_judged[d] for d in dimensions if d in not_judged}
        evaluation = evaluation.model_copy(update={"not_judged": in_order})
    if scenario.takes_answers and (answer := getattr(judge, "answer", None)) is not None:
        evaluation = evaluation.model_copy(update={"answer": answer(scenario, evaluation.dialogue)})
    unread = {d: _line(faults[d]) for d in dimensions if isinstance(faults.get(d), JudgeFault)}
    failed = next((d for d in dimensions if d in faults and d not in unread), None)
    if failed is None and evaluation.verdicts:
        return evaluation.model_copy(update={"unread": unread}) if unread else evaluation
    failed = failed or next(iter(unread), None)
    return evaluation if failed is None else _failed(evaluation, faults[failed], "judge", f"{failed.short}: ")


def read_dialogue(judge: Judge, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
    """Return the verdict of `judge`; any exception or wrong value of a custom judge is a `JudgeFault`.

    Raise `NotJudged` for a criterion of a team's own, if the judge reads none.
    """
    if dimension.startswith(CRITERION) and not getattr(judge, "reads_criteria", False):
        raise NotJudged(NEEDS_MODEL)
    with faults_of("the judge", JudgeFault):
        verdict = judge.verdict(scenario, dialogue, dimension)
    if not isinstance(verdict, Verdict) or verdict.dimension != dimension or not _is_valid(verdict):
        raise JudgeFault(f"the judge did not return a verdict on {dimension.short} but {short_repr(verdict)}")
    return verdict


def _is_valid(verdict: Verdict) -> bool:
    """True if the values are valid; `model_construct` makes a verdict without checking them."""
    lists = (verdict.evidence, verdict.reasons, verdict.turns, verdict.votes)
    return (
        isinstance(verdict.dimension, Measure)
        and verdict.dimension.holds(verdict.score)
        and isinstance(verdict.justification, str)
        and all(isinstance(values, tuple) for values in lists)
    )


def _line(fault: PersonalensError) -> str:
    # The text of an assistant's exception may hold anything: several lines, half a character, a whole page.
    # Secrets are already removed.
    return " ".join(clean(str(fault)).split())[:_LONGEST_DETAIL]


def _failed(evaluation: Evaluation, fault: PersonalensError, cause: Cause, prefix: str = "") -> Evaluation:
    """Return the evaluation without scores; `cause` is the role at fault if the fault does not say it."""
    own_causes: tuple[tuple[type[PersonalensError], Cause], ...] = (
        (AssistantFault, "assistant"), (BudgetSpent, "budget"), (RecordError, "record"),
    )  # fmt: skip
    cause = next((name for kind, name in own_causes if isinstance(fault, kind)), cause)
    raised = Raised.read(*fault.told_of) if fault.told_of else None
    return evaluation.model_copy(
        update={"verdicts": (), "cause": cause, "detail": f"{prefix}{_line(fault)}", "raised": raised}
    )


def _broken_off(evaluation: Evaluation, fault: PersonalensError, cause: Cause) -> Evaluation:
    failed = _failed(evaluation, fault, cause)
    told = f"{failed.cause} at fault: {one_line(failed.detail)}"
    return failed.model_copy(update={"dialogue": failed.dialogue.broken_off(told)})
