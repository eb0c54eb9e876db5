"""The prompt templates of the model-backed agents, and the parts they are filled with."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.dialogue import Message
    from pytest_personalens.scenario import Scenario

_FOLDER: Final = Path(__file__).parent / "templates"


@cache
def template(name: str) -> Template:
    """The template ``templates/<name>.txt``, with ``$placeholders``."""
    return Template((_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


def digest(*names: str) -> str:
    """Short digest of templates: part of an agent's identity, so that a changed prompt makes records stale."""
    return hashlib.sha256("\0".join(template(n).template for n in names).encode()).hexdigest()[:8]


def transcript_text(messages: Sequence[Message]) -> str:
    """The transcript as JSON lines: whatever a turn says, it cannot end its line or begin another turn."""
    return "\n".join(
        json.dumps({"turn": turn, "role": m.role, "content": m.content}, ensure_ascii=False).replace("<", "\\u003c")
        for turn, m in enumerate(messages)
    )


def profile_text(scenario: Scenario) -> str:
    """Demographics, preferences and past-interaction summaries of the task's domains (never the user's id)."""
    parts = ["Demographics:", *(f"- {k.replace('_', ' ')}: {v}" for k, v in scenario.demographics.items())]
    for domain in scenario.domains:
        parts += ["", f"Preferences in {domain}:"]
        parts += [f"- {name}: {', '.join(values) or 'none stated'}" for name, values in scenario.preferences[domain].items()]
        parts += ["", f"Past conversations about {domain}:", scenario.summaries.get(domain, "").strip()]
    return "\n".join(parts)


def situation_text(scenario: Scenario) -> str:
    """The situation, a line for each of its five parts."""
    return "\n".join(f"- {k.replace('_', ' ')}: {v}" for k, v in scenario.situation.model_dump().items())
