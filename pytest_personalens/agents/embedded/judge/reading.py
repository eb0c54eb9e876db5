"""Everything that the judge reads of one dialogue, each once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_personalens.agents.embedded.judge.goal import parts_of
from pytest_personalens.agents.embedded.judge.limits import Broken, broken_limits
from pytest_personalens.agents.embedded.judge.parts import PartReader, PartReading
from pytest_personalens.agents.embedded.reader.facts import FactReading, read_statements
from pytest_personalens.agents.embedded.reader.findings import Facts
from pytest_personalens.agents.embedded.reader.statements import Statement, statements

if TYPE_CHECKING:
    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.scenario import GoalPart, Scenario


class Reading:
    """A scenario and a dialogue, and what the judge reads in them."""

    def __init__(self, scenario: Scenario, dialogue: Dialogue) -> None:
        self.scenario, self.dialogue = scenario, dialogue
        self.messages = dialogue.messages
        self.facts = Facts(scenario)
        self.said: tuple[Statement, ...] = statements(self.messages, scenario.now)

    def is_of(self, scenario: Scenario, dialogue: Dialogue) -> bool:
        """True if the reading is of this scenario and a dialogue with these messages, end and state."""
        mine = self.dialogue
        same = mine is dialogue or (mine.messages, mine.end, mine.state) == (
            dialogue.messages,
            dialogue.end,
            dialogue.state,
        )
        return self.scenario is scenario and same

    @cached_property
    def readings(self) -> dict[str, FactReading]:
        """What the assistant says of each closed fact of the parts, by name."""
        return read_statements(self.facts, self.messages, self.said)

    @cached_property
    def parts_of_task(self) -> tuple[GoalPart, ...]:
        """The parts of the task; those of the sentence of its goal if the dataset has no parts."""
        return self.scenario.task.parts or parts_of(self.scenario.task.goal)

    @cached_property
    def parts(self) -> tuple[PartReading, ...]:
        """The state of each part by words."""
        user = [self.scenario.name, *(m.content for m in self.messages if m.role == "user")]
        return PartReader(self.parts_of_task, self.facts, self.said, self.readings, user).read()

    @cached_property
    def broken(self) -> tuple[Broken, ...]:
        """The limits of the user that the assistant breaks."""
        return broken_limits(self.scenario.limits, self.said)
