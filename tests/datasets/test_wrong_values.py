"""Every field of a dataset with a wrong value, in each layout and through the hook: one line."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

import pytest

from pytest_personalens import Dataset, Scenario, ScenarioRef, Situation, Task
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.facts import Clock, Fact, Session
from pytest_personalens.core.suite import Finding
from pytest_personalens.datasets import open_dataset
from pytest_personalens.datasets.checked_dataset import CheckedDataset
from pytest_personalens.datasets.quality.corpus import read_corpus
from pytest_personalens.datasets.quality.measures import assess
from tests.project.fuzz.inputs.spoil import toml
from tests.support.datasets.folders import write_own_domains, write_own_world
from tests.support.datasets.official_tree import write_data

#: Missing, empty, of another type, huge.
MISSING: Final = object()
WRONG: Final[tuple[object, ...]] = (MISSING, "", " \n", 3, [], {}, [3], None, "x" * 20_000)
Place = tuple[Any, ...]


def places(tree: object, here: Place = ()) -> Iterator[Place]:
    """Each field, and each first item of a list."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree[:1]) if isinstance(tree, list) else ()
    for key, value in inner:
        yield (*here, key)
        yield from places(value, (*here, key))


def spoilt(tree: Any, place: Place, value: object) -> Any:
    tree = copy.deepcopy(tree)
    parent = tree
    for key in place[:-1]:
        parent = parent[key]
    if value is MISSING:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    return tree


def problem_in(dataset: Dataset) -> str:
    """What is told of a dataset that is read to its end, in one line; empty if nothing."""
    try:
        dataset.domains()
        for user in dataset.users():
            for ref in dataset.refs(user):
                dataset.load(ref).model_dump_json()
    except DataError as error:
        assert "\n" not in str(error)
        return str(error)
    return ""


# Files


def told_or_read(root: Path, file: Path) -> bool:
    """True if reading ends in one line that names the file; `check-dataset` raises for the head only."""
    try:
        problem = problem_in(open_dataset(str(root)))
    except DataError as error:
        problem = str(error)
    assert not problem or str(root) in problem, problem
    try:
        found = [f.file for f in assess(read_corpus(str(root)), words=10).findings]
    except DataError as error:
        assert file.name == "dataset.toml", str(error)
    else:
        assert not problem or any(problem.startswith(f"{f}: ") for f in found), (problem, found)
    return bool(problem)


def check_every_field(
    root: Path, file: Path, write: Callable[[Any], str], tree: Any, values: Sequence[object], *, least: int
) -> None:
    """Spoil each field of a file in each way: it is told of `least` ways or more of each field on average."""
    told = 0
    for place in places(tree):
        for value in values:
            file.write_text(write(spoilt(tree, place, value)), encoding="utf-8")
            try:
                told += told_or_read(root, file)
            except Exception as error:
                raise AssertionError(f"{file.name}, {place}: {str(value)[:20]!r}") from error
    assert told > least * len(list(places(tree)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "name", "least"),
    [
        *((write_own_domains, name, 2) for name in ("dataset", "multi", "domains/pharmacy", "profiles/orla")),
        *((write_own_world, name, 1) for name in ("domains/pharmacy", "profiles/orla", "limits", "histories/orla/pharmacy")),
    ],
)  # fmt: skip
def test_each_embedded_field(tmp_path: Path, write: Callable[[Path], Path], name: str, least: int) -> None:
    root = write(tmp_path / "own")
    (root / "profiles" / "bríd.toml").unlink(missing_ok=True)
    if write is write_own_world:
        assert assess(read_corpus(str(root)), words=10).findings == ()
    file = root / f"{name}.toml"
    tree = tomllib.loads(file.read_text(encoding="utf-8"))
    values = [value for value in WRONG if value is not None]  # TOML has no such
    check_every_field(root, file, toml, tree, values, least=least)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["profile", "tasks", "tasks_md"])
