"""A dialogue that ends its worker is the one that is booked for it, and takes no other of those beside it along."""

from __future__ import annotations

import pytest

from tests.support.processes.runs import collect_ids
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE

ARGS = ("--personalens-sample=12", *TOLD_AGENTS, "--personalens-report=r.json")
#: Users of this sample whose dialogue ends its process, and how.
BOT = """
    @pytest.fixture(scope="session")
    def personalens_assistant():
        import ctypes, signal, time

        def bot(messages, context):
            time.sleep(0.05)  # dialogues overlap
            if context.user in {poison}:
                {how}
            return "fine"
        return bot
"""
HOW = {
    "exits": "os._exit(0)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "crashes": "ctypes.string_at(0)",
}


def poison(repo: Repository, *numbers: int, how: str = "exits") -> set[str]:
    """Have the dialogues of these numbers end their process; their node ids."""
    ids = collect_ids(repo, *ARGS)
    bad = [ids[n] for n in numbers]
    users = repr([id_.rpartition("-")[2] for id_ in bad])
    repo.write(conftest=TOLD_ALONE + BOT.format(poison=users, how=HOW[how]))
    return {f"test_bot.py::test_bot[{id_}]" for id_ in bad}


def failed_only(result: pytest.RunResult, count: int) -> None:
    # An item whose end the dying worker could not tell any more runs again, and pytest counts its pass twice.
    outcomes = result.parseoutcomes()
    assert (outcomes["failed"], outcomes.get("errors", 0)) == (count, 0)


@pytest.mark.parametrize(
    ("workers", "how"), [("1", "exits"), ("2", "exits"), ("2", "is killed"), ("2", "crashes")]
)
def test_the_dialogue_that_ends_its_worker_is_booked(told: Repository, workers: str, how: str) -> None:
    lost = poison(told, 5, how=how)
    result = told.run(*ARGS, "-n", workers, "-opersonalens_parallel=4")
    assert result.ret == 1
    found = told.results("r.json")
    assert set(found["lost"]) == lost
    assert [item["evaluation"]["cause"] for item in found["items"]] == [""] * 11
    failed_only(result, 1)


DISTS = ("loadscope", "loadfile", "loadgroup", "worksteal")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0, 4, 11), ("-n", "2", "-opersonalens_parallel=8")),
        *[((3,), ("-n", "2", "--dist", dist, "-opersonalens_parallel=4")) for dist in DISTS],
        # The only worker is replaced by one that does the rest.
        *[((0,), ("-n", "1", "--dist", dist, "-opersonalens_parallel=4")) for dist in ("load", *DISTS)],
    ],
)
def test_however_items_are_handed_out(
    told: Repository, numbers: tuple[int, ...], words: tuple[str, ...]
) -> None:
    lost = poison(told, *numbers)
    result = told.run(*ARGS, *words)
    assert set(told.results("r.json")["lost"]) == lost
    failed_only(result, len(numbers))


def test_where_no_worker_takes_the_place_of_a_dead_one(told: Repository) -> None:
    poison(told, 5)
    none = ("--max-worker-restart=0", "--personalens-gate=tcr >= 0")
    result = told.run(*ARGS, "-n", "2", "-opersonalens_parallel=4", *none)
    assert result.ret != 0
    result.stdout.no_fnmatch_line("gate * passed*")
