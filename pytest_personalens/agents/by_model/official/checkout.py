"""Reads the templates in a checkout of the official repository; its Python is parsed and never run."""

from __future__ import annotations

import ast
import hashlib
from string import Formatter
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.judging.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_PERSON: Final = frozenset(
    {"demographic_profile", "user_affinity", "interaction_summary", "situation_context", "task_description"}
)
_KNOWN: Final = _PERSON - {"user_affinity", "task_description"} | {"message_history"}
_SAID: Final = frozenset({"conversation"})
_USER_CLASS: Final = "UserPromptTemplate"
_EXPECTED: Final = "expected a checkout of the official PersonaLens repository"
#: The attributes of the class with the user's prompts, and the fields that its code fills in.
_USER: Final = {
    "system_prompt": None,
    "task_prompt_initial_query": _PERSON,
    "task_prompt": _PERSON | {"message_history"},
}
FAMILIES: Final = ("CLAUDE", "LLAMA", "MISTRAL")
#: The suffix of the template for each context. The official code calls I "P".
VARIANTS: Final = {"": "", "D": "_D", "I": "_P", "S": "_S", "DIS": "_DPS"}
JUDGED: Final = {
    Dimension.TASK_COMPLETION: ("EVAL_DIALOGUE_TASK_COMPLETION", frozenset({"conversation", "goal"})),
    Dimension.PERSONALIZATION: ("EVAL_DIALOGUE_PERSONALIZATION", _PERSON | _SAID),
    Dimension.NATURALNESS_USER: ("EVAL_DIALOGUE_NATURALNESS_USER", _SAID),
    Dimension.NATURALNESS_ASSISTANT: ("EVAL_DIALOGUE_NATURALNESS_ASSISTANT", _SAID),
    Dimension.COHERENCE_USER: ("EVAL_DIALOGUE_COHERENCE_USER", _SAID),
    Dimension.COHERENCE_ASSISTANT: ("EVAL_DIALOGUE_COHERENCE_ASSISTANT", _SAID),
    Dimension.PERSONALIZATION_TURNS: ("EVAL_DIALOGUE_PERSONALIZATION_CHAIN_OF_TURN", _PERSON | _SAID),
    Dimension.OPENING_LEAK: ("EVAL_DIALOGUE_FIRST_TURN", _SAID | {"user_affinity", "user_intent"}),
}


class UserTemplates(NamedTuple):
    """The user agent's prompts for single-domain tasks or for multi-domain tasks."""

    system: str
    opening: str
    next: str


class OfficialTemplates(NamedTuple):
    """All templates of a checkout, by the names of its variables, and the digest of their texts."""

    single: UserTemplates
    multi: UserTemplates
    assistant: dict[str, str]
    judge: dict[str, str]
    digest: str


def read_checkout(root: Path) -> OfficialTemplates:
    """Return the templates of a checkout; the `DataError` names the file and the variable in one line."""
    users = [_user(root / "src" / name) for name in ("generate_dialogue.py", "generate_dialogue_md.py")]
    assistant = _variables(root / "util" / "assistant_prompts.py", _of_assistants())
    judge = _variables(
        root / "util" / "evaluation_prompts.py", ((name, fields, True) for name, fields in JUDGED.values())
    )
    texts = [
        *users[0],
        *users[1],
        *(text for table in (assistant, judge) for pair in sorted(table.items()) for text in pair),
    ]
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return OfficialTemplates(users[0], users[1], assistant, judge, digest)


def _of_assistants() -> Iterator[tuple[str, frozenset[str] | None, bool]]:
    """Yield each variable, its fields (None for a text sent as it is), and whether it must be there."""
    for family in FAMILIES:
        yield f"{family}_SYSTEM_PROMPT", None, True
        for suffix in VARIANTS.values():
            yield f"{family}_TASK_PROMPT{suffix}", _KNOWN, True
        yield f"{family}_SYSTEM_PROMPT_VANILLA", None, False
        yield f"{family}_TASK_PROMPT_VANILLA", _KNOWN, False


def _user(file: Path) -> UserTemplates:
    classes = (node for node in _parsed(file).body if isinstance(node, ast.ClassDef))
    of_class = next((node for node in classes if node.name == _USER_CLASS), None)
    if of_class is None:
        raise DataError(file, f"no class {_USER_CLASS}; {_EXPECTED}", code="PL203")
    expressions = dict(_assigned(ast.walk(of_class)))
    texts = [_text(file, expressions, f"self.{name}", fields) for name, fields in _USER.items()]
    return UserTemplates(*texts)


def _variables(file: Path, wanted: Iterable[tuple[str, frozenset[str] | None, bool]]) -> dict[str, str]:
    expressions = dict(_assigned(_parsed(file).body))
    return {
        name: _text(file, expressions, name, fields)
        for name, fields, needed in wanted
        if needed or name in expressions
    }


def _parsed(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes())
    except FileNotFoundError:
        raise DataError(file, f"the file is missing; {_EXPECTED}", code="PL203") from None
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}", code="PL201") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(file, f"is no Python that can be parsed: {error}", code="PL205") from None


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the values of variables, and of attributes as ``self.name``."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name | ast.Attribute):
                    yield ast.unparse(target), node.value


def _text(file: Path, expressions: dict[str, ast.expr], name: str, fields: frozenset[str] | None) -> str:
    value = expressions.get(name)
    if value is None:
        raise DataError(file, "the variable is missing", field=name, code="PL204")
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        problem = f"expected a plain text, found {type(value).__name__} in line {value.lineno}"
        raise DataError(file, problem, field=name)
    if fields is not None:
        _check_fields(file, name, value.value, fields)
    return value.value


def _check_fields(file: Path, name: str, text: str, fields: frozenset[str]) -> None:
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        raise DataError(file, f"cannot be filled by str.format: {error}", field=name, code="PL204") from None
    for _, field, spec, conversion in parts:
        # Only a name is allowed, because "{x.attribute}" would read attributes of the values that this
        # package passes.
        if field is not None and (field not in fields or spec or conversion):
            problem = f"unknown field {{{field}}}; known: {', '.join(sorted(fields))}"
            raise DataError(file, problem, field=name, code="PL204")
