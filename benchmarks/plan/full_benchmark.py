"""A plan of the full benchmark: hours and dollars under a provider's quotas, by simulating every call, and
what binds.

    python benchmarks/plan/full_benchmark.py [--rpm N] [--tpm N] [--concurrency N] [--machines N] ...
    python benchmarks/plan/full_benchmark.py --check

A dialogue holds one of its machine's places; its turns follow one another, its readings are asked side by
side. A call is prepared on its machine's one core that runs Python, begins when one quota for all calls has
room for its request and its tokens, and then takes the latency. Calls are paced to the quota here: a run that
finds it by being refused takes longer. ``--check`` is in `forecast_check.py`.
"""

from __future__ import annotations

import argparse
import heapq
import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


class Kind(NamedTuple):
    """Scenarios of a kind, mean rounds of their dialogues, and role -> input tokens of a scenario (full
    price, cached).
    """

    scenarios: int
    rounds: float
    tokens: dict[str, tuple[int, int]]


#: Sizes and rounds: PersonaLens (arXiv 2506.09902). Tokens:
#: `python benchmarks/agents/tokens.py OFFICIAL-DATA` for the
#: single-domain tasks, the same with multi-domain tasks of 5 and 6 rounds for the others; all six
#: readings.
KINDS = (
    Kind(98_115, 4.74, {"user": (3350, 2000), "assistant": (1893, 0), "judge": (2558, 8154)}),
    Kind(24_018, 5.64, {"user": (3065, 9247), "assistant": (2638, 0), "judge": (3946, 8730)}),
)
READINGS = 6
#: Tokens of one answer: 150 a round (the paper), most of them the assistant's; a reading's as in
#: plugin/cost_estimate.py.
OUTPUT = {"user": 40, "assistant": 110, "judge": 180}
#: Dollars for a million tokens of input, output, cached input. They change.
#: docs/how-to/models/connect-a-model.md has the same.
PRICES: dict[str, tuple[float, ...]] = {
    "user": (0.25, 1.25, 0.03),
    "assistant": (0.25, 1.25, 0.03),
    "judge": (3.0, 15.0, 0.3),
}
#: Quotas are a minute's, and what was not used of one can be made up for within so many seconds.
BURST = 10.0
#: A wait that adds less than this share to the calls' own time binds nothing.
FELT = 0.05


class Plan(NamedTuple):
    """What is to be run and with what; `cpu` is seconds of a machine's core for a call, quotas are a
    minute's.
    """

    kinds: tuple[Kind, ...] = KINDS
    readings: int = READINGS
    latency: float = 2.0
    concurrency: int = 30
    machines: int = 1
    rpm: float = inf
    tpm: float = inf
    cpu: float = 0.005
    prices: dict[str, tuple[float, ...]] = PRICES


class Forecast(NamedTuple):
    """What comes of a plan."""

    seconds: float
    calls: int
    tokens: float
    usd: float
    binds: str


def lengths(kinds: tuple[Kind, ...]) -> Iterator[int]:
    """Rounds of each dialogue: whole numbers that keep to the mean, the kinds evenly mixed."""
    total = sum(kind.scenarios for kind in kinds)
    given, rounds = [0] * len(kinds), [0.0] * len(kinds)
    for number in range(1, total + 1):
        # The kind that is furthest behind its share.
        k = max(range(len(kinds)), key=lambda k: kinds[k].scenarios * number / total - given[k])
        given[k] += 1
        before, rounds[k] = int(rounds[k] + 1e-6), rounds[k] + kinds[k].rounds
        yield int(rounds[k] + 1e-6) - before


def usage(plan: Plan) -> dict[str, tuple[float, float, float]]:
    """Role -> mean (input at full price, output, cached input) tokens of one call."""
    found = {}
    for role, output in OUTPUT.items():
        calls = sum(kind.scenarios * (READINGS if role == "judge" else kind.rounds) for kind in plan.kinds)
        full, cached = (
            sum(kind.scenarios * kind.tokens[role][i] for kind in plan.kinds) / calls for i in (0, 1)
        )
        found[role] = (full, float(output), cached)
    return found


