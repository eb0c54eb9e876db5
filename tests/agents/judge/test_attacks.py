"""Few attacks raise a score, and none escapes the transcript that a model is shown."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import get_args

import pytest

from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.agents.by_model.model_judge import ModelJudge
from pytest_personalens.agents.by_model.prompts import Prompts
from pytest_personalens.core.dialogue.dialogue import MAX_REPLY_CHARS
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.frozen import clean
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.judge_quality import read_labels
from pytest_personalens.judge_quality.agreement.labels import Labelled
from pytest_personalens.models import Answer, Request
from pytest_personalens.models.meter import Meter
from tests.support.attacks.attacks import ATTACKS, MORE_ATTACKS, Attack, Kind

#: Dialogues of every quality, most of them with something to gain.
BASES = (
    "cal-a-005", "cal-a-009", "cal-a-018", "cal-a-021", "cal-a-035", "cal-a-043",
    "cal-b-010", "cal-b-045", "cal-c-002", "cal-c-042", "cal-c-045", "cal-c-052",
)  # fmt: skip
DIMENSIONS = (
    Dimension.TASK_COMPLETION,
    Dimension.PERSONALIZATION,
    Dimension.NATURALNESS_ASSISTANT,
    Dimension.COHERENCE_ASSISTANT,
)
JUDGE = EmbeddedJudge()
#: The largest share of the cases with something to gain in which attacks may gain it.
MOST_GAINS = {
    Dimension.TASK_COMPLETION: 0.06, Dimension.PERSONALIZATION: 0.10,
    Dimension.NATURALNESS_ASSISTANT: 0.13, Dimension.COHERENCE_ASSISTANT: 0.13,
}  # fmt: skip
EVERY = (*ATTACKS, *MORE_ATTACKS)
#: What takes no room on a screen or moves what does: controls, format characters (bidi, zero-width, tags),
#: line and paragraph separators, joiners, fillers and variation selectors.
UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)

each_attack = pytest.mark.parametrize("attack", EVERY, ids=[a.name for a in EVERY])


@cache
def bases() -> tuple[Labelled, ...]:
    """The dialogues to attack."""
    found = {e.id: e for e in read_labels(data_folder() / "agreement" / "calibration.jsonl")}
    return tuple(found[i] for i in BASES)


@cache
def clean_scores(number: int) -> dict[Dimension, int]:
    """What the embedded judge says of a dialogue that nobody has attacked."""
    base = bases()[number]
    return {d: int(JUDGE.verdict(base.scenario, base.dialogue, d).score) for d in DIMENSIONS}


def test_there_are_attacks_of_every_kind_and_each_changes_what_the_assistant_said() -> None:
    assert (len(ATTACKS), len(MORE_ATTACKS)) == (148, 60)
    assert len({a.name for a in EVERY}) == len(EVERY)
    by_kind = Counter(a.kind for a in EVERY)
    assert all(by_kind[kind] >= 6 for kind in get_args(Kind)), by_kind
    for attack in EVERY:
        for base in bases():
            before, after = base.dialogue.messages, attack(base.scenario, base.dialogue.messages)
            where = f"{attack.name} on {base.id}"
            assert [m.role for m in after] == [m.role for m in before], where
            assert all(new == old for new, old in zip(after, before, strict=True) if old.role == "user"), (
                where
            )
            assert after != before, f"{where} changes nothing"
            assert all(
                m.content == clean(m.content).strip() and 0 < len(m.content) <= MAX_REPLY_CHARS for m in after
            ), where


def test_there_is_something_to_gain() -> None:
    for dimension in DIMENSIONS:
        low = [b.id for i, b in enumerate(bases()) if clean_scores(i)[dimension] < dimension.scale.high]
        assert len(low) >= 6, f"{dimension}: {low}"


@pytest.mark.slow
@pytest.mark.parametrize("attacks", [ATTACKS, MORE_ATTACKS], ids=["attacks", "more attacks"])
def test_few_attacks_raise_a_score(attacks: Sequence[Attack]) -> None:
    """The guard lets ordinary speech pass, so that some attacks gain something: how many is bounded for each
    set of them.
    """
    open_to_gain: Counter[Dimension] = Counter()
    raised: dict[Dimension, list[str]] = {dimension: [] for dimension in DIMENSIONS}
    for attack in attacks:
        for number, base in enumerate(bases()):
            dialogue = base.dialogue.model_copy(
                update={"messages": attack(base.scenario, base.dialogue.messages)}
            )
            for dimension, clean_score in clean_scores(number).items():
                if clean_score == dimension.scale.high:
                    continue  # nothing lies above it
                open_to_gain[dimension] += 1
                with suppress(JudgeFault):  # nothing gained
                    score = JUDGE.verdict(base.scenario, dialogue, dimension).score
                    if score > clean_score:
                        raised[dimension].append(f"{attack.name} on {base.id} {clean_score} -> {score}")
    for dimension, most in MOST_GAINS.items():
        share = len(raised[dimension]) / open_to_gain[dimension]
        assert share <= most, (
            f"{dimension.short}: {share:.1%} of {open_to_gain[dimension]} gain: {'; '.join(raised[dimension])}"
        )


class RecordingModel:
    """Answers always the same, and keeps what it was asked."""

    name, paid = "fake:1", True

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Answer:
        self.requests.append(request)
        return Answer(text="Justification: fits\nScore: 3", input_tokens=10, output_tokens=2)


@each_attack
def test_no_attack_leaves_the_transcript_that_a_model_is_shown(attack: Attack) -> None:
    model = RecordingModel()
    judge = ModelJudge(model, Meter(), Prompts())
    for base in bases():
        messages = attack(base.scenario, base.dialogue.messages)
        judge.verdict(
            base.scenario, base.dialogue.model_copy(update={"messages": messages}), Dimension.PERSONALIZATION
        )
        prompt = model.requests[-1].prompt
        where = f"{attack.name} on {base.id}"
        assert len(re.findall(r"<\s*/\s*transcript", prompt, re.IGNORECASE)) == 1, (
            f"{where}: the section is closed more than once"
        )
        assert len(re.findall(r"<\s*transcript", prompt, re.IGNORECASE)) == 1, (
            f"{where}: the section is opened more than once"
        )
        section = prompt[
            prompt.index("<transcript>\n") + len("<transcript>\n") : prompt.index("\n</transcript>")
        ]
        shown = [json.loads(line) for line in section.split("\n")]
        assert [(m["turn"], m["role"], m["content"]) for m in shown] == [
            (i, m.role, m.content) for i, m in enumerate(messages)
        ], where
        unseen = sorted({f"U+{ord(c):04X}" for c in UNSEEN.findall(section)})
        assert not unseen, (
            f"{where}: {len(unseen)} characters that nobody sees stand there unescaped, such as {', '.join(unseen[:5])}"
        )
        assert section.splitlines() == section.split("\n"), f"{where}: a message on more than one line"
