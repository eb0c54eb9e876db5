"""The command check-dataset on posts: what it lists of broken ones, and what its guesses find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.cli.scenarios.check_dataset import main
from tests.suites.personaconv.trees import Posts, at, comment, people, post, raw, talk, written


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


@pytest.mark.parametrize(("score", "name"), [(7, "positive"), (-7, "negative")])
def test_one_class_in_the_whole_file_is_told(
    score: int, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    posts = {f"u_{n}": [talk(f"u_{n}", 1000 * p + 9 * n, score) for p in range(3)] for n in range(2)}
    main([str(written(tmp_path, posts))])
    assert f"all 4 targets of sentiment are {name}: MCC has no value" in capsys.readouterr().out.splitlines()


def test_two_classes_in_a_file_have_no_such_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = (7, -7, 7)
    posts = {
        f"u_{n}": [talk(f"u_{n}", 1000 * p + 9 * n, score) for p, score in enumerate(scores)]
        for n in range(2)
    }
    main([str(written(tmp_path, posts))])
    assert "targets of sentiment are" not in capsys.readouterr().out


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


@pytest.mark.parametrize("case", IRREGULAR)
def test_each_irregular_post_is_listed(case: str, tmp_path: Path) -> None:
    rule, fields = IRREGULAR[case]
    posts = sound()
    posts["u_1"][2].update(fields)
    if fields.get("__sub__", "") is None:
        del posts["u_1"][2]["__sub__"]
    path = written(tmp_path, posts)
    status, found, report = findings(path)
    assert status == 1
    assert {(each["rule"], each["field"].split(",")[0]) for each in found} == {(rule, "u_1")}
    assert all(each["file"] == str(path) and "post 3" in each["field"] for each in found)
    check_that_all_posts_are_told(report)


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
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
    ],
)
def test_each_irregular_comment_is_listed(rule: str, fields: dict[str, Any], tmp_path: Path) -> None:
    posts = sound()
    posts["u_1"][2]["comments"].append(comment("eve", "It is so, and it was.", 9000) | fields)
    status, found, report = findings(written(tmp_path, posts))
    assert status == 1
    assert {(each["rule"], each["field"]) for each in found} == {(rule, "u_1, post 3, c7")}
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
    assert main([str(tmp_path / "none")]) == 4
    assert "no such folder" in capsys.readouterr().err
    prompts = tmp_path / "prompts.json"
    prompts.write_text('{"user": "u", "prompt": "x", "true_label": "y", "subreddit": "life"}\n')
    assert main([str(prompts)]) == 4
    assert "prompts.json: holds prompts, and only posts can be checked" in capsys.readouterr().err


def test_posts_and_scenarios_have_tables_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["embedded", "personaconv"]) == 0
    out = capsys.readouterr().out
    assert "distinct interest masks" in out
    assert "guess: words of the reply alone" in out
    assert main(["personaconv", "--table", "8"]) == 4
    assert "personaconv: has none of these tables; leave out --table" in capsys.readouterr().err


def labelled(words: dict[int, str], score: dict[tuple[int, int], int], users: int, posts: int) -> Posts:
    """Posts whose last reply has a word and a score by user and number of the post."""
    found: Posts = {}
    for user in range(users):
        for number in range(posts):
            each = talk(f"u_{user}", 1000 * number + 10 * user, score[user, number])
            each["comments"][2]["replies"][0]["body"] = f"{words[score[user, number]]} {user} {number}"
            found.setdefault(f"u_{user}", []).append(each)
    return found


def test_a_guess_by_words_finds_words_that_tell(tmp_path: Path) -> None:
    score = {(u, n): 9 if (u + n) % 2 else -9 for u in range(12) for n in range(4)}
    _, _, told = findings(written(tmp_path, labelled({9: "hurrah", -9: "alas"}, score, 12, 4)))
    assert told["by_words"] == 1
    assert told["by_majority"] == 0.5
    _, _, same = findings(written(tmp_path, labelled({9: "well", -9: "well"}, score, 12, 4)))
    assert same["by_words"] <= 0.6


def test_a_guess_by_earlier_classes_finds_users_who_are_always_praised(tmp_path: Path) -> None:
    score = {(u, n): 9 if u % 2 else -9 for u in range(12) for n in range(4)}
    _, _, told = findings(written(tmp_path, labelled({9: "well", -9: "well"}, score, 12, 4)))
    assert told["by_earlier_labels"] == 1
    assert told["by_words"] <= 0.6


def test_a_user_without_earlier_classes_is_half_right(tmp_path: Path) -> None:
    posts = {
        "u_0": [
            post("u_0", 0, comment("bram", "It is?", 1, 2, comment("u_0", "It was.", 2, 1))),
            talk("u_0", 100, 9),
        ],
        "u_1": [talk("u_1", 50, 9)],
    }
    _, _, told = findings(written(tmp_path, posts))
    assert told["by_earlier_labels"] == 0.5


def test_a_target_whose_thread_is_older_than_its_post_has_no_earlier_classes(tmp_path: Path) -> None:
    odd = talk("u_0", 100, 9)
    odd["comments"] = [comment("bram", "It is?", 10, 2, comment("u_0", "It was.", 20, 9))]
    posts = {"u_0": [post("u_0", 0, comment("bram", "It?", 1, 2, comment("u_0", "So.", 2, 1))), odd]}
    status, found, told = findings(written(tmp_path, posts))
    assert status == 1
    assert {each["rule"] for each in found} >= {"order"}
    assert told["items"]["fixed"]["sentiment"] == 1
    assert told["by_earlier_labels"] == 0.5


@pytest.mark.parametrize("spec", ["x" * 5000, "~nobody-has-this-name/posts", "a\0b"])
def test_what_names_no_file_is_told_as_for_any_dataset(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([spec]) == 4
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


def test_control_codes_in_names_reach_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posts = {f"{user}\x1b[2J\r": each for user, each in sound().items()}
    assert main([str(written(tmp_path, posts)), "--all", "--details"]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\r" not in out
