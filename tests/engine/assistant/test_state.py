"""The fixture `personalens_state`: taken after the dialogue, kept with it, and safe whatever it gives."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository, calls
from tests.support.scripted_agents import MODELS, PAID

RUN = ("--personalens-sample=1", "--personalens-report=results.json", "--personalens-gate=none")
SHARED = '(scope="session")'
GIVES = """
    @pytest.fixture{scope}
    def personalens_state():
        {body}
"""


def bot(body: str, scope: str = "") -> str:
    return PAID + GIVES.format(scope=scope, body=body.replace("\n", "\n        "))


@pytest.fixture
def repo(paid: Repository) -> Repository:
    return paid


def items(repo: Repository) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = repo.results()["items"]
    return found


def live(repo: Repository, conftest: str, *more: str) -> dict[str, Any]:
    """The evaluation of a run whose models are paid for."""
    repo.write(conftest=conftest)
    repo.inline(*RUN, *MODELS, "--personalens-record=live", *more)
    found: dict[str, Any] = items(repo)[0]["evaluation"]
    return found


def state(evaluation: dict[str, Any]) -> Any:
    return evaluation["dialogue"]["state"]["data"]


@pytest.mark.parametrize(
    "body",
    [
        "return {'bookings': [{'guests': 3}]}",
        "return lambda: {'bookings': [{'guests': 3}]}",
        "return lambda context: {'bookings': [{'guests': 3}]} if context.user else {}",
        "async def state(context):\n    return {'bookings': [{'guests': 3}]}\nreturn state",
        "import functools\nasync def state(n):\n    return {'bookings': [{'guests': n}]}\nreturn functools.partial(state, 3)",
        "bookings = {'bookings': []}\ndef state():\n    bookings['bookings'].append({'guests': 3})\n    return bookings\nreturn state",
    ],
)
def test_a_mapping_or_a_callable_sync_or_async(repo: Repository, body: str) -> None:
    assert state(live(repo, bot(body))) == {"bookings": [{"guests": 3}]}


ODD = """
import dataclasses, datetime as dt, decimal, enum, sqlite3, types, uuid
@dataclasses.dataclass
class Table:
    seats: int
class Colour(enum.Enum):
    RED = "red"
