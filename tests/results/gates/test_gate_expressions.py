"""Gates as expressions: how they are read and refused; trials, controls and the ablation; the exit code for trouble of others."""

from __future__ import annotations

import shlex
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options.gate import GateExpression, parse_gate_name, read_gate
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.core.suite import get_suite
from pytest_personalens.datasets import EmbeddedDataset, OtherUsers, draw
from tests.support.processes.runs import assert_ended, collect_ids
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS, TOLD_ALONE

AGENTS = (*TOLD_AGENTS, "--personalens-report=results.json")
ARGS = ("--personalens-sample=20", *AGENTS)
GATE = "--personalens-gate"
SUITE = get_suite("personalens")


@pytest.mark.parametrize(
    ("text", "floor"),
    [
        ("tcr >= 0.9", GateExpression("", "tcr", 0.9)),
        ("TC>=90%", GateExpression("", "tcr", 0.9)),
        (" Rental Cars : p>=2.5 ", GateExpression("Rental Cars", "p", 2.5)),
        ("multi:coh-assistant >= 4", GateExpression("multi", "coh-assistant", 4.0)),
        ("valid >= 95%", GateExpression("", "valid", 0.95)),
        ("lift >= -0.1", GateExpression("", "lift", -0.1)),
        ("pass^3 >= 0.5", GateExpression("", "pass^3", 0.5)),
        ("drop(p) <= 0.3", GateExpression("", "drop", 0.3, "<=", "p")),
        ("drop(TC)=5%", GateExpression("", "drop", 0.05, "<=", "tcr")),
        ("DROP( tcr ) ≤ 0.1", GateExpression("", "drop", 0.1, "<=", "tcr")),
    ],
)
def test_an_expression(text: str, floor: GateExpression) -> None:
    gate = read_gate(text, SUITE)
    assert gate == floor == parse_gate_name(gate.name, gate.limit, gate.direction)


