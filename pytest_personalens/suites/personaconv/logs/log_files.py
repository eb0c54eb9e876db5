"""Reads stored outputs in any format that the official scripts write."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError, short_repr
from pytest_personalens.core.frozen import clean
from pytest_personalens.suites.personaconv.data.posts import finite
from pytest_personalens.suites.personaconv.scoring.figures import OTHER
from pytest_personalens.suites.personaconv.scoring.reading import Reading, read_answer, read_logged
from pytest_personalens.suites.personaconv.values import UNKNOWN_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName

#: The fields that may hold the output of a row. The first existing one counts.
_OUTPUTS: Final = ("output", "predicted_label", "best_sbert_candidate_text")
_FORMATS: Final = (
    "expected rows with true_label and output, predicted_label, best_sbert_candidate_text or model_outputs"
)


class ScoredRow(NamedTuple):
    """One row with a truth: its line (from 1), its domain and its answers.

    `answers` has several elements only if a row of next text holds candidates. An answer that was not read
    keeps its reason.
    """

    line: int
    domain: str
    truth: str | float
    answers: tuple[Reading, ...]

    @property
    def read(self) -> bool:
        """True if an answer could be read."""
        return any(answer.read for answer in self.answers)


class IgnoredRow(NamedTuple):
    """One row that no figure covers, with the reason."""

    line: int
    reason: str


class Log(NamedTuple):
    """The rows of one model's outputs."""

    name: str
    rows: tuple[ScoredRow, ...]
    ignored: tuple[IgnoredRow, ...]

    @property
    def unread(self) -> tuple[ScoredRow, ...]:
        """Return the rows whose answer could not be read."""
        return tuple(row for row in self.rows if not row.read)


def read_logs(path: Path, kind: Kind, protocol: ProtocolName) -> list[Log]:
    """Return the outputs in a file, one log for each model.

    With `official`, rows are read as by the log evaluators: a row without a readable answer is ignored. With
    `fixed`, such a row stays, as one that could not be read. Raise `DataError` if no row can be scored.
    """
    by_model: dict[str, tuple[list[ScoredRow], list[IgnoredRow]]] = {}
    unnamed: list[IgnoredRow] = []
    lines = 0
    for line, row in _read_rows(path):
        lines += 1
        if isinstance(row, str):
            unnamed.append(IgnoredRow(line, row))
            continue
        for model, output in _outputs(row):
            scored, ignored = by_model.setdefault(model, ([], []))
            each = _score_row(line, row, output, kind, protocol)
            (ignored if isinstance(each, IgnoredRow) else scored).append(each)  # type: ignore[arg-type]
    logs = [
        Log(f"{path.name}: {model}" if model else path.name, tuple(scored), (*sorted([*ignored, *unnamed]),))
        for model, (scored, ignored) in by_model.items()
        if scored or len(by_model) == 1
    ]
    if not any(log.rows for log in logs):
        first = min((*unnamed, *(each for log in logs for each in log.ignored)), default=None)
        why = f"line {first.line}: {first.reason}" if first else "it is empty"
        raise DataError(path, f"none of its {lines} rows can be scored as {kind} ({why}); {_FORMATS}")
    return logs


def _read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield each row that is not blank with its line, or the reason why it is no row."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _row(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}") from None


def _row(line: bytes) -> dict[str, Any] | str:
    try:
        data = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return "is not UTF-8"
    except (ValueError, RecursionError):
        return "is no JSON"
    return data if isinstance(data, dict) else "is no object"


def _outputs(row: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the outputs of a row, each with the name of its model; it is empty if there is only one."""
    models = row.get("model_outputs")
    if isinstance(models, dict) and models:
        for model, output in models.items():
            yield model, output.get("best_candidate_text") if isinstance(output, dict) else output
    else:
        yield "", next((row[name] for name in _OUTPUTS if name in row), None)


def _score_row(
    line: int, row: dict[str, Any], output: object, kind: Kind, protocol: ProtocolName
) -> ScoredRow | IgnoredRow:
    label = row.get("true_label")
    truth = _truth(label, kind, protocol)
    if truth is None:
        return IgnoredRow(line, f"true_label is none of {kind}: {clean(short_repr(label, 60))}")
    domains = (row.get(name) for name in ("subreddit", "domain"))
    domain = next((name for name in domains if isinstance(name, str) and name), UNKNOWN_DOMAIN)
    scored = ScoredRow(line, domain, truth, _answers(output, kind, protocol))
    if protocol == "official" and not scored.read:
        return IgnoredRow(line, scored.answers[0].reason)
    return scored


def _answers(output: object, kind: Kind, protocol: ProtocolName) -> tuple[Reading, ...]:
    if isinstance(output, int | float) and not isinstance(output, bool) and kind == "impact":
        return (Reading(float(output)) if math.isfinite(output) else Reading(None, "no finite number"),)
    if protocol == "official":
        return (read_logged(output, kind),)
    if kind == "next-text" and isinstance(output, list):
        return tuple(read_answer(each, kind) for each in output) or (Reading(None, "no candidate"),)
    return (read_answer(output, kind),)


def _truth(label: object, kind: Kind, protocol: ProtocolName) -> str | float | None:
    if kind == "impact":
        return _number(label, protocol)
    if not isinstance(label, str):
        return None
    if kind == "next-text":
        return label or None
    return label.strip().lower() if label.strip().lower() in OTHER else None


def _number(label: object, protocol: ProtocolName) -> float | None:
    """Return a number, or the number in a text. The log evaluators also count a row whose number is NaN."""
    if isinstance(label, str):
        try:
            label = float(label)
        except ValueError:
            return None
    if protocol == "official" and isinstance(label, float) and math.isnan(label):
        return label
    number = finite(label)
    return None if number is None else float(number)
