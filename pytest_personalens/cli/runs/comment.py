"""The command ``comment``: one comment on the pull request, with the results of a run."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.cli.command import command
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.markup import escape
from pytest_personalens.reports.markdown.github_step import link, root_in_repository
from pytest_personalens.reports.markdown.pull_request import post, thread_of
from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.results.comparison.baseline import read_baseline
from pytest_personalens.results.shards import read_computed
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    import argparse

    from pytest_personalens.results.comparison.baseline import Baseline


@command("comment")
def main(options: argparse.Namespace) -> int:
    """Return 0, or 4 if the comment cannot be written."""
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


class BaselineAge(NamedTuple):
    """A sentence on the commit and the age, and whether it is older than it should be."""

    text: str
    old: bool


def baseline_age(baseline: Baseline, now: datetime, *, most: int) -> BaselineAge:
    """The age in whole days at `now`, which has a time zone; `most` days are not old."""
    tested = baseline.provenance
    if tested is None or not tested.committed:
        return BaselineAge("The baseline does not say which commit it is of.", False)
    days = max(0, (now - tested.instant).days)
    branch = f" of {tested.branch}" if tested.branch else ""
    text = f"Baseline: commit {tested.short}{branch}, {tested.day}, {count(days, 'day')} old."
    if days <= most:
        return BaselineAge(text, False)
    return BaselineAge(f"{text} That is more than {count(most, 'day')}: save a new one.", True)
