"""One table of options: groups in the help, lists, and which settings of a run they make."""

from __future__ import annotations

import re
import shlex
from fnmatch import fnmatch
from typing import get_type_hints

import pytest

from pytest_personalens.core.options.option_table import OPTIONS
from pytest_personalens.core.options.settings import Settings
from tests.support.processes.runs import assert_ended, collect_ids, run_project
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS

ARGS = ("--personalens-sample=4", *TOLD_AGENTS)


def test_every_option_makes_a_setting_and_stands_once_in_the_help_by_group(repo: Repository) -> None:
    assert {o.key for o in OPTIONS} | {"not_read", "report_only"} == set(get_type_hints(Settings))
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_gate = tcr >= 0.8\n")
    lines = repo.inline("--help", "--personalens-sample=2").outlines  # behind which pytest reads no option
    named = [line.split()[0].partition("=")[0] for line in lines if "--personalens-" in line]
    assert named == [o.long for o in OPTIONS if o.on != "ini"]
    assert len(named) <= 33
    titles = [line.split(" (")[0] for line in lines if line.startswith("personalens, ")]
    assert titles == [f"personalens, {group}" for group in ("select", "run", "judge", "gate", "report")]
    ini = [line.split()[0] for line in lines if line.startswith("  personalens_")]
    assert {o.ini for o in OPTIONS if o.on != "command line"} <= set(ini)


