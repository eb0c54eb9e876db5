"""Objects to what a reply has wrong: values, what is left out, and limits."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.errand.answering import Answering
from pytest_personalens.agents.embedded_user.errand.doubts import OF_PEOPLE, doubtful
from pytest_personalens.agents.embedded_user.voice.fact_words import required, said
from pytest_personalens.agents.embedded_user.voice.heard import heard
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.reading.findings import MOST_OF, Finding, keeps_limit
from pytest_personalens.agents.reading.limits import broken_limits
from pytest_personalens.agents.reading.part_numbers import FIRM
from pytest_personalens.agents.reading.typed_values import TypedValue, agrees, typed_values
from pytest_personalens.datasets.world.values import UNITS

if TYPE_CHECKING:
    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.core.facts import Fact

#: A sum that is a bound.
_BOUND: Final = re.compile(r"\b(?:below|under|at most|up to|drop\w*|or less|more than|limit|over|above)\b")
#: What a reply says of the task, done or not.
_SAYS: Final = FIRM | {"promised", "proposed", "other"}


class Objecting(Answering):
    """A user who holds each reply against the facts and its limits."""

    @cached_property
    def _pushed(self) -> list[tuple[str, dict[str, str]]]:
        """Return what the user has said so far, by its phrases."""
        return [found for m in self.transcript[2:] if m.role == "user" for found in heard(m.content)]

    def _objections(self) -> list[str] | None:
        """Return objections to what is wrong; None if it was said before and is still wrong."""
        lines: list[str] = []
        named: set[str] = set()
        for finding, statement in (*self.work.wrong, *self._beside()[:1]):
            was = said(finding, statement.text)
            wanted = self._wanted(finding, statement)
            times = self._raised_before(wanted)
            # A person objects to what has just been said, and once to each thing in a message.
            if (
                statement.turn != self.now
                or wanted in named
                or doubtful(finding, self.scenario, statement.text)
            ):
                continue
            named.add(wanted)
            if times > 1:
                return None
            # What the user never said is no mistake of the assistant: it is told now.
            untold = finding.fact.known == "told" and not self._has_told(finding.fact)
            free = finding.fact.known == "open" and finding.fact.kind in ("date", "time")
            bank = "fact_open" if free else "fact_told" if untold else "fact_wrong"
            bank = "still_wrong" if times else bank
            lines.append(self.speaker.say(bank, v=wanted, o=was))
        for _, missing in self.work.short:
            names = " and ".join(missing)
            if self._raised_before(names) > 1:
                return None
            lines.append(self.speaker.say("fact_short", v=names))
        for broken in broken_limits(self.scenario.limits, self._now):
            name = plain(broken.limit.name)
            if sum(bank == "limit" and values.get("n") == name for bank, values in self._pushed) > 1:
                return None
            lines.append(self.speaker.say("limit", o=broken.said, n=broken.limit.name))
        return lines[:2]

    def _beside(self) -> list[tuple[Finding, Statement]]:
        """Return what the last reply says against the opening, beside the parts: numbers, lengths, bounds."""
        reader, found, right = self.work.facts, [], set[str]()
        said_facts = [f for f in self.scenario.task.facts if f.known == "said" and f.right]
        for s in self._now:
            if s.act not in _SAYS:
                continue
            for f in s.findings:
                bounds = f.fact.kind == "money" and _BOUND.search(plain(s.text))
                counts = f.fact.kind == "count" and not f.beside
                if f.fact in said_facts and not f.right and (counts or bounds or MOST_OF.search(f.fact.what)):
                    found.append((f, s))
            for value in typed_values(plain(s.text), reader.today):
                for fact in said_facts:
                    if fact.kind == "count" and value.kind == "duration":
                        wrong = _per(value, fact, s)
                    elif fact.kind == value.kind and fact.kind in ("count", "duration"):
                        fits = reader.fits(value, fact) or keeps_limit(value, fact)
                        right |= {fact.name} if fits else set()
                        alike = "." not in fact.name and fact in reader.alike(value)
                        # A number of people that is named as a wrong one, and a length in the same unit.
                        near = _unit(value.said) == _unit(fact.says) or (
                            bool(OF_PEOPLE.search(fact.what))
                            and any(agrees(value, one, reader.today) for one in fact.wrong)
                        )
                        wrong = alike and not fits and near
                    else:
                        continue
                    if wrong:
                        found.append((Finding(fact, value.said, right=False), s))
        known = right | set(self.work.found)
        return [(f, s) for f, s in found if f.fact.name not in known]

    def _wanted(self, finding: Finding, s: Statement) -> str:
        return required(finding.fact, said(finding, s.text), self.work.facts.today, self.scenario.task.things)

    def _has_told(self, fact: Fact) -> bool:
        """True if the user has said what is right."""
        return plain(fact.says) in plain(" ".join(m.content for m in self.transcript if m.role == "user"))

    def _raised_before(self, wanted: str) -> int:
        return sum(
            bank in ("fact_wrong", "fact_told", "fact_open", "still_wrong", "fact_short", "fact_no")
            and values.get("v") == plain(wanted)
            for bank, values in self._pushed
        )


def _unit(words: str) -> str:
    return words.split()[-1].rstrip("s")


def _per(value: TypedValue, fact: Fact, statement: Statement) -> bool:
    """True if a statement says another number of hours a week than the fact."""
    unit = _unit(value.said)
    if f"{unit}s a" not in fact.what or not re.search(
        rf"\b{value.said} (?:a|per|each) ", plain(statement.text)
    ):
        return False
    return isinstance(value.value, float) and f"{value.value / UNITS.get(unit, 1):.0f}" not in fact.right
