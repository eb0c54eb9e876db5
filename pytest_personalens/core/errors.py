"""The errors of this package, each with a helpful text of one line, and their codes.

The tree shows what each error leads to: the cause of an item without a score, or an exit code.

    PersonalensError
    ├── DataError          exit 4: a data, record, baseline or result file cannot be used
    ├── SpecError          exit 4: an option, ini value, mark or model spec cannot be understood
    │   └── NothingFits    the same, or a skipped test: no scenario is what was asked for
    ├── RecordError        cause "record"
    ├── ModelError         the fault of the role that the model plays
    │   └── ModelBusy      the call is repeated, and then treated as ModelError
    ├── BudgetSpent        cause "budget"
    ├── Stopped            the run has ended; nobody waits for the item
    ├── AssistantFault     cause "assistant"
    ├── UserAgentFault     cause "user-agent"
    ├── JudgeFault         cause "judge"
    └── NotJudged          no cause: the judge gives no verdict on this reading, and nobody is at fault
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.safe_text import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_EXITS: Final = {("_pytest.outcomes", "Exit"), ("bdb", "BdbQuit")}


class PersonalensError(Exception):
    """Base of every error that this package raises on purpose: one line for the user, without secrets.

    `code` is that of ``personalens explain``; a class has one for its errors that are raised without.
    `told_of` is an exception of custom code that the error tells of, after who raised it.
    """

    code = "PL101"
    told_of: tuple[str, Exception] | None = None

    def __init__(self, *args: object, code: str = "") -> None:
        super().__init__(*(redact(arg) if isinstance(arg, str) else arg for arg in args))
        if code:
            self.code = code


class DataError(PersonalensError):
    """A data file that cannot be used; the text names the file and the field."""

    code = "PL207"

    def __init__(self, file: Path | str, problem: str, *, field: str = "", code: str = "") -> None:
        self.file, self.field, self.problem = str(file), field, problem
        super().__init__(f"{file}: {self.what}", code=code)

    @property
    def what(self) -> str:
        """The text without the file."""
        return f"{self.field}: {self.problem}" if self.field else self.problem

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), field=self.field, code=self.code), (self.file, self.problem)


def error_text(error: BaseException) -> str:
    """Return the type and text of an exception, also if its own ``__str__`` raises."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception as problem:  # raised by the `__str__` of the exception
        return f"{name} (its __str__ raises {type(problem).__name__})"


def short_repr(value: object, most: int = 80) -> str:
    """Return the `repr` of a value, cut to `most` characters; its type if ``__repr__`` raises."""
    try:
        return repr(value)[:most]
    except Exception:  # raised by the `__repr__` of the value
        return f"<{type(value).__name__}>"


def ends_the_run(error: BaseException) -> bool:
    """True for pytest's exit and the debugger's quit; by name, because core does not import pytest."""
    return any((kind.__module__, kind.__name__) in _EXITS for kind in type(error).__mro__)


@contextmanager
def faults_of(
    who: str, fault: type[PersonalensError], describe: Callable[[Exception], str] = error_text
) -> Iterator[None]:
    """Make any exception of custom code a `fault`, which says that `who` raised it."""
    try:
        yield
    except PersonalensError:
        raise
    except Exception as error:
        if ends_the_run(error):
            raise
        told = fault(f"{who} raised {describe(error)}")
        told.told_of = (who, error)
        raise told from error


class SpecError(PersonalensError):
    """An option, ini value, mark or model spec that cannot be understood."""


class NothingFits(SpecError):
    """Options and marks that each can be understood, and that no scenario fits together."""

    code = "PL106"


class RecordError(PersonalensError):
    """A stored record that is corrupt, edited by hand, missing or stale."""

    code = "PL504"


class ModelError(PersonalensError):
    """A call to a language model that cannot succeed; the text says what the user can do about it."""

    code = "PL303"


class ModelBusy(ModelError):
    """A failed call that may succeed later: `throttled` by a rate limit, `retry_after` seconds if given.

    An answer that is `late` may be billed all the same, and the next may be as late.
    """

    code = "PL301"

    def __init__(
        self, problem: str, *, throttled: bool = False, retry_after: float | None = None, late: bool = False
    ) -> None:
        super().__init__(problem)
        self.throttled, self.retry_after, self.late = throttled, retry_after, late


class BudgetSpent(PersonalensError):
    """The run may make no more calls, or spend no more money; paid results are kept."""

    code = "PL304"


class Stopped(PersonalensError):
    """The run has ended, and nobody waits for this dialogue any more; paid results are kept."""

    code = "PL505"


class AssistantFault(PersonalensError):
    """The assistant raised an error, hung, or returned something that is no usable text."""

    code = "PL501"


class UserAgentFault(PersonalensError):
    """The simulated user failed or left its role, which says nothing about the assistant."""

    code = "PL502"


class JudgeFault(PersonalensError):
    """The judge failed, or its answer could not be read, which says nothing about the assistant."""

    code = "PL503"


class NotJudged(PersonalensError):
    """A judge does not judge this reading of this item, by its own rules; the text says what that needs.

    Nobody is at fault: the item keeps its other readings, and a threshold on this one does not apply.
    """

    code = "PL606"


class ErrorCode(NamedTuple):
    """What `explain` prints of a code. `page` is a page below docs/."""

    code: str
    title: str
    do: str
    page: str


@cache
def error_codes() -> dict[str, ErrorCode]:
    """Return what is known of each code, in the order of the codes."""
    import tomllib  # needed only for `explain`
    from importlib.resources import files

    rows = tomllib.loads(files(__package__).joinpath("error_codes.toml").read_text(encoding="utf-8"))
    return {code: ErrorCode(code, row["title"], row["do"], row["page"]) for code, row in sorted(rows.items())}


def with_code(error: str, code: str) -> str:
    """Return an error's text with its code at the end, in parentheses."""
    return f"{error} ({code})"
