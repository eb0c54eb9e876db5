"""Jobs: evaluations as plain values, which an executor can run in parallel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.judging.evaluation import Cause, Evaluation, empty_evaluation
from pytest_personalens.engine.records.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.usage import Usage
    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.engine.records.other_records import OtherRecords
    from pytest_personalens.engine.records.record import StoredVerdict

Assistant = Any
#: The identity of a user whom nobody simulated, as far as is known.
PERSON: Final = "a person"


class StoredDialogue(NamedTuple):
    """A dialogue that exists already, and who spoke in it; a `cause` says why it broke off.

    `user_agent` is empty if the user was a person.
    """

    dialogue: Dialogue
    user_agent: str = ""
    assistant: str = ""
    cause: Cause = ""
    detail: str = ""


class Job(NamedTuple):
    """One evaluation to do; all of its fields can be pickled.

    `records` may be reused, the best first; `elsewhere` says where other tests may have some of the same
    `case`. `where` names the record in the error that says that the run may not spend. If the run is
    `resumable`, the assistant's replies are kept too, and those in `broken_off` are used. `votes` are those
    on verdicts that were not decided when a run ended. `spent` is the usage of the parts of this run so far.
    A `stored` dialogue is judged as it is, and nobody is asked to speak.
    """

    scenario: BaseScenario
    context: Context
    dimensions: tuple[Measure, ...]
    thresholds: Mapping[str, int | float]
    max_turns: int
    turn_timeout: float
    records: tuple[Record, ...]
    may_spend: bool
    where: str
    case: str = ""
    elsewhere: OtherRecords | None = None
    resumable: bool = False
    broken_off: Record | None = None
    votes: tuple[StoredVerdict, ...] = ()
    spent: Mapping[str, Usage] = {}
    stored: StoredDialogue | None = None

    def start(self, judge: str) -> Evaluation:
        """Return the evaluation of the stored dialogue before its judge, by identity, reads it."""
        assert self.stored is not None
        start = empty_evaluation(self.scenario, self.stored.user_agent or PERSON, judge)
        spoken = self.stored._asdict()
        del spoken["user_agent"]
        return start.model_copy(update=spoken)


class Keep(Protocol):
    """A function that saves paid results, so that a crash cannot lose them."""

    def __call__(
        self, evaluation: Evaluation, spent: Mapping[str, Usage], votes: Sequence[StoredVerdict] = (), /
    ) -> None:
        """Save an evaluation, finished or not, with what all parts of this run have `spent` on it, and the
        votes on undecided verdicts; raise `RecordError` if nothing can be written.
        """


class JobResult(NamedTuple):
    """The result of a job.

    `evaluation` has the usage of this run in all its parts, and `cost` that of its whole content, by purpose.
    `questions` counts the questions to agents. `raised` is the exception of the assistant that ended the
    evaluation, for a debugger in this process.
    """

    evaluation: Evaluation
    cost: dict[str, Usage]
    questions: int
    seconds: float
    raised: Exception | None = None
    #: What is wrong if the assistant took one user for another, whose dialogue ran at the same time.
    mixed: str = ""
