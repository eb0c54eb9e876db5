"""The HTML report: one file that opens offline and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.runtime import no_collection
from pytest_personalens.core.safe_text import harmless, upper_first
from pytest_personalens.reports.content import result_tables
from pytest_personalens.reports.content.findings import command_line, findings_of
from pytest_personalens.reports.content.markup import figure
from pytest_personalens.reports.content.why_items_failed import DOES, case_title
from pytest_personalens.reports.html.payload import pack, payload, script_json, shown_dimensions
from pytest_personalens.results import wording
from pytest_personalens.results.means import estimate
from pytest_personalens.results.reasons import COSTS, reason_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import jinja2

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.results import Results

_FOLDERS = {"css": "styles", "js": "scripts", "jinja": "pages"}


def read_template(name: str) -> str:
    folder = _FOLDERS[name.rpartition(".")[2]]
    return (files(__package__) / "templates" / folder / name).read_text(encoding="utf-8")


def policy(style: str, script: str = "") -> str:
    """Return the Content-Security-Policy of a page, which allows this style and this script alone."""
    allowed = f"default-src 'none'; style-src '{_digest(style)}';"
    allowed += f" script-src '{_digest(script)}';" if script else ""
    return f"{allowed} base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def environment() -> jinja2.Environment:
    """Return Jinja's environment for pages, which escapes every value and refuses an unknown name.

    Any printed text may come from a model, so its hidden characters are escaped, as on the terminal. Markup
    comes from this package.
    """
    import jinja2  # a run without a page does not load it

    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: harmless(value) if type(value) is str else value,
        loader=jinja2.FunctionLoader(read_template),
    )


TITLE: Final = "Personalization report"
_STYLES: Final = ("base", "reasons", "dialogue", "beside", "print")
_SCRIPTS: Final = ("data", "table", "beside", "dialogue", "page")
_SINCE: Final = {"baseline": "the baseline", "record": "the records"}
#: Longer lists stand in the table of scenarios, which can be filtered.
_MOST_FLIPS: Final = 200
#: Dimension -> its scores and their meaning (paper, Figures 16 and 17; docs/explanation/scores.md).
LEGENDS: Final[Mapping[Dimension, tuple[tuple[str, str], ...]]] = {
    Dimension.TASK_COMPLETION: (
        ("yes", "the goal of the task is reached"),
        ("no", "a part of it is missing, wrong or only promised"),
    ),
    Dimension.PERSONALIZATION: (
        ("1", "asks for what is known, or goes against it"),
        ("2", "uses only what the user says in the dialogue"),
        ("3", "uses what is known, unasked"),
        ("4", "also foresees what nobody asked for"),
    ),
}
_MINUS: Final = re.compile(r"(?<![\w.-])-(?=\d)")


def write_html(results: Results, path: Path, *, title: str = TITLE) -> None:
    """Write the results as a page that opens offline, with every dialogue; its folder must exist."""
    write_atomically(path, html_page(results, title=title))


def html_page(results: Results, *, title: str = TITLE) -> Iterator[str]:
    """Yield the pieces of the report as one HTML page, which is equal for equal arguments."""
    pages = environment()
    pages.filters.update(
        figure=lambda value: "\N{EN DASH}" if value is None else figure(value),
        signed=_signed,
        interval=_interval,
        typeset=typeset,
        whole=lambda number: f"{number:+d}".replace("-", "\N{MINUS SIGN}"),
        outcome=lambda gate: wording.gate_outcome(gate, results),
    )
    with no_collection():
        shown = payload(results)
        dialogues = pack(shown.dialogues)
        style = _dense(f"{name}.css" for name in _STYLES)
        script = _dense(f"{name}.js" for name in _SCRIPTS)
        yield from pages.get_template("page.html.jinja").generate(
            title=title,
            style=style,
            script=script,
            policy=policy(style, script),
            data=script_json(shown.rows),
            dialogues=dialogues,
            most_flips=_MOST_FLIPS,
            **_figures(results),
        )


def _figures(results: Results) -> dict[str, Any]:
    suite, findings, comparison = results.of_suite, findings_of(results), results.comparison
    dimensions = [d for d in shown_dimensions(results) if d.value in results.overall.figures]
    under_test = str(results.settings.get("assistant") or "")
    agents = {(i.evaluation.user_agent, under_test, i.evaluation.judge) for i in results.items}
    return {
        "results": results,
        "item": suite.item,
        "items_title": f"{suite.item}s".capitalize(),
        "dialogue": suite.dialogue,
        "judged_by": suite.judged_by,
        "headline": findings,
        "begin_with": [
            (case.item.nodeid, case_title(case, results.scenarios.get(case.item.evaluation.scenario)))
            for case in findings.cases
        ],
        "notes": [(f"{upper_first(note.text)}.", note.filter) for note in findings.notes.values()],
        "dimensions": dimensions,
        "tiles": [_tile(results, d) for d in _tile_measures(results) if d in dimensions],
        "few": wording.part_note(results),
        "scenarios": len({i.key for i in results.own}),
        "kinds": result_tables.kind_tables(results) if suite.table_by_kind else [],
        "differences": None if comparison is None else result_tables.difference_table(comparison, suite.item),
        "scores": result_tables.score_tables(results, ends=True),
        "turns": result_tables.turn_table(results),
        "lifts": result_tables.lift_table(results) if results.controls else None,
        "drifts": list(result_tables.drift_tables(results)),
        "slices": result_tables.slice_tables(results),
        "slices_note": upper_first(result_tables.slices_note(results)),
        "reason_charts": _reason_charts(results),
        "does": DOES,
        "ends_text": wording.ends_text,
        "no_interval": wording.NO_INTERVAL,
        "legends": LEGENDS,
        "total": sum(results.usage.values(), Usage()),
        "command": command_line(results.settings, suite),
        "identities": sorted(agents),
    }


def _tile_measures(results: Results) -> list[Measure]:
    """Return the measures with a big figure: of scores with steps, those that any dialogue has.

    In a suite with a table for each kind, these are all main ones.
    """
    suite, figures = results.of_suite, results.overall.figures
    if suite.table_by_kind:
        return list(suite.main)
    stepped = [d for d in suite.main if d.in_steps]
    return [d for d in stepped if d.value in figures and figures[d.value].count] or stepped


def _tile(results: Results, dimension: Measure) -> dict[str, Any]:
    metric, name = results.of_suite.metric_of(dimension), dimension.names.mean
    about = [dimension.names.mean_of] if dimension.names.mean_of != name else []
    about += [dimension.range_text()] if dimension.high != 1 else []
    about += ["lower is better"] if dimension.better == "low" else []
    return {
        "dimension": dimension,
        "name": name,
        "what": ", ".join(about),
        "estimate": estimate(results.own, dimension),
        "floor": next((g.limit for g in results.gates if g.kind == "floor" and g.name == metric), None),
    }


def _reason_charts(results: Results) -> list[dict[str, Any]]:
    """Return what speaks against each reading, personalization first, and of each the commonest first.

    `since` says what the changes are held against. It is empty where that is not known of every dialogue: a
    change over a part of them would stand beside counts over all.
    """
    charts, first = [], Dimension.PERSONALIZATION
    sources = {earlier.source for item in results.own if (earlier := item.earlier) is not None}
    since = " and ".join(_SINCE[source] for source in sorted(sources))
    for measure in sorted((m for m in results.of_suite.measures if m in COSTS), key=lambda m: m != first):
        if counts := sorted(reason_counts(results.own, measure), key=lambda r: -r.dialogues):
            known = counts[0].known == counts[0].scored
            charts.append({"dimension": measure, "reasons": counts, "since": since if known else ""})
    return charts


def _dense(names: Iterable[str]) -> str:
    """Return styles or scripts without indents and lines of comment, which are a fifteenth of a page."""
    lines = (line.strip() for name in names for line in read_template(name).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _signed(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else wording.signed(value).replace("-", "\N{MINUS SIGN}")


def _interval(value: Estimate) -> str:
    if value.low is None or value.high is None:
        return "\N{EN DASH}"
    return wording.ends_text(value.low, value.high).replace("-", "\N{MINUS SIGN}")


def typeset(text: str) -> str:
    """Return a text of the terminal with arrows, minus signs and signs of order as a page has them."""
    if text == "-":
        return "\N{EN DASH}"
    text = text.replace("->", "\N{RIGHTWARDS ARROW}")
    text = text.replace(">=", "\N{GREATER-THAN OR EQUAL TO}").replace("<=", "\N{LESS-THAN OR EQUAL TO}")
    return _MINUS.sub("\N{MINUS SIGN}", text)
