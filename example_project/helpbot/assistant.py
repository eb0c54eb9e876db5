"""Helpbot itself: finds the skill that is asked for and fills in its reply."""

from __future__ import annotations

import re
from functools import cache

from helpbot.catalogue import CHOICES, HABITS, PARTS, SKILLS, THINGS, Skill
from helpbot.confirming import adapted, checked, details, is_check, on_file
from helpbot.details import DETAILS, corrected, later, told
from helpbot.memory import Memory, Options, named

Messages = list[dict[str, str]]

CLOSING = re.compile(
    r"\b(?:thank|that's all|that will be all|all set|cheers|i'm good|never ?mind|forget it|give it up|i give"
    r" up|leave it)",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\?|\b(?:please|instead|rather)\b|never ?mind (?:the|that|about)\b|^(?:no|not|hm|wait)\b(?!,? thank)",
    re.IGNORECASE,
)
_CHASE = re.compile(
    r"\b(?:done|do|do it|gone through|work|worked|settled|how far|confirmed|sort|sorted|see to|get on|have"
    r" for me|asked for)\b",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"\b(?:you (?:choose|pick|decide)|leave (?:it|that) to you|what(?:ever)? (?:seems|you think)|no strong"
    r" view)\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\babout the|\bthe [\w ]+, (?:please|though)|\band the\b|leaves the|see to the", re.IGNORECASE
)
_GOODBYES = [
    "You're welcome. Have a good one!",
    "Any time. Take care!",
    "Glad to help. Bye for now!",
    "My pleasure. See you!",
]
_LOST = (
    "I can book travel and tables, set alarms, send messages, find things to read and watch, and more. Which"
    " of these is it?"
)
_PLACE = re.compile(r"\{(\w+?)(\d?)\}")
_GROUP = re.compile(r"\[([^\[\]|]*)(?:\|([^\[\]]*))?\]")
_NAMED = r"[A-Z]\w+(?: [A-Z]\w+)*"
_CAPITALIZED = re.compile(rf"(?<=\w[ ,] ){_NAMED}|(?<=\w ){_NAMED}|^{_NAMED}(?=,| please|\.$)")
_NO_NAMES = {
    "I",
    "No",
    "Not",
    "Hm",
    "Okay",
    "Ok",
    "Yes",
    "Yeah",
    "Sure",
    "Sorry",
    "Wait",
    "Please",
    "Good",
    "Great",
    "Perfect",
    "Right",
    "Fine",
    "Well",
}


