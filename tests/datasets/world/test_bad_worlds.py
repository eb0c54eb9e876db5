"""What cannot be true of a task, a person or a history: one line with file and field, never a traceback."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.facts import Clock, Fact, Session
from pytest_personalens.datasets import open_dataset
from tests.datasets.test_wrong_values import GOOD, Support, offered
from tests.support.datasets.folders import write_own_world
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository

DOMAIN, PROFILE, HISTORY = "domains/pharmacy.toml", "profiles/orla.toml", "histories/orla/pharmacy.toml"
SPOILT = [
    (DOMAIN, '{ kind = "count", value = "2", known = "told" }', '{ kind = "count", known = "told" }', "people", "a fact without a value"),
    (DOMAIN, 'value = "2", known', 'value = "2", life = "friend", known', "people", "has 'value' and 'life'"),
    (DOMAIN, 'value = "2", known', 'value = "two", known', "people", "'two' is no number"),
    (DOMAIN, "and {friend} comes", "and {frend} comes", "tasks.2.intent", "the placeholder {frend} has no fact"),
    (DOMAIN, "{day:weekday}, and", "{day:week}, and", "tasks.2.intent", "asks for an unknown form"),
    (DOMAIN, '"people", ', '"peple", ', "tasks.2.parts.1.facts", "no fact 'peple'"),
    (DOMAIN, '"08:00 .. 12:00"', '"12:00 .. 08:00"', "hour", "upside down"),
    (DOMAIN, '"08:00 .. 12:00"', '"@visit.time + 2 hours .. 10:00"', "hour", "upside down"),
    (DOMAIN, 'value = "in 2 days"', 'value = "2026-02-30"', "visit.day", "'2026-02-30' is no day"),
    (DOMAIN, "@visit.day + 1 day", "@visit.week + 1 day", "day", "no fact 'visit.week'"),
    (DOMAIN, "@visit.day + 1 day", "@day + 1 day", "day", "depends on itself"),
    (DOMAIN, "{code}", "{number}", "visit", "no field 'number' in 'has'"),
    (DOMAIN, 'life = "friend"', 'life = "sister"', "friend", "[life] of the person has no 'sister'"),
    (DOMAIN, 'preference = "Usual Brand"', 'preference = "Brand"', "brand", "no preference 'Brand' in Pharmacy"),
    (DOMAIN, 'draw = ["10", "20"]', 'draw = ["10", "ten", "20"]', "budget", "'ten' is no number"),
    (DOMAIN, 'open = ["08:00 .. 12:00"]', 'examples = ["noon"], open = ["08:00 .. 12:00"]', "hour", "'noon' is no time of day"),
    (DOMAIN, 'time = "14:00" }', 'time = "late" }', "visit.time", "'late' is no time of day"),
    (DOMAIN, 'value = "in 2 days"', 'value = "in 9999999999999 days"', "visit.day", ""),
    (PROFILE, "07-20", "13-20", "life", "is no day of a year"),
    (PROFILE, 'words = ["penicillin", "amoxicillin"]', "", "limits.1.words", "a limit without words"),
    (PROFILE, 'domains = ["Pharmacy"]\ntold = ["penicillin"]', 'domains = ["Cars"]\ntold = ["penicillin"]', "limits.1.domains", "no domain of interest"),
    (HISTORY, "2025-02-03", "2025-02-30", "dealings.1.date", "is no day of the calendar"),
    (HISTORY, "2025-05-06", "2025-01-06", "dealing", "does not lie after"),
    (HISTORY, "2025-05-06", "2026-05-06", "dealings.2.date", "lies after the first day of the scenarios"),
    (HISTORY, "On {date} Orla", "Orla", "dealings.1.noted", "expected '{date}' once"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "field", "problem"), SPOILT, ids=lambda v: str(v)[:30])
def test_a_file_that_cannot_be_true(
    tmp_path: Path, name: str, old: str, new: str, field: str, problem: str
) -> None:
    root = write_own_world(tmp_path / "own")
    file = root / name
    before = file.read_text(encoding="utf-8")
    assert before.count(old) >= 1
    file.write_text(before.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        dataset = open_dataset(str(root))
        for ref in dataset.refs("orla"):
            dataset.load(ref)
    line = str(caught.value)
    assert str(file) in line
    assert field in line
    assert problem in line
    assert "\n" not in line


def test_the_same_line_ends_a_run(repo: Repository) -> None:
    root = write_own_world(repo.path / "own")
    file = root / DOMAIN
    file.write_text(file.read_text(encoding="utf-8").replace("08:00 .. 12:00", "12:00 .. 08:00"))
    repo.write(
        conftest="import pytest\n\n\n@pytest.fixture\ndef personalens_assistant():\n    return lambda m: 'Done.'\n"
    )
    assert_usage_error(
        repo.run("--personalens-sample", "2", "--personalens-data", "own"),
        "*pharmacy.toml: tasks.2.facts.hour*upside down*",
    )


def test_a_history_of_a_domain_that_the_person_has_not(tmp_path: Path) -> None:
    root = write_own_world(tmp_path / "own")
    (root / HISTORY).rename(root / "histories" / "orla" / "cars.toml")
    with pytest.raises(DataError, match=r"no such domain of interest|summary: the field is missing"):
        open_dataset(str(root)).refs("orla")


def test_a_summary_beside_a_history(tmp_path: Path) -> None:
    root = write_own_world(tmp_path / "own")
    file = root / PROFILE
    text = file.read_text(encoding="utf-8").replace('"Usual Brand"', 'summary = "She."\n"Usual Brand"')
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="summary: a file of histories/ tells of it too"):
        open_dataset(str(root)).refs("orla")


FACT = Fact(name="day", what="the day", kind="date", known="said", right=("2026-03-13",))
NOW = Clock(date="2026-03-09", time="09:30")
SESSION = Session(id="a", date="2026-03-01", domain="Billing", messages=({"role": "user", "content": "Hi"},))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"now": Clock(date="2026-03-10", time="09:30")}, "now.date: 2026-03-10 is a Tuesday"),
        ({"now": Clock(date="2026-03-09", time="22:30")}, "now.time: 22:30 is no morning"),
        ({"facts": (FACT, FACT)}, "two facts are called 'day'"),
        ({"facts": (FACT.model_copy(update={"right": ()}),)}, "a fact without a value"),
        ({"facts": (FACT.model_copy(update={"right": ("Friday",)}),)}, "task.facts.day: "),
        ({"facts": (FACT.model_copy(update={"right": ("2026-03-14 .. 2026-03-13",)}),)}, "upside down"),
        ({"facts": (FACT.model_copy(update={"wrong": FACT.right}),)}, "is right and wrong"),
        ({"now": NOW, "sessions": (SESSION.model_copy(update={"date": "2026-03-12"}),)}, "lies after now"),
        ({"sessions": (SESSION, SESSION.model_copy(update={"date": "2026-02-01"}))}, "lies before"),
    ],
)
def test_a_scenario_from_code_that_contradicts_itself(changes: dict[str, object], problem: str) -> None:
    facts = changes.pop("facts", None)
    task = GOOD.task.model_copy(update={"facts": facts}) if facts is not None else GOOD.task
    scenario = GOOD.model_copy(update={**changes, "task": task})
    assert problem in offered(Support(load=scenario))


def test_a_scenario_from_code_that_is_right() -> None:
    scenario = GOOD.model_copy(
        update={"now": NOW, "sessions": (SESSION,), "task": GOOD.task.model_copy(update={"facts": (FACT,)})}
    )
    assert offered(Support(load=scenario)) == ""
    assert dt.date.fromisoformat(NOW.date).strftime("%A") == GOOD.situation.day_of_week
