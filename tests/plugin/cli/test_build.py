"""A dataset of one's own domains: by hand, and by a scripted model behind real HTTP."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes.runs import assert_ended, assert_usage_error
from tests.support.repository import ROOT, Repository
from tests.support.servers.author import author
from tests.support.servers.endpoint import Call, Endpoint, Reply

PHARMACY = ROOT / "example_project" / "pharmacy"
#: Calls that twelve people, 29 histories and twelve tasks take: one for each piece.
PIECES = 12 + 2 * 12 + 29
MODEL = "--model=openai:gpt-4o-mini"
BUILD = (sys.executable, "-m", "pytest_personalens", "build", "plan.toml", MODEL, "--out=own")


@pytest.fixture
def writer(empty_repo: Repository, endpoint: Endpoint) -> Endpoint:
    """A model that writes datasets, and the plan of the example."""
    endpoint.answer = author
    shutil.copy(PHARMACY / "plan.toml", empty_repo.path)
    return endpoint


def build(repo: Repository, *options: str, out: str = "own", users: int = 12) -> pytest.RunResult:
    return repo.command("build", "plan.toml", f"--users={users}", MODEL, "--out", out, *options)


def dataset(folder: Path) -> dict[str, str]:
    """The files of a dataset by path, without those of its pieces."""
    files = (file for file in folder.rglob("*.toml") if ".pieces" not in file.parts)
    return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}


def faulty(mark: str, text: str, *, times: int = 1) -> Callable[[Call], Reply]:
    """The author, whose first answers to prompts with a mark are another text."""
    given: list[str] = []

    def answer(call: Call) -> Reply:
        if mark in call.prompt and len(given) < times:
            given.append(call.prompt)
            return Reply(text)
        return author(call)

    return answer


def rewrite(folder: Path, *changes: tuple[str, str]) -> None:
    """Replace patterns in every file of a folder; ``{name}`` in what replaces them is the file's."""
    for file in folder.glob("*.toml"):
        text = file.read_text(encoding="utf-8")
        for pattern, new in changes:
            text = re.sub(pattern, new.format(name=file.stem), text)
        file.write_text(text, encoding="utf-8")


def test_by_hand_leads_from_nothing_to_a_dataset_that_runs(empty_repo: Repository) -> None:
    by_hand = ("build", "--by-hand", "own", "--domains=Prescriptions, Advice", "--people=Orla Quinn, Tom Ode")
    own = empty_repo.path / "own"
    files = [f"written: own/{name}.toml" for name in ("dataset", "domains/prescriptions", "domains/advice")]
    to_do = 'own/domains/advice.toml: line 3: description = "TODO *'
    assert_ended(empty_repo.command(*by_hand), 1, *files, to_do, "28 to do; then run the same command again")
    rewrite(own / "domains", ("TODO ", ""))
    files = [f"written: own/profiles/{name}.toml" for name in ("orla", "tom")]
    choice = '*"Hand-Over" = "TODO one of: pick-up, courier, locker"'
    assert_ended(empty_repo.command(*by_hand), 1, *files, choice)
    ways = ("TODO one of: pick-up, courier, locker", "drone")
    rewrite(own / "profiles", ways, ("TODO two to six.*", '{name} had the locker."'), ("TODO ", ""))
    unknown = "domains.Prescriptions.Hand-Over: 'drone' is not one of: pick-up, courier, locker"
    assert_ended(empty_repo.command(*by_hand), 1, f"*orla.toml: {unknown}", "4 to do; *")
    rewrite(own / "profiles", ("drone", "locker"))
    size = "own 1: 2 people, 2 domains, 2 tasks, 4 scenarios, *"
    assert_ended(empty_repo.command(*by_hand), 0, size, "complete; run: pytest *")
    empty_repo.bot("'Done.'")
    run = empty_repo.inline("--personalens-sample=9", "--personalens-data=own", "--personalens-gate=none")
    run.stdout.fnmatch_lines(["overall            4       4 *"])


