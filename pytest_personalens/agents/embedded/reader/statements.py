"""Statements: cuts replies into them, and reads what each does and what they say of the facts of a scenario."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.agents.embedded.reader.text import content, fold, mentions, plain, stems
from pytest_personalens.agents.embedded.reader.typed_values import (
    PERSONS,
    SHORTEST,
    TYPED,
    agrees,
    first_name,
    is_start,
    said_in,
    says,
    values,
)
from pytest_personalens.core.facts import RANGE
from pytest_personalens.datasets.world.written import ordinal, range_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_personalens.agents.embedded.reader.typed_values import Value
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Clock, Fact
    from pytest_personalens.core.scenario import Scenario

#: What a statement does: it reports a deed, tells something, offers, promises, asks, hands the doing to the
#: user, refuses, or says that something is not done or was taken back.
Act = Literal["done", "told", "offered", "promised", "asked", "handed", "refused", "undone"]
#: The acts that say how things are.
FIRM: Final = frozenset[Act](("done", "told"))
#: The acts that tell something to somebody who only asked for advice.
TELLS: Final = frozenset[Act](("done", "told", "offered"))


class Statement(NamedTuple):
    """One statement of the assistant in message number `turn`: what it does, its values and content words."""

    turn: int
    text: str
    act: Act
    values: tuple[Value, ...]
    words: frozenset[str]


#: Participles of deeds.
DONE: Final = (
    r"(?:booked|rebooked|reserved|bought|purchased|ordered|sent|texted|messaged|emailed|set|added|made|created|cancell?ed|changed|moved|returned|started|put|invited|muted|switched|turned"
    r"|saved|paused|scheduled|rescheduled|arranged|forwarded|hired|engaged|borrowed|swapped|exchanged|noted|blocked|entered|placed|confirmed|issued|activated|updated|drafted|written|stored"
    r"|prepared|registered|submitted|paid|queued|downloaded|replaced|corrected|fixed|picked|chosen|settled|posted|informed|let|kept|held|shared|signed|transferred|removed|deleted"
    r"|taken|extended|renewed|filed|logged|lined|sorted|pushed|shifted|subscribed|unsubscribed|compared|collected|checked|secured|rented|finalized|finalised|completed|postponed|planned|reminded|told|restored)"
)
_DO: Final = (
    r"(?:book|rebook|buy|order|call|ring|send|tell|set|add|reserve|contact|write|open|visit|choose|select|log|enter|make|create|cancel|change|ask|return|put|move|invite|mute|switch|turn|save"
    r"|pause|schedule|arrange|forward|download|pick|swap|note|block|message|text|phone|pay|confirm|check|look|find|search|compare|prepare|draft|sort|take|get|start|play|queue|let|keep|do|tap|press|use|share|reply|talk|go)"
)
_TAP: Final = (
    r"(?:tap|press|swipe|drag|ring|call|open|go to|reply|ask|hit|claim|type|copy|pick up|log in|long-press|choose|pay|visit|text|write to|contact|phone|book|set|quote|fill in|head to|click"
    r"|switch|subscribe|delete|arm|order|talk to|pop|search|look up|send|add|move|cancel|create|enter|select|reserve)"
)
_READS: Final[dict[Act, re.Pattern[str]]] = {
    name: re.compile(pattern)  # type: ignore[misc]
    for name, pattern in (
        ("undone", rf"\b(?:taken (?:it |that )?back|took (?:it|that) back|undone|withdrawn|un-?sent|reversed|voided|recalled|no longer (?:booked|reserved|set|on|active)|(?:dropped|removed|cancell?ed|off|free|released|deleted) again|by mistake|by error|by oversight|(?:nothing|none)(?:'s| is| was"
                   rf"| has been| else)* (?:been )?{DONE}|(?:have|has|had)(?: not|n't)(?: yet| actually)? (?:been )?(?:{DONE}|gone)|(?:is|was|are|were)(?: not|n't) (?:actually |yet )*(?:booked|sent|ordered|made|saved|set|done|in place|confirmed)\b)"),
        ("refused", r"\b(?:i(?:'m| am) (?:afraid|unable|not able)|(?:i|we|they|it|the \w+) (?:just |simply |really |still )*(?:can't|cannot|can not|couldn't|could not)(?! (?:wait|resist|help but|go wrong|slip))\b|^\W*(?:can't|cannot|couldn't|could not)\b|(?:can't|cannot|can not|couldn't|could not) (?:yet )?be (?!better|happier|easier)|won't (?:work|let|go|turn)|not possible|unavailable|sold out|out of stock"
                   r"|failed|fell through|not (?:supported|accepted|offered|licensed|allowed)|no access|don't have access|do not have access|off limits|beyond me|out of (?:my|reach)|unable to|refused|rejected|declined|denied|turned down|bounced|blocked by|(?:does|did|is)n't (?:respond|answer|go through|available|something i can)|not in my power|access denied)\b"),
        ("asked", r"\b(?:what i(?:'m| am)? (?:still )?(?:need|missing)\b|(?:just )?(?:say|give) (?:the word|which|go|me)\b|(?:tell me|let me know) (?:which|what|when|if|whether|and)\b|reply (?:with )?\W?(?:yes|ok|confirm)|waiting for your\b|your (?:go-ahead|ok|confirmation)\b)|\?\W*$"
                   r"|^\W*(?:please )?(?:tell|let) me (?:know|which|what|when|how|if|your|the)\b|^\W*(?:i|we)(?:'d| would)? (?:just |only |still )?need (?:to know|your|the)\b|^\W*(?:please )?(?:say|name|confirm|give me|send me|specify)\b"),
        ("offered", rf"\b(?:if you(?:'d| would)? (?:like|want|prefer|wish)|(?:i|we) (?:can|could|would|'d) (?:also |then |easily |happily |gladly )*{_DO}\b|i'd (?:suggest|recommend|go for|be happy)|would you like|shall i|should i|want me to|how about|happy to|you might like|once you|as soon as you"
                   rf"|when you(?:'ve| have)? (?:say|tell|pick|choose|confirm|send)|ready to (?:book|send|order|be sent|confirm|place)|would (?:all )?(?:suit|get|leave|give|work|be|ring|run|start|go|have|include|come)|might (?:suit|have|be)|options?:|to choose from)"),
        ("promised", rf"\b(?:(?:i|we)(?:'ll| will| shall|'m going to| am going to|'m about to)(?: then| now| also| just| soon| quickly| gladly)*(?: be)? (?!keep you|show you|remind|read|wake|hear)\w+|(?:will|shall|to) (?:then |now |soon |\w+ly )*(?:be (?:\w+ly )?{DONE}|go out|follow|have)\b|let me (?:just |now |quickly |go and )?{_DO}\b"
                   rf"|on it\b|(?:pending|requested|in progress|underway|under way|processing|queued|loading|syncing)\b|(?:not|n't) (?:been )?(?:yet )?{DONE}(?: it)?(?: yet)?\b|not yet\b|in (?:a moment|due course|the next few|a jiffy|no time|the pipeline|checkout|moderation|your drafts)\b|being\b|await(?:s|ing)\b|waiting for\b|shortly\b"
                   rf"|one sec\b|to-do list\b)|^\W*(?:\w+: )?(?:saving|moving|sending|booking|ordering|cancelling|adding|setting|sharing|downloading|placing|renewing|working|putting|checking)\b|[:,] (?:sending|coming|running soon|to be \w+)\b|(?:\.\.\.)$"),
        ("handed", rf"\b(?:(?<!so )(?<!so that )you (?:can|could|may|should|will need to|'ll need to|need to|have to|'ll have to|'d have to|must|might want to)(?: now| then| also| simply| just| easily| always| still)* (?!be |see |also |find |expect |count |rely |relax|enjoy|look forward|sleep|like |want |use )[a-z]{{2,}}\b|(?:up|left|over) to you\b|on your (?:own|side|end)\b|yourself\b|the (?:easiest|best"
                   rf"|quickest) (?:way )?is to\b|(?:yours|easiest|best|quickest|for you) to {_DO}\b|by you\b|yours (?:if|for the)\b|if i were you\b|can be \w+ed (?:at|from|by|in|on)\b|needed from you\b)|(?:^\W*|[:,;] |\bso |\bthen |\band )(?:please |just |simply |then |now |first |next |best to |kindly )*{_TAP} (?:them|it|the|your|on|at|in|to|for|with|an?|up|a few|ahead|yes|save|buy|start)\b"),
        ("done", rf"\b(?:(?:i|we)(?:'ve| have)?(?: also| just| now| already| both)* {DONE}\b|(?<!to be )(?<!will be )(?<!can be )(?<!being )(?<!not )(?<!n't )(?<!be )(?<!to ){DONE}\b(?! by\b)|(?:is|are|was|were|has been|have been|'s|'re|stays?|remains?)(?: now| all| both| already| safely| also| set to| back)* (?:active|live|(?:on|off|in|out|through|back)(?=[ ,.;:!)]|$)|in your (?:calendar|name|basket|messages|list|account)|on your (?:calendar"
                   rf"|phone|account|list|reader)|on (?:its|the) way|yours|in place|in the (?:calendar|diary)|gone|ready|running)\b|now (?:rings|plays|starts|runs|lies|stands|has|reads|repeats|shows|wakes)\b|(?:has|have) (?:it|them|both|got|received|gone out|this|the message)\b|(?:went|gone) (?:out|back)\b|from now on\b|you(?:'re| are) (?:booked|set|all set|in|confirmed|sorted|down)\b|(?:rings|wakes you|goes off|repeats|will ring"
                   rf"|will wake)\b|is now\b|playing\b)|^\W*(?:\w+[,:]? )?(?:all |both |now |it's |that's |everything(?:'s| is)? )?(?:done|all set|ready|sorted|yours|on it's way|active|there you go)\b|[:,] (?:(?!need|request|nam|call|locat|limit|bas|includ|relat)[a-z]{{2,}}ed|done|active|on|live|ready|armed|running|in|complete|set|sent|held|bought|made|kept)\b"),
    )
}  # fmt: skip
#: The acts that leave something open, in the order in which they count where nothing is reported.
_OPEN: Final[tuple[Act, ...]] = ("asked", "offered", "promised", "handed")
_QUESTION: Final = re.compile(r"\?\W*$")
#: Courtesies, which say nothing of a task.
_COURTESY: Final = re.compile(
    r"^\W*(?:you're (?:very |most )?welcome|my pleasure|a pleasure|any ?time|gladly|enjoy|have a|good (?:night|morning|evening|afternoon)|glad|happy to help|take care|safe travels|sleep well|of course"
    r"|certainly|sure|absolutely|hello|hi|hey|sorry about|thank)[^.]{0,40}[.!]*$"
)
#: Words by which a reply says that it has heard something.
_NOTED: Final = re.compile(
    r"\b(?:noted|got (?:it|that|you)|understood|taken (?:down|note)|noted down)\b", re.IGNORECASE
)
_NOTES: Final = content("noted understood summary recap hello thanks certainly correctly request")
_RULE: Final = re.compile(r"[\s|:\-–=_*#]*")
_MARK: Final = re.compile(r"^\s*(?:[-*•>]|\d+[.)])\s+")
#: Behind "8 a.m.", a capital begins a sentence, unless it is that of a day.
_ABBREVIATED: Final = re.compile(
    r"\b(Mr|Mrs|Ms|Dr|St|vol|Vol|No|no|[ap]\.m(?=\.\s(?:[^A-Z]|[A-Z][a-z]+day\b)))\.\s"
)
_END: Final = re.compile(r"(?<=[.!?;])[\"”’')*]*\s+(?=[\"“(*]*[A-Z0-9À-ÞŁŚŽ¿•—–\W])")


def statements(messages: Sequence[Message], now: Clock | None = None) -> tuple[Statement, ...]:
    """Return the statements of the assistant, in order, without courtesies.

    Until a reply has more than the user's words, what it "notes" is only promised.
    """
    found: list[Statement] = []
    heard, spoken, reported = _NOTES, " ", False
    for turn, message in enumerate(messages):
        if message.role == "user":
            heard |= content(message.content)
            # A wish that reads like a report is none in another's mouth either.
            spoken += "".join(_in_order(p) for p in pieces(message.content) if act_of(p) == "done")
            continue
        said = [s._replace(turn=turn) for s in _of_reply(message.content, now)]
        reported = reported or not all(_repeats(s, heard, spoken) for s in said)
        if not reported and not (turn > 1 and messages[turn - 1].content.rstrip().endswith("?")):
            said = [s._replace(act="promised") if s.act in FIRM else s for s in said]
        found += said
    return tuple(found)


def _repeats(s: Statement, heard: frozenset[str], spoken: str) -> bool:
    """True for a statement that reports no deed and has no word but those that were heard, or that was said so."""
    noted = s.act == "done" and act_of(_NOTED.sub(" ", s.text)) != "done"
    own = (s.act == "told" or noted) and s.words <= heard
    return s.act not in FIRM or own or (len(s.words) > 2 and f" {_in_order(s.text)}" in spoken)


def _in_order(text: str) -> str:
    return "".join(f"{word} " for word in stems(text) if word in content(text))


@lru_cache(maxsize=2048)
def _of_reply(text: str, now: Clock | None) -> tuple[Statement, ...]:
    said = (s for s in pieces(text) if not _COURTESY.match(plain(s)))
    return tuple(Statement(0, s, act_of(s), tuple(values(s, now)), content(s)) for s in said)


def pieces(text: str) -> list[str]:
    """Return the sentences and lines of a text, without marks of lists."""
    found: list[str] = []
    for line in text.split("\n"):
        if _RULE.fullmatch(line):
            continue
        found += (s.strip() for s in _END.split(_ABBREVIATED.sub(r"\1 ", _MARK.sub("", line))))
    return [s for s in found if s]


@lru_cache(maxsize=16_384)
def act_of(text: str) -> Act:
    """Return what a statement does."""
    folded = plain(text).replace("|", " ").replace("#", " ").replace(">", " ").strip()
    if _QUESTION.search(folded):
        return "asked"
    for act in ("undone", "refused"):
        if _READS[act].search(folded):
            return act
    others = {act: m.start() for act in _OPEN if (m := _READS[act].search(folded))}
    if done := _READS["done"].search(folded):
        first = min(others, key=lambda act: others[act], default=None)
        return "done" if first is None or done.start() < others[first] else first
    return next(iter(others), "told")


#: Facts that are the most that something may take or cost.
MOST: Final = re.compile(r"\b(?:most|longest|at most|may cost|may be paid|how much time|budget|limit)\b")
_OF_ITSELF: Final = re.compile(r"\W*(?:by the way,? )?(?:our|this (?:chat|conversation|service))\b")
#: Units of length, which counts of people and things do not count.
_UNITS: Final = frozenset(stems("night day week month hour minute year"))
_TICKETS: Final = frozenset(stems("ticket seat"))
_NO_THINGS: Final = frozenset(stems("table the for of how many on in a an is are at or and to per it"))


class Finding(NamedTuple):
    """What a statement says of one fact, and whether it is right.

    What is not `sure` may be about something else. It is wrong only if nothing says the right value.
    """

    fact: Fact
    said: str
    right: bool
    sure: bool = True


def is_taste(fact: Fact) -> bool:
    """True for a fact of taste, which the history tells: what goes against it concerns personalization."""
    return fact.known == "history" and "." not in fact.name


class Facts:
    """The facts of a scenario as statements can be held against them."""

    def __init__(self, scenario: Scenario) -> None:
        parts = scenario.task.parts
        self.now = scenario.now
        self.named = frozenset(name for part in parts if not part.never for name in part.facts)
        never = {name for part in parts if part.never for name in part.facts}
        self.all = tuple(f for f in scenario.task.facts if f.name not in never or f.name in self.named)
        #: The closed facts that a part names. The others are no part of the task.
        self.wanted = tuple(f for f in self.all if f.right and f.name in self.named)
        #: The other ways to say the values of preferences, as the data names them.
        self.synonyms: dict[str, tuple[str, ...]] = {}
        for words in scenario.words.values():
            for kind in words.types.values():
                for value, ways in kind.synonyms.items():
                    self.synonyms[value] = (*self.synonyms.get(value, ()), *ways)
        self.goal = plain(scenario.task.goal)
        of_parts = (w for p in parts for w in (p.text, *p.words))
        held = (item for types in scenario.preferences.values() for item in types.items())
        #: The stems of what the task is about, and the same with those of the preferences.
        self.about_task = content(" ".join((scenario.task.intent, *(f.what for f in self.all), *of_parts)))
        self.topic = self.about_task | content(" ".join(w for kind, ways in held for w in (kind, *ways)))
        self._told: dict[str, frozenset[str]] = {}
        #: What affirms a fact. Where nothing is to be done, a proposal tells what was asked for.
        self.telling = FIRM if any(p.kind == "done" and not p.never for p in parts) else TELLS
        self._things = {f.name: _things(f, scenario) for f in self.all if f.kind == "count"}

    def findings(
        self, text: str, of_user: Sequence[Value] = (), *, deed: bool = False
    ) -> tuple[Finding, ...]:
        """Return what a statement says of the facts.

        The values `of_user` are no mistakes of an assistant. `deed` is true for a report of a deed, whose
        values are those of the deed.
        """
        return (*self._typed(values(text, self.now), of_user, deed), *self._named(text))

    def told_by(self, text: str) -> frozenset[str]:
        """Return the names of the facts of which a text says a right value."""
        if text not in self._told:
            self._told[text] = frozenset(f.fact.name for f in self.findings(text) if f.right)
        return self._told[text]

    def relevant(self, said: Sequence[Statement]) -> tuple[Statement, ...]:
        """Return the statements without those on the assistant's own house: "Our shop is closed on Sundays"."""
        own = (s for s in said if s.act in FIRM and not s.words & self.about_task)
        left = {id(s) for s in own if _OF_ITSELF.match(plain(s.text))}
        return tuple(s for s in said if id(s) not in left)

    def fits(self, value: Value, fact: Fact) -> bool:
        """True if a value is right for a fact. A range may hold single values that are wrong.

        A sum in another currency than dollars cannot be compared, and is what was asked for where any is.
        """
        if value.thing == "other" and value.kind == fact.kind == "money":
            return fact.known == "open"
        if not any(agrees(fact.kind, right, value) for right in fact.right):
            return False
        ranges = any(RANGE in right for right in fact.right)
        return not ranges or value.vague or not any(agrees(fact.kind, wrong, value) for wrong in fact.wrong)

    def rights(self, fact: Fact, text: str, found: Iterable[Value]) -> list[str]:
        """Return the right values of a fact that a text says, whose typed values were `found`."""
        if fact.kind not in TYPED:
            return [right for right in fact.right if said_in(right, text, fact.kind, self.synonyms)]
        each = ((right, fact.model_copy(update={"right": (right,)})) for right in fact.right)
        return [right for right, only in each if any(self.fits(value, only) for value in found)]

    def counts_persons(self, fact: Fact) -> bool:
        """True for a count of persons, or of what each person has one of."""
        return fact.kind == "count" and bool(self._things[fact.name] & PERSONS)

    def about(self, value: Value) -> list[Fact]:
        """Return the facts that a value may be about, by its kind and by what it counts."""
        facts = [f for f in self.all if f.kind == value.kind]
        if value.kind != "count":
            return facts
        things = set(value.thing.split())
        if things & _UNITS or (value.value == 1 and not things & (PERSONS | _TICKETS)):
            # Five nights are none of ten days, and "one leaves at 7:25" counts nothing.
            return [f for f in facts if things & set(stems(f.what))]
        return [f for f in facts if things & self._things[f.name]]

    def _typed(self, found: Sequence[Value], of_user: Sequence[Value], deed: bool) -> Iterator[Finding]:
        rights: dict[str, str] = {}
        others: list[tuple[Value, list[Fact]]] = []
        for value in found:
            about = self.about(value)
            fitting = [fact for fact in about if self.fits(value, fact)]
            for fact in exact_first(fitting):
                rights.setdefault(fact.name, value.said)
                yield Finding(fact, rights[fact.name], right=True)
            open_ = fitting or value.thing in ("other", "free") or any(not f.right for f in about)
            if not (open_ or any(value.same(one) for one in of_user)):
                others.append((value, about))
        for value, about in others:
            only = sum(f.kind == value.kind for f in self.wanted) == 1
            for fact in about:
                if fact.name not in self.named or fact.name in rights or within_limit(value, fact):
                    continue
                listed = any(agrees(fact.kind, wrong, value) for wrong in fact.wrong)
                sized = value.kind != "duration" or _of_a_size(value, fact)
                if listed or ((only or deed) and sized):
                    yield Finding(fact, value.said, right=False, sure=(listed or only) and deed)

    def _named(self, text: str) -> Iterator[Finding]:
        rights: set[str] = set()
        said: list[str] = []
        others = [f for f in self.all if f.kind not in TYPED]
        for fact in others:
            for right in fact.right:
                if way := said_in(right, text, fact.kind, self.synonyms):
                    rights.add(fact.name)
                    said.append(right)
                    yield Finding(fact, way, right=True)
        named = " ".join(said)
        folded = plain(text)
        for fact in others:
            if fact.name in rights or fact.name not in self.named:
                continue
            for wrong in fact.wrong:
                here = mentions(wrong, text) if len(wrong) > SHORTEST else says(wrong, text, fact.kind)
                left = fact.kind == "place" and is_start(wrong, folded)
                if here and not left and not mentions(wrong, named):
                    yield Finding(fact, wrong, right=False)
                    break
                first = first_name(wrong) if fact.kind == "person" else ""
                if first and re.search(rf"\b{re.escape(first)}\b", folded):
                    yield Finding(fact, first, right=False, sure=False)
                    break