base = sqlite3.connect(":memory:", check_same_thread=False)
base.row_factory = sqlite3.Row
return lambda: types.MappingProxyType({
    "at": dt.datetime(2026, 11, 27, 19, 30), "day": dt.date(2026, 11, 27), "price": decimal.Decimal("4.50"),
    "id": uuid.UUID(int=1), "colour": Colour.RED, "tags": {"b", "a"}, "table": Table(4), "ratio": float("nan"),
    "row": base.execute("SELECT 3 AS guests").fetchone(), 5: (1, 2), "long": dt.timedelta(hours=2),
    "half": "\\ud83d", "key": "sk-proj-0123456789abcdef",
})"""


def test_values_become_plain_and_secrets_are_masked(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-0123456789abcdef")
    assert state(live(repo, bot(ODD))) == {
        "at": "2026-11-27T19:30:00", "day": "2026-11-27", "price": "4.50", "id": "00000000-0000-0000-0000-000000000001",
        "colour": "red", "tags": ["a", "b"], "table": {"seats": 4}, "ratio": None, "row": {"guests": 3}, "5": [1, 2],
        "long": "120 minutes", "half": "?", "key": "***",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return lambda: None", "personalens_state gave None, which is no mapping: return a mapping"),
        ("return lambda: [1]", "personalens_state gave [1], which is no mapping"),
        ("return lambda: {'a': [{'f': object()}]}", "a[0].f holds object, which JSON cannot hold"),
        ("return lambda: {'n': 10 ** 5_000}", "n holds int, which JSON cannot hold"),
        ("a = {}\na['a'] = a\nreturn lambda: a", "lies more than 20 levels deep, or holds itself"),
        ("return lambda: {'a': list(range(10_001))}", "gave more than 10,000 values"),
        ("return lambda: {'a': 'x' * 200_001}", "gave more than 200,000 characters"),
        ("return lambda: {}['gone']", "personalens_state raised KeyError: 'gone' (conftest.py, line"),
        ("async def state():\n    raise OSError('no\\ndatabase')\nreturn state", "raised OSError: no database"),
        ("import time\nreturn lambda: time.sleep(9)", "did not answer within 0.3 s (personalens_turn_timeout)"),
        ("import asyncio\nasync def state():\n    await asyncio.sleep(9)\nreturn state", "did not answer within 0.3 s (personalens_turn_timeout)"),
        ("return lambda one: {}", "personalens_state raised TypeError"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_a_fault_in_one_line(repo: Repository, body: str, told: str) -> None:
    evaluation = live(repo, bot(body), "-opersonalens_turn_timeout=0.3")
    assert evaluation["cause"] == "assistant"
    assert told in evaluation["detail"] and "\n" not in evaluation["detail"]
    assert len(evaluation["dialogue"]["messages"]) == 6, "the dialogue is kept"


@pytest.mark.parametrize(
    ("body", "options", "told"),
    [
        ("return 5", (), "personalens: the fixture personalens_state returned int; it must return a mapping"),
        ("return {'a': 1}", ("-opersonalens_parallel=2", "--personalens-assistant=openai:x"), "must return a callable with a parameter `context` under personalens_parallel = 2"),
    ],
)  # fmt: skip
def test_a_fixture_that_no_run_can_use(
    repo: Repository, body: str, options: tuple[str, ...], told: str
) -> None:
    repo.write(conftest=bot(body, SHARED))
    assert told in repo.inline(*RUN, *options).stdout.str()


def test_a_bad_table_of_fields_is_one_line(repo: Repository) -> None:
    for line, told in (
        ("bookings.starts_at", "expected FIELD = FACT[, FACT], such as bookings.starts_at = date, time"),
        ("bookings..x = date", "found 'bookings..x = date'"),
        ("bookings[0].x = date", "expected FIELD = FACT"),
        ("a = date,", "expected FIELD = FACT"),
        ("a = date\n  a = time", "the field a stands there twice; leave one of the lines out"),
    ):
        repo.pytester.makeini(f"[pytest]\npersonalens_state =\n  {line}\n")
        assert_usage_error(repo.inline(*RUN), f"ERROR: *personalens_state: *{told.replace('[', '[[]')}*")


def test_each_dialogue_of_many_side_by_side_has_its_own(repo: Repository) -> None:
    body = "async def state(context):\n    return {'user': context.user, 'dialogue': context.dialogue}\nreturn state"
    repo.write(conftest=bot(body, SHARED).replace("@pytest.fixture\n", f"@pytest.fixture{SHARED}\n"))
    many = (*RUN, "--personalens-sample=8", *MODELS, "--personalens-record=live")
    repo.inline(*many, "-opersonalens_parallel=4")
    found = {item["nodeid"]: item["evaluation"] for item in items(repo)}
    assert all(state(one)["user"] == one["user"] for one in found.values())
    assert len({state(one)["dialogue"] for one in found.values()}) == 8
    repo.run(*many, "-n", "2")
    assert {i["nodeid"]: state(i["evaluation"]) for i in items(repo)} == {
        k: state(e) for k, e in found.items()
    }


CHANGES = "import os\nreturn lambda: {'bookings': [{'guests': int(os.environ.get('GUESTS', 3))}]}"


def test_a_verdict_is_replayed_in_the_same_state(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    args = (*RUN, *MODELS)
    repo.inline(*args, "--personalens-record=new")
    assert "state" not in items(repo)[0]["evaluation"]["dialogue"]
    with_state = bot(CHANGES)
    repo.write(conftest=with_state)
    repo.inline(*args)
    detail = items(repo)[0]["evaluation"]["detail"]
    assert "it holds no state of the system, and personalens_state gives one now" in detail
    assert "record it with --personalens-record new" in detail
    repo.inline(*args, "--personalens-record=new")
    calls(repo)
    assert repo.inline(*args).ret == 0
    assert calls(repo) == 0, "nothing is asked again"
    monkeypatch.setenv("GUESTS", "4")
    for conftest, told in (
        (with_state, "the state of the system differs at bookings[0].guests"),
        (PAID, "it holds a state of the system, and no personalens_state gives one now"),
    ):
        repo.write(conftest=conftest)
        repo.inline(*args)
        assert told in items(repo)[0]["evaluation"]["detail"]


def test_people_see_it_inert_and_cut(repo: Repository) -> None:
    body = "return {'notes': ['\\x1b[31m</script>' + 'y' * 900], 'guests': 3}"
    repo.write(conftest=bot(body).replace("score=dimension.scale.high", "score=dimension.scale.low"))
    run = ("--personalens-sample=1", *MODELS, "--personalens-record=live", "--personalens-report=page.html")
    printed = repo.inline(*run).stdout.str()
    shown = re.sub(r"\s+", "", printed)
    assert "thesystemholdsguests=3" in shown
    assert "\x1b[31m" not in printed
    assert "y" * 400 not in shown
    page = (repo.path / "page.html").read_text(encoding="utf-8")
    packed = re.search(r'<script type="text/plain" id="dialogues">(.*?)</script>', page, re.DOTALL)
    assert packed is not None
    data = json.loads(zlib.decompress(base64.b64decode(packed[1])))
    held = {data["texts"][path]: data["texts"][value] for path, value in data["items"][0]["state"]}
    assert held == {"notes[0]": "\x1b[31m</script>" + "y" * 900, "guests": "3"}


KILLED = """
import os
from pathlib import Path
kept = Path("kept.log")
def state(context):
    if os.environ.get("KILL") and kept.exists():
        os._exit(9)
    kept.write_text("once")
    return {"took": context.user}
return state"""


def test_a_resumed_run_keeps_the_state_it_has(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = bot(KILLED).replace(
        "return lambda messages: f", 'return lambda messages: called("assistant") or f'
    )
    repo.write(conftest=counted)
    args = (*RUN, "--personalens-sample=2", *MODELS, "--personalens-record=new", "--personalens-resume")
    monkeypatch.setenv("KILL", "1")
    repo.run_with_cache(*args)
    monkeypatch.delenv("KILL")
    log = repo.path / "calls.log"
    log.write_text("")
    assert repo.run_with_cache(*args).ret == 0
    evaluations = [item["evaluation"] for item in items(repo)]
    assert all(state(one) == {"took": one["user"]} for one in evaluations)
    assert log.read_text().count("assistant") == 3, "the dialogue without its state begins anew"
