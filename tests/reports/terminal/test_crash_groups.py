"""What the assistant failed of is told first, grouped by the exception and its place."""

from __future__ import annotations

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE

ARGS = ("--personalens-sample", "12", *TOLD_AGENTS)
BOT = """
    import itertools

    @pytest.fixture(scope="session")
    def personalens_assistant():
        from app.memory import recall
        number = itertools.count()
        return lambda messages: recall(next(number))
"""


@pytest.fixture
def crashing(told: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    told.write(conftest=TOLD_ALONE + BOT)
    monkeypatch.syspath_prepend(told.path)
    return told


def test_scores_of_a_stopped_run_are_called_those_of_a_part(crashing: Repository) -> None:
    crashing.write(app__memory='def recall(number):\n    return "fine" if number < 4 else 1 / 0\n')
    result = crashing.inline(
        *ARGS, "--personalens-gate", "tcr >= 0", "-x", "--personalens-report", "page.md", "-p", "no:randomly"
    )
    result.stdout.fnmatch_lines(
        ["scores of 2 dialogues only, a part of the run:", " * items  scored *"], consecutive=True
    )
    assert "**Scores of 2 dialogues only, a part of the run:**" in (crashing.path / "page.md").read_text(
        encoding="utf-8"
    )


def test_workers_and_dialogues_side_by_side_tell_the_same(
    crashing: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")  # where pytest cuts no line of its short summary
    crashing.write(app__memory='def recall(number):\n    raise KeyError("user")\n')
    for more in (("-n", "2"), ("-o", "personalens_parallel=4")):
        result = crashing.run(*ARGS, *more)
        result.stdout.fnmatch_lines(
            [
                "the assistant failed in 12 of 12 dialogues, which have no score:",
                "  12 x KeyError at app/memory.py:2: 'user'",
            ],
            consecutive=True,
        )
        failed = [line.partition(" - ")[2] for line in result.outlines if line.startswith("FAILED")]
        assert failed[1:] == ["not scored, assistant at fault (as above)"] * 11
        assert "not scored, assistant at fault: the assistant raised KeyError: 'user'" in failed[0]


def test_many_ways_are_few_lines(crashing: Repository) -> None:
    crashing.write(
        app__memory=(
            'def recall(number):\n    raise type(f"Error{number % 6}", (Exception,), {})("x" * 1000)\n'
        )
    )
    lines = crashing.inline(*ARGS).outlines
    first = lines.index("the assistant failed in 12 of 12 dialogues, which have no score:")
    assert [line[:29] for line in lines[first + 1 : first + 4]] == [
        f"  2 x Error{n} at app/memory.py" for n in (0, 1, 2)
    ]
    assert all(len(line) < 200 for line in lines[first + 1 : first + 4])
    assert lines[first + 4 : first + 6] == ["  and 6 in 3 other ways", ""]


def test_a_secret_in_a_long_error_is_not_cut_in_two(
    crashing: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-secret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    crashing.write(
        app__memory=f'def recall(number):\n    raise ValueError("x" * 285 + "{key}" + "y" * 500)\n'
    )
    assert "sk-secret" not in str(crashing.inline(*ARGS).stdout)
