"""Runs evaluations on a Dask cluster whose machines have this package and the assistant installed."""

from __future__ import annotations

from concurrent.futures import Executor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.runtime import once
from pytest_personalens.engine.assistant.assistant import import_assistant
from pytest_personalens.engine.assistant.team_fixtures import Memory, UserPast
from pytest_personalens.engine.engine import work
from pytest_personalens.engine.job import Job, JobResult, ParticipantSpecs
from pytest_personalens.engine.participants import Participants
from pytest_personalens.models.call_log import FarCalls

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_personalens.core.facts import Session
    from pytest_personalens.models.tape import Row

#: Seconds to wait for the scheduler, and then for a first worker.
_PATIENCE: Final = 10
_FLAG: Final = "personalens_executor"
_PACKAGE: Final = "pytest-personalens"


class Cluster(Executor):
    """A Dask cluster, by the address of its scheduler, as an executor of jobs.

    `places` is the number of threads of all workers, each of which runs one dialogue at a time; `widest` is
    that of the largest worker. If a worker dies, the scheduler has others run its dialogues again. Raise
    `SpecError` if the cluster cannot be used.
    """

    def __init__(self, address: str) -> None:
        if find_spec("distributed") is None:
            raise SpecError(f"{_FLAG}: needs Dask: pip install 'pytest-personalens[dask]'", code="PL305")
        import distributed

        client: Any = distributed.Client  # the class has no types
        try:
            self._client = client(address, timeout=_PATIENCE, set_as_default=False, name=_PACKAGE)
        except (OSError, ValueError, RuntimeError) as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise SpecError(f"{_FLAG}: no Dask scheduler at {address}: {why}", code="PL306") from None
        try:
            self._check(address)
            threads = self._client.nthreads().values()
            self.places, self.widest = sum(threads), max(threads)
            self._executor = self._client.get_executor(pure=False)
        except SpecError:
            self._client.close()
            raise

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which drops all calls that have not been made."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()

    def _check(self, address: str) -> None:
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise SpecError(
                f"{_FLAG}: the scheduler at {address} has no workers; start some with: dask worker {address}",
                code="PL306",
            ) from None

        def installed(name: str = _PACKAGE) -> str:
            # A function that is defined here is sent whole: the worker may have no module to import it from.
            from importlib.metadata import PackageNotFoundError, version

            try:
                return version(name)
            except PackageNotFoundError:
                return ""

        installed_here = installed()
        for worker, worker_version in self._client.run(installed).items():
            if worker_version != installed_here:
                installed_there = f"{_PACKAGE} {worker_version}" if worker_version else f"no {_PACKAGE}"
                raise SpecError(
                    f"{_FLAG}: the worker {worker} has {installed_there}; install {_PACKAGE} {installed_here}"
                    " there, as here",
                    code="PL306",
                )


def work_there(
    recipe: ParticipantSpecs,
    job: Job,
    known: tuple[Row, ...] = (),
    memory: str = "",
    run: str = "",
    sessions: tuple[Session, ...] = (),
) -> JobResult:
    """Do a job on a worker, with keys from its environment and the assistant from its packages.

    `known` are the calls of its case in the log of the run. `memory` (module:attribute) is handed the user's
    past `sessions` once a `run` and process.
    """
    past: UserPast | None = None
    if memory:
        there = _memory(recipe, memory, run, job.turn_timeout)
        past = UserPast(there, job.context.user, lambda: sessions)
    calls = FarCalls(known)
    done = work(job, _participants(recipe), None, calls, past=past)
    return done._replace(exception=None, bought=tuple(calls.added))  # the exception may not pickle


@once
def _memory(recipe: ParticipantSpecs, name: str, run: str, timeout: float) -> Memory:
    participants, take = _participants(recipe), import_assistant(name, Path(recipe.root))
    return Memory(take, timeout=timeout, loop=participants.loop, before=participants.go_on)


@once
def _participants(recipe: ParticipantSpecs) -> Participants:
    return Participants(recipe)
