"""Two users in the layout of the official data, in words of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.support.datasets.official_tree import official_task, write_user

_SITUATION: Final = {"Location": "Leeds", "Device": "Laptop", "Time of Day": "Evening", "Day of the Week": "Sunday", "Environment": "Quiet"}  # fmt: skip
_TYPES: Final[dict[str, dict[str, str | list[str]]]] = {
    "Alarm": {"Alarm Time Preference": "6:30 AM", "Alarm Sound Preference": "birdsong"},
    "Books": {"Genre": ["crime", "poetry"], "Favourite Authors": ["Dorothy Sayers"], "Favourite Books": []},
    "Train": {"Preferred Seat Type": ["window"], "Preferred Train Class": "second class"},
}


def write_official(root: Path) -> None:
    """Write the folder ``data`` of a checkout."""
    for number, name in enumerate(("kit", "aino"), 1):
        liked = f"{number} times and likes it plain."
        profile = {
            "affinities": _TYPES,
            "demographics": {"user_id": name, "age": "35-44", "gender": "Female"},
            "interactions": {domain: f"{name} talked about {domain} {liked}" for domain in _TYPES},
        }
        single = {
            f"Task {n}": _task(f"SD-{domain}-task-{n}", [domain], list(types))
            for n, (domain, types) in enumerate(_TYPES.items(), 1)
        }
        types = ["Favorite Authors", "Preferred Seat Type (Train)"]
        multi = {"Task 1": _task("MD-task-1", ["Books", "Train"], types)}
        write_user(root / "data" / "profile", name, profile=profile, tasks=single, tasks_md=multi)


def _task(name: str, domains: list[str], types: list[str]) -> dict[str, Any]:
    return official_task(
        name, domains, types, text=f"{' and '.join(domains)} booked for Monday", situation=_SITUATION
    )
