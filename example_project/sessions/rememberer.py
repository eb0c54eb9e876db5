"""A bot with a small memory of its own: it keeps what its users say, and goes by it in later sessions.

The memory holds clauses, by user and by the person that they are about. A request is answered with what was
said in sessions that share a word with it, or else with all about that person. It knows no synonyms and no
world. Each of the other bots lacks one thing that a memory must do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

_SENTENCE: Final = re.compile(r"[^.!?]*(?:[.!?](?=\S)[^.!?]*)*[.!?]*")
_CLAUSE: Final = re.compile(
    r"[,;:] | (?=(?:so|but|and) (?:i|we|my|mine|on|he|she|it|from|only)\b)", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W_]+(?:[:.,]\d+)?")
_SMALL: Final = frozenset(
    """
    a about again all also am an and any are as at be been book but buy by can choose did do does don dr find
    for from get had has have he her his home how i im in into is it its kept let like make me mr mrs my need
    new next no not of off on one or order our out pick please put read s set she so some something t than
    thank thanks that the them then there they this to told too us want was we what when where which who
    will with without you your
    """.split()  # noqa: SIM905
)
_KIN: Final = "brother|sister|niece|nephew|son|daughter|husband|wife|mother|father|friend|partner"
_DAYS: Final = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|It|He|She|That|This|What|Who|There|Which|Let|Book"
_DOES: Final = "is|has|wants|needs|takes|went|turns|sleeps|eats|flies|laughs|next"
_PERSON: Final = re.compile(
    rf"\b[Mm]y (?P<kin>{_KIN})(?: (?P<named>[A-Z]\w+))?"
    rf"|\b(?:for|with) (?!{_DAYS})(?P<to>[A-Z]\w+)|\b(?!{_DAYS})(?P<does>[A-Z]\w+)"
    rf"(?:'s | (?:and I|{_DOES})\b)"
)
_THEY: Final = re.compile(r"\b(?:he|his|him|she|her|hers)\b", re.IGNORECASE)
_OWN: Final = re.compile(rf"\b(?:i|me|mine|my(?! (?:{_KIN})\b))\b", re.IGNORECASE)
_US: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_FORGET: Final = re.compile(
    r"(?<!n't )(?<!not )\b(?:forget|delete|erase|wipe|scrub)\b|\b(?:do not|don't) (?:remember|keep|hold)\b"
    r"|\bout of your (?:memory|notes|head)\b|\bdropped that\b|^bin the\b",
    re.IGNORECASE,
)
_BYE: Final = re.compile(
    r"\b(?:thank\w*|never mind|leave it|give up|that's all|stop here|isn't working|another way"
    r"|somewhere else|myself|on my own)\b",
    re.IGNORECASE,
)
_CHANGE: Final = re.compile(
    r"\b(?:now|from (?:today|this week|here on|now on)|no longer|any ?more|switched|changed|cancelled|instead"
    r"|given up|gave up|gone over|moved|transferred|retired|put a stop|going to be|the old)\b",
    re.IGNORECASE,
)
_OVER: Final = re.compile(
    r"\b(?:no|not|cancelled|given up|the old|too old|stop|off the|retired|done with|can't)\b"
)
_ASKS: Final = re.compile(
    r"\b(?:what|when|which|who|where|how (?:old|much|many|wide|long|far|big))\b", re.IGNORECASE
)
_DETAIL: Final = frozenset(
    ("number", "plate", "address", "street", "postcode", "colour", "phone", "age", "usual")
)
_TEXT: Final = re.compile(r"^(?:explain|describe|define|translate|compare|write an?)\b", re.IGNORECASE)


#: What a bot may lack: a store, a new value in the place of the old, obedience to "forget", a store for each
#: user, a difference between the user and others, restraint, and the admission that it does not know.
FAULTS: Final = (
    "no-store", "never-overwrites", "ignores-forget", "one-store", "muddles", "name-drops", "invents",
)  # fmt: skip


class Note(NamedTuple):
    """A clause of a user: when it was said, about whom (empty: the user), its words, its message's words."""

    text: str
    session: str
    about: str
    words: frozenset[str]
    message: frozenset[str]


class Rememberer:
    """The bot, with one `fault` of FAULTS or with none."""

    def __init__(self, fault: str = "") -> None:
        self._fault = fault
        self._memories: dict[str, Memory] = {}

    def reply(self, user: str, session: str, text: str) -> str:
        """Return the reply to a message, and keep what it says."""
        owner = "" if self._fault == "one-store" else user
        return self._memories.setdefault(owner, Memory(self._fault)).reply(session, text)


