"""Writes and parses the node ids of items and gates.

If a worker dies, the node id is all that remains of an item.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The file part of a node id of the built-in suite, which is no file of the repository.
BUILT_IN: Final = "personalens"
#: The part of an item's parameter after the scenario, up to the next parameter: control and trial.
_APART: Final = re.compile(r"(?:\+(?P<control>(?!t[0-9]+[+-])[^+-]+))?(?:\+t(?P<trial>[0-9]+))?-")


class CaseId(NamedTuple):
    """The parameter of an item: the scenario's id, its control and its trial.

    `control` is empty for the run itself. `trial` counts from 1.
    """

    scenario: str
    control: str = ""
    trial: int = 1

    def __str__(self) -> str:
        """Return the text of the parameter, such as ``movies-1-user7+swapped+t2``.

        Trial 1 of the run itself is the plain scenario id, so that later runs can use its record too.
        """
        return (
            self.scenario
            + (f"+{self.control}" if self.control else "")
            + (f"+t{self.trial}" if self.trial > 1 else "")
        )


def parse_case(nodeid: str, scenarios: Iterable[str]) -> CaseId | None:
    """Return the case in the node id, the inverse of `str` of a case.

    Return None if the node id holds none of the `scenarios`. Another parameter of the test, or its folder,
    may have the name of a control. A control therefore counts only directly after the scenario.
    """
    parameters = f"-{_parameters(nodeid)}-"
    for scenario in scenarios:
        _, held, after = parameters.partition(f"-{scenario}")
        if held and (apart := _APART.match(after)):
            return CaseId(scenario, apart["control"] or "", int(apart["trial"] or 1))
    return None


def holds_case(nodeid: str, case: str) -> bool:
    """True if the item has exactly this case.

    pytest joins the ids of all parameters with hyphens, and case ids contain hyphens too.
    """
    return f"-{case}-" in f"-{_parameters(nodeid)}-"


def without_case(nodeid: str, parameters: str, case: str) -> str:
    """Return the node id of the test without the case.

    It is the same for every sample. It holds the file, the function, and the `parameters` other than the
    case.
    """
    before, _, after = f"-{parameters}-".partition(f"-{case}-")
    other_parameters = "-".join(part for part in (before.strip("-"), after.strip("-")) if part)
    return nodeid[: -len(parameters) - 2] + (f"[{other_parameters}]" if other_parameters else "")


def without_parameters(nodeid: str) -> str:
    """Return the test without any parameter: file and function."""
    return nodeid.partition("[")[0]


def file_of(nodeid: str) -> str:
    """Return the file of the test, as a path from the root folder.

    It is `BUILT_IN` for an item of the built-in suite.
    """
    return nodeid.partition("::")[0]


def within_file(nodeid: str) -> str:
    """Return the part after the file: classes, function and parameters."""
    return nodeid.partition("::")[2]


def gate_id(name: str) -> str:
    """Return the node id of the test report of a gate."""
    return f"{BUILT_IN}::gate[{name}]"


def skipped_id(file: str, scenario: str) -> str:
    """Return a node id for an item that was never made.

    Such an item has no test because its file skipped itself.
    """
    return f"{file}::skipped[{scenario}]"


def _parameters(nodeid: str) -> str:
    return nodeid.partition("[")[2].removesuffix("]")
