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
from pytest_personalens.results.values.results import Results, write_json
from tests.support.browser import Page, axe_source
from tests.support.processes.commands import report as main
from tests.support.results.rich_results import HOSTILE, rich_results

ROOT = Path(__file__).resolve().parents[3]


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


def dialogues_in(page: str) -> Any:
    """What the page has packed: all that its table does not show."""
    text = next(text for tag, text in Elements(page).raw if tag == "script" and not text.startswith("{"))
    return json.loads(zlib.decompress(base64.b64decode(text)))


@pytest.fixture(scope="module")
def everything() -> Results:
    """Trials, controls, a comparison, and text that means harm."""
    return rich_results(40, trials=2, controls=("none", "swapped"), compared=True, hostile=True)


@pytest.fixture(scope="module")
def file(everything: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("html") / "report.html"
    write_html(everything, path)
    return path


@pytest.mark.slow
def test_equal_results_give_equal_pages() -> None:
    code = "import hashlib; from tests.support.results.rich_results import *; from pytest_personalens.reports.html.page import html_page; "
    code += "print(hashlib.sha256(''.join(html_page(rich_results(30, trials=2, controls=('none',), compared=True))).encode()).hexdigest())"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.slow
def test_the_page_asks_nobody_for_anything(file: Path) -> None:
    elements = Elements(file.read_text(encoding="utf-8"))
    for tag, attributes in elements.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "audio", "video", "base", "image"), tag
        for name in (
            "src",
            "srcset",
            "action",
            "data",
            "poster",
            "style",
            "background",
            "formaction",
            "xlink:href",
        ):
            assert name not in attributes, (tag, attributes)
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert (attributes.get("href") or "#").startswith("#"), (tag, attributes)
    style = "".join(text for tag, text in elements.raw if tag == "style")
    assert "url(" not in style
    assert "@import" not in style
    ids = [a["id"] for _, a in elements.tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_only_our_own_style_and_script_are_allowed(file: Path) -> None:
    elements = Elements(file.read_text(encoding="utf-8"))
    policy = next(
        a["content"] or ""
        for t, a in elements.tags
        if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    style, data, _, script = (text for _, text in elements.raw)
    for text in (style, script):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert json.loads(data)["items"]
    assert [t for t, _ in elements.tags].count("script") == 3


def test_what_was_said_arrives_as_it_was_said(everything: Results, file: Path) -> None:
    dialogues = dialogues_in(file.read_text(encoding="utf-8"))
    for item, fields in zip(everything.items, dialogues["items"], strict=True):
        said = [dialogues["texts"][number] for _, number in fields["messages"]]
        assert said == [m.content for m in item.evaluation.dialogue.messages]


@pytest.mark.parametrize(
    ("results", "word", "line", "why"),
    [
        (rich_results(8), "Passed", "passed: 3 gates", "All 3 gates passed."),
        (rich_results(8, floor=4), "Failed", "FAILED: P ", "Personalization is "),
        (rich_results(8).model_copy(update={"gates": ()}), "Passed", "passed: no item failed; there was no gate", "No test failed; the run had no gate."),
        (rich_results(8).model_copy(update={"complete": False, "gates": ()}), "Incomplete", "not decided: a part of the run only", "A part of the run only: it was stopped"),
        (rich_results(8).model_copy(update={"lost": ("test_x",)}), "Failed", "FAILED: 1 item", "1 tests were lost with their workers"),
        (rich_results(40), "Failed", "FAILED: ", "1 of 40 tests failed"),
        (rich_results(8).model_copy(update={"settings": {"shard": (3, 10)}, "gates": ()}), "Shard 3 of 10", "not decided: shard 3/10, whose gates are decided over all shards", "decided over all shards"),
        (rich_results(0).model_copy(update={"gates": ()}), "Not decided", "not decided: no dialogue could be scored", "No dialogue could be scored."),
        (rich_results(5, invalid=True), "Failed", "FAILED: ", "5 of 5 tests failed"),
    ],
    ids=("passed", "gate", "no gate", "stopped", "lost", "failed", "shard", "empty", "invalid"),
)  # fmt: skip
def test_every_end_of_a_run_is_told(results: Results, word: str, line: str, why: str) -> None:
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


def beside(now: Results, then: Results, folder: Path) -> str:
    """The page of a run beside one with another context, as the command makes it."""
    other = then.model_copy(update={"settings": {**then.settings, "context": "none"}, "gates": ()})
    write_json(now.model_copy(update={"gates": ()}), folder / "now.json")
    write_json(other, folder / "then.json")
    page = folder / "page.html"
    assert main([str(folder / "now.json"), str(folder / "then.json"), "--report", str(page)]) == 0
    return page.read_text(encoding="utf-8")


def test_earlier_results_stand_beside_and_nothing_is_claimed(tmp_path: Path) -> None:
    page = beside(rich_results(30, seed="now"), rich_results(26, seed="then"), tmp_path)
    text = page.partition('<section id="changes"')[2].partition("</section>")[0]
    assert "The changes are not tested: they may be chance." in text
    assert "significant" not in text
    assert re.search(r"\d+ not run then", text)
    assert "context was" in text
    same = beside(rich_results(30), rich_results(30), tmp_path)
    assert "scores changed" not in same


def link(results: Results, number: int) -> str:
    return "#item=" + results.items[number].nodeid.replace("[", "%5B").replace("]", "%5D")


@pytest.mark.slow
def test_nothing_hostile_acts_and_nobody_is_asked(page: Page, file: Path, everything: Results) -> None:
    page.open(file)
    for number in range(0, len(everything.items), 7):
        page.go(link(everything, number))
        page.js(
            "document.querySelectorAll('details').forEach((d) => { d.open = true; }); document.querySelectorAll('.more').forEach((b) => b.click())"
        )
    page.go("")
    page.keys("/", "pwned")
    assert page.js(
        "return window.pwned === undefined && !document.querySelector('img, iframe, body svg script, #dialogue svg')"
    )
    assert page.console() == []
    assert page.requests() == {file.as_uri()}


@pytest.mark.slow
def test_search_and_filters(page: Page, file: Path) -> None:
    page.open(file)
    assert page.text("#count") == "80 of 160 dialogues in 40 rows"
    page.keys("/", "user3 BELOW")
    assert page.focus() == "q"
    assert page.texts("#rows tbody tr") == []
    assert page.text("#none").startswith("No dialogue fits this search and these filters.")
    page.click("#clear")
    assert (page.text("#count"), page.focus(), page.text("#none")) == (
        "80 of 160 dialogues in 40 rows",
        "q",
        "",
    )
    page.keys("user3 BELOW")
    page.keys(*["\ue003"] * 6)
    assert {t.split("user")[1][0] for t in page.texts("#rows tbody th > a")} == {"3"}
    page.keys("\ue00c")
    assert page.text("#count") == "80 of 160 dialogues in 40 rows"
    page.js(
        "const s = document.querySelector('[name=control]'); s.value = 'none'; s.dispatchEvent(new Event('change'))"
    )
    assert page.text("#count") == "40 of 160 dialogues"
    assert page.js("return location.hash") == "#control=none"
    page.go("#status=uncounted&control=all")
    assert set(page.texts("#rows tbody td:first-child")) == {"\N{EN DASH} not scored"}
    page.click("[data-sort=scenario]")
    names = page.texts("#rows tbody th > a")
    assert names == sorted(names)
    assert page.console() == []


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
    assert page.console() == []


def test_a_link_opens_its_transcript_with_its_evidence(page: Page, file: Path, everything: Results) -> None:
    number = next(
        n
        for n, i in enumerate(everything.items)
        if not i.control and any(v.evidence for v in i.evaluation.verdicts)
    )
    item = everything.items[number]
    page.open(file, link(everything, number))
    assert page.text("#dialogue h1").startswith(item.evaluation.scenario)
    assert len(page.texts(".chat > li")) == len(item.evaluation.dialogue.messages)
    for verdict in item.evaluation.verdicts:
        for evidence in verdict.evidence:
            notes = page.texts(f"#turn-{evidence.turn} .why li")
            assert any(evidence.note in note for note in notes)
    assert page.texts("mark")
    beside = page.text(".profile")
    assert everything.scenarios[item.evaluation.scenario].task.goal in beside
    assert "known to the assistant" in beside
    assert page.console() == []


def test_failing_rows_stand_on_the_first_screen_under_a_headline_that_outweighs_the_numbers(
    page: Page, file: Path
) -> None:
    page.open(file, width=1400)
    row, sentence, number = page.js(
        "const size = (css) => parseFloat(getComputedStyle(document.querySelector(css)).fontSize);"
        " return [document.querySelector('#rows tbody tr').getBoundingClientRect().bottom,"
        " size('.verdict .reasons li'), size('.tile .big')]"
    )
    assert row < 900
    assert sentence > number
    folded = "return [...document.querySelectorAll('.folded')].map((d) => [d.closest('section').id, d.open])"
    assert page.js(folded) == [["changes", False], ["figures", False]]
    page.go("#changes")
    assert page.js(folded) == [["changes", True], ["figures", False]]


@pytest.mark.slow
def test_tabs_count_what_stands_behind_them(page: Page, tmp_path: Path) -> None:
    results = rich_results(40, trials=2)
    write_html(results, tmp_path / "r.html")
    page.open(tmp_path / "r.html")
    tabs = page.js("return [...document.querySelectorAll('#tabs button')].map((b) => b.dataset.status)")
    counts = Counter(i.status for i in results.items)
    mixed = {i.key for i in results.items if i.status == "passed"} & {
        i.key for i in results.items if i.status == "low"
    }
    assert tabs == ["", "low", "passed", "uncounted", "failed", "flaky"]
    expected: dict[str, int] = {
        **{str(k): v for k, v in counts.items()},
        "failed": sum(i.failed for i in results.items),
        "flaky": 2 * len(mixed),
    }
    for tab in tabs[1:]:
        page.click(f"#tabs [data-status={tab}]")
        assert page.text("#count").startswith(f"{expected[tab]} of 80 dialogues"), tab
        assert page.text("#tabs [aria-pressed=true] b") == str(expected[tab])
        assert page.js("return location.hash") == f"#status={tab}"


def test_an_address_of_another_report_says_so(page: Page, file: Path) -> None:
    page.open(file, "#item=test_x.py::test_gone")
    assert page.text("#missing") == "The dialogue that this address names is not in this report."
    assert page.text("h1").endswith("Failed")


@pytest.mark.slow
def test_flips_lead_to_their_transcripts(page: Page, file: Path, everything: Results) -> None:
    assert everything.comparison is not None
    page.open(file)
    page.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    name = page.text(".flips a")
    page.click(".flips a")
    assert page.text("#dialogue h1").startswith(name)
    assert "before," in page.text(".readings")


@pytest.mark.slow
def test_long_and_unseen_text(page: Page, tmp_path: Path) -> None:
    results = rich_results(12, hostile=True)
    write_html(results, tmp_path / "r.html")
    ids = {i.evaluation.user: n for n, i in enumerate(results.items)}
    page.open(tmp_path / "r.html", link(results, ids["user0"]))
    words = results.items[ids["user0"]].evaluation.dialogue.messages[1].content
    assert len(words) > 99_000
    assert page.text(".more") == f"Show all {len(words):,} characters"
    page.click(".more")
    assert page.texts("#turn-1 .bubble") == [words]
    page.open(tmp_path / "r.html", link(results, ids["user3"]))
    assert {"U+202E", "U+200B", "U+0000", "U+001B"} <= set(page.texts("#turn-0 .hidden-char"))
    assert page.js("return document.documentElement.scrollWidth <= innerWidth")


#: Links within a sentence are as high as its line (WCAG 2.5.8); all here that stand alone are not.
SMALL = """
return [...document.querySelectorAll('a[href], button, input, select, summary')]
  .filter((e) => e.getClientRects().length && !e.closest('.skip'))
  .map((e) => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width < 23.9 || r.height < 23.9)
  .map(([e, r]) => `${e.outerHTML.slice(0, 90)} ${r.width} x ${r.height}`)
"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("opened", [False, True], ids=["report", "transcript"])
def test_axe_finds_no_serious_fault_and_a_finger_every_link(
    page: Page, file: Path, everything: Results, width: int, dark: bool, opened: bool
) -> None:
    axe = axe_source()
    earlier = (item.earlier for item in everything.items)
    parted = next(n for n, before in enumerate(earlier) if before is not None and before.messages)
    page.open(file, link(everything, parted) if opened else "", width=width, dark=dark)
    page.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.faults(axe) == []
    assert page.js("return document.documentElement.scrollWidth <= innerWidth")
    assert page.js(SMALL) == []


@pytest.mark.parametrize("width", [800, 390])
def test_the_head_of_the_page_shows_every_link(page: Page, file: Path, width: int) -> None:
    page.open(file, width=width)
    cut = "return [...document.querySelectorAll('.bar .name, .bar nav, .bar nav a')].filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth).length"
    assert page.js(cut) == 0


def test_a_phone_shows_verdicts_before_the_chat_and_whole_reasons(
    page: Page, file: Path, everything: Results
) -> None:
    page.open(file, width=390)
    assert page.js("return document.querySelector('#rows .about').getBoundingClientRect().width") > 300
    assert not page.js("return document.getElementById('more-filters').open")
    page.go(link(everything, 4))
    tops = page.js(
        "return ['.top .copy', '.verdicts', '.said', '.profile'].map((css) => document.querySelector(css).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)
    frames = "return [...document.querySelectorAll('.beside')].map((e) => getComputedStyle(e).overflowY)"
    assert set(page.js(frames)) == {"visible"}


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 5], ids=["empty", "invalid"])
def test_a_run_without_scores_is_a_page_too(page: Page, tmp_path: Path, count: int) -> None:
    write_html(rich_results(count, invalid=True, profiles=False), tmp_path / "r.html")
    page.open(tmp_path / "r.html")
    assert page.text("h1").endswith("Failed")
    assert page.faults(axe_source()) == []
    if count:
        page.click("#rows tbody a")
        assert "These results hold no profile of this user." in page.text(".profile")


@pytest.mark.slow
def test_what_counts_dialogues_leads_to_just_those(page: Page, tmp_path: Path) -> None:
    results = rich_results(200, controls=("none",))
    causes = Counter(i.evaluation.cause for i in results.own if i.evaluation.cause)
    assert len(causes) > 1, "one cause alone would be all that is not scored"
    write_html(results, tmp_path / "r.html")
    page.open(tmp_path / "r.html")
    linked = page.js(
        "return [...document.querySelectorAll('.reasons a, .notes a')].map((a) => [a.textContent, a.getAttribute('href')])"
    )
    assert {f"#cause={cause}" for cause in causes} <= {link for _, link in linked}
    for told, link in linked:
        page.go(link)
        number = next(int(n) for n in re.findall(r"\d+", told))
        assert page.text("#count") == f"{number} of {len(results.items)} dialogues", told


def test_paper_has_the_title_and_nothing_to_click(page: Page, file: Path) -> None:
    page.open(file)
    page.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    seen = "return [...document.querySelectorAll('.bar .name, .bar nav')].map((e) => e.getClientRects().length > 0)"
    assert page.js(seen) == [True, False]
    assert page.text(".bar .name") == "Personalization report"
    assert "open" not in page.text("#reasons h2")
    page.js("dispatchEvent(new Event('beforeprint'))")
    assert page.js("return [...document.querySelectorAll('.folded')].every((d) => d.open)"), (
        "paper has it all"
    )
    assert len(page.texts("#rows tbody tr")) > 10
    page.js("dispatchEvent(new Event('afterprint'))")
    assert not page.js("return [...document.querySelectorAll('.folded')].some((d) => d.open)")
    page.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
