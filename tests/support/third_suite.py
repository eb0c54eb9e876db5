"""A suite in a few lines, which proves that the seam is one: sums of two numbers, and how far a reply is off."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.judging.measure import Measure, MeasureNames, Metric, OfSums, Row
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.scenario import BaseScenario, Context, ScenarioRef
from pytest_personalens.core.suite import Control, Suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue, Message, UserAgent
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.options.settings import Settings

RIGHT = Measure("right", MeasureNames("right", "Right", "share of right sums", "right", "accuracy", "acc"))
OFF = Measure(
    "off", MeasureNames("off", "Error", "mean error", "error", "error", "error"),
    low=0, high=None, grid=Fraction(1, 100), better="low", kinds=("large",),
)  # fmt: skip


class Sum(BaseScenario):
    """Two numbers of a user's, to be added."""

    suite: ClassVar[str] = "sums"
    takes_answers: ClassVar[bool] = True
    numbers: tuple[int, int]

    @property
    def task_id(self) -> str:
        return "plus".join(map(str, self.numbers))

    def context(self, given: str) -> Context:
        known = {"Sums": str(sum(self.numbers))} if given == "result" else {}
        return Context(user=self.user, interactions=known)


class Sums:
    """Eight users with four sums each; a sum is odd or even, which is what a draw balances."""

    name, version = "sums", "1.0"

    def domains(self) -> list[str]:
        return ["Sums"]

    def users(self) -> list[str]:
        return [f"u{n}" for n in range(8)]

    def refs(self, user: str) -> list[ScenarioRef]:
        a, others = int(user[1:]), (1, 2, 100, 101)
        kinds, parts = {True: "large", False: "small"}, ("even", "odd")
        return [ScenarioRef(user, f"{a}plus{b}", kinds[b > 9], ("Sums",), parts[(a + b) % 2]) for b in others]

    def load(self, ref: ScenarioRef) -> Sum:
        a, b = map(int, ref.task.split("plus"))
        of = {"user": ref.user, "dataset": "sums 1.0", "kind": ref.kind, "domains": ref.domains}
        return Sum.model_validate({"id": ref.id, **of, "numbers": (a, b)})


class Asker:
    """Asks for the sum, and is done."""

    identity, paid = "asker", False

    def turn(self, scenario: Sum, transcript: Sequence[Message]) -> UserTurn:
        return UserTurn("{} + {} = ?".format(*scenario.numbers), done=True)


class Scorer:
    """Compares the number in the reply with the sum."""

    identity, paid = "scorer 1", False

    def answer(self, scenario: Sum, dialogue: Dialogue) -> Answer:
        found = re.search(r"-?\d+(?:\.\d+)?", dialogue.messages[-1].content)
        value = float(found[0]) if found else None
        return Answer(read=found is not None, value=value, truth=sum(scenario.numbers))

    def verdict(self, scenario: Sum, dialogue: Dialogue, dimension: Measure) -> Verdict:
        value = self.answer(scenario, dialogue).value
        if not isinstance(value, float):
            raise AssistantFault("no number in the reply")
        error = abs(value - sum(scenario.numbers))
        score = int(not error) if dimension == RIGHT else dimension.on_grid(error)
        return Verdict(dimension=dimension, score=score, justification=f"off by {error:g}")


#: Half steps of an error that are told apart.
_HALVES = 100


def _errors(answers: Sequence[Answer]) -> list[Row]:
    errors = [abs(float(a.value or 0) - float(a.truth or 0)) for a in answers]
    return [tuple(int(half == min(2 * error, _HALVES)) for half in range(_HALVES + 1)) for error in errors]


def _largest(sums: Row) -> float | None:
    return max((half / 2 for half, number in enumerate(sums) if number), default=None)


class SumsSuite(Suite):
    """A suite of one's own."""

    name = "sums"
    item = "sum"
    kinds = ("small", "large")
    measures = (RIGHT, OFF)
    main = (RIGHT, OFF)
    metrics = (
        Metric.mean("accuracy", RIGHT), Metric.mean("mae", OFF),
        Metric(name="largest", of=OfSums(_errors, _largest), label="largest error", high=None, better="low", kinds=("large",)),
    )  # fmt: skip
    gate_example = "accuracy >= 0.5 or mae <= 3"
    thresholds: Mapping[Measure, float] = {RIGHT: 1}
    has_turns = False
    controls = (Control(name="blind", word="blind"),)
    scenario = Sum
    defaults: Mapping[str, Any] = {"context": "result", "dimensions": ("right", "off")}
    lacks = ("user_model", "judge_model", "max_turns")

    def open_dataset(self, spec: str, base: Path, settings: Settings) -> Sums:
        return Sums()

    def draw_order(self, drawn: Mapping[str, int]) -> Sequence[str]:
        return sorted(("odd", "even"), key=lambda stratum: (drawn.get(stratum, 0), stratum == "even"))

    def asker(self, settings: Settings) -> UserAgent:
        return Asker()

    def scorer(self, settings: Settings, root: str) -> Judge:
        return Scorer()

    def given(self, context: str, control: str) -> str:
        return "" if control else context

    def about(self, settings: Settings) -> str:
        return f"given {settings.context or 'nothing'}"


SUITE = SumsSuite()
