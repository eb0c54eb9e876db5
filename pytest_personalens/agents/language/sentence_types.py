"""Finds the type of a sentence: question, deed, proposal.

A deed is an action that the assistant reports as done.
"""

from __future__ import annotations

import re
from typing import Final

from pytest_personalens.agents.language.text import fold, stems

_VERBS: Final = (
    "set|booked|added|created|scheduled|sent|ordered|reserved|saved|moved|cancell?ed|updated|changed|turned|queued|put|switched|removed|invited|"
    "shared|paid|bought|placed|made|arranged|activated|deleted|started|stored|entered|renamed|blocked|posted|replied|built|filled|got|noted|"
    "picked|found|chosen|selected|compared|checked|confirmed|rescheduled|shifted|rebooked|drafted|written|subscribed|purchased|rang|called|paused|"
    "exchanged|swapped|given|taken|told|left|dropped|kept|brought|extended|postponed|transferred|renewed|upgraded|hired|engaged|registered|signed"
)
#: The words of an assistant that has done something.
DEED: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have)(?: also| just| now| already)? (?!need|want|lik|lov|hop|wonder|ask|look|tri)\w{3,}ed\b"
    rf"|\b(?:i(?:'ve| have)?(?: also| just| now| already)?|we(?:'ve| have)?(?: also| just| now)?) (?:{_VERBS})\b"
    rf"|\b(?:is|are|was|were|has been|have been|'s|'re)(?: now| all| both| already| safely)? (?:{_VERBS}|active|on your|in your|live|ready|yours|through)\b"
    rf"|^\W*(?:all |both )?(?:{_VERBS}|done|all set|ready|sorted|there you go)\b"
    r"|\b(?:that's|it's|already|just) (?:all )?(?:done|gone|out|sent|playing|saved|in|on its way)\b|\bplaying (?:now|on)\b|\bon its way\b|\bgone out\b"
    r"|\bhere (?:it |you )?(?:is|are|'s)\b|\bhere's\b|\bconfirmation\b|\bbooking (?:number|reference|code)\b|\bfrom now on\b|\bgoes off\b|\bwill (?:ring|remind|arrive|play)\b"
)
_PROPOSAL: Final = re.compile(
    r"\b(?:i(?:'d| would)? (?:suggest|recommend|propose|go for|pick|choose)|how about|what about|(?:a|the) good (?:fit|choice|option)|you could|there(?:'s| is| are)|options?)\b"
)
_REFUSAL: Final = re.compile(
    r"\b(?:i(?:'m| am)? (?:afraid|unable|not able)|i (?:can't|cannot|could not|couldn't|don't have (?:access|a way|the ability))|(?:is|are|was|were)n't possible"
    r"|not possible|no longer possible|(?:does|did|do)n't (?:support|work|go through)|failed|sold out|not available|unavailable|declined|error)\b"
)
_WANTS: Final = re.compile(
    r"^\W*(?:please )?(?:tell|let|give|specify|choose|enter|provide|share|confirm|select|state|name)\b.*|.*\b(?:i need|i'd need|missing|please (?:tell|specify|provide|share|choose|enter|give|let me know))\b"
)


def is_question(sentence: str) -> bool:
    """True if the sentence asks the user something, by its mark or by its form."""
    return sentence.rstrip().endswith("?") or bool(
        _WANTS.match(fold(sentence)) and not DEED.search(fold(sentence))
    )


def is_deed(sentence: str) -> bool:
    """True if the sentence says that something has been done or is available now.

    A question or a refusal is no such sentence.
    """
    folded = fold(sentence)
    return bool(DEED.search(folded)) and not sentence.rstrip().endswith("?") and not _REFUSAL.search(folded)


def is_proposal(sentence: str) -> bool:
    """True if the sentence proposes something."""
    return bool(_PROPOSAL.search(fold(sentence)))


def is_negated(value: str, sentence: str) -> bool:
    row = stems(value)
    hay = stems(sentence)
    places = [i for i in range(len(hay)) if hay[i : i + len(row)] == row]
    return bool(places) and all(
        any(
            w in ("no", "not", "without", "never", "avoid", "instead", "skip", "nor", "than")
            for w in hay[max(0, i - 4) : i]
        )
        for i in places
    )
