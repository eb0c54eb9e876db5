"""The protocol of a run: what it is told by, what is recorded and compared of it, and what is refused."""

from __future__ import annotations

import json

import pytest

from tests.engine.test_protocols_on_the_wire import MODELS, answer
from tests.support.datasets.official_tree import write_code, write_data
from tests.support.processes.runs import assert_one_line
from tests.support.repository import Repository, records
from tests.support.servers.endpoint import Call, Endpoint, Reply

NONE = "--personalens-gate=none"
RUN = ("--personalens-sample=2", "--personalens-kind=single", "--personalens-data=.", NONE)
PAPER = ("-opersonalens_protocol=paper",)
OFFICIAL = ("-opersonalens_prompts=official:.",)


@pytest.fixture
def wire(empty_repo: Repository, endpoint: Endpoint) -> Repository:
    endpoint.answer = answer
    write_data(empty_repo.path)
    write_code(empty_repo.path)
    return empty_repo


def test_header_results_and_records_name_the_protocol(wire: Repository, endpoint: Endpoint) -> None:
    bought = wire.inline(*RUN, *MODELS, *PAPER, "--personalens-record=new", "--personalens-report=r.json")
    head = "personalens: 2 scenarios of official *, assistant openai:bot (base), protocol paper*"
    bought.stdout.fnmatch_lines([head])
    assert wire.results("r.json")["settings"]["protocol"] == "paper"
    record = json.loads(records(wire)[0].read_text(encoding="utf-8"))
    assert all(" paper prompt " in record[role] for role in ("user_agent", "judge"))
    calls = len(endpoint.calls)
    wire.inline(*RUN, *MODELS, *PAPER).assert_outcomes(passed=2)
    assert len(endpoint.calls) == calls, "replayed"
    stale = "*the record is stale (the user agent's system text and prompt have changed); *"
    wire.inline(*RUN, *MODELS).stdout.fnmatch_lines([stale])
    wire.pytester.makeini("[pytest]\npersonalens_protocol = paper\n")
    wire.inline(*RUN, *MODELS).stdout.fnmatch_lines(["personalens: *, protocol paper*"])


def test_a_run_without_a_word_of_it_is_as_before(wire: Repository) -> None:
    result = wire.inline(*RUN, *MODELS, "--personalens-record=live", "--personalens-report=r.json")
    result.stdout.no_fnmatch_line("personalens: *protocol*")
    verdict = wire.results("r.json")["items"][0]["evaluation"]["verdicts"][1]
    assert not {"observations", "improvements"} & set(verdict)


def test_observations_and_improvements_are_kept(wire: Repository, endpoint: Endpoint) -> None:
    text = "Score: 2\nObservations:\n- asks what is known\n- fits the hour\nJustification: basic\nImprovements:\n- use the window seat"
    endpoint.answer = lambda call: Reply(text) if call.model == "judge" else answer(call)
    run = (*RUN, *MODELS, *PAPER, "--personalens-dimensions=p", "--personalens-report=r.json")
    for more in ("--personalens-record=new", "--personalens-record=none"):  # bought, then from the record
        wire.inline(*run, more).assert_outcomes(passed=2)
        (verdict,) = wire.results("r.json")["items"][0]["evaluation"]["verdicts"]
        assert verdict["observations"] == ["asks what is known", "fits the hour"]
        assert verdict["improvements"] == ["use the window seat"]
        assert verdict["justification"] == "basic"


def test_runs_of_two_protocols_are_not_compared(wire: Repository) -> None:
    run = (*RUN[:-1], *MODELS, "--personalens-record=live")
    assert wire.inline(*run, "--personalens-save-baseline=b.json").ret == 0
    assert wire.results("b.json")["terms"]["setup"]["the protocol"] == "default"
    for other, name in ((PAPER, "paper"), (OFFICIAL, "official")):
        told = f"--personalens-baseline: *: the protocol changed: '{name}' now, 'default' then*"
        assert_one_line(wire.inline(*run, *other, "--personalens-baseline=b.json"), told)
    assert wire.inline(*run, *PAPER, "--personalens-save-baseline=p.json").ret == 0
    compared = wire.inline(*run, *PAPER, "--personalens-baseline=p.json")
    compared.stdout.fnmatch_lines(["compared with p.json: 2 scenarios*"])


def test_the_official_prompts_replay_until_the_checkout_changes(wire: Repository, endpoint: Endpoint) -> None:
    bought = wire.inline(*RUN, *MODELS, *OFFICIAL, "--personalens-record=new")
    bought.stdout.fnmatch_lines(["personalens: *, protocol official, bugs reproduce*"])
    calls = len(endpoint.calls)
    wire.inline(*RUN, *MODELS, *OFFICIAL).assert_outcomes(passed=2)
    assert len(endpoint.calls) == calls
    wire.pytester.makeini("[pytest]\npersonalens_official_bugs = user-id\n")
    stale = "*the record is stale (the judge's prompt has changed); *"
    mended = wire.inline(*RUN, *MODELS, *OFFICIAL)
    mended.stdout.fnmatch_lines(["personalens: *bugs user-id*", stale])


