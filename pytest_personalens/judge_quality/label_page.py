"""Draws dialogues of runs for people to label, to show how far the judge agrees with them (Table 5).

They come as lines of a file of labels, or as a page: one file, which loads nothing. Neither shows what the
judge said.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from importlib.metadata import version
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.by_model.prompts import profile_text, situation_text, with_values
from pytest_personalens.core.dialogue.message import Message, call_texts
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.measure import Dimension
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.datasets.dataset import digest
from pytest_personalens.judge_quality.labels import read_unlabelled
from pytest_personalens.reports.html.page import LEGENDS, environment, policy, read_template
from pytest_personalens.reports.html.payload import script_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: The scores that divide a run into strata, together with the kind of task.
_SCORES: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
#: Of a scale without words of its own, what its ends mean.
_ENDS: Final = {1: "not at all", 5: "as between two people"}


class Unlabelled(NamedTuple):
    """A dialogue for people to label: its line in a file of labels, without any, and its scenario."""

    line: dict[str, Any]
    scenario: Scenario


def draw_dialogues(
    runs: Sequence[Results], count: int, *, seed: str, at_most: bool = False
) -> list[Unlabelled]:
    """Return `count` dialogues, drawn from each stratum in proportion to its size; fewer if `at_most`.

    The order shows nothing of the strata. The same runs and seed give the same draw. The shares are those of
    the runs, so agreement on the drawn dialogues is an estimate of the agreement on all of them.

    Raise `SpecError` if the runs have no dialogue to draw, or fewer than `count`, or are of another suite.
    """
    if other := next((run.suite for run in runs if run.suite != FIRST_SUITE), ""):
        raise SpecError(f"results of the suite {other}: people label those of {FIRST_SUITE}", code="PL207")
    strata: defaultdict[tuple[object, ...], list[tuple[str, Item, Scenario]]] = defaultdict(list)
    for number, results in enumerate(runs):
        for item in results.own:
            e = item.evaluation
            if e.scored and e.scenario in results.scenarios:
                place = digest(seed, str(number), item.nodeid).hex()
                own = strata[number, e.kind, *(e.score(d) for d in _SCORES)]
                own.append((place, item, results.scenarios[e.scenario]))
    total = sum(map(len, strata.values()))
    if not total:
        raise SpecError(
            "there is no scored dialogue whose scenario these files hold; write them with"
            " --personalens-report results.json",
            code="PL106",
        )
    count = min(count, total) if at_most else count
    if total < count:
        raise SpecError(
            f"--count {count}: there are only {total} scored dialogues; give at most that", code="PL108"
        )
    # The method of largest remainders.
    sizes = {stratum: len(dialogues) for stratum, dialogues in strata.items()}
    places = {stratum: count * size // total for stratum, size in sizes.items()}
    order = sorted(sizes, key=lambda s: (-(count * sizes[s] % total), -sizes[s], str(s)))
    for stratum in order[: count - sum(places.values())]:
        places[stratum] += 1
    first = itemgetter(0)
    drawn = [one for s, dialogues in strata.items() for one in sorted(dialogues, key=first)[: places[s]]]
    seen, unlabelled = Counter[str](), []
    for _, item, scenario in sorted(drawn, key=lambda one: digest(seed, one[0])):
        seen[scenario.id] += 1
        name = scenario.id + (f"-{seen[scenario.id]}" if seen[scenario.id] > 1 else "")
        unlabelled.append(Unlabelled(_line(item, scenario, name), scenario))
    return unlabelled


def unlabelled_in(path: Path, count: int | None, *, seed: str) -> list[Unlabelled]:
    """Return the dialogues of a file of labels without what it says of them, `count` drawn if it is given.

    Raise `DataError` for a bad file, and `SpecError` if it has fewer.
    """
    every = [Unlabelled(*pair) for pair in read_unlabelled(path)]
    if count is None:
        return every
    if len(every) < count:
        raise SpecError(f"--count {count}: {path} has only {len(every)} dialogues", code="PL108")
    return sorted(every, key=lambda one: digest(seed, one.line["id"]))[:count]


def label_lines(
    unlabelled: Sequence[Unlabelled], annotators: Sequence[str], readings: Sequence[Dimension]
) -> str:
    """Return one JSON object on each line, as `read_labels` expects them, null for each reading to give."""
    to_label: dict[str, Any] = {d.value: None for d in readings}
    labels = {annotator: {**to_label, "why": ""} for annotator in annotators}
    return "".join(
        json.dumps({**one.line, "labels": labels}, ensure_ascii=False) + "\n" for one in unlabelled
    )


def _line(item: Item, scenario: Scenario, name: str) -> dict[str, Any]:
    task, dialogue = scenario.task, item.evaluation.dialogue
    short = {
        "kind": scenario.kind,
        "demographics": scenario.demographics,
        "preferences": {
            d: {t: list(values) for t, values in types.items()} for d, types in scenario.preferences.items()
        },
        "interactions": scenario.summaries,
        "situation": scenario.situation.model_dump(),
        "task": {
            "description": task.description,
            "intent": task.intent,
            "goal": task.goal,
            "domains": list(scenario.domains),
            "relevant_preferences": [f"{domain}: {name}" for domain, name in task.relevant],
        },
    }
    return {
        "id": name,
        **({"whole": scenario.without_history()} if task.facts else {"scenario": short}),
        "dialogue": [message.model_dump() for message in dialogue.messages],
        "end": dialogue.end,
    }


def label_page(dialogues: Sequence[Unlabelled], readings: Sequence[Dimension]) -> str:
    """Return the page, which is equal for equal arguments.

    It shows of each dialogue what a judge is shown, and saves lines that `read_labels` reads.
    """
    lines = json.dumps([one.line for one in dialogues], sort_keys=True)
    data = {
        "digest": hashlib.sha256(lines.encode("utf-8", "replace")).hexdigest()[:16],
        "dialogues": [_shown(one) for one in dialogues],
        "readings": [_reading(d) for d in readings],
    }
    style = "\n".join(map(read_template, ("base.css", "dialogue.css", "label.css")))
    script = read_template("label.js")
    return (
        environment()
        .get_template("label.html.jinja")
        .render(
            style=style,
            script=script,
            policy=policy(style, script),
            data=script_json(data),
            count=len(dialogues),
            version=version("pytest-personalens"),
        )
    )


def _shown(one: Unlabelled) -> dict[str, Any]:
    scenario = one.scenario
    messages = [Message.model_validate(message) for message in one.line["dialogue"]]
    return {
        "line": one.line,
        "messages": [
            {"role": m.role, "content": m.content, "session": m.session, "calls": call_texts(m)}
            for m in messages
        ],
        "about": [
            ["What they want", scenario.task.intent],
            ["Done when", with_values(scenario)],
            ["Where they are", situation_text(scenario.situation)],
            ["Who they are", profile_text(scenario)],
        ],
    }


def _reading(dimension: Dimension) -> dict[str, Any]:
    low, high = dimension.scale
    words = dict(LEGENDS.get(dimension, ()))
    named = [("yes", True), ("no", False)] if high == 1 else [(str(n), n) for n in range(low, high + 1)]
    choices = [
        {
            "key": name[0],
            "name": name,
            "value": value,
            "means": words.get(name, "" if high == 1 else _ENDS.get(value, "")),
        }
        for name, value in named
    ]
    return {"id": dimension.value, "title": dimension.names.title, "choices": choices}
