"""What a run may take of a model: the limit of calls at once, usage by purpose, prices, and caps.

An answer that holds nothing is billed like any other: it counts in the usage, and in the caps.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_personalens import Answer, FakeModel, Request
from pytest_personalens.core.errors import BudgetSpent, SpecError
from pytest_personalens.core.judging.usage import Price, Usage, price_of, read_prices
from pytest_personalens.models.meter import Budget, Meter
from pytest_personalens.models.retry import COOLDOWN, Limiter, Reliable
from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint, Reply

ASK = Request("Be brief.", "Say hello.")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def busy_round(limiter: Limiter, *, good: bool = True) -> None:
    """As many calls as there are places, all in flight at once."""
    slots = [limiter.slot() for _ in range(limiter.limit)]
    for slot in slots:
        slot.__enter__()
    for _ in slots:
        if good:
            limiter.record_success()
        else:
            limiter.record_throttling()
    for slot in slots:
        slot.__exit__(None, None, None)


def test_the_limit_doubles_until_the_first_throttling_and_then_creeps() -> None:
    clock = Clock()
    limiter = Limiter(start=2, most=64, clock=clock)
    for expected in (4, 8, 16):
        busy_round(limiter)
        assert limiter.limit == expected
    busy_round(limiter, good=False)
    assert limiter.limit == 12, "one cut for one moment, however many calls it hit"
    busy_round(limiter)
    assert limiter.limit == 12, "what succeeds during the cooldown says nothing"
    clock.now += COOLDOWN
    busy_round(limiter)
    assert 12 <= limiter.limit <= 13
    for _ in range(60):
        clock.now += COOLDOWN
        busy_round(limiter, good=False)
    assert limiter.limit == 1, "never less than one"
    busy_round(limiter)


def test_the_limit_comes_down_at_once_and_grows_where_it_is_used() -> None:
    far, steady, idle = (Limiter(start=start, most=64, clock=Clock()) for start in (64, 30, 10))
    for _ in range(8):
        busy_round(far, good=False)
    assert far.limit <= 4, "though not a second has passed"
    for number in range(400):
        with steady.slot():
            steady.record_throttling() if number % 20 == 7 else steady.record_success()
    assert steady.limit == 24, "one call in twenty refused cuts once"
    for _ in range(50):
        with idle.slot():
            idle.record_success()
    idle.record_failure()
    assert idle.limit == 10, "an idle limit does not grow, and a failure cuts nothing"


def test_no_more_calls_are_in_flight_than_the_limit(endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply("ok", delay=0.02)
    model = Reliable(endpoint.open("openai:small"), limiter=Limiter(start=2, most=3))
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: model.complete(ASK), range(24)))
    assert endpoint.most_in_flight <= 3


def test_the_meter_counts_by_purpose() -> None:
    meter, tokens = Meter(), {"input_tokens": 10, "output_tokens": 2, "cached_tokens": 5, "written_tokens": 1}
    for purpose in ("judge tc", "judge tc", "user agent"):
        meter.complete(FakeModel(Answer(text="x", **tokens)), ASK, purpose)
    one = Usage(calls=1, **tokens)
    assert meter.usage == {"judge tc": one + one, "user agent": one}


def test_prices() -> None:
    lines = ["bedrock:nova-lite = 0.06, 0.24, 0.015", "openai:x?temperature=0.0 = 1, 2, 0.5, 1.25"]
    prices, million = read_prices(lines), 1_000_000
    assert prices["bedrock:nova-lite"] == Price(0.06, 0.24, 0.015, 0.06)
    usage = Usage(input_tokens=million, output_tokens=million // 2, cached_tokens=2 * million, written_tokens=million)  # fmt: skip
    assert prices["openai:x?temperature=0.0"].of(usage) == pytest.approx(1 + 1 + 1 + 1.25)
    assert price_of("bedrock:nova-lite?temperature=0.5", prices) == prices["bedrock:nova-lite"]
    assert price_of("openai:x", prices) is None
    for bad in ("nova", "nova = 1", "nova = a, b", "= 1, 2", "nova = -1, 2", "nova = 1, 2, 3, 4, 5", "nova = nan, 1"):  # fmt: skip
        with pytest.raises(SpecError, match="expected 'MODEL = INPUT, OUTPUT"):
            read_prices([bad])


def test_a_cap_on_calls_holds_across_processes_and_threads(tmp_path: Path) -> None:
    budgets = [Budget(tmp_path / "run", max_calls=10) for _ in range(4)]  # as four workers would have

    def take(budget: Budget) -> bool:
        try:
            budget.reserve()
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(take, budgets * 5)) == 10


def test_a_cap_on_money_counts_what_calls_cost(tmp_path: Path) -> None:
    fake = FakeModel(Answer(text="x", input_tokens=1_000_000))
    budget = Budget(tmp_path / "run", max_usd=2.5)
    meter = Meter(budget=budget, prices={"fake": Price(1.0, 1.0, 1.0, 1.0)})
    for _ in range(3):
        meter.complete(fake, ASK, "judge tc")
    with pytest.raises(BudgetSpent, match=r"has spent \$3.00, the cap of --personalens-budget is \$2.50"):
        meter.complete(fake, ASK, "judge tc")
    assert meter.usage["judge tc"].calls == 3


def billed(repo: Repository, *args: str) -> tuple[int, pytest.RunResult]:
    """The calls of one dialogue with a user that a model plays, as the results count them."""
    options = ("--personalens-sample=1", "--personalens-user-model=openai:small", "--personalens-record=live")
    result = repo.run(*options, "--personalens-report", "r.json", *args)
    usage = repo.results("r.json")["usage"].values()
    assert min(used["input_tokens"] + used["cached_tokens"] for used in usage) > 0
    return sum(used["calls"] for used in usage), result


def test_an_answer_that_holds_nothing_counts(repo: Repository, endpoint: Endpoint) -> None:
    endpoint.replies = [Reply("")]
    assert billed(repo)[0] == len(endpoint.calls) == 3, "two turns, one of them asked for twice"


def test_answers_that_hold_nothing_count_in_a_cap(repo: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply("")
    quick = "\nimport pytest_personalens.models.retry as r\nr.FIRST_WAIT = 0.001\n"
    repo.write(conftest=(repo.path / "conftest.py").read_text() + quick)
    assert billed(repo, "--personalens-dimensions=tc")[0] == len(endpoint.calls) > 2
    endpoint.calls.clear()
    calls, result = billed(repo, "--personalens-dimensions=tc", "--personalens-budget=2calls")
    assert calls == len(endpoint.calls) == 2
    result.stdout.fnmatch_lines(["not scored: 1, the cap on calls or money was reached*"])
