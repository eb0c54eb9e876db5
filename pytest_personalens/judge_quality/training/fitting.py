"""Fits the tables of the embedded judge: acts, acts in context, goal parts, scores."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.acts.acts import ACTS, Spoken, contexts, of_lists
from pytest_personalens.agents.embedded_judge.features import Features, completion
from pytest_personalens.agents.embedded_judge.scores import capped
from pytest_personalens.agents.language.weights import BIAS, UNIT, Table
from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.judging.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.judge_quality.training.examples import Example, Side

#: The readings that the embedded judge gives.
SCORED: Final = (
    Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION, Dimension.NATURALNESS_ASSISTANT,
    Dimension.COHERENCE_ASSISTANT,
)  # fmt: skip
#: A cue that fewer statements have is left out, because the fit would learn these statements by heart.
RARE: Final = 8
#: Strength of the regularisation (C of scikit-learn).
C_ACTS: Final = 0.1
C_CONTEXT: Final = 0.1
C_PARTS: Final = 0.05
C_SCORES: Final = {
    Dimension.TASK_COMPLETION: 0.02,
    Dimension.PERSONALIZATION: 0.03,
    Dimension.NATURALNESS_ASSISTANT: 0.02,
    Dimension.COHERENCE_ASSISTANT: 0.02,
}
#: One dialogue in this many is also read under the profile of another person.
OTHER_USERS: Final = 4
INNER_FOLDS: Final = 3

Tagged = tuple[frozenset[str], str]


class Trained(NamedTuple):
    """The trained tables by the name of their file."""

    tables: dict[str, Table]

    def features(self, side: Side, example: Example) -> Features:
        """Return the features of the dialogue, as this judge reads it."""
        return _features(side, example, self.tables)


def fold_of(text: str, count: int) -> int:
    """Return the fold of a text, a number from 0 to `count` - 1."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % count


def train(chosen: Sequence[Example], statements: Sequence[Tagged] = ()) -> Trained:
    """Return the tables learned from the examples and from single statements.

    A later table learns from readings by earlier tables. These earlier tables were trained without the
    scenario of the dialogue, because the finished judge will not know the scenarios of new dialogues either.
    """
    read: list[tuple[list[Spoken], list[Spoken]]] = [([], []) for _ in chosen]
    for k in range(INNER_FOLDS):
        inside = [e for e in chosen if fold_of(f"inner {e.labelled.group}", INNER_FOLDS) != k]
        tables = _acts(inside, statements)
        for i, e in enumerate(chosen):
            if fold_of(f"inner {e.labelled.group}", INNER_FOLDS) == k:
                read[i] = _alone(e.user, tables), _alone(e.other_user, tables)
    tables = _acts(chosen, statements)
    tables["acts-in-context"] = _in_context(chosen, read)
    user_features = [_in(e, e.user, r[0], tables) for e, r in zip(chosen, read, strict=True)]
    other_features = [_in(e, e.other_user, r[1], tables) for e, r in zip(chosen, read, strict=True)]
    tables["goal-parts"] = _parts(chosen, user_features)
    for dimension in SCORED:
        tables[dimension.value] = _score(
            dimension, chosen, user_features, other_features, tables["goal-parts"]
        )
    return Trained(tables)


def predict(trained: Trained, example: Example, *, other_user: bool = False) -> dict[Dimension, int]:
    """Return the scores that a judge with these tables gives."""
    features = trained.features(example.other_user if other_user else example.user, example)
    return {
        d: capped(
            features,
            d,
            d.scale.low
            + trained.tables[d.value].steps(score_numbers(d, features, trained.tables["goal-parts"])),
        )
        for d in SCORED
    }


def score_numbers(dimension: Dimension, features: Features, parts: Table) -> dict[str, float]:
    """Return the numbers from which the score of the dimension is computed."""
    if dimension is Dimension.TASK_COMPLETION:
        return completion(features, [parts.of_numbers(n)["reached"] for n in features.part_numbers])
    return features.personalization if dimension is Dimension.PERSONALIZATION else features.style


def _sides(example: Example) -> tuple[Side, ...]:
    """Return the sides of the dialogue that the training uses.

    These are the dialogue under its own profile and, for one dialogue in `OTHER_USERS`, also under another
    person's. Nothing is personal under the profile of another person.
    """
    return (
        (example.user, example.other_user)
        if fold_of(f"stranger {example.labelled.id}", OTHER_USERS) == 0
        else (example.user,)
    )


def _alone(side: Side, tables: Mapping[str, Table]) -> list[Spoken]:
    return [Spoken(line, tables[f"acts-{line.role}"].of_cues(line.cues)) for line in side.lines]


def _in(example: Example, side: Side, alone: Sequence[Spoken], tables: Mapping[str, Table]) -> Features:
    model = tables["acts-in-context"]
    spoken_lines = [
        statement
        if statement.line.role == "user"
        else Spoken(statement.line, of_lists(statement.line, model.of_numbers(numbers)))
        for statement, numbers in zip(alone, contexts(alone), strict=True)
    ]
    return Features(side.scenario, example.labelled.dialogue.messages, spoken_lines)


def _features(side: Side, example: Example, tables: Mapping[str, Table]) -> Features:
    return _in(example, side, _alone(side, tables), tables)


