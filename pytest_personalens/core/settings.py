"""What a run or one test is to do, as one frozen value."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

#: A name of a run's arms: the run itself, or the same scenarios with the context withheld, in part or whole, or another user's.
ArmName = Literal["", "none", "D", "I", "S", "swapped"]
#: The contexts that --personalens-ablation adds to D+I+S (paper, Table 4).
ABLATION: Final[tuple[ArmName, ...]] = ("none", "D", "I", "S")
#: The settings that make a run one that is to pass gates.
GATES: Final = ("min_tcr", "min_p", "gate", "baseline", "save_baseline")


class Settings(NamedTuple):
    """What a run or one test is to do; `sample` None means that the plugin is inert."""

    sample: int | None
    seed: str
    shard: tuple[int, int] | None
    data: str
    users: tuple[str, ...]
    domain: tuple[str, ...]
    kind: Literal["single", "multi", "all"]
    trials: int
    control: tuple[str, ...]
    context: str
    max_turns: int
    turn_timeout: float
    dimensions: tuple[str, ...]
    threshold: tuple[tuple[str, int], ...]
    user_model: str
    judge_model: str
    concurrency: int
    executor: str | None
    judge_votes: int
    assistant: str | None
    assistant_prompt: Literal["base", "vanilla"]
    protocol: Literal["default", "paper"]
    prompts: str | None
    max_calls: int | None
    max_usd: float | None
    min_tcr: float | None
    min_p: float | None
    min_valid: float
    gate: tuple[tuple[str, str, float], ...]
    baseline: str | None
    level: float
    margin: tuple[tuple[str, float], ...]
    fail_on: Literal["item", "gate", "nothing"] | None
    anchors: str | None
    #: Of ini keys only: which bugs of the official code are mended, and what the user agent writes before a message.
    official_bugs: str = "reproduce"
    user_agent: Literal["plain", "reasoning", "state"] = "plain"
    #: Dimensions that were asked for and that the embedded judge does not give.
    not_read: tuple[str, ...] = ()
    exit_infra: int | None = None
    json: str | None = None
    html: str | None = None
    markdown: str | None = None
    github: bool = False
    ablation: bool = False
    save_baseline: str | None = None
    adopt_judge: str | None = None
    check_judge: str | None = None
    live: bool = False
    record: Literal["none", "new", "all"] = "none"
    resume: bool = False
    estimate: bool = False

    @property
    def protocol_in_force(self) -> str:
        """default, paper, or official for the prompts of a checkout."""
        return "official" if (self.prompts or "").startswith("official:") else self.protocol

    @property
    def may_spend(self) -> bool:
        """True if the run may call paid models."""
        return self.live or self.record != "none"

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
        """What fails the run: what was asked for, else the gates if there is one."""
        return self.fail_on or ("gate" if self.gated else "item")

    @property
    def gated(self) -> bool:
        """True if any gate of the run is there to decide."""
        return self.asks_for_gates or self.fail_on == "gate"

    @property
    def asks_for_gates(self) -> bool:
        """True if any gate of the run was asked for."""
        return any(getattr(self, name) not in (None, ()) for name in GATES)

    @property
    def arms(self) -> tuple[ArmName, ...]:
        """The controls of the run: what else the assistant is to know, each in its turn."""
        wanted = {*self.control, *(ABLATION if self.ablation else ())}
        every: tuple[ArmName, ...] = (*ABLATION, "swapped")
        return tuple(arm for arm in every if arm in wanted)

    @property
    def thresholds(self) -> dict[str, int]:
        """Dimension -> least score of an item; TC and P have defaults when they are judged."""
        defaults = {"task_completion": 1, "personalization": 2}
        return {d: s for d, s in {**defaults, **dict(self.threshold)}.items() if d in self.dimensions}
