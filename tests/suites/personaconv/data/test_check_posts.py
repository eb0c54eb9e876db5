"""The command check-dataset on posts: what it lists of broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.cli.scenarios.check_dataset import main
from tests.suites.personaconv.trees import Posts, comment, people, raw, written
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
    assert report["schema_version"] == "personalens-posts-quality/2"
    assert "no findings (7 rules)" in capsys.readouterr().out


IRREGULAR: dict[str, tuple[str, dict[str, Any]]] = {
    "of another author": ("author", {"author": "bram"}),
    "of nobody": ("author", {"author": "[deleted]"}),
    "without a domain": ("domain", {"__sub__": None}),
    "without a title": ("domain", {"title": " "}),
    "no list of comments": ("comments", {"comments": 7}),
    "an entry that is no object": ("comments", {"comments": [None]}),
    "a number as time": ("time", {"timestamp": 1_700_000_000}),
    "a text as score": ("score", {"score": "31"}),
}


IRREGULAR_COMMENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("text", {"body": None}),
    ("text", {"body": " "}),
    ("text", {"body": "[Removed]"}),
    ("text", {"author": "[deleted]"}),
    ("time", {"timestamp": "2020-01-01T00:00:00Z"}),
    ("time", {"timestamp": "yesterday"}),
    ("score", {"score": True}),
    ("score", {"score": None}),
    ("comments", {"replies": ""}),
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


def test_entries_and_copies_are_listed(tmp_path: Path) -> None:
    posts: dict[str, list[Any]] = dict(sound())
    posts["u_0"].append(7)
    posts["u_1"].append(posts["u_1"][0])
    status, found, report = findings(written(tmp_path, posts))
    told = [(each["rule"], each["field"]) for each in found]
    assert status == 1
    assert ("post", "u_0, post 4") in told
    assert ("post", "u_1, post 4") in told
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
    assert "items, sentiment" in out
    told = refusal(capsys, "check-dataset", "personaconv", "--table", "8")
    assert told == "error: personaconv: has none of these tables; leave out --table"


@pytest.mark.parametrize("spec", ["x" * 5000, "~nobody-has-this-name/posts", "a\0b"])
def test_what_names_no_file_is_told_as_for_any_dataset(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "check-dataset", spec).startswith("error: ")


def test_control_codes_in_names_reach_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posts = {f"{user}\x1b[2J\r": each for user, each in sound().items()}
    assert main([str(written(tmp_path, posts)), "--all", "--details"]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\r" not in out
