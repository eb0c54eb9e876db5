"""What the team's system holds after a dialogue, and digests of its files, by which a resumed run decides."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.dialogue import describe_exception
from pytest_personalens.core.dialogue.state import State, read_state
from pytest_personalens.core.errors import AssistantFault, faults_of
from pytest_personalens.core.files.git import git
from pytest_personalens.core.suite_names import STATE
from pytest_personalens.engine.assistant.assistant import takes_context
from pytest_personalens.engine.assistant.memory import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.engine.assistant.assistant import EventLoop


def problem_of(state: object, settings: Settings) -> str:
    """Return why a run with these settings cannot use a state, in one line; empty if it can."""
    fixture = f"personalens: the fixture {STATE}"
    if not (callable(state) or isinstance(state, Mapping)):
        is_async = type(state).__name__ in ("coroutine", "async_generator")
        hint = "; write the fixture as a plain function, not 'async def'" if is_async else ""
        return (
            f"{fixture} returned {type(state).__name__}; it must return a mapping, or a callable that"
            f" returns one{hint}"
        )
    if settings.must_share and not knows_whose(state):
        return (
            f"{fixture} must return a callable with a parameter `context` under personalens_parallel ="
            f" {str(settings.parallel).lower()}: of dialogues side by side, it must know whose state is"
            " asked for"
        )
    return ""


def knows_whose(state: object) -> bool:
    """True if a state can be asked for while dialogues run side by side: it is told which one is meant."""
    return callable(state) and takes_context(state)


class StateSource(NamedTuple):
    """Where the team's system tells its state: a mapping, or a sync or async callable that returns one.

    `fields` says which of its fields is which fact.
    """

    given: Any
    fields: Mapping[str, tuple[str, ...]]

    def taker(
        self, context: Context, *, timeout: float, loop: EventLoop, before: Callable[[], None]
    ) -> Callable[[Dialogue], State]:
        """Return a function that asks for the state after a dialogue.

        It raises `AssistantFault` for a callable that raises or takes longer than `timeout` seconds, and for
        what is no mapping of plain values.
        """
        given = self.given
        if callable(given) and takes_context(given):
            given = functools.partial(given, context=context)

        def take(dialogue: Dialogue) -> State:
            before()
            value = ask(
                lambda: given() if callable(given) else given,
                who=STATE,
                timeout=timeout,
                loop=loop,
                too_late=f"{STATE} did not answer within {timeout:g} s (personalens_turn_timeout)",
            )
            with faults_of(STATE, AssistantFault, describe_exception):
                return State(data=read_state(value), fields=dict(self.fields))

        return take


#: Endings of files that may shape an assistant's replies, where no version control tells them from the output
#: of a run.
_SUFFIXES: Final = frozenset(
    (
        ".py", ".pyx", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".txt", ".md", ".prompt", ".j2", ".jinja",
        ".jinja2", ".tmpl", ".env",
    )
)  # fmt: skip
#: Folders that a run writes to, or that hold installed packages.
_APART: Final = frozenset(
    {"__personalens__", "__snapshots__", "__pycache__", "node_modules", "site-packages"}
)
#: Variables with a CI service's name of a run, which all its jobs share, also when some of them run again.
_RUNS: Final = (
    "PERSONALENS_RUN_ID", "GITHUB_RUN_ID", "CI_PIPELINE_ID", "CIRCLE_WORKFLOW_ID", "BUILDKITE_BUILD_ID",
    "BUILD_BUILDID", "BUILD_TAG",
)  # fmt: skip


def sources(root: Path) -> dict[str, str]:
    """Return the digests of the sources, by name.

    With git, these are the commit and every file that differs from it; without, all source files below
    `root`.
    """
    commit, top = git(root, "rev-parse", "HEAD"), git(root, "rev-parse", "--show-toplevel")
    status = git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    if commit is None or status is None or top is None:
        return {name: _digest(root / name) for name in sorted(_walk(root))}
    digests = {"the commit": commit.strip()}
    for entry in filter(None, status.split("\0")):
        state, name = entry[:2], entry[3:]
        if not _APART & set(Path(name).parts) and (state != "??" or Path(name).suffix in _SUFFIXES):
            digests[name] = _digest(Path(top.rstrip("\n")) / name)
    return digests


def origin(root: Path) -> dict[str, str]:
    """Return what all parts of one run share on any machine: the commit, and the run of the CI service."""
    commit = git(root, "rev-parse", "HEAD")
    facts = {"the commit": commit.strip()} if commit is not None else {}
    runs = {f"the run ({name})": os.environ[name] for name in _RUNS if os.environ.get(name)}
    return facts | dict(list(runs.items())[:1])


def first_changed(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the first source that differs, or an empty text."""
    return next((what for what in sorted({*before, *now}) if before.get(what) != now.get(what)), "")


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if name not in _APART and name[0] != "." and not (Path(folder) / name / "pyvenv.cfg").exists()
        ]
        yield from (
            os.path.relpath(Path(folder) / name, root) for name in files if Path(name).suffix in _SUFFIXES
        )


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    except OSError:
        return "not there"
