"""The weights and word lists of the embedded judge belong to its identity: other weights are another judge."""

from __future__ import annotations

import hashlib
import tomllib

from pytest_personalens.agents.embedded_judge.judge import EmbeddedJudge
from tests.support.repository import ROOT

FOLDER = ROOT / "data" / "judge"


def weights_digest() -> str:
    """A digest of all that the judge reads; line ends do not matter."""
    digest = hashlib.sha256()
    for file in sorted(FOLDER.iterdir()):
        if file.name != "versions.toml":
            digest.update(f"{file.name}\n{file.read_text(encoding='utf-8')}".encode())
    return digest.hexdigest()


def test_weights_are_those_of_the_judges_identity() -> None:
    versions = tomllib.loads((FOLDER / "versions.toml").read_text(encoding="utf-8"))
    identity = EmbeddedJudge().identity
    assert versions.get(identity) == weights_digest(), (
        f"data/judge differs from what {identity} is: records of it would no longer hold. Raise"
        " EmbeddedJudge.identity, run make records, "
        f'and add "<identity>" = "{weights_digest()}" to data/judge/versions.toml'
    )
