"""The words of the requests, and texts of others as lines that no text can close."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.once import once
from pytest_personalens.core.scenario import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.suites.personaconv.values import ProtocolName

_FOLDER: Final = Path(__file__).parent / "templates"
#: What JSON leaves as it is, and some programs take for the end of a line.
_LINE_ENDS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")


class Words:
    """The template of a protocol: part -> variant -> text with fields."""

    def __init__(self, parts: dict[str, dict[str, str]], digest: str) -> None:
        self._parts, self.digest = parts, digest

    def fill(self, part: str, variant: str = "any", **fields: object) -> str:
        """The part's text for a variant, or for any, with its fields filled in."""
        texts = self._parts[part]
        template = Template(texts.get(variant, texts.get("any", "")))
        return template.substitute({name: clean(str(value)) for name, value in fields.items()})


@once
def words_of(protocol: ProtocolName) -> Words:
    """The template of the protocol, with a digest of it."""
    content = (_FOLDER / f"{protocol}.toml").read_bytes()
    return Words(tomllib.loads(content.decode("utf-8")), hashlib.sha256(content).hexdigest()[:12])


def lines(values: Iterable[object]) -> str:
    """Each value as one line of JSON, whatever its texts hold."""
    return "\n".join(_line(value) for value in values)


def _line(value: object) -> str:
    text = clean(json.dumps(value, ensure_ascii=False))
    return _LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text)
