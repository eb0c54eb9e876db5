"""The embedded user agent: follows an agenda built from the scenario, without a model, the same on every machine."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.kinds import is_deed, is_proposal, is_question
from pytest_personalens.agents.lexicon import type_words
from pytest_personalens.agents.reading import Reading
from pytest_personalens.agents.text import fold, mentions, sentences
from pytest_personalens.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.dialogue import Message
    from pytest_personalens.scenario import Scenario

#: Rounds without progress after which the user gives up.
PATIENCE: Final = 3

_GREETINGS: Final = ("", "Hi! ", "Hello, ", "Hey, ", "Good {time}. ", "Hi there. ")
_WANT: Final = (
    "I'd like to {x}.",
    "I want to {x}.",
    "Could you help me {x}?",
    "Can you help me {x}?",
    "I'm hoping to {x}.",
    "I'm looking to {x}.",
)
_NEED: Final = ("I need to {x}.", "I have to {x}.", "Could you help me {x}?", "Can you help me {x}?")
_ASK: Final = ("Could you help me {x}?", "Can you help me {x}?", "I'd like to {x}.", "I need to {x}.", "Please help me {x}.")
_ANSWER: Final = (
    "For the {noun}: {values}.",
    "{Values} for the {noun}, please.",
    "As to the {noun}, {values}.",
    "With the {noun} I usually go for {values}.",
    "My choice of {noun} is {values}.",
    "{Values}, if you ask me about the {noun}.",
)
_AGAIN: Final = (
    "I told you already: {values}.",
    "As I said, {values}.",
    "You asked me that before. {Values}.",
    "Still {values}, like I said.",
)
_CORRECTION: Final = (
    "No, that's not me: my {noun} is {values}, not {other}.",
    "Hold on, not {other}. I go for {values}.",
    "That's wrong, I never asked for {other}. {Values}, please.",
    "{Other}? You should know that I prefer {values}.",
)
_ACCEPT: Final = ("Yes, please do.", "Sounds good, go ahead.", "Yes, that works for me.", "Fine with me, go on.", "Right, please do that.")
_CHOOSE: Final = ("The first one, please.", "Let's take the first.", "I'll go with your first suggestion.")
_NO_VIEW: Final = (
    "I have no strong view on that, pick what fits me.",
    "Up to you, you know how I like things.",
    "No particular wish there, just choose.",
    "Whatever you think suits me best.",
)
_NUDGE: Final = (
    "Okay, then please get it done.",
    "And? Is it done?",
    "So what have you got for me?",
    "I'm still waiting for the actual thing.",
)
_OTHER_WAY: Final = ("Is there another way to do it?", "Can't you find an alternative?", "Hm. What can you do instead?")
_REST: Final = ("And what about the {part}?", "That leaves the {part}.", "The {part} is still missing.", "Don't forget the {part}.")
_THANKS: Final = (
    "Perfect, that's all I needed. Thanks!",
    "Great, thank you. That's everything.",
    "Lovely, thanks for sorting that out.",
    "Thank you, we're done here.",
    "Thanks a lot, that's just right.",
)
_GIVE_UP: Final = (
    "Never mind, I'll do it myself.",
    "This isn't getting anywhere. Forget it.",
    "Forget it, I'll sort it out on my own.",
    "I give up, thanks anyway.",
)
_PARTS: Final = {"Rental Cars": "rental car", "Messaging": "message", "Movies": "film", "Media": "thing to watch", "Finance": "money side"}


class EmbeddedUserAgent:
    """Opens without a preference, answers when asked, corrects what is wrong, ends when served or out of patience.

    Each turn follows from the scenario and the transcript alone; wording is chosen by their digest and no
    sentence is used twice in a dialogue.
    """

    identity = "embedded-user 1"
    paid = False

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """The next turn of the user."""
        if not transcript:
            return UserTurn(opening(scenario))
        return _Agenda(scenario, transcript).next()


def opening(scenario: Scenario) -> str:
    """The intent in the first person, one or two sentences, none of which names a preference value."""
    key = f"{scenario.user}\x1f{scenario.task.id}"
    values = [v for types in scenario.preferences.values() for vs in types.values() for v in vs]
    said = [s for s in sentences(scenario.task.intent) if not any(mentions(v, s) for v in values)][:2]
    if not said:
        said = [f"You need help with {' and '.join(d.lower() for d in scenario.domains)}."]
    time = scenario.situation.time_of_day.lower()
    greeting = _pick(_GREETINGS, key, "greeting").format(time="evening" if time == "night" else time)
    if any(mentions(v, greeting) for v in values):
        greeting = ""  # "Good afternoon" says too much to whom afternoons are a preference
    first = _request(said[0], key)
    if greeting.endswith(", ") and not re.match(r"I\b", first):
        first = first[0].lower() + first[1:]
    return " ".join([greeting + first, *(first_person(s) for s in said[1:])])


def _request(sentence: str, key: str) -> str:
    text = sentence.strip().rstrip(".!")
    for pattern, frames in ((r"you (?:want|would like|wish|'d like) to ", _WANT), (r"you(?: really)? (?:need|have) to ", _NEED)):
        match = re.match(pattern, text, re.IGNORECASE)
        if match:
            return _pick(frames, key, "frame").format(x=first_person(text[match.end() :]).rstrip("."))
    if re.match(r"you\b|your\b", text, re.IGNORECASE):
        return first_person(text) + "."
    # The official intents are imperatives: "Find a movie ...".
    return _pick(_ASK, key, "frame").format(x=first_person(text[0].lower() + text[1:]))


def first_person(text: str) -> str:
    """A text about "you" as that person would say it.

    >>> first_person("You want your alarm back, so that it wakes you on time.")
    'I want my alarm back, so that it wakes me on time.'
    """
    for pattern, replacement in (
        (r"\byou're\b", "I'm"), (r"\byou are\b", "I am"), (r"\byou were\b", "I was"), (r"\bare you\b", "am I"),
        (r"\byou aren't\b", "I'm not"), (r"\byou weren't\b", "I wasn't"),
        (r"\byou've\b", "I've"), (r"\byou'd\b", "I'd"), (r"\byou'll\b", "I'll"), (r"\byours\b", "mine"), (r"\byourself\b", "myself"),
        (r"\byour\b", "my"), (r"\b(\w+) you(?=[.,;!?]|$)", r"\1 me"),
        (r"\b(for|to|with|of|let|let's|give|show|tell|remind|near|around|by|from|at|on|help|suits?|fits?|wakes?|meets?|takes?|gets?|keeps?|"
         r"brings?|sends?|asks?|interests?|costs?|leaves?|behind|without|about|between|reach|reaches|makes?|gives?|lets?|tells?|allows?|owe|owes|"
         r"past|into|worth|serves?|matters? to|expects?|invited?|waiting for|picks?|drops?|helps?|joins?|follows?|bothers?|lasts?) you\b", r"\1 me"),
        (r"\byou\b", "I"),
    ):  # fmt: skip

        def swap(match: re.Match[str], replacement: str = replacement) -> str:
            new = match.expand(replacement)
            return new[0].upper() + new[1:] if match[0][0].isupper() else new

        text = re.sub(pattern, swap, text, flags=re.IGNORECASE)
    return text


class _Agenda:
    """What the user says next, decided from the transcript so far."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        self.scenario, self.transcript = scenario, transcript
        self.reading = Reading(scenario, transcript)
        self.now = len(transcript) - 1
        self.last = transcript[-1].content
        self.key = f"{scenario.user}\x1f{scenario.task.id}"
        self.said = {fold(s) for m in transcript if m.role == "user" for s in sentences(m.content)}

    def next(self) -> UserTurn:
        if self._fed_up():
            return UserTurn(self._say(_GIVE_UP), done=True)
        parts = [*self._corrections(), *self._answers()]
        if parts:
            return UserTurn(" ".join(parts[:3]))
        asked = [s for s in sentences(self.last) if is_question(s)]
        refused = any(turn == self.now for turn, _ in self.reading.refusals)
        done = any(turn == self.now for turn, _ in self.reading.deeds)
        if done and not refused:
            missing = self.reading.undone_domains()
            if missing and self._patient(missing[0]):
                return UserTurn(self._say(_REST, part=_PARTS.get(missing[0], missing[0].lower().rstrip("s"))))
            return UserTurn(self._say(_THANKS), done=True)
        if refused:
            return UserTurn(self._say(_OTHER_WAY)) if self._new(_OTHER_WAY) else UserTurn(self._say(_GIVE_UP), done=True)
        if asked:
            return UserTurn(self._say(self._reply_to(asked[-1])))
        return UserTurn(self._say(_ACCEPT if is_proposal(self.last) else _NUDGE))

    def _corrections(self) -> list[str]:
        found: list[str] = []
        for clash in self.reading.clashes:
            if clash.turn == self.now and not found:
                found.append(self._value_line(_CORRECTION, clash.domain, clash.type, other=clash.value))
        return found

    def _answers(self) -> list[str]:
        found: list[str] = []
        seen: set[tuple[str, str]] = set()
        for ask in self.reading.asks:
            pair = (ask.domain, ask.type)
            if ask.turn == self.now and pair not in seen and len(found) < 3:
                seen.add(pair)
                found.append(self._value_line(_AGAIN if ask.again else _ANSWER, *pair))
        return found

    def _value_line(self, forms: Sequence[str], domain: str, name: str, other: str = "") -> str:
        values = list(self.scenario.preferences[domain][name][:3])
        text = " and ".join([", ".join(values[:-1]), values[-1]] if len(values) > 1 else values)
        noun = type_words(domain, name).noun
        return self._say(forms, noun=noun, values=text, Values=text[0].upper() + text[1:], other=other, Other=other[:1].upper() + other[1:])

    def _reply_to(self, question: str) -> Sequence[str]:
        folded = fold(question)
        if re.search(r"\b(?:which|first|second|either)\b", folded) and (
            is_proposal(self.last) or re.search(r"^\s*(?:[-*•]|\d[.)])", self.last, re.MULTILINE)
        ):
            return _CHOOSE
        if re.match(
            r"\W*(?:and |so |then )?(?:shall|should|may|can|could|would you like|do you want|want|is (?:that|this)|does (?:that|this)|ok|okay|right|sound|ready|will)\b",
            folded,
        ) or re.search(
            r"\b(?:shall i|should i|may i|do you want me|would you like me|is that (?:ok|right|fine)|ok(?:ay)? (?:with|for) you|sounds? (?:good|right)|go ahead)\b",
            folded,
        ):
            return _ACCEPT
        return _NO_VIEW

    def _fed_up(self) -> bool:
        """True after `PATIENCE` answers in a row that repeat a question, contradict again, or bring nothing."""
        wasted = 0
        known_asks: set[tuple[str, str]] = set()
        replies = [(turn, m.content) for turn, m in enumerate(self.transcript) if m.role == "assistant"]
        seen: set[str] = set()
        for turn, content in replies:
            asks = {(a.domain, a.type) for a in self.reading.asks if a.turn == turn}
            useful = bool(asks - known_asks) or (
                fold(content) not in seen and any(is_deed(s) or is_proposal(s) for s in sentences(content))
            )
            again = any(a.turn == turn and a.again for a in self.reading.asks)
            clash = any(c.turn == turn for c in self.reading.clashes)
            wasted = wasted + 1 if again or clash or not useful else 0
            known_asks |= asks
            seen.add(fold(content))
        return wasted >= PATIENCE or len(replies) > 4 + 3 * len(self.scenario.domains)

    def _patient(self, domain: str) -> bool:
        part = _PARTS.get(domain, domain.lower().rstrip("s"))
        return sum(fold(f.format(part=part)).rstrip(".?") in {s.rstrip(".?") for s in self.said} for f in _REST) < 2

    def _new(self, forms: Sequence[str]) -> bool:
        return not any(fold(f) in self.said for f in forms)

    def _say(self, forms: Sequence[str], **values: str) -> str:
        """One of `forms`, filled in; one whose sentences were not said before, if there is any."""
        start = _number(self.key, forms[0], str(self.now)) % len(forms)
        turned = [forms[(start + i) % len(forms)].format(**values) for i in range(len(forms))]
        fresh = (t for t in turned if not any(fold(s) in self.said for s in sentences(t)))
        chosen = next(fresh, turned[0])
        self.said |= {fold(s) for s in sentences(chosen)}
        return chosen


def _pick(forms: Sequence[str], *key: str) -> str:
    return forms[_number(*key) % len(forms)]


def _number(*key: str) -> int:
    return int.from_bytes(hashlib.sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).digest()[:4], "big")
