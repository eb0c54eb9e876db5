"""Items of a run with the scores that a test gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.judging.evaluation import Evaluation
from pytest_personalens.core.judging.measure import Score
from pytest_personalens.core.judging.verdict import Dimension, Verdict
from pytest_personalens.core.options.gate import read_gate
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.core.suite import get_suite
from pytest_personalens.results.summarize import summarize
from pytest_personalens.results.values.item import Item, shortfalls_of
from pytest_personalens.results.values.results import Results, write_json

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
#: A score for all scenarios, or for each by its number; None where the judge gives none.
Given = Score | None | Callable[[int], Score | None]
#: Fields of an evaluation, for all scenarios or for each by its number.
Told = dict[str, Any] | Callable[[int], dict[str, Any]]


def items(
    count: int,
    tc: Given = 1,
    p: Given = 4,
    *,
    users: int = 0,
    start: int = 0,
    told: Told | None = None,
    **of: Any,
) -> list[Item]:
    """Items of `count` scenarios, of as many users unless `users` is given; `of` are further fields."""
    made = []
    more: dict[Any, Given] = of.pop("scores", {})
    where = of.setdefault("test", "t.py::t")
    for n in range(start, start + count):
        given = {m: s(n) if callable(s) else s for m, s in {TC: tc, P: p, **more}.items()}
        fields: dict[str, Any] = {"kind": "multi" if n % 5 == 4 else "single"} | (
            told(n) if callable(told) else told or {}
        )
        cause = fields.get("cause", "")
        plain: dict[str, Any] = {
            "scenario": f"s{n}",
            "user": f"u{n % users if users else n}",
            "task": f"t{n}",
            "domains": ("Movies",),
            "dialogue": Dialogue(),
            "verdicts": tuple(
                Verdict(dimension=m, score=s, justification="so")
                for m, s in given.items()
                if s is not None and not cause
            ),
            "unread": {} if cause else {m: "no score" for m, s in given.items() if s is None},
        }
        evaluation = Evaluation(dataset="d 1", user_agent="user", judge="judge", **plain | fields)
        low = shortfalls_of(evaluation, {TC: 1, P: 2})
        unread = bool(cause or evaluation.unread) and not low
        made.append(
            Item(
                nodeid=f"{where}[s{n}{of.get('control', '')}+t{of.get('trial', 1)}]",
                evaluation=evaluation,
                status="uncounted" if unread else "low" if low else "passed",
                shortfalls=low,
                **of,
            )
        )
    return made


def trials(count: int, *each: Given, **of: Any) -> list[Item]:
    """The same scenarios in as many trials as there are values for task completion."""
    return [one for n, tc in enumerate(each, 1) for one in items(count, tc, trial=n, **of)]


def below(number: int, bad: Score | None, good: Score | None) -> Callable[[int], Score | None]:
    """`bad` for the first scenarios, else `good`."""
    return lambda n: bad if n < number else good


def run(items: Sequence[Item], settings: Settings | None = None, **facts: Any) -> Results:
    """A whole run of these items, before its gates."""
    told, size = (settings or Settings.default())._asdict(), len(items)
    return summarize(items, settings=told, **{"dataset": "d 1", "requested": size, "drawn": size, **facts})


def write_shards(folder: Path) -> None:
    """Write the results of the two shards of a run with a gate, 1.json and 2.json."""
    gate = (read_gate("tcr >= 0.5", get_suite("personalens")),)
    for number in (1, 2):
        settings = Settings.default(sample=4, shard=(number, 2), gate=gate)
        part = run(items(2, start=2 * number), settings, requested=4, drawn=4)
        write_json(part, folder / f"{number}.json")
