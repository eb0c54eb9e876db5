"""What almost every run needs, imported and read once for all the runs of a process and of its forks."""

from __future__ import annotations

import pkgutil
import re
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest_personalens

_EXAMPLE = Path(__file__).resolve().parents[2] / "example_project"


def import_package() -> None:
    """Import every module of the package: otherwise each run in this process imports them anew.

    Those that need what is not installed are left out.
    """
    # A run forgets its modules, and the next one makes their patterns again. Python keeps 512 only.
    re._MAXCACHE = 20_000  # type: ignore[attr-defined]  # noqa: SLF001
    for module in pkgutil.walk_packages(pytest_personalens.__path__, "pytest_personalens."):
        with suppress(ImportError):
            import_module(module.name)


def play_one_dialogue() -> None:
    """Let the example's bot talk to the embedded user and be judged, which reads all their files."""
    from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
    from pytest_personalens.core.evaluation import evaluate
    from pytest_personalens.datasets.embedded import EmbeddedDataset

    sys.path.insert(0, str(_EXAMPLE))
    bot = import_module("helpbot.bot")
    dataset = EmbeddedDataset()
    scenario = dataset.load(dataset.refs(dataset.users()[0])[0])
    assistant = bot.Helpbot(scenario.user, import_module("helpbot").Memory())
    evaluation = evaluate(scenario, assistant, EmbeddedUserAgent(), EmbeddedJudge())
    assert evaluation.scored, evaluation.detail
    sys.path.remove(str(_EXAMPLE))
    for name in [name for name in sys.modules if name.partition(".")[0] == "helpbot"]:
        del sys.modules[name]
