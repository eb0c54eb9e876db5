"""Node ids of items and gates: written here and taken apart here, because a dead worker leaves nothing else
of an item.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The node id of the built-in suite, which is no file of the repository's.
BUILT_IN: Final = "personalens"
#: What sets an item apart from others of its scenario, up to the next parameter.
_APART: Final = re.compile(r"(?:\+(?P<control>(?!t[0-9]+[+-])[^+-]+))?(?:\+t(?P<trial>[0-9]+))?-")


class CaseId(NamedTuple):
    """The parameter of an item: a scenario's id, its control (empty for the run itself), and its trial from
    1.
    """

    scenario: str
    control: str = ""
    trial: int = 1

    def __str__(self) -> str:
        """``movies-1-user7+swapped+t2``; trial 1 of the run itself is the plain id, so that its record serves
        later runs too.
        """
        return (
            self.scenario
            + (f"+{self.control}" if self.control else "")
            + (f"+t{self.trial}" if self.trial > 1 else "")
        )


def parse_case(nodeid: str, scenarios: Iterable[str]) -> CaseId | None:
    """What `str` of a case wrote into the node id; None if it holds none of the `scenarios`.

    Another parameter of the test, or its folder, may be called as a control is: it counts only right after
    the scenario.
    """
    parameters = f"-{_parameters(nodeid)}-"
    for scenario in scenarios:
        _, held, after = parameters.partition(f"-{scenario}")
        if held and (apart := _APART.match(after)):
            return CaseId(scenario, apart["control"] or "", int(apart["trial"] or 1))
    return None


def holds_case(nodeid: str, case: str) -> bool:
    """True if the item is of that very case. pytest joins the ids of all parameters by hyphens, which ours
    hold too.
    """
    return f"-{case}-" in f"-{_parameters(nodeid)}-"


def without_case(nodeid: str, parameters: str, case: str) -> str:
    """The test, as it is called whatever the sample: file, function, and those of its `parameters` that are
    not the case.
    """
    before, _, after = f"-{parameters}-".partition(f"-{case}-")
    own = "-".join(part for part in (before.strip("-"), after.strip("-")) if part)
    return nodeid[: -len(parameters) - 2] + (f"[{own}]" if own else "")


def without_parameters(nodeid: str) -> str:
    """The test without any parameter: file and function."""
    return nodeid.partition("[")[0]


def file_of(nodeid: str) -> str:
    """The file of the test, from the root folder; `BUILT_IN` for an item of the built-in suite."""
    return nodeid.partition("::")[0]


def within_file(nodeid: str) -> str:
    """What follows the file: classes, function and parameters."""
    return nodeid.partition("::")[2]


def gate_id(name: str) -> str:
    """The node id of the test report that a gate makes."""
    return f"{BUILT_IN}::gate[{name}]"


def skipped_id(file: str, scenario: str) -> str:
    """A node id for an item that was never made, because its file skipped itself."""
    return f"{file}::skipped[{scenario}]"


def _parameters(nodeid: str) -> str:
    return nodeid.partition("[")[2].removesuffix("]")
