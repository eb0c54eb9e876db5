"""The readers of the benchmarks: counts, what the assistant is given, and one line for bad input."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.core.errors import DataError, PersonalensError
from pytest_personalens.core.files.jsonfile import JsonWindow, read_at
from pytest_personalens.suites.questions import benchmarks
from pytest_personalens.suites.questions.questions import Question
from pytest_personalens.suites.questions.questions_suite import QuestionsDataset, open_questions
from tests.suites.questions import layouts
from tests.suites.questions.layouts import DATA, SECRET, SUITE
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository

#: Writes down all that it gets, and finds the right answer nowhere.
SPY = """
import pytest

@pytest.fixture
def personalens_assistant(personalens_context):
    def reply(messages):
        with open("heard.txt", "a") as log:
            print(personalens_context.model_dump_json(), personalens_context.text(), messages, file=log)
        return "I do not know."
    return reply
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(tmp_path / "cache"))


def opened(spec: str, *, by_value: bool = False) -> QuestionsDataset:
    return open_questions(spec, Path(), by_value=by_value)


def questions(dataset: QuestionsDataset) -> list[Question]:
    return [dataset.load(ref) for user in dataset.users() for ref in dataset.refs(user)]


@pytest.mark.parametrize(
    ("form", "kind", "told"),
    [("explicit", "pref", 2), ("choice-based", "pref", 4), ("persona-driven", "pref", 22), ("mcq", "choice", 2)],
)  # fmt: skip
def test_prefeval_has_each_topic_in_each_form(tmp_path: Path, form: str, kind: str, told: int) -> None:
    layouts.prefeval(tmp_path)
    dataset = opened(f"prefeval:{tmp_path}?form={form}&distance=4")
    assert dataset.counts() == {kind: 6}
    assert dataset.domains() == ["topic_a", "topic_b"]
    for question in questions(dataset):
        (session,) = question.sessions
        assert len(session.messages) == told + 2 * 4
        assert [m["role"] for m in session.messages] == ["user", "assistant"] * (told // 2 + 4)


def test_prefeval_stands_in_its_order_at_its_distance_which_is_part_of_the_name(tmp_path: Path) -> None:
    root = layouts.prefeval(tmp_path)
    persona = questions(opened(f"prefeval:{root}?form=persona-driven&distance=0"))[0].sessions[0]
    said = [m["content"] for m in persona.messages if m["role"] == "user"]
    assert said == [f"Turn {n}." for n in range(11)]  # and not 0, 1, 10, 2
    dataset = opened(f"prefeval:{root}")
    assert dataset.name == "prefeval?form=explicit&distance=10"
    question = questions(dataset)[0]
    messages = question.sessions[0].messages
    assert (len(messages), messages[2]["content"]) == (22, "Talk 0, user 0.")
    assert question.expected.answer.startswith("I never want topic_")
    several = questions(opened(f"prefeval:{root}?form=mcq&distance=4,0"))
    assert [(len(q.sessions[0].messages), q.distance) for q in several] == [(2, 0), (10, 4)] * 6
    assert len({q.id for q in several}) == 12


FARTHER = {
    "haystack_session_ids": ["answer_1", *(f"other_{n}" for n in range(9))],
    "haystack_dates": [f"2023/05/{n + 1:02} (Sat) 02:21" for n in range(10)],
    "haystack_sessions": [[{"role": "user", "content": f"I saw bird {n}."}] for n in range(10)],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "title", "ranges"),
    [
        ("longmemeval:{}/s.json", "sessions since it was last said", ["up to 5", "6 to 15"]),
        ("personamem:{}", "tokens since it was said", ["up to 4,000", "16,001 to 64,000"]),
        ("prefeval:{}?form=mcq&distance=0,4,10", "exchanges since it was said", ["0", "4", "10"]),
    ],
)
def test_scores_by_distance(
    tmp_path: Path, empty_repo: Repository, spec: str, title: str, ranges: list[str]
) -> None:
    layouts.prefeval(tmp_path)
    layouts.personamem(tmp_path)
    near = [layouts.longmemeval_entry(n, "multi-session") for n in range(3)]
    far = [layouts.longmemeval_entry(n, "multi-session", **FARTHER) for n in range(3, 6)]
    layouts.write(tmp_path / "s.json", [*near, *far])
    empty_repo.write(conftest=SPY)
    reports = [word for name in ("r.html", "r.md", "r.json") for word in ("--personalens-report", name)]
    empty_repo.inline(*SUITE, "all", DATA, spec.format(tmp_path), *reports, "--personalens-gate", "none")
    page, text = ((empty_repo.path / name).read_text(encoding="utf-8") for name in ("r.html", "r.md"))
    assert page.count(f"<h3>By distance: {title},") == 1
    _, _, table = text.partition(f"### By distance: {title}, with the questions of each\n\n")
    rows = [line.split("|")[1].strip() for line in table.split("\n\n")[0].splitlines()[2:]]
    assert rows == ranges
    for name in ranges:
        assert f'<th scope="row">{name}</th>' in page
    kept = json.loads((empty_repo.path / "r.json").read_text(encoding="utf-8"))["scenarios"]
    assert [one["sessions"] for one in kept.values()] == [[]] * len(kept), "half a megabyte each"
    assert empty_repo.command("report", "r.json", "--report", "again.html").ret == 0
    assert f"<h3>By distance: {title}," in (empty_repo.path / "again.html").read_text(encoding="utf-8")


