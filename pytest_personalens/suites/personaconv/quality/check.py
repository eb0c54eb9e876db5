"""Checks the posts of a file or folder: the measures, the items and what is irregular."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict

from pytest_personalens.core.suite.data_check import DataCheck, Finding
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.datasets.quality.diversity import self_bleu, within_words
from pytest_personalens.suites.personaconv.data import fixed
from pytest_personalens.suites.personaconv.data.index import NO_POST, open_index
from pytest_personalens.suites.personaconv.data.posts import finite
from pytest_personalens.suites.personaconv.protocols.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.protocols.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.protocols.open import find_post_files, read_name
from pytest_personalens.suites.personaconv.quality import guesses, rules
from pytest_personalens.suites.personaconv.quality.guesses import Labelled, Target
from pytest_personalens.suites.personaconv.values import KINDS

if TYPE_CHECKING:
    from pytest_personalens.suites.personaconv.data.index import Index, IndexedPost
    from pytest_personalens.suites.personaconv.data.plan import PostsPlan
    from pytest_personalens.suites.personaconv.data.posts import Post

#: The name of the embedded posts.
EMBEDDED: Final = "personaconv"


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


def check_data(spec: str, words: int) -> DataCheck | None:
    """Return what there is to tell about posts, or None if the spec names no file or folder of posts.

    A spec is ``personaconv`` (the embedded posts), or the path of a file or a folder. Self-BLEU is over
    `words` words. Raise `DataError` for a file that cannot be read.
    """
    try:
        path = data_folder() / "suites" / EMBEDDED if spec == EMBEDDED else Path(spec).expanduser()
    except RuntimeError:  # a home that nobody has
        return None
    files = find_post_files(path)
    if not files:
        return None
    index = open_index(files)
    seen = _Reading(index)
    plans = {
        "fixed": FixedProtocol(index, kinds=KINDS, settings=("P-Conv",), history="request", seed="").plan,
        "official": OfficialProtocol(index, kinds=KINDS, settings=("P-Conv",), seed="").plan,
    }
    name, version = read_name(path)
    of_domains = seen.targets(plans["fixed"])
    targets = [target for of_domain in of_domains.values() for target in of_domain]
    sample = within_words(seen.texts, words)
    quality = PostsQuality(
        dataset=f"{name} {version or index.digest[:12]}",
        users=len(plans["fixed"].of_user),
        posts=len(index.posts),
        domains=seen.domains,
        comments=sum(seen.comments),
        comments_median=median(seen.comments or [0]),
        comments_range=(min(seen.comments, default=0), max(seen.comments, default=0)),
        depth=seen.depth,
        score_range=(min(seen.scores, default=0), max(seen.scores, default=0)),
        items={protocol: {kind: len(plan.items[kind]) for kind in KINDS} for protocol, plan in plans.items()},
        left_out={protocol: plan.excluded for protocol, plan in plans.items()},
        positive={
            domain: sum(target.reply.positive for target in each) / len(each)
            for domain, each in sorted(of_domains.items())
        },
        by_majority=guesses.by_majority(targets),
        by_words=guesses.by_words(targets, seen.labelled),
        by_earlier_labels=guesses.by_earlier_labels(targets),
        sample_words=sum(map(len, sample)),
        self_bleu=self_bleu(sample),
        findings=tuple(seen.findings),
    )
    return DataCheck(
        dataset=quality.dataset,
        rows=_rows(quality),
        summary=_summary_lines(quality),
        details=_domain_lines(quality),
        every=[
            f"{protocol} {kind}: {post.user}, post {post.number}: {post.reason}"
            for protocol, plan in plans.items()
            for kind in KINDS
            for post in plan.left_out[kind]
        ],
        findings=quality.findings,
        rules=len(rules.RULES),
        report=quality.model_dump(mode="json"),
    )


class _Reading:
    """What one reading of all posts shows."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.comments: list[int] = []
        self.scores: list[float] = []
        self.domains: Counter[str] = Counter()
        self.depth = 0
        self.texts: dict[str, str] = {}
        self.labelled: list[Labelled] = []
        self.findings: list[Finding] = []
        self._classes: defaultdict[str, list[tuple[int, bool]]] = defaultdict(list)
        self._places: list[tuple[rules.Place, str]] = []
        self._identities: set[tuple[str, str]] = set()
        numbers: Counter[str] = Counter()
        for entry in index.posts:
            numbers[entry.user] += 1
            place = rules.Place(str(index.files[entry.file]), entry.user, numbers[entry.user])
            if entry.fixed[0].reason == NO_POST:
                self.findings.append(place.finding("post", f"no object ({NO_POST})"))
            else:
                self._add(place, entry, index.read(entry))
        self.findings += rules.check_across_posts(self._places)

    def targets(self, plan: PostsPlan) -> dict[str, list[Target]]:
        """Return the targets of sentiment by domain."""
        targets: defaultdict[str, list[Target]] = defaultdict(list)
        for ref in plan.items["sentiment"]:
            entry = self._index.posts[plan.place(ref)]
            target = fixed.find_target(self._index.read(entry), "sentiment")
            reply = Labelled(entry.user, target.text, fixed.label_of(target) == "positive")
            earlier = [p for time, p in self._classes[entry.user] if time < (entry.time or 0)]
            targets[ref.domains[0]].append(Target(reply, tuple(earlier)))
        return targets

    def _add(self, place: rules.Place, entry: IndexedPost, post: Post) -> None:
        self.findings += rules.check_post(place, post)
        if (entry.user, entry.identity) in self._identities:
            self.findings.append(place.finding("duplicate", "the same post stands in the data before"))
        self._identities.add((entry.user, entry.identity))
        self.domains[entry.domain] += 1
        self.comments.append(len(post.comments))
        scores = (finite(raw.get("score")) for raw in (post.raw, *(c.raw for c in post.comments)))
        self.scores += [score for score in scores if score is not None]
        self._places.append((place, "\n".join([post.text, *(c.text for c in post.comments)])))
        for comment in post.comments:
            self.depth = max(self.depth, len(comment.ancestry))
            self.texts[f"{entry.user} {entry.identity} {comment.path}"] = comment.text
        for reply in fixed.past_replies(post):
            if abs(score := finite(reply.score) or 0) >= fixed.AMOUNT:
                self._classes[entry.user].append((reply.time or 0, score > 0))
                self.labelled.append(Labelled(entry.user, reply.text, score > 0))


