"""What the embedded judge reads, what it leaves to models, and what is told where it reads nothing."""

from __future__ import annotations

import pytest

from pytest_personalens import Dimension, JudgeFault, UserTurn, evaluate
from pytest_personalens.core.dialogue.dialogue import converse
from pytest_personalens.core.errors import NotJudged
from pytest_personalens.core.judging.dimensions import FREE_DIMENSIONS, NEEDS_FACTS
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.engine.agents_on_tape import JudgeOnTape, UserOnTape
from pytest_personalens.engine.record import read_record, record_of
from pytest_personalens.models.tape import Tape, TapeRules
from tests.support.datasets.official_tree import write_data
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository, ScriptedUser
from tests.support.scripted_agents import BOT, TEST, TOLD, TOLD_AGENTS

TC, P, FACTS = FREE_DIMENSIONS
#: What the embedded judge reads by default.
READ = {m.value for m in (*FREE_DIMENSIONS, Dimension.INTRUSIONS)}
ONE_REPLY = """
    import pytest

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: "I've booked it for 19:30, reference QX77."
"""
SAMPLE = ("--personalens-sample", "4", "--personalens-report", "r.json")


class ByRules:
    """Reads P, and has rules that leave out task completion."""

    identity, paid = "by rules", False

    def verdict(self, scenario: Scenario, dialogue: object, dimension: Dimension) -> Verdict:
        if dimension != P:
            raise NotJudged(NEEDS_FACTS)
        return Verdict(dimension=dimension, score=3, justification="fine")


@pytest.mark.slow
def test_facts_are_read_shown_gated_and_compared_by_default(repo: Repository) -> None:
    repo.write(conftest=ONE_REPLY, test_bot=TEST)
    result = repo.run(*SAMPLE, "--personalens-gate", "facts >= 0.9", "--personalens-save-baseline", "b.json")
    result.stdout.fnmatch_lines(["*TCR*P*Facts*", "gate facts: FAILED, mean share of facts that stand *"])
    results = repo.results("r.json")
    assert set(results["overall"]["figures"]) == READ
    assert all(FACTS.value in group["figures"] for group in results["domains"])
    assert results["overall"]["figures"]["facts"]["value"] < 0.5
    compared = (*SAMPLE, "--personalens-baseline", "b.json")
    repo.run(*compared).stdout.fnmatch_lines(["  Facts 0.* -> 0.* over 4 scenarios"])
    result = repo.run(*compared, "-o", "personalens_margin=facts=0.1")
    result.stdout.fnmatch_lines(["gate regression: facts: *, Facts 0.* -> 0.*"])


def test_intrusions_are_counted_by_kind_gated_compared_and_shown_on_the_page(repo: Repository) -> None:
    repo.write(conftest=ONE_REPLY.replace("QX77.", "QX77. I kept your religion in mind."), test_bot=TEST)
    save = ("--personalens-report", "page.html", "--personalens-save-baseline", "b.json")
    result = repo.run(*SAMPLE, *save, "--personalens-gate", "intrusions <= 0.02, valid >= 0")
    gate = (
        "gate intrusions: FAILED, share of dialogues that say what the task does not need 1.00 *: religion 4"
    )
    note = "intrusions: 4 of 4 dialogues say of the user what the task does not need: religion 4"
    result.stdout.fnmatch_lines_random([f"*{note}", f"*{gate}"])
    results = repo.results("r.json")
    assert all(
        item["evaluation"]["verdicts"][-1]["reasons"][0]["code"] == "religion" for item in results["items"]
    )
    assert "brings up the user&#x27;s religion" in (repo.path / "page.html").read_text().replace(
        "&#39;", "&#x27;"
    )
    result = repo.run(*SAMPLE, "--personalens-baseline", "b.json", "-o", "personalens_margin=intrusions=0.1")
    result.stdout.fnmatch_lines(["*Intrusions 1.00 -> 1.00*"])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--personalens-dimensions", "tc,nat-assistant"), "--personalens-dimensions nat-assistant: naturalness of the"),
        (("--personalens-gate", "coh-user >= 3"), "--personalens-gate: coh-user: coherence of the user is read by"),
    ],
)  # fmt: skip
def test_what_only_models_read_is_refused_at_the_start(
    repo: Repository, options: tuple[str, str], told: str
) -> None:
    told = f"*{told}*models only; name one with --personalens-judge-model"
    assert_usage_error(repo.run("--personalens-sample", "1", *options), told)


def test_all_with_the_embedded_judge_is_what_it_has(repo: Repository) -> None:
    repo.write(conftest=BOT, test_bot=TEST)
    result = repo.run("--personalens-sample", "1", "--personalens-dimensions", "all", *SAMPLE[2:])
    result.stdout.fnmatch_lines(["*gives no reading of nat-user, nat-assistant, coh-user, coh-assistant*"])
    assert set(repo.results("r.json")["overall"]["figures"]) == READ


