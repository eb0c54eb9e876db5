"""The tables of the paper counted again from results files alone: this script imports nothing of the package.

    python recount.py RESULTS.json...

It prints a JSON object: the name of a table -> the name of a row -> its figures, None where there is none.
Rows of differences are named "row | score"; their figures are the difference, p, p (Holm) and the number of
scenarios.
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

KINDS = {"single": "SD", "multi": "MD"}
OF_ASSISTANT = ("task_completion", "personalization", "naturalness_assistant", "coherence_assistant")
OF_USER = ("naturalness_user", "coherence_user")
HEADINGS = {"task_completion": "TCR %", "personalization": "P"} | {
    f"{what}_{who}": name
    for what, name in (("naturalness", "Nat"), ("coherence", "Coh"))
    for who in ("user", "assistant")
}
Scenario = tuple[str, str]


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


def figure(items: list[dict[str, Any]], dimension: str, kind: str = "") -> float | None:
    of_scenario = [
        Fraction(sum(t.values()), len(t)) for t in by_scenario(scored(items, kind), dimension).values()
    ]
    found = mean(of_scenario)
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


def two_sided(changes: list[Fraction]) -> float:
    """The share of all ways to give the differences signs whose sum is as far from 0 as the one seen, or
    farther.
    """
    ways: Counter[Fraction] = Counter({Fraction(): 1})
    for one in changes:
        after: Counter[Fraction] = Counter()
        for total, count in ways.items():
            after[total + one] += count
            after[total - one] += count
        ways = after
    seen = abs(sum(changes, Fraction()))
    far = sum(count for total, count in ways.items() if abs(total) >= seen)
    return float(Fraction(far, 2 ** len(changes)))


def contrasts(
    rows: dict[str, list[dict[str, Any]]], base: str, dimensions: tuple[str, ...]
) -> dict[str, tuple[float, float, float, int]]:
    found = {}
    for name, items in rows.items():
        for kind, short in KINDS.items():
            for dimension in dimensions:
                changes = change(rows[base], items, dimension, kind)
                if name != base and changes:
                    scale = 100 if dimension == "task_completion" else 1
                    difference = float(scale * sum(changes.values(), Fraction()) / len(changes))
                    found[f"{name} | {short} {HEADINGS[dimension]}"] = (
                        difference,
                        two_sided(list(changes.values())),
                        len(changes),
                    )
    order = sorted(found, key=lambda name: found[name][1])
    least, corrected = 0.0, {}
    for rank, name in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * found[name][1]))
        corrected[name] = least
    return {name: (difference, p, corrected[name], n) for name, (difference, p, n) in found.items()}


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
    rows: dict[str, list[float | None]] = {}
    for domain in sorted({d for i in items for d in i["evaluation"]["domains"]}):
        here = [i for i in scored(items, kind) if domain in i["evaluation"]["domains"]]
        count = len({(i["evaluation"]["user"], i["evaluation"]["task"]) for i in here})
        if count:
            rows[domain] = [count, figure(here, "task_completion"), figure(here, "personalization")]
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
                kept = read[:-1] if item["evaluation"]["dialogue"]["end"] == "user" else read
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