def _rows(data: PostsQuality) -> list[tuple[str, str, str]]:
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
        ("positive targets by domain", f"{min(shares):.0%}-{max(shares):.0%}" if shares else "-", "35-65%"),
        ("guess: commonest class", _share(data.by_majority), "0.55 at most"),
        ("guess: words of the reply alone", _share(data.by_words), "0.65 at most"),
        ("guess: the user's earlier classes", _share(data.by_earlier_labels), "0.60-0.80"),
        ("words compared", f"{data.sample_words}", "the same number"),
        ("Self-BLEU", f"{data.self_bleu:.3f}", "lower is better"),
        ("findings", f"{len(data.findings):,}", "0"),
    ]


def _summary_lines(data: PostsQuality) -> list[str]:
    """Return the items and why the other posts give none, and a warning if all targets are of one class."""
    lines = [f"{'protocol':<10}{'kind':<11}{'posts':>8}{'items':>8}  left out"]
    for protocol, kinds in data.items.items():
        for kind, items in kinds.items():
            reasons = data.left_out[protocol][kind]
            text = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items()) or "none"
            lines.append(f"{protocol:<10}{kind:<11}{items + sum(reasons.values()):>8,}{items:>8,}  {text}")
    targets = data.items["fixed"]["sentiment"]
    if data.by_majority == 1 and targets > 1:
        name = "positive" if any(data.positive.values()) else "negative"
        lines.append(f"all {targets:,} targets of sentiment are {name}: MCC has no value")
    return lines


def _domain_lines(data: PostsQuality) -> list[str]:
    """Return a line for each domain: its posts, and the share of its targets that are positive."""
    lines = [f"{'domain':<20}{'posts':>8}{'positive':>10}"]
    for domain, posts in sorted(data.domains.items()):
        share = f"{data.positive[domain]:.0%}" if domain in data.positive else "-"
        lines.append(f"{domain or '(none)':<20}{posts:>8,}{share:>10}")
    return lines


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
