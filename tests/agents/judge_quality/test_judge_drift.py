"""A judge adopted and checked: who changed, whatever the run, and one clear line for what cannot be checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, get_args

import pytest

from pytest_personalens import Dimension, Verdict, read_results
from pytest_personalens.judge_quality.drift import (
    AdoptedJudge,
    Scored,
    detect_drift,
    open_anchors,
    permutation_test,
    read_anchors,
    sign_test,
)
from pytest_personalens.judge_quality.labels import read_labels
from pytest_personalens.results.values.figures import Drift, DriftOutcome
from tests.support.processes.runs import assert_ended, assert_usage_error
from tests.support.repository import ROOT, Repository, edited, forget_calls
from tests.support.scripted_agents import TEST, TOLD_AGENTS, TOLD_ALONE
from tests.support.servers.endpoint import Call, Endpoint, Reply, play

#: A judge and a bot that change with the environment: the judge's mood is for task completion (tc) or personalization (p).
MOODY = (
    TOLD_ALONE.replace(
        'identity, paid = os.environ.get("JUDGE", "judge 1"), False',
        """identity, paid = os.environ.get("NAME", "moody 1"), bool(os.environ.get("PAID"))
        if os.environ.get("VARIES"):
            deterministic = False
""",
    )
    .replace(
        'if scenario.id in listed("faults.txt"):',
        'mood = os.environ.get("MOOD", "")\n            if mood == "down":',
    )
    .replace(
        'score = low if f"{dimension.short}:{scenario.id}" in listed("low.txt") else high',
        """one = mood == "one" and scenario.id.endswith("-018") and dimension.short == "tc"
            odd = scenario.dataset == "labelled" and int(scenario.id[-1]) % 2
            bad = odd or one or mood in (dimension.short, "all") or "sorry" in dialogue.messages[-1].content
            score = low if bad else high""",
    )
    + """
    @pytest.fixture
    def personalens_assistant():
        return lambda messages: os.environ.get("BOT", "done")
