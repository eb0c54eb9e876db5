"""The measures of a dataset: its size, its facts, and how diverse it is, as one table."""

from __future__ import annotations

import csv
import hashlib
import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict

from pytest_personalens.core.safe_text import one_line
from pytest_personalens.core.suite import DataCheck, Finding
from pytest_personalens.datasets.quality.corpus import RULES

if TYPE_CHECKING:
    from pytest_personalens.datasets.quality.corpus import Corpus, Person, TaskFacts, TypeName


_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)*")
Gram = tuple[str, ...]
Texts = Sequence[Sequence[str]]


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def grams(tokens: Sequence[str], n: int) -> Counter[Gram]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def _entropy(counts: Iterable[int]) -> float:
    """Return the Shannon entropy of counts above 0, in nats."""
    seen = list(counts)
    total = sum(seen)
    return -sum(c / total * math.log(c / total) for c in seen)


def evenness(counts: Iterable[int]) -> float:
    """Return the Shannon evenness, 0 to 1 (PersonaLens, Eq. 1); it is 0 for a single value."""
    seen = [c for c in counts if c > 0]
    return _entropy(seen) / math.log(len(seen)) if len(seen) > 1 else 0.0


def distinct(texts: Texts, n: int) -> float:
    """Return Dist-n, 0 to 1: distinct n-grams over all n-grams (Li et al., NAACL 2016; PersonaLens, A.4)."""
    counts = _pooled(texts, n)
    return len(counts) / max(1, counts.total())


def entropy(texts: Texts, n: int = 4) -> float:
    """Return Ent-n in nats, of the n-grams of all texts (Zhang et al., NeurIPS 2018; PersonaLens, A.4)."""
    return _entropy(_pooled(texts, n).values()) or 0.0


def _pooled(texts: Texts, n: int) -> Counter[Gram]:
    pooled: Counter[Gram] = Counter()
    for tokens in texts:
        pooled.update(grams(tokens, n))
    return pooled


def self_bleu(texts: Texts, n: int = 4) -> float:
    """Return Self-BLEU, 0 to 1; lower is more diverse (Zhu et al., SIGIR 2018; PersonaLens, A.4).

    It is the mean BLEU-n of each text against all others. Counts of zero are smoothed to 0.1 (Chen and Cherry
    2014, method 1). The two highest counts of an n-gram suffice to clip the count of any text.
    """
    if len(texts) < 2:
        return 0.0
    logs, unlike = [0.0] * len(texts), set[int]()
    for size in range(1, n + 1):
        counts = [grams(tokens, size) for tokens in texts]
        best: dict[Gram, tuple[int, int, int]] = {}  # the highest count, its text, the highest of the others
        for i, counter in enumerate(counts):
            for gram, count in counter.items():
                first, owner, second = best.get(gram, (0, -1, 0))
                if count > first:
                    best[gram] = (count, i, first)
                elif count > second:
                    best[gram] = (first, owner, count)
        for i, counter in enumerate(counts):
            clipped = 0
            for gram, count in counter.items():
                first, owner, second = best[gram]
                clipped += min(count, second if owner == i else first)
            if size == 1 and not clipped:
                unlike.add(i)  # no word in common with any other text
            logs[i] += math.log((clipped or 0.1) / max(1, counter.total())) / n
    lengths, total = Counter(map(len, texts)), 0.0
    for i, tokens in enumerate(texts):
        own = len(tokens)
        others = [length for length, number in lengths.items() if number > (length == own)]
        closest = min(others, key=lambda length: (abs(length - own), length))
        brevity = 1.0 if own > closest else math.exp(1 - closest / max(1, own))
        total += 0 if i in unlike else brevity * math.exp(logs[i])
    return total / len(texts)


def within_words(texts: Mapping[str, str], limit: int) -> list[list[str]]:
    """Return texts of about `limit` words, drawn by the digest of their keys, to compare datasets with."""
    chosen: list[list[str]] = []
    left = limit
    for key in sorted(texts, key=lambda k: hashlib.sha256(k.encode()).digest()):
        if left <= 0:
            break
        chosen.append(words_in(texts[key])[:left])
        left -= len(chosen[-1])
    return chosen


def verbatim(value: str, text: str) -> bool:
    """True if a value stands in a text word for word; case does not matter."""
    return re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", text.lower()) is not None


_HERE: Final = Path(__file__).with_name("tables")
_TABLES: Final = tomllib.loads((_HERE / "demography.toml").read_text(encoding="utf-8"))
#: Shares of the 1,500 users (PersonaLens, Tables 6 and 7).
MARGINALS: Final[Mapping[str, Mapping[str, float]]] = {
    attribute: {category: count / 1500 for category, count in counts.items()}
    for attribute, counts in _TABLES["counts"].items()
}
_ALIASES: Final[Mapping[str, str]] = _TABLES["categories"]
_ETHNICITY: Final = "ethnicity"


