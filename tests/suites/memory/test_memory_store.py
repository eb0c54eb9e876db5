"""The fixture `personalens_memory_store`: waits after a session, looks before the last, and names the step."""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.memory.arcs import ARC, DATA, GATE, REPORT, SUITE
from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository, records

#: A bot that stores late: when it is asked for the first time if it has. SAYS, FINDS, KEEPS and STORE are
#: filled in.
CONFTEST = """
import time, pytest
from pytest_personalens import MemoryStore

NOTES, WAITING = [], []

def own(context):
    return sorted(text for user, text, session in NOTES if user == context.user and session != context.session)

def read(context, question):
    return own(context) if {finds} else []

def idle(context):
    late = [note for note in WAITING if note[0] == context.user]
    for note in late:
        WAITING.remove(note)
        if {keeps}:
            NOTES.append(note)
    return not late

@pytest.fixture(scope="session")
def personalens_assistant():
    def reply(messages, context):
        note = (context.user, messages[-1]["content"], context.session)
        told = " ".join(read(context, note[1])) if {says} else ""
        WAITING.append(note)
        return "Done. " + told
    return reply

@pytest.fixture(scope="session")
def personalens_memory_store():
    return {store}
"""
ALL = "MemoryStore(settled=idle, read=read, all=own)"
FORGET = ARC.replace('kind = "recall"', 'kind = "forget"').replace("right", "wrong").replace(
    "What is the weather in Oban?", "Please forget what tea I drink."
)  # fmt: skip


@pytest.fixture
def repo(empty_repo: Repository) -> Repository:
    (empty_repo.path / "arcs.toml").write_text(ARC)
    (empty_repo.path / "forget.toml").write_text(FORGET)
    return empty_repo


def bot(repo: Repository, store: str, **faults: str) -> None:
    does = {"says": "True", "finds": "True", "keeps": "True", **faults}
    repo.write(conftest=CONFTEST.format(store=store, **does))


def arc(repo: Repository) -> Any:
    (item,) = repo.results()["items"]
    return item["evaluation"]


def test_a_late_store_is_waited_for(repo: Repository) -> None:
    run = (*SUITE, DATA, "arcs.toml", GATE, "memory >= 1", *REPORT)
    bot(repo, "None")
    assert repo.inline(*run).ret == 1
    assert "store" not in arc(repo)["dialogue"]
    assert "waited" not in arc(repo)
    bot(repo, ALL)
    result = repo.inline(*run, "--personalens-record", "new")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["memory store: waited 0.? s in the median after a session, 0.? s at most"])
    assert len(arc(repo)["waited"]) == 2
    looked = {"entries": 3, "residue": None, "values": [{"value": "rooibos", "entries": 1, "found": True}]}
    assert arc(repo)["dialogue"]["store"] == looked
    (file,) = records(repo)
    assert "waited" not in file.read_text()
    assert repo.inline(*run).ret == 0, "and the record holds"
    assert repo.results()["items"][0]["record"] == "replayed"


@pytest.mark.parametrize(
    ("faults", "store", "step"),
    [
        ({"keeps": "'rooibos' not in note[1]"}, ALL, "never stored"), ({"finds": "False"}, ALL, "stored and not found"), ({"says": "False"}, ALL, "found and not used"),
        ({"says": "False"}, "MemoryStore(settled=idle, all=own)", "stored and not used"), ({"finds": "False"}, "MemoryStore(settled=idle, read=read)", "not found"),
    ],
)  # fmt: skip
def test_a_failure_names_its_step(repo: Repository, faults: dict[str, str], store: str, step: str) -> None:
    bot(repo, store, **faults)
    result = repo.inline(*SUITE, DATA, "arcs.toml", *REPORT, GATE, "memory >= 1")
    result.stdout.fnmatch_lines([f"      why: does not say rooibos ({step})", f"memory store: *; values not said: 1 {step}"])  # fmt: skip
    (reason,) = arc(repo)["verdicts"][0]["reasons"]
    assert (reason["code"], reason["detail"]) == ("not-said", step)


