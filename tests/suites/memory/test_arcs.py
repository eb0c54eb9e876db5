"""Arcs with assistants that keep a memory, from the draw to the reports."""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from typing import Any

import jsonschema
import pytest

from pytest_personalens.suites.memory.arcs import KINDS
from tests.suites.memory.arcs import ARC, CONTROL, DATA, GATE, KIND, LISTENER, REPORT, SUITE, said_by_user
from tests.support.browser import Page
from tests.support.repository import ROOT, Repository, records
from tests.support.scripted_agents import says
from tests.support.servers.endpoint import Endpoint, Reply

#: The bots of the example project: HELPBOT names one. SCOPE is that of the fixture.
BOTS = f"""
import os, sys
import pytest

sys.path.insert(0, {str(ROOT / "example_project")!r})
from sessions.rememberer import BOTS

@pytest.fixture(scope=os.environ.get("SCOPE", "function"))
def personalens_assistant():
    bot = BOTS[os.environ.get("HELPBOT", "remembers")]()
    return lambda messages, context: bot.reply(context.user, context.session, messages[-1]["content"])
"""
#: The example bot knows nothing of the world, and of nobody who listens.
NOT_ITS = {"belief", "audience"}


@pytest.fixture
def bots(empty_repo: Repository) -> Repository:
    empty_repo.write(conftest=BOTS)
    return empty_repo


@pytest.fixture
def one_arc(empty_repo: Repository) -> Repository:
    empty_repo.write(conftest=LISTENER)
    (empty_repo.path / "arcs.toml").write_text(ARC)
    return empty_repo


def heard(repo: Repository) -> list[Any]:
    return [json.loads(line) for line in (repo.path / "heard.jsonl").read_text().splitlines()]


