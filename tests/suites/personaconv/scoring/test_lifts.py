"""The p beside every lift: that of all swaps counted one by one, in tables and gates alike."""

from __future__ import annotations

import math
import random
import re
import statistics
from collections.abc import Sequence
from fractions import Fraction
from html import unescape
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.judging.evaluation import Evaluation
from pytest_personalens.core.judging.measure import Metric
from pytest_personalens.core.suite import get_suite
from pytest_personalens.results.comparison.pairs import gain_of
from pytest_personalens.results.values.item import Item
from tests.suites.personaconv.arguments import BOT, CONTROL, GATE, REPORT, SCORES, SUITE, gates, reports
from tests.support.repository import Repository

METRICS = {metric.name: metric for metric in get_suite("personaconv").metrics}
#: User, truth, and the answers of the control and of the run itself.
CLASSES = ("positive", "negative")
LABEL = st.sampled_from(CLASSES)
SENTIMENT = st.lists(st.tuples(st.sampled_from("abcdef"), LABEL, LABEL, LABEL), min_size=1, max_size=12)
NUMBER = st.one_of(st.integers(-900, 5_000), st.decimals(-90, 90, places=1).map(float))
IMPACT = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(-20, 900), NUMBER, NUMBER), min_size=1, max_size=9
)
Answers = Sequence[tuple[str, Any, Any, Any]]


def on_lists(name: str, truths: Sequence[Any], values: Sequence[Any]) -> float | None:
    """The figure on plain lists, by its definition."""
    if name in ("rmse", "mae", "skill"):
        exact = [Fraction(str(truth)) for truth in truths]
        errors = [abs(Fraction(str(value)) - truth) for value, truth in zip(values, exact, strict=True)]
        if name == "rmse":
            return math.sqrt(sum(error**2 for error in errors) / len(errors))
        others = [exact[:n] + exact[n + 1 :] or exact for n in range(len(exact))]
        plain = sum(abs(truth - statistics.median(of)) for truth, of in zip(exact, others, strict=True))
        if name == "mae":
            return float(sum(errors) / len(errors))
        return 1 - float(sum(errors) / plain) if plain else None
    pairs = list(zip(truths, values, strict=True))
    tp, fn, fp, tn = (pairs.count((truth, value)) for truth in CLASSES for value in CLASSES)
    of_positive, of_negative = (2 * n / (2 * n + fn + fp) if n else 0.0 for n in (tp, tn))
    if name == "f1":
        return of_positive
    if name == "f1-weighted":
        return (of_positive * (tp + fn) + of_negative * (tn + fp)) / len(pairs)
    root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return None if len(set(truths)) == 1 else (tp * tn - fp * fn) / root if root else 0.0


def item(number: int, user: str, kind: str, truth: Any, value: Any, control: str) -> Item:
    told = Evaluation(
        scenario=f"{kind}-{number}-{user}", user=user, task=f"{kind}-{number}", kind=kind, domains=("Art",),
        dataset="d 1", user_agent="asker", judge="scorer", dialogue=Dialogue(messages=(), end="user"),
        answer=Answer(read=True, value=value, truth=truth),
    )  # fmt: skip
    return Item(nodeid=f"t.py::test[{number}{control}]", evaluation=told, status="passed", control=control)


def found(metric: Metric, kind: str, answers: Answers) -> tuple[float | None, float | None]:
    sides = [
        [item(n, user, kind, truth, said[side], control) for n, (user, truth, *said) in enumerate(answers)]
        for side, control in enumerate(("np-conv", ""))
    ]
    gain = gain_of(metric, *sides)
    return (None, None) if gain is None else (gain.value, gain.p)


def one_by_one(name: str, answers: Answers) -> tuple[float | None, float | None]:
    """The gain, and the share of all ways to swap users that gain as much, each way on its own."""
    users = sorted({user for user, *_ in answers})
    sign = 1 if METRICS[name].better == "high" else -1

    def gain(swapped: set[str]) -> float | None:
        pairs = [said[::-1] if user in swapped else said for user, _, *said in answers]
        truths = [truth for _, truth, *_ in answers]
        before, after = (on_lists(name, truths, [pair[side] for pair in pairs]) for side in (0, 1))
        return None if before is None or after is None else sign * (after - before)

    seen = gain(set())
    if seen is None:
        return None, None
    ways = [
        gain({user for user, swap in zip(users, swaps, strict=True) if swap})
        for swaps in product((0, 1), repeat=len(users))
    ]
    near = 1e-9
    return seen, sum(way is not None and way >= seen - near for way in ways) / len(ways)


