"""The act of one statement of an assistant: what it does to the task, whatever it is about."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, cast

from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.weights import Table, table
from pytest_personalens.agents.wording.wording_cues import alone

#: What a statement does: it says that something is done or how something is, promises, proposes, asks, asks to
#: confirm, hands the work back to the user, refuses it, or takes it back. ``other`` does nothing to the task.
Act = Literal[
    "done",
    "told",
    "promised",
    "proposed",
    "asked",
    "confirming",
    "handed-back",
    "refused",
    "taken-back",
    "other",
]
#: Verbs of deeds, as patterns: what an assistant may do, what it may arrange for somebody, and what is done.
DO: Final = (
    r"(?:book|rebook|buy|order|call|ring|send|tell|set|add|reserve|contact|write|use|open|go (?:to|on|into)|visit|choose|select|log|enter|make|create|cancel|change|ask|return|start|put|move"
    r"|invite|mute|switch|turn|type|press|print|install|save|pause|play|schedule|arrange|purchase|forward|inform|engage|hire|download|borrow|pick|swap|exchange|note|block|message|text|mail|phone|do (?:that|this|it|so))"
)
_ARRANGE: Final = (
    r"(?:book|rebook|buy|order|call|ring|send|tell|set|add|reserve|contact|write|log|enter|make|create|cancel|change|ask|return|put|move|invite|mute|switch|turn|pause|schedule"
    r"|arrange|purchase|forward|inform|engage|hire|request|block|message|text|mail|phone|do (?:that|this|it|so))"
)
DONE: Final = (
    r"(?:booked|rebooked|bought|ordered|sent|set|added|reserved|written|made|created|cancelled|canceled|changed|returned|started|put|moved|invited|muted|switched|turned|saved|paused|scheduled"
    r"|arranged|purchased|forwarded|informed|engaged|hired|borrowed|swapped|exchanged|noted|blocked|entered|placed|confirmed|issued|activated|updated|set up|drawn up|compiled|stored|prepared|provided|submitted|processed|taken care of)"
)
#: Acts that leave a part of the goal open, by words that no deed has.
_OPEN: Final[tuple[tuple[Act, re.Pattern[str]], ...]] = (
    (
        "handed-back",
        re.compile(
            rf"(?:^|: |, )(?:(?:please|just|simply|then|kindly|now|best to|you only have to|all you (?:have|need) to do is(?: to)?) )+(?:\w+ly )?{DO}\b"
            rf"|: {DO} (?:it|them|one|your|on|with|at|the)\b"
            rf"|\byou (?:can|could|may|might|should|will need to|will have to|need to|have to|must|are (?:kindly )?(?:asked|invited|advised|welcome|free|requested) to|may (?:wish|want) to|might want to)"
            rf" (?:now |then |also |simply |just |easily |always |still |kindly |quickly )*{_ARRANGE}\b"
            r"|\b(?:up|left|over) to you\b|\byours to \w+|\bon your (?:own|side|part)\b|\b"
            + _ARRANGE
            + r"\b[^,.;]{0,50}\byourself\b|\byour (?:step|turn|job)\b|\b(?:yours|left|easy|easier|quickest|best|leave it) (?:for you )?to "
            + _ARRANGE
            + r"\b|\bi (?:recommend|suggest|advise) (?:that you|you to|calling|booking|contacting|checking)\b"
        ),
    ),
    (
        "promised",
        re.compile(
            rf"\b(?:will|shall) (?:then |now |also |soon |shortly |\w+ly )*be (?:\w+ly )?{DONE}\b|\b(?:is|are|still) to be (?:\w+ly )?{DONE}\b|: to be {DONE}\b|(?:\b(?:is|are) (?:currently |still |now |presently )?|[:,] |^)being (?:\w+ly )?\w+|(?:: |^)will (?:be )?\w+"
            rf"|\b(?:has|have|is|are|was|were) not (?:yet |been |yet been )*(?:{DONE}|active|running|live|on)\b|\b(?:nothing|none|no answer|no reply|no confirmation) (?:is |has been |was )?(?:yet|confirmed|booked|saved|sent|so far)\b|\bnot yet\b"
            r"|\bwait(?:s|ing)?(?: \w+)? for (?:the|an?|their|his|her|its) (?:\w+ )?(?:answer|reply|confirmation|response)\b|\bawaiting\b"
            rf"|\b(?:i|we) (?:will|shall|am going to|are going to|am about to) (?:then |now |also |just |soon |quickly |gladly )*{DO}\b|\b(?:let me|allow me to) (?:just |now |quickly )*{DO}\b"
            r"|\bin (?:due (?:time|course)|progress|preparation|the queue)\b|\b(?:i am|we are|:) (?:still )?on it\b|\b(?:working|still working) on\b|\bunder ?way soon\b|\b(?:pending|requested)\b|\bstill to come\b|\bat the next opportunity\b|: coming(?: up)?\b"
        ),
    ),
)
_HAVE_DONE: Final = re.compile(rf"(?:\w+, )?(?:i|we) have (?:now |just |already |also )*(?:{DONE}|done)\b")
#: An act that undoes a deed needs a clear lead over the deed.
_NEARLY: Final = 0.6
_MAY_BE: Final = frozenset({"done", "told", "other", "promised", "proposed"})


@lru_cache(maxsize=16384)
def act(text: str, model: Table | None = None) -> Act:
    """Return the act of a statement without courtesies, by a model or by the one of the package.

    What the statement quotes does nothing.
    """
    text = _QUOTE.sub(" it ", text)
    head, colon, tail = text.rpartition(": ")
    if colon and head and len(tail.split()) <= _SHORT and not any(c.isdigit() or c in _QUOTES for c in tail):
        # "Table for four, Saturday: please call them" does what stands behind the colon.
        behind = _of_words(tail, model)
        if behind in _LEAVES_OPEN:
            return behind
    found = _of_words(text, model)
    if colon and found == "promised" and _of_words(head, model) == "done":
        return "done"  # "Your alert is on: I'll write to you when it moves"
    return found


@lru_cache(maxsize=16384)
def _of_words(text: str, model: Table | None) -> Act:
    probabilities = (model or table("statements")).of_cues(alone(text))
    best = cast("Act", max(probabilities, key=lambda name: probabilities[name]))
    folded = plain(text)
    if best == "taken-back" and probabilities["done"] > _NEARLY * probabilities[best]:
        return "done"
    if best == "promised" and _HAVE_DONE.match(folded):
        return "done"  # "I've set up your alert: you will hear from me"
    if best in _MAY_BE:
        for open_act, pattern in _OPEN:
            if pattern.search(folded) and probabilities[open_act] > _LEAST:
                return open_act
    if text.rstrip().endswith("?") and (best not in ("confirming", "proposed") or " or " in text):
        return "asked"
    return best


_LEAVES_OPEN: Final[frozenset[Act]] = frozenset({"promised", "handed-back", "refused", "taken-back"})
_QUOTE: Final = re.compile(r"[\"“„«][^\"”»“]{12,}(?:[\"”»“]|$)")
_QUOTES: Final = '"“”„«»‘’'
#: So many words behind a colon may say what becomes of the words before it.
_SHORT: Final = 9
#: What words alone say needs this probability too.
_LEAST: Final = 0.02
