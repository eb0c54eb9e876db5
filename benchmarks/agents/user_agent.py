"""How the embedded user agent does over a seeded draw of 1,000 scenarios: its openings, and its dialogues
with the example bots; and what it says to the labelled replies of ``data/agreement/replies.tsv``.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.agents.embedded_user.voice.heard import heard
from pytest_personalens.agents.language.text import fold, mentions, sentences
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message, converse
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.datasets import EmbeddedDataset, draw
from pytest_personalens.datasets.embedded.files import data_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import Scenario

SIZE, SEED = 1000, "user agent"
#: The phrases by which the user asks for a part, and the letters of a deed that is promised, offered, asked
#: about, handed back, refused or missing.
ASKS = ("ask_", "chase", "insist", "what_exactly", "nudge", "restate")
OPEN = frozenset("POQHRM")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "example_project"))


class Dialogues(NamedTuple):
    """Figures of the dialogues with one bot."""

    decided: float
    repeated: float
    turns: float


def main() -> int:
    """Measure and print; 1 if a goal is missed."""
    dataset = EmbeddedDataset()
    scenarios = [dataset.load(ref) for ref in draw(dataset, SIZE, seed=SEED).refs]
    openings = [EmbeddedUserAgent().turn(s, ()).content for s in scenarios]
    named = mean(leaks(s, o) for s, o in zip(scenarios, openings, strict=True))
    judged = mean(judge_sees_leak(s, o) for s, o in zip(scenarios, openings, strict=True))
    distinct = len(set(openings))
    print(f"{SIZE} scenarios of {dataset.name} {dataset.version}, seed {SEED!r}")
    print(
        f"openings that name a preference value  {named:8.1%}   goal 0 %; by the embedded judge {judged:.1%}"
    )
    print(f"distinct openings                      {distinct:8}   goal 500")
    print(f"\n{'bot':12} {'ended by decision':>18} {'a sentence twice':>18} {'user turns':>11}")
    from helpbot.bot import BOTS

    found = {name: measure(scenarios, name) for name in BOTS}
    for name, figures in found.items():
        print(f"{name:12} {figures.decided:18.1%} {figures.repeated:18.1%} {figures.turns:11.2f}")
    answers = list(to_labelled_replies(dataset))
    for name, kind in (("all parts stand", True), ("a deed is open", False)):
        turns = [banks for whole, banks in answers if whole is kind]
        asks = mean(any(bank.startswith(ASKS) for bank in banks) for banks in turns)
        content = mean(any(bank.startswith("thanks") for bank in banks) for banks in turns)
        print(f"{len(turns)} replies, {name}: asks for a part {asks:.1%}, thanks {content:.1%}")
    reached = (
        not named
        and not judged
        and distinct >= 500
        and all(f.decided >= 0.95 and not f.repeated for f in found.values())
    )
    return 0 if reached else 1


def to_labelled_replies(dataset: EmbeddedDataset) -> Iterator[tuple[bool, list[str]]]:
    """Yield for each first reply whether all parts stand, or else a deed is open, and the answer's banks."""
    refs = {f"{ref.task}-{ref.user}": ref for user in dataset.users() for ref in dataset.refs(user)}
    with (data_folder() / "agreement" / "replies.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    user = EmbeddedUserAgent()
    for row in rows:
        scenario = dataset.load(refs[row["scenario"]])
        parts = zip(scenario.task.parts, row["states"], strict=True)
        undone = any(p.kind == "done" and not p.never and state in OPEN for p, state in parts)
        if row["before"] == "-" and (undone or set(row["states"]) == {"D"}):
            opening = Message(role="user", content=user.turn(scenario, ()).content)
            reply = Message(role="assistant", content=row["reply"].replace("\\n", "\n"))
            yield not undone, [bank for bank, _ in heard(user.turn(scenario, (opening, reply)).content)]


def leaks(scenario: Scenario, opening: str) -> bool:
    """True if the opening names one of the person's values, and the intent does not."""
    return any(
        mentions(v, opening) and not mentions(v, scenario.task.intent)
        for types in scenario.preferences.values()
        for values in types.values()
        for v in values
    )


def judge_sees_leak(scenario: Scenario, opening: str) -> bool:
    """The same by the embedded judge, which forgives what the intent itself says."""
    messages = (Message(role="user", content=opening), Message(role="assistant", content="Hello."))
    return bool(EmbeddedJudge().verdict(scenario, Dialogue(messages=messages), Dimension.OPENING_LEAK).score)


def measure(scenarios: Sequence[Scenario], name: str) -> Dialogues:
    """The figures of the dialogues with the example project's bot `name`."""
    from helpbot import Memory
    from helpbot.bot import BOTS

    dialogues = []
    for scenario in scenarios:
        memory = Memory()
        for topic, summary in scenario.summaries.items():
            memory.remember(scenario.user, topic, summary)
        dialogues.append(converse(scenario, BOTS[name](scenario.user, memory), EmbeddedUserAgent()).dialogue)
    return Dialogues(
        decided=mean(d.end in ("user", "silence") for d in dialogues),
        repeated=mean(map(repeats, dialogues)),
        turns=mean(d.user_turns for d in dialogues),
    )


def repeats(dialogue: Dialogue) -> bool:
    """True if the user says a sentence twice."""
    said = [fold(s) for m in dialogue.messages if m.role == "user" for s in sentences(m.content)]
    return len(said) != len(set(said))


if __name__ == "__main__":
    raise SystemExit(main())
