"""Reads an assistant's replies as the user does.

It finds the statements without markup and courtesies, and the act of each.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.agents.embedded_user.listening.hearing import statements_of
from pytest_personalens.agents.embedded_user.listening.questions import (
    asks,
    is_courtesy,
    kind_of,
    options,
    promises,
)
from pytest_personalens.agents.language.detail_kinds import details
from pytest_personalens.agents.language.reading import DialogueReading
from pytest_personalens.agents.language.sentence_types import DEED, is_delivery, is_idle, is_proposal
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import repeats, stems

if TYPE_CHECKING:
    from collections.abc import Iterator

Act = Literal[
    "question", "courtesy", "refusal", "deed", "proposal", "promise", "boast", "echo", "card", "told"
]

#: Patterns for something done, in addition to `DEED`, in text with contractions written out.
_DONE: Final = re.compile(
    r"\b(?:that|it|this|everything|all) (?:is|are) (?:all |now |already )?(?:done|gone|out|sent|playing|saved|in|on its way|settled|in place|good to go|locked in|sorted)\b"
    r"|\byou are (?:now |all |both )*(?:set|booked|confirmed|sorted|in|good to go|registered|down for|signed up|on the list|checked in)\b|\bthat is you (?:sorted|booked|done|set)\b"
    r"|\b(?:has|have|had) (?:now |just |also |already )?been (?:\w+ly )?\w+(?:ed|en|nt|ut|ade|et)\b|\b(?:was|were) (?:\w+ly )?(?:made|booked|placed|created|issued|processed|confirmed|sent|set|reserved)\b"
    r"|\bstatus\W+(?:confirmed|booked|active|done|complete|completed|sent|set|paid|ok|on|saved|scheduled|placed)\b|\btaken care of\b|^\W*(?:booking|reservation|order|appointment|alarm|reminder|ticket)s? (?:is |are )?(?:confirmed|placed|set|booked|made|created|active|complete)\b"
    r"|\bi (?:went|have gone) ahead and \w+|\b(?:confirmed|booked|reserved|scheduled|ordered)\W*$|\blocked in\b|\bon the books\b|\bin the (?:calendar|diary|basket|cart)\b|\bgoes? out (?:at|on|every)\b"
    r"|\bi (?:have )?(?:just |now |also |already )?(?:popped|stuck|lined|fixed|grabbed|snagged|nabbed|secured|rung|rang|wrote|written|scheduled|switched|blocked|arranged)\b"
)
#: A participle in a line without a verb: "Alarm created", "MSG SENT TO MARISOL".
_PARTICIPLE: Final = re.compile(
    r"\b(?:booked|created|sent|switched (?:on|off)|turned (?:on|off|down)|executed|placed|ordered|reserved|saved|added|set|paid|moved|confirmed|issued|ticketed|delivered|scheduled|cancelled|canceled|changed|swapped|stored|kept"
    r"|muted|installed|downloaded|bought|purchased|updated|amended|activated|enabled|posted|shared|queued|recorded|registered|logged|arranged|held|put|done|sorted|landed|secured|locked)\b"
)
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|we) (?:have |just |also |then |now )*(?!noticed|looked|wanted|needed|hoped|liked|wondered|tried|asked|noted|remembered|assumed|used|loved|enjoyed|missed|learned|realised|realized|guessed|thought|agreed|promised|failed)"
    r"(?:\w{3,}ed|let|had|got|held|kept|gave|took|put|set|made|wrote|sent)\b"
)
_PASSIVE: Final = re.compile(
    r"\b(?:is|are|was|were) (?:now |all |both |already )*(?!located|situated|named|called|priced|rated|based|interested|supposed|allowed|needed|required|limited|closed|expected|included|delayed|tired|excited|known|delighted|concerned"
    r"|worried|invited|opened|played|recommended|suited|suggested|involved|pleased|wanted|used|asked|offered|preferred|advised|recorded in)\w{3,}ed\b"
)
_YOURS: Final = re.compile(
    r"\byou (?:now )?have (?:a|an|the|two|three|four|seats?) \w+|\byou are (?:now )?(?:on|in|at|off) (?:the |seat |table |row )?\w*\d|\byou (?:now )?fly\b|\byou are \w+ed\b|\bis (?:off|on|out|up|in)(?: now| again)?\b\W*$|\byour (?:\w+ ){1,3}(?:is|are) (?:back|on|in|set|live|up|here|active|waiting)\b|\bis (?:waiting|playing|ringing|running)\b"
    r"|\bwill (?:wake|reach|reminds?|get to|be waiting|keep|ring|buzz|start at)\b|\b(?:is|are) your \w+|\byour (?:ticket|booking|order|reference|confirmation)(?: number| code)? is\b|\bcoming (?:on|up|out)\b"
)
_CONFIRMS: Final = re.compile(
    r"\b(?:pleased|happy|glad|delighted) to (?:confirm|report|inform|tell|say)\b|\bhereby\b", re.IGNORECASE
)
_REFUSED: Final = re.compile(
    r"\bi (?:am )?(?:afraid|unable|not able)\b|\b(?:i|we) (?:can|could|was|were|am|are) not (?:able|find|book|get|do|reach|complete|make|access|help|process|set|send|offer|see)\b"
    r"|\b(?:i|we) do not have (?:access|a way|the ability)\b|\b(?:is|are|was|were) not (?:possible|available|supported|permitted)\b|\bno longer (?:possible|available)\b|\bnot possible\b"
    r"|\b(?:does|did|do) not (?:support|work|go through|allow)\b|\b(?:has |have )?failed\b|\bsold out\b|\bunavailable\b|\bdeclined\b|\b(?:an|the) error\b|\berror:"
)
#: The deed depends on something, or the statement denies it.
_IF: Final = re.compile(
    r"^\W*(?:once|if|when|as soon as|before|after|until) (?:you|i|we|that|this|it)\b|\b(?:not|never|yet to be|still) (?:yet )?(?:been )?(?:booked|set|sent|done|confirmed|ordered|to)\b"
    r"|\bstill open\b|\b(?:nothing|none) (?:is|has been|was)\b|\bawaiting\b|\bpending\b"
)
_LATER: Final = re.compile(
    r"\b(?:will|would|can|could|shall|should|may|might|must|to) (?:then |also |now |still )?be (?:\w+ly )?\w+(?:ed|en|nt|et)\b"
)
#: Patterns for something done, even if a part of it comes later.
_PERFECT: Final = re.compile(
    r"\b(?:i|we) (?:have|just|went)\b|\b(?:has|have) been\b|\b(?:is|are) (?:now |all )?(?:booked|ordered|set|confirmed|reserved|done|placed|scheduled)\b"
)
_STEP: Final = re.compile(r"^\W*(?:step \d+|next|then|first|finally|lastly|\d+)\s*[:.)-]\s+")
_OFFERED: Final = re.compile(
    r"\b(?:i would|i can|i could|we could|you could|you might|might i|may i) (?:suggest|recommend|propose|go for|pick|choose|take|book|like|try|offer|do|set|put|order|send)\b|\bhow about\b|\bwhat about\b|\bmy (?:pick|suggestion|recommendation|choice|tip)\b"
    r"|\b(?:good|great|best|perfect|nice|solid|safe) (?:fit|choice|option|match|pick|bet)\b|\b(?:recommended|suggested|suggestion|recommendation|proposal)\b|\bi (?:suggest|recommend|propose)\b|\bwould (?:suit|fit|work|be right)\b"
)
_CARD: Final = re.compile(r"^([A-Za-z][\w '/&-]{1,34}?)\s*(?::|\s[-–—])\s+(.+)$")
#: A statement with more about what was done: "Your seat is ...", "Second class, 9:12.".
_ABOUT_IT: Final = re.compile(
    r"^\W*(?:it|this|that|you|your|the \w+(?: \w+)? (?:is|leaves|departs|starts|begins|rings|runs|costs|comes)|for|at|on|with|from|in)\b"
)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|am|be|has|have|had|do|does|did|can|will|would|could|should|may|might|must|says?|said|runs?|rains?|opens?|closes?|needs?|wants?|likes?|prefers?|takes?|comes?|goes|shows?|means?|plays?)\b"
)
#: The least number of lines with details that make up a result.
_CARD_LINES: Final = 2


class Said(NamedTuple):
    """A statement of message `turn`: its text, its form for patterns, and its act."""

    turn: int
    text: str
    plain: str
    act: Act


class Replies(DialogueReading):
    """The transcript as the user reads it.

    The judge reads it in its own way.
    """

    def _sentences(self, role: str) -> Iterator[tuple[int, str]]:
        for turn, message in enumerate(self.messages):
            if message.role == role:
                for text, _ in statements_of(message.content):
                    yield turn, text

    @cached_property
    def said(self) -> tuple[Said, ...]:
        """Return every statement of the assistant, in order."""
        sentences: list[Said] = []
        for turn, message in enumerate(self.messages):
            if message.role == "assistant":
                user = [stems(m.content) for m in self.messages[:turn] if m.role == "user"]
                for text, quote in statements_of(message.content):
                    sentences.append(
                        Said(
                            turn,
                            text,
                            plain(text),
                            "echo" if repeats(stems(text), user) else act(text, quote),
                        )
                    )
        return tuple(sentences)

    def in_turn(self, turn: int) -> tuple[Said, ...]:
        """Return the statements of one reply."""
        return tuple(s for s in self.said if s.turn == turn)

    @cached_property
    def deeds(self) -> tuple[tuple[int, str], ...]:
        """Return the statements in which the assistant says that something is done or given."""
        return tuple((s.turn, s.text) for s in self.said if s.act == "deed")

    def delivers(self, turn: int) -> bool:
        """True if a reply says that something was done.

        A reply with details that leaves nothing open counts too.
        """
        of_reply = self.in_turn(turn)
        if any(s.act == "deed" for s in of_reply):
            return True
        if any(s.act in ("question", "refusal", "promise", "proposal", "boast") for s in of_reply):
            return False
        if any(s.plain.startswith("still open") for s in of_reply):
            return False
        return (
            len([s for s in of_reply if s.act == "card" or (s.act == "told" and details(s.text))])
            >= _CARD_LINES
        )

    @cached_property
    def refusals(self) -> tuple[tuple[int, str], ...]:
        """Return the statements in which the assistant says that something cannot be done."""
        return tuple((s.turn, s.text) for s in self.said if s.act == "refusal")

    def _works(self, turn: int) -> bool:
        return self.delivers(turn) or any(s.act == "proposal" for s in self.in_turn(turn))

    def left_open(self, turn: int) -> str:
        """Return the questions at the end of a reply.

        If statements follow a question, the assistant has answered it itself.
        """
        trailing: list[str] = []
        for s in reversed(self.in_turn(turn)):
            if s.act not in ("question", "courtesy"):
                break
            trailing.append(s.text)
        return " ".join(trailing)

    def committed(self, turn: int) -> tuple[Said, ...]:
        """Return what a reply has done or proposes.

        The lines that say more about it are included. A list to choose from does not count.
        """
        of_reply = self.in_turn(turn)
        whole = self.messages[turn].content
        # "Leaves 10:25, window seat. Shall I?" is a proposal too.
        offered = any(
            s.act == "proposal" or (s.act in ("question", "courtesy") and kind_of(s.plain) == "confirm")
            for s in of_reply
        )
        done = any(s.act == "deed" for s in of_reply)
        if not done and not offered:
            return ()
        if options(whole) and (
            not done or any(kind_of(s.plain) in ("which", "either") for s in of_reply if s.act == "question")
        ):
            return ()
        kept = []
        for s in of_reply:
            # Among told statements, "Second class, 9:12." says more about the deed, and "It rains at 9:12."
            # does not.
            goes_on = s.act == "told" and (bool(_ABOUT_IT.search(s.plain)) or not _VERB.search(s.plain))
            if s.act in ("deed", "proposal", "card") or goes_on:
                kept.append(s)
        return tuple(kept)


@lru_cache(maxsize=16384)
def act(text: str, quote: str = "") -> Act:
    """Return the act of an assistant's statement.

    `quote` is the statement with its courtesies.
    """
    folded = _STEP.sub("", plain(text))
    if asks(text):
        return "courtesy" if is_courtesy(folded) else "question"
    if _REFUSED.search(folded):
        return "refusal"
    open_yet = bool(_IF.search(folded) or (_LATER.search(folded) and not _PERFECT.search(folded)))
    if not open_yet and (_DONE.search(folded) or (DEED.search(folded) and not promises(folded))):
        return "deed"
    if promises(folded):
        return "promise"
    if _CONFIRMS.search(quote) or (not open_yet and _does(folded)):
        return "deed"
    if is_proposal(folded) or _OFFERED.search(folded):
        return "proposal"
    if is_idle(folded):
        return "boast"
    return "card" if card(text) else "told"


def _does(folded: str) -> bool:
    if _OFFERED.search(folded) or is_idle(folded):
        return False
    return bool(
        (_PARTICIPLE.search(folded) and not _VERB.search(folded))
        or _FIRST_PERSON.search(folded)
        or _PASSIVE.search(folded)
        or _YOURS.search(folded)
    )


def card(text: str) -> tuple[str, str] | None:
    """Return the label and the value of a line such as "Seat: aisle", or None."""
    line = _CARD.match(text)
    return (line[1].strip(), line[2].strip()) if line and len(line[1].split()) <= 4 else None


def brings_facts(text: str) -> bool:
    """True for a deed, and for a statement with a fact."""
    return act(text) not in ("question", "courtesy", "refusal", "promise", "boast", "echo") and (
        act(text) == "deed" or is_delivery(text)
    )
