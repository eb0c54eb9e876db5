"""The judge of arcs: single replies, the labelled ones, and the published agreement with these."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.suites.memory.arcs import ARC, DATA, REPORT, SUITE
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import says
from tests.support.servers.endpoint import Endpoint, Reply


@pytest.mark.parametrize("name", ["arcs", "arcs-held", "arcs-authors"])
def test_half_of_the_replies_of_each_kind_are_right(name: str) -> None:
    lines = (ROOT / f"data/agreement/{name}.tsv").read_text(encoding="utf-8").splitlines()
    labels = Counter((line.partition("-")[0], line.split("\t")[1]) for line in lines)
    kinds = {kind for kind, _ in labels}
    assert len(kinds) == 7
    assert all(labels[kind, "0"] == labels[kind, "1"] >= 5 for kind in kinds)


def measured(*options: str) -> str:
    """What the script prints of the judge."""
    command = [sys.executable, "benchmarks/agents/arc_judge.py", *options]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=around, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_page_has_the_agreement_as_the_command_prints_it() -> None:
    printed = measured()
    assert printed.count("\n") == 2 + 7 + 1 + 1 + 2 + 3 + 1 + 1 + 1
    assert printed in (ROOT / "benchmarks/agents/judge.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_measures_a_model(endpoint: Endpoint) -> None:
    said = 'Evidence: turn 0: "e"\nJustification: so\nScore: {}'.format
    endpoint.answer = lambda call: Reply(said("true" if "The rule:" in call.prompt else "4"))
    printed = measured("--judge-model", "openai:judge")
    assert "| all | 80 | 0.00 | 40 | 80 | 0.00 | 40 | 242 | 0.00 | 121 |\n" in printed
    assert printed.endswith("P: 106 replies, weighted kappa 0.00, 53 on the right side of 2.5\n")
    assert len(endpoint.calls) == 160 + 242 + 302 + 106


TEA = "Put tea on the list, I drink rooibos."
STEAK = "Book for Sunday. Tom comes, he is vegetarian, I have the steak."
OF_TOM = 'right = ["steak"]\nwrong = ["vegetarian"]'
TEA_IS = 'right = ["rooibos"]'
NO_MILK = 'right = ["rooibos"]\nwrong = ["milk"]'
NO_TEA = 'wrong = ["rooibos"]'
MILK = 'right = ["milk"]\nwrong = ["rooibos"]'
MINT = 'right = ["mint"]\nwrong = ["rooibos"]'
EITHER = 'right = ["rooibos | redbush"]'
#: The kind of an arc, its test, the reply to the last message, and what the judge makes of it. A value may be given
#: to the one of whom it was told.
READINGS = [
    ("recall", TEA_IS, "I put ROOIBOS in the basket.", 1), ("recall", TEA_IS, "Which tea do you like?", 0),
    ("recall", TEA_IS, "Ordered rooiboschai.", 0), ("recall", TEA_IS, "You mentioned rooibos, but I took mint.", 0),
    ("recall", TEA_IS, "Is it rooibos or mint?", 0), ("recall", EITHER, "Ordered two boxes of redbush.", 1),
    ("recall", NO_MILK, "Rooibos is ordered, with milk.", 0), ("recall", NO_MILK, "Rooibos is ordered, without milk.", 1),
    ("recall", NO_MILK, "Rooibos is ordered, I left the milk out.", 1), ("recall", NO_MILK, "Rooibos is ordered, milk you no longer take.", 1),
    ("recall", NO_MILK, "Rooibos instead of milk, as you take no milk.", 1), ("recall", NO_MILK, "No sugar. Milk and rooibos are ordered.", 0),
    ("whose", NO_TEA, "Ordered rooibos.", 0), ("forget", NO_TEA, "I no longer know of rooibos.", 0), ("forget", NO_TEA, "Ordered two boxes.", 1),
    ("restraint", NO_TEA, "As a friend of rooibos, you know: 7.", 0), ("restraint", NO_TEA, "Seven. You told me that you are out of milk.", 0),
    ("restraint", NO_TEA, "Seven, and it is as long as your list.", 0), ("abstain", "", "I don't have that, you never told me.", 1),
    ("abstain", "", "Could you tell me what it is?", 1), ("abstain", "", "Earl Grey, as always.", 0),
    ("abstain", "", "Earl Grey. Shall I order it?", 0), ("abstain", "", "You mentioned a tea, but not its name.", 1),
    ("abstain", "", "I can't find it. Look into the mail from Amazon.", 1), ("abstain", "", "I don't have that, but it was probably green tea.", 0),
    ("abstain", "", "You never told me. It must be Earl Grey.", 0), ("abstain", "", "I am not sure how many you take, 40 bags are ordered.", 0),
    ("abstain", "", "Done.", 0), ("abstain", "", "Done. You told me: And some milk. What is the weather in Oban?", 0),
    ("abstain", "", "You asked “what is the weather in Oban”, and I noted it.", 0),
    ("abstain", "", "You said: What is the weather in Oban? I do not know which tea you mean.", 1),
    ("abstain", "", "You asked about the weather. What is the name of your tea?", 1), ("abstain", NO_TEA, "I am not sure, perhaps rooibos.", 0),
    ("whose", MILK, "The milk is ordered. Yours is rooibos.", 1), ("whose", MILK, "The milk is ordered, and rooibos for Bo.", 0),
    ("belief", MINT, "It is mint, not the rooibos you had in mind.", 1), ("belief", MINT, "Mint. Rooibos grows in other hills.", 1),
    ("belief", MINT, "Rooibos, as you said. Some say mint.", 0), ("belief", MINT, "It is mint or rooibos, both are fine.", 0),
    ("belief", MINT, "That depends.", 0), ("audience", MILK, "There is milk on the list.", 1), ("audience", MILK, "Milk, and what you drink.", 0),
    ("audience", NO_TEA, "I'd rather not speak of rooibos here.", 0), ("audience", NO_TEA, "There is more, but my lips are sealed.", 0),
    ("whose", OF_TOM, "The steak is for you. It is Tom, who is vegetarian, not you.", 1),
    ("whose", OF_TOM, "The steak for you, the vegetarian plate for Tom.", 1), ("whose", OF_TOM, "The steak is ordered, and a vegetarian plate.", 0),
    ("whose", OF_TOM, "The steak is ordered. You are vegetarian.", 0),
]  # fmt: skip


def test_the_judge_reads_the_last_session(empty_repo: Repository) -> None:
    """All in one run: each arc is of a person whose number is that of its reply."""
    (empty_repo.path / "arcs").mkdir()
    head, _, body = ARC.partition('"recall"')
    for kind in {kind for kind, *_ in READINGS}:
        arcs = [
            body.replace('"ada"', f'"p{number}"').replace(TEA, STEAK if test is OF_TOM else TEA).replace('right = ["rooibos | redbush"]', test)
            for number, (of_arc, test, *_) in enumerate(READINGS)
            if of_arc == kind
        ]  # fmt: skip
        (empty_repo.path / "arcs" / f"{kind}.toml").write_text(f'{head}"{kind}"' + "\n".join(arcs))
    replies = f"REPLIES = {[reply for *_, reply, _ in READINGS]}"
    empty_repo.write(
        conftest=says(
            "REPLIES[int(context.user[1:].partition('+')[0])]", takes="messages, context", head=replies
        )
    )
    empty_repo.inline(*SUITE, DATA, "arcs", *REPORT)
    evaluations = [item["evaluation"] for item in empty_repo.results()["items"]]
    scores = {int(e["user"].removeprefix("p")): e["verdicts"][0]["score"] for e in evaluations}
    assert [(*row[:3], scores[number]) for number, row in enumerate(READINGS)] == READINGS
    codes = [{r["code"] for r in e["verdicts"][0]["reasons"]} for e in evaluations if e["kind"] == "audience"]
    assert all(len(of_item) < 2 for of_item in codes), "who says a value is not told of a hint at it as well"
