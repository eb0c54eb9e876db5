"""Writes the user's first message.

It says the intent in the words of this person, and names no preference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.voice.phrases import drawn_number, phrases_for
from pytest_personalens.agents.embedded_user.voice.style import first_person, lower_first, manner, upper_first
from pytest_personalens.agents.language.text import mentions, sentences, stems
from pytest_personalens.datasets.world import values

if TYPE_CHECKING:
    from pytest_personalens.agents.embedded_user.voice.style import Manner
    from pytest_personalens.core.scenario import Scenario

#: The number of wordings to try before the plainest one is used.
_TRIES: Final = 24
_WANT: Final = re.compile(r"you (?:want|would like|wish|'d like) to ", re.IGNORECASE)
_NEED: Final = re.compile(r"you(?: really)? (?:need|have) to ", re.IGNORECASE)
#: Actions that another person can help with. Nobody needs help to "hear what is on".
_HELPABLE: Final = re.compile(
    r"(?:book|find|compare|set|plan|change|move|pause|fill|cancel|choose|make|put|sort|swap|exchange|rent|prepare|turn|get|replace|return"
    r"|host|organi[sz]e|surprise|start|propose|stop|write|invite|push|fix|pick|buy|call|shift|send|let|keep|catch|understand|spoil|create)\b"
)
_REASON: Final = re.compile(r"(?P<request>.+?), (?:because|since|as) (?P<reason>.+)")
#: Words that refer to the request, which must then come first.
_POINTING: Final = re.compile(
    r"\b(?:it|one|that very|they|them|each|both|instead|before|next to)\b", re.IGNORECASE
)
#: Actions that an assistant does by itself, so the user can order them.
_ORDER: Final = re.compile(
    r"(?:find|book|set|create|plan|reserve|schedule|organi[sz]e|recommend|compare|send|modify|reschedule|purchase|rent|(?:temporarily )?mute|locate|search|play|update|cancel|arrange|make|suggest)\b"
)
#: The official intents describe the person's preferences. Nobody says that about themselves.
_ASIDE: Final = re.compile(
    r"\s*\([^)]*\)|,? (?:(?:while |by )?(?:also )?(?:considering|prioriti[sz]ing|accounting for|taking|ensuring|factoring)|based on|according to|tailored to|with a focus"
    r"|aligning|(?:that|which) (?:best )?(?:match|fit|suit|align|meet|cater)(?:e?s)?|matching|suited|(?:at|in|from|with|within) your (?:preferred|favou?rite|desired|specified))\b.*"
)


def opening(scenario: Scenario) -> str:
    """Return the opening, which has one to three sentences.

    It may begin with a greeting, says the intent in the first person, and may end with a request for help.
    """
    secret = _Secret(scenario)
    intent_sentences = [
        clean for s in sentences(_plain(scenario.task.intent)) if (clean := _without(s, secret))
    ][:2]
    intent_sentences = intent_sentences or _fallback(scenario, secret)
    for attempt in range(_TRIES if intent_sentences else 0):
        text = _compose(scenario, intent_sentences, str(attempt))
        if not secret.told_by(text):
            return text
    return "Hello! Could you help me with something?"  # anything more would tell too much


class _Secret:
    """The preferences of a user, which an opening may not name.

    What the task makes the user say at once is no secret: a day, or the name of somebody who comes along.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._values = [v for types in scenario.preferences.values() for vs in types.values() for v in vs]
        said = {
            values.say(fact.kind, value, form)
            for fact in scenario.task.facts
            if fact.known == "said"
            for value in fact.right
            for form in ("", *values.FORMS)
        }
        self._said = sorted(said, key=len, reverse=True)

    def told_by(self, text: str) -> bool:
        """True if the text names a preference."""
        for words in self._said:
            text = text.replace(words, "...")
        return any(mentions(value, text) for value in self._values)


def _fallback(scenario: Scenario, secret: _Secret) -> list[str]:
    """Return the parts of a task without its head, or the names of its domains."""
    parts = scenario.task.intent.partition(": ")[2].split(". ")[0].rstrip(".")
    if parts and not secret.told_by(parts):
        return [f"You need help with a few things: {parts}."]
    names = [d.lower() for d in scenario.domains if not secret.told_by(d)]
    return [f"You need help with {_listed(names)}."] if names else []


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def task_text(scenario: Scenario) -> str:
    """Return the intent's first request as words that follow "to".

    The parts of the request are included. The text is empty if there is no request.
    """
    secret = _Secret(scenario)
    for sentence in sentences(_plain(scenario.task.intent)):
        text = sentence.rstrip(".!")
        text = text if ": " in text else text.split(", ")[0]
        match = _WANT.match(text) or _NEED.match(text)
        rest = (
            text[match.end() :]
            if match
            else ""
            if re.match(r"you", text, re.IGNORECASE)
            else lower_first(text)
        )
        if rest and not secret.told_by(rest):
            return first_person(rest)
    return ""


