"""Checks the posts of a file or folder: what there is, which items they give, and what cannot be read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median
from typing import Final

from pytest_personalens.core.suite import DataCheck, Finding
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.suites.personaconv.index import NO_POST, open_index
from pytest_personalens.suites.personaconv.open_posts import PROTOCOLS, find_post_files, read_name
from pytest_personalens.suites.personaconv.predictions import KINDS

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
    name, version = read_name(path)
    dataset, users = f"{name} {version or index.digest[:12]}", len(numbers)
    items: dict[str, dict[str, int]] = {}
    left_out: dict[str, dict[str, dict[str, int]]] = {}
    summary, every = [f"{'protocol':<10}{'kind':<11}{'posts':>8}{'items':>8}  left out"], []
    for protocol, rules in PROTOCOLS.items():
        plan = rules(index, kinds=KINDS, settings=("P-Conv",), history="request", seed="").plan
        items[protocol] = {kind: len(refs) for kind, refs in plan.items.items()}
        left_out[protocol] = plan.excluded
        for kind, reasons in plan.excluded.items():
            told = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items()) or "none"
            of_kind = items[protocol][kind]
            posts = of_kind + sum(reasons.values())
            summary.append(f"{protocol:<10}{kind:<11}{posts:>8,}{of_kind:>8,}  {told}")
            each = plan.left_out[kind]
            every += [f"{protocol} {kind}: {post.user}, post {post.number}: {post.reason}" for post in each]
    return DataCheck(
        dataset=dataset,
        rows=[
            ("users", f"{users:,}", ""),
            ("posts (domains)", f"{len(index.posts):,} ({len(domains)})", ""),
            ("comments", f"{sum(comments):,}", ""),
            ("comments a post (median, most)", f"{median(comments or [0]):g} ({max(comments or [0])})", ""),
            *((f"items, {kind}", f"{number:,}", "") for kind, number in items["fixed"].items()),
            ("findings", f"{len(findings):,}", "0"),
        ],
        summary=summary,
        details=[f"{domain or '(none)':<20}{posts:>8,} posts" for domain, posts in sorted(domains.items())],
        every=every,
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
