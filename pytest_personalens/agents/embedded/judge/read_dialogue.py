"""Everything that the judge reads of one dialogue, each once: its language, broken limits, facts and parts."""

from __future__ import annotations

import re
import unicodedata
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.reader.statements import (
    DONE,
    FactReading,
    Facts,
    Statement,
    is_taste,
    read_statements,
    statements,
)
from pytest_personalens.agents.embedded.reader.text import (
    STOPWORDS,
    content,
    fold,
    mentions,
    names,
    plain,
    stem,
    stems,
)
from pytest_personalens.agents.embedded.reader.typed_values import TYPED, is_day_word, said_in
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.scenario import GoalPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.agents.embedded.reader.statements import Act
    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Limit
    from pytest_personalens.core.judging.verdict import PartState
    from pytest_personalens.core.scenario import Scenario, Slot

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-ZÀ-Þ][\w'’-]+")
#: Everyday words of other languages that English does not have.
_OTHERS: Final = frozenset(
    """
    der die das und ist nicht ein eine ich sie mit fur auf den dem des wird werden haben habe ihre ihr wir sind zum zur von bei oder auch noch
    el la los las un una es esta por para con que del se su sus y lo le ha he muy pero tambien usted
    le les est une des du et vous votre pour avec dans sur je nous que qui pas ce cette au aux sont
    il lo gli della di che per non sono con una alla nel ho hai suo sua e
    o os um uma e para com que nao voce seu sua em na no da do por foi esta
    het een en van ik je niet met voor zijn uw wij dat op te
    jest nie na do sie i z w ze pana pani dla od po czy prosze
    och det att som har inte for er jeg ikke til ja kyll
    bir ve bu icin ile
    """.split()  # noqa: SIM905
)
#: Fewer words do not show the language.
_FEWEST: Final = 8
#: In English, at least this share of words are everyday English.
_EVERYDAY: Final = 0.12
_LATIN: Final = 0.6
_ADVICE: Final = "the embedded judge reads English; use a model as the judge (--personalens-judge-model)"


def require_english(messages: Sequence[Message]) -> None:
    """Raise `JudgeFault` in one line if the assistant's replies are in another language than English."""
    text = "\n".join(m.content for m in messages if m.role == "assistant")
    letters = [c for c in text if c.isalpha()] if not text.isascii() else []
    latin = sum(c.isascii() or unicodedata.name(c, "").startswith("LATIN") for c in letters)
    if letters and latin < _LATIN * len(letters):
        raise JudgeFault(f"could not read the replies: most letters are not Latin; {_ADVICE}")
    words = _WORD.findall(plain(_NAME.sub(" ", text)))  # names are the same in every language
    if len(words) < _FEWEST:
        return
    english = sum(word in STOPWORDS for word in words)
    other = sum(word in _OTHERS and word not in STOPWORDS for word in words)
    if other > english or (english < _EVERYDAY * len(words) and other):
        raise JudgeFault(f"could not read the replies: they are not in English; {_ADVICE}")


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


class Reading:
    """A scenario and a dialogue, and what the judge reads in them."""

    def __init__(self, scenario: Scenario, dialogue: Dialogue) -> None:
        self.scenario, self.dialogue = scenario, dialogue
        self.messages, self.facts = dialogue.messages, Facts(scenario)
        self.said: tuple[Statement, ...] = self.facts.relevant(statements(self.messages, scenario.now))

    def without(self, said: Iterable[Statement]) -> Reading:
        """Return the reading as if some statements had not been made; what is known of the facts stays."""
        left, fewer = {id(s) for s in said}, copy(self)
        fewer.said = tuple(s for s in self.said if id(s) not in left)
        fewer.readings = self.readings
        return fewer

    def is_of(self, scenario: Scenario, dialogue: Dialogue) -> bool:
        """True if the reading is of this scenario and a dialogue with these messages, end and state."""
        mine = self.dialogue
        same = mine is dialogue or (mine.messages, mine.end, mine.state) == (
            dialogue.messages,
            dialogue.end,
            dialogue.state,
        )
        return self.scenario is scenario and same

    @cached_property
    def readings(self) -> dict[str, FactReading]:
        """What the assistant says of each closed fact of the parts, by name."""
        return read_statements(self.facts, self.messages, self.said)

    @cached_property
    def parts_of_task(self) -> tuple[GoalPart, ...]:
        """The parts of the task; its goal as a deed if the dataset has no parts."""
        task = self.scenario.task
        words = tuple(sorted(content(task.goal)))
        return task.parts or (GoalPart(text=task.goal, kind="done", words=words),)

    @cached_property
    def broken(self) -> tuple[Broken, ...]:
        """The limits of the user that the assistant breaks."""
        return broken_limits(self.scenario.limits, self.said)


#: Kinds of deeds, each with the verbs that tools and goals have for it.
_DEEDS: Final[dict[str, frozenset[str]]] = {
    kind: frozenset(map(stem, verbs.split()))
    for kind, verbs in {
        "get": "book booked reserve reserved reservation booking buy bought purchase order ordered"
        " engage engaged hire rent rented borrow borrowed hold held pay",
        "make": "create created make made add added set schedule scheduled arrange arranged place placed enter"
        " entered save saved activate enable start subscribe register plan write post put running active issue"
        " open confirm submit",
        "change": "change changed move moved update updated modify reschedule rescheduled exchange exchanged swap"
        " rebook rebooked shift shifted switch switched upgrade edit extend postpone replace adjust set",
        "stop": "cancel cancelled delete deleted remove removed pause paused mute muted silence disable release"
        " drop end stop skip snooze suspend unsubscribe",
        "send": "send sent invite invited invitation share shared message mail email notify pass forward text deliver",
        "play": "play plays playing queue",
        "return": "return returned refund",
    }.items()
}
#: What may do a deed of a kind: what is to be changed may be made anew, what is to be ended may be changed.
_DONE_BY: Final = {
    "get": {"get", "make", "change"},
    "make": {"get", "make", "change"},
    "change": {"get", "make", "change", "return"},
    "stop": {"stop", "change"},
    "return": {"get", "make", "change", "return", "stop"},
    "send": {"send"},
    "play": {"get", "make", "play"},
}
#: Words for what may be done to anything. To send, play or return something says what is meant.
VERBS: Final = frozenset().union(*(_DEEDS[kind] for kind in ("get", "make", "change", "stop")))
_DONE: Final = frozenset(map(stem, re.sub(r"[^a-z|]", "", DONE.replace("ll?", "ll")).split("|")))
#: Stems of deeds. Alone, they say nothing of what a statement is about.
DEEDS: Final = _DONE.union(*_DEEDS.values())
#: Deeds of every kind.
ANY_DEED: Final = frozenset(
    stems(
        "done arranged sorted confirmed completed placed finished set made active live place ready fixed changed"
        " corrected updated switched turned put"
    )
)


def deeds_of(words: frozenset[str]) -> frozenset[str]:
    """Return the kinds of deeds that stems of words speak of."""
    return frozenset(kind for kind, verbs in _DEEDS.items() if words & verbs)


def may_do(wanted: frozenset[str], had: frozenset[str]) -> bool:
    """True where deeds of the kinds `had` may be one of those that are wanted, or nothing says which is wanted."""
    return not wanted or not had or any(had & _DONE_BY[kind] for kind in wanted)


_NOTHING: Final = re.compile(r"\b(?:not|no|nothing|none|never|without)\b")
_STATES: Final[dict[Act, PartState]] = {
    "offered": "proposed", "asked": "proposed", "promised": "promised", "handed": "handed-back", "refused": "refused", "undone": "refused",
}  # fmt: skip


#: The details that may have any value and that a typed value shows, by its kind.
_SLOTS: Final[Mapping[str, Slot]] = {
    "money": "price", "time": "time", "date": "day", "duration": "length", "count": "count",
}  # fmt: skip
_NAMED: Final = frozenset[str](("provider", "person", "item", "place", "text"))


class PartReading(NamedTuple):
    """The state of a part, the message and the quote that show it, and what is wrong or lacking.

    `known` is false where words cannot show the part: nothing says how an assistant speaks of it.
    """

    part: GoalPart
    state: PartState
    turn: int | None = None
    quote: str = ""
    details: tuple[str, ...] = ()
    known: bool = True


def read_parts(reading: Reading) -> tuple[PartReading, ...]:
    """Return the state of each part of the task by the assistant's words."""
    return _PartReader(reading).read()


class _PartReader:
    """Reads the parts of a task in the statements of an assistant."""

    def __init__(self, reading: Reading) -> None:
        parts, facts, said = reading.parts_of_task, reading.facts, reading.said
        self._parts, self._reader, self._said, self._readings = parts, facts, said, reading.readings
        self._user = [reading.scenario.name, *(m.content for m in reading.messages if m.role == "user")]
        self._facts = {f.name: f for f in facts.all}
        self._firm = [s for s in said if s.act in facts.telling]
        #: All words of each part, its deeds with other words for them, and what the deed is done to.
        self._raw = [content(p.text).union(*map(content, p.words)) for p in parts]
        self._deeds = [
            (words & DEEDS).union(*(_DEEDS[kind] for kind in deeds_of(words))) for words in self._raw
        ]
        self._things = [words - DEEDS for words in self._raw]
        self._done = [n for n, part in enumerate(parts) if part.kind == "done" and not part.never]
        self._scored: dict[int, list[float]] = {}
        known = content(" ".join(self._user))
        self._new = [s for s in self._firm if any(not content(name) <= known for name in names_in(s.text))]
        #: False where no statement has a word or a value but those of the user and of the goal.
        heard = known | content(facts.goal) | DEEDS
        self._tells = any(
            any(v.said not in facts.goal for v in s.values) or not s.words <= heard
            for s in said
            if s.act not in ("refused", "undone")
        )

    def _score(self, number: int, statement: Statement) -> float:
        """Return how well a statement fits a part: its words, and the values of its facts."""
        own = statement.words & (self._things[number] | (self._raw[number] & DEEDS))
        fit = sum(1.0 / sum(word in raw for raw in self._raw) for word in own)
        for name in self._parts[number].facts:
            if (fact := self._facts.get(name)) is None or not fact.right:
                continue
            if fact.kind in TYPED:
                said = any(v.kind == fact.kind and self._reader.fits(v, fact) for v in statement.values)
            else:
                text, others = statement.text, self._reader.synonyms
                said = any(said_in(right, text, fact.kind, others) for right in fact.right)
            if said:
                fit += 0.5 / sum(name in part.facts for part in self._parts)
        return fit

    def _scores(self, statement: Statement) -> list[float]:
        """Return how well a statement fits each part."""
        key = id(statement)
        if key not in self._scored:
            self._scored[key] = [self._score(n, statement) for n in range(len(self._parts))]
        return self._scored[key]

    def _belongs(self, number: int, statement: Statement) -> bool:
        """True if no part fits a statement better than this one."""
        scores = self._scores(statement)
        return scores[number] > 0 and scores[number] >= max(scores) - 0.01

    def _does(self, number: int, statement: Statement) -> bool:
        """True if a statement may report the deed of a part."""
        said = statement.words & DEEDS
        if said and not said & (self._deeds[number] | ANY_DEED):
            return False
        others = [n for n in self._done if n != number]
        return bool(
            statement.words & self._things[number].difference(*(self._things[n] for n in others))
            or statement.words & self._deeds[number].difference(*(self._deeds[n] for n in others))
        ) or (self._scores(statement)[number] >= 0.25 and self._belongs(number, statement))

    def read(self) -> tuple[PartReading, ...]:
        """Return the reading of each part."""
        return tuple(self._read(n, part) for n, part in enumerate(self._parts))

    def _read(self, number: int, part: GoalPart) -> PartReading:
        if part.never:
            return self._never(number, part)
        named = [self._readings[name] for name in part.facts if name in self._readings]
        closed = [r for r in named if not is_taste(r.fact)]
        contradicted = (r for r in named if r.state == "contradicted")
        # A taste concerns personalization, until the user has named it.
        if wrong := [r for r in contradicted if not is_taste(r.fact) or self._is_named(r.fact.name)]:
            last = max(wrong, key=lambda r: r.turn or 0)
            return PartReading(part, "wrong", last.turn, last.quote, tuple(map(_wanted, wrong)))
        deed = self._deed(number, part) if part.kind == "done" else None
        if deed is not None and deed.state not in ("done", "missing"):
            return deed
        if unsaid := tuple(_wanted(r) for r in closed if r.state == "not said"):
            missing = deed or PartReading(part, "missing")
            return PartReading(part, "missing", missing.turn, missing.quote, unsaid)
        if deed is not None and (deed.state == "done" or not closed):
            return deed
        if part.kind == "told" and (lacking := self._untold(number, part, closed=bool(closed))):
            return lacking
        if closed:
            last = max(closed, key=lambda r: r.turn or 0)
            return PartReading(part, "done", last.turn, last.quote)
        shown = next((s for s in reversed(self._firm) if self._belongs(number, s)), None)
        return PartReading(part, "done", *((shown.turn, shown.text) if shown else ()))

    def _is_named(self, fact: str) -> bool:
        """True if the user has said the right value of a fact."""
        return any(fact in self._reader.told_by(text) for text in self._user)

    def _never(self, number: int, part: GoalPart) -> PartReading:
        words = self._raw[number] | self._deeds[number]
        about = (s for s in self._said if s.act == "done" and len(words & s.words) > 1)
        bad = next((s for s in about if not _NOTHING.search(fold(s.text))), None)
        return PartReading(part, "wrong", bad.turn, bad.text) if bad else PartReading(part, "done")

    def _deed(self, number: int, part: GoalPart) -> PartReading:
        """Return the last state of a deed: reported, opened again, or never reported."""
        found, deeds = PartReading(part, "missing", known=bool(self._raw[number])), self._deeds[number]
        heading: Statement | None = None
        opened, spoken = False, -1
        for s in self._said:
            if heading is not None and heading.turn != s.turn:
                heading = None
            if s.act == "done" and not (s.words & (DEEDS - deeds - ANY_DEED)):
                heading = s  # "Booked:", and a list of what was booked
            if s.act == "undone" and spoken == s.turn:
                # "It has not gone out": what was said just before.
                found, opened = PartReading(part, "refused", s.turn, s.text), True
            spoken = s.turn if self._scores(s)[number] else spoken
            if not self._does(number, s):
                continue
            own = self._belongs(number, s)
            # A question is settled by a report in a later reply.
            opened = opened and not (found.state == "proposed" and s.turn > (found.turn or 0))
            if s.act == "undone" or (s.act == "refused" and own):
                found, opened = PartReading(part, "refused", s.turn, s.text), True
            elif s.act in _STATES and own and found.state != "done":
                found, opened = PartReading(part, _STATES[s.act], s.turn, s.text), True
            elif s.act == "done" and (not opened or (own and s.words & (deeds | ANY_DEED))):
                found, opened = PartReading(part, "done", s.turn, s.text), False
            elif s.act == "told" and heading is not None and not opened:
                found = PartReading(part, "done", s.turn, s.text)
        return found

    def _untold(self, number: int, part: GoalPart, *, closed: bool) -> PartReading | None:
        """Return the part as missing if a detail of it that may have any value is not told; None if all is."""
        firm = [s for s in self._said if s in self._firm or s.act == "handed"] or [
            s for s in self._said if s.act in ("offered", "promised")
        ]
        facts = (self._facts[name] for name in part.facts if name in self._facts)
        open_facts = [f for f in facts if not f.right or is_taste(f)]
        wanted = {kind for kind, slot in _SLOTS.items() if slot in part.slots}
        wanted |= {f.kind for f in open_facts if f.kind in _SLOTS and not f.right}
        lacking = sorted(_SLOTS[kind] for kind in wanted - {v.kind for s in firm for v in s.values})
        if lacking:
            return PartReading(part, "missing", details=tuple(f"the {slot}: not said" for slot in lacking))
        if closed or wanted:
            return None
        tastes = [f for f in open_facts if is_taste(f)]
        if any(self._readings[f.name].state != "not said" for f in tastes if f.name in self._readings):
            return None
        if not self._tells:
            return PartReading(part, "missing")
        if any(s.words & (self._raw[number] | self._deeds[number]) for s in firm):
            return None
        # A name that the user did not say may be what was asked for. What is no name cannot be read at all.
        name = any(f.kind in _NAMED and not f.right for f in open_facts) or bool(
            {"name", "title", "place"} & {*part.slots}
        )
        if name and self._new:
            return None
        return PartReading(part, "missing", known=name)


def _wanted(reading: FactReading) -> str:
    """Return what is wrong or not said of a fact, and what was wanted."""
    fact = reading.fact
    return f"{fact.what}: {reading.said or 'not said'}, wanted {fact.says or fact.right[0]}"


def names_in(text: str) -> frozenset[str]:
    """Return the names of a statement; a single first word with a capital letter is none."""
    text = text.replace(": ", " ")
    found = names(f"x {text}" if re.match(r"[^\W\d_]+,? (?:[A-ZÀ-Þ]|\d)", text) else text)
    return frozenset(name for name in found if not is_day_word(name))
