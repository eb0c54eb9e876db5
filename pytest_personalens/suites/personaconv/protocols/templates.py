"""The words of the requests. Texts of others are written as lines that they cannot end themselves."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.frozen import clean
from pytest_personalens.core.runtime import once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.suites.personaconv.values import ProtocolName

_FOLDER: Final = Path(__file__).parent / "templates"
_FIELD: Final = re.compile(r"\$\w+")
#: Characters that JSON does not escape, and that some programs take for the end of a line.
_LINE_ENDS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")


class RequestTemplate:
    """The words of a protocol's requests: part -> variant -> text with fields."""

    def __init__(self, parts: dict[str, dict[str, str]], digest: str) -> None:
        self._parts, self.digest = parts, digest

    def fill(self, part: str, variant: str = "any", **fields: object) -> str:
        """Return the part's text for a variant, or else for "any", with its fields filled in."""
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
def template_of(protocol: ProtocolName) -> RequestTemplate:
    """Return the template of the protocol, with its digest."""
    content = (_FOLDER / f"{protocol}.toml").read_bytes()
    return RequestTemplate(tomllib.loads(content.decode("utf-8")), hashlib.sha256(content).hexdigest()[:12])


def lines(values: Iterable[object]) -> str:
    """Return each value as one line of JSON, for any content of its texts."""
    texts = (clean(json.dumps(value, ensure_ascii=False)) for value in values)
    return "\n".join(_LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text) for text in texts)


def _opens(paragraph: str, template: str) -> bool:
    """True if the paragraph begins with the words before the first field, or with one field and words."""
    first, *others = _FIELD.split(template)
    if first:
        return paragraph.startswith(first)
    words = others[0].partition("\n")[0] if others else ""
    field, found, _ = paragraph.partition(words or "\0")
    return bool(found) and " " not in field
