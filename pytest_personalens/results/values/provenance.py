"""The origin of a run, from git and CI: project, branch, commit and date."""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import TYPE_CHECKING, Final

from pydantic import Field, field_validator

from pytest_personalens.core.files.git import git
from pytest_personalens.core.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Field -> the variables of CI services that hold it, in the order in which they are read. The branch of a
#: pull request comes before the name of its merge.
_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "project": ("GITHUB_REPOSITORY", "CI_PROJECT_PATH"),
    "branch": (
        "GITHUB_HEAD_REF", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME",
    ),
    "commit": ("GITHUB_SHA", "CI_COMMIT_SHA"),
    "committed": ("CI_COMMIT_TIMESTAMP",),
    "pull_request": ("CI_MERGE_REQUEST_IID",),
    "url": ("CI_PIPELINE_URL",),
}  # fmt: skip
_PULL_REQUEST: Final = re.compile(r"refs/pull/(\d+)/")
#: The owner and name at the end of a remote's address. The part before them is left out, because it may hold
#: a password.
_PROJECT: Final = re.compile(r"([^/:@]+/[^/:@]+?)(?:\.git)?/?\s*\Z")
_HEAD: Final = ("log", "-1", "--format=%H%x00%cI%x00%D", "--decorate=full", "--no-show-signature")
#: All files except records, which a run itself may write.
_SOURCES: Final = (":(top)", ":(top,exclude,glob)**/__personalens__/**")
_BRANCH: Final = "HEAD -> refs/heads/"


class Provenance(Frozen):
    """The origin of a run, as far as git and CI variables know it.

    It holds no clock time, so that equal runs of a commit are equal. GitHub Actions tests a pull request
    after its merge, and `commit` is the commit of that merge.
    """

    project: str = Field(default="", description="Owner and name of the repository.")
    branch: str = ""
    commit: str = ""
    committed: str = Field(default="", description="When the commit was made, as ISO 8601.")
    changed: bool = Field(default=False, description="True if files of the commit had been changed.")
    pull_request: str = Field(default="", description="Number of the pull request or merge request.")
    url: str = Field(default="", description="Page of the run of the CI service.")

    @field_validator("committed")
    @classmethod
    def _date(cls, text: str) -> str:
        if text and datetime.fromisoformat(text).tzinfo is None:
            raise ValueError(f"expected a date with its time zone, found {text!r:.40}")
        return text

    @property
    def instant(self) -> datetime:
        """The time of the commit; raises ValueError if it is unknown."""
        return datetime.fromisoformat(self.committed)

    @property
    def day(self) -> str:
        """The day of the commit, such as ``2026-11-22``, or an empty text."""
        return self.committed[:10]

    @property
    def short(self) -> str:
        """The first 9 characters of the commit, with ``+`` for changed files."""
        return self.commit[:9] + "+" * self.changed


def provenance_of(root: Path, environment: Mapping[str, str] = os.environ) -> Provenance | None:
    """Return the origin of the checkout at `root`, or None without git and CI variables.

    Git comes first for the commit and its date, CI variables for the branch and the project.
    """
    fields = {name: next(filter(None, map(environment.get, names)), "") for name, names in _VARIABLES.items()}
    if request := _PULL_REQUEST.match(environment.get("GITHUB_REF", "")):
        fields["pull_request"] = request[1]
    if run := environment.get("GITHUB_RUN_ID"):
        fields["url"] = f"{environment.get('GITHUB_SERVER_URL')}/{fields['project']}/actions/runs/{run}"
    if (head := git(root, *_HEAD)) is None:
        return Provenance(**fields) if any(fields.values()) else None
    fields["commit"], fields["committed"], refs = head.strip().split("\0")
    fields["branch"] = fields["branch"] or next(
        (ref.removeprefix(_BRANCH) for ref in refs.split(", ") if ref.startswith(_BRANCH)), ""
    )
    fields["project"] = fields["project"] or _project(root)
    changed = bool(git(root, "status", "--porcelain", "--untracked-files=no", "--", *_SOURCES))
    return Provenance(**fields, changed=changed)


def _project(root: Path) -> str:
    match = _PROJECT.search(git(root, "config", "--get", "remote.origin.url") or "")
    return match[1] if match else ""
