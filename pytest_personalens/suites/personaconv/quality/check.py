"""Checks the posts of a file or folder: the measures, the items and what is irregular."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite.data_check import DataCheck
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.datasets.quality.diversity import self_bleu, within_words
from pytest_personalens.suites.personaconv.data import fixed
from pytest_personalens.suites.personaconv.data.facts import NO_POST
from pytest_personalens.suites.personaconv.data.index import open_index
from pytest_personalens.suites.personaconv.data.plan import by_reason
from pytest_personalens.suites.personaconv.data.posts import finite
from pytest_personalens.suites.personaconv.protocols.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.protocols.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.protocols.open import named, post_files
from pytest_personalens.suites.personaconv.quality import guesses, rules
from pytest_personalens.suites.personaconv.quality.guesses import Labelled, Target
from pytest_personalens.suites.personaconv.quality.measures import (
    PostsQuality,
    domain_lines,
    left_out_lines,
    one_class_lines,
    rows,
)
from pytest_personalens.suites.personaconv.values import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.suite.data_check import Finding
    from pytest_personalens.suites.personaconv.data.facts import Facts
    from pytest_personalens.suites.personaconv.data.index import Index
    from pytest_personalens.suites.personaconv.data.plan import Plan
    from pytest_personalens.suites.personaconv.data.posts import Post

#: The name of the embedded posts.
EMBEDDED: Final = "personaconv"


def check_data(spec: str, words: int) -> DataCheck | None:
    """Return what there is to tell about posts, or None if the spec names no file or folder of posts.

    A spec is ``personaconv`` (the embedded posts), or the path of a file or a folder. Self-BLEU is over
    `words` words. Raise `DataError` for a file that cannot be read.
    """
    try:
        path = data_folder() / EMBEDDED if spec == EMBEDDED else Path(spec).expanduser()
    except RuntimeError:  # a home that nobody has
        return None
    files = post_files(path)
    if not files:
        return None
    index = open_index(files)
    seen = _Seen(index)
    plans = {
        "fixed": FixedProtocol(index, kinds=KINDS, settings=("P-Conv",), history="request", seed="").plan,
        "official": OfficialProtocol(index, kinds=KINDS, settings=("P-Conv",), seed="").plan,
    }
    name, version = named(path)
    of_domains = seen.targets(plans["fixed"])
    targets = [target for _, target in of_domains]
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
        left_out={protocol: by_reason(plan.left_out) for protocol, plan in plans.items()},
        positive=_positive(of_domains),
        by_majority=guesses.by_majority(targets),
        by_words=guesses.by_words(targets, seen.labelled),
        by_earlier_labels=guesses.by_earlier_labels(targets),
        sample_words=sum(map(len, sample)),
        self_bleu=self_bleu(sample),
        findings=tuple(seen.findings),
    )
    return DataCheck(
        dataset=quality.dataset,
        rows=rows(quality),
        summary=(*left_out_lines(quality), *one_class_lines(quality)),
        details=tuple(domain_lines(quality)),
        every=tuple(_each_left_out(plans)),
        findings=quality.findings,
        rules=len(rules.RULES),
        report=quality.model_dump(mode="json"),
    )


class _Seen:
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
        self._classes: dict[str, list[tuple[int, bool]]] = {}
        self._places: list[tuple[rules.Place, str]] = []
        self._identities: set[tuple[str, str]] = set()
        numbers: Counter[str] = Counter()
        for facts in index.posts:
            numbers[facts.user] += 1
            place = rules.Place(str(index.files[facts.file]), facts.user, numbers[facts.user])
            if facts.fixed[0].reason == NO_POST:
                self.findings.append(rules.no_post(place))
            else:
                self._see(place, facts, index.read(facts))
        self.findings += rules.across_posts(self._places)

    def targets(self, plan: Plan) -> list[tuple[str, Target]]:
        """Return the targets of sentiment, each with its domain."""
        targets = []
        for ref in plan.items["sentiment"]:
            facts = self._index.posts[plan.place(ref)]
            target = fixed.target_of(self._index.read(facts), "sentiment")
            assert not isinstance(target, str), "the index says that there is one"
            reply = Labelled(facts.user, target.text, fixed.label_of(target) == "positive")
            earlier = [p for time, p in self._classes.get(facts.user, ()) if time < (facts.time or 0)]
            targets.append((ref.domains[0], Target(reply, tuple(earlier))))
        return targets

    def _see(self, place: rules.Place, facts: Facts, post: Post) -> None:
        self.findings += rules.of_form(place, post)
        self.findings += rules.of_texts(place, post)
        if (facts.user, facts.identity) in self._identities:
            self.findings.append(place.finding("duplicate", "the same post stands in the data before"))
        self._identities.add((facts.user, facts.identity))
        self.domains[facts.domain] += 1
        self.comments.append(len(post.comments))
        self.scores += [
            score
            for raw in (post.raw, *(c.raw for c in post.comments))
            if (score := finite(raw.get("score"))) is not None
        ]
        self._places.append((place, "\n".join([post.text, *(c.text for c in post.comments)])))
        for comment in post.comments:
            self.depth = max(self.depth, comment.path.count("-") + 1)
            self.texts[f"{facts.user} {facts.identity} {comment.path}"] = comment.text
        for reply in fixed.past_replies(post):
            if abs(score := finite(reply.score) or 0) >= fixed.AMOUNT:
                self._classes.setdefault(facts.user, []).append((reply.time or 0, score > 0))
                self.labelled.append(Labelled(facts.user, reply.text, score > 0))


def _positive(targets: Sequence[tuple[str, Target]]) -> dict[str, float]:
    """Return the share of positive targets of each domain."""
    labels: dict[str, list[bool]] = {}
    for domain, target in targets:
        labels.setdefault(domain, []).append(target.reply.positive)
    return {domain: sum(each) / len(each) for domain, each in sorted(labels.items())}


def _each_left_out(plans: Mapping[str, Plan]) -> Iterator[str]:
    """Yield a line for each post that gives no item of a kind."""
    for protocol, plan in plans.items():
        for kind in KINDS:
            for user, number, reason in plan.left_out[kind]:
                yield f"{protocol} {kind}: {user}, post {number}: {reason}"
