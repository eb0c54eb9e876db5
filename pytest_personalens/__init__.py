"""Test in CI whether a chat assistant still knows its users.

Public is what `__all__` names, imported from here; everything else may move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pytest_personalens.core.dialogue.dialogue import Dialogue as Dialogue
    from pytest_personalens.core.dialogue.dialogue import Message as Message
    from pytest_personalens.core.dialogue.dialogue import UserAgent as UserAgent
    from pytest_personalens.core.dialogue.dialogue import UserTurn as UserTurn
    from pytest_personalens.core.dialogue.message import Call as Call
    from pytest_personalens.core.dialogue.message import called as called
    from pytest_personalens.core.dialogue.state import MemoryStore as MemoryStore
    from pytest_personalens.core.errors import AssistantFault as AssistantFault
    from pytest_personalens.core.errors import DataError as DataError
    from pytest_personalens.core.errors import JudgeFault as JudgeFault
    from pytest_personalens.core.errors import ModelBusy as ModelBusy
    from pytest_personalens.core.errors import ModelError as ModelError
    from pytest_personalens.core.errors import PersonalensError as PersonalensError
    from pytest_personalens.core.errors import UserAgentFault as UserAgentFault
    from pytest_personalens.core.facts import Clock as Clock
    from pytest_personalens.core.facts import Fact as Fact
    from pytest_personalens.core.facts import Limit as Limit
    from pytest_personalens.core.facts import Session as Session
    from pytest_personalens.core.facts import Thing as Thing
    from pytest_personalens.core.judging.evaluation import Evaluation as Evaluation
    from pytest_personalens.core.judging.evaluation import evaluate as evaluate
    from pytest_personalens.core.judging.verdict import Dimension as Dimension
    from pytest_personalens.core.judging.verdict import Evidence as Evidence
    from pytest_personalens.core.judging.verdict import Judge as Judge
    from pytest_personalens.core.judging.verdict import Reason as Reason
    from pytest_personalens.core.judging.verdict import Verdict as Verdict
    from pytest_personalens.core.scenario import Context as Context
    from pytest_personalens.core.scenario import DomainWords as DomainWords
    from pytest_personalens.core.scenario import GoalPart as GoalPart
    from pytest_personalens.core.scenario import PreferenceWords as PreferenceWords
    from pytest_personalens.core.scenario import Scenario as Scenario
    from pytest_personalens.core.scenario import ScenarioRef as ScenarioRef
    from pytest_personalens.core.scenario import Situation as Situation
    from pytest_personalens.core.scenario import Task as Task
    from pytest_personalens.datasets.dataset import Dataset as Dataset
    from pytest_personalens.engine import adapters as adapters
    from pytest_personalens.models.model import Answer as Answer
    from pytest_personalens.models.model import FakeModel as FakeModel
    from pytest_personalens.models.model import Model as Model
    from pytest_personalens.models.model import Request as Request
    from pytest_personalens.plugin.fixtures.personalens_object import Personalens as Personalens
    from pytest_personalens.plugin.stored.record_snapshots import RecordExtension as RecordExtension
    from pytest_personalens.reports.html.page import write_html as write_html
    from pytest_personalens.results.values.results import Results as Results
    from pytest_personalens.results.values.results import read_results as read_results

#: Module -> the public names that it holds.
_PUBLIC: Final = {
    "core.dialogue.dialogue": ("Dialogue", "Message", "UserAgent", "UserTurn"),
    "core.errors": (
        "AssistantFault", "DataError", "JudgeFault", "ModelBusy", "ModelError", "PersonalensError",
        "UserAgentFault",
    ),
    "core.judging.evaluation": ("Evaluation", "evaluate"),
    "core.facts": ("Clock", "Fact", "Limit", "Session", "Thing"),
    "core.scenario": (
        "Context", "DomainWords", "GoalPart", "PreferenceWords", "Scenario", "ScenarioRef", "Situation",
        "Task",
    ),
    "core.dialogue.state": ("MemoryStore",),
    "core.dialogue.message": ("Call", "called"),
    "core.judging.verdict": ("Dimension", "Evidence", "Judge", "Reason", "Verdict"),
    "datasets.dataset": ("Dataset",),
    "models.model": ("Answer", "FakeModel", "Model", "Request"),
    "plugin.fixtures.personalens_object": ("Personalens",),
    "plugin.stored.record_snapshots": ("RecordExtension",),
    "reports.html.page": ("write_html",),
    "results.values.results": ("Results", "read_results"),
}  # fmt: skip
_MODULES: Final = {name: module for module, names in _PUBLIC.items() for name in names}
#: A module whose functions are public too.
_WHOLE: Final = {"adapters": "engine.adapters"}
__all__ = sorted((*_MODULES, *_WHOLE))


def __getattr__(name: str) -> Any:
    # pytest imports this package at every start, to load the plugin; the names wait until somebody wants
    # them.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    if name in _WHOLE:
        return importlib.import_module(f"{__name__}.{_WHOLE[name]}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
