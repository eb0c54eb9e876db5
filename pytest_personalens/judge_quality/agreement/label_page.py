"""A page on which a person labels dialogues, without what the judge said: one file, which loads nothing."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.by_model.prompts import profile_text, situation_text, with_values
from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.dialogue.tool_calls import call_texts
from pytest_personalens.reports.html.page import LEGENDS, environment, policy, read_template
from pytest_personalens.reports.html.payload import script_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.judging.dimensions import Dimension
    from pytest_personalens.judge_quality.agreement.annotation import Unlabelled

#: Of a scale without words of its own, what its ends mean.
_ENDS: Final = {1: "not at all", 5: "as between two people"}


def label_page(dialogues: Sequence[Unlabelled], readings: Sequence[Dimension]) -> str:
    """Return the page, which is equal for equal arguments.

    It shows of each dialogue what a judge is shown, and saves lines that `read_labels` reads.
    """
    shown = [_shown(one) for one in dialogues]
    lines = json.dumps([one.line for one in dialogues], sort_keys=True)
    data = {
        "digest": hashlib.sha256(lines.encode("utf-8", "replace")).hexdigest()[:16],
        "dialogues": shown,
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


def _reading(dimension: Dimension) -> Mapping[str, Any]:
    low, high = dimension.scale
    words = dict(LEGENDS.get(dimension, ()))
    if high == 1:
        choices = [
            {"key": name[0], "name": name, "value": value, "means": words.get(name, "")}
            for name, value in (("yes", True), ("no", False))
        ]
    else:
        choices = [
            {"key": str(n), "name": str(n), "value": n, "means": words.get(str(n), _ENDS.get(n, ""))}
            for n in range(low, high + 1)
        ]
    return {"id": dimension.value, "title": dimension.names.title, "choices": choices}
