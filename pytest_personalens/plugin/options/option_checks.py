"""Checks options together, and against pytest's own view of them; each problem is a `pytest.UsageError`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options.options import BY_KEY, OPTIONS
from pytest_personalens.core.text.parse import list_parts, size_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.options.options import Shape
    from pytest_personalens.core.options.settings import Settings


def flags_of(config: pytest.Config) -> list[str]:
    """Return the words of the command line, without the value of ``--flag=value``."""
    return [str(arg).partition("=")[0] for arg in config.invocation_params.args]


def check_alone(config: pytest.Config) -> None:
    """Refuse options without the sample that they need, and paths that pytest takes for tests."""
    sampled = any(
        config.getoption(key) is not None for key in ("personalens_sample", "personalens_dialogues")
    )
    sampled = sampled or _in_configuration(config, "personalens_sample")
    for flag in () if sampled else _given(config, "gate", "judge check", "report"):
        raise pytest.UsageError(f"{flag}: give --personalens-sample N too; without it there is no run")
    check_paths(config)


def _in_configuration(config: pytest.Config, key: str) -> bool:
    try:
        return config.getini(key) not in (None, "", [])
    except (TypeError, ValueError, pytest.UsageError):  # a value of another type
        return True


def _given(config: pytest.Config, *shapes: Shape) -> list[str]:
    """Return the options on the command line that have one of these shapes."""
    flags = flags_of(config)
    return [o.long for o in OPTIONS if o.shapes in shapes and o.long in flags]


def check_paths(config: pytest.Config) -> None:
    """Refuse a path of an option that pytest takes for a path to tests."""
    words, flags = [str(arg) for arg in config.invocation_params.args], flags_of(config)
    for flag in (o.long for o in OPTIONS if o.path and o.on != "ini"):
        for place in (n + 1 for n, word in enumerate(flags[:-1]) if word == flag == words[n]):
            path = config.invocation_params.dir / words[place]
            # pytest takes an existing path after a space for a path to tests, and then looks for the
            # configuration next to it.
            here = config.invocation_params.dir.resolve()
            with suppress(OSError):  # the name is too long
                if path.exists() and not path.resolve().is_relative_to(here):
                    raise pytest.UsageError(
                        f"{flag}: write {flag}={words[place]}; after a space, pytest takes a path outside"
                        " this folder for tests to run"
                    )


def split_dimensions(
    asked: Sequence[str] | None, values: Mapping[str, Any], source: str = "--personalens-dimensions"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the dimensions that the judge of a run reads, and those of ``all`` that it does not.

    `asked` is what the option names; None for the default of the suite. `values` holds the options by key.
    Raise `pytest.UsageError` for a dimension that is named by itself and that the judge does not read.
    """
    from pytest_personalens.core.suite.suite import get_suite

    suite = get_suite(values["suite"])
    default = suite.default_dimensions(values)
    why_not = {measure.value: why for measure, why in suite.not_scored(values).items()}
    wanted = default if asked is None else tuple(asked)
    lacking = tuple(d for d in wanted if d in why_not)
    if not lacking:
        return wanted, ()
    whole = {*wanted} >= {measure.value for measure in suite.in_all or suite.gated}
    if asked is not None and not whole:
        name = suite.measure(lacking[0]).short
        raise pytest.UsageError(f"{source} {name}: {why_not[lacking[0]]}")
    read = {*wanted, *default} - {*lacking}
    return tuple(m.value for m in suite.measures if m.value in read), lacking


def check_half(config: pytest.Config, values: dict[str, Any]) -> None:
    """Refuse options on the half of a run that this run leaves out, and drop those of the configuration.

    A run that judges stored dialogues has nobody speak. One that only generates them asks no judge. `values`
    holds the options by key.
    """
    dialogues, generate = BY_KEY["dialogues"].long, BY_KEY["generate_only"].long
    flags, more = flags_of(config), dict[str, Any]()
    if values["dialogues"]:
        for key in ("assistant", "user_model", "generate_only"):
            if (flag := BY_KEY[key].long) in flags:
                raise pytest.UsageError(f"{dialogues}: nobody speaks in such a run; leave {flag} out")
            more[key] = BY_KEY[key].default
    if values["generate_only"]:
        gating = [flag for flag in _given(config, "gate", "judge check") if flag != BY_KEY["gate"].long]
        gating += [text for text in _values(config, BY_KEY["gate"].long) if text.lower() != "none"]
        if gating:
            raise pytest.UsageError(
                f"{generate}: nothing is judged, and {gating[0]} asks for scores; leave it out, and give it"
                f" to the run with {dialogues}"
            )
        more |= {"dimensions": (), "not_read": (), "threshold": (), "gate": (), "baseline": None}
    values |= more


