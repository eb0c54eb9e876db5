"""Assistants whose replies are right or wrong by the facts of a scenario: an oracle, and its mutants.

They need no labels: the oracle sees facts, history and limits and does the task, in the wordings of
``data/wordings``. Each mutant has one known fault. ``python -m tests.support.oracle 120`` prints what the
embedded user and judge make of them over 120 scenarios, in words and with tool calls.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.facts import Fact
from pytest_personalens.core.judging.evaluation import evaluate
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset, draw
from pytest_personalens.datasets.dataset import number, pick
from pytest_personalens.datasets.world import written
from pytest_personalens.datasets.world.resolve import named_type
from tests.support.repository import ROOT

#: The styles in which the embedded agents may be built. The others are kept for testing alone.
SEEN: Final = ("plain", "chatty", "list")
DATASET: Final = EmbeddedDataset()
#: (domain, preference type) -> the values that exist.
_POSSIBLE: Final = {
    (name, kind): held.values or held.others
    for name in DATASET.domains()
    for kind, held in DATASET.files.domain(name).preferences.items()
}
#: A place for a fact (``{day:weekday}``) or for a preference of the user (``{Cuisine Preference}``).
_PLACE: Final = re.compile(r"\{(?P<name>[^{}]+?)(?::(?P<form>" + "|".join(written.FORMS) + r"))?\}")
CONSTANT: Final = "one reply for all"
Call = tuple[str, dict[str, str]]


def read_wordings() -> dict[str, dict[str, Any]]:
    """Return the wordings of each task: its tools, questions and, by style, the texts of its parts."""
    files = sorted((ROOT / "data" / "wordings").glob("*.toml"))
    tasks = (task for file in files for task in tomllib.loads(file.read_text(encoding="utf-8"))["tasks"])
    return {task["task"]: task for task in tasks}


class Reply(NamedTuple):
    """A reply part by part: the text of each, and the tool and the arguments of its call, if it calls one."""

    texts: tuple[str, ...]
    calls: tuple[Call | None, ...]

    @property
    def text(self) -> str:
        """The whole reply; the lines of a list stay lines."""
        return "".join(("\n" if text.startswith("- ") else " ") + text for text in self.texts if text).strip()


class Case(NamedTuple):
    """What a reply is made of: a scenario, the wordings of its task, and one of them."""

    scenario: Scenario
    task: Mapping[str, Any]
    wording: Mapping[str, Any]

    @property
    def named(self) -> set[str]:
        """The facts and preferences that the wording has places for."""
        return {match["name"] for text in self.wording["parts"] for match in _PLACE.finditer(text)}

    @property
    def preferences(self) -> dict[str, tuple[str, str]]:
        """The preferences among them, each with its domain and type."""
        facts = {fact.name for fact in self.scenario.task.facts}
        return {name: named_type(name, self.scenario.domains) for name in sorted(self.named - facts)}

    @property
    def checked(self) -> list[Fact]:
        """The facts with wrong values that a part rests on and the wording names."""
        resting = {name for part in self.scenario.task.parts for name in part.facts}
        return [f for f in self.scenario.task.facts if f.wrong and f.name in resting & self.named]

    def fill(self, text: str, changed: Mapping[str, str]) -> str:
        """Return the text with the scenario's values, or the `changed` ones, in their places."""
        facts = {fact.name: fact for fact in self.scenario.task.facts}

        def value(match: re.Match[str]) -> str:
            name, form = match["name"], match["form"] or ""
            if (fact := facts.get(name)) is None:
                domain, kind = named_type(name, self.scenario.domains)
                held = self.scenario.preferences[domain][kind]
                return changed.get(name) or pick(held, self.scenario.id, name)
            if fact.every and name not in changed:
                return fact.example
            return written.say(fact.kind, changed.get(name, fact.example), form)

        return _PLACE.sub(value, text)

    def reply(self, changed: Mapping[str, str] = {}) -> Reply:
        """Return the reply that does or tells every part, with right values but for the `changed` ones."""
        facts = {fact.name: fact.example for fact in self.scenario.task.facts} | dict(changed)
        tools = zip(self.scenario.task.parts, self.task["tools"], strict=True)
        calls = ((tool, {name: facts[name] for name in part.facts}) if tool else None for part, tool in tools)
        return Reply(tuple(self.fill(text, changed) for text in self.wording["parts"]), tuple(calls))

    def instead(self, place: int, said: str) -> Reply:
        """Return the right reply with another text for one part, and without its call."""
        whole = self.reply()
        texts, calls = list(whole.texts), list(whole.calls)
        texts[place], calls[place] = self.fill(said, {}), None
        return Reply(tuple(texts), tuple(calls))


Make = Callable[[Case], Reply | None]


def _of_history(fact: Fact) -> bool:
    return fact.known == "history" and "." not in fact.name


def _wrong(kind: str) -> Make:
    def make(case: Case) -> Reply | None:
        facts = [f for f in case.checked if f.kind == kind and not _of_history(f)]
        if not facts:
            return None
        fact = pick(facts, case.scenario.id, kind)
        return case.reply({fact.name: pick(fact.wrong, case.scenario.id, fact.name)})

    return make


def _ignored(case: Case) -> Reply | None:
    changed = {f.name: pick(f.wrong, case.scenario.id, f.name) for f in case.checked if _of_history(f)}
    for name, (domain, kind) in case.preferences.items():
        held = case.scenario.preferences[domain][kind]
        if others := [value for value in _POSSIBLE.get((domain, kind), ()) if value not in held]:
            changed[name] = pick(others, case.scenario.id, name)
    return case.reply(changed) if changed else None


