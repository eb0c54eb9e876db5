"""The measures of a dataset: its size, its facts, and how diverse its people and texts are."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict

from pytest_personalens.core.suite.data_check import Finding
from pytest_personalens.datasets.quality import demography, diversity
from pytest_personalens.datasets.quality.demography import Share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.datasets.quality.corpus import Corpus, TypeName

#: The demographic attributes in which a dataset should be like the paper's.
_HELD: Final = ("age", "gender", "region", "religion", "employment_status", "education")


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


class Texts(_Part):
    """The summaries; `verbatim` is the share of the values that they name word for word, from 0 to 1.

    The diversity is that of `sample_words` words of them.
    """

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


class Quality(_Part):
    """All measures of a dataset, in shares from 0 to 1, and what is wrong with it.

    `facts_mean` is the number of facts of a task, and `deeds_on_facts` the share of deeds that rest on a
    closed one; both are None where the tasks have no facts.
    """

    schema_version: Literal["personalens-quality/2"] = "personalens-quality/2"
    dataset: str
    users: int
    single_tasks: int
    multi_tasks: int
    scenarios: int
    facts_mean: float | None
    deeds_on_facts: float | None
    evenness_mean: float
    texts: Texts
    domains: tuple[DomainCount, ...]
    types: tuple[TypeSpread, ...]
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


def assess(corpus: Corpus, *, words: int = 50_000) -> Quality:
    """Return the measures of a corpus; those of texts use about `words` words, or all if there are fewer."""
    types = tuple(_types(corpus))
    tasks = corpus.tasks.values()
    facts = [task.facts for task in tasks if task.facts]
    deeds = sum(task.deeds for task in tasks if task.facts)
    categorical = [t.evenness for t in types if t.categorical]
    return Quality(
        dataset=corpus.name,
        users=len(corpus.people),
        single_tasks=sum(len(t.domains) == 1 for t in tasks),
        multi_tasks=sum(len(t.domains) > 1 for t in tasks),
        scenarios=corpus.total,
        facts_mean=sum(facts) / len(facts) if facts else None,
        deeds_on_facts=sum(t.deeds_on_facts for t in tasks) / deeds if deeds else None,
        evenness_mean=sum(categorical) / max(1, len(categorical)),
        texts=_texts(corpus, words),
        domains=tuple(_domains(corpus)),
        types=types,
        demographics=tuple(demography.marginals(corpus.people)),
        findings=corpus.findings,
    )


def _domains(corpus: Corpus) -> Iterator[DomainCount]:
    for name in corpus.domains:
        tasks = [t for t in corpus.tasks.values() if name in t.domains]
        yield DomainCount(
            domain=name,
            users=sum(name in p.summaries for p in corpus.people),
            single_tasks=sum(len(t.domains) == 1 for t in tasks),
            multi_tasks=sum(len(t.domains) > 1 for t in tasks),
            scenarios=corpus.scenarios[name],
        )


def _types(corpus: Corpus) -> Iterator[TypeSpread]:
    # This is the count of the paper: it uses every profile that holds the type, and the values as they are
    # spelled.
    values: dict[TypeName, Counter[str]] = defaultdict(Counter)
    users: Counter[TypeName] = Counter()
    for person in corpus.people:
        for key, held in person.preferences.items():
            users[key] += 1
            values[key].update(held)
    order = {name: place for place, name in enumerate(corpus.domains)}
    for key in sorted(users, key=lambda k: (order.get(k[0], len(order)), k[1])):
        value, count = max(values[key].items(), key=lambda item: (item[1], item[0]), default=("", 0))
        yield TypeSpread(
            domain=key[0],
            name=key[1],
            categorical=key in corpus.types and bool(corpus.types[key].values),
            users=users[key],
            possible=corpus.possible.get(key),
            distinct=len(values[key]),
            evenness=diversity.evenness(values[key].values()),
            top_value=value,
            top_share=count / users[key],
        )


def _texts(corpus: Corpus, limit: int) -> Texts:
    texts = {f"{p.id}\x1f{domain}": text for p in corpus.people for domain, text in p.summaries.items()}
    lengths = [len(t.split()) for t in texts.values()] or [0]
    named = [
        diversity.verbatim(value, person.summaries[domain])
        for person in corpus.people
        for (domain, _), held in person.preferences.items()
        if domain in person.summaries
        for value in held
    ]
    sample = diversity.within_words(texts, limit)
    return Texts(
        summaries=len(texts),
        words_mean=sum(lengths) / len(lengths),
        words_min=min(lengths),
        words_max=max(lengths),
        verbatim=_share(named),
        sample_words=sum(map(len, sample)),
        dist_1=diversity.distinct(sample, 1),
        dist_2=diversity.distinct(sample, 2),
        ent_4=diversity.entropy(sample, 4),
        self_bleu=diversity.self_bleu(sample),
    )


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / max(1, len(hits))
