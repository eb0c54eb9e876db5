"""A bot with a small memory of its own: it keeps what its users say, and goes by it in later sessions.

The memory holds sentences, by user. A sentence is found again by the words of its session, and is used only
for the person that it is about. Each of the other bots lacks one thing that a memory must do.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SENTENCE: Final = re.compile(r"[^.!?]*(?:[.!?](?=\S)[^.!?]*)*[.!?]*")
_WORD: Final = re.compile(r"[^\W_]+(?:[:.,]\d+)?")
_SMALL: Final = frozenset(
    """
    a about again all also am an and any are as at be been but buy by can choose did do does don find for
    from get had has have he her his home how i im in into is it its kept let like make me my need new
    next no not of off on one or order our out pick please put read s set she so some something t than
    thank thanks that the them then there they this to told too us want was we what when where which who
    will with without you your
    """.split()  # noqa: SIM905
)
_RELATIVE: Final = re.compile(
    r"\bmy (brother|sister|niece|nephew|son|daughter|husband|wife|mother|father|friend|partner)\b",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_FORGET: Final = re.compile(
    r"(?<!n't )(?<!not )\bforget\b|\b(?:do not|don't) (?:remember|keep)\b|\bdelete what\b", re.IGNORECASE
)
_CHANGE: Final = re.compile(
    r"\b(?:now|from today|from now|no longer|any ?more|switched|changed|cancelled|instead|gave up)\b",
    re.IGNORECASE,
)
_IS: Final = re.compile(r"\b(?:is|are|was)\b|:")


class Note(NamedTuple):
    """A sentence of a user: in which session and message, about whom (empty: the user), and its words."""

    text: str
    session: str
    message: str
    about: str
    words: frozenset[str]
    topic: frozenset[str]


class Rememberer:
    """The bot that gets it right."""

    overwrites = forgets = minds_whose = restrains = admits = True

    def __init__(self) -> None:
        self._notes: dict[str, list[Note]] = {}

    def reply(self, user: str, session: str, text: str) -> str:
        """Return the reply to a message, and keep what it says."""
        notes = self._notes.setdefault(self.owner(user), [])
        if _FORGET.search(text):
            if self.forgets:
                self._forget(notes, text)
            return "I have deleted it."
        self.keep(notes, session, text)
        return self._answer(notes, session, text)

    def owner(self, user: str) -> str:
        """Return whose notes a user's are."""
        return user

    def keep(self, notes: list[Note], session: str, text: str) -> None:
        """Keep the sentences of a message; a change removes what it changes."""
        about = ""
        topic = words(text).union(*(note.words for note in notes if note.session == session))
        for sentence in sentences(text):
            if self.minds_whose and (found := _RELATIVE.search(sentence)):
                about = found[1].lower()
            elif _OWN.search(sentence):
                about = ""
            own = words(sentence)
            if self.overwrites and _CHANGE.search(sentence):
                notes[:] = [n for n in notes if n.session == session or n.about != about or not n.words & own]
            if not sentence.endswith("?"):
                notes.append(Note(sentence, session, text, about, own, topic))

    def _forget(self, notes: list[Note], text: str) -> None:
        """Remove the notes that share a word with the message, and what was said together with them."""
        gone = {note.message for note in notes if note.words & words(text)}
        notes[:] = [note for note in notes if note.message not in gone]

    def _answer(self, notes: list[Note], session: str, text: str) -> str:
        asked, found = words(text), _RELATIVE.search(text)
        about = found[1].lower() if found and self.minds_whose else ""
        earlier = [note for note in notes if note.session != session]
        if all(sentence.endswith("?") for sentence in sentences(text)):
            if not _OWN.search(text):
                return "Here is what I found about that." if self.restrains else _quote(earlier)
            known = [note for note in earlier if asked <= note.words and _IS.search(note.text)]
            if not known and self.admits:
                return "You have not told me that, so I do not know it. What is it?"
            return _quote(known) if known else "It is the one of last time, number 12."
        known = [note for note in earlier if note.about == about and asked & note.topic]
        return f"Done. {_quote(known)}" if known else "Done. I know nothing of you about that, so I chose."


class Forgetful(Rememberer):
    """Has no store."""

    def keep(self, notes: list[Note], session: str, text: str) -> None:
        """Keep nothing."""


class Hoarder(Rememberer):
    """Never overwrites what it has."""

    overwrites = False


class Stubborn(Rememberer):
    """Ignores that a user asks it to forget."""

    forgets = False


class Shared(Rememberer):
    """Has one store for all users."""

    def owner(self, user: str) -> str:
        """Return the same for everybody."""
        return ""


class Muddler(Rememberer):
    """Takes what is said of others for the user's own."""

    minds_whose = False


class Eager(Rememberer):
    """Brings what it knows of the user into every answer."""

    restrains = False


class Inventor(Rememberer):
    """Makes up what it was never told."""

    admits = False


BOTS: Final[dict[str, type[Rememberer]]] = {
    "remembers": Rememberer,
    "no-store": Forgetful,
    "never-overwrites": Hoarder,
    "ignores-forget": Stubborn,
    "one-store": Shared,
    "muddles": Muddler,
    "name-drops": Eager,
    "invents": Inventor,
}


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [found.strip() for found in _SENTENCE.findall(text) if found.strip()]


def words(text: str) -> frozenset[str]:
    """Return the words of a text that have a topic, without the s of the plural."""
    return frozenset(
        word.lower().removesuffix("s") if len(word) > 3 else word.lower()
        for word in _WORD.findall(text)
        if word.lower() not in _SMALL and word != "Book"  # that is what to do
    )


def _quote(notes: list[Note]) -> str:
    return "I go by what you told me: " + " ".join(f"“{note.text}”" for note in notes)
