"""Trains the embedded judge: from labelled sentences to acts, from acts to scores; the weights are text files.

``python -m pytest_personalens.agreement.train LABELS.jsonl... --write FOLDER`` (with scikit-learn installed) fits the weights;
without ``--write`` it cross-validates by scenario and prints how well judges agree that were trained without the scenario.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.acts import ACTS, Spoken
from pytest_personalens.agents.addressed import WORD, Heard, heard
from pytest_personalens.agents.cues import Line, lines
from pytest_personalens.agents.features import PAST_THE_USER, numbers
from pytest_personalens.agents.linear import BIAS, UNIT, Binary, Steps, words
from pytest_personalens.agents.text import content, fold, sentences
from pytest_personalens.agreement.kappa import cohen
from pytest_personalens.agreement.labels import Labelled, read_labels
from pytest_personalens.commands import errors_told, run
from pytest_personalens.errors import PersonalensError
from pytest_personalens.verdict import READINGS, Dimension

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.scenario import Scenario

#: A cue seen in fewer sentences is left out: it would be learned by heart.
RARE: Final = 5
#: A word is known that this many dialogues use; a stem is common that this share of them has in what the assistant says.
MET: Final = 4
COMMON: Final = 0.02
#: Strength of regularisation (scikit-learn's C) of acts and of scores.
C_ACTS: Final = 0.15
C_SCORES: Final = 0.03
#: How much a dialogue under another person's profile counts beside a real one.
STRANGER: Final = 0.25
#: Acts that rest on what is known of the user: under another person's profile there are none.
GROUNDED: Final = "UVAB"
_UNGROUNDED: Final = dict.fromkeys(map(ord, GROUNDED))
FOLDS: Final = 8
INNER_FOLDS: Final = 5


class Side(NamedTuple):
    """A dialogue under a profile: what is heard of it, sentence by sentence, and the acts of each; None where nobody tagged it."""

    scenario: Scenario
    heard: Heard
    lines: tuple[Line, ...]
    acts: tuple[str | None, ...]


class Example(NamedTuple):
    """A labelled dialogue as it is heard, its own way and under a stranger's profile."""

    labelled: Labelled
    own: Side
    stranger: Side


class Trained(NamedTuple):
    """Weights as they are stored: of acts by role, of the steps of each score by dimension."""

    acts: dict[str, dict[str, dict[str, int]]]
    scores: dict[str, dict[str, Any]]


def examples(labelled: Sequence[Labelled]) -> list[Example]:
    """The dialogues whose sentences are tagged, each with a stranger who has the same domains, chosen by the dialogue's id."""
    return [Example(one, _side(one, one.scenario), _side(one, _stranger(one, labelled))) for one in labelled if one.acts]


def _side(one: Labelled, scenario: Scenario) -> Side:
    found = heard(scenario, one.dialogue.messages)
    said = lines(scenario, found.messages)
    tags = [dict(zip(sentences(m.content), acts, strict=True)) for m, acts in zip(one.dialogue.messages, one.acts, strict=True)]
    return Side(scenario, found, said, tuple(tags[line.turn].get(line.text) for line in said))


def _stranger(one: Labelled, others: Sequence[Labelled]) -> Scenario:
    preferences, summaries = {}, {}
    situation = one.scenario.situation
    for domain in one.scenario.domains:
        candidates = [o for o in others if domain in o.scenario.summaries and o.group != one.group]
        if not candidates:
            continue
        number = int.from_bytes(hashlib.sha256(f"{one.id} {domain}".encode()).digest()[:4], "big")
        other = candidates[number % len(candidates)].scenario
        preferences[domain], summaries[domain], situation = other.preferences[domain], other.summaries[domain], other.situation
    relevant = tuple((d, t) for d, types in preferences.items() for t in types)
    task = one.scenario.task.model_copy(update={"relevant": relevant})
    preferences = {d: preferences.get(d, {}) for d in one.scenario.domains}
    summaries = {d: summaries.get(d, "") for d in one.scenario.domains}
    update = {"preferences": preferences, "summaries": summaries, "situation": situation, "task": task}
    return one.scenario.model_copy(update=update)


def word_lists(labelled: Sequence[Labelled]) -> dict[str, list[str]]:
    """The words that the judge can read, and the stems that assistants use whoever the user is, by the name of their file."""
    met = Counter(w for one in labelled for m in one.dialogue.messages for w in set(WORD.findall(fold(m.content))))
    used = Counter(
        w for one in labelled for w in set().union(*(content(m.content) for m in one.dialogue.messages if m.role == "assistant"))
    )
    return {
        "words": sorted(w for w, n in met.items() if n >= MET),
        "common": sorted(w for w, n in used.items() if n >= COMMON * len(labelled)),
    }


