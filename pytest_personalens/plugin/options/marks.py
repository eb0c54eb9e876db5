"""What the marks of a test say: its settings, and a scenario for a user that it describes."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from pytest_personalens.core.errors import NothingFits, SpecError, short_repr
from pytest_personalens.core.frozen import clean
from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.names import FIRST_SUITE, SUITES
from pytest_personalens.core.options.gate import CRITERION_GATE
from pytest_personalens.core.options.option_table import BY_KEY, OPTIONS, threshold
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import GoalPart, Scenario, ScenarioRef, Task
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


#: The domain and the stratum of the scenario of a persona.
DOMAIN: Final = "Personas"
STRATUM: Final = "persona"
#: The preference type that holds what a persona says of somebody.
_ABOUT: Final = "About them"
_LONGEST: Final = 4000
_CLAUSE: Final = re.compile(r"\s*[;,\n]\s*|[.!?](?:\s+|$)")
_NAME: Final = re.compile(r"(?:[^\W\d_a-z][\w'-]*\s?){1,3}")
_AGE: Final = re.compile(r"(?:aged? )?\d{1,3}(?: years old)?", re.IGNORECASE)
#: The beginning of a thing, and not of a deed.
_THING: Final = re.compile(r"(?:an?|the|some|my|one|two|three|four|five|six|\d+)\b", re.IGNORECASE)
_TOLD: Final = re.compile(r"(?:know|learn|hear|find out)\b", re.IGNORECASE)


class Persona(NamedTuple):
    """What a mark says: who the user is, what it wants, and the domain of it."""

    text: str
    wants: str
    domain: str


def persona_of(marks: Sequence[pytest.Mark], where: str) -> Persona | None:
    """Return what the closest mark with a persona says, if any has one; raise `SpecError` for half of it."""
    mark = next((mark for mark in marks if any(key in mark.kwargs for key in PERSONA)), None)
    if mark is None:
        return None
    for key in PERSONA:
        if key not in mark.kwargs:
            other = next(other for other in PERSONA if other != key)
            raise mark_error(where, f"personalens({other}=...): give {key} too")
        value = mark.kwargs[key]
        if not isinstance(value, str) or not re.search(r"\w", value):
            expected = f"expected a text with words, not {short_repr(value)}"
            raise mark_error(where, f"personalens({key}=...): {expected}")
        if len(value) > _LONGEST:
            long = f"{len(value):,} characters; at most {_LONGEST:,}"
            raise mark_error(where, f"personalens({key}=...): {long}")
    suite = mark.kwargs.get("suite", FIRST_SUITE)
    if suite != FIRST_SUITE:
        only = f"only in the suite {FIRST_SUITE}, not in {short_repr(suite)}"
        raise mark_error(where, f"personalens(persona=...): {only}")
    domain = mark.kwargs.get("domain", DOMAIN)
    if not isinstance(domain, str) or not domain.strip():
        one = f"a persona has one domain, as a text, not {short_repr(domain)}"
        raise mark_error(where, f"personalens(domain=...): {one}")
    text, wants = clean(mark.kwargs["persona"]), clean(mark.kwargs["wants"])
    return Persona(" ".join(text.split()), wants.strip(), clean(domain).strip())


def ref_of(persona: Persona, test: str) -> ScenarioRef:
    """Return the name of the scenario of a persona in a test function; one user for one persona."""
    who = slug(_name(persona.text) or " ".join(persona.text.split()[:3]))[:24].strip("-")
    digest = hashlib.sha256(persona.text.encode()).hexdigest()[:4]
    task = slug(test.removeprefix("test_")) or "task"
    return ScenarioRef(f"{who}-{digest}".strip("-"), task, "single", (persona.domain,), STRATUM)


def scenario_of(persona: Persona, ref: ScenarioRef) -> Scenario:
    """Return the scenario: each clause of the persona is a preference, if it is no name, age or wish."""
    from pytest_personalens.agents.embedded.reader.text import mentions
    from pytest_personalens.agents.embedded.user.voice import first_person

    name, goal = _name(persona.text), _goal(persona.wants)
    clauses = dict.fromkeys(filter(None, (c.strip() for c in _CLAUSE.split(persona.text))))
    known = tuple(c for c in clauses if c != name and not _AGE.fullmatch(c) and not mentions(c, goal))
    return Scenario(
        id=ref.id,
        user=ref.user,
        name=name,
        dataset="personas of marks",
        kind="single",
        domains=ref.domains,
        demographics={"persona": persona.text},
        preferences={persona.domain: {_ABOUT: known}} if known else {persona.domain: {}},
        summaries={},
        task=Task(
            id=ref.task,
            description=persona.wants,
            intent=f"You want to {goal}.",
            goal=goal,
            relevant=((persona.domain, _ABOUT),) if known else (),
            parts=(
                GoalPart(text=goal, kind="told" if _TOLD.match(goal) else "done", ask=first_person(goal)),
            ),
        ),
    )


def _name(text: str) -> str:
    """Return the name at the head of a persona, such as ``Mia`` in "Mia, 34, vegetarian"; else nothing."""
    first = _CLAUSE.split(text, maxsplit=1)[0].strip()
    return first if _NAME.fullmatch(first) else ""


def _goal(wants: str) -> str:
    """Return the wish as a deed: "a table" is "get a table", and "to book one" is "book one"."""
    goal = re.sub(r"^to\s+", "", " ".join(wants.split()).rstrip(".! "), flags=re.IGNORECASE)
    return f"get {goal}" if _THING.match(goal) else goal