def _plain(intent: str) -> str:
    if re.match(r"you\b", intent, re.IGNORECASE):
        return intent
    text = upper_first(re.sub(r"^As [^,]*, ", "", re.sub(r"\[[^\]]*\]", "an occasion", intent)))
    return _ASIDE.sub("", text.rstrip(".")).rstrip(" ,") + "."


def _without(sentence: str, secret: _Secret) -> str:
    """Return the longest beginning of the sentence that names none of the values.

    It may be the whole sentence.
    """
    parts = re.split(r"(?<=\w)(?=[,:] | for (?!you)| reserved for | that you| by )", sentence.rstrip(".!"))
    for end in range(len(parts), 0, -1):
        text = re.sub(r",? and$", "", "".join(parts[:end]))
        if len(text.split()) > 4 and not secret.told_by(text):
            return text + "."
    return ""


def _compose(scenario: Scenario, intent_sentences: list[str], attempt: str) -> str:
    how = manner(scenario)
    key = (scenario.user, scenario.task.id, attempt)
    greeting = _greeting(scenario, *key)
    request = _request(intent_sentences[0], how, key)
    if greeting.endswith((", ", ": ", "so ")):
        request = lower_first(request)
    text = greeting + " ".join([request, *(upper_first(first_person(s)) for s in intent_sentences[1:])])
    tail_bank = "tail_question" if "?" in request or "lease" in text else "tail_statement"
    if scenario.situation.environment == "Noisy" and drawn_number(*key, "loud") % 6 == 0:
        tail_bank = "tail_loud"
    tails = [t for t in phrases_for(tail_bank, how) if not ("help" in t.lower() and "help" in text.lower())]
    tail = tails[drawn_number(*key, "tail") % len(tails)]
    return " ".join(part for part in (upper_first(text), tail) if part)


def _greeting(scenario: Scenario, *key: str) -> str:
    time = scenario.situation.time_of_day.lower()
    time = "evening" if time not in ("morning", "afternoon") else time
    choices = phrases_for("greeting", manner(scenario))
    choice = choices[drawn_number(*key, "greeting") % len(choices)]
    words = {
        w for types in scenario.preferences.values() for vs in types.values() for v in vs for w in stems(v)
    }
    # "Good afternoon" would name the preference of a user who prefers afternoons.
    return "" if "{time}" in choice and not words.isdisjoint(stems(time)) else choice.format(time=time)


def _request(sentence: str, how: Manner, key: tuple[str, ...]) -> str:
    text = sentence.strip().rstrip(".!")
    reason = ""
    because = _REASON.fullmatch(text)
    if because and not _POINTING.search(because["reason"]) and drawn_number(*key, "order") % 2:
        text, reason = because["request"], upper_first(first_person(because["reason"]))
    parts = ""
    enumeration = text.split(": ", 1)
    if len(enumeration) == 2 and drawn_number(*key, "list") % 2:
        text, parts = enumeration[0], first_person(enumeration[1])
    match, bank = _WANT.match(text), "want"
    if not match:
        match, bank = _NEED.match(text), "need"
    if match:
        x = first_person(text[match.end() :])
        helped = _HELPABLE.match(x) and not reason and len(x) < 150 and ": " not in x
        choices = [*phrases_for(bank, how), *(phrases_for("help", how) if helped else [])]
    elif re.match(r"you\b|your\b", text, re.IGNORECASE):
        x, choices = first_person(text), ["{X}."]
    else:
        x = first_person(lower_first(text))
        choices = phrases_for("order" if _ORDER.match(x) and drawn_number(*key, "order") % 3 else "want", how)
    request = choices[drawn_number(*key, "frame") % len(choices)].format(x=x, X=upper_first(x))
    if reason:
        request = f"{reason}, so {lower_first(re.sub('^So ', '', request))}"
    if parts:
        lists = phrases_for("list", how)
        request += " " + lists[drawn_number(*key, "parts") % len(lists)].format(x=parts)
    return request
