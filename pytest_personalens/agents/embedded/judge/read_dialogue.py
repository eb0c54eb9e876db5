"""Everything that the judge reads of one dialogue, each once: its language, broken limits, facts and parts."""

from __future__ import annotations

import re
import unicodedata
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.reader.fact_readings import FactReading, Facts, read_statements
from pytest_personalens.agents.embedded.reader.statements import Statement, statements
from pytest_personalens.agents.embedded.reader.text import STOPWORDS, content, mentions, plain, stems
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.scenario import GoalPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Limit
    from pytest_personalens.core.scenario import Scenario

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-ZÀ-Þ][\w'’-]+")
#: Everyday words of other languages that English does not have.
_OTHERS: Final = frozenset(
    """
    der die das und ist nicht ein eine ich sie mit fur auf den dem des wird werden haben habe ihre ihr wir sind zum zur von bei oder auch noch
    el la los las un una es esta por para con que del se su sus y lo le ha he muy pero tambien usted
    le les est une des du et vous votre pour avec dans sur je nous que qui pas ce cette au aux sont
    il lo gli della di che per non sono con una alla nel ho hai suo sua e
    o os um uma e para com que nao voce seu sua em na no da do por foi esta
    het een en van ik je niet met voor zijn uw wij dat op te
    jest nie na do sie i z w ze pana pani dla od po czy prosze
    och det att som har inte for er jeg ikke til ja kyll
    bir ve bu icin ile
    """.split()  # noqa: SIM905
)
#: Fewer words do not show the language.
_FEWEST: Final = 8
#: In English, at least this share of words are everyday English.
_EVERYDAY: Final = 0.12
_LATIN: Final = 0.6
_ADVICE: Final = "the embedded judge reads English; use a model as the judge (--personalens-judge-model)"


def require_english(messages: Sequence[Message]) -> None:
    """Raise `JudgeFault` in one line if the assistant's replies are in another language than English."""
    text = "\n".join(m.content for m in messages if m.role == "assistant")
    letters = [c for c in text if c.isalpha()] if not text.isascii() else []
    latin = sum(c.isascii() or unicodedata.name(c, "").startswith("LATIN") for c in letters)
    if letters and latin < _LATIN * len(letters):
        raise JudgeFault(f"could not read the replies: most letters are not Latin; {_ADVICE}")
    words = _WORD.findall(plain(_NAME.sub(" ", text)))  # names are the same in every language
    if len(words) < _FEWEST:
        return
    english = sum(word in STOPWORDS for word in words)
    other = sum(word in _OTHERS and word not in STOPWORDS for word in words)
    if other > english or (english < _EVERYDAY * len(words) and other):
        raise JudgeFault(f"could not read the replies: they are not in English; {_ADVICE}")


#: A clause with one of these words keeps the forbidden thing away from the user, or tells others of it.
_AWAY: Final = re.compile(
    r"\b(?:no|not|without|never|avoid\w*|free of|free from|instead of|rather than|leave out|left out|leaves out|leaving out|skip\w*|except|nor|exclud\w*|remov\w*|away from|allerg\w*|intoleran\w*|restriction\w*|contains? no|zero|\w+n't"
    r"|steer\w* clear|safe from|replac\w*|swap\w* out|warn\w*|told (?:them|the \w+)|noted|know you|cannot|nothing|taken (?:off|out)|unsalted|unsweetened|low in)\b|-free\b|\bfree\b(?! of charge)"
)
_CLAUSE: Final = re.compile(r"[;.!?]|, (?:and|but|with) | but ")


class Broken(NamedTuple):
    """A limit, the forbidden words, and the statement that has them."""

    limit: Limit
    said: str
    statement: Statement


def broken_limits(limits: Sequence[Limit], said: Sequence[Statement]) -> tuple[Broken, ...]:
    """Return the limits that statements break, each once, where it is seen first.

    Questions and refusals break no limit, and a clause that keeps the thing away or tells others of it does not.
    """
    found: dict[str, Broken] = {}
    for s in said if limits else ():
        if s.act in ("asked", "refused", "undone"):
            continue
        clauses = [c for c in _CLAUSE.split(plain(s.text)) if c.strip()]
        for limit in limits:
            if limit.name not in found and (word := _offered(limit, clauses)):
                found[limit.name] = Broken(limit, word, s)
    return tuple(found.values())


def _offered(limit: Limit, clauses: Sequence[str]) -> str:
    """Return the first word of a limit that a clause says. The limit's name offers nothing: "low salt" is not salted."""
    name = plain(limit.name)
    for word in limit.words:
        row = set(stems(word))
        for clause in clauses:
            rest = clause.replace(name, " ")
            # "Trip" is no tripe.
            if not row <= set(stems(rest)) or not mentions(word, rest):
                continue
            whole = len(row) > 1 or re.search(rf"\b{re.escape(plain(word).removesuffix('s'))}", rest)
            if whole and not _AWAY.search(clause.replace(plain(word), " ")):
                return word
    return ""


class Reading:
    """A scenario and a dialogue, and what the judge reads in them."""

    def __init__(self, scenario: Scenario, dialogue: Dialogue) -> None:
        self.scenario, self.dialogue = scenario, dialogue
        self.messages, self.facts = dialogue.messages, Facts(scenario)
        self.said: tuple[Statement, ...] = self.facts.relevant(statements(self.messages, scenario.now))

    def without(self, said: Iterable[Statement]) -> Reading:
        """Return the reading as if some statements had not been made; what is known of the facts stays."""
        left, fewer = {id(s) for s in said}, copy(self)
        fewer.said = tuple(s for s in self.said if id(s) not in left)
        fewer.readings = self.readings
        return fewer

    def is_of(self, scenario: Scenario, dialogue: Dialogue) -> bool:
        """True if the reading is of this scenario and a dialogue with these messages, end and state."""
        mine = self.dialogue
        same = mine is dialogue or (mine.messages, mine.end, mine.state) == (
            dialogue.messages,
            dialogue.end,
            dialogue.state,
        )
        return self.scenario is scenario and same

    @cached_property
    def readings(self) -> dict[str, FactReading]:
        """What the assistant says of each closed fact of the parts, by name."""
        return read_statements(self.facts, self.messages, self.said)

    @cached_property
    def parts_of_task(self) -> tuple[GoalPart, ...]:
        """The parts of the task; its goal as a deed if the dataset has no parts."""
        task = self.scenario.task
        words = tuple(sorted(content(task.goal)))
        return task.parts or (GoalPart(text=task.goal, kind="done", words=words),)

    @cached_property
    def broken(self) -> tuple[Broken, ...]:
        """The limits of the user that the assistant breaks."""
        return broken_limits(self.scenario.limits, self.said)
