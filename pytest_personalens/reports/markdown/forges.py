"""GitHub and GitLab: the summary of a step, and one comment on a pull request that is edited in place."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.safe_text import one_line
from pytest_personalens.reports.markdown.report import markdown_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.results.values.results import Results

#: The environment variable with the file of the step's summary.
_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
#: A limit in bytes below 1 MiB. GitHub does not show a larger summary of a step.
_SUMMARY_LIMIT: Final = 1_000_000
#: The smallest room in bytes for a report. With less, its beginning would not be useful.
_LEAST: Final = 3_000
#: Seconds for a request, and comments of a page.
_PATIENCE: Final = 20.0
_PAGE: Final = 100
_MOST_PAGES: Final = 50
_REQUEST: Final = re.compile(r"refs/pull/(\d+)/")


def summary_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the file of this step's summary. Raise `DataError` outside GitHub Actions."""
    if not environment.get(_SUMMARY):
        raise DataError(
            _SUMMARY,
            "not set: the word github is for steps of GitHub Actions; elsewhere give PATH.md",
            code="PL201",
        )
    return Path(environment[_SUMMARY])


def append_summary(results: Results, path: Path, *, link: str = "") -> None:
    """Append the report to the summary of a step. Raise `DataError` with a text of one line if the file
    cannot be written or is full.
    """
    try:
        there = path.stat().st_size if path.exists() else 0
        if there > _SUMMARY_LIMIT - _LEAST:
            full = f"holds {there:,} bytes already, and GitHub shows no more than 1 MiB"
            raise DataError(path, f"{full}; write less in this step", code="PL105")
        with path.open("a", encoding="utf-8") as file:
            file.write(markdown_report(results, limit=_SUMMARY_LIMIT - there - 1, link=link) + "\n")
    except OSError as error:
        raise DataError(path, f"the summary cannot be written: {error.strerror}", code="PL105") from None


def link(rootpath: Path, environment: Mapping[str, str] = os.environ) -> str:
    """Return the web address of this commit's files below the root folder of the tests; empty outside GitHub
    Actions.
    """
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_WORKSPACE")
    server, repository, commit, workspace = (environment.get(name, "") for name in names)
    if not (server and repository and commit):
        return ""
    root, here = rootpath.resolve(), Path(workspace).resolve() if workspace else rootpath.resolve()
    below = f"/{root.relative_to(here).as_posix()}" if root != here and root.is_relative_to(here) else ""
    return f"{server}/{repository}/blob/{commit}{below}"


class Thread(NamedTuple):
    """Where the comments of one pull request are: `comments` lists and takes them, `comment` is one of them.
    `change` is the method that replaces a comment's text.
    """

    service: str
    comments: str
    comment: str
    change: str
    headers: dict[str, str]


def thread_of(environment: Mapping[str, str] = os.environ) -> Thread | None:
    """The comments of the pull request that this CI job is for; None where it is for none. Raises `SpecError`
    in one line where no token is given, and outside GitHub Actions and GitLab.
    """
    if environment.get("GITHUB_ACTIONS"):
        return _github(environment)
    if environment.get("GITLAB_CI"):
        return _gitlab(environment)
    raise SpecError(
        "no CI service to comment with: GitHub Actions and GitLab are known; elsewhere write the text with"
        " --report PATH.md",
        code="PL302",
    )


def post(thread: Thread, marker: str, text: str) -> str:
    """Replace the comment that begins with `marker`, or write the first one. Returns ``updated`` or
    ``written``. Raises `SpecError` in one line where the service refuses, or cannot be reached.
    """
    body = {"body": f"{marker}\n{text}"}
    comment = _find(thread, marker)
    if comment is None:
        _ask(thread, "POST", thread.comments, body)
        return "written"
    _ask(thread, thread.change, f"{thread.comment}/{comment}", body)
    return "updated"


def _github(environment: Mapping[str, str]) -> Thread | None:
    request = _REQUEST.match(environment.get("GITHUB_REF", ""))
    if request is None:
        return None
    token = _token(environment, "GITHUB_TOKEN", "env: {GITHUB_TOKEN: '${{ github.token }}'} of the step")
    issues = f"{environment['GITHUB_API_URL']}/repos/{environment['GITHUB_REPOSITORY']}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return Thread("GitHub", f"{issues}/{request[1]}/comments", f"{issues}/comments", "PATCH", headers)


def _gitlab(environment: Mapping[str, str]) -> Thread | None:
    request = environment.get("CI_MERGE_REQUEST_IID")
    if not request:
        return None
    token = _token(
        environment,
        "PERSONALENS_GITLAB_TOKEN",
        "a masked variable with an access token of the project (role Reporter, scope api)",
    )
    project = f"{environment['CI_API_V4_URL']}/projects/{quote(environment['CI_PROJECT_ID'], safe='')}"
    notes = f"{project}/merge_requests/{request}/notes"
    return Thread("GitLab", notes, notes, "PUT", {"PRIVATE-TOKEN": token})


def _token(environment: Mapping[str, str], name: str, source: str) -> str:
    if not environment.get(name):
        raise SpecError(f"{name}: not set, so no comment can be written; give {source}", code="PL302")
    return environment[name]


def _find(thread: Thread, marker: str) -> int | None:
    for page in range(1, _MOST_PAGES + 1):
        query = f"?per_page={_PAGE}&page={page}&sort=asc"
        comments = _ask(thread, "GET", thread.comments + query)
        for comment in comments:
            if str(comment.get("body", "")).startswith(marker):
                return int(comment["id"])
        if len(comments) < _PAGE:
            break
    return None


def _ask(thread: Thread, method: str, url: str, body: object = None) -> Any:
    import urllib3

    # A comment that was taken and not answered would be written twice, so writing it is not tried again.
    retries = urllib3.Retry(
        3, backoff_factor=0.5, status_forcelist=(500, 502, 503, 504), allowed_methods=("GET", "PATCH", "PUT"),
        raise_on_status=False,
    )  # fmt: skip
    headers = {**thread.headers, "User-Agent": "pytest-personalens", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib3.PoolManager(retries=retries, timeout=_PATIENCE) as pool:
            answer = pool.request(method, url, body=data, headers=headers)
            if answer.status < 300:
                return json.loads(answer.data)
            message = _message(answer.data)
    except urllib3.exceptions.HTTPError as error:
        raise SpecError(
            f"comment: {thread.service} cannot be reached: {type(error).__name__}", code="PL301"
        ) from None
    except ValueError:
        raise SpecError(
            f"comment: {thread.service} answered with something else than JSON", code="PL302"
        ) from None
    hint = ""
    if answer.status in (401, 403, 404):
        hint = (
            "; the token may not write here: a job of GitHub needs `permissions: pull-requests: write`, and"
            " has only read access for a pull request from a fork"
        )
    raise SpecError(
        f"comment: {thread.service} refused {method} with {answer.status}{message}{hint}", code="PL302"
    )


def _message(data: bytes) -> str:
    try:
        content = json.loads(data)
    except ValueError:
        return ""
    message = content.get("message") if isinstance(content, dict) else None
    return f" ({one_line(str(message))[:200]})" if message else ""
