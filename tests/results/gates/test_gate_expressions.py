"""Floors as expressions, over domains and kinds; trials, controls and the ablation; the exit code for trouble
of others.
"""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from pytest_personalens.core.options.gate import GateExpression, parse_gate_name, read_gate
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.core.suite import get_suite
from pytest_personalens.datasets import OtherUsers
from tests.support.processes.runs import assert_ended, assert_usage_error, collect_ids
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample", "20", *TOLD_AGENTS)
GATE = "--personalens-gate"


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
    gate = read_gate(text, get_suite("personalens"))
    assert gate == floor == parse_gate_name(gate.name, gate.limit, gate.direction)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((GATE, "trc >= 0.9"), "--personalens-gate: unknown metric 'trc' (did you mean tcr?); known: tcr, p, *, not 'trc >= 0.9'"),
        ((GATE, "tcr > 0.9"), "--personalens-gate: expected [[]DOMAIN or KIND:[]] METRIC >= VALUE, such as tcr >= 0.9*"),
        ((GATE, "tcr >= 9"), "--personalens-gate: tcr lies from 0 to 1; did you mean 9%?, not 'tcr >= 9'"),
        ((GATE, "p >= 90%"), "--personalens-gate: p is no share: give a number from 1 to 4*"),
        ((GATE, "p >= 1.2.3"), "--personalens-gate: expected a number after >=*"),
        ((GATE, ""), "--personalens-gate: expected *"),
        ((GATE, "Movie: p >= 3"), "--personalens-gate: unknown group 'Movie' (did you mean Movies?); known: single, multi, Alarm, *"),
        ((GATE, "p >= 3", GATE, "P>=2"), "--personalens-gate: p has two floors; give one"),
        ((GATE, "coh-user >= 3"), "--personalens-gate: coh-user is not judged in this run; add coh-user with --personalens-dimensions"),
        ((GATE, "lift >= 0.3"), "--personalens-gate: lift: there is nothing to compare with; add --personalens-control no-context or other-user"),
        ((GATE, "drop(p) <= 0.3"), "*drop(p): there is nothing to compare with*--personalens-baseline*"),
        ((GATE, "limits_broken >= 0.1"), "*better low: write limits_broken <= 0.1*"),
        ((GATE, "limits_broken <= 0", "--personalens-dimensions=tc"), "*limits_broken: personalization is not judged *; add p with *"),
        ((GATE, "latency_p95 >= 8"), "*latency_p95 is better low*"),
        ((GATE, "pass^0 >= 0.3"), "--personalens-gate: unknown metric 'pass^0'*"),
        ((GATE, "pass^2 >= 0.3"), "--personalens-gate: pass^2: needs at least as many runs of each scenario; add --personalens-trials 2"),
        (("--personalens-control=no-context", "-opersonalens_context=none"), "--personalens-control no-context: the run itself knows nothing *"),
        (("--personalens-control=other-user", "-opersonalens_context=S"), "--personalens-control other-user: the run itself knows no more *"),
        (("--personalens-control=ablation", "-opersonalens_context=D"), "--personalens-control ablation: the run itself is its last row, D+I+S; *"),
        (("--personalens-control", "nobody"), "--personalens-control: expected one of: no-context, other-user, D, I, H, S, ablation, *"),
        (("--personalens-dimensions", ""), "--personalens-dimensions: expected LIST, not ''"),
        (("--personalens-report", "~no-such-user/r.json"), "--personalens-report: *home directory*"),
        (("--personalens-trials", "0"), "--personalens-trials: expected a whole number from 1 to 100*"),
        (("-o", "personalens_level=0.9"), "personalens_level: expected a number from 0.0001 to 0.5*"),
        (("-o", "personalens_margin=tc=2"), "personalens_margin: expected DIMENSION=X, X from 0 to less than 1*"),
        (("-o", "personalens_margin=speed=1"), "personalens_margin: unknown dimension 'speed'*"),
        (("-o", "personalens_exit_infra=1"), "personalens_exit_infra: expected a whole number from 8 to 255*"),
    ],
)  # fmt: skip
def test_a_gate_that_cannot_be_is_one_line_and_no_run(
    told: Repository, args: tuple[str, ...], problem: str
) -> None:
    result = assert_ended(told.inline(*ARGS, *args), 4, err=f"ERROR: {problem}")
    assert "passed" not in result.stdout.str()


