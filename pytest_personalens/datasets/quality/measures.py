"""The measures of a dataset: its size, its facts, and how diverse its people and texts are."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from pytest_personalens.core.suite import Finding
from pytest_personalens.datasets.quality import demography, diversity
from pytest_personalens.datasets.quality.demography import Share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.datasets.quality.corpus import Corpus, TypeName


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


class Quality(_Part):
    """All measures of a dataset, in shares from 0 to 1, and what is wrong with it.

    `facts_mean` is the number of facts of a task, `deeds_on_facts` the share of deeds that rest on a closed
    one, and `facts_named` that of closed facts that a part names; all are None without facts. `words_range`
    and `words_mean` count the words of a summary, and `verbatim` is the share of the values that the
    summaries name word for word. Dist-n, Ent-4 and Self-BLEU are those of `sample_words` words of them.
    """

    schema_version: Literal["personalens-quality/2"] = "personalens-quality/2"
    dataset: str
    users: int
    single_tasks: int
    multi_tasks: int
    scenarios: int
    facts_mean: float | None
    deeds_on_facts: float | None
    facts_named: float | None
    evenness_mean: float
    words_mean: float
    words_range: tuple[int, int]
    verbatim: float
    sample_words: int
    dist_1: float
    dist_2: float
    ent_4: float
    self_bleu: float
    domains: tuple[DomainCount, ...]
    types: tuple[TypeSpread, ...]
    demographics: tuple[Share, ...]
    findings: tuple[Finding, ...]


def assess(corpus: Corpus, *, words: int = 50_000) -> Quality:
    """Return the measures of a corpus; those of texts use about `words` words, or all if there are fewer."""
    types = tuple(_types(corpus))
    tasks = corpus.tasks.values()
    facts = [task.facts for task in tasks if task.facts]
    deeds = sum(task.deeds for task in tasks if task.facts)
    closed = sum(task.closed for task in tasks)
    categorical = [t.evenness for t in types if t.categorical]
    texts = {f"{p.id}\x1f{domain}": text for p in corpus.people for domain, text in p.summaries.items()}
    lengths = [len(text.split()) for text in texts.values()] or [0]
    sample = diversity.within_words(texts, words)
    named = [
        diversity.verbatim(value, person.summaries[domain])
        for person in corpus.people
        for (domain, _), held in person.preferences.items()
        if domain in person.summaries
        for value in held
    ]
    return Quality(
        dataset=corpus.name,
        users=len(corpus.people),
        single_tasks=sum(len(t.domains) == 1 for t in tasks),
        multi_tasks=sum(len(t.domains) > 1 for t in tasks),
        scenarios=corpus.total,
        facts_mean=sum(facts) / len(facts) if facts else None,
        deeds_on_facts=sum(t.deeds_on_facts for t in tasks) / deeds if deeds else None,
        facts_named=sum(t.named for t in tasks) / closed if closed else None,
        evenness_mean=sum(categorical) / max(1, len(categorical)),
        words_mean=sum(lengths) / len(lengths),
        words_range=(min(lengths), max(lengths)),
        verbatim=sum(named) / max(1, len(named)),
        sample_words=sum(map(len, sample)),
        dist_1=diversity.distinct(sample, 1),
        dist_2=diversity.distinct(sample, 2),
        ent_4=diversity.entropy(sample, 4),
        self_bleu=diversity.self_bleu(sample),
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
            categorical=key in corpus.categorical,
            users=users[key],
            possible=corpus.possible.get(key),
            distinct=len(values[key]),
            evenness=diversity.evenness(values[key].values()),
            top_value=value,
            top_share=count / users[key],
        )
