"""The prompt templates of the agents that models play, ours or a team's own, and what fills them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.core.dialogue.message import call_texts
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.safe_text import cut_to
from pytest_personalens.core.scenario import UNKNOWN
from pytest_personalens.datasets.world.written import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Context, Scenario, Situation


_HOW_KNOWN: Final = {
    "said": "say it in your first message",
    "told": "tell it when you are asked",
    "history": "the assistant may know it from before; tell it when you are asked",
}
#: How the assistant can know a fact, for a judge.
_SOURCE: Final = {
    "said": "the person says it at once",
    "told": "the person tells it when asked",
    "history": "known from before",
    "open": "open to the assistant",
}
#: How many of its words a judge is told of each limit.
_WORDS: Final = 6
#: How many wrong values a judge is told of each fact.
_WRONG: Final = 3


def with_knowledge(scenario: Scenario) -> str:
    """Return the intent, and what the user knows of it as values; the intent alone without facts."""
    if not (facts := scenario.task.facts):
        return scenario.task.intent
    lines = [scenario.task.intent, "", "What you know, and nobody else can know better:", *_moment(scenario)]
    told = (f for f in facts if f.known in _HOW_KNOWN and f.says)
    lines += [f"- {f.what}: {f.says} ({_HOW_KNOWN[f.known]})" for f in told]
    open_ = ((f.what, f", {f.says}" if f.says else "") for f in facts if f.known == "open")
    lines += [f"- {what}: the assistant may choose{says}" for what, says in open_]
    for thing in scenario.task.things:
        lines.append(f"- you have {thing.record}")
        if thing.other:
            lines.append(f"- you also have {thing.other}; this is not the one that you mean")
    return "\n".join(lines)


def fact_sources(scenario: Scenario) -> list[str]:
    """Return a line for each fact of the task: its value, and how the assistant can know it."""
    facts = ((f.what, f.says or "any value will do", _SOURCE[f.known]) for f in scenario.task.facts)
    return [*_moment(scenario), *(f"- {what}: {says} ({source})" for what, says, source in facts)]


def with_values(scenario: Scenario) -> str:
    """Return the goal, and what counts as right as values; the goal alone without facts."""
    if not scenario.task.facts:
        return scenario.task.goal
    lines = [scenario.task.goal, "", "As values, where the goal rests on them:", *_moment(scenario)]
    lines += [f"- {fact.what}: {fact.says}{_wrong(fact)}" for fact in scenario.task.facts if fact.says]
    for thing in scenario.task.things:
        lines.append(f"- the {thing.what} that is meant: {thing.record}")
        if thing.other:
            lines.append(f"- another {thing.what} of the user, which must stay as it is: {thing.other}")
    return "\n".join(lines)


def with_limits(profile: str, scenario: Scenario) -> str:
    """Return the profile, and what must never happen to this person."""
    if not scenario.limits:
        return profile
    lines = [f"- {x.text} (such as: {', '.join(x.words[:_WORDS])})" for x in scenario.limits]
    return "\n".join([profile, "", "Never acceptable:", *lines])


def _moment(scenario: Scenario) -> Iterator[str]:
    if scenario.now is not None:
        yield f"- it is now {scenario.now}"


def _wrong(fact: Fact) -> str:
    values = [say(fact.kind, value) for value in fact.wrong[:_WRONG]]
    return f" (wrong would be {', '.join(values)})" if values else ""


_FOLDER: Final = Path(__file__).parent / "templates"
#: No model is asked for facts: typed values are compared.
_ASKED: Final = tuple(d for d in Dimension if d is not Dimension.FACTS)
#: Readings that are asked for by themselves, so that the prompts of the others, and the identities of judges,
#: are what they were.
_ALONE: Final = (Dimension.UNBACKED, Dimension.INTRUSIONS)
#: The readings whose rubrics every judge is given.
RUBRICS: Final = tuple(d for d in _ASKED if d not in _ALONE)
#: The template of a criterion of a team's own; its text follows, and is no part of the template.
CRITERION_TEMPLATE: Final = "judge_criterion"
_READINGS: Final = (*(f"judge_{d.value}" for d in _ASKED), CRITERION_TEMPLATE)
_ALONE_TEMPLATES: Final = (*(f"judge_{d.value}" for d in _ALONE), CRITERION_TEMPLATE)
#: Characters of a call's arguments, and of its result, that a judge is shown.
MAX_SHOWN: Final = 1_000
#: Characters of a state that a judge is shown.
MAX_STATE_SHOWN: Final = 12_000
#: The templates of each role's prompts.
_ROLES: Final[dict[str, tuple[str, ...]]] = {
    "user": (
        "user", "user_person", "user_opening", "user_next", "user_manner", "user_reasoning", "user_state",
    ),
    "judge": ("judge", *_READINGS),
    "assistant": ("assistant", "assistant_context"),
}  # fmt: skip
#: The placeholders that a scenario and its dialogue fill, for roles that may see all of it.
_OF_SCENARIO: Final = frozenset(
    {"profile", "demographics", "preferences", "summaries", "situation", "intent", "goal", "transcript"}
)
#: The placeholders that the templates of each role may hold. An assistant sees what the context allows:
#: `$summaries` is empty without I.
PLACEHOLDERS: Final[dict[str, frozenset[str]]] = {
    "user": _OF_SCENARIO | {"end", "manner"},
    "judge": _OF_SCENARIO | {"rubrics"},
    "assistant": frozenset({"context", "demographics", "summaries", "situation", "transcript"}),
}
#: Under the paper's protocol each reading of a judge is one prompt of its own, and a model as the assistant
#: gets the dialogue in one message.
_PAPER: Final = {
    "judge": ("judge", *(f"judge_{d.value}" for d in _ASKED if d is not Dimension.INTRUSIONS)),
    "assistant": (
        "assistant", "assistant_context", "assistant_next", "assistant_vanilla", "assistant_vanilla_next",
    ),
}  # fmt: skip
Protocol = Literal["default", "paper"]


class Prompts:
    """The templates of a protocol.

    Templates in the team's folder (``personalens_prompts``) replace those of this package. Raise
    `DataError` for a file that is no template, or that holds a placeholder unknown to its role.
    """

    def __init__(self, folder: Path | None = None, *, protocol: Protocol = "default") -> None:
        self.protocol = protocol
        self._roles = {**_ROLES, **(_PAPER if protocol == "paper" else {})}
        names = [name for of_role in self._roles.values() for name in of_role]
        self._texts = {name: _built_in_text(name, protocol) for name in names}
        for file in _templates_in(folder) if folder is not None else ():
            if file.stem not in names:
                raise DataError(file, f"no such template; known: {', '.join(names)}", code="PL204")
            self._texts[file.stem] = self._read(file)
        self._places = {
            name: frozenset(Template(text).get_identifiers()) for name, text in self._texts.items()
        }
        if folder is not None:
            self._refuse_what_says_too_little(folder)

    def places(self, *names: str) -> frozenset[str]:
        """Return the placeholders that these templates hold."""
        return frozenset().union(*(self._places[name] for name in names))

    def fill(self, name: str, **values: str) -> str:
        """Return the template `name` with its placeholders filled in."""
        return Template(self._texts[name]).substitute(values)

    def digest(self, *names: str) -> str:
        """Return a digest of templates for an agent's identity: a changed prompt makes records stale."""
        return hashlib.sha256("\0".join(self._texts[n] for n in names).encode()).hexdigest()[:8]

    @property
    def judge_version(self) -> str:
        """What tells a judge with these templates from others; part of its identity.

        The template of a reading that is asked for by itself counts where it is the team's own.
        """
        digest = self.digest("judge", *(f"judge_{d.value}" for d in RUBRICS))
        alone = [name for name in _ALONE_TEMPLATES if name in self._texts]
        own = [name for name in alone if self._texts[name] != _built_in_text(name, self.protocol)]
        return " ".join((digest, *map(self.digest, own)))

    def _read(self, file: Path) -> str:
        try:
            text = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(file, f"cannot be read: {error}", code="PL201") from None
        template = Template(text)
        if not template.is_valid():
            raise DataError(
                file, "a '$' that begins no placeholder; write '$$' for a dollar sign", code="PL204"
            )
        role = next(role for role, names in self._roles.items() if file.stem in names)
        placeholders = PLACEHOLDERS[role]
        if role == "judge" and (self.protocol == "paper" or file.stem != "judge"):
            placeholders -= {"rubrics"}
        for name in template.get_identifiers():
            if name not in placeholders:
                known = ", ".join(f"${n}" for n in sorted(placeholders))
                problem = f"unknown placeholder ${name} for the {role}; known: {known}"
                raise DataError(file, problem, code="PL204")
        return text

    def _refuse_what_says_too_little(self, folder: Path) -> None:
        # A team may leave out any other placeholder. Without these, the user agent has nothing to ask for, or
        # the judge nothing to judge by.
        if "rubrics" not in self.places("judge") and self.protocol == "default":
            problem = "the placeholder $rubrics is missing: without it the judge has no scores to give"
            raise DataError(folder / "judge.txt", problem, code="PL204")
        always = self.places("user", "user_person") | (self.places("user_opening") & self.places("user_next"))
        if "intent" not in always:
            problem = "the placeholder $intent is missing: without it the user does not know what to ask"
            raise DataError(folder / "user_person.txt", problem, code="PL204")