def test_a_share_is_not_missed_by_the_last_bits_of_a_number() -> None:
    for tenths in range(1001):
        assert read_gate(f"valid >= {tenths / 10}%", SUITE).limit == tenths / 1000


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("trc >= 0.9", "unknown metric 'trc' (did you mean tcr?); known: tcr, p, "),
        ("tcr > 0.9", "expected [DOMAIN or KIND:] METRIC >= VALUE, such as tcr >= 0.9"),
        ("tcr >= 9", "tcr lies from 0 to 1; did you mean 9%?"),
        ("p >= 90%", "p is no share: give a number from 1 to 4"),
        ("p >= 1.2.3", "expected a number after >="),
        ("", "expected "),
        ("limits_broken >= 0.1", "better low: write limits_broken <= 0.1"),
        ("latency_p95 >= 8", "latency_p95 is better low"),
        ("pass^0 >= 0.3", "unknown metric 'pass^0'"),
        ("drop(p) >= 0.3", "write drop(p) <= 0.3"),
        *((f"{other} <= 0.3", "drop(METRIC) <= VALUE") for other in ("drop", "drop(valid)", "drop(p, other-user)")),
        ("drop(foo) <= 0.3", "unknown metric 'foo'"),
        ("drop(p) <= 0", "above 0, up to 3"),
        ("drop(p) <= 4", "above 0, up to 3"),
        ("drop(p) <= 10%", "no share"),
        ("drop(p) <= 1.2.3", "expected a number after <="),
        ("Movies: drop(p) <= 1", "leave 'Movies' out"),
    ],
)  # fmt: skip
def test_an_expression_that_cannot_be(text: str, told: str) -> None:
    with pytest.raises(ValueError) as error:
        read_gate(text, SUITE)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((GATE, "tcr >= 9"), "--personalens-gate: tcr lies from 0 to 1; did you mean 9%?, not 'tcr >= 9' *"),
        ((GATE, "p >= 3", GATE, "P>=2"), "--personalens-gate: p has two floors; give one *"),
        ((GATE, "coh-user >= 3", *TOLD_AGENTS), "--personalens-gate: coh-user is not judged in this run; add coh-user with --personalens-dimensions *"),
        ((GATE, "lift >= 0.3"), "--personalens-gate: lift: there is nothing to compare with; add --personalens-control no-context or other-user *"),
        ((GATE, "drop(p) <= 0.3"), "*drop(p): there is nothing to compare with; add --personalens-baseline PATH *"),
        ((GATE, "limits_broken <= 0", "--personalens-dimensions=tc"), "*limits_broken: personalization is not judged *; add p with *"),
        ((GATE, "limits_broken <= 0", "--personalens-suite=personaconv"), "*unknown metric 'limits_broken'*"),
        ((GATE, "limits_broken <= 0", "--personalens-suite=memory"), "*unknown metric 'limits_broken'*"),
        ((GATE, "latency_p95 <= 8", "--personalens-dialogues=c.jsonl"), "*latency_p95: stored dialogues have no times*"),
        ((GATE, "pass^2 >= 0.3"), "--personalens-gate: pass^2: needs at least as many runs of each scenario; add --personalens-trials 2 *"),
        (("--personalens-control=no-context", "-opersonalens_context=none"), "--personalens-control no-context: the run itself knows nothing *"),
        (("--personalens-control=other-user", "-opersonalens_context=S"), "--personalens-control other-user: the run itself knows no more *"),
        (("--personalens-control=ablation", "-opersonalens_context=D"), "--personalens-control ablation: the run itself is its last row, D+I+S; *"),
        (("--personalens-control", "nobody"), "--personalens-control: expected one of: no-context, other-user, D, I, H, S, ablation, *"),
        (("--personalens-dimensions", ""), "--personalens-dimensions: expected LIST, not '' *"),
        (("--personalens-report", "~no-such-user/r.json"), "--personalens-report: *home directory*"),
        (("--personalens-trials", "0"), "--personalens-trials: expected a whole number from 1 to 100*"),
        (("-opersonalens_level=0.9",), "personalens_level: expected a number from 0.0001 to 0.5*"),
        (("-opersonalens_margin=tc=2",), "personalens_margin: expected DIMENSION=X, X from 0 to less than 1*"),
        (("-opersonalens_margin=speed=1",), "personalens_margin: unknown dimension 'speed'*"),
        (("-opersonalens_exit_infra=1",), "personalens_exit_infra: expected a whole number from 8 to 255*"),
        (("-opersonalens_trials=several",), "personalens_trials: expected a value of type int in the configuration file (*"),
    ],
)  # fmt: skip
def test_what_a_run_cannot_be_asked_for(told: Repository, args: tuple[str, ...], problem: str) -> None:
    with pytest.raises(pytest.UsageError) as refused:
        told.settings("--personalens-sample=2", *args)
    pytest.LineMatcher([str(refused.value)]).fnmatch_lines([problem.replace("[", "[[]")])


def test_a_gate_that_cannot_be_is_one_line_and_no_run(told: Repository) -> None:
    unknown = "unknown group 'Movie' (did you mean Movies?); known: single, multi, Alarm, *"
    result = assert_ended(
        told.inline(*ARGS, GATE, "Movie: p >= 3"), 4, err=f"ERROR: --personalens-gate: {unknown}"
    )
    assert "passed" not in result.stdout.str()


def test_gates_of_the_configuration_and_their_lines(told: Repository) -> None:
    """An interval with a failure in it is nowhere shown to reach 1."""
    gates = "tcr >= 0.8\n    movies: p >= 3\n    single: tcr >= 1\n    valid >= 95%"
    (told.path / "pytest.ini").write_text(f"[pytest]\npersonalens_gate =\n    {gates}\n")
    (told.path / "low.txt").write_text("p:movies-1-alistair\ntc:movies-1-alistair")
    assert_ended(
        told.inline(*ARGS, "--personalens-report=run.md", "--personalens-report=run.html"),
        1,
        "gate Movies: p: FAILED, mean personalization 2.50 (too few for an interval) < 3.00 over 2 scenarios",
        "gate single: tcr: FAILED, *",
        "gate tcr: passed, task completion rate 0.95 (0.75 to 0.998) >= 0.80 over 20 scen*",
        "gate valid: passed, 20 of 20 items could be scored; the floor is 95%",
    )
    assert [gate["name"] for gate in told.results()["gates"]] == ["tcr", "Movies: p", "single: tcr", "valid"]
    for kind in ("md", "html"):
        page = (told.path / f"run.{kind}").read_text(encoding="utf-8")
        assert "0.75 to 0.998" in page
        assert "0.75 to 1.00" not in page


