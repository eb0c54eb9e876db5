"""Names that several rooms share: suites, their fixtures, and the node ids of items and gates.

Of an item whose worker died, only its node id remains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The suite of a run that names none, and of a file that names none.
FIRST_SUITE: Final = "personalens"
#: Name -> the module that defines its `SUITE`. The module is imported by name, like an entry point, because
#: lower packages must not import it.
SUITES: Final[dict[str, str]] = {
    FIRST_SUITE: "pytest_personalens.suites.personalens",
    "personaconv": "pytest_personalens.suites.personaconv.personaconv_suite",
    "memory": "pytest_personalens.suites.memory.memory_suite",
    "questions": "pytest_personalens.suites.questions.questions_suite",
}
#: The beginning of a value of --personalens-data that only one suite reads -> this suite.
DATA_PREFIXES: Final = dict.fromkeys(("prefeval", "longmemeval", "personamem"), "questions")

#: The parameter of an item of the plugin: the fixture that all its fixtures ask for.
PARAM: Final = "_personalens_param"
#: The fixture that says what the team's system holds, and the key that says which field is which fact.
STATE: Final = "personalens_state"
#: The fixture of a memory that is handed each user's past conversations.
MEMORY: Final = "personalens_memory"
#: The fixture of a memory store that a test reaches into.
STORE: Final = "personalens_memory_store"
#: The file part of a node id of the built-in suite, which is no file of the repository.
BUILT_IN: Final = "personalens"
#: The part of an item's parameter after the scenario, up to the next parameter: control and trial.
_APART: Final = re.compile(r"(?:\+(?P<control>(?!t[0-9]+[+-])[^+-]+))?(?:\+t(?P<trial>[0-9]+))?-")


class CaseId(NamedTuple):
    """The parameter of an item: scenario, control (empty for the run itself) and trial (from 1)."""

    scenario: str
    control: str = ""
    trial: int = 1

    def __str__(self) -> str:
        """Return such as ``movies-1-user7+swapped+t2``; trial 1 of the run is the plain id."""
        control = f"+{self.control}" if self.control else ""
        return f"{self.scenario}{control}" + (f"+t{self.trial}" if self.trial > 1 else "")


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
    """True if the item has this case; pytest joins parameters with hyphens, which cases hold too."""
    return f"-{case}-" in f"-{_parameters(nodeid)}-"


def without_parameters(nodeid: str) -> str:
    """Return file and function of the test."""
    return nodeid.partition("[")[0]


def file_of(nodeid: str) -> str:
    """Return the test's file, from the root folder; `BUILT_IN` for an item of the built-in suite."""
    return nodeid.partition("::")[0]


def within_file(nodeid: str) -> str:
    """Return classes, function and parameters."""
    return nodeid.partition("::")[2]


def gate_id(name: str) -> str:
    return f"{BUILT_IN}::gate[{name}]"


def skipped_id(file: str, scenario: str) -> str:
    """Return a node id for an item that was never made, because its file skipped itself."""
    return f"{file}::skipped[{scenario}]"


def _parameters(nodeid: str) -> str:
    return nodeid.partition("[")[2].removesuffix("]")
