"""Jobs: evaluations as plain values, with their agents, which an executor can run in parallel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.by_model.model_agents import PromptSettings
from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.evaluation import Cause, Evaluation, empty_evaluation
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.engine.record import OtherRecords, Record
from pytest_personalens.models.specs import ServiceSettings
from pytest_personalens.models.tape import Row, TapeRules

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import BaseScenario, Context


class ParticipantSpecs(NamedTuple):
    """The plain values that are needed to open the agents, which can be pickled and hold no secret.

    Imports and relative paths start at the folder `root`. `side_by_side` is the number of dialogues that one
    process runs at the same time.
    """

    root: str
    settings: Settings
    service: ServiceSettings = ServiceSettings()
    parameters: tuple[tuple[str, str], ...] = ()
    prices: tuple[tuple[str, Price], ...] = ()
    side_by_side: int = 1

    @property
    def prompts(self) -> PromptSettings:
        """Return the settings of the agents that a model plays."""
        s = self.settings
        return PromptSettings(s.protocol, s.prompts, s.official_bugs, s.user_agent)


def refuse_prompts_for_nobody(specs: ParticipantSpecs, played: Collection[str]) -> None:
    """Raise `SpecError` for prompts that no model is given; `played` are the roles that models play."""
    prompts = specs.prompts
    if prompts.official_bugs != "reproduce":  # a run without models needs nothing of theirs
        from pytest_personalens.agents.by_model.official_prompts import mended_bugs

        mended_bugs(prompts.official_bugs)
    if prompts.named and not played:
        raise SpecError(
            f"{prompts.flag}: it shapes what models are told, and no model plays a role in this run; "
            "name one with --personalens-user-model, --personalens-judge-model or --personalens-assistant",
            code="PL303",
        )
    if prompts.user_agent != "plain" and ("user agent" not in played or prompts.official):
        why = (
            "the official prompts have no such user agent" if prompts.official else "no model plays the user"
        )
        raise SpecError(
            f"personalens_user_agent = {prompts.user_agent}: {why}; leave it out, or name one with"
            " --personalens-user-model",
            code="PL108",
        )
    if prompts.named and specs.settings.judge_votes > 1:
        raise SpecError(
            f"personalens_judge_votes: a judge is asked once under {prompts.flag}; leave one of them out",
            code="PL108",
        )


Assistant = Any
#: The identity of a user whom nobody simulated, as far as is known.
PERSON: Final = "a person"


class StoredDialogue(NamedTuple):
    """A dialogue that exists already, and who spoke in it; a `cause` says why it broke off.

    `user_agent` is empty if the user was a person. If `verdicts` came with it, they are those of `judge`, and
    nobody is asked for any.
    """

    dialogue: Dialogue
    user_agent: str = ""
    assistant: str = ""
    cause: Cause = ""
    detail: str = ""
    judge: str = ""
    verdicts: tuple[Verdict, ...] = ()


class Job(NamedTuple):
    """One evaluation to do; all of its fields can be pickled.

    `record` is that of the item, if there is one, and `elsewhere` says where other tests may have some of the
    same `case`. `content` is the digest of the scenario, if it is made already. `rules` say what may be
    replayed, bought and kept. If the run is `resumable`, the assistant's replies are kept too, and those from
    before it was interrupted are used. A `stored` dialogue is judged as it is, and nobody is asked to speak.
    `manner` is that of the simulated user, if it has one.
    """

    scenario: BaseScenario
    context: Context
    dimensions: tuple[Measure, ...]
    thresholds: Mapping[str, int | float]
    max_turns: int
    turn_timeout: float
    rules: TapeRules = TapeRules()
    record: Record | None = None
    case: str = ""
    content: str = ""
    elsewhere: OtherRecords | None = None
    resumable: bool = False
    stored: StoredDialogue | None = None
    manner: str = ""

    def start(self, judge: str) -> Evaluation:
        """Return the evaluation of the stored dialogue before its judge, by identity, reads it.

        It is whole if the verdicts are stored too.
        """
        stored = self.stored
        assert stored is not None
        start = empty_evaluation(self.scenario, stored.user_agent or PERSON, judge)
        spoken = {n: getattr(stored, n) for n in ("dialogue", "assistant", "cause", "detail")}
        if stored.judge:
            wanted = tuple(v for v in stored.verdicts if v.dimension in self.dimensions)
            read = {verdict.dimension for verdict in wanted}
            spoken |= {"judge": stored.judge, "verdicts": wanted}
            spoken["unread"] = {d: "not among the stored verdicts" for d in self.dimensions if d not in read}
            if not wanted and not stored.cause:
                spoken |= {"cause": "judge", "detail": "no stored verdict on what was asked for"}
        return start.model_copy(update=spoken)


class JobResult(NamedTuple):
    """The result of a job.

    `evaluation` has the usage of this run in all its parts. `rows` are the answers that it rests on, and
    `bought` those that another machine bought. If it was `replayed`, it is that of the record, for which only
    the assistant was asked. `exception` is that of the assistant that ended the evaluation, for a
    debugger in this process.
    """

    evaluation: Evaluation
    rows: tuple[Row, ...] = ()
    replayed: bool = False
    seconds: float = 0.0
    exception: Exception | None = None
    bought: tuple[Row, ...] = ()
    #: What is wrong if the assistant took one user for another, whose dialogue ran at the same time.
    mixed: str = ""
