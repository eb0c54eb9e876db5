"""Checks options together, and against pytest's own view of them; each problem is a `pytest.UsageError`."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options.option_table import BY_KEY, OPTIONS, list_parts, size_text
from pytest_personalens.plugin.input_errors import input_error
from pytest_personalens.plugin.pytest_internals import overridden_keys, written_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.options.option_table import Shape
    from pytest_personalens.core.options.settings import Settings


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
                place = "-o" if key in overridden_keys(config) or config.inipath is None else config.inipath
                with suppress(ValueError):  # on another drive
                    place = os.path.relpath(place, config.invocation_params.dir) if place != "-o" else place
                raise input_error(f"{place}: unknown key {key!r}{_hint(key, known)}") from None
    options = {option.key.upper(): option.called for option in OPTIONS}
    for name in (name for name in os.environ if name.startswith("PERSONALENS_")):
        rest = name.removeprefix("PERSONALENS_")
        meant = "" if rest in _VARIABLES else _nearest(rest, (*_VARIABLES, *options), _SIMILAR)
        if meant in options:
            told = f"no option is read from the environment; give {options[meant]}, or unset the variable"
            raise input_error(f"{name}: {told}")
        if meant:
            raise input_error(f"{name}: unknown variable; did you mean PERSONALENS_{meant}? Or unset it")


def unknown_mark(config: pytest.Config, marks: Iterable[pytest.Mark]) -> str:
    """Return what is wrong with a mark whose name begins as ours, and that nobody registered, or ""."""
    for name in (mark.name for mark in marks if mark.name.casefold().startswith(_PREFIX)):
        lines = map(str, config.getini("markers"))
        registered = [line.partition(":")[0].partition("(")[0].strip() for line in lines]
        if name not in registered:
            return f"unknown mark {name!r}{_hint(name, registered)}"
    return ""


def _hint(name: str, known: Sequence[str]) -> str:
    meant = _nearest(name.casefold().replace("-", "_"), known, 0.0)
    return f"; did you mean {meant}?" if meant else ""


def _nearest(name: str, known: Sequence[str], least: float) -> str:
    from difflib import get_close_matches  # needed only after an error

    return next(iter(get_close_matches(name, known, 1, least)), "")


def _given(config: pytest.Config, *shapes: Shape) -> dict[str, list[str]]:
    """Return the options that the command line itself gives, with their texts; all, or those of a shape."""
    words = [str(arg) for arg in config.invocation_params.args]
    given: dict[str, list[str]] = {}
    for o in OPTIONS:
        after = [words[n + 1] for n, word in enumerate(words[:-1]) if word == o.long]
        joined = [word.partition("=")[2] for word in words if word.startswith(f"{o.long}=")]
        if (after or joined or o.long in words) and (not shapes or o.shapes in shapes):
            given[o.long] = [*after, *joined]
    return given


def check_alone(config: pytest.Config) -> None:
    """Refuse options without the sample that they need, and paths that pytest takes for tests."""
    keys = ("personalens_sample", "personalens_dialogues")
    estimate = [BY_KEY["estimate"].long] if config.getoption("personalens_estimate") else []
    given = (*_given(config), *estimate)
    if (
        given
        and all(config.getoption(key) is None for key in keys)
        and _in_configuration(config, keys[0]) is None
    ):
        told = f"{given[0]}: give --personalens-sample N too; without it there is no run"
        raise input_error(told, code="PL108")
    check_paths(config)


def _in_configuration(config: pytest.Config, key: str) -> Any:
    """Return the value of a key, None where it has none; one that pytest cannot read is the key's name."""
    try:
        value = config.getini(key)
    except (TypeError, ValueError, pytest.UsageError):  # a value of another type
        return key
    return None if value in ("", []) else value


def check_paths(config: pytest.Config) -> None:
    """Refuse a path of an option that pytest takes for a path to tests."""
    words, here = [str(arg) for arg in config.invocation_params.args], config.invocation_params.dir
    flags = {o.long for o in OPTIONS if o.path and o.on != "ini"}
    for flag, text in ((flag, text) for flag, text in pairwise(words) if flag in flags):
        # pytest takes an existing path after a space for a path to tests, and then looks for the
        # configuration next to it.
        with suppress(OSError):  # the name is too long
            if (here / text).exists() and not (here / text).resolve().is_relative_to(here.resolve()):
                why = "after a space, pytest takes a path outside this folder for tests to run"
                raise input_error(f"{flag}: write {flag}={text}; {why}", code="PL104")


