"""Finds parts of the goal that the assistant only promises."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.acts.goal_parts import is_about
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.reading.acts import DO, DONE
from pytest_personalens.agents.reading.goal import classes, deed_classes, own_words
from pytest_personalens.agents.wording.verb_forms import forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.agents.embedded_judge.acts.goal_parts import AssistantStatement
    from pytest_personalens.agents.reading.goal import Part

#: A statement is a deed from this probability on.
_DEED: Final = 0.5
_FUTURE: Final = re.compile(
    rf"\b(?:i|we) (?:will|shall|am going to|are going to) (?:\w+ )?{DO}\b|\b(?:will|shall) (?:\w+ )?be (?:\w+ )?{DONE}\b"
    rf"|\b(?:going )?to be {DONE}\b"
)


def only(parts: Sequence[Part], statements: Sequence[AssistantStatement]) -> tuple[Part, Spoken] | None:
    """Return a part that asks for a deed and is only promised, with the promise, or None."""
    deeds = [part for part in parts if not (part.to_tell or part.never)]
    promises = [s for s in statements if _is_promise(s)]
    if not deeds or not promises:
        return None
    if not any(map(_is_done, statements)):
        return deeds[0], promises[-1].spoken
    for part in deeds:
        words = own_words(part, parts)
        about = [s for s in statements if is_about(part, words, s)]
        promised = [s for s in about if _is_promise(s)]
        if promised and not any(_is_done(s) or _is_later_deed(s, promised) for s in about):
            return part, promised[-1].spoken
        # A promise need not name its thing: "It will be booked for you."
        deed = deed_classes(part.words)
        promised = [s for s in promises if deed & _promised_deeds(s)]
        if promised and not any(
            (deed & s.words and _is_done(s)) or _is_later_deed(s, promised) for s in statements
        ):
            return part, promised[-1].spoken
    return None


def _promised_deeds(statement: AssistantStatement) -> frozenset[str]:
    match = _FUTURE.search(statement.plain)
    return deed_classes(classes(content(match[0]))) if match else frozenset()


def _is_promise(statement: AssistantStatement) -> bool:
    return bool(_FUTURE.search(statement.plain)) and "conditional" not in forms(statement.plain)


def _is_done(statement: AssistantStatement) -> bool:
    done = any(form.startswith("done") for form in forms(statement.plain))
    return done and statement.spoken.acts["deed"] > _DEED and not _FUTURE.search(statement.plain)


def _is_later_deed(statement: AssistantStatement, promised: Sequence[AssistantStatement]) -> bool:
    later = statement.spoken.line.turn > max(s.spoken.line.turn for s in promised)
    return later and statement.spoken.acts["deed"] > _DEED and not _FUTURE.search(statement.plain)
