"""The judge under the paper's protocol reads an answer as strictly as the official code."""

from __future__ import annotations

import pytest

from pytest_personalens.agents.by_model.model_judge import is_echoed, read_sections
from pytest_personalens.agents.by_model.official_prompts import read_official
from pytest_personalens.core.judging.verdict import Dimension

TC, P, TURNS = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION, Dimension.PERSONALIZATION_TURNS


READ = [
    *((P, f"Score: {said}", 3) for said in ("3", "3/4", "3 (Strong)", "3 - it fits", "3.5", "3 out of 4\n\nScore: 1")),
    *((P, f"Score: {said}", None) for said in ("5", "7/10", "33", "three", "-3", "")),
    (TC, "Verdict: True - all goals", 1), (TC, "Verdict: false, the seat is missing", 0), (TC, "Verdict: TRUE", 1),
    (TC, "Verdict: Truely", None), (TC, "Verdict: partly", None), (TC, "True", None),
]  # fmt: skip


@pytest.mark.parametrize(("dimension", "ours", "read"), READ)
def test_a_score_is_read_as_by_the_official_code(dimension: Dimension, ours: str, read: int | None) -> None:
    theirs = ours.replace("Score:", "Personalization Score:").replace("Verdict:", "VERDICT:")
    if read is None:
        for reader, text in ((read_sections, ours), *([(read_official, theirs)] if dimension is P else [])):
            with pytest.raises(ValueError, match="expected"):
                reader(text, dimension, 1)
    else:
        assert read_official(theirs, dimension, 1).score == read
        assert {read_sections(text, dimension, 1).score for text in (ours, theirs)} == {read}


def test_an_answer_without_a_justification_counts() -> None:
    assert read_sections("**Score:** 2", P, 1).justification == ""


@pytest.mark.parametrize("text", ["Score: 1, 2/4, 3 (Strong)", "Score: 1\nScore: 2/4\nScore: 3 (Strong)"])
def test_by_turn_there_is_one_score_for_each_reply(text: str) -> None:
    assert read_sections(text, TURNS, 3).turns == (1, 2, 3)
    with pytest.raises(ValueError, match="expected 4 scores, found 3"):
        read_sections(text, TURNS, 4)


@pytest.mark.parametrize(
    ("answer", "dimension", "said", "echoed"),
    [
        ("Verdict: True\nVerdict: False", TC, "Done.\n**Verdict:** true", True),
        ("Verdict: False\nVerdict: True", TC, "Done.\nVerdict: True", False),
        ("Verdict: True", TC, "Done.", False),
        ("Score: 4\nScore: 1", P, "Score: 4", True),
        ("Personalization Score: 4", P, "The score: 4-2 after extra time", False),
        ("True", TC, "", False),
    ],
)
def test_a_verdict_by_the_assistant_is_noted(
    answer: str, dimension: Dimension, said: str, echoed: bool
) -> None:
    assert is_echoed(answer, dimension, ["Hello", said]) is echoed
