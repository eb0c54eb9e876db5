"""Agreement of a judge that is paid for: estimated, capped, side by side, recorded and replayed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.datasets.official_tree import write_code
from tests.support.processes.commands import agreement as main
from tests.support.processes.commands import command, refusal
from tests.support.repository import ROOT
from tests.support.servers.endpoint import Call, Endpoint, Reply, play


def judge(call: Call) -> Reply:
    """A judge who quotes what was said: the words of the first turn of the transcript in the prompt."""
    reply, first = play(call), re.search(r'^{"turn": 0, .*}$', call.prompt, re.MULTILINE)
    assert reply.data is not None and first is not None
    reply.data["evidence"] = [{"turn": 0, "quote": json.loads(first[0])["content"]}]
    return reply


MODEL = ("--judge-model", "openai:small", "--dimensions", "tc,p")
PRICE = ("--price", "openai:small = 1, 2")


@pytest.fixture
def labels(tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> str:
    """Six labelled dialogues; models are at hand, and the cache is empty."""
    endpoint.answer = judge
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(tmp_path / "cache"))
    lines = (ROOT / "data" / "agreement" / "anchors.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return str(tmp_path / "labels.jsonl")


def test_again_is_free(
    labels: str, endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (tmp_path / name for name in ("first.json", "second.json"))
    assert main([labels, *MODEL, "--live", *PRICE, "--report", str(first)]) == 0
    before, *_, after = capsys.readouterr().out.split("rows are")
    assert len(endpoint.calls) == 12
    assert re.search(r"^all +12 .* 0\.\d{4}$", before, re.MULTILINE), "estimated"
    assert re.search(r"^all +12 +[\d,]+ .* 0\.\d{4}$", after, re.MULTILINE), "used in the end"
    assert main([labels, *MODEL, "--report", str(second)]) == 0, "what is recorded needs no --live"
    assert "12 readings from records" in capsys.readouterr().out
    assert first.read_bytes() == second.read_bytes()
    assert len(endpoint.calls) == 12
    assert main([labels, *MODEL, "--live", "--anew"]) == 0
    assert len(endpoint.calls) == 24


def test_an_estimate_is_free(labels: str, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([labels, *MODEL, "--estimate", *PRICE]) == 0
    assert not endpoint.calls
    row = r"^judge p +6 +[\d,]+ +0 +0 +2,400 +0\.\d{4}$"
    assert re.search(row, capsys.readouterr().out, re.MULTILINE)
    main([labels, *MODEL, "--live"])
    capsys.readouterr()
    assert main([labels, *MODEL, "--estimate"]) == 0
    assert capsys.readouterr().out == "every reading is recorded: it costs nothing\n"


DEAR = ("--price", "openai:small = 100000, 100000")


@pytest.mark.parametrize(
    ("cap", "more", "bought", "told"),
    [
        ("5calls", (), 5, "error: the run has made 5 model calls, the cap of --budget; what was judged is kept, and the same command goes on from there (PL304)\n"),
        ("1usd", (), 0, "error: --budget: no price is known for openai:small; give it with --price (PL304)\n"),
        ("1usd", DEAR, 1, "the cap of --budget is $1.00; what was judged is kept"),
    ],
)  # fmt: skip
def test_a_cap_keeps_what_was_bought(
    labels: str, endpoint: Endpoint, capsys: pytest.CaptureFixture[str], cap: str, more: tuple[str, ...], bought: int, told: str
) -> None:  # fmt: skip
    live = [labels, *MODEL, "--live", "--concurrency", "1", *more]
    assert main([*live, "--budget", cap]) == 4
    assert told in capsys.readouterr().err
    assert len(endpoint.calls) == bought
    assert main([*live, "--budget", f"{12 - bought}calls"]) == 0
    assert len(endpoint.calls) == 12


@pytest.mark.parametrize(("name", "option"), [("agreement", "--report"), ("calibrate", "--write")])
def test_a_judge_that_answers_nothing_usable_is_an_error_that_says_why(
    labels: str, endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, option: str
) -> None:  # fmt: skip
    endpoint.answer = lambda call: Reply("Well done.")
    out = tmp_path / "out.json"
    assert command(name)([labels, *MODEL[:2], "--live", option, str(out)]) == 4
    said = capsys.readouterr()
    assert f"{labels}: nothing could be judged; not judged: 6, such as " in said.err
    assert "the model answered 'Well done.'" in said.err
    assert said.out.rstrip().splitlines()[-1].startswith("all "), "what was paid for is counted all the same"
    assert not out.exists()


def test_readings_run_side_by_side(labels: str, endpoint: Endpoint) -> None:
    def slowly(call: Call) -> Reply:
        return Reply(**{**vars(judge(call)), "delay": 0.3})

    endpoint.answer = slowly
    assert main([labels, *MODEL, "--live", "--concurrency", "4"]) == 0
    assert 2 <= endpoint.most_in_flight <= 4


def test_templates_of_ones_own_are_another_judge(labels: str, endpoint: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    own = "Personalization: count the greetings."
    (tmp_path / "prompts" / "judge_personalization.txt").write_text(own, encoding="utf-8")
    for more in ((), ("--prompts", str(tmp_path / "prompts"))):
        assert main([labels, *MODEL, "--live", *more]) == 0
    assert ["count the greetings" in call.system for call in endpoint.calls] == [False] * 12 + [True] * 12


def test_records_lie_in_a_folder_and_are_not_trusted_once_edited(
    labels: str, endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--records", str(tmp_path / "records"))
    assert main([labels, *MODEL, "--live", *where]) == 0
    files = sorted((tmp_path / "records").glob("*.jsonl"))
    assert len(files) == 6
    kept = files[0].read_text(encoding="utf-8")
    files[0].write_text(kept.replace("the person", "as I like it", 1).replace('"score": ', '"score": 1', 1))
    assert files[0].read_text(encoding="utf-8") != kept
    edited = f"error: {files[0]}: line 1 was edited or is cut off; delete it to have the dialogue read anew"
    assert refusal(capsys, "agreement", labels, *MODEL, *where).startswith(edited)
    files[0].unlink()
    told = "error: openai:small costs money: add --live to call it"
    assert refusal(capsys, "agreement", labels, *MODEL, *where) == told
    assert main([labels, *MODEL, "--live", *where]) == 0
    assert len(endpoint.calls) == 14


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--dimensions", "facts"), "--dimensions facts: people label tc, p, nat-user, nat-assistant, coh-user, coh-assistant, unbacked"),
        (("--prompts", "/nowhere"), "/nowhere: no such folder of prompt templates"),
        (("--prompts", "official:/nowhere"), "/nowhere"),
        (("--price", "dear"), "expected 'MODEL = INPUT, OUTPUT[, CACHED[, WRITTEN]]' in dollars for a million tokens, found 'dear'"),
        *((option, option[0]) for option in (("--concurrency", "0"), ("--budget", "no"), ("--budget", "0calls"), ("--budget", "-1usd"))),
        (("--judge-model", "embedded", "--protocol", "paper"), "--protocol: it shapes what a model is told, and 'embedded' is none of our"),
        (("--judge-model", "embedded", "--prompts", "official:/nowhere"), "--prompts: it shapes what a model is told, and 'embedded' is"),
        (("--protocol", "ours"), "invalid choice: 'ours'"),
    ],
)  # fmt: skip
def test_bad_arguments_are_one_line(
    labels: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    assert problem in refusal(capsys, "agreement", labels, *MODEL, "--live", *arguments)


@pytest.mark.parametrize(
    ("protocol", "answered", "identity"),
    [
        ((), 0, "openai:small prompt "),
        (("--protocol", "paper"), 12, "openai:small paper prompt "),
        (("--prompts", "official:PersonaLens"), 12, "openai:small official "),
    ],
)
def test_the_judge_of_each_protocol_can_be_measured(
    labels: str, tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    protocol: tuple[str, ...], answered: int, identity: str,
) -> None:  # fmt: skip
    """What the paper's Table 5 is about: a text with a score, in one prompt a reading."""
    write_code(tmp_path / "PersonaLens")
    monkeypatch.chdir(tmp_path)
    text = "Verdict: True\nVERDICT: True\nScore: 3\nPersonalization Score: 3\nJustification: so"
    endpoint.answer = lambda call: judge(call) if "tools" in call.body else Reply(text)
    report = tmp_path / "agreement.json"
    assert main([labels, *MODEL, *PRICE, *protocol, "--estimate"]) == 0
    assert re.search(r"^all +12 ", capsys.readouterr().out, re.MULTILINE)
    assert main([labels, *MODEL, *PRICE, *protocol, "--live", "--report", str(report)]) == 0
    assert sum("tools" not in call.body for call in endpoint.calls) == answered
    assert len(endpoint.calls) == 12
    assert json.loads(report.read_text())["judge"].startswith(identity)
    if "official" in identity:
        assert {call.prompt[:2] for call in endpoint.calls} == {"tc", "p "}
