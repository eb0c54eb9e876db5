"""Figures equal scikit-learn's, and texts those of the packages that define them."""

from __future__ import annotations

import math
import os
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sklearn import metrics

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.suite import get_suite
from pytest_personalens.suites.personaconv.metrics import best_of, largest_share, log_error
from pytest_personalens.suites.personaconv.texts import TextScorer

CLASSES = ("positive", "negative")
#: Where Debian's package wordnet-base puts its files.
WORDNET = Path(os.environ.get("PERSONALENS_TEST_WORDNET", "/usr/share/wordnet"))
METRICS = {metric.name: metric for metric in get_suite("personaconv").metrics}


def figure(name: str, truths: Sequence[Any], values: Sequence[Any]) -> float | None:
    of = METRICS[name].of
    assert of is not None
    return of(
        [Answer(read=True, truth=truth, value=value) for truth, value in zip(truths, values, strict=True)]
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("seed", range(40))
def test_figures_as_scikit_learn_has_them(seed: int) -> None:
    chance = random.Random(seed)
    share = chance.choice([0, 0.2, 0.5, 0.9, 1])
    truths = ["positive" if chance.random() < share else "negative" for _ in range(chance.randint(1, 40))]
    answers = [chance.choice([truth, *CLASSES]) for truth in truths]
    numbers = [chance.gauss(0, 10 ** chance.randint(0, 4)) for _ in range(chance.randint(2, 40))]
    guesses = [number + chance.gauss(0, 100) for number in numbers]
    medians = [statistics.median([*numbers[:place], *numbers[place + 1 :]]) for place in range(len(numbers))]
    mae = metrics.mean_absolute_error(numbers, guesses)
    mcc = metrics.matthews_corrcoef(truths, answers)
    assert {name: figure(name, truths, answers) for name in ("f1", "f1-weighted", "mcc")} == {
        "f1": pytest.approx(metrics.f1_score(truths, answers, pos_label="positive", zero_division=0)),
        "f1-weighted": pytest.approx(metrics.f1_score(truths, answers, average="weighted", zero_division=0)),
        "mcc": None if len(set(truths)) == 1 else pytest.approx(mcc),
    }
    assert {name: figure(name, numbers, guesses) for name in ("mae", "rmse", "skill")} == {
        "mae": pytest.approx(mae),
        "rmse": pytest.approx(metrics.root_mean_squared_error(numbers, guesses)),
        "skill": pytest.approx(1 - mae / metrics.mean_absolute_error(numbers, medians)),
    }


def test_single_values() -> None:
    assert figure("skill", [1], [1]) is None
    assert log_error(5, 5) == 0
    assert log_error(0, math.e - 1) == pytest.approx(1)
    assert log_error(-(math.e - 1), math.e - 1) == pytest.approx(2), "the sign is kept"
    assert log_error(1000, 1100) == pytest.approx(0.0952, abs=1e-4)
    assert best_of([[0.1, 0.5], [0, 0], [0.3]]) == pytest.approx((0.8 / 3, 0.4))
    assert best_of([[0]]) == (0, None)
    assert largest_share([1, 2], [1, 2]) is None
    assert largest_share([0, 0], [1, 1]) == (0, 0.5)
    assert largest_share([0, 0], [1, 7]) == (1, 1 / (1 + 1 / 49))


TEXTS = (
    ("thanks, I will use a smaller pot from next week on", "thanks, I will try the smaller pot next week"),
    ("One sentence. Another one! A third?", "One sentence. Another one!"), ("nothing shared at all", "completely different words here"),
    ("\u4f60\u597d", "\u4f60\u597d"), ("It isn't so.", "It is not so."), ("", "text"), ("...", "text"),
)  # fmt: skip


@pytest.mark.parametrize(("truth", "reply"), TEXTS)
def test_texts_as_the_packages_define_them(truth: str, reply: str) -> None:
    from nltk.tokenize import NLTKWordTokenizer, PunktSentenceTokenizer
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from nltk.translate.meteor_score import meteor_score
    from rouge_score.rouge_scorer import RougeScorer

    class Nothing:
        def synsets(self, *_: object) -> list[object]:
            return []

    def tokens(text: str) -> list[str]:
        sentences = PunktSentenceTokenizer().tokenize(text.lower())
        return [token for sentence in sentences for token in NLTKWordTokenizer().tokenize(sentence)]

    found = TextScorer().values(truth, reply)
    rouge = RougeScorer(["rouge1", "rougeL"], use_stemmer=True).score(truth, reply)
    bleu = sentence_bleu([tokens(truth)], tokens(reply), smoothing_function=SmoothingFunction().method1)
    assert found["rouge1"] == rouge["rouge1"].fmeasure
    assert found["rougeL"] == rouge["rougeL"].fmeasure
    assert found["bleu"] == bleu
    assert found["meteor-es"] == meteor_score([tokens(truth)], tokens(reply), wordnet=Nothing())
    assert list(found) == ["rouge1", "rougeL", "bleu", "meteor-es", "chars"]
    assert all(0 <= value <= 1 for value in found.values())


def test_chars_are_a_cosine_and_a_long_reply_is_scored_on_its_beginning() -> None:
    values = TextScorer().values
    assert values("Same  text", "same\ntext")["chars"] == pytest.approx(1)
    assert values("abcdef", "uvwxyz")["chars"] == 0
    assert 0 < values("a smaller pot", "smaller pots")["chars"] < 1
    long = "a word " * 500
    assert values("a word", long + "other " * 1_000_000) == values("a word", long.strip())
    assert values("a word", "x" * 1_000_000)["rouge1"] == 0


def vectors(texts: list[str]) -> list[list[float]]:
    """An embedding of two numbers."""
    return [[float(len(text)), 1.0] for text in texts]


def one_vector(texts: list[str]) -> list[list[float]]:
    return [[float("nan")]] * len(texts)


def test_an_embedding_makes_sbert() -> None:
    scorer = TextScorer(embedding=f"{__name__}:vectors")
    assert scorer.measures[-1] == "sbert"
    assert scorer.values("abc", "abcd")["sbert"] == pytest.approx(13 / math.sqrt(10 * 17))
    assert f"sbert by {__name__}:vectors" in scorer.identity
    assert scorer.identity != TextScorer().identity
    with pytest.raises(SpecError, match="expected one vector of finite numbers for each text"):
        TextScorer(embedding=f"{__name__}:one_vector").values("a", "b")
    with pytest.raises(SpecError, match="cannot be called"):
        TextScorer(embedding=f"{__name__}:CLASSES")


def test_nothing_is_imported_before_a_text_is_scored() -> None:
    code = (
        "import sys\n"
        "from pytest_personalens.suites.personaconv.texts import TextScorer\n"
        "TextScorer()\n"
        "print(sorted({'nltk', 'rouge_score', 'sklearn', 'numpy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def small_wordnet(folder: Path) -> Path:
    """NLTK's data with a WordNet of one synset, car and auto, and an untrained splitter."""
    words = "auto n 1 0 1 0 00000000  \ncar n 1 0 1 0 00000000  \n"
    filled = {
        "corpora/wordnet/data.noun": "00000000 03 n 02 car 0 auto 0 000 | a vehicle  \n",
        "corpora/wordnet/index.noun": words,
        "tokenizers/punkt_tab/english/abbrev_types.txt": "dr\n",
    }
    parts = (f"corpora/wordnet/{name}" for part in ("adj", "adv", "noun", "verb") for name in (f"data.{part}", f"index.{part}", f"{part}.exc"))  # fmt: skip
    tables = (f"tokenizers/punkt_tab/english/{name}" for name in ("collocations.tab", "sent_starters.txt", "ortho_context.tab"))  # fmt: skip
    for name in (*parts, "corpora/wordnet/cntlist.rev", *tables, *filled):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(filled.get(name, ""), encoding="utf-8")
    return folder


def test_meteor_with_a_wordnet(tmp_path: Path) -> None:
    scorer, said = TextScorer(nltk_data=small_wordnet(tmp_path)), ("a red car", "a red auto")
    assert scorer.measures[3] == "meteor"
    assert "punkt," in scorer.identity
    assert scorer.values(*said)["meteor"] > TextScorer().values(*said)["meteor-es"]
    shutil.rmtree(tmp_path / "tokenizers")
    untrained = TextScorer(nltk_data=tmp_path)
    assert "punkt untrained, meteor," in untrained.identity
    assert untrained.values(*said)["meteor"] > 0.9
    (tmp_path / "corpora" / "wordnet" / "index.noun").unlink()
    with pytest.raises(SpecError, match="is no WordNet"):
        TextScorer(nltk_data=tmp_path)


@pytest.mark.skipif(
    not (WORDNET / "data.noun").is_file(),
    reason=f"no {WORDNET}: apt-get install wordnet-base, or name its folder in PERSONALENS_TEST_WORDNET",
)
def test_meteor_with_the_files_of_a_package() -> None:
    scorer, plain = TextScorer(nltk_data=WORDNET), TextScorer()
    assert scorer.measures[3] == "meteor"
    for truth, reply in {"i fixed my car": "i repaired my auto", "a glad kid": "a happy child"}.items():
        assert scorer.values(truth, reply)["meteor"] > plain.values(truth, reply)["meteor-es"] + 0.1
    same = scorer.values("i fixed my car", "i fixed my car")
    assert same["meteor"] == plain.values("i fixed my car", "i fixed my car")["meteor-es"]
