"""How the embedded user agent does over a seeded draw of 300 scenarios: its openings, its dialogues with the
example bots and with bots that get nowhere, its answers to questions for consent, and what it says to the
labelled replies of ``data/agreement/replies.tsv``.
"""

from __future__ import annotations

import csv
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedUserAgent
from pytest_personalens.agents.embedded.reader.text import fold, mentions, sentences
from pytest_personalens.core.dialogue.dialogue import AssistantMessages, Dialogue, Message, converse
from pytest_personalens.datasets import EmbeddedDataset, draw

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Scenario

DATA = Path(__file__).resolve().parents[2] / "data"
SIZE, SEED = 300, "user agent"
#: One in so many labelled replies is answered.
EVERY = 4
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "example_project"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

Bot = Callable[[AssistantMessages], str]
#: The letters of a part that is promised, offered, asked about, handed back, refused or missing.
OPEN = frozenset("POQHRM")
_YES = re.compile(r"\b(?:yes|yep|yeah|sure|ok|okay)\b", re.IGNORECASE)


class Dialogues(NamedTuple):
    """Figures of the dialogues with one bot."""

    served: float
    decided: float
    repeated: float
    turns: float


def main() -> int:
    """Measure and print; 1 if a goal is missed."""
    dataset = EmbeddedDataset()
    scenarios = [dataset.load(ref) for ref in draw(dataset, SIZE, seed=SEED).refs]
    openings = [EmbeddedUserAgent().turn(s, ()).content for s in scenarios]
    named = mean(leaks(s, o) for s, o in zip(scenarios, openings, strict=True))
    print(f"{SIZE} scenarios of {dataset.name} {dataset.version}, seed {SEED!r}")
    print(f"openings that name a preference value  {named:8.1%}   goal 0 %")
    print(f"words of an opening, median            {median(len(o.split()) for o in openings):8}")
    consent = mean(answers_yes(s, scenarios.index(s)) for s in scenarios)
    print(f"a question for consent gets a yes      {consent:8.1%}   goal 100 %")
    print(f"\n{'bot':14} {'served':>8} {'decided':>8} {'a sentence twice':>18} {'user turns':>11}")
    found = {name: measure(scenarios, bot) for name, bot in bots().items()}
    for name, row in found.items():
        print(f"{name:14} {row.served:8.1%} {row.decided:8.1%} {row.repeated:18.1%} {row.turns:11.2f}")
    replies = list(to_labelled_replies(dataset))
    for name, kind in (("all parts stand", True), ("a deed is open", False)):
        turns = [served for whole, served, _ in replies if whole is kind]
        print(f"{len(turns)} labelled replies, {name}: the user leaves content {mean(turns):.1%}")
    wrong = [names for _, _, names in replies if names is not None]
    print(f"{len(wrong)} labelled replies with a wrong value: the user says so {mean(wrong):.1%}")
    hopeless = [row for name, row in found.items() if name in HOPELESS]
    reached = not named and consent == 1 and all(not r.repeated for r in found.values())
    return 0 if reached and all(r.served <= 0.02 for r in hopeless) else 1


def answers_yes(scenario: Scenario, number: int) -> bool:
    """True if the user says yes to one of the ways to ask for consent that the tests hold."""
    from tests.agents.embedded.test_user import CONSENT

    user = EmbeddedUserAgent()
    opening = Message(role="user", content=user.turn(scenario, ()).content)
    asked = Message(role="assistant", content=CONSENT[number % len(CONSENT)])
    return bool(_YES.search(user.turn(scenario, (opening, asked)).content))


def promises() -> Bot:
    """A bot that only promises, each time in another number."""
    numbers = itertools.count(1)
    return lambda _: f"I'll see to that right away, as number {next(numbers)}."


def asks_for_consent() -> Bot:
    """A bot that asks for consent for ever."""
    numbers = itertools.count(1)
    return lambda _: f"Step {next(numbers)}: shall I go ahead?"


#: Bots that never get anywhere.
HOPELESS: dict[str, Callable[[], Bot]] = {
    "says nothing": lambda: lambda _: "Thank you for your message.",
    "in a loop": lambda: lambda _: "Let me see what I can do about that for you.",
    "only promises": promises,
    "asks for ever": asks_for_consent,
}


def bots() -> Mapping[str, Callable[[Scenario], Bot]]:
    """The example project's bots, and those that never get anywhere, as they are made for a scenario."""
    from helpbot import Memory
    from helpbot.bot import BOTS

    def example(name: str) -> Callable[[Scenario], Bot]:
        def made(scenario: Scenario) -> Bot:
            memory = Memory()
            for topic, summary in scenario.summaries.items():
                memory.remember(scenario.user, topic, summary)
            bot: Bot = BOTS[name](scenario.user, memory)
            return bot

        return made

    def hopeless(make: Callable[[], Bot]) -> Callable[[Scenario], Bot]:
        return lambda _: make()

    return {n: example(n) for n in BOTS} | {n: hopeless(make) for n, make in HOPELESS.items()}


def measure(scenarios: Sequence[Scenario], make: Callable[[Scenario], Bot]) -> Dialogues:
    """The figures of the dialogues with a bot."""
    dialogues = [converse(s, make(s), EmbeddedUserAgent()).dialogue for s in scenarios]
    return Dialogues(
        served=mean(d.end == "user" for d in dialogues),
        decided=mean(d.end in ("user", "unserved", "silence") for d in dialogues),
        repeated=mean(map(repeats, dialogues)),
        turns=mean(d.user_turns for d in dialogues),
    )


def to_labelled_replies(dataset: EmbeddedDataset) -> Iterator[tuple[bool, bool, bool | None]]:
    """Yield for each first reply in which all stands or a deed is open whether it is, whether the user leaves
    content, and, where a value is wrong, whether the user names it or what should stand there.
    """
    refs = {f"{ref.task}-{ref.user}": ref for user in dataset.users() for ref in dataset.refs(user)}
    with (DATA / "agreement" / "replies.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    user = EmbeddedUserAgent()
    for row in rows[::EVERY]:
        scenario = dataset.load(refs[row["scenario"]])
        if row["before"] != "-" or len(row["states"]) != len(scenario.task.parts):
            continue
        parts = zip(scenario.task.parts, row["states"], strict=True)
        undone = any(p.kind == "done" and not p.never and state in OPEN for p, state in parts)
        opening = Message(role="user", content=user.turn(scenario, ()).content)
        reply = Message(role="assistant", content=row["reply"].replace("\\n", "\n"))
        turn = user.turn(scenario, (opening, reply))
        facts = [f for f in scenario.task.facts if f.name in row["wrong"].split(",")]
        values = [v for f in facts for v in (f.says, *f.right) if v]
        names = any(mentions(v, turn.content) for v in values) if "W" in row["states"] and facts else None
        if undone or set(row["states"]) == {"D"} or names is not None:
            yield not undone and set(row["states"]) == {"D"}, turn.done and turn.served, names


def leaks(scenario: Scenario, opening: str) -> bool:
    """True if the opening names one of the person's values, and the intent does not."""
    return any(
        mentions(v, opening) and not mentions(v, scenario.task.intent)
        for types in scenario.preferences.values()
        for values in types.values()
        for v in values
    )


def repeats(dialogue: Dialogue) -> bool:
    """True if the user says a sentence twice."""
    said = [
        fold(s).strip(" .!?") for m in dialogue.messages if m.role == "user" for s in sentences(m.content)
    ]
    return len(said) != len(set(said))


if __name__ == "__main__":
    raise SystemExit(main())
