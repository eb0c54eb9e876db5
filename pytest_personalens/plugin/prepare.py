"""What an item wants evaluated: its job, the record that belongs to it, and how to keep what is bought on the way."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.options import OPTIONS
from pytest_personalens.core.redaction import redacted
from pytest_personalens.core.verdict import Dimension
from pytest_personalens.engine.job import Job, Keep
from pytest_personalens.engine.other_records import OtherRecords
from pytest_personalens.plugin.items import BUILT_IN, spec_of
from pytest_personalens.plugin.records import Journal, RecordStore

if TYPE_CHECKING:
    import pytest

    from pytest_personalens.core.scenario import Context, Scenario
    from pytest_personalens.core.settings import Settings
    from pytest_personalens.plugin.run import Run

#: What a command that writes records leaves out of the run's own: it must not accept the team's snapshots on the way.
_SNAPSHOTS = ("--snapshot-update", "--snapshot-update-new-only")
_RECORD = "--personalens-record"


class Prepared(NamedTuple):
    """A job and its record; `keep` puts what was bought where a crash cannot reach it, or is None where nothing is bought."""

    job: Job
    store: RecordStore
    keep: Keep | None


def prepare(item: pytest.Item, session: Run, settings: Settings, scenario: Scenario, context: Context) -> Prepared | str:
    """What `item` wants evaluated, or what is wrong with its record."""
    anew = settings.record == "all"
    store = RecordStore(item, session.folder, session.run, settings.record)
    try:
        records = store.load(scenario.id)
    except RecordError as error:
        return str(error)
    keeps = session.settings.resume or (session.participants.paid and settings.may_spend)
    bought, this_run, votes = store.load_journal() if keeps else Journal()
    if anew and not this_run:
        bought, votes = None, ()
    records += (bought,) if bought is not None else ()
    others = OtherRecords(str(item.config.rootpath), str(store.path), spec_of(item).id, scenario.id)
    job = Job(
        scenario=scenario,
        context=context,
        dimensions=tuple(Dimension(d) for d in settings.dimensions),
        thresholds=settings.thresholds,
        max_turns=settings.max_turns,
        turn_timeout=settings.turn_timeout,
        records=records,
        may_spend=settings.may_spend,
        where=str(store.path),
        elsewhere=others if session.participants.paid and not anew else None,
        resumable=session.settings.resume,
        broken_off=bought if session.settings.resume and this_run else None,
        votes=votes,
    )
    return Prepared(job, store, (lambda evaluation, votes=(): store.keep(evaluation, scenario, votes)) if keeps else None)


def rerun(item: pytest.Item) -> str:
    """The command that runs this item alone, with the options of this run that shape it."""
    config = item.config
    words = ["pytest", *_configuration(config)]
    # Not the shard: the item is in the whole sample too.
    for o in (o for o in OPTIONS if o.shapes in ("sample", "dialogue", "score", "record") and o.key != "shard"):
        given = config.getoption(o.ini, None)
        for value in given if isinstance(given, list) else [given] if given is not None else []:
            words += [o.long, str(value)]
    # The built-in suite has no file that could be named.
    if item.nodeid.startswith(f"{BUILT_IN}::"):
        words += ["-k", f"[{spec_of(item).id}]"]
    else:
        words.append(f"{os.path.relpath(item.path, config.invocation_params.dir)}::{item.nodeid.partition('::')[2]}")
    return redacted(shlex.join(words))


def record_command(config: pytest.Config) -> str:
    """The command line of this run, such that it writes the records that are missing or stale."""
    words: list[str] = []
    given = iter(str(arg) for arg in config.invocation_params.args)
    for word in given:
        if word == _RECORD:
            next(given, None)
        elif word not in _SNAPSHOTS and not word.startswith(f"{_RECORD}="):
            words.append(word)
    end = words.index("--") if "--" in words else len(words)
    return redacted(shlex.join(["pytest", *words[:end], _RECORD, "new", *words[end:]]))


def _configuration(config: pytest.Config) -> list[str]:
    """What the command line puts in the place of the configuration, or of values in it: without that it is another run."""
    file = config.getoption("inifilename", default=None)
    values = config.getoption("override_ini", default=None) or []
    return [*(["-c", str(file)] if file else []), *(word for value in values for word in ("-o", str(value)))]
