"""Finds values in texts, in all the ways in which they may be written, and whether a text uses one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field, model_validator

from pytest_personalens.agents.embedded.reader.text import STOPWORDS, content, fold, stem
from pytest_personalens.core.frozen import Frozen, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: Between the ways to write a value.
_OR: Final = "|"


class Value(Frozen):
    """A value in all the ways in which it may be written; a file has ``oat milk | oatmilk``."""

    ways: tuple[Text, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if not isinstance(data, str):
            return data
        ways = tuple(way.strip() for way in data.split(_OR))
        if not all(ways):
            raise ValueError(f"expected a value, such as 'oat milk {_OR} oatmilk', not {data!r}")
        return {"ways": ways}

    def __str__(self) -> str:
        return self.ways[0]


#: Before a value that is named, and not used: "no longer whole milk", "instead of the bus".
_PUT_ASIDE: Final = re.compile(
    r"(?:\b(?:no|not|never|nothing|without|nor|avoid\w*|skip\w*|instead of|rather than|than|from|used to"
    r"|leave out"
    r"|left out|free of|drop(?:ped)?|cancel\w*|gave up|given up|(?:went|gone|going) off|enough|stopp\w+"
    r"|quit|delet\w+"
    r"|replac\w+)\b|n't\b)[^,.;:!?\n]{0,30}$"
)
_PUT_ASIDE_BEHIND: Final = re.compile(
    r"^(?:-free\b|[^,.;:!?\n]{0,12}\b(?:any ?more|no longer|i (?:left|skipped|dropped)|(?:won't|doesn't"
    r"|didn't) (?:fit|suit|work))\b)"
)
#: "left the tuna out": a verb before the value, and a word behind it.
_LEFT: Final = re.compile(r"\b(?:left|leave|leaving|kept|keep|took|take)\b[^,.;:!?\n]{0,20}$")
_OUT: Final = re.compile(r"^[^,.;:!?\n]{0,12}\b(?:out|off|away|aside|alone)\b")
#: Before a right value that is known, and not used: "you like the window, but", "if you hold a railcard".
_CONCEDED: Final = re.compile(r"\b(?:even though|although|though|despite|if|unless)\b[^,.;:!?\n]*$")
_SAID: Final = re.compile(
    r"\b(?:you(?: once)? (?:mentioned|said|told me|asked for|wanted|like|prefer)|i asked for"
    r"|i know you)\b[^.!?\n]*$"
)
_YET: Final = re.compile(r"^[^.!?\n]*\b(?:but|however|though|yet)\b")
_EITHER: Final = re.compile(r"\bor\b")
_RELATIVE: Final = (
    r"(?:(?:step|grand|god)?(?:mother|father|brother|sister|son|daughter|mum|mom|dad|ma|niece|nephew"
    r"|cousin|aunt|uncle)"
    r"|husband|wife|partner|girlfriend|boyfriend|fianc[eé]e?|friend|neighbour|flatmate)"
)
_DOES: Final = (
    "is|has|had|takes?|wants|likes|eats|needs|sleeps|prefers|flies|gets|uses|hears|plays|would|wouldn't|who"
)
_OWN: Final = re.compile(rf"\b(?:i|me|mine|myself|my(?! {_RELATIVE}\b))\b", re.IGNORECASE)
_THEIRS: Final = re.compile(
    rf"\b(?:[Hh]er?s?|[Hh]i[ms]|[Ss]he|[Tt]heirs?|[Tt]hey|[Mm]y {_RELATIVE}|for [^\W\d_a-z]\w+)\b"
    rf"|\b[^\W\d_a-z]\w+ (?:{_DOES})\b"
)
#: "Tom, who is vegetarian, not you": what belongs to the clause before.
_JOINED: Final = re.compile(r",\s+(?=(?:who|not (?:you|yours))\b)")
_YOURS: Final = re.compile(rf"\b(?:you|yours|your(?! {_RELATIVE}\b))\b")
_CLAUSE: Final = re.compile(r"[;:!?()\n]+|[,.](?=\s|$)")
_TOLD_AGAIN: Final = re.compile(
    r"\b(?:i (?:know|remember|recall) (?:that )?you|you(?: once|'ve| have)? (?:mentioned|told me)"
    r"|as (?:someone|somebody) who)\b"
)
#: In a sentence that names a false belief to correct it: whose it was, that it is none, or what it is beside.
#: "As you said" goes by it.
_CORRECTS: Final = re.compile(
    r"(?<!as )(?<!where )(?<!like )\byou(?:'d|'ve| had| have| once| always)* (?:had|thought|believed|said|put"
    r"|told|mentioned|remembered|learned|counted|heard|assumed|wrote|called)\b"
    r"|\b(?:myth|mistake\w*|mix(?:ed)?(?:-| )up|misconception|wrong|(?:old|wives') tale|legend|contrary"
    r"|confus\w*|actually|belie(?:f|ves?)|(?:people|many) (?:think|say)|not quite|in fact|rumou?r|forget"
    r"|ignore|leave|whereas|while|unlike|before)\b"
)
#: In a sentence that goes by a false belief although the truth was named before: "70 to 80", "fine at 80".
_GOES_BY: Final = re.compile(
    r"\b(?:then|also|or|too|fine|still|safe\w*|(?:can|may|might|could) be|at least|just in case|rather|better"
    r"|instead|as (?:you|well)|depend\w*|go with|stick (?:with|to))\b"
)
#: A hint at what is known of the user, or at what is kept back, without its name.
_HINTS: Final = re.compile(
    r"\b(?:you know (?:how|why|what|which)|needn't tell you|don't need me to tell|better not ask"
    r"|as far as you(?:'re| are) concerned|more (?:right"
    r"|reason) than most|(?:people|someone|somebody|those) like you|in your (?:case|situation|condition"
    r"|position)|you of all|of all people|lips are sealed|all (?:that )?i'm saying|say(?:ing)? (?:nothing|no"
    r" more)|leave (?:it at that|that (?:story|part|bit))|talk about (?:that|it|the rest|the other)\b[^.]*"
    r"\b(?:later|when|alone)|let's say|between (?:us|you and me)|won't (?:go into|mention)"
    r"|(?:her|him|them)self on"
    r"|keep (?:that|it|the rest) (?:to|for|between|private|quiet))\b"
)
#: Days and numbers, which all sessions share.
_COMMON: Final = re.compile(
    r"\d+\w*|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
)


def first_way(value: Value, text: str) -> str | None:
    """Return the words by which the text names the value, or None."""
    match = _pattern(value.ways).search(fold(text))
    return None if match is None else match[0]


def used_way(value: Value, text: str) -> str | None:
    """Return the words by which the text uses the value, or None if it says only that it is not used."""
    for before, words, behind in _places(value, text):
        left_out = _LEFT.search(before) and _OUT.search(behind)
        if not (left_out or _PUT_ASIDE_BEHIND.search(behind) or _PUT_ASIDE.search(before)):
            return words
    return None


def known_way(value: Value, text: str) -> str | None:
    """Return the words by which the text goes by the value, or None if it goes by another or only asks."""
    for before, words, behind in _places(value, text):
        conceded = _CONCEDED.search(before) or (_SAID.search(before) and _YET.search(behind))
        if not conceded and not (text.rstrip().endswith("?") and _EITHER.search(before + behind)):
            return words
    return None


def true_way(value: Value, text: str) -> str | None:
    """Return the words by which the text gives the value as true, or None if it only mentions it."""
    return used_way(value, text) and known_way(value, text)


def believed_way(value: Value, text: str, *, truth_first: bool) -> str | None:
    """Return the words by which a sentence goes by a false belief, or None if it names that to correct it.

    Where the truth was told first, it goes by the belief only if it leaves room for both.
    """
    folded = fold(text)
    if _CORRECTS.search(folded) or (truth_first and not _GOES_BY.search(folded)):
        return None
    return used_way(value, text)


def is_first(values: Iterable[Value], others: Iterable[Value], text: str) -> bool:
    """True if the text names one of the values before it names any of the others."""
    begins = [
        min((len(before) for v in group for before, _, _ in _places(v, text)), default=len(text))
        for group in (values, others)
    ]
    return begins[0] < begins[1]


def owned_way(value: Value, told: Iterable[str], text: str) -> str | None:
    """Return the words by which the text gives the value to anybody but the one of whom it was `told`.

    "Tofu is for Con" is right if the user said that Con eats tofu, and "yours is 39" if the user wears a 39.
    """
    owner = _owner(value, told)
    for before, words, behind in _places(value, _JOINED.sub(" ", text)):
        clause = _CLAUSE.split(before)[-1] + words + _CLAUSE.split(behind)[0]
        if not owner.search(clause) and used_way(value, clause) is not None:
            return words
    return None


def tells_again(earlier: str, last: str, text: str) -> str | None:
    """Return the words by which the text speaks of what the user said in an earlier session, or None."""
    folded = fold(text)
    if (found := _TOLD_AGAIN.search(folded) or _HINTS.search(folded)) is not None:
        return found[0]
    said = content(earlier) - content(last)
    for found in re.finditer(r"\byour(?: \w+)? (\w+)", folded):
        if any(stem(word) in said for word in found[0].split()[1:]):
            return found[0]
    return None


def hint(text: str) -> str | None:
    """Return the words by which the text hints at what it does not name, or None."""
    found = _HINTS.search(fold(text))
    return None if found is None else found[0]


def private_words(
    told: Iterable[str], last: str, wrong: Iterable[Value], right: Iterable[Value]
) -> frozenset[str]:
    """Return the stems that the user said only beside a wrong value, in the same clause."""
    beside, elsewhere = set[str](), set(content(last))
    values = tuple(wrong)
    for clause in (clause for text in told for clause in _CLAUSE.split(text)):
        (beside if any(first_way(v, clause) for v in values) else elsewhere).update(content(clause))
    elsewhere.update(stem for value in right for way in value.ways for stem in content(way))
    return frozenset(stem for stem in beside - elsewhere if not _COMMON.fullmatch(stem))


def _places(value: Value, text: str) -> Iterator[tuple[str, str, str]]:
    folded = fold(text)
    for match in _pattern(value.ways).finditer(folded):
        yield folded[: match.start()], match[0], folded[match.end() :]


def _owner(value: Value, told: Iterable[str]) -> re.Pattern[str]:
    """Return what stands for the one of whom the value was told: "you", or names and relatives beside it."""
    for text in told:
        if first_way(value, text) is None:
            continue
        around = [*_CLAUSE.split(text), *re.split(r"[.!?]+(?=\s|$)", text)]
        pieces = (piece for piece in around if first_way(value, piece))
        nearest = next((piece for piece in pieces if _OWN.search(piece) or _THEIRS.search(piece)), "")
        if _OWN.search(nearest):
            return _YOURS
        capitals = map(fold, re.findall(r"\b[^\W\d_a-z]\w{2,}", text))
        names = "|".join(re.escape(name) for name in capitals if name not in STOPWORDS)
        who = rf"(?:{names}|{_RELATIVE})" if names else _RELATIVE
        return re.compile(
            rf"\b{who}'s?\b|\bfor (?:your )?{who}\b|\b{who} (?:{_DOES})\b|\bnot (?:you|yours)\b"
        )
    return _YOURS


@lru_cache(maxsize=4096)
def _pattern(ways: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted((fold(way) for way in ways), key=len, reverse=True)
    words = "|".join(r"\s+".join(map(re.escape, way.split())) for way in longest_first)
    return re.compile(rf"(?<!\w)(?:{words})(?:s|es)?(?!\w)")
