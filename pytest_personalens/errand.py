"""What an item wants evaluated: its job, the record that belongs to it, and how to keep what is bought on the way."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.cases import BUILT_IN, case_of
from pytest_personalens.engine import Job, Keep
from pytest_personalens.errors import RecordError
from pytest_personalens.options import OPTIONS, flags_of
from pytest_personalens.records import Journal, RecordStore
from pytest_personalens.redaction import redacted
from pytest_personalens.verdict import Dimension

if TYPE_CHECKING:
    import pytest

    from pytest_personalens.scenario import Context, Scenario
    from pytest_personalens.session import Session
    from pytest_personalens.settings import Settings

#: What lets a run ask paid models.
_BUYING = ("--snapshot-update", "--snapshot-update-new-only", "--personalens-live")
#: Options that shape no item, only the run around it.
_OF_THE_RUN = frozenset(
    {"json", "html", "markdown", "min_tcr", "min_p", "min_valid", "gate", "baseline", "level", "margin", "exit_infra"}
    | {"max_calls", "max_usd", "concurrency", "executor", "shard"}
)  # fmt: skip


class Errand(NamedTuple):
    """A job and its record; `keep` puts what was bought where a crash cannot reach it, or is None where nothing is bought."""

    job: Job
    store: RecordStore
    keep: Keep | None


def errand_of(item: pytest.Item, session: Session, settings: Settings, scenario: Scenario, context: Context) -> Errand | str:
    """What `item` wants evaluated, or what is wrong with its record."""
    store = RecordStore(item, session.folder, session.run)
    try:
        record = store.load()
    except RecordError as error:
        return str(error)
    if record is not None and record.scenario != scenario.id:
        return f"{store.path}: the record belongs to scenario {record.scenario!r}"
    may_spend = settings.live or store.writes
    keeps = session.settings.resume or (session.crew.paid and may_spend)
    bought, this_run, votes = store.load_journal() if keeps else Journal()
    job = Job(
        scenario=scenario,
        context=context,
        dimensions=tuple(Dimension(d) for d in settings.dimensions),
        thresholds=settings.thresholds,
        max_turns=settings.max_turns,
        turn_timeout=settings.turn_timeout,
        records=tuple(r for r in (record, bought) if r is not None),
        may_spend=may_spend,
        where=str(store.path),
        command=rerun(item, "--snapshot-update") if session.crew.paid and not may_spend else "",
        resumable=session.settings.resume,
        broken_off=bought if session.settings.resume and this_run else None,
        votes=votes,
    )
    return Errand(job, store, (lambda evaluation, votes=(): store.keep(evaluation, scenario, votes)) if keeps else None)


def rerun(item: pytest.Item, *extra: str) -> str:
    """The command that runs this item alone, with the options of this run that shape it."""
    config = item.config
    words = ["pytest"]
    for o in OPTIONS:
        if o.key in _OF_THE_RUN:
            continue
        given = config.getoption(o.ini)
        for value in given if isinstance(given, list) else [given] if given is not None else []:
            words += [o.flag, str(value)]
    for override in config.getoption("override_ini") or ():
        words += ["-o", override]
    # The built-in suite has no file that could be named.
    if item.nodeid.startswith(f"{BUILT_IN}::"):
        words += ["-k", f"[{case_of(item).id}]"]
    else:
        words.append(f"{os.path.relpath(item.path, config.invocation_params.dir)}::{item.nodeid.partition('::')[2]}")
    given = flags_of(config)
    words += [*extra, *(flag for flag in _BUYING if flag in given and flag not in extra)]
    return redacted(shlex.join(words))
