"""Asks for one piece of a dataset after the other, checks each answer, and keeps it in a file of its own."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import defaultdict
from contextlib import suppress
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.atomic_write import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

#: A JSON object that a model answered.
Answer = dict[str, Any]
#: The prompts, by step.
_PROMPTS: Final[Mapping[str, str]] = tomllib.loads(
    files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
)
SYSTEM: Final = _PROMPTS["system"]
#: How many problems a model is told of at once, and how many are listed of a piece that was given up.
_MOST_TOLD, _MOST_LISTED = 8, 2


def prompt_text(step: str, **values: object) -> str:
    """Return the prompt of a step; lists and tables in it are JSON."""
    texts = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in values.items()}
    return Template(_PROMPTS[step]).substitute(texts).strip()


def read_answer(text: str) -> Answer:
    """Return the JSON object in a model's answer, with or without words around it; raise `ValueError`."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise ValueError("no JSON object in it")
    answer = json.loads(text[begin : end + 1])
    if not isinstance(answer, dict):
        raise ValueError("no JSON object in it")  # pragma: no cover
    return answer


class Pieces:
    """The pieces of a dataset in `folder`, a JSON file each, made by calls of `ask` (step, prompt) -> text.

    A piece that is there is not asked for again while its prompt is the same. An answer with problems is
    asked for again with the reasons, `attempts` times in all; then `given_up` has the reasons. `made` is
    called after each piece. Safe for threads, as long as no two ask for the same piece.
    """

    def __init__(
        self,
        folder: Path,
        ask: Callable[[str, str], str],
        *,
        model: str,
        attempts: int,
        made: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder, self._ask, self._model, self._attempts, self._made = folder, ask, model, attempts, made
        self.given_up: dict[str, list[str]] = {}
        self.origins: dict[str, str] = {}

    def make(
        self, key: str, step: str, prompt: str, check: Callable[[Answer], Sequence[str]], stub: Answer
    ) -> Answer | None:
        """Return the answer that passes the check, or None if no attempt did; `stub` is one like it."""
        file, digest = self._folder / f"{key}.json", prompt_digest(prompt)
        answer = stored_answer(file, digest)
        if answer is None:
            answer = self.ask(key, step, prompt, check)
            if answer is not None:
                content = {"step": step, "model": self._model, "prompt": digest, "answer": answer}
                write_atomically(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        if answer is not None:
            by = json.loads(file.read_text(encoding="utf-8"))["model"]
            self.origins[key] = f"step {step}, model {by}, prompt {digest}"
        self._made()
        return answer

    def ask(
        self, key: str, step: str, prompt: str, check: Callable[[Answer], Sequence[str]]
    ) -> Answer | None:
        """Do the same without a file."""
        problems: Sequence[str] = ()
        for _ in range(self._attempts):
            again = prompt_text("again", problems="\n".join(f"- {p}" for p in problems[:_MOST_TOLD]))
            try:
                answer = read_answer(self._ask(step, f"{prompt}\n\n{again}" if problems else prompt))
            except (ValueError, RecursionError) as error:
                problems = [f"the answer is no JSON object: {error}"]
                continue
            problems = check(answer)
            if not problems:
                return answer
        self.given_up[key] = list(problems[:_MOST_LISTED])
        return None


class Counted(Pieces):
    """Pieces that are only counted: `chars` holds the lengths of each step's prompts still to be sent."""

    def __init__(self, folder: Path, *, judged: bool) -> None:
        super().__init__(folder, lambda step, prompt: "", model="", attempts=0)
        self._judged = judged
        self.chars: defaultdict[str, list[int]] = defaultdict(list)

    def make(
        self, key: str, step: str, prompt: str, check: Callable[[Answer], Sequence[str]], stub: Answer
    ) -> Answer:
        answer = stored_answer(self._folder / f"{key}.json", prompt_digest(prompt))
        if answer is not None:
            return answer
        self.chars[step].append(len(SYSTEM) + len(prompt))
        if self._judged and step != "task":
            self.chars["judge"].append(len(SYSTEM) + len(_PROMPTS["judge"]) + len(prompt))
        return stub


def prompt_digest(prompt: str) -> str:
    """Return twelve hexadecimal digits that depend on a prompt alone."""
    return hashlib.sha256(f"{SYSTEM}\x1f{prompt}".encode("utf-8", "replace")).hexdigest()[:12]


def stored_answer(file: Path, digest: str) -> Answer | None:
    """Return the answer in the file of a piece, or None if there is none for this prompt."""
    with suppress(OSError, ValueError, RecursionError, TypeError, KeyError):
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["prompt"] == digest and isinstance(content["answer"], dict):
            answer: Answer = content["answer"]
            return answer
    return None


def make_folder(folder: Path) -> Path:
    """Return the folder after making it; raise `DataError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # such as a NUL in the path
        raise DataError(folder, f"cannot be made: {getattr(error, 'strerror', None) or error}") from None
    return folder
