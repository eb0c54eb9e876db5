"""What can go wrong, each as one line that a user can act on.

The tree, and what becomes of each error: the cause of an item without a score, or an exit code.

    PersonalensError
    ├── DataError          exit 4: a data, record, baseline or result file cannot be used
    ├── SpecError          exit 4: an option, ini value, mark or model spec cannot be understood
    ├── RecordError        cause "record"
    ├── ModelError         the fault of the role that the model plays
    │   └── ModelBusy      asked again, then as ModelError
    ├── BudgetSpent        cause "budget"
    ├── Stopped            the run has ended; nobody waits for the item
    ├── AssistantFault     cause "assistant"
    ├── UserAgentFault     cause "user-agent"
    └── JudgeFault         cause "judge"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.redaction import redacted

if TYPE_CHECKING:
    from pathlib import Path

_EXITS: Final = {("_pytest.outcomes", "Exit"), ("bdb", "BdbQuit")}


class PersonalensError(Exception):
    """Base of every error this package raises on purpose; its text is one line for the user, without any
    secret.

    The text often repeats what a provider said, and a provider may repeat the key that it was given.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(redacted(arg) if isinstance(arg, str) else arg for arg in args))


class DataError(PersonalensError):
    """A data file that cannot be used; the text names the file and the field."""

    def __init__(self, file: Path | str, problem: str, *, field: str = "") -> None:
        self.file, self.field, self.problem = str(file), field, problem
        where = f"{file}: {field}" if field else f"{file}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        return _data_error, (self.file, self.field, self.problem)


def _data_error(file: str, field: str, problem: str) -> DataError:
    return DataError(file, problem, field=field)


def error_text(error: BaseException) -> str:
    """What an exception of somebody else's says of itself: its type and its text, if it has one that can be
    read.
    """
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception as problem:  # its own __str__
        return f"{name} (its __str__ raises {type(problem).__name__})"


def short_repr(value: object, most: int = 80) -> str:
    """A value of somebody else's as it would stand in a program, cut short; what it is, where it cannot be
    shown.
    """
    try:
        return repr(value)[:most]
    except Exception:  # its own __repr__
        return f"<{type(value).__name__}>"


def ends_the_run(error: BaseException) -> bool:
    """True for what the user asked for, and no agent is at fault for: pytest's own exit, which 'q' in its
    debugger raises too.

    By name, because this part of the package does not import pytest.
    """
    return any((kind.__module__, kind.__name__) in _EXITS for kind in type(error).__mro__)


class SpecError(PersonalensError):
    """An option, ini value, mark or model spec that cannot be understood."""


class RecordError(PersonalensError):
    """A stored record that is corrupt, was edited by hand, is missing or is stale."""


class ModelError(PersonalensError):
    """A call to a language model that cannot succeed; the text says what to do about it."""


class ModelBusy(ModelError):
    """A call that failed and may succeed a moment later.

    `throttled`: the provider refused it for its rate; `retry_after`: the seconds it asked to wait, if it did.
    """

    def __init__(self, problem: str, *, throttled: bool = False, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.throttled, self.retry_after = throttled, retry_after


class BudgetSpent(PersonalensError):
    """The run may make no more calls, or spend no more money. Nobody's fault; what was bought is kept."""


class Stopped(PersonalensError):
    """The run has ended, and nobody waits for this dialogue any more; what was bought is kept."""


class AssistantFault(PersonalensError):
    """The assistant under test raised, hung, or answered with something that is not a usable text."""


class UserAgentFault(PersonalensError):
    """The simulated user failed or stepped out of its role; says nothing about the assistant."""


class JudgeFault(PersonalensError):
    """The judge failed, or its answer could not be read; says nothing about the assistant."""
