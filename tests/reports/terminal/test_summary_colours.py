"""What nobody decides about is not shown as passed, and what is asked for in vain is said."""

from __future__ import annotations

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS, TOLD_ALONE

ARGS = ("--personalens-sample", "10", *TOLD_AGENTS)
NOTHING_WITHHELD = "personalens: nothing asks for personalens_context *"
CRASHES = TOLD.replace(
    'return lambda messages: "fine"',
    """import itertools
        number = itertools.count()
        return lambda messages: "fine" if next(number) > 5 else 1 / 0""",
)


def test_means_over_the_few_that_did_not_crash_pass_nothing(told: Repository) -> None:
    told.write(conftest=CRASHES)
    result = told.inline(*ARGS, "--personalens-gate", "tcr >= 0.5", "--personalens-report", "page.html")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "gate tcr: FAILED (not decided), only * of 10 items could be scored; the floor is 90%",
            "gate valid: FAILED, *",
        ]
    )
    page = (told.path / "page.html").read_text(encoding="utf-8")
    assert (
        "The assistant failed in 6 of 10 dialogues, which have no score: 6 x ZeroDivisionError at conftest.py:"
        in page
    )
    assert '<div class="tile few">' in page
    assert "of 4 of 10 dialogues only" in page


def test_low_scores_that_no_gate_decides_about_are_said(told: Repository) -> None:
    told.write(conftest=TOLD.replace("score = low if f", "score = low if True or f"))
    args = (*ARGS, "--personalens-save-baseline", "base.json", "--personalens-report", "page.html")
    told.run(*args).stdout.fnmatch_lines(
        ["personalens: no gate decides about the scores: this run passes however low they are"]
    )
    assert "Measured only" in (told.path / "page.html").read_text(encoding="utf-8")
    assert "no gate decides" not in str(told.run(*args, "--personalens-gate", "tcr >= 0").stdout)


KNOWING = """
    @pytest.fixture
    def memory(personalens_context):
        return personalens_context.text()

    @pytest.fixture
    def personalens_assistant(memory):
        return lambda messages: "fine"
"""
UNAWARE = TOLD_ALONE
AWARE = {
    "a fixture of a fixture": UNAWARE + KNOWING,
    "a parameter": TOLD.replace("lambda messages:", "lambda messages, context:"),
}


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize(
    "control",
    [
        ("--personalens-control", "no-context"),
        ("--personalens-control", "other-user"),
        ("--personalens-control", "ablation"),
    ],
)
@pytest.mark.slow
def test_a_control_that_withholds_nothing_is_said(
    told: Repository, control: tuple[str, ...], workers: tuple[str, ...]
) -> None:
    told.run(*ARGS, *control, *workers).stdout.fnmatch_lines([NOTHING_WITHHELD])


@pytest.mark.parametrize("how", AWARE)
def test_a_control_of_an_assistant_that_reads_the_context(told: Repository, how: str) -> None:
    told.write(conftest=AWARE[how])
    told.run(*ARGS, "--personalens-control", "no-context", "-n", "2").stdout.no_fnmatch_line(NOTHING_WITHHELD)


def test_a_test_that_feeds_the_assistant_itself(told: Repository) -> None:
    told.write(test_bot="def test_bot(personalens_context, personalens):\n    personalens.check()\n")
    told.inline(*ARGS, "--personalens-control", "no-context").stdout.no_fnmatch_line(NOTHING_WITHHELD)


#: A plugin that somebody installed, with a fixture that every test uses.
INSTALLED = """
    import pytest

    @pytest.fixture(autouse=True)
    def metadata(request{}):
        pass
"""


@pytest.mark.parametrize(("more", "withholds"), [("", False), (", personalens_context", True)])
def test_an_installed_plugin_that_asks_for_the_request(
    told: Repository, monkeypatch: pytest.MonkeyPatch, more: str, withholds: bool
) -> None:
    told.write(site__acme_metadata=INSTALLED.format(more))
    about = told.path / "site" / "acme_metadata-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-metadata\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[pytest11]\nacme = acme_metadata\n")
    monkeypatch.setenv("PYTHONPATH", str(told.path / "site"))
    result = told.run(*ARGS, "--personalens-control", "no-context")
    assert (NOTHING_WITHHELD[:-2] not in result.stdout.str()) is withholds


def test_a_fixture_of_the_team_that_asks_for_the_request(told: Repository) -> None:
    own = INSTALLED.format("").replace("import pytest", "")
    told.write(conftest=TOLD + own)
    told.inline(*ARGS, "--personalens-control", "no-context").stdout.no_fnmatch_line(NOTHING_WITHHELD)