class Memory:
    """What the bot knows of one user."""

    def __init__(self, fault: str) -> None:
        self._fault = fault
        self._notes: list[Note] = []
        self._last = ""  # the session of the last message
        self._people: dict[str, str] = {}  # a relative -> the name, or a name -> itself

    def reply(self, session: str, text: str) -> str:
        """Return the reply to a message, and keep what it says."""
        earlier = [note for note in self._notes if note.session != session]
        if session == self._last and _BYE.search(text):
            return "You are welcome."
        self._last = session
        if _FORGET.search(text):
            if self._fault != "ignores-forget":
                self._forget(earlier, text)
            return "I have deleted it."
        answer = self._answer(earlier, text)
        if self._fault != "no-store":
            self._keep(earlier, session, text)
        return answer

    def _keep(self, earlier: list[Note], session: str, text: str) -> None:
        """Keep the clauses of a message; a change removes what it changes."""
        message, old, last = words(text), frozenset[str](), ""
        if self._fault != "never-overwrites" and _CHANGE.search(text):
            gone = [n for n in earlier if n.message & message]
            old = old.union(*(n.words for n in gone))
            self._notes = [n for n in self._notes if n not in gone]
        for sentence in sentences(text):
            about = ""
            for clause in _CLAUSE.split(sentence):
                about = self._about(clause, last, about)
                last = about or self._person(clause) or last
                over = _OVER.search(clause) or (words(clause) & old and not _CHANGE.search(clause))
                if not (old and over):
                    self._notes.append(Note(clause.strip(" ,;.!?"), session, about, words(clause), message))

    def _forget(self, earlier: list[Note], text: str) -> None:
        """Remove the sessions that share a word with the message, or else the one before."""
        gone = {n.session for n in earlier if n.words & words(text)} or {n.session for n in earlier[-1:]}
        self._notes = [note for note in self._notes if note.session not in gone]

    def _person(self, text: str) -> str:
        """Return the first person that a text names, and learn the name."""
        if found := _PERSON.search(text):
            name = (
                found["named"] or found["to"] or found["does"] or self._people.get(found["kin"], found["kin"])
            )
            self._people |= {name: name} | ({found["kin"]: name} if found["kin"] else {})
            return name
        return next((self._people[word] for word in _WORD.findall(text) if word in self._people), "")

    def _about(self, text: str, last: str, otherwise: str) -> str:
        """Return whom a text is about: a person, the `last` one as "she", or the user (empty)."""
        if self._fault == "muddles":
            return ""
        own, they, name = _OWN.search(text), _THEY.search(text), self._person(text)
        if name and not re.search(rf"\b{name} and (?:I|me)\b", text):
            return name
        if they and last and (own is None or they.start() < own.start()):
            return last
        return "" if own or name else otherwise

    def _answer(self, notes: list[Note], text: str) -> str:
        asked, about, last = words(text), "", ""
        for sentence in sentences(text):
            last = self._person(sentence) or last
            about = self._about(sentence, last, about)
        if not (_US.search(text) or about) and all(
            s.endswith("?") or _TEXT.search(s) for s in sentences(text)
        ):
            return "Here is what I found about that." if self._fault != "name-drops" else _quote(notes)
        known = [note for note in notes if asked <= note.words]
        missing = asked & _DETAIL - frozenset[str]().union(*(note.words for note in notes))
        if missing or (not known and any(s.endswith("?") and _ASKS.search(s) for s in sentences(text))):
            return (
                "You have not told me that. What is it?"
                if self._fault != "invents"
                else "As last time: number 12."
            )
        mine = [note for note in notes if note.about == about] or [note for note in notes if not note.about]
        near = {note.session for note in mine if asked & note.message}
        known = known or [note for note in mine if note.session in near] or mine
        return f"Done. {_quote(known)}" if known else "Done. I know nothing of you about that."


#: Each bot with the name of what it gets wrong.
BOTS: Final[dict[str, Callable[[], Rememberer]]] = {
    "remembers": Rememberer,
    **{fault: partial(Rememberer, fault) for fault in FAULTS},
}


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [found.strip() for found in _SENTENCE.findall(text) if found.strip()]


def words(text: str) -> frozenset[str]:
    """Return the words of a text that have a topic, without the s of the plural."""
    return frozenset(
        word.lower().removesuffix("s") if len(word) > 3 else word.lower()
        for word in _WORD.findall(text)
        if word.lower() not in _SMALL
    )


def _quote(notes: list[Note]) -> str:
    return "I go by what you told me: " + " ".join(f"“{note.text}”" for note in notes)