@pytest.mark.slow
def test_a_model_makes_a_dataset_without_findings(empty_repo: Repository, writer: Endpoint) -> None:
    size = "pharmacy-chain 1: 12 people, 3 domains, 12 tasks, 109 scenarios, evenness 0.*"
    assert_ended(build(empty_repo), 0, size)
    assert len(writer.calls) == PIECES
    assert writer.most_in_flight > 1
    build(empty_repo, "--concurrency=1", out="one")
    made = dataset(empty_repo.path / "own")
    for path, text in made.items():  # says what made it
        step = r"^# \S+: step \w+, model openai:gpt-4o-mini, prompt [0-9a-f]{12}$"
        assert "# seed '" in text
        assert path == "dataset.toml" or re.search(step, text, re.MULTILINE), path
    build(empty_repo, "--seed=two", out="two")
    assert dataset(empty_repo.path / "two").keys() != made.keys(), "another seed draws other people"
    assert dataset(empty_repo.path / "one") == made, "the order of the answers makes no difference"
    checked = empty_repo.command("check-dataset", "own", "--report=-")
    quality: dict[str, Any] = json.loads(checked.stdout.str())[0]
    assert quality["findings"] == []
    # The model always takes the first value that it is offered.
    assert min(t["evenness"] for t in quality["types"] if t["categorical"]) >= 0.85
    of_age = [text for path, text in made.items() if "profiles/" in path and 'age = "35-44"' in text]
    assert len(of_age) == 3, "a quarter of twelve, as the plan says"


@pytest.mark.slow
@pytest.mark.parametrize("after", [5, 30])
def test_a_kill_loses_nothing_that_was_made(empty_repo: Repository, writer: Endpoint, after: int) -> None:
    running: list[subprocess.Popen[bytes]] = []

    def answer(call: Call) -> Reply:
        if len(writer.calls) == after:
            running[0].kill()
        return author(call)

    writer.answer = answer
    running.append(subprocess.Popen([*BUILD, "--users=6", "--concurrency=1"]))
    assert running[0].wait() != 0
    writer.answer = author
    assert build(empty_repo, users=6).ret == 0
    calls = len(writer.calls)
    before = dataset(empty_repo.path / "own")
    assert build(empty_repo, users=6).ret == 0
    assert len(writer.calls) == calls, "what is whole is not asked for again"
    assert dataset(empty_repo.path / "own") == before
    build(empty_repo, users=6, out="at-once")
    assert dataset(empty_repo.path / "at-once") == before
    again = len(writer.calls) - calls
    assert calls - 1 <= again <= calls, "only the one that was under way is asked for again"


def test_ctrl_c_says_that_nothing_is_lost(empty_repo: Repository, writer: Endpoint) -> None:
    asked, ended = threading.Event(), threading.Event()

    def answer(call: Call) -> Reply:
        if len(writer.calls) >= 15:  # calls come side by side: none need see just 15
            asked.set()
            ended.wait(60)  # so that the command cannot be done before it is stopped
        return author(call)

    writer.answer = answer
    # A shell has its jobs in the background ignore the signal, and so would the command.
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(BUILD, stderr=subprocess.PIPE, text=True, preexec_fn=heeds) as running:
        assert asked.wait(60)
        running.send_signal(signal.SIGINT)
        told = running.communicate()[1]
        ended.set()
    assert running.returncode == 130
    assert "stopped; what was made is kept in own/.pieces, and the same command goes on from there" in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_what_ends_a_build_keeps_what_is_there(empty_repo: Repository, writer: Endpoint) -> None:
    kept = "what was made is kept in own/.pieces, *"
    capped = f"error: the run has made 5 model calls, the cap of --budget; {kept}"
    assert_usage_error(build(empty_repo, "--budget=5calls"), capped)
    assert len(writer.calls) == 5
    price = "--price=openai:gpt-4o-mini = 1, 1"
    spent = f"error: the run has spent $0.00, the cap of --budget is $0.00; {kept}"
    assert_usage_error(build(empty_repo, "--budget=0.001usd", price), spent)
    bad = Reply(status=401, code="bad", message="no such key")
    writer.answer = lambda call: author(call) if len(writer.calls) < 20 else bad
    assert_usage_error(build(empty_repo, "--concurrency=1"), f"error: openai:gpt-4o-mini: *; {kept}")
    writer.answer = author
    assert build(empty_repo).ret == 0
    assert len(writer.calls) == PIECES + 1


