"""The roles of user agent and judge: one says the messages of an arc, the other reads its last session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.judging.measure import Measure, MeasureNames
from pytest_personalens.core.judging.verdict import Evidence, Verdict
from pytest_personalens.suites.memory.words import first_way, says_unknown, used_way

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.suites.memory.arcs import Arc, Value

    Find = Callable[[Value, str], str | None]

MEMORY: Final = Measure(
    "memory", MeasureNames("memory", "Memory", "share of arcs remembered", "memory", "memory", "memory")
)
#: After the mark of a sentence's end, or the quotation mark behind it.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][\"”’'])\s+|\n+")  # noqa: RUF001
_PRAISE: Final = ("says nothing that it must not say", "says that it does not know")
#: In these kinds, a value must not even be named: "I have forgotten that you like jazz" tells it again.
_UNNAMED: Final = frozenset(("forget", "apart", "restraint"))


class ArcUser:
    """Says the messages of an arc in their order, whatever the assistant answers."""

    identity, paid = "arc-user 1", False

    def turn(self, scenario: Arc, transcript: Sequence[Message]) -> UserTurn:
        """Return the next message, with the session that it is said in."""
        turns = scenario.turns
        number = sum(m.role == "user" for m in transcript)
        session, text = turns[number]
        return UserTurn(text, done=number == len(turns) - 1, session=session)


class ArcJudge:
    """Reads the replies of the last session by the values of the test: 1 if all of it is right, else 0.

    An arc of the kind abstain also needs words that say that something is not known, or that ask for it.
    """

    identity, paid = "arc-judge 1", False

    def verdict(self, scenario: Arc, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the reading; its evidence quotes where a value was told, and where it is said again."""
        replies = [
            (turn, m.content)
            for turn, m in enumerate(dialogue.messages)
            if m.role == "assistant" and m.session == scenario.last_session
        ]
        find = first_way if scenario.kind in _UNNAMED else used_way
        places = [(value, _place(value, replies, first_way)) for value in scenario.right]
        praise = [(f"says {value}", said) for value, said in places if said is not None]
        faults = [(f"does not say {value}", replies[-1]) for value, said in places if said is None]
        places = [(value, _place(value, replies, find)) for value in scenario.wrong]
        faults += [(f"says {value}", said) for value, said in places if said is not None]
        if not any(text.strip() for _, text in replies):
            faults.append(("says nothing", replies[-1]))
        elif scenario.kind == "abstain" and not any(says_unknown(text) for _, text in replies):
            faults.append(("does not say that it does not know", replies[-1]))
        return Verdict(
            dimension=dimension,
            score=int(not faults),
            justification="; ".join(why for why, _ in faults or praise)
            or _PRAISE[scenario.kind == "abstain"],
            evidence=(
                *(Evidence.of(*place, note) for note, place in faults or praise if place[1].strip()),
                *_told(scenario, dialogue),
            ),
        )


def _place(value: Value, texts: Sequence[tuple[int, str]], find: Find) -> tuple[int, str] | None:
    """Return the first sentence that names the value, with its turn."""
    pieces = ((turn, piece) for turn, text in texts for piece in _SENTENCE_END.split(text))
    return next(((turn, piece) for turn, piece in pieces if find(value, piece) is not None), None)


def _told(scenario: Arc, dialogue: Dialogue) -> Iterator[Evidence]:
    """Yield where the users told the values of the test."""
    earlier = [
        (turn, m.content)
        for turn, m in enumerate(dialogue.messages)
        if m.role == "user" and m.session != scenario.last_session
    ]
    for value in (*scenario.right, *scenario.wrong):
        if (told := _place(value, earlier, first_way)) is not None:
            yield Evidence.of(*told, f"tells {value}")