def _other_thing(case: Case) -> Reply | None:
    two = {thing.name for thing in case.scenario.task.things if thing.other}
    facts = [f for f in case.scenario.task.facts if f.wrong and f.name in case.named]
    changed = {f.name: f.wrong[0] for f in facts if f.name.partition(".")[0] in two and "." in f.name}
    return case.reply(changed) if changed else None


def _left_out(case: Case) -> Reply | None:
    parts = case.scenario.task.parts
    places = [i for i, p in enumerate(parts) if not p.never and (p.facts or p.kind == "done")]
    return case.instead(pick(places, case.scenario.id, "left out"), "") if len(places) > 1 else None


def _only(field: str) -> Make:
    def make(case: Case) -> Reply | None:
        places = [i for i, text in enumerate(case.wording[field]) if text]
        place = pick(places, case.scenario.id, field) if places else 0
        return case.instead(place, case.wording[field][place]) if places else None

    return make


def _limit_broken(case: Case) -> Reply | None:
    if not case.scenario.limits:
        return None
    limit = pick(case.scenario.limits, case.scenario.id, "limit")
    forbidden, whole = pick(limit.words, case.scenario.id, limit.name), case.reply()
    return whole._replace(texts=(*whole.texts, case.wording["extra"].replace("{forbidden}", forbidden)))


_KINDS: Final = ("count", "date", "time", "duration", "money", "place", "person", "item", "provider", "text")
#: Each assistant by its fault; without one, it is the oracle. The faults of the task come first.
TASK_FAULTS: Final[Mapping[str, Make]] = {
    **{f"wrong {kind}": _wrong(kind) for kind in _KINDS},
    "the other booking": _other_thing,
    "a part left out": _left_out,
    "only promised": _only("promised"),
    "handed back": _only("handed"),
    "refused": _only("refused"),
}
FAULTS: Final[Mapping[str, Make]] = {
    "oracle": Case.reply,
    **TASK_FAULTS,
    "a limit broken": _limit_broken,
    "a preference ignored": _ignored,
    "everything asked": Case.reply,
}


def assistant_with(fault: str, cases: Sequence[Case], *, acts: bool) -> Callable[[Any], Any] | None:
    """Return the assistant with this fault, or None where the scenario leaves no place for it.

    It says the same in another wording where the user asks again. With `acts` it calls a tool for each deed.
    """
    first = number(cases[0].scenario.id, fault) % len(cases)
    made = [FAULTS[fault](case) for case in (*cases[first:], *cases[:first])]
    own = [reply for reply in made if reply is not None]
    asked = list(cases[0].task["questions"]) if fault == "everything asked" else []

    def assistant(messages: Sequence[Mapping[str, str]]) -> Any:
        turn = sum(m["role"] == "assistant" for m in messages)
        if turn < len(asked):
            return asked[turn]
        turn -= len(asked)
        if turn >= len(own):
            return "You're welcome."
        return _with_calls(own[turn]) if acts and turn == 0 else own[turn].text

    return assistant if made[0] is not None else None


def _with_calls(reply: Reply) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for key, (tool, arguments) in ((f"call_{n}", call) for n, call in enumerate(reply.calls) if call):
        function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
        calls = [{"id": key, "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": key, "content": '{"ok": true}'})
    return [*messages, {"role": "assistant", "content": reply.text}]


def cases_of(scenario: Scenario, wordings: Mapping[str, Any], *, held: bool) -> list[Case]:
    """Return the cases of the seen styles or of those held back; a user without a preference has none."""
    task = wordings[scenario.task.id]
    found = (Case(scenario, task, w) for w in task["wordings"] if (w["style"] in SEEN) != held)
    return [c for c in found if all(scenario.preferences[d][t] for d, t in c.preferences.values())]


def play(scenarios: Iterable[Scenario], *, held: bool, acts: bool = False) -> dict[str, Counter[str]]:
    """Return by fault the dialogues, those `completed` (TC 1) and those `personal` (P of 3 or 4)."""
    wordings, constants = read_wordings(), dict[tuple[str, ...], str]()
    tallies = defaultdict[str, Counter[str]](Counter)
    for scenario in scenarios:
        cases = cases_of(scenario, wordings, held=held)
        made = {name: assistant_with(name, cases, acts=acts) for name in FAULTS if cases}
        own = cases[0].reply().text if cases else ""
        if (said := constants.setdefault(scenario.domains, own)) != own:
            made[CONSTANT] = partial(lambda text, messages: text, said)
        for name, assistant in made.items():
            if assistant is not None:
                found = evaluate(scenario, assistant, EmbeddedUserAgent(), EmbeddedJudge())
                completed, personal = found.task_completed, (found.personalization or 0) >= 3
                tallies[name] += Counter(dialogues=1, completed=int(bool(completed)), personal=int(personal))
    tallies["all faults of the task"] = sum((tallies[name] for name in TASK_FAULTS), Counter())
    return tallies


def main(count: int) -> None:
    """Print the table, over the wordings that are held back."""
    scenarios = [DATASET.load(ref) for ref in draw(DATASET, count, seed="oracle").refs]
    words, calls = (play(scenarios, held=True, acts=acts) for acts in (False, True))
    print("| assistant | dialogues | TC 1 in words | P 3-4 | TC 1 with tool calls | P 3-4 |")
    for name in [*FAULTS, CONSTANT, "all faults of the task"]:
        tallies = ((t[name], key) for t in (words, calls) for key in ("completed", "personal"))
        shares = (f"{tally[key] / (tally['dialogues'] or 1):.0%}" for tally, key in tallies)
        print(f"| {name} | {words[name]['dialogues']} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]))
