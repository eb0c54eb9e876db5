"""Reads the options and the ini keys into `Settings`."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import SpecError, short_repr
from pytest_personalens.core.judging.measure import read_criteria
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.core.options.option_table import BY_KEY, LINES, OPTIONS, Option, list_parts
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.plugin.input_errors import input_error
from pytest_personalens.plugin.options.option_checks import (
    check_alone,
    check_half,
    check_settings,
    refuse_unknown_keys,
    split_dimensions,
)
from pytest_personalens.plugin.pytest_internals import is_on_command_line, written_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite import Suite

#: A range of users of the official data, by their numbers, both included.
_NUMBERS: Final = re.compile(r"(\d{1,6})-(\d{1,6})")
_MOST_NUMBERS: Final = 10_000
#: Marks a value that only another suite has, because one configuration may serve several suites.
_OF_ANOTHER: Final = object()


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings of the run: an option before the ini file, and that before the default.

    Raise `pytest.UsageError` that names the option.
    """
    refuse_unknown_keys(config, [*(o.ini for o in OPTIONS if o.on != "command line"), *LINES])
    check_alone(config)
    values: dict[str, Any] = {}
    given = set[str]()
    for o in OPTIONS:
        value, source = config.getoption(o.ini, None), o.long
        if o.key == "sample" and value is None and config.getoption(BY_KEY["dialogues"].ini) is not None:
            value = "all"  # those of the file, whatever the configuration draws in other runs
        # Without a sample there is no run, and a plain pytest run must not spend time on these parts of the
        # configuration.
        if value is None and o.on != "command line" and (o.key == "sample" or values["sample"] is not None):
            value, source = configured(config, o)
        suite, is_set = values.get("suite"), value not in (None, False)  # a flag that is not given is False
        if is_set and suite and values.get("sample") is not None and o.key in _suite(suite).lacks:
            if is_on_command_line(config, o.ini):  # the configuration may have it
                raise input_error(
                    f"{o.called}: means nothing in the suite {suite}; leave it out", code="PL108"
                )
            value = None
        if value is not None and not o.flag:
            in_file = source == o.ini and not is_on_command_line(config, o.ini)
            value = read_value(o, value, source, suite, configured=in_file)
        if value is not None and o.key == "control":
            named = {name for names in value for name in names}
            value = tuple(control.name for control in _suite(suite).controls if control.name in named)
        if value is None:
            value = o.default
            if suite and values["sample"] is not None:
                value = _suite(suite).defaults.get(o.key, value)
        else:
            given.add(o.key)
        values[o.key] = value
    values["gate"], values["report_only"] = _read_gates(config, values)
    values["report"] = _read_reports(config, values["report"])
    values["users"] = values["users"] and _read_users(values["users"], config.rootpath)
    if values["sample"] is not None:
        asked = values["dimensions"] if "dimensions" in given else None
        values["dimensions"], values["not_read"] = split_dimensions(asked, values)
    check_half(config, values)
    settings = Settings(**values)
    check_settings(settings)
    return settings


def configured(config: pytest.Config, option: Option) -> tuple[Any, str]:
    """Return the value in the configuration, or None if the entry is empty or missing, and its key."""
    try:
        value = config.getini(option.ini)
    except (TypeError, ValueError, pytest.UsageError) as error:  # pytest 9 says what is wrong, but not where
        if " or " in option.type:  # pytest before 9.2 has no type of a key for a number or a word
            return written_value(config, option.ini), option.ini
        raise input_error(
            f"{option.ini}: expected a value of type {option.type} in the configuration file ({error})",
            code=getattr(error, "code", ""),
        ) from None
    return (None if value in ("", []) else value), option.ini


def read_value(
    option: Option, value: object, source: str, suite: str | None, *, configured: bool = False
) -> Any:
    """Return the value of an option of a suite from its text or texts.

    A `configured` value may belong to another suite, and is then ignored; the result is None if nothing is
    left. Raise `pytest.UsageError` that begins with `source`.
    """
    if option.key == "criteria":
        try:
            return read_criteria(value, {name for m in _suite(suite).measures for name in (m.short, m.value)})
        except ValueError as error:
            raise input_error(f"{source}: {error}") from None
    try:
        texts = [str(v) for v in value] if isinstance(value, (list, tuple, set, frozenset)) else [str(value)]
        texts = sorted(texts) if isinstance(value, (set, frozenset)) else texts  # alike in each process
    except Exception:  # raised by the __str__ of a custom value in a mark
        raise input_error(f"{source}: expected {option.metavar}, not {short_repr(value)}") from None
    try:
        if not option.many:
            if len(texts) != 1:
                raise ValueError(f"expected {option.metavar}, one value")
            read = _read_text(option, texts[0], suite, configured=configured)
            return None if read is _OF_ANOTHER else read
        texts = texts if option.path else [part.strip() for text in texts for part in list_parts(text)]
        if not texts:
            raise ValueError(f"expected {option.metavar}")
        every = (_read_text(option, text, suite, configured=configured) for text in texts)
        values = tuple(one for one in every if one is not _OF_ANOTHER)
    except SpecError as error:
        raise input_error(f"{source}: {error}", code=error.code) from None
    except ValueError as error:
        raise input_error(f"{source}: {error}, not {', '.join(map(str, texts))!r}") from None
    if not values:
        return None
    if option.key != "dimensions":
        return values
    return tuple(measure.value for measure in _suite(suite).measures_named(values))


