"""The HTML report: one file that opens offline and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import warnings
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.atomic_write import write_atomically
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.core.usage import Usage
from pytest_personalens.core.verdict import Dimension
from pytest_personalens.reports import charts, overview
from pytest_personalens.reports.changes import changes_of
from pytest_personalens.reports.payload import payload, script_json, shown_dimensions
from pytest_personalens.reports.svg import TC
from pytest_personalens.results.means import Estimate, by_turn, estimate, item_scores
from pytest_personalens.results.wording import (
    NO_INTERVAL,
    control_names,
    decision,
    gate_outcome,
    p_value,
    part_note,
    signed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.measure import Measure
    from pytest_personalens.reports.charts import Histogram
    from pytest_personalens.reports.overview import OverviewLine
    from pytest_personalens.results.values import Results

TITLE: Final = "Personalization report"
_NEEDED: Final = ("jinja2", "matplotlib")
_STYLES: Final = ("base.css", "dialogue.css", "print.css")
_SCRIPTS: Final = ("data.js", "table.js", "dialogue.js", "page.js")
#: Longer lists are in the table of scenarios, which can be filtered.
_MOST_FLIPS: Final = 200


def require_html() -> None:
    """Raise `SpecError` unless the report can be made.

    The text has one line and says what to install.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SpecError(
            f"the HTML report needs {' and '.join(missing)}: pip install 'pytest-personalens[html]'"
        )


def write_html(results: Results, path: Path, *, title: str = TITLE, before: Results | None = None) -> None:
    """Write the page to `path`, whose folder must exist.

    Raise the same errors as `html_page`.
    """
    write_atomically(path, html_page(results, title=title, before=before))


def html_page(results: Results, *, title: str = TITLE, before: Results | None = None) -> str:
    """Return the report as one HTML page, which is equal for equal arguments.

    `before` holds earlier results to compare with these, by scenario. A comparison of the run itself
    (`Results.comparison`) takes precedence over it. Raise `SpecError` if jinja2 or matplotlib is not
    installed.
    """
    require_html()
    import jinja2

    def read(name: str) -> str:
        return (files(__package__) / "templates" / name).read_text(encoding="utf-8")

    style, script = ("\n".join(map(read, names)) for names in (_STYLES, _SCRIPTS))
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=_finalize,
        loader=jinja2.FunctionLoader(read),
    )  # fmt: skip
    environment.filters.update(
        figure=_figure, signed=_signed, interval=_interval, chance=p_value, decision=decision
    )
    environment.filters["outcome"] = lambda gate: gate_outcome(gate, results).replace("FAILED", "failed")
    changes = changes_of(results, before)
    # If warnings are errors, a run must not fail because matplotlib's dependencies use deprecated functions,
    # or because its font lacks a letter of a name that the browser has.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figures = _figures(results, before)
    return environment.get_template("page.html.jinja").render(
        title=title,
        style=style,
        script=script,
        policy=(
            f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri"
            " 'none'; form-action 'none'"
        ),
        data=script_json(payload(results, changes)),
        before=before,
        changes=changes,
        most_flips=_MOST_FLIPS,
        **figures,
    )


def _figures(results: Results, before: Results | None) -> dict[str, Any]:
    """Return the arguments of the template: values to print, and charts as SVG."""
    dimensions = [d for d in shown_dimensions(results) if d.value in results.overall.figures]
    whole, domains = overview.group_lines(results, dimensions)
    controls = overview.control_lines(results, dimensions)
    own = item_scores(results.own)
    under_test = str(results.settings.get("assistant") or "")
    turns = by_turn(own) if results.of_suite.has_turns else []
    shown = list(overview.score_histograms(own, dimensions))
    then = item_scores(before.own) if before else []
    tiles = [
        _tile(results, d, whole[0].estimates[dimensions.index(d)])
        for d in overview.main_measures(results)
        if d in dimensions
    ]
    return {
        "results": results,
        "headline": overview.headline(results),
        "notes": list(overview.notes(results)),
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
        "turns": turns,
        "charts": _charts(results, dimensions, domains, controls, turns, [h for h in shown if sum(h.counts)]),
        "total": sum(results.usage.values(), Usage()),
        "settings": [
            (k.replace("_", " "), v if isinstance(v, str) else json.dumps(v, default=str))
            for k, v in results.settings.items()
        ],
        "identities": sorted(
            {(i.evaluation.user_agent, under_test, i.evaluation.judge) for i in results.items}
        ),
        "histograms": shown,
    }


def _tile(results: Results, dimension: Measure, value: Estimate) -> dict[str, Any]:
    panel = overview.panel(dimension, floor=overview.floors(results).get(dimension))
    name = dimension.names.mean
    between = NO_INTERVAL if value.low is None else f"95 % interval {_interval(value)}"
    label = f"{name} {_figure(value.value)}, {between}"
    return {
        "dimension": dimension,
        "name": name,
        "estimate": value,
        "floor": panel.floor,
        "svg": charts.strip(value, panel, name=f"tile-{dimension.short}", title=label),
    }


def _charts(
    results: Results,
    dimensions: Sequence[Measure],
    domains: Sequence[OverviewLine],
    controls: Sequence[OverviewLine],
    turns: Sequence[Estimate],
    shown: Sequence[Histogram],
) -> dict[str, str]:
    drawn: dict[str, str] = {}
    own, main = overview.panels(results, of_run=True), overview.main_measures(results)
    names = " and ".join(_called(d) for d in main)
    if own and domains:
        rows = overview.domain_rows(domains, dimensions, main)
        drawn["domains"] = charts.dots(
            rows, own, name="domains", title=f"{names} by domain, with 95 % intervals"
        )
    if own and controls:
        panels = overview.panels(results, of_run=False)
        rows = [row for line in controls for row in overview.domain_rows([line], dimensions, main)]
        if all(len(row.estimates) == len(panels) for row in rows):
            drawn["arms"] = charts.dots(
                rows, panels, name="arms", title=f"{names} with and without the context"
            )
    if shown:
        drawn["scores"] = charts.histograms(
            shown, name="scores", title="How often each score was given, by dimension"
        )
    if turns:
        scale = overview.panel(Dimension.PERSONALIZATION_TURNS)
        drawn["turns"] = charts.line(
            turns, scale, name="turns",
            title="Mean personalization after each turn of the assistant, with 95 % intervals",
            below="turn of the assistant (dialogues that have it)", counts=True,
        )  # fmt: skip
    if results.trials and any(value is not None for value in results.trials.pass_k):
        rate = overview.panel(Dimension.TASK_COMPLETION)
        drawn["trials"] = charts.line(
            [Estimate(value) for value in results.trials.pass_k], rate._replace(colour=TC), name="trials",
            title="Chance that a scenario passes in k trials out of k", below="k", counts=False,
        )  # fmt: skip
    return drawn


def _called(measure: Measure) -> str:
    """Return the name of a mean in a title.

    It is the short name if that has more than one letter.
    """
    name = measure.names.mean
    return name if len(name) > 1 else measure.names.mean_of


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


def _interval(value: Estimate) -> str:
    """Return the two ends; negative ends have a true minus sign."""
    if value.low is None or value.high is None:
        return "\N{EN DASH}"
    return f"{value.low:.2f} to {value.high:.2f}".replace("-", "\N{MINUS SIGN}")
