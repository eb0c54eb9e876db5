"""Which readings a run with the embedded judge has: those that it gives, and a word on those that it does
not.
"""

from __future__ import annotations

import re

from tests.support.repository import Repository

SAMPLE = ("--personalens-sample", "3")
#: Here it counts what is read, not how good it is.
ANY = ("--personalens-threshold", "tc>=0", "--personalens-threshold", "p>=1")


def test_all_are_the_four_readings_that_it_gives_and_the_header_names_the_others(repo: Repository) -> None:
    result = repo.inline(
        *SAMPLE, "--personalens-dimensions", "all", *ANY, "--personalens-report", "results.json"
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "personalens: 3 scenarios of embedded *, judge embedded*; the embedded judge gives no reading of nat-user, coh-user"
        ]
    )
    for item in repo.results()["items"]:
        assert {v["dimension"] for v in item["evaluation"]["verdicts"]} == {
            "task_completion",
            "personalization",
            "naturalness_assistant",
            "coherence_assistant",
        }


def test_a_run_that_asks_for_what_it_gives_says_nothing_of_the_others(repo: Repository) -> None:
    result = repo.inline(*SAMPLE, "--personalens-dimensions", "tc,coh-assistant", *ANY[:2])
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*gives no reading*")


def test_nothing_but_readings_that_it_does_not_give_is_a_usage_error_in_one_line(repo: Repository) -> None:
    result = repo.inline(*SAMPLE, "--personalens-dimensions", "nat-user")
    assert result.ret == 4
    (told,) = [line for line in result.errlines if line.strip()]
    assert re.fullmatch(
        "ERROR: --personalens-dimensions: the embedded judge gives no reading of"
        " (?:nat-user|naturalness_user); name a model with --personalens-judge-model",
        told,
    )
