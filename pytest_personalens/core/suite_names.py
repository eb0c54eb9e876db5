"""The names of the suites: no more is needed to declare the options."""

from typing import Final

#: The suite of a run that names none, and of every file that was written before there was another.
FIRST_SUITE: Final = "personalens"
#: Name -> the module whose `SUITE` it is. Opened by name, as an entry point is: no room below imports it.
SUITES: Final[dict[str, str]] = {FIRST_SUITE: "pytest_personalens.suites.personalens"}
