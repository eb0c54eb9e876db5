"""The audit of the simulated user: each fault is found, counted, shown and gated, and a good user has none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.test_protocols_on_the_wire import MODELS, answer
from tests.support.processes.runs import assert_ended, merge_shards, run_shards
from tests.support.repository import Repository
from tests.support.servers.endpoint import Call, Endpoint, Reply

#: Users who are told by their spec what to do wrong, and a judge who completes no task.
HOOKS = """
    import pytest
    from pytest_personalens import UserTurn, Verdict
    from pytest_personalens.datasets.world.written import say

    ENDS = {"ended-early": "That's all, thank you.", "thanked-early": "Thanks a lot, that is everything."}
    REPLIES = {"ended-early": "There are two that fit. Which of them shall I book?", "thanked-early": "I'm sorry, I can't book it."}

    def opening(kind, scenario):
        dates = [f for f in scenario.task.facts if f.known != "open" and f.kind == "date" and f.wrong]
        if kind == "contradicted" and dates:
            return f"Hello. I need it on {say('date', dates[0].wrong[0])}."
        return scenario.task.intent

    class User:
        paid = False

        def __init__(self, kind):
            self.kind, self.identity = kind, f"user {kind}"

        def turn(self, scenario, transcript):
            said = {
                ("spoke-as-assistant", 2): "I have booked it for you.",
                ("repeated", 2): "I would like to hear what it costs.",
                ("repeated", 4): "I would like to hear what it costs.",
            }.get((self.kind, len(transcript)), "" if transcript else opening(self.kind, scenario))
            return UserTurn(said or ENDS.get(self.kind, "That is all, thanks."), done=not said)

    class Judge:
        identity, paid = "strict", False

        def verdict(self, scenario, dialogue, dimension):
            return Verdict(dimension=dimension, score=dimension.scale[0], justification="told")

    def pytest_personalens_user_agent(spec):
        return User(spec.removeprefix("plays:")) if spec.startswith("plays:") else None

    def pytest_personalens_judge(spec):
        return Judge() if spec == "strict" else None

    @pytest.fixture(scope="session")
    def personalens_assistant(request):
        kind = request.config.getoption("--personalens-user-model").removeprefix("plays:")
        return lambda messages: REPLIES.get(kind, f"It is booked, number {len(messages)}.")
