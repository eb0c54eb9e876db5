"""What a run or one test is to do, as one frozen value."""

# No postponed annotations: pydantic reads the types here, for the settings in a results file.

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.core.gate import VALID_FLOOR, GateExpression
from pytest_personalens.core.options import keys_of

if TYPE_CHECKING:
    from pytest_personalens.core.suite import Suite

#: What the option prompts begins with where it names a checkout of the official repository.
OFFICIAL_PROMPTS: Final = "official:"


class Settings(NamedTuple):
    """What a run or one test is to do; `sample` None means that the plugin is inert."""

    suite: str
    sample: int | None
    seed: str
    shard: tuple[int, int] | None
    data: str
    users: tuple[str, ...]
    domain: tuple[str, ...]
    #: "all", or kinds of the suite with commas.
    kind: str
    trials: int
    control: tuple[str, ...]
    context: str
    max_turns: int
    turn_timeout: float
    dimensions: tuple[str, ...]
    threshold: tuple[tuple[str, int | float], ...]
    user_model: str
    judge_model: str
    concurrency: int
    executor: str | None
    judge_votes: int
    assistant: str | None
    assistant_prompt: Literal["base", "vanilla"]
    protocol: Literal["default", "paper"]
    #: What a model that plays the user writes before a message.
    user_agent: Literal["plain", "reasoning", "state"]
    prompts: str | None
    #: Which bugs of the official code are mended.
    official_bugs: str
    #: Caps of the run: "calls" or "usd", and how many.
    budget: tuple[tuple[Literal["calls", "usd"], float], ...]
    gate: tuple[GateExpression, ...]
    baseline: str | None
    level: float
    margin: tuple[tuple[str, float], ...]
    anchors: str | None
    #: Dimensions that were asked for and that the embedded judge does not give.
    not_read: tuple[str, ...] = ()
    #: True for a run that measures and reports only: nothing fails it.
    report_only: bool = False
    exit_infra: int | None = None
    #: Absolute paths, and the word "github".
    report: tuple[str, ...] = ()
    save_baseline: str | None = None
    adopt_judge: str | None = None
    check_judge: str | None = None
    record: Literal["none", "live", "new", "all"] = "none"
    resume: bool = False
    estimate: bool = False
    #: What a service as the assistant is sent, as JSON, and the path of the reply in its answer.
    assistant_request: str | None = None
    assistant_reply: str | None = None

    @property
    def protocol_in_force(self) -> str:
        """default, paper, or official for the prompts of a checkout."""
        return "official" if (self.prompts or "").startswith(OFFICIAL_PROMPTS) else self.protocol

    @property
    def may_spend(self) -> bool:
        """True if the run may call paid models."""
        return self.record != "none"

    @property
    def writes_records(self) -> bool:
        """True if the run writes records."""
        return self.record in ("new", "all")

    @property
    def max_calls(self) -> int | None:
        """Cap on model calls."""
        return next((int(cap) for unit, cap in self.budget if unit == "calls"), None)

    @property
    def max_usd(self) -> float | None:
        """Cap on what model calls cost, in US dollars."""
        return next((cap for unit, cap in self.budget if unit == "usd"), None)

    @property
    def side_by_side(self) -> bool:
        """True if items are evaluated before their turn: in threads, or on a cluster."""
        return self.concurrency > 1 or self.executor is not None

    @property
    def shares_assistant(self) -> bool:
        """True if one assistant, handed over by the fixture, must serve several dialogues at once."""
        return self.concurrency > 1 and self.assistant is None

    @property
    def fails_on(self) -> Literal["item", "gate", "nothing"]:
        """What fails the run: nothing if it is to report only, else its gates if it has any,
        else low items.
        """
        return "nothing" if self.report_only else "gate" if self.asks_for_gates else "item"

    @property
    def asks_for_gates(self) -> bool:
        """True if any gate of the run was asked for."""
        return any(getattr(self, key) not in (None, ()) for key in keys_of("gate"))

    @property
    def valid_floor(self) -> float:
        """Share of items that must be scored, 0 to 1: that of the gate ``valid``, else 0.9."""
        return next((gate.limit for gate in self.gate if gate.name == "valid"), VALID_FLOOR)

    @property
    def of_suite(self) -> "Suite":
        """The suite of the run."""
        from pytest_personalens.core.suite import suite_named

        return suite_named(self.suite)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are drawn from; empty for all."""
        return () if self.kind == "all" else tuple(self.kind.split(","))

    @property
    def thresholds(self) -> dict[str, int | float]:
        """Measure -> the worst score of an item that passes; some have defaults where they are read."""
        defaults = {measure.value: score for measure, score in self.of_suite.thresholds.items()}
        return {d: s for d, s in {**defaults, **dict(self.threshold)}.items() if d in self.dimensions}
