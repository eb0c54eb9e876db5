"""How far the judge of arcs agrees with labelled replies, by kind: Cohen's kappa.

``python benchmarks/agents/arc_judge.py`` reads ``data/agreement/arcs.tsv``, ``arcs-held.tsv`` and
``arcs-authors.tsv``. Each line has an arc, the label (1 for a right reply) and the reply to the arc's last
message, and those of the third file also have P where the arc has a task. With ``--show`` it prints what the
judge reads otherwise in the first file. With ``--judge-model SPEC`` a model reads the replies. That costs a
call for each line, and no call is recorded.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.judging.verdict import Judge
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.judge_quality.agreement.measure import cohen
from pytest_personalens.models.meter import Meter
from pytest_personalens.models.open import open_model
from pytest_personalens.suites.memory.arcs import KINDS, Arc
from pytest_personalens.suites.memory.by_model import ArcModelJudge
from pytest_personalens.suites.memory.roles import MEMORY, ArcJudge, P
from pytest_personalens.suites.memory.suite import SUITE

DATA = Path(__file__).resolve().parents[2] / "data"
#: The files of labels, with what their columns say.
FILES = {"arcs": "", "arcs-held": ", held out", "arcs-authors": ", other authors"}


def judge() -> Judge:
    """Return the judge that the command names: the embedded one, or a model."""
    if "--judge-model" not in sys.argv:
        return ArcJudge()
    model = open_model(sys.argv[sys.argv.index("--judge-model") + 1])
    assert model is not None, "a model of Bedrock or of the OpenAI protocol"
    return ArcModelJudge(model, Meter())


def dialogue(arc: Arc, reply: str) -> Dialogue:
    """Return the dialogue of an arc whose last message gets the reply."""
    messages = []
    for session, text in arc.turns:
        messages += [Message(role="user", content=text, session=session)]
        messages += [Message(role="assistant", content="All right.", session=session)]
    messages[-1] = Message(role="assistant", content=reply, session=arc.last_session)
    return Dialogue(messages=tuple(messages), end="user")


def main() -> None:
    """Print a row for each kind and one for all, with columns for each file, and the agreement on P."""
    reader = judge()
    dataset = SUITE.open_dataset("embedded", Path(), Settings.default())
    arcs = {ref.id: dataset.load(ref) for user in dataset.users() for ref in dataset.refs(user)}
    found: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    p_pairs = []
    for name in FILES:
        for line in (DATA / "agreement" / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
            arc_id, label, text, *p = line.split("\t")
            arc, said = arcs[arc_id], dialogue(arcs[arc_id], text.replace("\\n", "\n"))
            verdict = reader.verdict(arc, said, MEMORY)
            for kind in (arc.kind, "all"):
                found[name, kind].append((int(label), int(verdict.score)))
            if "--show" in sys.argv and name == "arcs" and int(label) != verdict.score:
                print(f"{arc_id} {label}, not {verdict.score} ({verdict.justification}): {text}")
            p_pairs += [(int(value), int(reader.verdict(arc, said, P).score)) for value in p]
    columns = "".join(f" replies{name} | kappa{name} | right{name} |" for name in FILES.values())
    print(f"| kind |{columns}")
    print("| --- |" + " ---: |" * 3 * len(FILES))
    for kind in (*KINDS, "all"):
        cells = []
        for pairs in (found[name, kind] for name in FILES):
            right = sum(label == score for label, score in pairs)
            cells += [str(len(pairs)), f"{cohen(pairs) or 0:.2f}", str(right)]
        print(f"| {kind} | {' | '.join(cells)} |")
    side = sum((label > 2) == (score > 2) for label, score in p_pairs)
    kappa = cohen(p_pairs, quadratic=True) or 0
    print(f"\nP: {len(p_pairs)} replies, weighted kappa {kappa:.2f}, {side} on the right side of 2.5")


if __name__ == "__main__":
    main()
