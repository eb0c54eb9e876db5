"""The lines of the summary about a judge that was adopted or checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.text.safe_text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.results.values.drift import Drift, Shift

_MOST_NOTES = 5


def drift_lines(drift: Drift) -> Iterator[str]:
    """Yield the outcome in one sentence, then its figures."""
    yield harmless(drift.sentence)
    if drift.anchors or drift.scores:
        yield f"  {'':22}{'compared':>9}{'changed':>9}{'far':>5}{'mean':>8}  two-sided p"
    for what, shifts in (("anchors", drift.anchors), ("scores", drift.scores)):
        yield from (_row(what, s) for s in shifts)
    for note in drift.notes[:_MOST_NOTES]:
        yield f"  {harmless(note)}"
    if len(drift.notes) > _MOST_NOTES:
        yield (
            f"  and {len(drift.notes) - _MOST_NOTES} more notes (--personalens-report PATH.json holds them"
            " all)"
        )


def _row(what: str, s: Shift) -> str:
    beyond = "" if s.beyond_judge is None else f"  (as the anchors moved: two-sided p {s.beyond_judge:.3f})"
    name = f"{what} {s.dimension.short}"
    return f"  {name:22}{s.compared:9}{s.changed:9}{s.far:5}{s.mean:+8.2f}{s.p:13.3f}{beyond}"
