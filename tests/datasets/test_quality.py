"""Measures and rules over datasets: numbers of NLTK's, data broken on purpose, and our own data."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.datasets import EmbeddedDataset, open_dataset
from pytest_personalens.datasets.quality import measures as d
from pytest_personalens.datasets.quality.corpus import Corpus, read_corpus
from pytest_personalens.datasets.quality.measures import MARGINALS, Quality, assess, regions
from tests.support.datasets.folders import copy_data
from tests.support.processes.commands import check_dataset as main
from tests.support.processes.commands import refusal
from tests.support.repository import ROOT


@cache
def _corpus() -> Corpus:
    return read_corpus("embedded")


@pytest.fixture(scope="module")
def embedded() -> Quality:
    return assess(_corpus())


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command gets the embedded data from memory: reading it takes longer than what is tested."""

    def read(spec: str, **more: Any) -> Corpus:
        return _corpus() if spec == "embedded" else read_corpus(spec, **more)

    monkeypatch.setattr("pytest_personalens.cli.dataset_commands.read_corpus", read)


# measures

RNG = random.Random(5)
RANDOM_TEXTS = [" ".join(RNG.choice("abcdefgh") for _ in range(RNG.randint(4, 30))) for _ in range(25)]
TEXTS = [
    "the cat sat on the mat and looked at the other cat",
    "the cat sat on the chair",
    "a dog barked at the mat on the porch all night long",
    "nobody knows why it barked",
    "the cat sat on the mat and looked at the other cat",
]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # The mean of NLTK's sentence_bleu (3.10.4, method1) of each text against all others.
        (TEXTS, 0.573242943769722),
        (RANDOM_TEXTS, 0.4053574090847101),
        (["one two three four"] * 2, 1.0),
        (["one two", "three four"], 0.0),
        (["alone"], 0.0),
    ],
)
def test_self_bleu_is_what_nltk_computes(texts: list[str], expected: float) -> None:
    assert d.self_bleu([d.words_in(text) for text in texts]) == pytest.approx(expected)


def test_distinct_and_entropy() -> None:
    texts = [["a", "b", "a"], ["a", "b"]]
    assert d.distinct(texts, 1) == 2 / 5
    assert d.distinct(texts, 2) == 2 / 3
    assert d.entropy(texts, 2) == pytest.approx(-(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3))
    assert d.distinct([], 2) == d.entropy([], 4) == 0.0


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((5, 5, 5), 1.0), ((9,), 0.0), ((), 0.0), ((3, 1), 0.8112781244591328), ((4, 0, 4), 1.0)],
)
def test_evenness(counts: tuple[int, ...], expected: float) -> None:
    assert d.evenness(counts) == pytest.approx(expected)


def test_verbatim() -> None:
    said = (("Jazz", "She plays jazz."), ("$20-$60", "at $20-$60."))
    assert all(d.verbatim(*one) for one in said)
    other = (("jazz", "jazzy"), ("UTC+1", "She lives in UTC+10"))
    assert not any(d.verbatim(*one) for one in other)


def test_texts_are_cut_at_the_number_of_words_and_drawn_by_their_keys() -> None:
    texts = {f"k{i}": "one two three four five" for i in range(10)}
    assert sum(map(len, d.within_words(texts, 12))) == 12
    assert d.within_words(texts, 12) == d.within_words(dict(reversed(texts.items())), 12)
    assert sum(map(len, d.within_words(texts, 1000))) == 50


def test_marginals_add_up_and_countries_have_a_region() -> None:
    for attribute, shares in MARGINALS.items():
        assert sum(shares.values()) == pytest.approx(1.0), attribute
    assert len(regions()) > 200
    assert set(regions().values()) <= set(MARGINALS["region"])


# our own data


@pytest.mark.slow
def test_the_embedded_data_holds_what_it_promises(embedded: Quality) -> None:
    assert embedded.findings == ()
    assert embedded.users >= 120
    assert (embedded.single_tasks, embedded.multi_tasks) == (86, 25)
    assert embedded.evenness_mean >= 0.85
    assert max(t.top_share for t in embedded.types if t.categorical) <= 0.6
    assert 80 <= embedded.words_range[0] <= embedded.words_range[1] <= 160
    assert 0.5 <= embedded.verbatim <= 0.9
    assert (embedded.facts_mean or 0) >= 3
    assert embedded.deeds_on_facts == 1.0
    five = {"Books", "Finance", "Flights", "Media", "Shopping", "Sports"}  # as in the benchmark
    single = {row.domain: row.single_tasks for row in embedded.domains}
    assert single == {domain: 5 if domain in five else 4 for domain in single}
    held = ("age", "gender", "region", "religion", "employment_status", "education")
    shares = [(s, s.paper) for s in embedded.demographics if s.attribute in held and (s.paper or 0) >= 0.05]
    assert len(shares) == 26
    assert [share for share, paper in shares if abs(share.share - (paper or 0)) > 0.03] == []


