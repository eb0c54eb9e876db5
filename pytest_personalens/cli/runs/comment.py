"""``python -m pytest_personalens comment RESULTS.json``: one comment on the pull request."""

from __future__ import annotations

import argparse
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import Parser, at_least, errors_told
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.history import baseline_age
from pytest_personalens.reports.content.markup import escape
from pytest_personalens.reports.markdown.github import link, root_in_repository
from pytest_personalens.reports.markdown.pull_request import post, thread_of
from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.results.comparison.baseline import read_baseline
from pytest_personalens.results.files.stored import read_computed

if TYPE_CHECKING:
    from collections.abc import Sequence


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 0, or 4 where the comment cannot be written."""
    options = _parser().parse_args(arguments)
    if not re.fullmatch(r"[\w .-]{1,60}", options.name):
        raise SpecError(f"--name: expected up to 60 letters, digits, spaces, '.', '-', not {options.name!r}")
    here = link(root_in_repository(Path.cwd()))
    text = markdown_report(read_computed(options.results), link=here, brief=True)
    if options.baseline is not None:
        age = baseline_age(read_baseline(options.baseline), datetime.now(UTC), most=options.max_age)
        text += f"\n\n{'⚠️ ' if age.old else ''}{escape(age.text, 400)}\n"
        warns = age.old and os.environ.get("GITHUB_ACTIONS")
        print(f"::warning title=personalens::{age.text}" if warns else harmless(age.text))
    thread = thread_of()
    if thread is None:
        print("comment: none, this job is for no pull request")
        return 0
    print(f"comment: {post(thread, f'<!-- personalens: {options.name} -->', text)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens comment",
        description=(
            "Write the results of a run as a comment on the pull request that this CI job is for, or update"
            " the comment of an earlier run. For GitHub Actions (GITHUB_TOKEN) and GitLab"
            " (PERSONALENS_GITLAB_TOKEN)."
        ),
        example="personalens comment results.json --baseline baseline.json",
    )
    parser.add_argument("results", type=Path, metavar="RESULTS.json", help="JSON results of the run")
    parser.add_argument(
        "--baseline", type=Path, metavar="PATH", help="say of which commit this baseline is, and how old"
    )
    parser.add_argument(
        "--max-age",
        type=at_least(0),
        default=30,
        metavar="DAYS",
        help="warn if the baseline is older (default: 30)",
    )
    parser.add_argument(
        "--name",
        default="run",
        metavar="TEXT",
        help="tells several comments on one pull request apart (default: run)",
    )
    return parser
