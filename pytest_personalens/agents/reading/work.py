"""The work that a dialogue has done: the last state of each part of the goal, with the values that were found."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.weights import table
from pytest_personalens.agents.reading import emptiness
from pytest_personalens.agents.reading.findings import FactReader, Finding
from pytest_personalens.agents.reading.goal import deed_classes
from pytest_personalens.agents.reading.part_numbers import FIRM, PartReader, names_in
from pytest_personalens.agents.reading.statements import Statement, statements_of
from pytest_personalens.agents.reading.typed_values import typed_values
from pytest_personalens.core.facts import RANGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.agents.reading.acts import Act
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.judging.verdict import PartState
    from pytest_personalens.core.scenario import GoalPart, Scenario

#: A part stands from this probability on.
_STANDS: Final = {"done": 0.5, "told": 0.5}
#: The acts that leave a deed undone.
UNDOES: Final[frozenset[Act]] = frozenset({"promised", "handed-back", "refused", "taken-back"})
#: A statement that takes something back touches a part from this score on.
_TOUCHES: Final = 0.15
#: What undoes a deed, and tasks that ask for this.
_ENDED: Final = re.compile(
    r"\b(?:cancell?ed|withdrawn|withdrew|released|reversed|undone|undid|turned (?:it |that |this )?off|switched (?:it |that )?off|called (?:it )?off|taken (?:it )?back|removed|deleted)\b(?! (?:free|for free|without))|\bno longer (?:booked|reserved|set|on)\b"
)
#: "I've cancelled the 20:15 and booked the 14:30."
_ANEW: Final = re.compile(r"\band (?:have )?(?:booked|rebooked|reserved|ordered|bought|set|made|moved)\b")
_ENDS: Final = re.compile(
    r"\b(?:cancel\w*|return\w*|refund\w*|exchang\w*|swap\w*|mov\w*|chang\w*|replac\w*|paus\w*|mut\w*|stop\w*|keep away|given up|give up|delet\w*|remov\w*|push\w*|postpon\w*|rebook\w*|unsubscrib\w*|switch\w*|later|turn\w* (?:down|off))\b"
)
_NOTHING: Final = re.compile(r"\b(?:nothing|not|no|none|never|without)\b")
#: The kinds of facts of which one value excludes every other: seats and sounds go by several names.
_MEASURED: Final = frozenset({"count", "date", "time", "duration", "money"})
#: A part that the user does, by agreeing.
_OF_USER: Final = re.compile(r"\b(?:the user has agreed|(?:is|has been) approved)\b")
#: The state into which an act brings a part that does not stand.
_OPEN: Final[Mapping[Act, PartState]] = {
    "promised": "promised", "proposed": "proposed", "confirming": "proposed", "handed-back": "handed-back", "refused": "refused", "taken-back": "refused",
}  # fmt: skip


#: A part that asks for some number of things.
_SEVERAL: Final = re.compile(r"\b(?:at least|or more|compared|side by side|against each other)\b")
#: Between the items of an enumeration, and before them.
_ITEM: Final = re.compile(r", |; | and | / | · ")
_ORDINAL: Final = re.compile(
    r"\b(?:first|second|third|fourth|fifth|one|two|three|four|five|step \d|hint \d|option \d|\d)(?=[:.,)])",
    re.IGNORECASE,
)


def _least(fact: Fact) -> int:
    """Return how many things an open count asks for at least, or 0."""
    if fact.kind != "count" or fact.known != "open" or not fact.right or RANGE not in fact.right[0]:
        return 0
    return int(fact.right[0].partition(RANGE)[0])


class Stand(NamedTuple):
    """The state of one part of the goal, and where it was last spoken of. `wrong` holds what is not right."""

    part: GoalPart
    state: PartState
    turn: int | None = None
    quote: str = ""
    wrong: tuple[Finding, ...] = ()


class Work:
    """The statements of a dialogue, and what they make of each part of the goal and of each fact."""

    def __init__(self, scenario: Scenario, messages: Sequence[Message]) -> None:
        self.scenario, self.messages = scenario, tuple(messages)
        said_by_user = [m.content for m in self.messages if m.role == "user"]
        self.facts = FactReader(scenario, said_by_user[:1])  # later ones may object to a value
        self._reader = PartReader(scenario, said_by_user)
        self.names = self._reader.names
        self.goal, self.words = self._reader.goal, self._reader.words

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Return the statements of the assistant, in order.

        What follows from a deed is no promise: "It is booked. You will be picked up at nine."
        """
        found = list(statements_of(self.messages, self.facts))
        done: set[tuple[int, int | None]] = set()
        for i, (s, at) in enumerate(zip(found, self._reader.belonging(found), strict=True)):
            if s.act == "done":
                done.add((s.turn, at))
            elif s.act == "promised" and at is not None and (s.turn, at) in done:
                found[i] = s._replace(act="told")
            text = plain(s.text)
            if s.act in FIRM and not self._may_end and _ENDED.search(text) and not _ANEW.search(text):
                found[i] = s._replace(act="taken-back")
        return tuple(found)

    @cached_property
    def found(self) -> dict[str, tuple[Finding, Statement]]:
        """Return the last finding on each fact, with its statement.

        In one message, what was done counts before what was told, and what is right before what is not.
        """
        last: dict[str, tuple[Finding, Statement]] = {}
        right = {f.fact.name for s in self.statements for f in s.findings if f.right}
        for turn in sorted({s.turn for s in self.statements}):
            ranked: dict[str, tuple[int, Finding, Statement]] = {}
            for s, at in zip(self.statements, self._belonging, strict=True):
                if s.turn != turn or s.act not in FIRM | {"proposed", "confirming"}:
                    continue
                for finding in s.findings:
                    if finding.beside and not finding.right and finding.fact.name in right:
                        continue
                    # What is told of another matter is no mistake in this one.
                    if (
                        not finding.right
                        and s.act != "done"
                        and (at is None or finding.fact.name not in self.goal[at].facts)
                    ):
                        continue
                    rank = 2 * (s.act == "done") + finding.right
                    if rank >= ranked.get(finding.fact.name, (-1,))[0]:
                        ranked[finding.fact.name] = rank, finding, s
            for name, (_, finding, s) in ranked.items():
                # What was right stays right, unless a deed has another value now.
                if name not in last or finding.right or not last[name][0].right or s.act == "done":
                    last[name] = finding, s
        return last

    @cached_property
    def wrong(self) -> tuple[tuple[Finding, Statement], ...]:
        """Return the facts that stand with a value that is not right."""
        return (
            *(both for both in self.found.values() if not (both[0].right or both[0].of_taste)),
            *self._unchanged,
        )

    def differing(self, part: GoalPart) -> tuple[tuple[Finding, Statement], ...]:
        """Return the measured facts of a part that were last said with another value, also those of taste."""
        found = (self.found[name] for name in part.facts if name in self.found)
        return tuple(both for both in found if both[0].fact.kind in _MEASURED and not both[0].right)

    @cached_property
    def _unchanged(self) -> tuple[tuple[Finding, Statement], ...]:
        """Return the facts that were to change and that a deed names with their old value."""
        found = []
        for i, part in enumerate(self.goal):
            for fact in self.facts.closed:
                if fact.name not in part.facts or fact.name in self.found or "." in fact.name:
                    continue
                for s, at in zip(self.statements, self._belonging, strict=True):
                    old = [
                        f
                        for f in s.findings
                        if f.right
                        and f.fact.kind == fact.kind
                        and "." in f.fact.name
                        and f.fact.name not in part.facts
                        # The old hour may do on the new day.
                        and not any(
                            self.facts.fits(v, fact) and RANGE in fact.right[0]
                            for v in typed_values(plain(f.said), self.facts.today)
                        )
                    ]
                    if s.act == "done" and old and at == i:
                        found.append((Finding(fact, old[0].said, right=False), s))
                        break
        return tuple(found)

    @cached_property
    def short(self) -> tuple[tuple[Fact, tuple[str, ...]], ...]:
        """Return the facts of which all values are needed and only some were named, with those that lack."""
        found = []
        for fact in self.facts.facts:
            if fact.every and not (fact.known == "history" and "." not in fact.name):
                said = {
                    value
                    for s in self.statements
                    if s.act != "asked"
                    for f in s.findings
                    if f.fact.name == fact.name and f.right
                    for value in fact.right
                    if value in f.said
                }
                if said and len(said) < len(fact.right):
                    found.append((fact, tuple(v for v in fact.right if v not in said)))
        return tuple(found)

    @cached_property
    def _belonging(self) -> list[int | None]:
        return self._reader.belonging(self.statements)

    @cached_property
    def stands(self) -> tuple[Stand, ...]:
        """Return the last state of each part of the goal."""
        standing = self._standing()
        return tuple(self._stand(i, part, stands=standing[i]) for i, part in enumerate(self.goal))

    def _standing(self) -> list[bool]:
        """Return which parts stand.

        What stood after one message stands after the next, unless a statement about the part opens it again.
        """
        standing = [False] * len(self.goal)
        if emptiness.of(self.scenario, self.messages):
            return standing
        for turn in sorted({s.turn for s in self.statements}):
            so_far = [s for s in self.statements if s.turn <= turn]
            # A promise behind a deed, or a word after the goodbye, opens nothing that stands: only what takes it back.
            opened = {i for i, by in self._opened(turn).items() if by == "taken-back" or not standing[i]}
            if not any(s.act in FIRM for s in so_far):  # nothing but questions, proposals and promises
                continue
            for i, numbers in enumerate(self._reader.numbers(so_far)):
                kind = self.goal[i].kind
                now = table(f"parts-{kind}").of_numbers(numbers)["stands"] >= _STANDS[kind]
                now = now and self._enough(self.goal[i], so_far)
                # A deed needs a statement that something was done, and what is to be told its details.
                now = now and (
                    self._reader.tells(i, so_far)
                    if kind == "told"
                    else any(s.act == "done" for s in so_far) and self._reader.touches(i, so_far)
                )
                standing[i] = (now or standing[i]) and i not in opened
        return standing

    def about(self, i: int) -> list[Statement]:
        """Return the statements that belong to part `i` of the goal, or touch it."""
        return [
            s
            for s, at in zip(self.statements, self._belonging, strict=True)
            if at == i or self._reader.score(i, s) >= _TOUCHES
        ]

    def _enough(self, part: GoalPart, statements: Sequence[Statement]) -> bool:
        """True unless a part asks for at least some number of things, and no message names as many."""
        least = max((_least(f) for f in self.facts.facts if f.name in part.facts), default=0)
        if part.kind == "done" or least < 2 or not _SEVERAL.search(part.text):
            return True
        for turn in {s.turn for s in statements}:
            here = [s for s in statements if s.turn == turn and s.act != "asked"]
            names = {name for s in here for name in names_in(s.text)}
            values = {(v.kind, v.value) for s in here for v in typed_values(plain(s.text), self.facts.today)}
            kinds = Counter(kind for kind, _ in values)
            said = any(kind == "count" and isinstance(n, int) and n >= least for kind, n in values)
            items = max((len(_ITEM.findall(s.text)) + 1 for s in here), default=0)
            listed = len({m.lower() for s in here for m in _ORDINAL.findall(s.text)})
            if said or max(len(names), kinds["money"], kinds["time"], items, listed) >= least:
                return True
        return False

    def _opened(self, turn: int) -> dict[int, Act]:
        """Return the deeds of which a message last says that they are promised, left to the user or taken back."""
        last: dict[int, Act] = {}
        for s, at in zip(self.statements, self._belonging, strict=True):
            if s.turn != turn:
                continue
            if s.act == "taken-back":
                made = [i for i, part in enumerate(self.goal) if part.kind == "done" and not part.never]
                last |= {i: s.act for i in made if len(made) == 1 or self._reader.score(i, s) >= _TOUCHES}
            elif at is not None and (s.act == "done" or s.act in UNDOES):
                last[at] = s.act
        return {i: act for i, act in last.items() if act != "done" and self.goal[i].kind == "done"}

    @cached_property
    def _may_end(self) -> bool:
        """True if the task asks to end, return or change something: then "cancelled" is a deed."""
        return bool(_ENDS.search(plain(f"{self.scenario.task.goal} {self.scenario.task.intent}")))

    def _stand(self, i: int, part: GoalPart, *, stands: bool) -> Stand:
        own = [s for s, at in zip(self.statements, self._belonging, strict=True) if at == i]
        last = own[-1] if own else None
        turn, quote = (last.turn, last.quote) if last else (None, "")
        if part.never:
            deeds = deed_classes(self.words[i].words)
            broken = next(
                (
                    s
                    for s in self.statements
                    if s.act == "done" and deeds & s.words and not _NOTHING.search(plain(s.text))
                ),
                None,
            )
            return Stand(part, "wrong", broken.turn, broken.quote) if broken else Stand(part, "done")
        wrong = [(finding, s) for finding, s in self.wrong if finding.fact.name in part.facts]
        short = [fact for fact, _ in self.short if fact.name in part.facts]
        if wrong or short:
            if wrong:
                turn, quote = wrong[0][1].turn, wrong[0][1].quote
            return Stand(part, "wrong", turn, quote, tuple(finding for finding, _ in wrong))
        if _OF_USER.search(part.text):  # the user's part, who objects or does not
            return Stand(part, "done")
        if stands:
            return Stand(part, "done", turn, quote)
        return Stand(part, _OPEN.get(last.act, "missing") if last else "missing", turn, quote)