def test_longmemeval_has_each_type_and_the_questions_without_an_answer(tmp_path: Path) -> None:
    file = layouts.longmemeval(tmp_path / "longmemeval_oracle.json")
    found = questions(opened(f"longmemeval:{file}"))
    assert Counter(q.domains[0] for q in found) == dict.fromkeys(layouts.TYPES, 2) | {"abstain": 6}
    question = found[0]
    days = [(s.id, s.date, s.time) for s in question.sessions]
    assert days == [("s1", "2023-05-20", "02:21"), ("s2", "2023-05-21", "18:00")]
    assert question.now is not None
    assert (question.now.date, question.now.time) == ("2023-06-01", "09:30")
    assert {key for s in question.sessions for m in s.messages for key in m} == {"role", "content"}
    assert [q.distance for q in found] == [1] * 12 + [None] * 6, "sessions since the one with the answer"


def test_without_a_model_longmemeval_has_what_a_value_decides(tmp_path: Path) -> None:
    answers: tuple[Any, ...] = ("You went there with your sister on the day before.", 3)
    more = [layouts.longmemeval_entry(90 + n, "multi-session", answer=a) for n, a in enumerate(answers)]
    entries = json.loads(layouts.longmemeval(tmp_path / "s.json").read_text(encoding="utf-8"))
    file = layouts.write(tmp_path / "s.json", [*entries, *more])
    dataset = opened(f"longmemeval:{file}", by_value=True)
    assert dataset.counts() == {"answer": 17}
    assert Counter(reason for _, reason in dataset.left_out) == {"needs-model": 3}
    assert "single-session-preference" not in dataset.domains()


def test_a_file_of_longmemeval_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = layouts.longmemeval(tmp_path / "s.json")
    first = opened(f"longmemeval:{file}")

    monkeypatch.setattr(JsonWindow, "__init__", None)
    again = opened(f"longmemeval:{file}")
    assert (again.version, questions(again)) == (first.version, questions(first))
    (index,) = (tmp_path / "cache").glob("longmemeval-*.index")
    content = index.read_text(encoding="utf-8")
    assert SECRET not in content
    assert "yellow bird" not in content
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(TypeError):  # it is read again
        opened(f"longmemeval:{file}")


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "loaded"), [(100, 100), (150, 100)])
def test_of_a_large_sample_only_a_part_is_held_before_the_run(
    tmp_path: Path, empty_repo: Repository, monkeypatch: pytest.MonkeyPatch, questions: int, loaded: int
) -> None:
    entries = [layouts.longmemeval_entry(n, "multi-session") for n in range(questions)]
    read = list[int]()

    def counted(path: Path, start: int, size: int) -> dict[str, Any]:
        read.append(start)
        return read_at(path, start, size)

    monkeypatch.setattr(benchmarks, "read_at", counted)
    spec = f"longmemeval:{layouts.write(tmp_path / 's.json', entries)}"
    empty_repo.write(conftest=SPY)
    empty_repo.inline(*SUITE, "all", DATA, spec, "--collect-only", "-q")
    assert len(set(read)) == loaded


