"""Groups the failures of the assistant.

The groups are by exception and place, or by the problem with the reply.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from pytest_personalens.results.values.results import Results

#: The form of the message in `dialogue`.
_RAISED: Final = re.compile(
    r"the assistant raised (?P<kind>\w+)(?:: (?P<text>.*?))?(?: \((?P<file>[^()]+), line (?P<line>\d+)\))?",
    re.DOTALL,
)
_MOST: Final = 3
_LONGEST: Final = 120


def crashes_title(results: Results) -> str:
    """Return in how many dialogues of the run itself the assistant failed. The text is empty if there are
    none.
    """
    crashed = results.uncounted.get("assistant", 0)
    return (
        f"the assistant failed in {crashed:,} of {count(results.expected, results.of_suite.dialogue)},"
        " which have no score"
        if crashed
        else ""
    )


def crash_groups(results: Results) -> list[str]:
    """Return a line for each kind of failure, the most frequent first. The last line combines the rare ones."""
    said: dict[str, Counter[str]] = defaultdict(Counter)
    for item in results.own:
        if item.evaluation.cause == "assistant":
            way, text = _way(item.evaluation.detail)
            said[way][text] += 1
    ways = sorted(said.items(), key=lambda group: (-group[1].total(), group[0]))
    shown = ways if len(ways) <= _MOST + 1 else ways[:_MOST]
    lines = [f"{texts.total()} x {way}{_example(texts)}" for way, texts in shown]
    if rest := ways[len(shown) :]:
        lines.append(f"and {sum(texts.total() for _, texts in rest)} in {len(rest)} other ways")
    return lines


def _way(detail: str) -> tuple[str, str]:
    """Return the part of a fault that similar faults share, and its own text."""
    line = " ".join(detail.split())
    raised = _RAISED.fullmatch(line)
    if raised is None:
        return _short(line.removeprefix("the assistant ").removeprefix("the ")), ""
    place = f" at {raised['file']}:{raised['line']}" if raised["file"] else ""
    return raised["kind"] + place, raised["text"] or ""


def _example(texts: Counter[str]) -> str:
    text = min(texts, key=lambda text: (-texts[text], text))
    return f"{', such as' if len(texts) > 1 else ''}: {_short(text)}" if text else ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
