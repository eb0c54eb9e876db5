"""A model that writes datasets by rules: the same answer to the same prompt, and a few faults."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from tests.support.servers.endpoint import Call, Reply

#: First names, and last names in the same order.
_NAMES = """
    Aoife Ahern, Brendan Boyle, Ciara Cullen, Declan Daly, Eimear Egan, Fergal Foley, Grainne Gill, Hugh Hayes, Imelda Irwin, Jarlath Joyce,
    Kevin Keane, Lorcan Lally, Maeve Moran, Niall Nolan, Orla Oakley, Padraig Power, Roisin Ryan, Sean Shiels, Teresa Tuohy, Bartek Adamski,
    Dorota Bielak, Ewa Czarny, Filip Duda, Halina Fiala, Igor Gorski, Jolanta Hajduk, Krzysztof Jaworski, Beatriz Araujo, Caio Barros
"""
_FIRST, _LAST = zip(*(name.split() for name in _NAMES.split(",")), strict=True)
_PLACES = (
    "the quay", "a mill", "the old station", "a school", "the market", "a farm", "the library", "a harbour wall", "a bakery",
)  # fmt: skip


def author(call: Call) -> Reply:
    """The answer to any prompt of `build`."""
    for mark, write in _STEPS.items():
        if mark in call.prompt:
            return Reply(json.dumps(write(call.prompt)))
    return Reply("I do not know what you want.")


def pick(prompt: str, what: str, choices: Any) -> Any:
    """One of the choices, by the prompt alone."""
    number = int(hashlib.sha256(f"{what}{prompt}".encode()).hexdigest()[:12], 16)
    return choices[number % len(choices)]


def table(prompt: str, after: str) -> Any:
    """The JSON value behind some words of a prompt."""
    return json.JSONDecoder().raw_decode(prompt, prompt.index(after) + len(after))[0]


def task(prompt: str) -> dict[str, Any]:
    types = table(prompt, "differ from user to user: ")
    several = len(types) > 1
    facts: dict[str, Any] = {
        "packs": {"kind": "count", "draw": ["2", "3"], "known": "said", "what": "how many"},
        "day": {"kind": "date", "draw": ["Friday", "Saturday"], "known": "said", "what": "the day"},
    }
    parts = []
    for number, (domain, kinds) in enumerate(types.items(), 1):
        part = {
            "done": f"{{packs}} of {domain.lower()} are arranged for {{day:weekday}}",
            "words": ["arranged", "booked", "ordered", "reserved"],
        }
        tastes = {f"{kind.lower().replace(' ', '_').replace('-', '_')}{number}": kind for kind in kinds}
        for name, kind in tastes.items():
            facts[name] = {"kind": "item", "preference": f"{domain}: {kind}" if several else kind}
        parts.append({**part, "facts": ["packs", "day", *tastes], **({"domain": domain} if several else {})})
    brief = re.search(r"Write this task: (.*)", prompt)
    assert brief is not None
    return {
        "description": f"The user wants to {brief[1]}.",
        "intent": f"You want to {brief[1]}: {{packs}}, for {{day:weekday}}.",
        "goal": f"{{packs}} of {' and '.join(types).lower()} are arranged for {{day:weekday}}.",
        "parts": parts, "where": ["home", "out"], "devices": ["Smartphone", "Laptop"], "times": ["Morning", "Evening"], "facts": facts,
    }  # fmt: skip


def person(prompt: str) -> dict[str, Any]:
    taken = table(prompt, "Names that are taken: ")
    free = [name for name in (f"{first} {last}" for first in _FIRST for last in _LAST) if name not in taken]
    return {
        "name": pick(prompt, "name", free),
        "routine": {
            "home": f"house near {pick(prompt, 'home', _PLACES)}", "out": f"bench at {pick(prompt, 'out', _PLACES)}",
            "devices": ["Smartphone", "Laptop"], "free": ["Saturday", "Sunday"], "busy": ["Afternoon"], "zone": "Europe/Dublin",
        },
    }  # fmt: skip


def preferences(prompt: str) -> dict[str, Any]:
    """Always the first of what is offered, as a model does that has a favorite."""
    wanted = json.JSONDecoder().raw_decode(prompt, prompt.index('\n{"') + 1)[0]
    chosen: dict[str, Any] = {}
    for domain, types in wanted.items():
        for kind, asked in types.items():
            value = asked.get("choose_from", [f"word {pick(prompt, kind, range(999))}"])[0]
            chosen.setdefault(domain, {})[kind] = [value] if asked["several"] else value
    return chosen


def history(prompt: str) -> dict[str, Any]:
    somebody = table(prompt, "A person: ")
    found = re.search(r"in the domain (.*?) \(", prompt)
    assert found is not None
    held = table(prompt, "): ")
    name, where = somebody["name"], somebody["routine"]["home"]
    told = [
        f"{kind.lower()} is {value if isinstance(value, str) else ' and '.join(value)}"
        for kind, value in held.items()
    ]
    return {
        "dealings": [
            {
                "date": f"2025-{month:02}-1{month}", "device": "Laptop", "asked": "The same as ever, please.",
                "answered": "It is done.", "chose": "Good.",
                "noted": f"On {{date}} {name} wrote from the {where} about {found[1].lower()}: {text}.",
            }
            for month, text in enumerate(told, 1)
        ],
        "notes": [f"{name} of the {where} wants to be asked no twice about {found[1].lower()}."],
    }  # fmt: skip


_STEPS: dict[str, Any] = {
    "Write this task:": task,
    "Invent a person": person,
    "choose what this person prefers": preferences,
    "Write what this person and the assistant did": history,
    "Name each pair of fields": lambda prompt: {"conflicts": []},
    "Draft a test scenario": lambda prompt: {
        "description": "The user needs more tablets.", "intent": "You want to have tablets refilled.", "goal": "The refill is ordered.",
        "known": ["the day: Friday"], "opening": "Could you get me my tablets again?",
    },
}  # fmt: skip
