"""Published figures, to stand beside those of a run."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """The published figures of a kind of item.

    `metrics` names the columns. A row is its name and its figures, as they are printed there. `notes` say
    where they are from, and why each row is not comparable with a run.
    """

    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...]
