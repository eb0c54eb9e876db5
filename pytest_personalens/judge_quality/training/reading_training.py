"""Trains the reader of work: the table of acts, and the tables that say whether a part of a goal stands."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language.statements import of_message
from pytest_personalens.agents.language.weights import Table
from pytest_personalens.agents.reading.findings import FactReader
from pytest_personalens.agents.reading.part_numbers import PartReader
from pytest_personalens.agents.reading.statements import statements_of
from pytest_personalens.agents.wording.wording_cues import alone
from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.datasets.sampling import draw
from pytest_personalens.judge_quality.oracle.faults import joined
from pytest_personalens.judge_quality.oracle.filling import fill, fits
from pytest_personalens.judge_quality.oracle.wordings import SEEN
from pytest_personalens.judge_quality.training.fitting import Fit, fold_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.datasets import EmbeddedDataset
    from pytest_personalens.judge_quality.agreement.labels import Labelled
    from pytest_personalens.judge_quality.oracle.wordings import TaskWordings, Wording

#: The acts by the letters of labelled statements; of several letters the first here counts.
ACTS: Final = {
    "X": "refused", "W": "taken-back", "P": "promised", "H": "handed-back", "O": "proposed",
    "K": "confirming", "Q": "asked", "A": "asked", "D": "done", "U": "told", "V": "told", "F": "told",
}  # fmt: skip
_OTHER: Final = "other"
#: A cue that fewer statements have is left out.
_RARE: Final = 5
#: Weights of less than this many hundredths are left out, so that the table stays small.
_LEAST: Final = 6
_C_ACTS: Final = 0.3
_C_PARTS: Final = 0.05
#: How many scenarios are filled, and how many of them for the acts, over the wordings that may be seen.
_SCENARIOS: Final = 900
_FOR_ACTS: Final = 2
_FAULTY: Final = 0.65
_LEFT_OUT, _OPEN = 0.22, 0.5
_FOLDS: Final = 2
_LIVE: Final = 4
_ASIDES: Final = (
    "You're welcome!", "Is there anything else I can do for you?", "Have a lovely evening!",
    "Glad I could help.", "Let me know if you need anything else.", "Enjoy!",
    "I remembered how you like it.", "", "", "", "",
)  # fmt: skip
_URGES: Final = ("Thanks.", "What about the rest?", "Is it done?", "Can you see to it?")


class _Act(NamedTuple):
    cues: frozenset[str]
    act: str
    weight: int
    group: str


class Reply(NamedTuple):
    """A dialogue of one scenario, and which parts of its goal stand in it; None where nobody knows."""

    scenario: Scenario
    messages: tuple[Message, ...]
    stands: tuple[bool | None, ...]
    weight: int = 1


def train_reading(
    labelled: Sequence[Labelled],
    tagged: Sequence[tuple[frozenset[str], str]],
    dataset: EmbeddedDataset,
    wordings: Mapping[str, TaskWordings],
) -> dict[str, Table]:
    """Return the tables ``statements``, ``parts-done`` and ``parts-told``.

    `tagged` holds single statements as (cues, letters). Of the wordings only the styles that may be seen are
    used. The parts learn from acts that were read by a table which did not see their task.
    """
    rows = [*_of_labelled(labelled), *_of_tagged(tagged), *_of_wordings(dataset, wordings)]
    tables = {"statements": _acts(rows)}
    models = [_acts([row for row in rows if fold_of(row.group, _FOLDS) != k]) for k in range(_FOLDS)]
    replies = [(reply, True) for reply in _replies(dataset, wordings)]
    replies += [(reply, False) for reply in _of_dialogues(labelled)]
    chance = Random("findings")
    numbers: dict[str, list[tuple[dict[str, float], bool, int]]] = {"done": [], "told": []}
    for reply, made in replies:
        model = models[fold_of(reply.scenario.task.id, _FOLDS)]
        said = list(statements_of(reply.messages, FactReader(reply.scenario), model))
        if made:
            said = _less_said(said, chance)
        reader = PartReader(reply.scenario, [m.content for m in reply.messages if m.role == "user"])
        for part, of_part, stands in zip(reader.goal, reader.numbers(said), reply.stands, strict=True):
            if stands is not None and not part.never:
                numbers[part.kind].append((of_part, stands, reply.weight))
    for kind, found in numbers.items():
        fit = Fit([one for one, _, _ in found])
        yes, weights = [stands for _, stands, _ in found], [weight for *_, weight in found]
        tables[f"parts-{kind}"] = fit.table({"stands": yes}, _C_PARTS, weights=weights)
    return tables


def _act_of(letters: str) -> str:
    return next((act for letter, act in ACTS.items() if letter in letters), _OTHER)


def _of_labelled(labelled: Sequence[Labelled]) -> Iterator[_Act]:
    from pytest_personalens.agents.embedded_judge.acts.cues import read
    from pytest_personalens.judge_quality.training.examples import aligned

    for entry in labelled:
        for message, pieces in zip(entry.dialogue.messages, entry.pieces, strict=bool(entry.pieces)):
            if message.role == "assistant":
                for (text, _), letters in zip(read(message), aligned(message, pieces), strict=True):
                    if letters:
                        yield _Act(alone(text), _act_of(letters), 1, entry.group)


def _of_tagged(tagged: Sequence[tuple[frozenset[str], str]]) -> Iterator[_Act]:
    for number, (cues, letters) in enumerate(tagged):
        yield _Act(cues, _act_of(letters), 2, f"statements {number // 40}")


def _of_wordings(dataset: EmbeddedDataset, wordings: Mapping[str, TaskWordings]) -> Iterator[_Act]:
    fields = {"parts": "", "promised": "promised", "handed": "handed-back", "refused": "refused"}
    seen: dict[str, int] = {}
    for ref in draw(dataset, _SCENARIOS, seed="acts").refs:
        seen[ref.task] = seen.get(ref.task, 0) + 1
        if seen[ref.task] > _FOR_ACTS:
            continue
        scenario = dataset.load(ref)
        for wording in _seen(wordings[ref.task], scenario):
            for field, act in fields.items():
                for part, text in zip(scenario.task.parts, getattr(wording, field), strict=True):
                    if text and not part.never:
                        for said, _ in of_message(fill(text, scenario, {})):
                            yield _Act(alone(said), act or part.kind, 1, scenario.task.id)


def _seen(task: TaskWordings, scenario: Scenario) -> list[Wording]:
    return [w for w in task.wordings if w.style in SEEN and fits(scenario, w.parts)]


def _acts(rows: Sequence[_Act]) -> Table:
    counts: dict[str, int] = {}
    for row in rows:
        for cue in row.cues:
            counts[cue] = counts.get(cue, 0) + 1
    kept = {cue for cue, n in counts.items() if n >= _RARE}
    fit = Fit([dict.fromkeys(row.cues & kept, 1.0) for row in rows], scaled=False)
    names = (*dict.fromkeys(ACTS.values()), _OTHER)
    questions = {name: [row.act == name for row in rows] for name in names}
    return fit.table(questions, _C_ACTS, weights=[row.weight for row in rows], least=_LEAST)


def _replies(dataset: EmbeddedDataset, wordings: Mapping[str, TaskWordings]) -> Iterator[Reply]:
    """Yield dialogues with replies in which each part of the goal is right, left out, or left open."""
    chance = Random("replies")
    for ref in draw(dataset, _SCENARIOS, seed="parts").refs:
        scenario = dataset.load(ref)
        seen = _seen(wordings[ref.task], scenario)
        for wording in seen:
            plan = [_fate(wording, i, chance) for i in range(len(wording.parts))]
            if chance.random() > _FAULTY:
                plan = ["parts"] * len(plan)
            others = [w for w in seen if w is not wording]
            chance.shuffle(others)
            messages = [Message(role="user", content=scenario.task.intent)]
            for one in [wording, *others][: chance.choice((1, 1, 2, 3))]:
                messages += _said(one, plan, scenario, chance)
            yield Reply(scenario, tuple(messages), tuple(fate == "parts" for fate in plan))


def _fate(wording: Wording, i: int, chance: Random) -> str:
    drawn = chance.random()
    if drawn < _LEFT_OUT:
        return ""
    return (
        chance.choice(("promised", "handed", "refused")) if drawn < _OPEN and wording.promised[i] else "parts"
    )


def _said(wording: Wording, plan: Sequence[str], scenario: Scenario, chance: Random) -> Iterator[Message]:
    texts = [fill(getattr(wording, fate)[i], scenario, {}) if fate else "" for i, fate in enumerate(plan)]
    if chance.random() < 0.5:
        texts = _merged(texts, plan, chance)
    if chance.random() < 0.3:
        chance.shuffle(texts)
    reply = f"{joined(texts)} {chance.choice(_ASIDES)}".strip()
    yield Message(role="assistant", content=reply or "Hello!")
    yield Message(role="user", content=chance.choice(_URGES))


def _merged(texts: Sequence[str], plan: Sequence[str], chance: Random) -> list[str]:
    """Return the texts with some of those that are right in one sentence, as most assistants speak."""
    merged: list[str] = []
    open_end = False
    for text, fate in zip(texts, plan, strict=True):
        joins = open_end and fate == "parts" and text and not text.startswith("- ") and chance.random() < 0.65
        if joins:
            rest = text if text.startswith(("I ", "I'")) else f"{text[0].lower()}{text[1:]}"
            merged[-1] = f"{merged[-1].rstrip('.!; ')}{chance.choice((', ', ' and ', ' - '))}{rest}"
        elif text:
            merged.append(text)
        open_end = bool(text) and fate == "parts"
    return merged


def _less_said(statements: Sequence[Statement], chance: Random) -> list[Statement]:
    """Return the statements with fewer values: an assistant does not repeat all that the user said."""
    drawn = chance.random()
    kept = 0.0 if drawn < 0.12 else 0.6 if drawn < 0.45 else 1.0
    return [s._replace(findings=tuple(f for f in s.findings if chance.random() < kept)) for s in statements]


def _of_dialogues(labelled: Sequence[Labelled]) -> Iterator[Reply]:
    for entry in labelled:
        count = len(PartReader(entry.scenario).goal)
        if len(entry.parts) == count:
            stands: tuple[bool | None, ...] = tuple(state == "done" for state in entry.parts)
        elif entry.majority(Dimension.TASK_COMPLETION):
            stands = (True,) * count
        else:
            continue
        # Dialogues with a live assistant are few, and what the reader is for.
        weight = _LIVE if entry.scenario.task.facts else 1
        yield Reply(entry.scenario, entry.dialogue.messages, stands, weight)
