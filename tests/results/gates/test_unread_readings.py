"""A reading that the judge does not give is missing from its own figures, and from no other."""

from __future__ import annotations

from statistics import fmean

import pytest

from tests.support.processes.runs import collect_ids
from tests.support.repository import Repository
from tests.support.scripted_agents import BY_DOMAIN, TOLD_AGENTS

#: The agents of `BY_DOMAIN`; the judge gives no reading of a dimension on a scenario that faults.txt lists with it.
UNSURE = BY_DOMAIN
for old, new in (
    ('if scenario.id in listed("faults.txt"):', 'if f"{dimension.short}:{scenario.id}" in listed("faults.txt"):'),
    ("score=score,", "score=score, turns=(1,) * (len(dialogue.messages) // 2) if dimension.short == 'p-turns' else (),"),
    ('scenario.domains[0] < "M"', '(dimension.short == "p-turns" or scenario.domains[0] < "M")'),
):  # fmt: skip
    UNSURE = UNSURE.replace(old, new)
RUN = ("--personalens-sample=20", "--personalens-kind=single", *TOLD_AGENTS, "--personalens-report=results.json")  # fmt: skip
#: The scenarios of domains that this judge likes.
LIKED = (*RUN, "-k", "train or travel or sports")


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
def test_one_unread_reading_leaves_its_own_mean_and_no_other(judged: Repository) -> None:
    options = (*RUN, "--personalens-gate", "valid >= 0.1", "--personalens-dimensions", "all,p-turns")
    judged.run(*options, "--personalens-report=whole.json").assert_outcomes(passed=21)
    unread(judged, "F")
    result = judged.run(*options)
    now = judged.results()
    figures, before = now["overall"]["figures"], judged.results("whole.json")["overall"]["figures"]
    evaluations = [item["evaluation"] for item in now["items"]]
    missing = [e for e in evaluations if e["unread"]]
    n, both = len(missing), {"personalization", "personalization_turns"}
    assert n >= 3
    assert all(e["unread"].keys() == both and e["cause"] == "" for e in missing)
    assert {name for name in before if figures[name] != before[name]} <= both, "no other mean has changed"
    scores = [v["score"] for e in evaluations for v in e["verdicts"] if v["dimension"] == "personalization"]
    assert figures["personalization"]["count"] == len(scores) == 20 - n
    assert figures["personalization"]["value"] == pytest.approx(fmean(scores))
    assert (now["overall"]["scored"], now["uncounted"]) == (20, {})
    lost, such = f"{n} readings of p, {n} of p-turns", "the judge raised RuntimeError: not today"
    scored = f"(scores: tc 20, p {20 - n}, *p-turns {20 - n})"
    result.stdout.fnmatch_lines(
        [
            f"the judge did not give {lost}; each is missing from its own mean only {scored}; such as: {such}",
            f"gate valid: *20 of 20 items could be scored, without {lost}*",
        ]
    )
    (valid,) = [gate for gate in now["gates"] if gate["kind"] == "valid"]
    assert valid["value"] == pytest.approx((20 - n + n * 5 / 7) / 20, abs=1e-6), "it counts readings"
    # What is stored is computed again without a difference, and shown.
    shown = judged.command("report", "results.json", "--figure", "4")
    assert shown.ret == 0, shown.stderr.str()


@pytest.mark.slow
def test_an_item_without_a_reading_that_its_threshold_needs_never_passes(judged: Repository) -> None:
    assert judged.run(*LIKED).parseoutcomes().get("failed", 0) == 0
    unread(judged, "Z")
    result = judged.run(*LIKED, "-rf")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] >= 1
    assert "passed" not in outcomes
    result.stdout.fnmatch_lines(["FAILED * not scored, judge at fault: p: the judge raised RuntimeError: *"])
    assert {item["status"] for item in judged.results()["items"]} == {"uncounted"}
    more = ("-o", "personalens_exit_infra=75", "--junit-xml=junit.xml", "--personalens-report=page.html")
    assert judged.run(*LIKED, *more).ret == 75, "it says nothing about the assistant"
    assert '"personalens_unread" value="p"' in (judged.path / "junit.xml").read_text()
    # Without a threshold on it, the reading costs itself alone.
    turns = judged.run(*LIKED, "--personalens-dimensions=tc,p-turns")
    assert "failed" not in turns.parseoutcomes()
