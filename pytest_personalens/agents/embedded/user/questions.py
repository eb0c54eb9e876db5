"""Finds what a reply asks: its questions, and its requests in the form of a statement."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from pytest_personalens.agents.embedded.reader.statements import pieces
from pytest_personalens.agents.embedded.reader.text import plain

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
#: A list of what is needed, without a question mark, and a request for a later day: "once they have answered".
_NEEDS: Final = re.compile(r"\b(?:i|we)(?:'d| would)? (?:just |only |still |also )*need (?:to know )?(?:the|your|which|what|how)\b(?! (?:word|go-ahead|ok|okay|yes|nod|green|final|approval|confirmation|consent|permission|blessing|agreement|call|say-so|answer|reply|response)\b)")  # fmt: skip
_LATER: Final = re.compile(r"\W*(?:once|when|after|as soon as) (?:they|he|she|it|the|everybody|everyone)\b")
#: Closing words that want nothing.
_CLOSER: Final = re.compile(r"\b(?:any|some|no)(?:thing|body|one)? (?:else|more|further)\b|\b(?:any|some)thing (?:i can|(?:you(?:'d| would) (?:like|want) )?(?:me )?to (?:change|add|adjust))\b|\bwhat else\b|\belse (?:can|could|may) i\b|\bneed (?:any(?:thing)?|some|more)\b|\b(?:other|further|more) (?:\w+ )?(?:questions?|requests?|wishes|help|assistance|changes)\b|\bany (?:questions|changes)\b"
    r"|\bfeel free\b|\b(?:do not|don't) hesitate\b|\b(?:if|should) you(?:'d| would)? (?:want|like|wish|need|prefer|ever|require|have|change your mind)\b.{0,30}\b(?:change\w*|adjust|tweak|different|another|anything|something|other|mind|any)\b|\b(?:any (?:problems?|trouble|issues?)|if that (?:doesn't|does not)|in case)\b"
    r"|\b(?:if|should) (?:you need|anything|something)\b|\bhow (?:did|was) (?:it|that|i)\b|\b(?:want|like) me to (?:change|adjust|tweak|add|do) (?:any|some)thing\b")  # fmt: skip
_START: Final = re.compile(r"\b(?:how|what) (?:can|may|could|should) i (?:help|assist|do)(?: (?:you|for you))?\b(?! (?:with )?(?:it|that|them|the\b))|\bwhat (?:do|would|did) you (?:need|want|like)(?: me)?(?: to do| help with| done)?(?: today| now| next| exactly)?\W*$|\bwhat(?: is|'s| can) (?:it|this) about\b"
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
            found += [
                Question(p, "detail")
                for p in re.split(r", (?:and )?| and (?=(?:the|your|how|which)\b)", piece)
                if len(p) > 1
            ]
        elif _REQUEST.search(folded) and not _LATER.match(folded):
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
