"""The settings of a run as its results hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.options.options import keys_of
from pytest_personalens.core.text.parse import ALL, size_text
from pytest_personalens.core.text.redaction import redact

if TYPE_CHECKING:
    from pytest_personalens.core.options.settings import Settings

#: Settings that the results do not hold. They only decide which files the run writes, and equal runs must
#: give equal results.
_NOT_STORED: Final = frozenset({*keys_of("report"), "save_baseline", "adopt_judge"})


def stored_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings by name, without secrets."""
    stored = settings._asdict()
    if stored["sample"] == ALL:
        stored["sample"] = size_text(ALL)
    return {
        name: redact(value) if isinstance(value, str) else value
        for name, value in stored.items()
        if name not in _NOT_STORED
    }
