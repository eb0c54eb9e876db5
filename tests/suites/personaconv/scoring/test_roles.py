"""What asks and what scores, as a suite needs them."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import pytest

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.errors import SpecError
from pytest_personalens.suites.personaconv.open_posts import open_posts
from pytest_personalens.suites.personaconv.prediction_roles import Asker, Scorer
from pytest_personalens.suites.personaconv.predictions import Prediction
from pytest_personalens.suites.personaconv.texts import TextScorer
from tests.suites.personaconv.trees import people, written


@pytest.fixture
def items(tmp_path: Path) -> dict[str, Prediction]:
    dataset = open_posts(written(tmp_path, people()), settings=("P-Conv", "none"))
    return {kind: dataset.load(dataset.items(kind)[0]) for kind in ("sentiment", "impact", "next-text")}


def never() -> TextScorer:
    raise AssertionError


def test_each_kind_has_its_values(items: dict[str, Prediction]) -> None:
    scorer, texts = Scorer(never), Scorer(TextScorer)
    truths = {kind: item.truth for kind, item in items.items()}
    other = {"positive": "negative", "negative": "positive"}[str(truths["sentiment"])]
    for reply, score in ((f"**{truths['sentiment']}**", 1), (other, 0), ("hm", 0)):
        answer, values = scorer.score(items["sentiment"], reply)
        assert (values, answer.read) == ({"correct": score}, reply != "hm")
    assert scorer.score(items["impact"], str(truths["impact"]))[1] == {"log-error": 0}
    assert scorer.score(items["impact"], "hm")[1] == texts.score(items["next-text"], "")[1] == {}
    assert scorer.score(items["impact"], "1000")[1]["log-error"] % Fraction(1, 100) == 0
    assert texts.score(items["next-text"], truths["next-text"])[1]["rouge1"] == 1
    assert all(value % Fraction(1, 1000) == 0 for value in texts.score(items["next-text"], "One")[1].values())


def test_names_hold_all_that_a_value_depends_on() -> None:
    assert Asker().identity != Asker("official").identity
    assert Scorer(never, kind="impact").identity != Scorer(never, "official", "impact").identity
    assert TextScorer().identity in Scorer(TextScorer, kind="next-text").identity


def test_an_item_can_be_sent_to_another_process(items: dict[str, Prediction]) -> None:
    for item in items.values():
        assert pickle.loads(pickle.dumps(item)) == item
        assert Prediction.model_validate_json(item.model_dump_json()) == item
        assert item.id.startswith(item.kind)
        own, alone = item.in_setting("P-Conv"), item.in_setting("none")
        assert Asker().turn(own, ()) == UserTurn(item.requests["P-Conv"].text, done=True)
        assert own.digest != alone.digest
        with pytest.raises(SpecError, match=r"no request for NP-Conv in this run; give personalens_context"):
            item.in_setting("NP-Conv")
