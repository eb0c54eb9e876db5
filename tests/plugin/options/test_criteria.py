"""Criteria of a team's own: read by a model as the judge, in every report, gated by name, and refused if bad."""

from __future__ import annotations

import json

import pytest

from pytest_personalens.core.judging.measure import name_of
from tests.support.processes.runs import assert_one_line
from tests.support.repository import Repository, records
from tests.support.servers.endpoint import Call, Endpoint, Reply, play, quote_of

JUDGE = ("--personalens-judge-model", "criteria=openai:m,embedded", "--personalens-record", "new")
SAMPLE = ("--personalens-sample", "4", "--personalens-report", "r.json")
MARKED = """
    import pytest

    @pytest.mark.personalens(criteria=["price-first: names the price", "says, at the end, goodbye"])
    def test_bot(personalens):
        personalens.check()
"""


@pytest.fixture
def judged(repo: Repository, endpoint: Endpoint) -> Repository:
    """A repository whose judge of criteria answers from a list, and then yes."""
    repo.write(test_bot=MARKED)
    answers = iter(["no", "cannot tell", "**Cannot tell**"])

    def answer(call: Call) -> Reply:
        if "<criterion>" not in call.prompt:
            return play(call)
        score = next(answers, "yes") if "names the price" in call.prompt else "yes"
        evidence = [] if "tell" in score else [quote_of(call)]
        return Reply(data={"evidence": evidence, "justification": "So it is.", "score": score})

    endpoint.answer = answer
    return repo


def test_criteria_are_shown_gated_compared_and_replayed(judged: Repository, endpoint: Endpoint) -> None:
    gates = "criterion(price-first) >= 0.9, criterion(says-at-the-end-goodbye) >= 0.9, tcr >= 0, p >= 1"
    reports = ("--personalens-report", "page.html", "--personalens-report", "r.md", "--junit-xml", "r.xml")
    save = ("--personalens-save-baseline", "b.json")
    result = judged.run(*SAMPLE, *JUDGE, *reports, *save, "--personalens-gate", gates)
    result.stdout.fnmatch_lines_random([
        "*price-first says-at-the-end-goodbye*",
        "criteria: price-first (names the price) met in 1 of 4 dialogues, cannot tell in 2; says-at-the-end-goodbye (says*",
        "gate criterion(price-first): FAILED, share of dialogues that meet price-first 0.25 (*) < 0.90 over 4 scenarios",
        "gate criterion(says-at-the-end-goodbye): passed, *1.00*",
        "judge criteria price-first *4 *",
    ])  # fmt: skip
    results = judged.results("r.json")
    verdicts = [item["evaluation"]["verdicts"][-2] for item in results["items"]]
    assert {verdict["dimension"] for verdict in verdicts} == {"criterion price-first: names the price"}
    assert sorted((v["score"], len(v["evidence"]), len(v["reasons"])) for v in verdicts) == [
        (0, 0, 1), (0, 0, 1), (0, 1, 0), (1, 1, 0)
    ]  # fmt: skip
    assert all("price-first" in (judged.path / name).read_text() for name in ("page.html", "r.md", "r.xml"))
    asked, bought = [c.prompt for c in endpoint.calls if "names the price" in c.prompt], len(endpoint.calls)
    assert len(asked) == 4
    assert all("<transcript>" in prompt for prompt in asked)
    assert bought == 8
    # A replay buys nothing; the baseline compares the criterion, and fails of it where it has a margin.
    base = ("--personalens-baseline", "b.json")
    result = judged.run(*SAMPLE, *JUDGE[:2], *base)
    result.stdout.fnmatch_lines(["*price-first 0.25 -> 0.25*"])
    assert len(endpoint.calls) == bought
    assert "names the price" in json.dumps([json.loads(file.read_text()) for file in records(judged)])
    judged.command("report", "r.json", "--report", "-").stdout.fnmatch_lines(["*price-first*"])


def test_an_item_fails_by_a_criterion_that_is_not_met(judged: Repository) -> None:
    result = judged.run(*SAMPLE, *JUDGE)
    result.stdout.fnmatch_lines_random(["E   price-first 0, below the required 1: So it is.*"])
    statuses = [item["status"] for item in judged.results("r.json")["items"]]
    assert statuses.count("low") >= 3


def test_those_of_the_configuration_are_added_and_a_mark_may_let_one_pass(judged: Repository) -> None:
    judged.write(test_bot=MARKED.replace("criteria=", "price_first=0, criteria="))
    judged.run(*SAMPLE, *JUDGE, "-o", "personalens_criteria=calm: stays calm, whatever is said")
    results = judged.results("r.json")
    assert results["criteria"][0] == "criterion calm: stays calm, whatever is said"
    assert len(results["criteria"]) == 3
    assert not any("price-first" in s for item in results["items"] for s in item["shortfalls"])


def test_without_a_model_as_the_judge_one_line_says_so_and_a_gate_is_refused(repo: Repository) -> None:
    repo.write(test_bot=MARKED)
    lines = repo.inline(*SAMPLE).outlines
    (told,) = [line for line in lines if "criteria are read by a model as the judge" in line]
    assert told.endswith("not judged in 4 of 4 scenarios")
    assert not any("price-first" in line for line in lines)
    gate = ("--personalens-gate", "criterion(price-first) >= 0.9")
    told = "--personalens-gate: criterion(price-first): criteria are read by a model*"
    assert_one_line(repo.inline(*SAMPLE, *gate), told)


def test_a_gate_on_no_criterion_is_told_at_once(judged: Repository, endpoint: Endpoint) -> None:
    gate = ("--personalens-gate", "criterion(price-frist) >= 0.9")
    told = "*criterion(price-frist): no test has it; known: price-first, says-at-the-end-goodbye*"
    assert_one_line(judged.inline(*SAMPLE, *JUDGE, *gate), told)
    assert not endpoint.calls


def test_bad_criteria_of_the_configuration_are_told_with_the_key(repo: Repository) -> None:
    result = repo.inline("--personalens-sample", "1", "-o", "personalens_criteria=a: b\na: c")
    assert_one_line(result, "*personalens_criteria: criterion 2: a: another criterion has that name*")


def test_two_tests_may_not_give_one_name_two_meanings(repo: Repository) -> None:
    repo.write(test_bot=MARKED, test_other=MARKED.replace("names the price", "names the fee"))
    told = "*price-first is also the name of another criterion of this run: 'names the price'*"
    repo.inline("--personalens-sample", "1").stdout.fnmatch_lines([told])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Names the price before it books", "names-the-price-before"), ("names the price before", "names-the-price-before"),
        ("price_first: names it", "price-first"), ("x" * 99, "x" * 24), (" ?! ", ""),
    ],
)  # fmt: skip
def test_the_name_of_a_text_alone_is_its_first_words(text: str, name: str) -> None:
    assert name_of(text) == name
