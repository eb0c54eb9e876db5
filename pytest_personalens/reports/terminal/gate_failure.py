"""A failed gate on a terminal: why, the reasons added up, and the exchanges that cost most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.reports.content.explanation import (
    case_reason,
    case_title,
    excerpts,
    reasons_of,
    sentence_of,
)
from pytest_personalens.reports.content.findings import capital, unscored_text
from pytest_personalens.reports.content.markup import short_line
from pytest_personalens.reports.terminal.failure_layout import error_lines, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.reasons.explanation import Explanation
    from pytest_personalens.results.reasons.worst_cases import WorstCase
    from pytest_personalens.results.values.results import Results

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
        yield from wrapped(f"{results.of_suite.dialogue}s by reason: ", reasons, width, hang="    ")
    for cause in results.uncounted if explained.gate.kind == "valid" else ():
        yield from wrapped("  ", unscored_text(results, cause), width, hang="      ")
    for case in () if brief else explained.cases:
        yield from _case(case, scenarios.get(case.item.evaluation.scenario), width)


def _case(case: WorstCase, scenario: BaseScenario | None, width: int) -> Iterator[str]:
    yield from wrapped("", case_title(case, scenario), width, hang="    ")
    room = max(_LEAST_ROOM, width - len(_SIGNS["-"]))
    for turn in excerpts(case, scenario, _MESSAGE_LINES * room):
        label = _SIGNS.get(turn.sign) or _LABELS[turn.who]
        yield from wrapped(label, turn.text, width, hang=" " * len(label))
    yield from wrapped(
        "      why: ", short_line(case_reason(case, scenario), 2 * width - 30), width, hang="           "
    )