def same(ours: tuple[float | None, float | None], counted: tuple[float | None, float | None]) -> bool:
    if counted[0] is None or ours[0] is None:
        return ours == counted
    return math.isclose(ours[0], counted[0], rel_tol=1e-9, abs_tol=1e-9) and math.isclose(
        ours[1] or 0, counted[1] or 0
    )


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(SENTIMENT, st.sampled_from(["f1", "f1-weighted", "mcc"]))
def test_of_classes_all_ways_are_counted(answers: Answers, name: str) -> None:
    assert same(found(METRICS[name], "sentiment", answers), one_by_one(name, answers))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(IMPACT, st.sampled_from(["rmse", "mae", "skill"]))
def test_of_errors_all_ways_are_counted(answers: Answers, name: str) -> None:
    assert same(found(METRICS[name], "impact", answers), one_by_one(name, answers))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "mcc", "rmse", "skill"])
def test_an_interval_begins_above_zero_exactly_if_its_p_is_small(name: str) -> None:
    chance, small = random.Random(name), 0
    for _ in range(40):
        answers: list[tuple[str, Any, Any, Any]] = []
        for user in map(str, range(16)):
            if name in ("f1", "mcc"):
                truth = chance.choice(CLASSES)
                answers.append((user, truth, chance.choice(CLASSES), chance.choice((truth, *CLASSES))))
            else:
                number = chance.randrange(100)
                answers.append((user, number, chance.randrange(100), (number + chance.randrange(200)) // 3))
        kind = "sentiment" if name in ("f1", "mcc") else "impact"
        sides = (
            [
                item(n, user, kind, truth, said[side], control)
                for n, (user, truth, *said) in enumerate(answers)
            ]
            for side, control in enumerate(("np-conv", ""))
        )
        gain = gain_of(METRICS[name], *sides)
        assert gain is not None
        assert gain.low is not None
        assert (gain.low > 0) == (gain.p <= 0.025)
        small += gain.p <= 0.025
    assert 0 < small < 40


def test_numbers_too_large_for_a_square_have_an_error_and_a_p() -> None:
    answers = [(user, 1, 1e200, 1e308) for user in "abc"]
    value, p = found(METRICS["rmse"], "impact", answers)
    assert value == pytest.approx(-1e308)
    assert p == 1.0


@pytest.mark.slow
def test_every_lift_has_its_p_in_all_tables_and_in_its_gate(empty_repo: Repository) -> None:
    empty_repo.write(conftest=BOT)
    names = ("accuracy", "f1", "f1-weighted", "mcc", "rmse", "mae", "log-error", "skill")
    wanted = ", ".join(f"lift({name}, NP-Conv) >= -1" for name in names)
    controls = (CONTROL, "NP-Conv", GATE, wanted, "-v")
    result = empty_repo.inline(*SUITE, "24", *SCORES, *controls, *REPORT, *reports("s.md", "p.html"))
    assert all(gate["value"] > 0.01 for gate in gates(empty_repo).values()), (
        "the run is better, errors as well"
    )
    result.stdout.fnmatch_lines(
        [
            "sentiment: * items, * read * P-Conv    NP-Conv  lift",
            "  lower is better, but for skill; one reply of * carries *% of the squared error",
            "by domain (items) * acc *log error",
            "control NP-Conv: accuracy 0.*, with this user's context *: lift +0.*",
            "gate lift(rmse, NP-Conv): passed, lift of RMSE over the control NP-Conv * predictions*",
            "  post 1 of u_akira: without a past",
        ]
    )
    told = {
        name: re.search(r"one-sided p ([^;]+)", gates(empty_repo)[f"lift({name}, NP-Conv)"]["message"])[1]  # type: ignore[index]
        for name in names
    }
    labels = {name: METRICS[name].label for name in names}
    text, page = (
        unescape((empty_repo.path / name).read_text(encoding="utf-8")) for name in ("s.md", "p.html")
    )
    for name in names:
        row = re.search(rf"^  {labels[name]} .*\(p (.+)\)$", result.stdout.str(), re.MULTILINE)
        assert row is not None, name
        assert row[1] == told[name], name
        lift, named = rf"\(p {told[name]}\)", rf"{labels[name]}(?: \(lower is better\))?"
        assert re.search(rf"^\| {named} \|.*{lift} \|$", text, re.MULTILINE), name
        assert re.search(rf'<th scope="row">{named}</th>.*{lift} <span class="ci">', page), name
    assert len({told["f1"], told["rmse"], told["mae"]}) > 1
    assert told["skill"] == told["mae"], "the errors of the median are the same in both settings"