READ = [
    ("'--personalens-gate=tcr=0.1, p >= 1' '--personalens-gate=single: p >= 1'", "gate", (("", "tcr", 0.1, ">=", "", ""), ("", "p", 1.0, ">=", "", ""), ("single", "p", 1.0, ">=", "", ""))),
    ("'-opersonalens_threshold=p=3,tc>=0'", "threshold", (("personalization", 3), ("task_completion", 0))),
    ("--personalens-dimensions=p --personalens-dimensions=tc,leak", "dimensions", ("task_completion", "personalization", "opening_leak")),
    ("--personalens-control=other-user,no-context", "control", ("none", "swapped")),
    ("--personalens-control=ablation --personalens-control=i", "control", ("none", "D", "I", "S")),
    ("--personalens-control=D", "control", ("D",)),
    ("'--personalens-domain=movies, rental cars' --personalens-domain=BOOKS", "domain", ("movies", "rental cars", "BOOKS")),
    ("--personalens-budget=200calls,5usd", "budget", (("calls", 200), ("usd", 5.0))),
    ("'--personalens-budget=1 call' '--personalens-budget=$5'", "budget", (("calls", 1), ("usd", 5.0))),
    ("'--personalens-budget=0.5 USD'", "budget", (("usd", 0.5),)),
    ("--personalens-budget=9calls,2calls", "max_calls", 2),
    ("-o personalens_margin=tc=0.02,p=0.1", "margin", (("task_completion", 0.02), ("personalization", 0.1))),
    ("-opersonalens_users=8-10,amara,9", "users", ("8", "9", "10", "amara")),
    ("--personalens-record=live", "record", "live"),
    ("-opersonalens_context=none", "context", ""),
    ("-opersonalens_context=sd", "context", "DS"),
    ("-opersonalens_context=I+S", "context", "IS"),
]  # fmt: skip
ALL = "expected a whole number 1 or more, or all, not "
REFUSED = [
    ("--personalens-sample=0", f"--personalens-sample: {ALL}'0'"),
    ("--personalens-sample=", f"--personalens-sample: {ALL}''"),
    ("--personalens-sample=ten", f"--personalens-sample: {ALL}'ten'"),
    (f"--personalens-sample={'9' * 5000}", f"--personalens-sample: {ALL}"),
    ("--personalens-seed=", "--personalens-seed: expected a text, not ''"),
    ("--personalens-kind=triple", "expected one of: single, multi, all, not 'triple'"),
    (f"--personalens-trials={'9' * 30}", "expected a whole number from 1 to 100, not "),
    ("-opersonalens_context=DX", "expected 'none' or any of the letters D"),
    ("-opersonalens_users=official-70", "official-70 is no sample of the benchmark's own; known: official-20, official-30, official-50, official-100;"),
    ("-opersonalens_users=file:none.txt", "cannot read"),
    ("-opersonalens_users=file:empty.txt", "personalens_users: no user is in "),
    ("-opersonalens_max_turns=0", "expected a whole number from 1 to 1000"),
    (f"-opersonalens_max_turns={'9' * 30}", "expected a whole number from 1 to 1000, not "),
    ("-opersonalens_judge_votes=101", "personalens_judge_votes: expected a whole number from 1 to 99, not "),
    ("-opersonalens_judge_votes=99999999999", "personalens_judge_votes: expected a whole number from 1 to 99, not "),
    ("-opersonalens_turn_timeout=inf", "personalens_turn_timeout: expected a number from 0.001 to 86400, not "),
    ("-opersonalens_turn_timeout=1e9", "personalens_turn_timeout: expected a number from 0.001 to 86400, not "),
    *(
        (f"-opersonalens_parallel={value}", f"personalens_parallel: expected a whole number from 1 to 10000, or true, or false, not '{value}'")
        for value in ("0", "-1", "many", "1.5", "9" * 30)
    ),
    *(
        (f"-opersonalens_executor={value}", f"personalens_executor: expected dask=tcp://HOST:PORT, the address of a Dask scheduler, not '{value}'")
        for value in ("dask=localhost", "dask=", "threads", "dask=http://x:1")
    ),
    ("--personalens-budget=200", "--personalens-budget: expected a number of calls or of dollars, such as 200calls or 5usd, not '200'"),
    ("'--personalens-budget=$5calls'", "--personalens-budget: expected a number of calls or of dollars"),
    ("--personalens-budget=infusd", "--personalens-budget: expected a number of calls or of dollars"),
    (f"--personalens-budget={'9' * 30}calls", "expected a whole number 1 or more"),
    ("--personalens-control=no", "--personalens-control: expected one of: no-context, other-user, D, I, H, S, ablation, not 'no'"),
    ("--personalens-record=yes", "--personalens-record: expected one of: none, live, new, all"),
    ("--personalens-dimensions=charm", "unknown dimension 'charm'; known: tc, p"),
    ("'-opersonalens_threshold=p>=9'", "p is scored 1 to 4"),
    ("'-opersonalens_threshold=nat-user>=3'", "naturalness_user is not among the dimensions judged"),
    ("--personalens-gate=", "--personalens-gate: expected LIST"),
    ("'--personalens-gate=tcr >= 1.5'", "tcr lies from 0 to 1"),
    ("'--personalens-gate=tcr >= nan'", "expected [DOMAIN or KIND:] METRIC >= VALUE"),
    ("'--personalens-gate=p >= 0'", "p lies from 1 to 4"),
    ("'--personalens-gate=tcr >= 0.5, tcr >= 0.6'", "--personalens-gate: tcr has two floors; give one"),
    ("--personalens-report=r.txt", "--personalens-report: expected a path that ends in .json, .html, .htm, .md, or the word github, not 'r.txt'"),
    ("--personalens-report=test_bot.py/r.json", "--personalens-report: cannot write to"),
    ("--personalens-report=a.json --personalens-report=./a.json", "give each a file of its own"),
    ("--personalens-save-baseline=.", "is a folder"),
    ("-o personalens_threshhold=1", "-o: unknown key 'personalens_threshhold'; did you mean personalens_threshold?"),
    ("-o personalens-gate=1", "-o: unknown key 'personalens-gate'; did you mean personalens_gate?"),
    ("-o PERSONALENS_GATE=1", "-o: unknown key 'PERSONALENS_GATE'; did you mean personalens_gate?"),
    ("-o personalens_price=1", "-o: unknown key 'personalens_price'; did you mean personalens_prices?"),
    ("-o personalens=1", "-o: unknown key 'personalens'; did you mean personalens_"),
    ("-o personalens_save_baseline=1", "-o: unknown key 'personalens_save_baseline'; did you mean personalens_baseline?"),
    *(
        (f"-opersonalens_context={known} --personalens-control={control}", f"--personalens-control {control}: {problem} (personalens_context); there is nothing to compare")
        for known, control, problem in (
            ("D", "D", "the run itself knows D of the user"),
            ("DS", "I", "the run itself knows D+S of the user"),
            ("none", "S", "the run itself knows nothing"),
            ("none", "no-context", "the run itself knows nothing"),
            ("S", "other-user", "the run itself knows no more of the user"),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given", "key", "value"), READ)
def test_what_an_option_is_read_as(told: Repository, given: str, key: str, value: object) -> None:
    assert getattr(told.settings(*ARGS, *shlex.split(given)), key) == value


@pytest.mark.parametrize(("given", "problem"), REFUSED)
def test_what_cannot_be_read_says_what_was_expected(told: Repository, given: str, problem: str) -> None:
    (told.path / "empty.txt").write_text("\n  \n")
    with pytest.raises(pytest.UsageError) as error:
        told.settings(*ARGS, *shlex.split(given))
    (line,) = error.value.args
    assert problem in line and "\n" not in line


def test_several_reports_of_one_kind(told: Repository) -> None:
    names = ("a.json", "b.JSON", "c.md", "d.md")
    assert told.inline(*ARGS, *(f"--personalens-report={name}" for name in names)).ret == 0
    a, b, c, d = ((told.path / name).read_text() for name in names)
    assert (a, c) == (b, d)


def test_reports_of_the_command_line_go_before_those_of_their_kind(told: Repository) -> None:
    told.path.joinpath("pytest.ini").write_text("[pytest]\npersonalens_report =\n    ini.json\n    ini.md\n")
    assert told.inline(*ARGS, "--personalens-report=typed.json").ret == 0
    assert {path.name for path in told.path.glob("*.[jm][sd]*")} == {"typed.json", "ini.md"}


def test_a_gate_on_valid_sets_the_floor_of_all(told: Repository) -> None:
    told.path.joinpath("faults.txt").write_text("\n".join(collect_ids(told, *ARGS)[:2]))
    floor = "gate valid: FAILED, 2 of 4 items could be scored*; the floor is 90%"
    assert_ended(told.inline(*ARGS, "--personalens-gate=tcr >= 0"), 1, floor)
    lenient = "gate tcr: passed, *", "gate valid: passed, 2 of 4 items could be scored*"
    assert_ended(told.inline(*ARGS, "--personalens-gate=tcr >= 0, valid >= 0.5"), 0, *lenient)


def test_a_run_asks_nobody_paid_where_records_are_to_be_replayed(told: Repository) -> None:
    told.path.joinpath("pytest.ini").write_text("[pytest]\npersonalens_record = live\n")
    assert told.settings(*ARGS).record == "live"
    assert told.settings(*ARGS, "--personalens-record=none").record == "none"


#: A misspelt name is refused wherever pytest reads it: it must not pass as if it were not there.
SAMPLED = ("--personalens-sample=2", "--personalens-gate=none")


def refused(repo: Repository, told: str, *args: str) -> None:
    """pytest does not start with these arguments; `told` is what it says, as a pattern."""
    with pytest.raises(pytest.UsageError) as error:
        repo.settings(*args)
    assert fnmatch(error.value.args[0], f"{told} (PL101)"), error.value


FILES = [("setup.cfg", "tool:pytest")]
FILES += [(file, "pytest") for file in ("pytest.ini", "tox.ini", "pytest.toml")]
FILES += [("pyproject.toml", table) for table in ("tool.pytest.ini_options", "tool.pytest")]


@pytest.mark.parametrize(("file", "table"), FILES)
@pytest.mark.parametrize("args", [SAMPLED, ()], ids=["a run", "no run"])
def test_in_a_file(repo: Repository, file: str, table: str, args: tuple[str, ...]) -> None:
    value = "'b.json'" if file.endswith("toml") else "b.json"
    (repo.path / file).write_text(f"[{table}]\npersonalens_baselin = {value}\n")
    refused(repo, f"{file}: unknown key 'personalens_baselin'; did you mean personalens_baseline?", *args)


NOT_READ = "no option is read from the environment; give"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("PERSONALENS_GATE", f"{NOT_READ} --personalens-gate, or unset the *"),
        ("PERSONALENS_TURN_TIMEOUT", f"{NOT_READ} personalens_turn_timeout, *"),
        ("PERSONALENS_CACHEDIR", "unknown variable; did you mean PERSONALENS_CACHE_DIR? Or unset it"),
    ],
)
def test_in_the_environment(repo: Repository, monkeypatch: pytest.MonkeyPatch, name: str, told: str) -> None:
    monkeypatch.setenv("PERSONALENS_BOT_URL", "https://a.example")  # one of the user's own
    assert repo.settings(*SAMPLED).sample == 2
    monkeypatch.setenv(name, "1")
    refused(repo, f"{name}: {told}", *SAMPLED)


def test_as_a_mark(repo: Repository) -> None:
    marked = "@pytest.mark.personalens_p(4)\ndef test_it(personalens):\n    personalens.check()\n"
    repo.write(test_it=f"import pytest\n\n{marked}")
    told = "personalens: test_it.py::test_it: unknown mark 'personalens_p'; did you mean personalens?"
    assert_ended(repo.inline(*SAMPLED, "-W", "ignore"), 2, told)
    (repo.path / "pytest.ini").write_text("[pytest]\nmarkers = personalens_p: a mark of their own\n")
    assert repo.inline(*SAMPLED).ret == 0


def test_a_key_of_another_plugin_is_its_own(repo: Repository) -> None:
    conftest = repo.path / "conftest.py"
    added = "\ndef pytest_addoption(parser):\n    parser.addini('personalens_extra_colour', 'x')\n"
    conftest.write_text(conftest.read_text() + added)
    assert repo.settings(*SAMPLED, "-o", "personalens_extra_colour=red").sample == 2


TEXTS = "expected a list of texts, such as ['names the price'], not"
#: What a mark holds, T being what no mark takes, and what is said of it.
BAD_MARKS = [
    ("domian='Movies'", "unknown keyword 'domian' of the mark personalens; known: "),
    ("domain='Opera'", "unknown domain 'Opera'; known: Alarm, Books"),
    ("'Movies'", "the mark personalens takes keywords only, not 'Movies'"),
    ("p=7", "personalens(p=7): p is scored 1 to 4"),
    ("nat_user=3", "naturalness_user is not among the dimensions judged"),
    ("sample=()", "personalens(sample=...): expected N|all, one value, not ''"),
    ("seed=('a', 'b')", "personalens(seed=...): expected TEXT, one value, not 'a, b'"),
    ("p=T()", "personalens(p=<T>): expected a whole number"),
    ("domain=T()", "personalens(domain=...): expected LIST, not <T>"),
    ("kind=T()", "personalens(kind=...): expected single|multi|all|LIST, not <T>"),
    ("threshold=[T()]", "personalens(threshold=...): expected LIST, not <list>"),
    ("persona='Mia'", "personalens(persona=...): give wants too"),
    ("wants='a table'", "personalens(wants=...): give persona too"),
    ("persona=' ', wants='a table'", "personalens(persona=...): expected a text with words, not ' '"),
    ("persona='Mia', wants='...'", "personalens(wants=...): expected a text with words, not '...'"),
    ("persona=3, wants='a table'", "personalens(persona=...): expected a text with words, not 3"),
    ("persona='x' * 4001, wants='a table'", "personalens(persona=...): 4,001 characters; at most 4,000"),
    ("persona='Mia', wants='x', suite='memory'", "personalens(persona=...): only in the suite personalens, not in 'memory'"),
    ("criteria='names the price'", f"personalens(criteria=...): {TEXTS} 'names the price'"),
    ("criteria=[]", f"personalens(criteria=...): {TEXTS} []"),
    ("criteria=['']", "personalens(criteria=...): criterion 1: expected a text with words, not ''"),
    ("criteria=['kind:']", "personalens(criteria=...): criterion 1: kind has a name and no text"),
    ("criteria=['a: b', 7]", "personalens(criteria=...): criterion 2: expected a text with words, not 7"),
    ("criteria=['a: b', 'c:  b ']", "personalens(criteria=...): criterion 2: 'b' stands there twice; leave one out"),
    ("criteria=['a: b', 'a: c']", "personalens(criteria=...): criterion 2: a: another criterion has that name"),
    ("criteria=['p: is kind']", "personalens(criteria=...): criterion 1: p: a reading of the suite has that name"),
    ("criteria=['long: ' + 'word ' * 2000]", "personalens(criteria=...): criterion 1: long has 2,000 words and 9,999 characters; the most are 100 and"),
]  # fmt: skip
T = "import pytest\n\nclass T:\n    def __str__(self):\n        return None\n    __repr__ = __str__\n\n"


@pytest.fixture(scope="module")
def told_of_marks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a run prints whose tests have these marks, a file for each."""
    folder = tmp_path_factory.mktemp("marks")
    (folder / "pytest.ini").write_text("[pytest]\n")
    for number, (mark, _) in enumerate(BAD_MARKS):
        test = f"{T}@pytest.mark.personalens({mark})\ndef test_it(personalens): ...\n"
        (folder / f"test_{number}.py").write_text(test)
    return run_project(folder, "--personalens-sample=2").stdout.splitlines()


@pytest.mark.parametrize("number", range(len(BAD_MARKS)))
def test_a_bad_mark_is_one_line(told_of_marks: list[str], number: int) -> None:
    told = BAD_MARKS[number][1]
    start = f"personalens: {'' if 'Opera' in told else f'test_{number}.py::test_it: '}{told}"
    assert len([line for line in told_of_marks if line.startswith(start)]) == 1
    assert not any(re.search("Traceback|options.py", line) for line in told_of_marks)
