"""What was asked for and what the replies say, in the form for a comparison of values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.statements import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: A statement tells something from this probability of an act on, and is none if another act is surer.
_TELLS, _NOT, _SLIPS = 0.3, 0.5, 0.8
_DEED, _USE = 0.4, 0.5
#: Values that the user turns down or speaks of as past.
_PUT_ASIDE: Final = re.compile(
    r"\b(?:not|instead of|rather than|never|except|other than|clash\w*|was|were|had|the old|no longer)\b[^,.;!?:]{0,30}"
)
#: Clauses about something beside the deed: how it arrives, until when it holds, what it costs.
BESIDE: Final = re.compile(
    r"\b(?:arriv\w*|deliver\w*|pick\w* ?up|collect\w*|until|expires?|ships?|dispatch\w*|ready|refund\w*|free cancellation|posted|since|next"
    r"|due|paid|charged|instead|old|no longer|because|reminder|reminds?|rain\w*|forecast|also|extra|spare|other|as of|usual)\b"
)


class Conflict(NamedTuple):
    """A value of a deed that differs from what was asked for. `asked` and `done` are the words of both."""

    kind: str
    asked: str
    done: str
    statement: Spoken


class Compared:
    """A dialogue for the comparison of values. All texts are folded.

    `asked` holds the goal and what the user says, without what the user turns down. `told` holds the statements
    of the assistant that tell something, `deeds` those of them that do something, and `firm` all that are neither
    a question nor a proposal. `today` is a day of the week with Monday as 0, or None.
    """

    def __init__(self, scenario: Scenario, messages: Sequence[Message], statements: Sequence[Spoken]) -> None:
        last_reply = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=-1)
        self.goal = plain(scenario.task.goal)
        self.user = [plain(m.content) for i, m in enumerate(messages) if m.role == "user" and i < last_reply]
        self.asked = [*(_PUT_ASIDE.sub(" ", text) for text in self.user), self.goal]
        self.named = (*self.user, self.goal)
        self.replies = " \n ".join(plain(m.content) for m in messages if m.role == "assistant")
        said = [(s, plain(s.line.text)) for s in statements if s.line.role == "assistant"]
        self.told = [(s, text) for s, text in said if _tells(s)]
        self.deeds = [(s, text) for s, text in self.told if _does(s)]
        self.firm = [(s, text) for s, text in said if _is_firm(s)]
        today = scenario.situation.day_of_week.lower()
        self.today = slots.DAYS.index(today) if today in slots.DAYS else None

    def says(self, number: int) -> bool:
        """True if a reply has the number, whatever it counts."""
        word = slots.NUMBER_WORDS[number] if number < len(slots.NUMBER_WORDS) else str(number)
        return bool(re.search(rf"(?<![\w-])(?:{number}|{word})\b", self.replies))


def _tells(statement: Spoken) -> bool:
    acts = statement.acts
    return _is_firm(statement) and max(acts["deed"], acts["fact"], 0.8 * acts["use"]) > _TELLS


def _does(statement: Spoken) -> bool:
    return statement.acts["deed"] > _DEED or statement.acts["use"] > _USE


def _is_firm(statement: Spoken) -> bool:
    acts = statement.acts
    return acts["question"] < _NOT and acts["proposal"] < _NOT and acts["slip"] < _SLIPS