"""
KINDS = {
    "contradicted": "contradicted a fact", "ended-early": "ended before the deed",
    "thanked-early": "thanked for what was not done", "spoke-as-assistant": "spoke for the assistant",
}  # fmt: skip
#: Scenarios whose intent names a day.
TRAIN = ("--personalens-sample=4", "--personalens-domain=Train", "--personalens-kind=single")
ARGS = (*TRAIN, "--personalens-seed=audit", "--personalens-judge-model=strict")


def plays(kind: str) -> tuple[str, ...]:
    return (*ARGS, "--personalens-user-model", f"plays:{kind}")


@pytest.fixture
def audited(repo: Repository) -> Repository:
    repo.write(conftest=HOOKS)
    return repo


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_is_found_counted_and_shown(audited: Repository, kind: str) -> None:
    reports = [f"--personalens-report=r.{ending}" for ending in ("json", "md", "html")]
    result = audited.inline(*plays(kind), "--personalens-gate=none", *reports)
    results = audited.results("r.json")
    evaluations = [item["evaluation"] for item in results["items"]]
    faults_of = [(e["dialogue"]["messages"], fault) for e in evaluations for fault in e["user_faults"]]
    found = [(messages[fault["turn"]], fault) for messages, fault in faults_of]
    assert {fault["code"] for _, fault in found} == {kind}
    faults = {kind: (number := len(found))}
    assert results["user_audit"] == {"audited": 4, "faulty": number, "faults": faults, "lost": faults}
    note = f"lost to the user: {number} {KINDS[kind]} (faults of the user in {number} of 4 dialogues)"
    # The terminal wraps the note.
    assert note in " ".join(result.stdout.str().split())
    assert note in (audited.path / "r.md").read_text(encoding="utf-8").replace("\\", "")
    assert f'"lost":"{KINDS[kind]}"' in (audited.path / "r.html").read_text(encoding="utf-8")
    for message, fault in found:
        assert message["role"] == "user" and fault["quote"] in message["content"]
        if kind == "contradicted":
            said, _, wanted = fault["text"].removeprefix("says ").partition(", the scenario says ")
            assert said in fault["quote"]
            assert wanted and not wanted.startswith(said)


def test_a_sentence_said_twice_costs_no_dialogue(audited: Repository) -> None:
    result = audited.inline(*plays("repeated"), "--personalens-gate=none", "--personalens-report=r.json")
    assert audited.results("r.json")["user_audit"]["lost"] == {}
    twice = "faults of the user in 4 of 4 dialogues: 4 repeated itself; none was lost to*"
    result.stdout.fnmatch_lines([twice, "  *user"], consecutive=True)


def test_a_good_user_has_no_fault_though_every_task_failed(audited: Repository) -> None:
    gate = "--personalens-gate=user_faults <= 0.05"
    result = audited.inline(*plays("well"), gate, "--personalens-report=r.json")
    result.stdout.fnmatch_lines(["gate user_faults: passed, * 0.00 * <= 0.05 over 4 scenarios*"])
    result.stdout.no_fnmatch_line("*faults of the user in*")
    results = audited.results("r.json")
    assert results["overall"]["figures"]["task_completion"]["value"] == 0
    assert results["user_audit"] == {"audited": 4, "faulty": 0, "faults": {}, "lost": {}}


def test_a_failing_item_shows_the_fault_at_its_turn_and_a_gate_fails(audited: Repository) -> None:
    share = "gate user_faults: FAILED, share of dialogues with a fault of the user 1.00 * > 0.05 over 4 *"
    assert_ended(audited.inline(*plays("ended-early"), "--personalens-gate=user_faults <= 0.05"), 1, share)
    shown = audited.inline(*plays("ended-early"))
    shown.stdout.fnmatch_lines(["*user * That's all, thank you.", "*user fault ends the dialogue although*"])


@pytest.mark.slow
def test_shards_and_workers_find_the_same(audited: Repository) -> None:
    run = (*plays("ended-early"), "--personalens-gate=none")
    audited.run(*run, "-n", "1", "--personalens-report=whole.json")
    run_shards(audited, 2, *run)
    merge_shards(audited, "--report", "merged.json").stdout.fnmatch_lines(["4 dialogues lost to the user: *"])
    audits = [audited.results(name)["user_audit"] for name in ("whole.json", "merged.json")]
    assert audits[0] == audits[1]
    assert audits[0]["lost"] == {"ended-early": 4}


#: A run with a model in each role.
BY_MODEL = (*ARGS[:-1], MODELS[0], MODELS[2], "--personalens-gate=none")


def speaking(asked: str, mark: str, last: str) -> Callable[[Call], Reply]:
    """A bot that says one thing, and a user who ends with `last` when a prompt holds a mark."""

    def reply(call: Call) -> Reply:
        if call.model == "user":
            return Reply(f"{last} TERMINATE" if mark in call.prompt else "A flight, please.")
        return Reply(asked) if call.model == "bot" else answer(call)

    return reply


def test_a_model_as_the_user_is_audited_also_in_a_replay(repo: Repository, endpoint: Endpoint) -> None:
    asked = "There are two flights. Which one shall I book?"
    endpoint.answer = speaking(asked, "Which one", "That's all, thanks.")
    audits = []
    for mode in ("new", "none"):
        repo.inline(*BY_MODEL, f"--personalens-record={mode}", "--personalens-report=r.json")
        audits.append(repo.results("r.json")["user_audit"])
    assert audits[0] == audits[1]
    assert audits[0]["faults"]["ended-early"] >= 3
    assert set(audits[0]["faults"]) <= {"ended-early", "thanked-early"}
    assert "user_faults" not in next(repo.path.glob("__personalens__/**/*.json")).read_text(encoding="utf-8")


@pytest.mark.parametrize(("protocol", "cause", "audited"), [("default", "user-agent", 0), ("paper", "", 4)])
def test_a_turn_out_of_the_role_counts_once(
    repo: Repository, endpoint: Endpoint, protocol: str, cause: str, audited: int
) -> None:
    endpoint.answer = speaking("Booked.", "Booked", "How can I help you?")
    live = ("--personalens-record=live", f"-opersonalens_protocol={protocol}", "--personalens-report=r.json")
    repo.inline(*BY_MODEL, *live)
    results = repo.results("r.json")
    assert {item["evaluation"]["cause"] for item in results["items"]} == {cause}
    audit = results["user_audit"]
    assert (audit["faults"]["spoke-as-assistant"] if audit else 0) == audited
