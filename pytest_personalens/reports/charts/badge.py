"""A badge of one run as SVG, with its TCR and P. The colour shows the outcome of the gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pytest_personalens.results.files.history import History, Run

_NAME: Final = "personalens"
_PASSED, _FAILED, _OPEN = "#14692f", "#b0261c", "#5a5f66"
#: The width of most letters of the 11 px font, and the space on each side, in CSS pixels.
_LETTER, _SPACE = 6.6, 8


def badge_svg(history: History) -> str:
    """Return the badge of the last run. White text has a contrast of at least 6 to 1 on each colour."""
    run = history.runs[-1]
    figures = [
        f"{dimension.names.mean} {estimate.value:.2f}"
        for dimension, estimate in zip(history.measures, run.estimates, strict=True)
        if estimate.value is not None and run.whole
    ]
    scores = " \N{MIDDLE DOT} ".join(figures) or "not decided"
    colour, outcome = _outcome(run)
    label = f"{_NAME}: {scores}, {outcome}"
    left, right = (round(_LETTER * len(text)) + 2 * _SPACE for text in (_NAME, scores))
    width = left + right
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20"
role="img" aria-label="{label}">
<!-- pytest-personalens badge -->
<title>{label}</title>
<clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left}" height="20" fill="#3b3f45"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
</g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
<text x="{left / 2}" y="14" textLength="{left - 2 * _SPACE}">{_NAME}</text>
<text x="{left + right / 2}" y="14" textLength="{right - 2 * _SPACE}">{scores}</text>
</g>
</svg>
"""


def _outcome(run: Run) -> tuple[str, str]:
    if run.failed:
        return _FAILED, "gates failed"
    return (_PASSED, "gates passed") if run.gates and run.whole else (_OPEN, "no gate decided")