def test_every_field_of_the_official_layout(tmp_path: Path, name: str) -> None:
    write_data(tmp_path, ("kit",))
    root = tmp_path / "data"
    profile = root / "profile" / "kit" / "profile.json"
    person = json.loads(profile.read_text(encoding="utf-8"))
    profile.write_text(json.dumps(person | {"interests": dict.fromkeys(person["affinities"], 1)}), "utf-8")
    file = profile.with_name(f"{name}.json")
    check_every_field(root, file, json.dumps, json.loads(file.read_text(encoding="utf-8")), WRONG, least=1)


# The hook

GOOD: Final = Scenario(
    id="billing-1-acme", user="acme", dataset="support 1", kind="single", domains=("Billing",), demographics={"age": "35-44"},
    preferences={"Billing": {"Invoice Format": ("PDF by mail",)}},
    summaries={"Billing": "They asked twice for the invoice by mail."},
    situation=Situation(location="office", device="Laptop", time_of_day="Morning", day_of_week="Monday", environment="Quiet"),
    task=Task(
        id="billing-1", description="d", intent="You want the invoice.", goal="It is sent.", relevant=(("Billing", "Invoice Format"),),
    ),
)  # fmt: skip


class Support:
    """A dataset of somebody's own with one scenario; what it says can be replaced, by a function for `load`."""

    name, version = "support", "1"

    def __init__(self, **said: object) -> None:
        refs = [ScenarioRef("acme", "billing-1", "single", ("Billing",))]
        self.said = {"domains": ("Billing",), "users": ("acme",), "refs": refs, "load": GOOD} | said

    def domains(self) -> object:
        return self.said["domains"]

    def users(self) -> object:
        return self.said["users"]

    def refs(self, user: str) -> object:
        return self.said["refs"]

    def load(self, ref: ScenarioRef) -> object:
        load = self.said["load"]
        return load() if callable(load) else load


def offered(**said: object) -> str:
    """What is told of a dataset; empty if nothing. `check-dataset` finds the same."""
    problem = problem_in(CheckedDataset(cast("Dataset", Support(**said))))
    assert not problem or problem.startswith("dataset Support: ")
    assert not problem or problem in [f"{f.file}: {f.field}: {f.message}" for f in findings(**said)]
    return problem


def findings(**said: object) -> Sequence[Finding]:
    checked = CheckedDataset(cast("Dataset", Support(**said)))
    return assess(read_corpus("support", offered=lambda spec: checked), words=10).findings


def test_every_field_of_a_scenario_of_the_hook() -> None:
    """Of values that pydantic checks when they are made, or not (`model_construct`)."""
    data, told = GOOD.model_dump(), 0
    assert offered() == ""
    for place in places(data):
        for value in WRONG:
            wrong = spoilt(data, place, value)
            told += bool(offered(load=lambda wrong=wrong: Scenario.model_validate(wrong)))
            told += bool(offered(load=lambda wrong=wrong: Scenario.model_construct(**wrong)))
    assert told > 5 * len(list(places(data)))


def scenario(**changes: object) -> Scenario:
    """The good scenario with other fields, of its task where the task has them."""
    of_task = {name: value for name, value in changes.items() if name in Task.model_fields}
    task = GOOD.task.model_copy(update=of_task)
    return GOOD.model_copy(update={**{k: v for k, v in changes.items() if k not in of_task}, "task": task})


FACT: Final = Fact(name="day", what="the day", kind="date", known="said", right=("2026-03-13",))
NOW: Final = Clock(date="2026-03-09", time="09:30")


def fact(**changes: object) -> Fact:
    return FACT.model_copy(update=changes)


def session(date: str) -> Session:
    return Session(id="a", date=date, domain="Billing", messages=({"role": "user", "content": "Hi"},))


