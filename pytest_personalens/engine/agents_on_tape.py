"""Agents that are no models: checked, on the tape, and the assistant under test of a run that is resumed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, Literal

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.dialogue.reply import spoken_turns
from pytest_personalens.core.dialogue.state import State
from pytest_personalens.core.errors import (
    JudgeFault,
    NotJudged,
    PersonalensError,
    RecordError,
    SpecError,
    error_text,
)
from pytest_personalens.core.facts import StoreLook
from pytest_personalens.core.judging.measure import ALL_CRITERIA, CRITERION
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.engine.record import seen
from pytest_personalens.models.tape import UNDER_TEST, Tape, TapeRules, part_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic import BaseModel

    from pytest_personalens.core.dialogue.dialogue import Dialogue, UserAgent
    from pytest_personalens.core.dialogue.message import AssistantMessages
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.engine.record import Record
    from pytest_personalens.models.call_log import CallLog, CaseCalls

#: The attributes that a judge may have.
_TRAITS: Final = ("identity", "paid", "parallel", "answer", "deterministic", "dimensions", "reads_criteria")


class _LikeJudge:
    """What stands before a judge: it has the attributes that the judge has."""

    identity: str
    paid: bool
    parallel = False

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        for name in _TRAITS:
            if (trait := getattr(judge, name, None)) is not None:
                setattr(self, name, trait)


class JudgeByCase(_LikeJudge):
    """A judge whose readings are in the `log`, where each dialogue is a case; several threads may use it.

    `open_judge` returns the judge of a tape. Without `may_spend`, it asks nothing that costs money. With
    `anew`, it uses only what this run bought. If `strict`, a damaged line of the log is an error.
    """

    def __init__(
        self,
        open_judge: Callable[[Tape], Judge],
        log: CallLog | None,
        *,
        may_spend: bool,
        anew: bool = False,
        strict: bool = False,
    ) -> None:
        super().__init__(open_judge(Tape()))
        self._open, self._log, self._strict = open_judge, log, strict
        self._rules = TapeRules(may_spend=may_spend, anew=anew, run=log.run if log is not None else "")
        self._cases: dict[str, tuple[Judge, CaseCalls | None]] = {}
        self._lock = threading.Lock()
        self._unkept: RecordError | None = None

    def knows(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> bool:
        """True if the reading costs nothing; only without `may_spend`."""
        try:
            self.verdict(scenario, dialogue, dimension)
        except JudgeFault:
            return True  # the answer is there, and cannot be read
        except RecordError:
            calls = self._case(scenario, dialogue)[1]
            if self._strict and calls is not None and calls.damaged:
                raise RecordError(
                    f"{calls.file}: line {calls.damaged[0]} was edited or is cut off; delete it to have the"
                    " dialogue read anew"
                ) from None
            return False
        return True

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the verdict that is known, or that of the judge."""
        if self._unkept is not None:
            raise RecordError(str(self._unkept))
        return self._case(scenario, dialogue)[0].verdict(scenario, dialogue, dimension)

    def _case(self, scenario: BaseScenario, dialogue: Dialogue) -> tuple[Judge, CaseCalls | None]:
        case = f"{scenario.id}+{dialogue_digest(dialogue)}"
        with self._lock:
            if case not in self._cases:
                calls = self._log.case(case, anew=self._rules.anew) if self._log is not None else None
                self._cases[case] = self._open(Tape(self._rules, calls=calls, unkept=self._stop)), calls
            return self._cases[case]

    def _stop(self, error: RecordError) -> None:
        self._unkept = error


