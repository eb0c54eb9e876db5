"""Scores one or two files of stored outputs, and decides gates on them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options.gate_expression import read_gate
from pytest_personalens.reports.tables.published import table_with_published
from pytest_personalens.suites.personaconv.logs.figures import METRICS_BY_NAME, compare_logs, compute_figures
from pytest_personalens.suites.personaconv.logs.log_files import read_logs
from pytest_personalens.suites.personaconv.logs.report import GateOutcome, Scores
from pytest_personalens.suites.personaconv.page.published import published
from pytest_personalens.suites.personaconv.suite import SUITE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.suites.personaconv.logs.figures import LogFigures
    from pytest_personalens.suites.personaconv.scoring.texts import TextScorer
    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName


def read_log_gate(text: str) -> GateExpression:
    """Return a gate that is on a figure of stored outputs. Raise ValueError for any other."""
    gate = read_gate(text, SUITE)
    if gate.metric not in METRICS_BY_NAME:
        raise ValueError(f"stored outputs have no {gate.metric}; known: {', '.join(METRICS_BY_NAME)}")
    return gate


def score_files(
    files: Sequence[Path],
    *,
    kind: Kind,
    protocol: ProtocolName,
    gates: Sequence[GateExpression] = (),
    published_beside: bool = False,
    nltk_data: Path | None = None,
    embedding: str = "",
) -> Scores:
    """Return the figures of the files; two logs are compared line by line.

    Raise `DataError` for a file that cannot be scored, and `SpecError` for a gate or an option that does not
    fit the kind.
    """
    texts = _open_texts(kind, nltk_data, embedding)
    logs = [log for path in files for log in read_logs(path, kind, protocol)]
    scored = [compute_figures(log, kind, protocol, texts) for log in logs]
    compared = [(scored[0], scored[1])] if len(scored) == 2 else []
    tables = []
    if published_beside:
        rows = [(f"{each.log.name}, {len(each.log.rows)} rows", each.overall) for each in scored]
        tables = [table_with_published(SUITE, kind, rows, published(kind, {"protocol": protocol}))]
    return Scores(
        kind,
        protocol,
        texts.identity if texts else "",
        scored,
        [(a.log.name, b.log.name, compare_logs(a, b, kind)) for a, b in compared],
        [_decide(gate, each) for each in scored for gate in gates],
        tables,
    )


def _open_texts(kind: Kind, nltk_data: Path | None, embedding: str) -> TextScorer | None:
    if kind == "next-text":
        from pytest_personalens.suites.personaconv.scoring.texts import TextScorer

        return TextScorer(nltk_data=nltk_data, embedding=embedding)
    for option, value in (("--nltk-data", nltk_data), ("--embedding", embedding)):
        if value:
            raise SpecError(f"{option}: it is of --kind next-text")
    return None


def _decide(gate: GateExpression, scored: LogFigures) -> GateOutcome:
    log = scored.log.name
    domain = scored.domain(gate.group) if gate.group else ""
    if domain is None:
        raise SpecError(f"--gate: {log} has no domain {gate.group!r}; it has {', '.join(scored.by_domain)}")
    values = scored.by_domain[domain] if domain else scored.overall
    if gate.metric not in values:
        kinds = METRICS_BY_NAME[gate.metric].read_in
        of = f"it is of {kinds[0]}; " if kinds else ""
        raise SpecError(f"--gate: no {gate.metric} here: {of}{log} has {', '.join(values)}")
    value, rows = values[gate.metric], scored.count(gate.metric, domain)
    passed = value is not None and not math.isnan(value) and gate.passes(value)
    return GateOutcome(gate, log, value, rows, passed)
