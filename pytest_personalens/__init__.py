"""Test in CI whether a chat assistant still knows its users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_personalens.dialogue import Dialogue as Dialogue
    from pytest_personalens.dialogue import Message as Message
    from pytest_personalens.dialogue import UserAgent as UserAgent
    from pytest_personalens.dialogue import UserTurn as UserTurn
    from pytest_personalens.errors import PersonalensError as PersonalensError
    from pytest_personalens.evaluation import Evaluation as Evaluation
    from pytest_personalens.evaluation import evaluate as evaluate
    from pytest_personalens.scenario import Context as Context
    from pytest_personalens.scenario import Scenario as Scenario
    from pytest_personalens.subject import Personalens as Personalens
    from pytest_personalens.verdict import Dimension as Dimension
    from pytest_personalens.verdict import Evidence as Evidence
    from pytest_personalens.verdict import Judge as Judge
    from pytest_personalens.verdict import Verdict as Verdict

_HOME = {
    "Context": "scenario", "Dialogue": "dialogue", "Dimension": "verdict", "Evaluation": "evaluation", "Evidence": "verdict",
    "Judge": "verdict", "Message": "dialogue", "Personalens": "subject", "PersonalensError": "errors", "Scenario": "scenario",
    "UserAgent": "dialogue", "UserTurn": "dialogue", "Verdict": "verdict", "evaluate": "evaluation",
}  # fmt: skip
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    # pytest imports this package at every start, to load the plugin; the names wait until somebody wants them.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
