"""Collects the measures of a dataset in one object, for a table or for JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict

from pytest_personalens.core.suite.data_check import Finding
from pytest_personalens.datasets.quality import (
    demography,
    diversity,
    rules_people,
    rules_tasks,
    rules_text,
    rules_world,
)
from pytest_personalens.datasets.quality.demography import Share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_personalens.datasets.quality.corpus import Corpus, Place, TypeName

#: The name of a rule's findings, and the rule. Its docstring says what must hold; it yields each place where
#: that does not hold.
RULES: Final[Sequence[tuple[str, Callable[[Corpus], Iterator[Place]]]]] = (
    ("reference", rules_tasks.references),
    ("ambiguous", rules_tasks.ambiguous),
    ("no-type", rules_tasks.without_type),
    ("unused-type", rules_tasks.unused_types),
    ("interest-key", rules_people.interest_keys),
    ("outside-mask", rules_people.outside_mask),
    ("mask-tasks", rules_tasks.mask_tasks),
    ("task-copy", rules_tasks.copies),
    ("situation", rules_tasks.situations),
    ("situation", rules_tasks.small_screens),
    ("age", rules_people.age_employment),
    ("undisclosed", rules_people.undisclosed),
    ("timezone", rules_people.timezone_country),
    ("diet", rules_people.diet),
    ("spelling", rules_people.spelling),
    ("off-list", rules_people.off_list),
    ("summary", rules_text.missing),
    ("preamble", rules_text.preamble),
    ("language", rules_text.language),
    ("repeated", rules_text.repeated),
    ("contradiction", rules_world.contradicting),
    ("limit", rules_world.limits_untold),
    ("device", rules_world.devices_of_dealings),
    ("facts", rules_world.few_facts),
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DomainCount(_Part):
    """Users, tasks and scenarios of one domain; a scenario over several counts in each of them."""

    domain: str
    users: int
    single_tasks: int
    multi_tasks: int
    scenarios: int


class TypeSpread(_Part):
    """The spread of the values of one preference type, in shares from 0 to 1.

    `possible` is the number of values in the list of the type, or None if it has no list.
    """

    domain: str
    name: str
    categorical: bool
    users: int
    possible: int | None
    distinct: int
    evenness: float
    top_value: str
    top_share: float
    verbatim: float


class Texts(_Part):
    """The summaries of the domains of interest; the diversity is that of `sample_words` words of them."""

    summaries: int
    words_mean: float
    words_min: int
    words_max: int
    verbatim: float
    sample_words: int
    dist_1: float
    dist_2: float
    ent_4: float
    self_bleu: float


class Spread(_Part):
    """The commonest value of one part of the situations, and its share of the scenarios."""

    part: str
    distinct: int
    top_value: str
    top_share: float


class Quality(_Part):
    """All measures of a dataset.

    Shares and evenness are from 0 to 1. `interest_gain` is a difference of shares. `facts_mean` is the number
    of facts of a task, and `deeds_on_facts` the share of deeds that rest on one; both are None where the
    format has no facts.
    """

    schema_version: Literal["personalens-quality/1"] = "personalens-quality/1"
    dataset: str
    users: int
    masks: int
    domains_mean: float
    domains_min: int
    domains_max: int
    interest_gain: float
    single_tasks: int
    multi_tasks: int
    scenarios: int
    facts_mean: float | None = None
    deeds_on_facts: float | None = None
    dealings: int = 0
    limits: int = 0
    evenness_mean: float
    texts: Texts
    domains: tuple[DomainCount, ...]
    types: tuple[TypeSpread, ...]
    situations: tuple[Spread, ...]
    demographics: tuple[Share, ...]
    findings: tuple[Finding, ...]

    @property
    def top(self) -> TypeSpread | None:
        """The categorical type with the value that the largest share of users has."""
        return max((t for t in self.types if t.categorical), key=lambda t: t.top_share, default=None)

    @property
    def farthest(self) -> Share | None:
        """The demographic category (5 % or more in the paper) that differs most from the paper."""
        rows = [s for s in self.demographics if (s.paper or 0) >= 0.05 and s.attribute in _HELD]
        return max(rows, key=lambda s: abs(s.share - (s.paper or 0)), default=None)


_HELD: Final = ("age", "gender", "region", "religion", "employment_status", "education")


def assess(corpus: Corpus, *, words: int = 50_000) -> Quality:
    """Return the measures of a corpus; those of texts use about `words` words, or all if there are fewer."""
    sizes = [len(p.mask) for p in corpus.people] or [0]
    named = _named(corpus)
    types = _types(corpus, named)
    facts = [task.facts for task in corpus.tasks if task.facts is not None]
    deeds = sum(task.deeds for task in corpus.tasks)
    found = (Finding(name, *place) for name, rule in RULES for place in rule(corpus))
    categorical = [t.evenness for t in types if t.categorical]
    return Quality(
        dataset=corpus.name,
        users=len(corpus.people),
        masks=len({p.mask for p in corpus.people}),
        domains_mean=sum(sizes) / len(sizes),
        domains_min=min(sizes),
        domains_max=max(sizes),
        interest_gain=demography.interest_gain(corpus.people, corpus.domains),
        single_tasks=sum(len(t.domains) == 1 for t in corpus.tasks),
        multi_tasks=sum(len(t.domains) > 1 for t in corpus.tasks),
        scenarios=len(corpus.assignments),
        facts_mean=sum(facts) / len(facts) if facts else None,
        deeds_on_facts=sum(t.deeds_on_facts for t in corpus.tasks) / deeds if deeds else None,
        dealings=sum(len(p.dealing_devices) for p in corpus.people),
        limits=sum(len(p.limits) for p in corpus.people),
        evenness_mean=sum(categorical) / max(1, len(categorical)),
        texts=_texts(corpus, words, named),
        domains=tuple(_domains(corpus)),
        types=types,
        situations=tuple(_situations(corpus)),
        demographics=tuple(demography.marginals(corpus.people)),
        findings=(*corpus.problems, *found),
    )


def _domains(corpus: Corpus) -> Iterator[DomainCount]:
    for name in corpus.domains:
        tasks = [t for t in corpus.tasks if name in t.domains]
        yield DomainCount(
            domain=name,
            users=sum(name in p.mask for p in corpus.people),
            single_tasks=sum(len(t.domains) == 1 for t in tasks),
            multi_tasks=sum(len(t.domains) > 1 for t in tasks),
            scenarios=sum(name in a.domains for a in corpus.assignments),
        )


def _named(corpus: Corpus) -> dict[TypeName, list[bool]]:
    """Return, for each type, whether the summary has each value of a domain of interest word for word."""
    named: dict[TypeName, list[bool]] = defaultdict(list)
    for person in corpus.people:
        for key, held in person.preferences.items():
            if key[0] in person.mask:
                named[key] += [diversity.verbatim(v, person.summaries.get(key[0], "")) for v in held]
    return named


def _types(corpus: Corpus, named: Mapping[TypeName, list[bool]]) -> tuple[TypeSpread, ...]:
    # This is the count of the paper: it uses every profile that holds the type, and the values as they are
    # spelled.
    values: dict[TypeName, Counter[str]] = defaultdict(Counter)
    holders: dict[TypeName, Counter[str]] = defaultdict(Counter)
    users: Counter[TypeName] = Counter()
    for person in corpus.people:
        for key, held in person.preferences.items():
            users[key] += 1
            values[key].update(held)
            holders[key].update(set(held))
    order = {name: place for place, name in enumerate(corpus.domains)}
    rows = []
    for key in sorted(users, key=lambda k: (order.get(k[0], len(order)), k[1])):
        value, count = max(holders[key].items(), key=lambda item: (item[1], item[0]), default=("", 0))
        rows.append(
            TypeSpread(
                domain=key[0],
                name=key[1],
                categorical=corpus.categorical(key),
                users=users[key],
                possible=corpus.possible.get(key),
                distinct=len(values[key]),
                evenness=diversity.evenness(values[key].values()),
                top_value=value,
                top_share=count / users[key],
                verbatim=_share(named.get(key, [])),
            )
        )
    return tuple(rows)


def _texts(corpus: Corpus, limit: int, named: Mapping[TypeName, list[bool]]) -> Texts:
    texts = {f"{p.id}\x1f{d}": p.summaries[d] for p in corpus.people for d in p.mask & set(p.summaries)}
    lengths = [len(t.split()) for t in texts.values()] or [0]
    sample = diversity.within_words(texts, limit)
    return Texts(
        summaries=len(texts),
        words_mean=sum(lengths) / len(lengths),
        words_min=min(lengths),
        words_max=max(lengths),
        verbatim=_share([hit for hits in named.values() for hit in hits]),
        sample_words=sum(map(len, sample)),
        dist_1=diversity.distinct(sample, 1),
        dist_2=diversity.distinct(sample, 2),
        ent_4=diversity.entropy(sample, 4),
        self_bleu=diversity.self_bleu(sample),
    )


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / max(1, len(hits))


def _situations(corpus: Corpus) -> Iterator[Spread]:
    for part in ("location", *rules_tasks.SITUATION_VALUES):
        counts = Counter(a.situation.get(part, "") for a in corpus.assignments)
        value, count = max(counts.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        yield Spread(
            part=part, distinct=len(counts), top_value=value, top_share=count / max(1, counts.total())
        )