def test_forget_looks_into_the_store(repo: Repository) -> None:
    run = (*SUITE, DATA, "forget.toml", GATE, "memory >= 1, residue <= 0")
    bot(repo, ALL)
    repo.inline(*run).stdout.fnmatch_lines(["      why: says rooibos (in the store)"])
    bot(repo, ALL, says="False")
    assert_ended(
        repo.inline(*run), 1,
        "memory store: waited *; still in the store: what was to be forgotten in 1 of 1 arc",
        "gate residue: FAILED, share of dialogues with what was to be forgotten still in the store 1.00 * > 0.00 over 1 arc",
        "gate memory: passed, *",
    )  # fmt: skip
    bot(repo, "MemoryStore(all=lambda context: [])", says="False")
    assert repo.inline(*run).ret == 0
    bot(repo, "MemoryStore(settled=idle)", says="False")
    nobody = "gate residue: FAILED (not decided), *: nobody looked; give the fixture personalens_memory_store with all*"
    repo.inline(*run).stdout.fnmatch_lines([nobody])


@pytest.mark.parametrize(
    ("store", "problem"),
    [
        ("MemoryStore(settled=lambda context: 1 / 0)", "personalens_memory_store: settled raised ZeroDivisionError: division by zero (conftest.py, line *"),
        ("MemoryStore(settled=lambda context: False, within=0.2)", "personalens_memory_store: settled did not end within 0.2 s"),
        ("MemoryStore(settled=lambda context: time.sleep(9), within=0.2)", "personalens_memory_store: settled did not end within 0.2 s"),
        ("MemoryStore(settled=lambda context: 'no')", "personalens_memory_store: settled returned str; it must return nothing once all is stored, or else False"),
        ("MemoryStore(all=lambda context: map(str, iter(int, 1)))", "personalens_memory_store: all returned more than 100,000 entries"),
        ("MemoryStore(read=lambda context, question: {'results': []})", "personalens_memory_store: read returned dict; it must return a text, or a list of a text for each entry"),
        ("MemoryStore(all=lambda context: ['a', {'memory': 'b'}])", "personalens_memory_store: all returned dict at place 1; it must return a text, or*"),
        ("MemoryStore(read=lambda context: [])", "personalens_memory_store: read raised TypeError*"),
    ],
)  # fmt: skip
def test_a_function_that_fails_is_one_line_of_a_kept_dialogue(
    repo: Repository, store: str, problem: str
) -> None:
    bot(repo, store)
    repo.inline(*SUITE, DATA, "arcs.toml", *REPORT)
    evaluation = arc(repo)
    assert evaluation["cause"] == "assistant"
    assert problem.rstrip("*") in evaluation["detail"]
    assert len(evaluation["dialogue"]["messages"]) >= 4


@pytest.mark.parametrize(
    ("store", "problem"),
    [
        ("dict(all=own)", "returned dict; it must return pytest_personalens.MemoryStore(settled=..., read=..., all=...)"),
        ("MemoryStore()", "returned a MemoryStore that has no function; give at least one of settled, read and all"),
        ("MemoryStore(all=[])", "returned a MemoryStore that has list as all; it must be a function, sync or async"),
        ("MemoryStore(all=own, within=0)", "returned a MemoryStore that has within=0; it must be a number of seconds above 0"),
    ],
)  # fmt: skip
def test_a_store_that_cannot_be_used_is_told_once(repo: Repository, store: str, problem: str) -> None:
    bot(repo, store)
    told = f"*personalens: the fixture personalens_memory_store {problem.replace('[', '[[]')}*"
    assert_ended(repo.inline(*SUITE, DATA, "arcs.toml"), 1, told)


def test_async_functions_side_by_side(repo: Repository) -> None:
    functions = """
async def asettled(context):
    while not idle(context):
        await __import__("asyncio").sleep(0.02)

async def aall(context):
    return own(context)
"""
    bot(repo, "MemoryStore(settled=asettled, all=aall)" + functions)
    two = ARC + ARC[ARC.index("[[arcs]]") :].replace('id = "tea"', 'id = "again"').replace('"ada"', '"bo"')
    (repo.path / "arcs.toml").write_text(two)
    run = (*SUITE, DATA, "arcs.toml", GATE, "memory >= 1", "-o", "personalens_parallel=2")
    assert repo.inline(*run).ret == 0
