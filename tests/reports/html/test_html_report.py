"""The HTML report: one file that opens anywhere, tells the truth, and lets nothing that a model said act."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import zlib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.reports.html.page import html_page, write_html
from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.results import Results
from tests.support.browser import Page, address, axe_source
from tests.support.repository import ROOT
from tests.support.results.rich_results import HOSTILE, rich_results


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of its scripts and style."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in ("script", "style") and data.strip():
            self.raw.append((self.tags[-1][0], data))


@pytest.fixture(scope="module")
def everything() -> Results:
    """Trials, controls, a comparison, and text that means harm."""
    return rich_results(40, trials=2, controls=("none", "swapped"), compared=True, hostile=True)


@pytest.fixture(scope="module")
def file(everything: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("html") / "report.html"
    write_html(everything, path)
    return path


@pytest.fixture(scope="module")
def elements(file: Path) -> Elements:
    return Elements(file.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_equal_results_give_equal_pages() -> None:
    results = "rich_results(30, trials=2, controls=('none',), compared=True)"
    code = f"""if True:
        import hashlib
        from pytest_personalens.reports.html.page import html_page
        from tests.support.results.rich_results import rich_results
        print(hashlib.sha256(''.join(html_page({results})).encode()).hexdigest())"""
    command = [sys.executable, "-c", code]
    environments = ({"PYTHONHASHSEED": seed} for seed in "12")
    first, second = (subprocess.check_output(command, cwd=ROOT, env=one) for one in environments)
    assert first == second


_ASKS = {"src", "srcset", "action", "data", "poster", "style", "background", "formaction", "xlink:href"}
_LOADS = {"link", "img", "iframe", "object", "embed", "audio", "video", "base", "image"}


def test_the_page_asks_nobody_and_allows_only_its_own_style_and_script(elements: Elements) -> None:
    for tag, attributes in elements.tags:
        asks = [name for name in attributes if name in _ASKS or name.startswith("on")]
        assert tag not in _LOADS and not asks, (tag, attributes)
        assert (attributes.get("href") or "#").startswith("#"), (tag, attributes)
    ids = [a["id"] for _, a in elements.tags if "id" in a]
    assert len(ids) == len(set(ids))
    style, data, _, script = (text for _, text in elements.raw)
    assert "url(" not in style
    assert "@import" not in style
    policy = next(a["content"] or "" for t, a in elements.tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for text in (style, script):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert json.loads(data)["items"]
    assert [t for t, _ in elements.tags].count("script") == 3


def test_what_was_said_arrives_as_it_was_said(everything: Results, elements: Elements) -> None:
    packed = next(text for tag, text in elements.raw if tag == "script" and not text.startswith("{"))
    dialogues = json.loads(zlib.decompress(base64.b64decode(packed)))
    for item, fields in zip(everything.items, dialogues["items"], strict=True):
        said = [dialogues["texts"][number] for _, number in fields["messages"]]
        assert said == [m.content for m in item.evaluation.dialogue.messages]


OF_SHARD: dict[str, Any] = {"settings": {"shard": (3, 10)}, "gates": ()}


@pytest.mark.parametrize(
    ("count", "how", "update", "word", "line", "why"),
    [
        (8, {}, {}, "Passed", "passed: 3 gates", "All 3 gates passed."),
        (8, {"floor": 4}, {}, "Failed", "FAILED: P ", "Personalization is "),
        (8, {}, {"gates": ()}, "Passed", "passed: no item failed; there was no gate", "No test failed; the run had no gate."),
        (8, {}, {"complete": False, "gates": ()}, "Incomplete", "not decided: a part of the run only", "A part of the run only: it was stopped"),
        (8, {}, {"lost": ("test_x",)}, "Failed", "FAILED: 1 item", "1 tests were lost with their workers"),
        (40, {}, {}, "Failed", "FAILED: ", "1 of 40 tests failed"),
        (8, {}, OF_SHARD, "Shard 3 of 10", "not decided: shard 3/10, whose gates are decided over all shards", "decided over all shards"),
        (0, {}, {"gates": ()}, "Not decided", "not decided: no dialogue could be scored", "No dialogue could be scored."),
        (5, {"invalid": True}, {}, "Failed", "FAILED: ", "5 of 5 tests failed"),
    ],
    ids=("passed", "gate", "no gate", "stopped", "lost", "failed", "shard", "empty", "invalid"),
)  # fmt: skip
def test_every_end_of_a_run_is_told(
    count: int, how: dict[str, Any], update: dict[str, Any], word: str, line: str, why: str
) -> None:
    results = rich_results(count, **how).model_copy(update=update)
    page = "".join(html_page(results))
    assert re.search(rf"</span> {word}</h1>", page)
    assert why in page
    assert f" personalens {line}" in markdown_report(results).partition("\n")[0]


def test_hostile_names_are_written_out() -> None:
    gate = Gate(name=HOSTILE[0], value=1.0, limit=2.0, passed=False, message=HOSTILE[1] + "\u202e")
    results = rich_results(3).model_copy(update={"gates": (gate,), "dataset": HOSTILE[2]})
    page = "".join(html_page(results, title=HOSTILE[4]))
    assert HOSTILE[0] not in page
    assert "\u202e" not in page
    assert [t for t, _ in Elements(page).tags].count("script") == 3


@pytest.mark.slow
def test_nothing_hostile_acts_and_nobody_is_asked(page: Page, file: Path, everything: Results) -> None:
    page.open(file)
    for number in range(0, len(everything.items), 7):
        page.go(address(everything.items[number].nodeid))
        page.unfold()
        page.each(".more", "e.click()")
    page.go("")
    page.keys("/", "pwned")
    made = "document.querySelector('img, iframe, body svg script, #dialogue svg')"
    assert page.js(f"return window.pwned === undefined && !{made}")
    assert page.requests() == {file.as_uri()}


@pytest.mark.slow
def test_search_and_filters(page: Page, file: Path) -> None:
    page.open(file)
    every = "80 of 160 dialogues in 40 rows"
    assert page.text("#count") == every
    page.keys("/", "user3 BELOW")
    assert page.focus() == "q"
    assert page.texts("#rows tbody tr") == []
    assert page.text("#none").startswith("No dialogue fits this search and these filters.")
    page.click("#clear")
    assert (page.text("#count"), page.focus(), page.text("#none")) == (every, "q", "")
    page.keys("user3 BELOW", *["\ue003"] * 6)
    assert {t.split("user")[1][0] for t in page.texts("#rows tbody th > a")} == {"3"}
    page.keys("\ue00c")
    assert page.text("#count") == every
    control = "const s = document.querySelector('[name=control]')"
    page.js(f"{control}; s.value = 'none'; s.dispatchEvent(new Event('change'))")
    assert page.text("#count") == "40 of 160 dialogues"
    assert page.js("return location.hash") == "#control=none"
    page.go("#status=uncounted&control=all")
    assert set(page.texts("#rows tbody td:first-child")) == {"\N{EN DASH} not scored"}
    page.click("[data-sort=scenario]")
    names = page.texts("#rows tbody th > a")
    assert names == sorted(names)


@pytest.mark.slow
def test_a_transcript_by_keyboard(page: Page, file: Path) -> None:
    page.open(file)
    page.keys("j", "j")
    second = page.focus()
    page.keys("\ue007")
    assert page.text("#dialogue h1").startswith(second)
    assert page.focus() == "dialogue-head"
    assert page.js("return document.getElementById('report').hidden")
    address = page.js("return location.hash")
    page.keys("j")
    third = page.text("#dialogue h1")
    page.keys("k")
    assert page.js("return location.hash") == address
    page.keys("j", "\ue00c")
    assert third.startswith(page.focus())
    assert page.js("return document.getElementById('dialogue').hidden && location.hash === ''")


def test_a_link_opens_its_transcript_with_its_evidence(page: Page, file: Path, everything: Results) -> None:
    noted = (i for i in everything.items if not i.control and any(v.evidence for v in i.evaluation.verdicts))
    item = next(noted)
    page.open(file, address(item.nodeid))
    assert page.text("#dialogue h1").startswith(item.evaluation.scenario)
    assert len(page.texts(".chat > li")) == len(item.evaluation.dialogue.messages)
    for evidence in (one for verdict in item.evaluation.verdicts for one in verdict.evidence):
        assert any(evidence.note in note for note in page.texts(f"#turn-{evidence.turn} .why li"))
    assert page.texts("mark")
    beside = page.text(".profile")
    assert everything.scenarios[item.evaluation.scenario].task.goal in beside
    assert "known to the assistant" in beside


def test_failing_rows_stand_on_the_first_screen_under_a_large_headline(page: Page, file: Path) -> None:
    page.open(file, width=1400)
    size = "const size = (css) => parseFloat(getComputedStyle(document.querySelector(css)).fontSize)"
    sizes = page.js(f"{size}; return [size('.verdict .reasons li'), size('.tile .big')]")
    assert sizes[0] > sizes[1]
    assert page.js("return document.querySelector('#rows tbody tr').getBoundingClientRect().bottom") < 900
    folded = ".folded", "[e.closest('section').id, e.open]"
    assert page.each(*folded) == [["changes", False], ["figures", False]]
    page.go("#changes")
    assert page.each(*folded) == [["changes", True], ["figures", False]]


@pytest.mark.slow
def test_tabs_count_what_stands_behind_them(page: Page, tmp_path: Path) -> None:
    page.show(results := rich_results(40, trials=2), tmp_path)
    keys = {status: {i.key for i in results.items if i.status == status} for status in ("passed", "low")}
    expected: dict[str, int] = dict(Counter(i.status for i in results.items))
    expected["failed"] = sum(i.failed for i in results.items)
    expected["flaky"] = 2 * len(keys["passed"] & keys["low"])
    tabs = page.each("#tabs button", "e.dataset.status")
    assert tabs == ["", "low", "passed", "uncounted", "failed", "flaky"]
    for tab in tabs[1:]:
        page.click(f"#tabs [data-status={tab}]")
        assert page.text("#count").startswith(f"{expected[tab]} of 80 dialogues"), tab
        assert page.text("#tabs [aria-pressed=true] b") == str(expected[tab])
        assert page.js("return location.hash") == f"#status={tab}"


def test_flips_lead_to_their_transcripts_and_a_strange_address_says_so(page: Page, file: Path) -> None:
    page.open(file)
    page.unfold()
    name = page.text(".flips a")
    page.click(".flips a")
    assert page.text("#dialogue h1").startswith(name)
    assert "before," in page.text(".readings")
    page.open(file, "#item=test_x.py::test_gone")
    assert page.text("#missing") == "The dialogue that this address names is not in this report."
    assert page.text("h1").endswith("Failed")


@pytest.mark.slow
def test_long_and_unseen_text(page: Page, tmp_path: Path) -> None:
    results = rich_results(12, hostile=True)
    of = {i.evaluation.user: i for i in results.items}
    page.show(results, tmp_path, address(of["user0"].nodeid))
    words = of["user0"].evaluation.dialogue.messages[1].content
    assert len(words) > 99_000
    assert page.text(".more") == f"Show all {len(words):,} characters"
    page.click(".more")
    assert page.texts("#turn-1 .bubble") == [words]
    page.go(address(of["user3"].nodeid))
    assert {"U+202E", "U+200B", "U+0000", "U+001B"} <= set(page.texts("#turn-0 .hidden-char"))
    assert page.js("return document.documentElement.scrollWidth <= innerWidth")


#: Links within a sentence are as high as its line (WCAG 2.5.8); all here that stand alone are not.
LINKS = "a[href], button, input, select, summary"
SIZE = "e.closest('.skip') ? [] : [e.outerHTML.slice(0, 90), ...[e.getBoundingClientRect()].flatMap((r) => [r.width, r.height])]"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("opened", [False, True], ids=["report", "transcript"])
def test_axe_finds_no_serious_fault_and_a_finger_every_link(
    page: Page, file: Path, everything: Results, width: int, dark: bool, opened: bool
) -> None:
    axe = axe_source()
    parted = next(i for i in everything.items if i.earlier is not None and i.earlier.messages)
    page.open(file, address(parted.nodeid) if opened else "", width=width, dark=dark)
    page.unfold()
    assert page.faults(axe) == []
    assert page.js("return document.documentElement.scrollWidth <= innerWidth")
    assert [
        link for link in page.each(LINKS, SIZE) if link[1:] != [0, 0] and min(link[1:], default=24) < 23.9
    ] == []


def test_a_phone_shows_verdicts_first_and_whole_reasons(page: Page, file: Path, everything: Results) -> None:
    cut = "e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth"
    for width in (800, 390):
        page.open(file, width=width)
        assert not any(page.each(".bar .name, .bar nav, .bar nav a", cut)), "every link is seen"
    assert page.js("return document.querySelector('#rows .about').getBoundingClientRect().width") > 300
    assert not page.js("return document.getElementById('more-filters').open")
    page.go(address(everything.items[4].nodeid))
    shown = [
        page.each(css, "e.getBoundingClientRect().top")[0]
        for css in (".top .copy", ".verdicts", ".said", ".profile")
    ]
    assert shown == sorted(shown)
    assert set(page.each(".beside", "getComputedStyle(e).overflowY")) == {"visible"}


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 5], ids=["empty", "invalid"])
def test_a_run_without_scores_is_a_page_too(page: Page, tmp_path: Path, count: int) -> None:
    page.show(rich_results(count, invalid=True, profiles=False), tmp_path)
    assert page.text("h1").endswith("Failed")
    assert page.faults(axe_source()) == []
    if count:
        page.click("#rows tbody a")
        assert "These results hold no profile of this user." in page.text(".profile")


@pytest.mark.slow
def test_what_counts_dialogues_leads_to_just_those(page: Page, tmp_path: Path) -> None:
    page.show(results := rich_results(200, controls=("none",)), tmp_path)
    causes = {i.evaluation.cause for i in results.own if i.evaluation.cause}
    assert len(causes) > 1, "one cause alone would be all that is not scored"
    linked = page.each(".reasons a, .notes a", "[e.textContent, e.getAttribute('href')]")
    assert {f"#cause={cause}" for cause in causes} <= {href for _, href in linked}
    for told, href in linked:
        page.go(href)
        number = next(int(n) for n in re.findall(r"\d+", told))
        assert page.text("#count") == f"{number} of {len(results.items)} dialogues", told


def test_paper_has_the_title_and_nothing_to_click(page: Page, file: Path) -> None:
    page.open(file)
    page.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert page.each(".bar .name, .bar nav", "e.getClientRects().length > 0") == [True, False]
    assert page.text(".bar .name") == "Personalization report"
    assert "open" not in page.text("#reasons h2")
    page.js("dispatchEvent(new Event('beforeprint'))")
    assert all(page.each(".folded", "e.open")), "paper has it all"
    assert len(page.texts("#rows tbody tr")) > 10
    page.js("dispatchEvent(new Event('afterprint'))")
    assert not any(page.each(".folded", "e.open"))
    page.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