def forecast(plan: Plan) -> Forecast:
    """Simulate every call of the plan."""
    used = usage(plan)
    request_gap = 60 / plan.rpm
    # Providers differ on whether cached tokens count towards a quota: here they do.
    token_gaps = {role: sum(tokens) * 60 / plan.tpm for role, tokens in used.items()}
    left, places = lengths(plan.kinds), plan.concurrency * plan.machines
    # (When it is ready, place, rounds of its dialogue, calls of the dialogue before it): even the user's, odd
    # the assistant's, the last the readings. A list with equal times and rising places is a heap as it
    # stands.
    events = [(0.0, place, rounds, 0) for place, rounds in zip(range(places), left, strict=False)]
    calls = dict.fromkeys(OUTPUT, 0)
    cores, open_readings, read = [0.0] * plan.machines, [0] * places, [0.0] * places
    waited = {"the quota of requests": 0.0, "the quota of tokens": 0.0, "the processor": 0.0}
    requests = tokens = end = 0.0
    while events:
        ready, place, rounds, before = heapq.heappop(events)
        role = "judge" if before == 2 * rounds else "assistant" if before % 2 else "user"
        calls[role] += 1
        machine = place % plan.machines
        free = max(ready, cores[machine])
        cores[machine] = prepared = free + plan.cpu
        start = max(prepared, requests - BURST, tokens - BURST)
        waited["the processor"] += free - ready
        waited["the quota of requests" if requests > tokens else "the quota of tokens"] += start - prepared
        requests, tokens = max(start, requests) + request_gap, max(start, tokens) + token_gaps[role]
        done = start + plan.latency
        if role == "judge":
            open_readings[place] -= 1
            read[place] = done = max(read[place], done)
        elif before + 1 < 2 * rounds:
            heapq.heappush(events, (done, place, rounds, before + 1))
            continue
        else:
            open_readings[place], read[place] = plan.readings, done
            for _ in range(plan.readings):
                heapq.heappush(events, (done, place, rounds, before + 1))
        if not open_readings[place]:
            end = max(end, done)
            following = next(left, None)
            if following is not None:
                heapq.heappush(events, (done, place, following, 0))
    worst = max(waited, key=lambda name: waited[name])
    count = sum(calls.values())
    usd = (
        sum(
            calls[role] * sum(n * p for n, p in zip(used[role], plan.prices[role], strict=True))
            for role in OUTPUT
        )
        / 1e6
    )
    binds = worst if waited[worst] > FELT * count * plan.latency else "concurrency"
    return Forecast(end, count, sum(calls[role] * sum(used[role]) for role in OUTPUT), usd, binds)


def table(plans: list[Plan]) -> None:
    """Print a row for each plan as it is simulated."""
    print(
        f"{'requests/min':>12} {'tokens/min':>12} {'machines':>8} {'dialogues':>9} {'hours':>8} {'US$':>8} "
        " what binds"
    )
    for plan in plans:
        found = forecast(plan)
        quotas = ("none" if quota == inf else f"{quota:,.0f}" for quota in (plan.rpm, plan.tpm))
        hours = f"{found.seconds / 3600:8,.1f} {found.usd:8,.0f}  {found.binds}"
        print(
            *(f"{quota:>12}" for quota in quotas),
            f"{plan.machines:>8} {plan.concurrency * plan.machines:>9} {hours}",
            flush=True,
        )
    print(
        f"{found.calls:,} calls, {found.tokens / 1e9:.2f} billion tokens of input and output,"
        f" {plans[0].latency:g} s a call"
    )


def price(text: str) -> tuple[str, tuple[float, ...]]:
    """Role and prices of ``ROLE=INPUT,OUTPUT[,CACHED]``; without a price of their own, cached tokens cost as
    much as others.
    """
    role, _, rest = text.partition("=")
    prices = tuple(float(part) for part in rest.split(","))
    if role not in PRICES or len(prices) not in (2, 3):
        raise ValueError(text)
    return role, (*prices, prices[0])[:3]


def main() -> int:
    """Print the plan asked for, else one for several quotas."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rpm", type=float, help="quota of requests a minute")
    parser.add_argument("--tpm", type=float, help="quota of tokens a minute")
    parser.add_argument("--concurrency", type=int, help="dialogues at once on a machine")
    parser.add_argument("--machines", type=int)
    parser.add_argument(
        "--latency", type=float, default=Plan().latency, help="seconds of a call (default: %(default)s)"
    )
    parser.add_argument(
        "--readings", type=int, default=READINGS, help="readings of a dialogue (default: %(default)s)"
    )
    parser.add_argument(
        "--cpu", type=float, default=Plan().cpu, help="seconds of a core for a call (default: %(default)s)"
    )
    parser.add_argument(
        "--price",
        type=price,
        action="append",
        default=[],
        metavar="ROLE=IN,OUT[,CACHED]",
        help="dollars a million tokens",
    )
    parser.add_argument(
        "--check", action="store_true", help="set the forecast beside real runs at small scale"
    )
    o = parser.parse_args()
    if o.check:
        from benchmarks.plan.forecast_check import check

        return check()
    plan = Plan(readings=o.readings, latency=o.latency, cpu=o.cpu, prices={**PRICES, **dict(o.price)})
    if o.rpm or o.tpm or o.concurrency or o.machines:
        table(
            [
                plan._replace(
                    rpm=o.rpm or inf,
                    tpm=o.tpm or inf,
                    concurrency=o.concurrency or 30,
                    machines=o.machines or 1,
                )
            ]
        )
        return 0
    quotas = ((500, 500_000), (2_000, 2_000_000), (10_000, 10_000_000), (inf, inf))
    table(
        [
            plan._replace(rpm=r, tpm=t, concurrency=c, machines=m)
            for r, t in quotas
            for c, m in ((30, 1), (300, 1), (300, 4))
        ]
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