def test_personamem_has_the_types_and_slices(tmp_path: Path) -> None:
    layouts.personamem(tmp_path)
    found = questions(opened(f"personamem:{tmp_path}"))
    assert [q.domains for q in found] == [
        ("health", "somebody-else"), ("ask_to_forget", "updated"), ("health",), ("ask_to_forget",)
    ]  # fmt: skip
    question = found[0]
    assert question.profile == "The user is a diver."
    assert [m["role"] for m in question.sessions[0].messages] == ["user", "user", "assistant"]
    assert [q.distance for q in found] == [None, 20_713, 3_000, 20_713], "0 says that it was not found"
    assert question.digest == question.model_copy(update={"distance": 5}).digest
    assert question.asks.startswith("What's for supper, number 0?\n\nWhich of these")
    right = question.expected.options["ABCD".index(question.expected.letter)]
    assert right == "Soup number 0"


def test_options_are_shuffled_and_the_same_in_each_process(tmp_path: Path) -> None:
    link = layouts.personamem_row(0)["chat_history_32k_link"]
    rows = [layouts.personamem_row(n, persona_id=str(n // 2 if n > 1 else 0), chat_history_32k_link=link) for n in range(40)]  # fmt: skip
    dataset = opened(f"personamem:{layouts.personamem(tmp_path, rows)}")
    letters = "".join(q.expected.letter for q in questions(dataset))
    assert all(4 <= letters.count(letter) <= 16 for letter in "ABCD")
    assert letters.startswith("CCACBCDAABDCDCDDCBBD")


@pytest.mark.slow
def test_rows_that_give_no_question_are_reported(tmp_path: Path, empty_repo: Repository) -> None:
    (tmp_path / "x").mkdir()
    history = {"chat_history": [{"role": "user", "content": "A secret."}]}
    outside = layouts.write(tmp_path / "outside.json", history)
    rows = [
        layouts.personamem_row(0),
        layouts.personamem_row(1, incorrect_answers="[]"),
        layouts.personamem_row(9),
        layouts.personamem_row(2, chat_history_32k_link=f"../{outside.name}"),
    ]
    layouts.personamem(tmp_path / "data", rows)
    empty_repo.write(conftest=SPY)
    spec = f"personamem:{tmp_path}/x/../data"
    result = empty_repo.inline(*SUITE, "all", DATA, spec, "-v", "--personalens-gate", "none")
    result.stdout.fnmatch_lines([
        "left out of 4 rows: 1 it has one option only, 2 its history is not there*",
        "*left out, row 2: it has one option only",
        "*left out, row 3: its history is not there",
        "*left out, row 4: its history is not there",
    ])  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["prefeval:{}?form=mcq", "longmemeval:{}/s.json", "personamem:{}"])
def test_no_gold_field_reaches_the_assistant(tmp_path: Path, empty_repo: Repository, spec: str) -> None:
    layouts.prefeval(tmp_path)
    layouts.longmemeval(tmp_path / "s.json")
    layouts.personamem(tmp_path)
    empty_repo.write(conftest=SPY)
    plain = ("--personalens-gate", "none", "--personalens-control", "off")
    result = empty_repo.inline(*SUITE, "all", DATA, spec.format(tmp_path), *plain)
    assert result.ret == 0
    heard = (empty_repo.path / "heard.txt").read_text(encoding="utf-8")
    assert SECRET not in heard
    hidden = "has_answer answer_1 _abs abstain temporal-reasoning ask_to_forget metadata distance 20713"
    assert [word for word in hidden.split() if word in heard] == []
    history = ("yellow bird", "I never want", "I like soup")
    assert any(text in heard for text in history), "so it is given the history"


def bad_prefeval(root: Path, form: str, name: str, value: Any) -> str:
    layouts.prefeval(root)
    folders = {"mcq": "mcq_options", "explicit": "explicit_preference"}
    file = root / "benchmark_dataset" / folders.get(form, f"implicit_preference/{form}") / "topic_a.json"
    rows = json.loads(file.read_text(encoding="utf-8"))
    rows[1][name] = value
    layouts.write(file, rows)
    return f"prefeval:{root}?form={form}"


def bad_longmemeval(root: Path, **changes: Any) -> str:
    entries = [layouts.longmemeval_entry(n, "multi-session", **(changes if n else {})) for n in range(2)]
    return f"longmemeval:{layouts.write(root / 's.json', entries)}"


def bad_personamem(root: Path, **changes: str) -> str:
    rows = [layouts.personamem_row(0), layouts.personamem_row(1, **changes)]
    return f"personamem:{layouts.personamem(root, rows)}"


def bad_history(root: Path, message: dict[str, Any]) -> str:
    layouts.personamem(root)
    layouts.write(root / "data/chat_history_32k/chat_history_persona0.json", {"chat_history": [message]})
    return f"personamem:{root}"


GOLD = [[{"role": "user", "content": "Hi", "correct_answer": "Soup"}]]
BAD: list[tuple[Callable[[Path], str], str]] = [
    (lambda root: bad_prefeval(root, "explicit", "question", ""), "topic_a.json: [1].question: expected a text, not nothing"),
    (lambda root: bad_prefeval(root, "choice-based", "aligned_op", "green"), "topic_a.json: [1].aligned_op: the right option is not among the options"),
    (lambda root: bad_prefeval(root, "mcq", "classification_task_options", ["one"]), "topic_a.json: [1].classification_task_options: expected a list of 2 or more, not ['one']"),
    (lambda root: bad_prefeval(root, "mcq", "classification_task_options", ["one", "one"]), "topic_a.json: [1].classification_task_options: an option is there twice"),
    (lambda root: f"prefeval:{root}/nowhere", "nowhere: no such folder; give that of PrefEval, with benchmark_dataset/ in it"),
    (lambda root: f"prefeval:{root}?form=mcq", "mcq_options: no topic is there; give the folder of PrefEval with benchmark_dataset/ in it"),
    (lambda root: f"prefeval:{layouts.prefeval(root)}?distance=13", "distance=13: filtered_inter_turns.json has 12 exchanges; give less"),
    (lambda root: bad_longmemeval(root, question_type="trivia"), "s.json: [1].question_type: 'trivia' is no type of LongMemEval"),
    (lambda root: bad_longmemeval(root, haystack_dates=["2023/05/20 (Sat) 02:21"]), "s.json: [1].haystack_dates: 1 of 2 sessions; each needs one"),
    (lambda root: bad_longmemeval(root, haystack_session_ids=["a"]), "s.json: [1].haystack_session_ids: 1 of 2 sessions; each needs one"),
    (lambda root: bad_longmemeval(root, answer_session_ids="answer_1"), "s.json: [1].answer_session_ids: expected a list, not 'answer_1'"),
    (lambda root: bad_longmemeval(root, question_date="2023/13/01 (Sat) 02:21"), "s.json: [1].question_date: expected a date such as 2023/05/20 (Sat) 02:21, not '2023/13/01 (Sat) 02:21'"),
    (lambda root: bad_longmemeval(root, haystack_dates=["2023/05/20 (Sat) 02:21"], haystack_session_ids=["a"], haystack_sessions=GOLD), "s.json: [1].haystack_sessions[0][0].correct_answer: a message of a history has role and content only; take it out"),
    (lambda root: bad_longmemeval(root, answer=""), "s.json: [1].answer: expected a text, not nothing"),
    (lambda root: f"longmemeval:{layouts.write(root / 's.json', {'a': 1})}", "s.json: expected a list of questions; it is no file of LongMemEval"),
    (lambda root: f"longmemeval:{layouts.write(root / 's.json', '[{')}", "s.json: not valid JSON: it ends too early and was cut off; get it again (line 1, byte 3)"),
    (lambda root: bad_personamem(root, user_query='{"role": "user", "content": null}'), "benchmark.csv: row 2.user_query: expected a literal of Python, such as {'role': 'user', ...}; it is JSON"),
    (lambda root: bad_personamem(root, user_query="__import__('os').system('true')"), "benchmark.csv: row 2.user_query: expected a literal of Python, such as {'role': 'user', ...}; it is neither that nor JSON"),
    (lambda root: bad_personamem(root, incorrect_answers="['Fish', 'Rice']"), "benchmark.csv: row 2.incorrect_answers: expected a list of texts in JSON; it is a literal of Python"),
    (lambda root: bad_personamem(root, incorrect_answers='["Soup number 1", "Rice"]'), "benchmark.csv: row 2.incorrect_answers: an option is there twice, or is the right one"),
    (lambda root: bad_personamem(root, correct_answer=""), "benchmark.csv: row 2.correct_answer: expected a text, not nothing"),
    (lambda root: f"personamem:{layouts.personamem(root, [{'persona_id': '1', 'question': 'x'}])}", "benchmark.csv: user_query: the column is missing; it is no table of PersonaMem-v2"),
    (lambda root: bad_personamem(root, distance_from_related_snippet_to_query_32k="far"), "benchmark.csv: row 2.distance_from_related_snippet_to_query_32k: expected a number of tokens, not 'far'"),
    (lambda root: bad_history(root, {"role": "user", "content": "Hi", "preference": "soup"}), "chat_history_persona0.json: chat_history[0].preference: a message of a history has role and content only; take it out"),
    (lambda root: bad_history(root, {"role": "tool", "content": "Hi"}), "chat_history_persona0.json: chat_history[0].role: expected user or assistant or system, not 'tool'"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "problem"), BAD, ids=[problem[:60] for _, problem in BAD])
def test_bad_input_is_one_line_with_field(tmp_path: Path, make: Callable[[Path], str], problem: str) -> None:
    spec = make(tmp_path)
    with pytest.raises(PersonalensError) as raised:
        questions(opened(spec))
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_a_table_of_another_split_is_one_line(tmp_path: Path, empty_repo: Repository) -> None:
    """The splits for training have no long histories, and older ones no column that names a history."""
    link = "chat_history_{}_link".format
    none = {link("32k"): "", link("128k"): ""}
    tables: list[tuple[str, list[dict[str, str]], str]] = [
        ("128k", [layouts.personamem_row(n, **{link("128k"): ""}) for n in range(2)], f"{link('128k')}: no row names a history of 128k tokens; give tokens=32k"),
        ("32k", [layouts.personamem_row(n, **none) for n in range(2)], f"{link('32k')}: no row names a history of 32k tokens; get the split `benchmark`"),
        ("32k", [{k: v for k, v in layouts.personamem_row(0).items() if "link" not in k}], f"{link('32k')}: no row names a history of 32k tokens; get the split `benchmark`"),
        ("32k", [{k: v for k, v in layouts.personamem_row(0).items() if k != "pref_type"}], "pref_type: the column is missing; it is no table of PersonaMem-v2"),
    ]  # fmt: skip
    empty_repo.write(conftest=SPY)
    for tokens, rows, problem in tables:
        spec = f"personamem:{layouts.personamem(tmp_path / 'data', rows)}?tokens={tokens}"
        assert_usage_error(empty_repo.inline(*SUITE, "1", DATA, spec), f"ERROR: *benchmark.csv: {problem}*")
    file = f"personamem:{tmp_path}/data/benchmark/text/benchmark.csv"
    assert_usage_error(
        empty_repo.inline(*SUITE, "1", DATA, file),
        "ERROR: *no such file; give the folder of PersonaMem-v2, with benchmark/ and data/ in it*",
    )


def test_preferences_without_a_model_are_refused_with_what_to_do(tmp_path: Path) -> None:
    layouts.prefeval(tmp_path)
    told = (
        "6: only a model can judge this answer: give --personalens-judge-model SPEC; form=mcq needs no model"
    )
    with pytest.raises(DataError, match=told):
        opened(f"prefeval:{tmp_path}", by_value=True)
    assert opened(f"prefeval:{tmp_path}?form=mcq", by_value=True).counts() == {"choice": 6}


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((DATA, "prefeval:x"), "*--personalens-data prefeval:x: is data of the suite questions; add --personalens-suite questions"),
        (("--personalens-suite", "questions", DATA, "somewhere"), "*expected embedded, prefeval:DIR, longmemeval:FILE or personamem:DIR"),
        (("--personalens-suite", "questions", DATA, "prefeval:x?distance=far"), "*distance: expected whole numbers, such as 0,10, not 'far'"),
        (("--personalens-suite", "questions", DATA, "personamem:x?tokens=1m"), "*tokens: expected one of 32k, 128k, not '1m'"),
        (("--personalens-suite", "questions", DATA, "longmemeval:x?distance=1"), "*unknown option 'distance' of longmemeval; it has none"),
        (("--personalens-suite", "questions", DATA, "longmemeval:x"), "*x: cannot be read: No such file or directory"),
    ],
)  # fmt: skip
def test_a_wrong_spec_is_one_line(empty_repo: Repository, args: tuple[str, ...], problem: str) -> None:
    empty_repo.write(conftest=SPY)
    assert_usage_error(empty_repo.inline("--personalens-sample", "1", *args), f"ERROR: {problem}")
