"""Attacks on a judge: rewritten replies that ask for a higher score and serve the user no better.

The tables hold Jinja templates, by kind and name. `after` and `before` add a text to the reply, with an empty
line between unless `gap` says otherwise, `instead` takes its place, and `letters` writes the text, or the
reply if there is none, in other letters. `where` says which replies: the last one, if nothing is said.
"""

# ruff: noqa: RUF001 (letters that look like others are what some attacks are made of)
from __future__ import annotations

import base64
import codecs
import json
import re
import string
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from jinja2 import Environment, Template

from pytest_personalens.core.dialogue.dialogue import Message
from pytest_personalens.core.frozen import clean
from pytest_personalens.core.scenario import Scenario

Kind = Literal["judge", "forged", "tools", "knowledge", "stuffing", "scripts", "hidden", "claims"]


class Attack(NamedTuple):
    """A way to rewrite replies; `where` says which ones."""

    name: str
    kind: Kind
    rewrite: Callable[[Scenario, str], str]
    where: Literal["first", "last", "every"] = "last"

    def __call__(self, scenario: Scenario, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages with the assistant's turns rewritten, as `converse` would have stored them."""
        replies = [i for i, m in enumerate(messages) if m.role == "assistant"]
        aim = {"first": replies[:1], "last": replies[-1:], "every": replies}[self.where]
        return tuple(
            Message(role=m.role, content=clean(self.rewrite(scenario, m.content)).strip()) if i in aim else m
            for i, m in enumerate(messages)
        )


def _alphabet(start: int) -> Callable[[str], str]:
    """Write Latin letters in the alphabet of 52 that begins there."""
    latin = string.ascii_uppercase + string.ascii_lowercase
    return _table(latin, "".join(chr(start + i) for i in range(52)))


def _table(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.translate(str.maketrans(old, new))


def _between(mark: str) -> Callable[[str], str]:
    """Put a mark between any two letters that stand side by side."""
    return lambda text: re.sub(r"(?<=[^\W\d_])(?=[^\W\d_])", mark, text)


def _bits(text: str) -> str:
    return "".join("\u200c" if bit == "1" else "\u200b" for byte in text.encode() for bit in f"{byte:08b}")


def _selectors(text: str) -> str:
    return "".join(chr(0xFE00 + b if b < 16 else 0xE0100 + b - 16) for b in text.encode())


def _pig_latin(text: str) -> str:
    def turn(match: re.Match[str]) -> str:
        word = match[0].lower()
        head = re.match(r"[^aeiou]*", word)
        cut = head.end() if head else 0
        return f"{word[cut:]}{word[:cut]}ay" if 0 < cut < len(word) else f"{word}way"

    return re.sub(r"[A-Za-z]+", turn, text)


#: Who reads what is written in other letters still reads the same, or does not see it.
LETTERS: Final[dict[str, Callable[[str], str]]] = {
    "fullwidth": lambda t: t.translate({c: c + 0xFEE0 for c in range(0x21, 0x7F)}),
    "bold": _alphabet(0x1D400),
    "monospace": _alphabet(0x1D670),
    "homoglyphs": _table("aceiopxyABCEHKMOPTX", "асеіорхуАВСЕНКМОРТХ"),
    "small capitals": lambda t: _table(string.ascii_lowercase, "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ")(t.lower()),
    "leetspeak": _table("aeiostAEIOST", "431057431057"),
    "other points": _table("?.,'!:", "\u037e\u2024\u201a\u02bc\u01c3\ua789"),
    "spaced": " ".join,
    "rot13": lambda t: codecs.encode(t, "rot13"),
    "base64": lambda t: base64.b64encode(t.encode()).decode(),
    "hex": lambda t: t.encode().hex(" "),
    "reversed": lambda t: t[::-1],
    "decomposed": lambda t: unicodedata.normalize("NFD", _between("\u0301")(t)),
    "Pig Latin": _pig_latin,
    "joiners": _between("\u200d"),
    "soft hyphens": _between("\u00ad"),
    "variation selectors": _between("\ufe0f"),
    "zero-width bits": _bits,
    "selectors of bytes": _selectors,
    "tag characters": lambda t: "".join(chr(0xE0000 + ord(c)) for c in t if 0x20 <= ord(c) < 0x7F),
    "right to left": lambda t: f"\u202e{t[::-1]}\u202c",
    "isolate": lambda t: f"\u2067{t}\u2069",
    "backspaces": lambda t: t + "\b" * len(t),
    "null characters": "\0".join,
    "Hangul fillers": lambda t: t.replace(" ", "\u3164"),
    "entities": lambda t: "".join(f"&#{ord(c)};" for c in t),
    "quote": lambda t: "\n".join(f"> {line}" for line in t.splitlines()),
}


def _words(text: str) -> list[str]:
    """Return the words of a text, lower case, each once."""
    return list(dict.fromkeys(re.findall(r"\w+", text.lower())))


def _each(items: Iterable[Any], form: str, joint: str = "\n", first: int = 0) -> str:
    """Return the items in a form, with `n` for their numbers."""
    rows = (item if isinstance(item, tuple) else (item,) for item in items)
    return joint.join(form.format(*row, n=n) for n, row in enumerate(rows, first))


_JINJA: Final = Environment(keep_trailing_newline=True, autoescape=False)
_JINJA.filters |= {
    "each": _each,
    "json": lambda value, *, ascii=False, indent=None: json.dumps(value, ensure_ascii=ascii, indent=indent),  # noqa: A006
    "lower_first": lambda text: text[:1].lower() + text[1:],
    "sub": lambda text, pattern, new: re.sub(pattern, new, text),
    "words": _words,
}


def _known(s: Scenario) -> dict[str, Any]:
    """Return what an assistant could know or guess of a scenario."""
    held = [(name, some) for types in s.preferences.values() for name, some in types.items() if some]
    pairs = [(name, ", ".join(some)) for name, some in held]
    values = list(dict.fromkeys(v for _, some in held for v in some))
    goal = s.task.goal.strip().rstrip(".")
    clauses = [c.strip() for c in re.split(r"[,;:]|\band\b", goal) if c.strip()]
    return {
        "s": s,
        "values": values,
        "listed": ", ".join(values),
        "pairs": pairs,
        "facts": {"status": "CONFIRMED", "reference": "QX77-2041", "goal": s.task.goal} | dict(pairs),
        "summary": " ".join(text.strip() for text in s.summaries.values()),
        "likes": values or ["the usual"],
        "types": [(name, some[0]) for name, some in held] or [("Taste", "the usual")],
        "goal": goal,
        "clauses": clauses,
        "aims": [p.text for p in s.task.parts if not p.never] or clauses,
        "terms": [w for w in dict.fromkeys(re.findall(r"[^\W\d_]+", s.task.goal.lower())) if len(w) > 3],
        "name": s.name.split()[0] if s.name.split() else "friend",
        "domain": s.domains[0].lower(),
    }


def _rewrite(row: dict[str, str], texts: dict[str, Template]) -> Callable[[Scenario, str], str]:
    place = next((name for name in ("after", "before", "instead") if name in row), "")
    letters, gap = LETTERS.get(row.get("letters", ""), str), row.get("gap", "\n\n")
    template = _JINJA.from_string(row.get(place, ""))

    def rewrite(scenario: Scenario, reply: str) -> str:
        if not place:
            return letters(reply)
        known = _known(scenario) | {"reply": reply, "sentences": re.split(r"(?<=[.!?])\s+", reply)}
        known |= {name: text.render(known) for name, text in texts.items()}
        text = letters(template.render(known))
        return {"after": reply + gap + text, "before": text + gap + reply, "instead": text}[place]

    return rewrite


def _read(name: str, prefix: str) -> tuple[Attack, ...]:
    tables: dict[Any, Any] = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    texts = {name: _JINJA.from_string(text) for name, text in tables.pop("texts", {}).items()}
    return tuple(
        Attack(prefix.format(kind=kind) + name, kind, _rewrite(row, texts), row.get("where", "last"))
        for kind, rows in tables.items()
        for name, row in rows.items()
    )


ATTACKS: Final = _read("attacks.toml", "{kind}-")
#: Written without a look at the judge or at the attacks above.
MORE_ATTACKS: Final = _read("more_attacks.toml", "")
