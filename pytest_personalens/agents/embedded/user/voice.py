"""How the user speaks, in a manner that fits the person, and its first message, which names no preference."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.agents.embedded.reader.text import fold, mentions, sentences, stems
from pytest_personalens.agents.embedded.user import voice
from pytest_personalens.core.facts import RANGE
from pytest_personalens.core.runtime import once
from pytest_personalens.core.safe_text import upper_first
from pytest_personalens.core.scenario import DOMAINS, PreferenceWords
from pytest_personalens.datasets.embedded.packaged import PackagedFiles
from pytest_personalens.datasets.world import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

_HOW_MANY: Final = re.compile(r"(?:for )?how many (?:more )?(people|guests|tickets|places|seats|nights|rooms|books|titles|hours|years|weeks|days|rides|members)\b")  # fmt: skip
#: Preferences of which all values apply together, those of which a person names one, what one likes and uses.
_TOGETHER, _ONE, _LIKES, _USES = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"dietary|amenit|feature|genre|authors?|books|series|actors|media|artists|bands|albums|sports|team|sectors",
        r"time|days|season|frequency|recurring|duration|group size|price",
        r"genre|authors?|books|series|actors|media|artists|bands|albums|sports|team|game name|sectors|event type|category|destination",
        r"platform|app|airline|company|chain|source|brand",
    )
)
#: Seats and other things of which one has one.
_SEATS: Final = {
    "window": "a window seat", "aisle": "an aisle seat", "front row": "the front row", "back row": "the back row", "middle row": "a middle row", "exit row": "the exit row", "upper deck": "the upper deck",
}  # fmt: skip
_THING: Final = re.compile(r"(?:single|double|twin|family) room|shared dormitory|gym|pool|kitchenette|desk in the room|airport shuttle|multiplex|matinee|child seat|roof rack|automatic gearbox|power outlet|compact|estate|suv|minivan"
    r"|pickup truck|convertible|recliner|balcony|reserved seat|single seat|family compartment|wheelchair space|prayer mat|bicycle space|small group|large group|sleeper")  # fmt: skip
_UPPER: Final = re.compile(r".*[A-Z\d]")
#: Words of a type's name that tell nothing of what it is.
_FILLER: Final = frozenset(stems("preferred preference favorite favourite frequent type kind"))


def spoken(fact: Fact) -> str:
    """Return what a person says of a fact: ``three people``, ``Friday 10 April``."""
    text = fact.says or fact.example
    unit = _HOW_MANY.match(fact.what)
    if fact.kind == "count" and unit and re.fullmatch(r"\w+", text):
        noun, one = unit[1], text in ("one", "1")
        return f"{text} {'person' if one and noun == 'people' else noun.removesuffix('s') if one else noun}"
    if fact.kind == "count" and "percent" in fact.what:
        return f"{text} percent"
    named = fact.kind in ("person", "place", "provider", "text", "date") or _UPPER.match(text)
    return text if named else article(fact.name, lower_first(text))


def article(name: str, text: str) -> str:
    """Return the words of a thing with an article where it is one of a kind: "a gym or a desk in the room"."""
    if " or " in text:
        return " or ".join(article(name, part) for part in text.split(" or "))
    folded = text.lower()
    if "seat" in name.lower() and folded in _SEATS:
        return _SEATS[folded]
    an = "an" if folded[:1] in "aeio" or folded == "suv" else "a"
    return f"{an} {text}" if _THING.fullmatch(folded) else text


def is_range(fact: Fact) -> bool:
    """True for a fact that any value between two ends fits."""
    return len(fact.right) == 1 and RANGE in fact.right[0]


def bank_of(fact: Fact) -> str:
    """Return the bank of phrases that tells a fact."""
    if is_range(fact):
        return "tell_range"
    if fact.kind == "count" and re.search(r"\b(?:people|guests|passengers)\b", fact.what):
        return "tell_alone" if fact.right[:1] == ("1",) else "tell_people"
    return {"date": "tell_date", "time": "tell_time"}.get(fact.kind, "tell")


def preferred(name: str, held: Sequence[str], *, most: int = 2) -> str:
    """Return the values of a preference as a person says them, at most two: "jazz and soul"."""
    # Text in brackets explains a value and is not said: "10 minutes before (calls)".
    texts = [re.sub(r"\s*\([^)]*\)", "", v).strip() or v for v in held[: 1 if _ONE.search(name) else most]]
    said = [article(name, text if _UPPER.match(text) else lower_first(text)) for text in texts]
    said = [f"{text} quality" if "quality" in name.lower() and " " not in text else text for text in said]
    return (" and " if _TOGETHER.search(name) else " or ").join(dict.fromkeys(said))


def bank_of_preference(name: str) -> str:
    """Return the bank of phrases that tells a preference of a type."""
    liked = "prefer_like" if _LIKES.search(name) else "prefer_use" if _USES.search(name) else "prefer"
    return "diet" if "dietary" in name.lower() else liked


def words_of(scenario: Scenario, domain: str, name: str) -> PreferenceWords:
    """Return the words for a type of preference: those of the scenario, or else those of the embedded data."""
    own = scenario.words[domain].types.get(name) if domain in scenario.words else None
    if own is not None or domain not in DOMAINS:
        return own or PreferenceWords()
    return _embedded().domain(domain).as_said().types.get(name, PreferenceWords())


@once
def _embedded() -> PackagedFiles:
    return PackagedFiles()


def topic(name: str) -> frozenset[str]:
    """Return the stems of what a type of preference is about: "seat" of "Seat Preference"."""
    return frozenset(stems(fold(name))) - _FILLER


#: How a person speaks; "simple" is one who knows little English.
Manner = Literal["casual", "plain", "formal", "simple"]

_OBJECT: Final = (
    r"for|to|with|of|let|let's|give|show|tell|remind|near|around|by|from|at|on|help|suits?|fits?|wakes?|meets?|takes?|gets?|keeps?|"
    r"brings?|sends?|asks?|interests?|costs?|leaves?|behind|without|about|between|reach|reaches|makes?|gives?|lets?|tells?|allows?|owe|owes|"
    r"past|into|worth|serves?|matters? to|expects?|invited?|waiting for|picks?|drops?|helps?|joins?|follows?|bothers?|lasts?"
)
_SWAPS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\byou're\b", "I'm"), (r"\byou are\b", "I am"), (r"\byou were\b", "I was"), (r"\bare you\b", "am I"),
        (r"\byou aren't\b", "I'm not"), (r"\byou weren't\b", "I wasn't"),
        (r"\byou've\b", "I've"), (r"\byou'd\b", "I'd"), (r"\byou'll\b", "I'll"), (r"\byours\b", "mine"), (r"\byourself\b", "myself"),
        (r"\b(two|three|four|five|six|seven|eight|nine|ten|\d+) of you\b", r"\1 of us"),
        (r"\byour\b", "my"), (r"\b(\w+) you(?=[.,;!?]|$)", r"\1 me"),
        (rf"\b({_OBJECT}) you\b(?! (?:will|can|could|would|have|need|want|must)\b)", r"\1 me"),
        (r"\byou\b", "I"),
    )
)  # fmt: skip


def first_person(text: str) -> str:
    """Return a text about "you" as that person would say it: "I want my alarm back" for "You want your alarm back"."""
    for pattern, replacement in _SWAPS:
        text = pattern.sub(lambda m, new=replacement: _as_start(m, m.expand(new)), text)  # type: ignore[misc]
    return text


def _as_start(match: re.Match[str], text: str) -> str:
    return upper_first(text) if match[0][0].isupper() else text


def lower_first(text: str) -> str:
    """Return the text as it follows a comma; names of days, abbreviations and "I" keep their capital."""
    return text if re.match(r"I\b|[A-Z][A-Z]|[A-Z][a-z]+day\b", text) else text[:1].lower() + text[1:]


def manner(scenario: Scenario) -> Manner:
    """Return the manner that fits the person's English and age."""
    about = scenario.demographics
    if re.match(r"basic|intermediate|beginner|limited", about.get("english_proficiency", ""), re.IGNORECASE):
        return "simple"
    digits = re.match(r"\d+", about.get("age", ""))
    age = int(digits[0]) if digits else 40
    return "formal" if age >= 55 else "casual" if age < 30 else "plain"


