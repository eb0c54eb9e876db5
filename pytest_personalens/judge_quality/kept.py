"""The verdicts that a measurement has paid for, kept in the user's cache folder until it has come to its end."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_personalens.core.verdict import Verdict
from pytest_personalens.datasets.cached import cache_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.dialogue import Dialogue
    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.core.verdict import Dimension, Judge
    from pytest_personalens.judge_quality.labels import Labelled


class Kept:
    """A judge that repeats what it said in the same measurement, if that was broken off. Where there is no place, nothing is kept."""

    def __init__(self, labelled: Sequence[Labelled], judge: Judge) -> None:
        self.identity, self.paid, self._judge = judge.identity, judge.paid, judge
        digest = hashlib.sha256(judge.identity.encode())
        for item in labelled:
            digest.update(item.scenario.model_dump_json().encode() + item.dialogue.model_dump_json().encode())
        self._file: Path | None = None
        self._said: dict[str, Verdict] = {}
        with suppress(OSError, RuntimeError, UnicodeDecodeError):  # no home, nothing can be written there, or it is no text
            self._file = cache_folder() / "agreement" / f"{digest.hexdigest()[:32]}.jsonl"
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._read(self._file)

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """What was said before of this dialogue, else what the judge says now."""
        key = hashlib.sha256(f"{scenario.model_dump_json()}{dialogue.model_dump_json()}{dimension.value}".encode()).hexdigest()[:32]
        if key not in self._said:
            self._said[key] = verdict = self._judge.verdict(scenario, dialogue, dimension)
            with suppress(OSError):
                if self._file is not None:
                    with self._file.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"key": key, "verdict": verdict.model_dump(mode="json")}) + "\n")
        return self._said[key]

    def forget(self) -> None:
        """Remove what was kept: the measurement has come to its end."""
        with suppress(OSError):
            if self._file is not None:
                self._file.unlink()

    def _read(self, file: Path) -> None:
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            with suppress(ValueError, KeyError, TypeError, RecursionError):  # the last line may be cut
                entry = json.loads(line)
                self._said[entry["key"]] = Verdict.model_validate(entry["verdict"])
