"""What the embedded judge reads, what it leaves to models, and what is told where it reads nothing."""

from __future__ import annotations

import pytest

from pytest_personalens import Dimension, JudgeFault, UserTurn, evaluate
from pytest_personalens.core.dialogue.dialogue import converse
from pytest_personalens.core.errors import NotJudged
from pytest_personalens.core.judging.measure import FREE_DIMENSIONS, NEEDS_FACTS
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.engine.agents_on_tape import JudgeOnTape, UserOnTape
from pytest_personalens.engine.record import read_record, record_of
from pytest_personalens.models.tape import Tape, TapeRules
from tests.support.datasets.official_tree import write_data
from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import Repository, ScriptedUser
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

TC, P, FACTS = FREE_DIMENSIONS
#: What the embedded judge reads by default.
READ = {m.value for m in (*FREE_DIMENSIONS, Dimension.INTRUSIONS)}
REPLY = "I've booked it for 19:30, reference QX77."
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
    repo.bot(repr(REPLY))
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
    repo.bot(repr(f"{REPLY} I kept your religion in mind."))
    save = ("--personalens-report", "page.html", "--personalens-save-baseline", "b.json")
    result = repo.run(*SAMPLE, *save, "--personalens-gate", "intrusions <= 0.02, valid >= 0")
    share = "share of dialogues that say what the task does not need 1.00 *: religion 4"
    note = "intrusions: 4 of 4 dialogues say of the user what the task does not need: religion 4"
    result.stdout.fnmatch_lines_random([f"*{note}", f"*gate intrusions: FAILED, {share}"])
    results = repo.results("r.json")
    last = (item["evaluation"]["verdicts"][-1] for item in results["items"])
    assert all(verdict["reasons"][0]["code"] == "religion" for verdict in last)
    page = (repo.path / "page.html").read_text().replace("&#39;", "&#x27;")
    assert "brings up the user&#x27;s religion" in page
    result = repo.run(*SAMPLE, "--personalens-baseline", "b.json", "-o", "personalens_margin=intrusions=0.1")
    result.stdout.fnmatch_lines(["*Intrusions 1.00 -> 1.00*"])


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--personalens-dimensions=tc,nat-assistant", "--personalens-dimensions nat-assistant: naturalness of the*models only; name one with --personalens-judge-model"),
        ("--personalens-gate=coh-user >= 3", "--personalens-gate: coh-user: coherence of the user is read by*models only; name one with --personalens-judge-model"),
        ("--personalens-gate=gap(p) <= 0.5", "gap(p): there are no groups to compare; add -o personalens_slice*"),
        ("--personalens-gate=gap >= 0.5", "name what must not differ between groups of users*"),
        ("--personalens-gate=gap(p) <= 9", "gap(p) lies above 0, up to 3*"),
        ("-opersonalens_slice=agee", "personalens_slice: unknown demographic 'agee' (did you mean age?)*"),
        ("--personalens-gate=user_faults >= 0.05", "user_faults is better low: write user_faults <= 0.05*"),
        ("--personalens-gate=user_faults <= 5", "user_faults lies from 0 to 1; did you mean 5%?*"),
        ("--personalens-gate=drop(user_faults) <= 0.1", "name what must not drop: drop(METRIC) <= VALUE*"),
        ("--personalens-judge-model=tc=bedrock:claude-3-sonnet-v1", "--personalens-judge-model: *no judge of the other readings; add its spec, such as tc=SPEC,SPEC*"),
        ("--personalens-judge-model=tc=a,tc=b,c", "--personalens-judge-model: *two judges of tc; give one*"),
        ("--personalens-judge-model=tc=a,b,c", "--personalens-judge-model: *two judges of all other readings; give one*"),
        ("--personalens-judge-model=tc=,embedded", "--personalens-judge-model: *expected a model spec, or READING=SPEC,SPEC*"),
        ("--personalens-judge-model=taste=embedded,embedded", "--personalens-judge-model: *unknown dimension 'taste'; known: tc, p, *"),
        ("--personalens-judge-model=tc=acme:x,embedded", "--personalens-judge-model: *no provider knows 'acme:x'; use 'embedded', *"),
        ("--personalens-suite=personaconv --personalens-gate=user_faults <= 0.06", "unknown metric 'user_faults'*"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_at_the_start(repo: Repository, option: str, told: str) -> None:
    options = option.split(" ", 1) if option.startswith("--personalens-suite") else [option]
    assert_one_line(repo.inline("--personalens-sample=1", *options), f"*{told}")


def test_all_with_the_embedded_judge_is_what_it_has(repo: Repository) -> None:
    result = repo.run("--personalens-sample", "1", "--personalens-dimensions", "all", *SAMPLE[2:], "-q")
    result.stdout.fnmatch_lines(["the judge gives no reading of nat-user, nat-assistant, coh-user, coh-*"])
    assert set(repo.results("r.json")["overall"]["figures"]) == READ


@pytest.mark.slow
def test_a_judge_of_ones_own_reads_facts_only_if_asked_and_for_nothing(repo: Repository) -> None:
    repo.write(conftest=TOLD)
    repo.run(*SAMPLE, *TOLD_AGENTS)
    assert set(repo.results("r.json")["overall"]["figures"]) == {TC.value, P.value}
    repo.run(*SAMPLE, *TOLD_AGENTS, "--personalens-dimensions", "tc,facts")
    results = repo.results("r.json")
    means = {name: figure["value"] for name, figure in results["overall"]["figures"].items()}
    assert means == {TC.value: 1, FACTS.value: 0}
    assert results["items"][0]["evaluation"]["judge"] == "judge 1"


@pytest.mark.slow
def test_without_facts_the_item_is_scored_on_p_and_a_gate_on_tcr_is_refused(repo: Repository) -> None:
    write_data(repo.path / "official")
    repo.write(conftest=TOLD)
    own = (*SAMPLE, "--personalens-data", "official", "--personalens-user-model", "told")
    no_facts = f"{NEEDS_FACTS}; no scenario of the draw has facts"
    for what, told in (
        ("tcr", no_facts),
        ("Train: tcr", no_facts),
        ("facts", "no part of the task has a fact"),
    ):
        run = repo.inline(*own, "--personalens-gate", f"{what} >= 0.5")
        assert_one_line(run, f"--personalens-gate: {what}: {told}*")
    only_tc = repo.run(*own, "--personalens-dimensions", "tc", "-rs")
    assert_ended(only_tc, 0, f"*not judged: {NEEDS_FACTS}*", skipped=4)
    repo.run(*own).stdout.fnmatch_lines([f"*{NEEDS_FACTS}: not judged in 4 of 4 scenarios*"])
    results = repo.results("r.json")
    assert set(results["overall"]["figures"]) == {P.value, Dimension.INTRUSIONS.value}
    assert results["overall"]["scored"] == 4
    for item in results["items"]:
        assert item["evaluation"]["not_judged"][TC.value] == NEEDS_FACTS
        assert TC.value not in [s.split()[0] for s in item["shortfalls"]]


def test_what_is_not_judged_is_no_fault_and_replayed(scenario: Scenario) -> None:
    user = ScriptedUser(UserTurn("A ticket."), UserTurn("Bye.", done=True))
    evaluation = evaluate(scenario, lambda messages: "Fine.", user, ByRules())
    assert (evaluation.scored, evaluation.share, evaluation.not_judged) == (True, 1, {TC: NEEDS_FACTS})
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

    class Fails(ByRules):
        def verdict(self, scenario: Scenario, dialogue: object, dimension: Dimension) -> Verdict:
            if dimension == P:
                raise JudgeFault("not today")
            return super().verdict(scenario, dialogue, dimension)

    failed = evaluate(scenario, lambda messages: "Fine.", user, Fails())
    assert (failed.cause, failed.detail) == ("judge", "p: not today"), "a fault beside it stays a fault"


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
