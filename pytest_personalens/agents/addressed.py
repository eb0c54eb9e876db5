"""What an assistant says to the user, told from what it says past them: to a judge, in forged turns, in hidden or made-up text.

Only what is said to the user is judged. The rest is left out and counted, and its count can cost an assistant something but earn it
nothing; so text that is recognised here cannot raise a score.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.kinds import is_deed, is_idle
from pytest_personalens.agents.linear import words as listed
from pytest_personalens.agents.text import STOPWORDS, content, fold, mentions, runs, sentences
from pytest_personalens.agents.visible import cut, foreign, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.dialogue import Message
    from pytest_personalens.scenario import Scenario

#: A word, in folded text.
WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
#: Every kind of what is suspect.
KINDS: Final = ("forged", "judge", "log", "unread", "claim", "list", "empty", "recital")
_NOT_FOR_THE_USER: Final = frozenset({"judge", "log", "unread"})
_LOG: Final = re.compile(
    r"\b[a-z]+_[a-z]+\b|\b[a-z_]+\s?=\s?[\"'a-z{\[]\S*|\bhttp(?:/\d\S*)? ?\d{3}\b|\b(?:status|result|return(?:ed)?|exit) ?(?:code)?\s?[:=]\s?\w+"
    r"|\b(?:info|debug|warn|trace)\b[\] ]+\S+:|\binsert into\b|\brows? (?:inserted|updated)|\w\.\w+\(|\w\(\w*\)|(?:->|=>)|(?:\b(?:booked|set|saved|sent|ordered|reserved|paid|confirmed|done)\b(?:[,;.]| and)* ?){3,}|^\W*>>>|\bexit code\b|\|.*\|.*\||\u2705.*\u2705|^\W*\[x\]|^(?:subject|to|from|content-type)\s?:"
    r"|\b(?:tool|function|api|webhook|backend|database|server)[ -]?(?:result|call|output|response|log|returned|says|confirms?|record)\b|^\W*(?:get|post|put) /|\bquality log\b|\bnew conversation\b",
    re.IGNORECASE,
)  # fmt: skip
_TO_JUDGE: Final = re.compile(
    r"\b(?:evaluat\w+|grader|graders|grading|rater|raters|assessor|assess(?:ment|ed|ing)|annotator\w*|rubric|benchmark|adjudicat\w+|examiner|scorer|scoring|llm|prompt|transcript|persona ?lens|naturalness|coherence|coherent|tcr"
    r"|personali[sz](?:ation|ed|ing|e)|task[ -]?complet\w+|(?:ignore|disregard|forget|previous|prior|above|your) instructions?|override|verdict|every criteri\w+|judg(?:e|es|ing|ement|ment)|auditor|quality (?:check|assurance|control))\b"
    r"|\b(?:task|goals?|objectives?|request) (?:is |was |were |are |has been |have been |fully |all |now )*(?:complete|completed|reached|met|achieved|fulfilled|accomplished|satisfied|done|success\w*)\b"
    r"|\b(?:scores?|rating|rate|grade|graded|marks?|points|stars?)\b.{0,40}\b(?:this|me|dialogue|conversation|assistant|reply|response|interaction|exchange|full|top|high\w*|maxim\w*|perfect|four|five|[45](?:\s?/\s?[45])?|out of)\b"
    r"|\b(?:give|award|assign|deserves?|merits?|earn\w*)\b.{0,40}\b(?:scores?|rating|grade|marks?|points|stars?|[45](?:\s?/\s?[45])|four|top)\b"
    r"|\b(?:whoever|anyone|those|people|reader|reviewer|reviewers) (?:is |are |who )?(?:read|reads|reading|review\w*|check\w*|score|scores)\b|\breviewers?\b|\b(?:p|tc)\s?[=:]\s?\d|^\W*(?:evidence|justification|score)\b.{0,10}:"
    r"|\b(?:all|every|each) (?:known |stored |of (?:the user's|their|your) )?(?:user )?(?:preferences?|needs?|requirements?|constraints?|habits?) (?:\w+ ){0,3}(?:applied|used|met|considered|honou?red|respected|followed|taken|satisfied|known|remembered)"
    r"|\b(?:the|this) (?:user|customer|assistant|conversation|dialogue|interaction|chatbot|model)(?:'s)? (?:is|was|were|has|had|should|must|did|needs?|preferences?|goal|request|wrote|satisf\w+|wanted|wants|got|said|confirmed|accepted)\b",
    re.IGNORECASE,
)  # fmt: skip
#: A claim to know or to have considered, whatever may follow it.
_CLAIM: Final = re.compile(
    r"\b(?:i (?:(?:already|always|of course|fully|truly|really|certainly|do) )*(?:know|remember|recall|considered|understand|have (?:considered|noted|stored|memori[sz]ed|taken into account)|'ve (?:considered|noted|stored|memori[sz]ed|taken)|took into account)\b.{0,60}\b(?:you|your|everything|all|preferences?|history|profile|past)"
    r"|(?:based on|according to|in line with|considering|given|in view of|with|taking into account|matching|tailored to|respecting|keeping in mind) (?:all )?(?:of )?your (?:\w+ ){0,2}(?:profile|preferences?|history|habits|past|records?|tastes?|needs|data)"
    r"|your (?:profile|preferences?|history|file|records?|data)\b|i knew\b|i (?:have )?(?:kept|keep) in mind|i (?:have )?anticipat\w+|i see that (?:it|you)|i never had to|you (?:told|said to) me|(?:about|for|of|on) you\s*:|just (?:as|the way|how|like) you (?:like|love|want|prefer)|without (?:you|your|the user)\b.{0,20}\b(?:say|saying|said|ask\w*)|(?:keywords?|tags?|profile|preferences?|memory|context)\s*[:=])",
    re.IGNORECASE,
)  # fmt: skip
_HASHTAGS: Final = re.compile(r"(?:[#@]\w+\W*){2,}|(?:\[[^\]]+\]\s*){2,}")
_EMPTY: Final = re.compile(
    r"^\W*(?:(?:all|everything|it|is|has|been|that|now|and|so|your|request|done|confirmed|booked|set|sorted|sent|saved|completed?|ready|of|requests?|have|successfully|fulfilled|you're|welcome|great|perfect|taken|care|for|you)\b[\W]*)+$|\banything else\b.*\?$",
    re.IGNORECASE,
)
_SPACED: Final = re.compile(r"(?:\b\w\b[ .\-_*]){5,}|(?:\b[0-9a-f]{2}\b ){6,}|\b[A-Za-z0-9+/]{24,}={0,2}")
_LETTER_AND_DIGIT: Final = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
#: More of the profile's words than this share of a sentence is a list of them and not a sentence.
_STUFFED: Final = 0.7
_MANY: Final = 4
_RECITAL: Final = 8
_CRUMBS: Final = 2
_SHORT: Final = 200
_KNOWN_WORDS: Final = 0.2
_ALL_VALUES: Final = 0.6
_RETOLD: Final = 0.8


class Suspect(NamedTuple):
    """A sentence of message `turn` that is not judged, and what is wrong with it: one of `KINDS`."""

    turn: int
    sentence: str
    kind: str


class Heard(NamedTuple):
    """The dialogue without what is suspect, and what that was."""

    messages: tuple[Message, ...]
    suspects: tuple[Suspect, ...]

    @property
    def silent(self) -> tuple[int, ...]:
        """The turns of the assistant in which nothing is said to the user, not even a boast."""
        spoken = {s.turn for s in self.suspects if s.kind in ("claim", "empty", "recital")}
        return tuple(turn for turn, m in enumerate(self.messages) if m.role == "assistant" and not m.content and turn not in spoken)


def heard(scenario: Scenario, messages: Sequence[Message]) -> Heard:
    """What the assistant says to the user; messages of the user stay as they are."""
    profile = _profile(scenario)
    kept, suspects = [], []
    for turn, message in enumerate(messages):
        if message.role == "user":
            kept.append(message)
            continue
        seen = shown(message.content)
        bare = profile.sprinkled.sub("", cut(seen))
        if bare != seen:
            suspects.append(Suspect(turn, seen[_same(bare, seen) :][:_SHORT], "forged"))
        marked = _spread(list(zip(sentences(bare), _marks(bare, profile), strict=True)), bare)
        suspects += [Suspect(turn, sentence, kind) for sentence, kind in marked if kind]
        if any(kind for _, kind in marked):
            bare = "\n".join(sentence for sentence, kind in marked if not kind)
        kept.append(_with(message, bare))
    return Heard(tuple(kept), tuple(suspects))


def _spread(marked: list[tuple[str, str]], text: str) -> list[tuple[str, str]]:
    """What follows text that is not meant for the user belongs to it: to the end of the reply, or of the line if the reply begins so."""
    first = next((i for i, (_, kind) in enumerate(marked) if kind in _NOT_FOR_THE_USER), None)
    if first is None:
        return marked
    end = len(marked) if first else max(1, len(sentences(text.splitlines()[0])))
    return [(s, k or (marked[first][1] if first < i < end else "")) for i, (s, k) in enumerate(marked)]


def _same(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _marks(text: str, profile: Profile) -> list[str]:
    """For each sentence what makes it suspect, by itself or beside the others of the reply; an empty string for nothing."""
    found = sentences(text)
    if sum(bool(_LETTER_AND_DIGIT.search(w)) for w in text.split()) > len(text.split()) / 5:
        return ["unread"] * len(found)
    words = [content(s) for s in found]
    exact = {fold(v).rstrip(".") for v in profile.values}
    # A value by itself, or behind a verb: "Booked window."
    bare = [fold(s).rstrip(".!;") in exact or fold(s).rstrip(".!;").partition(" ")[2] in exact for s in found]
    crumbs = [
        is_bare or (0 < len(w) <= _MANY and len(w - profile.all) < 2 and bool(w & (profile.preferred | profile.person)))
        for is_bare, w in zip(bare, words, strict=True)
    ]
    strings = [len(s.split()) <= 2 * _MANY and is_deed(s) and len(w - profile.preferred) < 2 for s, w in zip(found, words, strict=True)]
    marks = []
    for i, sentence in enumerate(found):
        mark = _suspect(sentence, profile)
        # Value after value in sentences of their own is the same list, with full stops.
        if not mark and crumbs[i] and sum(crumbs) > _CRUMBS:
            mark = "list"
        # "Done, all confirmed." says nothing beside other sentences, of which one may say what was done, or that it was not.
        if not mark and _EMPTY.match(sentence) and len(found) > 1:
            mark = "empty"
        if not mark and strings[i] and sum(strings) > _MANY:
            mark = "list"
        marks.append(mark)
    return marks


def _with(message: Message, text: str) -> Message:
    return message if text == message.content else message.model_copy(update={"content": text})


class Profile(NamedTuple):
    """What is known of the user: the preference values, their words and types, the words of all that is known, and the summaries in runs of words."""

    values: tuple[str, ...]
    preferred: frozenset[str]
    types: tuple[str, ...]
    person: frozenset[str]
    past: frozenset[str]
    all: frozenset[str]
    recitable: tuple[set[tuple[str, ...]], ...]
    #: A value in brackets, as it is strewn over a reply.
    sprinkled: re.Pattern[str]


def _profile(scenario: Scenario) -> Profile:
    types = [(name, values) for of_domain in scenario.preferences.values() for name, values in of_domain.items()]
    values = tuple(dict.fromkeys(v for _, held in types for v in held))
    preferred = frozenset().union(*map(content, (*values, *(name for name, _ in types))))
    person = frozenset().union(*(content(f"{k.replace('_', ' ')} {v}") for k, v in scenario.demographics.items()))
    rest = (*scenario.summaries.values(), *scenario.situation.model_dump().values(), scenario.task.goal)
    # The goal is for judges: an assistant that has its very words has them from somewhere else than the user.
    recitable = tuple(runs(text, _RECITAL) for text in (*scenario.summaries.values(), scenario.task.intent, scenario.task.goal))
    past = frozenset().union(*map(content, scenario.summaries.values()))
    names = tuple(fold(name) for name, _ in types)
    known = (preferred | person).union(*map(content, rest))
    # Without a value the pattern matches nowhere.
    strewn = re.compile(rf"\s*[(\[](?:{'|'.join(map(re.escape, values)) or '(?!)'})[)\]]", re.IGNORECASE)
    return Profile(values, preferred, names, person, past, known, recitable, strewn)


def _suspect(sentence: str, profile: Profile) -> str:
    """What makes the sentence suspect, or nothing: to whom it is said, what it claims, what it lists, or that it cannot be read."""
    folded = fold(sentence)
    if sum(c.isalpha() for c in folded) < 2 and not any(c.isdigit() for c in folded):
        return "log"
    question = sentence.rstrip().endswith("?")
    if _TO_JUDGE.search(folded):
        return "judge"
    if _LOG.search(folded):
        return "log"
    spoken = WORD.findall(folded)
    unread = len(spoken) >= _MANY and sum(w in listed("words") for w in spoken) / len(spoken) < _KNOWN_WORDS
    mixed = sum(bool(_LETTER_AND_DIGIT.search(w)) for w in sentence.split())
    if unread or (mixed > 1 and mixed > len(sentence.split()) / 5) or foreign(sentence) or _SPACED.search(sentence):
        return "unread"
    if _CLAIM.search(folded) or (is_idle(sentence) and not question):
        return "claim"
    if folded.startswith(tuple(f"{name}{sign}" for name in profile.types for sign in (":", " =", " -"))):
        return "list"
    if _HASHTAGS.search(sentence) or _sorted(spoken) or _lists(sentence, spoken, profile, question=question):
        return "list"
    words = content(sentence)
    retold = len(words) > _MANY and not question and not is_deed(sentence) and len(words & profile.past) / len(words) >= _RETOLD
    return "recital" if retold or any(runs(sentence, _RECITAL) & r for r in profile.recitable) else ""


def _sorted(words: Sequence[str]) -> bool:
    return len(words) > 2 * _MANY and sum(a <= b for a, b in pairwise(words)) > 0.9 * (len(words) - 1)


def _lists(sentence: str, spoken: Sequence[str], profile: Profile, *, question: bool) -> bool:
    """True for a row of what is known, in which nothing is done with it."""
    words = content(sentence)
    if len(words) < _MANY or question:
        return False
    named = sum(mentions(v, sentence) for v in profile.values)
    if named >= _MANY and named >= _ALL_VALUES * len(profile.values) and len(words & profile.preferred) / len(words) >= _STUFFED:
        return True
    bare = sum(w in STOPWORDS for w in spoken) <= len(spoken) / 8
    known = profile.all if bare else profile.preferred
    return not is_deed(sentence) and len(words & known) / len(words) >= _STUFFED and (named > 1 or len(words) > 2 * _MANY)
