"""The p beside every lift: that of all swaps counted one by one, in tables and gates alike."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from html import unescape
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.judging.evaluation import Evaluation
from pytest_personalens.results.comparison.pairs import Gain, gain_of
from pytest_personalens.results.values.item import Item
from tests.suites.personaconv.arguments import BOT, CONTROL, GATE, REPORT, SCORES, SUITE, gates, reports
from tests.suites.personaconv.scoring.test_figures import CLASSES, METRICS, figure
from tests.support.repository import Repository

LABEL = st.sampled_from(CLASSES)
NUMBER = st.one_of(st.integers(-900, 5_000), st.decimals(-90, 90, places=1).map(float))
USER = st.sampled_from("abcdef")
#: User, truth, and the answers of the control and of the run itself.
Answers = Sequence[tuple[str, Any, Any, Any]]
SENTIMENT = st.lists(st.tuples(USER, LABEL, LABEL, LABEL), min_size=1, max_size=12)
IMPACT = st.lists(st.tuples(USER, st.integers(-20, 900), NUMBER, NUMBER), min_size=1, max_size=9)


def found(name: str, answers: Answers) -> Gain | None:
    kind = "impact" if name in ("rmse", "mae", "skill") else "sentiment"

    def item(number: int, user: str, truth: Any, value: Any, control: str) -> Item:
        told = Evaluation(
            scenario=f"{kind}-{number}-{user}", user=user, task=f"{kind}-{number}", kind=kind, domains=("Art",),
            dataset="d 1", user_agent="asker", judge="scorer", dialogue=Dialogue(messages=(), end="user"),
            answer=Answer(read=True, value=value, truth=truth),
        )  # fmt: skip
        return Item(
            nodeid=f"t.py::test[{number}{control}]", evaluation=told, status="passed", control=control
        )

    sides = (
        [item(n, user, truth, said[side], control) for n, (user, truth, *said) in enumerate(answers)]
        for side, control in enumerate(("np-conv", ""))
    )
    return gain_of(METRICS[name], *sides)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.one_of(st.tuples(SENTIMENT, st.sampled_from(["f1", "f1-weighted", "mcc"])), st.tuples(IMPACT, st.sampled_from(["rmse", "mae", "skill"]))))  # fmt: skip
def test_all_ways_to_swap_users_are_counted(case: tuple[Answers, str]) -> None:
    """The p is the share of the ways that gain as much, each way on its own."""
    answers, name = case
    users, sign = sorted({user for user, *_ in answers}), 1 if METRICS[name].better == "high" else -1

    def gain(*swapped: bool) -> float | None:
        pairs = [said[::-1] if swapped[users.index(user)] else said for user, _, *said in answers]
        truths = [truth for _, truth, *_ in answers]
        before, after = (figure(name, truths, [pair[side] for pair in pairs]) for side in (0, 1))
        return None if before is None or after is None else sign * (after - before)

    ours, seen = found(name, answers), gain(*[False] * len(users))
    assert (ours is None) == (seen is None)
    if ours is not None and seen is not None:
        assert ours.value == pytest.approx(seen, rel=1e-9, abs=1e-9)
        ways = [gain(*way) for way in product((False, True), repeat=len(users))]
        as_much = sum(way is not None and way >= seen - 1e-9 for way in ways)
        assert ours.p == pytest.approx(as_much / len(ways))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "mcc", "rmse", "skill"])
def test_an_interval_begins_above_zero_exactly_if_its_p_is_small(name: str) -> None:
    chance, small = random.Random(name), 0
    for _ in range(40):
        answers: list[tuple[str, Any, Any, Any]] = []
        for user in map(str, range(16)):
            if name in ("f1", "mcc"):
                truth: Any = chance.choice(CLASSES)
                answers.append((user, truth, chance.choice(CLASSES), chance.choice((truth, *CLASSES))))
            else:
                truth = chance.randrange(100)
                answers.append((user, truth, chance.randrange(100), (truth + chance.randrange(200)) // 3))
        gain = found(name, answers)
        assert gain is not None
        assert gain.low is not None
        assert (gain.low > 0) == (gain.p <= 0.025)
        small += gain.p <= 0.025
    assert 0 < small < 40


def test_numbers_too_large_for_a_square_have_an_error_and_a_p() -> None:
    gain = found("rmse", [(user, 1, 1e200, 1e308) for user in "abc"])
    assert gain is not None
    assert gain.value == pytest.approx(-1e308)
    assert gain.p == 1.0


@pytest.mark.slow
def test_every_lift_has_its_p_in_all_tables_and_in_its_gate(empty_repo: Repository) -> None:
    empty_repo.write(conftest=BOT)
    names = ("accuracy", "f1", "f1-weighted", "mcc", "rmse", "mae", "log-error", "skill")
    controls = (CONTROL, "NP-Conv", GATE, ", ".join(f"lift({name}, NP-Conv) >= -1" for name in names), "-v")
    result = empty_repo.inline(*SUITE, "24", *SCORES, *controls, *REPORT, *reports("s.md", "p.html"))
    decided = gates(empty_repo)
    assert all(gate["value"] > 0.01 for gate in decided.values()), "the run is better, errors as well"
    result.stdout.fnmatch_lines([
        "sentiment: * items, * read * P-Conv    NP-Conv  lift",
        "  lower is better, but for skill; one reply of * carries *% of the squared error",
        "by domain (items) * acc *log error",
        "control NP-Conv: accuracy 0.*, with this user's context *: lift +0.*",
        "gate lift(rmse, NP-Conv): passed, lift of RMSE over the control NP-Conv * predictions*",
        "  post 1 of u_akira: without a past",
    ])  # fmt: skip
    text, page = (
        unescape((empty_repo.path / file).read_text(encoding="utf-8")) for file in ("s.md", "p.html")
    )
    told = {}
    for name in names:
        label = METRICS[name].label
        (told[name],) = re.findall(r"one-sided p ([^;]+)", decided[f"lift({name}, NP-Conv)"]["message"])
        assert re.findall(rf"^  {label} .*\(p (.+)\)$", result.stdout.str(), re.MULTILINE) == [told[name]]
        lift, named = rf"\(p {told[name]}\)", rf"{label}(?: \(lower is better\))?"
        assert re.search(rf"^\| {named} \|.*{lift} \|$", text, re.MULTILINE), name
        assert re.search(rf'<th scope="row">{named}</th>.*{lift} <span class="ci">', page), name
    assert len({told["f1"], told["rmse"], told["mae"]}) > 1
    assert told["skill"] == told["mae"], "the errors of the median are the same in both settings"
