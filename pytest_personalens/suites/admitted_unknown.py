"""Reads whether a reply says that something is not known, and whether it makes something up all the same."""

from __future__ import annotations

import re
from typing import Final

from pytest_personalens.agents.embedded.reader.text import fold, names, stems
from pytest_personalens.agents.embedded.reader.typed_values import NUMBER_WORD, is_day_word, number

#: After the mark of a sentence's end, or the quotation mark behind it; "Dr." ends none.
SENTENCE_END: Final = re.compile(
    r"(?<!\b[DM]r\.)(?<!\bMrs\.)(?<=[.!?])\s+|(?<=[.!?][\"\u201d\u2019'])\s+|\n+"
)
_CLAUSE_END: Final = re.compile(
    r"[;:,.!?()]+(?=\s|$)|[()\n]|\s-\s|(?=\b(?:but|so|though|since|because|unless)\b)"
)
_NO: Final = (
    r"(?:n't|\b(?:not|never|cannot|no|nor|neither|nothing|none|nobody|nowhere|without|unable"
    r"|only(?: ever)?))\b"
)
_KNOW: Final = (
    r"\b(?:know\w*|recall|remember|t[eo]ld|tell|se[ea]n?|saw|mention\w*|shar\w+|sa(?:id|y)|find|found"
    r"|sure|certain"
    r"|aware|stor\w+|saved?|noted?|notes|gi?ve|gave|given|got|answer|help|kept|keep|reached|sp[eo]ke\w*"
    r"|[ck][ao]me up"
    r"|records?|recorded|listed|specif\w+|discuss\w*|talked|guess|make (?:\w+ )?up|written|memory"
    r"|information|details?|idea|trace|on file|chats?|conversations?|ha(?:ve|d))\b(?! to\b)"
)
_ADMITS: Final = re.compile(
    rf"{_NO}.{{0,40}}?{_KNOW}|{_KNOW}(?: \w+){{0,3}} (?:no|nothing|neither|only|everything but|except)\b"
    r"|\b(?:missing|unknown|blank|empty|left (?:it |them |that )?open|still open|guess(?:ing|work)|(?:be"
    r"|is) a guess"
    r"|not given|as far as it goes|all (?:that )?i(?:'ve| have)?(?: got)?\b|more than i|beyond me"
    r"|need (?:it |that |them |this |you\b)|\bi(?:'d| would| still| do)* need\b|lack|wish i knew"
    r"|you left out|please (?:provide|give|send|share)|ha(?:ve|s) to (?:give|tell)|\byou only)"
    r"|\b(?:give|tell|send|remind|share with) me\b(?! if| when| whether)|\blet me know\b(?! if| when"
    r"| whether)"
    r"|\[[a-z ,/]+\]|_{3,}"
    r"|^(?:but |and )?(?:not|neither|nor|never) (?:its|her|his|their|the|an?|any|which|who|what|where"
    r"|when|how)\b"
    r"|^no$|^(?:and |but )?no (?!problem|worr|need|rush|charge|fee|doubt|trouble)\w+(?: \w+)?(?: in | on "
    r"| from | yet|$)"
)
#: "If you can't find him" says nothing of what the assistant knows.
_CONDITION: Final = re.compile(r"^(?:and |but )?(?:if|when|once|unless|in case|don't|do not)\b")
_ASKS: Final = re.compile(
    r"\b(?:what|which|who|whose|when|where)(?:'s)?\b(?! else)|\bhow (?:old|long|wide|much|many|far|big"
    r"|tall|high|late|early|is|was)\b"
    r"|\b(?:can|could|would|will) you\b.{0,20}\b(?:tell|give|send|remind|share)\b"
)
#: Where the user may find it: such a clause may name what is new.
_ADVISES: Final = re.compile(
    r"\b(?:ask|check|look|search|try|ring|call|contact|send|forward|tell|give|lists?|page|website|site"
    r"|app|receipt"
    r"|(?:on|in) your|if you|find)\b"
)
_GUESSES: Final = re.compile(
    r"\b(?:probably|presumably|most likely|perhaps|maybe|i(?:'d| would)? (?:guess|assume|bet)"
    r"|my (?:best )?guess"
    r"|must have been|i(?:'ve| have)? (?:went with|gone with|picked|chose|chosen|took|ordered|used"
    r"|assumed))\b"
)
_NUMBER: Final = re.compile(rf"\d+|\b(?:{NUMBER_WORD})\b")
_LIST_MARK: Final = re.compile(r"^\s*\d+[.)]\s+")
#: Numbers that mean no value: one and two as words are articles, too, and 00 stands behind a full hour.
_NO_VALUE: Final = frozenset((0, 1, 2))
#: The fewest words that are a quote of the user: "I don't know" is anybody's.
_QUOTED_WORDS: Final = 4


def without_quotes(text: str, said: list[str]) -> str:
    """Return a reply without the messages, sentences and clauses of the user that it only quotes."""
    cuts = (lambda message: [message], SENTENCE_END.split, _CLAUSE_END.split)
    pieces = {tuple(piece.split()) for message in said for cut in cuts for piece in cut(message)}
    for words in sorted(pieces, key=len, reverse=True):
        if len(words) >= _QUOTED_WORDS:
            quoted = r"\s+".join(map(re.escape, words))
            text = re.sub(rf"(?<!\w){quoted}(?!\w)[?!.]*", ".", text, flags=re.IGNORECASE)
    return text


def admits(text: str) -> bool:
    """True if the text says that something is not known, or asks for it."""
    return any(_admitting(clause) or (asked and _ASKS.search(clause)) for clause, _, asked in _clauses(text))


def made_up(text: str, known: str) -> str | None:
    """Return the first clause that states a guess, or a name or number that `known` has not, or None."""
    words, numbers = frozenset(stems(known)), _numbers(known)
    for clause, capitals, asked in _clauses(text):
        if asked or _admitting(clause) or _ADVISES.search(clause):
            continue
        if (
            (_GUESSES.search(clause) and not re.search(_NO, clause))
            or any(not words.issuperset(stems(name)) for name in capitals)
            or any(is_day_word(word) and not words.issuperset(stems(word)) for word in clause.split())
            or _numbers(clause) - numbers
        ):
            return clause
    return None


def _admitting(clause: str) -> bool:
    return bool(not _CONDITION.search(clause) and _ADMITS.search(clause))


def _clauses(text: str) -> list[tuple[str, frozenset[str], bool]]:
    """Return each clause, folded, with its names, and whether it ends a question."""
    found = []
    for sentence in SENTENCE_END.split(text):
        # A short word in capitals is no name: PSN, PB, TV.
        capitals = {
            name
            for name in names(sentence)
            if not is_day_word(name) and not re.search(rf"\b{re.escape(name.upper())}\b", sentence)
        }
        clauses = [
            c.strip() for c in _CLAUSE_END.split(fold(_LIST_MARK.sub("", sentence))) if c and c.strip()
        ]
        for place, clause in enumerate(clauses, 1):
            asked = place == len(clauses) and sentence.rstrip("\"\u201d\u2019' ").endswith("?")
            found.append((clause, frozenset(n for n in capitals if fold(n) in clause), asked))
    return found


def _numbers(text: str) -> frozenset[int]:
    return frozenset(number(found) for found in _NUMBER.findall(fold(text))) - _NO_VALUE
