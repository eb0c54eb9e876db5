"""Tells which parts of the goal a user still has to ask for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.errand.doubts import doubtful
from pytest_personalens.agents.embedded_user.errand.objecting import Objecting
from pytest_personalens.agents.embedded_user.errand.part_words import part_words
from pytest_personalens.agents.embedded_user.errand.speaking import DRAFT
from pytest_personalens.agents.embedded_user.voice.heard import heard
from pytest_personalens.agents.language.sentence_types import is_deed
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.reading.acts import DONE
from pytest_personalens.agents.reading.goal import classes, deed_classes
from pytest_personalens.agents.reading.part_numbers import FIRM, WHOLE
from pytest_personalens.agents.reading.typed_values import TYPED
from pytest_personalens.agents.reading.work import UNDOES
from pytest_personalens.core.facts import RANGE

if TYPE_CHECKING:
    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.agents.reading.work import Stand
    from pytest_personalens.core.facts import Fact

#: Kinds of facts of which any will do that a title or a name tells.
_FREE_KINDS: Final = frozenset({"item", "provider", "text", "place"})
_TITLE: Final = re.compile(r"[\"“„][^\"”“„]{2,60}[\"”]")
_TICKED: Final = re.compile(r"^\W*\[[xX✓✔]\](.*)$", re.MULTILINE)
#: Acts of a statement that can be an answer, those that can report a deed, and those of lines without a verb.
_ANSWERS: Final = FIRM | {"proposed"}
_DEEDS: Final = FIRM | {"other"}
_LINES: Final = frozenset({"told", "other", "proposed"})
_ASKS: Final = frozenset({"asked", "confirming"})
_QUOTE: Final = re.compile(r"[\"“„]")
#: What is done comes first: "Booked!", "Done, Sunday 17 May: bus at 11:05".
_HEADING: Final = re.compile(
    rf"\W*(?:it is |all |both |now )*(?:{DONE}|done|sorted)(?=[,:.!])", re.IGNORECASE
)
#: "All booked, Odette:" says so in its first characters.
_SHORT: Final = 32


class OpenParts(Objecting):
    """A user who asks for what is open. It is easier to satisfy than a judge.

    Who reads "Booked:" and the thing behind it asks for it no more, even where a judge is not sure.
    """

    def _is_settled(self, i: int, stand: Stand) -> bool:
        """True unless the user still has to ask for a part."""
        told = stand.part.kind == "told"
        if stand.state == "done":
            return told or stand.part.never or not self._only_promised(i) or self._reported(i)
        # A recommendation tells what was asked for, and so does a title.
        if self._replied(i, stand) or (told and stand.state == "proposed" and "?" not in self.last):
            return True
        return not self._is_wrong(stand) and (self._is_told(stand) if told else self._reported(i))

    def _is_wrong(self, stand: Stand) -> bool:
        """True if a part has a wrong value to which the user has objected, or would."""
        wrong = [(f, s) for f, s in self.work.wrong if f in stand.wrong]
        doubted = [
            (stand.part.kind == "told" or f.beside)
            and doubtful(f, self.scenario, s.text)
            and not self._raised_before(self._both(f, s)[1])
            for f, s in wrong
        ]
        return stand.state == "wrong" and not (doubted and all(doubted))

    def _is_told(self, stand: Stand) -> bool:
        """True if the assistant has said the values that a part asks for, or has named something of any kind."""
        facts = [f for f in self.scenario.task.facts if f.name in stand.part.facts]
        said = [s for s in self.work.statements if s.act in _ANSWERS]
        closed = [f for f in facts if f.right]
        if closed and all(RANGE not in f.right[0] and any(_says(f, s) for s in said) for f in closed):
            return True
        if not facts or stand.state == "wrong" or facts[0].right or facts[0].kind not in _FREE_KINDS:
            return stand.state == "wrong"
        asked = content(f"{stand.part.ask} {facts[0].what} {facts[0].name}")
        firm = [s for s in self.work.statements if s.act in _DEEDS]
        return any(_TITLE.search(s.text) or (s.details and asked & content(s.text)) for s in firm)

    def _reported(self, i: int) -> bool:
        """True if a reply says that a deed is done, and no later one opens it again."""
        names, alone = self.work.names, sum(p.kind == "done" and not p.never for p in self.work.goal) == 1
        reported = offered = False
        for turn in range(1, self.now + 1, 2):
            # The words of a draft are no deeds of the assistant.
            plainly = DRAFT.sub("", self.transcript[turn].content)
            said = [s for s in self._said_at(turn) if (_QUOTE.split(s.quote)[0] or s.quote) in plainly]
            before = {s.text for s in self.work.statements if s.turn < turn}
            own = [s for s in said if names(i, s)]
            new = [s for s in said if s.text not in before]
            general = [s for s in new if _HEADING.match(s.text)]
            clear = [s for s in new if s in general or (s.act in FIRM and is_deed(s.text))]
            deeds = [
                s for s in own if s in new and (s in clear or s.act == "done") and names(i, s, best=True)
            ]
            undone = [s for s in own if s.act in UNDOES and s not in general and s.quote in plainly]
            whole = (alone and clear) or any(WHOLE.search(s.text[:_SHORT]) for s in general)
            card = general and any(s.act in _LINES and names(i, s, first=True) for s in said)
            card = card and not any(s.act in _ASKS for s in said)
            done_first = deeds and (not undone or said.index(deeds[0]) < said.index(undone[0]))
            done = done_first or (not undone and ((offered and whole) or card))
            if done and not any(s.act in _ASKS for s in own):
                reported = True
            if undone and (not deeds or undone[-1].act == "taken-back"):
                reported = False
            offered |= any(s.act != "asked" for s in own)
        ticked = (classes(content(line)) for line in _TICKED.findall(self.last))
        return reported or any(words & self.work.words[i].words for words in ticked)

    def _only_promised(self, i: int) -> bool:
        """True if the last reply says of a deed only that it is going to be done."""
        words = deed_classes(self.work.words[i].words)
        acts = [s.act if words & s.words else "" for s in self.work.about(i)]
        return "done" not in acts and acts[-1:] == ["promised"]

    def _replied(self, i: int, stand: Stand) -> bool:
        """True if the user has asked for a part, and the assistant said that it is done, or answered."""
        words, messages = plain(part_words(stand, self.scenario)), enumerate(self.transcript)
        asking = [(at, heard(m.content)) for at, m in messages if at and m.role == "user"]
        turns = {at + 1 for at, said in asking if any(words in v.get("p", "") for _, v in said)}
        before = {s.text for s in self.work.statements if s.turn < min(turns, default=0)}
        said = [s for s in self.work.statements if s.turn in turns and s.text not in before]
        if stand.part.kind == "told":
            # Who asks "And how long is it?" takes what follows for the answer, in whatever words it comes.
            wrong = stand.state == "wrong" and stand.turn in turns
            return not wrong and any(s.act in _ANSWERS for s in said)
        acts = {s.act for s in self.work.about(i) if s in said}
        # "It's on already." is about what was asked for, if it has no word of another deed.
        others = [j for j, part in enumerate(self.work.goal) if j != i and part.kind == "done"]
        acts |= {s.act for s in said if s.act == "done" and not any(self.work.names(j, s) for j in others)}
        return stand.state != "wrong" and bool(FIRM & acts) and not UNDOES & acts


def _says(fact: Fact, s: Statement) -> bool:
    """True if a statement says a value of a fact, or half of the words of one: "on your Switch"."""
    values, said = [content(v) for v in fact.right if fact.kind not in TYPED], content(s.text)
    half = any(len(value & said) * 2 >= len(value) > 0 for value in values)
    return half or any(f.right and f.fact.name == fact.name for f in s.findings)
