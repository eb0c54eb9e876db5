"""Whole runs with models behind an endpoint: bought once, recorded, capped, estimated, and orderly in every fault."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository, forget_calls, record_bytes, records
from tests.support.servers.endpoint import Call, Endpoint, Reply, play, quote_of

LIVE = (
    "--personalens-sample=3",
    "--personalens-user-model=bedrock:claude-3-haiku-v1",
    "--personalens-judge-model=openai:small",
)


def prices(repo: Repository, *lines: str) -> None:
    repo.pytester.makeini("[pytest]\npersonalens_prices =\n" + "".join(f"  {line}\n" for line in lines))


def test_a_run_buys_once_and_replays_for_nothing(repo: Repository, endpoint: Endpoint) -> None:
    prices(repo, "openai:small = 100, 200")
    refused = repo.run(*LIVE)
    refused.assert_outcomes(failed=3)
    refused.stdout.fnmatch_lines(["*the record is missing*record it with --personalens-record new"])
    assert endpoint.calls == []

    bought = repo.run(*LIVE, "--personalens-record=new", "--personalens-report=r.json")
    bought.assert_outcomes(passed=3)
    assert len(endpoint.calls) == 3 * (2 + 2), "an opening, a closing and two readings an item"
    table = ["judge p *3 *", "judge tc *3 *", "user agent *6 *", "all *12 *"]
    bought.stdout.fnmatch_lines(["*12 model calls*", *table])
    data = repo.results("r.json")
    assert {k: v["calls"] for k, v in data["usage"].items()} == {"judge p": 3, "judge tc": 3, "user agent": 6}
    assert data["usage"]["judge p"]["cached_tokens"] > 0, "the second reading begins like the first"
    dollars = [item["usd"] for item in data["items"]]
    assert min(dollars) > 0
    assert sum(dollars) == pytest.approx(sum(data["usd"].values()), abs=1e-5)

    endpoint.calls.clear()
    repo.run(*LIVE, "--personalens-report=r.json").assert_outcomes(passed=3)
    assert endpoint.calls == []
    again = repo.results("r.json")
    assert (again["usage"], [item["usd"] for item in again["items"]]) == ({}, [None] * 3)
    record = json.loads(records(repo)[0].read_text(encoding="utf-8"))
    priced = {row["role"] for row in record["calls"] if row.get("tokens", {}).get("input")}
    assert priced == {"judge p", "judge tc", "user agent"}, "the record tells what it cost"


def test_a_recorded_run_with_a_model_as_a_bot_is_free(empty_repo: Repository, endpoint: Endpoint) -> None:
    common = (*LIVE, "--personalens-assistant=openai:bot")
    empty_repo.run(*common, "--personalens-record=new").assert_outcomes(passed=3)
    endpoint.calls.clear()
    empty_repo.run(*common).assert_outcomes(passed=3)
    assert endpoint.calls == []
    other = empty_repo.run(*common, "-opersonalens_context=none")
    other.assert_outcomes(failed=3)
    other.stdout.fnmatch_lines(["*the record is stale (the assistant's system text has changed)*"])


def test_a_callable_is_the_assistant_by_its_place(empty_repo: Repository) -> None:
    empty_repo.write(mybot="def reply(messages):\n    return 'Done: booked for Thursday.'\nnumber = 3\n")
    run = ("--personalens-sample=2", "--personalens-gate=tcr >= 0", "--personalens-assistant")
    empty_repo.run(*run, "mybot:reply").assert_outcomes(passed=4)
    for spec, problem in (
        ("mybot:number", "mybot.number is int, which cannot be called"),
        ("mybot:nothing", "mybot has no 'nothing'"),
        ("nobot:reply", "cannot import 'nobot': ModuleNotFoundError"),
        ("claude", "expected bedrock:MODEL, openai:MODEL, http:URL, bedrock-agent:AGENT/ALIAS, agentcore:ARN or module:attribute"),
    ):  # fmt: skip
        told = f"ERROR: personalens: --personalens-assistant: {problem}*"
        assert_usage_error(empty_repo.run(*run, spec), told)


@pytest.mark.parametrize(
    ("mode", "workers"), [("live", ()), ("live", ("-n", "2")), ("new", ("-n", "2"))], ids=str
)
def test_a_cap_on_calls_stops_in_order_and_the_next_run_goes_on(
    repo: Repository, endpoint: Endpoint, mode: str, workers: tuple[str, ...]
) -> None:
    forget_calls()
    live = (*LIVE, "--personalens-sample=6", f"--personalens-record={mode}", *workers)
    result = repo.run_with_cache(*live, "--personalens-budget=13calls")
    assert len(endpoint.calls) == 13
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] >= 1 and outcomes["skipped"] >= 1 and "failed" not in outcomes
    told = "not scored: *, the cap on calls or money was reached; what was bought is kept*"
    result.stdout.fnmatch_lines([told])
    written = record_bytes(repo)
    repo.run_with_cache(*live).assert_outcomes(passed=6)
    assert len(endpoint.calls) == 24, "nothing was bought twice"
    assert written.items() <= record_bytes(repo).items()
    assert len(records(repo)) == (6 if mode == "new" else 0)
    logs = Path(os.environ["PERSONALENS_CACHE_DIR"]).glob("calls/*/*.jsonl")
    rows = [json.loads(line) for log in logs for line in log.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 24, "what was bought in two runs adds up"
    assert all(row["tokens"] for row in rows)


def test_a_cap_on_money_needs_prices_and_stops_in_order(repo: Repository, endpoint: Endpoint) -> None:
    capped = (*LIVE, "--personalens-record=live", "--personalens-budget=0.000001usd")
    told = "ERROR: personalens: --personalens-budget: no price is known for bedrock:claude-3-haiku-v1 (user agent)*"
    assert_usage_error(repo.run(*capped), told)
    prices(repo, "bedrock:claude-3-haiku-v1 = 0.25, 1.25", "openai:small = 1, 2")
    result = repo.run(*capped, "-rs")
    assert len(endpoint.calls) == 1
    assert result.parseoutcomes() == {"skipped": 3, "failed": 1}, "no item, and so the run"
    result.stdout.fnmatch_lines(["SKIPPED*the run has spent $*"])


def test_an_estimate_spends_nothing(repo: Repository, endpoint: Endpoint) -> None:
    prices(repo, "openai:small = 1, 2")
    result = repo.run(*LIVE, "--personalens-estimate", "-n", "2")
    assert result.ret == 0
    assert endpoint.calls == []
    result.stdout.fnmatch_lines(
        [
            "personalens: 3 scenarios*",
            *("judge p *3 *", "judge tc *3 *", "user agent *", "all *"),
            "and up to 6 more calls of the judge, US$ 0.0174: it is asked once more where *",
            "without a price; *",
            "personalens_prices =",
            "    bedrock:claude-3-haiku-v1 = INPUT, OUTPUT",
        ]
    )
    free = repo.run("--personalens-sample=3", "--personalens-estimate")
    free.stdout.fnmatch_lines(["this run makes no paid model calls"])


def test_an_estimate_tells_the_calls_of_long_dialogues(repo: Repository, endpoint: Endpoint) -> None:
    def long(call: Call) -> Reply:
        if "You are acting the part" not in call.system:
            return play(call)
        rounds = call.prompt.count('"role": "user"')
        return Reply(f"{rounds} " + "word " * 30 + ("TERMINATE" if rounds == 4 else ""))

    replies = f"lambda m: '{'word ' * 80}' + str(len(m))"
    repo.write(
        conftest=f"import pytest\n@pytest.fixture\ndef personalens_assistant():\n    return {replies}\n"
    )
    endpoint.answer = long
    run = (*LIVE, "--personalens-kind=single")
    told = repo.run(*run, "--personalens-estimate").stdout.str()
    rows = re.findall(r"^(user agent|judge \w+) +([\d,]+) ", told, re.MULTILINE)
    repo.run(*run, "--personalens-record=live", "--personalens-report=r.json")
    usage = repo.results("r.json")["usage"]
    assert {purpose: int(calls) for purpose, calls in rows} == {p: used["calls"] for p, used in usage.items()}


def test_readings_that_are_asked_for_twice_are_told(repo: Repository, endpoint: Endpoint) -> None:
    def changed(call: Call, **data: object) -> Reply:
        reply = play(call)
        return Reply(data={**reply.data, **data}) if reply.data else reply

    def invents(call: Call) -> Reply:
        return changed(call, evidence=[{"turn": 0, "quote": "nobody said so"}])

    def gives_no_tc(call: Call) -> Reply:
        return (
            changed(call, score="perhaps")
            if isinstance((play(call).data or {}).get("score"), bool)
            else play(call)
        )

    told = "readings that the judge was asked for twice: "
    run = (*LIVE, "--personalens-record=live", "--personalens-gate=p >= 1", "-p", "no:cacheprovider")
    repo.run(*run).stdout.no_fnmatch_line(f"*{told}*")
    for answer, lines in (
        (invents, [f"{told}6 of 6; *quoted nothing that is in the transcript"]),
        (gives_no_tc, [f"{told}3 of 6; *", "the judge did not give 3 readings of tc; *"]),
    ):
        forget_calls()
        endpoint.answer = answer
        repo.run(*run).stdout.fnmatch_lines(lines)


@pytest.mark.slow
def test_failing_verdicts_are_voted_on_and_votes_kept(repo: Repository, endpoint: Endpoint) -> None:
    asked = []

    def harsh_at_first(call: Call) -> Reply:
        if "Give this reading: Personalization." not in call.prompt:
            return play(call)
        asked.append(call)
        why, score = f"vote {len(asked)}", 1 if len(asked) == 1 else 3
        return Reply(data={"evidence": [quote_of(call)], "justification": why, "score": score})

    endpoint.answer = harsh_at_first
    one = (*LIVE, "--personalens-sample=1", "-opersonalens_judge_votes=3")
    repo.run(*one, "--personalens-record=new").assert_outcomes(passed=1)
    assert [c.body["temperature"] for c in asked] == [0, 0.7, 0.7]
    record = json.loads(records(repo)[0].read_text(encoding="utf-8"))
    p = next(v for v in record["verdicts"] if v["dimension"] == "personalization")
    assert [v["score"] for v in p["votes"]] == [1, 3, 3]
    assert p["score"] == 3
    asked.clear()
    strict = "import pytest\n@pytest.mark.personalens(p=4)\ndef test_bot(personalens):\n    personalens.evaluate()\n"
    repo.write(test_bot=strict)
    repo.run(*one, "--personalens-record=live")
    assert not asked, "three votes are on record, and a higher threshold of a mark asks for no other"
    even = repo.run(*LIVE, "-o", "personalens_judge_votes=2")
    even.stderr.fnmatch_lines(["ERROR: personalens_judge_votes: expected an odd number*"])


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply("Assistant: I have booked it for you."), "spoke as the assistant"),
        (Reply("I need something done, please."), "repeated itself"),
    ],
)
def test_a_fault_of_the_user_is_not_the_assistants(
    repo: Repository, endpoint: Endpoint, reply: Reply, cause: str
) -> None:
    endpoint.answer = lambda call: (
        reply if "<transcript>" in call.prompt and "acting the part" in call.system else play(call)
    )
    result = repo.run(*LIVE, "--personalens-record=live", "--personalens-gate=tcr >= 0.5", "-rs")
    outcomes = result.parseoutcomes()
    assert outcomes["skipped"] == 3
    assert outcomes["failed"] >= 1, "the gate on the share of scored items"
    told = f"bedrock:claude-3-haiku-v1 {cause}*"
    lines = [
        "not scored: 3, the simulated user failed",
        f"  such as: {told}",
        f"SKIPPED*not scored: user-agent: {told}",
    ]
    result.stdout.fnmatch_lines(lines)


@pytest.mark.slow
def test_throttling_loses_no_item(repo: Repository, endpoint: Endpoint) -> None:
    """Every twentieth call is refused, and one in ten fails otherwise; each is tried again, none of the dialogues."""
    seen = []

    def flaky(call: Call) -> Reply:
        seen.append(call)
        if len(seen) % 20 == 5:
            return Reply(status=429, code="ThrottlingException")
        return Reply(fault="drop") if len(seen) % 10 == 7 else play(call)

    endpoint.answer = flaky
    run = repo.run(*LIVE, "--personalens-sample=10", "--personalens-record=live", "-n", "2")
    run.assert_outcomes(passed=10)
    good = [c for i, c in enumerate(seen, 1) if i % 20 != 5 and i % 10 != 7]
    assert len(good) == 40


@pytest.mark.parametrize(
    ("protocol", "refusal", "advice"),
    [
        (
            "bedrock",
            Reply(status=403, code="ExpiredTokenException"),
            "renew them, for example with 'aws sso login'",
        ),
        ("openai", Reply(status=401, message="bad key"), "check OPENAI_API_KEY"),
    ],
    ids=["user", "judge"],
)
def test_what_cannot_succeed_stops_each_item_with_one_line(
    repo: Repository, endpoint: Endpoint, protocol: str, refusal: Reply, advice: str
) -> None:
    endpoint.answer = lambda call: refusal if call.protocol == protocol else play(call)
    result = repo.run(*LIVE, "--personalens-record=live")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines([f"*{advice}*"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        (("OPENAI_API_KEY", "OPENAI_BASE_URL"), "openai:small: OPENAI_API_KEY is not set; set it, or OPENAI_BASE_URL *"),
        (("AWS_REGION", "AWS_DEFAULT_REGION"), "bedrock:*: no AWS region is set; give [?]region=*"),
        (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "bedrock:*: no usable AWS credentials (*"),
    ],
    ids=["key", "region", "credentials"],
)  # fmt: skip
def test_a_missing_key_ends_the_run_before_its_first_dialogue(
    repo: Repository, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], told: str
) -> None:
    for name in missing:
        monkeypatch.delenv(name, raising=False)
    full = f"ERROR: {told}; or replay records with --personalens-record none"
    assert_usage_error(repo.run(*LIVE, "--personalens-record=live"), full)
    assert endpoint.calls == []
    assert repo.run(*LIVE, "--personalens-estimate").ret == 0, "what buys nothing needs no key"
