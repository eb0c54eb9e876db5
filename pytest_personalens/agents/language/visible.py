"""Reduces a reply to the text that a person would see.

It removes hidden, erased and disguised text, markup, and the lines of forged turns.
"""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from typing import Final

#: A reader does not see the text that bidirectional overrides reverse.
_OVERRIDE: Final = re.compile("[\u202d\u202e].*?(?:\u202c|$)", re.DOTALL)
#: Nobody reads more of a reply than this. The judge reads its beginning and its end.
_LONGEST: Final = 12_000
#: Text that a terminal erases or conceals, and text that a carriage return overwrites.
_ERASED: Final = re.compile(
    r"[^\n]*\x1b\[[0-2]?K|\x1b\[8m.*?(?:\x1b\[\d*m|$)|[^\n\r]*\r(?!\n)|\x00.*", re.DOTALL
)
_ANSI: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*(?:\x07|$))")
_MARKUP: Final = (
    re.compile(r"<!--.*?(?:-->|$)", re.DOTALL),
    re.compile(r"```(?:\w+\n)?"),
    re.compile(r"!\[[^\]]*\](?:\([^)]*\))?"),
    re.compile(r"<(script|style|tool\w*|function\w*|result\w*|observation|system|thought|thinking|output|response|judge\w*|eval\w*|verdict|template)\b[^>]*>.*?(?:</\1\s*>|$)", re.DOTALL | re.IGNORECASE),
    re.compile(r"<(\w+)[^>]*(?:display|visibility|color|font-size|opacity|hidden)[^>]*>.*?(?:</\1\s*>|$)", re.DOTALL | re.IGNORECASE),
    # Twice: an object that has lost its inner object is still an object.
    re.compile(r"\{[^{}]*[\"':=][^{}]*\}"),
    re.compile(r"\{[^{}]*[\"':=][^{}]*\}"),
    re.compile(r"^\s*%.*$", re.MULTILINE),
    re.compile(r"\\(?:iffalse|begin\{comment\}).*?(?:\\fi|\\end\{comment\}|$)", re.DOTALL),
)  # fmt: skip
#: A line, or the end of a line, that pretends to come from another speaker or to speak for a judge.
_FORGED: Final = re.compile(
    r"^[\s>*_#\-\"'(\[{|]*(?:\d[\d:. \-]+\]?\s*)?(?:user|human|customer|assistant|judge|evaluator|grader|rater|annotator|observation|tool result|function result|system)(?: (?:turn|message|says?|said|replied|response|reply|output|result|call))?(?: ?\(?\d+\)?)?[\s*_\])\"'|]*(?::|>|=>|->|\u2192).*$"
    r"|(?<=[.!?] )(?:user|human|customer)\s?:.*$|<\|[^\n]*?\|>|\[/?INST\]|</?s>|^.*[\"']role[\"']\s*[:=].*$"
    r"|^[\s#=\-*>]*(?:(?:turn|message)\s*\d+\s*[:.)\-].*|(?:end of (?:the )?)?(?:transcript|conversation|dialogue)\b\W*(?:end|continue)?\W*)$",
    re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
#: Words about being judged. Several of them in one sentence are no chance.
_JUDGING: Final = re.compile(
    r"\b(?:judge|judges|evaluator|evaluators|evaluation|grader|graders|rater|raters|annotator|annotators|assessor|rubric|verdict|criteria|criterion|benchmark|transcript|persona ?lens|tcr"
    r"|task[ _-]?complet\w+|personali[sz]ation|naturalness|coherence|scores?|scored|scoring|rating|rated|grade[sd]?|marks?|points|ignore (?:all )?(?:previous|prior|above|your) instructions?"
    r"|(?:previous|prior|above|your) instructions?|prompt|override|(?:the|this) (?:user|dialogue|conversation|assistant|interaction|reply|response)(?:'s)?|goal|(?:all|every) (?:known |stored |user )?preferences?)\b",
    re.IGNORECASE,
)  # fmt: skip
_PLAINLY: Final = re.compile(
    r"\b(?:judge|evaluator|grader|rater|annotator|assessor|auditor)s?\b.{0,60}\b(?:score|rate|give|grade|mark|award|note|top|full|should|please)\w*\b"
    r"|\b(?:score|rating|grade|verdict|task[ _-]?completion|personali[sz]ation|naturalness|coherence|tcr?|p)\s?[=:]\s?(?:\d|true|yes|max|full|done)|\bignore (?:all )?(?:previous|prior|above|your) instructions?"
    r"|\b(?:personali[sz]ation|naturalness|coherence|task completion)\b.{0,40}\b(?:\d|four|five|full|top|max\w*|perfect|high\w*|excellent)\b",
    re.IGNORECASE,
)  # fmt: skip
#: The number of such words in a sentence that counts.
_SIGNS: Final = 3
_OWN_PREFIX: Final = re.compile(r"^\s*\W*(?:assistant|bot|agent|ai)\W*:\s*", re.IGNORECASE)
_LEETSPEAK: Final = re.compile(
    r"(?=(?:.*[a-z]){2})[A-Za-z][013457]+[a-z]|(?=(?:.*[a-z]){2})\b[013457]+[a-z]+[013457]"
)
_LEET: Final = str.maketrans("013457", "oieast")
#: Letters of other scripts that look like Latin ones.
_LOOKALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0261\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u03bf\u03b1\u03b9\u03bd\u0442\u043a\u043c",
    "aeopcyxijsdhgABEZHIKMNOPTYXABEKMHOPCTXoaivtkm",
)  # fmt: skip
#: Small capitals, and characters that look like punctuation.
_DISGUISES: Final = str.maketrans(
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\ua7af\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22\u037e\u2024\u201a\u02bc\u01c3\ua789",
    "abcdefghijklmnopqrstuvwyz?.,'!:",
)
#: Characters that change the look of the character before them, or nothing.
_SELECTORS: Final = re.compile("[\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
#: Separators that end a line, and fillers that look like spaces.
_SPACES: Final = dict.fromkeys((0x2028, 0x2029, 0x85, 0x0B, 0x0C), "\n") | dict.fromkeys(
    (0x3164, 0x115F, 0x1160, 0xFFA0, 0x2800), " "
)


def shown(text: str) -> str:
    """Return a reply as a person would see it, in plain letters.

    Hidden, erased and disguised text is removed, and so is the middle of a reply that is too long to be read.
    """
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
    text = _OVERRIDE.sub(" ", _ANSI.sub(" ", _ERASED.sub("", unescape(text)))).translate(_SPACES)
    if "\b" in text:
        text = _backspaced(text)
    text = "".join(c for c in text.translate(_DISGUISES) if c in "\n\t" or unicodedata.category(c)[0] != "C")
    text = unicodedata.normalize("NFKC", _SELECTORS.sub("", text))
    # If one word mixes scripts, the other words are disguised too. A Greek reply stays Greek.
    if any(_mixed(word) for word in text.split()):
        text = text.translate(_LOOKALIKES)
    lines = (
        " ".join(word.translate(_LEET) if _LEETSPEAK.search(word) else word for word in line.split())
        for line in text.splitlines()
    )
    return "\n".join(line for line in lines if line)


def _backspaced(text: str) -> str:
    kept: list[str] = []
    for c in text:
        if c != "\b":
            kept.append(c)
        elif kept:
            kept.pop()
    return "".join(kept)


def _mixed(word: str) -> bool:
    return (
        not word.isascii()
        and any(c.isascii() and c.isalpha() for c in word)
        and word.translate(_LOOKALIKES) != word
    )


def cut(text: str) -> str:
    """Return a reply without markup that hides text, code, other scripts and forged lines."""
    text = _FORGED.sub(" ", _OWN_PREFIX.sub("", text))
    for pattern in _MARKUP:
        text = pattern.sub(" ", text)
    return "\n".join(line for line in text.splitlines() if not foreign(line)).strip()


def speaks_of_judging(sentence: str) -> bool:
    """True for a sentence to or about a judge of the dialogue.

    Such a sentence has one plain demand, or three words of judging.
    """
    return bool(_PLAINLY.search(sentence)) or len({m.lower() for m in _JUDGING.findall(sentence)}) >= _SIGNS


def foreign(text: str) -> bool:
    """True if most letters of the text are not Latin."""
    letters = [c for c in unicodedata.normalize("NFKD", text) if c.isalpha()]
    return bool(letters) and sum("LATIN" not in unicodedata.name(c, "") for c in letters) > len(letters) / 2
