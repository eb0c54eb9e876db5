"""Checks the posts of a file or folder: what there is, which items they give, and what cannot be read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite import DataCheck, Finding
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.suites.personaconv.data.index import NO_POST, open_index
from pytest_personalens.suites.personaconv.predictions import KINDS
from pytest_personalens.suites.personaconv.protocols.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.protocols.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.protocols.open_posts import find_post_files, read_name

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The name of the embedded posts.
EMBEDDED: Final = "personaconv"
#: Rule -> what must hold.
RULES: Final = {
    "unreadable": "every entry of a list of posts is an object",
    "duplicate": "a post stands in the data once",
}


def check_data(spec: str) -> DataCheck | None:
    """Return what there is to tell about posts, or None if the spec names no file or folder of posts.

    A spec is ``personaconv`` (the embedded posts), or the path of a file or a folder. Raise `DataError` for a
    file that cannot be read.
    """
    try:
        path = packaged_file(EMBEDDED) if spec == EMBEDDED else Path(spec).expanduser()
    except RuntimeError:  # a home that nobody has
        return None
    files = find_post_files(path)
    if not files:
        return None
    index = open_index(files)
    findings: list[Finding] = []
    domains, numbers = Counter[str](), Counter[str]()
    comments: list[int] = []
    identities: set[tuple[str, str]] = set()
    for entry in index.posts:
        numbers[entry.user] += 1
        place = str(index.files[entry.file]), f"{entry.user}, post {numbers[entry.user]}"
        if entry.fixed[0].reason == NO_POST:
            findings.append(Finding("unreadable", *place, f"no object ({NO_POST})"))
            continue
        domains[entry.domain] += 1
        comments.append(entry.comments)
        if (entry.user, entry.identity) in identities:
            findings.append(Finding("duplicate", *place, "the same post stands in the data before"))
        identities.add((entry.user, entry.identity))
    plans = {
        "fixed": FixedProtocol(index, kinds=KINDS, settings=("P-Conv",), history="request", seed="").plan,
        "official": OfficialProtocol(index, kinds=KINDS, settings=("P-Conv",), seed="").plan,
    }
    items = {protocol: {kind: len(plan.items[kind]) for kind in KINDS} for protocol, plan in plans.items()}
    left_out = {protocol: plan.excluded for protocol, plan in plans.items()}
    name, version = read_name(path)
    dataset, users = f"{name} {version or index.digest[:12]}", len(plans["fixed"].of_user)
    most = max(comments, default=0)
    return DataCheck(
        dataset=dataset,
        rows=[
            ("users", f"{users:,}", ""),
            ("posts (domains)", f"{len(index.posts):,} ({len(domains)})", ""),
            ("comments", f"{sum(comments):,}", ""),
            ("comments a post (median, most)", f"{median(comments or [0]):g} ({most})", ""),
            *((f"items, {kind}", f"{number:,}", "") for kind, number in items["fixed"].items()),
            ("findings", f"{len(findings):,}", "0"),
        ],
        summary=[f"{'protocol':<10}{'kind':<11}{'posts':>8}{'items':>8}  left out"]
        + [
            f"{protocol:<10}{kind:<11}{items[protocol][kind] + sum(reasons.values()):>8,}"
            f"{items[protocol][kind]:>8,}  {_counted(reasons)}"
            for protocol, excluded in left_out.items()
            for kind, reasons in excluded.items()
        ],
        details=[f"{domain or '(none)':<20}{posts:>8,} posts" for domain, posts in sorted(domains.items())],
        every=[
            f"{protocol} {kind}: {post.user}, post {post.number}: {post.reason}"
            for protocol, plan in plans.items()
            for kind in KINDS
            for post in plan.left_out[kind]
        ],
        findings=findings,
        rules=len(RULES),
        report={
            "schema_version": "personalens-posts-quality/2",
            "dataset": dataset,
            "users": users,
            "posts": len(index.posts),
            "domains": dict(domains),
            "comments": sum(comments),
            "items": items,
            "left_out": left_out,
            "findings": [vars(finding) for finding in findings],
        },
    )


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in reasons.items()) or "none"
