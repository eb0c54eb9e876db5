"""Files of posts and prompts are read as they are, told apart by content."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.suites.personaconv import open_posts as opening
from pytest_personalens.suites.personaconv.open_posts import index_post, open_posts
from pytest_personalens.suites.personaconv.posts import IndexedPost, StoredPost
from pytest_personalens.suites.personaconv.predictions import KINDS, Kind, ProtocolName
from tests.suites.personaconv.trees import Posts, comment, json_lines, people, post, raw, talk, written

PROTOCOLS: tuple[ProtocolName, ...] = ("fixed", "official")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(folder))
    monkeypatch.setattr(opening, "_SMALL", 0)  # so that small files have an index too
    return folder


def everything(path: Path, protocol: ProtocolName = "fixed") -> dict[str, Any]:
    """All that a dataset holds, without its version."""
    dataset = open_posts(path, protocol=protocol, settings=("P-Conv", "P-NonConv"))
    refs = (ref for user in dataset.users() for ref in dataset.refs(user))
    items = [dataset.load(ref).model_dump(exclude={"dataset"}) for ref in refs]
    return {"items": items, "excluded": dataset.excluded, "domains": dataset.domains()}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("how", [{}, {"indent": 2}, {"ensure_ascii": True}])
def test_raw_and_processed_posts_agree(tmp_path: Path, protocol: ProtocolName, how: dict[str, Any]) -> None:
    posts = people()
    posts["u_0"][0]["title"] = "Ünïcode \U0001f389 \u2028 title"
    (tmp_path / "raw.json").write_text(json.dumps(raw(posts), **how), encoding="utf-8-sig")
    (tmp_path / "processed.json").write_text(json.dumps(posts, **how), encoding="utf-8")
    found = everything(tmp_path / "raw.json", protocol)
    assert found["items"]
    assert found == everything(tmp_path / "processed.json", protocol)


def test_a_post_that_crosses_what_is_read_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = people()
    whole = everything(written(tmp_path, posts))
    for window in (1, 7, 64, 1000):
        monkeypatch.setattr("pytest_personalens.core.files.jsonfile._WINDOW", window)
        assert everything(written(tmp_path, posts, f"{window}.json", indent=1)) == whole


def irregular() -> Posts:
    """One post of each irregularity, after one that makes a past."""
    replies = (comment("ada", "Mine", 10_500, 9), comment("bram", "Theirs", 10_501))
    fields: list[dict[str, Any]] = [
        {"author": "bram"}, {"author": None}, {"comments": None}, {"comments": ["no comment", None, 7, *replies]},
        *({"timestamp": t} for t in (1_700_000_000, "yesterday", "2024-05-08 08:00:00", "2024-05-08T08:00:00.123456+02:00")),
        {"__sub__": None}, {"title": None}, {"content": None, "body": "The text is here."}, {"content": ""},
        {"id": "x1", "unknown": {"a": [1]}},
    ]  # fmt: skip
    odd: list[Any] = [talk("ada", 0), "no post"]
    odd += [post("ada", 10_000 + 10 * n, *replies, **each) for n, each in enumerate(fields)]
    odd.append(talk("ada", 0))
    for n, score in enumerate(["9", None, True, 4.5, float("nan"), float("inf"), 10**400]):
        odd.append(talk("ada", 20_000 + 100 * n, score))
    for n, body in enumerate([None, "", "   ", "[deleted]", "[Removed]", 5]):
        odd.append(post("ada", 30_000 + 100 * n, comment("ada", body, 30_001 + 100 * n, 9)))
    no_replies: list[Any] = ["", None, {}, 7]
    for n, below in enumerate(no_replies):
        answer = comment("ada", "An answer", 40_001 + 100 * n, 9) | {"replies": below}
        odd.append(post("ada", 40_000 + 100 * n, answer))
    for n, author in enumerate(["[deleted]", None, 7]):
        odd.append(post("ada", 50_000 + 100 * n, comment("x", "Y", 50_001 + 100 * n) | {"author": author}))
    older = comment("ada", "Written before what it answers", 60_005, 9)
    odd.append(post("ada", 60_000, comment("bram", "Asked", 60_010, 1, older)))
    return {"ada": odd, "[deleted]": [talk("[deleted]", 0), talk("[deleted]", 500)]}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_irregular_post_is_an_item_or_counted(tmp_path: Path, protocol: ProtocolName) -> None:
    posts = irregular()
    dataset = open_posts(written(tmp_path, posts), protocol=protocol)
    for kind in KINDS:
        counts = dataset.excluded[kind]
        assert len(dataset.items(kind)) + sum(counts.values()) == len(raw(posts))
        assert len(dataset.left_out(kind)) == sum(counts.values())
        assert len({ref.id for ref in dataset.items(kind)}) == len(dataset.items(kind))
        for ref in dataset.items(kind):
            assert dataset.load(ref).requests["P-Conv"].text
    reasons = set().union(*(dataset.excluded[kind] for kind in KINDS))
    if protocol == "fixed":
        assert reasons == {
            "no-past", "no-post", "key-not-author", "no-target", "bad-time", "no-domain", "duplicate",
            "weak-score", "no-score", "no-author",
        }  # fmt: skip
    else:
        assert {"few-authors", "few-replies", "no-post", "halved", "weak-score"} <= reasons


def test_each_irregularity_has_its_reason(tmp_path: Path) -> None:
    dataset = open_posts(written(tmp_path, irregular()))
    reasons = {each.number: each.reason for each in dataset.left_out("impact") if each.user == "ada"}
    assert {number: reason for number, reason in reasons.items() if number <= 16} == {
        1: "no-past", 2: "no-post", 3: "key-not-author", 5: "no-target", 7: "bad-time", 8: "bad-time",
        11: "no-domain", 14: "no-target", 16: "duplicate",
    }  # fmt: skip
    assert reasons[len(irregular()["ada"])] == "no-target"
    for score, reason in ((4, []), (-4, []), (3, ["weak-score"]), (-3, ["weak-score"])):
        dataset = open_posts(written(tmp_path, {"ada": [talk("ada", 0), talk("ada", 100, score)]}))
        assert [each.reason for each in dataset.left_out("sentiment")] == ["no-past", *reason]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_filtering_and_reordering_a_file_changes_no_id(tmp_path: Path, protocol: ProtocolName) -> None:
    posts = people(users=4)

    def ids(posts: Posts, name: str) -> dict[Kind, set[str]]:
        dataset = open_posts(written(tmp_path, posts, name), protocol=protocol)
        return {kind: {ref.id for ref in dataset.items(kind)} for kind in KINDS}

    whole = ids(posts, "whole.json")
    mixed = {user: random.Random(3).sample(posts[user], 3) for user in reversed(posts)}
    assert ids(mixed, "mixed.json")["next-text"] == whole["next-text"]
    del posts["u_1"]
    fewer = ids(posts, "fewer.json")
    assert fewer["next-text"] == {name for name in whole["next-text"] if not name.endswith("u-1")}
    if protocol == "fixed":
        assert fewer["impact"] == {name for name in whole["impact"] if not name.endswith("u-1")}
        assert fewer["sentiment"] < whole["sentiment"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty; get it again"),
        (b" \n", "is empty; get it again"),
        (b'{"ada": [{"title": "x"', "not valid JSON: it ends too early and was cut off; get it again (line 1, byte 23)"),
        (b'[{"title": "x"}\n', "not valid JSON: it ends too early and was cut off; get it again (line 2, byte 17)"),
        (b"hello", "expected an object of author -> posts, or a list of posts (line 1, byte 1)"),
        ('{"é": [\n{"title": x}]}'.encode(), "not valid JSON: Expecting value (line 2, byte 20)"),
        (b'[{"title": "x"}] more', "not valid JSON: there is more after its end (line 1, byte 18)"),
        (b'[{"title": "\xff"}]', "is not UTF-8; save it as UTF-8"),
        ('[{"title": "x"}]'.encode("utf-16"), "is not UTF-8; save it as UTF-8"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "is a pointer of Git LFS"),
        (b'{"ada": {"title": "x"}}', "ada: expected a list of posts, as the official data has it"),
        (b'{"name": "x", "results": 3}', "name: expected a list of posts"),
        (b"[" * 5000 + b"]" * 5000, "an entry is nested too deeply to be read; take it out"),
        (b"PK\x03\x04rest", "is a ZIP archive, whatever its name says; unpack it"), (b"[]", "none of its 0 posts makes an item"),
        (b"{}", "none of its 0 posts makes an item"),
        (b'[{"title": "x"}]', "none of its 1 posts makes an item: sentiment: 1 no-author"),
        (b'[{"score": ' + b"9" * 5000 + b"}]", "not valid JSON: Exceeds the limit"),
    ],
)  # fmt: skip
def test_a_bad_file_is_told_in_one_line(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "posts.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as told:
        open_posts(path)
    assert problem in str(told.value)
    assert str(path.name) in str(told.value)
    assert "\n" not in str(told.value)


def test_folders(tmp_path: Path) -> None:
    folder = tmp_path / "Raw_Data_Postized.json"  # what `git clone` makes of the official data
    folder.mkdir()
    with pytest.raises(DataError, match=r"is a folder without a \.json or \.jsonl file in it"):
        open_posts(folder)
    (folder / "profile").mkdir()
    with pytest.raises(DataError, match="is data of PersonaLens, which is the suite personalens"):
        open_posts(folder)
    (folder / "profile").rmdir()
    posts = people(users=2)
    for user in posts:
        written(folder, {user: posts[user]}, f"{user}.json")
    assert everything(folder)["items"] == everything(written(tmp_path, posts))["items"]
    (folder / "dataset.toml").write_text('name = "forum"\nversion = "2.1"\n', encoding="utf-8")
    dataset = open_posts(folder)
    assert (dataset.name, dataset.version) == ("forum", "2.1")
    (folder / "dataset.toml").write_text('name = "forum"\n', encoding="utf-8")
    with pytest.raises(DataError, match="version: expected a text"):
        open_posts(folder)


def test_an_index_is_used_until_changes(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, people())
    before = everything(path)
    reads: list[StoredPost] = []

    def counted(file: int, stored: StoredPost) -> IndexedPost:
        reads.append(stored)
        return index_post(file, stored)

    monkeypatch.setattr(opening, "index_post", counted)
    assert everything(path) == before
    assert not reads
    os.utime(path, (1, 1))  # touched, and still the same
    assert everything(path) == before
    assert not reads
    (stored,) = cache.glob("personaconv-*.index")
    kept = stored.read_bytes()
    for damaged in (b"", b"x" * 100, kept[:-5], kept[:-5] + bytes(5), kept[:99] + kept[98:]):
        stored.write_bytes(damaged)
        assert everything(path) == before
        assert reads
        reads.clear()
    text = path.read_text(encoding="utf-8").replace("Three 1000", "Other 1000")
    path.write_text(text, encoding="utf-8")  # of the same size
    os.utime(path, (1, 1))
    os.utime(path, (2, 2))
    assert everything(path) != before
    assert reads


def test_what_a_dataset_does_not_have_or_no_longer_has(tmp_path: Path) -> None:
    path = written(tmp_path, people())
    dataset = open_posts(path)
    with pytest.raises(DataError, match="no user 'nobody' in it"):
        dataset.refs("nobody")
    with pytest.raises(DataError, match="no item 'sentiment-x-u-0' in it"):
        dataset.load(dataset.items("sentiment")[0]._replace(task="sentiment-x", user="u_0"))
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(DataError, match="has changed since this run began; run again"):
        dataset.load(dataset.items("impact")[0])


def score_row(target: str, label: Any, text: str = "Ask\u2028 \U0001f389") -> dict[str, Any]:
    store = {"u1p1": {"id": "u1p1", "author": "u_nilu", "__sub__": "life"}}
    task = {"prompt_text": text, "target_post_reference_id": "u1p1", "target_reply_id": target}
    return {"post_data_store": store, "prediction_task": {**task, "true_label": label, "subreddit": "life"}}


def text_row(label: str, text: str = "Write") -> dict[str, Any]:
    return {"user": "u_nilu", "prompt": text, "true_label": label, "subreddit": "life"}


def test_requests_of_prompt_files_are_theirs_byte_for_byte(tmp_path: Path) -> None:
    json_lines(tmp_path, "3.1With.jsonl", score_row("u1p1-c1", "negative"), score_row("u1p2-c1", "positive"))
    json_lines(tmp_path, "3.2With.jsonl", score_row("u1p1-c1", -5), score_row("u1p2-c1", 7.5))
    marked = json_lines(tmp_path, "3.3With.jsonl", text_row("It is."), text_row("It is."))
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    dataset = open_posts(tmp_path, protocol="official")
    loaded = {kind: [dataset.load(ref) for ref in dataset.items(kind)] for kind in KINDS}
    truths = {kind: [item.truth for item in items] for kind, items in loaded.items()}
    of_scores = {"sentiment": ["negative", "positive"], "impact": [-5, 7.5]}
    assert truths == of_scores | {"next-text": ["It is.", "It is."]}
    assert loaded["sentiment"][0].requests["P-Conv"].text == "Ask\u2028 \U0001f389"
    assert {item.user for item in loaded["impact"]} == {"u_nilu"}
    assert len({ref.id for kind in KINDS for ref in dataset.items(kind)}) == 6


def test_a_folder_of_prompt_files_gives_the_controls(tmp_path: Path) -> None:
    for name, labels, texts, prefix in (
        ("With", ("negative", "positive"), "ab", ""),
        ("Without", ("negative", "negative"), "cd", ""),
        ("RandPrompt", ("negative", "positive"), "fe", "task_"),
    ):
        of_both = enumerate(zip(labels, texts, strict=True), 1)
        of_file = [score_row(f"{prefix}u1p{n}-c1", *row) for n, row in of_both]
        json_lines(tmp_path, f"{name}.jsonl", *(of_file[::-1] if prefix else of_file))
    dataset = open_posts(tmp_path, protocol="official", settings=("P-Conv", "P-NonConv", "NP-Conv"))
    (ref,) = dataset.items("sentiment")
    texts_of = {name: request.text for name, request in dataset.load(ref).requests.items()}
    assert texts_of == {"P-Conv": "a", "P-NonConv": "c", "NP-Conv": "f"}
    assert dataset.excluded["sentiment"] == {"not-paired": 1}
    with pytest.raises(SpecError, match="no prompt file of sentiment in none"):
        open_posts(tmp_path, protocol="official", settings=("none", "P-Conv"))


def test_prompt_files_that_cannot_be_used(tmp_path: Path) -> None:
    path = json_lines(tmp_path, "With.jsonl", score_row("u1p1-c1", "negative"))
    with pytest.raises(SpecError, match="add -o personalens_protocol=official"):
        open_posts(path)
    json_lines(tmp_path, "With.jsonl", score_row("u1p1-c1", "negative"), score_row("u1p1-c2", 7))
    with pytest.raises(DataError, match="rows of impact and sentiment; put each kind into a file of its own"):
        open_posts(path, protocol="official")
    json_lines(tmp_path, "With.jsonl", {"user": "x", "prompt": 5})
    with pytest.raises(DataError, match="no row that the official prompt makers would write"):
        open_posts(path, protocol="official")
    json_lines(tmp_path, "With.jsonl", text_row("a"))
    other = json_lines(tmp_path, "With2.jsonl", text_row("b"))
    with pytest.raises(DataError, match=r"With2\.jsonl: holds prompts of next-text in P-Conv, as .*With\.j"):
        open_posts(tmp_path, protocol="official")
    other.rename(tmp_path / "Rand.jsonl")
    with pytest.raises(SpecError, match="the official NP-Conv of next text is of other posts"):
        open_posts(tmp_path, protocol="official", settings=("P-Conv", "NP-Conv"))
    written(tmp_path, people())
    with pytest.raises(DataError, match=r"holds prompts .* and posts"):
        open_posts(tmp_path, protocol="official")


def test_rows_of_prompts_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    same = score_row("a", "negative")
    odd = (score_row("b", "other"), score_row("c", 10**400), [1])
    path = json_lines(tmp_path, "With.jsonl", same, same, *odd)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n{no json\n")
    dataset = open_posts(path, protocol="official", kinds=("sentiment",))
    assert dataset.excluded == {"sentiment": {"bad-row": 4, "duplicate": 1}}
    assert len(dataset.items("sentiment")) == 1
