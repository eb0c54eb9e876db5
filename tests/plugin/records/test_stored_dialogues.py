"""Dialogues that exist already are judged: of results, records, the official folder, and lines of messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.datasets.official_tree import write_data
from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import Repository, forget_calls, records, run_for
from tests.support.scripted_agents import MODELS, TOLD
from tests.support.servers.endpoint import Endpoint

PLAY = ("--personalens-sample=3", "--personalens-gate=none", "--personalens-report=played.json")
JUDGE = ("--personalens-dialogues=played.json", "--personalens-gate=none", "--personalens-report=judged.json")
OWN: dict[str, Any] = {
    "preferences": {"Train": {"Preferred Seat Type": "window"}},
    "task": {"intent": "You want a ticket to Oban.", "goal": "A ticket to Oban is booked.", "domains": ["Train"]},
}  # fmt: skip
SAID = {"user": "A ticket to Oban.", "assistant": "It is booked: window."}
CHAT = [{"role": role, "content": content} for role, content in SAID.items()]


def evaluations(repo: Repository, name: str) -> dict[str, dict[str, Any]]:
    """The evaluations of a run by node id."""
    return {item["nodeid"]: item["evaluation"] for item in repo.results(name)["items"]}


def without_times(repo: Repository, name: str) -> dict[str, dict[str, Any]]:
    """The same of a run that played its dialogues, without the times of replies, which stored dialogues lack."""
    played = evaluations(repo, name)
    assert all(e["latencies"] for e in played.values())
    return {nodeid: e | {"latencies": []} for nodeid, e in played.items()}


def write_lines(repo: Repository, *lines: object) -> None:
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (repo.path / "chats.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def without_tests(repo: Repository) -> Repository:
    """A repository in which only the built-in suite runs."""
    (repo.path / "test_bot.py").unlink()
    return repo


@pytest.mark.slow
def test_results_are_judged_as_they_were(without_tests: Repository) -> None:
    repo = without_tests
    assert repo.inline(*PLAY, "--personalens-trials=2", "--personalens-control=no-context").ret == 0
    played = without_times(repo, "played.json")
    # Neither the assistant nor a test of the team is needed, and all trials are judged.
    repo.bot("1 / 0", test_broken="raise RuntimeError('not needed')")
    repo.inline(*JUDGE).assert_outcomes(passed=6)
    judged = evaluations(repo, "judged.json")
    assert judged == {nodeid: e for nodeid, e in played.items() if "+none" not in nodeid}
    repo.inline(*JUDGE, "--personalens-control=no-context").assert_outcomes(passed=12)
    assert evaluations(repo, "judged.json") == played
    at_once = ("-n", "2", "-opersonalens_parallel=3")
    assert repo.run(*JUDGE, "--personalens-control=no-context", *at_once).ret == 0
    assert evaluations(repo, "judged.json") == played
    base = repo.inline(JUDGE[0], "--personalens-baseline=played.json")
    base.stdout.fnmatch_lines(["gate regression: p: *, P * over *"])
    told = "played.json: *: the official scripts know users by number*"
    assert_one_line(repo.command("report", "played.json", "--official-output", "output"), told)
    assert not (repo.path / "output").exists()
    told = "*--personalens-control: there is no stored dialogue of swapped; leave it out"
    assert_one_line(repo.inline(*JUDGE, "--personalens-control=other-user"), told)


@pytest.mark.slow
def test_generated_now_and_judged_later(repo: Repository) -> None:
    whole = repo.inline(*PLAY[:2], "--personalens-report=whole.json")
    repo.pytester.makeini("[pytest]\npersonalens_threshold = p=4\npersonalens_gate = p >= 4\n")
    half = repo.inline(PLAY[0], PLAY[2], "-opersonalens_generate_only=true")
    assert_ended(half, 0, "personalens: 3 scenarios of *, no judge*", passed=3)
    assert not any(e["verdicts"] for e in evaluations(repo, "played.json").values())
    repo.pytester.makeini("[pytest]\n")
    assert repo.inline(*JUDGE, "test_bot.py").ret == whole.ret == 0
    assert evaluations(repo, "judged.json") == without_times(repo, "whole.json")


@pytest.mark.slow
def test_another_judge_gates_baseline_and_page(told: Repository) -> None:
    assert told.inline(*PLAY, "-opersonalens_generate_only=true").ret == 0
    judged = ("--personalens-dialogues=played.json", "--personalens-judge-model=told", "test_bot.py")
    first = told.inline(*judged, "--personalens-gate=tcr >= 0.9", "--personalens-save-baseline=b.json")
    first.stdout.fnmatch_lines(["gate tcr: passed*", "baseline: *b.json*"])
    scenarios = [e["scenario"] for e in evaluations(told, "played.json").values()]
    (told.path / "low.txt").write_text(" ".join(f"{d}:{s}" for s in scenarios for d in ("tc", "p")))
    again = told.inline(*judged, "--personalens-baseline=b.json", "--personalens-report=page.html")
    assert_ended(again, 1, "gate regression: p: FAILED*")
    assert scenarios[0] in (told.path / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_records_are_judged_again_and_a_verdict_is_paid_for_once(paid: Repository) -> None:
    assert paid.run(*PLAY, *MODELS, "--personalens-record=new").ret == 0
    before = {path: path.read_bytes() for path in records(paid)}
    assert len(before) == 3
    judge = ("--personalens-dialogues=__personalens__", "--personalens-judge-model=paid", "test_bot.py")
    run_for(paid, 0, *judge).assert_outcomes(passed=3)  # the same judge has read them
    other = (*judge, "--personalens-dimensions=tc,p,leak", "--personalens-report=judged.json")
    missing = "*the record is missing; record it with --personalens-record new*"
    run_for(paid, 0, *other).stdout.fnmatch_lines([missing])
    assert run_for(paid, 3, *other, "--personalens-record=new").ret == 0, "one reading of each"
    assert {path: path.read_bytes() for path in before} == before, "their own records stay"
    run_for(paid, 0, *other).assert_outcomes(passed=3)


def test_a_budget_caps_the_judge(repo: Repository, endpoint: Endpoint) -> None:
    assert repo.inline(*PLAY, "-opersonalens_generate_only=true").ret == 0
    judge = (*JUDGE[:2], "--personalens-judge-model=openai:judge", "--personalens-record=live", "test_bot.py")
    repo.inline(*judge).assert_outcomes(passed=3)
    assert len(endpoint.calls) == 6, "two readings of each, and no call of anybody else"
    forget_calls()
    capped = repo.inline(*judge, "--personalens-budget=3calls", "-opersonalens_parallel=false")
    assert len(endpoint.calls) == 9
    capped.stdout.fnmatch_lines(["*not scored: 2, *"])


def test_lines_of_messages(without_tests: Repository) -> None:
    repo = without_tests
    chats = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Two tickets for a film, please."}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "book", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "assistant", "content": "They are booked."},
        {"role": "user", "content": "Thanks!"},
    ]  # fmt: skip
    amara, agents = {"scenario": "movies-1-amara"}, {"user_agent": "simulator 1", "assistant": "bot 2"}
    own = {"id": "chat-7", "scenario": OWN}, {"id": "chat-8", "scenario": OWN | {"user": "cust-1"}}
    write_lines(
        repo, amara | {"messages": chats}, *(of | {"messages": CHAT} for of in (amara | agents, *own))
    )
    repo.inline("--personalens-dialogues=chats.jsonl", *JUDGE[1:]).assert_outcomes(passed=4)
    found = {item["evaluation"]["scenario"]: item for item in repo.results("judged.json")["items"]}
    assert set(found) == {"movies-1-amara", "train-chat-7", "chat-8-cust-1"}
    by_id = evaluations(repo, "judged.json")
    first, second = (by_id[f"personalens::test_personalens[movies-1-amara{end}]"] for end in ("", "+t2"))
    assert first["dialogue"]["end"] == "limit"
    assert [m["role"] for m in first["dialogue"]["messages"]] == ["user", "assistant", "user"]
    assert first["dialogue"]["messages"][1]["steps"][0]["tool_calls"][0]["function"]["name"] == "book"
    assert (first["user_agent"], first["user_faults"]) == ("a person", None), "nobody audits a person"
    assert (second["user_agent"], second["assistant"]) == ("simulator 1", "bot 2")
    assert second["user_faults"] is not None
    assert "task_completion" in found["train-chat-7"]["evaluation"]["not_judged"]
    shown = repo.command("show", "--results", "judged.json", "chat-8-cust-1").outlines
    known = any(line.startswith("known:  Train, ") for line in shown)
    assert known, "all preferences, if the task names none"
    assert "cust-1" in shown, "nothing stands for a situation that the file does not tell"
    # What that run wrote is judged again, own scenarios too.
    again = ("--personalens-dialogues=judged.json", JUDGE[1], "--personalens-report=again.json")
    repo.inline("--personalens-report=x.md", *again).assert_outcomes(passed=4)
    assert evaluations(repo, "again.json").keys() == evaluations(repo, "judged.json").keys()


def test_a_dialogue_that_broke_off_stays_without_a_score(without_tests: Repository) -> None:
    without_tests.bot("1 / 0")
    without_tests.inline(*PLAY, "-opersonalens_generate_only=true")
    result = without_tests.inline("--personalens-dialogues=played.json", "--personalens-gate=valid >= 0.5")
    assert_ended(result, 1, "gate valid: FAILED*0 of 3 items could be scored*")


@pytest.mark.slow
def test_the_official_folder_there_and_back(without_tests: Repository) -> None:
    repo = without_tests
    repo.write(conftest=TOLD)
    write_data(repo.path, ("user7", "user12"))
    data = "--personalens-data=."
    every = (PLAY[1], "--personalens-dimensions=all", "--personalens-judge-model=told", data)
    assert repo.inline("--personalens-sample=all", *every, "--personalens-report=played.json").ret == 0
    export = ("report", "played.json", "--official-output", "output")
    assert_ended(repo.command(*export), 0, "official output: output: 8 dialogues of assistant_d_p_s")
    name = "assistant_d_p_s/SD-Rental Cars-task-2_dialogue.json"
    file = json.loads((repo.path / "output/dialogue/user12" / name).read_text(encoding="utf-8"))
    fields = ["user_id", "task_id", "task_description", "user_model", "assistant_model", "dialogue"]
    assert list(file) == fields
    assert (file["user_id"], file["task_id"]) == (12, "SD-Rental Cars-task-2")
    judged = repo.path / "output/evaluation/user12/assistant_d_p_s"
    tc = (judged / "task_completion/claude-3-sonnet-v1/MD-task-1.txt").read_text(encoding="utf-8")
    assert tc.startswith("VERDICT: True\nJustification: ")
    p = (judged / "personalization/claude-3-5-sonnet-v2/MD-task-1.txt").read_text(encoding="utf-8")
    assert p.startswith("Personalization Score: ")
    assert (judged / "naturalness/claude-3-5-sonnet-v2/MD-task-1_asst.txt").is_file()
    assert_one_line(repo.command(*export), "output/dialogue/user*: there are dialogues already; *")
    read = ("--personalens-dialogues=output", *every, "--personalens-report=judged.json")
    assert repo.inline(*read).ret == 0
    before, after = (evaluations(repo, name) for name in ("played.json", "judged.json"))
    for nodeid, e in before.items():
        both = e, after[nodeid]
        said, said_then = ([(m["role"], m["content"]) for m in x["dialogue"]["messages"]] for x in both)
        scores, scores_then = ([v["score"] for v in x["verdicts"]] for x in both)
        assert (said, scores) == (said_then, scores_then)
    repo.inline(*read, "-opersonalens_users=12").assert_outcomes(passed=4)
    (repo.path / "output/dialogue/user7/assistant_d_p_s").rename(repo.path / "output/dialogue/user7/other")
    told = "*output: holds dialogues of several assistants (assistant_d_p_s, other); name one*"
    assert_one_line(repo.inline(*read), told)
    pattern = "--personalens-dialogues=output/dialogue/*/other"
    repo.inline(pattern, *read[1:]).assert_outcomes(passed=4)


def test_an_estimate_counts_the_stored_dialogues(told: Repository) -> None:
    assert told.inline(*PLAY, "-opersonalens_generate_only=true").ret == 0
    estimate = (*JUDGE[:2], "--personalens-judge-model=openai:x", "--personalens-estimate", "test_bot.py")
    told.inline(*estimate).stdout.fnmatch_lines(["judge p * 3 *", "An estimate: *, the stored dialogues*"])


@pytest.mark.slow
def test_the_command_score(without_tests: Repository) -> None:
    ids = ({"id": "a", "scenario": OWN}, {"scenario": "movies-1-amara"})
    write_lines(without_tests, *(fields | {"messages": CHAT} for fields in ids))
    alone, score = ("--", "-p", "no:cacheprovider", "-n", "0"), without_tests.command
    assert score("score", "chats.jsonl", "--report", "s.json", *alone).ret == 0
    assert len(without_tests.results("s.json")["items"]) == 2
    failed = score("score", "--gate", "tcr >= 0.9", "chats.jsonl", "--dimensions=tc", *alone)
    rate = "gate tcr: FAILED, task completion rate 0.00 * over 1 scenario, of 2 that were run"
    assert_ended(failed, 1, rate)


def test_users_without_demographics_have_no_groups(without_tests: Repository) -> None:
    write_lines(without_tests, {"id": "a", "scenario": OWN, "messages": CHAT})
    told = "unknown demographic 'age'; known: none, because the scenario * has no demographics*"
    run = without_tests.run("--personalens-dialogues=chats.jsonl", "-opersonalens_slice=age")
    assert_one_line(run, f"*personalens_slice: {told}")
