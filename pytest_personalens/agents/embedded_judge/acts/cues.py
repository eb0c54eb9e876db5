"""Finds the cues of each statement of a dialogue.

Cues are its wording, its place, and its relation to known facts.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.detail_kinds import details
from pytest_personalens.agents.language.lexicon import domain_words
from pytest_personalens.agents.language.reading import DialogueReading
from pytest_personalens.agents.language.statements import of_message, plain, substance
from pytest_personalens.agents.language.text import content, mentions, runs
from pytest_personalens.agents.language.weights import words as listed
from pytest_personalens.agents.reading.goal import classes, parts
from pytest_personalens.agents.reading.typed_values import same_length, with_length_of
from pytest_personalens.agents.wording.verb_forms import forms, gist
from pytest_personalens.agents.wording.wording_cues import form_cues, reactions, word_cues

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

_NUMBER: Final = re.compile(r"\d+(?:[:.,]\d+)*")
#: The cue of a statement that lists known facts: values of many preferences, and little else. Several values
#: of one preference may be what was asked for: titles on a watchlist.
LISTED: Final = "lists what is known"
_MANY: Final = 4
_STUFFED: Final = 0.6
_SHARES: Final = (0.0, 0.25, 0.5, 0.75)


class Line(NamedTuple):
    """A statement of message `turn`.

    `quote` is the piece to quote, and `words` holds the stems of its content words. `cues` holds everything
    that the judge sees of it.
    """

    turn: int
    role: str
    text: str
    quote: str
    words: frozenset[str]
    cues: frozenset[str]


def lines(scenario: Scenario, messages: Sequence[Message]) -> tuple[Line, ...]:
    """Return every statement of the dialogue with its cues, in order."""
    reader = _Reader(scenario, messages)
    return tuple(line for turn in range(len(messages)) for line in reader.message(turn))


def read(message: Message) -> tuple[tuple[str, str], ...]:
    """Return the statements of a message with their quotes.

    Statements of the assistant have no courtesies.
    """
    return substance(message.content) if message.role == "assistant" else of_message(message.content)


def _text(message: Message) -> str:
    return " ".join(text for text, _ in read(message)) if message.role == "assistant" else message.content


class _Reader:
    def __init__(self, scenario: Scenario, messages: Sequence[Message]) -> None:
        self.scenario, self.messages = scenario, messages
        self.types = [values for types in scenario.preferences.values() for values in types.values()]
        self.values = [v for values in self.types for v in values]
        self.value_words = frozenset().union(*map(content, self.values))
        task = scenario.task
        topic = content(f"{task.description} {task.intent} {task.goal}").union(
            *(content(" ".join((d, *domain_words(d, scenario)))) for d in scenario.domains)
        )
        self.past = frozenset().union(*map(content, scenario.summaries.values())) - topic - self.value_words
        self.place = content(" ".join(scenario.situation.known.values())) - topic - self.value_words
        self.goal = content(task.goal) | content(task.intent)
        self.pairs = set().union(*(runs(text, 2) for text in scenario.summaries.values()))
        self.known_numbers = set(_NUMBER.findall(" ".join((*scenario.summaries.values(), *self.values))))
        self.parts = parts(task)
        self.asked_details = frozenset[str]().union(*(p.slots for p in self.parts))
        self.common = listed("common")
        self.said: set[str] = set(content(messages[0].content)) if messages else set()
        self.by_user = messages[0].content if messages else ""
        self.numbers: set[str] = set()
        self.before: dict[str, set[str]] = {"user": set(), "assistant": set()}

    @cached_property
    def _asks(self) -> dict[tuple[int, str], bool]:
        return {(a.turn, a.sentence): a.again for a in sorted(self._reading.asks, key=lambda a: a.again)}

    @cached_property
    def _reading(self) -> DialogueReading:
        return DialogueReading(self.scenario, self.messages)

    def message(self, turn: int) -> Iterator[Line]:
        message = self.messages[turn]
        statements = read(message)
        before = [f"after {r}" for r in reactions(_text(self.messages[turn - 1]))] if turn else []
        after = (
            [f"before {r}" for r in reactions(_text(self.messages[turn + 1]))]
            if turn + 1 < len(self.messages)
            else ["before silence"]
        )
        place = self._place(turn)
        whole = self._whole(turn, [plain(text) for text, _ in statements], [*before, *after])
        earlier = ""
        for said, quote in statements:
            text = self._in_known_words(said) if message.role == "assistant" else said
            folded, stems = plain(text), content(text)
            cues = {*word_cues(text, folded, self.goal, self.value_words), *place, *before}
            if message.role == "assistant":
                seen = forms(folded)
                how = gist(seen)
                cues |= {*after, *whole, *form_cues(folded), *(f"{how} & {c}" for c in whole)}
                if earlier:
                    cues.add(f"after gist {earlier}")
                earlier = how
                cues.update(self._assistant(turn, text, quote, stems))
            else:
                cues.update(self._user(turn, text, stems))
            if folded in self.before[message.role]:
                cues.add("repeated")
            self.before[message.role].add(folded)
            yield Line(turn, message.role, text, quote, stems, frozenset(cues))
        if message.role == "user":
            self.said |= content(message.content)
            self.numbers.update(_NUMBER.findall(message.content))
            self.by_user += f"\n{message.content}"

    def _in_known_words(self, text: str) -> str:
        """Return the text with each length of time in the words of the known value: "2 hours", not "120 minutes"."""
        for value in self.values:
            if same_length(value, text) and not mentions(value, text):
                text = with_length_of(value, text)
        return text

    def _place(self, turn: int) -> Iterator[str]:
        if turn == len(self.messages) - 1:
            yield "last message"
        elif turn == len(self.messages) - 2:
            yield "message before the last"
        if turn <= 1:
            yield "first message"

    def _whole(self, turn: int, texts: Sequence[str], around: Sequence[str]) -> set[str]:
        """Return the cues of the message as a whole."""
        cues = {f"message {c}" for c in around}
        if any(t.rstrip().endswith("?") for t in texts):
            cues.add("message asks")
        if texts and texts[-1].rstrip().endswith("?"):
            cues.add("message ends with a question")
        if any(f.startswith("done") for t in texts for f in forms(t)):
            cues.add("message tells of deeds")
        if any("future: mine" in forms(t) for t in texts):
            cues.add("message promises")
        cues.add("message late" if turn >= len(self.messages) - 2 else "message inner")
        cues.add("message first" if turn <= 1 else "message later")
        return cues

    def _assistant(self, turn: int, text: str, quote: str, stems: frozenset[str]) -> Iterator[str]:
        fresh = stems - self.said
        named = [v for v in self.values if mentions(v, text)]
        unsaid = any(not mentions(v, self.by_user) for v in named)
        if named:
            yield "own value unsaid" if unsaid else "own value said"
        partly = max(
            (len(content(v) & fresh) / len(content(v)) for v in self.values if content(v)), default=0.0
        )
        if partly and not named:
            yield _share("part of a value", partly)
        past, place = self.past & fresh, self.place & fresh
        rare = past - self.common
        pairs = [p for p in runs(text, 2) & self.pairs if fresh & set(p) - self.common]
        numbers = set(_NUMBER.findall(text)) - self.numbers
        yield _count("past", len(rare))
        yield _count("past pairs", len(pairs))
        yield _count("situation", len(place))
        yield _count("known numbers", len(numbers & self.known_numbers))
        yield _count("new numbers", len(numbers))
        yield _count("goal", len(self.goal & stems))
        yield self._echo(stems)
        ground = (
            "ground 2" if rare or unsaid else "ground 1" if past or partly >= 0.5 or place else "ground 0"
        )
        yield ground
        if text.rstrip().endswith("?"):
            yield from ("question", f"{ground} question")
        yield from (f"has {detail}" for detail in details(text))
        for (at, sentence), again in self._asks.items():
            if at == turn and (sentence in quote or quote in sentence):
                yield "asks again" if again else "asks for the known"
        if any(
            c.turn == turn and (c.sentence in quote or quote in c.sentence) for c in self._reading.clashes
        ):
            yield "clashes"
        types = sum(not set(named).isdisjoint(values) for values in self.types)
        if types >= _MANY and len(stems & self.value_words) / len(stems) >= _STUFFED:
            yield LISTED
        yield from self._about_request(text, stems)
        if not stems:
            yield "no content"

    def _about_request(self, text: str, stems: frozenset[str]) -> Iterator[str]:
        """Yield the cues that relate the statement to the request.

        They cover the parts of the goal, the details to tell, and the values that the user named.
        """
        widened = classes(stems)
        yield _share(
            "part", max(len(p.words & widened) / len(p.words) if p.words else 0.0 for p in self.parts)
        )
        shown = details(text)
        yield from (f"asked {detail}" for detail in self.asked_details & shown)
        folded, wanted = plain(text), plain(self.by_user)
        if (times := slots.times(folded)) and (named := slots.times(wanted)):
            yield "time as named" if any(a.fits(b) for a in times for b in named) else "other time"
            if any(a.minutes == b.minutes and not a.fits(b) for a in times for b in named):
                yield "other half of the day"
        for name, read in (
            ("day", slots.days),
            ("date", slots.days_of_month),
            ("count", slots.counts),
            ("near day", slots.near),
        ):
            values, wanted_values = frozenset[object](read(folded)), frozenset[object](read(wanted))
            if values and wanted_values:
                yield f"{name} as named" if values & wanted_values else f"other {name}"
        if (paid := slots.amounts(folded)) and (limit := slots.amounts(wanted)):
            yield "amount within" if min(paid) <= max(limit) else "amount above"
        names = slots.names(text)
        if names:
            yield "name as named" if any(n in wanted for n in names) else "new name"

    def _user(self, turn: int, text: str, stems: frozenset[str]) -> Iterator[str]:
        if turn:
            yield self._echo(stems)
            if any(mentions(v, text) for v in self.values):
                yield "own value"
        else:
            yield "opening"
        yield _count("words", len(text.split()) // 3)
        yield from (f"is {r}" for r in reactions(text))

    def _echo(self, stems: frozenset[str]) -> str:
        return _share("echo", len(stems & self.said) / len(stems) if stems else 0.0)


def _share(name: str, share: float) -> str:
    return f"{name} {sum(share > bound for bound in _SHARES)}"


def _count(name: str, count: int) -> str:
    return f"{name} {min(count, 4)}"
