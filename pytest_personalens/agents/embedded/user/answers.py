"""Answers questions by what the user knows: the facts of its task, its preferences and its limits."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.agents.embedded.reader.statements import pieces
from pytest_personalens.agents.embedded.reader.text import content, mentions, plain, stem, stems
from pytest_personalens.agents.embedded.reader.typed_values import said_in, values
from pytest_personalens.agents.embedded.user import voice
from pytest_personalens.agents.embedded.user.voice import drawn_number, first_person, lower_first
from pytest_personalens.core.scenario import DomainWords
from pytest_personalens.datasets.world.written import ordinal, range_ends

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded.reader.statements import Facts
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

    #: A preference: its domain, its type and the user's values.
    Held = tuple[str, str, tuple[str, ...]]


#: What a question wants. consent: a yes. detail: a fact or a wish. either: one of several. list: one of those
#: that the reply lists. more: another wish. start: what it is all about. private: what is in an account. any:
#: whatever there is to know.
Wants = Literal["consent", "detail", "either", "list", "more", "start", "private", "any"]


class Question(NamedTuple):
    """A question or request of a reply, as it is written, and what it wants."""

    text: str
    wants: Wants


#: A request without a question mark.
_REQUEST: Final = re.compile(r"^\W*(?:[^,:;?]{1,40}[,:;] ?)?(?:(?:please|kindly|just|simply|so|now|then|and|do) )*(?:reply|respond|answer|say|confirm|specify|state|provide|indicate|choose|pick|select|approve|authori[sz]e|tell me|let me know|give me|send me|share|type|press|enter|name|advise|clarify|accept|agree|nod|sign off)\b(?!-)"
    r"|\b(?:please|kindly) (?:reply|respond|answer|say|confirm|specify|state|provide|indicate|choose|pick|select|approve|authori[sz]e|tell|let me know|give|type|press|enter|name|advise|accept|acknowledge|sign)\b"
    r"|\b(?:let me know|tell me|say the word|say so|say yes|say when|yes or no|y/n|thumbs[- ]up|green light|go-ahead|your (?:approval|confirmation|consent|permission|ok|okay|yes|blessing|agreement|nod|call|say-so|word|decision|choice|answer|reply|response|instructions?)(?! (?:with|to|from|at|on|is|has|for)\b))\b"
    r"|\b(?<!you )(?:(?:need|require|miss|like|want|have|missing|depends on|wonder)(?:ing)? (?:only |just )?to (?:know|learn|ask|check|confirm)\b|(?:need|require|miss|missing|depends on|(?:i|we)(?:'d| would)? (?:like|want|have))(?:ing)? (?:only |just )?your\b)|\bi(?:'d| would| do| also| still| just| only)*(?:'ll)? need (?:the|a|some) [\w ]+? (?:first|from you|to (?:proceed|continue|book|go on|do))\b"
    r"|\b(?:hear(?:ing)? (?:back )?from you|up to you to confirm|confirm to|tap (?:yes|ok|confirm))\b|\b(?:once|when|as soon as|whenever|until|unless|if) you(?:'re|'ve|'d| are| have| would| do| just| only)* (?:say|confirm|approve|agree|ok|okay|give|reply|respond|happy|fine|ready|accept|consent|sign|nod|answer|tell|let me know|want me to|like me to)\b")  # fmt: skip
#: A list of what is needed, without a question mark.
_NEEDS: Final = re.compile(r"\b(?:i|we)(?:'d| would)? (?:just |only |still |also )*need (?:to know )?(?:the|your|which|what|how)\b(?! (?:word|go-ahead|ok|okay|yes|nod|green|final|approval|confirmation|consent|permission|blessing|agreement|call|say-so|answer|reply|response)\b)")  # fmt: skip
#: Closing words that want nothing.
_CLOSER: Final = re.compile(r"\b(?:any|some|no)(?:thing|body|one)? (?:else|more|further)\b|\b(?:any|some)thing (?:i can|(?:you(?:'d| would) (?:like|want) )?(?:me )?to (?:change|add|adjust))\b|\bwhat else\b|\belse (?:can|could|may) i\b|\bneed (?:any(?:thing)?|some|more)\b|\b(?:other|further|more) (?:\w+ )?(?:questions?|requests?|wishes|help|assistance|changes)\b|\bany (?:questions|changes)\b"
    r"|\bfeel free\b|\b(?:do not|don't) hesitate\b|\b(?:if|should) you(?:'d| would)? (?:want|like|wish|need|prefer|ever|require|have|change your mind)\b.{0,30}\b(?:change\w*|adjust|tweak|different|another|anything|something|other|mind|any)\b|\b(?:any (?:problems?|trouble|issues?)|if that (?:doesn't|does not)|in case)\b"
    r"|\b(?:if|should) (?:you need|anything|something)\b|\bhow (?:did|was) (?:it|that|i)\b|\b(?:want|like) me to (?:change|adjust|tweak|add|do) (?:any|some)thing\b")  # fmt: skip
_START: Final = re.compile(r"\b(?:how|what) (?:can|may|could|should) i (?:help|assist|do)(?: (?:you|for you))?\b(?! (?:with )?(?:it|that|them|the\b))|\bwhat (?:(?:do|did) you (?:need|want)|would you like)(?: me)?(?: to do| help with| done)?(?: today| now| next| exactly)?\W*$|\bwhat(?: is|'s| can) (?:it|this) about\b"
    r"|\b(?:tell me|say) (?:a bit |a little )?more\b|\bwhat are you looking for\b|\b(?:clarify|rephrase|elaborate)\b|\bwhat (?:exactly )?do you mean\b|\bwhat brings you\b|\bwhich of (?:these|those) is it\b|\bwhere (?:shall|should|do) we (?:start|begin)\b")  # fmt: skip
_PRIVATE: Final = re.compile(r"\b(?:booking|confirmation|account|card|phone|passport|policy|customer|member\w*|loyalty|contact|credit|telephone|mobile) (?:number|code|details?)\b|\be-?mail(?: address)?\b(?! or\b)|\bpassword\b|\bdate of birth\b|\b(?:post|zip)(?: ?code)\b|\b(?:your|billing|home) (?:full )?(?:address|name)\b|\bpassport\b|\bpayment (?:details|method)\b")  # fmt: skip
#: Words that ask for something in particular, where they lead a question or follow a verb of asking.
_LED: Final = r"(?:(?:on|at|for|in|from|to|by|with|under|until|since|around|about|of|up to) )?(?:what|which|when|where|who|whom|whose|how (?!(?:does|do|would|is|about) (?:that|this|it|these|those|everything)\b))"
_DETAIL: Final = re.compile(rf"^\W*(?:[^,:;?]{{1,40}}[,:;] ?)?(?:(?:and|so|but|then|now|also|ok|okay|just) )*{_LED}\b"
    rf"|\b(?:ask|know|tell me|say|wonder\w*|sure|confirm|specify|state|indicate|clarify|decide|remind me|advise|choose|pick|unclear|:) ?(?:you )?{_LED}\b|\bwhat about (?:the|your)\b|\?.*\bwhich\b")  # fmt: skip
_ALSO_DETAIL: Final = re.compile(r"\b(?:specify|state|provide|indicate|name|give me|send me|share|advise|select|choose|enter|clarify|tell me|need|require|know|confirm|missing|about)(?: to know)?(?: me)? (?:the|your|a|an|some|any)\b(?! (?:word|go-ahead|ok|okay|yes|nod|booking|order|green|final))")  # fmt: skip
#: A question whether there is anything to know: "Do you have a favourite airline?", "Any allergies?".
_ANY: Final = re.compile(r"\b(?:could|can|would) you (?:please )?(?:tell|remind) me\W*$|^\W*(?:[^,:;?]{1,40}[,:;] ?)?(?:(?:and|so|also|ok) )*(?:do|did|have|has|are|is|was|were|would|does|any)\b.*\b(?:any|preferences?|preferred|favou?rites?|prefer|particular|special|specific|allerg\w+|diet\w*|restrictions?|requirements?|usual(?:ly)?|in mind|remember|know|mind|not eat|n't eat)\b|\bis there (?:an?|any|some)(?:thing)? .*\byou\b|^\W*(?:(?:and|also|so) )*any\b")  # fmt: skip
#: A question for a yes, whatever else it names.
_CONSENT: Final = re.compile(r"\b(?:shall|should|may|might|can|could|must) (?:i|we)\b(?! (?:ask|know|have (?:the|your)|get (?:the|your))\b)|\b(?:want|like|prefer|need|allow|wish|authori[sz]e|permit) (?:for )?(?:me|us) to\b|\b(?:ok|okay|fine|all right|alright|good|happy|comfortable|ready|right) (?:if|for me|with me|to (?:go|book|proceed|send|order|place|confirm|continue|finali[sz]e))\b|\b(?:go ahead|go-ahead|proceed|approve|authori[sz]e|green light|say the word|say so|say yes|yes or no|y/n)\b"
    r"|\bconfirm\b(?! (?:the|your|which|what|when|how|who|where|whether)\b)|\bmind if i\b|\b(?:i|we) (?:have|got) your (?:ok|okay|permission|approval|consent|go-ahead|blessing)\b|\bdo (?:i|we) have (?:your|permission)\b|\bhow (?:does|do|would|is) (?:that|this|it|these|those|everything)(?: (?:all )?(?:sound|look|seem|work|suit|fit|feel|strike|grab)\b|\W*$)|\b(?:does|do|is|are|will|would) (?:that|this|it|these|those|everything|all (?:of )?(?:that|this)) (?:all )?(?:work|suit|sound|look|fit|ok|okay|fine|good|right|correct|alright|all right|do|be (?:ok|okay|fine|all right))\b")  # fmt: skip
_EITHER: Final = re.compile(r"\bor\b(?! (?:not|so|something|anything|whatever|other\w*|any|more|less|no|is there|should i|shall i|would you (?:rather|like|prefer) (?:me|to)|do you want me|wait|leave|hold|change|later on)\b)")  # fmt: skip
_CHOOSES: Final = re.compile(r"\b(?:which|choose|pick|select|prefer|favou?rite|reply|type|press|answer|your (?:choice|pick)|one of (?:these|those|them)|any of (?:these|those|them)|either of|appeals?|suits?|sounds? (?:best|good))\b")  # fmt: skip
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\(?(?:\d|[a-dA-D])[.):])\s*(.+)$", re.MULTILINE)
_INLINE: Final = re.compile(r"(?:^|\s)\(?(?:\d|[a-dA-D])[.)]\s+(.+?)(?=[,;.]?\s+(?:or |and )?\(?(?:\d|[a-dA-D])[.)]\s|[.?!;]?\s*$|[?!]\s)", re.MULTILINE)  # fmt: skip
_AND: Final = re.compile(rf"(?:,? (?:and|also),? |, )(?={_LED}\b(?! (?:is|are|has|have|was|were|will) (?:the|it|you)\b)|(?:do|would|shall|should|is|are|will|can|could|may) (?:you|i|we|it|this|that|there)\b|any\b)", re.IGNORECASE)  # fmt: skip


#: What an assistant quotes, such as the text of a message.
_QUOTE: Final = re.compile(r"[\"“„«][^\"”»“]{24,}[\"”»“]")


#: The patterns in the order in which they are tried. What none of them finds wants a yes.
_READS: Final[tuple[tuple[Wants, re.Pattern[str]], ...]] = (
    ("start", _START), ("more", _CLOSER), ("either", _EITHER), ("private", _PRIVATE), ("detail", _DETAIL), ("consent", _CONSENT), ("detail", _ALSO_DETAIL), ("any", _ANY),
)  # fmt: skip


@lru_cache(maxsize=512)
def questions(reply: str, listing: str = "") -> tuple[Question, ...]:
    """Return what a reply asks, in order; `listing` is an earlier one with the options, where it has none."""
    found = []
    for piece in pieces(_QUOTE.sub('"..."', reply)):
        folded, listing = plain(piece), listing or reply
        if piece.rstrip(" )\"'*_").endswith("?"):
            found += [Question(p, _wants(plain(p), listing)) for p in _AND.split(piece) if len(p) > 1]
        elif _NEEDS.search(folded):
            parts = re.split(r", (?:and )?| and (?=(?:the|your|how|which)\b)", piece)
            found += [Question(part, "detail") for part in parts if len(part) > 1]
        elif _REQUEST.search(folded):
            found.append(Question(piece, _wants(folded, listing)))
    return tuple(found)


def _wants(folded: str, reply: str) -> Wants:
    if _CHOOSES.search(folded) and not _CLOSER.search(folded) and len(options(reply)) > 1:
        return "list"
    found = (wants for wants, pattern in _READS if pattern.search(folded))
    # "How is it driven?" asks for a kind, though it has none of the words for one.
    if re.match(r"\W*how (?:is|are) (?:it|they|that|this) \w+(?:ed|en)\b", folded):
        return "detail"
    first: Wants = next((w for w in found if w != "either" or alternatives(folded)), "consent")
    return "consent" if first == "private" and _CONSENT.search(folded) else first


def options(reply: str) -> list[str]:
    """Return what a reply lists to choose from: its list items, or what it numbers in a sentence."""
    items = [m[1].strip() for m in _ITEM.finditer(reply)]
    if len(items) < 2:
        items = [m[1].strip() for m in _INLINE.finditer(reply)]
    return [] if len(items) < 2 or any(i.endswith("?") for i in items) else items


def alternatives(question: str) -> list[str]:
    """Return what an either-or question lets the user choose from; empty if these are clauses.

    >>> alternatives("would you like a window seat, an aisle seat or the exit row?")
    ['a window seat', 'an aisle seat', 'the exit row']
    """
    body = re.split(r"\?|\s[-–—]\s", question.strip())[0]
    left, _, right = body.rpartition(" or ")
    if re.search(r"\b(?:you|they) (?:like|love|want|need|know|prefer|take|have)$", left):
        return []  # "any airline you like or avoid"
    if (before := _LEAD.match(f"{right} ")) and f" {before[0]}" in left:
        left = left.rpartition(f" {before[0]}")[2]
    texts = re.split(r", (?:or )?| or ", f"{_BEFORE.sub('', left)}, {right}")
    parts = [_LEAD.sub("", text.strip(" ,.\"'“”‘’:")) for text in texts]
    kept = [part for part in parts if part and not _CLAUSE.match(part)]
    whole = len(kept) == len(parts) or len(kept) > 1
    return kept if whole and all(len(part.split()) <= _LONGEST for part in kept) else []


_LEAD: Final = re.compile(r"^(?:or|rather|maybe|perhaps|more of|in|at|on|by|with|for|read) ")
_LONGEST: Final = 6
_BEFORE: Final = re.compile(r"^.*\b(?:would you (?:like|prefer|rather|take)(?: have| take| go| sit| travel)?(?: in| on| with| by| to)?|do you (?:want|prefer|need|like)(?: to \w+(?: it)?)?|do you (?:usually )?(?:read|travel|play|watch|listen|sit|stay|eat|pay|go|fly|drive)|should (?:it|i|that|this) (?:be|go for|take|use|book|make it)|shall (?:it|i) (?:be|take|use|book|make it)|is (?:it|that|this)|are you|will (?:it|that) be|want(?: to \w+(?: it)?)?|prefer|make it|for you|either|between|go with|rather(?: have| take)?)\s+|^.*[:;]\s+|^(?:and|so|then|ok|okay|hi|hello)[, ]+")  # fmt: skip
_CLAUSE: Final = re.compile(r"(?:which|what|when|where|who|whom|why|how|do|does|did|is|are|was|will|would|should|shall|can|could|may|has|have|had|it|i|you|your|there|that|if|also|and|so|not|let|tell|leave|keep|don't|doesn't)\b")  # fmt: skip


class Answer(NamedTuple):
    """What the user says: a bank of phrases and a value. `of` names the fact or the preference that it tells."""

    bank: str
    value: str = ""
    of: str = ""


#: How a question asks for a kind of value.
_KINDS: Final = {
    "date": re.compile(r"\bwhen\b|\b(?:what|which|the|your|a) (?:\w+ )?(?:days?|dates?|weekday|evening|night|morning)\b|\bdates?\b"),
    "time": re.compile(r"\bwhen\b|\b(?:what|which|the|your|a|at what) (?:\w+ )?(?:time|hour)\b|\bhow (?:early|late)\b"),
    "count": re.compile(r"\bhow (?:many|big|large|often|old|long)\b|\bnumber of\b|\b(?:party|group) size\b|\bwhich volume\b"),
    "duration": re.compile(r"\bhow (?:long|late|much time)\b|\bduration\b|\blength\b|\bhow many (?:hours|minutes|days|weeks|months|nights)\b"),
    "money": re.compile(r"\bbudget\b|\bhow much (?:money|may|can|is|are|do you want to (?:spend|pay)|would you like to (?:spend|pay))|\bprice|\bspend\b|\bcost\b|\blimit\b|\bmaximum\b|\bfare\b"),
    "person": re.compile(r"\bwho(?:m|se)?\b|\bnames?\b|\bwhich (?:person|people|friends?|contacts?)\b|\brecipients?\b"),
    "place": re.compile(r"\bwhere\b|\b(?:which|what|the) (?:city|town|place|address|destination|location|station|airport|library|room|venue)\b|\bdestination\b|\baddress\b"),
}  # fmt: skip
#: Words of a question that say nothing of what it asks for.
_EMPTY: Final = frozenset(
    stems("the a an of for to in on at it is are be do does will would should shall can i you your my me we us what which who whom when where how many much long and or that this there user please like want need have has may by with from any some as so know tell prefer usually best")
)  # fmt: skip
#: Words for the same thing, each of which counts as the first of its row.
_SAME: Final = {
    stem(word): stem(row.split()[0])
    for row in (
        "arrive arrival arriving", "leave departure depart departs leaving", "return back returning", "first begin begins start starts starting", "last end ends until finish",
        "fly flight flights", "people guests persons person passengers party diners everyone", "spend budget cost costs price pay paid fare", "new instead replacement",
        "old current original", "book title novel", "film movie", "car vehicle", "hour time", "eat dinner table restaurant lunch meal", "app channel", "name call called", "travel journey trip",
        "service platform streaming", "company operator carrier firm", "food cuisine kitchen", "reference code number", "make maker brand",
    )
    for word in row.split()
}  # fmt: skip
_WH: Final = re.compile(r"\b(?:where|when|who|whom|how (?:many|long|often|much))\b")
_GENERAL: Final = re.compile(r"\b(?:preferences?|tastes?|wish\w*|requirements?|particular|in mind|enjoy|prefer|like|love|favou?rites?|nicer|looking for|important|matters|kinds?|sorts?|types?)\b")  # fmt: skip
_DIET: Final = re.compile(r"\b(?:allerg\w+|diet\w*|restrictions?|intoleran\w+|avoid|eat|accessib\w+|requirements|special needs)\b")  # fmt: skip
_HERE: Final = re.compile(r"\bwhere (?:are you|do you (?:live|stay|start|leave))\b|\byour (?:current )?location\b|\b(?:departure|leav|travel|fly|start|depart|setting off)\w*\b.*\bfrom\b|\bfrom (?:where|which (?:city|station|airport|stop))\b|\bwh(?:ere|ich city) .*\bfrom\W*$")  # fmt: skip
#: A fact that says from where somebody leaves.
_STARTS: Final = re.compile(r"\b(?:from|starts?|leaves?|departure|picked up|pick-up)\b")
_DATES: Final = re.compile(r"\bdates\b|\bdays\b.*\band\b|\buntil when\b|\bhow long are you away\b")
#: The types of preferences that say what somebody likes in a domain.
_TASTE: Final = re.compile(r"genre|categor|kind|type|cuisine|sport|sector", re.IGNORECASE)
#: Words of a question that name nothing.
_UNNAMED: Final = frozenset(stems("could would preference taste wish requirement particular mind enjoy like love favourite favorite nice look important matter kind sort type anything something thing remember one tell"))  # fmt: skip
_FITS: Final = 0.95
_SHORT: Final = 5
_ASKING: Final = frozenset(stems("what which do you would like of the a an to is"))
#: The widest range of days, and of minutes of the day, that a person would name.
_WIDEST: Final = {"date": 31, "time": 360}
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth")


class Answers:
    """What the user of a scenario answers; `key` draws where it has no wish."""

    def __init__(self, facts: Facts, scenario: Scenario, key: str) -> None:
        self.facts, self.scenario, self.key = facts, scenario, key

    @cached_property
    def _held(self) -> list[Held]:
        """The preferences, those first that matter to the task."""
        relevant = self.scenario.task.relevant
        rows = [(d, n, v) for d, types in self.scenario.preferences.items() for n, v in types.items() if v]
        return sorted(rows, key=lambda row: row[:2] not in relevant)

    def to(self, question: Question, reply: str) -> list[Answer]:
        """Return the answers to a question that asks for more than a yes."""
        folded = plain(question.text)
        if question.wants == "list":
            return [self._chosen(options(reply))]
        if question.wants == "either":
            return [self._either(question.text, folded)]
        if _DIET.search(folded) and question.wants in ("any", "detail"):
            diet = next((row for row in self._held if "diet" in row[1].lower()), None)
            limits = [Answer("diet", limit.name, limit.name) for limit in self.scenario.limits[:2]]
            return [self._of_held(diet)] if diet else limits or [Answer("none")]
        starts = any(_STARTS.search(f.what) for f in self.scenario.task.facts)
        if _HERE.search(folded) and not starts:
            here = self.scenario.situation.known.get("location", "")
            return [Answer("here", here)] if here else [Answer("home")]
        known = self._known(folded)
        if known or question.wants == "private":
            return known or [Answer("private")]
        general = _GENERAL.search(folded) or not _topic(folded) - _UNNAMED
        if general and not _WH.search(folded) and (wishes := self._wishes(folded)):
            return wishes
        intent = self.scenario.task.intent
        # Where a task has facts, they say all that the wish does.
        for value in () if self.scenario.task.facts else values(intent, self.scenario.now):
            if value.kind in _KINDS and _KINDS[value.kind].search(folded):
                return [Answer("tell", intent[value.start : value.end], value.said)]
        if question.wants == "any":
            return [Answer("none")]
        kind = next((k for k in ("money", "time") if _KINDS[k].search(folded)), "")
        return [Answer({"money": "free_money", "time": "free_when"}.get(kind, "free"))]

    def _known(self, folded: str) -> list[Answer]:
        """Return the fact, the thing or the preference that a question asks for; empty if there is none."""
        scored = [(self._score(f, folded), f.known != "open", f) for f in self.scenario.task.facts]
        ranked = sorted((row for row in scored if row[0] >= _FITS), key=lambda row: row[:2], reverse=True)
        score, closed = ranked[0][:2] if ranked else (0.0, False)
        best = self._best(folded)
        if best is not None and (best[0] > score + (0.3 if score > 1 else 0) or not closed):
            return [self._of_held(best[1])]
        if score < 1 and re.search(r"\bwhich\b", folded):
            for thing in self.scenario.task.things:
                if (_topic(thing.what) | {"booking"}) & _topic(folded):
                    return [Answer("tell", thing.record.split(", ")[0], thing.name)]
        if not ranked:
            return []
        first = ranked[0][2]
        if _DATES.search(folded) and first.kind == "date":
            days = [f for _, closed, f in ranked if closed and f.kind == "date" and "old" not in f.what]
            return [self._of_fact(f) for f in sorted(days[:2], key=lambda f: f.right)]
        both = [f for s, _, f in ranked if {f.kind, first.kind} == {"date", "time"} and s >= score]
        return [self._of_fact(f) for f in (first, *both[:1]) if _is_told(f)]

    def _wishes(self, folded: str) -> list[Answer]:
        """Return one or two preferences that matter to the task: those of the domain that a question names."""
        relevant = [row for row in self._held if row[:2] in self.scenario.task.relevant]
        named = set[str]()
        for domain in self.scenario.domains:
            words = self.scenario.words.get(domain, DomainWords()).words
            if _topic(folded) & _topic(plain(" ".join((domain, *words)))):
                named.add(domain)
        if not (named or self.scenario.task.facts) and _topic(folded) - _UNNAMED:
            return []  # "Which size would you like?" names something else
        tastes = [row for row in self._held if row[0] in named and _TASTE.search(row[1])]
        return [self._of_held(row, most=1) for row in (tastes[:1] or relevant[:2])]

    def _of_fact(self, fact: Fact) -> Answer:
        text = first_person(voice.spoken(fact))
        bank = voice.bank_of(fact)
        return Answer(bank, text.removesuffix(" people") if bank == "tell_people" else text, fact.name)

    def _of_held(self, row: Held, most: int = 2) -> Answer:
        said = voice.preferred(row[1], row[2], most=most)
        bank = "free" if said.lower() == "no preference" else voice.bank_of_preference(row[1])
        return Answer(bank, said, "" if bank == "free" else row[1])

    def _score(self, fact: Fact, folded: str) -> float:
        """Return how well a question fits a fact: `_FITS` if only by the kind of its value, and more by its words."""
        asked, about = _topic(folded), _topic(plain(f"{fact.what} {fact.name.rpartition('.')[2]}"))
        shared = len(asked & about) - 0.05 * len(about - asked)
        if (kind := _KINDS.get(fact.kind)) is None:
            return shared
        if not kind.search(folded) or (fact.kind == "count" and not asked & about):
            return 0.5 * shared if fact.kind in ("person", "place") else 0.0
        return 1 + shared if asked & about else _FITS

    def _best(self, folded: str) -> tuple[float, Held] | None:
        """Return the preference that a question asks for, with how well it fits."""
        asked, best = _topic(folded), None
        in_words = bool(_WH.search(folded))
        for row in self._held:
            spec = voice.words_of(self.scenario, row[0], row[1])
            score = max((1.5 + 0.1 * len(ask.split()) for ask in spec.ask if _asks(ask, folded)), default=0.0)
            about = frozenset(_SAME.get(w, w) for w in voice.topic(row[1]))
            # The name of the domain says little: "What should a hotel offer?"
            shared = sum(0.5 if w in _topic(plain(row[0])) else 1.0 for w in asked & about)
            score = max(score, shared * (0.9 if in_words else 1))
            named = (*row[2], *spec.values) if not in_words else ()
            if any(content(v) and content(v) <= content(folded) for v in named):
                score = max(score, 1.2)
            score += 0.2 * (row[:2] in self.scenario.task.relevant)
            if score >= 1 and (best is None or score > best[0]):
                best = score, row
        return best

    def fit(self, text: str) -> tuple[int, Answer | None]:
        """Return how well a choice suits the user, and what of the user's it goes against, if it does."""
        found = self.facts.findings(text, deed=True)
        good, bad = sum(f.right for f in found), sum(not f.right for f in found)
        against = next((self._of_fact(f.fact) for f in found if not f.right), None)
        for row in self._held:
            if self.holds(row, text):
                good += 1
            elif self.other(row, text):
                bad, against = bad + 1, against or self._of_held(row)
        return good - bad, against

    def holds(self, row: Held, text: str) -> bool:
        """True if a text says one of the user's own values of a preference."""
        return any(said_in(v, text, "item", self.facts.synonyms) for v in row[2])

    def other(self, row: Held, text: str) -> str:
        """Return another value of the preference's list that a text says; empty if there is none."""
        listed = voice.words_of(self.scenario, row[0], row[1]).values
        others = [v for v in listed if not any(v == h or mentions(v, h) for h in row[2])]
        return next((v for v in others if mentions(v, text)), "") if len(others) < len(listed) else ""

    def _either(self, text: str, folded: str) -> Answer:
        """Return one of the alternatives, or what the user wants instead of all."""
        choices = alternatives(folded)
        fits = [self.fit(choice) for choice in choices]
        best = max(range(len(choices)), key=lambda n: (fits[n][0], drawn_number(self.key, choices[n])))
        against = fits[best][1]
        if fits[best][0] <= 0 and against is not None and against.value != "no preference":
            return Answer("instead", against.value, against.of)
        if fits[best][0] <= 0 and (against or re.search(r"don't (?:you )?mind|doesn't matter", folded)):
            return Answer("either_way")
        match = re.search(re.escape(choices[best]), text, re.IGNORECASE)
        return Answer("option", lower_first(match[0]) if match else choices[best])

    def _chosen(self, listed: Sequence[str]) -> Answer:
        """Return the listed option that suits the user best, by its name or by its place in the list."""
        fits = [self.fit(option)[0] for option in listed]
        best = max(range(len(listed)), key=lambda n: (fits[n], -n))
        plainly = listed[best].replace("*", "").strip()
        name = re.split(r"\s+[-–—|]\s+|\s*(?::(?!\d)|[(;])|,\s", plainly)[0].strip(" .\"'")
        named = len(name.split()) <= _SHORT and re.search(r"[^\W\d_]{3}", name)
        place = [*_ORDINALS, "last"][min(best, len(_ORDINALS))]
        return Answer("option", name if named else f"the {place} one")

    def corrections(self, text: str) -> Iterator[tuple[Fact, str]]:
        """Yield the facts that a text has wrong, with the words that are wrong, and none that it has right too."""
        found = self.facts.findings(text, deed=True)
        right = {f.fact.name for f in found if f.right}
        yield from ((f.fact, f.said) for f in found if not f.right and f.sure and f.fact.name not in right)


def _topic(folded: str) -> frozenset[str]:
    found = frozenset(_SAME.get(w, w) for w in stems(folded)) - _EMPTY
    return found | {"people"} if re.search(r"\bhow many (?:of (?:you|us)|people)\b", folded) else found


def _is_told(fact: Fact) -> bool:
    """True for a fact that the user has a word on: what is right, or days and hours between two ends."""
    if fact.known != "open" or not (fact.right and fact.kind in _WIDEST):
        return bool(fact.right) and fact.known != "open"
    low, high = (ordinal(fact.kind, end) for end in range_ends(fact.right[0]))
    return high - low <= _WIDEST[fact.kind]


def _asks(ask: str, folded: str) -> bool:
    """True if a question asks with these words, or with the same question word and the words that have a topic."""
    return mentions(ask, folded) or frozenset(stems(ask)) - _ASKING <= frozenset(stems(folded))
