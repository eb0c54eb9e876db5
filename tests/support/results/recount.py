"""The tables of the paper counted again from results files alone: this script imports nothing of the package.

    python recount.py RESULTS.json...

It prints a JSON object: the name of a table -> the name of a row -> its figures, None where there is none.
Rows of differences are named "row | score"; their figures are the difference, the ends of its 95 % interval, p,
p (Holm) and the number of scenarios. An end of an interval that comes of random draws is given as the lowest and
the highest value that the draws can give. Intervals and p-values are over users: scenarios of one user may rise and
fall together.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from scipy import stats

KINDS = {"single": "SD", "multi": "MD"}
OF_ASSISTANT = ("task_completion", "personalization", "naturalness_assistant", "coherence_assistant")
OF_USER = ("naturalness_user", "coherence_user")
HEADINGS = {"task_completion": "TCR %", "personalization": "P"} | {
    f"{what}_{who}": name
    for what, name in (("naturalness", "Nat"), ("coherence", "Coh"))
    for who in ("user", "assistant")
}
#: The width of each scale.
WIDTH = {"task_completion": 1, "personalization": 3} | dict.fromkeys(
    ("naturalness_user", "naturalness_assistant", "coherence_user", "coherence_assistant"), 4
)
Scenario = tuple[str, str]
End = float | tuple[float, float]
Figure = End | None
#: How far the share outside an end that comes of 20,000 draws may be off: four standard errors.
OFF = 4 * math.sqrt(0.025 * 0.975 / 20_000)


def scored(items: list[dict[str, Any]], kind: str = "") -> list[dict[str, Any]]:
    return [i for i in items if not i["evaluation"]["cause"] and kind in ("", i["evaluation"]["kind"])]


def score(item: dict[str, Any], dimension: str) -> int | None:
    return next((v["score"] for v in item["evaluation"]["verdicts"] if v["dimension"] == dimension), None)


def by_scenario(items: list[dict[str, Any]], dimension: str) -> dict[Scenario, dict[int, int]]:
    """Scenario -> trial -> score; the files that this counts have one test."""
    found: dict[Scenario, dict[int, int]] = defaultdict(dict)
    for item in items:
        value = score(item, dimension)
        if value is not None:
            found[item["evaluation"]["user"], item["evaluation"]["task"]][item["trial"]] = value
    return found


def mean(values: list[Fraction]) -> Fraction | None:
    return sum(values, Fraction()) / len(values) if values else None


def of_scenarios(items: list[dict[str, Any]], dimension: str, kind: str = "") -> dict[Scenario, Fraction]:
    """Scenario -> its mean over its trials."""
    return {
        key: Fraction(sum(trials.values()), len(trials))
        for key, trials in by_scenario(scored(items, kind), dimension).items()
    }


def figure(items: list[dict[str, Any]], dimension: str, kind: str = "") -> float | None:
    found = mean(list(of_scenarios(items, dimension, kind).values()))
    return None if found is None else float(found * (100 if dimension == "task_completion" else 1))


def change(
    base: list[dict[str, Any]], other: list[dict[str, Any]], dimension: str, kind: str
) -> dict[Scenario, Fraction]:
    """other - base of each scenario that both scored, over as many trials on either side."""
    before, after = (by_scenario(scored(items, kind), dimension) for items in (base, other))
    found = {}
    for key in sorted(before.keys() & after.keys()):
        trials = min(len(before[key]), len(after[key]))
        sides = [Fraction(sum([s[t] for t in sorted(s)][:trials]), trials) for s in (before[key], after[key])]
        found[key] = sides[1] - sides[0]
    return found


def of_users(values: dict[Scenario, Fraction]) -> list[list[Fraction]]:
    """The values of each user's scenarios."""
    users: dict[str, list[Fraction]] = {}
    for (user, _), value in sorted(values.items()):
        users.setdefault(user, []).append(value)
    return list(users.values())


def sums_by_chance(changes: dict[Scenario, Fraction]) -> tuple[Fraction, Counter[Fraction]]:
    """The sum seen, and how often each sum comes of all ways to give the users' sums signs."""
    ways: Counter[Fraction] = Counter({Fraction(): 1})
    for one in map(sum, of_users(changes)):
        after: Counter[Fraction] = Counter()
        for total, count in ways.items():
            after[total + one] += count
            after[total - one] += count
        ways = after
    return sum(changes.values(), Fraction()), ways


def two_sided(changes: dict[Scenario, Fraction]) -> float:
    """The share of sums by chance that are as far from 0 as the one seen, or farther."""
    seen, ways = sums_by_chance(changes)
    far = sum(count for total, count in ways.items() if abs(total) >= abs(seen))
    return float(Fraction(far, ways.total()))


