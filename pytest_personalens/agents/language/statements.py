"""Splits messages into statements: sentences, list items and table rows.

A statement has no markup, no emoji and no courtesies at its ends.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.language.text import content, fold, stem
from pytest_personalens.agents.language.visible import cut, shown, speaks_of_judging
from pytest_personalens.core.runtime.once import once
from pytest_personalens.datasets.embedded.files import data_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: A quick test for a text that may hold one of the contractions.
_CONTRACTED: Final = re.compile(r"'|\b(?:cannot|ur?|thx|pl[sz]|tmrw?|g[ou]nna|gotta|wanna|im|ive)\b")
#: Limits in characters and statements. Nobody reads a longer text to its end, and regular expressions take
#: long on it.
_LONGEST: Final = 16_000
_WIDEST: Final = 800
_MOST: Final = 200
#: A long run of one character says no more than a short run.
_RUN: Final = re.compile(r"((.)\2{30})\2+", re.DOTALL)
_RULE: Final = re.compile(r"^\W*$")
_SEPARATOR: Final = re.compile(r"^\s*\|?[\s:|-]+\|[\s:|-]*$")
_BULLET: Final = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*•·‣▪◦●○►▶→➤➜»–—+]|\(?\d{1,2}[.)]|[a-z]\)|#{1,6})\s+)+")
_BOX: Final = re.compile(r"^\[([ xX✓✔])\]\s*")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|$)|~~.*?~~", re.DOTALL)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_EMPHASIS: Final = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`+|\*\*")
_SENTENCE: Final = re.compile(
    r"(?:[^.!?;\n]|[.!?;](?=[^\s\"'”’)\]*_]|$)(?!$)|(?<=\b[A-Z])\.|(?<=\b(?:Mr|Ms|Dr|St|No|vs|pm|am))\.(?= [A-Z0-9])|(?<=\b(?:Mrs|e\.g|i\.e|a\.m|p\.m|Ave|Tel))\.)+[.!?;…]*[\"'”’)\]]*|[.!?;]+"
)
_EMOJI: Final = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2190-\u21ff\u2300-\u23ff\ufe0f\u200d\u20e3\U000e0020-\U000e007f\u25a0-\u25ff\u2022\u00ae\u2122]+"
)
_NAMED: Final = r"(?:,? (?:(?-i:[A-Z][\w.'’-]+)|there|dear|friend|mate|love|sir|madam|boss|all|again|everyone|my friend)(?: (?-i:[A-Z][\w'’-]+))?)?"
#: The words before a statement that say nothing about the task. Each ends where the statement may begin.
_OPENER: Final = re.compile(
    r"^(?:"
    r"(?:oh|ah|aw+|ha(?:ha)*|hey+|wow|yay|woo\w*|hmm+|mm+|well|so|now|and|right|alright|all right|okay|ok|okey \w+|aye|yep|yup|yeah|yes|sure(?: thing)?|of course|certainly|absolutely|definitely|indeed|totally|exactly|understood|noted|roger(?: that)?|copy that|got it|gotcha|gotchu|i hear you|makes sense|fair enough|say less|bet|deal|no (?:problem|worries|trouble|sweat|bother)(?: at all)?|not a problem|right away|on it|easy|easy peasy|cool|nice(?: one)?|neat|sweet|super|great|perfect|awesome|excellent|wonderful|fantastic|amazing|lovely|brilliant|marvellous|splendid|terrific|good|good (?:call|choice|idea|thinking|plan|question|news|stuff)|great (?:choice|news|question|idea|call|pick|stuff)|nice choice|excellent choice|lovely choice|wonderful news|excellent news|quick update|update|just to confirm|please note(?: that)?|kindly note(?: that)?|as requested|as you (?:asked|wished|requested|wanted)|here you (?:go|are)|there you (?:go|are)|here we go|let's see|one moment|bear with me|very (?:well|good)|with pleasure|my pleasure|gladly|happily|happy to(?: help| assist)?(?: (?:you )?with (?:that|this))?|glad to(?: help)?|delighted to(?: help)?|you got it|you bet|cheers|thanks|thank you|many thanks|you're welcome|you are welcome|welcome(?: back)?|hello|hi(?:ya)?|howdy|greetings|good (?:morning|afternoon|evening|day)|morning|evening|afternoon|dear|sorry|my apologies|apologies|my bad|oops|whoops|i'm happy to help|i am happy to help)"
    + _NAMED
    + r"(?:\s*[,!.:…]+\s*|\s+[–—-]+\s+|—\s*|\s+(?=\())"
    r"|(?:thanks|thank you)(?: so much| very much| kindly)? for [^,.!?:;–—]{3,80}[,.!:;–—]\s*"
    r"|(?:i(?:'m| am)? (?:so |very |really |truly )?sorry|(?:my |our )?(?:sincere )?apologies|i (?:do |sincerely )?apologi[sz]e|we apologi[sz]e) (?:for|about|to) [^,.!?:;–—]{3,80}[,.!:;–—]\s*"
    r"|(?:i(?:'d| would) be|i(?:'m| am)) (?:more than )?(?:happy|glad|delighted|pleased) to (?:help|assist)[^,.!?:;–—]{0,60}[,.!:;–—]\s*"
    r"|(?:i(?:'m| am)|we(?:'re| are)) (?:happy|glad|pleased|delighted) to (?:confirm|report|inform you|say|tell you|let you know)(?: that)?:?\s+"
    r"|it (?:is|would be|'s) (?:my|our) pleasure to (?:confirm|inform you|tell you|report)(?: that)?:?\s+"
    r"|please be (?:informed|advised)(?: that)?:?\s+"
    r"|(?:i (?:went|have gone|'ve gone) ahead and) (?=\w)"
    r"|(?:just |exactly |all )*(?:the way|how|as|like) (?:(?:i|we) (?:know|remember|recall)(?: that)? )?you (?:always |usually |normally |really )*(?:like|prefer|want|love)(?: it| them| things)?\s*[:,–—]\s*"
    r")",
    re.IGNORECASE,
)
_CLOSER: Final = re.compile(
    r"[,;–—-]*\s*(?:(?:so )?(?:enjoy|have (?:a|an) (?:\w+ ){1,3}(?:day|evening|night|morning|time|trip|weekend|one|week|flight|meal|show|stay|journey))|just (?:let me know|say the word|shout|holler)[^.!?]{0,40}|let me know (?:if|what|how)[^.!?]{0,60}|(?:i )?hope (?:that|this) helps?|hope you (?:enjoy|like|have)[^.!?]{0,30}|happy (?:reading|listening|watching|travels|gaming|shopping)|safe (?:travels|journey|trip)|no worries|cheers|thank you|thanks)\s*[!.]*\s*$",
    re.IGNORECASE,
)
_CONTRACTIONS: Final = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"), (re.compile(r"\bwon't\b"), "will not"), (re.compile(r"\bshan't\b"), "shall not"), (re.compile(r"\bain't\b"), "is not"),
    (re.compile(r"n't\b"), " not"), (re.compile(r"\b(i|you|we|they)'ve\b"), r"\1 have"), (re.compile(r"\b(i)'m\b"), r"\1 am"), (re.compile(r"\b(you|we|they)'re\b"), r"\1 are"),
    (re.compile(r"\b(\w+)'ll\b"), r"\1 will"), (re.compile(r"\b(i|you|we|they|he|she|it|that|there)'d\b"), r"\1 would"),
    (re.compile(r"\b(it|that|there|here|what|who|where|how|he|she|everything|this)'s\b"), r"\1 is"), (re.compile(r"\blet's\b"), "let us"),
    (re.compile(r"\b(?:ur)\b"), "your"), (re.compile(r"\bu\b"), "you"), (re.compile(r"\bthx\b"), "thanks"), (re.compile(r"\bpls\b|\bplz\b"), "please"), (re.compile(r"\btmrw\b|\btmr\b"), "tomorrow"),
    (re.compile(r"\bgonna\b"), "going to"), (re.compile(r"\bgotta\b"), "got to"), (re.compile(r"\bwanna\b"), "want to"), (re.compile(r"\bim\b"), "i am"), (re.compile(r"\bive\b"), "i have"),
)  # fmt: skip


#: A statement that may report a deed: a verb in the past, or a word for its result.
_DEED: Final = re.compile(
    r"\b(?:\w{3,}ed|set|put|sent|bought|made|got|paid|held|kept|done|built|written|wrote|taken|on its way|yours|active|live|playing|ready|running|in your|on your|for you)\b|\d"
)


@lru_cache(maxsize=4096)
def of_message(content: str) -> tuple[tuple[str, str], ...]:
    """Return the statements of one message, each with the piece that holds it.

    The piece is a part of the message and can be quoted.
    """
    statements: list[tuple[str, str]] = []
    for line in _lines(_RUN.sub(r"\1", content[:_LONGEST])):
        for sentence in _split(line):
            text = _bare(sentence[:_WIDEST])
            if any(c.isalnum() for c in text):
                statements.append((text, sentence.strip()))
            if len(statements) == _MOST:
                return tuple(statements)
    return tuple(statements)


@lru_cache(maxsize=4096)
def substance(content: str) -> tuple[tuple[str, str], ...]:
    """Return the statements of an assistant's message that are more than courtesy.

    They are the ones said to the user. A mere farewell has none.
    """
    statements = tuple(pair for pair in of_message(cut(shown(content))) if not speaks_of_judging(pair[0]))
    always, beside = _courtesies()
    folded = [plain(text).strip(" .!?…:;,-\"'") for text, _ in statements]
    kept = [
        i
        for i, text in enumerate(folded)
        if text and not always.fullmatch(text) and not _is_opener(statements[i][0])
    ]
    deed = any(_DEED.search(folded[i]) and not beside.fullmatch(folded[i]) for i in kept)
    kept = [i for i in kept if not (deed and beside.fullmatch(folded[i]))]
    # Beside anything else, talk of remembering, caring and listening counts neither way.
    telling = [i for i in kept if not _is_idle(statements[i][0])]
    return tuple(statements[i] for i in (telling if telling or len(kept) < len(statements) else kept))


#: What details, refusals and questions have, and talk about oneself has not.
_TELLS: Final = re.compile(r"\d|\b(?:no|not|cannot)\b")
_ASKS: Final = re.compile(r"\b(?:what|which|when|where|who|whose|how (?:many|much|long|often))\b.*\?")


@lru_cache(maxsize=4096)
def _is_idle(text: str) -> bool:
    """True for a statement whose words are all idle: it has no topic, no name and no number."""
    folded = plain(text)
    tells = _TELLS.search(folded) or _ASKS.search(folded)
    return not tells and content(folded) <= _idle_words()


@once
def _idle_words() -> frozenset[str]:
    return frozenset(stem(word) for word in _listed()["idle_words"].split())


def _is_opener(text: str) -> bool:
    """True for a text that is only an opener: "Great!"."""
    rest = f"{text.rstrip('.!?,:')}! "
    while (opener := _OPENER.match(rest)) and opener.end():
        rest = rest[opener.end() :].lstrip()
    return not any(c.isalnum() for c in rest)


@once
def _listed() -> dict[str, Any]:
    return tomllib.loads((data_folder() / "judge" / "courtesies.toml").read_text(encoding="utf-8"))


@once
def _courtesies() -> tuple[re.Pattern[str], re.Pattern[str]]:
    listed = _listed()
    always, beside = (
        "|".join(f"(?:{pattern})" for pattern in listed[name]) for name in ("always", "beside_a_deed")
    )
    return re.compile(always), re.compile(beside)


def _lines(content: str) -> Iterator[str]:
    content = _COMMENT.sub(" ", content)
    content = _LINK.sub(r"\1", content)
    content = _TAG.sub(" ", content)
    rows: list[str] = []
    for raw in [*content.splitlines(), ""]:
        line = raw.strip()
        if line.startswith("|") or (line.count("|") >= 2):
            rows.append(line)
            continue
        if rows:
            yield from _table(rows)
            rows = []
        if line.startswith("```"):
            continue
        line = _BULLET.sub("", line)
        line = _EMOJI.sub(" ", line).strip()
        box = _BOX.match(line)
        if box:
            line = ("still open: " if box[1] == " " else "") + line[box.end() :]
        line = _BULLET.sub("", _EMPHASIS.sub("", line)).strip()
        if not _RULE.match(line):
            yield line


def _table(rows: Sequence[str]) -> Iterator[str]:
    cells = [
        [_EMOJI.sub(" ", _EMPHASIS.sub("", c)).strip() for c in row.strip("|").split("|")]
        for row in rows
        if not _SEPARATOR.match(row)
    ]
    headed = len(rows) > 1 and bool(_SEPARATOR.match(rows[1]))
    for row in cells[headed:]:
        kept = [c for c in row if c]
        if kept:
            yield f"{kept[0]}: {kept[1]}" if len(kept) == 2 else ", ".join(kept)


def _split(line: str) -> Iterator[str]:
    for sentence in _SENTENCE.findall(line):
        if sentence.strip(" .!?;"):
            yield sentence.strip()


@lru_cache(maxsize=8192)
def _bare(sentence: str) -> str:
    """Return the sentence without openers and closers.

    A sentence that is only an opener or a closer stays as it is.
    """
    text = _EMOJI.sub(" ", sentence).replace("\u2019", "'").strip()
    while True:
        m = _OPENER.match(text)
        if not m or not any(c.isalnum() for c in text[m.end() :]):
            break
        text = text[m.end() :].lstrip()
    m = _CLOSER.search(text)
    if m and len(text[: m.start()].split()) >= 3:
        text = text[: m.start()].rstrip(" ,;–—-")
    return text


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """Return the text in lower case, without accents and with contractions written out.

    Quotes and dashes become plain ones.
    """
    folded = fold(text.replace("\u00a0", " ").replace("\u202f", " "))
    if _CONTRACTED.search(folded):
        for pattern, replacement in _CONTRACTIONS:
            folded = pattern.sub(replacement, folded)
    return folded