def _built_in_text(name: str, protocol: Protocol) -> str:
    file = _FOLDER / protocol / f"{name}.txt"  # there is no folder "default"
    return (file if file.exists() else _FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()


def _templates_in(folder: Path) -> list[Path]:
    try:
        exists = folder.is_dir()
    except OSError as error:  # a name that is too long
        raise DataError(str(folder)[:200], f"cannot be read: {error.strerror}", code="PL201") from None
    if not exists:
        raise DataError(folder, "no such folder of prompt templates", code="PL204")
    return sorted(folder.glob("*.txt"))


def values_of(scenario: Scenario, messages: Sequence[Message], *, facts: bool) -> dict[str, str]:
    """Return the text of each placeholder, for roles that may see the whole scenario.

    With `facts`, the intent, the goal and the profile hold what the scenario knows as values, and each text
    stands between tags that nothing in it can close. The paper's prompts have neither.
    """
    profile = profile_text(scenario)
    values = {
        "profile": with_limits(profile, scenario) if facts else profile,
        "demographics": _lines(scenario.demographics),
        "preferences": "\n\n".join(preferences_text(scenario, d) for d in scenario.domains),
        "summaries": _summaries({d: scenario.summaries.get(d, "") for d in scenario.domains}),
        "situation": situation_text(scenario.situation),
        "intent": with_knowledge(scenario) if facts else scenario.task.intent,
        "goal": with_values(scenario) if facts else scenario.task.goal,
    }
    if facts:
        values = {name: framed(name, text) for name, text in values.items()}
    # What is said of tool calls, where the assistant tells them.
    note = f"\n\n{_note('calls')}" if any(m.acts for m in messages) else ""
    return {**values, "transcript": transcript_text(messages) + note}


def values_of_judge(scenario: Scenario, messages: Sequence[Message]) -> dict[str, str]:
    """Return the text of each placeholder for a judge, under the default protocol, and the task's facts."""
    return {
        **values_of(scenario, messages, facts=True),
        "intent": framed("intent", scenario.task.intent),  # what the user alone knows is no matter of theirs
        "facts": framed("facts", "\n".join(lines)) if (lines := fact_sources(scenario)) else "",
    }


def values_of_context(context: Context, *, frames: bool) -> dict[str, str]:
    """Return the text of each placeholder for the assistant, from what it may know, with `frames` in tags."""
    values = {
        "context": context.text(),
        "demographics": _lines(context.demographics),
        "summaries": _summaries(context.interactions),
        "situation": situation_text(context.situation) if context.situation is not None else "",
    }
    return {name: framed(name, text) if text else "" for name, text in values.items()} if frames else values


#: Characters that could close the section, and characters that a reader of the prompt would not see:
#: controls, formats, separators, fillers, selectors.
_UNSAFE: Final = re.compile(
    "[<\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


#: Line ends but for the plain one, and control characters, which a text of a dataset may hold.
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f]")


def framed(tag: str, text: str) -> str:
    """Return a text of others between tags. It may have lines, and cannot close the tag or hide anything."""
    text = _CONTROLS.sub(_escaped, _LINE_ENDS.sub("\n", text))
    return f"<{tag}>\n{_UNSAFE.sub(_escaped, text)}\n</{tag}>"


def transcript_text(messages: Sequence[Message]) -> str:
    """Return the transcript in its section, as JSON lines.

    The text of a turn cannot end its line, begin another turn, close the section or hide. Characters that
    take no room on a screen are written as escapes.
    """

    def line(turn: int, m: Message) -> str:
        told = {"turn": turn} | ({"session": m.session} if m.session else {}) | {"role": m.role}
        text = json.dumps(told | _calls(m) | {"content": m.content}, ensure_ascii=False)
        return _UNSAFE.sub(_escaped, text) + "\n"

    return f"<transcript>\n{''.join(line(n, m) for n, m in enumerate(messages))}</transcript>"


def state_text(state: State | None) -> str:
    """Return what the team's system holds in its section, as JSON, where the team gives it; else nothing."""
    if state is None:
        return ""
    text = cut_to(json.dumps(state.data, ensure_ascii=False), MAX_STATE_SHOWN)
    return f"<state>\n{_UNSAFE.sub(_escaped, text)}\n</state>\n\n{_note('state')}\n\n"


def _calls(message: Message) -> dict[str, object]:
    """What the assistant did before it said its turn, as a judge is shown it."""
    calls = [
        {"call": cut_to(call, MAX_SHOWN), "result": None if result is None else cut_to(result, MAX_SHOWN)}
        for call, result in call_texts(message)
    ]
    return {"calls": calls} if calls else {}


def conversation_text(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the transcript in the form for an assistant: each speaker and the text."""
    return "\n".join(f"{m['role'].capitalize()}: {m['content']}" for m in messages)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "<" else "\\u003c"


def _note(name: str) -> str:
    """Return what is said in each prompt that shows calls, or a state, whichever template it comes from."""
    return (_FOLDER / "notes" / f"{name}.txt").read_text(encoding="utf-8").strip()


def profile_text(scenario: Scenario) -> str:
    """Return demographics, preferences and summaries of the task's domains, and never the user's id."""
    parts = ["\n".join(["Demographics:", *_list_items(scenario.demographics)])]
    for domain in scenario.domains:
        summary = _summaries({domain: scenario.summaries.get(domain, "")})
        parts += [preferences_text(scenario, domain), summary]
    return "\n\n".join(parts)


def preferences_text(scenario: Scenario, domain: str) -> str:
    """Return the preferences of one domain, one on each line."""
    values = {name: ", ".join(held) or "none stated" for name, held in scenario.preferences[domain].items()}
    return "\n".join([f"Preferences in {domain}:", *(f"- {name}: {held}" for name, held in values.items())])


def situation_text(situation: Situation) -> str:
    """Return the situation with one line for each of its parts that is known."""
    return _lines(situation.known or {"situation": UNKNOWN})


def _lines(values: Mapping[str, str]) -> str:
    return "\n".join(_list_items(values))


def _list_items(values: Mapping[str, str]) -> list[str]:
    return [f"- {name.replace('_', ' ')}: {value}" for name, value in values.items()]


def _summaries(by_domain: Mapping[str, str]) -> str:
    texts = (f"Past conversations about {domain}:\n{text.strip()}" for domain, text in by_domain.items())
    return "\n\n".join(texts)
