"""The caps on the calls and the cost of a run.

All processes of the run count in one folder.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.usage import price_of
from pytest_personalens.models.meter import Budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.models import Model

#: The key under which a worker gets the folder of the caps.
BUDGET: Final = "personalens_budget"


def budget_folder(config: pytest.Config, settings: Settings) -> str:
    """Return the folder of this run, which is removed at its end.

    No other run uses it. The path is empty if the run has no cap.
    """
    if not settings.budget:
        return ""
    if of_controller := getattr(config, "workerinput", {}).get(BUDGET):
        return str(of_controller)
    folder = tempfile.mkdtemp(prefix="personalens-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return folder


def budget_in(folder: str, settings: Settings) -> Budget | None:
    """Return the caps that are counted in the folder, or None without a cap."""
    return (
        Budget(Path(folder) / "run", max_calls=settings.max_calls, max_usd=settings.max_usd)
        if folder
        else None
    )


def refuse_unknown_prices(
    settings: Settings, models: Mapping[str, Model], prices: Mapping[str, Price]
) -> None:
    """Raise `SpecError` if the cost is capped and a model has no price.

    `models` holds the model of each role.
    """
    for role, model in models.items() if settings.max_usd is not None else ():
        if model.paid and price_of(model.name, prices) is None:
            raise SpecError(
                f"--personalens-budget: no price is known for {model.name} ({role}); add it to"
                " personalens_prices"
            )
