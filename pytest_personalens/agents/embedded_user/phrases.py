"""The phrase bank, and a speaker who draws from it without saying a sentence twice."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_personalens.agents.embedded_user.style import upper_first
from pytest_personalens.agents.language.text import fold, sentences
from pytest_personalens.core.once import once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.agents.embedded_user.style import Manner


class SpeechlessError(Exception):
    """Every way to say it has been used."""


@once
def _banks() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8"))


def phrases_for(bank: str, manner: Manner) -> list[str]:
    """The phrases of an occasion for a manner of speaking."""
    phrases = _banks()[bank]
    return [*phrases.get(manner, []), *phrases.get("any", [])]


def drawn_number(*key: str) -> int:
    """A number drawn from `key`, the same on every machine."""
    return int.from_bytes(
        hashlib.sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).digest()[:4], "big"
    )


def folded(text: str) -> frozenset[str]:
    """The sentences of `text` in the form in which they are compared."""
    return frozenset(fold(s).strip(" .!?;") for s in sentences(text))


class Speaker:
    """Chooses the wording by the digest of `key`, in the person's manner, from what has not been said."""

    def __init__(self, key: str, manner: Manner, said: Iterable[str]) -> None:
        self.key, self.manner = key, manner
        self.said = set(said)

    def say(self, bank: str, **values: str) -> str:
        """A phrase of `bank`, filled in; each value also with a capital, under its name's capital.

        Raises `SpeechlessError`.
        """
        filled = values | {
            name.upper(): upper_first(value) for name, value in values.items() if len(name) == 1
        }
        choices = phrases_for(bank, self.manner)
        start = drawn_number(self.key, bank, str(len(self.said)))
        for i in range(len(choices)):
            text = upper_first(choices[(start + i) % len(choices)].format(**filled))
            new = folded(text)
            if new.isdisjoint(self.said):
                self.said |= new
                return text
        raise SpeechlessError(bank)
