"""The official prompts: read from a user's checkout, filled as the official code does, and who plays with them."""

from __future__ import annotations

import ast
import hashlib
import re
from string import Formatter
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.by_model.model_judge import unread
from pytest_personalens.agents.by_model.model_speakers import END_SIGNAL, played_reply
from pytest_personalens.agents.by_model.prompts import MAX_SHOWN
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.dialogue.message import call_lines
from pytest_personalens.core.errors import DataError, JudgeFault, SpecError, UserAgentFault
from pytest_personalens.core.judging.verdict import Dimension, Verdict
from pytest_personalens.datasets.official import SITUATION
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
    from pytest_personalens.core.scenario import Context, Scenario, Situation

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


_INSTRUCTION: Final = re.compile(r"<instruction>.*?</instruction>", re.DOTALL)
_NO_INSTRUCTION: Final = re.compile(r"<instruction>\s*</instruction>")
_LEFT_OUT: Final = {"D": "demographic_profile", "I": "interaction_summary", "S": "situation_context"}


class OfficialPrompts:
    """The templates of a checkout, and the bugs of its code that are `mended`."""

    def __init__(self, templates: OfficialTemplates, mended: Collection[str] = ()) -> None:
        self.templates, self.mended = templates, frozenset(mended)
        #: The name of these prompts, as part of an agent's identity.
        named = f" mended {','.join(sorted(mended))}" if mended else ""
        self.version = f"official {templates.digest}{named}"

    def user(self, scenario: Scenario, transcript: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Return system text and prompt of the user's next turn; `transcript` holds (role, text)."""
        templates = self.templates.single if scenario.kind == "single" else self.templates.multi
        values = self._person(scenario, scenario.demographics)
        if not transcript:
            return templates.system, templates.opening.format(**values)
        return templates.system, templates.next.format(**values, message_history=self._judged(transcript))

    def judge(self, scenario: Scenario, transcript: Sequence[tuple[str, str]], dimension: Dimension) -> str:
        """Return the prompt of a reading."""
        demographics = scenario.demographics
        of_person = dimension in (Dimension.PERSONALIZATION, Dimension.PERSONALIZATION_TURNS)
        if of_person and "user-id" not in self.mended:
            demographics = {"user_id": scenario.user, **demographics}
        return self.templates.judge[JUDGED[dimension][0]].format(
            **self._person(scenario, demographics),
            goal=scenario.task.goal,
            user_intent=scenario.task.intent,
            conversation=self._judged(transcript),
        )

    def assistant(
        self, family: str, setting: str, context: Context, transcript: Sequence[tuple[str, str]]
    ) -> tuple[str, str]:
        """Return system text and prompt of the assistant's next reply; `SpecError` where there is none."""
        system, template = self._assistant(family, setting, context)
        history = "\n".join(f"{role.capitalize()}: {self._content(text)}" for role, text in transcript)
        return system, template.format(
            demographic_profile=_lines(context.demographics.items()),
            interaction_summary=_summaries(context.interactions),
            situation_context=_situation(context.situation) if context.situation is not None else "",
            message_history=history,
        )

    def _assistant(self, family: str, setting: str, context: Context) -> tuple[str, str]:
        texts = self.templates.assistant
        if setting == "vanilla":
            if f"{family}_TASK_PROMPT_VANILLA" not in texts:
                raise SpecError(
                    "personalens_assistant_prompt = vanilla: the official code has no such prompt for"
                    f" {family.capitalize()}",
                    code="PL108",
                )
            return texts[f"{family}_SYSTEM_PROMPT_VANILLA"], texts[f"{family}_TASK_PROMPT_VANILLA"]
        held = {"D": context.demographics, "I": context.interactions, "S": context.situation}
        letters = "".join(letter for letter, part in held.items() if part)
        if letters in VARIANTS:
            template = texts[f"{family}_TASK_PROMPT{VARIANTS[letters]}"]
        elif "pairs" in self.mended:
            (left_out,) = set(_LEFT_OUT) - set(letters)
            template = _without(texts[f"{family}_TASK_PROMPT_DPS"], _LEFT_OUT[left_out])
        else:
            raise SpecError(
                f"personalens_context = {letters}: the official code crashes on two parts of the context (it has"
                " prompts for none, D, I, S and DIS); write personalens_official_bugs = pairs to have them mended",
                code="PL108",
            )
        if "base-instruction" in self.mended and _NO_INSTRUCTION.search(template):
            instruction = _INSTRUCTION.search(texts[f"{family}_TASK_PROMPT_D"])
            template = _NO_INSTRUCTION.sub(lambda _: instruction[0] if instruction else "", template)
        return texts[f"{family}_SYSTEM_PROMPT"], template

    def _person(self, scenario: Scenario, demographics: Mapping[str, str]) -> dict[str, str]:
        held = {d: scenario.preferences[d].items() for d in scenario.domains}
        preferences = {d: _lines((name, ", ".join(vs)) for name, vs in types) for d, types in held.items()}
        several = "".join(f"\n{d}:\n{p}\n" for d, p in preferences.items())
        return {
            "demographic_profile": _lines(demographics.items()),
            "user_affinity": preferences[scenario.domains[0]] if scenario.kind == "single" else several,
            "interaction_summary": _summaries({d: scenario.summaries[d] for d in scenario.domains}),
            "situation_context": _situation(scenario.situation),
            "task_description": scenario.task.intent,
        }

    def _judged(self, transcript: Sequence[tuple[str, str]]) -> str:
        """Return the dialogue in the form for the user agent and the judge."""
        return "\n".join(f"[{role.upper()}]: {self._content(text)}" for role, text in transcript)

    def _content(self, text: str) -> str:
        return text.replace("\n", "\n  ") if "forged-lines" in self.mended else text


def family_of(model: str) -> str:
    """Return the family whose prompts the official code uses for a model, by a part of its name; or Claude's."""
    name = model.lower()
    return "LLAMA" if "llama" in name else "MISTRAL" if "mistral" in name or "mixtral" in name else "CLAUDE"


def _lines(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in pairs)


def _situation(situation: Situation) -> str:
    return _lines((label, getattr(situation, field)) for field, label in SITUATION.items())


def _summaries(by_domain: Mapping[str, str]) -> str:
    """Return the summary of one domain, or those of several domains between tags."""
    if len(by_domain) == 1:
        return next(iter(by_domain.values()))
    return "".join(f"\n<{domain}>\n{text}\n</{domain}>\n" for domain, text in by_domain.items())


def _without(template: str, field: str) -> str:
    """Return the template without the line of a field, its heading and the empty line after it."""
    lines = template.split("\n")
    place = lines.index(f"{{{field}}}") if f"{{{field}}}" in lines else -1
    if place < 0:
        problem = f"{{{field}}} does not stand in a line of its own, so pairs cannot be mended"
        raise SpecError(f"personalens_official_bugs: {problem}", code="PL204")
    first = place - 1 if place and lines[place - 1].endswith(":") else place
    last = place + 1 if place + 1 < len(lines) and not lines[place + 1].strip() else place
    return "\n".join(lines[:first] + lines[last + 1 :])


#: The bugs of the official code that can be mended; `docs/explanation/protocol.md` tells each, and its mended form.
BUGS: Final = (
    "user-id", "base-instruction", "pairs", "verdict", "score", "empty-message", "opening-signal", "forged-lines",
)  # fmt: skip


def mended_bugs(text: str) -> frozenset[str]:
    """Return the bugs to mend: none for "reproduce", all for "mend", or the named ones, divided by commas.

    Raise `SpecError` for an unknown name.
    """
    if text.strip() in ("reproduce", "mend"):
        return frozenset(BUGS if text.strip() == "mend" else ())
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = next((name for name in names if name not in BUGS), None)
    if unknown is not None or not names:
        known = f"expected reproduce, mend, or the bugs to mend ({', '.join(BUGS)})"
        raise SpecError(f"personalens_official_bugs: {known}, not {unknown or text!r}")
    return frozenset(names)


_JUSTIFICATION: Final = re.compile(r"Justification: (.*?)(?=\n\n|$)", re.DOTALL)
_VERDICT: Final = re.compile(r"VERDICT: (True|False)", re.IGNORECASE)
_LOOSE_VERDICT: Final = re.compile(r"(?:VERDICT\W*|\A\W*)\b(True|False)\b", re.IGNORECASE)
_EXPLANATION: Final = re.compile(r"EXPLANATION:\s*(.+)", re.IGNORECASE | re.DOTALL)
_UNREAD: Final = (
    "no 'VERDICT: True' or 'VERDICT: False' is in the answer, which the official code counts as a task that"
    " failed"
)


def read_official(text: str, dimension: Dimension, replies: int, mended: Collection[str] = ()) -> Verdict:
    """Return the verdict in an answer.

    Raise ValueError for an answer that the official code leaves out of its means, or that is off the scale.

    >>> read_official("Personalization Score: 3.5", Dimension.PERSONALIZATION, 1).score
    3
    """
    if dimension.scale.high == 1:
        return _verdict(text, dimension, strict="verdict" in mended)
    score = f"{dimension.value.partition('_')[0].capitalize()} Score"
    # A whole score after its name with any marks around both, or the first digits.
    strict = rf"{score}[\s:*_`\[(]*(\d+)(?!\d|[.,/]\d)"
    pattern = strict if "score" in mended else rf"{score}: (\d+)"
    numbers = [int(digits) for digits in re.findall(pattern, text)]
    by_turn = dimension is Dimension.PERSONALIZATION_TURNS
    if len(numbers) < (replies if by_turn else 1) or (by_turn and len(numbers) != replies):
        raise ValueError(f"expected {replies if by_turn else 1} x '{score}: ...', found {len(numbers)}")
    scores = numbers if by_turn else numbers[:1]
    low, high = dimension.scale
    if outside := [score for score in scores if not low <= score <= high]:
        raise ValueError(f"expected a score from {low} to {high}, found {outside[0]}")
    why = _JUSTIFICATION.search(text)
    return Verdict(
        dimension=dimension,
        score=scores[-1],
        justification=why[1].strip() if why else "",
        turns=tuple(scores) if by_turn else (),
    )


def _verdict(text: str, dimension: Dimension, *, strict: bool) -> Verdict:
    match = (_LOOSE_VERDICT if strict else _VERDICT).search(text)
    if match is None and strict:
        raise ValueError("expected 'VERDICT: True' or 'VERDICT: False'")
    explanation = (why[1] if (why := _EXPLANATION.search(text)) else text).strip()
    return Verdict(
        dimension=dimension,
        score=int(match is not None and match[1].lower() == "true"),
        justification=explanation if match is not None else f"{_UNREAD}: {explanation}",
    )


_USER_TEMPERATURE: Final = 0.5


class OfficialUserAgent:
    """A user agent that accepts every text of the model: the official code looks for the end signal only."""

    def __init__(self, model: Model, meter: Meter, prompts: OfficialPrompts) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self.identity = f"{model.name} {prompts.version} t={_USER_TEMPERATURE}"
        self.paid = model.paid
        self.keeps_empty = "empty-message" not in prompts.mended

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the model's next turn."""
        system, prompt = self._prompts.user(scenario, [(m.role, m.content) for m in transcript])
        request = Request(system, prompt, _USER_TEMPERATURE)
        text = self._meter.complete(self._model, request, "user agent", fault=UserAgentFault).text
        if not transcript and "opening-signal" not in self._prompts.mended:
            return UserTurn(text)
        return UserTurn(text.replace(END_SIGNAL, "").strip(), bool(transcript) and END_SIGNAL in text)


class OfficialJudge:
    """A judge with a prompt for each reading; `JudgeFault` for what the official code leaves out."""

    parallel = True
    #: Those that the official code has a prompt for.
    dimensions = tuple(JUDGED)

    def __init__(
        self, model: Model, meter: Meter, prompts: OfficialPrompts, *, temperature: float = 0.0
    ) -> None:
        self._model, self._meter, self._prompts, self._temperature = model, meter, prompts, temperature
        self.identity = f"{model.name} {prompts.version}"
        self.paid = model.paid

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """Return the verdict; where the bug is mended, ask once more after an unreadable answer."""
        prompt = self._prompts.judge(scenario, _judged(dialogue.messages), dimension)
        request = Request("", prompt, self._temperature, 4000)
        replies = sum(m.role == "assistant" for m in dialogue.messages)
        mended, problem = self._prompts.mended, ""
        for _ in range(2 if ("verdict" if dimension.scale.high == 1 else "score") in mended else 1):
            answer = self._meter.complete(
                self._model, request, dimension.purpose, fault=JudgeFault, partial=True
            )
            try:
                return read_official(answer.text, dimension, replies, mended)
            except ValueError as error:
                problem = unread(self._model, answer, error)
        raise JudgeFault(f"{self._model.name}: unreadable verdict on {dimension.short}: {problem}")


class OfficialAssistant:
    """An assistant that gets the conversation in one message; its prompts are those of the model's family."""

    def __init__(
        self, model: Model, meter: Meter, prompts: OfficialPrompts, *, setting: str, context: Context
    ) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self._setting, self._context, self._family = setting, context, family_of(model.name)
        digest = hashlib.sha256("\0".join(self._texts(())).encode()).hexdigest()[:8]
        self.identity = f"{model.name} {setting} {prompts.version} {self._family.lower()} {digest}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> object:
        """Return the reply, as `Cut` if it is not whole; raise `AssistantFault` if the model gives none."""
        system, prompt = self._texts([(m["role"], m["content"]) for m in messages])
        return played_reply(self._model, self._meter, Request(system, prompt))

    def _texts(self, transcript: Sequence[tuple[str, str]]) -> tuple[str, str]:
        return self._prompts.assistant(self._family, self._setting, self._context, transcript)


def _judged(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The dialogue as a judge is shown it; the official code knows no tools, so each call stands in a line."""
    return [
        (m.role, "\n".join((*(f"(called {call})" for call in call_lines(m, MAX_SHOWN)), m.content)))
        for m in messages
    ]
