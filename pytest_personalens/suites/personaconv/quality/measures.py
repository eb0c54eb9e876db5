"""The measures of posts in one object, and their rows in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from pytest_personalens.core.suite.data_check import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator


class PostsQuality(BaseModel):
    """All measures of posts.

    Shares and guesses are from 0 to 1, and guesses are None without targets. `items` and `left_out` are by
    protocol and kind: together they are all posts. `positive` is the share of positive targets by domain.
    `depth` is the highest number of comments from the top of a thread down.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["personalens-posts-quality/1"] = "personalens-posts-quality/1"
    dataset: str
    users: int
    posts: int
    domains: dict[str, int]
    comments: int
    comments_median: float
    comments_range: tuple[int, int]
    depth: int
    score_range: tuple[float, float]
    items: dict[str, dict[str, int]]
    left_out: dict[str, dict[str, dict[str, int]]]
    positive: dict[str, float]
    by_majority: float | None
    by_words: float | None
    by_earlier_labels: float | None
    sample_words: int
    self_bleu: float
    findings: tuple[Finding, ...]


def rows(data: PostsQuality) -> list[tuple[str, str, str]]:
    """Return a row for each measure: its words, its value, and the goal for the embedded posts."""
    low, high = data.comments_range
    shares = data.positive.values()
    return [
        ("users", f"{data.users:,}", "40"),
        ("posts (domains)", f"{data.posts:,} ({len(data.domains)})", "160 (10)"),
        ("comments", f"{data.comments:,}", "some 3,000"),
        ("comments a post (median, range)", f"{data.comments_median:g} ({low}-{high})", "12-16 (8-60)"),
        ("deepest thread", f"{data.depth}", "8"),
        ("scores", f"{data.score_range[0]:g} to {data.score_range[1]:g}", "-150 to 1500"),
        *((f"items, {kind}", f"{number:,}", "120") for kind, number in data.items["fixed"].items()),
        (
            "positive targets by domain",
            f"{min(shares):.0%}-{max(shares):.0%}" if shares else "-",
            "35-65%",
        ),
        ("guess: commonest class", _share(data.by_majority), "0.55 at most"),
        ("guess: words of the reply alone", _share(data.by_words), "0.65 at most"),
        ("guess: the user's earlier classes", _share(data.by_earlier_labels), "0.60-0.80"),
        ("words compared", f"{data.sample_words}", "the same number"),
        ("Self-BLEU", f"{data.self_bleu:.3f}", "lower is better"),
        ("findings", f"{len(data.findings):,}", "0"),
    ]


def left_out_lines(data: PostsQuality) -> Iterator[str]:
    """Yield, for each protocol and kind, the items and why the other posts give none."""
    yield f"{'protocol':<10}{'kind':<11}{'posts':>8}{'items':>8}  left out"
    for protocol, kinds in data.items.items():
        for kind, items in kinds.items():
            reasons = data.left_out[protocol][kind]
            reasons_text = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items()) or "none"
            yield f"{protocol:<10}{kind:<11}{items + sum(reasons.values()):>8,}{items:>8,}  {reasons_text}"


def one_class_lines(data: PostsQuality) -> Iterator[str]:
    """Yield a warning if all targets of sentiment are of one class."""
    targets = data.items["fixed"]["sentiment"]
    if data.by_majority == 1 and targets > 1:
        name = "positive" if any(data.positive.values()) else "negative"
        yield f"all {targets:,} targets of sentiment are {name}: MCC has no value"


def domain_lines(data: PostsQuality) -> Iterator[str]:
    """Yield each domain with its posts, and the share of its targets that are positive."""
    yield f"{'domain':<20}{'posts':>8}{'positive':>10}"
    for domain, posts in sorted(data.domains.items()):
        share = f"{data.positive[domain]:.0%}" if domain in data.positive else "-"
        yield f"{domain or '(none)':<20}{posts:>8,}{share:>10}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
