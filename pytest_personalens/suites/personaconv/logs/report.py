"""The figures of stored outputs as terminal text, Markdown, a page or JSON."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.tables.table import PaperTable
from pytest_personalens.suites.personaconv.logs.figures import Difference, rate_ends
from pytest_personalens.suites.personaconv.scoring import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.suites.personaconv.logs.figures import Figured, Values
    from pytest_personalens.suites.personaconv.logs.logs import Scored
    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName

SCHEMA: Final = "personalens-scores/1"
#: The share of all squared errors from which on a single row is reported.
_HEAVY: Final = 0.25


class Decided(NamedTuple):
    """A gate on a log: its value over a number of rows, and its outcome."""

    gate: GateExpression
    log: str
    value: float | None
    rows: int
    passed: bool

    @property
    def text(self) -> str:
        """Return one line, with the interval if the figure is a share of rows."""
        ends = rate_ends(self.gate.metric, self.value, self.rows)
        interval = f" ({ends[0]:.2f} to {ends[1]:.2f})" if ends else ""
        word = "passed" if self.passed else "FAILED"
        said = f"{self.gate.metric} {_shown(self.value)}{interval} over {self.rows} rows"
        return f"gate {self.gate.text}: {word}, {said} of {self.log}"


class Scores(NamedTuple):
    """The results of the command for one or two files of outputs.

    `beside` holds the table with published figures, if it was asked for.
    """

    kind: Kind
    protocol: ProtocolName
    scorer: str
    logs: Sequence[Figured]
    differences: Sequence[tuple[str, str, Difference | str]]
    gates: Sequence[Decided]
    beside: Sequence[PaperTable] = ()

    @property
    def passed(self) -> bool:
        """True if no gate failed."""
        return all(decided.passed for decided in self.gates)


def text(scores: Scores) -> str:
    """Return the scores as text for a terminal."""
    tables = [table.text() for table in _tables(scores)]
    return "\n".join([*tables, *_lines(scores)]).rstrip("\n") + "\n"


def markdown(scores: Scores) -> str:
    """Return the scores as Markdown, for a comment on a pull request."""
    mark = "\u2705" if scores.passed else "\u274c"
    head = f"## {mark} personalens score: {scores.kind}\n"
    lines = [f"- {line}" for line in _lines(scores)]
    return "\n".join([head, *(table.markdown() for table in _tables(scores)), *lines]).rstrip("\n") + "\n"


def page(scores: Scores) -> str:
    """Return the scores as a page without scripts."""
    body = "".join(_section(table) for table in _tables(scores))
    lines = "".join(f"<p>{_safe(line)}</p>" for line in _lines(scores))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="generator" content="pytest-personalens score">'
        "<title>personalens score</title><style>body{font:16px/1.5 sans-serif;margin:2rem}"
        "td,th{padding:.2rem .8rem;text-align:right}td:first-child,th:first-child{text-align:left}"
        f"</style></head><body><h1>personalens score: {scores.kind}</h1>{body}{lines}</body></html>\n"
    )


def data(scores: Scores) -> str:
    """Return the scores as JSON, with every row that was ignored or not read."""
    content = {
        "schema": SCHEMA,
        "suite": "personaconv",
        "kind": scores.kind,
        "protocol": scores.protocol,
        "scorer": scores.scorer,
        "logs": [_log(figured) for figured in scores.logs],
        "differences": [
            {"first": first, "second": second}
            | ({"problem": difference} if isinstance(difference, str) else difference._asdict())
            for first, second, difference in scores.differences
        ],
        "gates": [
            {"gate": d.gate.text, "log": d.log, "value": d.value, "rows": d.rows, "passed": d.passed}
            for d in scores.gates
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _log(figured: Figured) -> dict[str, Any]:
    log = figured.log
    return {
        "name": log.name,
        "rows": len(log.rows),
        "read": sum(1 for row in log.rows if row.read),
        "ignored": [each._asdict() for each in log.ignored],
        "not_read": [{"line": line, "reason": reason} for line, reason in _unread(figured)],
        "overall": figured.overall,
        "domains": figured.by_domain,
        "best_of": {name: {"kept": k, "left_out": z} for name, (k, z) in figured.best.items()},
    }


def _tables(scores: Scores) -> list[PaperTable]:
    return [*(_table(scores, figured) for figured in scores.logs), *scores.beside]


def _table(scores: Scores, figured: Figured) -> PaperTable:
    log = figured.log
    title = (
        f"{log.name}: {scores.kind}, protocol {scores.protocol}, {len(log.rows)} rows,"
        f" {len(log.ignored)} ignored"
    )
    names = list(figured.overall)
    rows = [_cells("all", figured.overall, names, figured.rows())]
    rows += [_cells(d, values, names, figured.rows(d)) for d, values in figured.by_domain.items()]
    notes = [f"line {each.line} ignored: {each.reason}" for each in log.ignored]
    notes += [f"line {line} not read: {reason}" for line, reason in _unread(figured)]
    return PaperTable(
        title, ("domain", "rows", "read", *names), tuple(rows), (*_remarks(scores, figured), *notes)
    )


def _remarks(scores: Scores, figured: Figured) -> Iterator[str]:
    if scores.kind == "impact":
        read = [row for row in figured.log.rows if row.read]
        truths = [float(row.truth) for row in read]
        answers = [float(row.answers[0].value or 0) for row in read]
        heavy = figures.largest_share(truths, answers)
        if heavy is not None and heavy[1] >= _HEAVY and len(read) > 1:
            place, share = heavy
            yield f"one row of {truths[place]:,.6g} carries {share:.0%} of the squared error"
    for name, (kept, left_out) in figured.best.items():
        yield f"best candidate of each row, {name}: {_shown(kept)}, without zeros {_shown(left_out)}"
    if scores.kind == "sentiment" and figured.overall.get("mcc") is None:
        yield "one class only is true, so there is no MCC"


def _lines(scores: Scores) -> Iterator[str]:
    for first, second, difference in scores.differences:
        if isinstance(difference, str):
            yield f"{first} against {second}: {difference}"
        else:
            yield (
                f"{first} against {second}: {difference.metric} better by {difference.better:+.6g}"
                f" over {difference.pairs} pairs (one-sided p of a drop {difference.p:.3f})"
            )
    if scores.scorer:
        yield f"scored by {scores.scorer}"
    for decided in scores.gates:
        yield decided.text


def _unread(figured: Figured) -> Iterator[tuple[int, str]]:
    for row in figured.log.rows:
        if not row.read:
            yield row.line, row.answers[0].reason


def _cells(name: str, values: Values, names: Sequence[str], rows: Sequence[Scored]) -> tuple[str, ...]:
    read = sum(1 for row in rows if row.read)
    return (name, str(len(rows)), str(read), *(_shown(values.get(each)) for each in names))


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _safe(words: str) -> str:
    return html.escape(harmless(words))


def _section(table: PaperTable) -> str:
    head = "".join(f"<th>{_safe(cell)}</th>" for cell in table.header)
    rows = "".join(f"<tr>{''.join(f'<td>{_safe(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    notes = "".join(f"<li>{_safe(note)}</li>" for note in table.notes)
    listed = f"<ul>{notes}</ul>" if notes else ""
    return f"<h2>{_safe(table.title)}</h2><table><tr>{head}</tr>{rows}</table>{listed}"
