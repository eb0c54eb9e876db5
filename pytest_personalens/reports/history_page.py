"""The history of several runs as an HTML page.

It has lines of TCR and P with intervals, gates, and changes.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.reports import history_chart
from pytest_personalens.reports.history import NO_DATES, all_changes, estimate_text, gates_text
from pytest_personalens.results.history import History


def require_jinja() -> None:
    """Raise `SpecError` unless the page can be made.

    The text has one line and says what to install.
    """
    if find_spec("jinja2") is None:
        raise SpecError("the page needs jinja2: pip install 'pytest-personalens[html]'")


def history_page(history: History) -> str:
    """Return the page, which is equal for equal histories.

    It holds no script. Raise `SpecError` without jinja2.
    """
    require_jinja()
    import jinja2

    def read(name: str) -> str:
        return (files(__package__) / "templates" / name).read_text(encoding="utf-8")

    style = read("base.css") + read("history.css")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: harmless(value) if type(value) is str else value,
        loader=jinja2.FunctionLoader(read),
    )  # fmt: skip
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template("history.html.jinja").render(
        version=version("pytest-personalens"),
        style=style,
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        history=history,
        last=history.runs[-1],
        projects=sorted({run.provenance.project for run in history.runs} - {""}),
        branches=sorted({run.provenance.branch for run in history.runs} - {""}),
        dimensions=history.measures,
        charts=[history_chart.line_chart(history, n, d) for n, d in enumerate(history.measures)],
        marked=history_chart.marked(history),
        size=history_chart,
        no_dates=NO_DATES,
        estimate_text=estimate_text,
        gates_text=gates_text,
        all_changes=all_changes,
    )
