"""Checks the posts of a file or folder: what there is, which items they give, and what is irregular."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.suite import DataCheck, Finding
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.suites.personaconv.data.index import NO_POST, open_index
from pytest_personalens.suites.personaconv.data.posts import MARKERS, NOBODY, finite, parse_time
from pytest_personalens.suites.personaconv.protocols.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.protocols.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.protocols.open import find_post_files, read_name
from pytest_personalens.suites.personaconv.values import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.suites.personaconv.data.posts import Comment, Post

#: The name of the embedded posts.
EMBEDDED: Final = "personaconv"
#: Rule -> what must hold.
RULES: Final = {
    "post": "every entry of a list of posts is an object, and stands there once",
    "author": "a post names its author, and it is the user under whose name the post stands",
    "domain": "a post names its domain (__sub__) and has a title",
    "comments": "comments and replies are lists of objects",
    "time": "times are ISO texts, and a comment is newer than what it answers",
    "score": "scores are numbers",
    "text": "a comment has a text and an author, and nobody removed it",
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
            findings.append(Finding("post", *place, f"no object ({NO_POST})"))
            continue
        post = index.read(entry)
        domains[entry.domain] += 1
        comments.append(len(post.comments))
        if (entry.user, entry.identity) in identities:
            findings.append(Finding("post", *place, "the same post stands in the data before"))
        identities.add((entry.user, entry.identity))
        findings += (
            Finding(rule, place[0], f"{place[1]}{part and f', {part}'}", message)
            for rule, part, message in _irregular(post)
        )
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


def _irregular(post: Post) -> Iterator[tuple[str, str, str]]:
    """Yield what is irregular in a post: rule, place in the post, message."""
    raw = post.raw
    if post.author != post.user or post.user in NOBODY:
        author = repr(post.author) if post.author else "nobody"
        yield "author", "", f"the post is by {author}, and stands under {post.user!r}"
    for field in ("__sub__", "title"):
        if not (isinstance(raw.get(field), str) and raw[field].strip()):
            yield "domain", field, "expected a text"
    yield from _fields(raw, "comments", "")
    for comment in post.comments:
        yield from _fields(comment.raw, "replies", comment.path)
        yield from _of_comment(post, comment)


def _of_comment(post: Post, comment: Comment) -> Iterator[tuple[str, str, str]]:
    if comment.author in NOBODY:
        yield "text", comment.path, f"the author is {comment.author!r}"
    if not comment.text:
        removed = str(comment.body).strip().lower() in MARKERS
        yield "text", comment.path, "removed" if removed else "no text"
    before = (post if comment.parent is None else comment.parent).time
    if before is not None and comment.time is not None and comment.time <= before:
        yield "time", comment.path, "not newer than what it answers"


def _fields(raw: Mapping[str, Any], answers: str, part: str) -> Iterator[tuple[str, str, str]]:
    """Yield what is irregular in the fields that posts and comments share."""
    time, votes, entries = raw.get("timestamp"), raw.get("score"), raw.get(answers)
    if parse_time(time) is None:
        yield "time", part, f"expected a time such as 2024-05-02T08:00:00Z, found {time!r:.40}"
    if finite(votes) is None:
        yield "score", part, f"expected a number, found {votes!r:.40}"
    if not isinstance(entries, list):
        yield "comments", part, f"{answers}: expected a list, found {entries!r:.40}"
    elif strange := sum(not isinstance(entry, dict) for entry in entries):
        yield "comments", part, f"{answers}: {strange} of {len(entries)} entries are no objects"