def test_an_answer_that_was_refused_is_not_bought_again(empty_repo: Repository, writer: Endpoint) -> None:
    writer.answer = faulty("", "{}")
    assert_usage_error(build(empty_repo, "--budget=1calls", "--concurrency=1"), "error: the run has made 1 *")
    assert build(empty_repo, "--concurrency=1").ret == 0
    prompts = [call.prompt for call in writer.calls]
    assert len(set(prompts)) == len(prompts) == PIECES + 1, "the first was asked once, and refused"
    assert not (empty_repo.path / "own" / ".pieces" / "calls").exists(), "the next run asks what was given up"


@pytest.mark.slow
def test_an_estimate_calls_nobody(empty_repo: Repository, writer: Endpoint) -> None:
    judge, price = "--judge-model=openai:gpt-4o-mini", "--price=openai:gpt-4o-mini = 1, 2"
    result = build(empty_repo, "--estimate", judge, price)
    assert_ended(result, 0, "history *29 *", "judge *53 *", f"all *{PIECES + 53} *0.*")
    assert writer.calls == []
    told = next(line.split()[2] for line in result.outlines if line.startswith("all "))
    build(empty_repo, judge)
    assert len(writer.calls) == PIECES + 53
    sent = sum(len(call.system) + len(call.prompt) for call in writer.calls) / 4.6
    assert int(told.replace(",", "")) == pytest.approx(sent, rel=0.1), "tokens at 4.6 characters each"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mark", "text", "reason"),
    [
        ("Invent a person", '{"name": "Half Profile"}', "- routine: field required"),
        ("Invent a person", "I cannot do that.", "- the answer is no JSON object: 'I cannot do that.'"),
        ("Invent a person", '{"name": "A B", "routine": {"home": "x", "devices": ["Kiosk"]}}', "- routine.devices.1: expected 'Smartphone', *, not 'Kiosk'"),
        ("choose what this person", '{"Prescriptions": {"Reminder": "fax"}}', "- Vaccinations: expected a table of its types"),
        ("and the assistant did in", '{"dealings": []}', "- dealings: expected 1 or more, not 0"),
        ("and the assistant did in", '{"dealings": [{"date": "2027-01-01", "asked": "a", "answered": "b", "chose": "c", "noted": "On {date}."}]}', "- dealings.1.date: 2027-01-01 lies after *"),
        ("Write this task", '{"description": "d", "intent": "You want {x}."}', "- goal: field required"),
        ("Name each pair of fields", '{"conflicts": [{"first": "demographics.age", "second": "routine.home", "why": "a nursery"}]}', "- demographics.age and routine.home: a nursery"),
    ],
)  # fmt: skip
def test_a_refused_answer_is_asked_for_again_with_the_reason(
    empty_repo: Repository, writer: Endpoint, mark: str, text: str, reason: str
) -> None:
    writer.answer = faulty(mark, text)
    assert build(empty_repo, "--judge-model=openai:gpt-4o", "--concurrency=1", users=2).ret == 0
    assert {call.model for call in writer.calls if "Name each pair" in call.prompt} == {"gpt-4o"}
    again = [call.prompt for call in writer.calls if "Your last answer cannot be used" in call.prompt]
    assert len(again) == 1
    pytest.LineMatcher(again[0].splitlines()).fnmatch_lines([reason])


