"""The third suite: arcs of several sessions with an assistant that keeps its own memory."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.measure import Metric
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.core.suite import Control, Distance, Suite
from pytest_personalens.suites.memory.arcs import KINDS, Arc
from pytest_personalens.suites.memory.memory_roles import MEMORY, ArcJudge, ArcUser, P
from pytest_personalens.suites.memory.words import first_way

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.core.suite import DataCheck


#: Raise it if an arc of data/suites/memory changes.
_VERSION: Final = "1.3"
_ALONE: Final = "alone"


def _days_since_told(arc: Arc) -> int | None:
    """Return the days from the last session in which a value of the test was told to the test."""
    values = arc.wrong if arc.kind == "belief" else arc.right or arc.wrong
    days = [
        dt.date.fromisoformat(session.date)
        for session in arc.sessions
        if any(first_way(value, text) for value in values for text in session.says)
    ]
    return (dt.date.fromisoformat(arc.sessions[-1].date) - days[-1]).days if days else None


class Memory(Suite):
    """Arcs of several sessions, the last of which tests what the assistant kept of those before."""

    name = "memory"
    item = "arc"
    kinds = KINDS
    domains = DOMAINS
    measures = (MEMORY, P)
    main = (MEMORY, P)
    metrics = (Metric.mean("memory", MEMORY), Metric.mean("p", P))
    gate_example = "memory >= 0.8 or revise: memory >= 0.8"
    lift = (MEMORY, (_ALONE, "swapped"))
    controls = (
        Control(name=_ALONE, word=_ALONE, title="the last session alone"),
        Control(name="swapped", word="other-user", title="after another user's sessions", swaps=True),
    )
    own = "the user's own sessions"
    without = "without the earlier sessions, or after another user's"
    distances = (Distance("days between told and asked", (7, 30, 90), _days_since_told),)
    thresholds: Mapping[Measure, float] = {MEMORY: 1}
    remembers = True
    kinds_apart = True
    made_of = "arc"
    scenario = Arc
    only_models_ask = True
    defaults: Mapping[str, Any] = {"context": "sessions"}
    lacks = (
        "max_turns", "adopt_judge", "check_judge", "anchors",
        "prompts", "official_bugs", "user_agent", "context", "interactions", "history",
        "embedding", "nltk_data", "protocol", "dialogues", "generate_only", "slice", "manner", "criteria",
        "calibration",
    )  # fmt: skip

    def open_dataset(self, spec: str, base: Path, settings: Settings) -> Any:
        from pytest_personalens.suites.memory.arc_files import embedded_arcs, open_arcs

        return embedded_arcs(_VERSION) if spec == "embedded" else open_arcs(base / spec)

    def other_user(self, dataset: Any, seed: str, ref: Any) -> Any:
        if (other := getattr(dataset, "other", None)) is None:
            raise SpecError(
                "--personalens-control other-user: this dataset names no other user", code="PL108"
            )
        return other(seed, ref)

    def check_data(self, spec: str, words: int) -> DataCheck | None:
        from pytest_personalens.suites.memory.arc_files import check_data

        return check_data(spec)

    def asker(self, settings: Settings) -> UserAgent:
        return ArcUser()

    def scorer(self, settings: Settings, root: str) -> Judge:
        return ArcJudge()

    def judged(self, model: Any, meter: Any, temperature: float) -> Judge:
        from pytest_personalens.suites.memory.memory_roles import ArcModelJudge

        return ArcModelJudge(model, meter, temperature=temperature)

    def user_played(self, model: Any, meter: Any) -> UserAgent:
        from pytest_personalens.suites.memory.memory_roles import ArcModelUser

        return ArcModelUser(model, meter)

    def controls_request(self, settings: Settings) -> bool:
        return True

    def context(
        self, settings: Settings, scenario: BaseScenario, given: str, other: BaseScenario | None
    ) -> Context:
        return scenario.context(given)

    def situated(
        self, settings: Settings, scenario: BaseScenario, given: str, other: BaseScenario | None
    ) -> BaseScenario:
        assert isinstance(scenario, Arc)
        if given == _ALONE:
            return scenario.alone()
        return scenario.after(other) if isinstance(other, Arc) else scenario

    def about(self, settings: Settings) -> str:
        return (
            "several sessions each, the assistant keeps its memory,"
            f" user {settings.user_model}, judge {settings.judge_model}"
        )


SUITE: Final = Memory()
