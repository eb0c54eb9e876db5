"""What every turn of the user rests on: the transcript, the work so far, and sentences in the person's manner."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.answers import Answer, Answers
from pytest_personalens.agents.embedded_user.listening.questions import options, questions
from pytest_personalens.agents.embedded_user.preferences.objections import Objection, objections
from pytest_personalens.agents.embedded_user.voice.phrases import Speaker, SpeechlessError, folded
from pytest_personalens.agents.embedded_user.voice.style import manner
from pytest_personalens.agents.embedded_user.voice.values import aside, bare, kind, said_aloud
from pytest_personalens.agents.language.reading import DialogueReading
from pytest_personalens.agents.reading.work import Work
from pytest_personalens.core.dialogue.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: The most answers in one message. With more of them the message would read like a form.
_MOST: Final = 3
#: The most objections in one message.
_OBJECTIONS: Final = 2
#: The words of a message that the assistant shows. What it asks is for somebody else.
DRAFT: Final = re.compile(r"[\"“„][^\"”“„]{24,}[\"”]|^> .*$", re.MULTILINE)
#: An abbreviation in a name. Its full stop ends no sentence.
_SHORTENED: Final = re.compile(r"\b(Bros|Mr|Mrs|Ms|Dr|St|Jr|Sr|Inc|Ltd|Mt|Vol|No|Pt|Op)\.(?= [A-Z\d])")


class Speaking:
    """A user who reads the transcript so far, and says sentences that it has not said yet."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        self.scenario, self.transcript = scenario, transcript
        self.now = len(transcript) - 1
        self.last = transcript[-1].content
        self.reading = DialogueReading(scenario, transcript)
        self.work = Work(scenario, transcript)
        self.earlier = frozenset().union(*(folded(m.content) for m in transcript if m.role == "user"))
        key = f"{scenario.user}\x1f{scenario.task.id}"
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

    def _decide(self) -> UserTurn:
        raise NotImplementedError

    def _leave(self, bank: str) -> UserTurn:
        time = self.scenario.situation.time_of_day.lower()
        time = time if time in ("morning", "afternoon") else "evening"
        return UserTurn(self.speaker.say(bank, time=time), done=True)

    @cached_property
    def _now(self) -> list[Statement]:
        """Return the statements of the last reply."""
        return self._said_at(self.now)

    def _said_at(self, turn: int) -> list[Statement]:
        return [s for s in self.work.statements if s.turn == turn]

    def _heard(self) -> str:
        """Return the last message without the full stops in names.

        A full stop in a name, such as "Super Mario Bros. Wonder", would end the sentence.
        """
        text = _SHORTENED.sub(r"\1", DRAFT.sub("it", self.last))
        for value in {v for t in self.reading.types for v in (*t[3], *t[2].values) if re.search(r"[.!?]", v)}:
            text = text.replace(value, re.sub(r"[.!?]+", "", value))
        return text

    def _accept(self) -> UserTurn:
        if options(self.last):
            return UserTurn(" ".join(self._lines([self.answers.to(questions("Which one?")[0])])))
        return UserTurn(self.speaker.say("accept_proposal"))

    @cached_property
    def _against(self) -> tuple[list[Objection], bool]:
        """Return what the last reply has against the preferences, and whether the user has said so before.

        The user objects once to each preference in a dialogue.
        """
        raised: set[tuple[str, str]] = set()
        new: list[Objection] = []
        against: tuple[Objection, ...] = ()
        for turn in range(1, self.now + 1, 2):
            against = objections(self.reading, self._said_at(turn), turn)
            new = [o for o in against if (o.domain, o.type) not in raised][:_OBJECTIONS]
            raised |= {(o.domain, o.type) for o in new}
        return new, len(against) > len(new)

    def _corrections(self) -> tuple[set[tuple[str, str] | None], list[str]]:
        """Return the preferences that the user corrects in this turn, and the sentences."""
        new, _ = self._against
        if not new:
            return set(), []
        pairs = [(o.domain, o.type) for o in new]
        said = [bare(said_aloud(name, self.scenario.preferences[domain][name])) for domain, name in pairs]
        if len(new) == 1 or any(s.startswith("no ") for s in said):
            bank = "correction_none" if said[0] == f"no {new[0].value}" else "correction"
            line = self.speaker.say(bank, v=said[0], other=bare(said_aloud(pairs[0][1], [new[0].value])))
        else:
            line = self.speaker.say("correction_2", v=said[0], w=aside(pairs[1][1], said[1]))
        return set(pairs), [line]

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
