"""Lines of a failure on a terminal, also of a failed gate, marked as pytest and syrupy mark theirs.

``E`` begins what is wrong, ``-`` and ``+`` are what was said before and now, ``>`` marks the turn that cost
the score. The marks decide the colours, so that the lines can travel as plain text.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.text.error_codes import with_code
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.explanation import (
    case_reason,
    case_title,
    excerpts,
    reasons_of,
    sentence_of,
)
from pytest_personalens.reports.content.findings import capital, unscored_text
from pytest_personalens.reports.content.markup import short_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.reasons.explanation import Explanation
    from pytest_personalens.results.reasons.worst_cases import WorstCase
    from pytest_personalens.results.values.results import Results

#: As pytest marks the lines of an error.
ERROR: Final = "E   "
#: So begins what is wrong with an item without scores.
NOT_SCORED: Final = f"{ERROR}not scored"
_LEAST_WIDTH: Final = 40
#: A continuation is indented this far at most.
_HANG: Final = 18
_MARK: Final = re.compile(r"(?P<error>E   )|(?P<turn>>)?\s{0,5}(?:(?P<before>- )|(?P<now>\+ ))?")


def wrap_lines(
    label: str, text: str, width: int, *, hang: str | None = None, whole_words: bool = False
) -> Iterator[str]:
    """`text` behind its label, in lines of at most `width` columns; further ones begin with `hang`. A label
    of spaces is indented anew; ``E`` stands at every line of an error. With `whole_words`, a word that is
    longer than a line, such as a path, stays whole, so that it can be copied.
    """
    if hang is None:
        hang = " " * min(len(label), _HANG)
    first = True
    for line in harmless(text).splitlines() or [""]:
        lines = textwrap.wrap(
            line,
            max(width, _LEAST_WIDTH),
            initial_indent=label if first else hang,
            subsequent_indent=hang,
            break_on_hyphens=False,
            break_long_words=not whole_words,
        )
        # Once more: what stood within a line may begin one now.
        yield from map(harmless, lines or ([label.rstrip()] if first else []))
        first = False


def error_lines(text: str, width: int) -> Iterator[str]:
    """What is wrong and its code, each line marked as pytest marks an error."""
    yield from wrap_lines(ERROR, with_code(text), width, hang=ERROR, whole_words=True)


def style_of(line: str) -> dict[str, bool]:
    """How a line is shown on a terminal with colours, by its mark; as keywords of pytest's writer."""
    mark = _MARK.match(line)
    assert mark is not None  # all of it is optional
    if mark["error"]:
        return {"red": True, "bold": True}
    if mark["before"]:
        return {"red": True}
    if mark["now"]:
        return {"green": True}
    return {"bold": True} if mark["turn"] else {}


_LABELS: Final = {"user": "      user ", "truth": "     truth "}
_SIGNS: Final = {"-": "    - then ", "+": "    + now  "}
#: Lines of each message that are shown, and the least columns of one.
_MESSAGE_LINES: Final = 2
_LEAST_ROOM: Final = 20


def gate_failure(
    explained: Explanation,
    results: Results,
    scenarios: Mapping[str, BaseScenario],
    *,
    width: int,
    brief: bool = False,
) -> Iterator[str]:
    """The lines, those of an error first. `brief` leaves the exchanges out; `scenarios` are by their ids."""
    yield from error_lines(capital(sentence_of(explained, results)), width)
    if reasons := reasons_of(explained):
        yield from wrap_lines(f"{results.of_suite.dialogue}s by reason: ", reasons, width, hang="    ")
    for cause in results.uncounted if explained.gate.kind == "valid" else ():
        yield from wrap_lines("  ", unscored_text(results, cause), width, hang="      ")
    for case in () if brief else explained.cases:
        yield from _case(case, scenarios.get(case.item.evaluation.scenario), width)


def _case(case: WorstCase, scenario: BaseScenario | None, width: int) -> Iterator[str]:
    title, reason = case_title(case, scenario), short_line(case_reason(case, scenario), 2 * width - 30)
    if case.exchange is None:
        yield from wrap_lines("", f"{title}: {reason}", width, hang="    ")
        return
    yield from wrap_lines("", title, width, hang="    ")
    room = max(_LEAST_ROOM, width - len(_SIGNS["-"]))
    for turn in excerpts(case, scenario, _MESSAGE_LINES * room):
        label = _SIGNS.get(turn.sign) or _LABELS[turn.who]
        yield from wrap_lines(label, turn.text, width, hang=" " * len(label))
    yield from wrap_lines("      why: ", reason, width, hang="           ")