def check_settings(config: pytest.Config, settings: Settings) -> None:
    """Refuse options that contradict each other, or have no effect together."""
    _check_paths_given(settings)
    units = [unit for unit, _ in settings.budget]
    if len(set(units)) < len(units):
        raise pytest.UsageError(
            f"--personalens-budget: two caps on {'calls' if units.count('calls') > 1 else 'dollars'};"
            " give one"
        )
    try:
        check_thresholds(settings.threshold, settings.dimensions, "--personalens-threshold")
        if settings.sample is not None:
            _check_dimensions(settings)
        if settings.official_bugs != BY_KEY["official_bugs"].default:
            from pytest_personalens.agents.by_model.official.bugs import mended_bugs

            mended_bugs(settings.official_bugs)
        if settings.sample is not None and settings.asks_for_gates:
            from pytest_personalens.results.gates.gate_expressions import check_expressions

            check_expressions(settings)
        if settings.sample is not None or settings.control:
            settings.of_suite.check(settings._asdict())
    except SpecError as error:
        raise pytest.UsageError(str(error)) from None
    if settings.report_only:
        _check_report_only(config)


def check_thresholds(thresholds: Sequence[tuple[str, float]], dims: Sequence[str], source: str) -> None:
    """Raise `SpecError` for a threshold of a dimension that is not judged."""
    for dim, _ in thresholds:
        if dim not in dims:
            raise SpecError(
                f"{source}: {dim} is not among the dimensions judged ({', '.join(dims)}); add it with"
                " --personalens-dimensions"
            )


def _check_dimensions(settings: Settings) -> None:
    """Raise `SpecError` if no scenario of the kinds that are drawn has a score on any dimension."""
    suite = settings.of_suite
    asked = [measure for measure in suite.measures if measure.value in settings.dimensions]
    kinds = settings.kinds or suite.kinds
    if asked and not any(measure.is_read_in(kind) for measure in asked for kind in kinds):
        names = ", ".join(measure.short for measure in asked)
        raise SpecError(
            f"--personalens-dimensions {names}: no {suite.item} of the kind {', '.join(kinds)} has a score"
            " there, so there is nothing to judge; leave it out"
        )


def _check_paths_given(settings: Settings) -> None:
    """Refuse two options on the judge, and options whose files a shard can neither write nor check."""
    paths = [
        (o, path)
        for o in OPTIONS
        if o.on == "command line"
        and o.path
        and (path := getattr(settings, o.key)) is not None
        and o.shapes != "dialogue"
    ]
    judged = [o.long for o, _ in paths if o.shapes == "judge check"]
    if len(judged) > 1:
        raise pytest.UsageError(
            f"{' and '.join(judged)}: give one of them; a judge is checked against what was adopted before"
        )
    for o, _ in paths if settings.shard is not None else ():
        if o.long in judged:
            raise pytest.UsageError(
                f"{o.long}: the judge is held against whole runs; give it to a run without"
                " --personalens-shard"
            )
        raise pytest.UsageError(f"{o.long}: a shard is a part of a run; give it to personalens merge")


def _check_report_only(config: pytest.Config) -> None:
    """Refuse a gate on the command line of a run in which nothing may fail."""
    option = BY_KEY["gate"]
    texts = [text.strip() for value in config.getoption(option.ini) or () for text in list_parts(value)]
    source = f"{option.long} none" if "none" in map(str.lower, texts) else f"{option.ini} = none"
    # Gates of the configuration belong to other runs too. They are decided, and do not count.
    gating = [flag for flag in _given(config, "gate", "judge check") if flag != option.long]
    gating += [f"{option.long} {text!r}" for text in _values(config, option.long) if text.lower() != "none"]
    if gating:
        raise pytest.UsageError(
            f"{source}: such a run fails on nothing, and {gating[0]} asks for a gate; leave one of them out"
        )