def test_embedded_names_and_ids_are_unique() -> None:
    data = EmbeddedDataset()
    assert all(re.fullmatch(r"[a-z][a-z-]*", user) for user in data.users())
    assert max(Counter(data.files.profile(user).name for user in data.users()).values()) == 1


# rules, each on data broken on purpose


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A copy of the embedded data with two people."""
    return copy_data(tmp_path / "data", "amara", "kenji")


def spoil(root: Path, name: str, old: str, new: str) -> str:
    path = root / "domains" / name
    source = path.read_text(encoding="utf-8")
    assert old in source
    path.write_text(source.replace(old, new, 1), encoding="utf-8")
    return str(path)


def test_what_reads_well_and_is_wrong_is_found_with_file_and_field(small: Path) -> None:
    leak = spoil(small, "restaurants.toml", "You want to get a table", "You want to get a Japanese table")
    facts = spoil(small, "services.toml", '"a dripping tap"', '"the one"')
    found = {(f.rule, f.file, f.field): f.message for f in read_corpus(str(small)).found}
    assert found.keys() == {("leak", leak, "tasks.1.intent"), ("facts", facts, "tasks.2.facts.job")}
    told = "it says 'Japanese', a value of the relevant 'Cuisine Preference'"
    assert told in found["leak", leak, "tasks.1.intent"]
    assert "no reply can show 'the one'" in found["facts", facts, "tasks.2.facts.job"]


@pytest.mark.slow
def test_ours_beside_the_official_data(embedded: Quality, official: Path) -> None:
    theirs = assess(read_corpus(str(official)))
    assert theirs.users == len(open_dataset(str(official)).users())
    assert (theirs.single_tasks, theirs.multi_tasks) == (86, 25)
    assert {f.rule for f in theirs.findings} == {"reference", "leak"}
    unknown = [f.message for f in theirs.findings if f.rule == "reference"]
    assert all(message.startswith("no preference type ") for message in unknown)
    evening = next(t for t in theirs.types if t.name == "Reading Time Preference")
    assert evening.top_value == "evening"
    assert evening.top_share > 0.995
    assert embedded.sample_words == theirs.sample_words
    assert embedded.self_bleu < theirs.self_bleu
    assert embedded.dist_2 > theirs.dist_2
    assert embedded.evenness_mean > theirs.evenness_mean


@pytest.mark.slow
@pytest.mark.usefixtures("read_once")
def test_the_command_prints_the_data_card(official: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if len(open_dataset(str(official)).users()) != 32:
        pytest.skip("the data card shows the sample of 32 users; this folder holds others")
    page = (ROOT / "docs/explanation/embedded-data.md").read_text(encoding="utf-8")
    main(["embedded", str(official)])
    printed = {" ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    shown = [" ".join(line.split()) for line in page.split("```text\n")[1].split("```")[0].splitlines()]
    assert len(shown) > 15
    # The first line holds a digest of whatever users the folder has.
    assert [line for line in shown[1:] if line not in printed] == []


# the command


@pytest.mark.slow
@pytest.mark.usefixtures("read_once")
def test_the_command_prints_a_table_and_findings(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["embedded", "--words", "2000"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^tasks \(single, multi\) +86, 25", out, re.MULTILINE)
    assert re.search(r"^words compared +2000", out, re.MULTILINE)
    assert re.search(r"^embedded .*: no findings \(\d+ rules\)$", out, re.MULTILINE)
    path = spoil(small, "services.toml", '"a dripping tap"', '"the one"')
    assert main(["embedded", str(small), "--words", "1000", "--all"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^users +\d{3} +2 ", out, re.MULTILINE)
    assert f"{path}: tasks.2.facts.job: no reply can show 'the one'; write it in words" in out


def test_json_goes_to_a_file_or_to_standard_output(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = small / "q.json"
    main([str(small), "--words", "1000", "--report", "-"])
    (printed,) = json.loads(capsys.readouterr().out)
    assert Quality.model_validate(printed).users == 2
    main([str(small), "--words", "1000", "--report", str(file)])
    assert json.loads(file.read_text(encoding="utf-8")) == [printed]
    unwritable = refusal(capsys, "check-dataset", str(small), "--report", str(file / "x.json"))
    assert "cannot write to" in unwritable


def test_errors_are_one_line(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = refusal(capsys, "check-dataset", str(small / "nowhere"))
    assert re.fullmatch(r"error: .*nowhere: no such folder; .*", nowhere)
    few = refusal(capsys, "check-dataset", "embedded", "--words", "few")
    assert "expected a whole number of at least 1000, found 'few'" in few
    (small / "profiles" / "kenji.toml").write_text("[demographics", encoding="utf-8")
    assert main([str(small), "--words", "1000"]) == 1
    said = capsys.readouterr()
    assert re.search(r"(?m)^embedded .*: unreadable: 1\n  .*kenji.toml: not valid TOML: .*$", said.out)
    assert said.err == ""