def train(chosen: Sequence[Example]) -> Trained:
    """Weights from examples. Acts are learned on all; scores on acts that were found without the dialogue's own scenario."""
    own, strange = [dict[str, float]()] * len(chosen), [dict[str, float]()] * len(chosen)
    for part in _folds(chosen, INNER_FOLDS):
        held = set(part)
        models = _binaries(_acts([e for i, e in enumerate(chosen) if i not in held]))
        for i in part:
            own[i], strange[i] = _numbers(chosen[i].own, models), _numbers(chosen[i].stranger, models)
    scores = {dimension.value: _steps(chosen, own, strange, dimension) for dimension in READINGS}
    return Trained(_acts(chosen), scores)


def predict(trained: Trained, example: Example, *, stranger: bool = False) -> dict[Dimension, int]:
    """The scores that a judge of these weights gives."""
    models = _binaries(trained.acts)
    found = _numbers(example.stranger if stranger else example.own, models)
    return {d: Steps(d.scale.low, trained.scores[d.value]["steps"]).score(found) for d in READINGS}


def _numbers(side: Side, models: Mapping[str, Binary]) -> dict[str, float]:
    said = [Spoken(line, models[line.role].probabilities(line.cues)) for line in side.lines]
    return numbers(side.scenario, side.heard.messages, said, side.heard.suspects)


def _binaries(acts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, Binary]:
    return {role: Binary(of_role) for role, of_role in acts.items()}


def _acts(chosen: Sequence[Example]) -> dict[str, dict[str, dict[str, int]]]:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    found: dict[str, dict[str, dict[str, int]]] = {}
    for role, acts in ACTS.items():
        rows = [
            (line.cues, tag if side is e.own else tag.translate(_UNGROUNDED), 1.0 if side is e.own else STRANGER)
            for e in chosen
            for side in (e.own, e.stranger)
            for line, tag in zip(side.lines, side.acts, strict=True)
            if line.role == role and tag is not None
        ]
        seen = Counter(cue for cues, _, _ in rows for cue in cues)
        if not any(n >= 2 * RARE for n in seen.values()):
            raise PersonalensError(f"{len(chosen)} tagged dialogues are too few to learn from (some hundred are a start)")
        vectorizer = DictVectorizer()
        table = vectorizer.fit_transform([dict.fromkeys(cues, 1) for cues, _, _ in rows])
        common = table.getnnz(axis=0) >= 2 * RARE
        table, names = table[:, common], [n for n, kept in zip(vectorizer.feature_names_, common, strict=True) if kept]
        share = [weight for _, _, weight in rows]
        found[role] = {}
        for letter, act in acts.items():
            does = [letter in tag for _, tag, _ in rows]
            if len(set(does)) == 1:
                found[role][act] = _always(does[0])
                continue
            model = LogisticRegression(C=C_ACTS, max_iter=2000).fit(table, does, sample_weight=share)
            found[role][act] = _whole(dict(zip(names, model.coef_[0], strict=True)), model.intercept_[0])
    return found


def _steps(
    chosen: Sequence[Example], own: Sequence[dict[str, float]], strange: Sequence[dict[str, float]], dimension: Dimension
) -> dict[str, Any]:
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    low, high = dimension.scale
    rows = [(own[i], label, 1.0) for i, e in enumerate(chosen) if (label := e.labelled.majority(dimension)) is not None]
    if dimension is Dimension.PERSONALIZATION:
        # Whoever applies what is not known of this user personalizes nothing, however well it reads.
        rows += [
            (strange[i], min(2, label), STRANGER) for i, e in enumerate(chosen) if (label := e.labelled.majority(dimension)) is not None
        ]
    names = sorted(rows[0][0])
    count = len(rows)
    mean = {n: sum(r[0][n] for r in rows) / count for n in names}
    spread = {n: sqrt(sum((r[0][n] - mean[n]) ** 2 for r in rows) / count) for n in names}
    names = [n for n in names if spread[n] > 1e-6]
    table = np.array([[(r[0][n] - mean[n]) / spread[n] for n in names] for r in rows])
    steps = []
    for step in range(low + 1, high + 1):
        above = [label >= step for _, label, _ in rows]
        if len(set(above)) == 1:
            steps.append(_always(above[0]))
            continue
        used = list(range(len(names)))
        while True:
            model = LogisticRegression(C=C_SCORES, max_iter=3000).fit(table[:, used], above, sample_weight=[w for _, _, w in rows])
            # What is said past the user must not earn anything, though the examples may seem to say so.
            earning = {i for i, c in zip(used, model.coef_[0], strict=True) if c > 0 and names[i].startswith(PAST_THE_USER)}
            if not earning:
                break
            used = [i for i in used if i not in earning]
        slope = {names[i]: c / spread[names[i]] for i, c in zip(used, model.coef_[0], strict=True)}
        steps.append(_whole(slope, model.intercept_[0] - sum(slope[n] * mean[n] for n in slope)))
    return {"steps": steps}


