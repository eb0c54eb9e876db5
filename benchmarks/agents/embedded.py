"""What the embedded user and judge make of assistants that say the right thing, the wrong thing, or nothing.

``python benchmarks/agents/embedded.py [prose] [echo] [idle]`` plays the replies of
``data/agreement/prose.toml``, assistants that only repeat what the user says, and idle sentences behind the
replies of the example's bot and of live assistants. Without a name it does all three.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.errors import NotJudged
from pytest_personalens.core.judging.evaluation import evaluate
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset, draw

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data" / "agreement"
sys.path.insert(0, str(ROOT / "example_project"))

Assistant = Callable[[Sequence[Mapping[str, Any]]], str]
#: Footers that say nothing of any task; `polite.txt` holds courtesies.
FOOTERS = (
    "Our shop is closed on Sundays.",
    "Our office is open from nine to five.",
    "This chat is kept for 30 days.",
    "You can change your settings at any time.",
    "Rate this chat from one to five stars.",
    "Terms and conditions apply.",
    "We answer most messages within two minutes.",
    "Tip: type menu to see what I can do.",
    "Our call centre is free on weekdays.",
    "You can cancel your membership until the 1st of each month.",
    "It is a lovely day here in the office.",
)
#: Ways to say the user's own words back.
ECHOES: Mapping[str, Callable[[str], str]] = {
    "the same words": lambda said: said,
    "got it": lambda said: f"Got it: {said}",
    "understood": lambda said: f"Understood. {said} Is that right?",
    "in the second person": lambda said: f"So {_to_you(said)} Noted, thank you.",
}
_CONTENT = re.compile(r"thank|cheers|great|perfect|lovely|obliged|that's all|sounds good")
READINGS = (Dimension.TASK_COMPLETION, Dimension.FACTS, Dimension.PERSONALIZATION)


def _to_you(said: str) -> str:
    swaps = {"i": "you", "my": "your", "me": "you", "i'm": "you're", "i'd": "you'd", "i'll": "you'll"}
    return re.sub(r"[\w']+", lambda m: swaps.get(m[0].lower(), m[0]), said)


def prose(dataset: EmbeddedDataset) -> None:
    """Print each dialogue that is not read as it should be, and how many are."""
    refs = {f"{ref.task}-{ref.user}": ref for user in dataset.users() for ref in dataset.refs(user)}
    right, personal, of_kind = 0, list[float](), dict[str, list[float]]()
    for name, by_kind in tomllib.loads((DATA / "prose.toml").read_text(encoding="utf-8")).items():
        for kind, replies in by_kind.items():
            scenario = dataset.load(refs[name])
            found = evaluate(scenario, _says(kind, replies), EmbeddedUserAgent(), EmbeddedJudge())
            completed, points = bool(found.task_completed), found.personalization or 0.0
            of_kind.setdefault(kind, []).append(points)
            as_it_should = completed == (kind == "right")
            right += as_it_should
            personal += [points] if kind == "right" else []
            if not as_it_should or (kind == "right" and points < 3):
                print(f"  {name}, {kind}: TC {int(completed)}, P {points:g}")
    means = ", ".join(f"{kind} {mean(points):.2f}" for kind, points in of_kind.items())
    print(
        f"prose: TC as it should be {right} of 24; right ones with P of 3 or 4"
        f" {sum(p >= 3 for p in personal)} of 8; P {means}"
    )


def _says(kind: str, replies: Sequence[str]) -> Assistant:
    """Return an assistant that says the replies one after the other, and then the last one again."""
    left = iter(replies)
    again = {"right": "As I said: ", "wrong": "That's how it is: ", "undone": "I'm sorry, it's as I said. "}[
        kind
    ]

    def reply(messages: Sequence[Mapping[str, Any]]) -> str:
        text = messages[-1]["content"].lower()
        closes = _CONTENT.search(text) and "?" not in text
        return next(left, None) or ("You're welcome!" if closes else again + replies[-1])

    return reply


def echo(dataset: EmbeddedDataset) -> None:
    """Print in which share of 60 scenarios an assistant is completed that says the user's words back."""
    scenarios = [dataset.load(ref) for ref in draw(dataset, 60, seed="echo").refs]
    for name, back in ECHOES.items():

        def assistant(messages: Sequence[Mapping[str, Any]], back: Callable[[str], str] = back) -> str:
            return back(messages[-1]["content"])

        found = [evaluate(s, assistant, EmbeddedUserAgent(), EmbeddedJudge()) for s in scenarios]
        done = [s.id for s, one in zip(scenarios, found, strict=True) if one.task_completed]
        print(f"echo, {name}: TCR {len(done) / len(found):.3f} {' '.join(done)}")


def idle(dataset: EmbeddedDataset) -> None:
    """Print the largest shifts that one idle sentence behind each reply makes."""
    courtesies = (DATA / "polite.txt").read_text(encoding="utf-8").splitlines()
    for name, dialogues in (("example's bot", _of_bot(dataset)), ("live", _live())):
        base = _means(dialogues, "")
        moved = [
            [abs(new - old) for new, old in zip(_means(dialogues, one), base, strict=True)]
            for one in (*FOOTERS, *courtesies)
        ]
        shifts = ", ".join(f"{r.short} {max(row[n] for row in moved):.3f}" for n, r in enumerate(READINGS))
        print(f"idle sentences behind {len(dialogues)} dialogues of the {name}: largest shifts {shifts}")


def _of_bot(dataset: EmbeddedDataset) -> list[tuple[Scenario, Dialogue]]:
    from helpbot import Memory
    from helpbot.bot import BOTS

    found = []
    for scenario in (dataset.load(ref) for ref in draw(dataset, 100, seed="idle").refs):
        memory = Memory()
        for topic, summary in scenario.summaries.items():
            memory.remember(scenario.user, topic, summary)
        bot = BOTS["remembers"](scenario.user, memory)
        found.append((scenario, evaluate(scenario, bot, EmbeddedUserAgent(), EmbeddedJudge()).dialogue))
    return found


def _live() -> list[tuple[Scenario, Dialogue]]:
    lines = (DATA / "by-hand-held.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        (
            Scenario.model_validate(entry["whole"]),
            Dialogue(messages=tuple(Message(**m) for m in entry["dialogue"]), end=entry["end"]),
        )
        for entry in map(json.loads, lines)
    ]


def _means(dialogues: Iterable[tuple[Scenario, Dialogue]], sentence: str) -> list[float]:
    judge, rows = EmbeddedJudge(), list[list[float | None]]()
    for scenario, dialogue in dialogues:
        messages = tuple(
            m if m.role == "user" else m.model_copy(update={"content": f"{m.content} {sentence}".strip()})
            for m in dialogue.messages
        )
        changed = dialogue.model_copy(update={"messages": messages})
        rows.append([_score(judge, scenario, changed, reading) for reading in READINGS])
    return [mean(v for row in rows if (v := row[n]) is not None) for n in range(len(READINGS))]


def _score(judge: EmbeddedJudge, scenario: Scenario, dialogue: Dialogue, reading: Dimension) -> float | None:
    try:
        return judge.verdict(scenario, dialogue, reading).score
    except NotJudged:
        return None


def main() -> None:
    """Print the figures that are named, or all."""
    dataset = EmbeddedDataset()
    for figure in (prose, echo, idle):
        if figure.__name__ in sys.argv[1:] or len(sys.argv) == 1:
            figure(dataset)


if __name__ == "__main__":
    main()
