"""Plays the oracle and its mutants over scenarios, and counts what the judge makes of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.evaluation import evaluate
from pytest_personalens.judge_quality.oracle.faults import FAULTS, Case, Reply, replies, right
from pytest_personalens.judge_quality.oracle.filling import fits
from pytest_personalens.judge_quality.oracle.wordings import SEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.judge_quality.oracle.wordings import TaskWordings

#: The name of the assistant that says another scenario's reply of the same domain to everybody.
CONSTANT: Final = "one reply for all"


@dataclass
class Tally:
    """What came of one fault: dialogues, those with TC 1, and those with P of 3 or 4."""

    dialogues: int = 0
    completed: int = 0
    personal: int = 0

    @property
    def completed_share(self) -> float:
        """Return the share of dialogues with TC 1, from 0 to 1."""
        return self.completed / self.dialogues if self.dialogues else 0.0

    @property
    def personal_share(self) -> float:
        """Return the share of dialogues with P of 3 or 4, from 0 to 1."""
        return self.personal / self.dialogues if self.dialogues else 0.0


def play(
    scenarios: Iterable[Scenario],
    wordings: Mapping[str, TaskWordings],
    user_agent: UserAgent,
    judge: Judge,
    *,
    possible: Mapping[tuple[str, str], Sequence[str]],
    held: bool,
    acts: bool = False,
) -> dict[str, Tally]:
    """Return what came of each fault, by its name.

    `possible` maps (domain, preference type) to the values that exist. With `held` the assistants use the
    wordings that are kept for testing alone, and else the others. With `acts` they call a tool for each deed.
    A scenario without facts, or of a task without wordings, is left out. What the judge cannot read counts as
    not completed.
    """
    tallies: dict[str, Tally] = defaultdict(Tally)
    constants: dict[tuple[str, ...], Reply] = {}
    for scenario in scenarios:
        task = wordings.get(scenario.task.id)
        if task is None or not scenario.task.facts:
            continue
        cases = [
            Case(scenario, task, wording, possible)
            for wording in task.wordings
            if (wording.style in SEEN) != held and fits(scenario, wording.parts)
        ]
        if not cases:
            continue
        for fault in FAULTS:
            assistant = replies(fault, cases, acts=acts)
            if assistant is not None:
                _count(tallies[fault.name], evaluate(scenario, assistant, user_agent, judge))
        own = right(cases[0])
        constant = constants.setdefault(scenario.domains, own)
        if constant.texts != own.texts:
            _count(tallies[CONSTANT], evaluate(scenario, _saying(constant.text), user_agent, judge))
    return dict(tallies)


def _saying(text: str) -> Callable[[object], str]:
    return lambda messages: text


def _count(tally: Tally, evaluation: Evaluation) -> None:
    tally.dialogues += 1
    tally.completed += bool(evaluation.task_completed)
    tally.personal += (evaluation.personalization or 0) >= 3


def table(tallies: Mapping[str, Tally]) -> list[str]:
    """Return the lines of a table: each fault with its dialogues, TC 1 and P of 3 or 4."""
    lines = [f"{'assistant':24} {'dialogues':>9} {'TC 1':>6} {'P 3-4':>6}"]
    names = [fault.name for fault in FAULTS] + [CONSTANT]
    lines += [
        f"{name:24} {tally.dialogues:9} {tally.completed_share:6.0%} {tally.personal_share:6.0%}"
        for name in names
        if (tally := tallies.get(name))
    ]
    task = [tallies[f.name] for f in FAULTS[1:] if f.task and f.name in tallies]
    if total := sum(t.dialogues for t in task):
        share = sum(t.completed for t in task) / total
        lines.append(f"{'all faults of the task':24} {total:9} {share:6.0%}")
    return lines