def _always(yes: bool) -> dict[str, int]:
    """Weights of a question to which every example has the same answer."""
    return {BIAS: 1000 if yes else -1000}


def _whole(slope: Mapping[str, float], bias: float) -> dict[str, int]:
    rounded = {name: round(UNIT * float(weight)) for name, weight in sorted(slope.items())}
    return {BIAS: round(UNIT * float(bias)), **{name: weight for name, weight in rounded.items() if weight}}


def _folds(chosen: Sequence[Example], count: int) -> list[list[int]]:
    """Indices in `count` parts; what shares a scenario stays together, in an order that only the scenarios decide."""
    groups: dict[str, list[int]] = {}
    for i, e in enumerate(chosen):
        groups.setdefault(e.labelled.group, []).append(i)
    ordered = sorted(groups, key=lambda g: hashlib.sha256(g.encode()).digest())
    return [[i for group in ordered[k::count] for i in groups[group]] for k in range(count)]


def cross_validate(chosen: Sequence[Example]) -> list[tuple[dict[Dimension, int], dict[Dimension, int]]]:
    """For each example the scores by a judge trained without its scenario, for its own profile and for the stranger's."""
    found: list[Any] = [None] * len(chosen)
    with ProcessPoolExecutor() as pool:
        for part in pool.map(_held_out, [(chosen, fold) for fold in _folds(chosen, FOLDS)]):
            for i, both in part:
                found[i] = both
    return found


def _held_out(work: tuple[Sequence[Example], list[int]]) -> list[tuple[int, Any]]:
    chosen, fold = work
    trained = train([e for i, e in enumerate(chosen) if i not in set(fold)])
    return [(i, (predict(trained, chosen[i]), predict(trained, chosen[i], stranger=True))) for i in fold]


def _report(named: Iterable[tuple[str, Sequence[Example]]]) -> str:
    named = list(named)
    chosen = [e for _, part in named for e in part]
    scores = cross_validate(chosen)
    rows, start = [], 0
    for name, part in [*named, ("all", chosen)]:
        begin, start = (0, start) if name == "all" else (start, start + len(part))
        got = scores[begin : begin + len(part)]
        for dimension in READINGS:
            pairs = [(e.labelled.majority(dimension), s[0][dimension]) for e, s in zip(part, got, strict=True)]
            both = [(a, b) for a, b in pairs if a is not None]
            if both:
                plain, weighted = cohen(both), cohen(both, quadratic=True)
                rows.append(f"{name:24} {dimension.short:14} {len(both):5}  {_two(plain)}  {_two(weighted)}")
    strangers = [s[1][Dimension.PERSONALIZATION] for s in scores]
    own = [s[0][Dimension.PERSONALIZATION] for s in scores]
    rows.append(f"mean P: {sum(own) / len(own):.2f}, under a stranger's profile {sum(strangers) / len(strangers):.2f}")
    return "\n".join([f"{'labels':24} {'reading':14} {'n':>5}  kappa  weighted", *rows])


def _two(value: float | None) -> str:
    return "    -" if value is None else f"{value:5.2f}"


@errors_told(status=2)
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Returns 0, or 2 for what cannot be read or learned from."""
    parser = argparse.ArgumentParser(prog="python -m pytest_personalens.agreement.train", description=__doc__)
    parser.add_argument("labels", nargs="+", type=Path, help="labelled dialogues whose sentences are tagged")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="train on all of them and write the weights here")
    args = parser.parse_args(argv)
    everything = [(path.stem, read_labels(path)) for path in args.labels]
    labelled = [one for _, part in everything for one in part]
    if args.write is None:
        known = {id(e.labelled): e for e in examples(labelled)}
        print(_report((name, [known[id(one)] for one in part if id(one) in known]) for name, part in everything))
        return 0
    for name, found in word_lists(labelled).items():
        (args.write / f"{name}.txt").write_text("\n".join(found) + "\n", encoding="utf-8")
    # Where these are the package's own lists, what is heard and seen of the dialogues follows from them.
    words.cache_clear()
    trained = train(examples(labelled))
    for role, acts in trained.acts.items():
        _write(args.write / f"acts_{role}.json", acts)
    _write(args.write / "scores.json", trained.scores)
    return 0


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(main)
