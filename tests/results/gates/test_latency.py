"""How long replies take: measured, shown, gated, and compared with a baseline at equal conditions only."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.scripted_agents import TEST

BOT = """
    import os, time
    import pytest

    @pytest.fixture(scope="session")
    def personalens_assistant():
        def reply(messages):
            half = float(os.environ["SLEEP"]) / 2

            def pieces():
                time.sleep(half)
                yield "I've booked "
                time.sleep(half)
                yield "it for 19:30, reference QX77."
            return pieces()
        return reply
"""
RUN = ("--personalens-sample", "8", "--personalens-report", "r.json")
SIDE = ("-o", "personalens_parallel=8")
BASE = ("--personalens-baseline", "b.json")


@pytest.mark.slow
def test_a_slower_assistant_is_red_by_its_gates_at_equal_conditions(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(conftest=BOT, test_bot=TEST)
    monkeypatch.setenv("SLEEP", "0")
    result = repo.run(
        *RUN, *SIDE, "--personalens-gate", "latency_p95 <= 1", "--personalens-save-baseline", "b.json"
    )
    result.stdout.fnmatch_lines(["gate latency_p95: passed, * under 0.5 s <= 1 s over *, *"])
    result.stdout.no_fnmatch_line("latency: *")
    assert repo.results("r.json")["latency"] is None, "what takes no time is not shown"

    monkeypatch.setenv("SLEEP", "1.2")
    junit = ("--junit-xml", "j.xml")
    result = repo.run(*RUN, *SIDE, *BASE, *junit, "--personalens-gate", "latency_p95 <= 1")
    result.stdout.fnmatch_lines(
        [
            "latency: p50 1.* s, p95 1.* s over * replies, 8 dialogues side by side; first piece p50 0.* s, p95 *",
            "gate latency_p95: FAILED, time that 95 % of the replies do not exceed 1.* s > 1 s over * side by side",
            "gate regression: latency: FAILED, mean time of a reply 0.0 s -> 1.* s over 8 scenarios, 8 dialogues *",
        ]
    )
    results = repo.results("r.json")
    item = results["items"][0]["evaluation"]
    assert (
        len(item["latencies"])
        == len(item["first_pieces"])
        == sum(m["role"] == "assistant" for m in item["dialogue"]["messages"])
    )
    assert all(
        0.5 <= first <= reply - 0.5
        for first, reply in zip(item["first_pieces"], item["latencies"], strict=True)
    )
    properties = {p.get("name"): p.get("value") for p in ET.parse(repo.path / "j.xml").iter("property")}
    assert float(properties["personalens_latency_p95"] or 0) >= 1.2

    monkeypatch.setenv("SLEEP", "0.6")
    repo.run(*RUN, *SIDE, "--personalens-save-baseline", "b.json")
    result = repo.run(*RUN, "-o", "personalens_parallel=4", *BASE)
    told = (
        "  the time of a reply is not compared: 4 dialogues side by side now, 8 dialogues side by side then"
    )
    result.stdout.fnmatch_lines([told])
    result.stdout.no_fnmatch_line("*regression: latency*")


def test_a_gate_on_times_that_nobody_takes_is_refused(repo: Repository) -> None:
    stored = ("--personalens-dialogues", "chats.jsonl", "--personalens-gate", "latency_p95 <= 8")
    assert_usage_error(repo.run(*stored), "*--personalens-gate: latency_p95: stored dialogues have no times*")
    assert_usage_error(
        repo.run(*RUN, "--personalens-gate", "latency_p95 >= 8"), "*latency_p95 is better low*"
    )
