"""A dataset of somebody's own, whose mistakes are told in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import ValidationError

from pytest_personalens.core.errors import DataError, PersonalensError, error_text, short_repr
from pytest_personalens.core.jsonfile import first_problem
from pytest_personalens.core.scenario import Kind, Scenario, ScenarioRef

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.datasets.base import Dataset

_KINDS: Final = get_args(Kind)


class CheckedDataset:
    """`dataset` as it is, but for whatever it raises or returns that is none of what `Dataset` promises: that is a `DataError`."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._where = f"dataset {type(dataset).__name__}"
        for field in ("name", "version"):
            if not isinstance(getattr(dataset, field, None), str):
                raise DataError(self._where, "expected a text", field=field)
        self.name, self.version = dataset.name, dataset.version

    def domains(self) -> Sequence[str]:
        """As the dataset's own, all of them texts, and none the name of a kind, by which gates are asked for too."""
        names = self._texts(self._call("domains()", lambda: self._dataset.domains()), "domains()")
        if kinds := [name for name in names if name.lower() in _KINDS]:
            raise DataError(self._where, f"{kinds[0]!r} is a kind of task; give the domain another name", field="domains()")
        return names

    def users(self) -> Sequence[str]:
        """As the dataset's own, all of them texts."""
        return self._texts(self._call("users()", lambda: self._dataset.users()), "users()")

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """As the dataset's own, each with a kind and domains that can be."""
        where = f"refs({user!r})"
        refs = self._call(where, lambda: list(self._dataset.refs(user)))
        for ref in refs:
            if not isinstance(ref, ScenarioRef):
                raise DataError(self._where, f"expected values of ScenarioRef, not {type(ref).__name__}", field=where)
            if ref.kind not in _KINDS:
                raise DataError(self._where, f"the kind of a scenario is 'single' or 'multi', not {short_repr(ref.kind, 40)}", field=where)
            self._texts([ref.user, ref.task], where)
            if not self._texts(ref.domains, f"{where}: domains of {ref.task}"):
                raise DataError(self._where, "expected one domain or more", field=f"{where}: domains of {ref.task}")
        return [ref._replace(domains=tuple(ref.domains)) for ref in refs]

    def load(self, ref: ScenarioRef) -> Scenario:
        """As the dataset's own."""
        where = f"load({ref.user!r}, {ref.task!r})"
        scenario = self._call(where, lambda: self._dataset.load(ref))
        if not isinstance(scenario, Scenario):
            raise DataError(self._where, f"expected a Scenario, not {type(scenario).__name__}", field=where)
        if problem := _problem(scenario):
            raise DataError(self._where, problem, field=where)
        return scenario

    def _call(self, where: str, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except PersonalensError:
            raise
        except ValidationError as error:
            field, problem = first_problem(error)
            raise DataError(self._where, f"{field}: {problem}", field=where) from None
        except Exception as error:
            raise DataError(self._where, f"raised {error_text(error)}", field=where) from error

    def _texts(self, texts: object, where: str) -> Sequence[str]:
        if isinstance(texts, str) or not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
            raise DataError(self._where, f"expected a list of texts, not {short_repr(texts, 60)}", field=where)
        return texts


def _problem(scenario: Scenario) -> str:
    """What nobody can mean: a task that says nothing to its user or to the judge, or rests on a preference that nobody has."""
    for field in ("intent", "goal"):
        if not getattr(scenario.task, field).strip():
            return f"the task's {field} is empty"
    for domain, name in scenario.task.relevant:
        if name not in (has := scenario.preferences.get(domain, {})):
            known = f"those of {domain} are {', '.join(map(repr, has))}" if has else f"there are none of {domain}"
            return f"the task's relevant preference {name!r} is not among the preferences: {known}"
    return ""