def test_gates_of_the_command_line_join_those_of_the_configuration(told: Repository) -> None:
    (told.path / "pytest.ini").write_text(
        "[pytest]\npersonalens_gate =\n    p >= 2, tcr >= 0.8\n    Movies: p >= 3\n"
    )

    def gates(*more: str) -> list[tuple[str, float]]:
        args = [word for gate in more for word in (GATE, gate)]
        return [(gate.name, gate.limit) for gate in told.settings(*ARGS, *args).gate]

    assert gates() == [("p", 2.0), ("tcr", 0.8), ("Movies: p", 3.0)]
    assert gates("Train: tcr >= 0") == [("Train: tcr", 0.0), ("p", 2.0), ("tcr", 0.8), ("Movies: p", 3.0)]
    assert gates("Movies: p >= 1", "p >= 1") == [("Movies: p", 1.0), ("p", 1.0), ("tcr", 0.8)]
    assert gates("tcr >= 0.5") == [("tcr", 0.5), ("p", 2.0), ("Movies: p", 3.0)]


def test_what_is_asked_of_a_run_is_not_passed_over_where_there_is_none(told: Repository) -> None:
    for args in (
        (GATE, "tcr >= 0.9"), (GATE, "p >= 3"), ("--personalens-baseline=b.json",), ("--personalens-report", "r.html"),
        ("--personalens-domain=Train",), ("--personalens-estimate",),
    ):  # fmt: skip
        with pytest.raises(pytest.UsageError) as refused:
            told.settings(*args)
        nothing = "give --personalens-sample N too; without it there is no run (PL108)"
        assert str(refused.value) == f"{args[0].partition('=')[0]}: {nothing}"
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_gate = tcr >= 0.8\n")
    undecided = (
        "ERROR: personalens_gate: no gate can be decided without a sample; give --personalens-sample N, *"
    )
    assert_ended(told.inline(), 4, err=undecided)
    assert_ended(told.run("-n1"), 4, err=undecided)
    assert told.inline("-o", "personalens_gate=").ret == told.inline("-o", "personalens_gate=none").ret == 0
    assert told.inline("--collect-only").ret == 0
    told.write(unit__test_unit="def test_unit():\n    pass\n")
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 3\npersonalens_gate = tcr >= 0.9\n")
    assert told.inline("unit").ret == 0  # unit tests of a repository whose every run has a sample
    (told.path / "pytest.ini").write_text("[pytest]\n")
    assert "personalens:" not in told.inline("-q").stdout.str().partition("collected")[0]


@pytest.mark.slow
def test_trouble_of_others_has_an_exit_code_of_its_own(told: Repository) -> None:
    ids, infra = collect_ids(told, *ARGS), ("-o", "personalens_exit_infra=75")
    (told.path / "faults.txt").write_text("\n".join(ids[:5]))
    alone = "failed for lack of scores alone: this run says nothing about your assistant"
    for gates in ((GATE, "p >= 1"), ()):  # with a gate such items are skipped, without one they fail
        assert_ended(told.inline(*ARGS, *gates, *infra), 75, alone)
        assert told.run(*ARGS, *gates, *infra, "-n", "2").ret == 75
        assert told.inline(*ARGS, *gates).ret == 1
    (told.path / "low.txt").write_text(f"tc:{ids[7]}")
    runs = [told.inline(*ARGS, *infra)]
    told.write(test_other="def test_other():\n    assert 0\n")
    (told.path / "low.txt").unlink()
    runs.append(told.inline(*ARGS, *infra))
    (told.path / "test_other.py").unlink()
    (told.path / "faults.txt").unlink()
    raising = TOLD.replace('return lambda messages: "fine"', "return lambda messages: 1 / 0")
    told.write(conftest=raising, test_bot="def test_bot(personalens):\n    personalens.evaluate()\n")
    runs.append(told.inline(*ARGS, GATE, "valid >= 0.5", *infra))
    for run in runs:  # a low score, a test of another kind, the assistant itself
        assert run.ret == 1
        assert "lack of scores" not in run.stdout.str()


