"""The names of the suites, which is all that the declaration of options needs."""

from typing import Final

#: The suite of a run that names none, and of a file that names none.
FIRST_SUITE: Final = "personalens"
#: Name -> the module that defines its `SUITE`. The module is imported by name, like an entry point, because
#: lower packages must not import it.
SUITES: Final[dict[str, str]] = {
    FIRST_SUITE: "pytest_personalens.suites.personalens",
    "personaconv": "pytest_personalens.suites.personaconv.suite",
    "memory": "pytest_personalens.suites.memory.suite",
    "questions": "pytest_personalens.suites.questions.suite",
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
