"""What must hold of tasks, facts and preferences; each rule says which field breaks it, and how."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.datasets.world.fact_entries import FactEntry, ThingEntry
from pytest_personalens.datasets.world.resolve import contradictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.datasets.embedded.dataset_entries import PreferenceType, TaskEntry

#: The rules, and what each demands.
RULES: Final = {
    "unreadable": "the plugin can use every file and every answer of a dataset",
    "reference": "a relevant preference type exists in a domain of its task, and each domain has a summary",
    "leak": "no opening says a value of a preference that its task is about",
    "facts": "clock, facts and sessions of a scenario agree, and a reply can show each closed fact",
    "loose-fact": "a part, a text or another fact of the task names each closed fact",
    "synonyms": "a value of several plain words has synonyms, or an empty list that says there are none",
    "unusable": "a task names each preference type, and somebody has a value of it",
}
#: Words without which a value says nothing: no reply can be searched for them.
_EMPTY: Final = frozenset(
    ("a", "an", "any", "anything", "it", "of", "one", "or", "some", "something", "that", "the", "this")
)
#: Kinds whose values are numbers, so that they can be told in any written form.
_NUMBERS: Final = frozenset({"count", "date", "time", "duration", "money"})
_NAMED: Final = re.compile(r"[{@]([\w.]+)")


def scenario_findings(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    """Yield (rule, field, problem) for what the scenario of one person shows."""
    for domain in scenario.domains:
        if not scenario.summaries.get(domain, "").strip():
            yield "reference", f"summaries.{domain}", "the summary is missing"
    for problem in contradictions(scenario):
        yield "facts", "", problem
    for fact in scenario.task.facts:
        if fact.kind not in _NUMBERS:
            empty = [value for value in fact.right if not _shows(value)]
            yield from (
                ("facts", f"facts.{fact.name}", f"no reply can show {value!r}; write it in words")
                for value in empty
            )
    intent = scenario.task.intent
    said = " | ".join(value for fact in scenario.task.facts if fact.known == "said" for value in fact.right)
    for domain, name in scenario.task.relevant:
        for value in scenario.preferences.get(domain, {}).get(name, ()):
            if value in intent and value not in said and re.search(rf"\b{re.escape(value)}\b", intent):
                yield "leak", "intent", f"it says {value!r}, a value of the relevant {name!r}"


def task_findings(task: TaskEntry) -> Iterator[tuple[str, str]]:
    """Yield (field, problem) for each closed fact of a task that nothing in the task names.

    A field of an existing thing is named by what the history says of it. A fact that stands in a text of the
    task, or from which another fact follows, is what a user answers a question with.
    """
    parts = task.parts
    texts = [task.intent, task.goal, *(text for part in parts for text in (part.text, part.ask))]
    named = {name for part in parts for name in part.facts}
    for entry in task.facts.values():
        for fact in entry.has.values() if isinstance(entry, ThingEntry) else (entry,):
            texts += [fact.value, fact.excluded, *fact.open]
        texts += entry.other.values() if isinstance(entry, ThingEntry) else ()
    named |= {match[1].rstrip(".") for text in texts for match in _NAMED.finditer(text)}
    for name, entry in task.facts.items():
        if isinstance(entry, FactEntry) and "*" not in entry.open and name not in named:
            problem = "no part and no text of the task names it; name it in the part that rests on it"
            yield f"tasks.{task.number}.facts.{name}", problem


def type_findings(name: str, spec: PreferenceType) -> Iterator[tuple[str, str]]:
    """Yield (field, problem) for each value of a list that people say otherwise and that has no synonyms.

    These are values of several words in small letters, such as "twin room". A name, a number and a single
    word are found as they are written.
    """
    for value in spec.values:
        plain = " " in value and value == value.lower() and not re.search(r"\d", value)
        if plain and value not in spec.synonyms:
            problem = f"{value!r} has no synonyms; list how people say it, or [] if they say it so"
            yield f"preferences.{name}.synonyms", problem


def _shows(value: str) -> bool:
    return any(word not in _EMPTY for word in re.findall(r"\w+", value.lower()))