def of_a_rise(changes: dict[Scenario, Fraction]) -> float:
    """The share of sums by chance that are as high as the one seen, or higher."""
    seen, ways = sums_by_chance(changes)
    return float(Fraction(sum(count for total, count in ways.items() if total >= seen), ways.total()))


def interval(values: dict[Scenario, Fraction], lowest: int, highest: int) -> tuple[float, float] | None:
    """Student's t interval of the users' means and of two more users, one at each end of the scale.

    A user weighs as many as it has scenarios; the two added ones weigh as much as the user of a scenario
    picked at random does on average.
    """
    users = of_users(values)
    if len(users) < 3:
        return None
    sizes = [len(user) for user in users]
    usual = sum(size * size for size in sizes) / sum(sizes)
    drawn = [(float(sum(user) / len(user)), float(len(user))) for user in users]
    mean = sum(value * weight for value, weight in drawn) / sum(sizes)
    drawn += [(lowest, usual), (highest, usual)]
    whole = sum(weight for _, weight in drawn)
    shares = [(value, weight / whole) for value, weight in drawn]
    centre = sum(value * share for value, share in shares)
    as_many_as = 1 / sum(share * share for _, share in shares)
    squares = sum((share * (value - centre)) ** 2 for value, share in shares)
    error = math.sqrt(squares * as_many_as / (as_many_as - 1))
    reach = float(stats.t.ppf(0.975, as_many_as - 1)) * error
    return max(lowest, min(mean, centre - reach)), min(highest, max(mean, centre + reach))


def interval_of_a_rise(changes: dict[Scenario, Fraction], p: float, width: int) -> tuple[End, End] | None:
    """The middle 95 % of the mean changes of all choices of users; it begins above 0 exactly if p <= 0.025.

    As of any mean for fewer than six users, and if all changes are equal.
    """
    users = of_users(changes)
    if len(users) < 6 or len(set(changes.values())) == 1:
        return interval(changes, -width, width)
    one = math.lcm(*(value.denominator for value in changes.values()))
    ways: Counter[tuple[int, int]] = Counter({(0, 0): 1})
    for user in users:
        size, after = int(sum(user) * one), ways.copy()
        for (total, count), number in ways.items():
            after[total + size, count + len(user)] += number
        ways = after
    del ways[0, 0]
    if not ways:
        return None
    by_mean: Counter[Fraction] = Counter()
    for (total, count), number in ways.items():
        by_mean[Fraction(total, count * one)] += number

    def below(share: float) -> float:
        seen, needed = 0, share * by_mean.total()
        for mean_change in sorted(by_mean):
            seen += by_mean[mean_change]
            if seen >= needed:
                break
        return float(mean_change)

    least, most = below(0.025 - OFF), below(0.025 + OFF)
    low = (max(0.0, least), max(0.0, most)) if p <= 0.025 else (min(0.0, least), min(0.0, most))
    return low, (below(0.975 - OFF), below(0.975 + OFF))


def times(scale: float, end: End) -> End:
    if isinstance(end, tuple):
        first, second = sorted(scale * value for value in end)
        return first, second
    return scale * end


def interval_of_a_rate(values: dict[Scenario, Fraction]) -> tuple[float, float] | None:
    """Exact where each user has one scenario and each scenario failed or passed; else as of any mean, with an
    exact end in place of one that would be 0 or 1 though some failed and some passed.
    """
    users, found = of_users(values), interval(values, 0, 1)
    if found is None:
        return None
    passed = float(sum(values.values()) / len(values) * len(users))
    exact = (
        float(stats.beta.ppf(0.025, passed, len(users) - passed + 1)) if passed else 0.0,
        float(stats.beta.ppf(0.975, passed + 1, len(users) - passed)) if passed < len(users) else 1.0,
    )
    if len(users) == len(values) and set(values.values()) <= {Fraction(0), Fraction(1)}:
        return exact
    return exact[0] if found[0] == 0 else found[0], exact[1] if found[1] == 1 else found[1]


