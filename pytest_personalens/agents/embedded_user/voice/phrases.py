"""The phrase bank, and a speaker who never says a sentence twice."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.voice.style import upper_first
from pytest_personalens.agents.language.text import fold, sentences
from pytest_personalens.core.runtime.once import once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.agents.embedded_user.voice.style import Manner


class SpeechlessError(Exception):
    """The user has said every phrase of a bank."""


#: With so many phrases of its own, a manner needs none of those for everybody.
_ENOUGH: Final = 4


@once
def banks() -> dict[str, dict[str, list[str]]]:
    """Return the phrases of each occasion by the manner of speaking.

    A list of beginnings (``any_first``) and one of endings (``any_second``) make a phrase of each pair.
    """
    read = tomllib.loads((Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8"))
    for lists in read.values():
        for name in [n for n in lists if n.endswith("_first")]:
            manner = name.removesuffix("_first")
            endings = lists.pop(f"{manner}_second")
            pairs = [f"{first} {second}" for first in lists.pop(name) for second in endings]
            lists[manner] = [*lists.get(manner, []), *pairs]
    return read


def phrases_for(bank: str, manner: Manner) -> list[str]:
    """Return the phrases of an occasion for a manner of speaking."""
    phrases = banks()[bank]
    own = phrases.get(manner, [])
    return own if manner == "simple" and len(own) >= _ENOUGH else [*own, *phrases.get("any", [])]


def drawn_number(*key: str) -> int:
    """Return a number drawn from `key`, the same on every machine."""
    return int.from_bytes(
        hashlib.sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).digest()[:4], "big"
    )


def folded(text: str) -> frozenset[str]:
    """Return the sentences of `text` in the form in which they are compared."""
    return frozenset(fold(s).strip(" .!?;") for s in sentences(text))


class Speaker:
    """A speaker who chooses phrases in the person's manner.

    The digest of `key` chooses among the phrases that the user has not said yet.
    """

    def __init__(self, key: str, manner: Manner, said: Iterable[str]) -> None:
        self.key, self.manner = key, manner
        self.said = set(said)

    def say(self, bank: str, without: re.Pattern[str] | None = None, /, **values: str) -> str:
        """Return a phrase of `bank` with its values filled in, and one in which `without` finds nothing.

        Each value with a name of one letter is also available with a capital, under its name in upper case.
        Raise `SpeechlessError` if every phrase has been said.
        """
        filled = values | {
            name.upper(): upper_first(value) for name, value in values.items() if len(name) == 1
        }
        choices = [p for p in phrases_for(bank, self.manner) if not (without and without.search(p))]
        start = drawn_number(self.key, bank, str(len(self.said)))
        for i in range(len(choices)):
            text = upper_first(choices[(start + i) % len(choices)].format(**filled))
            new = folded(text)
            if new.isdisjoint(self.said):
                self.said |= new
                return text
        raise SpeechlessError(bank)
