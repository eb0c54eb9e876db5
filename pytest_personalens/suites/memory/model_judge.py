"""A judge of arcs that a language model plays."""

from __future__ import annotations

import hashlib
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_agents import ModelAgents
from pytest_personalens.agents.by_model.model_judge import quoted_verdict
from pytest_personalens.agents.by_model.prompts import framed, transcript_text
from pytest_personalens.models import Model, Request
from pytest_personalens.suites.memory.roles import MEMORY, read_task, unsaid

if TYPE_CHECKING:
    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.suites.memory.arcs import Arc

_TOML: Final = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
_PROMPTS: Final = tomllib.loads(_TOML)


class ArcModelJudge:
    """A judge that reads the last session of an arc by the rule of its kind, and P with a second call."""

    parallel = True

    def __init__(self, model: Model, meter: Meter, *, temperature: float = 0.0) -> None:
        self._model, self._meter, self._temperature = model, meter, temperature
        self._task_judge = ModelAgents().judge(model, meter, temperature=temperature)
        digest = hashlib.sha256(_TOML.encode()).hexdigest()[:8]
        self.identity = f"{self._task_judge.identity} memory {digest}"
        self.paid = model.paid

    def verdict(self, scenario: Arc, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the reading, 0 or 1, with quotes, and P as in the first suite; see `quoted_verdict`."""
        if dimension != MEMORY:
            return read_task(self._task_judge, scenario, dialogue)
        right, wrong = (
            "; ".join(" | ".join(value.ways) for value in values) or "none"
            for values in (scenario.right, scenario.wrong)
        )
        prompt = _PROMPTS["prompt"].format(
            transcript=transcript_text(dialogue.messages),
            last=framed("last", f"{scenario.last_session}\n{scenario.user}"),
            rule=_PROMPTS["rules"][scenario.kind],
            right=framed("right", right),
            wrong=framed("wrong", wrong),
        )
        request = Request(_PROMPTS["system"].strip(), prompt.strip(), self._temperature)
        verdict = quoted_verdict(self._model, self._meter, request, dialogue, dimension)
        if verdict.score or dialogue.store is None:
            return verdict
        return verdict.model_copy(update={"reasons": unsaid(scenario, dialogue)})