def contrasts(
    rows: dict[str, list[dict[str, Any]]], base: str, dimensions: tuple[str, ...]
) -> dict[str, list[Figure]]:
    found: dict[str, tuple[list[Figure], float, int]] = {}
    for name, items in rows.items():
        for kind, short in KINDS.items():
            for dimension in dimensions:
                changes = change(rows[base], items, dimension, kind)
                if name != base and changes:
                    scale, span = 100 if dimension == "task_completion" else 1, WIDTH[dimension]
                    difference = float(scale * sum(changes.values(), Fraction()) / len(changes))
                    way = -1 if difference < 0 else 1
                    rises = {key: way * value for key, value in changes.items()}
                    ends = interval_of_a_rise(rises, of_a_rise(rises), span)
                    shown = (None,) if ends is None else [times(way * scale, end) for end in ends[::way]]
                    found[f"{name} | {short} {HEADINGS[dimension]}"] = (
                        [difference, *shown],
                        two_sided(changes),
                        len(changes),
                    )
    order = sorted(found, key=lambda name: found[name][1])
    least, corrected = 0.0, {}
    for rank, name in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * found[name][1]))
        corrected[name] = least
    return {name: [*difference, p, corrected[name], n] for name, (difference, p, n) in found.items()}


def run_figures(items: list[dict[str, Any]]) -> dict[str, list[float | None]]:
    """The mean of each reading and its interval."""
    rows = {}
    for dimension, width in WIDTH.items():
        values = of_scenarios(items, dimension)
        if values:
            rate = dimension == "task_completion"
            ends = interval_of_a_rate(values) if rate else interval(values, 1, 1 + width)
            rows[dimension] = [float(sum(values.values()) / len(values)), *(ends or (None, None))]
    return rows


def lifts(found: dict[str, Any]) -> dict[str, list[Figure]]:
    """How much better the run was than each control: the difference, its interval, p of a rise, scenarios."""
    own = [item for item in found["items"] if not item["arm"]]
    rows: dict[str, list[Figure]] = {}
    for control in dict.fromkeys(item["arm"] for item in found["items"] if item["arm"]):
        without = [item for item in found["items"] if item["arm"] == control]
        for dimension, width in WIDTH.items():
            changes = change(without, own, dimension, "")
            if changes:
                rise = float(sum(changes.values(), Fraction()) / len(changes))
                p = of_a_rise(changes)
                ends = interval_of_a_rise(changes, p, width) or (None, None)
                rows[f"{control} | {dimension}"] = [rise, *ends, p, len(changes)]
    return rows


def means(
    rows: dict[str, list[dict[str, Any]]], dimensions: tuple[str, ...]
) -> dict[str, list[float | None]]:
    return {
        name: [figure(items, d, kind) for kind in KINDS for d in dimensions] for name, items in rows.items()
    }


