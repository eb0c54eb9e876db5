"""Replies that say nothing of their own to the user's task: one sentence for everything, echoes, another
matter altogether.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.goal import classes
from pytest_personalens.agents.language.lexicon import domain_words
from pytest_personalens.agents.language.statements import of_message, plain
from pytest_personalens.agents.language.text import content, runs, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: This share of the words of all replies in the user's own mouth: an echo.
_ECHO: Final = 0.8
#: Fewer words of the task than this in a reply that is given again and again.
_FEW: Final = 2
#: Words that any assistant says of any task; those of deeds ("booked") stand in `goal_parts`.
_OF_ANY_TASK: Final = content(
    "reference number code confirmation minute hour evening morning thing request task message details option help anything everything"
)
#: So many words of the goal in a row are recited: an assistant is never shown it.
_RECITAL: Final = 8


def of(scenario: Scenario, messages: Sequence[Message]) -> str:
    """Why the replies are empty, in words; the empty string where they are not."""
    replies = [m.content for m in messages if m.role == "assistant"]
    texts = [plain(" ".join(text for text, _ in of_message(r))) for r in replies]
    words = frozenset[str]().union(*(content(t) for t in texts))
    user = content(" ".join(m.content for m in messages if m.role == "user"))
    if any(len(runs(t, _RECITAL) & runs(plain(scenario.task.goal), _RECITAL)) for t in texts):
        return "it recites the goal"
    if words and len(words & user) >= _ECHO * len(words):
        return "it echoes the user"
    told = frozenset(w for w in words - _OF_ANY_TASK if w.isalpha() and not classes(frozenset({w})) - {w}) & (
        user | _topic(scenario)
    )
    if not told:
        return "no word of the task"
    return "every reply is the same" if len(texts) > 1 and len(set(texts)) == 1 and len(told) < _FEW else ""


def _topic(scenario: Scenario) -> frozenset[str]:
    task = scenario.task
    known = (v for types in scenario.preferences.values() for values in types.values() for v in values)
    given = content(
        " ".join(
            (task.description, task.intent, task.goal, *known, *(w for p in task.parts for w in p.words))
        )
    )
    return given | {stem(w) for d in scenario.domains for w in (d.lower(), *domain_words(d, scenario))}
