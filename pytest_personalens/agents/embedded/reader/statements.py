"""Cuts replies into statements, and reads what each does: done, told, offered, promised, asked, handed, refused, undone."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.agents.embedded.reader.text import content, plain, stems
from pytest_personalens.agents.embedded.reader.typed_values import values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded.reader.typed_values import Value
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Clock

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
