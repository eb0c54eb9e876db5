"""The command check-dataset on posts: what it lists of broken ones, and what its guesses find."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.cli.scenarios.check_dataset import main
from tests.suites.personaconv.trees import Posts, at, comment, people, post, raw, talk, written
from tests.support.datasets.folders import write_own_world
from tests.support.processes.commands import refusal


def sound(users: int = 3, posts: int = 3) -> Posts:
    """Posts without a finding: every text is English, and no two posts share a sentence."""
    found = people(users, posts)
    for user in found:
        for number, each in enumerate(found[user]):
            each["content"] = f"It is what we said of {user} and the {number} of them, as it has been so far."
            each["comments"][0]["body"] = f"Who of {user} was it that they had not seen in {number} of them?"
    return found


def findings(path: Path, *options: str) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    """The exit code, the findings and everything else that the command reports of a file."""
    report = path.parent / "quality.json"
    status = main([str(path), "--report", str(report), *options])
    (found,) = json.loads(report.read_text(encoding="utf-8"))
    return status, found.pop("findings"), found


def test_sound_posts_have_no_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found, report = findings(written(tmp_path, sound()))
    assert (status, found) == (0, [])
    assert report["schema_version"] == "personalens-posts-quality/1"
    assert "no findings (15 rules)" in capsys.readouterr().out


@pytest.mark.parametrize(("scores", "name"), [((7, 7), "positive"), ((-7, -7), "negative"), ((7, -7), "")])
def test_one_class_in_the_whole_file_is_told(
    scores: tuple[int, int], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    posts = {f"u_{n}": [talk(f"u_{n}", 1000 * p + 9 * n, scores[p % 2]) for p in range(3)] for n in range(2)}
    main([str(written(tmp_path, posts))])
    told = [line for line in capsys.readouterr().out.splitlines() if "targets of sentiment are" in line]
    assert told == ([f"all 4 targets of sentiment are {name}: MCC has no value"] if name else [])


IRREGULAR: dict[str, tuple[str, dict[str, Any]]] = {
    "of another author": ("author", {"author": "bram"}),
    "of nobody": ("author", {"author": "[deleted]"}),
    "without a domain": ("domain", {"__sub__": None}),
    "without a title": ("domain", {"title": " "}),
    "a link": ("content", {"content": ""}),
    "text under body": ("content", {"content": "", "body": "It is the text of the post, as it was."}),
    "no list of comments": ("comments", {"comments": 7}),
    "an entry that is no object": ("comments", {"comments": [None]}),
    "an id": ("key", {"id": "t3_1"}),
    "a number as time": ("time", {"timestamp": 1_700_000_000}),
    "no zone": ("time", {"timestamp": at(2100)[:-1]}),
    "a text as score": ("score", {"score": "31"}),
    "a fraction as score": ("score", {"score": 0.5}),
    "another language": ("language", {"content": "Wij hebben gisteren een nieuwe boot gekocht. " * 9}),
    "a model's answer": ("preamble", {"content": "Here is the post that you asked for, as it is to be."}),
}


IRREGULAR_COMMENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("text", {"body": None}),
    ("text", {"body": " "}),
    ("text", {"body": "[Removed]"}),
    ("nobody", {"author": "[deleted]"}),
    ("order", {"timestamp": "2020-01-01T00:00:00Z"}),
    ("time", {"timestamp": "yesterday"}),
    ("score", {"score": True}),
    ("score", {"score": None}),
    ("comments", {"replies": ""}),
    ("key", {"ups": 3}),
    ("preamble", {"body": "As an AI, I think that it is good."}),
)


@pytest.mark.parametrize(
    ("of_comment", "rule", "fields"),
    [*((False, *case) for case in IRREGULAR.values()), *((True, *case) for case in IRREGULAR_COMMENTS)],
)
def test_each_irregularity_is_listed(
    of_comment: bool, rule: str, fields: dict[str, Any], tmp_path: Path
) -> None:
    posts = sound()
    changed = posts["u_1"][2]
    if of_comment:
        changed["comments"].append(comment("eve", "It is so, and it was.", 9000) | fields)
    else:
        changed.update(fields)
        if changed["__sub__"] is None:
            del changed["__sub__"]
    path = written(tmp_path, posts)
    status, found, report = findings(path)
    assert status == 1
    place = "u_1, post 3, c7" if of_comment else "u_1, post 3"
    assert {(each["rule"], each["field"][: len(place)]) for each in found} == {(rule, place)}
    assert {each["file"] for each in found} == {str(path)}
    check_that_all_posts_are_told(report)


def test_entries_copies_and_shared_sentences_are_listed(tmp_path: Path) -> None:
    posts: dict[str, list[Any]] = dict(sound())
    posts["u_0"].append(7)
    posts["u_1"].append(posts["u_1"][0])
    posts["u_2"][1]["content"] = posts["u_0"][0]["content"]
    status, found, report = findings(written(tmp_path, posts))
    told = [(each["rule"], each["field"]) for each in found]
    assert status == 1
    assert ("post", "u_0, post 4") in told
    assert ("duplicate", "u_1, post 4") in told
    assert ("repeated", "u_2, post 2") in told
    assert report["left_out"]["fixed"]["sentiment"]["duplicate"] == 1
    check_that_all_posts_are_told(report)


def check_that_all_posts_are_told(report: dict[str, Any]) -> None:
    for protocol, kinds in report["items"].items():
        for kind, items in kinds.items():
            assert items + sum(report["left_out"][protocol][kind].values()) == report["posts"]


def test_all_lists_each_post_that_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, sound())
    assert main([str(path)]) == 0
    assert "post 1: no-past" not in capsys.readouterr().out
    assert main([str(path), "--all"]) == 0
    out = capsys.readouterr().out
    assert [f"fixed sentiment: u_{n}, post 1: no-past" in out for n in range(3)] == [True] * 3


def test_datasets_are_told_apart_by_content(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "profiles.data"
    folder.mkdir()
    (folder / "tasks.json").write_text(json.dumps(raw(sound())), encoding="utf-8")
    assert main([str(folder)]) == 0
    assert "profiles.data" in capsys.readouterr().out
    assert "no such folder" in refusal(capsys, "check-dataset", str(tmp_path / "none"))
    prompts = tmp_path / "prompts.json"
    prompts.write_text('{"user": "u", "prompt": "x", "true_label": "y", "subreddit": "life"}\n')
    told = refusal(capsys, "check-dataset", str(prompts))
    assert "prompts.json: holds prompts, and only posts can be checked" in told


def test_posts_and_scenarios_have_tables_of_their_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([str(write_own_world(tmp_path / "own")), "personaconv"]) == 0
    out = capsys.readouterr().out
    assert "mean evenness, categorical" in out
    assert "guess: words of the reply alone" in out
    told = refusal(capsys, "check-dataset", "personaconv", "--table", "8")
    assert told == "error: personaconv: has none of these tables; leave out --table"


def guesses(folder: Path, words: dict[int, str], by_user: bool) -> dict[str, Any]:
    """What is told of posts whose last replies have a word by their score, which is by user or by turns."""
    posts: Posts = {}
    for user, number in product(range(12), range(4)):
        score = 9 if (user if by_user else user + number) % 2 else -9
        each = talk(f"u_{user}", 1000 * number + 10 * user, score)
        each["comments"][2]["replies"][0]["body"] = f"{words[score]} {user} {number}"
        posts.setdefault(f"u_{user}", []).append(each)
    return findings(written(folder, posts))[2]


def test_a_guess_by_words_finds_words_that_tell(tmp_path: Path) -> None:
    told = guesses(tmp_path, {9: "hurrah", -9: "alas"}, by_user=False)
    assert (told["by_words"], told["by_majority"]) == (1, 0.5)
    assert guesses(tmp_path, {9: "well", -9: "well"}, by_user=False)["by_words"] <= 0.6


def test_a_guess_by_earlier_classes_finds_users_who_are_always_praised(tmp_path: Path) -> None:
    told = guesses(tmp_path, {9: "well", -9: "well"}, by_user=True)
    assert told["by_earlier_labels"] == 1
    assert told["by_words"] <= 0.6


def test_a_user_without_earlier_classes_is_half_right(tmp_path: Path) -> None:
    weak = post("u_0", 0, comment("bram", "It is?", 1, 2, comment("u_0", "It was.", 2, 1)))
    _, _, told = findings(
        written(tmp_path, {"u_0": [weak, talk("u_0", 100, 9)], "u_1": [talk("u_1", 50, 9)]})
    )
    assert told["by_earlier_labels"] == 0.5
    odd = talk("u_0", 100, 9)  # its thread is older than the post itself
    odd["comments"] = [comment("bram", "It is?", 10, 2, comment("u_0", "It was.", 20, 9))]
    status, found, told = findings(written(tmp_path, {"u_0": [weak, odd]}))
    assert status == 1
    assert "order" in {each["rule"] for each in found}
    assert (told["items"]["fixed"]["sentiment"], told["by_earlier_labels"]) == (1, 0.5)


@pytest.mark.parametrize("spec", ["x" * 5000, "~nobody-has-this-name/posts", "a\0b"])
def test_what_names_no_file_is_told_as_for_any_dataset(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "check-dataset", spec).startswith("error: ")


def test_control_codes_in_names_reach_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posts = {f"{user}\x1b[2J\r": each for user, each in sound().items()}
    assert main([str(written(tmp_path, posts)), "--all", "--details"]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\r" not in out