def exact_first(fitting: Sequence[Fact]) -> Sequence[Fact]:
    """Return the fitting facts with exact values, or else all: those say nothing of one that lies in a range."""
    return [fact for fact in fitting if not any(RANGE in right for right in fact.right)] or fitting


def within_limit(value: Value, fact: Fact) -> bool:
    """True if a fact is the most that something may take or cost, and the value is less."""
    if not MOST.search(fact.what) or not isinstance(value.value, int | float) or len(fact.right) != 1:
        return False
    return RANGE not in fact.right[0] and value.value <= ordinal(value.kind, fact.right[0])


def _of_a_size(value: Value, fact: Fact) -> bool:
    """True if a length is of the size of the fact's: ten minutes are none of a rental for a month."""
    assert isinstance(value.value, float | int)
    low, high = (ordinal("duration", end) for end in range_ends(fact.right[0]))
    return low / 3 <= value.value <= high * 3


def _things(fact: Fact, scenario: Scenario) -> frozenset[str]:
    """Return the stems of what a count counts, by the words of the fact and of its parts."""
    parts = [p for p in scenario.task.parts if fact.name in p.facts]
    texts = (fact.what, *(p.text for p in parts), *(w for p in parts for w in p.words))
    words = set(stems(fold(" ".join(texts))))
    if words & PERSONS or fold(fact.what).startswith("how many people"):
        words |= PERSONS
    return frozenset(words - _NO_THINGS)


