"""A reading that the judge does not give is missing from its own figures, and from no other."""

from __future__ import annotations

from statistics import fmean

import pytest

from tests.support.processes.runs import collect_ids
from tests.support.repository import Repository
from tests.support.scripted_agents import BY_DOMAIN, TOLD_AGENTS

#: The agents of `BY_DOMAIN`; the judge gives no reading of a dimension on a scenario that faults.txt lists with it.
UNSURE = (
    BY_DOMAIN.replace(
        'if scenario.id in listed("faults.txt"):',
        'if f"{dimension.short}:{scenario.id}" in listed("faults.txt"):',
    )
    .replace(
        "score=score,",
        "score=score, turns=(1,) * (len(dialogue.messages) // 2) if dimension.short == 'p-turns' else (),",
    )
    .replace('scenario.domains[0] < "M"', '(dimension.short == "p-turns" or scenario.domains[0] < "M")')
)
RUN = (
    "--personalens-sample=20",
    "--personalens-kind=single",
    *TOLD_AGENTS,
    "--personalens-report=results.json",
)


@pytest.fixture
def judged(empty_repo: Repository) -> Repository:
    empty_repo.write(conftest=UNSURE)
    return empty_repo


def unread(repo: Repository, before: str) -> None:
    """The judge gives no reading of p and p-turns on scenarios of domains before this letter."""
    ids = [name for name in collect_ids(repo, *RUN) if name[0].upper() < before]
    text = (f"{reading}:{name}\n" for name in ids for reading in ("p", "p-turns"))
    (repo.path / "faults.txt").write_text("".join(text))


@pytest.mark.slow
def test_one_unread_reading_leaves_its_own_mean_and_no_other(
    judged: Repository,
) -> None:
    options = (*RUN, "--personalens-gate", "valid >= 0.1", "--personalens-dimensions", "all,p-turns")
    judged.run(*options, "--personalens-report=whole.json").assert_outcomes(passed=21)
    unread(judged, "F")
    result = judged.run(*options)
    whole, now = judged.results("whole.json"), judged.results()
    figures, before = now["overall"]["figures"], whole["overall"]["figures"]
    missing = [item["evaluation"] for item in now["items"] if item["evaluation"]["unread"]]
    assert len(missing) >= 3
    assert all(set(e["unread"]) == {"personalization", "personalization_turns"} for e in missing)
    assert all(e["cause"] == "" for e in missing)
    for name in set(before) - {"personalization", "personalization_turns"}:
        assert figures[name] == before[name], "its own mean alone is without the reading"
    scores = [
        v["score"]
        for item in now["items"]
        for v in item["evaluation"]["verdicts"]
        if v["dimension"] == "personalization"
    ]
    assert figures["personalization"]["count"] == len(scores) == 20 - len(missing)
    assert figures["personalization"]["value"] == pytest.approx(fmean(scores))
    assert now["overall"]["scored"] == 20
    assert now["uncounted"] == {}
    n = len(missing)
    result.stdout.fnmatch_lines(
        [
            (
                f"the judge did not give {n} readings of p, {n} of p-turns; each is missing from its own mean only"
                f" (scores: tc 20, p {20 - n}, *p-turns {20 - n}); such as: the judge raised RuntimeError: not today"
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
    judged: Repository,
) -> None:
    assert judged.run(*RUN, "-k", "train or travel or sports").parseoutcomes().get("failed", 0) == 0
    unread(judged, "Z")
    result = judged.run(*RUN, "-k", "train or travel or sports", "-rf")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] >= 1
    assert "passed" not in outcomes
    result.stdout.fnmatch_lines(["FAILED * not scored, judge at fault: p: the judge raised RuntimeError: *"])
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