@pytest.mark.parametrize("thinks", ["reasoning", "state"])
def test_a_user_agent_that_thinks_first(wire: Repository, endpoint: Endpoint, thinks: str) -> None:
    def user(text: str) -> None:
        """Let the users' model write a text, MESSAGE in it being its message."""

        def reply(call: Call) -> Reply:
            said = answer(call)
            return Reply(text.replace("MESSAGE", said.text)) if call.model == "user" else said

        endpoint.answer = reply

    user("Open: the seat. TERMINATE?\n**Message:** MESSAGE")
    wire.pytester.makeini(f"[pytest]\npersonalens_user_agent = {thinks}\n")
    result = wire.inline(*RUN, *MODELS, "--personalens-record=new", "--personalens-report=r.json")
    result.stdout.fnmatch_lines([f"personalens: *, user agent with {thinks}*"])
    assert wire.results("r.json")["settings"]["user_agent"] == thinks
    evaluation = wire.results("r.json")["items"][0]["evaluation"]
    said = [message["content"] for message in evaluation["dialogue"]["messages"]]
    assert said[::2] == ["The words of the user.", "Fine."]
    assert f" {thinks} prompt " in evaluation["user_agent"]
    assert all('"Message:"' in c.prompt for c in endpoint.calls if c.model == "user")
    user("I think.")
    failed = wire.inline(*RUN, *MODELS, "--personalens-record=all")
    failed.stdout.fnmatch_lines(["*openai:user wrote no line 'Message:'*"])


@pytest.mark.parametrize(
    ("ini", "options", "problem"),
    [
        ("", PAPER, "-o personalens_protocol=paper: it shapes what models are told, and no model plays a role in this run*"),
        ("", OFFICIAL, "-o personalens_prompts=official:.: it shapes what models are told, and no model*"),
        ("", (*MODELS, "-opersonalens_prompts=official:nowhere"), "*generate_dialogue.py: the file is missing; expected a checkout*"),
        ("", (*MODELS, *PAPER, "-o", "personalens_judge_votes=3"), "personalens_judge_votes: a judge is asked once under -o personalens_protocol=paper*"),
        ("", (*MODELS, *OFFICIAL, "-opersonalens_context=DI"), "*personalens_context = DI: the official code crashes on two parts*"),
        ("user_agent = state", (), "personalens_user_agent = state: no model plays the user*"),
        ("user_agent = state", (*MODELS, *OFFICIAL), "personalens_user_agent = state: the official prompts have no such user agent*"),
        ("user_agent = dreaming", (), "personalens_user_agent: expected one of: plain, reasoning, state, not 'dreaming'"),
        ("official_bugs = pears", (), "personalens_official_bugs: expected reproduce, mend, or the bugs to mend (user-id, *), not 'pears'"),
    ],
)  # fmt: skip
def test_what_cannot_be(wire: Repository, ini: str, options: tuple[str, ...], problem: str) -> None:
    if ini:
        wire.pytester.makeini(f"[pytest]\npersonalens_{ini}\n")
    assert_one_line(wire.inline(*RUN, *options), f"*{problem}")


def test_a_mark_may_not_ask_for_a_context_without_an_official_prompt(wire: Repository) -> None:
    mark = "@pytest.mark.personalens(context='DS')"
    wire.write(test_bot=f"import pytest\n\n{mark}\ndef test_it(personalens): ...\n")
    result = wire.inline(*RUN, *MODELS, *OFFICIAL)
    told = "*personalens_context = DS: the official code crashes on two parts of the context*"
    result.stdout.fnmatch_lines([told])
    assert result.ret != 0


def test_the_header_says_whom_the_protocol_does_not_reach(wire: Repository) -> None:
    (wire.path / "bots.py").write_text("def reply(messages):\n    return 'Done.'\n", encoding="utf-8")
    mixed = (MODELS[1], "--personalens-assistant=bots:reply", "--personalens-record=live")
    told = "protocol paper; it does not reach the user and the assistant, which no model plays*"
    wire.inline(*RUN, *PAPER, *mixed).stdout.fnmatch_lines([f"personalens: *, {told}"])


@pytest.mark.parametrize("protocol", [PAPER, OFFICIAL], ids=["paper", "official"])
def test_an_estimate_counts_the_calls(wire: Repository, endpoint: Endpoint, protocol: tuple[str]) -> None:
    """Five rounds a dialogue, and one call a reading."""
    result = wire.inline(*RUN, *MODELS, *protocol, "--personalens-dimensions=all", "--personalens-estimate")
    counts = "assistant *10 *", "judge coh-user *2 *", "judge tc *2 *", "user agent *10 *"
    result.stdout.fnmatch_lines(counts)
    assert endpoint.calls == []


def test_templates_of_a_team_stand_over_those_of_the_paper(wire: Repository, endpoint: Endpoint) -> None:
    (wire.path / "ours").mkdir()
    template = wire.path / "ours" / "judge_personalization.txt"
    template.write_text("Rate it.\n$preferences\n$transcript", encoding="utf-8")
    ours = ("-opersonalens_prompts=ours", "--personalens-record=live")
    wire.inline(*RUN, *MODELS, *PAPER, *ours).assert_outcomes(passed=2)
    personal = [c.prompt for c in endpoint.calls if c.prompt.startswith("Rate it.\nPreferences in ")]
    assert len(personal) == 2
    assert all("demo-age" not in prompt and "situ-room" not in prompt for prompt in personal)
