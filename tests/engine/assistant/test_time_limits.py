"""A reply that comes after its time limit is none, whatever the assistant did to the alarm."""

from __future__ import annotations

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE

ARGS = ("--personalens-sample=2", *TOLD_AGENTS, "--personalens-report=r.json")
BOT = """
    @pytest.fixture
    def personalens_assistant():
        import signal, time

        def bot(messages):
            {before}
            until = time.monotonic() + 0.6
            while time.monotonic() < until:
                try:
                    time.sleep(0.01)
                except:
                    pass
            return "fine"
        return bot
"""
WAYS = {
    "swallows it": "pass",
    "ignores it": "signal.signal(signal.SIGALRM, signal.SIG_IGN)",
    "sets it off": "signal.setitimer(signal.ITIMER_REAL, 0)",
    "sets its own": "signal.alarm(60)",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_an_assistant_that_overrides_its_time_limit(told: Repository, way: str) -> None:
    told.write(conftest=TOLD_ALONE + BOT.replace("{before}", WAYS[way]))
    assert told.run(*ARGS, "-o", "personalens_turn_timeout=0.3").ret == 1
    details = {item["evaluation"]["detail"] for item in told.results("r.json")["items"]}
    assert details == {"the assistant did not answer within 0.3 s (personalens_turn_timeout)"}
