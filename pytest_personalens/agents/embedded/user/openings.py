"""Writes the user's first message: the intent in the words of this person, without naming a preference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.text import mentions, sentences
from pytest_personalens.agents.embedded.user import voice
from pytest_personalens.agents.embedded.user.voice import drawn_number, first_person, lower_first
from pytest_personalens.core.safe_text import upper_first
from pytest_personalens.datasets.world import written

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Scenario

_TRIES: Final = 12
#: The words of a first message: at least, at most, and how many more it may have where a sentence or a clause
#: ends there.
_LEAST, _SHORT, _WHOLE, _CLAUSE = 5, 14, 4, 2
_BREAKS: Final = (
    (re.compile(r"(?<=[.?!]) "), _SHORT + _WHOLE),
    (re.compile(r"[,:;] (?!where|who|whose|which|that|and\b)"), _SHORT + _CLAUSE),
    (re.compile(r",? (?=(?:because|since|so that|before|with|for|from|on|at|and|to a|about) )"), _SHORT + _CLAUSE),
)  # fmt: skip
#: Words after which more has to come, and what is not to be torn apart.
_OPEN_END: Final = re.compile(
    r"(?:^|[\s,])(?:where|when|what|who|which|that|out|back|around|something|one|two|an?|the|I|I want|look|know"
    r"|is|be|keep|kept|get|go|ask|help me|talk|think|hear|far|early|event)$"
)
_TOGETHER: Final = re.compile(
    r"\blet\b.+?\bknow\b|\bget\b.+?\bunder control\b|\bturn\b.+?\binto\b|\bbetween\b.+?\band\b", re.IGNORECASE
)
_WANT: Final = re.compile(r"you (?:want|would like|wish|'d like|need|have) to ", re.IGNORECASE)
#: Actions that another person can help with. Nobody needs help to "hear what is on".
_HELPABLE: Final = re.compile(r"(?:book|find|compare|set|plan|change|move|cancel|choose|make|put|sort|swap|exchange|rent|prepare|get|replace|return|organi[sz]e|surprise|write|invite|pick|buy|fix)\b")  # fmt: skip
#: Actions that an assistant does by itself, so that a user can order them.
_ORDER: Final = re.compile(r"(?:find|book|set|create|plan|reserve|schedule|organi[sz]e|recommend|compare|send|modify|reschedule|purchase|rent|mute|locate|search|play|update|cancel|arrange|make|suggest|change|move)\b")  # fmt: skip
#: A clause that only says why.
_REASON: Final = re.compile(r",? (?:because|since|so that) (?P<why>[^:;]+)$")
#: Official intents describe preferences. Nobody says that about themselves.
_ASIDE: Final = re.compile(r"\s*\([^)]*\)|,? (?:(?:while |by )?(?:also )?(?:considering|prioriti[sz]ing|accounting for|taking|ensuring|factoring)|based on|according to|tailored to|with a focus"
    r"|aligning|(?:that|which) (?:best )?(?:match|fit|suit|align|meet|cater)(?:e?s)?|matching|suited|(?:at|in|from|with|within) your (?:preferred|favou?rite|desired|specified))\b.*")  # fmt: skip


def first_message(scenario: Scenario) -> tuple[str, str]:
    """Return the user's first message, as short as people's, and what it adds in its second one.

    They are the opening in two parts; the second is empty where the opening is short, or has no place to part.
    """
    text = opening(scenario)
    if len(text.split()) <= _SHORT:
        return text, ""
    whole = [*_Secret(scenario).said_in(text), *(match.span() for match in _TOGETHER.finditer(text))]
    for pattern, most in _BREAKS:
        for match in reversed(list(pattern.finditer(text))):
            head = text[: match.start()]
            torn = any(start < match.end() and match.start() < end for start, end in whole)
            if torn or _OPEN_END.search(head) or not _LEAST <= len(head.split()) <= most:
                continue
            end = "?" if text.endswith("?") and "." not in head else "."
            rest = text[match.end() :].removeprefix("when ")
            return head.rstrip(".?!") + end, f"{upper_first(rest).rstrip('.?! ')}."
    return text, ""


def is_short(text: str) -> bool:
    """True if a text may be a first message that leaves something to the second."""
    return len(text.split()) <= _SHORT + _WHOLE


def opening(scenario: Scenario, first: int = 0) -> str:
    """Return the whole opening; another number `first` gives other words."""
    secret = _Secret(scenario)
    told = sentences(_without_asides(scenario.task.intent))
    wishes = [s for sentence in told if (s := _told_of(sentence, secret))]
    for attempt in range(first, first + _TRIES if wishes else 0):
        text = _composed(scenario, wishes[:2], secret, str(attempt))
        if not secret.told_by(text):
            return text
    return matter(scenario)


def matter(scenario: Scenario) -> str:
    """Return an opening that names only what it is about, and no fact."""
    secret = _Secret(scenario)
    names = [d.lower() for d in scenario.domains if not secret.told_by(d)]
    about = f"Hello, I need help with {' and '.join(names)}."
    return about if names else "Hello! Could you help me with something?"


class _Secret:
    """The preferences, which an opening may not name, and the facts that it must tell."""

    def __init__(self, scenario: Scenario) -> None:
        held = [v for types in scenario.preferences.values() for vs in types.values() for v in vs]
        # Where a task has facts, its wish says what they make the user say, and leaks nothing.
        forgiven = scenario.task.intent if scenario.task.facts else ""
        self._values = [v for v in held if not mentions(v, forgiven)]
        facts = [f for f in scenario.task.facts if f.known == "said"]
        forms = ("", *written.FORMS)
        said = {written.say(f.kind, value, form) for f in facts for value in f.right for form in forms}
        self._said = sorted(said | {f.says for f in facts if f.says}, key=len, reverse=True)

    def told_by(self, text: str) -> bool:
        """True if a text names a preference that no fact makes the user say."""
        for words in self._said:
            text = text.replace(words, "...")
        return any(mentions(value, text) for value in self._values)

    def said_in(self, text: str) -> list[tuple[int, int]]:
        """Return where a text says facts."""
        return [m.span() for words in self._said if words for m in re.finditer(re.escape(words), text)]

    def is_needed(self, text: str) -> bool:
        """True if a text tells what an assistant has to know: a fact, a number or a name."""
        return bool(re.search(r"\d|\b[A-Z]\w", text)) or any(mentions(words, text) for words in self._said)


def _without_asides(intent: str) -> str:
    if re.match(r"you\b", intent, re.IGNORECASE):
        return intent
    text = upper_first(re.sub(r"^As [^,]*, ", "", re.sub(r"\[[^\]]*\]", "an occasion", intent)))
    return _ASIDE.sub("", text.rstrip(".")).rstrip(" ,") + "."


def _told_of(sentence: str, secret: _Secret) -> str:
    """Return the longest beginning of a sentence that names no preference; it may be the whole."""
    parts = re.split(r"(?<=\w)(?=[,:] | for (?!you)| reserved for | that you| by )", sentence.rstrip(".!"))
    for end in range(len(parts), 0, -1):
        text = re.sub(r",? and$", "", "".join(parts[:end]))
        if len(text.split()) > 3 and not secret.told_by(text):
            return text
    return ""


def _composed(scenario: Scenario, wishes: list[str], secret: _Secret, attempt: str) -> str:
    how, key = voice.manner(scenario), (scenario.user, scenario.task.id, attempt)
    brief = drawn_number(*key, "brief") % 4 > 0
    first, *rest = wishes
    reason = _REASON.search(first)
    if brief and reason and not secret.is_needed(reason["why"]):
        first = first[: reason.start()]
    if brief:
        rest = [s for s in rest if secret.is_needed(s)]
    match = _WANT.match(first)
    if match:
        x = first_person(first[match.end() :])
        helped = _HELPABLE.match(x) and ": " not in x and len(x) < 120
        choices = [*voice.phrases_for("want", how), *(voice.phrases_for("help", how) if helped else [])]
    elif re.match(r"you\b|your\b", first, re.IGNORECASE):
        x, choices = first_person(first), ["{X}."]
    else:
        x = first_person(lower_first(first))
        choices = voice.phrases_for("order" if _ORDER.match(x) else "want", how)
    text = choices[drawn_number(*key, "frame") % len(choices)].format(x=x, X=upper_first(x))
    greetings = voice.phrases_for("greeting", how)
    greeting = greetings[drawn_number(*key, "greeting") % len(greetings)]
    if greeting.endswith(", "):
        text = lower_first(text)
    return " ".join([upper_first(greeting + text), *(f"{upper_first(first_person(s))}." for s in rest)])