def settings(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows of Table 4 that a run and its controls make."""
    told = found["settings"]
    vanilla = bool(told.get("assistant")) and told.get("assistant_prompt") == "vanilla"
    names = {
        "": "Vanilla" if vanilla else label(told["context"]),
        "none": "Base",
        "swapped": "Another user's",
    }
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in found["items"]:
        rows[names.get(item["arm"]) or label(item["arm"])].append(item)
    return rows


def label(letters: str) -> str:
    return "Base + all" if letters == "DIS" else " + ".join(["Base", *letters])


def by_domain(items: list[dict[str, Any]], kind: str) -> dict[str, list[float | None]]:
    """Figure 4: scenarios, TCR and P of each domain, and of all, where a scenario of several counts once."""
    rows: dict[str, list[float | None]] = {}
    for domain in (*sorted({d for i in items for d in i["evaluation"]["domains"]}), ""):
        here = [i for i in scored(items, kind) if not domain or domain in i["evaluation"]["domains"]]
        count = len({(i["evaluation"]["user"], i["evaluation"]["task"]) for i in here})
        if count:
            rows[domain or "all domains"] = [
                count,
                figure(here, "task_completion"),
                figure(here, "personalization"),
            ]
    return rows


def by_turn(items: list[dict[str, Any]]) -> dict[str, list[float | None]]:
    """Figure 5: the means turn by turn, and after each the number of dialogues."""
    rows: dict[str, list[float | None]] = {}
    for kind, short in KINDS.items():
        here = scored(items, kind)
        domains = sorted({d for i in here for d in i["evaluation"]["domains"]})
        for name, of_row in [
            ("all domains", here),
            *((d, [i for i in here if d in i["evaluation"]["domains"]]) for d in domains),
        ]:
            turns: dict[int, dict[Scenario, list[int]]] = defaultdict(lambda: defaultdict(list))
            for item in of_row:
                read: list[int] = next((v["turns"] for v in item["evaluation"]["verdicts"] if v["turns"]), [])
                kept = read[:-1] if item["evaluation"]["dialogue"]["end"] in ("user", "unserved") else read
                for number, value in enumerate(kept):
                    turns[number][item["evaluation"]["user"], item["evaluation"]["task"]].append(value)
            if turns:
                rows[f"{short}, {name}"] = [
                    number
                    for n in sorted(turns)[:10]
                    for number in (
                        float(sum(Fraction(sum(s), len(s)) for s in turns[n].values()) / len(turns[n])),
                        sum(map(len, turns[n].values())),
                    )
                ]
    return rows


def lengths(items: list[dict[str, Any]]) -> list[float | None]:
    found: list[float | None] = []
    for kind in KINDS:
        dialogues = [i["evaluation"]["dialogue"]["messages"] for i in scored(items, kind)]
        turns = sum(m["role"] == "user" for messages in dialogues for m in messages)
        tokens = sum(
            len(re.findall(r"\w+(?:['\u2019]\w+)*|[^\w\s]", m["content"]))
            for messages in dialogues
            for m in messages
        )
        found += [len(dialogues), turns / len(dialogues), tokens / turns] if turns else [0, None, None]
    return found


def words(text: str) -> list[str]:
    return re.findall(r"\w+(?:['\u2019]\w+)*", text.lower())


def grams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu(mine: list[str], others: list[list[str]]) -> float:
    """BLEU-4 against all others, counts of zero smoothed to 0.1 (Chen and Cherry 2014, method 1)."""
    logs = 0.0
    for n in range(1, 5):
        counts, most = grams(mine, n), Counter[tuple[str, ...]]()
        for other in others:
            most |= grams(other, n)
        hits = sum((counts & most).values())
        if n == 1 and not hits:
            return 0.0
        logs += math.log((hits or 0.1) / max(1, sum(counts.values()))) / 4
    closest = min((abs(len(o) - len(mine)), len(o)) for o in others)[1]
    return math.exp(logs) * (1.0 if len(mine) > closest else math.exp(1 - closest / max(1, len(mine))))


def diversity(items: list[dict[str, Any]], kind: str, limit: int) -> list[float | None]:
    sample = []
    texts = dialogue_texts(items, kind)
    for nodeid in sorted(texts, key=lambda name: hashlib.sha256(name.encode()).digest()):
        kept = texts[nodeid][: max(0, limit)]
        limit -= len(kept)
        sample += [kept] if kept else []
    pooled = [sum((grams(t, n) for t in sample), Counter[tuple[str, ...]]()) for n in (1, 2, 4)]
    shares = [c / sum(pooled[2].values()) for c in pooled[2].values()]
    return [
        len(texts),
        len(pooled[0]) / sum(pooled[0].values()),
        len(pooled[1]) / sum(pooled[1].values()),
        -sum(s * math.log(s) for s in shares),
        sum(bleu(t, sample[:n] + sample[n + 1 :]) for n, t in enumerate(sample)) / len(sample),
    ]


def dialogue_texts(items: list[dict[str, Any]], kind: str) -> dict[str, list[str]]:
    return {
        i["nodeid"]: words("\n".join(m["content"] for m in i["evaluation"]["dialogue"]["messages"]))
        for i in scored(items, kind)
    }


def main(paths: list[str]) -> None:
    read = [(Path(path).stem, json.loads(Path(path).read_text(encoding="utf-8"))) for path in paths]
    runs = {stem: [i for i in found["items"] if not i["arm"]] for stem, found in read}
    first = next(iter(runs))
    rows4: dict[str, list[dict[str, Any]]] = {}
    for _, found in read:
        rows4 |= {name: items for name, items in settings(found).items() if name not in rows4}
    sizes = [
        sum(map(len, texts.values()))
        for items in runs.values()
        for kind in KINDS
        if (texts := dialogue_texts(items, kind))
    ]
    limit = min([50_000, *sizes])
    tables: dict[str, Any] = {
        "run": run_figures(runs[first]),
        "lifts": lifts(read[0][1]),
        "3": means(runs, OF_ASSISTANT),
        "3 differences": contrasts(runs, first, OF_ASSISTANT),
        "12": means(runs, OF_USER),
        "12 differences": contrasts(runs, first, OF_USER),
        "4": means(rows4, OF_ASSISTANT[:2]),
        "4 differences": contrasts(rows4, "Base", OF_ASSISTANT[:2]) if "Base" in rows4 else {},
        "figure 4": by_domain(runs[first], "single"),
        "figure 4 all": by_domain(runs[first], ""),
        "figure 5": by_turn(runs[first]),
        "13": {name: lengths(items) for name, items in runs.items()},
        "10": {
            f"{name} {short}": diversity(items, kind, limit)
            for name, items in runs.items()
            for kind, short in KINDS.items()
            if scored(items, kind)
        },
    }
    print(json.dumps(tables))


if __name__ == "__main__":
    main(sys.argv[1:])
