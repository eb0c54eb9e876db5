"""The words of the requests.

Texts of others are written as lines that they cannot end themselves.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.frozen import clean
from pytest_personalens.core.runtime.once import once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.suites.personaconv.values import ProtocolName

_FOLDER: Final = Path(__file__).parent / "templates"
_FIELD: Final = re.compile(r"\$\w+")
#: Characters that JSON does not escape, and that some programs take for the end of a line.
_LINE_ENDS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")


class Words:
    """The template of a protocol: part -> variant -> text with fields."""

    def __init__(self, parts: dict[str, dict[str, str]], digest: str) -> None:
        self._parts, self.digest = parts, digest

    def fill(self, part: str, variant: str = "any", **fields: object) -> str:
        """Return the part's text for a variant, with its fields filled in.

        A variant without a text has the text of "any".
        """
        texts = self._parts[part]
        template = Template(texts.get(variant, texts.get("any", "")))
        return template.substitute({name: clean(str(value)) for name, value in fields.items()})

    def part_of(self, paragraph: str) -> str:
        """Return the part that begins like a paragraph of a request; empty text if there is none."""
        for part, texts in self._parts.items():
            if any(_opens(paragraph, text) for text in texts.values()):
                return part
        return ""


@once
def words_of(protocol: ProtocolName) -> Words:
    """Return the template of the protocol, with its digest."""
    content = (_FOLDER / f"{protocol}.toml").read_bytes()
    return Words(tomllib.loads(content.decode("utf-8")), hashlib.sha256(content).hexdigest()[:12])


def lines(values: Iterable[object]) -> str:
    """Return each value as one line of JSON, for any content of its texts."""
    return "\n".join(_line(value) for value in values)


def _opens(paragraph: str, template: str) -> bool:
    """True if the paragraph begins with the words before the first field, or with one field and words."""
    first, *others = _FIELD.split(template)
    if first:
        return paragraph.startswith(first)
    words = others[0].partition("\n")[0] if others else ""
    field, found, _ = paragraph.partition(words or "\0")
    return bool(found) and " " not in field


def _line(value: object) -> str:
    text = clean(json.dumps(value, ensure_ascii=False))
    return _LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text)
