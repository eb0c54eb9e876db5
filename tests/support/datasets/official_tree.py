"""A small checkout in the form of the official repository: its files, names and shape, in words of our own."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

SITUATION: Final = {
    "Location": "situ-location", "Device": "situ-device", "Time of Day": "situ-time", "Day of the Week": "situ-day", "Environment": "situ-room",
}  # fmt: skip
DEMOGRAPHICS: Final = {"user_id": "user7", "age": "demo-age", "birth_country": "demo-country"}
PREFERENCES: Final[dict[str, dict[str, str | list[str]]]] = {
    "Books": {"Genre": ["pref-crime", "pref-poetry"], "Favourite Books": []},
    "Rental Cars": {"Preferred Fuel Type": "pref-electric"},
    "Train": {"Preferred Seat Type": "pref-window"},
}
SUMMARIES: Final = {domain: f"past-{domain.split()[0].lower()} on two\nlines." for domain in PREFERENCES}


def official_task(
    name: str, domains: list[str], types: list[str], *, text: str = "a ticket", situation: object = SITUATION
) -> dict[str, Any]:
    """A task of the official layout, about `text`."""
    return {
        "Task Description": f"The user wants {text}.", "User Intent": f"You want {text}.", "Task Goal": f"There is {text}.",
        "Relevant Affinity Types": types, "task_id": name, "situations": situation, "Relevant Domains": domains,
    }  # fmt: skip


def write_user(profiles: Path, user: str, **files: object) -> Path:
    """Write the files of a user: profile, tasks and tasks_md; returns their folder."""
    folder = profiles / user
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / f"{name}.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    return folder


def write_data(root: Path, users: Collection[str] = ("user7",), *, singles: int = 3) -> None:
    """The data of users: a task in each of `singles` domains (at most 3), and one that spans two."""
    domains = list(PREFERENCES)[:singles]
    single = {f"Task {n}": _task(f"SD-{domain}-task-{n}", [domain]) for n, domain in enumerate(domains, 1)}
    multi = {"Task 1": _task("MD-task-1", ["Rental Cars", "Train"])}
    for user in users:
        demographics = {**DEMOGRAPHICS, "user_id": user}
        profile = {
            "affinities": PREFERENCES,
            "demographics": demographics,
            "interests": {},
            "interactions": SUMMARIES,
        }
        write_user(root / "data" / "profile", user, profile=profile, tasks=single, tasks_md=multi)


def _task(name: str, domains: list[str]) -> dict[str, Any]:
    parts = {"Task Description": "description", "User Intent": "intent", "Task Goal": "goal"}
    task = official_task(name, domains, list(PREFERENCES[domains[0]]))
    return task | {part: f"{what} of {name}" for part, what in parts.items()}


_PERSON: Final = "D {demographic_profile}|A {user_affinity}|P {interaction_summary}|S {situation_context}|T {task_description}"
_USERS: Final = '''
import a_module_that_nobody_has

raise SystemExit("this file was run")


class UserPromptTemplate:
    def __init__(self):
        self.system_prompt = """the {kind} user, {{as it stands}}"""
        self.task_prompt_initial_query = """open {person}"""

        self.task_prompt = """next {person}
H {{message_history}}
"""
'''
_CONTEXTS: Final = {
    "": "",
    "_D": "About:\n{demographic_profile}\n\n",
    "_P": "Before:\n{interaction_summary}\n\n",
    "_S": "Now:\n{situation_context}\n\n",
    "_DPS": (
        "About:\n{demographic_profile}\n\nBefore:\n{interaction_summary}\n\nNow:\n{situation_context}\n\n"
    ),
}
_JUDGES: Final = {
    "NATURALNESS_USER": "nu {conversation}", "NATURALNESS_ASSISTANT": "na {conversation}", "COHERENCE_USER": "cu {conversation}",
    "COHERENCE_ASSISTANT": "ca {conversation}", "TASK_COMPLETION": "tc {conversation}|G {goal}\nVERDICT: \n",
    "FIRST_TURN": "ft {conversation}|A {user_affinity}|T {user_intent}", "PERSONALIZATION": f"p {_PERSON}|C {{conversation}}",
    "PERSONALIZATION_CHAIN_OF_TURN": f"pt {_PERSON}|C {{conversation}}",
}  # fmt: skip


def write_code(root: Path) -> None:
    """The four Python files that hold prompts; running any of them ends the process."""
    for folder in ("src", "util"):
        (root / folder).mkdir(parents=True)
    for name, kind in (("generate_dialogue", "single"), ("generate_dialogue_md", "multi")):
        text = (
            _USERS.replace("{kind}", kind)
            .replace("{person}", f"{kind} {_PERSON}")
            .replace("{{", "{")
            .replace("}}", "}")
        )
        (root / "src" / f"{name}.py").write_text(text, encoding="utf-8")
    assistants, stop = {}, 'raise SystemExit("this file was run")'
    for family in ("CLAUDE", "LLAMA", "MISTRAL"):
        assistants[f"{family}_SYSTEM_PROMPT"] = f"the {family} assistant\n"
        for suffix, context in _CONTEXTS.items():
            said = "" if (family, suffix) == ("CLAUDE", "") else "Answer."
            assistants[f"{family}_TASK_PROMPT{suffix}"] = (
                f"<context>\n{context}Talk:\n{{message_history}}\n</context>\n<instruction>\n{said}\n</instruction>"
            )
    assistants |= {
        "CLAUDE_SYSTEM_PROMPT_VANILLA": "plain",
        "CLAUDE_TASK_PROMPT_VANILLA": "plain {message_history}",
    }
    for name, texts in (
        ("assistant", assistants),
        ("evaluation", {f"EVAL_DIALOGUE_{k}": v for k, v in _JUDGES.items()}),
    ):
        lines = [f'{variable} = """{text}"""' for variable, text in texts.items()]
        (root / "util" / f"{name}_prompts.py").write_text("\n\n".join([*lines, stop]), encoding="utf-8")
