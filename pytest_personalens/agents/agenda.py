"""What the user does next: answer, correct, follow up, ask after a promise, close or give up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.answers import Answer, Answers
from pytest_personalens.agents.kinds import is_deed, is_delivery, is_idle, is_proposal
from pytest_personalens.agents.lexicon import in_domain
from pytest_personalens.agents.openings import errand
from pytest_personalens.agents.phrases import Speaker, SpeechlessError, folded
from pytest_personalens.agents.questions import is_promise, options, questions
from pytest_personalens.agents.reading import Reading
from pytest_personalens.agents.text import content, fold, sentences
from pytest_personalens.agents.values import aside, bare, kind, spoken
from pytest_personalens.agents.voice import manner
from pytest_personalens.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.reading import Clash
    from pytest_personalens.dialogue import Message
    from pytest_personalens.scenario import Scenario

#: Replies in a row that bring nothing, after which the user gives up.
PATIENCE: Final = 3
#: Replies after which it ends in any case: this many, and as many again for each domain of the task.
_LONGEST, _PER_DOMAIN = 6, 2
#: Answers in one message; more is a form being filled in.
_MOST: Final = 3
#: How often a part left out is asked for.
_REMINDERS: Final = 2
#: Words of its own by which a deed says what was done.
_SUBSTANCE: Final = 2
_PARTS: Final = {
    "Buses": "bus", "Calendar": "calendar entry", "Events": "event tickets", "Finance": "money side", "Media": "thing to watch", "Messaging": "message",
    "Movies": "film", "Music": "music", "Rental Cars": "rental car", "Restaurants": "food", "Services": "appointment", "Shopping": "thing to order",
    "Sports": "match", "Travel": "trip itself",
}  # fmt: skip
#: Intents that are served by being told something.
_TO_KNOW: Final = re.compile(
    r"(?:hear|know|compare|find out|get an idea|get a short|understand|catch up|have something to say|be prepared|have the new season)\b"
)
_BARE: Final = content(
    "done booked set sent ordered reserved ready sorted finished complete completed sure thing great noted saved added made taken care"
)


class Agenda:
    """The next turn of the user, decided from the transcript so far."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        self.scenario, self.transcript = scenario, transcript
        self.reading = Reading(scenario, transcript)
        self.now = len(transcript) - 1
        self.last = transcript[-1].content
        key = f"{scenario.user}\x1f{scenario.task.id}"
        self.earlier = frozenset().union(*(folded(m.content) for m in transcript if m.role == "user"))
        self.speaker = Speaker(key, manner(scenario), self.earlier)
        self.answers = Answers(self.reading, key)

    def next(self) -> UserTurn:
        """The turn; whoever has no new words left for it gives up."""
        try:
            turn = self._decide()
        except SpeechlessError:
            turn = self._leave("give_up")
        if self.earlier & folded(turn.content):
            turn = self._leave("give_up")
        return turn

    def _leave(self, bank: str, **values: str) -> UserTurn:
        time = self.scenario.situation.time_of_day.lower()
        values["time"] = time if time in ("morning", "afternoon") else "evening"
        return UserTurn(self.speaker.say(bank, **values), done=True)

    def _decide(self) -> UserTurn:
        served, missing = self._served(), self.reading.undone_domains()
        if self._fed_up():
            return self._leave("thanks_flat" if served and not missing else "give_up")
        asked = questions(self.last)
        corrected, lines = self._corrections()
        pairs = [(q, self.answers.to(q)) for q in asked if q.kind not in ("more", "open")]
        # Once served, an offer is taken up only for what is still missing.
        found = [
            a for q, a in pairs
            if (a.pair is None or a.pair not in corrected)
            and not (corrected and (a.extra or a.bank == "option_first"))
            and not (a.extra and served and not corrected and not any(in_domain(d, q.text) for d in missing))
        ]  # fmt: skip
        lines += self._lines(found)
        if lines:
            return UserTurn(" ".join(lines[:_MOST]))
        if served:
            return self._close(missing, more=bool(asked))
        kinds = {q.kind for q in asked}
        if any(turn == self.now for turn, _ in self.reading.refusals):
            return UserTurn(self.speaker.say("other_way")) if self._refusals() < PATIENCE else self._leave("give_up")
        if is_promise(self.last):
            return UserTurn(self.speaker.say("chase"))
        if self._told():
            return self._leave("thanks_more" if asked else "thanks")
        if self._proposed():
            return self._accept()
        if "open" in kinds or "more" in kinds:
            task = errand(self.scenario)
            return UserTurn(
                self.speaker.say("restate" if "open" in kinds else "nothing_yet", x=task) if task else self.speaker.say("nudge")
            )
        task = errand(self.scenario)
        return UserTurn(self.speaker.say("puzzled", x=task) if task and self._beside_the_point() else self.speaker.say("nudge"))

    def _close(self, missing: Sequence[str], *, more: bool) -> UserTurn:
        """After a deed: what is missing, what it was, or thanks."""
        if missing:
            part = " and the ".join(_PARTS.get(d, d.lower().rstrip("s")) for d in missing[:2])
            reminded = sum(m.role == "user" and fold(part) in fold(m.content) for m in self.transcript[1:])
            return UserTurn(self.speaker.say("rest", part=part)) if reminded < _REMINDERS else self._leave("rest_self", part=part)
        deeds = [self.transcript[turn].content for turn, _ in self.reading.deeds]
        if not any(self._substantial(text) for text in deeds):
            return UserTurn(self.speaker.say("what_exactly")) if len(set(deeds)) == len(deeds) == 1 else self._leave("thanks_flat")
        return self._leave("thanks_more" if more else "thanks")

    def _accept(self) -> UserTurn:
        listed = options(self.last)
        if listed:
            choice = self.answers.to(questions("Which one?")[0])
            return UserTurn(self.speaker.say(choice.bank, o=choice.value))
        return UserTurn(self.speaker.say("accept_proposal"))

    def _corrections(self) -> tuple[set[tuple[str, str] | None], list[str]]:
        """The preferences put right in this turn, and how."""
        clashes = {(c.domain, c.type): c for c in reversed(self.reading.clashes) if c.turn == self.now and self._minds(c)}
        # What is only listed to choose from has not been taken.
        if not clashes or (options(self.last) and any(q.kind in ("which", "either") for q in questions(self.last))):
            return set(), []
        pairs = list(clashes)[::-1][:2]
        said = [self._spoken(pair) for pair in pairs]
        # Whoever puts the same thing right twice keeps to that one.
        before = any(c.turn < self.now and pairs[0] == (c.domain, c.type) for c in self.reading.clashes)
        if before or len(said) == 1:
            other = bare(spoken(pairs[0][1], [clashes[pairs[0]].value]))
            line = self.speaker.say("correction_more" if before else "correction", v=said[0], other=other)
        else:
            line = self.speaker.say("correction_2", v=said[0], w=aside(pairs[1][1], said[1]))
        return set(pairs), [line]

    def _minds(self, clash: Clash) -> bool:
        return "no preference" not in self.scenario.preferences[clash.domain][clash.type]

    def _spoken(self, pair: tuple[str, str]) -> str:
        return bare(spoken(pair[1], self.scenario.preferences[pair[0]][pair[1]]))

    def _lines(self, found: Sequence[Answer]) -> list[str]:
        """The answers as sentences; preferences that are simply asked for go into one."""
        plain = list({a.value: a for a in found if a.pair and not a.bank}.values())
        lines: list[str] = []
        seen: set[Answer] = set()
        if len(plain) == 1:
            lines.append(self.speaker.say(kind((plain[0].pair or ("", ""))[1]), v=plain[0].value))
        elif plain:
            said = [plain[0].value, *(aside((a.pair or ("", ""))[1], a.value) for a in plain[1:])]
            # Four are said as two and two: three and one would sound like an afterthought.
            width = 2 if len(said) in (2, 4) else 3
            parts = [said[i : i + width] for i in range(0, len(said), width)]
            lines += [self._together(part) for part in parts]
        for answer in found:
            if answer.bank and answer not in seen and len(lines) < _MOST:
                seen.add(answer)
                bank = "free_rest" if lines and answer.bank.startswith("free_") else answer.bank
                lines.append(self.speaker.say(bank, v=answer.value, o=answer.value))
        return lines

    def _together(self, said: Sequence[str]) -> str:
        bank = f"answers_{len(said)}" if len(said) > 1 else "answer"
        return self.speaker.say(bank, **dict(zip("vwu", said, strict=False)))

    def _served(self) -> bool:
        """True if something was done, with nothing in it put right by the user, and the last word is no refusal."""
        clashing = {c.turn for c in self.reading.clashes if self._minds(c)}
        done = [turn for turn, _ in self.reading.deeds]
        if not done or any(turn >= done[-1] for turn, _ in self.reading.refusals):
            return False
        return done[-1] not in clashing and not (is_promise(self.last) and done[-1] < self.now)

    def _told(self) -> bool:
        """True if the user wanted to know something and has been told a thing with facts in it."""
        said = sentences(self.last)
        return bool(_TO_KNOW.match(errand(self.scenario))) and any(map(is_delivery, said)) and not any(map(is_idle, said))

    def _proposed(self) -> bool:
        return any(is_proposal(s) and not is_idle(s) for s in sentences(self.last)) or bool(options(self.last)[1:])

    def _beside_the_point(self) -> bool:
        """True if the reply speaks of nothing that the task is about."""
        known = content(f"{self.scenario.task.intent} {' '.join(m.content for m in self.transcript[:-1])}")
        return not known & content(self.last) and not any(in_domain(d, self.last) for d in self.scenario.domains)

    def _substantial(self, text: str) -> bool:
        return len(content(text) - content(self.transcript[0].content) - _BARE) >= _SUBSTANCE

    def _refusals(self) -> int:
        return len({turn for turn, _ in self.reading.refusals})

    def _fed_up(self) -> bool:
        """True after `PATIENCE` replies in a row that repeat a question, contradict again or bring nothing, or too many in all."""
        wasted, heard, replies = 0, set[str](), 0
        for turn, message in enumerate(self.transcript):
            if message.role != "assistant":
                continue
            replies += 1
            said = {fold(s) for s in sentences(message.content)}
            moves = {fold(s) for s in sentences(message.content) if is_deed(s) or is_proposal(s)}
            moves |= {fold(q.text) for q in questions(message.content) if q.kind not in ("more", "open")}
            again = any(a.turn == turn and a.again for a in self.reading.asks)
            clash = any(c.turn == turn and self._minds(c) for c in self.reading.clashes)
            wasted = wasted + 1 if again or clash or not moves - heard else 0
            heard |= said
        return wasted >= PATIENCE or replies > _LONGEST + _PER_DOMAIN * len(self.scenario.domains)
