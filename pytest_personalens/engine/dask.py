"""Evaluations on a Dask cluster: the same work, on machines that have this package and the assistant
installed.
"""

from __future__ import annotations

from concurrent.futures import Executor
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.once import once
from pytest_personalens.engine.job import Job, JobResult, work
from pytest_personalens.engine.participants import Participants, ParticipantSpecs

if TYPE_CHECKING:
    from concurrent.futures import Future

#: Seconds to wait for the scheduler, and then for a first worker.
_PATIENCE: Final = 10
_FLAG: Final = "--personalens-executor"
_PACKAGE: Final = "pytest-personalens"


class Cluster(Executor):
    """A cluster behind its scheduler's address, as an executor of jobs. Raises `SpecError` if it is of no
    use.

    `places` is how many dialogues its workers run at once, which is their threads; `widest`, how many one of
    them does. A worker that dies costs the dialogues that it ran; the scheduler has others run them.
    """

    def __init__(self, address: str) -> None:
        if find_spec("distributed") is None:
            raise SpecError(f"{_FLAG}: needs Dask: pip install 'pytest-personalens[dask]'")
        import distributed

        client: Any = distributed.Client  # which has no types
        try:
            self._client = client(address, timeout=_PATIENCE, set_as_default=False, name=_PACKAGE)
        except (OSError, ValueError, RuntimeError) as error:
            raise SpecError(f"{_FLAG}: no Dask scheduler at {address}: {_line(error)}") from None
        try:
            self._check(address)
            threads = self._client.nthreads().values()
            self.places, self.widest = sum(threads), max(threads)
            self._executor = self._client.get_executor(pure=False)
        except SpecError:
            self._client.close()
            raise

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future of the call, which some worker makes."""
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, and have it drop what is still to be done."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()

    def _check(self, address: str) -> None:
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise SpecError(
                f"{_FLAG}: the scheduler at {address} has no workers; start some with: dask worker {address}"
            ) from None

        def installed(name: str = _PACKAGE) -> str:
            # Defined in here, it travels whole: a worker may have no module of ours to look it up in.
            from importlib.metadata import PackageNotFoundError, version

            try:
                return version(name)
            except PackageNotFoundError:
                return ""

        installed_here = installed()
        for worker, theirs in self._client.run(installed).items():
            if theirs != installed_here:
                installed_there = f"{_PACKAGE} {theirs}" if theirs else f"no {_PACKAGE}"
                raise SpecError(
                    f"{_FLAG}: the worker {worker} has {installed_there}; install {_PACKAGE} {installed_here}"
                    " there, as here"
                )


def work_there(recipe: ParticipantSpecs, job: Job) -> JobResult:
    """Do a job on a worker, with agents opened there: keys come from its environment, the assistant from its
    packages.
    """
    return work(job, _participants(recipe), None)._replace(raised=None)  # it may not pickle


@once
def _participants(recipe: ParticipantSpecs) -> Participants:
    return Participants(recipe)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
