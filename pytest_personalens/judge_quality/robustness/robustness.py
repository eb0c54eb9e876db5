"""Tests whether the verdicts of a judge follow the meaning of a dialogue.

A verdict should stay if only the words change, and fall if the meaning changes. It should stay low for
replies that say nothing.

``personalens robustness LABELS.jsonl...`` prints four tables for the embedded judge.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.dialogue.dialogue import AssistantMessages, Dialogue
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.judge_quality.agreement.labels import Labelled
from pytest_personalens.judge_quality.robustness.meaning_changes import meaning_changes
from pytest_personalens.judge_quality.robustness.wording_changes import altered_dialogues, wording_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.scenario import Scenario

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
Scores = dict[Dimension, int]


class Stability(NamedTuple):
    """Of the dialogues that a change alters, the shares whose TC and whose P stay the same."""

    dialogues: int
    tc: float
    p: float


def scores(judge: Judge, scenario: Scenario, dialogue: Dialogue) -> Scores | None:
    """Return TC and P of a dialogue, or None if the judge cannot read it."""
    try:
        return {d: int(judge.verdict(scenario, dialogue, d).score) for d in (TC, P)}
    except JudgeFault:
        return None


def stability(judge: Judge, labelled: Sequence[Labelled]) -> dict[tuple[str, bool], Stability]:
    """Return how often the verdicts stay, by the change and whether it is kept out of training."""
    same: dict[tuple[str, bool], list[tuple[bool, bool]]] = defaultdict(list)
    every = wording_changes()
    for entry in labelled:
        before = scores(judge, entry.scenario, entry.dialogue)
        if before is None:
            continue
        for change, dialogue in altered_dialogues(entry.dialogue, every):
            after = scores(judge, entry.scenario, dialogue)
            same[change.name, change.held].append(
                (False, False) if after is None else (after[TC] == before[TC], after[P] == before[P])
            )
    return {
        key: Stability(len(kept), sum(t for t, _ in kept) / len(kept), sum(p for _, p in kept) / len(kept))
        for key, kept in same.items()
    }


_ALARM: Final = (
    "I've set your alarm for 6:30 AM on weekdays with the sound of rain;"
    " it rings for the first time tomorrow."
)
_TICKETS: Final = (
    "Two tickets for Friday at 8 PM are booked, row F, seats 4 and 5, 24 euros in all;"
    " the code is on your phone."
)
#: Bots that give everybody the same reply, one reply and another by turns, or the text that they received.
CONSTANT: Final[Mapping[str, tuple[str, ...]]] = {
    "All done.": ("All done.",),
    "booked for 19:30": ("I've booked it for 19:30, reference QX77.",),
    "the same, counted": ("I've booked it for 19:30, reference QX77. ({count} messages so far)",),
    "two wordings by turns": (
        "It's all booked for 19:30, code QX71.",
        "That's confirmed for half past seven, number QX73.",
    ),
    "here are some options": ("Here are some great options for you! Let me know which one you like best.",),
    "everything taken care of": (
        "I've taken care of everything for you, based on your preferences. You're all set! 🎉",
    ),
    "refusal": ("I'm sorry, but I'm not able to help with that.",),
    "a question for ever": ("Could you tell me a bit more about what you are looking for?",),
    "echo": ("{last}",),
    "echo as a deed": ("Done: {last}",),
    "the goal's words": ("{goal}",),
    "another domain's reply": ("{strange}",),
}


def constant_bots(judge: Judge, scenarios: Iterable[Scenario]) -> dict[str, tuple[int, int, int]]:
    """Return the scenarios of each constant bot: all, those seen as completed, and those with P above 2."""
    from pytest_personalens.agents import EmbeddedUserAgent
    from pytest_personalens.core.dialogue.dialogue import converse

    counts, chosen = {}, list(scenarios)
    for name, replies in CONSTANT.items():
        completed = above = 0
        for scenario in chosen:
            dialogue = converse(scenario, _constant_bot(replies, scenario), EmbeddedUserAgent()).dialogue
            result = scores(judge, scenario, dialogue)
            completed += bool(result and result[TC])
            above += bool(result and result[P] > 2)
        counts[name] = (len(chosen), completed, above)
    return counts


def _constant_bot(replies: Sequence[str], scenario: Scenario) -> Callable[[AssistantMessages], str]:
    known = {"goal": scenario.task.goal, "strange": _TICKETS if "Alarm" in scenario.domains else _ALARM}

    def reply(messages: AssistantMessages) -> str:
        text = replies[len(messages) // 2 % len(replies)]
        return text.format(count=len(messages), last=messages[-1]["content"], **known)

    return reply


class Sensitivity(NamedTuple):
    """Of pairs that differ in meaning, the shares whose affected score fell, and whose other moved."""

    pairs: int
    right: float
    wrong: float


def _fallen(falls: Sequence[tuple[bool, bool]]) -> Sensitivity:
    """Return the shares over pairs: whether the right score fell, and whether the other one moved."""
    count = len(falls)
    return Sensitivity(
        count, sum(right for right, _ in falls) / count, sum(wrong for _, wrong in falls) / count
    )


def sensitivity(judge: Judge, labelled: Sequence[Labelled]) -> dict[Dimension, Sensitivity]:
    """Return TC and P over pairs ``X-a`` and ``X-c`` of which one is lower in the labels of the second."""
    by_id = {entry.id: entry for entry in labelled}
    falls: dict[Dimension, list[tuple[bool, bool]]] = defaultdict(list)
    for entry in labelled:
        counterpart = by_id.get(f"{entry.id[:-2]}-c") if entry.id.endswith("-a") else None
        if counterpart is None:
            continue
        gold = [(entry.majority(d) or 0, counterpart.majority(d) or 0) for d in (TC, P)]
        for (dimension, rest), (changed, still) in (((TC, P), gold), ((P, TC), gold[::-1])):
            if changed[1] < changed[0] and still[0] == still[1]:
                pair = (entry, counterpart)
                before, after = (scores(judge, each.scenario, each.dialogue) for each in pair)
                # If the judge does not see that the first dialogue is good, its score cannot fall.
                if before and after and before[dimension] >= changed[0]:
                    fell = after[dimension] < before[dimension]
                    falls[dimension].append((fell, after[rest] != before[rest]))
    return {dimension: _fallen(of_dimension) for dimension, of_dimension in falls.items()}


def sensitivity_to_faults(judge: Judge, labelled: Sequence[Labelled]) -> dict[str, Sensitivity]:
    """Return how often TC falls and P moves where the task is left undone, for completed dialogues."""
    falls: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for entry in labelled:
        before = scores(judge, entry.scenario, entry.dialogue) if entry.majority(TC) else None
        if before is None or not before[TC]:
            continue
        for name, dialogue in meaning_changes(entry.scenario, entry.dialogue):
            after = scores(judge, entry.scenario, dialogue)
            falls[name].append((after is not None and not after[TC], after is None or after[P] != before[P]))
    return {name: _fallen(of_name) for name, of_name in falls.items()}