@pytest.mark.parametrize(
    ("gate", "run", "problem"),
    [
        ("limits_broken <= 0", "--personalens-suite=personaconv", "unknown metric 'limits_broken'"),
        ("limits_broken <= 0", "--personalens-suite=memory", "unknown metric 'limits_broken'"),
        (
            "latency_p95 <= 8",
            "--personalens-dialogues=c.jsonl",
            "latency_p95: stored dialogues have no times",
        ),
    ],
)
def test_a_gate_on_what_such_a_run_does_not_measure(
    repo: Repository, gate: str, run: str, problem: str
) -> None:
    with pytest.raises(pytest.UsageError, match=problem):
        repo.settings("--personalens-sample=2", run, GATE, gate)


def test_gates_of_the_configuration_and_their_lines(told: Repository) -> None:
    (told.path / "pytest.ini").write_text(
        "[pytest]\npersonalens_gate =\n    tcr >= 0.8\n    movies: p >= 3\n    multi: tcr >= 1\n    valid >= 95%\n"
    )
    (told.path / "low.txt").write_text("p:movies-1-alistair")
    assert_ended(
        told.inline(*ARGS, "--personalens-report=results.json"),
        1,
        "gate Movies: p: FAILED, mean personalization 2.50 (too few for an interval) < 3.00 over 2 scenarios",
        "gate tcr: passed, task completion rate 1.00 (0.83 to 1.00) >= 0.80 over 20 scen*",
        "gate multi: tcr: passed, *",
        "gate valid: passed, 20 of 20 items could be scored; the floor is 95%",
    )
    assert [gate["name"] for gate in told.results()["gates"]] == ["tcr", "Movies: p", "multi: tcr", "valid"]


def test_an_interval_with_a_failure_in_it_is_not_shown_to_reach_one(told: Repository) -> None:
    (told.path / "low.txt").write_text("tc:movies-1-alistair")
    reports = [f"--personalens-report=run.{kind}" for kind in ("md", "html")]
    result = told.inline(*ARGS, GATE, "tcr >= 0.5", *reports)
    result.stdout.fnmatch_lines(["gate tcr: passed, task completion rate 0.95 (0.75 to 0.998) >= 0.50 *"])
    for kind in ("md", "html"):
        page = (told.path / f"run.{kind}").read_text(encoding="utf-8")
        assert "0.75 to 0.998" in page
        assert "0.75 to 1.00" not in page


@pytest.mark.slow
def test_gates_of_the_command_line_join_those_of_the_configuration(told: Repository) -> None:
    (told.path / "pytest.ini").write_text(
        "[pytest]\npersonalens_gate =\n    p >= 2, tcr >= 0.8\n    movies: p >= 3\n"
    )

    def gates(*args: str) -> list[tuple[str, float]]:
        told.inline(*ARGS, *args, "--personalens-report=results.json")
        return [(gate["name"], gate["limit"]) for gate in told.results()["gates"] if gate["name"] != "valid"]

    assert gates() == [("p", 2.0), ("tcr", 0.8), ("Movies: p", 3.0)]
    train = ("Train: tcr", 0.0)
    assert gates(GATE, "Train: tcr >= 0") == [train, ("p", 2.0), ("tcr", 0.8), ("Movies: p", 3.0)]
    assert gates(GATE, "Movies: p >= 1", GATE, "p >= 1") == [("Movies: p", 1.0), ("p", 1.0), ("tcr", 0.8)]
    assert gates("--personalens-gate=tcr >= 0.5") == [("tcr", 0.5), ("p", 2.0), ("Movies: p", 3.0)]


