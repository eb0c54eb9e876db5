"""What the terminal says at the end of a run: what failed, why, for whom, and what nothing decided about."""

from __future__ import annotations

import shlex

import pytest

from tests.reports.conftest import ARGS
from tests.support.processes.runs import assert_ended, merge_shards, run_shards
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS, TOLD_ALONE

GATE = ("--personalens-gate", "tcr >= 0.5, p >= 2.5")
LOW = TOLD.replace("score = low if f", "score = low if True or f")


def test_the_command_of_a_red_gate_leaves_out_the_gates_of_the_configuration(bot: Repository) -> None:
    (bot.path / "pytest.ini").write_text("[pytest]\npersonalens_gate = p >= 3\n")
    result = bot.inline(*ARGS, "-o", "personalens_threshold=p=1")
    command = next(line for line in result.outlines if line.startswith("again:")).split("pytest ", 1)[1]
    assert "personalens_gate=" in shlex.split(command)
    again = bot.inline(*shlex.split(command))
    again.assert_outcomes(failed=2)  # though their scores pass the run's threshold


@pytest.mark.parametrize("width", [80, 140])
def test_a_failing_item_fits_the_screen(bot: Repository, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = bot.inline(*ARGS).stdout.str().partition("= FAILURES =")[2].splitlines()
    assert max(len(line) for line in lines if not line.startswith("again:")) <= width
    assert any(len(line) > width - 20 for line in lines if line.startswith(("goal:", "wants:", "        ")))


def test_a_failing_item_obeys_tb_also_in_a_worker(bot: Repository) -> None:
    short = bot.run(*ARGS[:1], "2", *TOLD_AGENTS, "-n", "1", "--tb=short")
    below = "E   personalization 1, below the required 2: *"
    short.stdout.fnmatch_lines(["test_bot.py:3: Failed", below, "", "     0 user *", "again: *"])
    assert not any(line.startswith("wants:") for line in short.outlines)


def test_merged_shards_say_why_a_gate_failed(bot: Repository) -> None:
    run_shards(bot, 2, *ARGS, *GATE)
    assert_ended(merge_shards(bot), 1, "gate p:", "E   Personalization is 1.00, *", "    + now  Gladly. *")


def test_too_few_scenarios_are_not_told_as_a_drop(bot: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORGETS")
    few = (*ARGS[:1], "3", *TOLD_AGENTS)
    bot.inline(*few, "--personalens-save-baseline", "base.json")
    result = bot.inline(*few, "--personalens-baseline", "base.json")
    assert_ended(result, 1, "E   P 3.00 -> 3.00 * over 3 scenarios:*")
    assert "fell from" not in result.stdout.str()


def test_a_low_scenario_names_its_test_and_the_progress_never_runs_back(told: Repository) -> None:
    gates = ("--personalens-sample=4", *TOLD_AGENTS, "--personalens-gate=tcr >= 0, p >= 1")
    told.write(conftest=LOW)
    assert " in test_" not in str(told.inline(*gates).stdout)
    told.write(test_more="def test_other(personalens):\n    personalens.check()\n")
    outlines = told.inline(*gates, "-v").outlines
    low = [line for line in outlines if line.endswith("task not completed, p 1 < 2")]
    assert len(low) == len(set(low)) == 8
    assert sum(" in test_other: " in line for line in low) == 4
    shares = [int(line.rpartition("[")[2].rstrip("%]")) for line in outlines if line.endswith("%]")]
    assert shares == [*sorted(shares[:-1]), 100]


RECALLS = """
    import itertools

    @pytest.fixture(scope="session")
    def personalens_assistant():
        from app.memory import recall
        number = itertools.count()
        return lambda messages: recall(next(number))
"""


@pytest.fixture
def crashing(told: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """An assistant that asks ``app.memory.recall`` with the number of the call."""
    told.write(conftest=TOLD_ALONE + RECALLS)
    monkeypatch.syspath_prepend(told.path)
    return told


def test_scores_of_a_stopped_run_are_called_those_of_a_part(crashing: Repository) -> None:
    crashing.write(app__memory='def recall(number):\n    return "fine" if number < 4 else 1 / 0\n')
    stopped = ("-x", "--personalens-report", "page.md", "-p", "no:randomly")
    result = crashing.inline(*ARGS, "--personalens-gate", "tcr >= 0", *stopped)
    part = "scores of 2 dialogues only, a part of the run:"
    result.stdout.fnmatch_lines([part, " * items  scored *"], consecutive=True)
    assert f"**S{part[1:]}**" in (crashing.path / "page.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("way", [("-n", "2"), ("-o", "personalens_parallel=4")])
def test_workers_and_dialogues_side_by_side_tell_the_same(crashing: Repository, way: tuple[str, str]) -> None:
    crashing.write(app__memory='def recall(number):\n    raise KeyError("user")\n')
    result = crashing.run(*ARGS, *way)
    all_failed = "the assistant failed in 12 of 12 dialogues, which have no score:"
    result.stdout.fnmatch_lines([all_failed, "  12 x KeyError at app/memory.py:2: 'user'"], consecutive=True)
    first, *rest = (line.partition(" - ")[2] for line in result.outlines if line.startswith("FAILED"))
    assert rest == ["not scored, assistant at fault (as above)"] * 11
    assert "not scored, assistant at fault: the assistant raised KeyError: 'user'" in first


def test_many_ways_are_few_lines(crashing: Repository) -> None:
    raises = 'type(f"Error{number % 6}", (Exception,), {})("x" * 1000)'
    crashing.write(app__memory=f"def recall(number):\n    raise {raises}\n")
    lines = crashing.inline(*ARGS).outlines
    first = lines.index("the assistant failed in 12 of 12 dialogues, which have no score:") + 1
    ways = lines[first : first + 3]
    assert [way[:29] for way in ways] == [f"  2 x Error{n} at app/memory.py" for n in (0, 1, 2)]
    assert all(len(way) < 200 for way in ways)
    assert lines[first + 3 : first + 5] == ["  and 6 in 3 other ways", ""]


def test_means_over_the_few_that_did_not_crash_pass_nothing(crashing: Repository) -> None:
    crashing.write(app__memory='def recall(number):\n    return "fine" if number > 5 else 1 / 0\n')
    gate = ("--personalens-gate=tcr >= 0.5", "--personalens-report=page.html")
    few = "gate tcr: FAILED (not decided), only 3 of 9 items could be scored; the floor is 90%"
    result = crashing.inline("--personalens-sample=9", *TOLD_AGENTS, *gate)
    assert_ended(result, 1, few, "gate valid: FAILED, *")
    page = (crashing.path / "page.html").read_text(encoding="utf-8")
    failed = "The assistant failed in 6 of 9 dialogues, which have no score: 6 x ZeroDivisionError at app/memory.py:"
    assert failed in page
    assert '<div class="tile few">' in page
    assert "of 3 of 9 dialogues only" in page


def test_low_scores_that_no_gate_decides_about_are_said(told: Repository) -> None:
    told.write(conftest=LOW)
    args = (*ARGS, "--personalens-save-baseline", "base.json", "--personalens-report", "page.html")
    undecided = "personalens: no gate decides about the scores: this run passes however low they are"
    told.run(*args).stdout.fnmatch_lines([undecided])
    assert "Measured only" in (told.path / "page.html").read_text(encoding="utf-8")
    assert "no gate decides" not in str(told.run(*args, "--personalens-gate", "tcr >= 0").stdout)


NOTHING_WITHHELD = "personalens: nothing asks for personalens_context *"
#: A fixture that every test uses, of the team or of a plugin that somebody installed.
USED = """
    import pytest

    @pytest.fixture(autouse=True)
    def metadata(request{}):
        pass
"""
KNOWING = """
    @pytest.fixture
    def memory(personalens_context):
        return personalens_context.text()

    @pytest.fixture
    def personalens_assistant(memory):
        return lambda messages: "fine"
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize("control", ["no-context", "other-user", "ablation"])
def test_a_control_that_withholds_nothing(told: Repository, control: str, workers: tuple[str, ...]) -> None:
    told.run(*ARGS, "--personalens-control", control, *workers).stdout.fnmatch_lines([NOTHING_WITHHELD])


@pytest.mark.parametrize(
    ("files", "is_said"),
    [
        ({"conftest": TOLD_ALONE + KNOWING}, False),
        ({"conftest": TOLD.replace("lambda messages:", "lambda messages, context:")}, False),
        ({"conftest": TOLD + USED.format("").replace("import pytest", "")}, False),
        ({"test_bot": "def test_bot(personalens_context, personalens):\n    personalens.check()\n"}, False),
        ({"site__acme_metadata": USED.format("")}, True),
        ({"site__acme_metadata": USED.format(", personalens_context")}, False),
    ],
    ids=["a fixture of a fixture", "a parameter", "the team's fixture", "the test", "a plugin's request", "a plugin"],
)  # fmt: skip
def test_a_control_of_what_reads_the_context(
    told: Repository, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], is_said: bool
) -> None:
    told.write(**files)
    about = told.path / "site" / "acme_metadata-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-metadata\nVersion: 1\n")
    plugin = "[pytest11]\nacme = acme_metadata\n" if "site__acme_metadata" in files else ""
    (about / "entry_points.txt").write_text(plugin)
    monkeypatch.setenv("PYTHONPATH", str(told.path / "site"))
    result = told.run(*ARGS, "--personalens-control", "no-context")
    assert (NOTHING_WITHHELD[:-2] in result.stdout.str()) is is_said
