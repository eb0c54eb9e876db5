"""Finds what a reply asks.

It finds the questions by kind, the options, and whether the reply only promises.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from pytest_personalens.agents.embedded_user.listening.hearing import statements_of
from pytest_personalens.agents.embedded_user.listening.listing import items
from pytest_personalens.agents.language.sentence_types import is_question
from pytest_personalens.agents.language.statements import plain

QuestionKind = Literal[
    "more", "open", "confirm", "wording", "from", "either", "which", "budget", "how_long", "how_often", "how_many", "when", "who", "where", "here", "name",
    "details", "why", "known", "yes_no", "what",
]  # fmt: skip

_LEAD: Final = r"^\W*(?:(?:and|so|then|but|ok|okay|great|sure|perfect|just to (?:check|confirm)|by the way|also|before that|first|one more thing|alright|now)\W+)*"
#: The patterns are tried in this order. The first that fits gives the kind of the question.
_PATTERNS: Final[tuple[tuple[QuestionKind, str], ...]] = (
    ("more", r"\b(?:any|some|no)thing (?:else|more|further)\b|\bwhat else\b|\belse (?:can|could|may) i\b|\bmore (?:i|we) can (?:do|help)\b|\bneed anything\b|\b(?:other|further|more) (?:questions|requests|wishes|help)\b"
                 r"|\blet me know if\b|\bhelp (?:you )?with anything\b"),
    ("open", r"\b(?:how|what) (?:can|may|could|should) i (?:help|assist|do)(?: for)?\b(?! (?:it|that|them|the))|\bwhat (?:do|would) you (?:need|want|like)(?: me to do| to do| help with| done)?(?: today| now| next)?\W*$|\bwhere (?:shall|should|do|can) (?:i|we) (?:start|begin)\b"
                 r"|\bwhat brings you\b|\btell me more\b|\bwhat are you looking for\b|\b(?:can|could) you (?:please )?(?:clarify|rephrase|explain|elaborate|be more|tell me more)\b|\bwhat (?:exactly )?(?:do you mean|is it about)\b|\bdetails of your request\b"),
    ("details", r"\b(?:booking|reference|confirmation|account|card|phone|ticket|order|passport|policy) (?:number|code|details|reference)\b|\be-?mail address\b|\bpassword\b|\b(?:date of )?birth\b|\bpostcode\b|\bzip code\b|\byour address\b|\bwhat address\b|\bwhich address\b"),
    ("name", r"\b(?:your|what|which) (?:full |last |first )?names?\b|\bunder (?:what|which) name\b"),
    ("here", r"\bwhere are you\b|\byour (?:current )?(?:location|whereabouts)\b|\bwhere do you (?:live|stay)\b|\bwhich city are you\b"),
    ("wording", r"\b(?:what|how) (?:should|shall|would|do|does|must)\b.*\b(?:say|write|word|phrase)\b"),
    ("from", r"\b(?:departure|leav|travel|fly|start|depart|home|nearest)\w*\b.*\b(?:airport|from|station)\b"),
    ("confirm", r"\bhow (?:does|do|would) (?:that|this|it|these|those) (?:sound|look|work|suit)\b|^(?!.*\b(?:when|what|which|who|where|how|why)\b).*(?:\b(?:shall|should|may|can|could) i (?:go ahead|proceed|book|confirm|do|send|order|reserve|set|save|place|finali[sz]e|take)\b|\bgo ahead\b|\bis (?:that|this|it|everything) (?:all )?(?:ok|okay|right|fine|correct|good|alright)\b"
                    r"|\b(?:does|do|would) (?:that|this|it|these|those) (?:work|suit|sound|look|fit|be)\b|\bsounds? (?:good|right)\b|^\W*(?:ok|okay|right|agreed|deal|ready)\W*$|\bhappy with\b)|, (?:right|ok|okay|correct|yes)\W*$"),
    ("which", r"\bwhich (?:one|of|option|do you (?:prefer|like|want)|would you (?:prefer|like|choose)|(?:suits|sounds|appeals|shall|should))|\bpick one\b|\bchoose (?:one|from|between|an option)\b|\bwhat do you (?:think|prefer)\b|\bany of (?:these|those)\b|\bwould you like one of\b|\bdo (?:any|either) of\b"),
    ("either", r"\bor\b(?! (?:not|so|something|anything|would|is there|another|whatever|other|any)\b)"),
    ("budget", r"\bbudget\b|\bhow much (?:would|do|can|should|are|will|may|money)\b(?!.*\b(?:read|play|time)\b)|\bprice range\b|\bspend\b|\bcost\b|\bwhat price\b"),
    ("how_long", r"\bhow long\b|\bhow many (?:days|nights|weeks|hours|minutes)\b|\bduration\b"),
    ("how_often", r"\bhow often\b|\bhow frequent|\brepeat|\brecurring\b|\bregularly\b|\bwhich days\b"),
    ("how_many", r"\bhow many\b|\bnumber of\b|\bhow big\b|\bhow large\b|\bwhat (?:size|number)\b"),
    ("when", rf"{_LEAD}when\b|\b(?:what|which) (?:time|day|date|hour|week|month)s?\b|\bat what\b.*\btime\b|\bby when\b|\bfrom when\b|\bwhen (?:would|should|do|shall|is|are|will)\b|\bthe (?:date|time|day)s?\b|\btravel dates\b"),
    ("who", rf"{_LEAD}who\b|\bwhom\b|\bwho (?:is|are|should|else|will|would)\b|\bwhich (?:person|people|contact)\b"),
    ("where", rf"{_LEAD}where\b|\bwhere (?:would|should|do|shall|to|is|are|will)\b|\b(?:what|which) (?:city|place|town|area|country|destination|location|station|airport|part of town|part of the|neighbou?rhood|area)\b"),
    ("why", rf"{_LEAD}(?:why|what for)\b|\bfor what (?:reason|purpose)\b|\bwhat is the (?:reason|occasion)\b|\bwhat's the occasion\b"),
    ("known", rf"{_LEAD}(?:do|did|have|had|are|were|was|is there|will)(?: (?:you|your|there))?\b(?! (?:you )?(?:want|like|need|prefer|wish|mind|happy|ok|okay|fine|interested|have (?:a|any) (?:preference|wish)))"),
    ("yes_no", rf"{_LEAD}(?:do|does|did|is|are|was|were|would|will|shall|should|may|can|could|have|has|any|want|need|mind|interested|how about|what about)\b"),
    ("what", r""),
)  # fmt: skip
_KINDS: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)
_PROMISE: Final = re.compile(
    r"\b(?:i (?:will|shall)|we will|i am (?:going to|about to|on it|working|looking|checking)|let me (?!know)|one moment|just a (?:moment|second)|working on|hang on|bear with me"
    r"|looking into|get back to you|give me a (?:second|moment|minute)|will be (?:done|ready|booked|sent))\b|^\W*(?:checking|looking|searching|comparing|booking|placing|processing)\b[^.]*(?:\.\.\.|…|:)"
)
_CLOSER: Final = re.compile(
    r"\blet me know\b(?! (?:which|what|when|where|who|how)\b)|\bjust (?:ask|tell me(?! (?:which|what|when|where|who|how)\b)|say)\b|\bfeel free\b|\bdo not hesitate\b|\bshould you (?:need|require|wish)\b"
)
_CHOOSE: Final = re.compile(
    r"\b(?:reply|answer|respond|type|press) (?:with )?(?:\d|[a-d]\b|the number)|\b(?:let me know|tell me) which\b|\b(?:pick|choose) (?:one|from|a|your)\b|\bwhich\b|\beither of\b|\bone of (?:these|those|them)\b"
)
#: A question that only asks whether all is well, or for a further wish.
_COURTESY: Final = re.compile(
    r"\b(?:any|some|no)thing (?:else|more|further|i (?:can|should))\b|\bwhat else\b|\belse (?:can|could|may) i\b|\bmore (?:i|we) can (?:do|help)\b|\bneed anything\b|\b(?:other|further|more) (?:questions|requests|wishes|help|assistance)\b"
    r"|\b(?:does|do|will|would) (?:that|this|it|these|those|everything|all that|it all) (?:all )?(?:work|suit|sound|look|seem|fit|do)\b|\bhow (?:does|do|is) (?:that|this|it|everything)(?: (?:sound|look|feel)\b|\W*$)"
    r"|\bwould you like me to (?:change|adjust|tweak|do|add|help)(?: you)?(?: with)? (?:any|some)thing\b|\b(?:shall|should|can) i (?:change|adjust|tweak) anything\b|\banything (?:to|you would like to|you want to) (?:change|add|adjust)\b"
    r"|\bis (?:that|this|everything|it) (?:all )?(?:ok|okay|right|fine|correct|good|alright|all right|to your liking)\b|\bhappy with\b|\bsounds? (?:good|right|great|ok)\b|\ball good\W*$|\bany questions\b|^\W*(?:reply|press|type) (?:with )?\d\b|\bhelp (?:you )?with anything\b|\bcan i help (?:you )?(?:further|today)\b"
)
_NUMBERED: Final = re.compile(
    r"(?:^|\s)\(?(?:\d|[a-dA-D])\)\s+(.+?)(?=[,;.]?\s+(?:or |and )?\(?(?:\d|[a-dA-D])\)\s|[.?!;]?\s*$|[?!]\s)",
    re.MULTILINE,
)
_QUOTED: Final = re.compile(r"[\"“'‘]([A-Z][^\"”'’]{1,40})[\"”'’]")
_AND: Final = re.compile(
    r"(?:,? and |, (?:roughly |about |around )?)(?=(?:(?:on|at|for|in|from|to|by|with|under|around) )?(?:what|which|when|who|where|how)\b(?! (?:is|are|has|have|was|were|it|you|your|i|we|the)\b(?! (?:the|it|you)\b)))"
    r"|,? and (?=(?:(?:on|at|for|in|from|to|by|with|under|around) )?(?:what|which|when|who|where|how)\b|(?:do|would|shall|should|is|are|any|will)\b)"
    r"|, (?=(?:would|do|shall|should|are|is|will|can|could) (?:you|i|we|it|this|that|there)\b)",
    re.IGNORECASE,
)
_NAME_END: Final = re.compile(
    r"\s+[-–—]\s+|\s*[:(;]|,\s|\s+(?=\d)|\s+(?:at|for|with|from|in|on|by|which|that)\s+", re.IGNORECASE
)


#: A question in the form of a statement: "Please state the hour.", "It is to be indicated whether ...".
_INDIRECT: Final = re.compile(
    r"\b(?:please|kindly) (?:further |also |now )?(?:state|indicate|advise|name|specify|select|choose|provide|confirm whether|tell)\b|\binput needed\b|\by/n\b"
    r"|\b(?:it|which|remains|must|is|are) (?:\w+ )?(?:to )?be (?:further )?(?:stated|indicated|specified|established|selected|chosen|named)\b|\bi would (?:first )?(?:have|need) to (?:know|learn)\b"
    r"|^\W*(?:please )?(?:reply|answer|respond|type|press) (?:with )?(?:\d|[a-d]\b|the number)|\b(?:let me know|tell me) (?:which|what|when|where|who|how)\b(?! (?:you would like to change|else|if))|\b(?:i|we) (?:do |will |would |just |also |still |only )*need (?:your|the) (?!rest|hour)"
)


_ONLY_TAG: Final = re.compile(r"\W*(?:right|ok|okay|correct|yes|fine|alright)\W*$", re.IGNORECASE)
#: A yes-or-no question about one thing, with the place of the thing.
_ABOUT_ONE: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^\W*(?:(?:and|so|then|shall|should|can|may) (?:i )?)*(?:make it|take|go (?:for|with)|choose|pick|set (?:it )?(?:to|as)) (?P<it>[^,?]+?)(?: then| for you)?\W*$",
        r"^\W*(?:and |so |then )*(?:is|are|would|will|does|do) (?P<it>[^,?]+?) (?:(?:be|work|suit)(?: you)?|ok|okay|fine|good|right|alright|all right)(?: (?:ok|okay|fine|good|right|alright|for you|with you))*\W*$",
        r"^\W*(?:and |so |then |ok |okay )*(?:it's |that's |how about |what about )?(?P<it>[^,?]+), (?:right|ok|okay|correct|yes|then)\W*$",
        r"^\W*(?:and |so |then )*(?:how about|what about) (?P<it>[^,?]+?)\W*$",
    )
)
#: Words before an alternative that are not part of it.
_BEFORE_ONE: Final = re.compile(
    r"^(?:(?:rather|maybe|perhaps|instead|or|the|an?|at|in the|on) )+", re.IGNORECASE
)


#: A request for some other case: "If it is far away, tell me where it is."
_IN_CASE: Final = re.compile(r"^\W*(?:and |but |or )?(?:if|in case|should) ")
_DAY: Final = re.compile(
    r"(?:\w+day|Mon|Tues?|Wed|Thu|Thurs|Fri|Sat|Sun)\.?,? (?:(?:the )?\d{1,2}\w{0,2} \w+|\w+ \d{1,2})\b"
)
#: Words that lead to a question: "May I ask which ...".
_LED: Final = re.compile(
    r"^.*?\b(?:may i ask|tell me|let me know|like to know|to know|say|wondering|do you know)\b,? (?=(?:(?:on|at|for|in|from|to|by|with|under|until) )?(?:which|what|when|where|who|how|why)\b)"
)


class Question(NamedTuple):
    """A question of the assistant, and the kind of answer that it wants."""

    text: str
    kind: QuestionKind


class Choice(NamedTuple):
    """Something to choose, with a short name for it."""

    name: str
    text: str


def questions(reply: str) -> list[Question]:
    """Return the questions of a reply, in order."""
    # In "So the aisle, right?" the first words are the question. In other sentences such words are an opener
    # and say nothing.
    parts = (
        part
        for text, quote in statements_of(reply)
        for part in _parts(quote if _ONLY_TAG.match(text) else text)
    )
    return [Question(part, kind_of(_LED.sub("", plain(part)))) for part in parts if asks(part)]


def asks(statement: str) -> bool:
    """True if the statement wants an answer."""
    folded = plain(statement)
    if statement.rstrip().endswith("?"):
        return True
    if _IN_CASE.match(folded):
        return False
    if _INDIRECT.search(folded):
        return True
    return is_question(statement) and not _PROMISE.search(folded) and not _CLOSER.search(folded)


def _parts(sentence: str) -> list[str]:
    """Return the questions of one sentence.

    "Which airline, and do you mind a stop?" has two.
    """
    parts = _AND.split(sentence) if sentence.rstrip().endswith("?") else [sentence]
    if len(parts) == 1:
        return parts
    parts = [part for part in parts if not _IN_CASE.match(part.lower())]
    return [part if part.rstrip().endswith("?") else f"{part}?" for part in parts]


def kind_of(folded: str) -> QuestionKind:
    """Return the kind of a question, given in the form of `plain`."""
    return next(kind for kind, pattern in _KINDS if pattern.search(folded))


def is_courtesy(folded: str) -> bool:
    """True if a question only asks whether all is well or for another wish.

    The question is given in the form of `plain`.
    """
    return bool(_COURTESY.search(folded)) and not re.search(
        r"\bor\b(?! (?:should|shall|would|is|do|can)\b.* else\b)", folded
    )


def options(reply: str) -> list[Choice]:
    """Return what a reply lists to choose from.

    The options are lines of a list, numbered parts of a sentence, or names in quotes. A list of facts has no
    options.
    """
    choosing = bool(_CHOOSE.search(plain(reply)))
    listed = items(reply, choosing=choosing)
    if any(item.rstrip("* ").endswith("?") for item in listed):  # a list of questions
        return []
    if len(listed) > 1:
        return [Choice(_name(item), item) for item in listed]
    for pattern in (_NUMBERED, _QUOTED) if choosing else (_NUMBERED,):
        names = [m[1].strip() for m in pattern.finditer(reply)]
        if len(names) > 1:
            return [Choice(_name(item), item) for item in names]
    return []


def alternatives(question: str) -> list[str]:
    """Return the options of an either/or question, if they can be told apart.

    "a table or the bar" has two.

    >>> alternatives("Would you like a window seat, an aisle seat or the exit row?")
    ['a window seat', 'an aisle seat', 'the exit row']
    """
    body = re.split(r"\?|\s[-–—]\s", question.strip())[0]
    left, _, right = body.rpartition(" or ")
    left = re.sub(
        r"^.*\b(?:would you (?:like|prefer|rather|take)(?: have| take| go)?|do you (?:want|prefer|need)|should (?:it|i) (?:be|go for|take)|shall (?:it|i) (?:be|take)|is it|are you|will it be"
        r"|will that be|want|prefer|make it|be|for you|either|between|go with)\s+|^.*:\s+", "", left, flags=re.IGNORECASE,
    )  # fmt: skip
    parts = [part.strip(" ,.\"'“”‘’") for part in (*left.split(", "), right)]
    parts = [re.sub(r"^it (?=\w+ )", "", part, flags=re.IGNORECASE) for part in parts]
    if any(_NO_OPTION.match(part) for part in parts):
        return []
    return [part for part in parts if part and len(part.split()) <= 6]


#: A clause, and nothing to choose.
_NO_OPTION: Final = re.compile(
    r"(?:which|what|when|where|who|whom|why|how|do|does|did|is|are|was|will|would|should|shall|can|could|may|has|have|had|it|you|your|there|to|from|if|that|any|also|and|so|not|let|tell)\b",
    re.IGNORECASE,
)


def the_one(question: str) -> str:
    """Return the one thing that a yes-or-no question is about: "weekly" for "So weekly, right?".

    The text is empty if there is no such thing.
    """
    thing = next((m["it"] for pattern in _ABOUT_ONE if (m := pattern.match(question.strip()))), "")
    return _BEFORE_ONE.sub("", thing.strip(" \"'“”‘’"))


def things(question: str) -> list[str]:
    """Return the things that a question proposes.

    They are its alternatives, or the one thing of a yes-or-no question.
    """
    parts = alternatives(question) if re.search(r"\bor\b", question) else [the_one(question)]
    return [bare for part in parts if (bare := _BEFORE_ONE.sub("", part))]


def _name(item: str) -> str:
    if day := _DAY.match(item):
        return day[0]
    quoted = _QUOTED.search(item)
    plain = quoted[1] if quoted else _NAME_END.split(item.replace("**", "").strip())[0]
    words = plain.strip(" .,\"'").split()
    return " ".join(words[:6])
