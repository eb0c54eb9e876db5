"""The forms in which a statement speaks of an action.

The forms are for example done, promised, possible, denied and asked of the user.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_DONE: Final = (
    r"(?:\w{2,}ed|set|put|sent|bought|made|got|gone|told|given|taken|found|chosen|written|paid|held|kept|left|done|built|drawn|won|begun|rung|in|on|out|off|up"
    r"|live|active|ready|yours|through|good to go|in place|in hand|on its way|under way|underway|waiting|playing|running)"
)
_BETWEEN: Final = r"(?: (?:\w+ly|just|now|also|already|all|both|duly|then|since|even|still|thus|hereby|so|only|back|gone ahead and|went ahead and|been))*"
_PAST: Final = r"(?:\w{2,}ed|set|put|sent|bought|made|got|told|gave|took|found|chose|wrote|paid|held|kept|left|did|built|drew|ran|began|rang|let|went|asked)"
_ASKED_OF_YOU: Final = (
    r"tap|click|open|call|ring|visit|go|press|enter|choose|select|pick|reply|send|check|search|type|log|download|fill|head|follow|use|see|find|contact|ask|say"
    r"|tell|let|give|try|look|provide|confirm|note|specify|book|order|pay|add|set"
)
#: The forms by name, each with a pattern. The pattern fits text in lower case with contractions written out.
_FORMS: Final = {
    "done: have": rf"\b(?:i|we) have{_BETWEEN} {_DONE}\b",
    "done: past": rf"\b(?:i|we){_BETWEEN} {_PAST}\b",
    "done: passive": rf"\b(?:is|are|was|were|has been|have been|been){_BETWEEN} {_DONE}\b",
    "done: bare": rf"^(?:[\w' -]{{1,25}}[:,] |all |both |now |also |and |then )?{_DONE}\b",
    "done: after a sign": rf"[:,=|-] ?{_DONE}(?:$|[ ,.!])",
    "done: at the end": rf"{_DONE}[.!]?$",
    "future": r"\b(?:will|shall|going to|am about to|are about to)\b",
    "future: mine": r"\b(?:i|we) (?:will|shall|am going to|are going to|am about to)\b",
    "progressive": r"\b(?:i am|we are|am|still|now|currently) \w+ing\b|^\w+ing\b",
    "possible": r"\b(?:can|could|would|may|might|should)\b",
    "possible: mine": r"\b(?:i|we) (?:can|could|would|may|might)\b",
    "possible: yours": r"\byou (?:can|could|would|may|might|will|should|need|have to|must)\b",
    "denied": r"\b(?:not|no|never|nothing|none|unable|without|neither|failed|unfortunately|yet)\b",
    "conditional": r"\b(?:if|once|when|as soon as|unless|until|whether|after you|before i)\b",
    "asked of the user": rf"^(?:please |just |simply |then |now |kindly |first,? |next,? )?(?:{_ASKED_OF_YOU})\b",
    "soon": r"\b(?:let me|allow me|let us|i would like to|i am happy to|one moment|hang on|working on|looking into|get back|shortly|soon|in a moment)\b",
    "of the user": r"\b(?:your|you have|you are|yours)\b",
    "here it is": r"\bhere (?:is|are|it is|you are)\b|\bthis is\b",
    "offered": (
        r"\b(?:shall i|should i|would you like|want me to|do you want|may i|how about|what about|suggest|recommend|propose|option|available|there is|there are"
        r"|i found|found|i see)\b"
    ),
    "begins with a number": r"^\W*\d",
    "label": r"^[\w' -]{2,30}:",
}
_PATTERNS: Final = {name: re.compile(pattern) for name, pattern in _FORMS.items()}
#: The forms that are part of the gist of a statement, together with those of "done".
_GIST: Final = frozenset({"future: mine", "denied", "offered", "possible: mine"})


@lru_cache(maxsize=8192)
def forms(plain_text: str) -> frozenset[str]:
    """Return the forms that occur in a statement.

    `plain_text` has the form that `statements.plain` returns.

    >>> sorted(forms("i have booked it"))
    ['done: have']
    """
    return frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(plain_text))


def gist(verb_forms: frozenset[str]) -> str:
    """Return the main forms in short: ``done``, ``future+offered``.

    The gist is ``flat`` if there is none.
    """
    kept = {name.partition(":")[0] for name in verb_forms if name in _GIST or name.startswith("done")}
    return "+".join(sorted(kept)) or "flat"