def test_what_is_refused_each_time_is_listed(empty_repo: Repository, writer: Endpoint) -> None:
    task = "Write this task: refill the usual tablets by a day"
    writer.answer = faulty(task, '{"intent": "You want {x}."}', times=9)
    why = "description: field required; goal: field required"
    listed = f"task-prescriptions-1 was given up after 2 attempts: {why}"
    size = "pharmacy-chain 1: 6 people, 3 domains, 11 tasks, *"
    assert_ended(build(empty_repo, "--attempts=2", users=6), 1, size, listed)
    calls = len(writer.calls)
    writer.answer = author
    assert build(empty_repo, users=6).ret == 0
    assert len(writer.calls) == calls + 1, "the rest is kept"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mark", "text", "times", "why"),
    [
        ("and the assistant did in", "{}", 2, "dealings: *"),
        ("Name each pair of fields", '{"conflicts": "none"}', 4, "the consistency judge cannot be read: conflicts: *"),
    ],
)  # fmt: skip
def test_a_person_without_a_history_or_that_no_judge_read_is_left_out(
    empty_repo: Repository, writer: Endpoint, mark: str, text: str, times: int, why: str
) -> None:
    writer.answer = faulty(mark, text, times=times)
    options = ("--attempts=2", "--judge-model=openai:gpt-4o", "--concurrency=1")
    given_up = f"person-0001* was given up after 2 attempts: {why}"
    assert_ended(build(empty_repo, *options, users=6), 1, "pharmacy-chain 1: 5 people, *", given_up)


def test_what_somebody_changed_stays(empty_repo: Repository, writer: Endpoint) -> None:
    build(empty_repo, users=2)
    file = next((empty_repo.path / "own" / "profiles").iterdir())
    mine = file.read_text(encoding="utf-8").replace("house near", "barge at")
    file.write_text(mine, encoding="utf-8")
    build(empty_repo, users=2).stdout.fnmatch_lines([f"*{file.name} was changed by hand, and stays as it is"])
    assert file.read_text(encoding="utf-8") == mine


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('relevant = ["Supply Length", "Reminder"]', 'relevant = ["Supply Length"]', None),
        ('"none"]\nask', '"none"]\nasks', "domains.1.preferences.Reminder.ask: field required, and 'asks' is unknown here"),
        ('[[domains.tasks]]\nbrief = "find', '[[domains.other]]\nbrief = "find', "domains.1.other: unknown field; correct its name, or remove it"),
        ('["scent", "smell"]', '["scent"]\n[domains.preferences.Colour]\nkind = "open"\nmultiple = false\nask = ["c"]', "domains.3.preferences.Colour: no task uses this type; name it in the `relevant` of a task, *"),
        ('["Hand-Over", "Reminder"]', '["Hand-Over", "Colour"]', "domains.1.tasks.2.relevant: no preference type 'Colour' in this domain"),
        ('{ Prescriptions = ["Hand-Over"], Vacc', '{ Opticians = ["Hand-Over"], Vacc', "multi.1.relevant.Opticians: unknown domain 'Opticians'; known: Prescriptions, *"),
        ('["Reminder"], "Skin Care"', '["Colour"], "Skin Care"', "multi.2.relevant.Prescriptions: no preference type 'Colour' in Prescriptions"),
        ("interest = 0.75", "interest = 0", "domains.2.interest: input should be greater than 0"),
        ('"Female" = 0.5', '"Female" = 0.9', "margins.gender: the shares add up to 1.4, and must add up to 1"),
        ('"18-24" = 0.08', '"12-17" = 0.08', "margins.age.12-17: expected one of: 18-24, 25-34, *"),
        ('"18-24" = 0.08', '"18-24" = -1', "margins.age.18-24: input should be greater than or equal to 0"),
        ("reside_country =", "hair =", "margins.hair: no such attribute; known: age, gender, *"),
        ('name = "Skin Care"', 'name = "vaccinations"', "domains.3.name: 'vaccinations' and 'Vaccinations' share the slug *"),
        ('about = "', 'abuot = "', "about: field required, and 'abuot' is unknown here"),
        ("age =", 'age = { "18-24" = 1 }\nemployment_status = { "Retired" = 1 }', "margins.employment_status: the shares do not fit together: 10 of 10 people cannot be 'Retired', which nobody is at 18-24 or 25-34 or 35-44; *"),
        ("age =", 'age = { "18-24" = 0.5, "65+" = 0.5 }\nmarital_status = { "Widowed" = 0.75, "Married" = 0.25 }', "margins.marital_status: the shares do not fit *"),
        ("interest =", "interest = 0.1", "multi.3.relevant: none of the 10 people uses all of Vaccinations, Skin Care; raise `interest` *"),
    ],
)  # fmt: skip
def test_a_bad_plan(empty_repo: Repository, writer: Endpoint, old: str, new: str, told: str | None) -> None:
    plan = empty_repo.path / "plan.toml"
    text = plan.read_text(encoding="utf-8")
    assert old in text
    # A key and its sign stand for the whole line.
    whole = f"^{re.escape(old)}.*" if old in ("age =", "interest =") else re.escape(old)
    plan.write_text(re.sub(whole, lambda _: new, text, flags=re.MULTILINE), encoding="utf-8")
    if told is None:
        assert build(empty_repo, "--estimate").ret == 0
    else:
        result = assert_usage_error(build(empty_repo, users=10), f"error: plan.toml: {told}")
        assert all(line.startswith("error: plan.toml: ") for line in result.errlines if line)
    assert writer.calls == []


