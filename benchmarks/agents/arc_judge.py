"""How far the judge of arcs agrees with labelled replies, by kind: Cohen's kappa.

``python benchmarks/agents/arc_judge.py`` reads ``arcs.tsv``, ``arcs-held.tsv``, ``arcs-authors.tsv``, and for
belief, audience and the newer arcs of restraint ``arcs-kinds-1.tsv`` and ``arcs-kinds-2.tsv``, all in
``data/agreement``. Each line has an arc, the label (1 for a right reply) and the reply to the arc's last
message, and those of the third file also have P where the arc has a task. With ``--show`` it prints what the
judge reads otherwise where its rules were mended. With ``--judge-model SPEC`` a model reads all
replies. That costs a call for each line, and no call is recorded.
"""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from pathlib import Path

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.judging.verdict import Judge
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.judge_quality.agreement import cohen
from pytest_personalens.models import open_model
from pytest_personalens.models.meter import Meter
from pytest_personalens.suites.memory.arcs import KINDS, Arc
from pytest_personalens.suites.memory.memory_roles import MEMORY, ArcJudge, ArcModelJudge, P
from pytest_personalens.suites.memory.memory_suite import SUITE

DATA = Path(__file__).resolve().parents[2] / "data"
#: The tables, each with its sets of labels and what their columns say.
TABLES = (
    {"arcs": "", "arcs-held": ", held out", "arcs-authors": ", other authors"},
    {"arcs-kinds-1": ", mended on", "arcs-kinds-2 read": ", mended on later", "arcs-kinds-2": ", held out"},
)
#: The sets whose misses the author of the rules read.
MENDED_ON = ("arcs", "arcs-kinds-1", "arcs-kinds-2 read")


def set_of(name: str, arc_id: str) -> str:
    """Return the set that a line of a file belongs to; one half of the last file was read."""
    even = int(hashlib.sha256(arc_id.encode()).hexdigest(), 16) % 2 == 0
    return f"{name} read" if name == "arcs-kinds-2" and even else name


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
    for name in dict.fromkeys(name.split()[0] for table in TABLES for name in table):
        for line in (DATA / "agreement" / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
            arc_id, label, text, *p = line.split("\t")
            arc, said = arcs[arc_id], dialogue(arcs[arc_id], text.replace("\\n", "\n"))
            verdict = reader.verdict(arc, said, MEMORY)
            part = set_of(name, arc_id)
            for kind in (arc.kind, "all"):
                found[part, kind].append((int(label), int(verdict.score)))
            if "--show" in sys.argv and part in MENDED_ON and int(label) != verdict.score:
                print(f"{arc_id} {label}, not {verdict.score} ({verdict.justification}): {text}")
            p_pairs += [(int(value), int(reader.verdict(arc, said, P).score)) for value in p]
    for table in TABLES:
        columns = "".join(f" replies{name} | kappa{name} | right{name} |" for name in table.values())
        print(f"| kind |{columns}")
        print("| --- |" + " ---: |" * 3 * len(table))
        for kind in (*KINDS, "all"):
            if not any(found[name, kind] for name in table):
                continue
            cells = []
            for pairs in (found[name, kind] for name in table):
                right = sum(label == score for label, score in pairs)
                cells += [str(len(pairs)), f"{cohen(pairs) or 0:.2f}", str(right)]
            print(f"| {kind} | {' | '.join(cells)} |")
        print()
    side = sum((label > 2) == (score > 2) for label, score in p_pairs)
    kappa = cohen(p_pairs, quadratic=True) or 0
    print(f"P: {len(p_pairs)} replies, weighted kappa {kappa:.2f}, {side} on the right side of 2.5")


if __name__ == "__main__":
    main()
