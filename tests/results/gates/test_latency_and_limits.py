"""Gates on what replies are beside their scores: how long they take, and the hard limits that they break."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository
from tests.support.scripted_agents import TEST

SLOW = """
    import os, time
    import pytest

    @pytest.fixture(scope="session")
    def personalens_assistant():
        def pieces(messages):
            for piece in ("I've booked ", "it for 19:30, reference QX77."):
                time.sleep(float(os.environ["SLEEP"]) / 2)
                yield piece
        return pieces
"""
TIMED = ("--personalens-sample=8", "--personalens-report=results.json")
SIDE, LIMIT = ("-o", "personalens_parallel=8"), ("--personalens-gate", "latency_p95 <= 1")
SAVE, BASE = "--personalens-save-baseline=b.json", "--personalens-baseline=b.json"


@pytest.mark.slow
def test_a_slower_assistant_is_red_by_its_gates(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write(conftest=SLOW, test_bot=TEST)
    monkeypatch.setenv("SLEEP", "0")
    result = repo.run(*TIMED, *SIDE, *LIMIT, SAVE)
    result.stdout.fnmatch_lines(["gate latency_p95: passed, * under 0.5 s <= 1 s over *, *"])
    result.stdout.no_fnmatch_line("latency: *")
    assert repo.results()["latency"] is None, "what takes no time is not shown"

    monkeypatch.setenv("SLEEP", "1.2")
    repo.run(*TIMED, *SIDE, *LIMIT, BASE, "--junit-xml=j.xml").stdout.fnmatch_lines(
        [
            "latency: p50 1.* s, p95 1.* s over * replies, 8 dialogues side by side; first piece p50 0.* s, p95 *",
            "gate latency_p95: FAILED, time that 95 % of the replies do not exceed 1.* s > 1 s over * side by side",
            "gate regression: latency: FAILED, mean time of a reply 0.0 s -> 1.* s over 8 scenarios, 8 dialogues *",
        ]
    )
    item = repo.results()["items"][0]["evaluation"]
    replies = sum(m["role"] == "assistant" for m in item["dialogue"]["messages"])
    assert len(item["latencies"]) == len(item["first_pieces"]) == replies
    times = zip(item["first_pieces"], item["latencies"], strict=True)
    assert all(0.5 <= first <= reply - 0.5 for first, reply in times)
    properties = {p.get("name"): p.get("value") for p in ET.parse(repo.path / "j.xml").iter("property")}
    assert float(properties["personalens_latency_p95"] or 0) >= 1.2

    monkeypatch.setenv("SLEEP", "0.6")
    repo.run(*TIMED, *SIDE, SAVE)
    result = repo.run(*TIMED, "-o", "personalens_parallel=4", BASE)
    sides = "4 dialogues side by side now, 8 dialogues side by side then"
    result.stdout.fnmatch_lines([f"  the time of a reply is not compared: {sides}"])
    result.stdout.no_fnmatch_line("*regression: latency*")


#: Users who must not get prawns are served them where PRAWNS is set.
SERVES = """
    import os

    import pytest

    @pytest.fixture
    def personalens_assistant(personalens_scenario):
        never = any("prawns" in limit.words for limit in personalens_scenario.limits)
        dish = "garlic prawns" if never and os.environ.get("PRAWNS") else "green salad"
        return lambda messages: f"I've booked a table for two on Friday at 19:30 and ordered the {dish} for you."
"""
SERVED = (
    "--personalens-sample=12", "--personalens-domain=Restaurants", "--personalens-kind=single",
    "--personalens-record=live", "--personalens-gate=limits_broken <= 0", TIMED[1],
)  # fmt: skip


@pytest.mark.slow
def test_broken_limits_fail_their_gate(empty_repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    empty_repo.write(conftest=SERVES)
    share = "share of dialogues that break a hard limit"
    assert_ended(empty_repo.inline(*SERVED, SAVE), 0, f"gate limits_broken: passed, {share} 0.00 *")
    monkeypatch.setenv("PRAWNS", "1")
    fell = empty_repo.inline(*SERVED, BASE)
    items = empty_repo.results()["items"]
    read = [{v["dimension"]: v for v in item["evaluation"]["verdicts"]} for item in items]
    reasons = [{reason["code"] for reason in of["personalization"]["reasons"]} for of in read]
    broken = sum("limit-broken" in codes for codes in reasons)
    assert 1 < broken < len(items)
    more = f"it breaks a hard limit in {broken} dialogues (+{broken} since the baseline)"
    assert_ended(
        fell,
        1,
        "breaks a hard limit in * dialogues *",
        "  restaurants-*: *: says “prawn*” (turn *)",
        f"gate limits_broken: FAILED, {share} {broken / 12:.2f} * > 0.00 over 12 scenarios; {more}",
    )
    assert [of["task_completion"]["score"] for of in read].count(0) >= broken