def test_shares_that_fit_are_kept_exactly(empty_repo: Repository, writer: Endpoint) -> None:
    ages, jobs = '"18-24" = 0.5, "65+" = 0.5', '"Student" = 0.5, "Retired" = 0.5'
    shares = f"age = {{{{ {ages} }}}}\nemployment_status = {{{{ {jobs} }}}}"
    rewrite(empty_repo.path, ("(?m)^age = .*", shares))
    assert build(empty_repo, users=8).ret == 0
    made = dataset(empty_repo.path / "own").items()
    people = [text for path, text in made if path.startswith("profiles/")]
    assert [sum(f'age = "{age}"' in text for text in people) for age in ("18-24", "65+")] == [4, 4]
    assert all(('"Student"' in text) == ('"18-24"' in text) for text in people)


#: An assistant that refills tablets, as this person or as everybody wants it.
_REFILLS = """
import re
import pytest

WAYS = {"pick-up": "It is for pick-up at the counter", "courier": "The courier brings it to you", "locker": "It waits in the locker for you"}

@pytest.fixture
def personalens_assistant(personalens_scenario):
    known = personalens_scenario.preferences["Prescriptions"] if KNOWS else {}
    length, way = known.get("Supply Length", ("30 days",))[0], known.get("Hand-Over", ("courier",))[0]

    def reply(messages):
        packs, day = re.search(r"(two|three) packs.* by ([A-Z].*?)[?.]", messages[0]["content"]).groups()
        done = f"I've ordered the refill: {packs} packs of your tablets, here by {day}. Each lasts {length}. {WAYS[way]}."
        return "You're welcome." if len(messages) > 1 else done

    return reply
"""


def test_the_example_made_by_hand_tells_who_knows_its_people(empty_repo: Repository) -> None:
    shutil.copytree(PHARMACY, empty_repo.path / "pharmacy")
    size = "pharmacy 1: 12 people, 3 domains, 12 tasks, 99 scenarios, *"
    assert_ended(empty_repo.command("build", "--by-hand", "pharmacy"), 0, size, "complete; run: pytest *")
    empty_repo.command("check-dataset", "pharmacy").stdout.fnmatch_lines(["pharmacy 1: no findings *"])
    data = ("--personalens-sample=all", "--personalens-data=pharmacy", "--personalens-domain=Prescriptions")
    only = ("--personalens-kind=single", "--personalens-gate=none", "-k", "prescriptions-1")
    means = []
    for knows in (True, False):
        empty_repo.write(conftest=_REFILLS.replace("KNOWS", str(knows)))
        found = re.search(r"overall +(\d+) +\d+ +(\S+) +(\S+)", empty_repo.inline(*data, *only).stdout.str())
        assert found is not None
        means.append([float(number) for number in found.groups()])
    (count, right, personal), (_, _, same_for_all) = means
    assert count == 10
    assert right >= 0.9
    assert personal >= same_for_all + 0.5
