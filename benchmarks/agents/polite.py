"""How far one polite sentence before or behind each reply moves the embedded judge.

``python benchmarks/agents/polite.py`` takes the dialogues of the example's bot as its records hold them, puts
each sentence of ``data/agreement/polite.txt`` before and behind each reply, and prints the largest shifts of
TCR and of mean P. The judge's list of idle words was written with the first sixty sentences at hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset

DATA = Path(__file__).resolve().parents[2] / "data"
RECORDS = Path(__file__).resolve().parents[2] / "example_project"
#: So many sentences were at hand when the list of idle words was written.
_SEEN = 60
#: Shifts above this are listed.
_LARGE = 0.03
READINGS = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)


def recorded() -> list[tuple[Scenario, Dialogue]]:
    """Return the recorded dialogues of the example's bot with their scenarios."""
    dataset, found = EmbeddedDataset(), []
    refs = {f"{ref.task}-{ref.user}": ref for user in dataset.users() for ref in dataset.refs(user)}
    for file in sorted(RECORDS.rglob("__personalens__/*/*.json")):
        record = json.loads(file.read_text(encoding="utf-8"))
        dialogue = Dialogue.model_validate(record["dialogue"])
        name = next((name for name in refs if name in file.stem), None)
        if name is not None and all(not message.tool_calls for message in dialogue.messages):
            found.append((dataset.load(refs[name]), dialogue))
    return found


def scores(dialogues: list[tuple[Scenario, Dialogue]], before: str, behind: str) -> tuple[float, float]:
    """Return TCR and mean P with a sentence before or behind each reply."""
    judge, rows = EmbeddedJudge(), []
    for scenario, dialogue in dialogues:
        messages = tuple(
            m if m.role == "user" else Message(role=m.role, content=f"{before} {m.content} {behind}".strip())
            for m in dialogue.messages
        )
        changed = dialogue.model_copy(update={"messages": messages})
        rows.append([judge.verdict(scenario, changed, reading).score for reading in READINGS])
    tc, p = (mean(row[i] for row in rows) for i in (0, 1))
    return tc, p


def main() -> None:
    """Print the shifts: the largest, and each sentence that moves a figure by more than `_LARGE`."""
    dialogues = recorded()
    base = scores(dialogues, "", "")
    print(f"{len(dialogues)} dialogues, TCR {base[0]:.2f}, P {base[1]:.2f}")
    sentences = (DATA / "agreement" / "polite.txt").read_text(encoding="utf-8").splitlines()
    shifts: list[tuple[float, float, str, str, bool]] = []
    for number, sentence in enumerate(sentences):
        for where, pair in (("before", (sentence, "")), ("behind", ("", sentence))):
            tc, p = scores(dialogues, *pair)
            shifts.append((tc - base[0], p - base[1], where, sentence, number < _SEEN))
    for seen in (True, False):
        of_half = [shift for shift in shifts if shift[4] is seen]
        tc = max(abs(shift[0]) for shift in of_half)
        p = max(abs(shift[1]) for shift in of_half)
        print(f"{'seen' if seen else 'not seen'}: largest shift of TCR {tc:.2f}, of P {p:.2f}")
    for tc, p, where, sentence, _ in shifts:
        if max(abs(tc), abs(p)) > _LARGE:
            print(f"  {tc:+.2f} {p:+.2f} {where}: {sentence}")


if __name__ == "__main__":
    main()