def drawn_number(*key: str) -> int:
    """Return a number drawn from `key`, the same on every machine."""
    text = "\x1f".join(key).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big")


@once
def _banks() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8"))


def phrases_for(bank: str, how: Manner) -> list[str]:
    """Return the phrases of an occasion: for everybody and of a manner; where there are any, only the simple ones."""
    phrases = _banks()[bank]
    own = phrases.get(how, [])
    return own if how == "simple" and own else [*own, *phrases["any"]]


class SpeechlessError(Exception):
    """The user has said every phrase of a bank."""


class Speaker:
    """A speaker who draws phrases by `key`, among those whose sentences were not `said` yet."""

    def __init__(self, key: str, how: Manner, said: Iterable[str]) -> None:
        self.key, self.how = key, how
        self.said = {_bare(sentence) for text in said for sentence in sentences(text)}

    def say(self, bank: str, **values: str) -> str:
        """Return a phrase of a bank with its values filled in; a name in capitals begins with a capital.

        Raise `SpeechlessError` if all phrases were said.
        """
        filled = values | {name.upper(): upper_first(value) for name, value in values.items()}
        choices = phrases_for(bank, self.how)
        start = drawn_number(self.key, bank, str(len(self.said)))
        for i in range(len(choices)):
            text = upper_first(choices[(start + i) % len(choices)].format(**filled))
            if self.is_new(text):
                self.said |= {_bare(sentence) for sentence in sentences(text)}
                return text
        raise SpeechlessError(bank)

    def has_said(self, bank: str) -> bool:
        """True if a phrase of a bank, one without values, was said."""
        return any(not self.is_new(phrase) for phrase in phrases_for(bank, self.how))

    def is_new(self, text: str) -> bool:
        """True if no sentence of the text was said."""
        return all(_bare(sentence) not in self.said for sentence in sentences(text))


def _bare(sentence: str) -> str:
    return fold(sentence).strip(" .!?;")


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
_UNTORN: Final = re.compile(
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
    whole = [*_Secret(scenario).said_in(text), *(match.span() for match in _UNTORN.finditer(text))]
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
