"""Assistants and records of the suite: models, and what lies on disk."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.suites.personaconv.arguments import (  # fmt: skip
    BOT,
    CONTROL,
    GATE,
    KIND,
    REPORT,
    SCORES,
    SUITE,
    check_refused,
    evaluations,
)
from tests.support.repository import Repository, records, unwrapped
from tests.support.scripted_agents import says
from tests.support.servers.endpoint import Endpoint, Reply

MODEL = ("--personalens-assistant", "openai:bot")


@pytest.mark.slow
def test_a_model_has_a_schema_and_its_record_holds_no_post(
    empty_repo: Repository, endpoint: Endpoint
) -> None:
    endpoint.answer = lambda call: Reply(data={"answer": "positive"})
    run = (*SUITE, "4", KIND, "sentiment", *MODEL, GATE, "accuracy >= 0", *REPORT)
    result = empty_repo.inline(*run, "--personalens-record", "new")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*, protocol fixed, P-Conv, assistant openai:bot"])
    assert len(endpoint.calls) == 4
    for call in endpoint.calls:
        assert (call.system, call.history) == ("", [])
        schema = call.body["tools"][0]["function"]["parameters"]
        assert schema["properties"]["answer"]["enum"] == ["positive", "negative"]
    asked = [e["dialogue"]["messages"][0]["content"] for e in evaluations(empty_repo)]
    assert sorted(asked) == sorted(call.prompt for call in endpoint.calls)
    written = [file.read_text(encoding="utf-8") for file in records(empty_repo)]
    assert len(written) == 4
    for text in written:
        record = json.loads(text)
        assert record["suite"] == "personaconv"
        assert record["dialogue"]["messages"][0]["content"].startswith("sha256:")
        assert not any(line in text for one in asked for line in one.splitlines() if len(line) > 40)
    # They are replayed without a call, and the results are the same.
    before = evaluations(empty_repo)
    assert empty_repo.inline(*run).ret == 0
    assert len(endpoint.calls) == 4
    assert {item["record"] for item in empty_repo.results()["items"]} == {"replayed"}
    assert [e["dialogue"] for e in evaluations(empty_repo)] == [e["dialogue"] for e in before]


@pytest.mark.slow
def test_a_changed_scorer_scores_records_without_a_call(empty_repo: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply(data={"answer": "Thank you for that."})
    empty_repo.write(letters="def vectors(texts):\n    return [[1.0, 2.0] for text in texts]\n")
    run = (*SUITE, "3", KIND, "next-text", *MODEL, GATE, "rouge1 >= 0", *REPORT)
    empty_repo.inline(*run, "--personalens-record", "new")
    calls = len(endpoint.calls)
    assert calls == 3
    result = empty_repo.inline(*run, "-o", "personalens_embedding=letters:vectors", GATE, "sbert >= 0.99")
    assert result.ret == 0
    assert len(endpoint.calls) == calls
    assert {item["record"] for item in empty_repo.results()["items"]} == {"stale"}
    # Of the other kinds nothing changed.
    endpoint.answer = lambda call: Reply(data={"answer": "7"})
    scores = (*SUITE, "3", *SCORES, *MODEL, GATE, "valid >= 0", *REPORT)
    empty_repo.inline(*scores, "--personalens-record", "new")
    empty_repo.inline(*scores, "-o", "personalens_embedding=letters:vectors")
    assert {i["record"] for i in empty_repo.results()["items"] if i["status"] == "passed"} == {"replayed"}


def test_a_record_fits_no_other_request_and_no_other_suite(
    empty_repo: Repository, endpoint: Endpoint
) -> None:
    endpoint.answer = lambda call: Reply(data={"answer": "positive"})
    run = (*SUITE, "1", KIND, "sentiment", *MODEL)
    empty_repo.inline(*run, "--personalens-record", "new")
    (file,) = records(empty_repo)
    assert file.name.endswith("].json")
    result = empty_repo.inline(*run, "-o", "personalens_context=none")
    result.stdout.fnmatch_lines(["*the record is stale (*"])
    assert len(endpoint.calls) == 1
    data = json.loads(file.read_text(encoding="utf-8")) | {"verdicts": []}
    unsealed = {key: value for key, value in data.items() if key not in ("suite", "integrity")}
    seal = hashlib.sha256(json.dumps(unsealed, sort_keys=True).encode()).hexdigest()[:32]
    file.write_text(json.dumps(unsealed | {"integrity": seal}), encoding="utf-8")
    told = "the record is of the suite 'personalens', this run of 'personaconv'"
    assert told in unwrapped(empty_repo.inline(*run))


@pytest.mark.slow
def test_the_official_protocol_sends_the_scripts_parameters(
    empty_repo: Repository, endpoint: Endpoint
) -> None:
    endpoint.answer = lambda call: Reply("12 votes")
    official = ("-o", "personalens_protocol=official", "--personalens-record", "live")
    claude = ("--personalens-assistant", "openai:claude-of-ours")
    for kind, model, temperature, most in (
        ("sentiment", MODEL, 0, 10), ("impact", MODEL, 0, 25), ("impact", claude, 0, 7), ("next-text", MODEL, 0.7, 256),
    ):  # fmt: skip
        endpoint.calls.clear()
        empty_repo.inline(*SUITE, "1", KIND, kind, *model, *official, GATE, "valid >= 0")
        (call,) = endpoint.calls
        assert (call.body["temperature"], call.body["max_tokens"]) == (temperature, most)
        assert "tools" not in call.body
        assert call.system == ""


def test_a_past_in_the_context_is_a_models_system_text(empty_repo: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply(data={"answer": "positive"})
    past = ("--personalens-record=live", "-o", "personalens_history=context")
    empty_repo.inline(*SUITE, "1", KIND, "sentiment", *MODEL, *past)
    (call,) = endpoint.calls
    assert "Past conversations about" in call.system


def test_an_estimate_counts_one_call_an_item(empty_repo: Repository, endpoint: Endpoint) -> None:
    result = empty_repo.inline(*SUITE, "6", *MODEL, CONTROL, "none", "--personalens-estimate")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["assistant * 12 *"])
    assert not endpoint.calls


def test_an_embedding_has_its_own_column(empty_repo: Repository) -> None:
    letters = "def vectors(texts):\n    return [[text.count(c) for c in 'abcdefghij'] for text in texts]\n"
    bot = says("personalens_scenario.truth", given="personalens_scenario")
    empty_repo.write(letters=letters, conftest=bot)
    named = ("-o", "personalens_embedding=letters:vectors")
    result = empty_repo.inline(*SUITE, "3", KIND, "next-text", *named, GATE, "sbert >= 0.99", *REPORT)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  SBERT * 1.00"])
    assert "not computed: METEOR (no WordNet given), chars" in result.stdout.str()
    assert "sbert by letters:vectors" in evaluations(empty_repo)[0]["judge"]
    assert {v["dimension"] for e in evaluations(empty_repo) for v in e["verdicts"]} >= {"sbert", "meteor-es"}
    problem = "*chars: SBERT is scored instead; leave personalens_embedding out"
    check_refused(empty_repo, problem, *SUITE, "3", KIND, "next-text", *named, GATE, "chars >= 0.1")


def test_next_text_without_its_extra_ends(empty_repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    real = metadata.version

    def version(name: str) -> str:
        if name in ("nltk", "rouge-score"):
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    # What was opened before is kept, so this asks for something else.
    problem = (
        "*next-text needs the extra text: pip install 'pytest-personalens[[]text]', or leave next-text out *"
    )
    check_refused(empty_repo, problem, *SUITE, "3", "-o", "personalens_nltk_data=elsewhere")
    empty_repo.write(conftest=BOT)
    monkeypatch.setenv("SAYS", "positive")
    assert empty_repo.inline(*SUITE, "2", KIND, "sentiment", GATE, "accuracy >= 0.5").ret == 0
