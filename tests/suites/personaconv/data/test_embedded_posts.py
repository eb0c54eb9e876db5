"""The embedded posts: their version, and the measures that they promise."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

from pytest_personalens.suites.personaconv.open_posts import check_data, open_posts
from tests.support.processes.commands import check_dataset as main
from tests.support.repository import ROOT

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
