"""What almost every run needs, imported and read once for all the runs of a process and of its forks."""

from __future__ import annotations

import importlib.metadata
import pickle
import pkgutil
import re
import sys
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest_personalens

_EXAMPLE = Path(__file__).resolve().parents[3] / "example_project"


def import_package() -> None:
    """Import every module of the package whose needs are installed, once for all runs in this process."""
    # A run forgets its modules, and the next one makes their patterns again. Python keeps 512 only.
    re._MAXCACHE = 20_000  # type: ignore[attr-defined]  # noqa: SLF001
    for module in pkgutil.walk_packages(pytest_personalens.__path__, "pytest_personalens."):
        with suppress(ImportError):
            import_module(module.name)
    _remember_distributions()
    _remember_toml()


def _remember_distributions() -> None:
    """Read once what is known of installed distributions: a quarter of a short run of pytest."""
    import _pytest.config

    modules: list[Any] = [importlib.metadata]
    with suppress(ImportError):  # what pytest reads them with on the older Pythons
        modules.append(import_module("importlib_metadata"))
    for module in modules:
        for name in ("entry_points", "files", "metadata"):
            setattr(module.Distribution, name, _remembered(module.Distribution, name))
    with suppress(AttributeError):  # a function of pytest's own: which modules the files of a plugin are
        found_in = cache(lambda files: list(find(files)))
        find: Any = _pytest.config._iter_rewritable_modules  # noqa: SLF001

        def found(files: Iterable[str]) -> list[str]:
            return found_in(tuple(files))

        _pytest.config._iter_rewritable_modules = found  # type: ignore[assignment]  # noqa: SLF001


def _remembered(distributions: Any, name: str) -> property:
    read: Any = getattr(distributions, name).fget
    known: dict[str, Any] = {}

    def remembered(distribution: Any) -> Any:
        folder = str(getattr(distribution, "_path", ""))
        if not folder:
            return read(distribution)
        if folder not in known:
            known[folder] = read(distribution)
        return known[folder]

    return property(remembered)


def _remember_toml() -> None:
    """Parse a text once: the example's bot reads its catalogue whenever a run imports it."""
    parse = tomllib.loads
    parsed = cache(lambda text: pickle.dumps(parse(text)))

    def loads(text: str, /, **options: Any) -> dict[str, Any]:
        found: dict[str, Any] = parse(text, **options) if options else pickle.loads(parsed(text))
        return found

    tomllib.loads = loads


def play_one_dialogue() -> None:
    """Let the example's bot talk to the embedded user and be judged, which reads all their files."""
    from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge, EmbeddedUserAgent
    from pytest_personalens.core.judging.evaluation import evaluate
    from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset

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
