"""What may not come of any input."""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import Final

from tests.project.fuzz.case import Case
from tests.project.fuzz.runner import Outcome

FAULTS: Final = ("traceback", "wrong green", "hang", "touched", "several lines", "no code")
_TRACEBACK: Final = re.compile(
    # The last line of a traceback by pytest: what was raised in a file of ours. A file of the team's below it
    # has raised it itself.
    r"INTERNALERROR|(?<!Exception Group )Traceback \(most recent call last\)|^\S*pytest_personalens/\S+\.py:\d+: (?!\w*Warning|in )\w+",
    re.MULTILINE,
)
#: The code at the end of an error, but for that of an error of no known kind.
_CODED: Final = re.compile(r" \(PL(?!000)\d{3}\)$")
#: So begin errors of pytest itself.
_OF_PYTEST: Final = ("ERROR: usage:", "ERROR: file or directory not found", "ERROR: not found:", "ERROR: found no collectors")  # fmt: skip
#: Exit statuses of an input that is refused before anything is run.
_REFUSED: Final = (2, 4)
#: Files of the case that our runs wrote: another run may replace them where it is asked to.
_RESULTS: Final = frozenset({"repo/baseline.json", "repo/results.json", "repo/adopted.json"})
#: What pytest does without this plugin as well is no fault of ours.
OF_PYTEST: Final = ("traceback", "hang")
_COLOUR: Final = re.compile(r"\x1b\[[\d;]*m")


def faults(case: Case, outcome: Outcome) -> dict[str, str]:
    """Fault -> what shows it; empty where the input came to what it may come to."""
    found = {}
    if outcome.hung:
        return {"hang": "it did not end"}
    # A run that a test leaves by `pytest.exit` ends with 3 too, whatever status it asked for.
    broken = outcome.status < 0 or (
        outcome.status == 3 and case.module == "pytest" and "_pytest.outcomes.Exit" not in outcome.text
    )
    if (shown := _TRACEBACK.search(outcome.text)) or broken:
        found["traceback"] = shown[0] if shown else f"exit status {outcome.status}"
    if outcome.status == 0 and not case.passes(outcome.text):
        found["wrong green"] = "exit status 0"
    touched = set(outcome.touched) - (_RESULTS if case.writes else set())
    left = [path for path in outcome.made if not case.writes or path.endswith(".tmp")]
    if touched or left:
        found["touched"] = ", ".join(sorted(touched) + left)
    if outcome.status == 4 and not found:
        # Before it, a version of pytest may warn of a type that the next will refuse; after it, a hint may
        # stand in a line of its own.
        lines = [line for line in _COLOUR.sub("", outcome.err).splitlines() if line.strip()]
        told = [*dropwhile(lambda line: not line.lower().startswith("error: "), lines)]
        if not told or len(told) > 2 or not all(line.lower().startswith("error: ") for line in told):
            found["several lines"] = f"{len(told)} lines"
        elif not _CODED.search(told[0]) and not told[0].startswith(_OF_PYTEST):
            found["no code"] = told[0][:300]
    return found


def ending(outcome: Outcome) -> str:
    """How the case ended, where nothing is wrong with that."""
    return "passed" if outcome.status == 0 else "refused" if outcome.status in _REFUSED else "failed"
