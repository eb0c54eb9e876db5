"""Criteria of a team's own: read by a model as the judge, in every report, gated by name, and refused if bad."""

from __future__ import annotations

import json

import pytest

from pytest_personalens.core.judging.measure import name_of
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository, records
from tests.support.scripted_agents import BOT
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
def judged(repo: Repository, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository whose judge of criteria answers from a list, and then yes."""
    for name, value in endpoint.environment().items():
        monkeypatch.setenv(name, value)
    repo.write(conftest=BOT, test_bot=MARKED)
    answers = iter(["no", "cannot tell", "**Cannot tell**"])

    def answer(call: Call) -> Reply:
        if "<criterion>" not in call.prompt:
            return play(call)
        score = next(answers, "yes") if "names the price" in call.prompt else "yes"
        evidence = [] if "tell" in score else [quote_of(call)]
        return Reply(data={"evidence": evidence, "justification": "So it is.", "score": score})

    endpoint.answer = answer
    return repo


def test_criteria_are_a_column_a_note_a_gate_a_reading_of_the_baseline_and_stay_on_the_tape(
    judged: Repository, endpoint: Endpoint
) -> None:
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
    read_again = judged.command("report", "r.json", "--report", "-")
    read_again.stdout.fnmatch_lines(["*price-first*"])


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
    repo.write(conftest=BOT, test_bot=MARKED)
    result = repo.run(*SAMPLE)
    told = [line for line in result.outlines if "criteria are read by a model as the judge" in line]
    assert len(told) == 1
    assert told[0].endswith("not judged in 4 of 4 scenarios")
    assert not any("price-first" in line for line in result.outlines)
    gate = ("--personalens-gate", "criterion(price-first) >= 0.9")
    told_gate = "*--personalens-gate: criterion(price-first): criteria are read by a model*"
    assert_usage_error(repo.run(*SAMPLE, *gate), told_gate)


def test_a_gate_on_a_criterion_that_no_test_has_is_told_before_anything_is_bought(
    judged: Repository, endpoint: Endpoint
) -> None:
    gate = ("--personalens-gate", "criterion(price-frist) >= 0.9")
    told = "*--personalens-gate: criterion(price-frist): no test has it; known: price-first, says-at-the-end-goodbye*"
    assert_usage_error(judged.run(*SAMPLE, *JUDGE, *gate), told)
    assert not endpoint.calls


BAD = [
    ("'names the price'", "expected a list of texts, such as ['names the price'], not 'names the price'"),
    ("[]", "expected a list of texts, such as ['names the price'], not []"),
    ("['']", "criterion 1: expected a text with words, not ''"),
    ("['kind:']", "criterion 1: kind has a name and no text"),
    ("['a: b', 7]", "criterion 2: expected a text with words, not 7"),
    ("['a: b', 'c:  b ']", "criterion 2: 'b' stands there twice; leave one out"),
    ("['a: b', 'a: c']", "criterion 2: a: another criterion has that name"),
    ("['p: is kind']", "criterion 1: p: a reading of the suite has that name"),
    ("['long: ' + 'word ' * 2000]", "criterion 1: long has 2,000 words and 9,999 characters; the most are 100 and"),
]  # fmt: skip


def test_bad_criteria_are_told_in_one_line_with_the_test(repo: Repository) -> None:
    marked = {
        f"test_{n}": f"import pytest\n@pytest.mark.personalens(criteria={bad})\ndef test_it(personalens): ...\n"
        for n, (bad, _) in enumerate(BAD)
    }
    repo.write(conftest=BOT, **marked)
    told = repo.run("--personalens-sample", "1").outlines
    for n, (_, expected) in enumerate(BAD):
        line = f"test_{n}.py::test_it: personalens(criteria=...): {expected}"
        assert any(line in one for one in told), line


def test_bad_criteria_of_the_configuration_are_told_with_the_key(repo: Repository) -> None:
    repo.write(conftest=BOT)
    result = repo.run("--personalens-sample", "1", "-o", "personalens_criteria=a: b\na: c")
    assert_usage_error(result, "*personalens_criteria: criterion 2: a: another criterion has that name*")


def test_two_tests_may_not_give_one_name_two_meanings(repo: Repository) -> None:
    other = MARKED.replace("names the price", "names the fee")
    repo.write(conftest=BOT, test_bot=MARKED, test_other=other)
    result = repo.run("--personalens-sample", "1")
    result.stdout.fnmatch_lines(
        ["*price-first is also the name of another criterion of this run: 'names the price'*"]
    )


def test_the_name_of_a_text_alone_is_its_first_words() -> None:
    assert (
        name_of("Names the price before it books")
        == name_of("names the price before")
        == "names-the-price-before"
    )
    assert name_of("price_first: names it") == "price-first"
    assert name_of("x" * 99) == "x" * 24
    assert name_of(" ?! ") == ""
