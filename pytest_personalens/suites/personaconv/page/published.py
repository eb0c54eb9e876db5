"""The figures that the benchmark's README publishes, and why they are not comparable with a run."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.suite.panels import Published

if TYPE_CHECKING:
    from collections.abc import Mapping

_SOURCE: Final = "README"
#: Protocol of a run -> what keeps its figures apart from the published ones.
_OURS: Final = {
    "fixed": "Yours, protocol fixed: unread replies count; a run has other targets, and no leaks.",
    "official": "Yours, protocol official: as the scripts have it, but a run's requests are in our words.",
}


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))


def published(kind: str, settings: Mapping[str, Any]) -> Published:
    """Return the README's figures of a kind; those of NP-Conv stand in a figure of the README only."""
    found = _tables()[kind]
    rows = tuple(
        (f"{_SOURCE}: {model} {setting}", tuple(figures)) for model, setting, *figures in found["rows"]
    )
    by_reason: dict[str, list[str]] = {}
    for model, reason in found["reasons"].items():
        by_reason.setdefault(reason, []).append(model)
    notes = (
        *found.get("notes", ()),
        f"{_SOURCE}: that of PERSONA-bench/PERSONA (arXiv 2505.14106); NP-Conv is of its figure.",
        f"All of {_SOURCE}: other posts, in prompts of the scripts; {found['left_out']}.",
        *(f"{', '.join(models)}: {reason}." for reason, models in by_reason.items()),
        _OURS[str(settings.get("protocol", "fixed"))],
    )
    return Published(tuple(found["metrics"]), rows, notes)
