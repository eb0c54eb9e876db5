"""The history of several runs as a page: lines of TCR and P with intervals, gates, and what changed."""

from __future__ import annotations

from importlib.metadata import version

from pytest_personalens.reports.charts import history as history_chart
from pytest_personalens.reports.content.history import NO_DATES, all_changes, estimate_text, gates_text
from pytest_personalens.reports.html.template_files import environment, policy, read_template
from pytest_personalens.results.files.history import History


def history_page(history: History) -> str:
    """The page, equal for equal histories. It holds no script."""
    style = read_template("base.css") + read_template("history.css")
    return (
        environment()
        .get_template("history.html.jinja")
        .render(
            version=version("pytest-personalens"),
            style=style,
            policy=policy(style),
            history=history,
            last=history.runs[-1],
            projects=sorted({run.provenance.project for run in history.runs} - {""}),
            branches=sorted({run.provenance.branch for run in history.runs} - {""}),
            dimensions=history.measures,
            charts=[history_chart.line_chart(history, n, d) for n, d in enumerate(history.measures)],
            marked=history_chart.runs_with_marks(history),
            size=history_chart,
            no_dates=NO_DATES,
            estimate_text=estimate_text,
            gates_text=gates_text,
            all_changes=all_changes,
        )
    )
