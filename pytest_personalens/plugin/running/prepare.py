"""Makes the job of an item, with its context and its record, and the commands that repeat it or its run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_personalens.core.safe_text import redact, shell_line
from pytest_personalens.engine.job import Job
from pytest_personalens.engine.record import OtherRecords
from pytest_personalens.models.tape import TapeRules
from pytest_personalens.plugin.running.items import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pytest

    from pytest_personalens.core.scenario import Context
    from pytest_personalens.plugin.running.run import Run
    from pytest_personalens.plugin.stored.record_snapshots import RecordStore

#: Options that a command for writing records leaves out, because it must not accept the team's snapshots too.
_SNAPSHOTS = ("--snapshot-update", "--snapshot-update-new-only")
_RECORD = "--personalens-record"


def job_of(item: pytest.Item, run: Run, store: RecordStore, context: Context, content: str = "") -> Job:
    """Return the job of the item, or raise `RecordError` if its record cannot be used."""
    spec, scenario, case = spec_of(item), store.scenario, store.case
    settings = spec.settings
    anew = settings.record == "all"
    return Job(
        scenario=scenario,
        context=context,
        dimensions=settings.of_suite.measures_of(scenario, settings.readings),
        thresholds=settings.thresholds,
        max_turns=settings.max_turns,
        turn_timeout=settings.turn_timeout,
        rules=TapeRules(
            where=str(store.path),
            may_spend=settings.may_spend,
            anew=anew,
            keeps_all=run.settings.resume,
            writes=store.writes,
            run=run.state.id,
            item=item.nodeid,
        ),
        record=store.load(),
        case=case,
        content=content,
        elsewhere=OtherRecords(str(item.config.rootpath), str(store.path), case)
        if run.participants.paid and not anew
        else None,
        resumable=run.settings.resume,
        stored=None if run.stored is None else run.stored_dialogue(spec),
        manner=spec.manner,
    )


def rerun_command(config: pytest.Config, nodeids: Iterable[str], words: Sequence[str] = ()) -> str:
    """Return the command that runs these items alone, with the options that shape them, and more `words`."""
    from pytest_personalens.reports.content.findings import ITEM_OPTIONS, selection

    def path(file: str) -> str:
        return os.path.relpath(config.rootpath / file, config.invocation_params.dir)

    line = ["pytest", *_configuration(config)]
    for o in ITEM_OPTIONS:
        setting = config.getoption(o.ini, None)
        if o.flag:
            line += [o.long] if setting else []
            continue
        for value in setting if isinstance(setting, list) else [setting] if setting is not None else []:
            line += [o.long, str(value)]
    return redact(shell_line([*line, *words, *selection(nodeids, path)]))


def record_command(config: pytest.Config) -> str:
    """Return the command of this run, changed to write missing and stale records."""
    words: list[str] = []
    arguments = iter(str(arg) for arg in config.invocation_params.args)
    for word in arguments:
        if word == _RECORD:
            next(arguments, None)
        elif word not in _SNAPSHOTS and not word.startswith(f"{_RECORD}="):
            words.append(word)
    end = words.index("--") if "--" in words else len(words)
    return redact(shell_line(["pytest", *words[:end], _RECORD, "new", *words[end:]]))


def _configuration(config: pytest.Config) -> list[str]:
    """Return the words of the command line that replace values of the configuration."""
    file = config.getoption("inifilename", default=None)
    values = config.getoption("override_ini", default=None) or []
    # pytest 9 turns --strict-markers and its like into such values; they make no other run.
    shaping = [str(value) for value in values if not str(value).startswith("strict")]
    return [*(["-c", str(file)] if file else []), *(word for value in shaping for word in ("-o", value))]
