"""Gates on what replies are beside their scores: how long they take, and the hard limits that they break."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TEST

SLOW = """
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
TIMED = ("--personalens-sample", "8", "--personalens-report", "r.json")
SIDE = ("-o", "personalens_parallel=8")
BASE = ("--personalens-baseline", "b.json")


@pytest.mark.slow
def test_a_slower_assistant_is_red_by_its_gates_at_equal_conditions(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(conftest=SLOW, test_bot=TEST)
    monkeypatch.setenv("SLEEP", "0")
    result = repo.run(
        *TIMED, *SIDE, "--personalens-gate", "latency_p95 <= 1", "--personalens-save-baseline", "b.json"
    )
    result.stdout.fnmatch_lines(["gate latency_p95: passed, * under 0.5 s <= 1 s over *, *"])
    result.stdout.no_fnmatch_line("latency: *")
    assert repo.results("r.json")["latency"] is None, "what takes no time is not shown"

    monkeypatch.setenv("SLEEP", "1.2")
    junit = ("--junit-xml", "j.xml")
    result = repo.run(*TIMED, *SIDE, *BASE, *junit, "--personalens-gate", "latency_p95 <= 1")
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
    repo.run(*TIMED, *SIDE, "--personalens-save-baseline", "b.json")
    result = repo.run(*TIMED, "-o", "personalens_parallel=4", *BASE)
    told = (
        "  the time of a reply is not compared: 4 dialogues side by side now, 8 dialogues side by side then"
    )
    result.stdout.fnmatch_lines([told])
    result.stdout.no_fnmatch_line("*regression: latency*")


#: Users who must not get prawns are served them where PRAWNS is set.
SERVES = """
    import os

    import pytest

    @pytest.fixture
    def personalens_assistant(personalens_scenario):
        offered = os.environ.get("PRAWNS") and any(
            "prawns" in limit.words for limit in personalens_scenario.limits
        )
        dish = "the garlic prawns" if offered else "the green salad"
        return lambda messages: f"I've booked a table for two on Friday at 19:30 and ordered {dish} for you."
"""
SERVED = (
    "--personalens-sample=12", "--personalens-domain=Restaurants", "--personalens-kind=single",
    "--personalens-record=live", "--personalens-gate=limits_broken <= 0",
)  # fmt: skip


@pytest.mark.slow
def test_broken_limits_fail_the_gate_and_are_counted(
    empty_repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_repo.write(conftest=SERVES)
    kept = empty_repo.inline(*SERVED, "--personalens-save-baseline=baseline.json")
    kept.stdout.fnmatch_lines(
        ["gate limits_broken: passed, share of dialogues that break a hard limit 0.00 *"]
    )
    assert kept.ret == 0
    monkeypatch.setenv("PRAWNS", "1")
    fell = empty_repo.inline(*SERVED, "--personalens-baseline=baseline.json", "--personalens-report=r.json")
    items = empty_repo.results("r.json")["items"]
    verdicts = [
        v for item in items for v in item["evaluation"]["verdicts"] if v["dimension"] == "personalization"
    ]
    broken = sum(any(r["code"] == "limit-broken" for r in v["reasons"]) for v in verdicts)
    assert 1 < broken < len(items)
    measured = f"share of dialogues that break a hard limit {broken / 12:.2f} * > 0.00 over 12 scenarios"
    more = f"it breaks a hard limit in {broken} dialogues (+{broken} since the baseline)"
    fell.stdout.fnmatch_lines(
        [
            "breaks a hard limit in * dialogues *",
            "  restaurants-*: *: says “prawn*” (turn *)",
            f"gate limits_broken: FAILED, {measured}; {more}",
        ]
    )
    completed = [
        v["score"] for i in items for v in i["evaluation"]["verdicts"] if v["dimension"] == "task_completion"
    ]
    assert completed.count(0) >= broken
    assert fell.ret == 1