def _read_text(option: Option, text: str, suite: str | None, *, configured: bool) -> Any:
    """Return the value of a text, or `_OF_ANOTHER`; raise ValueError or `SpecError` if it cannot be read."""
    if option.read is not None:
        return option.read(text)
    from pytest_personalens.core.suite import other_suites

    own = _suite(suite)
    try:
        return option.value(text, own)
    except (ValueError, SpecError):
        for other in other_suites(own.name) if configured else ():
            with suppress(ValueError, SpecError):
                option.value(text, other)
                return _OF_ANOTHER
        raise


def _suite(name: str | None) -> Suite:
    from pytest_personalens.core.suite import get_suite

    return get_suite(name or FIRST_SUITE)


def _read_gates(config: pytest.Config, values: Mapping[str, Any]) -> tuple[tuple[GateExpression, ...], bool]:
    """Return the gates, and True if none of them counts.

    Gates of the command line are added to those of the configuration, or replace those with the same metric
    over the same scenarios.
    """
    wanted: Sequence[GateExpression | None] = values["gate"]
    option, more = BY_KEY["gate"], tuple[Any, ...]()
    if values["sample"] is not None and config.getoption(option.ini) is not None:
        texts, source = configured(config, option)
        if texts is not None:
            more = read_value(option, texts, source, values["suite"], configured=True) or ()
    here = {gate.name.lower() for gate in wanted if gate is not None}
    gates = (*wanted, *(gate for gate in more if gate is None or gate.name.lower() not in here))
    return tuple(gate for gate in gates if gate is not None), None in gates


def _read_reports(config: pytest.Config, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the reports of the command line, and those of other kinds in the configuration.

    A relative path starts at the working directory on the command line, and at the root folder in the
    configuration.
    """
    from pytest_personalens.core.files.destinations import GITHUB, file_kind

    option, places = BY_KEY["report"], [(wanted, config.rootpath)]
    if wanted and config.getoption(option.ini) is not None:
        texts, source = configured(config, option)
        more = read_value(option, texts, source, None) if texts is not None else ()
        kinds = {file_kind(text) for text in wanted}  # the word github has the kind None
        others = [text for text in more if file_kind(text) not in kinds]
        places = [(wanted, config.invocation_params.dir), (others, config.rootpath)]
    every = ((text, base) for reports, base in places for text in reports)
    try:
        return tuple(t if t == GITHUB else str(base / Path(t).expanduser()) for t, base in every)
    except RuntimeError as error:  # the home folder of an unknown user
        raise input_error(f"{option.long}: {error}") from None


def _read_users(names: Sequence[str], base: Path) -> tuple[str, ...]:
    from pytest_personalens.datasets import OFFICIAL_SAMPLES

    users: list[str] = []
    for name in names:
        if name.startswith("file:"):
            file = base / name.removeprefix("file:")
            try:
                lines = file.read_text(encoding="utf-8").splitlines()
            except (OSError, ValueError) as error:  # the path itself may be invalid
                raise input_error(f"personalens_users: cannot read {file}: {error}", code="PL201") from None
            listed = list(filter(None, map(str.strip, lines)))
            problem = f"no user is in {file}; write an id a line, or leave the option out for everybody"
        elif name.startswith("official-"):
            listed = list(OFFICIAL_SAMPLES.get(name, ()))
            problem = (
                f"{name} is no sample of the benchmark's own; known: {', '.join(OFFICIAL_SAMPLES)}; for"
                " others write a file with an id a line and give file:PATH"
            )
        elif (numbers := _NUMBERS.fullmatch(name)) is not None:
            first, last = map(int, numbers.groups())
            listed = list(map(str, range(first, min(last, first + _MOST_NUMBERS) + 1)))
            listed = listed if len(listed) <= _MOST_NUMBERS else []
            problem = (
                f"{name} is no range of numbers of users; give FIRST-LAST, such as 0-49, with at most"
                f" {_MOST_NUMBERS:,} numbers"
            )
        else:
            listed, problem = [name], ""
        if not listed:
            raise input_error(f"personalens_users: {problem}", code="PL106")
        users += listed
    return tuple(dict.fromkeys(users))