FactState = Literal["affirmed", "contradicted", "not said"]
#: A reply that says yes to what the user asks.
_YES: Final = re.compile(
    r"^\W*(?:oh |ah )?(?:yes|yep|yeah|correct|exactly|that's (?:right|correct)|indeed|right|it is|they are|it does|confirmed)\b(?! now)"
)


class FactReading(NamedTuple):
    """What the assistant says of a fact by the end: the words, the message, and the statement as a quote.

    With ``not said``, `said` and `quote` are empty and `turn` is None.
    """

    fact: Fact
    state: FactState
    said: str = ""
    turn: int | None = None
    quote: str = ""


def read_statements(
    facts: Facts, messages: Sequence[Message], said: Sequence[Statement]
) -> dict[str, FactReading]:
    """Return the reading of each closed fact that a part of the task names, by the end of the messages.

    A fact is affirmed by a statement of the assistant that reports a deed or tells how things are. Questions,
    offers, promises and refusals affirm nothing. The last statement counts. A fact of which every value is
    needed is affirmed if each of them is said.
    """
    first = next((m.content for m in messages if m.role == "user"), "")
    of_user = values(first, facts.now)
    readings = {fact.name: FactReading(fact, "not said") for fact in facts.wanted}
    every: dict[str, set[str]] = {}
    for statement, found in _findings(facts, messages, said, of_user):
        by_name: dict[str, list[Finding]] = {}
        for finding in found:
            by_name.setdefault(finding.fact.name, []).append(finding)
        for name, several in by_name.items():
            if name not in readings:
                continue
            right = [f for f in several if f.right]
            if right and right[0].fact.every:
                found_here = values(statement.text, facts.now)
                every.setdefault(name, set()).update(facts.rights(right[0].fact, statement.text, found_here))
                if len(every[name]) < len(right[0].fact.right):
                    continue
            old, best = readings[name], (right or several)[0]
            # Within a reply, and where it is not sure, a right value counts before a wrong one.
            newer = old.state == "contradicted" or (old.turn or 0) < statement.turn
            if right or old.state == "not said" or (best.sure and newer):
                state: FactState = "affirmed" if right else "contradicted"
                readings[name] = FactReading(best.fact, state, best.said, statement.turn, statement.text)
    _one_person(readings, facts, said)
    return readings