@pytest.mark.slow
def test_a_judge_of_ones_own_reads_facts_only_if_asked_and_for_nothing(repo: Repository) -> None:
    repo.write(conftest=TOLD, test_bot=TEST)
    repo.run(*SAMPLE, *TOLD_AGENTS)
    results = repo.results("r.json")
    assert set(results["overall"]["figures"]) == {TC.value, P.value}
    repo.run(*SAMPLE, *TOLD_AGENTS, "--personalens-dimensions", "tc,facts")
    results = repo.results("r.json")
    assert results["overall"]["figures"]["facts"]["value"] == 0
    assert results["overall"]["figures"][TC.value]["value"] == 1
    assert results["items"][0]["evaluation"]["judge"] == "judge 1"


@pytest.mark.slow
def test_without_facts_the_item_is_scored_on_p_and_a_gate_on_tcr_is_refused(repo: Repository) -> None:
    write_data(repo.path / "official")
    repo.write(conftest=TOLD, test_bot=TEST)
    own = (*SAMPLE, "--personalens-data", "official", "--personalens-user-model", "told")
    for gate in ("tcr >= 0.5", "Train: tcr >= 0.5"):
        told = f"*--personalens-gate: {gate.partition(' >')[0]}: {NEEDS_FACTS}; no scenario of the draw has facts*"
        assert_usage_error(repo.run(*own, "--personalens-gate", gate), told)
    assert_usage_error(
        repo.run(*own, "--personalens-gate", "facts >= 0.5"), "*facts: no part of the task has a fact*"
    )
    result = repo.run(*own)
    result.stdout.fnmatch_lines([f"*{NEEDS_FACTS}: not judged in 4 of 4 scenarios*"])
    results = repo.results("r.json")
    assert set(results["overall"]["figures"]) == {P.value, Dimension.INTRUSIONS.value}
    assert results["overall"]["scored"] == 4
    for item in results["items"]:
        assert item["evaluation"]["not_judged"][TC.value] == NEEDS_FACTS
        assert TC.value not in [s.split()[0] for s in item["shortfalls"]]


def test_a_test_that_wants_nothing_but_what_is_not_judged_is_skipped(repo: Repository) -> None:
    write_data(repo.path / "official")
    repo.write(conftest=TOLD, test_bot=TEST)
    result = repo.run(
        "--personalens-sample", "2", "--personalens-data", "official", "--personalens-user-model", "told",
        "--personalens-dimensions", "tc", "-rs",
    )  # fmt: skip
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines([f"*not judged: {NEEDS_FACTS}*"])


def test_what_is_not_judged_is_no_fault_and_replayed(scenario: Scenario) -> None:
    user = ScriptedUser(UserTurn("A ticket."), UserTurn("Bye.", done=True))
    evaluation = evaluate(scenario, lambda messages: "Fine.", user, ByRules())
    assert evaluation.scored
    assert evaluation.share == 1
    assert evaluation.not_judged == {TC: NEEDS_FACTS}
    assert not evaluation.unread
    tape = Tape(TapeRules(writes=True))
    with pytest.raises(NotJudged, match=NEEDS_FACTS):
        JudgeOnTape(ByRules(), tape).verdict(scenario, evaluation.dialogue, TC)
    record = read_record(record_of(evaluation, scenario, scenario.id, tape.rows).text, "r.json")
    assert record.data["not_judged"] == {TC.value: NEEDS_FACTS}
    replay = Tape(record=record.rows)
    with pytest.raises(NotJudged, match=NEEDS_FACTS):
        JudgeOnTape(ByRules(), replay).verdict(scenario, evaluation.dialogue, TC)
    assert not replay.bought


def test_a_fault_beside_what_is_not_judged_stays_a_fault(scenario: Scenario) -> None:
    class Fails(ByRules):
        def verdict(self, scenario: Scenario, dialogue: object, dimension: Dimension) -> Verdict:
            if dimension == P:
                raise JudgeFault("not today")
            return super().verdict(scenario, dialogue, dimension)

    user = ScriptedUser(UserTurn("A ticket."), UserTurn("Bye.", done=True))
    evaluation = evaluate(scenario, lambda messages: "Fine.", user, Fails())
    assert (evaluation.cause, evaluation.detail) == ("judge", "p: not today")


@pytest.mark.parametrize("last", ["Leave it, I'll manage.", ""])
def test_a_user_that_leaves_unserved_says_so_and_its_record_too(scenario: Scenario, last: str) -> None:
    turns = (UserTurn("A ticket."), UserTurn(last, done=True, served=False))
    dialogue = converse(scenario, lambda messages: "Sorry.", ScriptedUser(*turns)).dialogue
    assert dialogue.end == "unserved"
    tape = Tape(TapeRules(writes=True))
    user = UserOnTape(ScriptedUser(*turns), tape)
    evaluation = evaluate(scenario, lambda messages: "Sorry.", user, ByRules())
    replay = Tape(record=record_of(evaluation, scenario, scenario.id, tape.rows).rows)
    again = converse(scenario, lambda messages: "Sorry.", UserOnTape(ScriptedUser(), replay)).dialogue
    assert again == dialogue
