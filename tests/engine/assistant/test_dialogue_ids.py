"""An assistant that serves every dialogue of a run keeps them apart by the id that the context gives it."""

from __future__ import annotations

import json

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE

ARGS = ("--personalens-sample=2", *TOLD_AGENTS)
#: It answers well from its second turn on in one conversation; each dialogue has but two, so that only mixed
#: ones ever pass.
STATEFUL = (
    TOLD_ALONE.replace("low if f", 'low if "third" not in dialogue.messages[-1].content or f')
    + """
    import json

    CONVERSATIONS = {}

    @pytest.fixture(scope="session")
    def personalens_assistant():
        def reply(messages, context):
            turns = CONVERSATIONS.setdefault(context.dialogue, [])
            turns.append(messages[-1]["content"])
            (HERE / "dialogues.json").write_text(json.dumps({key: len(found) for key, found in CONVERSATIONS.items()}))
            return "third" if len(turns) > 2 else "fine"
        return reply
"""
)


def dialogues(repo: Repository) -> dict[str, int]:
    found: dict[str, int] = json.loads((repo.path / "dialogues.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("most", ["false", "2"])
def test_a_retry_is_another_dialogue(told: Repository, most: str) -> None:
    pytest.importorskip("pytest_rerunfailures")
    told.write(conftest=STATEFUL)
    result = told.run(*ARGS, "--reruns", "2", "-o", f"personalens_parallel={most}")
    assert result.ret == 1
    assert result.parseoutcomes() == {"failed": 2, "rerun": 4}
    assert sorted(dialogues(told).values()) == [2] * 6


OTHER = "def test_other(personalens):\n    personalens.check()\n"


@pytest.mark.parametrize(
    ("args", "files", "count"),
    [
        (
            ("--personalens-trials=2", "--personalens-control=no-context"),
            {"test_other": OTHER},
            2 * 2 * 2 * 2,
        ),
        (("--count", "3"), {}, 2 * 3),  # of pytest-repeat
    ],
)
def test_repetitions_of_one_scenario_are_dialogues_of_their_own(
    told: Repository, args: tuple[str, ...], files: dict[str, str], count: int
) -> None:
    if "--count" in args:
        pytest.importorskip("pytest_repeat")
    told.write(conftest=STATEFUL, **files)
    told.inline(*ARGS, *args)
    assert list(dialogues(told).values()) == [2] * count


def test_the_next_run_has_the_same_ids_and_each_can_be_a_key_anywhere(told: Repository) -> None:
    told.write(conftest=STATEFUL)
    told.inline(*ARGS)
    first = dialogues(told)
    told.inline(*ARGS)
    assert list(dialogues(told)) == list(first)
    assert all(key.replace("-", "").isalnum() and key.isascii() for key in first)
