"""The settings of a run as the command line that asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.measure import CRITERION
from pytest_personalens.core.options.gate import GateExpression
from pytest_personalens.core.options.options import OPTIONS
from pytest_personalens.core.text.node_ids import BUILT_IN, file_of, within_file
from pytest_personalens.core.text.safe_text import shell_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_personalens.core.options.options import Option
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


#: What shapes the dialogue and the verdicts of a single item. Not the shard: it is in the whole sample too.
ITEM_OPTIONS: Final = tuple(
    o for o in OPTIONS if o.shapes in ("sample", "dialogue", "score", "record") and o.key != "shard"
)


def command_line(settings: Mapping[str, Any], suite: Suite, *, of_item: bool = False) -> str:
    """``pytest --personalens-sample 30 ...``: every option whose value is not its default, or with `of_item`
    those of them that shape a single item. What was asked for in the configuration is written as options too,
    and keys of the configuration alone as ``-o``. Options that say where reports go are in no results.
    """
    words = ["pytest"]
    lacking = {measure.value for measure in suite.not_scored(settings)}
    read = [name for name in suite.default_dimensions(settings) if name not in lacking]
    defaults = {**suite.defaults, "dimensions": read}
    for option in OPTIONS:
        value, default = settings.get(option.key), defaults.get(option.key, option.default)
        # A results file holds lists where the settings have tuples.
        value, default = (list(v) if isinstance(v, tuple) else v for v in (value, default))
        if option.shapes == "report" or (of_item and option not in ITEM_OPTIONS):
            continue
        is_default = value in (None, (), False, default)
        # Some suites have a control by default.
        if is_default or (value == [] and not (default and option.key == "control")):
            reset = option.key in settings.get("reset", ())
            words += ["-o", f"{option.ini}={_plain(value, suite) if value else ''}"] if reset else []
            continue
        text = _TEXTS.get(option.key, _plain)(value, suite)
        if option.on == "ini":
            words += ["-o", f"{option.ini}={text}"]
        else:
            words += [option.long] if option.flag else [option.long, text]
    report_only = settings.get("report_only") is True
    if report_only and not of_item:
        words += ["--personalens-gate", "none"]
    if of_item:
        words += gates_off(lambda option: settings.get(option.key) or (option.key == "gate" and report_only))
    return shell_line(words)


def rerun_line(items: Iterable[Item], results: Results) -> str:
    """The command that runs these items alone, each failing by its own scores."""
    command = command_line(results.settings, results.of_suite, of_item=True)
    return f"{command} {shell_line(selection(item.nodeid for item in items))}"


def selection(nodeids: Iterable[str], path: Callable[[str], str] = str) -> list[str]:
    """The words that select these items, with the `path` of a test's file; the built-in suite has no file."""
    built_in, own = [], []
    for file, within in ((file_of(nodeid), within_file(nodeid)) for nodeid in nodeids):
        if file == BUILT_IN:
            built_in.append(f"[{within.partition('[')[2]}")
        else:
            own.append(f"{path(file)}::{within}")
    return [*(["-k", " or ".join(built_in)] if built_in else []), *own]


def gates_off(configured: Callable[[Option], object]) -> list[str]:
    """``-o personalens_gate=``: the words without which the gates that are `configured` would decide, and an
    item that is run alone would pass whatever its scores.
    """
    gates = [o for o in OPTIONS if o.shapes == "gate" and o.on != "command line" and configured(o)]
    return [word for option in gates for word in ("-o", f"{option.ini}=")]


def thresholds_in_force(settings: Mapping[str, Any], suite: Suite) -> str:
    """``tc >= 1, p >= 2``: the scores that an item must reach; empty where it need not reach any."""
    defaults = {measure.value: least for measure, least in suite.thresholds.items()}
    thresholds, read = dict(settings.get("threshold") or ()), settings.get("dimensions") or ()
    limits = [(name, least) for name, least in {**defaults, **thresholds}.items() if name in read]
    return ", ".join(f"{_short(name, suite)} {_sign(name, suite)} {least:g}" for name, least in limits)


def _plain(value: Any, suite: Suite) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _gates(value: Any, suite: Suite) -> str:
    gates = (GateExpression(*gate) for gate in value)
    return ", ".join(gate.text for gate in gates)


def _controls(value: Any, suite: Suite) -> str:
    left, words = list(value), []
    for word, arms in suite.arm_groups.items():
        if set(arms) <= set(left) and (arms or not left):
            words.append(word)
            left = [name for name in left if name not in arms]
    return ",".join([*words, *map(suite.arm_word, left)])


def _sign(name: str, suite: Suite) -> str:
    return "<=" if any(m.value == name and m.better == "low" for m in suite.measures) else ">="


def _short(name: str, suite: Suite) -> str:
    try:
        return suite.measure(name).short
    except SpecError:  # of another version
        return name


_TEXTS: Final[Mapping[str, Callable[[Any, Suite], str]]] = {
    "shard": lambda value, suite: "/".join(map(str, value)),
    "context": lambda value, suite: value or "none",
    "control": _controls,
    "dimensions": lambda value, suite: ",".join(_short(name, suite) for name in value),
    "threshold": lambda value, suite: ",".join(f"{_short(name, suite)}={least:g}" for name, least in value),
    "margin": lambda value, suite: ",".join(f"{_short(name, suite)}={drop:g}" for name, drop in value),
    "criteria": lambda value, suite: "\n".join(name.removeprefix(CRITERION) for name in value),
    "gate": _gates,
    "budget": lambda value, suite: ",".join(f"{most:g}{unit}" for unit, most in value),
}
