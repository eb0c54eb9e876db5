"""Asks for one piece of a dataset after the other, checks each answer, and keeps it in a file of its own."""

from __future__ import annotations

import hashlib
import json
import tomllib
from contextlib import suppress
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError, short_repr
from pytest_personalens.core.files.links import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    #: Returns the problems with an answer, each with its field; none if it can be used.
    Check = Callable[["Answer"], Sequence[str]]

#: A JSON object that a model answered.
Answer = dict[str, Any]
#: The prompts, by step.
_PROMPTS: Final[dict[str, str]] = tomllib.loads(
    files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
)
SYSTEM: Final = _PROMPTS["system"]
#: How many problems a model is told of at once, and how many are listed of a piece that was given up.
_MOST_TOLD, _MOST_LISTED = 8, 2


def prompt_text(step: str, **values: object) -> str:
    """Return the prompt of a step; lists and tables in it are JSON."""
    texts = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in values.items()}
    filled = Template(_PROMPTS[step]).substitute(texts).strip()
    return filled.encode("utf-8", "replace").decode("utf-8")  # half a character cannot be sent


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

    def make(self, key: str, step: str, prompt: str, check: Check) -> Answer | None:
        """Return the answer that passes the check, or None if no attempt did."""
        file, digest = self._folder / f"{key}.json", prompt_digest(prompt)
        piece = _stored(file, digest)
        if piece is None:
            piece = {"step": step, "model": self._model, "prompt": digest}
            piece["answer"] = self.ask(key, step, prompt, check)
            if piece["answer"] is not None:
                write_atomically(file, json.dumps(piece, indent=1, ensure_ascii=False) + "\n")
        self.origins[key] = f"step {step}, model {piece['model']}, prompt {digest}"
        self._made()
        answer: Answer | None = piece["answer"]
        return answer

    def ask(self, key: str, step: str, prompt: str, check: Check) -> Answer | None:
        """Do the same without a file."""
        problems: Sequence[str] = ()
        for _ in range(self._attempts):
            again = prompt_text("again", problems="\n".join(f"- {p}" for p in problems[:_MOST_TOLD]))
            text = self._ask(step, f"{prompt}\n\n{again}" if problems else prompt)
            found = text[text.find("{") : text.rfind("}") + 1] if "{" in text else ""  # words may be around
            try:
                answer: Answer = json.loads(found)
            except (ValueError, RecursionError) as error:
                problems = [f"the answer is no JSON object: {error if found else short_repr(text)}"]
                continue
            problems = check(answer)
            if not problems:
                return answer
        self.given_up[key] = list(problems[:_MOST_LISTED])
        return None


def prompt_digest(prompt: str) -> str:
    """Return twelve hexadecimal digits that depend on a prompt alone."""
    return hashlib.sha256(f"{SYSTEM}\x1f{prompt}".encode("utf-8", "replace")).hexdigest()[:12]


def _stored(file: Path, digest: str) -> Answer | None:
    """Return the content of the file of a piece, or None if there is none for this prompt."""
    with suppress(OSError, ValueError, RecursionError, TypeError, KeyError):
        piece: Answer = json.loads(file.read_text(encoding="utf-8"))
        if (
            piece["prompt"] == digest
            and isinstance(piece["model"], str)
            and isinstance(piece["answer"], dict)
        ):
            return piece
    return None


def make_folder(folder: Path) -> Path:
    """Return the folder after making it; raise `DataError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # such as a NUL in the path
        raise DataError(folder, f"cannot be made: {getattr(error, 'strerror', None) or error}") from None
    return folder
