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
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.findings import (
    capital,
    command_line,
    findings_of,
)
from pytest_personalens.reports.content.kind_tables import (
    distance_of,
    is_low_better,
    kind_tables,
    slice_tables,
    slices_note,
)
from pytest_personalens.reports.content.why_items_failed import DOES, case_title
from pytest_personalens.reports.html import page_figures as figures
from pytest_personalens.reports.html.payload import pack, payload, script_json, shown_dimensions
from pytest_personalens.results import wording
from pytest_personalens.results.means import by_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import jinja2

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
_SCRIPTS: Final = ("data", "table", "csv", "beside", "dialogue", "page")
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
        figure=_figure,
        signed=_signed,
        interval=figures.interval_text,
        chance=wording.p_value,
        decision=wording.decision,
        typeset=typeset,
        whole=lambda number: f"{number:+d}".replace("-", "\N{MINUS SIGN}"),
        outcome=lambda gate: wording.gate_outcome(gate, results),
    )
    with no_collection():
        shown = payload(results)
        kinds = kind_tables(results) if results.of_suite.table_by_kind else []
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
            kinds=kinds,
            is_low_better=is_low_better,
            most_flips=_MOST_FLIPS,
            **_figures(results),
        )


def _figures(results: Results) -> dict[str, Any]:
    suite, findings = results.of_suite, findings_of(results)
    dimensions = [d for d in shown_dimensions(results) if d.value in results.overall.figures]
    rows = figures.group_rows(results, dimensions)
    turns = by_turn(results.own) if suite.has_turns else []
    estimates = dict(zip(dimensions, rows["whole"][0].estimates, strict=True))
    tiles = [d for d in figures.tile_measures(results) if d in estimates]
    under_test = str(results.settings.get("assistant") or "")
    agents = {(i.evaluation.user_agent, under_test, i.evaluation.judge) for i in results.items}
    return {
        "results": results,
        "item": suite.item,
        "items_title": f"{suite.item}s".capitalize(),
        "dialogue": suite.dialogue,
        "dialogues_title": f"{suite.dialogue}s".capitalize(),
        "judged_by": suite.judged_by,
        "headline": findings,
        "begin_with": [
            (case.item.nodeid, case_title(case, results.scenarios.get(case.item.evaluation.scenario)))
            for case in findings.cases
        ],
        "notes": [(f"{capital(note.text)}.", note.filter) for note in findings.notes.values()],
        "trust": findings.trust,
        "dimensions": dimensions,
        "rows": rows,
        "tiles": [figures.tile_of(results, d, estimates[d]) for d in tiles],
        "few": wording.part_note(results),
        "distance": distance_of(results),
        "scenarios": len({i.key for i in results.own}),
        "control_names": wording.control_names(suite),
        "turns": turns,
        "slices": slice_tables(results),
        "slices_note": capital(slices_note(results)),
        "reason_charts": figures.reason_charts(results),
        "does": DOES,
        "ends_text": wording.ends_text,
        "legends": LEGENDS,
        "total": sum(results.usage.values(), Usage()),
        "command": command_line(results.settings, suite),
        "identities": sorted(agents),
    }


def _dense(names: Iterable[str]) -> str:
    """Return styles or scripts without indents and lines of comment, which are a fifteenth of a page."""
    lines = (line.strip() for name in names for line in read_template(name).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _figure(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else wording.signed(value).replace("-", "\N{MINUS SIGN}")


def typeset(text: str) -> str:
    """Return a text of the terminal with arrows, minus signs and signs of order as a page has them."""
    text = text.replace("->", "\N{RIGHTWARDS ARROW}")
    text = text.replace(">=", "\N{GREATER-THAN OR EQUAL TO}").replace("<=", "\N{LESS-THAN OR EQUAL TO}")
    return _MINUS.sub("\N{MINUS SIGN}", text)
