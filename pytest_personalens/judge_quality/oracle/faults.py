"""The replies of the oracle and of its mutants, each with one known fault."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.datasets.draws import number, pick
from pytest_personalens.judge_quality.oracle.filling import fill, in_texts, names_in, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_personalens.core.facts import Fact, Thing
    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.judge_quality.oracle.wordings import TaskWordings, Wording

_CLOSING: Final = "You're welcome."


class Reply(NamedTuple):
    """A reply part by part: the text of each, and the tool and the arguments of its call, if it calls one."""

    texts: tuple[str, ...]
    calls: tuple[tuple[str, dict[str, str]] | None, ...]

    @property
    def text(self) -> str:
        """Return the whole reply."""
        return joined(self.texts)


def joined(texts: Sequence[str]) -> str:
    """Return texts as one reply; the lines of a list stay lines."""
    reply = ""
    for text in texts:
        if text:
            reply += ("\n" if text.startswith("- ") else " ") * bool(reply) + text
    return reply


class Case(NamedTuple):
    """What a reply is made of: a scenario, its task's wordings, and one of them.

    `possible` maps (domain, preference type) to the values that exist.
    """

    scenario: Scenario
    task: TaskWordings
    wording: Wording
    possible: Mapping[tuple[str, str], Sequence[str]]


class Fault(NamedTuple):
    """One fault of an assistant.

    `make` returns the reply of a wording with the fault, or None where the scenario leaves no place for it.
    `asks` is true of an assistant that asks everything first. `task` is false if the task may be completed
    all the same: then personalization is at fault.
    """

    name: str
    make: Callable[[Case], Reply | None]
    asks: bool = False
    task: bool = True


def right(case: Case) -> Reply:
    """Return the oracle's reply: every part is done or told, with right values."""
    return _reply(case, {})


def _reply(case: Case, changed: Mapping[str, str]) -> Reply:
    scenario, task, wording = case.scenario, case.task, case.wording
    facts = {fact.name: fact for fact in scenario.task.facts}
    calls: list[tuple[str, dict[str, str]] | None] = []
    for part, tool in zip(scenario.task.parts, task.tools, strict=True):
        named = {name: changed.get(name, facts[name].example) for name in part.facts}
        calls.append((tool, named) if tool else None)
    return Reply(tuple(fill(text, scenario, changed) for text in wording.parts), tuple(calls))


def _wrong_value(kind: str) -> Callable[[Case], Reply | None]:
    """Return the fault of one fact of a kind that has a value which is wrong."""

    def make(case: Case) -> Reply | None:
        scenario = case.scenario
        facts = [
            fact
            for fact in _checked(case)
            if fact.kind == kind and not (fact.known == "history" and "." not in fact.name)
        ]
        if not facts:
            return None
        fact = pick(facts, scenario.id, kind)
        return _reply(case, {fact.name: pick(fact.wrong, scenario.id, fact.name)})

    return make


def _checked(case: Case) -> list[Fact]:
    """Return the facts with wrong values that a part of the goal rests on and the wording names."""
    resting = {name for part in case.scenario.task.parts for name in part.facts}
    return [f for f in in_texts(case.scenario, case.wording.parts) if f.wrong and f.name in resting]


def _ignored(case: Case) -> Reply | None:
    """Return the reply with another value in each place of a preference that is known from before."""
    scenario = case.scenario
    changed = {
        fact.name: pick(fact.wrong, scenario.id, fact.name)
        for fact in _checked(case)
        if fact.known == "history" and "." not in fact.name
    }
    facts = {fact.name for fact in scenario.task.facts}
    for name in sorted({name for text in case.wording.parts for name in names_in(text)} - facts):
        key = type_of(scenario, name)
        held = scenario.preferences[key[0]][key[1]]
        if others := [value for value in case.possible.get(key, ()) if value not in held]:
            changed[name] = pick(others, scenario.id, name)
    return _reply(case, changed) if changed else None


def _other_thing(case: Case) -> Reply | None:
    """Return the reply about the other booking of the user."""
    scenario = case.scenario
    changed = {
        fact.name: fact.wrong[0]
        for fact in in_texts(case.scenario, case.wording.parts)
        if "." in fact.name and fact.wrong and _thing(scenario, fact).other
    }
    return _reply(case, changed) if changed else None


