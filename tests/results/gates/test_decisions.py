"""One table of results and what gates say of them: scores then and now, a gate, its decision and its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.judging.verdict import Reason, UserFault, Verdict
from pytest_personalens.core.options.gate import read_gate
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.core.suite import get_suite
from pytest_personalens.results.comparison.baseline import baseline_of
from pytest_personalens.results.shards import read_computed
from pytest_personalens.results.summarize import conclude
from pytest_personalens.results.values.calibration import Calibration
from pytest_personalens.results.values.item import Item
from pytest_personalens.results.values.results import Results, write_json
from pytest_personalens.results.wording import gate_outcome
from tests.support.results.scored_items import TC, P, Told, below, items, run, trials

SUITE = get_suite("personalens")
COHERENCE = get_measure("coherence_assistant")


class Case(NamedTuple):
    """Items of a run, its gates, those of its baseline, and what each gate says: name, outcome, message."""

    now: Sequence[Item]
    gates: str
    told: dict[str, str]
    then: Sequence[Item] | None = None
    settings: Mapping[str, Any] = MappingProxyType({})
    facts: Mapping[str, Any] = MappingProxyType({})

    def results(self) -> Results:
        gates = tuple(read_gate(gate, SUITE) for gate in filter(None, self.gates.split("; ")))
        s = Settings.default(gate=gates, baseline=None if self.then is None else "b.json", **self.settings)
        results = run(self.now, s, **self.facts)
        return conclude(results, s, None if self.then is None else baseline_of(run(self.then, s)))


def failed(cause: str, number: int) -> Told:
    return lambda n: {"cause": cause, "detail": "x"} if n < number else {}


def known(count: int) -> Told:
    return lambda n: {"user_faults": (UserFault(code="repeated", turn=0, text="again"),) if n < count else ()}


def breaks(count: int) -> Told:
    """Verdicts on personalization with a reason, and of the first with a broken limit."""

    def told(n: int) -> dict[str, Any]:
        reason = Reason(code="limit-broken" if n < count else "applies", type="diet", value="prawns", turn=1)
        said = Verdict(dimension=P, score=3, justification="so", reasons=(reason,))
        return {"verdicts": (Verdict(dimension=TC, score=1, justification="so"), said)}

    return told


def timed(seconds: float) -> Told:
    turn = (Message(role="user", content="a"), Message(role="assistant", content="b"))
    return {"latencies": (seconds,), "dialogue": Dialogue(messages=turn)}


JUDGE = Calibration(judge="judge", dialogues=120, completed=60, seen_completed=54, failed=60, seen_failed=54)
GAP = [
    item.model_copy(update={"slices": {"age": "old" if n < 10 else "young"}})
    for n, item in enumerate(
        items(20, 1, below(10, 2, 4), told=lambda n: {"task": f"t{n % 10}", "user": f"u{n}"})
    )
]
CONTROL = {"control": ("none",)}
IN_BOTH = "no scenario was scored both with and without its context"
FEW = "these scenarios are too few: not even a fall of all their scores would be significant"
BOTH = " at the level 0.05 for both gates together"

CASES = {
    "a rate": Case(items(20), "tcr >= 0.8; p >= 4", {
        "tcr": "passed, task completion rate 1.00 (0.83 to 1.00) >= 0.80 over 20 scenarios",
        "p": "passed, mean personalization 4.00 (* to 4.00) >= 4.00 over 20 scenarios",
        "valid": "passed, 20 of 20 items could be scored; the floor is 90%",
    }),
    "a rate with a failure": Case(items(20, below(1, 0, 1)), "tcr >= 0.96", {"tcr": "FAILED, task completion rate 0.95 (0.75 to 0.998) < 0.96 over 20 scenarios"}),
    "a rate just below its floor": Case(items(300, below(1, 0, 1)), "tcr >= 0.997", {"tcr": "FAILED, task completion rate 0.9967 (*) < 0.997? over *"}),
    "users with several scenarios": Case(items(20, users=5), "tcr >= 0.5", {"tcr": "passed, * >= 0.50 over 20 scenarios of 5 users"}),
    "two users": Case(items(20, users=2), "p >= 1", {"p": "passed, * 4.00 (too few for an interval) >= 1.00 over 20 *"}),
    "a group": Case(items(20, p=below(5, 1, 4)), "single: p >= 3.9; multi: p >= 3; Books: p >= 1", {
        "single: p": "FAILED, mean personalization 3.25 (*) < 3.90 over 16 scenarios",
        "multi: p": "passed, mean personalization 3.25 (*) >= 3.00 over 4 scenarios",
        "Books: p": "FAILED (not decided), no scenario of Books is in this sample",
    }),
    "faults of others": Case(items(20, told=failed("judge", 5)), "tcr >= 0.5; valid >= 0.7", {
        "tcr": "passed, * over 15 scenarios",
        "valid": "passed, 15 of 20 items could be scored (not: 5 judge); the floor is 70%",
    }),
    "too few scored": Case(items(20, told=failed("assistant", 5)), "tcr >= 0; single: tcr >= 0; pass^1 >= 0; valid >= 90%", {
        "tcr": "FAILED (not decided), only 15 of 20 items could be scored; the floor is 90%",
        "single: tcr": "FAILED (not decided), only 12 of its 16 items could be scored; the floor is 90%",
        "pass^1": "FAILED (not decided), only 15 of 20 items could be scored; the floor is 90%",
        "valid": "FAILED, 15 of 20 items could be scored (not: 5 assistant); the floor is 90%",
    }),
    "nothing scored": Case(items(4, told=failed("judge", 4)), "tcr >= 0; valid >= 0", {
        "tcr": "FAILED (not decided), task completion rate: no item could be scored",
        "valid": "passed, 0 *",
    }),
    "no luck": Case(items(20, told=failed("judge", 1)), "tcr >= 0.96", {"tcr": "passed, *; it would be 0.95 if the 1 without a score had the lowest"}),
    "lost and left": Case(items(18), "tcr >= 0.5", {
        "valid": "FAILED, 18 of 21 items could be scored (not: 2 lost, 1 unevaluated); the floor is 90%",
    }, facts={"lost": ("t.py::t[a]", "t.py::t[b]"), "unevaluated": ("t.py::t[c]",)}),
    "a group most of which is missing": Case(items(16, told={"kind": "single"}) + items(2, start=20, told={"kind": "multi"}), "multi: tcr >= 0.1; multi: pass^1 >= 0.1; multi: valid >= 0.5; valid >= 0.5", {
        "multi: tcr": "FAILED (not decided), only 2 of its 5 items could be scored; the floor is 50%",
        "multi: pass^1": "FAILED (not decided), only 2 of its 5 items could be scored; the floor is 50%",
        "multi: valid": "FAILED, 2 of 5 items could be scored; the floor is 50%",
        "valid": "passed, 18 of 21 items *",
    }, facts={"unevaluated": ("t[a]", "t[b]", "t[c]"), "missing_by_group": {"multi": 3}}),
    "readings that the judge did not give": Case(items(20, p=below(4, None, 4)), "tcr >= 0.5; p >= 1; valid >= 0.5", {
        "tcr": "passed, * over 20 scenarios",
        "p": "passed, * over 16 scenarios*",
        "valid": "passed, 20 of 20 items could be scored, without 4 readings of p; the floor is 50%",
    }),
    "too few readings": Case(items(20, p=below(4, None, 4)), "tcr >= 0.5; p >= 1", {
        "tcr": "passed, * over 20 scenarios",
        "p": "FAILED (not decided), only 16 of 20 items could be scored; the floor is 90%",
        "valid": "passed, 20 of 20 *",
    }),
    "trials": Case(trials(10, 1, below(2, 0, 1)), "pass^1 >= 0.9; pass^2 >= 0.9", {
        "pass^1": "passed, chance of passing 1 times of 1 0.90 (*) >= 0.90 over 10 scenarios",
        "pass^2": "FAILED, chance of passing 2 times of 2 0.80 (*) < 0.90 over 10 scenarios",
    }, settings={"trials": 2}),
    "trials that are missing": Case([*trials(10, 1, 1), *items(7, trial=3), *items(3, start=7, trial=3, told=failed("judge", 10))], "pass^3 >= 0.5; valid >= 0.8", {
        "pass^3": "FAILED (not decided), chance of passing 3 times of 3: only 7 of 10 scenarios were scored 3 times; the floor is 80%",
    }, settings={"trials": 3}),
    # 0.56 * 25 is a little more than 14 as a product of floats.
    "as many as the floor": Case([
        *(*items(25), *items(14, trial=2), *items(11, start=14, trial=2, told=failed("judge", 25))),
        *(*items(14, p=1, control="none"), *items(11, 1, 1, start=14, control="none", told=failed("judge", 25))),
    ], "pass^2 >= 0.9; lift(p, no-context) >= 1; valid >= 0.56", {
        "pass^2": "passed, * over 14 scenarios", "lift(p, no-context)": "passed, * over 14 scenarios*",
    }, settings={"trials": 2, **CONTROL}),
    # The first half fails its tasks, and is low without a score on P too.
    "low without a reading": Case([item for n in (1, 2) for item in items(20, below(10, 0, 1), below(12, None, 4), trial=n)], "pass^2 >= 0.1; valid >= 0.5", {
        "pass^2": "passed, chance of passing 2 times of 2 0.44 * over 18 scenarios",
    }, settings={"trials": 2}),
    "a lift": Case([*items(10), *items(10, p=1, control="none")], "lift(p, no-context) >= 2.5; lift(tcr, no-context) >= 0", {
        "lift(p, no-context)": "passed, lift of mean personalization over the control no-context 3.00 (*) >= 2.50 over 10 scenarios, one-sided p < 0.001",
        "lift(tcr, no-context)": "passed, * 0.00 (*) >= 0.00 over 10 scenarios, one-sided p = 1.000; not significant",
    }, settings=CONTROL),
    "a lift over few": Case([*items(10), *items(10, p=1, control="none", told=failed("judge", 8))], "lift(p, no-context) >= -3", {
        "lift(p, no-context)": "FAILED (not decided), *: only 2 of 10 scenarios were scored both with and without its context; the floor is 90%",
    }, settings=CONTROL),
    "a lift over none": Case(items(10), "lift(p, no-context) >= 0", {
        "lift(p, no-context)": f"FAILED (not decided), *: {IN_BOTH}; 2 skipped by your test: in a control, call evaluate() and return",
    }, settings=CONTROL, facts=dict.fromkeys(("unevaluated", "skipped", "of_controls"), ("t[a+none]", "t[b+none]"))),
    "faults of the user": Case(items(20, told=known(3)), "user_faults <= 0.1", {
        "user_faults": "FAILED, share of dialogues with a fault of the user 0.15 (*) > 0.10 over 20 scenarios",
    }),
    "no user was audited": Case(items(20), "user_faults <= 0.1", {"user_faults": "FAILED (not decided), *: no user of this run was audited; run its tests again"}),
    "limits": Case(items(20, told=breaks(3)), "limits_broken <= 0", {
        "limits_broken": "FAILED, * 0.15 (*) > 0.00 over 20 scenarios; it breaks a hard limit in 3 dialogues*",
    }, then=items(20, told=breaks(1))),
    "a judge without reasons": Case(items(20), "limits_broken <= 0", {"limits_broken": "FAILED (not decided), * gives no reasons, *"}),
    "a gap": Case(GAP, "gap(p) <= 0.3; gap(tcr) <= 0.3", {
        "gap(p)": "FAILED, largest gap of mean personalization 2.00 > 0.30 over 10 tasks: age * against the rest, two-sided p < 0.001",
        "gap(tcr)": "passed, * 0.00 <= 0.30 over 10 tasks: *, two-sided p = 1.000, which may be chance",
    }, settings={"slice": ("age",)}),
    "no groups": Case(items(9), "gap(p) <= 0.3", {
        "gap(p)": "FAILED (not decided), *: no group and the rest have 3 users each *; draw more scenarios",
    }, settings={"slice": ("age",)}),
    "slow replies": Case(items(8, told=timed(2)), "latency_p95 <= 1", {
        "latency_p95": "FAILED, time that 95 % of the replies do not exceed 2.0 s > 1 s over 8 replies, one dialogue at a time",
        "regression: latency": "FAILED, mean time of a reply 1.0 s -> 2.0 s over 8 scenarios, one dialogue at a time, *",
    }, then=items(8, told=timed(1))),
    "quick replies": Case(items(8, told=timed(0.1)), "latency_p95 <= 1", {"latency_p95": "passed, * under 0.5 s <= 1 s over 8 *"}),
    "replies without a time": Case(items(8), "latency_p95 <= 1", {"latency_p95": "FAILED (not decided), *: no reply was timed; *"}),
    "a calibrated judge": Case(items(40, below(4, 0, 1)), "tcr >= 0.7", {
        "tcr": "passed, task completion rate as read 0.90, corrected 1.00 (*) over 40 scenarios; the floor is 0.70",
    }, facts={"calibration": JUDGE}),
    "a rate that the interval does not decide": Case(items(40, below(8, 0, 1)), "tcr >= 0.9", {
        "tcr": "INCONCLUSIVE, *, corrected 0.88 (*) *; the floor is 0.90, within the interval: *would decide*",
    }, facts={"calibration": JUDGE}),
    "a judge no better than chance": Case(items(40), "tcr >= 0.1", {
        "tcr": "FAILED (not decided), task completion rate as read 1.00: its judge tells completed tasks from failed ones no *",
    }, facts={"calibration": JUDGE.model_copy(update={"seen_completed": 6})}),
    "no change": Case(items(20), "", {
        "regression: tcr": "passed, TCR 1.00 -> 1.00 (+0.00, 90 % *) over 20 scenarios: no significant drop; one of 0.* would have been found 4 times in 5",
        "regression: p": "passed, P 4.00 -> 4.00 *",
        "valid": "passed, 20 of 20 *",
    }, then=items(20)),
    "a drop": Case(items(20, below(7, 0, 1)), "drop(tcr) <= 0.3", {
        "regression: tcr": "FAILED, TCR 1.00 -> 0.65 (-0.35, 95 % *, one-sided p = 0.008) over 20 scenarios: a significant drop",
        "regression: p": "passed, *",
        "drop(tcr)": "FAILED, TCR 1.00 -> 0.65 (-0.35) *: a drop of up to 0.5? is not excluded (95 % sure); the gate allows 0.3",
    }, then=items(20)),
    "a small drop": Case(items(20, below(3, 0, 1)), "", {
        "regression: tcr": "passed, *(-0.15,* one-sided p = 0.125) over 20 scenarios: no significant drop; *",
    }, then=items(20)),
    "a p below the level of all together": Case(items(20, below(5, 0, 1)), "", {
        "regression: tcr": f"passed, *, one-sided p = 0.031) over 20 scenarios: no significant drop{BOTH}; one of *",
    }, then=items(20)),
    "a margin": Case(items(20, below(7, 0, 1)), "", {
        "regression: tcr": f"passed, *: no significant drop beyond the margin of 0.4{BOTH}; *",
    }, then=items(20), settings={"margin": (("task_completion", 0.4),)}),
    "a dimension that is gated for its margin": Case(items(20, scores={COHERENCE: below(10, 1, 5)}), "", {
        "regression: coh-assistant": "FAILED, * 5.00 -> 3.00 (-2.00, *) *: a significant drop beyond the margin of 0.1",
    }, then=items(20, scores={COHERENCE: 5}), settings={"margin": (("coherence_assistant", 0.1),)}),
    "what is excluded": Case(items(40), "drop(p) <= 0.25", {
        "drop(p)": "passed, P 4.00 -> 4.00 (+0.00) over 40 scenarios: no drop larger than 0.22 (95 % sure); the gate allows 0.25",
    }, then=items(40)),
    "two users exclude nothing": Case(items(40, users=2), "drop(p) <= 0.25", {
        "drop(p)": "FAILED (not decided), *: too few users to exclude any drop",
    }, then=items(40, users=2)),
    "at the bottom": Case(items(20, p=1), "", {"regression: p": "passed, P 1.00 -> 1.00 * it could not fall further"}, then=items(20, p=1)),
    "hardly any room": Case(items(40, p=below(6, 2, 1)), "", {
        "regression: p": "passed, P 1.15 -> 1.15 *; and these scenarios are too few to find even the largest *",
    }, then=items(40, p=below(6, 2, 1))),
    "too few to decide": Case(items(3), "", {
        "regression: p": f"FAILED, *: {FEW}",
        "regression: tcr": f"FAILED, *: {FEW}",
    }, then=items(3)),
    "two users fell": Case(items(80, p=1, users=2), "", {
        "regression: p": "FAILED, P 4.00 -> 1.00 (-3.00, too few for an interval, one-sided p = 0.250) over 80 scenarios of 2 users: these users are too few: *",
    }, then=items(80, users=2)),
    "everybody fell": Case(items(60, 0), "", {
        "regression: tcr": "FAILED, TCR 1.00 -> 0.00 (-1.00, 95 % *, one-sided p < 0.001) *: a significant drop",
    }, then=items(60)),
    "as many trials as both have": Case(items(10, 1, 2), "", {
        "regression: tcr": "passed, TCR 0.00 -> 1.00 (+1.00, *",
        "regression: p": "FAILED, P 3.00 -> 2.00 (-1.00, *",
    }, then=[*trials(10, 0, 1, 1, p=3)]),
    "two tests with other numbers of trials": Case([*trials(1, 1, 1, 0), *items(1, 0, test="t.py::other")], "tcr >= 0", {"tcr": "passed, * 0.33 (*"}),
    "other scenarios": Case(items(5, start=10), "", {
        "regression": "FAILED (not decided), no scenario of this run could be compared with b.json: 5 not run now, 5 not run then (another sample or seed, or did a test move? *)",
    }, then=items(5)),
    "another test": Case(items(10, test="t.py::moved"), "", {
        "regression": "FAILED (not decided), * 10 run by other tests (*, or did a test move? save a new baseline with *)",
    }, then=items(10)),
    "one of two tests is gone": Case(items(10), "", {
        "regression": "FAILED (not decided), only 10 of 20 scenarios were run by the same tests as then: *",
    }, then=[*items(10), *items(10, test="t.py::other")]),
    "hardly scored then": Case(items(20), "", {
        "regression": "FAILED (not decided), 1 of the 20 scenarios that are also in b.json could be compared; the floor is 90%",
    }, then=items(20, told=failed("judge", 19))),
    "judged then": Case(items(20, told=lambda n: {"unread": {}}, p=None), "", {
        "regression: p": "FAILED (not decided), p was judged then and not now: nothing to compare",
        "regression: tcr": "passed, *",
    }, then=items(20)),
    "judged now": Case(items(20), "", {
        "regression: p": "FAILED (not decided), p was judged now and not then: nothing to compare",
    }, then=items(20, told=lambda n: {"unread": {}}, p=None)),
    "few readings are left": Case(items(20, below(4, None, 1)), "", {
        "regression: tcr": "FAILED (not decided), tc was judged in both runs in 16 of 20 scenarios only; the floor is 90%",
        "regression: p": "passed, *",
    }, then=items(20)),
    "two tests of one scenario are no further scenario": Case([*items(20, below(4, 0, 1)), *items(20, below(4, 0, 1), test="t.py::other")], "", {
        "regression: tcr": "passed, *one-sided p = 0.062) over 20 scenarios: no significant drop*",
    }, then=[*items(20), *items(20, test="t.py::other")]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_a_gate_says_and_that_it_says_it_again(name: str, tmp_path: Any) -> None:
    results = CASES[name].results()
    said = {gate.name: f"{gate_outcome(gate, results)}, {gate.message}" for gate in results.gates}
    for gate, told in CASES[name].told.items():
        assert fnmatchcase(said[gate], told.replace("[", "[[]")), f"{gate}: {said[gate]}"
    values = {gate.name: gate.value for gate in results.gates if results.calibration is None}
    for metric, measure in (("tcr", TC), ("p", P)):
        if values.get(metric) is not None:
            assert values[metric] == results.overall.figures[measure].value
    write_json(results, tmp_path / "r.json")
    assert read_computed(tmp_path / "r.json").gates == results.gates


LEFT_OUT = {
    "not run now": (items(15), items(20), 5),
    "not run then": (items(20), items(15), 5),
    "not scored now": (items(20, told=failed("judge", 2)), items(20), 2),
    "not scored then": (items(20), items(20, told=failed("judge", 2)), 2),
    "changed in the dataset": (items(20, content="b"), items(20, content="a"), 20),
    "run under other settings": (items(20, given="D"), items(20, given="DIS"), 20),
    "run by other tests": (items(20, test="t.py::other"), items(20), 20),
    "trials of one run beyond those of the other": (trials(20, 1, 1), items(20), 20),
    "not run now by each test that ran them then": (items(20), [*items(20), *items(3, test="t.py::o")], 3),
}


@pytest.mark.parametrize("why", LEFT_OUT)
def test_what_could_not_be_compared_is_named_with_its_reason(why: str) -> None:
    now, then, count = LEFT_OUT[why]
    comparison = Case(now, "", {}, then).results().comparison
    assert comparison is not None
    assert {reason: len(ids) for reason, ids in comparison.left_out.items()} == {why: count}
    assert len(comparison.left_out[why]) == count


@pytest.mark.parametrize("seed", range(8))
def test_a_worse_score_never_turns_a_gate_green(seed: int) -> None:
    gates = "tcr >= 0.8; p >= 3; pass^1 >= 0.5; drop(p) <= 0.9; valid >= 0.9"
    before, worse = (items(20, below(seed, 0, 1), below(seed + n, 2, 4)) for n in (0, 3))
    first, then = (Case(now, gates, {}, items(20)).results().gates for now in (before, worse))
    assert [gate.name for gate in first] == [gate.name for gate in then]
    for one, other in zip(first, then, strict=True):
        assert one.passed or not other.passed, (one, other)
    unscored = Case(items(20, told=failed("assistant", 3 + seed)), gates, {}, items(20)).results().gates
    assert not any(gate.passed for gate in unscored if gate.kind in ("floor", "valid"))
