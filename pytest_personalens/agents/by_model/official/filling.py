"""Fills the official templates with a scenario and its dialogue, byte for byte as the official code does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.official.checkout import JUDGED, VARIANTS, OfficialTemplates
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.datasets.official.official import SITUATION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pytest_personalens.core.scenario import Context, Scenario, Situation

_INSTRUCTION: Final = re.compile(r"<instruction>.*?</instruction>", re.DOTALL)
_NO_INSTRUCTION: Final = re.compile(r"<instruction>\s*</instruction>")
_LEFT_OUT: Final = {"D": "demographic_profile", "I": "interaction_summary", "S": "situation_context"}


class OfficialPrompts:
    """The templates of a checkout, and the bugs of its code that are `mended`."""

    def __init__(self, templates: OfficialTemplates, mended: Collection[str] = ()) -> None:
        self.templates, self.mended = templates, frozenset(mended)
        #: The name of these prompts, as part of an agent's identity.
        named = f" mended {','.join(sorted(mended))}" if mended else ""
        self.version = f"official {templates.digest}{named}"

    def user(self, scenario: Scenario, transcript: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Return system text and prompt of the user's next turn; `transcript` holds (role, text)."""
        templates = self.templates.single if scenario.kind == "single" else self.templates.multi
        values = self._person(scenario, scenario.demographics)
        if not transcript:
            return templates.system, templates.opening.format(**values)
        return templates.system, templates.next.format(**values, message_history=self._judged(transcript))

    def judge(self, scenario: Scenario, transcript: Sequence[tuple[str, str]], dimension: Dimension) -> str:
        """Return the prompt of a reading."""
        demographics = scenario.demographics
        of_person = dimension in (Dimension.PERSONALIZATION, Dimension.PERSONALIZATION_TURNS)
        if of_person and "user-id" not in self.mended:
            demographics = {"user_id": scenario.user, **demographics}
        return self.templates.judge[JUDGED[dimension][0]].format(
            **self._person(scenario, demographics),
            goal=scenario.task.goal,
            user_intent=scenario.task.intent,
            conversation=self._judged(transcript),
        )

    def assistant(
        self, family: str, setting: str, context: Context, transcript: Sequence[tuple[str, str]]
    ) -> tuple[str, str]:
        """Return system text and prompt of the assistant's next reply; `SpecError` where there is none."""
        system, template = self._assistant(family, setting, context)
        history = "\n".join(f"{role.capitalize()}: {self._content(text)}" for role, text in transcript)
        return system, template.format(
            demographic_profile=_lines(context.demographics.items()),
            interaction_summary=_summaries(context.interactions),
            situation_context=_situation(context.situation) if context.situation is not None else "",
            message_history=history,
        )

    def _assistant(self, family: str, setting: str, context: Context) -> tuple[str, str]:
        texts = self.templates.assistant
        if setting == "vanilla":
            if f"{family}_TASK_PROMPT_VANILLA" not in texts:
                raise SpecError(
                    "personalens_assistant_prompt = vanilla: the official code has no such prompt for"
                    f" {family.capitalize()}",
                    code="PL108",
                )
            return texts[f"{family}_SYSTEM_PROMPT_VANILLA"], texts[f"{family}_TASK_PROMPT_VANILLA"]
        held = {"D": context.demographics, "I": context.interactions, "S": context.situation}
        letters = "".join(letter for letter, part in held.items() if part)
        if letters in VARIANTS:
            template = texts[f"{family}_TASK_PROMPT{VARIANTS[letters]}"]
        elif "pairs" in self.mended:
            (left_out,) = set(_LEFT_OUT) - set(letters)
            template = _without(texts[f"{family}_TASK_PROMPT_DPS"], _LEFT_OUT[left_out])
        else:
            raise SpecError(
                f"personalens_context = {letters}: the official code crashes on two parts of the context (it has"
                " prompts for none, D, I, S and DIS); write personalens_official_bugs = pairs to have them mended",
                code="PL108",
            )
        if "base-instruction" in self.mended and _NO_INSTRUCTION.search(template):
            instruction = _INSTRUCTION.search(texts[f"{family}_TASK_PROMPT_D"])
            template = _NO_INSTRUCTION.sub(lambda _: instruction[0] if instruction else "", template)
        return texts[f"{family}_SYSTEM_PROMPT"], template

    def _person(self, scenario: Scenario, demographics: Mapping[str, str]) -> dict[str, str]:
        held = {d: scenario.preferences[d].items() for d in scenario.domains}
        preferences = {d: _lines((name, ", ".join(vs)) for name, vs in types) for d, types in held.items()}
        several = "".join(f"\n{d}:\n{p}\n" for d, p in preferences.items())
        return {
            "demographic_profile": _lines(demographics.items()),
            "user_affinity": preferences[scenario.domains[0]] if scenario.kind == "single" else several,
            "interaction_summary": _summaries({d: scenario.summaries[d] for d in scenario.domains}),
            "situation_context": _situation(scenario.situation),
            "task_description": scenario.task.intent,
        }

    def _judged(self, transcript: Sequence[tuple[str, str]]) -> str:
        """Return the dialogue in the form for the user agent and the judge."""
        return "\n".join(f"[{role.upper()}]: {self._content(text)}" for role, text in transcript)

    def _content(self, text: str) -> str:
        return text.replace("\n", "\n  ") if "forged-lines" in self.mended else text


def family_of(model: str) -> str:
    """Return the family whose prompts the official code uses for a model, by a part of its name; or Claude's."""
    name = model.lower()
    return "LLAMA" if "llama" in name else "MISTRAL" if "mistral" in name or "mixtral" in name else "CLAUDE"


def _lines(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in pairs)


def _situation(situation: Situation) -> str:
    return _lines((label, getattr(situation, field)) for field, label in SITUATION.items())


def _summaries(by_domain: Mapping[str, str]) -> str:
    """Return the summary of one domain, or those of several domains between tags."""
    if len(by_domain) == 1:
        return next(iter(by_domain.values()))
    return "".join(f"\n<{domain}>\n{text}\n</{domain}>\n" for domain, text in by_domain.items())


def _without(template: str, field: str) -> str:
    """Return the template without the line of a field, its heading and the empty line after it."""
    lines = template.split("\n")
    place = lines.index(f"{{{field}}}") if f"{{{field}}}" in lines else -1
    if place < 0:
        problem = f"{{{field}}} does not stand in a line of its own, so pairs cannot be mended"
        raise SpecError(f"personalens_official_bugs: {problem}", code="PL204")
    first = place - 1 if place and lines[place - 1].endswith(":") else place
    last = place + 1 if place + 1 < len(lines) and not lines[place + 1].strip() else place
    return "\n".join(lines[:first] + lines[last + 1 :])