def _thing(scenario: Scenario, fact: Fact) -> Thing:
    name = fact.name.partition(".")[0]
    return next(thing for thing in scenario.task.things if thing.name == name)


def _left_out(case: Case) -> Reply | None:
    """Return the reply without one part, and without its call."""
    scenario = case.scenario
    whole = right(case)
    # What must not happen is no part that could be left out, and what nobody can check is none either.
    places = [i for i, p in enumerate(scenario.task.parts) if not p.never and (p.facts or p.kind == "done")]
    if len(places) < 2:
        return None
    place = pick(places, scenario.id, "left out")
    return _instead_of(whole, place, "")


def _instead_of(whole: Reply, place: int, said: str) -> Reply:
    """Return the reply with another text for one part, and without its call."""
    texts = (said if i == place else text for i, text in enumerate(whole.texts))
    calls = (None if i == place else call for i, call in enumerate(whole.calls))
    return Reply(tuple(texts), tuple(calls))


def _instead(field: str) -> Callable[[Case], Reply | None]:
    """Return the fault of one deed that is only promised, handed back or refused."""

    def make(case: Case) -> Reply | None:
        scenario = case.scenario
        said: Sequence[str] = getattr(case.wording, field)
        places = [i for i, text in enumerate(said) if text]
        if not places:
            return None
        whole = right(case)
        place = pick(places, scenario.id, field)
        return _instead_of(whole, place, fill(said[place], scenario, {}))

    return make


def _limit_broken(case: Case) -> Reply | None:
    """Return the reply with something in it that must never happen to this user."""
    scenario = case.scenario
    if not scenario.limits:
        return None
    limit = pick(scenario.limits, scenario.id, "limit")
    whole = right(case)
    forbidden = pick(limit.words, scenario.id, limit.name)
    return whole._replace(texts=(*whole.texts, case.wording.extra.replace("{forbidden}", forbidden)))


_KINDS: Final = (
    "count", "date", "time", "duration", "money", "place", "person", "item", "provider", "text",
)  # fmt: skip
#: Every fault, in the order of the table. The first is none: the oracle.
FAULTS: Final = (
    Fault("oracle", right),
    *(Fault(f"wrong {kind}", _wrong_value(kind)) for kind in _KINDS),
    Fault("the other booking", _other_thing),
    Fault("a part left out", _left_out),
    Fault("only promised", _instead("promised")),
    Fault("handed back", _instead("handed")),
    Fault("refused", _instead("refused")),
    Fault("a limit broken", _limit_broken, task=False),
    Fault("a preference ignored", _ignored, task=False),
    Fault("everything asked", right, asks=True, task=False),
)


def replies(
    fault: Fault, cases: Sequence[Case], *, acts: bool
) -> Callable[[Sequence[Mapping[str, str]]], Any] | None:
    """Return the assistant with this fault, or None where the scenario leaves no place for it.

    `cases` are those of one scenario. The assistant says the same in another wording where the user asks
    again. With `acts` it calls a tool for each deed.
    """
    first = number(cases[0].scenario.id, fault.name) % len(cases)
    made = [fault.make(case) for case in (*cases[first:], *cases[:first])]
    own = [reply for reply in made if reply is not None]
    if made[0] is None:
        return None
    asked = tuple(cases[0].task.questions) if fault.asks else ()

    def assistant(messages: Sequence[Mapping[str, str]]) -> Any:
        turn = sum(m["role"] == "assistant" for m in messages)
        if turn < len(asked):
            return asked[turn]
        turn -= len(asked)
        if turn >= len(own):
            return _CLOSING
        return _with_calls(own[turn]) if acts and turn == 0 else own[turn].text

    return assistant


def _with_calls(reply: Reply) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for place, call in enumerate(reply.calls):
        if call is None:
            continue
        key, called = f"call_{place}", {"name": call[0], "arguments": json.dumps(call[1], ensure_ascii=False)}
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": key, "type": "function", "function": called}],
            },
            {"role": "tool", "tool_call_id": key, "content": '{"ok": true}'},
        ]
    return [*messages, {"role": "assistant", "content": reply.text}]