def by_kind(results: Any) -> dict[str, list[int]]:
    """The scores of the run itself, by kind."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for item in results["items"]:
        if not item["arm"]:
            found[item["evaluation"]["kind"]].append(item["evaluation"]["verdicts"][0]["score"])
    return dict(found)


def shares(results: Any) -> dict[str, float]:
    """The share of arcs that are remembered, by kind."""
    return {kind: sum(scores) / len(scores) for kind, scores in by_kind(results).items()}


def failing(bot: dict[str, float], right: dict[str, float]) -> set[str]:
    """The kinds that a bot gets wrong: at least 0.3 below the right one; the others are within 0.15 of it."""
    assert bot.keys() == right.keys()
    far = {kind: right[kind] - bot[kind] for kind in right if abs(right[kind] - bot[kind]) > 0.15}
    assert all(drop >= 0.3 for drop in far.values()), far
    return set(far)


@pytest.mark.slow
def test_the_readme_names_what_each_bot_gets_wrong(bots: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_bot(name: str) -> dict[str, float]:
        monkeypatch.setenv("HELPBOT", name)
        bots.inline(*SUITE, *REPORT, GATE, "valid >= 1")
        assert all(gate["passed"] for gate in bots.results()["gates"])
        return shares(bots.results())

    right = of_bot("remembers")
    of_its = (read for kind, read in by_kind(bots.results()).items() if kind not in NOT_ITS)
    scores = [score for read in of_its for score in read]
    assert sum(scores) / len(scores) >= 0.8
    assert right.keys() == {*KINDS}
    readme = (ROOT / "example_project" / "README.md").read_text(encoding="utf-8")
    table = readme.partition("| kinds that it gets wrong |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| ([\w, ]+) \|$", table, re.MULTILINE)
    assert len(rows) == 7
    failed = {name: failing(of_bot(name), right) for name, _ in rows}
    assert failed == {name: set(kinds.split(", ")) for name, kinds in rows}


@pytest.mark.slow
def test_a_bot_that_only_says_done_passes_what_asks_for_no_memory(empty_repo: Repository) -> None:
    empty_repo.write(conftest=says("'Done.'", takes="messages, context"))
    empty_repo.inline(*SUITE, *REPORT, GATE, "valid >= 1")
    passing = {"forget", "apart", "restraint"}
    expected = {kind: float(kind in passing) for kind in KINDS} | {"audience": 0.06}
    assert shares(empty_repo.results()) == expected


@pytest.mark.slow
def test_each_failed_gate_shows_its_worst_arc_and_its_reasons_by_what_went_wrong(
    bots: Repository, monkeypatch: pytest.MonkeyPatch, page: Page
) -> None:
    monkeypatch.setenv("HELPBOT", "one-store")
    failing = ("recall", "revise", "whose", "apart")
    gates = [word for kind in failing for word in (GATE, f"{kind}: memory >= 0.99")]
    gates += [GATE, "memory >= 0.99, p >= 3.9"]
    result = bots.inline(*SUITE, *REPORT, "--personalens-report", "r.html", *gates)
    parts = result.stdout.str().partition("= FAILURES =")[2].partition("= personalens =")
    shown = dict(re.findall(r"_ gate\[(.+)\] _+\n((?:(?!__).*\n)+)", parts[0]))
    assert list(shown) == [*(f"{kind}: memory" for kind in failing), "memory", "p"]
    for kind in failing:
        assert re.search(rf"^{kind}-\S+ \(.+\): memory 0", shown[f"{kind}: memory"], re.MULTILINE), kind
    # What is farthest from its limit is shown with what was said; of the others there is a line.
    assert {name for name, text in shown.items() if "    + now  " in text} == {"apart: memory", "memory"}
    assert re.search(r"^whose-\S+ \(.+\): memory 0: says \w+$", shown["whose: memory"], re.MULTILINE)
    (reasons,) = re.findall(r"^dialogues by reason: (.+)$", shown["revise: memory"], re.MULTILINE)
    counted = re.fullmatch(r"does not say what it was told (\d+), says what it must not (\d+)", reasons)
    low = [s for s in by_kind(bots.results())["revise"] if s == 0]
    assert counted is not None
    assert max(map(int, counted.groups())) <= len(low) <= sum(map(int, counted.groups()))
    kinds = [line.split()[0] for line in parts[2].splitlines() if re.match(r"\w+ +\d+ +\d+ ", line)]
    assert kinds == ["overall", *KINDS], "all kinds, though each figure is also in a gate"
    page.open(bots.path / "r.html")
    (table,) = [text for text in page.texts("#figures figure") if "days between told and asked" in text]
    places = [table.find(name) for name in ("up to 7", "8 to 30", "31 to 90", "over 90")]
    assert places == sorted(places)
    assert places[0] > 0


def test_an_assistant_gets_the_messages_of_a_session_with_its_user_and_its_day(one_arc: Repository) -> None:
    one_arc.inline(*SUITE, DATA, "arcs.toml")
    calls = heard(one_arc)
    assert [(c["session"], c["date"], [m["content"] for m in c["messages"]]) for c in calls] == [
        ("2026-01-05", "2026-01-05", ["Put tea on the list, I drink rooibos."]),
        ("2026-01-05", "2026-01-05", ["Put tea on the list, I drink rooibos.", "reply 1", "And some milk."]),
        ("2026-01-07", "2026-01-07", ["What is the weather in Oban?"]),
        ("2026-02-01", "2026-02-01", ["Order my tea."]),
    ]
    assert len({c["user"] for c in calls}) == 1
    assert len({c["dialogue"] for c in calls}) == 3


@pytest.mark.slow
def test_each_item_has_users_of_its_own_and_two_users_have_two_ids(empty_repo: Repository) -> None:
    empty_repo.write(conftest=LISTENER)
    empty_repo.inline(*SUITE, KIND, "apart", "--personalens-trials", "2", CONTROL, "alone")
    users = {c["user"] for c in heard(empty_repo)}
    arcs = tomllib.loads((ROOT / "data" / "suites/memory/apart.toml").read_text(encoding="utf-8"))["arcs"]
    people = [len({session.get("person", arc["person"]) for session in arc["sessions"]}) for arc in arcs]
    # Each arc twice with all its people, and its last session alone, of one person, twice.
    assert len(users) == sum(2 * count + 2 for count in people)
    both = [user for user in users if user.startswith("harpreet+") and "alone" not in user]
    assert {user.endswith("+henrik") for user in both} == {True, False}


@pytest.mark.slow
def test_the_controls_leave_the_user_without_sessions_or_with_those_of_another(bots: Repository) -> None:
    result = bots.inline(*SUITE, KIND, "recall", CONTROL, "alone,other-user", GATE, "lift >= 0.5", *REPORT)
    result.stdout.fnmatch_lines(["control alone: memory by kind: recall 0.00 -> 0.9*"])
    boots, asks = (
        "recall-shoe-size-bastien",
        "Order me a pair of water boots for the Vanoise, used if there are any.",
    )
    found = {(i["evaluation"]["scenario"], i["arm"]): i for i in bots.results()["items"]}

    def told(arm: str) -> list[tuple[str, str]]:
        """What the user says up to the test, after which the answers differ."""
        said = said_by_user(found[boots, arm])
        return said[: [text for _, text in said].index(asks) + 1]

    assert told("alone") == told("")[-1:]
    *before, test = told("swapped")
    assert test == told("")[-1]
    assert [day for day, _ in before] == sorted(day for day, _ in before)
    stranger = found[boots, "swapped"]["given_user"]
    assert stranger != "bastien"
    theirs = [
        said_by_user(i) for (_, arm), i in found.items() if not arm and i["evaluation"]["user"] == stranger
    ]
    assert [text for _, text in before] in [[text for _, text in said[: len(before)]] for said in theirs]


@pytest.mark.slow
def test_a_kind_that_falls_is_red_beside_others(
    empty_repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Who tells all that it knows, every time, is right in recall and wrong in restraint; who says nothing, the
    # other way round.
    empty_repo.write(
        conftest="""
        import os, pytest

        @pytest.fixture(scope="session")
        def personalens_assistant():
            notes = {}

            def reply(messages, context):
                mine = notes.setdefault(context.user, [])
                mine.append(messages[-1]["content"])
                return "Done." + (" You told me: " + " ".join(mine[:-1]) if os.environ["TELLS"] == "all" else "")

            return reply
        """
    )
    monkeypatch.setenv("TELLS", "all")
    empty_repo.inline(*SUITE, "--personalens-save-baseline", "base.json", GATE, "valid >= 1")
    same = empty_repo.inline(*SUITE, "--personalens-baseline", "base.json")
    same.stdout.fnmatch_lines(["gate regression: recall: memory: passed, memory 1.00 -> 1.00 *"])
    assert same.ret == 0
    monkeypatch.setenv("TELLS", "nothing")
    result = empty_repo.inline(*SUITE, "--personalens-baseline", "base.json", *REPORT)
    result.stdout.fnmatch_lines([
        "compared with base.json: 255 arcs, at the level 0.05 for all * gates together",
        "gate regression: recall: memory: FAILED, memory 1.00 -> 0.00 * over 18 arcs of 17 users: a *",
        "gate regression: memory: passed, memory * -> * over 255 arcs of 120 users: no significant drop*",
        "gate regression: restraint: memory: passed, memory 0.00 -> 1.00 *",
    ])  # fmt: skip
    again = empty_repo.command("report", "results.json")
    again.stdout.fnmatch_lines(["gate regression: recall: memory: FAILED, *"])


@pytest.mark.slow
@pytest.mark.parametrize("how", [("-o", "personalens_parallel=8"), ("-n", "2")])
def test_arcs_side_by_side(bots: Repository, monkeypatch: pytest.MonkeyPatch, how: tuple[str, str]) -> None:
    bots.inline(*SUITE, *REPORT)
    one_by_one = by_kind(bots.results())
    monkeypatch.setenv("SCOPE", "session")
    bots.run(*SUITE, *how, *REPORT)
    assert by_kind(bots.results()) == one_by_one
    assert one_by_one.keys() == {*KINDS}


def test_records_replay_an_arc_without_a_call(one_arc: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply(f"{len(call.history)} messages before {call.prompt}")
    run = (*SUITE, DATA, "arcs.toml", "--personalens-assistant", "openai:bot", GATE, "memory >= 0", *REPORT)
    assert one_arc.inline(*run, "--personalens-record", "new").ret == 0
    assert [len(call.history) for call in endpoint.calls] == [0, 2, 0, 0]
    (file,) = records(one_arc)
    sessions = [m["session"] for m in json.loads(file.read_text())["dialogue"]["messages"]]
    assert sessions == ["2026-01-05"] * 4 + ["2026-01-07"] * 2 + ["2026-02-01"] * 2
    before = one_arc.results()["items"][0]["evaluation"]
    assert one_arc.inline(*run).ret == 0
    assert len(endpoint.calls) == 4
    (item,) = one_arc.results()["items"]
    assert (item["record"], item["evaluation"]["dialogue"]) == ("replayed", before["dialogue"])


@pytest.mark.slow
def test_a_run_that_broke_off_goes_on_in_its_session(
    one_arc: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops = "if context.date == os.environ.get('STOP'):\n            raise KeyboardInterrupt\n        return"
    one_arc.write(
        conftest=LISTENER.replace("return f", f"{stops} f").replace("import json", "import json, os")
    )
    run = (*SUITE, DATA, "arcs.toml", "--personalens-resume")
    monkeypatch.setenv("STOP", "2026-01-07")
    assert one_arc.run_with_cache(*run).ret == 2
    (one_arc.path / "heard.jsonl").unlink()
    monkeypatch.delenv("STOP")
    one_arc.run_with_cache(*run)
    assert [c["date"] for c in heard(one_arc)] == ["2026-01-07", "2026-02-01"]


def test_sessions_are_told_apart_in_terminal_results_and_page(one_arc: Repository, page: Page) -> None:
    result = one_arc.inline(*SUITE, DATA, "arcs.toml", "--personalens-report", "r.html", *REPORT)
    result.stdout.fnmatch_lines([
        "E   memory 0, below the required 1: does not say rooibos",
        "right:  rooibos",
        "     session of 2026-01-05",
        ">    0 user      Put tea on the list, I drink rooibos.",
        "     session of 2026-01-07",
        "     session of 2026-02-01",
        ">    7 assistant reply 1",
        '  turn 7: "reply 1" (does not say rooibos)',
        '  turn 0: "Put tea on the list, I drink rooibos." (tells rooibos)',
    ])  # fmt: skip
    schema = json.loads((ROOT / "docs/reference/results.schema.json").read_text())
    jsonschema.validate(one_arc.results(), schema)
    page.open(one_arc.path / "r.html")
    assert page.texts("#reasons h3") == ["Memory"]
    assert page.texts("#reasons .bars th a") == ["does not say what it was told"]
    (item,) = one_arc.results()["items"]
    page.open(one_arc.path / "r.html", "#item=" + item["nodeid"].replace("[", "%5B").replace("]", "%5D"))
    days = ("2026-01-05", "2026-01-07", "2026-02-01")
    assert page.texts(".chat .session") == [f"Session of {day}" for day in days]
    assert page.texts("#turn-0 mark") == ["Put tea on the list, I drink rooibos."]
