"""A dialogue on the page: replies as Markdown, words that changed, and what a reader says of the verdicts."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from pytest_personalens.cli.judges.agreement import main
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.dialogue.message import Function, ToolCall
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.judge_quality.agreement.labels import read_labels
from pytest_personalens.reports.html.page import write_html
from tests.support.browser import Page
from tests.support.results.rich_results import rich_results

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

REPLY = """# Your *trip*
**Booked:** the `9:12` to __Oban__, ~~window~~ aisle.
A file_name_here and 2 * 3 * 4 stay.

- seat **12**
- coach C
  1. quiet
  2. table

| from | to |
|---|:-:|
| Glasgow | **Oban** |

> See [the ticket](https://example.com/t) \\*now\\*

```python
print("**raw**")
```"""
HOSTILE = (
    "<script>window.pwned = 1</script> **<img src=x onerror=window.pwned=1>**",
    "[click](javascript:window.pwned=1) ![x](data:text/html,<script>window.pwned=1</script>) <a href='javascript:1'>x</a>",
    "**bold _both** broken_ `code **in` it** [un(closed](x | y",
    '| <b onclick="window.pwned=1">a</b> | b |\n|---|---|\n| </td></table><script>window.pwned=1</script> | <svg onload=window.pwned=1> |',
    "```<script>window.pwned=1</script>\n</code></pre><img src=x onerror=window.pwned=1>",
    "> " * 4000 + "deep",
    "**a _b " * 9000 + "[" * 9000 + "`" * 9001 + "|" * 900,
    "\n".join(" " * n + "- x" for n in range(300)),
)
ALLOWED = {
    "P", "STRONG", "EM", "S", "CODE", "PRE", "UL", "OL", "LI", "TABLE", "THEAD", "TBODY", "TR", "TH", "TD", "BLOCKQUOTE",
    "HR", "SPAN", "MARK",
}  # fmt: skip


def saying(results: Results, *replies: str) -> Results:
    """The results with these replies in place of the first ones of their dialogues."""

    def with_reply(item: Item, reply: str) -> Item:
        e = item.evaluation
        first, _, *rest = e.dialogue.messages
        messages = (first, Message(role="assistant", content=reply), *rest)
        dialogue = Dialogue(messages=messages, end=e.dialogue.end)
        return item.model_copy(update={"evaluation": e.model_copy(update={"dialogue": dialogue})})

    items = [with_reply(i, reply) for i, reply in zip(results.items, replies, strict=False)]
    return results.model_copy(update={"items": (*items, *results.items[len(items) :])})


def link(item: Item) -> str:
    return "#item=" + quote(item.nodeid)


def test_a_reply_is_shown_as_its_markdown_means(page: Page, tmp_path: Path) -> None:
    results = saying(rich_results(3), REPLY)
    write_html(results, tmp_path / "r.html")
    page.open(tmp_path / "r.html", link(results.items[0]))
    reply = "#turn-1 .bubble "
    assert page.texts(reply + "strong") == ["Your trip", "Booked:", "Oban", "12", "Oban"]
    assert page.texts(reply + "em") == ["trip"]
    assert page.texts(reply + "s") == ["window"]
    assert page.texts(reply + "code") == ["9:12", 'print("**raw**")']
    assert page.texts(reply + "ul > li > ol > li") == ["quiet", "table"]
    assert page.texts(reply + "th") == ["from", "to"]
    assert page.texts(reply + "td") == ["Glasgow", "Oban"]
    assert page.texts(reply + "blockquote") == ["See the ticket (https://example.com/t) *now*"]
    assert "A file_name_here and 2 * 3 * 4 stay." in page.text(reply)
    assert page.texts(".user .bubble strong") == []
    assert page.console() == []


@pytest.mark.slow
def test_no_reply_becomes_more_than_text(page: Page, tmp_path: Path) -> None:
    results = saying(rich_results(len(HOSTILE)), *HOSTILE)
    write_html(results, tmp_path / "r.html")
    page.open(tmp_path / "r.html")
    for item, words in zip(results.items, HOSTILE, strict=True):
        began = time.perf_counter()
        page.go(link(item))
        page.js("document.querySelectorAll('.more').forEach((b) => b.click())")
        assert time.perf_counter() - began < 10, words[:60]
        made = page.js(
            "return [...document.querySelectorAll('#turn-1 .bubble *')].map((e) => [e.tagName, e.getAttributeNames().join()])"
        )
        assert {tag for tag, _ in made} <= ALLOWED, words[:60]
        assert {names for _, names in made} <= {"", "class", "scope", "start", "data-quotes"}
        kept = "".join(page.texts("#turn-1 .bubble"))
        if "pwned" in words:
            assert "<" in kept, "HTML is shown as it was written"
    assert page.texts("#turn-1 a") == []
    assert page.js("return window.pwned === undefined")
    assert page.console() == []


def test_words_that_differ_from_before_are_marked(page: Page, tmp_path: Path) -> None:
    results = rich_results(4, compared=True)
    item = next(i for i in results.own if i.earlier is not None and i.earlier.messages)
    assert item.earlier is not None
    e = item.evaluation
    then = (
        e.dialogue.messages[0],
        Message(role="assistant", content="Your **window** seat is booked for Friday at 9:12."),
    )
    now = (
        e.dialogue.messages[0],
        Message(role="assistant", content="Your **aisle** seat is booked for Friday at 9:12 or so."),
    )
    changed = item.model_copy(
        update={
            "earlier": item.earlier.model_copy(update={"messages": then}),
            "evaluation": e.model_copy(update={"dialogue": Dialogue(messages=now, end="user")}),
        }
    )
    write_html(results.model_copy(update={"items": (changed,)}), tmp_path / "r.html")
    page.open(tmp_path / "r.html", link(changed))
    assert "".join(page.texts(".then del")) == "window9:12."
    assert "".join(page.texts(".now ins")) == "aisle9:12 or so."


@pytest.fixture
def acting() -> Results:
    """Dialogues of which one has an assistant that calls a tool."""
    results = rich_results(6)
    item = results.items[1]
    e = item.evaluation
    call = ToolCall(id="1", function=Function(name="book", arguments='{"seat": "window"}'))
    steps = (
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content="ok", tool_call_id="1"),
    )
    messages = (e.dialogue.messages[0], Message(role="assistant", content="Booked.", steps=steps))
    dialogue = Dialogue(messages=messages, end="user")
    done = item.model_copy(update={"evaluation": e.model_copy(update={"dialogue": dialogue})})
    return results.model_copy(update={"items": (results.items[0], done, *results.items[2:])})


@pytest.mark.slow
def test_a_readers_labels_are_a_file_that_agreement_reads(
    page: Page, tmp_path: Path, acting: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    write_html(acting, tmp_path / "r.html")
    page.chrome.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.open(tmp_path / "r.html")
    assert page.js("return document.getElementById('labels').hidden")
    first, second = acting.items[:2]
    page.go(link(first))
    judged = first.evaluation.score(Dimension.PERSONALIZATION)
    right = next(score for score in (1, 2, 3, 4) if score != judged)
    page.click("[data-dim=personalization] .label button")
    offered = page.js("return [...document.querySelectorAll('.label select option')].map((o) => +o.value)")
    assert offered == [score for score in (1, 2, 3, 4) if score != judged]
    page.js("document.querySelector('.label select').value = arguments[0]", str(right))
    for place, words in enumerate(("it asked for the <seat>", "ann")):
        page.js("document.querySelectorAll('.label input')[arguments[0]].focus()", place)
        page.keys(words)
    page.click(".label form button")
    assert page.text("[data-dim=personalization] .label p") == f"You say {right}: it asked for the <seat>"
    page.click("[data-dim=task_completion] .label button:last-child")
    page.go(link(second))
    page.click("[data-dim=task_completion] .label button")
    page.click(".label form button")
    # They last as long as the browser keeps them, and belong to this report.
    page.open(tmp_path / "r.html")
    assert page.text("#labels") == "Save 3 labels"
    page.click("#labels")
    file = tmp_path / "labels.jsonl"
    until = time.monotonic() + 20
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.05)
    found = {one.id: one for one in read_labels(file)}
    assert list(found) == [first.nodeid, second.nodeid]
    one, two = found.values()
    done = first.evaluation.task_completed
    assert one.labels == {
        "ann": {Dimension.TASK_COMPLETION: int(done or 0), Dimension.PERSONALIZATION: right}
    }
    assert one.reasons == {"ann": "P: it asked for the <seat>"}
    assert two.labels == {"ann": {Dimension.TASK_COMPLETION: 1 - int(second.evaluation.task_completed or 0)}}
    for item, label in ((first, one), (second, two)):
        assert label.scenario == acting.scenarios[item.evaluation.scenario]
        assert label.dialogue == item.evaluation.dialogue
    report = tmp_path / "agreement.json"
    assert main([str(file), "--dimensions", "tc,p", "--report", str(report)]) == 0
    assert "2 dialogues over 2 scenarios" in capsys.readouterr().out
    told: dict[str, Any] = json.loads(report.read_text())
    assert told
    page.open(tmp_path / "r.html", link(first))
    page.click("[data-dim=personalization] .label button")
    page.click("[data-dim=task_completion] .label button")
    page.go(link(second))
    page.click("[data-dim=task_completion] .label button")
    assert page.js("return document.getElementById('labels').hidden")
    assert page.console() == []
