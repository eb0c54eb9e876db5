"""Manners of the embedded user: how it says what it says. The facts that it means stay those of its task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedUserAgent
from pytest_personalens.agents.embedded.reader.text import mentions, sentences
from pytest_personalens.agents.embedded.user.answers import questions
from pytest_personalens.agents.embedded.user.voice import (
    drawn_number,
    first_message,
    is_range,
    matter,
    opening,
    phrases_for,
)
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.safe_text import upper_first
from pytest_personalens.datasets.world import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.scenario import Scenario

#: What is left out by somebody who is short: a greeting, "please", and all that only says that it is a wish.
_POLITE: Final = re.compile(r"^(?:hi|hello|hey|good day)\b[,.!]?\s*|,? \bplease\b(?=[.?!])|^please,? ", re.IGNORECASE)  # fmt: skip
_WISHES: Final = re.compile(r"^(?:I(?:'d like| would like| want| need) to|I (?:gotta|wanna)|(?:can|could) you(?: please)?(?: help me)?|(?:please )?help me) (?=\w+ \w)", re.IGNORECASE)  # fmt: skip
#: Of four turns, this many have an idle sentence.
_IDLE, _OF = 3, 4
#: The kinds of facts whose neighbours a person may say by mistake, and the forms in which they are said.
_KINDS: Final = frozenset({"date", "time", "count", "money", "duration"})
_FORMS: Final = ("nights", "people", "weekday", "")


class MannerlyUserAgent:
    """The embedded user agent in a `manner` (`core.options.option_table.MANNERS`)."""

    paid = False

    def __init__(self, manner: str) -> None:
        self.manner, self._plain = manner, EmbeddedUserAgent()
        self.identity = f"{self._plain.identity}, manner {manner}"

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the next turn, which is that of the plain user in other words.

        The plain user is shown its own words where they mean the same, because it knows by them what it has
        said.
        """
        plain = self._plain.turn
        shown: list[Message] = []
        for n, message in enumerate(transcript):
            if message.role == "user":
                said, meant = _said(self.manner, scenario, transcript[:n], plain(scenario, shown))
                if said.content == message.content:
                    message = message.model_copy(update={"content": meant})
            shown.append(message)
        return _said(self.manner, scenario, transcript, plain(scenario, shown))[0]


def _said(manner: str, scenario: Scenario, before: Sequence[Message], own: UserTurn) -> tuple[UserTurn, str]:
    """Return the turn as the user says it, and in plain words; `own` is the turn of the plain user."""
    turn = sum(m.role == "user" for m in before)
    if manner in ("corrects", "changes-mind"):
        return _mended(manner, scenario, before, own)
    if manner == "vague":
        text = "" if turn else matter(scenario)
        if turn == 1 and all(q.wants == "more" for q in questions(before[-1].content)):
            text = opening(scenario, 1)  # an assistant that asks nothing must be told
        said = UserTurn(text) if text else own
        return said, said.content
    if manner == "terse":
        if own.done and own.served:
            return own._replace(content=""), ""
        if not turn:  # the rest of a long opening comes with the second message
            own = own._replace(content=first_message(scenario)[0])
        parts = (_short(s, opens=not turn) for s in sentences(own.content))
        return own._replace(content=" ".join(filter(None, parts)) or own.content), own.content
    start = drawn_number(scenario.id, manner)
    if own.done or (manner == "digresses" and (start + turn) % _OF >= _IDLE):
        return own, own.content
    bank = phrases_for(manner, "plain")
    aside = bank[(start + turn) % len(bank)]
    return own._replace(content=f"{aside} {own.content}" if turn else f"{own.content} {aside}"), own.content


def _short(sentence: str, *, opens: bool) -> str:
    text = _POLITE.sub("", sentence)
    # A wish that is told again needs other words than those of the opening.
    bare = _WISHES.sub("", text) if opens else text
    if bare != text:
        text = re.sub(r"\?$", ".", bare)
    return upper_first(text)


def _mended(
    manner: str, scenario: Scenario, before: Sequence[Message], own: UserTurn
) -> tuple[UserTurn, str]:
    """Return a turn with a wrong value, which the same or the next message mends."""
    turn = sum(m.role == "user" for m in before)
    slip = _slip(scenario, opening(scenario)) if turn < 2 else None
    if slip is None or (turn and (manner == "corrects" or not mentions(slip[1], before[0].content))):
        return own, own.content
    right, wrong = slip
    if not turn:
        said = f"{wrong}, no, sorry, {right}" if manner == "corrects" else wrong
        return own._replace(content=re.sub(_whole_word(right), said, own.content)), own.content
    bank = phrases_for(manner, "plain")
    change = bank[drawn_number(scenario.id, manner) % len(bank)].format(v=right, o=wrong)
    kept = () if own.done else sentences(own.content)
    rest = [s for s in kept if not (mentions(right, s) or mentions(wrong, s))]
    # It has not objected yet, and does so if the assistant goes on with the old value.
    return UserTurn(" ".join([change, *rest])), " ".join(rest) or f"{upper_first(right)}."


def _slip(scenario: Scenario, text: str) -> tuple[str, str] | None:
    """Return a value of the text that stands there once, and one beside it, as both are said; None without."""
    facts = scenario.task.facts
    taken = {value for f in facts for value in f.right}
    today = scenario.now.date if scenario.now else ""
    for fact in facts:
        if fact.known != "said" or fact.kind not in _KINDS or len(fact.right) != 1 or is_range(fact):
            continue
        if sum(fact.right == f.right and fact.kind == f.kind for f in facts) > 1:
            continue
        for wrong in fact.wrong:
            if wrong in taken or wrong in ("0", "1") or (fact.kind == "date" and wrong <= today):
                continue
            for form in _FORMS:  # a number may be part of another fact: "four weeks"
                right_said, wrong_said = (written.say(fact.kind, v, form) for v in (fact.right[0], wrong))
                unit = re.match(r"how many( \w+)", fact.what)
                if unit and right_said + unit[1] in text:
                    right_said, wrong_said = right_said + unit[1], wrong_said + unit[1]
                others = any(f is not fact and mentions(right_said, f.says) for f in facts)
                once = not others and len(re.findall(_whole_word(right_said), text)) == 1
                if once and right_said != wrong_said and not mentions(wrong_said, text):
                    return right_said, wrong_said
    return None


def _whole_word(said: str) -> str:
    return rf"(?<![\w:.-]){re.escape(said)}(?![\w:-])"