@dataclass(frozen=True)
class Share:
    """The share of one demographic category here and in the paper, 0 to 1; None if it is not known."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    attribute: str
    category: str
    share: float
    paper: float | None


@cache
def regions() -> Mapping[str, str]:
    """Return the region in PRISM of every country, by its English name in lower case."""
    with (_HERE / "countries.csv").open(encoding="utf-8", newline="") as file:
        return {row["country"].lower(): row["region"] for row in csv.DictReader(file)}


def category(person: Person, attribute: str) -> str:
    """Return the category of `MARGINALS` for a person, or ``Other`` if there is none."""
    if attribute == "region":
        birth = person.demographics.get("birth_country", "")
        known = regions().get(_TABLES["countries"].get(birth.lower(), birth).lower())
        return known or _ALIASES.get(birth.lower(), "Other")
    value = person.demographics.get(attribute, "N/A").removesuffix(" years old").strip()
    value = _ALIASES.get(value.lower(), value)
    return value if value in MARGINALS[attribute] else "Other"


def marginals(people: Sequence[Person]) -> list[Share]:
    """Return every category of every attribute, and of ethnicity, which comes last, as the data has it."""
    rows, everyone = [], max(1, len(people))
    for attribute, expected in MARGINALS.items():
        counts = Counter(category(p, attribute) for p in people)
        names = dict.fromkeys([*expected, *counts])
        rows += [Share(attribute, name, counts[name] / everyone, expected.get(name, 0.0)) for name in names]
    stated = [p.demographics[_ETHNICITY] for p in people if p.demographics.get(_ETHNICITY)]
    ethnicities = Counter(_ALIASES.get(text.lower(), text) for text in stated).most_common()
    return rows + [Share(_ETHNICITY, name, number / everyone, None) for name, number in ethnicities]


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

    `facts_mean` is the number of facts of a task, and `deeds_on_facts` the share of deeds that rest on a
    closed one; both are None without facts. `words_range` and `words_mean` count the words of a summary, and
    `verbatim` is the share of the values that the summaries name word for word. Dist-n, Ent-4 and Self-BLEU
    are those of `sample_words` words of them.
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
    types, tasks = tuple(_types(corpus)), corpus.tasks.values()
    with_facts = [task for task in tasks if task.facts]
    deeds = sum(task.deeds for task in with_facts)
    categorical = [t.evenness for t in types if t.categorical] or [0.0]
    texts = {f"{p.id}\x1f{domain}": text for p in corpus.people for domain, text in p.summaries.items()}
    lengths = [len(text.split()) for text in texts.values()] or [0]
    sample = within_words(texts, words)
    named = [
        verbatim(value, person.summaries[domain])
        for person in corpus.people
        for (domain, _), held in person.preferences.items()
        if domain in person.summaries
        for value in held
    ]
    domains = []
    for name in corpus.domains:
        single, multi = _by_span([t for t in tasks if name in t.domains])
        users = sum(name in p.summaries for p in corpus.people)
        domains.append(
            DomainCount(
                domain=name,
                users=users,
                single_tasks=single,
                multi_tasks=multi,
                scenarios=corpus.scenarios[name],
            )
        )
    single, multi = _by_span(tasks)
    return Quality(
        dataset=corpus.name,
        users=len(corpus.people),
        single_tasks=single,
        multi_tasks=multi,
        scenarios=corpus.total,
        facts_mean=fmean(task.facts for task in with_facts) if with_facts else None,
        deeds_on_facts=sum(t.deeds_on_facts for t in tasks) / deeds if deeds else None,
        evenness_mean=fmean(categorical),
        words_mean=fmean(lengths),
        words_range=(min(lengths), max(lengths)),
        verbatim=fmean(named or [0]),
        sample_words=sum(map(len, sample)),
        dist_1=distinct(sample, 1),
        dist_2=distinct(sample, 2),
        ent_4=entropy(sample, 4),
        self_bleu=self_bleu(sample),
        domains=tuple(domains),
        types=types,
        demographics=tuple(marginals(corpus.people)),
        findings=tuple(corpus.found),
    )


def _by_span(tasks: Collection[TaskFacts]) -> tuple[int, int]:
    """Return the number of tasks of one domain, and of several."""
    single = sum(len(task.domains) == 1 for task in tasks)
    return single, len(tasks) - single


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
            evenness=evenness(values[key].values()),
            top_value=value,
            top_share=count / users[key],
        )


#: With fewer people, a share of them is chance, and has no goal.
_COMPARABLE: Final = 30
_OF_PEOPLE: Final = frozenset({"120 or more", "0.85 or more", "60% at most", "3 points at most"})
#: The demographic attributes in which a dataset should be like the paper's.
_HELD: Final = ("age", "gender", "region", "religion", "employment_status", "education")
#: The number of examples of each rule without --all.
_EXAMPLES: Final = 3
_Row = tuple[str, Callable[[Quality], str], str]


def data_check(data: Quality) -> DataCheck:
    """Return the quality of a dataset in the form that the command prints."""
    few = data.users < _COMPARABLE
    return DataCheck(
        dataset=data.dataset,
        rows=[(name, show(data), "" if few and goal in _OF_PEOPLE else goal) for name, show, goal in _ROWS],
        findings=data.findings,
        rules=len(RULES),
        report=data.model_dump(mode="json"),
    )


def overview(checks: Sequence[DataCheck]) -> Iterator[str]:
    """Yield one table of datasets that have the same measures, side by side."""
    columns = [[one_line(check.dataset), *(value for _, value, _ in check.rows)] for check in checks]
    widths = [max(map(len, column)) + 3 for column in columns]
    labels = [("", "goal"), *((label, goal) for label, _, goal in checks[0].rows)]
    for number, (label, goal) in enumerate(labels):
        cells = "".join(column[number].ljust(width) for column, width in zip(columns, widths, strict=True))
        yield one_line(f"{label:<34}{cells}{goal}".rstrip())


def finding_lines(check: DataCheck, *, every: bool) -> Iterator[str]:
    """Yield the findings by rule: a few examples of each, or `every` one."""
    by_rule = defaultdict(list)
    for problem in check.findings:
        by_rule[problem.rule].append(problem)
    if not by_rule:
        yield one_line(f"{check.dataset}: no findings ({check.rules} rule{'s' if check.rules > 1 else ''})")
    for rule, problems in by_rule.items():
        yield one_line(f"{check.dataset}: {rule}: {len(problems):,}")
        shown = problems if every else problems[:_EXAMPLES]
        yield from (
            one_line("  " + ": ".join(part for part in (p.file, p.field, p.message) if part)) for p in shown
        )
        if len(shown) < len(problems):
            yield f"  and {len(problems) - len(shown)} more (--all shows them)"


def _top(data: Quality) -> str:
    held = [(t.top_share, t.top_value) for t in data.types if t.categorical]
    return "{1:.18} {0:.0%}".format(*max(held)) if held else "none"


def _farthest(data: Quality) -> str:
    """Return the category (5 % or more in the paper) whose share differs most from the paper."""
    rows = [s for s in data.demographics if (s.paper or 0) >= 0.05 and s.attribute in _HELD]
    off = {s.category: 100 * (s.share - (s.paper or 0)) for s in rows}
    return "{:.17} {:+.1f}".format(*max(off.items(), key=lambda row: abs(row[1]))) if off else "none"


_ROWS: Final[Sequence[_Row]] = (
    ("users", lambda d: f"{d.users}", "120 or more"),
    ("tasks (single, multi)", lambda d: f"{d.single_tasks}, {d.multi_tasks}", ""),
    ("scenarios", lambda d: f"{d.scenarios}", ""),
    ("facts a task (mean)", lambda d: "-" if d.facts_mean is None else f"{d.facts_mean:.1f}", "3 or more"),
    (
        "deeds that rest on a closed fact",
        lambda d: "-" if d.deeds_on_facts is None else f"{d.deeds_on_facts:.0%}",
        "90% or more",
    ),
    ("mean evenness, categorical", lambda d: f"{d.evenness_mean:.2f}", "0.85 or more"),
    ("commonest categorical value", _top, "60% at most"),
    ("farthest from Tables 6 and 7", _farthest, "3 points at most"),
    (
        "words a summary (mean, range)",
        lambda d: "{:.0f} ({}-{})".format(d.words_mean, *d.words_range),
        "80-160",
    ),
    ("values named word for word", lambda d: f"{d.verbatim:.0%}", "90% at most"),
    ("words compared", lambda d: f"{d.sample_words}", "the same number"),
    ("Dist-1", lambda d: f"{d.dist_1:.3f}", "higher is better"),
    ("Dist-2", lambda d: f"{d.dist_2:.3f}", "higher is better"),
    ("Ent-4", lambda d: f"{d.ent_4:.2f}", "higher is better"),
    ("Self-BLEU", lambda d: f"{d.self_bleu:.3f}", "lower is better"),
    ("findings", lambda d: f"{len(d.findings)}", "0"),
)
