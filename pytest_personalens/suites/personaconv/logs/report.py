"""The figures of stored outputs as terminal text, Markdown, a page or JSON."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.tables.table import PaperTable
from pytest_personalens.suites.personaconv.logs.figures import Difference, rate_ends
from pytest_personalens.suites.personaconv.scoring.figures import largest_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.suites.personaconv.logs.figures import LogFigures, Values
    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName

SCHEMA: Final = "personalens-scores/1"
#: The share of all squared errors from which on a single row is reported.
_HEAVY: Final = 0.25
_STYLE: Final = (
    "body{font:16px/1.5 sans-serif;margin:2rem}td,th{padding:.2rem .8rem;text-align:right}"
    "td:first-child,th:first-child{text-align:left}"
)


class GateOutcome(NamedTuple):
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
        found = f"{self.gate.metric} {_shown(self.value)}{interval} over {self.rows} rows of {self.log}"
        return f"gate {self.gate.text}: {'passed' if self.passed else 'FAILED'}, {found}"


class Scores(NamedTuple):
    """The scores of one or two files of outputs; `beside` holds the table with published figures."""

    kind: Kind
    protocol: ProtocolName
    scorer: str
    logs: Sequence[LogFigures]
    differences: Sequence[tuple[str, str, Difference | str]]
    gates: Sequence[GateOutcome]
    beside: Sequence[PaperTable] = ()

    @property
    def passed(self) -> bool:
        """True if no gate failed."""
        return all(outcome.passed for outcome in self.gates)


def text(scores: Scores) -> str:
    """Return the scores as text for a terminal."""
    return "\n".join([*(t.text() for t in _tables(scores)), *_lines(scores)]).rstrip("\n") + "\n"


def markdown(scores: Scores) -> str:
    """Return the scores as Markdown, for a comment on a pull request."""
    mark = "\u2705" if scores.passed else "\u274c"
    head = f"## {mark} personalens score: {scores.kind}\n"
    parts = [head, *(t.markdown() for t in _tables(scores)), *(f"- {line}" for line in _lines(scores))]
    return "\n".join(parts).rstrip("\n") + "\n"


def page(scores: Scores) -> str:
    """Return the scores as a page without scripts."""
    body = "".join(map(_section, _tables(scores)))
    lines = "".join(f"<p>{_safe(line)}</p>" for line in _lines(scores))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="generator" content="pytest-personalens score">'
        f"<title>personalens score</title><style>{_STYLE}</style></head>"
        f"<body><h1>personalens score: {scores.kind}</h1>{body}{lines}</body></html>\n"
    )


def data(scores: Scores) -> str:
    """Return the scores as JSON, with every row that was ignored or not read."""
    content = {
        "schema": SCHEMA,
        "suite": "personaconv",
        "kind": scores.kind,
        "protocol": scores.protocol,
        "scorer": scores.scorer,
        "logs": [_log(figures) for figures in scores.logs],
        "differences": [
            {"first": first, "second": second}
            | ({"problem": difference} if isinstance(difference, str) else difference._asdict())
            for first, second, difference in scores.differences
        ],
        "gates": [outcome._asdict() | {"gate": outcome.gate.text} for outcome in scores.gates],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _log(figures: LogFigures) -> dict[str, Any]:
    log = figures.log
    return {
        "name": log.name,
        "rows": len(log.rows),
        "read": len(log.rows) - len(log.unread),
        "ignored": [each._asdict() for each in log.ignored],
        "not_read": [{"line": row.line, "reason": row.answers[0].reason} for row in log.unread],
        "overall": figures.overall,
        "domains": figures.by_domain,
        "best_of": {name: {"kept": k, "left_out": z} for name, (k, z) in figures.best.items()},
    }


def _tables(scores: Scores) -> list[PaperTable]:
    return [*(_table(scores, figures) for figures in scores.logs), *scores.beside]


def _table(scores: Scores, figures: LogFigures) -> PaperTable:
    log, names = figures.log, list(figures.overall)

    def cells(name: str, values: Values, domain: str) -> tuple[str, ...]:
        rows = figures.rows(domain)
        read = sum(1 for row in rows if row.read)
        return (name, str(len(rows)), str(read), *(_shown(values.get(each)) for each in names))

    title = (
        f"{log.name}: {scores.kind}, protocol {scores.protocol}, {len(log.rows)} rows,"
        f" {len(log.ignored)} ignored"
    )
    rows = [cells("all", figures.overall, ""), *(cells(d, v, d) for d, v in figures.by_domain.items())]
    notes = [f"line {each.line} ignored: {each.reason}" for each in log.ignored]
    notes += [f"line {row.line} not read: {row.answers[0].reason}" for row in log.unread]
    header = ("domain", "rows", "read", *names)
    return PaperTable(title, header, tuple(rows), (*_remarks(scores, figures), *notes))


def _remarks(scores: Scores, figures: LogFigures) -> Iterator[str]:
    if scores.kind == "impact":
        read = [row for row in figures.log.rows if row.read]
        truths = [float(row.truth) for row in read]
        heavy = largest_share(truths, [float(row.answers[0].value or 0) for row in read])
        if heavy is not None and heavy[1] >= _HEAVY and len(read) > 1:
            yield f"one row of {truths[heavy[0]]:,.6g} carries {heavy[1]:.0%} of the squared error"
    for name, (kept, left_out) in figures.best.items():
        yield f"best candidate of each row, {name}: {_shown(kept)}, without zeros {_shown(left_out)}"
    if scores.kind == "sentiment" and figures.overall.get("mcc") is None:
        yield "one class only is true, so there is no MCC"


def _lines(scores: Scores) -> Iterator[str]:
    for first, second, difference in scores.differences:
        yield f"{first} against {second}: " + (
            difference
            if isinstance(difference, str)
            else f"{difference.metric} better by {difference.better:+.6g} over {difference.pairs} pairs"
            f" (one-sided p of a drop {difference.p:.3f})"
        )
    if scores.scorer:
        yield f"scored by {scores.scorer}"
    yield from (outcome.text for outcome in scores.gates)


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