class Helpbot:
    """Does what is asked, choosing as the user chooses: by what was said, then by what is remembered."""

    def __init__(self, user: str, memory: Memory) -> None:
        self.user, self.memory = user, memory

    def __call__(self, messages: Messages) -> str:
        """The reply to the last message."""
        said = [m["content"] for m in messages if m["role"] == "user"]
        if is_closing(said):
            return _GOODBYES[len(messages[0]["content"]) % len(_GOODBYES)]
        skill, start = wanted(said)
        if not skill:
            return _LOST
        stages, step = self.stages(skill), len(said) - 1 - start
        if step < len(stages):
            text = self.fill(stages[step], said)
            return self.whole(text, said) if step == len(stages) - 1 else text
        return self.follow_up(skill, said)

    def stages(self, skill: Skill) -> list[str]:
        """The replies of a skill, as templates: a proposal first where the user has a say, then the deed."""
        deed = skill.reply + self.foresight(skill)
        return [skill.first, deed] if skill.first else [deed]

    def foresight(self, skill: Skill) -> str:
        """What a note gives reason to see to without being asked."""
        fitting = (
            h
            for h in HABITS
            if h.skills.search(skill.name) and self.memory.speaks_of(self.user, h.topic, h.words)
        )
        return next((f" {habit.say}" for habit in fitting), "")

    def follow_up(self, skill: Skill, said: list[str]) -> str:
        """After the deed: redo it with a new value, or confirm it, or the part of it that was asked about."""
        deed, last = self.whole(self.deed(skill, said), said), said[-1].lower()
        if answer := checked(said[-1]):
            return f"{answer} {deed}"
        if deed != self.whole(self.deed(skill, said[:-1]), said[:-1]):
            return f"I've changed that for you. {deed}"
        sentences = re.split(r"(?<=[.!]) ", deed)
        parts = [
            s
            for s in sentences
            for word, signs in PARTS.items()
            if word in last and re.search(signs, s, re.IGNORECASE)
        ]
        if parts and _PART.search(last):
            return f"That's done too. {' '.join(dict.fromkeys(parts))}"
        if _LEFT.search(last):
            return f"Then it stays as it is, all done. {deed}"
        return f"{'Yes, all done.' if _CHASE.search(last) else 'This is how it stands.'} {deed}"

    def whole(self, deed: str, said: list[str]) -> str:
        """The deed as the request and the corrections since want it, with the details that it leaves out."""
        notes = " ".join(self.memory.notes(self.user, topic) for topic in self.memory.topics(self.user))
        deed = adapted(deed, said)
        return deed + on_file(notes, deed) + details(said[0], deed)

    def deed(self, skill: Skill, said: list[str]) -> str:
        """What was done, with what the user has corrected since."""
        return corrected(self.fill(skill.reply, said), [text for text in said[1:] if not is_check(text)])

    def fill(self, template: str, said: list[str]) -> str:
        """The template with the choices in their places; [a|b] is b where a has a place that stays open."""

        def place(match: re.Match[str]) -> str:
            return self.value(match[1], int(match[2] or 1), said) or match[0]

        def group(match: re.Match[str]) -> str:
            filled = _PLACE.sub(place, match[1])
            return _PLACE.sub(place, match[2] or "") if _PLACE.search(filled) else filled

        # A thing may hold a detail, such as the day in the text of an invitation.
        text = _PLACE.sub(place, _PLACE.sub(place, _GROUP.sub(group, template)))
        text = re.sub(r"\{day\d?\}", "Saturday", text)
        return (
            re.sub(r"(^|[.!?] )([a-z])(?=\w* )", lambda m: m[1] + m[2].upper(), " ".join(text.split()))
            if text
            else text
        )

    def value(self, name: str, number: int, said: list[str]) -> str | None:
        """What to put in a place: a choice of the user's, or a thing that goes with such a choice."""
        if name in DETAILS:
            return told(name, number, [text for text in said if not is_check(text)])
        if name in ("old_hour", "new_hour", "after"):
            return self.moved_hour(name, said)
        if name in THINGS:
            by, things = THINGS[name]
            known = self.choose(by, said) if by else None
            fitting = things.get(known or "", things.get("", []))
            return fitting[number - 1] if number <= len(fitting) else None
        return self.choose(name, said, number)

    def moved_hour(self, name: str, said: list[str]) -> str | None:
        """The hour of the booking on file, an hour later, or a little after the hour that was said."""
        if name == "after":
            hour = told("hour", 1, said)
            return later(hour, 25) if hour else None
        booked = re.search(r"On file now: .*? at (\d\d:\d\d)", self.memory.notes(self.user, "Restaurants"))
        if booked is None:
            return None
        return booked[1] if name == "old_hour" else later(booked[1], 60)

    def choose(self, name: str, said: list[str], number: int = 1) -> str | None:
        """The user's choice: the last one said, or one that the notes speak of."""
        if name == "person":
            return _person(said) or self.memory.person(self.user, "Messaging")
        choice = CHOICES[name]
        plain: Options = {
            option: [] for option in choice.options
        }  # a request may hold other words for options by chance
        spoken = (
            options
            for turn in reversed(range(len(said)))
            if not (turn and is_check(said[turn]) and re.search(r"\b(?:days?|weeks?|months?)\b", said[turn]))
            if (options := named(choice.options if turn else plain, said[turn]))
        )
        options = next(spoken, []) or self.memory.find(self.user, choice.topic, choice.options)
        return options[number - 1] if number <= len(options) else None


def wanted(said: list[str]) -> tuple[Skill | None, int]:
    """What the user asked for last, and in which of the messages that began."""
    skill: Skill | None = None
    start = 0
    for turn, text in enumerate(said):
        score, best = _best(text)
        if score >= (3 if skill else 1) and best is not skill:
            skill, start = best, turn
    return skill, start


@cache
def _best(text: str) -> tuple[int, Skill]:
    best = max(SKILLS, key=lambda skill: skill.score(text))
    return best.score(text), best


def is_closing(said: list[str]) -> bool:
    """True if the last message says goodbye, and asks for nothing."""
    return len(said) > 1 and bool(CLOSING.search(said[-1])) and not _MORE.search(said[-1])


@cache
def _known() -> set[str]:
    return {word for choice in CHOICES.values() for option in choice.options for word in option.split()}


def _person(said: list[str]) -> str | None:
    """A name in an answer; the first message is a request."""
    names = [
        n for text in said[1:] for n in _CAPITALIZED.findall(text) if n not in _NO_NAMES and n not in _known()
    ]
    return names[-1] if names else None