class UserOnTape:
    """A user agent whose turns are on the tape: known while what it has heard is the same.

    One `aside` only tells what it hears: its turns cost nothing, or are on the tape as the calls of a model.
    """

    def __init__(self, agent: UserAgent, tape: Tape, *, aside: bool = False) -> None:
        self.identity, self.paid = agent.identity, agent.paid
        self.keeps_empty = getattr(agent, "keeps_empty", False)
        self._agent, self._tape, self._aside = agent, tape, aside

    def turn(self, scenario: BaseScenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the turn that is known, or the agent's."""
        self._tape.heard = transcript
        if self._aside:
            return self._agent.turn(scenario, transcript)
        said = part_digest([(m.role, m.content, m.session) for m in transcript])
        return self._tape.ask(
            "user agent",
            {"agent": self.identity, "scenario": scenario.digest, "transcript": said},
            lambda: self._agent.turn(scenario, transcript),
            paid=self.paid,
            write=_turn_data,
            read=lambda answer: UserTurn(**answer),
        )


def _turn_data(turn: object) -> dict[str, Any]:
    """Return a turn as plain data; what is no turn is a fault that the dialogue reports, and no answer."""
    defaults = UserTurn._field_defaults
    data = {n: getattr(turn, n, defaults.get(n)) for n in UserTurn._fields}
    if not isinstance(data["content"], str) or not isinstance(data["session"], str):
        return {"unusable": type(turn).__name__}
    plain = {n: bool(v) if isinstance(defaults.get(n), bool) else v for n, v in data.items()}
    return {n: v for n, v in plain.items() if n not in defaults or v != defaults[n]}


class _JudgeBesideTape(_LikeJudge):
    def __init__(self, judge: Judge, tape: Tape) -> None:
        super().__init__(judge)
        # If the judge may not be asked, threads would save no time.
        self.parallel = self.parallel and tape.rules.may_spend
        self._tape = tape


class JudgeOnTape(_JudgeBesideTape):
    """A judge whose verdicts are on the tape: known while all that it would see is the same."""

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the verdict that is known, or the judge's."""
        self._tape.heard = dialogue

        def read_or_not() -> Verdict | NotJudged:
            try:
                return self._judge.verdict(scenario, dialogue, dimension)
            except NotJudged as reason:
                return reason

        digests = {"scenario": scenario.digest, "dialogue": dialogue_digest(dialogue)}
        answer = self._tape.ask(
            dimension.purpose,
            {"agent": self.identity, **digests},
            read_or_not,
            paid=self.paid,
            write=_verdict_data,
            read=lambda data: (
                NotJudged(data["not judged"]) if "not judged" in data else Verdict.model_validate(data)
            ),
        )
        if isinstance(answer, NotJudged):
            raise answer
        return answer


class ModelJudgeOnTape(_JudgeBesideTape):
    """A judge whose model's calls are on the tape; an unreadable known answer is asked for once more."""

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the verdict of the calls that are known, or that the model makes."""
        self._tape.heard = dialogue
        role, fault = dimension.purpose, None
        while True:
            asked, bought = self._tape.asked[role], self._tape.bought[role]
            try:
                return self._judge.verdict(scenario, dialogue, dimension)
            except JudgeFault as unreadable:
                if self._tape.bought[role] > bought or self._tape.asked[role] == asked:
                    raise
                fault = unreadable
            except RecordError:
                if fault is None:
                    raise
                raise fault from None  # the run may not spend, and the record repeats the fault


class RecordedJudge(_LikeJudge):
    """A judge that costs nothing and gets no prompts: what it read in the same dialogue is in the record."""

    def __init__(self, judge: Judge, record: Record) -> None:
        super().__init__(judge)
        self._record = record

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the verdict on record, or the judge's."""
        record = self._record
        if (record.judge, record.content) == (self.identity, scenario.digest):
            for verdict in record.verdicts:
                if verdict.dimension == dimension and seen(record.dialogue) == seen(dialogue):
                    return verdict
        return self._judge.verdict(scenario, dialogue, dimension)


def _verdict_data(verdict: object) -> dict[str, Any]:
    """Return a verdict as plain data; what is no verdict is a fault that the evaluation reports."""
    if isinstance(verdict, NotJudged):
        return {"not judged": str(verdict)}
    try:
        data: dict[str, Any] = Verdict.model_validate(verdict, from_attributes=True).model_dump(mode="json")
    except (ValueError, AttributeError, TypeError):
        return {"unusable": type(verdict).__name__}
    return data


def dialogue_digest(dialogue: Dialogue) -> str:
    """Return a digest of everything that a judge can see of a dialogue."""
    return part_digest(seen(dialogue))


class ResumedAssistant:
    """The assistant under test, not asked again for what it said before the run was interrupted.

    A system that did not act in this process does not hold what was done. If its state is asked for after
    the dialogue, or its memory store looked into (`takes_state`), a dialogue without that on the tape begins
    anew.
    """

    def __init__(self, tape: Tape, *, takes_state: bool) -> None:
        self._tape = tape
        self.repeats = not takes_state or tape.noted(UNDER_TEST, {"whole": "dialogue"}) is not None

    def called(
        self, assistant: Callable[[AssistantMessages], object], session: str = ""
    ) -> Callable[[AssistantMessages], object]:
        """Return the assistant as one that repeats what it said in a session."""

        def reply(messages: AssistantMessages) -> object:
            said = self._tape.scrub(spoken_turns(messages)) if self.repeats else None
            answer = None if said is None else self._tape.noted(UNDER_TEST, _heard(said, session))
            return assistant(messages) if answer is None else Message.model_validate(answer).returned()

        return reply

    def note(self, evaluation: Evaluation) -> None:
        """Keep the assistant's last message, if that is the last of the dialogue so far."""
        *before, last = evaluation.dialogue.messages
        if last.role == "assistant":
            said = [[m.role, m.content] for m in before if m.session == last.session]
            self._tape.note(UNDER_TEST, _heard(said, last.session), last.model_dump(mode="json"))

    def state(self, take: Callable[[Dialogue], State]) -> Callable[[Dialogue], State]:
        """Return a function that asks for the state, unless it is known of the same dialogue."""
        return lambda dialogue: self._held(
            {"state after": dialogue_digest(dialogue)}, State, lambda: take(dialogue)
        )

    def look(self, look: StoreLook | None) -> StoreLook | None:
        """Return the look into the memory store of a dialogue that is repeated, or keep this one."""
        found: StoreLook | None = self._held({"store before": "the last session"}, StoreLook, lambda: look)
        return found

    def _held(self, asked: dict[str, str], kind: type[BaseModel], take: Callable[[], Any]) -> Any:
        if self.repeats and (answer := self._tape.noted(UNDER_TEST, asked)) is not None:
            return kind.model_validate(answer)
        if (taken := take()) is not None:
            self._tape.note(UNDER_TEST, asked, taken.model_dump(mode="json"))
            self._tape.note(UNDER_TEST, {"whole": "dialogue"}, True)
        return taken


def _heard(said: Any, session: str) -> dict[str, str]:
    return {"transcript": part_digest(said), "session": session}


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
