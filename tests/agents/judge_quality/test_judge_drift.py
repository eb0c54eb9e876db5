"""A judge adopted and checked: who changed, whatever the run, and one clear line for what cannot be checked."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from pytest_personalens.core.judging.verdict import Dimension, Verdict
from pytest_personalens.judge_quality import read_labels
from pytest_personalens.judge_quality.drift import (
    AdoptedJudge,
    Scored,
    detect_drift,
    open_anchors,
    permutation_test,
    read_anchors,
    sign_test,
)
from pytest_personalens.results.values.figures import DriftOutcome
from pytest_personalens.results.values.results import Results
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import ROOT, Repository, edited, forget_calls
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE
from tests.support.servers.endpoint import Call, Endpoint, Reply, play

#: A judge and a bot that change with the environment: the judge's mood is for task completion (tc) or
#: personalization (p).
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
ARGS = ("--personalens-sample", "12", *TOLD_AGENTS, "--personalens-gate", "valid >= 0.9")
ADOPT = ("--personalens-adopt-judge", "judge.json")
CHECK = ("--personalens-check-judge", "judge.json", "--personalens-report", "results.json")


@pytest.fixture
def moody(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    for name in ("NAME", "PAID", "VARIES", "MOOD", "BOT"):
        monkeypatch.delenv(name, raising=False)
    repo.write(conftest=MOODY)
    return repo


@pytest.fixture
def adopted(moody: Repository) -> Repository:
    result = moody.inline(*ARGS, *ADOPT)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["the judge was adopted: 24 anchors and the scores of 12 scenarios are in judge.json"]
    )
    return moody


def results(repo: Repository) -> dict[str, Any]:
    text = (repo.path / "results.json").read_text(encoding="utf-8")
    Results.model_validate_json(text)
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("workers", [("-n", "0"), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize(
    ("mood", "bot", "outcome"),
    [
        ("", "done", "neither changed"),
        ("", "sorry", "your assistant changed"),
        ("all", "done", "the judge changed"),
        ("one", "done", "the judge changed"),
        ("p", "sorry", "both changed"),
    ],
)
def test_who_changed(
    adopted: Repository,
    monkeypatch: pytest.MonkeyPatch,
    mood: str,
    bot: str,
    outcome: str,
    workers: tuple[str, ...],
) -> None:
    monkeypatch.setenv("MOOD", mood)
    monkeypatch.setenv("BOT", bot)
    result = adopted.run(*ARGS, *CHECK, *workers)
    judge_changed = outcome in ("the judge changed", "both changed")
    assert result.ret == int(judge_changed)
    result.stdout.fnmatch_lines([f"{outcome}: *"])
    assert {o for o in get_args(DriftOutcome) if f"\n{o}: " in result.stdout.str()} == {outcome}
    if judge_changed:
        result.stdout.fnmatch_lines(["FAILED personalens::gate[[]judge[]]*"])
        assert (
            "do not compare scores with the baseline until the judge is adopted again" in result.stdout.str()
        )
    drift = results(adopted)["drift"]
    assert drift["outcome"] == outcome
    assert [s["compared"] for s in drift["anchors"]] == [24, 24]
    assert [s["compared"] for s in drift["scores"]] == [12, 12]
    assert next(g for g in results(adopted)["gates"] if g["name"] == "judge")["passed"] is not judge_changed


@pytest.mark.slow
def test_the_baseline_is_the_same_however_many_workers(adopted: Repository) -> None:
    alone = (adopted.path / "judge.json").read_bytes()
    (adopted.path / "judge.json").unlink()
    adopted.run(*ARGS, *ADOPT, "-n", "2")
    assert (adopted.path / "judge.json").read_bytes() == alone
    assert json.loads(alone)["schema"] == "personalens-judge/1"


def test_another_identity_that_reads_alike_is_told_and_passes(
    adopted: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAME", "moody 2")
    result = adopted.inline(*ARGS, *CHECK)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["neither changed: *", "*the judge was moody 1, it is moody 2"])


def test_a_judge_that_varies_is_allowed_a_little(moody: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VARIES", "1")
    moody.inline(*ARGS, *ADOPT)
    monkeypatch.setenv("MOOD", "one")
    assert moody.inline(*ARGS, *CHECK).ret == 0
    assert results(moody)["drift"]["outcome"] == "neither changed"
    monkeypatch.setenv("MOOD", "tc")
    assert moody.inline(*ARGS, *CHECK).ret == 1


def test_no_item_is_needed_to_check_a_judge(adopted: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for mood, code in (("", 0), ("all", 1)):
        monkeypatch.setenv("MOOD", mood)
        assert adopted.inline(*ARGS[:-2], *CHECK, "-k", "nothing").ret == code
    assert results(adopted)["items"] == []
    monkeypatch.setenv("MOOD", "")
    result = adopted.inline(*ARGS[:-2], *CHECK, "-q", "-k", "nothing")
    result.stdout.fnmatch_lines(
        [
            "the judge did not change: the scores cannot be compared, because no scenario was scored in both runs"
        ]
    )


def test_without_a_terminal_the_exit_code_tells(adopted: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    assert adopted.run(*ARGS, *CHECK, "-p", "no:terminal").ret == 0
    monkeypatch.setenv("MOOD", "all")
    assert adopted.run(*ARGS, *CHECK, "-p", "no:terminal").ret == 1


def test_a_run_that_stops_early_checks_nothing(adopted: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT", "sorry")
    result = adopted.inline(*ARGS[:-2], *CHECK, "-x")
    assert result.ret == 1
    assert results(adopted)["drift"] is None
    assert "the judge was not checked: the run was stopped" in result.stdout.str()


def test_a_judge_that_is_down_is_neither_checked_nor_adopted(
    adopted: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (adopted.path / "judge.json").read_bytes()
    monkeypatch.setenv("MOOD", "down")
    for action, outcome in (
        (CHECK, "the judge could not be checked"),
        (ADOPT, "the judge could not be adopted"),
    ):
        result = adopted.inline(*ARGS, *action)
        assert result.ret == 1
        result.stdout.fnmatch_lines([f"{outcome}: 0 of 48 anchor verdicts were read (*not today*)*"])
    assert (adopted.path / "judge.json").read_bytes() == before


def test_scores_of_another_setting_are_not_compared(adopted: Repository) -> None:
    result = adopted.inline(*ARGS, *CHECK, "-o", "personalens_context=none")
    result.stdout.fnmatch_lines(
        ["the judge did not change: the scores cannot be compared, because the context was DIS and is none"]
    )


@pytest.mark.parametrize("mood", ["", "all"])
def test_two_tests_of_one_scenario_are_kept_apart(
    adopted: Repository, monkeypatch: pytest.MonkeyPatch, mood: str
) -> None:
    adopted.write(test_more="def test_more(personalens):\n    personalens.check()\n")
    adopted.inline(*ARGS, *ADOPT).stdout.fnmatch_lines(
        ["the judge was adopted: 24 anchors and the scores of 24 *"]
    )
    monkeypatch.setenv("MOOD", mood)
    adopted.inline(*ARGS, *CHECK)
    assert [s["compared"] for s in results(adopted)["drift"]["scores"]] == [24, 24]


NOT_ONE = "not a baseline of --personalens-adopt-judge of this version: its schema is"
WRITE = "restore it, or write it with --personalens-adopt-judge"
OFF_SCALE = edited(lambda d: d["verdicts"]["personalization"].update({"cal-a-011": 7}))


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_bad_baseline_is_one_line(adopted: Repository, workers: tuple[str, ...]) -> None:
    file = adopted.path / "judge.json"
    texts = (
        ((OFF_SCALE(file.read_text()).encode(), "*personalization is scored 1 to 4, not 7*"),)
        if workers
        else (
            (b"", f"not valid JSON (*); {WRITE}"),
            (b'{"schema": "personalens-judge/1", "ver', "not valid JSON (*"),
            (b"[]", f"{NOT_ONE} 'None', not 'personalens-judge/1'*"),
            (b'{"schema": "personalens-results/2"}', f"{NOT_ONE} 'personalens-results/2'*"),
            (b'{"schema": "personalens-judge/1"}', f"judge: field required; {WRITE}"),
            (b"\xff\xfe", "not valid JSON (*"),
        )
    )
    for text, problem in texts:
        file.write_bytes(text)
        run = adopted.run if workers else adopted.inline
        told = f"ERROR: --personalens-check-judge: *judge.json: {problem}"
        assert_usage_error(run(*ARGS, *CHECK, *workers), told)
    file.unlink()
    missing = f"*judge.json: cannot be read: No such file or directory; {WRITE}"
    assert_usage_error(adopted.inline(*ARGS, *CHECK), f"ERROR: --personalens-check-judge: {missing}")


def test_bad_options_are_one_line(adopted: Repository) -> None:
    lines = (ROOT / "data" / "agreement" / "calibration.jsonl").read_text(encoding="utf-8").splitlines()
    (adopted.path / "own.jsonl").write_text("\n".join(lines[:5]), encoding="utf-8")
    (adopted.path / "broken.jsonl").write_text("{}", encoding="utf-8")
    (adopted.path / "folder").mkdir()
    rows: tuple[tuple[tuple[str, ...], str], ...] = (
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
    )  # fmt: skip
    for args, problem in rows:
        result = adopted.inline(*ARGS, *args)
        assert result.ret == 4, args
        result.stderr.fnmatch_lines([f"ERROR: {problem}"])
    assert_usage_error(
        adopted.inline("--personalens-check-judge", "judge.json"),
        "ERROR: --personalens-check-judge: give --personalens-sample N too*",
    )


def test_anchors_of_ones_own(moody: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (ROOT / "data" / "agreement" / "calibration.jsonl").read_text(encoding="utf-8").splitlines()
    (moody.path / "own.jsonl").write_text("\n".join(lines[:10]), encoding="utf-8")
    own = (*ARGS, "-o", "personalens_anchors=own.jsonl")
    moody.inline(*own, *ADOPT).stdout.fnmatch_lines(["the judge was adopted: 10 anchors *"])
    assert moody.inline(*own, *CHECK).ret == 0
    monkeypatch.setenv("MOOD", "all")
    assert moody.inline(*own, *CHECK).ret == 1


def test_the_embedded_judge_has_not_changed_since_just_now(repo: Repository) -> None:
    common = ("--personalens-sample=4", "--personalens-gate=valid >= 0.9", "--personalens-dimensions=all")
    repo.inline(*common, *ADOPT)
    result = repo.inline(*common, *CHECK)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["neither changed: the judge reads the anchors as it did, and the scores are the same"]
    )


def test_a_paid_judge_of_a_hook_is_not_asked_unasked(
    moody: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAID", "1")
    for workers in ((), ("-n", "2")):
        assert_usage_error(
            moody.run(*ARGS, *ADOPT, *workers),
            "ERROR: --personalens-adopt-judge: told costs money: add --personalens-record live to *24 anchors on 2 *",
        )
    assert moody.inline(*ARGS, *ADOPT, "--collect-only").ret == 0
    assert not (moody.path / "judge.json").exists()
    assert moody.inline(*ARGS, *ADOPT, *PAY).ret == 0


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
    capped.stdout.fnmatch_lines(
        [
            "the judge could not be checked: 16 of 48 anchor verdicts were read (the run has made 20 model calls*"
        ]
    )

    def harsher(call: Call) -> Reply:
        reply = play(call)
        if reply.data and "Personalization." in call.prompt:
            reply.data["score"] = 2
        return reply

    endpoint.answer = harsher
    changed = repo.run(*LIVE, *CHECK, *PAY, *workers)
    assert changed.ret == 1
    changed.stdout.fnmatch_lines(
        [
            "the judge changed: under the same identity it reads the anchors otherwise (p: 24 of 24, mean -1.00)*"
        ]
    )
    data = results(repo)
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
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["the judge could not be adopted: * of 48 *cap of --personalens-budget*; judge.json was not written"]
    )
    assert len(endpoint.calls) < 20


def test_the_anchors_are_spread_over_scores_and_domains() -> None:
    anchors = read_labels(ROOT / "data" / "agreement" / "anchors.jsonl")
    cells = [(a.majority(Dimension.PERSONALIZATION), a.majority(Dimension.TASK_COMPLETION)) for a in anchors]
    assert {cell: cells.count(cell) for cell in cells} == {(p, tc): 3 for p in (1, 2, 3, 4) for tc in (0, 1)}
    assert len({d for a in anchors for d in a.scenario.domains}) == 20
    # Frozen: baselines that teams keep name this digest. Change neither without saying so in the changelog.
    assert open_anchors().digest == "fcf40cdeec3c4c5f7566c212a21395b9"


def test_the_sign_test_is_exact() -> None:
    assert sign_test(0, 0) == 1
    assert sign_test(3, 3) == 1
    assert sign_test(0, 5) == pytest.approx(0.0625)
    assert sign_test(1, 9) == pytest.approx(22 / 1024)


def test_moving_otherwise_is_told_from_moving_alike() -> None:
    stricter = [(4, 3)] * 6 + [(3, 2)] * 6 + [(1, 1)] * 6
    assert permutation_test(stricter, [(4, 3)] * 20) > 0.9, (
        "nobody can fall below the lowest score; that is no difference"
    )
    assert permutation_test(stricter, [(4, 2)] * 10 + [(3, 1)] * 10) < 0.01
    assert permutation_test(stricter, [(2, 1)]) == 1
    assert permutation_test([], []) == 1


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


def test_small_changes_that_lean_one_way_are_found() -> None:
    then = baseline(0, 0, "a")
    assert detect_drift(then, baseline(5, 0, "b")).outcome == "neither changed"
    assert detect_drift(then, baseline(6, 0, "b")).outcome == "the judge changed"
    assert detect_drift(then, baseline(0, 6, "b")).outcome == "your assistant changed"
    assert (
        detect_drift(baseline(0, 0, "a", exact=True), baseline(1, 0, "b", exact=True)).outcome
        == "the judge changed"
    )


@pytest.mark.parametrize(("far", "outcome"), [(3, "neither changed"), (4, "the judge changed")])
def test_far_changes_count_whichever_way_they_lean(far: int, outcome: str) -> None:
    then, p = baseline(0, 0, "a"), Dimension.PERSONALIZATION
    before = {str(n): 3 - n % 2 for n in range(24)}
    after = before | {str(n): (1, 4)[n % 2] for n in range(far)}
    was, now = (then.model_copy(update={"verdicts": {p: scores}}) for scores in (before, after))
    assert detect_drift(was, now).outcome == outcome


def test_a_judge_that_is_down_is_asked_three_times() -> None:
    asked = []

    class Down:
        identity, paid = "down", False

        def verdict(self, scenario: object, dialogue: object, dimension: Dimension) -> Verdict:
            asked.append(dimension)
            raise RuntimeError("out of order")

    found = read_anchors(open_anchors(), Down(), [Dimension.PERSONALIZATION])
    assert (len(asked), len(found.faults)) == (3, 3)
    assert "out of order" in found.stopped


def test_the_same_words_scored_otherwise_are_not_the_assistants_doing() -> None:
    found = detect_drift(baseline(0, 0, "a"), baseline(0, 30, "a"))
    assert found.outcome == "neither changed"
    assert found.notes == ("p: 30 scores differ on the same words: not the assistant's doing",)
    assert detect_drift(baseline(0, 0, "a"), baseline(24, 30, "b")).outcome == "the judge changed", (
        "the judge explains it all"
    )
    assert detect_drift(baseline(0, 0, "a"), baseline(6, 30, "b")).outcome == "both changed", (
        "more than the judge explains"
    )