"""
)
SAMPLE, VALID = ("--personalens-sample", "12", *TOLD_AGENTS), ("--personalens-gate", "valid >= 0.9")
ADOPT = ("--personalens-adopt-judge", "judge.json")
CHECK = ("--personalens-check-judge", "judge.json", "--personalens-report", "results.json")
#: What the judge that was adopted first left in its file, for all tests.
ADOPTED: list[bytes] = []


class Moody(NamedTuple):
    """A repository of a judge and a bot that change with the environment."""

    repo: Repository
    monkeypatch: pytest.MonkeyPatch

    def run(self, *args: str, **environment: str) -> pytest.RunResult:
        """A run of the sample with these variables alone."""
        for name in ("NAME", "PAID", "VARIES", "MOOD", "BOT"):
            self.monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            self.monkeypatch.setenv(name, value)
        return (self.repo.run if "-n" in args else self.repo.inline)(*SAMPLE, *args)

    @property
    def drift(self) -> Drift | None:
        return read_results(self.repo.path / "results.json").drift


@pytest.fixture
def moody(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Moody:
    repo.write(conftest=MOODY)
    return Moody(repo, monkeypatch)


@pytest.fixture
def adopted(moody: Moody) -> Moody:
    if not ADOPTED:
        told = "the judge was adopted: 24 anchors and the scores of 12 scenarios are in judge.json"
        assert_ended(moody.run(*VALID, *ADOPT), 0, told)
        ADOPTED.append((moody.repo.path / "judge.json").read_bytes())
    (moody.repo.path / "judge.json").write_bytes(ADOPTED[0])
    return moody


NOTHING, NOT_COMPARED = ("-k", "nothing"), "the judge did not change: the scores cannot be compared, because"
#: A row: variables, arguments beside those that check the judge, the exit status, the outcome, and a line of the output.
Row = tuple[Mapping[str, str], tuple[str, ...], int, str, str]
CHECKED: list[Row] = [
    ({}, VALID, 0, "neither changed", "*"),
    ({"BOT": "sorry"}, VALID, 0, "your assistant changed", "*"),
    ({"MOOD": "all"}, VALID, 1, "the judge changed", "FAILED personalens::gate[[]judge[]]*"),
    ({"MOOD": "one"}, VALID, 1, "the judge changed", "*do not compare scores with the baseline until the judge is adopted again*"),
    ({"MOOD": "p", "BOT": "sorry"}, VALID, 1, "both changed", "*"),
    ({"NAME": "moody 2"}, VALID, 0, "neither changed", "*the judge was moody 1, it is moody 2"),
    ({}, (*VALID, "-opersonalens_context=none"), 0, "the judge did not change", f"{NOT_COMPARED} the context was DIS and is none"),
    ({}, (*NOTHING, "-q"), 0, "the judge did not change", f"{NOT_COMPARED} no scenario was scored in both runs"),
    ({"MOOD": "all"}, NOTHING, 1, "the judge changed", "*"),
    ({"BOT": "sorry"}, ("-x",), 1, "", "the judge was not checked: the run was stopped*"),
    ({"MOOD": "down"}, VALID, 1, "the judge could not be checked", "the judge could not be checked: 0 of 48 anchor verdicts were read (*not today*)*"),
]  # fmt: skip


@pytest.mark.parametrize("row", CHECKED)
def test_who_changed(adopted: Moody, row: Row, *more: str) -> None:
    environment, args, status, outcome, line = row
    result = assert_ended(adopted.run(*args, *more, *CHECK, **environment), status, line)
    drift = adopted.drift
    assert (drift.outcome if drift else "") == outcome
    assert {o for o in get_args(DriftOutcome) if f"\n{o}: " in result.stdout.str()} == {outcome} - {""}
    results = read_results(adopted.repo.path / "results.json")
    assert [gate.passed for gate in results.gates if gate.name == "judge"] == ([status == 0] if drift else [])
    if drift and args == VALID and environment.get("MOOD") != "down":
        assert {s.compared for s in drift.anchors} == {24} and {s.compared for s in drift.scores} == {12}
    if NOTHING[0] in args:
        assert results.items == ()


@pytest.mark.slow
@pytest.mark.parametrize("row", CHECKED[:5])
def test_who_changed_with_workers(adopted: Moody, row: Row) -> None:
    test_who_changed(adopted, row, "-n", "2")


def test_without_a_terminal_the_exit_code_tells(adopted: Moody) -> None:
    quiet = (*VALID, *CHECK, "-p", "no:terminal")
    assert [adopted.run(*quiet, MOOD=mood).ret for mood in ("", "all")] == [0, 1]


@pytest.mark.slow
def test_the_baseline_is_the_same_however_many_workers(adopted: Moody) -> None:
    file = adopted.repo.path / "judge.json"
    file.unlink()
    adopted.run(*VALID, *ADOPT, "-n", "2")
    assert file.read_bytes() == ADOPTED[0]
    assert json.loads(ADOPTED[0])["schema"] == "personalens-judge/1"


def test_a_judge_that_varies_is_allowed_a_little(moody: Moody) -> None:
    moody.run(*VALID, *ADOPT, VARIES="1")
    for mood, status in (("one", 0), ("tc", 1)):
        assert moody.run(*VALID, *CHECK, VARIES="1", MOOD=mood).ret == status
        assert moody.drift and (moody.drift.outcome == "neither changed") == (status == 0)


def test_a_judge_that_is_down_is_not_adopted(adopted: Moody) -> None:
    told = "the judge could not be adopted: 0 of 48 anchor verdicts were read (*not today*)*"
    assert_ended(adopted.run(*VALID, *ADOPT, MOOD="down"), 1, told)
    assert (adopted.repo.path / "judge.json").read_bytes() == ADOPTED[0]


def test_two_tests_of_one_scenario_are_kept_apart(moody: Moody) -> None:
    moody.repo.write(test_more=TEST.replace("test_bot", "test_more"))
    told = "the judge was adopted: 24 anchors and the scores of 24 *"
    moody.run(*VALID, *ADOPT).stdout.fnmatch_lines([told])
    for mood in ("", "all"):
        moody.run(*VALID, *CHECK, MOOD=mood)
        assert moody.drift and [s.compared for s in moody.drift.scores] == [24, 24]


NOT_ONE = "not a baseline of --personalens-adopt-judge of this version: its schema is"
WRITE = "restore it, or write it with --personalens-adopt-judge"
OFF_SCALE = edited(lambda d: d["verdicts"]["personalization"].update({"cal-a-011": 7}))


@pytest.mark.parametrize(
    ("text", "problem", "workers"),
    [
        (b"", f"not valid JSON (*); {WRITE}", ()),
        (b'{"schema": "personalens-judge/1", "ver', "not valid JSON (*", ()),
        (b"[]", f"{NOT_ONE} 'None', not 'personalens-judge/1'*", ()),
        (b'{"schema": "personalens-results/2"}', f"{NOT_ONE} 'personalens-results/2'*", ()),
        (b'{"schema": "personalens-judge/1"}', f"judge: field required; {WRITE}", ()),
        (b"\xff\xfe", "not valid JSON (*", ()),
        (None, f"cannot be read: No such file or directory; {WRITE}", ()),
        ("off the scale", "*personalization is scored 1 to 4, not 7*", ("-n", "2")),
    ],
)  # fmt: skip
def test_a_bad_baseline(
    adopted: Moody, text: bytes | str | None, problem: str, workers: tuple[str, ...]
) -> None:
    file = adopted.repo.path / "judge.json"
    if text is None:
        file.unlink()
    else:
        file.write_bytes(text if isinstance(text, bytes) else OFF_SCALE(file.read_text()).encode())
    told = f"ERROR: --personalens-check-judge: *judge.json: {problem}"
    assert_usage_error(adopted.run(*VALID, *CHECK, *workers), told)


def first_labels(repo: Repository, count: int) -> None:
    """Write own.jsonl, the first of our labelled dialogues."""
    lines = (ROOT / "data" / "agreement" / "calibration.jsonl").read_text(encoding="utf-8").splitlines()
    (repo.path / "own.jsonl").write_text("\n".join(lines[:count]), encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((*ADOPT, *CHECK), "--personalens-adopt-judge: not allowed with --personalens-check-judge: *"),
        ((*CHECK, "--personalens-dimensions", "tc"), "*was adopted with the dimensions tc,p, this run reads tc; give --personalens-dimensions tc,p*"),
        ((*CHECK, "-o", "personalens_anchors=own.jsonl"), "*was adopted with other anchors (*); give them with personalens_anchors*"),
        ((*CHECK, "-o", "personalens_anchors=none.jsonl"), "personalens_anchors: *none.jsonl: cannot be read*"),
        ((*CHECK, "-o", "personalens_anchors=broken.jsonl"), "personalens_anchors: *broken.jsonl: line 1*"),
        (("--personalens-check-judge", "folder"), "--personalens-check-judge: *folder: cannot be read: Is a directory*"),
        (("--personalens-adopt-judge", "folder"), "--personalens-adopt-judge: *folder is a folder; give the path of a file"),
        (("--personalens-adopt-judge", "own.jsonl/judge.json"), "--personalens-adopt-judge: cannot write to *"),
        (("--personalens-adopt-judge", ""), "--personalens-adopt-judge: expected a path, not ''"),
        ((*CHECK, "--personalens-judge-model", "nobody:x"), "*--personalens-judge-model: no provider knows 'nobody:x'*"),
    ],
)  # fmt: skip
def test_bad_options_are_one_line(adopted: Moody, args: tuple[str, ...], problem: str) -> None:
    first_labels(adopted.repo, 5)
    (adopted.repo.path / "broken.jsonl").write_text("{}", encoding="utf-8")
    (adopted.repo.path / "folder").mkdir()
    assert_usage_error(adopted.run(*VALID, *args), f"ERROR: {problem}")


def test_a_check_needs_a_sample(adopted: Moody) -> None:
    told = "ERROR: --personalens-check-judge: give --personalens-sample N too*"
    assert_usage_error(adopted.repo.inline(*CHECK), told)


def test_anchors_of_ones_own(moody: Moody) -> None:
    first_labels(moody.repo, 10)
    own = (*VALID, "-o", "personalens_anchors=own.jsonl")
    moody.run(*own, *ADOPT).stdout.fnmatch_lines(["the judge was adopted: 10 anchors *"])
    assert [moody.run(*own, *CHECK, MOOD=mood).ret for mood in ("", "all")] == [0, 1]


def test_the_embedded_judge_has_not_changed_since_just_now(repo: Repository) -> None:
    common = ("--personalens-sample=4", "--personalens-gate=valid >= 0.9", "--personalens-dimensions=all")
    repo.inline(*common, *ADOPT)
    told = "neither changed: the judge reads the anchors as it did, and the scores are the same"
    assert_ended(repo.inline(*common, *CHECK), 0, told)


def test_a_paid_judge_of_a_hook_is_not_asked_unasked(moody: Moody) -> None:
    told = "ERROR: --personalens-adopt-judge: told costs money: add --personalens-record live to *24 anchors on 2 *"
    for workers in ((), ("-n", "2")):
        assert_usage_error(moody.run(*VALID, *ADOPT, *workers, PAID="1"), told)
    assert moody.run(*VALID, *ADOPT, "--collect-only", PAID="1").ret == 0
    assert not (moody.repo.path / "judge.json").exists()
    assert moody.run(*VALID, *ADOPT, *PAY, PAID="1").ret == 0


LIVE = ("--personalens-sample=2", "--personalens-judge-model=openai:small", "--personalens-gate=valid >= 0.9")
PAY = ("--personalens-record", "live")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_model_behind_an_endpoint(repo: Repository, endpoint: Endpoint, workers: tuple[str, ...]) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_prices = openai:small = 1, 2\n")
    estimate = repo.run(*LIVE, *ADOPT, "--personalens-estimate")
    estimate.stdout.fnmatch_lines(["anchor judge p *24 *", "anchor judge tc *24 *"])
    assert endpoint.calls == []
    assert repo.run(*LIVE, *ADOPT, *PAY, *workers).ret == 0
    assert len(endpoint.calls) == 2 * 2 + 24 * 2, "once for the run, whatever the number of workers"

    forget_calls()
    # Side by side, the cap may come between the two readings of several anchors.
    cap = ("--personalens-budget=20calls", "-p", "no:cacheprovider", "-opersonalens_parallel=false")
    capped = repo.run(*LIVE, *CHECK, *PAY, *cap, *workers)
    assert len(endpoint.calls) == 52 + 20, "one cap for items and anchors"
    assert capped.ret == 1
    told = (
        "the judge could not be checked: 16 of 48 anchor verdicts were read (the run has made 20 model calls*"
    )
    capped.stdout.fnmatch_lines([told])

    def harsher(call: Call) -> Reply:
        reply = play(call)
        if reply.data and "Personalization." in call.prompt:
            reply.data["score"] = 2
        return reply

    endpoint.answer = harsher
    told = (
        "the judge changed: under the same identity it reads the anchors otherwise (p: 24 of 24, mean -1.00)*"
    )
    assert_ended(repo.run(*LIVE, *CHECK, *PAY, *workers), 1, told)
    data = repo.results()
    assert data["usage"]["anchor judge tc"]["calls"] == 24
    assert data["usd"]["anchor judge tc"] > 0


@pytest.mark.slow
def test_anchors_are_read_side_by_side(repo: Repository, endpoint: Endpoint) -> None:
    def slowly(call: Call) -> Reply:
        reply = play(call)
        reply.delay = 0.1
        return reply

    repo.write(shared="def reply(messages):\n    return 'Done: booked for Thursday.'\n")
    shared = ("--personalens-assistant", "shared:reply")
    repo.run(*LIVE, *ADOPT, *PAY, *shared, "-opersonalens_parallel=false")
    one_by_one, calls = (repo.path / ADOPT[1]).read_text(), len(endpoint.calls)
    forget_calls()
    assert endpoint.most_in_flight <= 2, "the two readings of a dialogue"
    endpoint.answer = slowly
    repo.run(*LIVE, *ADOPT, *PAY, *shared, "-opersonalens_parallel=8")
    assert endpoint.most_in_flight == 8
    assert len(endpoint.calls) == 2 * calls
    assert (repo.path / ADOPT[1]).read_text() == one_by_one


def test_a_cap_on_money_holds_for_the_anchors(repo: Repository, endpoint: Endpoint) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_prices = openai:small = 1000, 1000\n")
    result = repo.run(*LIVE, *ADOPT, *PAY, "--personalens-budget", "4usd")
    told = "the judge could not be adopted: * of 48 *cap of --personalens-budget*; judge.json was not written"
    assert_ended(result, 1, told)
    assert len(endpoint.calls) < 20


def test_the_anchors_are_spread_over_scores_and_domains() -> None:
    anchors = read_labels(ROOT / "data" / "agreement" / "anchors.jsonl")
    cells = [(a.majority(Dimension.PERSONALIZATION), a.majority(Dimension.TASK_COMPLETION)) for a in anchors]
    assert {cell: cells.count(cell) for cell in cells} == {(p, tc): 3 for p in (1, 2, 3, 4) for tc in (0, 1)}
    assert len({d for a in anchors for d in a.scenario.domains}) == 20
    # Frozen: baselines that teams keep name this digest. Change neither without saying so in the changelog.
    assert open_anchors().digest == "fcf40cdeec3c4c5f7566c212a21395b9"


def test_the_tests_of_significance() -> None:
    assert [sign_test(*moved) for moved in ((0, 0), (3, 3))] == [1, 1]
    assert [sign_test(0, 5), sign_test(1, 9)] == pytest.approx([0.0625, 22 / 1024])
    stricter = [(4, 3)] * 6 + [(3, 2)] * 6 + [(1, 1)] * 6
    assert permutation_test(stricter, [(4, 3)] * 20) > 0.9, "nobody can fall below the lowest score"
    assert permutation_test(stricter, [(4, 2)] * 10 + [(3, 1)] * 10) < 0.01
    assert permutation_test(stricter, [(2, 1)]) == permutation_test([], []) == 1


def baseline(
    verdicts: int, scores: int, words: str, *, anchors: int = 24, exact: bool = False
) -> AdoptedJudge:
    """`verdicts` anchors and `scores` scenarios stand one step lower than the others."""
    p = Dimension.PERSONALIZATION
    return AdoptedJudge(
        judge="j", exact=exact, anchors="a", assistant="bot", setup={},
        verdicts={p: {str(n): 3 - (n < verdicts) for n in range(anchors)}},
        scores={str(n): Scored(dialogue=words, scores={p: 3 - (n < scores)}) for n in range(30)},
    )  # fmt: skip


ALIKE, EXACT = baseline(0, 0, "a"), baseline(0, 0, "a", exact=True)


@pytest.mark.parametrize(
    ("then", "now", "outcome", "why"),
    [
        (ALIKE, baseline(5, 0, "b"), "neither changed", "few differ"),
        (ALIKE, baseline(6, 0, "b"), "the judge changed", "enough lean one way"),
        (ALIKE, baseline(0, 6, "b"), "your assistant changed", "enough lean one way"),
        (EXACT, baseline(1, 0, "b", exact=True), "the judge changed", "one is enough of a judge that never varies"),
        (ALIKE, baseline(0, 30, "a"), "neither changed", "the same words scored otherwise are not the assistant's doing"),
        (ALIKE, baseline(24, 30, "b"), "the judge changed", "the judge explains it all"),
        (ALIKE, baseline(6, 30, "b"), "both changed", "more than the judge explains"),
    ],
)  # fmt: skip
def test_changes_that_lean_one_way(then: AdoptedJudge, now: AdoptedJudge, outcome: str, why: str) -> None:
    found = detect_drift(then, now)
    assert found.outcome == outcome, why
    words = ("p: 30 scores differ on the same words: not the assistant's doing",)
    assert found.notes == (words if "same words" in why else ()) or outcome != "neither changed"


@pytest.mark.parametrize(("far", "outcome"), [(3, "neither changed"), (4, "the judge changed")])
def test_far_changes_count_whichever_way_they_lean(far: int, outcome: str) -> None:
    p, before = Dimension.PERSONALIZATION, {str(n): 3 - n % 2 for n in range(24)}
    after = before | {str(n): (1, 4)[n % 2] for n in range(far)}
    was, now = (ALIKE.model_copy(update={"verdicts": {p: scores}}) for scores in (before, after))
    assert detect_drift(was, now).outcome == outcome


@pytest.mark.parametrize(("works", "asked", "stopped"), [(99, 3, True), (3, 24, False)])
def test_a_judge_that_fails_three_times_in_a_row_is_left(works: int, asked: int, stopped: bool) -> None:
    class Failing:
        identity, paid, asked = "failing", False, 0

        def verdict(self, scenario: object, dialogue: object, dimension: Dimension) -> Verdict:
            self.asked += 1
            if self.asked % works:
                raise RuntimeError("out of order")
            return Verdict(dimension=dimension, score=1, justification="so")

    judge = Failing()
    found = read_anchors(open_anchors(), judge, [Dimension.PERSONALIZATION])
    assert (judge.asked, len(found.faults)) == (asked, asked - asked // works)
    assert ("out of order" in found.stopped) == stopped