def _values(config: pytest.Config, flag: str) -> list[str]:
    """Return the values of an option on the command line, part by part."""
    words = [str(arg) for arg in config.invocation_params.args]
    after = [words[n + 1] for n, word in enumerate(words[:-1]) if word == flag]
    joined = [word.partition("=")[2] for word in words if word.startswith(f"{flag}=")]
    return [part.strip() for text in (*after, *joined) for part in list_parts(text)]


def without_sample(config: pytest.Config, settings: Settings) -> str:
    """Return what a run leaves undone for want of a sample: options of the command line, or gates."""
    if settings.sample is not None:
        return ""
    if unused := [o.long for o in OPTIONS if o.long in flags_of(config)]:
        have = "has" if len(unused) == 1 else "have"
        return f"{', '.join(unused)} {have} no effect without --personalens-sample N"
    if any(_in_configuration(config, o.ini) for o in OPTIONS if o.shapes == "gate" and o.on == "both"):
        return "there are gates in the configuration and no sample (--personalens-sample N): none is decided"
    return ""


def refuse_an_empty_run(
    config: pytest.Config, settings: Settings, *, planned: bool, left: bool, unfit: str = ""
) -> None:
    """Refuse a run that evaluates nothing, although the command line itself asks for a sample or a gate.

    `planned` says that tests of this plugin were collected, `left` that some of them run, although they need
    no dialogue. `unfit` says of a test why its mark and the command line leave it no item.
    """
    judged = settings.adopt_judge or settings.check_judge  # a check of the judge needs no item
    files = [] if judged else _given(config, "report")
    wanted = {"--personalens-sample", "--personalens-dialogues"}
    here = not wanted.isdisjoint(flags_of(config)) or _given(config, "gate") or (unfit and not planned)
    if (
        not here
        or (judged and not settings.asks_for_gates)
        or settings.shard is not None
        or config.option.collectonly
    ):
        return
    if left and not (settings.asks_for_gates or files or config.option.setuponly):
        return  # these tests check something other than a dialogue
    nothing = (
        "there is nothing for the gates to decide on" if settings.asks_for_gates else "nothing is tested"
    )
    if files and not settings.asks_for_gates:
        nothing = f"{files[0]} has nothing to write"
    if config.option.setuponly:  # --setup-plan sets this too
        raise pytest.UsageError(
            f"--personalens-sample: --setup-only and --setup-plan run no test, so {nothing}; leave them out"
        )
    if unfit and not planned:
        raise pytest.UsageError(f"{unfit}, so {nothing}")
    if planned:
        raise pytest.UsageError(
            f"--personalens-sample: no test that is left asks for the fixture personalens, so {nothing}; ask"
            " for it and call personalens.check(), or see what the selection (-k, -m, --lf, --deselect)"
            f" leaves of those that do: the sample of {size_text(settings.sample or 0)} is drawn first, and"
            " what fits them may not be in it (restrict the draw with --personalens-domain,"
            " --personalens-kind or --personalens-users)"
        )
    raise pytest.UsageError(
        f"--personalens-sample: no test of what was collected asks for the fixture personalens, so {nothing}:"
        " the built-in suite runs only where no paths are given; leave them out, or write a test: def"
        " test_it(personalens): personalens.check()"
    )


def hint_of_node_ids(config: pytest.Config, sample: int | None) -> list[str]:
    """Return advice on node ids that were not found, if they may be those of items of this plugin."""
    for arg in config.args:
        file, _, rest = arg.partition("::")
        path = config.invocation_params.dir / file
        if rest.endswith("]") and path.is_file() and b"personalens" in path.read_bytes():
            missing = (
                "give --personalens-sample N, as the run did"
                if sample is None
                else "the sample of this run may lack its scenario"
            )
            same = "the same N, --personalens-seed and restrictions"
            return [f"personalens: if {arg} is an item of a scenario: {missing} ({same})"]
    return []