@pytest.mark.slow
def test_a_path_that_pytest_would_take_for_tests_is_refused(told: Repository) -> None:
    outside = told.path.parent / f"{told.path.name}-r.json"
    args = ("--personalens-sample=2", *TOLD_AGENTS)
    refused = (
        f"ERROR: --personalens-report: write --personalens-report={outside}; after a space, pytest takes *"
    )
    assert told.run(*args, "--personalens-report", str(outside)).ret == 0
    assert_ended(told.run(*args, "--personalens-report", str(outside)), 4, err=refused)
    assert told.run(*args, f"--personalens-report={outside}").ret == 0


# Trials


@pytest.mark.slow
def test_trials_have_ids_and_records_of_their_own(told: Repository) -> None:
    few, three = ("--personalens-sample=3", *TOLD_AGENTS), "--personalens-trials=3"
    names = collect_ids(told, *few, three)
    assert len(names) == 9
    assert names[:3] == [names[0], f"{names[0]}+t2", f"{names[0]}+t3"]
    assert told.inline(*few, three, "--personalens-record=new").ret == 0
    assert len(list((told.path / "__personalens__" / "test_bot").iterdir())) == 9
    passes = "3 trials of each scenario: pass^1 1.00, pass^2 1.00, pass^3 1.00"
    assert_ended(told.inline(*few, three), 0, passes, "records: 9 replayed")
    fewer = assert_ended(told.inline(*few), 0, "records: 3 replayed")
    assert "trials of each" not in fewer.stdout.str()


#: Every third dialogue begins badly.
UNSTEADY = """
    import itertools

    @pytest.fixture(scope="session")
    def personalens_assistant():
        calls = itertools.count()
        done = "I've booked it for 19:30, reference QX77."
        return lambda messages: done if len(messages) > 1 or next(calls) % 3 else "I cannot do that."
"""
IS_LOW = 'f"{dimension.short}:{scenario.id}" in listed("low.txt")'


def test_an_assistant_that_wavers_shows_in_its_trials(repo: Repository) -> None:
    repo.write(conftest=TOLD_ALONE.replace(IS_LOW, '"cannot" in dialogue.messages[1].content') + UNSTEADY)
    missed = "gate pass^2: FAILED, chance of passing 2 times of 2 0.* < 0.90 over 20 scenarios"
    result = assert_ended(
        repo.inline(*ARGS, "-v", "--personalens-trials=2", GATE, "pass^2 >= 0.9"), 1, missed
    )
    found = repo.results()["trials"]
    assert found["pass_k"][0] == pytest.approx(2 / 3, abs=0.02)
    assert found["pass_k"][1] < found["pass_k"][0]
    assert found["spread"]["task_completion"] > 0
    assert "(in 1 of 2 trials)" in result.stdout.str()


# Controls

#: An assistant that says all it is given, and a judge that finds good what has the summary.
KNOWS = (
    TOLD_ALONE.replace(IS_LOW, "scenario.summaries[scenario.domains[0]] not in dialogue.messages[1].content")
    + """
    @pytest.fixture(scope="session")
    def personalens_assistant():
        def bot(messages, context):
            told = " ".join(context.interactions.values())
            return f"{context.user} {told} {context.situation} {context.demographics}"
        return bot
"""
)


@pytest.fixture
def knowing(repo: Repository) -> Repository:
    repo.write(conftest=KNOWS)
    return repo


