"""A reading that the judge does not give is missing from its own figures, and from no other."""

from __future__ import annotations

from statistics import fmean

import pytest

from tests.support.repository import Repository

#: A judge that gives no reading on the dimensions of ``UNREAD`` in every second domain of ``WHERE``.
JUDGE = """
    import os, pytest
    from pytest_personalens import Evidence, UserTurn, Verdict

    class User:
        identity, paid = "scripted-user", False
        def turn(self, scenario, transcript):
            return UserTurn("hello" if not transcript else "bye", done=bool(transcript))

    class Judge:
        identity, paid = "scripted-judge", False
        def verdict(self, scenario, dialogue, dimension):
            unread = os.environ.get("UNREAD", "").split()
            if dimension.short in unread and scenario.domains[0] < os.environ.get("WHERE", "Z"):
                raise ValueError("no score in it")
            replies = sum(m.role == "assistant" for m in dialogue.messages)
            turns = (1,) * replies if dimension.short == "p-turns" else ()
            score = dimension.scale.low if turns or scenario.domains[0] < "M" else dimension.scale.high
            return Verdict(dimension=dimension, score=score, justification="so", turns=turns)

    def pytest_personalens_user_agent(spec):
        return User() if spec == "scripted" else None

    def pytest_personalens_judge(spec):
        return Judge() if spec == "scripted" else None

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: "fine"
"""
RUN = (
    *("--personalens-sample", "20", "--personalens-kind", "single", "--personalens-user-model", "scripted"),
    *("--personalens-judge-model", "scripted", "--personalens-report", "results.json"),
)


@pytest.fixture
def judged(empty_repo: Repository) -> Repository:
    empty_repo.pytester.makeconftest(JUDGE)
    return empty_repo


@pytest.mark.slow
def test_one_unread_reading_leaves_its_own_mean_and_no_other(
    judged: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = (*RUN, "--personalens-gate", "valid >= 0.1", "--personalens-dimensions", "all,p-turns")
    judged.run(*options, "--personalens-report=whole.json").assert_outcomes(passed=21)
    monkeypatch.setenv("UNREAD", "p p-turns")
    monkeypatch.setenv("WHERE", "F")
    result = judged.run(*options)
    whole, now = judged.results("whole.json"), judged.results()
    figures, before = now["overall"]["figures"], whole["overall"]["figures"]
    unread = [item["evaluation"] for item in now["items"] if item["evaluation"]["unread"]]
    assert len(unread) >= 3
    assert all(set(e["unread"]) == {"personalization", "personalization_turns"} for e in unread)
    assert all(e["cause"] == "" for e in unread)
    for name in set(before) - {"personalization", "personalization_turns"}:
        assert figures[name] == before[name], "its own mean alone is without the reading"
    scores = [
        v["score"]
        for item in now["items"]
        for v in item["evaluation"]["verdicts"]
        if v["dimension"] == "personalization"
    ]
    assert figures["personalization"]["count"] == len(scores) == 20 - len(unread)
    assert figures["personalization"]["value"] == pytest.approx(fmean(scores))
    assert now["overall"]["scored"] == 20
    assert now["uncounted"] == {}
    n = len(unread)
    result.stdout.fnmatch_lines(
        [
            (
                f"the judge did not give {n} readings of p, {n} of p-turns; each is missing from its own mean only"
                f" (scores: tc 20, p {20 - n}, *p-turns {20 - n}); such as: the judge raised ValueError: no score in it"
            ),
            f"gate valid: *20 of 20 items could be scored, without {n} readings of p, {n} of p-turns*",
        ]
    )
    share = (20 - n + n * 5 / 7) / 20
    (valid,) = [gate for gate in now["gates"] if gate["kind"] == "valid"]
    assert valid["value"] == pytest.approx(share, abs=1e-6), "it counts readings"
    # What is stored is computed again without a difference, and shown.
    shown = judged.command("report", "results.json", "--figure", "4")
    assert shown.ret == 0, shown.stderr.str()


@pytest.mark.slow
def test_an_item_without_a_reading_that_its_threshold_needs_never_passes(
    judged: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNREAD", "p p-turns")
    monkeypatch.setenv("WHERE", "")
    assert judged.run(*RUN, "-k", "train or travel or sports").parseoutcomes().get("failed", 0) == 0
    monkeypatch.setenv("WHERE", "Z")
    result = judged.run(*RUN, "-k", "train or travel or sports", "-rf")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] >= 1
    assert "passed" not in outcomes
    result.stdout.fnmatch_lines(["FAILED * not scored, judge at fault: p: the judge raised ValueError: *"])
    items = judged.results()["items"]
    assert {item["status"] for item in items} == {"uncounted"}
    outage = judged.run(
        *(*RUN, "-k", "train or travel or sports", "-o", "personalens_exit_infra=75"),
        *("--junit-xml", "junit.xml", "--personalens-report", "page.html"),
    )
    assert outage.ret == 75, "it says nothing about the assistant"
    assert '"personalens_unread" value="p"' in (judged.path / "junit.xml").read_text()
    # Without a threshold on it, the reading costs itself alone.
    turns = (*RUN, "-k", "train or travel or sports", "--personalens-dimensions", "tc,p-turns")
    assert "failed" not in judged.run(*turns).parseoutcomes()
