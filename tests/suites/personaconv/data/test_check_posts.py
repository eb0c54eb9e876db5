"""The command check-dataset on posts: what it lists of broken ones, and what the embedded ones promise."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.suites.personaconv.open_posts import check_data, open_posts
from tests.suites.personaconv.trees import people, raw, written
from tests.support.datasets.folders import write_own_world
from tests.support.processes.commands import check_dataset as main
from tests.support.processes.commands import refusal
from tests.support.repository import ROOT


def findings(path: Path, *options: str) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    """The exit code, the findings and everything else that the command reports of a file."""
    report = path.parent / "quality.json"
    status = main([str(path), "--report", str(report), *options])
    (found,) = json.loads(report.read_text(encoding="utf-8"))
    return status, found.pop("findings"), found


def test_entries_copies_and_posts_left_out_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    posts: dict[str, list[Any]] = dict(people())
    status, found, report = findings(written(tmp_path, posts))
    assert (status, found, report["schema_version"]) == (0, [], "personalens-posts-quality/2")
    out = capsys.readouterr().out
    assert "no findings (3 rules)" in out and "post 1: no-past" not in out
    posts["u_0"].append(7)
    posts["u_1"].append(posts["u_1"][0])
    path = written(tmp_path, posts)
    status, found, report = findings(path, "--all")
    told = [(each["file"], each["rule"], each["field"]) for each in found]
    assert status == 1
    assert told == [(str(path), "unreadable", "u_0, post 4"), (str(path), "duplicate", "u_1, post 4")]
    assert report["left_out"]["fixed"]["sentiment"]["duplicate"] == 1
    for protocol, kinds in report["items"].items():
        for kind, items in kinds.items():
            assert items + sum(report["left_out"][protocol][kind].values()) == report["posts"]
    out = capsys.readouterr().out
    assert [f"fixed sentiment: u_{n}, post 1: no-past" in out for n in range(3)] == [True] * 3


def test_datasets_are_told_apart_by_content(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "profiles.data"
    folder.mkdir()
    (folder / "tasks.json").write_text(json.dumps(raw(people())), encoding="utf-8")
    assert main([str(folder)]) == 0
    assert "profiles.data" in capsys.readouterr().out
    assert "no such folder" in refusal(capsys, "check-dataset", str(tmp_path / "none"))
    prompts = tmp_path / "prompts.json"
    prompts.write_text('{"user": "u", "prompt": "x", "true_label": "y", "subreddit": "life"}\n')
    told = refusal(capsys, "check-dataset", str(prompts))
    assert "prompts.json: holds prompts, and only posts can be checked" in told


def test_posts_and_scenarios_have_own_tables(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([str(write_own_world(tmp_path / "own")), "personaconv"]) == 0
    out = capsys.readouterr().out
    assert "mean evenness, categorical" in out
    assert "items, sentiment" in out
    told = refusal(capsys, "check-dataset", "personaconv", "--table", "8")
    assert told == "error: personaconv: has none of these tables; leave out --table"


@pytest.mark.parametrize("spec", ["x" * 5000, "~nobody-has-this-name/posts", "a\0b"])
def test_what_names_no_file_is_told_as_for_any_dataset(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "check-dataset", spec).startswith("error: ")


def test_posts_that_make_no_item_are_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posts = {f"{user}\x1b[2J\r": each for user, each in people().items()}
    assert main([str(written(tmp_path, posts)), "--all", "--details"]) == 1
    out = capsys.readouterr().out
    assert "no-item: 1" in out and "none of the 9 posts makes an item" in out  # nobody has the replies
    assert "\x1b" not in out and "\r" not in out, "control codes in names reach no terminal"


POSTS = ROOT / "data" / "suites" / "personaconv"


def posts_digest(root: Path) -> str:
    """A digest of everything that the items are made of; line ends do not matter."""
    digest = hashlib.sha256()
    for file in sorted((root / "dataset.toml", *root.rglob("*.json"))):
        digest.update(f"{file.relative_to(root).as_posix()}\n{file.read_text(encoding='utf-8')}".encode())
    return digest.hexdigest()


def test_changed_posts_have_a_new_version() -> None:
    versions = tomllib.loads((POSTS / "versions.toml").read_text(encoding="utf-8"))
    dataset = open_posts(POSTS)
    assert (dataset.name, dataset.version) == ("personaconv", list(versions)[-1])
    assert versions[dataset.version] == posts_digest(POSTS), (
        "the posts have changed: raise the version in data/suites/personaconv/dataset.toml and add to versions.toml"
        f' there the line "<new version>" = "<digest>" (now {posts_digest(POSTS)})'
    )


def test_the_posts_keep_what_their_card_promises() -> None:
    check = check_data("personaconv")
    assert check is not None
    found = check.report
    assert not check.findings
    assert (found["users"], found["posts"], len(found["domains"])) == (40, 160, 10)
    assert set(found["domains"].values()) == {16}
    assert set(found["items"]["fixed"].values()) == {120}
    for protocol, kinds in found["items"].items():
        for kind, items in kinds.items():
            assert items + sum(found["left_out"][protocol][kind].values()) == 160
    assert {reason for kind in found["left_out"]["official"].values() for reason in kind} == {"halved"}


def test_the_card_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    card = (POSTS / "README.md").read_text(encoding="utf-8").splitlines()
    assert main(["personaconv"]) == 0
    printed = [line for line in capsys.readouterr().out.splitlines() if "  " in line]
    assert len(printed) == 16
    assert [line for line in printed if line not in card] == []
