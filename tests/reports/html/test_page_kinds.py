"""The page of a suite whose kinds have measures of their own: settings, and items by setting and answer."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from tests.support.browser import Page, address, axe_source
from tests.support.repository import Repository

RUN = ("--personalens-suite=personaconv", "--personalens-sample=18", "--personalens-kind=sentiment,impact")
BOTH = ("--personalens-control", "NP-Conv", "--personalens-gate", "valid >= 50%")
REPORTS = ("--personalens-report", "results.json", "--personalens-report", "report.html")
#: Knows the truth, and errs by a digest of the request; says no number to every sixth request for one.
CONFTEST = """
import hashlib
import pytest

@pytest.fixture
def personalens_assistant(personalens_scenario, personalens_context):
    def reply(messages):
        digest = int(hashlib.sha256(messages[0]["content"].encode()).hexdigest(), 16)
        truth = personalens_scenario.truth
        if personalens_scenario.kind == "sentiment":
            other = {"positive": "negative", "negative": "positive"}[truth]
            return "no idea" if digest % 5 == 0 else other if digest % 5 == 1 else truth
        return "many" if digest % 6 == 0 else str(truth + digest % 40 - 20)
    return reply
"""


@pytest.fixture
def threads(empty_repo: Repository) -> Repository:
    """A run in both settings, with its page."""
    empty_repo.write(conftest=CONFTEST)
    empty_repo.inline(*RUN, *REPORTS, *BOTH)
    return empty_repo


def answers(results: dict[str, Any], kind: str, control: str = "") -> list[dict[str, Any]]:
    found = [i["evaluation"] for i in results["items"] if i["arm"] == control]
    return [e["answer"] for e in found if e["kind"] == kind and e["answer"]]


def figure(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.2f}"


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-0.00", "+0.00").replace("-", "\N{MINUS SIGN}")


@pytest.mark.slow
def test_a_kind_has_its_figures_in_every_setting(page: Page, threads: Repository) -> None:
    results = threads.results()
    page.open(threads.path / "report.html")
    rows = "[...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
    caption = "table.caption ? table.caption.textContent.split(':')[0] : ''"
    tables = dict(
        page.js(f"return [...document.querySelectorAll('table')].map((table) => [{caption}, {rows}])")
    )
    table = tables["sentiment"]
    assert table[0][1:] == ["P-Conv", "NP-Conv", "lift"]
    own, control = results["overall"]["figures"], results["arms"][0]
    assert [row[0] for row in table[1:]] == ["accuracy", "F1", "weighted F1", "MCC"]
    row = table[1]
    found, strange = own["correct"], control["overall"]["figures"]["correct"]
    assert row[1].split()[0] == figure(found["value"])
    assert f"{found['low']:.2f} to {found['high']:.2f}" in row[1]
    assert row[2].split()[0] == figure(strange["value"])
    (paired,) = [one for one in control["lift"] if one["dimension"] == "correct"]
    p = f"= {paired['p']:.3f}" if paired["p"] >= 0.001 else "< 0.001"
    assert row[3].startswith(f"{signed(paired['change'])} (p {p})")
    assert "log error (lower is better)" in [row[0] for row in tables["impact"]]


@pytest.mark.slow
def test_an_item_shows_its_request_and_whose_past_it_had(page: Page, threads: Repository) -> None:
    results = threads.results()
    page.open(threads.path / "report.html")
    read = next(a for a in answers(results, "sentiment") if a["read"])
    rows = page.texts("#rows tbody th .about")
    assert any(re.fullmatch(rf"read as {read['value']}; true: \w+", row) for row in rows)
    page.open(threads.path / "report.html", width=390)
    shown = "return [...document.querySelectorAll('#rows tbody td[data-label]')].filter((e) => e.getClientRects().length).map((e) => e.dataset.label)"
    assert set(page.js(shown)) == {"correct", "log error"}, "no reading of another kind has room on a phone"
    assert len(page.js(shown)) == len(page.texts("#rows tbody tr"))
    page.open(threads.path / "report.html")
    for control, had in (
        ("", "this user's past, and the conversation"),
        ("np-conv", "a stranger's past, and the conversation"),
    ):
        item = next(
            i for i in results["items"] if i["arm"] == control and i["evaluation"]["kind"] == "sentiment"
        )
        page.go(address(item["nodeid"]))
        reply = item["evaluation"]["dialogue"]["messages"][1]["content"]
        truth = item["evaluation"]["answer"]["truth"]
        assert page.texts(".assistant .bubble") == [reply, truth]
        assert page.texts(".speaker") == ["Request", "Reply", "Truth"]
        beside = dict(zip(page.texts(".beside dt"), page.texts(".beside dd"), strict=True))
        assert beside["truth"] == truth
        assert beside["the assistant had"] == had
        other = {"": "control: NP-Conv", "np-conv": "P-Conv, the run itself"}[control]
        assert page.texts(".others a") == [other]
    assert page.console() == []


def test_items_are_found_by_setting_kind_domain_and_answer(page: Page, threads: Repository) -> None:
    results = threads.results()
    page.open(threads.path / "report.html")
    names = page.js("return [...document.querySelectorAll('#filters select')].map((s) => s.name)")
    assert {"control", "kind", "domain", "answer"} <= set(names)
    wrong = [a for a in answers(results, "sentiment", "np-conv") if a["read"] and a["value"] != a["truth"]]
    page.go("#control=np-conv&kind=sentiment&answer=wrong")
    assert page.text("#count") == f"{len(wrong)} of {len(results['items'])} predictions"


@pytest.mark.slow
def test_axe_finds_no_serious_fault_in_kinds_and_requests(page: Page, threads: Repository) -> None:
    axe = axe_source()
    for width, dark, opened in product((1280, 390), (False, True), (False, True)):
        page.open(threads.path / "report.html", width=width, dark=dark)
        if opened:
            page.js("document.querySelector('#rows tbody a').click()")
            page.settle()
        page.unfold()
        assert page.faults(axe) == [], (width, dark, opened)
        assert page.js("return document.documentElement.scrollWidth <= innerWidth")