@pytest.mark.slow
@pytest.mark.parametrize(
    "extra", [(), ("-o", "personalens_parallel=6"), ("-n", "2")], ids=["alone", "concurrent", "workers"]
)
def test_controls_withhold_the_context_or_swap_it(knowing: Repository, extra: tuple[str, ...]) -> None:
    controls = ("--personalens-control", "no-context", "--personalens-control", "other-user")
    lift = "P 1.00, with this user's context 4.00: lift +3.00 (95 % *, one-sided p < 0.001)"
    assert_ended(
        knowing.run(*ARGS, *controls, GATE, "lift >= 2.5", *extra),
        0,
        f"control no-context: {lift}",
        f"control other-user: {lift}",
        "gate lift: passed, lift of personalization over the control other-user 3.00 (* >= 2.50 over 20 scenarios, one-sided p < 0.001",
    )
    found = knowing.results()
    assert (found["overall"]["items"], len(found["items"])) == (20, 60)
    items = {item["nodeid"].partition("[")[2].rstrip("]"): item for item in found["items"]}
    for name, item in items.items():
        if item["arm"]:
            continue
        own, none, swapped = (
            items[f"{name}{control}"]["evaluation"]["dialogue"]["messages"][1]["content"]
            for control in ("", "+none", "+swapped")
        )
        user, scenario = item["evaluation"]["user"], found["scenarios"][item["evaluation"]["scenario"]]
        assert none == f"{user}+none  None {{}}"
        other = items[f"{name}+swapped"]["given_user"]
        assert swapped.startswith(f"{user}+swapped+{other} ")
        assert other not in ("", user)
        assert all(summary in own and summary not in swapped for summary in scenario["summaries"].values())
        assert scenario["situation"]["location"] in swapped


@pytest.mark.slow
def test_controls_count_in_no_figure_of_the_run(knowing: Repository) -> None:
    raising = KNOWS.replace("told =", "assert context.interactions\n            told =")
    knowing.write(conftest=raising, test_bot="def test_bot(personalens):\n    personalens.evaluate()\n")
    assert_ended(
        knowing.inline(*ARGS, "--personalens-control=no-context", GATE, "valid >= 1", GATE, "lift >= 0"),
        1,
        "gate lift: FAILED (not decided), lift * no-context: no scenario was scored both *",
        "gate valid: passed, 20 of 20 items could be scored; the floor is 100%",
    )
    found = knowing.results()
    assert (found["uncounted"], found["overall"]["items"]) == ({}, 20)
    assert found["arms"][0]["overall"]["scored"] == 0


@pytest.mark.slow
def test_the_command_of_a_failed_trial_runs_it_alone(told: Repository) -> None:
    low = collect_ids(told, *ARGS)[0]
    (told.path / "low.txt").write_text(f"tc:{low}")
    result = told.inline(*ARGS, "--personalens-trials=2", "--personalens-control=other-user")
    lines = [line for line in result.outlines if line.startswith("again:")]
    commands = [shlex.split(line.partition("again:  pytest")[2]) for line in lines]
    assert [command[-1] for command in commands] == [f"test_bot.py::test_bot[{low}{n}]" for n in ("", "+t2")]
    for command in commands:
        told.inline(*command).assert_outcomes(failed=1)


def test_the_ablation_is_one_command(knowing: Repository) -> None:
    """What a control scores fails nothing, however low it is."""
    result = knowing.inline(*ARGS, "--personalens-control=ablation")
    result.assert_outcomes(passed=100)
    assert "below the threshold" not in result.stdout.str()
    found = knowing.results()
    figures = {arm["name"]: arm["overall"]["figures"]["personalization"]["value"] for arm in found["arms"]}
    assert list(figures.items()) == [("none", 1.0), ("D", 1.0), ("I", 4.0), ("S", 1.0)]
    given = {(item["arm"], item["given"]) for item in found["items"]}
    assert given == {("", "DIS"), ("none", ""), ("D", "D"), ("I", "I"), ("S", "S")}


def test_a_stranger_has_the_same_task_or_the_same_domains() -> None:
    data = EmbeddedDataset()
    other_users = OtherUsers(data, "seed")
    for ref in draw(data, 30, seed="seed").refs:
        other = other_users.of(ref)
        assert (other.task, other.domains) == (ref.task, ref.domains)
        assert other.user != ref.user
        assert OtherUsers(data, "seed").of(ref) == other
    refs = {
        user: [ScenarioRef(user, f"own-{user}", "single", (domain,))]
        for user, domain in (("ada", "Movies"), ("bob", "Movies"), ("cy", "Music"))
    }
    lonely = SimpleNamespace(name="lonely", users=lambda: list(refs), refs=refs.__getitem__)
    others = OtherUsers(cast("Any", lonely), "seed")
    assert others.of(refs["ada"][0]).user == "bob"
    with pytest.raises(SpecError, match=r"nobody else in dataset 'lonely' has a task like own-cy"):
        others.of(refs["cy"][0])
