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
            return ("no idea", other, truth, truth, truth)[digest % 5]
        return "many" if digest % 6 == 0 else str(truth + digest % 40 - 20)
    return reply
"""


@pytest.fixture
def threads(empty_repo: Repository, page: Page) -> Repository:
    """A run in both settings, whose page is open."""
    empty_repo.write(conftest=CONFTEST)
    empty_repo.inline(*RUN, *REPORTS, *BOTH)
    page.open(empty_repo.path / "report.html")
    return empty_repo


def answers(results: dict[str, Any], kind: str, control: str = "") -> list[dict[str, Any]]:
    found = [i["evaluation"] for i in results["items"] if i["arm"] == control]
    return [e["answer"] for e in found if e["kind"] == kind and e["answer"]]


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-0.00", "+0.00").replace("-", "\N{MINUS SIGN}")


@pytest.mark.slow
def test_a_kind_has_its_figures_in_every_setting(page: Page, threads: Repository) -> None:
    results = threads.results()
    rows = "[...e.rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
    tables = dict(page.each("table", f"[e.caption ? e.caption.textContent.split(':')[0] : '', {rows}]"))
    head, row, *more = tables["sentiment"]
    assert head[1:] == ["P-Conv", "NP-Conv", "lift"]
    assert [one[0] for one in (row, *more)] == ["accuracy", "F1", "weighted F1", "MCC"]
    own, control = results["overall"]["figures"]["correct"], results["arms"][0]
    assert row[1].split()[0] == f"{own['value']:.2f}"
    assert f"{own['low']:.2f} to {own['high']:.2f}" in row[1]
    assert row[2].split()[0] == f"{control['overall']['figures']['correct']['value']:.2f}"
    (paired,) = [one for one in control["lift"] if one["dimension"] == "correct"]
    p = f"= {paired['p']:.3f}" if paired["p"] >= 0.001 else "< 0.001"
    assert row[3].startswith(f"{signed(paired['change'])} (p {p})")
    assert "log error (lower is better)" in [row[0] for row in tables["impact"]]


@pytest.mark.slow
def test_an_item_shows_its_request_and_whose_past_it_had(page: Page, threads: Repository) -> None:
    results = threads.results()
    read = next(a for a in answers(results, "sentiment") if a["read"])
    rows = page.texts("#rows tbody th .about")
    assert any(re.fullmatch(rf"read as {read['value']}; true: \w+", row) for row in rows)
    page.open(threads.path / "report.html", width=390)
    cells = page.each("#rows tbody td[data-label]", "[e.getClientRects().length, e.dataset.label]")
    shown = [label for rectangles, label in cells if rectangles]
    assert set(shown) == {"correct", "log error"}, "no reading of another kind has room on a phone"
    assert len(shown) == len(page.texts("#rows tbody tr"))
    page.open(threads.path / "report.html")
    for control, whose, other in (
        ("", "this user's", "control: NP-Conv"),
        ("np-conv", "a stranger's", "P-Conv, the run itself"),
    ):
        of_control = (i for i in results["items"] if i["arm"] == control)
        item = next(i for i in of_control if i["evaluation"]["kind"] == "sentiment")
        page.go(address(item["nodeid"]))
        truth = item["evaluation"]["answer"]["truth"]
        reply = item["evaluation"]["dialogue"]["messages"][1]["content"]
        assert page.texts(".assistant .bubble") == [reply, truth]
        assert page.texts(".speaker") == ["Request", "Reply", "Truth"]
        beside = dict(zip(page.texts(".beside dt"), page.texts(".beside dd"), strict=True))
        assert beside["truth"] == truth
        assert beside["the assistant had"] == f"{whose} past, and the conversation"
        assert page.texts(".others a") == [other]


def test_items_are_found_by_setting_kind_domain_and_answer(page: Page, threads: Repository) -> None:
    results = threads.results()
    assert {"control", "kind", "domain", "answer"} <= {*page.each("#filters select", "e.name")}
    wrong = [a for a in answers(results, "sentiment", "np-conv") if a["read"] and a["value"] != a["truth"]]
    page.go("#control=np-conv&kind=sentiment&answer=wrong")
    assert page.text("#count") == f"{len(wrong)} of {len(results['items'])} predictions"


@pytest.mark.slow
def test_axe_finds_no_serious_fault_in_kinds_and_requests(page: Page, threads: Repository) -> None:
    axe = axe_source()
    for width, dark, opened in product((1280, 390), (False, True), (False, True)):
        page.open(threads.path / "report.html", width=width, dark=dark)
        if opened:
            page.click("#rows tbody a")
        page.unfold()
        assert page.faults(axe) == [], (width, dark, opened)
        assert page.js("return document.documentElement.scrollWidth <= innerWidth")