def test_gates_without_a_sample_are_not_passed_over_in_silence(told: Repository) -> None:
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_gate = tcr >= 0.8\n")
    refused = "personalens_gate: no gate can be decided without a sample; give --personalens-sample N, *"
    assert_usage_error(told.inline(), f"ERROR: {refused}")
    assert_usage_error(told.run("-n1"), f"ERROR: {refused}")
    assert told.inline("-o", "personalens_gate=").ret == told.inline("-o", "personalens_gate=none").ret == 0
    assert told.inline("--collect-only").ret == 0
    (told.path / "pytest.ini").write_text("[pytest]\n")
    assert "personalens:" not in told.inline("-q").stdout.str().partition("collected")[0]


@pytest.mark.slow
def test_trouble_of_others_has_an_exit_code_of_its_own(told: Repository) -> None:
    ids = collect_ids(told, *ARGS)
    (told.path / "faults.txt").write_text("\n".join(ids[:5]))
    infra = ("-o", "personalens_exit_infra=75")
    for gates in ((GATE, "p >= 1"), ()):  # with a gate such items are skipped, without one they fail
        assert_ended(
            told.inline(*ARGS, *gates, *infra),
            75,
            "failed for lack of scores alone: this run says nothing about your assistant",
        )
        assert told.run(*ARGS, *gates, *infra, "-n", "2").ret == 75
        assert told.inline(*ARGS, *gates).ret == 1
    (told.path / "low.txt").write_text(f"tc:{ids[7]}")
    both = told.inline(*ARGS, *infra)
    assert both.ret == 1
    assert "lack of scores" not in both.stdout.str()
    told.write(test_other="def test_other():\n    assert 0\n")
    (told.path / "low.txt").unlink()
    assert told.inline(*ARGS, *infra).ret == 1

    (told.path / "test_other.py").unlink()
    (told.path / "faults.txt").unlink()
    raising = TOLD.replace('return lambda messages: "fine"', "return lambda messages: 1 / 0")
    told.write(conftest=raising, test_bot="def test_bot(personalens):\n    personalens.evaluate()\n")
    broken = told.inline(*ARGS, GATE, "valid >= 0.5", *infra)
    assert broken.ret == 1
    assert "lack of scores" not in broken.stdout.str()


def test_a_share_is_not_missed_by_the_last_bits_of_a_number() -> None:
    for tenths in range(1001):
        assert read_gate(f"valid >= {tenths / 10}%", get_suite("personalens")).limit == tenths / 1000


def test_what_is_asked_of_a_run_is_not_passed_over_where_there_is_none(told: Repository) -> None:
    for args in (
        (GATE, "tcr >= 0.9"),
        ("--personalens-gate", "p >= 3"),
        ("--personalens-baseline=b.json",),
        ("--personalens-report", "r.html"),
        ("--personalens-domain=Train",),
        ("--personalens-estimate",),
    ):
        assert_ended(
            told.inline(*args),
            4,
            err=f"ERROR: {args[0].partition('=')[0]}: give --personalens-sample N too; without it there is no run",
        )
    told.write(unit__test_unit="def test_unit():\n    pass\n")
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 3\npersonalens_gate = tcr >= 0.9\n")
    assert told.inline("unit").ret == 0  # unit tests of a repository whose every run has a sample


@pytest.mark.slow
def test_a_path_that_pytest_would_take_for_tests_is_refused(told: Repository) -> None:
    outside = told.path.parent / f"{told.path.name}-r.json"
    args = (*ARGS, "--personalens-report")
    assert told.run(*args, str(outside)).ret == 0
    assert_ended(
        told.run(*args, str(outside)),
        4,
        err=f"ERROR: --personalens-report: write --personalens-report={outside}; after a space, pytest takes *",
    )
    assert told.run(*args[:-1], f"--personalens-report={outside}").ret == 0


# Trials


@pytest.mark.slow
def test_trials_have_ids_and_records_of_their_own(told: Repository) -> None:
    args = ("--personalens-sample", "3", *ARGS[2:], "--personalens-trials", "3")
    names = collect_ids(told, *args)
    assert len(names) == 9
    assert names[:3] == [names[0], f"{names[0]}+t2", f"{names[0]}+t3"]
    assert told.inline(*args, "--personalens-record=new").ret == 0
    assert len(list((told.path / "__personalens__" / "test_bot").iterdir())) == 9
    passes = "3 trials of each scenario: pass^1 1.00, pass^2 1.00, pass^3 1.00"
    assert_ended(told.inline(*args), 0, passes, "records: 9 replayed")
    fewer = assert_ended(told.inline("--personalens-sample=3", *ARGS[2:]), 0, "records: 3 replayed")
    assert "trials of each" not in fewer.stdout.str()


