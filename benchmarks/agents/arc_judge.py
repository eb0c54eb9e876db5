"""How far the judge of arcs agrees with labelled replies, by kind: Cohen's kappa.

``python benchmarks/agents/arc_judge.py`` reads ``data/agreement/arcs.tsv`` and ``arcs-held.tsv``. Each line
has an arc, the label (1 for a right reply) and the reply to the arc's last message. With ``--show`` it prints
what the judge reads otherwise in the first file. With ``--judge-model SPEC`` a model reads the replies. That
costs a call for each line, and no call is recorded.
"""

from __future__ import annotations

import sys
from collections import defaultdict

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.judging.verdict import Judge
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.judge_quality.agreement.kappa import cohen
from pytest_personalens.models.meter import Meter
from pytest_personalens.models.open import open_model
from pytest_personalens.suites.memory.arcs import KINDS, Arc
from pytest_personalens.suites.memory.model_judge import ArcModelJudge
from pytest_personalens.suites.memory.roles import MEMORY, ArcJudge
from pytest_personalens.suites.memory.suite import SUITE


def judge() -> Judge:
    """Return the judge that the command names: the embedded one, or a model."""
    if "--judge-model" not in sys.argv:
        return ArcJudge()
    model = open_model(sys.argv[sys.argv.index("--judge-model") + 1])
    assert model is not None, "a model of Bedrock or of the OpenAI protocol"
    return ArcModelJudge(model, Meter())


def judged(judge: Judge, arc: Arc, reply: str) -> tuple[int, str]:
    """Return the score of an arc whose last message gets the reply, and why."""
    messages = []
    for session, text in arc.turns:
        messages += [Message(role="user", content=text, session=session)]
        messages += [Message(role="assistant", content="All right.", session=session)]
    messages[-1] = Message(role="assistant", content=reply, session=arc.last_session)
    verdict = judge.verdict(arc, Dialogue(messages=tuple(messages), end="user"), MEMORY)
    return int(verdict.score or 0), verdict.justification


def main() -> None:
    """Print a row for each kind and one for all, with a column for each file."""
    reader = judge()
    dataset = SUITE.open_dataset("embedded", data_folder(), {})
    arcs = {ref.id: dataset.load(ref) for user in dataset.users() for ref in dataset.refs(user)}
    found: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    files = ("arcs", "arcs-held")
    for name in files:
        for line in (data_folder() / "agreement" / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
            arc, label, text = line.split("\t")
            score, why = judged(reader, arcs[arc], text.replace("\\n", "\n"))
            for kind in (arcs[arc].kind, "all"):
                found[name, kind].append((int(label), score))
            if "--show" in sys.argv and name == "arcs" and int(label) != score:
                print(f"{arc} {label}, not {score} ({why}): {text}")
    print("| kind | replies | kappa | right | replies, held out | kappa, held out | right, held out |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in (*KINDS, "all"):
        cells = []
        for pairs in (found[name, kind] for name in files):
            right = sum(label == score for label, score in pairs)
            cells += [str(len(pairs)), f"{cohen(pairs) or 0:.2f}", str(right)]
        print(f"| {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