def _acts(chosen: Sequence[Example], statements: Sequence[Tagged]) -> dict[str, Table]:
    """Return the tables of acts for each role.

    They are learned from the cues of a statement alone. Raise `PersonalensError` if the dialogues are too few
    to learn from.
    """
    tables = {}
    for role, acts in ACTS.items():
        rows = [
            (line.cues, tag)
            for e in chosen
            for side in _sides(e)
            for line, tag in zip(side.lines, side.tags, strict=True)
            if line.role == role and tag is not None
        ]
        if role == "assistant":
            rows += statements
        seen = Counter(cue for cues, _ in rows for cue in cues)
        if not any(n >= 2 * RARE for n in seen.values()):
            raise PersonalensError(
                f"{len(chosen)} tagged dialogues are too few to learn from (some hundred are a start)"
            )
        kept = {cue for cue, n in seen.items() if n >= RARE}
        fit = Fit([dict.fromkeys(cues & kept, 1.0) for cues, _ in rows], scaled=False)
        tables[f"acts-{role}"] = fit.table(
            {act: [letter in tag for _, tag in rows] for letter, act in acts.items()}, C_ACTS
        )
    return tables


def _in_context(
    chosen: Sequence[Example], read: Sequence[tuple[Sequence[Spoken], Sequence[Spoken]]]
) -> Table:
    rows = [
        (numbers, tag)
        for e, both in zip(chosen, read, strict=True)
        for side, alone in zip(_sides(e), both, strict=False)
        for numbers, line, tag in zip(contexts(alone), side.lines, side.tags, strict=True)
        if line.role == "assistant" and tag is not None
    ]
    fit = Fit([numbers for numbers, _ in rows])
    return fit.table(
        {act: [letter in tag for _, tag in rows] for letter, act in ACTS["assistant"].items()}, C_CONTEXT
    )


def _parts(chosen: Sequence[Example], user_features: Sequence[Features]) -> Table:
    rows = [
        (numbers, label)
        for e, features in zip(chosen, user_features, strict=True)
        for numbers, label in zip(
            features.part_numbers, part_labels(e, len(features.part_numbers)), strict=True
        )
        if label is not None
    ]
    return Fit([numbers for numbers, _ in rows]).table({"reached": [label for _, label in rows]}, C_PARTS)


def part_labels(example: Example, count: int) -> list[bool | None]:
    """Return which parts of the goal were reached.

    If the task was completed, all parts were reached. The value is None for a part that has no label.
    """
    if example.labelled.majority(Dimension.TASK_COMPLETION):
        return [True] * count
    states = example.labelled.parts
    if len(states) == count:
        return [state == "done" for state in states]
    return [False] if count == 1 else [None] * count


def _score(
    dimension: Dimension,
    chosen: Sequence[Example],
    user_features: Sequence[Features],
    other_features: Sequence[Features],
    parts: Table,
) -> Table:
    low, high = dimension.scale
    rows = [
        (score_numbers(dimension, features, parts), label)
        for e, features in zip(chosen, user_features, strict=True)
        if (label := e.labelled.majority(dimension)) is not None
    ]
    if dimension is Dimension.PERSONALIZATION:
        # A reply that uses the profile of somebody else personalizes nothing, however well it reads.
        rows += [
            (score_numbers(dimension, features, parts), 1 if label > 2 else label)
            for e, features in zip(chosen, other_features, strict=True)
            if len(_sides(e)) > 1 and (label := e.labelled.majority(dimension)) is not None
        ]
    fit = Fit([numbers for numbers, _ in rows])
    return fit.table(
        {str(step): [label >= step for _, label in rows] for step in range(low + 1, high + 1)},
        C_SCORES[dimension],
    )


class Fit:
    """Rows of numbers, from which linear models for yes-or-no questions are learned."""

    def __init__(self, rows: Sequence[Mapping[str, float]], *, scaled: bool = True) -> None:
        import numpy as np
        from sklearn.feature_extraction import DictVectorizer

        vectorizer = DictVectorizer(sparse=not scaled, dtype=np.float32 if not scaled else np.float64)
        self._table: Any = vectorizer.fit_transform(rows)
        self._names: list[str] = list(vectorizer.feature_names_)
        self._mean = [0.0] * len(self._names)
        self._spread = [1.0] * len(self._names)
        if scaled:
            mean, spread = self._table.mean(0), self._table.std(0)
            kept = spread > 1e-6
            self._names = [n for n, k in zip(self._names, kept, strict=True) if k]
            self._table = (self._table[:, kept] - mean[kept]) / spread[kept]
            self._mean, self._spread = list(mean[kept]), list(spread[kept])

    def table(
        self,
        questions: Mapping[str, Sequence[bool]],
        strength: float,
        *,
        weights: Sequence[float] | None = None,
        least: int = 1,
    ) -> Table:
        """Return a table with one column for each question.

        If every example has the same answer to a question, its column always gives that answer. `weights`
        says how much each row counts. Weights of the table below `least` hundredths are left out.
        """
        columns = {
            name: {
                cue: weight
                for cue, weight in self._column(yes, strength, weights).items()
                if cue == BIAS or abs(weight) >= least
            }
            for name, yes in questions.items()
        }
        cues = sorted(
            {cue for column in columns.values() for cue, weight in column.items() if weight} | {BIAS}
        )
        return Table(columns, {cue: [column.get(cue, 0) for column in columns.values()] for cue in cues})

    def _column(
        self, yes: Sequence[bool], strength: float, weights: Sequence[float] | None
    ) -> dict[str, int]:
        from sklearn.linear_model import LogisticRegression

        if len(set(yes)) == 1:
            return {BIAS: 10 * UNIT if yes[0] else -10 * UNIT}
        model = LogisticRegression(C=strength, max_iter=1000, tol=1e-3).fit(
            self._table, yes, sample_weight=weights
        )
        slope = [c / s for c, s in zip(model.coef_[0], self._spread, strict=True)]
        bias = model.intercept_[0] - sum(c * m for c, m in zip(slope, self._mean, strict=True))
        return {
            BIAS: round(UNIT * float(bias)),
            **{n: round(UNIT * float(c)) for n, c in zip(self._names, slope, strict=True)},
        }
