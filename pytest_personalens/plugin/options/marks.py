"""The settings of one test: its marks, where the command line says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import NothingFits, SpecError, short_repr
from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.names import SUITES
from pytest_personalens.core.options.gate import CRITERION_GATE
from pytest_personalens.core.options.option_table import BY_KEY, OPTIONS, threshold
from pytest_personalens.plugin.input_errors import input_error
from pytest_personalens.plugin.options.option_checks import check_thresholds, split_dimensions
from pytest_personalens.plugin.options.read_options import read_value
from pytest_personalens.plugin.pytest_internals import is_on_command_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.suite import Suite

#: The keywords of a mark that describes its user.
PERSONA: Final = ("persona", "wants")
#: What selects scenarios: a mark and the command line narrow each other.
_NARROW: Final = ("sample", "domain", "kind")


def mark_error(where: str, problem: str) -> SpecError:
    """Return an error about a mark of the test `where`."""
    return SpecError(f"{where}: {problem}", code="PL107")


def settings_of(run: Settings, config: pytest.Config, marks: Sequence[pytest.Mark], where: str) -> Settings:
    """Return the settings of one test: an option before the closest mark, and that before the ini file.

    What selects scenarios (`sample`, `domain`, `kind`) narrows: the option and the mark hold both, as with
    ``-k`` and ``-m``. Raise `NothingFits` if no kind is left, and `SpecError` for an invalid mark.
    """
    from pytest_personalens.core.suite import other_suites

    changed: dict[str, Any] = {}
    for mark in reversed(marks):
        if mark.args:
            only = "the mark personalens takes keywords only"
            raise mark_error(where, f"{only}, not {short_repr(mark.args[0])}")
        has_persona = any(key in mark.kwargs for key in PERSONA)
        # A threshold may be one of the mark's own criteria.
        for key, value in sorted(mark.kwargs.items(), key=lambda keyword: keyword[0] != "criteria"):
            if key in PERSONA or (has_persona and key == "domain"):
                continue
            option = BY_KEY.get(key)
            if option is None or not option.mark:
                suite = run.of_suite.with_criteria(changed.get("criteria", ()))
                if key in (short := _short_thresholds(suite)):
                    measured = _mark_threshold(suite, key, value, where)
                    changed.setdefault("threshold", {}).update([measured])
                    continue
                if any(key in _short_thresholds(other) for other in other_suites(run.suite)):
                    continue
                known = ", ".join((*PERSONA, *(o.key for o in OPTIONS if o.mark), *short))
                raise mark_error(where, f"unknown keyword {key!r} of the mark personalens; known: {known}")
            source = f"{where}: personalens({key}=...)"
            try:
                read = read_value(option, value, source, run.suite, configured=True)
                if read is None or key in run.of_suite.lacks:  # the test may run under several suites
                    continue
                if key == "dimensions":
                    read, _ = split_dimensions(read, run._asdict(), source)
            except pytest.UsageError as error:
                raise SpecError(str(error), code=getattr(error, "code", "")) from None
            if key == "threshold":
                changed.setdefault("threshold", {}).update(read)
            elif key == "criteria":
                changed[key] = _joined(changed.get(key, run.criteria), read, config, where)
            else:
                changed[key] = read
    if "threshold" in changed:
        changed["threshold"] = tuple({**dict(run.threshold), **changed["threshold"]}.items())
    if run.generate_only:
        changed = {k: v for k, v in changed.items() if k not in ("dimensions", "threshold", "criteria")}
    here = {k for k in changed if is_on_command_line(config, BY_KEY[k].ini)}
    if "sample" in here:
        changed["sample"] = min(changed["sample"], run.sample or changed["sample"])
    if "kind" in here:
        changed["kind"] = _common(changed["kind"], run.kind, run.of_suite)
    settings = run._replace(
        **{k: v for k, v in changed.items() if k not in here or k in _NARROW or k == "criteria"}
    )
    check_thresholds(settings.threshold, settings.readings, where)
    return settings


#: The criteria of a run, those in marks as well: short name -> long name.
CRITERIA: Final = pytest.StashKey[dict[str, str]]()


def _joined(before: Sequence[str], more: Sequence[str], config: pytest.Config, where: str) -> tuple[str, ...]:
    """Return both lists of criteria; `SpecError` if one has the name of another criterion of this run."""
    names = config.stash.setdefault(CRITERIA, {})
    for criterion in (*before, *more):
        short = get_measure(criterion).short
        if names.setdefault(short, criterion) != criterion:
            other = short_repr(names[short].partition(": ")[2], 60)
            problem = f"{short} is also the name of another criterion of this run: {other}"
            raise mark_error(where, f"personalens(criteria=...): {problem}; give one another name")
    return tuple(dict.fromkeys((*before, *more)))


def refuse_unknown_criteria(config: pytest.Config, run: Settings) -> None:
    """Raise `pytest.UsageError` for a gate on a criterion that neither the run nor a mark has."""
    known = {get_measure(name).short for name in run.criteria} | {*config.stash.get(CRITERIA, {})}
    for gate in run.gate:
        if gate.metric == CRITERION_GATE and gate.of not in known:
            names = ", ".join(sorted(known)) or "none"
            told = f"--personalens-gate: {gate.name}: no test has it; known: {names}"
            raise input_error(told, code="PL108")


def _common(one: str, other: str, suite: Suite) -> str:
    """Return the kinds that both values of `kind` name."""
    first, second = (set(suite.kinds if kind == "all" else kind.split(",")) for kind in (one, other))
    if not (both := [kind for kind in suite.kinds if kind in first & second]):
        raise NothingFits(f"no {suite.item} is of the kinds asked for")
    return "all" if len(both) == len(suite.kinds) else ",".join(both)


def why_nothing_fits(config: pytest.Config, marks: Sequence[pytest.Mark], where: str, suite: Suite) -> str:
    """Return why a test has no item, if its marks and the command line have nothing in common."""
    said = (keyword for mark in marks for keyword in mark.kwargs.items())
    of_marks = [f"{key}={value!r}" for key, value in said if key in ("domain", "kind")]
    of_line = [
        f"{option.long} {','.join([value] if isinstance(value, str) else value)}"
        for option in (BY_KEY[key] for key in ("domain", "kind", "users"))
        if (value := config.getoption(option.ini, None))
    ]
    if not of_marks or not of_line:
        return ""
    return (
        f"personalens: {where}: no {suite.item} fits both its mark ({', '.join(of_marks)}) and the command"
        f" line ({' '.join(of_line)})"
    )


def suite_of_marks(marks: Sequence[pytest.Mark], run: Settings, where: str) -> str:
    """Return the suite that the closest mark names, else that of the run; `SpecError` if it is unknown."""
    named = next((mark.kwargs["suite"] for mark in marks if "suite" in mark.kwargs), run.suite)
    if not isinstance(named, str) or named not in SUITES:
        expected = f"expected one of: {', '.join(SUITES)}"
        raise mark_error(where, f"personalens(suite={short_repr(named)}): {expected}")
    return named


def _short_thresholds(suite: Suite) -> dict[str, Measure]:
    return {measure.short.replace("-", "_"): measure for measure in suite.measures}


def _mark_threshold(suite: Suite, key: str, value: object, where: str) -> tuple[str, int | float]:
    measure = _short_thresholds(suite)[key]
    way = ">=" if measure.better == "high" else "<="
    try:
        return threshold(f"{measure.short}{way}{int(value) if isinstance(value, bool) else value}", suite)
    except SpecError as error:
        told = f"{where}: personalens({key}={short_repr(value)}): {error}"
        raise SpecError(told, code=error.code) from None
    except Exception as error:  # also raised by the __str__ of a custom value
        problem = error if isinstance(error, ValueError) else "expected a whole number"
        raise mark_error(where, f"personalens({key}={short_repr(value)}): {problem}") from None
