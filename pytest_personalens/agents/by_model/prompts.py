"""The prompt templates of the model-backed agents, ours or a team's own, and the parts they are filled with."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.devices import no_device
from pytest_personalens.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

_FOLDER: Final = Path(__file__).parent / "templates"
#: Every template, and the placeholders that it must hold: without them the model would not see what the protocol gives it.
TEMPLATES: Final = {
    "user": {"end"}, "user_person": {"profile", "situation", "intent"}, "user_opening": set(), "user_next": {"end"},
    "judge": {"rubrics"}, "judge_task_completion": set(), "judge_personalization": set(), "judge_personalization_turns": set(),
    "judge_naturalness_user": set(), "judge_naturalness_assistant": set(), "judge_coherence_user": set(),
    "judge_coherence_assistant": set(), "judge_opening_leak": set(), "assistant": set(), "assistant_context": {"context"},
}  # fmt: skip


class Prompts:
    """The templates: those of a folder of the team's (``--personalens-prompts``), ours for the rest.

    Raises `DataError` for a file that is no template, or has other placeholders than it must.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._texts = {name: (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip() for name in TEMPLATES}
        if folder is None:
            return
        try:
            exists = folder.is_dir()
        except OSError as error:  # a name that is too long
            raise DataError(str(folder)[:200], f"cannot be read: {error.strerror}") from None
        if not exists:
            raise DataError(folder, "no such folder of prompt templates")
        for file in sorted(folder.glob("*.txt")):
            if file.stem not in TEMPLATES:
                raise DataError(file, f"no such template; known: {', '.join(TEMPLATES)}")
            self._texts[file.stem] = _read(file)

    def fill(self, name: str, **values: str) -> str:
        """The template `name`, its placeholders filled in."""
        return Template(self._texts[name]).substitute(values)

    def digest(self, *names: str) -> str:
        """Short digest of templates: part of an agent's identity, so that a changed prompt makes records stale."""
        return hashlib.sha256("\0".join(self._texts[n] for n in names).encode()).hexdigest()[:8]


def _read(file: Path) -> str:
    try:
        text = no_device(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(file, f"cannot be read: {error}") from None
    template, expected = Template(text), TEMPLATES[file.stem]
    if not template.is_valid():
        raise DataError(file, "a '$' that begins no placeholder; write '$$' for a dollar sign")
    placeholders = set(template.get_identifiers())
    if placeholders != expected:
        wanted = ", ".join(f"${n}" for n in sorted(expected)) or "none"
        raise DataError(file, f"expected the placeholders {wanted}; found {', '.join(f'${n}' for n in sorted(placeholders)) or 'none'}")
    return text


#: What could close the section, and what a reader of the prompt would not see: controls, formats, separators, fillers, selectors.
_UNSAFE: Final = re.compile(
    "[<\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


def transcript_text(messages: Sequence[Message]) -> str:
    """The transcript in its section, as JSON lines: whatever a turn says, it cannot end its line, begin another turn, close the section
    or hide: what takes no room on a screen stands there as an escape.
    """
    lines = (json.dumps({"turn": i, "role": m.role, "content": m.content}, ensure_ascii=False) for i, m in enumerate(messages))
    return "<transcript>\n" + "".join(_UNSAFE.sub(_escaped, line) + "\n" for line in lines) + "</transcript>"


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "<" else "\\u003c"


def profile_text(scenario: Scenario) -> str:
    """Demographics, preferences and past-interaction summaries of the task's domains (never the user's id)."""
    parts = ["Demographics:", *(f"- {k.replace('_', ' ')}: {v}" for k, v in scenario.demographics.items())]
    for domain in scenario.domains:
        parts += ["", preferences_text(scenario, domain)]
        parts += ["", f"Past conversations about {domain}:", scenario.summaries.get(domain, "").strip()]
    return "\n".join(parts)


def preferences_text(scenario: Scenario, domain: str) -> str:
    """The preferences of one domain, a line each."""
    values = (f"- {name}: {', '.join(held) or 'none stated'}" for name, held in scenario.preferences[domain].items())
    return "\n".join([f"Preferences in {domain}:", *values])


def situation_text(scenario: Scenario) -> str:
    """The situation, a line for each of its five parts."""
    return "\n".join(f"- {k.replace('_', ' ')}: {v}" for k, v in scenario.situation.model_dump().items())
