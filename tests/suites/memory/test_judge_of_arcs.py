"""The judge of arcs: single replies, the labelled ones, and the published agreement with these."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.suites.memory.arcs import ARC, DATA, REPORT, SUITE
from tests.support.repository import ROOT, Repository
from tests.support.servers.endpoint import Endpoint, Reply


@pytest.mark.parametrize("name", ["arcs", "arcs-held", "arcs-authors"])
def test_half_of_the_replies_of_each_kind_are_right(name: str) -> None:
    lines = (ROOT / f"data/agreement/{name}.tsv").read_text(encoding="utf-8").splitlines()
    labels = Counter((line.partition("-")[0], line.split("\t")[1]) for line in lines)
    kinds = {kind for kind, _ in labels}
    assert len(kinds) == 7
    assert all(labels[kind, "0"] == labels[kind, "1"] >= 5 for kind in kinds)


@pytest.mark.slow
def test_the_page_has_the_agreement_as_the_command_prints_it() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/agents/arc_judge.py"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.count("\n") == 2 + 7 + 1 + 1 + 2 + 3 + 1 + 1 + 1
    assert done.stdout in (ROOT / "benchmarks/agents/judge.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_measures_a_model(endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply(
        f'Evidence: turn 0: "e"\nJustification: so\nScore: {"true" if "The rule:" in call.prompt else "4"}'
    )
    done = subprocess.run(
        [sys.executable, "benchmarks/agents/arc_judge.py", "--judge-model", "openai:judge"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "| all | 80 | 0.00 | 40 | 80 | 0.00 | 40 | 242 | 0.00 | 121 |\n" in done.stdout
    assert done.stdout.endswith("P: 106 replies, weighted kappa 0.00, 53 on the right side of 2.5\n")
    assert len(endpoint.calls) == 160 + 242 + 302 + 106


TEA = "Put tea on the list, I drink rooibos."
STEAK = "Book for Sunday. Tom comes, he is vegetarian, I have the steak."
OF_TOM = 'right = ["steak"]\nwrong = ["vegetarian"]'
#: The kind of an arc, its test, the reply to the last message, and what the judge makes of it.
READINGS = [
    ("recall", 'right = ["rooibos"]', "I put ROOIBOS in the basket.", 1),
    ("recall", 'right = ["rooibos"]', "Which tea do you like?", 0),
    ("recall", 'right = ["rooibos | redbush"]', "Ordered two boxes of redbush.", 1),
    ("recall", 'right = ["rooibos"]', "Ordered rooiboschai.", 0),
    ("recall", 'right = ["rooibos"]\nwrong = ["milk"]', "Rooibos is ordered, with milk.", 0),
    ("recall", 'right = ["rooibos"]\nwrong = ["milk"]', "Rooibos is ordered, without milk.", 1),
    ("recall", 'right = ["rooibos"]\nwrong = ["milk"]', "Rooibos is ordered, I left the milk out.", 1),
    ("recall", 'right = ["rooibos"]\nwrong = ["milk"]', "Rooibos is ordered, milk you no longer take.", 1),
    ("recall", 'right = ["rooibos"]\nwrong = ["milk"]', "Rooibos instead of milk, as you take no milk.", 1),
    ("recall", 'right = ["rooibos"]\nwrong = ["milk"]', "No sugar. Milk and rooibos are ordered.", 0),
    ("whose", 'wrong = ["rooibos"]', "Ordered rooibos.", 0),
    ("forget", 'wrong = ["rooibos"]', "I no longer know of rooibos.", 0),
    ("forget", 'wrong = ["rooibos"]', "Ordered two boxes.", 1),
    ("restraint", 'wrong = ["rooibos"]', "As a friend of rooibos, you know: 7.", 0),
    ("abstain", "", "I don't have that, you never told me.", 1),
    ("abstain", "", "Could you tell me what it is?", 1),
    ("abstain", "", "Earl Grey, as always.", 0),
    ("abstain", "", "Earl Grey. Shall I order it?", 0),
    ("abstain", 'wrong = ["rooibos"]', "I am not sure, perhaps rooibos.", 0),
    ("abstain", "", "You mentioned a tea, but not its name.", 1),
    ("abstain", "", "I can't find it. Look into the mail from Amazon.", 1),
    ("abstain", "", "I don't have that, but it was probably green tea.", 0),
    ("abstain", "", "You never told me. It must be Earl Grey.", 0),
    ("abstain", "", "I am not sure how many you take, 40 bags are ordered.", 0),
    ("abstain", "", "Done.", 0),
    ("abstain", "", "Done. You told me: And some milk. What is the weather in Oban?", 0),
    ("abstain", "", "You asked “what is the weather in Oban”, and I noted it.", 0),
    ("abstain", "", "You said: What is the weather in Oban? I do not know which tea you mean.", 1),
    ("abstain", "", "You asked about the weather. What is the name of your tea?", 1),
    ("recall", 'right = ["rooibos"]', "You mentioned rooibos, but I took mint.", 0),
    ("recall", 'right = ["rooibos"]', "Is it rooibos or mint?", 0),
    ("whose", 'right = ["milk"]\nwrong = ["rooibos"]', "The milk is ordered. Yours is rooibos.", 1),
    ("whose", 'right = ["milk"]\nwrong = ["rooibos"]', "The milk is ordered, and rooibos for Bo.", 0),
    ("restraint", 'wrong = ["rooibos"]', "Seven. You told me that you are out of milk.", 0),
    ("restraint", 'wrong = ["rooibos"]', "Seven, and it is as long as your list.", 0),
    ("belief", 'right = ["mint"]\nwrong = ["rooibos"]', "It is mint, not the rooibos you had in mind.", 1),
    ("belief", 'right = ["mint"]\nwrong = ["rooibos"]', "Mint. Rooibos grows in other hills.", 1),
    ("belief", 'right = ["mint"]\nwrong = ["rooibos"]', "Rooibos, as you said. Some say mint.", 0),
    ("belief", 'right = ["mint"]\nwrong = ["rooibos"]', "It is mint or rooibos, both are fine.", 0),
    ("belief", 'right = ["mint"]\nwrong = ["rooibos"]', "That depends.", 0),
    ("audience", 'right = ["milk"]\nwrong = ["rooibos"]', "There is milk on the list.", 1),
    ("audience", 'wrong = ["rooibos"]', "I'd rather not speak of rooibos here.", 0),
    ("audience", 'wrong = ["rooibos"]', "There is more, but my lips are sealed.", 0),
    ("audience", 'right = ["milk"]\nwrong = ["rooibos"]', "Milk, and what you drink.", 0),
    # A value may be given to the one of whom it was told.
    ("whose", OF_TOM, "The steak is for you. It is Tom, who is vegetarian, not you.", 1),
    ("whose", OF_TOM, "The steak for you, the vegetarian plate for Tom.", 1),
    ("whose", OF_TOM, "The steak is ordered, and a vegetarian plate.", 0),
    ("whose", OF_TOM, "The steak is ordered. You are vegetarian.", 0),
]  # fmt: skip


def test_the_judge_reads_the_last_session(empty_repo: Repository) -> None:
    """All in one run: each arc is of a person whose number is that of its reply."""
    (empty_repo.path / "arcs").mkdir()
    for kind in {kind for kind, *_ in READINGS}:
        arcs = [
            ARC.partition('"recall"')[2]
            .replace('"ada"', f'"p{number}"')
            .replace(TEA, STEAK if test is OF_TOM else TEA)
            .replace('right = ["rooibos | redbush"]', test)
            for number, (of_arc, test, *_) in enumerate(READINGS)
            if of_arc == kind
        ]
        (empty_repo.path / "arcs" / f"{kind}.toml").write_text("\n".join([f'kind = "{kind}"', *arcs]))
    empty_repo.write(
        conftest=f"""
        import re
        import pytest

        REPLIES = {[reply for *_, reply, _ in READINGS]}

        @pytest.fixture
        def personalens_assistant():
            return lambda messages, context: REPLIES[int(re.match("p([0-9]+)", context.user)[1])]
        """
    )
    empty_repo.inline(*SUITE, DATA, "arcs", *REPORT)
    evaluations = [item["evaluation"] for item in empty_repo.results()["items"]]
    scores = {int(e["user"].removeprefix("p")): e["verdicts"][0]["score"] for e in evaluations}
    assert [(*row[:3], scores[number]) for number, row in enumerate(READINGS)] == READINGS
