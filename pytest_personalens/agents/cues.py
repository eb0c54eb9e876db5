"""What can be seen of each sentence of a dialogue: its words, its place, and how it stands to what is known of the user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.kinds import is_deed, is_delivery, is_idle, is_proposal, is_question, is_refusal
from pytest_personalens.agents.lexicon import DOMAIN_WORDS
from pytest_personalens.agents.linear import words as listed
from pytest_personalens.agents.reading import Reading
from pytest_personalens.agents.text import content, fold, mentions, runs, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_personalens.dialogue import Message
    from pytest_personalens.scenario import Scenario

_TOKEN: Final = re.compile(r"\d{1,2}[:.]\d{2}|\d[\d.,]*|[^\W\d_]+(?:'[^\W\d_]+)?|[?!:]")
_NUMBER: Final = re.compile(r"\d+(?:[:.,]\d+)*")
#: What the user's next words say of the reply before them.
_REACTIONS: Final = {
    "no": re.compile(r"^\W*(?:no+|nah|nope|not|wrong|wait|hold on|what|huh|why|but|uh|stop|hang on|ugh|never mind|forget)\b|\bnot (?:what|that|the)\b|!\?|\?!|\?\?"),
    "thanks": re.compile(r"\b(?:thank|thanks|thx|cheers|ta|perfect|great|lovely|brilliant|wonderful|bless|good night|bye|super|nice)\b"),
    "yes": re.compile(r"^\W*(?:yes|yeah|yep|yup|ok|okay|sure|right|good|fine|do it|go ahead|please do|that one|the first|k)\b"),
    "again": re.compile(r"\b(?:again|already|i said|i told|told you|like i|as i|same as|usual|always|you know|should know)\b"),
}  # fmt: skip
_KINDS: Final = {
    "question": is_question,
    "deed": is_deed,
    "delivery": is_delivery,
    "idle": is_idle,
    "proposal": is_proposal,
    "refusal": is_refusal,
}
_SHARES: Final = (0.0, 0.25, 0.5, 0.75)


class Line(NamedTuple):
    """A sentence of message `turn`, and the names of what can be seen of it."""

    turn: int
    role: str
    text: str
    cues: frozenset[str]


def lines(scenario: Scenario, messages: Sequence[Message]) -> tuple[Line, ...]:
    """Every sentence of the dialogue with its cues, in order."""
    reader = _Reader(scenario, messages)
    return tuple(line for turn in range(len(messages)) for line in reader.message(turn))


class _Reader:
    def __init__(self, scenario: Scenario, messages: Sequence[Message]) -> None:
        self.scenario, self.messages = scenario, messages
        self.reading = Reading(scenario, messages)
        task = scenario.task
        self.values = [v for _, _, _, values in self.reading.types for v in values]
        self.own = frozenset().union(*map(content, self.values))
        topic = content(f"{task.description} {task.intent} {task.goal}").union(
            *(content(" ".join((d, *DOMAIN_WORDS.get(d, ())))) for d in scenario.domains)
        )
        self.past = frozenset().union(*map(content, scenario.summaries.values())) - topic - self.own
        self.place = content(" ".join(scenario.situation.model_dump().values())) - topic - self.own
        self.goal = content(task.goal)
        self.common = listed("common")
        self.pairs = set().union(*(runs(t, 2) for t in scenario.summaries.values()))
        self.known_numbers = set(_NUMBER.findall(" ".join((*scenario.summaries.values(), *self.values))))
        self.said: set[str] = set(content(messages[0].content)) if messages else set()
        self.numbers: set[str] = set()
        self.before: dict[str, set[str]] = {"user": set(), "assistant": set()}
        self.asks: dict[tuple[int, str], bool] = {}
        for a in self.reading.asks:
            self.asks[a.turn, a.sentence] = self.asks.get((a.turn, a.sentence), False) or a.again
        self.clashes = {(c.turn, c.sentence) for c in self.reading.clashes}

    def message(self, turn: int) -> Iterator[Line]:
        message = self.messages[turn]
        found = sentences(message.content)
        for i, text in enumerate(found):
            cues = {*_ngrams(text), *self._place(turn, i)}
            cues.update(self._assistant(turn, text) if message.role == "assistant" else self._user(turn, text))
            folded = fold(text)
            if folded in self.before[message.role]:
                cues.add("repeated")
            self.before[message.role].add(folded)
            yield Line(turn, message.role, text, frozenset(cues))
        if message.role == "user":
            self.said |= content(message.content)
            self.numbers.update(_NUMBER.findall(message.content))

    def _place(self, turn: int, i: int) -> Iterator[str]:
        yield "first of message" if i == 0 else "inner"
        if turn == len(self.messages) - 1:
            yield "last message"
        elif turn == len(self.messages) - 2:
            yield "message before the last"
        if turn <= 1:
            yield "first message"
        if turn:
            yield from (f"after {c}" for c in _reaction(self.messages[turn - 1].content))
        if turn + 1 < len(self.messages):
            yield from (f"before {c}" for c in _reaction(self.messages[turn + 1].content))

    def _assistant(self, turn: int, text: str) -> Iterator[str]:
        kinds = [name for name, test in _KINDS.items() if test(text)]
        words = content(text)
        fresh = words - self.said
        named = [v for v in self.values if mentions(v, text)]
        unsaid = any(not self.reading.value_said_by_user(v, turn) for v in named)
        if named:
            yield "own value unsaid" if unsaid else "own value said"
        partly = max((len(content(v) & fresh) / len(content(v)) for v in self.values if content(v)), default=0.0)
        if partly and not named:
            yield _share("part of a value", partly)
        past, place = self.past & fresh, self.place & fresh
        rare = past - self.common
        pairs = [p for p in runs(text, 2) & self.pairs if fresh & set(p) - self.common]
        numbers = set(_NUMBER.findall(text)) - self.numbers
        yield _count("past", len(rare))
        yield _count("past common", len(past & self.common))
        yield _count("past pairs", len(pairs))
        yield _count("situation", len(place))
        yield _count("known numbers", len(numbers & self.known_numbers))
        yield _count("new numbers", len(numbers))
        yield _count("goal", len(self.goal & words))
        yield self._echo(words)
        ground = "ground 2" if rare or unsaid else "ground 1" if past or partly >= 0.5 or place else "ground 0"
        yield ground
        yield from (f"{ground} {kind}" for kind in kinds)
        if (turn, text) in self.asks:
            yield "asks again" if self.asks[turn, text] else "asks for the known"
        if (turn, text) in self.clashes:
            yield "clashes"
        yield from kinds

    def _user(self, turn: int, text: str) -> Iterator[str]:
        words = content(text)
        if turn:
            yield self._echo(words)
            if any(mentions(v, text) for v in self.values):
                yield "own value"
        else:
            yield "opening"
        yield _count("words", len(text.split()) // 3)
        yield from (f"is {c}" for c in _reaction(text))

    def _echo(self, words: frozenset[str]) -> str:
        return _share("echo", len(words & self.said) / len(words) if words else 0.0)


def _reaction(text: str) -> Iterable[str]:
    folded = fold(text)
    yield from (name for name, pattern in _REACTIONS.items() if pattern.search(folded))
    if folded.rstrip().endswith("?"):
        yield "question"


def _ngrams(text: str) -> Iterator[str]:
    words = ["^", *("#" if t[0].isdigit() else t for t in _TOKEN.findall(fold(text))), "$"]
    yield from (f"w {w}" for w in words[1:-1])
    for n in (2, 3):
        yield from ("w " + " ".join(words[i : i + n]) for i in range(len(words) - n + 1))


def _share(name: str, share: float) -> str:
    return f"{name} {sum(share > bound for bound in _SHARES)}"


def _count(name: str, count: int) -> str:
    return f"{name} {min(count, 4)}"
