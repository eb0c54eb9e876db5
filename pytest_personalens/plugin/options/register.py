"""Declares every option and ini key to pytest, and says whether a run uses any."""

from __future__ import annotations

import os
from typing import Any, Final

import pytest

from pytest_personalens.core.names import STATE
from pytest_personalens.core.options.option_table import OPTIONS
from pytest_personalens.plugin.pytest_internals import written_keys

#: The variable that every run may have set.
_CACHE: Final = "PERSONALENS_CACHE_DIR"

_GROUPS: Final = {
    "select": "which scenarios",
    "run": "how they are run",
    "judge": "how they are judged",
    "gate": "what fails the run",
    "report": "what is written",
}
#: Keys that exist only in the configuration, each a list of lines.
LINES: Final = {
    "personalens_prices": "MODEL = INPUT, OUTPUT[, CACHED[, WRITTEN]] in dollars for a million tokens",
    STATE: "FIELD = FACT[, FACT]: which field of the state is which fact, by the fact's name or type",
    "personalens_assistant_headers": (
        "NAME: VALUE for a service as the assistant; ${NAME} is a variable of the environment"
    ),
    "personalens_model_parameters": (
        "NAME = VALUE for model specs that do not name it, such as region = eu-west-1"
    ),
}


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its typed ini key."""
    for name, title in _GROUPS.items():
        group = parser.getgroup(f"personalens: {name}", f"personalens, {name} ({title})")
        for o in (o for o in OPTIONS if o.group == name):
            action: dict[str, Any] = {"action": "append" if o.many else "store", "metavar": o.metavar}
            if o.on != "ini":
                kind = {"action": "store_true", "default": False} if o.flag else action
                group.addoption(o.long, **{"default": None, **kind}, dest=o.ini, help=o.help)
            if o.on != "command line":
                of_key: Any = "string" if " or " in o.type else o.type
                parser.addini(
                    o.ini, o.help if o.on == "ini" else "the option of this name", type=of_key, default=None
                )
    for key, text in LINES.items():
        parser.addini(key, text, type="linelist")


def is_asked_for(config: pytest.Config) -> bool:
    """True if an option of the plugin is given, or a key or a variable has a name that may be one of ours."""
    if config.option.help:  # pytest then reads no options, and runs nothing
        return False
    if any(config.getoption(o.ini, None) not in (None, False) for o in OPTIONS if o.on != "ini"):
        return True
    keys = (key.casefold() for key in written_keys(config))
    variables = (name for name in os.environ if name.startswith("PERSONALENS_"))
    return any(key.startswith("personalens") for key in keys) or any(v != _CACHE for v in variables)
