"""What one dialogue of an async assistant does to the event loop that all share is its own fault alone."""

from __future__ import annotations

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE

ARGS = ("--personalens-sample=6", *TOLD_AGENTS, "--personalens-gate=none")
#: One user's dialogue goes wrong, in one of several ways.
BOT = """
    @pytest.fixture(scope="session")
    def personalens_assistant():
        async def bot(messages, context):
            import asyncio, sys, time
            if context.user == "tinashe":
                {what}
            return "fine"
        return bot
"""
WAYS = {
    "exits": ("sys.exit(0)", 5),
    "a task exits": ("await asyncio.create_task(asyncio.to_thread(time.sleep, 0)); asyncio.get_running_loop().call_soon(sys.exit, 0)", 6),
    "stops the loop": ("asyncio.get_running_loop().stop()", 6),
    "blocks the loop": ("time.sleep(60)", 5),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "how", [(), ("-opersonalens_parallel=3",), ("-n", "2")], ids=["alone", "side by side", "workers"]
)
def test_it_takes_no_other_dialogue_with_it(told: Repository, way: str, how: tuple[str, ...]) -> None:
    what, scored = WAYS[way]
    told.write(conftest=TOLD_ALONE + BOT.format(what=what))
    # Those that share a blocked loop at that moment wait with it.
    beside = 2 if way == "blocks the loop" and "-opersonalens_parallel=3" in how else 0
    result = told.run(*ARGS, *how, "-o", "personalens_turn_timeout=3", "--personalens-report=results.json")
    found = told.results()["overall"]
    assert scored - beside <= found["scored"] <= scored, str(result.stdout)


def test_an_interrupt_in_async_code_ends_the_run(told: Repository) -> None:
    told.write(conftest=TOLD_ALONE + BOT.format(what="raise KeyboardInterrupt"))
    assert told.run(*ARGS).ret == pytest.ExitCode.INTERRUPTED
