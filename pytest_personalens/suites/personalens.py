"""The first suite: the dialogues of PersonaLens. An assistant does tasks for a user that it knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.measure import (
    DEFAULT_DIMENSIONS,
    FREE_DIMENSIONS,
    NEEDS_FACTS,
    NO_FACTS,
    READINGS,
    Dimension,
    Metric,
)
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.core.options.option_table import judge_specs, letters
from pytest_personalens.core.scenario import DOMAINS, BaseScenario, Context, Scenario
from pytest_personalens.core.suite import Control, Suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue, UserAgent
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge, UserFault
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.suite import SettingsByName

_TC, _P, _FACTS = FREE_DIMENSIONS
#: Why the embedded judge gives no reading of these, and what to do.
_BY_MODELS: Final = "is read by models only; name one with --personalens-judge-model"
_READ_BY_MODELS: Final = READINGS[2:]
_INTRUSIONS: Final = Dimension.INTRUSIONS
_NOT_OF_PAPER: Final = "the paper's judge has no reading of intrusions; leave personalens_protocol out"
#: The controls of the ablation, besides D+I+S (paper, Table 4).
_ABLATION: Final = ("none", "D", "I", "S")


def _embedded(judge_model: str | None, measure: Measure) -> bool:
    """True if the embedded judge reads the measure."""
    specs = judge_specs(judge_model or "embedded")
    return specs.get(measure.short, specs[""]) == "embedded"


#: What an assistant may know of its user, by the letters of personalens_context.
_LETTERS: Final = {"D": "demographics", "I": "interactions", "H": "sessions", "S": "situation"}


def _in_words(context: str) -> str:
    return "+".join(_LETTERS.get(letter, letter) for letter in context) or "none"


class PersonaLens(Suite):
    """The tasks of PersonaLens, for a simulated user whom the assistant knows (paper, section 3)."""

    name = FIRST_SUITE
    kinds = ("single", "multi")
    domains = DOMAINS
    measures = tuple(Dimension)
    compared = (_TC, _P, _FACTS, *_READ_BY_MODELS, _INTRUSIONS)
    main = FREE_DIMENSIONS
    in_all = READINGS
    free = (_FACTS,)
    metrics = (
        Metric.mean("tcr", _TC, "tc", _TC.value),
        Metric.mean("p", _P, _P.value),
        *(Metric.mean(measure.short, measure) for measure in (_FACTS, *_READ_BY_MODELS, _INTRUSIONS)),
    )
    gate_example = "tcr >= 0.9 or Movies: p >= 3"
    lift = (_P, ("swapped", "none"))
    controls = (
        Control(name="none", word="no-context", title="no-context"),
        Control(name="D", word="D", title="D (demographics)"),
        Control(name="I", word="I", title="I (past interactions)"),
        Control(name="H", word="H", title="H (past sessions)"),
        Control(name="S", word="S", title="S (the situation)"),
        Control(name="swapped", word="other-user", title="other-user", swaps=True),
    )
    control_groups: Mapping[str, tuple[str, ...]] = {"ablation": _ABLATION}
    thresholds: Mapping[Measure, float] = {_TC: 1, _P: 2}
    bearings = "P goes from 1 to 4; the example's bot reaches 3.50, and 1.07 without its memory"
    scenario = Scenario
    auditor = "user-audit 2"
    lacks = ("history", "embedding", "nltk_data")

    def open_dataset(self, spec: str, base: Path, settings: Settings) -> Any:
        from pytest_personalens.datasets import open_dataset

        return open_dataset(spec, base=base, whole=settings.interactions == "all")

    def draw_order(self, drawn: Mapping[str, int]) -> Sequence[str]:
        from pytest_personalens.datasets.dataset import every_fifth_multi

        return every_fifth_multi(drawn)

    def other_user(self, dataset: Any, seed: str, ref: Any) -> Any:
        from pytest_personalens.datasets.dataset import other_user_of

        return other_user_of(dataset, seed, ref)

    def asker(self, settings: Settings) -> UserAgent:
        from pytest_personalens.agents.embedded.embedded_agents import EmbeddedUserAgent

        if not settings.manner:
            return EmbeddedUserAgent()
        from pytest_personalens.agents.embedded.manners import MannerlyUserAgent

        return MannerlyUserAgent(settings.manner)

    def scorer(self, settings: Settings, root: str) -> Judge:
        from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge

        return EmbeddedJudge()

    def audit(self, scenario: Scenario, dialogue: Dialogue) -> tuple[UserFault, ...]:
        from pytest_personalens.agents.embedded.audit import user_faults

        return user_faults(scenario, dialogue)

    def read_context(self, text: str) -> str:
        return letters(text)

    def given(self, context: str, control: str) -> str:
        """Return the letters of D, I, H, S that the assistant may know."""
        return {"": context, "swapped": context, "none": ""}.get(control, control)

    def context(
        self, settings: Settings, scenario: BaseScenario, given: str, other: BaseScenario | None
    ) -> Context:
        own = scenario.context(given)
        # The situation does not belong to the person. It stays, so that the person is the only difference.
        return own if other is None else other.context(given).model_copy(update={"situation": own.situation})

    def default_measures(self, settings: SettingsByName) -> tuple[Measure, ...]:
        embedded = _embedded(settings.get("judge_model"), _P)
        return (*FREE_DIMENSIONS, _INTRUSIONS) if embedded else DEFAULT_DIMENSIONS

    def not_scored(self, settings: SettingsByName) -> dict[Measure, str]:
        judge = settings.get("judge_model")
        why_not: dict[Measure, str] = {
            m: f"{m.names.title.lower()} {_BY_MODELS}" for m in _READ_BY_MODELS if _embedded(judge, m)
        }
        if settings.get("protocol") == "paper" and not _embedded(judge, _INTRUSIONS):
            why_not[_INTRUSIONS] = _NOT_OF_PAPER
        return why_not

    def needs(self, settings: Settings, scenario: Scenario, measure: Measure) -> str:
        task = scenario.task
        if measure == _FACTS:
            named = {name for part in task.parts for name in part.facts}
            return "" if any(fact.right and fact.name in named for fact in task.facts) else NO_FACTS
        # Words of their own may tell of a part without a fact.
        of_words = measure == _TC and _embedded(settings.judge_model, _TC)
        return NEEDS_FACTS if of_words and not task.parts else ""

    def check(self, settings: Settings) -> None:
        """Refuse a control that cannot be compared with the run itself.

        In such a control, the assistant would know the same as in the run, or something that it does not know
        there.
        """
        flag, known, controls = "--personalens-control", settings.context, settings.control
        if set(_ABLATION) <= set(controls) and known != "DIS":
            raise SpecError(
                f"{flag} ablation: the run itself is its last row, D+I+S; leave out personalens_context",
                code="PL108",
            )
        for control in controls:
            if control in ("none", "swapped"):
                enough = bool(set(known) & set("DIHS" if control == "none" else "DIH"))
            else:
                enough = control in known and control != known
            if not enough:
                no_more = f"{'+'.join(known)} of the user" if control in "DIHS" else "no more of the user"
                raise SpecError(
                    f"{flag} {self.control_word(control)}: the run itself knows"
                    f" {no_more if known else 'nothing'} (personalens_context); there is nothing to compare",
                    code="PL108",
                )

    def about(self, settings: Settings) -> str:
        context, judge = _in_words(settings.context), settings.judge_model
        if settings.dialogues:
            return f"dialogues of {' and '.join(settings.dialogues)}, judge {judge}"
        judged = "no judge" if settings.generate_only else f"judge {judge}"
        return f"context {context}, user {settings.user_model}, {judged}"

    def facts(self, settings: SettingsByName) -> dict[str, str]:
        return {
            "user": "as stored" if settings.get("dialogues") else settings.get("user_model", "-"),
            "judge": "none" if settings.get("generate_only") else settings.get("judge_model", "-"),
            "context": _in_words(settings.get("context", "")),
        }

    def kind_name(self, kind: str) -> str:
        return f"{kind}-domain"


SUITE: Final = PersonaLens()