UNSTEADY = """
    import itertools, pytest

    @pytest.fixture(scope="session")
    def personalens_assistant():
        calls = itertools.count()

        def bot(messages):
            done = len(messages) > 1 or next(calls) % 3  # every third dialogue begins badly
            return "I've booked it for 19:30, reference QX77." if done else "I cannot do that."

        return bot
"""


def test_an_assistant_that_wavers_shows_in_its_trials(repo: Repository) -> None:
    judge = TOLD.replace(
        'f"{dimension.short}:{scenario.id}" in listed("low.txt")', '"cannot" in dialogue.messages[1].content'
    )
    repo.write(conftest=judge + UNSTEADY)
    result = assert_ended(
        repo.inline(
            *ARGS, "-v", "--personalens-trials=2", GATE, "pass^2 >= 0.9", "--personalens-report=results.json"
        ),
        1,
        "gate pass^2: FAILED, chance of passing 2 times of 2 0.* < 0.90 over 20 scenarios",
    )
    found = repo.results()["trials"]
    assert found["pass_k"][0] == pytest.approx(2 / 3, abs=0.02)
    assert found["pass_k"][1] < found["pass_k"][0]
    assert found["spread"]["task_completion"] > 0
    assert "(in 1 of 2 trials)" in result.stdout.str()


# Controls

