"""Our own questions: each answer is in its person's sessions, and a run needs no key."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.agents.embedded.reader.text import mentions
from pytest_personalens.core.errors import DataError
from pytest_personalens.datasets.dataset import read_toml
from pytest_personalens.datasets.embedded.dataset_files import EmbeddedFiles
from pytest_personalens.suites.questions.questions import ANSWER, CHOICE, EmbeddedJudge, Question, _in_digits
from pytest_personalens.suites.questions.questions_suite import OWN_DOMAINS, open_questions
from tests.suites.personaconv.arguments import gates
from tests.suites.questions.layouts import SUITE
from tests.suites.questions.test_judging import said
from tests.support.datasets.make_data import questions
from tests.support.processes.commands import check_dataset
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import ROOT, Repository, records

FOLDER = ROOT / "data" / "suites" / "questions"
REPORT = ("--personalens-report", "results.json")
#: Answers with the remembered message that has most words of the question. EMPTY takes its memory away.
BOT = """
import os, re
import pytest

def words(text):
    return set(re.findall("[a-z]{4,}", text.lower()))

@pytest.fixture
def personalens_assistant(personalens_context):
    said = [(s.date, m["content"]) for s in personalens_context.sessions for m in s.messages]
    said = [] if "EMPTY" in os.environ else said

    def reply(messages):
        asked = words(messages[-1]["content"])
        date, best = max(said, key=lambda m: len(asked & words(m[1])), default=("", ""))
        return f"On {date}: {best}" if len(asked & words(best)) > 1 else "I do not know that."

    return reply
