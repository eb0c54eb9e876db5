"""Finds where an assistant serves, books or proposes what must never happen to the user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.reader.text import mentions, plain, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded.reader.statements import Statement
    from pytest_personalens.core.facts import Limit

#: A clause with one of these words keeps the forbidden thing away from the user, or tells others of it.
_AWAY: Final = re.compile(
    r"\b(?:no|not|without|never|avoid\w*|free of|free from|instead of|rather than|leave out|left out|leaves out|leaving out|skip\w*|except|nor|exclud\w*|remov\w*|away from|allerg\w*|intoleran\w*|restriction\w*|contains? no|zero|\w+n't"
    r"|steer\w* clear|safe from|replac\w*|swap\w* out|warn\w*|told (?:them|the \w+)|noted|know you|cannot|nothing|taken (?:off|out)|unsalted|unsweetened|low in)\b|-free\b|\bfree\b(?! of charge)"
)
_CLAUSE: Final = re.compile(r"[;.!?]|, (?:and|but|with) | but ")


class Broken(NamedTuple):
    """A limit, the forbidden words, and the statement that has them."""

    limit: Limit
    said: str
    statement: Statement


def broken_limits(limits: Sequence[Limit], said: Sequence[Statement]) -> tuple[Broken, ...]:
    """Return the limits that statements break, each once, where it is seen first.

    Questions and refusals break no limit, and a clause that keeps the thing away or tells others of it does not.
    """
    found: dict[str, Broken] = {}
    for s in said if limits else ():
        if s.act in ("asked", "refused", "undone"):
            continue
        clauses = [c for c in _CLAUSE.split(plain(s.text)) if c.strip()]
        for limit in limits:
            if limit.name not in found and (word := _offered(limit, clauses)):
                found[limit.name] = Broken(limit, word, s)
    return tuple(found.values())


def _offered(limit: Limit, clauses: Sequence[str]) -> str:
    """Return the first word of a limit that a clause says. The limit's name offers nothing: "low salt" is not salted."""
    name = plain(limit.name)
    for word in limit.words:
        row = set(stems(word))
        for clause in clauses:
            rest = clause.replace(name, " ")
            # "Trip" is no tripe.
            if not row <= set(stems(rest)) or not mentions(word, rest):
                continue
            whole = len(row) > 1 or re.search(rf"\b{re.escape(plain(word).removesuffix('s'))}", rest)
            if whole and not _AWAY.search(clause.replace(plain(word), " ")):
                return word
    return ""
