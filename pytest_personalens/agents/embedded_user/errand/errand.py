"""Decides the next turn of a user who checks the work against the facts of the task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.errand.doubts import doubtful
from pytest_personalens.agents.embedded_user.errand.objecting import Objecting
from pytest_personalens.agents.embedded_user.errand.part_words import bank_of_part, part_words
from pytest_personalens.agents.embedded_user.errand.speaking import DRAFT
from pytest_personalens.agents.embedded_user.listening.questions import Question, is_courtesy, options
from pytest_personalens.agents.embedded_user.voice.heard import heard
from pytest_personalens.agents.embedded_user.voice.openings import task_text
from pytest_personalens.agents.language.sentence_types import is_deed
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, mentions
from pytest_personalens.agents.reading.acts import DONE, act
from pytest_personalens.agents.reading.goal import classes, deed_classes
from pytest_personalens.agents.reading.part_numbers import FIRM, WHOLE
from pytest_personalens.agents.reading.typed_values import TYPED
from pytest_personalens.agents.reading.work import UNDOES
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.facts import RANGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.agents.reading.work import Stand
    from pytest_personalens.core.facts import Fact

#: Sentences by which the user pushes on, and how often in all before it leaves.
_PUSHES: Final = ("chase", "insist", "other_way", "fact_wrong", "fact_told", "fact_open", "fact_short", "limit", "still_wrong", "ask_part", "ask_deed", "ask_to", "ask_wh", "ask_never", "nudge", "nudge_told", "restate", "what_exactly")  # fmt: skip
_MOST_PUSHES: Final = 4
#: How often the user accepts proposals.
_MOST_ACCEPTED: Final = 3
#: The most sentences in one message.
_MOST: Final = 3
#: The user leaves after this many replies in any case, plus two for each domain.
_LONGEST: Final = 6
#: Kinds of facts of which any will do that a title or a name tells.
_FREE_KINDS: Final = frozenset({"item", "provider", "text", "place"})
_TITLE: Final = re.compile(r"[\"“„][^\"”“„]{2,60}[\"”]")
_TICKED: Final = re.compile(r"^\W*\[[xX✓✔]\](.*)$", re.MULTILINE)
#: Acts of a statement that can be an answer, that can name a title, of a line without a verb, and of a question.
_ANSWERS: Final = FIRM | {"proposed"}
_TELLS: Final = FIRM | {"other"}
_LINES: Final = frozenset({"told", "other", "proposed"})
_ASKS: Final = frozenset({"asked", "confirming"})
_QUOTE: Final = re.compile(r"[\"“„]")
#: What is done comes first: "Booked!", "Done, Sunday 17 May: bus at 11:05", "All four are done."
_HEADING: Final = re.compile(
    rf"^\W*(?:it(?:'s| is) |all |both |now |two |three |four |five |are )*(?!noted)(?:{DONE}|done|sorted|all set)(?=[,:.!])",
    re.IGNORECASE | re.MULTILINE,
)
#: "All booked, Odette:" says so in its first characters.
_SHORT: Final = 32
#: A request to tell something.
_TELL: Final = re.compile(
    r"\b(?:tell me|let me know) (?:which|what|when|where|who|how)\b|\b(?:i|we) (?:do |will |would |just |also |only )*need (?:your|the)\b"
)
#: The end of a sentence that only looks like a question.
_TAG: Final = re.compile(
    r"\b(?:is|are|do|does|was|will|have|has)(?:n't| not) (?:it|they|you|we|that)\W*$|\beh\W*$"
)
#: Words of a request that goes on from something else.
_MORE: Final = re.compile(r"\b(?:also|and|too|as well|good|nice|cool|thanks|one more)\b", re.IGNORECASE)
#: Kinds of facts that the user adds to a request: "It's at the fountain."
_NAMED: Final = ("place", "text")


class Errand(Objecting):
    """The next turn of a user who holds each reply against facts, limits and preferences.

    A user is easier to satisfy than a judge: who reads "Booked:" and the thing behind it asks for it no more.
    """

    def _reports(self) -> bool:
        """True if the last reply says that something is done, or tells something."""
        return any(s.act in FIRM and s.words for s in self._now)

    def _repeats(self) -> bool:
        """True if the last reply is word for word an earlier one."""
        return any(m.role == "assistant" and m.content == self.last for m in self.transcript[:-1])

    def _count(self, *banks: str) -> int:
        return sum(bank in banks for bank, _ in self._pushed)

    def _decide(self) -> UserTurn:
        replies = sum(m.role == "assistant" for m in self.transcript)
        if replies > _LONGEST + 2 * len(self.scenario.domains):
            return self._leave("give_up")
        lines = self._objections()
        if lines is None:
            return self._leave("give_up")
        corrected, of_taste = self._corrections()
        objects = bool(lines)
        if not lines:
            lines += of_taste
        asked = [q for q in self._asked() if _wants_answer(q.text)]
        open_parts = [s for i, s in enumerate(self.work.stands) if not self._is_settled(i, s)]
        settled = not open_parts and not lines
        if settled and self._ignored():
            return self._once("still_open", 1)
        if objects:  # "Shall I book it?" is answered by what is wrong
            asked = [q for q in asked if q.kind not in ("confirm", "yes_no", "known", "either")]
        lines += self._answers([q for q in asked if self._is_needed(q)] if settled else asked, corrected)
        if lines:
            return UserTurn(" ".join(lines[:_MOST]))
        if settled:
            if self._against[1]:  # the user has said it once, and it is still wrong
                return self._leave("thanks_flat")
            more = any(s.act == "asked" or is_courtesy(plain(s.text)) for s in self._now)
            return self._leave("thanks_more" if more else "thanks")
        if self._count(*_PUSHES) >= _MOST_PUSHES + len(self.work.goal) // 3:
            return self._leave("give_up")
        return self._push(open_parts, replies)

    def _is_settled(self, i: int, stand: Stand) -> bool:
        """True unless the user still has to ask for a part."""
        told = stand.part.kind == "told"
        if stand.state == "done":
            return told or stand.part.never or not self._left_open(i) or self._reported(i)
        # A recommendation tells what was asked for, and so does a title.
        if self._replied(i, stand) or (told and stand.state == "proposed" and "?" not in self.last):
            return True
        return not self._is_wrong(stand) and (self._is_told(stand) if told else self._reported(i))

    def _is_wrong(self, stand: Stand) -> bool:
        """True if a part has a wrong value to which the user has objected, or would."""
        surely = [
            not doubtful(f, self.scenario, s.text)
            or self._raised_before(self._wanted(f, s))
            or not (f.beside or stand.part.kind == "told")
            for f, s in self.work.wrong
            if f in stand.wrong
        ]
        return stand.state == "wrong" and (any(surely) or not surely)

    def _is_told(self, stand: Stand) -> bool:
        """True if the assistant has said the values that a part asks for, or has named something of any kind."""
        facts = [f for f in self.scenario.task.facts if f.name in stand.part.facts]
        said = [s for s in self.work.statements if s.act in FIRM]
        closed = [f for f in facts if f.right]
        if closed and all(RANGE not in f.right[0] and any(_says(f, s) for s in said) for f in closed):
            return True
        if not facts or stand.state == "wrong" or facts[0].right or facts[0].kind not in _FREE_KINDS:
            return stand.state == "wrong"
        asked = content(f"{stand.part.ask} {facts[0].what} {facts[0].name}")
        firm = [s for s in self.work.statements if s.act in _TELLS]
        return any(_TITLE.search(s.text) or (s.details and asked & content(s.text)) for s in firm)

    def _reported(self, i: int) -> bool:
        """True if a reply says that a deed is done, and no later one opens it again."""
        names, alone = self.work.names, sum(p.kind == "done" and not p.never for p in self.work.goal) == 1
        reported = offered = False
        for turn in range(1, self.now + 1, 2):
            # The words of a draft are no deeds of the assistant, and nor is what it has said before.
            text = DRAFT.sub("", self.transcript[turn].content)
            before = "".join(m.content for m in self.transcript[1:turn:2])
            said = [s for s in self._said_at(turn) if (_QUOTE.split(s.quote)[0] or s.quote) in text]
            new = [s for s in said if s.quote not in before]
            own = [s for s in said if names(i, s)]
            best = [s for s in own if names(i, s, best=True)]
            clear = [s.quote for s in new if s.act in FIRM and is_deed(s.text)]
            deeds = [s for s in best if s in new and (s.quote in clear or s.act == "done")]
            undone = [s for s in own if s.act in UNDOES and s.quote in text and not _HEADING.match(s.quote)]
            headings = [text[m.start() :] for m in _HEADING.finditer(text) if text not in before]
            whole = [line for line in (*clear, *headings) if WHOLE.search(line[:_SHORT])]
            # "Booked!" stands above a card, or answers the user's yes.
            card = "?" not in text and (headings or whole) and any(s.act in _LINES for s in best)
            agreed = offered and (whole or (alone and (clear or headings)))
            sure = [s for s in deeds if s.quote in clear]
            first = sure and undone and said.index(sure[0]) < said.index(undone[0])
            if not any(s.act in _ASKS for s in own):
                reported |= bool(first or (not undone and (deeds or card or agreed)))
            reported &= not undone or bool(sure and undone[-1].act != "taken-back")
            offered |= any(s.act != "asked" for s in own)
        ticked = (classes(content(line)) for line in _TICKED.findall(self.last))
        return reported or any(words & self.work.words[i].words for words in ticked)

    def _left_open(self, i: int) -> bool:
        """True if the last word on a deed is that it is promised, refused or left to the user."""
        acts = [s.act for s in self.work.statements if s.act not in _ASKS and self.work.names(i, s)]
        return "done" not in acts and bool(UNDOES & set(acts[-1:]))

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

    def _ignored(self) -> bool:
        """True if the user has just objected, and the reply says nothing."""
        objected = any(bank.startswith("correction") for bank, _ in heard(self.transcript[-2].content))
        return objected and not self._reports()

    def _is_needed(self, question: Question) -> bool:
        """True if a question must be answered, although the work looks done: it asks for more than a wish."""
        text = plain(question.text)
        asked_at = self.last.find(question.text)
        answered = any(s.act in FIRM and self.last.find(s.quote) > asked_at >= 0 for s in self._now)
        if not is_courtesy(text) and self._is_untold(question):
            return True
        if is_courtesy(text) or answered:  # "Did it go through? It did! You're on the 9:12."
            return False
        if question.kind in ("confirm", "yes_no", "known"):
            deeds = frozenset[str]().union(*(deed_classes(part.words) for part in self.work.words))
            return act(question.text) == "confirming" and bool(deeds & classes(content(text)))
        return True

    def _is_untold(self, question: Question) -> bool:
        """True if a question asks for a preference that nobody has named in this dialogue."""
        answer = self.answers.to(question)
        said = " ".join(m.content for m in self.transcript)
        return answer.pair is not None and not answer.bank and not mentions(answer.value, said)

    def _push(self, open_parts: Sequence[Stand], replies: int) -> UserTurn:
        if self._repeats():
            return self._leave("give_up")
        states = {stand.state for stand in open_parts}
        undone = any(stand.part.kind == "done" for stand in open_parts)
        nudge = "nudge" if undone else "nudge_told"
        acts = {s.act for s in self._now}
        offers = bool({"proposed", "confirming"} & acts) or bool(options(self.last)[1:])
        asks = "?" in self.last or bool(options(self.last)[1:])
        accepted = self._count("accept_proposal", "accept", "option", "option_first")
        if "done" not in acts:
            only = acts <= {"promised", "other"} and not self._reports()
            if "promised" in acts and (only or states & {"promised", "done"}) and "confirming" not in acts:
                return self._once("chase" if undone else nudge, 2)
            if "handed-back" in acts and "handed-back" in states and "confirming" not in acts:
                return self._once("insist", 2)
            if offers and undone and not asks and self._count("insist") < 2:  # "The Ritz would suit you."
                return self._once("insist", 2)
            if offers and (asks or undone) and accepted < _MOST_ACCEPTED:
                return self._accept()
            if "refused" in acts and "refused" in states:
                return self._once("other_way", 1)
        task = task_text(self.scenario)
        if not any(stand.state == "done" for stand in self.work.stands) and not self._reports():
            if any(is_deed(s.text) for s in self._now):  # "Done!"
                return self._once("what_exactly", 1)
            return UserTurn(
                self.speaker.say("restate", x=task) if task and replies < 3 else self.speaker.say(nudge)
            )
        stands = self._next(open_parts)
        settled = [s for s in self.work.stands if s not in open_parts and not s.part.never]
        return UserTurn(self._request(stands, more=bool(settled))) if stands else self._leave("give_up")

    def _once(self, bank: str, most: int) -> UserTurn:
        return UserTurn(self.speaker.say(bank)) if self._count(bank) < most else self._leave("give_up")

    def _next(self, open_parts: Sequence[Stand]) -> list[Stand]:
        """Return the parts to ask for: up to two of a kind that the user has not asked for, or only once."""
        times = {stand.part.text: self._asked_for(stand) for stand in open_parts}
        # What is to be done comes before what is to be told.
        by_count = sorted(open_parts, key=lambda stand: (times[stand.part.text], stand.part.kind != "done"))
        first = by_count[0]
        alike = [
            s
            for s in by_count
            if bank_of_part(s, self.scenario) == bank_of_part(first, self.scenario)
            and times[s.part.text] == times[first.part.text]
        ]
        return [] if times[first.part.text] > 1 else alike[:2]

    def _asked_for(self, stand: Stand) -> int:
        words = plain(part_words(stand, self.scenario))
        return sum(words in values.get("p", "") for _, values in self._pushed)

    def _request(self, stands: Sequence[Stand], *, more: bool) -> str:
        """Return a request for parts; `more` if other parts are settled."""
        bank = "ask_never" if stands[0].part.never else bank_of_part(stands[0], self.scenario)
        told = [
            f.says
            for s in stands[:1]
            if s.part.kind == "done"
            for f in self.scenario.task.facts
            if f.name in s.part.facts and f.known == "told" and f.kind in _NAMED and not self._has_told(f)
        ]
        words = " and ".join(part_words(s, self.scenario) for s in (stands[:1] if told else stands))
        request = self.speaker.say(bank, None if more else _MORE, p=words)
        return f"{request} {self.speaker.say('tell', v=told[0])}" if told else request


def _wants_answer(text: str) -> bool:
    if _TAG.search(text):
        return False
    return (
        text.rstrip().endswith("?") or bool(_TELL.search(plain(text))) or act(text) in ("asked", "confirming")
    )


def _says(fact: Fact, s: Statement) -> bool:
    """True if a statement says a value of a fact, or half of the words of one: "on your Switch"."""
    values, said = [content(v) for v in fact.right if fact.kind not in TYPED], content(s.text)
    half = any(len(value & said) * 2 >= len(value) > 0 for value in values)
    return half or any(f.right and f.fact.name == fact.name for f in s.findings)
