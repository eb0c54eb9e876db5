"""The scenario of a test whose mark describes its user: ``personalens(persona="...", wants="...")``."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import short_repr
from pytest_personalens.core.frozen import clean
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import GoalPart, Scenario, ScenarioRef, Task
from pytest_personalens.plugin.options.marks import PERSONA, mark_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

#: The domain and the stratum of the scenario of a persona.
DOMAIN: Final = "Personas"
STRATUM: Final = "persona"
#: The preference type that holds what a persona says of somebody.
_ABOUT: Final = "About them"
_LONGEST: Final = 4000
_CLAUSE: Final = re.compile(r"\s*[;,\n]\s*|[.!?](?:\s+|$)")
_NAME: Final = re.compile(r"(?:[^\W\d_a-z][\w'-]*\s?){1,3}")
_AGE: Final = re.compile(r"(?:aged? )?\d{1,3}(?: years old)?", re.IGNORECASE)
#: The beginning of a thing, and not of a deed.
_THING: Final = re.compile(r"(?:an?|the|some|my|one|two|three|four|five|six|\d+)\b", re.IGNORECASE)
_TOLD: Final = re.compile(r"(?:know|learn|hear|find out)\b", re.IGNORECASE)


class Persona(NamedTuple):
    """What a mark says: who the user is, what it wants, and the domain of it."""

    text: str
    wants: str
    domain: str


def persona_of(marks: Sequence[pytest.Mark], where: str) -> Persona | None:
    """Return what the closest mark with a persona says, if any has one; raise `SpecError` for half of it."""
    mark = next((mark for mark in marks if any(key in mark.kwargs for key in PERSONA)), None)
    if mark is None:
        return None
    for key in PERSONA:
        if key not in mark.kwargs:
            other = next(other for other in PERSONA if other != key)
            raise mark_error(where, f"personalens({other}=...): give {key} too")
        value = mark.kwargs[key]
        if not isinstance(value, str) or not re.search(r"\w", value):
            expected = f"expected a text with words, not {short_repr(value)}"
            raise mark_error(where, f"personalens({key}=...): {expected}")
        if len(value) > _LONGEST:
            long = f"{len(value):,} characters; at most {_LONGEST:,}"
            raise mark_error(where, f"personalens({key}=...): {long}")
    suite = mark.kwargs.get("suite", FIRST_SUITE)
    if suite != FIRST_SUITE:
        only = f"only in the suite {FIRST_SUITE}, not in {short_repr(suite)}"
        raise mark_error(where, f"personalens(persona=...): {only}")
    domain = mark.kwargs.get("domain", DOMAIN)
    if not isinstance(domain, str) or not domain.strip():
        one = f"a persona has one domain, as a text, not {short_repr(domain)}"
        raise mark_error(where, f"personalens(domain=...): {one}")
    text, wants = clean(mark.kwargs["persona"]), clean(mark.kwargs["wants"])
    return Persona(" ".join(text.split()), wants.strip(), clean(domain).strip())


def ref_of(persona: Persona, test: str) -> ScenarioRef:
    """Return the name of the scenario of a persona in a test function; one user for one persona."""
    who = slug(_name(persona.text) or " ".join(persona.text.split()[:3]))[:24].strip("-")
    digest = hashlib.sha256(persona.text.encode()).hexdigest()[:4]
    task = slug(test.removeprefix("test_")) or "task"
    return ScenarioRef(f"{who}-{digest}".strip("-"), task, "single", (persona.domain,), STRATUM)


def scenario_of(persona: Persona, ref: ScenarioRef) -> Scenario:
    """Return the scenario: each clause of the persona is a preference, if it is no name, age or wish."""
    from pytest_personalens.agents.embedded.reader.text import mentions
    from pytest_personalens.agents.embedded.user.voice import first_person

    name, goal = _name(persona.text), _goal(persona.wants)
    clauses = dict.fromkeys(filter(None, (c.strip() for c in _CLAUSE.split(persona.text))))
    known = tuple(c for c in clauses if c != name and not _AGE.fullmatch(c) and not mentions(c, goal))
    return Scenario(
        id=ref.id,
        user=ref.user,
        name=name,
        dataset="personas of marks",
        kind="single",
        domains=ref.domains,
        demographics={"persona": persona.text},
        preferences={persona.domain: {_ABOUT: known}} if known else {persona.domain: {}},
        summaries={},
        task=Task(
            id=ref.task,
            description=persona.wants,
            intent=f"You want to {goal}.",
            goal=goal,
            relevant=((persona.domain, _ABOUT),) if known else (),
            parts=(
                GoalPart(text=goal, kind="told" if _TOLD.match(goal) else "done", ask=first_person(goal)),
            ),
        ),
    )


def _name(text: str) -> str:
    """Return the name at the head of a persona, such as ``Mia`` in "Mia, 34, vegetarian"; else nothing."""
    first = _CLAUSE.split(text, maxsplit=1)[0].strip()
    return first if _NAME.fullmatch(first) else ""


def _goal(wants: str) -> str:
    """Return the wish as a deed: "a table" is "get a table", and "to book one" is "book one"."""
    goal = re.sub(r"^to\s+", "", " ".join(wants.split()).rstrip(".! "), flags=re.IGNORECASE)
    return f"get {goal}" if _THING.match(goal) else goal
