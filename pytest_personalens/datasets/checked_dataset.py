"""Opens the dataset that a spec names; of a user's own one, mistakes are reported in one line."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_personalens.core.errors import DataError, PersonalensError, error_text, short_repr
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import BaseScenario, Scenario, ScenarioRef
from pytest_personalens.datasets.dataset import value_or_raise
from pytest_personalens.datasets.embedded.dataset_files import TASK_KINDS, name_problems
from pytest_personalens.datasets.world.resolve import contradictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.datasets.dataset import Dataset


class CheckedDataset:
    """A dataset that raises `DataError` for each breach of `Dataset`, also for an exception of `dataset`."""

    def __init__(
        self,
        dataset: Dataset,
        *,
        scenario: type[BaseScenario] = Scenario,
        kinds: Sequence[str] = TASK_KINDS,
    ) -> None:
        self._dataset, self._scenario, self._kinds = dataset, scenario, kinds
        self.where = f"dataset {type(dataset).__name__}"
        for field in ("name", "version"):
            if not isinstance(getattr(dataset, field, None), str):
                raise self._error("expected a text", field)
        self.name, self.version = dataset.name, dataset.version

    def domains(self) -> Sequence[str]:
        """Return the domains: texts with different slugs, none the name of a kind, which gates use too."""
        return value_or_raise(*self.check_domains())

    def users(self) -> Sequence[str]:
        """Return the users of the dataset, which must be texts, each once."""
        names = self._texts(self._call("users()", lambda: self._dataset.users()), "users()")
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise self._error(f"the user {twice[0]!r} stands there twice", "users()")
        return names

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """Return the scenarios of one user, each with a valid kind and valid domains."""
        _ = self._sound_domains  # a draw does not always call `domains`
        return value_or_raise(*self.check_refs(user))

    def load(self, ref: ScenarioRef) -> Any:
        return value_or_raise(*self.check_scenario(ref))

    def check_domains(self) -> tuple[Sequence[str], list[DataError]]:
        """Return the names of the domains, and every problem with them."""
        try:
            names = self._texts(self._call("domains()", lambda: self._dataset.domains()), "domains()")
        except DataError as error:
            return (), [error]
        errors: list[DataError] = []
        slugs: dict[str, str] = {}
        for name in names:
            problems = name_problems(slug(name), name, slugs, self._kinds)
            errors += [self._error(problem, "domains()") for _, problem in problems]
            slugs.setdefault(slug(name), name)
        return names, errors

    def check_refs(self, user: str) -> tuple[list[ScenarioRef], list[DataError]]:
        """Return the valid scenarios of the user, and every problem with the others."""
        where = f"refs({user!r})"
        refs: list[ScenarioRef] = []
        errors: list[DataError] = []
        try:
            raw_refs = self._call(where, lambda: list(self._dataset.refs(user)))
        except DataError as error:
            return [], [error]
        for ref in raw_refs:
            try:
                refs.append(self._ref(ref, where))
            except DataError as error:
                errors.append(error)
        twice = [task for (_, task), times in Counter(ref[:2] for ref in refs).items() if times > 1]
        errors += [self._error(f"the task {task!r} stands there twice", where) for task in twice]
        return list(dict.fromkeys(refs)), errors

    def check_scenario(self, ref: ScenarioRef) -> tuple[Any, list[DataError]]:
        """Return the scenario, or None if there is none, and every problem with it."""
        where = f"load({ref.user!r}, {ref.task!r})"
        try:
            loaded = self._call(where, lambda: self._dataset.load(ref))
            if not isinstance(loaded, self._scenario):
                raise self._error(f"expected a {self._scenario.__name__}, not {type(loaded).__name__}", where)
            # `model_construct` and `model_copy` accept any value.
            fields = set(self._scenario.model_fields)
            data = self._call(where, lambda: loaded.model_dump(include=fields, warnings="none"))
            scenario = self._call(where, lambda: self._scenario.model_validate(data))
        except DataError as error:
            return None, [error]
        if not isinstance(scenario, Scenario):
            return scenario, []
        return scenario, [self._error(problem, where) for problem in _problems(scenario, ref)]

    def _ref(self, ref: object, where: str) -> ScenarioRef:
        if not isinstance(ref, ScenarioRef):
            raise self._error(f"expected values of ScenarioRef, not {type(ref).__name__}", where)
        if ref.kind not in self._kinds:
            kinds = " or ".join(map(repr, self._kinds))
            raise self._error(f"the kind of a scenario is {kinds}, not {short_repr(ref.kind, 40)}", where)
        self._texts([ref.user, ref.task], where)
        where = f"{where}: domains of {ref.task}"
        domains = self._texts(ref.domains, where)
        if not domains:
            raise self._error("expected one domain or more", where)
        if self._declared and (strange := [name for name in domains if name not in self._declared]):
            raise self._error(f"{strange[0]!r} is not among domains(): {', '.join(self._declared)}", where)
        if len(set(domains)) < len(domains):
            raise self._error("a domain stands there twice", where)
        if ref.kind == "single" and len(domains) > 1:
            raise self._error(f"a scenario of the kind 'single' has one domain, not {len(domains)}", where)
        return ref._replace(domains=tuple(domains))

    @cached_property
    def _sound_domains(self) -> Sequence[str]:
        return self.domains()

    @cached_property
    def _declared(self) -> Sequence[str]:
        return self.check_domains()[0]

    def _error(self, problem: str, field: str) -> DataError:
        return DataError(self.where, problem, field=field)

    def _call(self, where: str, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except PersonalensError:
            raise
        except ValidationError as error:
            field, problem = first_problem(error)
            raise self._error(f"{field}: {problem}", where) from None
        except Exception as error:
            raise self._error(f"raised {error_text(error)}", where) from error

    def _texts(self, value: object, where: str) -> Sequence[str]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
            raise self._error(f"expected a list of texts, not {short_repr(value, 60)}", where)
        return value


def _problems(scenario: Scenario, ref: ScenarioRef) -> Iterator[str]:
    """Yield the problems with the content of a scenario, which must be the one that its reference names."""
    loaded_ref = ScenarioRef(scenario.user, scenario.task.id, scenario.kind, scenario.domains, ref.stratum)
    for field, listed, loaded in zip(ScenarioRef._fields, ref, loaded_ref, strict=True):
        if listed != loaded:
            yield (
                f"the scenario has {field} {short_repr(loaded, 60)}, but refs() says {short_repr(listed, 60)}"
            )
    yield from contradictions(scenario)
    for field in ("intent", "goal"):
        if not getattr(scenario.task, field).strip():
            yield f"the task's {field} is empty"
    for (domain, name), times in Counter(scenario.task.relevant).items():
        if times > 1:
            yield f"the task's relevant preference {name!r} of {domain} stands there twice"
        if name not in (has := scenario.preferences.get(domain, {})):
            existing = (
                f"those of {domain} are {', '.join(map(repr, has))}" if has else f"there are none of {domain}"
            )
            yield f"the task's relevant preference {name!r} is not among the preferences: {existing}"


def open_dataset(
    spec: str,
    *,
    base: Path | None = None,
    offered: Callable[[str], Dataset | None] = lambda spec: None,
    whole: bool = False,
) -> Dataset:
    """Return the dataset that `spec` names.

    `spec` is ``embedded``, or the path of an official checkout or of its ``data`` folder, or the path of a
    folder in the embedded layout (one with a ``dataset.toml``). For any other text the function returns the
    dataset that is `offered` under that name.

    With `whole`, its scenarios hold the user's past interactions of all domains, not of the task's alone. A
    dataset that is offered decides that itself. A relative path starts at `base` (default: the working
    directory). Raise `DataError` if `spec` names no dataset.
    """
    from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
    from pytest_personalens.datasets.official import OfficialDataset

    if spec == "embedded":
        return EmbeddedDataset(whole=whole)
    try:
        path = (base or Path()) / Path(spec).expanduser()
        for root in (path, path / "data"):
            if (root / "profile").is_dir():
                return OfficialDataset(root, whole=whole)
            if (root / "dataset.toml").is_file():
                return EmbeddedDataset(root, whole=whole)
        exists = path.exists()
    except (OSError, RuntimeError) as error:  # such as a loop of links, or an unknown home
        raise DataError(
            spec[:200], f"cannot be read: {getattr(error, 'strerror', None) or error}", code="PL201"
        ) from None
    if (dataset := offered(spec)) is not None:
        return dataset
    if not exists:
        known = "'embedded', a data folder, or a name that the hook pytest_personalens_dataset knows"
        raise DataError(path, f"no such folder; give {known}", code="PL201")
    lacks = "it has neither a profile/ folder (official layout) nor a dataset.toml (ours) in it"
    raise DataError(path, f"not a data folder: {lacks}", code="PL203")
