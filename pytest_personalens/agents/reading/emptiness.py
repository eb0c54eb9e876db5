"""Finds replies that say nothing of their own about the user's task.

Such replies are one sentence for everything, echoes, or about another matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.lexicon import domain_words
from pytest_personalens.agents.language.statements import of_message, plain
from pytest_personalens.agents.language.text import content, runs, stem
from pytest_personalens.agents.reading.goal import classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: From this share of words that the user also said, the replies are an echo.
_ECHO: Final = 0.8
#: A reply that is given again and again is empty if it has fewer words of the task than this.
_FEW: Final = 2
#: Words that fit any task. Words for deeds ("booked") are in `goal`.
_OF_ANY_TASK: Final = content(
    "reference number code confirmation minute hour evening morning thing request task message details option help anything everything"
)
#: With this many words of the goal in a row, a reply recites it. The assistant never sees the goal. A goal with
#: values has runs of words that anybody would say: "a table for three on Friday 10 April".
_RECITAL: Final = 8
_WITH_VALUES: Final = 12


def of(scenario: Scenario, messages: Sequence[Message]) -> str:
    """Return in words why the replies are empty, or an empty text."""
    replies = [m.content for m in messages if m.role == "assistant"]
    texts = [plain(" ".join(text for text, _ in of_message(r))) for r in replies]
    words = frozenset[str]().union(*(content(t) for t in texts))
    user = content(" ".join(m.content for m in messages if m.role == "user"))
    row = _WITH_VALUES if scenario.task.facts else _RECITAL
    if any(runs(t, row) & runs(plain(scenario.task.goal), row) for t in texts):
        return "it recites the goal"
    if words and len(words & user) >= _ECHO * len(words):
        return "it echoes the user"
    task_words = frozenset(
        w for w in words - _OF_ANY_TASK if w.isalpha() and not classes(frozenset({w})) - {w}
    ) & (user | _topic(scenario))
    if not task_words:
        return "no word of the task"
    return (
        "every reply is the same"
        if len(texts) > 1 and len(set(texts)) == 1 and len(task_words) < _FEW
        else ""
    )


def _topic(scenario: Scenario) -> frozenset[str]:
    task = scenario.task
    preferred = (v for types in scenario.preferences.values() for values in types.values() for v in values)
    words = content(
        " ".join(
            (task.description, task.intent, task.goal, *preferred, *(w for p in task.parts for w in p.words))
        )
    )
    return words | {stem(w) for d in scenario.domains for w in (d.lower(), *domain_words(d, scenario))}
