"""Opens what a run needs: its dataset, a cluster, its cache, and the values that make its agents."""

from __future__ import annotations

import io
import shutil
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_personalens.core.dialogue.state import read_fields
from pytest_personalens.core.errors import DataError, PersonalensError, SpecError, error_text
from pytest_personalens.core.judging.usage import price_of, read_prices
from pytest_personalens.core.names import DATA_PREFIXES, STATE
from pytest_personalens.core.options.option_table import judge_specs
from pytest_personalens.datasets.checked_dataset import CheckedDataset
from pytest_personalens.engine.job import ParticipantSpecs
from pytest_personalens.models.meter import Budget
from pytest_personalens.models.specs import ServiceSettings, read_parameters, read_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.engine.dask import Cluster
    from pytest_personalens.models import Model

    Read = TypeVar("Read")


class _Asked:
    """A plugin that calls the hook instead of running tests."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.found: Dataset | None = None
        self.problem: Exception | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        try:
            self.found = config.hook.pytest_personalens_dataset(spec=self.spec, config=config)
        except Exception as error:  # opening a custom dataset may raise anything
            self.problem = error
        return 0


def offered_dataset(spec: str) -> Dataset | None:
    """Return the dataset of a hook ``pytest_personalens_dataset`` of the working directory, or None.

    Raise `SpecError` if a ``conftest.py`` cannot be loaded or the hook raises.
    """
    hook_caller, said = _Asked(spec), io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        # Modules of this package are already loaded. pytest could not rewrite their asserts any more, and
        # would warn about it.
        status = pytest.main(["--assert=plain"], plugins=[hook_caller])
    if isinstance(hook_caller.problem, DataError):
        raise hook_caller.problem
    if hook_caller.problem is not None:
        raise SpecError(
            f"the dataset {spec!r} cannot be had: {error_text(hook_caller.problem)}", code="PL307"
        )
    if status:
        lines = [line.strip() for line in said.getvalue().splitlines() if line.strip()]
        lines = lines or [f"exit code {int(status)}"]
        why = next((line for line in lines if "error: " in line), lines[-1]).removeprefix("E   ")
        raise SpecError(f"the dataset {spec!r} cannot be had: pytest cannot start here: {why}", code="PL307")
    return CheckedDataset(hook_caller.found) if hook_caller.found is not None else None


#: The key under which a worker gets the folder of the caps.
SHARED: Final = "personalens_shared"


def participant_specs(config: pytest.Config, s: Settings) -> ParticipantSpecs:
    """Return the values from which each process opens the agents of a run."""
    return ParticipantSpecs(
        root=str(config.rootpath),
        settings=s,
        service=ServiceSettings(
            s.assistant_request,
            s.assistant_reply or "",
            tuple(_lines(config, "personalens_assistant_headers")),
        ),
        parameters=tuple(_read(config, "personalens_model_parameters", read_parameters).items()),
        prices=tuple(read_prices_of(config).items()),
        side_by_side=s.at_once(processes_of(config)),
    )


def processes_of(config: pytest.Config) -> int:
    """Return how many processes run the items of this run: the workers of xdist, or this one."""
    return int(getattr(config, "workerinput", {}).get("workercount", 1))


def read_prices_of(config: pytest.Config) -> dict[str, Price]:
    """Return the prices that the configuration names, by model."""
    return _read(config, "personalens_prices", read_prices)


def read_fields_of(config: pytest.Config) -> dict[str, tuple[str, ...]]:
    """Return which facts each field of a state holds, as the configuration says."""
    return read_fields(_lines(config, STATE))


def _read(config: pytest.Config, key: str, read: Callable[[list[str]], Read]) -> Read:
    try:
        return read(_lines(config, key))
    except SpecError as error:
        raise SpecError(f"{key}: {error}", code=error.code) from None


def _lines(config: pytest.Config, name: str) -> list[str]:
    # Lists in a TOML configuration may hold values of any type.
    return [line for line in map(str, config.getini(name)) if line.strip()]


def shared_folder(config: pytest.Config, settings: Settings) -> str:
    """Return a folder that the processes of this run share, which is removed at its end.

    It holds the caps, and what was learnt of the models' servers. It is empty if there is no cap and but one
    process.
    """
    if hasattr(config, "workerinput"):
        return str(config.workerinput.get(SHARED, ""))
    if not settings.budget and getattr(config.option, "dist", "no") == "no":
        return ""
    folder = tempfile.mkdtemp(prefix="personalens-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return folder


def budget_in(folder: str, settings: Settings) -> Budget | None:
    """Return the caps that are counted in the folder, or None without a cap."""
    return (
        Budget(Path(folder) / "run", max_calls=settings.max_calls, max_usd=settings.max_usd)
        if folder and settings.budget
        else None
    )


def refuse_unknown_prices(
    settings: Settings, models: Mapping[str, Model], prices: Mapping[str, Price]
) -> None:
    """Raise `SpecError` if the cost is capped and a model, by its role, has no price."""
    for role, model in models.items() if settings.max_usd is not None else ():
        if model.paid and price_of(model.name, prices) is None:
            raise SpecError(
                f"--personalens-budget: no price is known for {model.name} ({role}); add it to"
                " personalens_prices",
                code="PL304",
            )


def dataset_of(config: pytest.Config, settings: Settings) -> Dataset:
    """Return the dataset that a plugin or the suite of the run opens; raise `PersonalensError`."""
    spec, suite = settings.data, settings.of_suite
    try:
        added: Dataset | None = config.hook.pytest_personalens_dataset(spec=spec, config=config)
    except PersonalensError:
        raise
    except Exception as error:  # opening a custom dataset may raise anything
        raise SpecError(
            f"--personalens-data: the dataset {spec!r} cannot be had: {error_text(error)}",
            code="PL307",
        ) from error
    if added is None:
        reader = DATA_PREFIXES.get(spec.partition(":")[0], suite.name)
        if reader != suite.name:
            raise SpecError(
                f"--personalens-data {spec}: is data of the suite {reader}; add --personalens-suite {reader}",
                code="PL108",
            )
        own: Dataset = suite.open_dataset(spec, config.rootpath, settings)
        return own
    return CheckedDataset(added, scenario=suite.scenario, kinds=suite.kinds)


def open_cluster(config: pytest.Config, s: Settings, *, has_budget: bool) -> Cluster | None:
    """Return the cluster of the run, or None; raise `SpecError` for what cannot run on one."""
    flag = "personalens_executor"
    if s.executor is None or s.estimate or config.option.collectonly:
        return None
    if not s.names_assistant:
        raise SpecError(
            f"{flag}: a fixture stays in this process; name the assistant with --personalens-assistant"
            " module:attribute",
            code="PL402",
        )
    for spec in (s.user_model, *judge_specs(s.judge_model).values()):
        if spec != "embedded" and read_spec(spec) is None:
            raise SpecError(
                f"{flag}: only embedded, bedrock: and openai: agents can be opened on its workers, not"
                f" {spec!r}",
                code="PL306",
            )
    if has_budget:
        raise SpecError(
            f"{flag}: --personalens-budget is kept in one machine's files, not on a cluster", code="PL306"
        )
    from pytest_personalens.engine.dask import Cluster

    return Cluster(s.executor)


def cache_of(config: pytest.Config) -> Path | None:
    """Return the folder of pytest's cache, or None where nothing can be kept, which is a warning."""
    cache = getattr(config, "cache", None)  # there is none with -p no:cacheprovider
    if cache is None:
        return None
    try:
        folder = Path(cache.mkdir("personalens"))
        (folder / ".writable").touch()
    except OSError as error:
        # pytest warns about its own cache in the same way. A run that needs the cache reports an error.
        message = f"personalens: nothing can be kept in pytest's cache ({error.filename}: {error.strerror})"
        config.issue_config_time_warning(pytest.PytestWarning(message), stacklevel=2)
        return None
    return folder