def ref(*domains: str, task: str = "a", kind: str = "single") -> ScenarioRef:
    return ScenarioRef("acme", task, kind, domains)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"domains": "Billing"}, "domains(): expected a list of texts, not 'Billing'"),
        ({"domains": ("Billing", "billing")}, "domains(): 'billing' and 'Billing' share the slug 'billing'"),
        ({"domains": ("Billing", "Multi")}, "domains(): 'Multi' is a kind of task"),
        ({"domains": ("Billing", " ")}, "domains(): expected a text that is not empty"),
        ({"users": "acme"}, "users(): expected a list of texts, not 'acme'"),
        ({"users": None}, "users(): expected a list of texts, not None"),
        ({"users": ("acme", "acme")}, "users(): the user 'acme' stands there twice"),
        ({"refs": None}, "refs('acme'): raised TypeError"),
        ({"refs": ["billing-1"]}, "refs('acme'): expected values of ScenarioRef, not str"),
        ({"refs": [ref("Billing", kind="both")]}, "the kind of a scenario is 'single' or 'multi', not 'both'"),
        ({"refs": [ref()._replace(domains=cast("Any", "Billing"))]}, "domains of a: expected a list of texts, not 'Billing'"),
        ({"refs": [ref()]}, "domains of a: expected one domain or more"),
        ({"refs": [ref("Refunds")]}, "domains of a: 'Refunds' is not among domains(): Billing"),
        ({"refs": [ref("Billing")] * 2}, "refs('acme'): the task 'a' stands there twice"),
        ({"domains": ("Billing", "Refunds"), "refs": [ref("Billing", "Refunds")]}, "domains of a: a scenario of the kind 'single' has one domain, not 2"),
        ({"load": None}, "load('acme', 'billing-1'): expected a Scenario, not NoneType"),
        ({"load": scenario(user="orla")}, "load('acme', 'billing-1'): the scenario has user 'orla', but refs() says 'acme'"),
        ({"load": scenario(kind="multi")}, "the scenario has kind 'multi', but refs() says 'single'"),
        ({"load": scenario(domains=("Refunds",))}, "the scenario has domains ('Refunds',), but refs() says ('Billing',)"),
        ({"load": scenario(intent=" ")}, "the task's intent is empty"),
        ({"load": scenario(goal="")}, "the task's goal is empty"),
        ({"load": scenario(preferences={"Billing": {"Invoice Format": "PDF"}})}, "preferences.Billing.Invoice Format: "),
        ({"load": scenario(relevant=(("Billing", "Colour"),))}, "the task's relevant preference 'Colour' is not among the preferences: those of Billing are 'Invoice Format'"),
        ({"load": scenario(now=Clock(date="2026-03-10", time="09:30"))}, "now.date: 2026-03-10 is a Tuesday"),
        ({"load": scenario(now=Clock(date="2026-03-09", time="22:30"))}, "now.time: 22:30 is no morning"),
        ({"load": scenario(facts=(FACT, FACT))}, "two facts are called 'day'"),
        ({"load": scenario(facts=(fact(right=()),))}, "a fact without a value"),
        ({"load": scenario(facts=(fact(right=("Friday",)),))}, "task.facts.day: "),
        ({"load": scenario(facts=(fact(right=("2026-03-14 .. 2026-03-13",)),))}, "upside down"),
        ({"load": scenario(facts=(fact(wrong=FACT.right),))}, "is right and wrong"),
        ({"load": scenario(now=NOW, sessions=(session("2026-03-12"),))}, "lies after now"),
        ({"load": scenario(sessions=(session("2026-03-01"), session("2026-02-01")))}, "lies before"),
        ({"load": scenario(now=NOW, sessions=(session("2026-03-01"),), facts=(FACT,))}, ""),
        ({"load": scenario(relevant=GOOD.task.relevant * 2)}, "the task's relevant preference 'Invoice Format' of Billing stands there twice"),
    ],
)  # fmt: skip
def test_a_mistake_of_the_hook_has_its_line(said: dict[str, object], problem: str) -> None:
    told = offered(**said)
    assert problem in told if problem else not told


def test_all_mistakes_are_found_at_once() -> None:
    situation = GOOD.situation.model_copy(update={"device": "Kiosk"})
    wrong = scenario(intent="", goal="", relevant=(("Billing", "Colour"),), summaries={}, situation=situation)
    refs = [ref("Billing", kind="both"), ref("Billing", task="billing-1")]
    found = findings(domains=("Billing", "billing", "multi"), refs=refs, load=wrong)
    told = "\n".join(f"{f.field}: {f.message}" for f in found)
    for part in (
        "slug 'billing'", "'multi' is a kind", "not 'both'", "intent is empty", "goal is empty", "'Colour'", "summary is missing",
    ):  # fmt: skip
        assert part in told
