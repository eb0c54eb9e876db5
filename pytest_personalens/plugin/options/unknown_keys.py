"""Refuses misspelt names of this plugin, wherever pytest reads configuration: none of them is passed over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

from pytest_personalens.core.options.options import OPTIONS
from pytest_personalens.plugin.input_errors import input_error
from pytest_personalens.plugin.pytest_internals import overridden_keys, written_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PREFIX: Final = "personalens"
#: Variables of the environment that are read: by the plugin, by its template for GitLab, by its own tests.
_VARIABLES: Final = (
    "CACHE_DIR", "RUN_ID", "GITLAB_TOKEN", "SAMPLE", "ARGS", "INSTALL", "MAX_AGE", "OFFICIAL", "LITELLM",
)  # fmt: skip
#: A variable may be the user's own. One is taken for a misspelt name of ours if it is this similar, 0 to 1.
_SIMILAR: Final = 0.85


def refuse_unknown_keys(config: pytest.Config, known: Sequence[str]) -> None:
    """Raise `pytest.UsageError` for a key of the configuration, or a variable, that is misspelt.

    `known` are the keys of this plugin.
    """
    for key in written_keys(config):
        if key.casefold().startswith(_PREFIX) and key not in known:
            try:
                config.getini(key)  # another plugin may have declared it
            except (KeyError, ValueError):
                place, hint = _place(config, key), _hint(key, known)
                raise input_error(f"{place}: unknown key {key!r}{hint}") from None
    for name in os.environ:
        if name.startswith("PERSONALENS_"):
            _refuse_variable(name)


def unknown_mark(config: pytest.Config, marks: Iterable[pytest.Mark]) -> str:
    """Return what is wrong with a mark whose name begins as ours, and that nobody registered, or ""."""
    for name in (mark.name for mark in marks if mark.name.casefold().startswith(_PREFIX)):
        lines = map(str, config.getini("markers"))
        registered = [line.partition(":")[0].partition("(")[0].strip() for line in lines]
        if name not in registered:
            return f"unknown mark {name!r}{_hint(name, registered)}"
    return ""


def _refuse_variable(name: str) -> None:
    rest = name.removeprefix("PERSONALENS_")
    if rest in _VARIABLES:
        return
    options = {option.key.upper(): option.called for option in OPTIONS}
    meant = _nearest(rest, (*_VARIABLES, *options), _SIMILAR)
    if meant in options:
        raise input_error(
            f"{name}: no option is read from the environment; give {options[meant]}, or unset the variable"
        )
    if meant:
        raise input_error(f"{name}: unknown variable; did you mean PERSONALENS_{meant}? Or unset it")


def _place(config: pytest.Config, key: str) -> str:
    """Return where a key stands: the option ``-o``, or the file, as seen from the working directory."""
    if key in overridden_keys(config) or config.inipath is None:
        return "-o"
    try:
        return os.path.relpath(config.inipath, config.invocation_params.dir)
    except ValueError:  # on another drive
        return str(config.inipath)


def _hint(name: str, known: Sequence[str]) -> str:
    meant = _nearest(name.casefold().replace("-", "_"), known, 0.0)
    return f"; did you mean {meant}?" if meant else ""


def _nearest(name: str, known: Sequence[str], least: float) -> str:
    from difflib import get_close_matches  # needed only after an error

    return next(iter(get_close_matches(name, known, 1, least)), "")
