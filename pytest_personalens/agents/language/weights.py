"""Linear models as text tables.

A table has a row for each cue and a column for each question. Weights are whole hundredths, so every machine
computes the same sum.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.runtime.once import once
from pytest_personalens.datasets.embedded.files import data_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Weights and sums are in hundredths of a logit.
UNIT: Final = 100
#: The cue that every example has.
BIAS: Final = "(always)"
#: Sums beyond this many hundredths make no further difference.
_FAR: Final = 2000


class Table:
    """Yes-or-no questions, each answered by a sum of weights."""

    def __init__(self, questions: Iterable[str], rows: Mapping[str, Iterable[int]]) -> None:
        self.questions = tuple(questions)
        self.rows = {cue: tuple((i, w) for i, w in enumerate(weights) if w) for cue, weights in rows.items()}
        self.bias = [0] * len(self.questions)
        for i, weight in self.rows.pop(BIAS, ()):
            self.bias[i] = weight

    @classmethod
    def parse(cls, text: str) -> Table:
        """Return the table of a text.

        The first line has the questions. Each further line has a cue and its weights. Tabs separate the
        fields.
        """
        head, *lines = text.splitlines()
        return cls(
            head.split("\t")[1:],
            {cue: [int(w or 0) for w in weights] for cue, *weights in (line.split("\t") for line in lines)},
        )

    def render(self) -> str:
        """Return the table as a text that `parse` reads; zeros are left empty."""
        lines = ["\t".join(("cue", *self.questions)), "\t".join((BIAS, *map(str, self.bias)))]
        for cue in sorted(self.rows):
            weights = dict(self.rows[cue])
            lines.append("\t".join((cue, *(str(weights.get(i, "")) for i in range(len(self.questions))))))
        return "\n".join(lines) + "\n"

    def of_cues(self, cues: Iterable[str]) -> dict[str, float]:
        """Return the probability of yes for each question and a set of cues.

        It has three decimals.
        """
        sums = list(self.bias)
        for cue in cues:
            for i, weight in self.rows.get(cue, ()):
                sums[i] += weight
        return {question: _probability(total) for question, total in zip(self.questions, sums, strict=True)}

    def of_numbers(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """Return the probability of yes for each question and named numbers.

        The numbers count in thousandths.
        """
        return {
            question: _probability(total / 1000)
            for question, total in zip(self.questions, self._sums(numbers), strict=True)
        }

    def steps(self, numbers: Mapping[str, float]) -> int:
        """Return how many of the questions are answered with yes."""
        return sum(total > 0 for total in self._sums(numbers))

    def _sums(self, numbers: Mapping[str, float]) -> list[int]:
        sums = [1000 * weight for weight in self.bias]
        for name, value in numbers.items():
            thousandths = round(1000 * value)
            for i, weight in self.rows.get(name, ()):
                sums[i] += weight * thousandths
        return sums


def _probability(hundredths: float) -> float:
    return round(1 / (1 + exp(-max(-_FAR, min(_FAR, hundredths)) / UNIT)), 3)


@once
def table(name: str) -> Table:
    """Return the table in ``data/judge/NAME.tsv``."""
    return Table.parse(text(f"{name}.tsv"))


@once
def words(name: str) -> frozenset[str]:
    """Return the list of words in ``data/judge/NAME.txt``, in lower case.

    ``known`` holds the words that the judge has met. ``vocabulary`` holds those that it has met often enough
    to learn from. ``common`` holds stems that assistants use for every user, so they show no knowledge of one
    user.
    """
    return frozenset(text(f"{name}.txt").split())


def text(file: str) -> str:
    """Return the text of a file in ``data/judge``."""
    return (data_folder() / "judge" / file).read_text(encoding="utf-8")
