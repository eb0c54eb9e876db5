"""The HTML report: one file that opens offline and loads nothing."""

from __future__ import annotations

import base64
import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.runtime.garbage import no_collection
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.charts.settings import settings_chart
from pytest_personalens.reports.content.changes import changes_of
from pytest_personalens.reports.content.command_line import command_line, thresholds_in_force
from pytest_personalens.reports.content.explanation import case_title
from pytest_personalens.reports.content.findings import capital, findings_of
from pytest_personalens.reports.html import overview
from pytest_personalens.reports.html.gate_remark import gate_remark, typeset
from pytest_personalens.reports.html.kinds import kinds_of_page
from pytest_personalens.reports.html.legends import LEGENDS
from pytest_personalens.reports.html.moves import moves_of
from pytest_personalens.reports.html.page_charts import (
    LEAST_FOR_A_CHART,
    charts_of,
    fills_a_row,
    interval_text,
    tile_of,
)
from pytest_personalens.reports.html.payload import packed, payload, script_json, shown_dimensions
from pytest_personalens.reports.html.reasons import MOST_PREFERENCES, heat_map, reason_charts
from pytest_personalens.reports.html.template_files import environment, read_template
from pytest_personalens.reports.tables.contexts import ablation_table, is_ablation
from pytest_personalens.results.means import by_turn, estimate, item_scores
from pytest_personalens.results.wording import (
    control_names,
    decision,
    ends_text,
    gate_outcome,
    p_value,
    part_note,
    signed,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_personalens.results.values.results import Results

TITLE: Final = "Personalization report"
_STYLES: Final = ("base.css", "charts.css", "reasons.css", "dialogue.css", "beside.css", "print.css")
_SCRIPTS: Final = (
    "data.js",
    "hits.js",
    "table.js",
    "csv.js",
    "markdown.js",
    "labels.js",
    "beside.js",
    "dialogue.js",
    "page.js",
)
#: Longer lists stand in the table of scenarios, which can be filtered.
_MOST_FLIPS: Final = 200


def write_html(results: Results, path: Path, *, title: str = TITLE, before: Results | None = None) -> None:
    """Write the page to `path`, whose folder exists."""
    write_atomically(path, html_page(results, title=title, before=before))


def html_page(results: Results, *, title: str = TITLE, before: Results | None = None) -> str:
    """Return the report as one HTML page, which is equal for equal arguments. `before` are earlier results to
    show beside these, scenario by scenario; what the run itself was compared with (`Results.comparison`) goes
    before that.
    """
    pages = environment(_finalize)
    pages.filters.update(
        figure=_figure, signed=_signed, interval=interval_text, chance=p_value, decision=decision
    )
    pages.filters.update(remark=gate_remark, typeset=typeset)
    pages.filters["whole"] = lambda number: f"{number:+d}".replace("-", "\N{MINUS SIGN}")
    pages.filters["outcome"] = lambda gate: gate_outcome(gate, results).replace("FAILED", "failed")
    with no_collection():
        changes = changes_of(results, before)
        shown, kinds = payload(results, changes), kinds_of_page(results, LEAST_FOR_A_CHART)
        dialogues = packed(shown.dialogues)
        # The browser keeps a reader's labels by it: those of another report are none of this one.
        shown.rows["digest"] = hashlib.sha256(dialogues.encode()).hexdigest()[:16]
        # A page without sections by kind, or without requests in parts, does not need their style and script.
        parts = any("parts" in fields for fields in shown.dialogues["items"])
        styles = (*_STYLES, *(["kinds.css"] if kinds else ()), *(["request.css"] if parts else ()))
        scripts = (*_SCRIPTS, *(["request.js"] if parts else ()))
        style, script = (_dense("\n".join(map(read_template, names))) for names in (styles, scripts))
        return pages.get_template("page.html.jinja").render(
            title=title,
            style=style,
            script=script,
            policy=(
                f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri"
                " 'none'; form-action 'none'"
            ),
            data=script_json(shown.rows),
            dialogues=dialogues,
            before=before,
            changes=changes,
            kinds=kinds,
            settings_chart=settings_chart(results, kinds[0].table.settings) if kinds else None,
            most_flips=_MOST_FLIPS,
            **_figures(results, before),
        )


def _figures(results: Results, before: Results | None) -> dict[str, Any]:
    """What the template is given: values to print, and the places of the marks of charts."""
    suite, findings = results.of_suite, findings_of(results)
    dimensions = [d for d in shown_dimensions(results) if d.value in results.overall.figures]
    whole, domains = overview.group_lines(results, dimensions)
    controls = overview.control_lines(results, dimensions)
    own = item_scores(results.own)
    under_test = str(results.settings.get("assistant") or "")
    turns = by_turn(own) if results.of_suite.has_turns else []
    shown = list(overview.score_histograms(own, dimensions))
    then = item_scores(before.own) if before else []
    tiles = [
        tile_of(results, d, whole[0].estimates[dimensions.index(d)])
        for d in overview.tile_measures(results)
        if d in dimensions
    ]
    return {
        "results": results,
        "item": suite.item,
        "items_title": f"{suite.item}s".capitalize(),
        "dialogue": suite.dialogue,
        "dialogues_title": f"{suite.dialogue}s".capitalize(),
        "judged_by": suite.judged_by,
        "given_words": partial(suite.given_words, results.settings),
        "headline": findings.outcome,
        "begin_with": [
            (case.item.nodeid, case_title(case, results.scenarios.get(case.item.evaluation.scenario)))
            for case in findings.cases
        ],
        "notes": [(f"{capital(note.text)}.", note.filter) for note in findings.notes.values()],
        "trust": findings.trust,
        "dimensions": dimensions,
        "whole": whole,
        "domains": domains,
        "tiles": tiles,
        "few": part_note(results),
        "then": (
            [(d, estimate(then, d), e) for d, e in zip(dimensions, whole[0].estimates, strict=True)]
            if before
            else None
        ),
        "scenarios": len({i.key for i in results.own}),
        "control_names": control_names(results.of_suite),
        "control_lines": controls,
        "table_4": ablation_table(results) if is_ablation(results) else None,
        "turns": turns,
        "charts": charts_of(results, dimensions, domains, turns, [h for h in shown if sum(h.counts)]),
        "least_for_a_chart": LEAST_FOR_A_CHART,
        "folded": [line for line in domains if not fills_a_row(line)],
        "reason_charts": reason_charts(results),
        "heat": heat_map(results),
        "most_preferences": MOST_PREFERENCES,
        "moves": moves_of(results),
        "ends_text": ends_text,
        "legends": LEGENDS,
        "total": sum(results.usage.values(), Usage()),
        "command": command_line(results.settings, results.of_suite),
        "thresholds": thresholds_in_force(results.settings, results.of_suite),
        "identities": sorted(
            {(i.evaluation.user_agent, under_test, i.evaluation.judge) for i in results.items}
        ),
        "histograms": shown,
    }


def _dense(source: str) -> str:
    """Return a style or script without indents and lines of comment, which are a fifteenth of a page."""
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _finalize(value: object) -> object:
    # Any printed text may come from a model, so its hidden characters are escaped, as on the terminal. Markup
    # comes from this package.
    return harmless(value) if type(value) is str else value


def _figure(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    if value is None:
        return "\N{EN DASH}"
    return signed(value).replace("-", "\N{MINUS SIGN}")
