"""Files with a mistake, in the layout that people edit: one line with the file and the field, here and in a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_personalens.core.errors import DataError
from pytest_personalens.datasets import EmbeddedDataset, open_dataset
from pytest_personalens.datasets.quality.corpus import read_corpus
from tests.support.datasets.folders import copy_data, write_own_domains, write_own_world
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository


def write_embedded(root: Path) -> Path:
    return copy_data(root, "amara")


#: The folder -> file, what is replaced in it and by what, and the parts of what is told.
SPOILT: dict[Callable[[Path], Path], list[tuple[str, str, str, str]]] = {
    write_embedded: [
        ("profiles/amara", 'gender = "Female"\n', "", "demographics.gender: field required"),
        ("profiles/amara", 'gender = "Female"', 'gender = "F"', "demographics.gender"),
        ("profiles/amara", '"Alarm Time Preference" = "4:30 AM"\n', "", "domains.Alarm.Alarm Time Preference: the field is missing"),
        ("profiles/amara", '"4:30 AM"', '"4:31 AM"', "'4:31 AM' is not one of: 4:30 AM"),
        ("profiles/amara", '["comedy", "romance"]', '"comedy"', "expected a list of texts"),
        ("profiles/amara", "[routine]", "[routine", "not valid TOML"),
        ("domains/alarm", "number = 1\n", "", "tasks.1.number: field required"),
        ("domains/alarm", "number = 2\n", "number = 1\n", "tasks.1.number: expected 2: tasks are numbered 1, 2, 3"),
        ("domains/alarm", 'kind = "categorical"', 'kind = "open"', "preferences.Alarm Time Preference.values: an open type has no list"),
        ("multi", 'domains = ["Movies", "Restaurants"]', 'domains = ["Movies", "Movies"]', "tasks.1.domains: a domain stands there twice"),
        ("dataset", "version = ", "version = 2 # ", "version: expected a text, such as version ="),
        ("dataset", 'name = "embedded"', "", "name: expected a text, such as name ="),
        ("profiles/amara", '["comedy", "romance"]', '["comedy", "comedy"]', "a value stands there twice"),
        ("profiles/amara", 'free = ["', 'free = ["Someday", "', "routine.free.1: expected 'Monday', 'Tuesday'"),
        ("profiles/amara", 'age = "', 'age = "very ', "demographics.age|expected '18-24'"),
        ("domains/movies", '"back row" = ', '"last row" = ', "preferences.Seat Type Preference.synonyms|no value 'last row' in 'values'"),
        ("domains/movies", '"back row" = [', '"front row" = [', "not valid TOML"),
        ("multi", 'Restaurants = ["Cuisine Preference", "Dietary Restrictions"] }', 'Restaurants = ["Cuisine"] }', "tasks.1.relevant.Restaurants|no preference type 'Cuisine' in Restaurants"),
    ],
    write_own_domains: [
        ("domains/pharmacy", '"Pharmacy"', '"Multi"', "name: 'Multi' is a kind of task; give the domain another name"),
        ("domains/tool-library", '"Tool Library"', '"pharmacy"', "name: 'pharmacy' and 'Pharmacy' share the slug"),
        ("domains/pharmacy", '"Pharmacy"', '"Chemist"', "name: the domain 'Chemist' belongs in the file chemist.toml"),
        ("domains/pharmacy", '"Hand-Over", "Usual Brand"]', '"Colour"]', "tasks.1.relevant: no preference type 'Colour' in this domain"),
        ("domains/pharmacy", '"Hand-Over", "Usual Brand"]', '"Hand-Over", "Hand-Over"]', "tasks.1.relevant: 'Hand-Over' stands there twice"),
        ("domains/pharmacy", "You want to have your tablets refilled.", " ", "tasks.1.intent: expected a text that is not empty"),
        ("domains/pharmacy", '"The refill is ordered; how long', '"" # ', "tasks.1.goal: expected a text that is not empty"),
        ("domains/pharmacy", '["brand", "maker"]', '"brand"', "preferences.Usual Brand.ask: expected a list, not 'brand'"),
        ("domains/pharmacy", '"Smartphone", "Laptop"', '"Kiosk"', "tasks.1.devices.1: expected 'Smartphone', 'Laptop'"),
        ("multi", '"Tool Library"]', '"Opera"]', "tasks.1.domains: unknown domain 'Opera'; known: Pharmacy, Tool Library"),
        ("profiles/orla", "[domains.Pharmacy]", "[domains.Opera]", "domains.Opera: unknown domain 'Opera'; known: Pharmacy, Tool"),
        ("profiles/orla", 'summary = "Orla Quinn wanted', 'summary = "" # ', "domains.Pharmacy.summary: expected one text"),
        ("profiles/orla", 'devices = ["Smartphone", "Laptop"]', 'devices = ["Kiosk"]', "routine.devices.1: expected 'Smartphone'"),
        ("profiles/orla", 'noisy = ["work"]', 'noisy = ["loud"]', "routine.noisy.1: expected 'home', 'work'"),
    ],
    write_own_world: [
        ("domains/pharmacy", '{ kind = "count", value = "2", known = "told" }', '{ kind = "count", known = "told" }', "people|a fact without a value"),
        ("domains/pharmacy", 'value = "2", known', 'value = "2", life = "friend", known', "people|has 'value' and 'life'"),
        ("domains/pharmacy", 'value = "2", known', 'value = "two", known', "people|'two' is no number"),
        ("domains/pharmacy", "and {friend} comes", "and {frend} comes", "tasks.2.intent|the placeholder {frend} has no fact"),
        ("domains/pharmacy", "{day:weekday}, and", "{day:week}, and", "tasks.2.intent|asks for an unknown form"),
        ("domains/pharmacy", '"people", ', '"peple", ', "tasks.2.parts.1.facts|no fact 'peple'"),
        ("domains/pharmacy", '"08:00 .. 12:00"', '"12:00 .. 08:00"', "hour|upside down"),
        ("domains/pharmacy", '"08:00 .. 12:00"', '"@visit.time + 2 hours .. 10:00"', "hour|upside down"),
        ("domains/pharmacy", 'value = "in 2 days"', 'value = "2026-02-30"', "visit.day|'2026-02-30' is no day"),
        ("domains/pharmacy", "@visit.day + 1 day", "@visit.week + 1 day", "day|no fact 'visit.week'"),
        ("domains/pharmacy", "@visit.day + 1 day", "@day + 1 day", "day|depends on itself"),
        ("domains/pharmacy", "{code}", "{number}", "visit|no field 'number' in 'has'"),
        ("domains/pharmacy", 'life = "friend"', 'life = "sister"', "friend|[life] of the person has no 'sister'"),
        ("domains/pharmacy", 'preference = "Usual Brand"', 'preference = "Brand"', "brand|no preference 'Brand' in Pharmacy"),
        ("domains/pharmacy", 'draw = ["10", "20"]', 'draw = ["10", "ten", "20"]', "budget|'ten' is no number"),
        ("domains/pharmacy", 'open = ["08:00 .. 12:00"]', 'examples = ["noon"], open = ["08:00 .. 12:00"]', "hour|'noon' is no time of day"),
        ("domains/pharmacy", 'time = "14:00" }', 'time = "late" }', "visit.time|'late' is no time of day"),
        ("domains/pharmacy", 'value = "in 2 days"', 'value = "in 9999999999999 days"', "visit.day"),
        ("profiles/orla", "07-20", "13-20", "life|is no day of a year"),
        ("profiles/orla", 'words = ["penicillin", "amoxicillin"]', "", "limits.1.words|a limit without words"),
        ("profiles/orla", 'domains = ["Pharmacy"]\ntold = ["penicillin"]', 'domains = ["Cars"]\ntold = ["penicillin"]', "limits.1.domains|no domain of interest"),
        ("histories/orla/pharmacy", "2025-02-03", "2025-02-30", "dealings.1.date|is no day of the calendar"),
        ("histories/orla/pharmacy", "2025-05-06", "2025-01-06", "dealing|does not lie after"),
        ("histories/orla/pharmacy", "2025-05-06", "2026-05-06", "dealings.2.date|lies after the first day of the scenarios"),
        ("histories/orla/pharmacy", "On {date} Orla", "Orla", "dealings.1.noted|expected '{date}' once"),
    ],
}  # fmt: skip


def read(root: Path) -> None:
    dataset = open_dataset(str(root))
    dataset.domains()
    for user in dataset.users():
        for ref in dataset.refs(user)[:9]:
            dataset.load(ref)


def spoil(root: Path, name: str, old: str, new: str) -> Path:
    file = root / f"{name}.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("write", "name", "old", "new", "told"),
    [(write, *row) for write, rows in SPOILT.items() for row in rows],
    ids=lambda value: getattr(value, "__name__", str(value)[:30]),
)
def test_a_mistake_is_one_line_with_file_and_field(
    tmp_path: Path, write: Callable[[Path], Path], name: str, old: str, new: str, told: str
) -> None:
    root = write(tmp_path / "own")
    file = spoil(root, name, old, new)
    with pytest.raises(DataError) as caught:
        read(root)
    line = str(caught.value)
    assert line.startswith(f"{file}: ")
    assert [part for part in told.split("|") if part not in line] == []
    assert "\n" not in line
    if name != "dataset":  # without a name and a version there is nothing to check
        assert line in [
            f"{f.file}: {f.field}: {f.message}".replace(": : ", ": ") for f in read_corpus(str(root)).found
        ]


def test_the_same_line_ends_a_run(repo: Repository) -> None:
    spoil(write_own_world(repo.path / "own"), "domains/pharmacy", "08:00 .. 12:00", "12:00 .. 08:00")
    result = repo.run("--personalens-sample", "2", "--personalens-data", "own")
    assert_usage_error(result, "*pharmacy.toml: tasks.2.facts.hour*upside down*")


def test_a_history_belongs_to_a_domain_of_its_person_and_stands_for_its_summary(tmp_path: Path) -> None:
    root = write_own_world(tmp_path / "own")
    history = root / "histories" / "orla" / "pharmacy.toml"
    history.rename(history.with_name("cars.toml"))
    with pytest.raises(DataError, match=r"no such domain of interest|summary: the field is missing"):
        open_dataset(str(root)).refs("orla")
    history.with_name("cars.toml").rename(history)
    spoil(root, "profiles/orla", '"Usual Brand"', 'summary = "She."\n"Usual Brand"')
    with pytest.raises(DataError, match="summary: a file of histories/ tells of it too"):
        open_dataset(str(root)).refs("orla")


def test_all_mistakes_of_a_folder_are_found_at_once(tmp_path: Path) -> None:
    root = write_own_domains(tmp_path / "own")
    for name, old, new in (
        ("domains/pharmacy", '["brand", "maker"]', "[]"),
        ("domains/tool-library", '"Power", "Loan', '"Power", "Power", "Colour", "Loan'),
        ("profiles/orla", '"30 days"', '["30 days"]'),
        ("profiles/orla", '"cordless"', '"pedals"'),
        ("profiles/orla", 'age = "35-44"', 'age = "old"'),
        ("multi", '"Smartphone", "Laptop"', '"Smartphone", "Kiosk"'),
    ):
        spoil(root, name, old, new)
    found = [(Path(e.file).name, e.field, e.problem) for e in EmbeddedDataset(root).files.problems()]
    assert ("tool-library.toml", "tasks.1.relevant", "'Power' stands there twice") in found
    assert ("tool-library.toml", "tasks.1.relevant", "no preference type 'Colour' in this domain") in found
    places = {f[:2] for f in found}
    assert {("pharmacy.toml", "preferences.Usual Brand.ask"), ("multi.toml", "tasks.1.devices.2")} <= places
    assert ("orla.toml", "demographics.age") in places
    with pytest.raises(DataError, match=r"pharmacy\.toml: preferences\.Usual Brand\.ask"):
        EmbeddedDataset(root).domains()
