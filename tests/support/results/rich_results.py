"""Results of any size with everything that a report may meet; equal arguments give equal ones."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens import Dialogue, Evaluation, Message, Results, Scenario, Situation, Task, Verdict
from pytest_personalens.core.judging.evaluation import Cause
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.judging.verdict import READINGS, Dimension, Evidence, Reason, ReasonCode, Vote
from pytest_personalens.core.names import CaseId
from pytest_personalens.core.options.gate import GateExpression
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.results.comparison.baseline import baseline_of
from pytest_personalens.results.comparison.compare import compare_with_baseline
from pytest_personalens.results.comparison.pairs import controls_of, trials_of
from pytest_personalens.results.gates.check import check_gates
from pytest_personalens.results.summarize import attach_earlier, summarize
from pytest_personalens.results.values.item import Item, shortfalls_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What a model, a user of a chatbot or a dataset may say to the page that shows it.
HOSTILE: Final = (
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=\"window.pwned=1\">",
    "<!--<script>--> &lt;b&gt; &amp; <svg onload=window.pwned=1>",
    "right \u202eto left\u202c, zero\u200bwidth, \u2066isolated\u2069 and \u0007bell\u0000nul\x1b[31m",
    "{{ 7*7 }} {% raw %} ${7*7} `x` $\\frac{1}{2}$ \\u003c \u2028line\u2029end",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 Ἀθῆναι, 東京, مرحبا, \ufeff\u00ad",
)  # fmt: skip
_SAID: Final = (
    "I'd like to set up a reading plan for the next month that I'll really stick to.",
    "Your plan for the month is set: 'Persuasion' by Jane Austen, 25 pages at a sitting, several times a week.",
    "That's not what I'd take. I'd like daily, and on my commute.",
    "I've changed that for you. I've set a nudge for you in the commute, and on the 28th you'd turn the last page.",
    "Could you check for a table near the station, somewhere quiet, for two?",
    "I've booked the Olive Tree at 19:30 for two, by the window as usual. The reference is QX77.",
    "Great, thank you. That's everything.",
    "Any time. Take care!",
)
_NOTES: Final = ("goes against what is known", "uses what is known", "the user objects", "done", "")
_WHY: Final = (
    "what the goal asks for was done or delivered",
    "the user objects",
    "nothing that jars",
    "stiff, confused or repetitive in places",
)


def rich_results(
    count: int, *, seed: str = "rich", trials: int = 1, controls: Sequence[str] = (), compared: bool = False, hostile: bool = False,
    invalid: bool = False, profiles: bool = True, floor: float = 2.5, each: int = 1,
) -> Results:  # fmt: skip
    """Results of `count` scenarios; `invalid`: none scored, `floor`: the gate of P, `each`: by user."""
    rng = random.Random(seed)
    scenarios = [_scenario(n, rng, hostile=hostile, each=each) for n in range(count)]
    assert len({(s.user, s.task.id) for s in scenarios}) == count
    items = [
        _item(s, number, trial, control, rng, hostile=hostile, invalid=invalid)
        for number, s in enumerate(scenarios)
        for control in ("", *controls)
        for trial in range(1, (trials if not control else 1) + 1)
    ]
    results = _run(items, count, hostile=hostile)
    more: dict[str, Any] = {"controls": controls_of(results.items, results.of_suite)}
    more["trials"] = trials_of(results.own, trials, results.of_suite) if trials > 1 else None
    if profiles:
        more["scenarios"] = {s.id: s for s in scenarios}
    results = results.model_copy(update=more)
    if compared:
        # Better then, over nearly the same scenarios.
        asked = [*scenarios[1:], _scenario(count, rng, hostile=hostile)]
        then = [_item(s, n, 1, "", rng, better=2, invalid=n == 3) for n, s in enumerate(asked, 1)]
        base = baseline_of(_run(then, count))
        results = attach_earlier(results, base)
        name = "baselines/main.json"
        comparison = compare_with_baseline(base, results, name=name, level=0.05, margins={})
        results = results.model_copy(update={"comparison": comparison})
    gates = [
        GateExpression("", metric, limit) for metric, limit in (("tcr", 0.6), ("p", floor), ("valid", 0.5))
    ]
    return results.model_copy(update={"gates": check_gates(results, gates)})


def _run(items: Sequence[Item], count: int, *, hostile: bool = False) -> Results:
    settings: dict[str, Any] = {
        "sample": count, "seed": "personalens", "shard": None, "context": "DIS", "users": [],
        "assistant": HOSTILE[0] if hostile else None,
    }  # fmt: skip
    return summarize(items, settings=settings, dataset="embedded 2.0", requested=count, drawn=count)


def _scenario(number: int, rng: random.Random, *, hostile: bool, each: int = 1) -> Scenario:
    domains = tuple(sorted(rng.sample(DOMAINS, 3))) if number % 5 == 4 else (DOMAINS[number % 20],)
    odd = HOSTILE[number % len(HOSTILE)] if hostile else ""
    known = {
        "Favourite Author": ("Jane Austen", odd or "N. K. Jemisin"),
        "Preferred Time": ("on the commute",),
    }
    told = "Over the last months this person asked about {} a dozen times, mostly on the way to work."
    return Scenario(
        id=f"{domains[0].lower().replace(' ', '-')}-{number % 7 + 1}-user{number}", user=f"user{number // each}",
        name=odd or rng.choice(("Tinashe", "Inés", "Mei-Ling", "Salvatore", "Noor")),
        dataset="embedded 2.0", kind="multi" if len(domains) > 1 else "single", domains=domains,
        demographics={"age": "25-34", "gender": "Female", "employment_status": "Employed full-time", "birth_country": odd or "Zimbabwe"},
        preferences={d: dict(known) for d in domains},
        summaries={d: f"{number}: {told.format(d.lower())} {odd} " * 3 for d in domains},
        situation=Situation(
            location="on the train", device="Phone", time_of_day="Morning", day_of_week="Wednesday", environment=odd or "busy",
        ),
        task=Task(
            id=f"{domains[0].lower()}-{number % 7 + 1}",
            description=odd or "Set up a reading plan for the next month, with reminders",
            intent="a plan for a month of reading that fits the commute, with a nudge when it is time",
            goal="a plan with a title, a pace and a reminder was set up",
            relevant=tuple((d, "Favourite Author") for d in domains),
        ),
    )  # fmt: skip


def _item(
    scenario: Scenario, number: int, trial: int, control: str, rng: random.Random, *, better: int = 1,
    hostile: bool = False, invalid: bool = False,
) -> Item:  # fmt: skip
    better, invalid = 0 if control else better, invalid or number % 37 == 36
    e = _evaluation(scenario, number, rng, better=better, hostile=hostile, invalid=invalid)
    shortfalls = shortfalls_of(e, {Dimension.TASK_COMPLETION: 1, Dimension.PERSONALIZATION: 2})
    label = CaseId(scenario.id, control, trial)
    test = "tests/test_bot.py::test_bot"
    return Item(
        nodeid=f"{test}[{label}]", evaluation=e, test=test, trial=trial, control=control, shortfalls=shortfalls,
        status="uncounted" if e.cause else "low" if shortfalls else "passed", failed=bool(e.cause),
        record="replayed" if number % 2 else "none",
        record_file=f"tests/__personalens__/test_bot/{label}.json" if number % 2 else "",
        given={"": "DIS", "none": "", "swapped": "DIS"}.get(control, control),
        given_user="user0" if control == "swapped" else "",
    )  # fmt: skip


def _evaluation(
    scenario: Scenario, number: int, rng: random.Random, *, better: int, hostile: bool, invalid: bool
) -> Evaluation:
    said = [f"{rng.choice(_SAID[0::2])} {number}" if n % 2 == 0 else rng.choice(_SAID[1::2]) for n in range(2 * rng.randint(1, 5))]  # fmt: skip
    if hostile:
        said[0] = HOSTILE[number % len(HOSTILE)] + " " + said[0]
        said[1] = HOSTILE[(number + 1) % len(HOSTILE)] if number else "long " + "word <b>& " * 10_000
    messages = tuple(
        Message(role="assistant" if n % 2 else "user", content=text) for n, text in enumerate(said)
    )
    cause: Cause = rng.choice(("assistant", "judge", "user-agent", "budget")) if invalid else ""
    p = min(4, rng.choice((1, 2, 2, 3)) + better * (number % 3 > 0))
    done = int(rng.random() < 0.8)
    scores = {
        Dimension.TASK_COMPLETION: done,
        Dimension.PERSONALIZATION: p,
        Dimension.PERSONALIZATION_TURNS: p,
    }
    return Evaluation(
        scenario=scenario.id, user=scenario.user, task=scenario.task.id, kind=scenario.kind, domains=scenario.domains, dataset=scenario.dataset,
        user_agent="embedded-user 2", judge="embedded-judge 2", dialogue=Dialogue(messages=messages, end="fault" if cause else "user"),
        verdicts=() if cause else tuple(_verdict(d, scores.get(d), messages, rng, scenario) for d in (*READINGS, Dimension.PERSONALIZATION_TURNS)),
        cause=cause, detail=(HOSTILE[1] if hostile else "the assistant raised TimeoutError: no answer in 60 s") if cause else "",
        usage={"judge p": Usage(calls=1, input_tokens=900, output_tokens=80)},
    )  # fmt: skip


def _verdict(
    dimension: Dimension,
    score: int | None,
    messages: Sequence[Message],
    rng: random.Random,
    scenario: Scenario,
) -> Verdict:
    low, high = dimension.scale
    given = rng.randint(max(low, high - 2), high) if score is None else score
    turns = sorted(rng.sample(range(len(messages)), min(2, len(messages))))
    replies = len(messages) // 2
    quoted = rng.choice(_WHY)
    evidence = (
        tuple(Evidence.of(t, messages[t].content.split(". ")[0], rng.choice(_NOTES)) for t in turns)
        if rng.random() < 0.7
        else ()
    )
    read_by_turn = dimension is Dimension.PERSONALIZATION_TURNS
    by_turn = (min(4, max(1, given + rng.randint(-1, 1))) for _ in range(replies - 1) if read_by_turn)
    scores = (*by_turn, given) if read_by_turn else ()
    voted = dimension is Dimension.PERSONALIZATION and rng.random() < 0.2
    votes = tuple(Vote(score=given, justification=rng.choice(_WHY)) for _ in range(3 * voted))
    return Verdict(
        dimension=dimension, score=given, justification=quoted, evidence=evidence,
        reasons=_reasons(dimension, given, scenario), turns=scores, votes=votes,
    )  # fmt: skip


_CODES: Final[dict[int, ReasonCode]] = {1: "asks-known", 2: "uses-stated", 3: "applies", 4: "anticipates"}


def _reasons(dimension: Dimension, score: int, scenario: Scenario) -> tuple[Reason, ...]:
    """As the embedded judge gives them: about a preference for P, about a part of the goal for TC."""
    if dimension is Dimension.TASK_COMPLETION:
        return (Reason(code="done" if score else "missing", part="a reminder", turn=1),)
    if dimension is not Dimension.PERSONALIZATION:
        return ()
    domain = scenario.domains[0]
    values = scenario.preferences[domain]["Favourite Author"]
    about = {"domain": domain, "type": "Favourite Author", "value": values[0]}
    ignored = {"domain": domain, "type": "Preferred Time", "value": "on the commute"}
    return (
        Reason(code=_CODES[score], turn=1, **about),
        *([Reason(code="ignores", **ignored)] if score < 3 else []),
    )
