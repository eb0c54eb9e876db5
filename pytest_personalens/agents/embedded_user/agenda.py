"""Decides the next turn of the user.

The user answers, corrects, follows up, asks after a promise, closes or gives up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.answers import Answer, Answers
from pytest_personalens.agents.embedded_user.listening.questions import (
    is_courtesy,
    is_promise,
    options,
    questions,
)
from pytest_personalens.agents.embedded_user.listening.replies import Replies
from pytest_personalens.agents.embedded_user.preferences.relevance import Bearing
from pytest_personalens.agents.embedded_user.progress import PATIENCE, Progress
from pytest_personalens.agents.embedded_user.voice.openings import task_text
from pytest_personalens.agents.embedded_user.voice.phrases import (
    Speaker,
    SpeechlessError,
    drawn_number,
    folded,
    phrases_for,
)
from pytest_personalens.agents.embedded_user.voice.style import manner, upper_first
from pytest_personalens.agents.embedded_user.voice.values import aside, bare, kind, said_aloud
from pytest_personalens.agents.language.lexicon import in_domain
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import fold
from pytest_personalens.core.dialogue.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: The most answers in one message. With more of them the message would read like a form.
_MOST: Final = 3
#: How often the user asks for a part that the assistant left out.
_REMINDERS: Final = 2
#: The most objections in one message.
_OBJECTIONS: Final = 2
_PARTS: Final = {
    "Buses": "bus", "Calendar": "calendar entry", "Events": "event tickets", "Finance": "money side", "Media": "thing to watch", "Messaging": "message",
    "Movies": "film", "Music": "music", "Rental Cars": "rental car", "Restaurants": "food", "Services": "appointment", "Shopping": "thing to order",
    "Sports": "match", "Travel": "trip itself",
}  # fmt: skip
#: The words of a message that the assistant shows. What it asks is for somebody else.
_DRAFT: Final = re.compile(r"[\"“„][^\"”“„]{24,}[\"”]|^> .*$", re.MULTILINE)
#: An abbreviation in a name. Its full stop ends no sentence.
_SHORTENED: Final = re.compile(r"\b(Bros|Mr|Mrs|Ms|Dr|St|Jr|Sr|Inc|Ltd|Mt|Vol|No|Pt|Op)\.(?= [A-Z\d])")


class Agenda:
    """The next turn of the user, decided from the transcript so far."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        self.scenario, self.transcript = scenario, transcript
        self.reading = Replies(scenario, transcript)
        self.bearing = Bearing(self.reading)
        self.progress = Progress(self.reading, self.bearing)
        self.now = len(transcript) - 1
        self.last = transcript[-1].content
        key = f"{scenario.user}\x1f{scenario.task.id}"
        self.earlier = frozenset().union(*(folded(m.content) for m in transcript if m.role == "user"))
        self.key = key
        self.speaker = Speaker(key, manner(scenario), self.earlier)
        self.answers = Answers(self.reading, key)

    def next(self) -> UserTurn:
        """Return the turn.

        The user gives up if there are no new words left for it.
        """
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
        served, missing = self.progress.served(), self.reading.undone_domains()
        if self.progress.fed_up():
            return self._leave(
                "thanks_flat" if served and not missing and self.progress.serving() else "give_up"
            )
        heard = questions(self._heard())
        # After the task is served, the user does not answer whether all is well. A question that the reply
        # answers itself needs no answer either.
        at_end = self.reading.left_open(self.now)
        open_questions = [
            q
            for q in heard
            if not served or (q.text.rstrip("?") in at_end and not is_courtesy(plain(q.text)))
        ]
        corrected, lines = self._corrections()
        if not corrected and self.progress.against[self.now]:
            # The user has said it once, and it is still wrong.
            passes = self.reading.delivers(self.now) and drawn_number(self.key, "let it pass") % 2
            return self._leave("thanks_flat" if passes else "give_up")
        pairs = [(q, self.answers.to(q)) for q in open_questions if q.kind not in ("more", "open")]
        # After the task is served, the user accepts an offer only for a part that is still missing.
        answers = [
            a for q, a in pairs
            if (a.pair is None or a.pair not in corrected)
            and not (corrected and (a.extra or a.bank == "option_first" or is_courtesy(plain(q.text))))
            and not (a.extra and served and not corrected and not any(in_domain(d, q.text, self.scenario) for d in missing))
        ]  # fmt: skip
        lines += self._lines(answers)
        if lines:
            return UserTurn(" ".join(lines[:_MOST]))
        if served:
            return self._close(missing, more=bool(heard))
        kinds = {q.kind for q in open_questions}
        if any(turn == self.now for turn, _ in self.reading.refusals):
            return (
                UserTurn(self.speaker.say("other_way"))
                if self.progress.refusals() < PATIENCE
                else self._leave("give_up")
            )
        if is_promise(self.last):
            return UserTurn(self.speaker.say("chase"))
        if self.progress.was_informed():
            return self._leave("thanks_more" if open_questions else "thanks")
        task = task_text(self.scenario)
        if self.progress.proposed():
            return self._not_asked() if self.bearing.foreign(self.now) else self._accept()
        if "open" in kinds or "more" in kinds:
            return UserTurn(
                self.speaker.say("restate" if "open" in kinds else "nothing_yet", x=task)
                if task
                else self.speaker.say("nudge")
            )
        return UserTurn(
            self.speaker.say("puzzled", x=task)
            if task and self.progress.beside_the_point()
            else self.speaker.say("nudge")
        )

    def _heard(self) -> str:
        """Return the last message without the full stops in names.

        A full stop in a name, such as "Super Mario Bros. Wonder", would end the sentence.
        """
        text = _SHORTENED.sub(r"\1", _DRAFT.sub("it", self.last))
        for value in {v for t in self.reading.types for v in (*t[3], *t[2].values) if re.search(r"[.!?]", v)}:
            text = text.replace(value, re.sub(r"[.!?]+", "", value))
        return text

    def _close(self, missing: Sequence[str], *, more: bool) -> UserTurn:
        """Return the turn after a deed.

        The user asks for the missing part, asks what was done, or says thanks.
        """
        if missing:
            part = " and the ".join(_PARTS.get(d, d.lower().rstrip("s")) for d in missing[:2])
            reminded = sum(m.role == "user" and fold(part) in fold(m.content) for m in self.transcript[1:])
            return (
                UserTurn(self.speaker.say("rest", part=part))
                if reminded < _REMINDERS
                else self._leave("rest_self", part=part)
            )
        if self.progress.serving():
            return self._leave("thanks_more" if more else "thanks")
        task = task_text(self.scenario)
        if any(self._has_said(bank, x=task) for bank in ("what_exactly", "not_asked", "not_asked_plain")):
            return self._leave("thanks_flat" if self.bearing.about_task(self.now) else "give_up")
        return (
            self._not_asked()
            if self.bearing.foreign(self.now)
            else UserTurn(self.speaker.say("what_exactly"))
        )

    def _not_asked(self) -> UserTurn:
        task = task_text(self.scenario)
        return UserTurn(
            self.speaker.say("not_asked", x=task) if task else self.speaker.say("not_asked_plain")
        )

    def _has_said(self, bank: str, **values: str) -> bool:
        return any(
            folded(upper_first(form.format(**values))) <= self.earlier
            for form in phrases_for(bank, self.speaker.manner)
        )

    def _accept(self) -> UserTurn:
        listed = options(self.last)
        if listed:
            choice = self.answers.to(questions("Which one?")[0])
            return UserTurn(self.speaker.say(choice.bank, o=choice.value))
        return UserTurn(self.speaker.say("accept_proposal"))

    def _raised(self) -> set[tuple[str, str]]:
        """Return the preferences that the user has already objected for."""
        raised: set[tuple[str, str]] = set()
        for turn, objected in self.progress.against.items():
            if turn < self.now:
                raised |= set(
                    [(o.domain, o.type) for o in objected if (o.domain, o.type) not in raised][:_OBJECTIONS]
                )
        return raised

    def _corrections(self) -> tuple[set[tuple[str, str] | None], list[str]]:
        """Return the preferences that the user corrects in this turn, and the sentences.

        The user corrects each preference once in a dialogue.
        """
        raised = self._raised()
        new = [o for o in self.progress.against[self.now] if (o.domain, o.type) not in raised][:_OBJECTIONS]
        if not new:
            return set(), []
        pairs = [(o.domain, o.type) for o in new]
        said = [self._spoken(pair) for pair in pairs]
        if len(new) == 1 or any(s.startswith("no ") for s in said):
            bank = "correction_none" if said[0] == f"no {new[0].value}" else "correction"
            line = self.speaker.say(bank, v=said[0], other=bare(said_aloud(pairs[0][1], [new[0].value])))
        else:
            line = self.speaker.say("correction_2", v=said[0], w=aside(pairs[1][1], said[1]))
        return set(pairs), [line]

    def _spoken(self, pair: tuple[str, str]) -> str:
        return bare(said_aloud(pair[1], self.scenario.preferences[pair[0]][pair[1]]))

    def _lines(self, answers: Sequence[Answer]) -> list[str]:
        """Return the answers as sentences.

        One sentence holds the preferences that the assistant simply asks for.
        """
        plain = list({a.value: a for a in answers if a.pair and not a.bank}.values())
        lines: list[str] = []
        seen: set[Answer] = set()
        if len(plain) == 1:
            lines.append(self.speaker.say(kind((plain[0].pair or ("", ""))[1]), v=plain[0].value))
        elif plain:
            said = [plain[0].value, *(aside((a.pair or ("", ""))[1], a.value) for a in plain[1:])]
            # Four preferences become two and two, because three and one would sound like an afterthought.
            width = 2 if len(said) in (2, 4) else 3
            parts = [said[i : i + width] for i in range(0, len(said), width)]
            lines += [self._together(part) for part in parts]
        for answer in answers:
            if answer.bank and answer not in seen and len(lines) < _MOST:
                seen.add(answer)
                bank = "free_rest" if lines and answer.bank.startswith("free_") else answer.bank
                lines.append(self.speaker.say(bank, v=answer.value, o=answer.value))
        return lines

    def _together(self, said: Sequence[str]) -> str:
        bank = f"answers_{len(said)}" if len(said) > 1 else "answer"
        return self.speaker.say(bank, **dict(zip("vwu", said, strict=False)))