"""


@pytest.fixture(scope="module")
def own() -> list[Question]:
    dataset = open_questions("embedded", Path(), by_value=True)
    return [dataset.load(ref) for user in dataset.users() for ref in dataset.refs(user)]


def test_there_are_enough_of_each_type(own: list[Question]) -> None:
    found = Counter(question.domains[0] for question in own if question.kind == "answer")
    assert sum(found.values()) >= 80
    assert all(found[kind] >= 12 for kind in OWN_DOMAINS)
    assert len({question.user for question in own}) >= 10


def test_each_answer_is_in_the_sessions_and_nothing_else_is(own: list[Question]) -> None:
    past = {question.user: question.sessions for question in own}

    def days(user: str, value: str) -> list[str]:
        told = ((s.date, m["content"]) for s in past[user] for m in s.messages)
        return [date for date, text in told if mentions(_in_digits(value), _in_digits(text))]

    entries: list[tuple[str, Any]] = [(k, raw) for k in OWN_DOMAINS for raw in read_toml(FOLDER / f"{k}.toml")["questions"]]  # fmt: skip
    for kind, raw in entries:
        user = raw["user"]
        if kind == "when":
            assert raw["date"] in {session.date for session in past[user]}, raw
        elif kind == "abstain":
            assert not [word for word in raw["absent"] if days(user, word)], raw
        else:
            assert any(days(user, way) for way in raw["answer"]), raw
        if kind == "latest":
            first = min(days(user, raw["wrong"][0]), default="never")
            assert first <= max(day for way in raw["answer"] for day in days(user, way)), raw


def test_the_judge_reads_a_right_and_a_wrong_reply_to_each(own: list[Question]) -> None:
    judge = EmbeddedJudge()
    for question in own:
        expected, measure = question.expected, CHOICE if question.kind == "choice" else ANSWER
        right = expected.letter or (expected.ways[0] if expected.ways else "I do not know")
        wrong = (*expected.wrong, "a green hat")[0] if not expected.letter else "AB"[expected.letter == "A"]
        assert judge.verdict(question, said(f"It is {right}."), measure).score == 1, question.item
        assert judge.verdict(question, said(f"It is {wrong}."), measure).score == 0, question.item


@pytest.mark.slow
def test_a_run_needs_no_key_and_shows_its_control(
    empty_repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_repo.write(conftest=BOT)
    gated = "answer >= 0.3, abstain: answer >= 0.8, lift(answer, no-history) >= 0.2, lift(choice, no-history) >= 0.2"
    page = ("--personalens-report", "r.html")
    result = empty_repo.inline(*SUITE, "all", "--personalens-gate", gated, *REPORT, *page)
    assert result.ret == 0
    result.stdout.fnmatch_lines([
        "choice: 71 items, * read              H no-history  lift",
        "answer: 99 items, 99 read              H no-history  lift",
        "by domain (items)*choice*answer",
        "  abstain*-*(14)",
        "  latest*(16)*(16)",
        "left out of 99 rows: none*",
        "leaks: none in 340 requests",
    ])  # fmt: skip
    assert all(gate["passed"] for gate in gates(empty_repo).values())
    shown = (empty_repo.path / "r.html").read_text(encoding="utf-8")
    assert shown.count("<h3>By distance: messages since it was last said,") == 1
    assert shown.count(">up to 10<") == shown.count(">31 to 100<") == 1
    assert "the same questions without the history" in shown
    monkeypatch.setenv("EMPTY", "1")
    red = ("--personalens-gate=who: answer >= 0.9, choice >= 0.9", "--personalens-baseline=results.json")
    result = empty_repo.inline(*SUITE, "all", *red)
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "E   Right answer in who is 0.*",
        "question-*: answer 1 -> 0",
        "      user *[?] (right: *)",
        "    + now  *",
        "E   Right choice is 0.*",
        "      user *[?] (right: [ABCD]) *)",
        "by domain (items)*choice*answer",
        "  who*(23)*(23)",
        "gate who: answer: FAILED*",
    ])  # fmt: skip


def test_the_control_can_be_put_off_and_the_command_says_so(empty_repo: Repository) -> None:
    empty_repo.write(conftest=BOT)
    result = empty_repo.inline(*SUITE, "2", "--personalens-control", "off", "-o", "personalens_context=none")
    assert sum(result.parseoutcomes().get(name, 0) for name in ("passed", "failed")) == 2
    result.stdout.fnmatch_lines(["again:*-o personalens_context=none*--personalens-control off*"])
    assert_usage_error(
        empty_repo.inline(*SUITE, "2", "-o", "personalens_context=none"),
        "ERROR: *(personalens_context = none)*; add --personalens-control off",
    )


def test_records_replay_a_question(empty_repo: Repository) -> None:
    empty_repo.write(conftest=BOT)
    empty_repo.inline(*SUITE, "3", "--personalens-record", "new", "--personalens-gate", "none", *REPORT)
    first = empty_repo.results()["items"]
    assert len(records(empty_repo)) == 6
    empty_repo.inline(*SUITE, "3", "--personalens-gate", "none", *REPORT)
    again = empty_repo.results()["items"]
    for old, new in zip(first, again, strict=True):
        assert new["evaluation"]["verdicts"] == old["evaluation"]["verdicts"]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("recall", 'user = "nobody"\nasks = "What?"\nanswer = ["a"]', "questions.1.user: 'nobody' is nobody of the embedded people"),
        ("recall", 'user = "aino"\nasks = "What?"\nanswer = []', "questions.1.answer: expected a list of 1 or more, not nothing"),
        ("latest", 'user = "aino"\nasks = "What?"\nanswer = ["a"]\nwrong = ["a"]', "questions.1.wrong: the right answer is among the wrong ones"),
        ("when", 'user = "aino"\nasks = "When?"\ndate = "May"', "questions.1.date: expected a day such as 2025-03-04"),
    ],
)  # fmt: skip
def test_a_bad_question_is_one_line(tmp_path: Path, file: str, text: str, problem: str) -> None:
    (tmp_path / f"{file}.toml").write_text(f"[[questions]]\n{text}\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{file}\.toml: ") as raised:
        list(questions(EmbeddedFiles(ROOT / "data"), tmp_path))
    assert problem in str(raised.value)


def test_check_dataset_counts_by_kind_and_type(
    own: list[Question], capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_dataset(["questions"]) == 0
    told = dict(line.split() for line in capsys.readouterr().out.splitlines() if len(line.split()) == 2)
    assert told["questions"] == str(len(own))
    assert told["choice"] == str(sum(question.kind == "choice" for question in own))
    assert told["when"] == str(sum(question.domains == ("when",) for question in own))