def split_dimensions(
    asked: Sequence[str] | None, values: Mapping[str, Any], source: str = "--personalens-dimensions"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the dimensions that the judge of a run reads, and those of ``all`` that it does not.

    `asked` is what the option names; None for the default of the suite. `values` holds the options by key.
    Raise `pytest.UsageError` for a dimension that is named by itself and that the judge does not read.
    """
    from pytest_personalens.core.suite import get_suite

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
        raise input_error(f"{source} {name}: {why_not[lacking[0]]}", code="PL108")
    read = {*wanted, *default} - {*lacking}
    return tuple(m.value for m in suite.measures if m.value in read), lacking


def check_half(config: pytest.Config, values: dict[str, Any]) -> None:
    """Drop options of the configuration on the half of a run that this run leaves out.

    A run that judges stored dialogues has nobody speak. One that only generates them asks no judge. `values`
    holds the options by key. Raise `pytest.UsageError` for options of the command line that exclude each
    other.
    """
    given, judged = _given(config), list(_given(config, "judge check"))
    gate, shard, save = (BY_KEY[key].long for key in ("gate", "shard", "save_baseline"))
    texts = [part.strip() for text in given.get(gate, ()) for part in list_parts(text)]
    gates = [flag for flag in _given(config, "gate", "judge check") if flag != gate]
    gates += [f"{gate} {text!r}" for text in texts if text.lower() != "none"]
    speaking = [o.long for o in map(BY_KEY.get, _OF_PLAY) if o and o.long in given]
    is_here = any(text.lower() == "none" for text in texts)
    report_only = f"{gate} none" if is_here else f"{BY_KEY['gate'].ini} = none"
    failing, saving = ([flag for flag in gates if (flag == save) == saves] for saves in (False, True))
    for holds, first, others, why in (
        (values["dialogues"], BY_KEY["dialogues"].long, speaking, "nobody speaks in such a run"),
        (values["generate_only"], BY_KEY["generate_only"].called, gates, "nothing is judged in such a run"),
        (judged, "".join(judged[:1]), judged[1:], "a judge is checked against an earlier one"),
        (values["shard"], shard, judged, "the judge is held against whole runs"),
        (values["shard"], shard, saving, "a shard is a part of a run; give it to personalens merge"),
        (values["report_only"], report_only, failing, "such a run fails on nothing"),
    ):
        if holds and others:
            raise input_error(f"{first}: not allowed with {others[0]}: {why}", code="PL102")
    if values["dialogues"]:
        values |= {key: BY_KEY[key].default for key in (*_OF_PLAY, "manner")}
    if values["generate_only"]:
        values |= dict.fromkeys(("dimensions", "criteria", "not_read", "threshold", "gate"), ())
        values |= dict.fromkeys(("calibration", "baseline"))


#: The options of who speaks, how often, and if somebody judges.
_OF_PLAY: Final = ("assistant", "user_model", "generate_only", "trials")


def check_settings(settings: Settings) -> None:
    """Refuse options that contradict each other, or have no effect together."""
    try:
        check_thresholds(settings.threshold, settings.readings, "personalens_threshold")
        if settings.sample is not None:
            _check_dimensions(settings)
        if settings.official_bugs != BY_KEY["official_bugs"].default:
            from pytest_personalens.agents.by_model.official_prompts import mended_bugs

            mended_bugs(settings.official_bugs)
        if settings.sample is not None and settings.asks_for_gates:
            from pytest_personalens.core.options.settings import check_expressions

            check_expressions(settings)
        if settings.sample is not None or settings.control:
            settings.of_suite.check(settings)
    except SpecError as error:
        raise input_error(str(error), code=error.code) from None


def check_thresholds(thresholds: Sequence[tuple[str, float]], dims: Sequence[str], source: str) -> None:
    """Raise `SpecError` for a threshold of a dimension that is not judged."""
    for dim, _ in thresholds:
        if dim not in dims:
            raise SpecError(
                f"{source}: {dim} is not among the dimensions judged ({', '.join(dims)}); add it with"
                " --personalens-dimensions",
                code="PL108",
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
            " there, so there is nothing to judge; leave it out",
            code="PL108",
        )


def undecided_gates(config: pytest.Config) -> list[str]:
    """Return the keys of the configuration that ask for a gate; ``none`` asks for none."""
    options = [o for o in OPTIONS if o.shapes == "gate" and o.on == "both"]
    asked = {o.ini: value for o in options if (value := _in_configuration(config, o.ini)) is not None}
    gates = asked.get(BY_KEY["gate"].ini)
    if isinstance(gates, list) and any(str(text).strip().lower() == "none" for text in gates):
        del asked[BY_KEY["gate"].ini]
    return list(asked)


def refuse_an_empty_run(
    config: pytest.Config,
    settings: Settings,
    *,
    planned: bool,
    left: bool,
    unfit: str = "",
    unjudged: bool = False,
) -> None:
    """Refuse a run that evaluates nothing, although the command line itself asks for a sample or a gate.

    `planned` says that tests of this plugin were collected, `left` that some of them run, although they need
    no dialogue. `unfit` says of a test why its mark and the command line leave it no item; `unjudged`, that
    tests led dialogues, and had none judged.
    """
    judged = settings.adopt_judge or settings.check_judge  # a check of the judge needs no item
    wanted = {"--personalens-sample", "--personalens-dialogues", *_given(config, "gate")}
    here = not wanted.isdisjoint(_given(config)) or (unfit and not planned)
    apart = settings.shard is not None or config.option.collectonly
    if not here or apart or (judged and not settings.asks_for_gates):
        return
    if left and not (settings.asks_for_gates or settings.report or config.option.setuponly):
        return  # these tests check something other than a dialogue
    nothing = "nothing is tested"
    if settings.asks_for_gates:
        nothing = "there is nothing for the gates to decide on"
    if unfit and not planned:
        raise input_error(f"{unfit}, so {nothing}", code="PL103")
    if unjudged:
        raise input_error(
            f"no test lets its dialogue be judged, so {nothing}; end one with personalens.check() or"
            " personalens.evaluate(), or give --personalens-gate none",
            code="PL103",
        )
    raise input_error(
        f"--personalens-sample: no test that is left asks for the fixture personalens and is run, so"
        f" {nothing}; write one: def test_it(personalens): personalens.check(); give no path, so that the"
        " built-in suite runs; or see what the selection (-k, -m, --lf, --setup-only) leaves of the"
        f" sample of {size_text(settings.sample or 0)}, which is drawn first (--personalens-domain,"
        " --personalens-kind and personalens_users restrict the draw)",
        code="PL103",
    )
