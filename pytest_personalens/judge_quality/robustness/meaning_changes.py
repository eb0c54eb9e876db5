"""Changes of an assistant's replies that leave the task undone: a value moved, a deed taken back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language import slots
from pytest_personalens.judge_quality.robustness.wording_changes import rewrite_replies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.scenario import Scenario


_FEW: Final = "two|three|four|five|six|[2-6]"
_THINGS: Final = (
    "tickets?|people|seats?|nights?|persons?|guests?|places?|spots?|rooms?|books?|chairs?|copies|adults?"
    "|pax|heads"
)
_COUNTED: Final = re.compile(rf"\b({_FEW}) (?:\w+ )?(?:{_THINGS})\b|\btable for ({_FEW})\b")
_CLOCK: Final = re.compile(r"\b(\d{1,2}):(\d\d)\b")
_DATE: Final = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_OTHER_NAMES: Final = ("Benedikt", "Rosalind", "Thaddeus")
_PROMISES: Final = {
    "booked": "book", "reserved": "reserve", "bought": "buy", "ordered": "order", "set": "set",
    "sent": "send",
    "added": "add", "moved": "move", "saved": "save", "confirmed": "confirm", "entered": "enter",
}  # fmt: skip
_DONE: Final = "|".join(_PROMISES)
_DEEDS: Final = (
    (re.compile(rf"\b(I|We)(?:'ve| have)?(?: just| now| also)? ({_DONE})\b"), r"\1 will {verb}"),
    (re.compile(rf"\b(is|are|was|were|has been|have been)(?: now| also)? ({_DONE})\b"), "will be {done}"),
    (re.compile(rf"^(\W*)({_DONE})\b", re.IGNORECASE | re.MULTILINE), r"\1will be {done}"),
)
_TAKEN_BACK: Final = (
    "Oh, I have to take that back: the request was declined, so nothing has been done.",
    "Correction: this did not go through after all, and it has been cancelled again.",
    "Sorry, the system has just undone all of that.",
)


def meaning_changes(scenario: Scenario, dialogue: Dialogue) -> Iterator[tuple[str, Dialogue]]:
    """Yield the dialogue with one thing changed that the task needs, each with the name of the change.

    ``day``, ``date``, ``time``, ``count`` and ``name`` change a value that the goal or the user names,
    wherever a reply says it. ``promise`` turns what the assistant has done into what it will do. ``taken
    back`` adds a sentence to the last reply. A change that applies to no reply is left out.
    """
    user = " ".join(m.content for m in dialogue.messages if m.role == "user")
    named = f"{scenario.task.goal} {user}"
    for name, rewrite in (
        ("day", _other_day(scenario.task.goal, user)),
        ("date", _other_date(named)),
        ("time", _other_time(named)),
        ("count", _other_count(named)),
        ("name", _other_name(scenario.task.goal)),
        ("promise", _promised),
    ):
        changed = dialogue if rewrite is None else rewrite_replies(dialogue, rewrite)
        if changed.messages != dialogue.messages:
            yield name, changed
    last = max((i for i, m in enumerate(dialogue.messages) if m.role == "assistant"), default=None)
    if last is not None:
        sentence = _TAKEN_BACK[len(dialogue.messages[last].content) % len(_TAKEN_BACK)]
        messages = tuple(
            m.model_copy(update={"content": f"{m.content} {sentence}"}) if i == last else m
            for i, m in enumerate(dialogue.messages)
        )
        yield "taken back", dialogue.model_copy(update={"messages": messages})


def _other_day(goal: str, user: str) -> Callable[[str], str] | None:
    """Return a rewriting of the only day of the week that the goal names, or else that the user names."""
    names = [day.capitalize() for day in slots.DAYS]
    for text in (goal, user):
        said = [day for day in names if re.search(rf"\b{day}\b", text, re.IGNORECASE)]
        if said:
            break
    if len(said) != 1:
        return None
    old, new = said[0], names[(names.index(said[0]) + 1) % len(names)]
    forms = {
        form(a): form(b)
        for a, b in ((old, new), (old[:3], new[:3]))
        for form in (str.title, str.upper, str.lower)
    }
    return _words(forms)


def _other_date(named: str) -> Callable[[str], str] | None:
    days = set(_DATE.findall(named))
    if len(days) != 1:
        return None
    day = int(days.pop())
    pattern = re.compile(rf"(?<![\d:.,]){day}(st|nd|rd|th)?(?![\d:.,])")
    return lambda text: pattern.sub(lambda m: f"{day + 2}{_ending(day + 2) if m[1] else ''}", text)


def _ending(day: int) -> str:
    return "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _other_time(named: str) -> Callable[[str], str] | None:
    times = set(_CLOCK.findall(named))
    if len(times) != 1:
        return None
    hour, minute = times.pop()
    ways = {int(hour) % 24, (int(hour) + 12) % 24}
    pattern = re.compile(rf"\b0?({'|'.join(map(str, sorted(ways, reverse=True)))}):{minute}\b")
    return lambda text: pattern.sub(lambda m: f"{(int(m[1]) + 1) % 24}:{minute}", text)


def _other_count(named: str) -> Callable[[str], str] | None:
    counts = {slots.number(m[1] or m[2]) for m in _COUNTED.finditer(named.lower())}
    if len(counts) != 1:
        return None
    count = counts.pop()
    word, more = (slots.NUMBER_WORDS[n] for n in (count, count + 1))
    new = {word: more, word.capitalize(): more.capitalize(), str(count): str(count + 1)}
    if count == 2:
        new |= {"both": "all three", "Both": "All three", "a pair of": "three"}
    number = f"({'|'.join(map(re.escape, new))})"
    pattern = re.compile(
        rf"(?<![\w:.,]){number}(?= (?:of you|(?:[\w-]+ ){{0,2}}(?:{_THINGS}))\b)"
        rf"|(?<=\bfor ){number}(?=[,.;!]| (?:on|at|in|this|next)\b|$)"
        rf"|(?<=: ){number}(?= (?:booked|reserved|secured|bought|held)\b)",
        re.MULTILINE,
    )
    return lambda text: pattern.sub(lambda m: new[m[0]], text)


def _other_name(goal: str) -> Callable[[str], str] | None:
    """Return a rewriting of the first name in the goal's sentence that is no word of the calendar."""
    names = sorted(slots.names(f"x {goal}"))
    if not names:
        return None
    return _words(
        {form(names[0]): _OTHER_NAMES[len(goal) % len(_OTHER_NAMES)] for form in (str.title, str.upper)}
    )


def _promised(text: str) -> str:
    for pattern, future in _DEEDS:
        for match in reversed([*pattern.finditer(text)]):
            done = match[2].lower()
            new = match.expand(future).format(done=done, verb=_PROMISES[done])
            text = text[: match.start()] + new + text[match.end() :]
    return text


def _words(new: dict[str, str]) -> Callable[[str], str]:
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, new))})\b")
    return lambda text: pattern.sub(lambda m: new[m[0]], text)
