"""Every screen of a run has the words of its suite: predictions and their scorer."""

from __future__ import annotations

import re

import pytest

from pytest_personalens.cli.command import main
from tests.suites.personaconv.arguments import BOT, CONTROL, GATE, KIND, SCORES, SUITE, reports
from tests.support.repository import Repository

#: What the first suite calls its items, what is done in them, and who scores that.
OTHERS = re.compile(r"(?i)\b(?:scenario|dialogue|judge)s?\b")
CRASHING = BOT.replace("        if SAYS:", '        if "WORSE" in os.environ and digest_of(messages) % 5 == 0:\n            raise KeyError("profile")\n        if SAYS:').replace(
    "@pytest.fixture", "def digest_of(messages):\n    return len(messages[0]['content'])\n\n@pytest.fixture"
)  # fmt: skip


def said(text: str) -> list[str]:
    """The lines of a report with words of the first suite, without what a page holds for its script."""
    text = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)
    names = r'\b(?:href|id|class|name|aria-labelledby)="[^"]*"|personalens_(?:judge|scenario)\w*'
    text = re.sub(names, "", text)
    return [line for line in text.splitlines() if OTHERS.search(line)]


@pytest.mark.slow
def test_no_screen_has_words_of_the_first_suite(
    empty_repo: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_repo.write(conftest=CRASHING)
    monkeypatch.chdir(empty_repo.path)
    shape = (*SUITE, "24", *SCORES, CONTROL, "NP-Conv")
    empty_repo.inline(*shape, "--personalens-save-baseline", "base.json", *reports("green.json"), "-v")
    monkeypatch.setenv("WORSE", "1")
    wanted = "accuracy >= 0.9, pass^2 >= 0.9, lift(f1, NP-Conv) >= 0.9"
    red = (*shape, "--personalens-trials", "2", GATE, wanted, *reports("red.html", "red.md", "red.json"))
    result = empty_repo.inline(*red, "--personalens-baseline", "base.json", "--junitxml", "red.xml")
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "the assistant failed in * of 48 predictions, which have no score:",
        "scores of * of 48 predictions only:",
        "2 trials of each prediction: pass^1 *",
        "standard deviation within one prediction: *",
    ])  # fmt: skip
    screens = {"terminal": result.stdout.str()}
    for part in (1, 2):
        empty_repo.inline(*shape, "--personalens-shard", f"{part}/2", *reports(f"part{part}.json"))
    capsys.readouterr()
    for command in (
        ("merge", "part1.json", "part2.json", "--report", "merged.html", "--report", "merged.md"),
        ("report", "green.json", "red.json", "--report", "both.html", "--report", "both.md"),
        ("report", "red.json"),
    ):
        main(list(command))
        screens[" ".join(command)] = "".join(capsys.readouterr())
    files = "red.html red.md red.xml merged.html merged.md both.html both.md"
    for name in files.split():
        screens[name] = (empty_repo.path / name).read_text(encoding="utf-8")
    merged = next(screen for command, screen in screens.items() if command.startswith("merge"))
    assert "over 24 predictions of personaconv" in merged
    left_out = "left out of 160 posts: 40 without a past (-v lists them)."
    for line in (
        "what the scorer says",
        "|  | P-Conv | NP-Conv | lift |",
        left_out,
        "By domain, with the items of each",
    ):
        assert line in screens["red.md"]
    assert "personalens_log-error" in screens["red.xml"]
    assert "Predictions" in screens["red.html"]
    assert {name: said(text) for name, text in screens.items()} == {name: [] for name in screens}


def test_a_red_gate_shows_truths_and_no_requests(
    empty_repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_repo.write(conftest=BOT)
    monkeypatch.setenv("SAYS", "positive")
    gate = (GATE, "accuracy >= 0.99", "--personalens-report", "red.md")
    result = empty_repo.inline(*SUITE, "12", KIND, "sentiment", *gate)
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "E   Accuracy is *, below the required 0.99",
        "predictions by reason: read as *",
        "     truth *",
        "    + now  *",
    ])  # fmt: skip
    text = (empty_repo.path / "red.md").read_text(encoding="utf-8")
    assert re.search(r"```diff\n  truth: (positive|negative)\n\+ \w+\n```", text)
    assert "You are told" not in result.stdout.str() + text