def _one_person(readings: dict[str, FactReading], facts: Facts, said: Sequence[Statement]) -> None:
    """Affirm the counts of persons that are 1: a report of a deed that names no number is about one."""
    deed = next((s for s in reversed(said) if s.act == "done"), None)
    if deed is None:
        return
    for name, reading in readings.items():
        if reading.state == "not said" and "1" in reading.fact.right and facts.counts_persons(reading.fact):
            readings[name] = FactReading(reading.fact, "affirmed", "one", deed.turn, deed.text)


def _findings(
    facts: Facts, messages: Sequence[Message], said: Sequence[Statement], of_user: Sequence[Value]
) -> Iterator[tuple[Statement, tuple[Finding, ...]]]:
    """Yield each firm statement with what it says of the facts, and what a "yes" of the assistant says."""
    answered: set[int] = set()
    for statement in said:
        turn = statement.turn
        if turn not in answered:
            answered.add(turn)
            if turn and _YES.match(fold(messages[turn].content)):
                for asked in (s for s in pieces(messages[turn - 1].content) if s.rstrip().endswith("?")):
                    found = facts.findings(asked)
                    yield statement._replace(text=asked), tuple(f for f in found if f.right)
        if statement.act in facts.telling:
            found = facts.findings(statement.text, of_user, deed=statement.act == "done")
            if not _is_idle(statement, found, facts):
                yield statement, found


def _is_idle(statement: Statement, found: Sequence[Finding], facts: Facts) -> bool:
    """True where a value is the only thing that a statement has of the task: "The weather is lovely today"."""
    if len({f.fact.name for f in found}) != 1 or found[0].fact.kind not in TYPED:
        return False
    own = statement.words - content(found[0].said)
    return statement.act == "told" and len(own) > 1 and not own & facts.topic
