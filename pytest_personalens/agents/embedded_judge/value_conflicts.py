"""Finds deeds with another day, date, time, count or length than the user asked for.

A conflict needs three things: somebody asked for just this value, no reply says it, and a deed has another value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language import slots, value_mentions
from pytest_personalens.agents.language.statements import of_message, plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.language.value_mentions import OF_PERSONS, Mention, Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded_judge.acts import Spoken
    from pytest_personalens.core.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: A statement tells something from this probability of an act on, and is none if another act is surer.
_TELLS, _NOT, _SLIPS = 0.3, 0.5, 0.8
_DEED, _USE = 0.4, 0.5
#: Values that the user turns down or speaks of as past.
_PUT_ASIDE: Final = re.compile(
    r"\b(?:not|instead of|rather than|never|except|other than|clash\w*|was|were|had|the old|no longer)\b[^,.;!?:]{0,30}"
)
#: Clauses about something beside the deed: how it arrives, until when it holds, what it costs.
_BESIDE: Final = re.compile(
    r"\b(?:arriv\w*|deliver\w*|pick\w* ?up|collect\w*|until|expires?|ships?|dispatch\w*|ready|refund\w*|free cancellation|posted|since|next"
    r"|due|paid|charged|instead|old|no longer|because|reminder|reminds?|rain\w*|forecast|also|extra|spare|other|as of|usual)\b"
)
#: The same for a time of the day.
_BESIDE_TIME: Final = re.compile(
    r"\b(?:comes?|lasts?|away|walk|leaves?|departs?|opens?|closes?|ends?|check|return\w*|back|home)\b"
)
_HANDED_OVER: Final = re.compile(
    r"\b(?:arriv\w*|deliver\w*|comes?|there|collect\w*|pick\w*|reach\w*|ready|due|appointment|booked|entered)\b"
)
_BY: Final = re.compile(r"\b(?:before|by)\b[^,.;]*$")
_ALL_OF_THEM: Final = re.compile(
    r"\b(?:for|you|get|got|bought|booked) both\b|\bboth (?:of you|tickets?|seats?|places?|yours)\b|\bpair\b|\beach\b|\ball of you\b"
    r"|\byou and\b|\btwo of you\b"
)
#: What has a length that the user sets.
_SET_LENGTH: Final = re.compile(
    r"\b(?:remind\w*|warn\w*|limit\w*|alert\w*|timer|hire\w*|rent\w*|snooze|nudge|session|booked|booking|plan|a week|weekly|cap\w*)\b"
)
_AHEAD: Final = re.compile(r"\b(?:before|prior|ahead|earlier)\b")
#: Deeds whose time the user sets. Trains and films have their own.
_TIMED_BY_USER: Final = re.compile(
    r"\b(?:alarm|wake|remind\w*|calendar|diary|appointment|entry|entered|table|dinner|lunch|meeting|call|timer|message|write|tell|text|send"
    r"|nudge|reserv\w*|dentist|up at|beg[iu]n\w*|start\w*|session|lesson|play\w*)\b"
)
_TIMED_BY_OTHERS: Final = re.compile(
    r"\b(?:train|flight|fly|coach|bus|ferry|boat|ticket|board|doctor|clinic|leav\w*|depart\w*|film|cinema|show|match|swap|miss)\b|\d to \d"
    r"|later|earlier|make it|\b(?:from|between|usual\w*|instead)\b"
)
_SETS_TIME: Final = re.compile(
    r"\b(?:alarm|hour|time|set|rings?|wake|starts?|begins?|when|plays?|reminder|entered)\b"
)
_CLOCK: Final = re.compile(r"\d[:.h]\d\d|past|quarter|o'clock|in the|a\.?m|p\.?m|noon|midnight|at night| to ")
_BEHIND_TIME: Final = re.compile(
    r"\s*(?:$|[,.;!?\n)]|on\b|tomorrow|today|tonight|in\b|sharp|this|next|every|please|and\b|with|for\b|at\b|i\b"
    r"|mon|tue|wed|thu|fri|sat|sun|weekdays|daily|local|my time|exactly)"
)
#: A count above this is no party at a table.
_LARGEST_PARTY: Final = 12
_NEAR: Final = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "tomorrow": 1, "day after tomorrow": 2, "yesterday": 6,
}  # fmt: skip
_WEEKEND: Final = frozenset({5, 6})


class Conflict(NamedTuple):
    """A value of a deed that differs from what was asked for. `asked` and `done` are the words of both."""

    kind: str
    asked: str
    done: str
    statement: Spoken


def conflicts(
    scenario: Scenario, messages: Sequence[Message], statements: Sequence[Spoken]
) -> tuple[Conflict, ...]:
    """Return the conflicts of a dialogue, at most one of each kind."""
    compared = _Compared(scenario, messages, statements)
    kinds = (
        compared.days, compared.deadlines, compared.dates, compared.dated_days, compared.things, compared.persons, compared.lengths, compared.times,
    )  # fmt: skip
    return tuple(found for kind in kinds for found in [next(kind(), None)] if found is not None)


class _Compared:
    def __init__(self, scenario: Scenario, messages: Sequence[Message], statements: Sequence[Spoken]) -> None:
        last_reply = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=-1)
        self.goal = plain(scenario.task.goal)
        self.user = [plain(m.content) for i, m in enumerate(messages) if m.role == "user" and i < last_reply]
        #: What was asked for: the goal, and what the user says without what they turn down.
        self.asked = [*(_PUT_ASIDE.sub(" ", text) for text in self.user), self.goal]
        self.replies = " \n ".join(plain(m.content) for m in messages if m.role == "assistant")
        said = [(s, plain(s.line.text)) for s in statements if s.line.role == "assistant"]
        self.told = [(s, text) for s, text in said if _tells(s)]
        self.deeds = [(s, text) for s, text in self.told if _does(s)]
        self.firm = [(s, text) for s, text in said if _is_firm(s)]
        today = scenario.situation.day_of_week.lower()
        self.today = slots.DAYS.index(today) if today in slots.DAYS else None

    def days(self) -> Iterator[Conflict]:
        """Yield days of the week."""
        of_goal = {day: m for day, m in value_mentions.days(self.goal) if m.meaning != "limit"}
        asked = self._exact_days() | of_goal
        named = {
            day
            for text in (*map(_without_echoes, self.user), self.goal)
            for day, _ in value_mentions.days(text)
        }
        said = {day for day, _ in value_mentions.days(self.replies)}
        near = self._near(self.replies)
        whole_weekend = "weekend" in self.replies and asked.keys() & _WEEKEND and not said & _WEEKEND
        if not asked or asked.keys() & (said | near) or whole_weekend or self._same_date():
            return
        near_user = self._near(" ".join(self.user))
        for statement, text in self.firm if of_goal else self.deeds:
            for day, mention in value_mentions.days(text):
                if (
                    day not in named | near_user
                    and mention.meaning != "limit"
                    and not _BESIDE.search(mention.before)
                ):
                    yield Conflict("day", next(iter(asked.values())).said, mention.said, statement)

    def _exact_days(self) -> dict[int, Mention]:
        return {d: m for text in self.asked for d, m in value_mentions.days(text) if m.meaning == "exact"}

    def _same_date(self) -> bool:
        """True if a reply has a date that somebody named beside a day."""
        named = {date[1] for text in (*self.user, self.goal) for date, _ in value_mentions.dates(text)}
        return bool(named & {date[1] for date, _ in value_mentions.dates(self.replies)})

    def _near(self, text: str) -> set[int]:
        """Return the days that the text names from today on."""
        if self.today is None:
            return set()
        return {(self.today + away) % 7 for words, away in _NEAR.items() if words in text}

    def deadlines(self) -> Iterator[Conflict]:
        """Yield what is handed over after the only day by which it was asked for."""
        if self.today is None:
            return
        limits = {
            day: mention
            for text in self.asked
            for day, mention in value_mentions.days(text)
            if (_BY.search(mention.before) or text.startswith(" at the latest", mention.end))
            and not text.startswith("'s", mention.end)
        }
        if len(limits) != 1:
            return
        ((limit, asked),) = limits.items()
        if any(self._ahead(day) <= self._ahead(limit) for day, _ in value_mentions.days(self.replies)):
            return
        for statement, text in self.told:
            if _HANDED_OVER.search(text) and "until" not in text and "return" not in text:
                for _, mention in value_mentions.days(text):
                    yield Conflict("day", asked.said, mention.said, statement)

    def _ahead(self, day: int) -> int:
        return (day - (self.today or 0)) % 7 or 7

    def dates(self) -> Iterator[Conflict]:
        """Yield dates with another day of the month, or with another month."""
        asked = {
            date: mention
            for text in self.asked
            for date, mention in value_mentions.dates(text)
            if mention.meaning == "exact" or (text is self.goal and mention.meaning == "told")
        }
        if not asked:
            return
        everything = " ".join((*self.user, self.goal))
        named = {date[1] for text in (*self.user, self.goal) for date, _ in value_mentions.dates(text)}
        months = {
            slots.MONTH_FORMS[word] for word in re.findall(r"[a-z]+", everything) if word in slots.MONTH_FORMS
        }
        numbers = {int(n) for n in re.findall(r"\b(\d{1,2})\b", self.replies)}
        numbers |= {date[1] for date, _ in value_mentions.dates(self.replies)}
        weekdays = {d for text in (*self.user, self.goal) for d, _ in value_mentions.days(text)}
        told = bool(
            {day for _, day in asked} & numbers
            or weekdays & {d for d, _ in value_mentions.days(self.replies)}
        )
        words = next(iter(asked.values())).said
        for statement, text in self.deeds:
            for (month, day), mention in value_mentions.dates(text):
                other_month = month and months and month not in months and day in {d for _, d in asked}
                other_day = (
                    not told
                    and day not in named
                    and mention.meaning != "limit"
                    and not _BESIDE.search(mention.before)
                )
                if other_month or other_day:
                    yield Conflict("date", words, mention.said, statement)

    def dated_days(self) -> Iterator[Conflict]:
        """Yield days that have another date, or dates that are another day, than somebody named together."""
        texts = (*self.user, self.goal)
        asked = {pair: m for text in texts for pair, m in value_mentions.dated_days(text)}
        named = {day for text in texts for day, _ in value_mentions.days(text)}
        named_dates = {date[1] for text in texts for date, _ in value_mentions.dates(text)} | {
            d for _, d in asked
        }
        if asked.keys() & {pair for pair, _ in value_mentions.dated_days(self.replies)}:
            return
        for statement, text in self.told:
            for (day, date), mention in value_mentions.dated_days(text):
                for (asked_day, asked_date), wanted in asked.items():
                    other_day = date == asked_date and day not in named
                    other_date = day == asked_day and date not in named_dates
                    if (other_day or other_date) and not _BESIDE.search(mention.before):
                        yield Conflict("date", wanted.said, mention.said, statement)

    def things(self) -> Iterator[Conflict]:
        """Yield numbers of things that are neither people nor units of length."""
        named = {q for text in (*self.user, self.goal) for q, _ in value_mentions.quantities(text)}
        said = {q for q, _ in value_mentions.quantities(self.replies)}
        for asked, wanted in self._exact_quantities():
            of_persons = asked.thing in OF_PERSONS or asked.minutes is not None
            kept = {q for q in said if q.thing == asked.thing} & named
            if of_persons or asked.number < 2 or kept or self._says(asked.number):
                continue
            for statement, text in self.told:
                for done, mention in value_mentions.quantities(text):
                    if done.thing == asked.thing and done.number > 0 and mention.meaning != "limit":
                        yield Conflict("count", wanted.said, mention.said, statement)

    def persons(self) -> Iterator[Conflict]:
        """Yield numbers of people, and of the places for them."""
        asked = {q.number: m for q, m in self._exact_quantities() if q.thing in OF_PERSONS}
        named = {
            q.number
            for text in (*self.user, self.goal)
            for q, _ in value_mentions.quantities(text)
            if q.thing in OF_PERSONS
        }
        said = {q.number for q, _ in value_mentions.quantities(self.replies) if q.thing in OF_PERSONS}
        if len(named) != 1 or not asked or asked.keys() & said or _ALL_OF_THEM.search(self.replies):
            return
        ((number, wanted),) = asked.items()
        if self._says(number):
            return
        for statement, text in self.told:
            for done, mention in value_mentions.quantities(text):
                if (
                    done.thing in OF_PERSONS
                    and 0 < done.number < _LARGEST_PARTY
                    and mention.meaning != "limit"
                ):
                    yield Conflict("count", wanted.said, mention.said, statement)

    def _exact_quantities(self) -> list[tuple[Quantity, Mention]]:
        return [
            (quantity, mention)
            for text in self.asked
            for quantity, mention in value_mentions.quantities(text)
            if mention.meaning != "limit"
        ]

    def _says(self, number: int) -> bool:
        """True if a reply has the number, whatever it counts."""
        word = slots.NUMBER_WORDS[number] if number < len(slots.NUMBER_WORDS) else str(number)
        return bool(re.search(rf"\b(?:{number}|{word})\b", self.replies))

    def lengths(self) -> Iterator[Conflict]:
        """Yield lengths of time that share a word with the request: a warning, a limit, a hire."""
        said = {q.minutes for q, _ in value_mentions.quantities(self.replies)}
        for sentence in self._sentences():
            for asked, wanted in value_mentions.quantities(sentence):
                if asked.minutes is None or asked.minutes in said or wanted.meaning_before == "limit":
                    continue
                ahead = _AHEAD.search(wanted.around + sentence[wanted.end : wanted.end + 20])
                for statement, text in self.deeds:
                    for done, mention in value_mentions.quantities(text):
                        alike = done.thing == asked.thing or done.number == asked.number
                        if done.minutes is None or not alike or mention.meaning_before == "limit":
                            continue
                        about = content(mention.around) & content(sentence) and _SET_LENGTH.search(text)
                        if about or (ahead and _AHEAD.search(text)):
                            yield Conflict("length", wanted.said, mention.said, statement)

    def times(self) -> Iterator[Conflict]:
        """Yield times of deeds whose time the user sets, such as an alarm."""
        named = [t for text in (*self.user, self.goal) for t, _ in value_mentions.times(text)]
        for sentence, wanted in self._set_times():
            for statement, text in self.deeds:
                alike = content(text) & content(sentence) or _SETS_TIME.search(text)
                for done, mention in value_mentions.times(text):
                    beside = _BESIDE.search(mention.before) or _BESIDE_TIME.search(mention.before)
                    of_user = any(map(done.fits, named))
                    if (
                        alike
                        and not beside
                        and not of_user
                        and mention.meaning != "limit"
                        and _is_time(mention)
                    ):
                        yield Conflict("time", wanted.said, mention.said, statement)

    def _set_times(self) -> Iterator[tuple[str, Mention]]:
        """Yield the times that were asked for and that no reply says, each with its sentence."""
        said = [t for t, _ in value_mentions.times(self.replies)]
        for text in self.asked:
            for sentence in (plain(s) for s, _ in of_message(text)):
                by_user = _TIMED_BY_USER.search(f"{self.goal} {sentence}")
                if not by_user or _TIMED_BY_OTHERS.search(sentence):
                    continue
                for asked, wanted in value_mentions.times(sentence):
                    meant = wanted.meaning == "exact" or (text is self.goal and wanted.meaning == "told")
                    whole_hour = asked.minutes % 60 == 0 and any(map(self._says, _hours(asked)))
                    if meant and _is_time(wanted) and not whole_hour and not any(map(asked.fits, said)):
                        yield sentence, wanted

    def _sentences(self) -> list[str]:
        return [plain(sentence) for text in self.asked for sentence, _ in of_message(text)]


def _tells(statement: Spoken) -> bool:
    acts = statement.acts
    return _is_firm(statement) and max(acts["deed"], acts["fact"], 0.8 * acts["use"]) > _TELLS


def _does(statement: Spoken) -> bool:
    return statement.acts["deed"] > _DEED or statement.acts["use"] > _USE


def _is_firm(statement: Spoken) -> bool:
    acts = statement.acts
    return acts["question"] < _NOT and acts["proposal"] < _NOT and acts["slip"] < _SLIPS


def _without_echoes(text: str) -> str:
    """Return the text without words that the user repeats in surprise ("Sunday??")."""
    return re.sub(r"\w+ ?\?+", " ", text)


def _hours(time: slots.Time) -> tuple[int, int]:
    hour = time.minutes // 60
    return hour or 12, hour + 12


def _is_time(mention: Mention) -> bool:
    """True for a clock time, and for "at six" where no thing follows ("at one hotel")."""
    words = mention.said
    bare = re.match(r"(?:at|to|until) ", words) and _BEHIND_TIME.match(mention.text, mention.end)
    return bool(_CLOCK.search(words) or bare)
