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
    scorer = Scorer(never)
    truth = items["sentiment"].truth
    other = {"positive": "negative", "negative": "positive"}[str(truth)]
    assert scorer.score(items["sentiment"], f"**{truth}**")[1] == {"correct": 1}
    assert scorer.score(items["sentiment"], other)[1] == {"correct": 0}
    answer, values = scorer.score(items["sentiment"], "hm")
    assert values == {"correct": 0}
    assert not answer.read
    assert scorer.score(items["impact"], str(items["impact"].truth))[1] == {"log-error": 0}
    assert scorer.score(items["impact"], "hm")[1] == {}
    assert scorer.score(items["impact"], "1000")[1]["log-error"].denominator in (
        1,
        2,
        4,
        5,
        10,
        20,
        25,
        50,
        100,
    )
    texts = Scorer(TextScorer)
    truth = items["next-text"].truth
    assert texts.score(items["next-text"], truth)[1]["rouge1"] == 1
    assert all(value % Fraction(1, 1000) == 0 for value in texts.score(items["next-text"], "One")[1].values())
    assert texts.score(items["next-text"], "")[1] == {}


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