KNOWS = (
    TOLD.replace(
        'f"{dimension.short}:{scenario.id}" in listed("low.txt")',
        "scenario.summaries[scenario.domains[0]] not in dialogue.messages[1].content",
    ).replace(
        '    @pytest.fixture(scope="session")\n    def personalens_assistant():\n        return lambda'
        ' messages: "fine"\n',
        "",
    )
    + """
    @pytest.fixture(scope="session")
    def personalens_assistant():
        def bot(messages, context):
            return f"{context.user} " + " ".join(context.interactions.values()) + f" {context.situation}" + f" {context.demographics}"
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
def test_controls_withhold_the_context_or_give_another_users(
    knowing: Repository, extra: tuple[str, ...]
) -> None:
    controls = ("--personalens-control", "no-context", "--personalens-control", "other-user")
    assert_ended(
        knowing.run(*ARGS, *controls, GATE, "lift >= 2.5", "--personalens-report=results.json", *extra),
        0,
        "control no-context: P 1.00, with this user's context 4.00: lift +3.00 (95 % *, one-sided p < 0.001)",
        "control other-user: P 1.00, with this user's context 4.00: lift +3.00 (95 % *, one-sided p < 0.001)",
        "gate lift: passed, lift of personalization over the control other-user 3.00 (* >= 2.50 over 20 scenarios, one-sided p < 0.001",
    )
    found = knowing.results()
    assert (found["overall"]["items"], len(found["items"])) == (20, 60)
    items = {item["nodeid"].partition("[")[2].rstrip("]"): item for item in found["items"]}
    for name, item in items.items():
        if item["arm"]:
            continue
        said = {
            control: items[f"{name}{control}"]["evaluation"]["dialogue"]["messages"][1]["content"]
            for control in ("", "+none", "+swapped")
        }
        user, scenario = item["evaluation"]["user"], found["scenarios"][item["evaluation"]["scenario"]]
        assert said["+none"] == f"{user}+none  None {{}}"
        assert said["+swapped"].startswith(f"{user}+swapped+{items[f'{name}+swapped']['given_user']} ")
        assert items[f"{name}+swapped"]["given_user"] not in ("", user)
        for summary in scenario["summaries"].values():
            assert summary in said[""]
            assert summary not in said["+swapped"]
        assert scenario["situation"]["location"] in said["+swapped"]


@pytest.mark.slow
def test_controls_count_in_no_figure_of_the_run(knowing: Repository) -> None:
    raising = KNOWS.replace(
        'return f"{context.user} "', 'assert context.interactions\n            return f"{context.user} "'
    )
    knowing.write(conftest=raising, test_bot="def test_bot(personalens):\n    personalens.evaluate()\n")
    gates = (GATE, "valid >= 1", GATE, "lift >= 0")
    result = knowing.inline(
        *ARGS, "--personalens-control=no-context", *gates, "--personalens-report=results.json"
    )
    found = knowing.results()
    assert (found["uncounted"], found["overall"]["items"]) == ({}, 20)
    assert found["arms"][0]["overall"]["scored"] == 0
    assert_ended(
        result,
        1,
        "gate lift: FAILED (not decided), lift * no-context: no scenario was scored both *",
        "gate valid: passed, 20 of 20 items could be scored; the floor is 100%",
    )


def test_a_control_below_a_threshold_does_not_fail(knowing: Repository) -> None:
    result = knowing.inline("--personalens-sample=4", *ARGS[2:], "--personalens-control=no-context")
    result.assert_outcomes(passed=8)
    assert "below the threshold" not in result.stdout.str()


@pytest.mark.slow
def test_the_command_of_a_failed_trial_runs_it_alone(told: Repository) -> None:
    low = collect_ids(told, *ARGS)[0]
    (told.path / "low.txt").write_text(f"tc:{low}")
    result = told.inline(*ARGS, "--personalens-trials=2", "--personalens-control=other-user")
    commands = [
        shlex.split(line.partition("again:  pytest")[2])
        for line in result.outlines
        if line.startswith("again:")
    ]
    assert [command[-1] for command in commands] == [
        f"test_bot.py::test_bot[{low}]",
        f"test_bot.py::test_bot[{low}+t2]",
    ]
    for command in commands:
        told.inline(*command).assert_outcomes(failed=1)


@pytest.mark.slow
def test_the_ablation_is_one_command(knowing: Repository) -> None:
    options = (
        "--personalens-control=ablation",
        "--personalens-gate=none",
        "--personalens-report=results.json",
    )
    assert knowing.inline(*ARGS, *options).ret == 0
    found = knowing.results()
    assert [control["name"] for control in found["arms"]] == ["none", "D", "I", "S"]
    means = [control["overall"]["figures"]["personalization"]["value"] for control in found["arms"]]
    assert means == [1.0, 1.0, 4.0, 1.0]
    given = {(item["arm"], item["given"]) for item in found["items"]}
    assert given == {("", "DIS"), ("none", ""), ("D", "D"), ("I", "I"), ("S", "S")}


class Lonely:
    """A dataset in which nobody has a task like another's, but for two users."""

    name, version = "lonely", "1"

    def domains(self) -> list[str]:
        return ["Movies", "Music"]

    def users(self) -> list[str]:
        return ["ada", "bob", "cy"]

    def refs(self, user: str) -> list[ScenarioRef]:
        return [ScenarioRef(user, f"own-{user}", "single", ("Music" if user == "cy" else "Movies",))]

    def load(self, ref: ScenarioRef) -> Any:
        raise NotImplementedError


def test_a_stranger_has_the_same_task_or_the_same_domains() -> None:
    from pytest_personalens.core.errors import SpecError
    from pytest_personalens.datasets import EmbeddedDataset, draw

    data = EmbeddedDataset()
    other_users = OtherUsers(data, "seed")
    for ref in draw(data, 30, seed="seed").refs:
        other = other_users.of(ref)
        assert (other.task, other.domains) == (ref.task, ref.domains)
        assert other.user != ref.user
        assert OtherUsers(data, "seed").of(ref) == other
    lonely = OtherUsers(Lonely(), "seed")
    assert lonely.of(Lonely().refs("ada")[0]).user == "bob"
    with pytest.raises(SpecError, match=r"nobody else in dataset 'lonely' has a task like own-cy"):
        lonely.of(Lonely().refs("cy")[0])


def test_a_setting_of_another_type_is_named(told: Repository) -> None:
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_trials = several\n")
    assert_ended(
        told.inline(*ARGS),
        4,
        err="ERROR: personalens_trials: expected a value of type int in the configuration file (*",
    )
