"""Finds where an assistant offers or does what must never happen to the user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import mentions, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.core.facts import Limit

#: A statement with one of these words before or behind the forbidden thing keeps it away from the user.
_AWAY: Final = re.compile(
    r"\b(?:no|not|without|never|avoid\w*|free of|free from|instead of|rather than|leave out|left out|leaves out|leaving out|skip\w*|except|nor|exclud\w*|remov\w*|away from|allerg\w*|intoleran\w*|restriction\w*|contains? no|zero"
    r"|steer\w* clear|safe from|replac\w*|swap\w* out|warn\w*|told them|noted|know you|can not|do not|does not|must not|nothing|taken (?:off|out)|unsalted|unsweetened|low in)\b|-free\b|\bfree\b(?! of charge)"
)
_ACTS: Final = frozenset({"done", "told", "proposed", "confirming", "other", "promised"})


class Broken(NamedTuple):
    """A limit, the forbidden words, and the statement that has them."""

    limit: Limit
    said: str
    statement: Statement


def broken_limits(limits: Sequence[Limit], statements: Sequence[Statement]) -> tuple[Broken, ...]:
    """Return the limits that statements break, each once, where it is seen first."""
    found: dict[str, Broken] = {}
    for s in statements:
        if s.act not in _ACTS:
            continue
        clauses = [c for c in re.split(r"[;.!?]|, (?:and|but|with) | but ", plain(s.text)) if c.strip()]
        for limit in limits:
            if limit.name in found:
                continue
            said = next((word for word in limit.words if _offers(word, clauses, plain(limit.name))), None)
            if said is not None:
                found[limit.name] = Broken(limit, said, s)
    return tuple(found.values())


def _offers(word: str, clauses: Sequence[str], name: str) -> bool:
    """True if a clause offers what a word says. The name of the limit offers nothing: "low salt" is not salted."""
    row = set(stems(word))
    return any(
        mentions(word, rest)
        and row <= set(stems(rest))
        and (len(row) > 1 or re.search(rf"\b{re.escape(word.removesuffix('s'))}", rest))  # "trip" is no tripe
        and not _AWAY.search(clause)
        for clause in clauses
        if (rest := clause.replace(name, " "))
    )
