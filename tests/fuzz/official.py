"""Two users in the layout of the official data, in words of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

_SITUATION: Final = {
    "Location": "Leeds",
    "Device": "Laptop",
    "Time of Day": "Evening",
    "Day of the Week": "Sunday",
    "Environment": "Quiet",
}
_TYPES: Final[dict[str, dict[str, str | list[str]]]] = {
    "Alarm": {"Alarm Time Preference": "6:30 AM", "Alarm Sound Preference": "birdsong"},
    "Books": {"Genre": ["crime", "poetry"], "Favourite Authors": ["Dorothy Sayers"], "Favourite Books": []},
    "Train": {"Preferred Seat Type": ["window"], "Preferred Train Class": "second class"},
}


def write_official(root: Path) -> None:
    """Write the folder ``data`` of a checkout."""
    for number, name in enumerate(("kit", "aino"), 1):
        folder = root / "data" / "profile" / name
        folder.mkdir(parents=True)
        profile = {
            "affinities": _TYPES,
            "demographics": {"user_id": name, "age": "35-44", "gender": "Female"},
            "interactions": {
                domain: f"{name} talked about {domain} {number} times and likes it plain."
                for domain in _TYPES
            },
        }
        single = {
            f"Task {n}": _task(f"SD-{domain}-task-{n}", [domain], list(types))
            for n, (domain, types) in enumerate(_TYPES.items(), 1)
        }
        multi = {
            "Task 1": _task(
                "MD-task-1", ["Books", "Train"], ["Favorite Authors", "Preferred Seat Type (Train)"]
            )
        }
        for file, data in {"profile": profile, "tasks": single, "tasks_md": multi}.items():
            (folder / f"{file}.json").write_text(json.dumps(data, indent=4), encoding="utf-8")


def _task(name: str, domains: list[str], types: list[str]) -> dict[str, Any]:
    return {
        "Task Description": f"The user wants help with {' and '.join(domains)}.",
        "User Intent": f"You want {' and '.join(domains)} seen to for Monday.",
        "Task Goal": f"{' and '.join(domains)} is booked for Monday, and the hour has been stated.",
        "Relevant Affinity Types": types,
        "task_id": name,
        "situations": _SITUATION,
        "Relevant Domains": domains,
    }
