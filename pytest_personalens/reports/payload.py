"""The dialogues of a run as compact JSON inside a page.

The script of the page draws them on demand.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.scenario import Scenario
from pytest_personalens.results.wording import control_names, unfound_text

if TYPE_CHECKING:
    from pytest_personalens.core.measure import Measure
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.reports.changes import Changes
    from pytest_personalens.results.values import Item, Results

#: Fields in which 0 has a meaning: a score, or the first of the texts or keys.
_NUMBERS: Final = frozenset({"score", "why", "description", "intent", "goal", "key"})
#: Characters that could end the script element, or begin a comment or an entity in it. Two line ends that
#: break old scripts are added.
_ESCAPED: Final = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class _Pool:
    """Gives each text a number, because judges and users repeat themselves."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def script_json(value: object) -> str:
    """Return `value` as JSON that is safe inside ``<script type="application/json">``."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _ESCAPED.items():
        text = text.replace(character, escape)
    return text


def payload(results: Results, changes: Changes | None) -> dict[str, Any]:
    """Return the data for the script of the page.

    `items` and `scenarios` refer to `texts` by number. Empty and usual values are left out.
    """
    text = _Pool()
    dimensions = shown_dimensions(results)
    flips: dict[str, list[list[object]]] = {}
    for flip in changes.comparison.flips if changes else ():
        for nodeid in flip.nodeids:
            flips.setdefault(nodeid, []).append([flip.dimension.value, flip.before, flip.after])
    keys: dict[tuple[str, ...], int] = {}
    items = [
        _without_empty(
            {
                **_item(item, text),
                "key": keys.setdefault(item.key, len(keys)),
                "flips": flips.get(item.nodeid),
            }
        )
        for item in results.items
    ]
    return {
        "dimensions": [[d.value, d.names.score, d.names.title, *_steps(d)] for d in dimensions],
        "controls": control_names(results.of_suite),
        "items": items,
        "scenarios": {name: _scenario(s, text) for name, s in results.scenarios.items()},
        "texts": list(text.numbers),
    }


def shown_dimensions(results: Results) -> list[Measure]:
    """Return the dimensions on which any item has a verdict."""
    judged = {v.dimension for i in results.items for v in i.evaluation.verdicts}
    return [d for d in results.of_suite.measures if d in judged]


def _steps(measure: Measure) -> tuple[float | None, float | None]:
    """Return the lowest and the highest score if scores are whole.

    Other scores are shown as numbers, and get (None, None).
    """
    return (measure.low, measure.high) if measure.in_steps else (None, None)


def _item(item: Item, text: _Pool) -> dict[str, Any]:
    e = item.evaluation
    return {
        "id": item.nodeid,
        "scenario": e.scenario,
        "user": e.user,
        "task": e.task,
        "kind": e.kind,
        "domains": e.domains,
        "status": item.status,
        "failed": item.failed,
        "shortfalls": [[s.dimension.value, str(s)] for s in item.shortfalls],
        "record": item.record if item.record != "none" else "",
        "file": item.record_file,
        "trial": item.trial if item.trial != 1 else 0,
        "arm": item.arm,
        "given": item.given,
        "givenUser": item.given_user,
        "cause": e.cause,
        "detail": e.detail,
        "end": e.dialogue.end,
        "by": [text(who) for who in (e.user_agent, e.assistant, e.judge)],
        "messages": [[int(m.role == "assistant"), text(m.content)] for m in e.dialogue.messages],
        "verdicts": [
            _without_empty(
                {
                    "dim": v.dimension.value,
                    "score": v.score,
                    "why": text(v.justification),
                    "evidence": [[q.turn, text(q.quote), text(q.note)] for q in v.evidence],
                    "unfound": unfound_text(v),
                    "turns": v.turns,
                    "votes": [[vote.score, text(vote.justification)] for vote in v.votes],
                    "observed": [text(one) for one in v.observations],
                    "better": [text(one) for one in v.improvements],
                }
            )
            for v in e.verdicts
        ],
    }


def _scenario(scenario: BaseScenario, text: _Pool) -> dict[str, Any]:
    if not isinstance(scenario, Scenario):
        return _without_empty({"name": scenario.name, "intent": text(scenario.wish)})
    task = scenario.task
    return _without_empty(
        {
            "name": scenario.name,
            "demographics": scenario.demographics,
            "preferences": {
                d: {k: list(map(text, v)) for k, v in types.items()}
                for d, types in scenario.preferences.items()
            },
            "summaries": {d: text(summary) for d, summary in scenario.summaries.items()},
            "situation": scenario.situation.model_dump(),
            "description": text(task.description),
            "intent": text(task.intent),
            "goal": text(task.goal),
            "relevant": task.relevant,
        }
    )


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in fields.items() if v or k in _NUMBERS}
