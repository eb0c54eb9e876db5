"""Made-up data in the official layout and of its size: what is measured at scale must not need the official
data.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.scenario import DOMAINS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The official figures: users, single-domain scenarios, multi-domain scenarios.
USERS: Final = 1500
SINGLE: Final = 98_115
MULTI: Final = 24_018

_TASKS_A_DOMAIN: Final = 5
_TYPES: Final = ("Usual Choice", "Price", "Time of Day", "Favourite Provider", "Extras", "Notice Wanted")
#: Tasks over two to four domains. As in the official data, users share the tasks and differ in the domains
#: they have.
_MULTI: Final = tuple(
    tuple(sorted(random.Random(f"multi {n}").sample(DOMAINS, 2 + n % 3))) for n in range(25)
)
_SENTENCE: Final = (
    "This person likes things settled early, compares three offers in {} and keeps to the one chosen unless"
    " it was late. "
)


def write_data(
    root: Path, *, users: int = USERS, single: int = SINGLE, multi: int = MULTI, length: int = 1
) -> Path:
    """Write ``profile/user<i>/`` for `users` users under `root`, and return it; the same arguments give the
    same bytes.

    The scenarios are shared out evenly, at most 100 single-domain and 25 multi-domain ones a user. `length` 1
    gives texts as long as the official ones (140 KB a user), 0 texts of a sentence.
    """
    for number in range(users):
        rng = random.Random(f"synthetic {number}")
        folder = root / "profile" / f"user{number}"
        folder.mkdir(parents=True)
        order = rng.sample(DOMAINS, len(DOMAINS))
        tasks = [((d,), f"SD-{d}-task-{n}") for d in order for n in range(1, _TASKS_A_DOMAIN + 1)][
            : _share(single, users, number)
        ]
        several = sorted(rng.sample(range(len(_MULTI)), _share(multi, users, number)))
        _write(folder / "profile.json", _profile(number, rng, length))
        _write(folder / "tasks.json", _tasks(tasks, rng, length))
        _write(
            folder / "tasks_md.json", _tasks([(_MULTI[n], f"MD-task-{n + 1}") for n in several], rng, length)
        )
    return root


def _share(total: int, users: int, number: int) -> int:
    return total // users + (number < total % users)


def _profile(number: int, rng: random.Random, length: int) -> dict[str, Any]:
    return {
        "affinities": {
            d: {
                name: [f"{d} {name.lower()} {rng.randrange(9)}" for _ in range(1 + n % 3)]
                for n, name in enumerate(_TYPES)
            }
            for d in DOMAINS
        },
        "demographics": {
            "user_id": f"user{number}",
            "age": rng.choice(("18-24", "25-34", "35-44")),
            "birth_country": "Freedonia",
        },
        "interests": dict.fromkeys(DOMAINS, 1),
        "interactions": {d: _text(d, 1900 * length) for d in DOMAINS},
    }


def _tasks(tasks: Sequence[tuple[tuple[str, ...], str]], rng: random.Random, length: int) -> dict[str, Any]:
    return {
        f"Task {position}": {
            "Task Description": _text(name, 180 * length),
            "User Intent": _text(name, 90 * length),
            "Task Goal": _text(name, 90 * length),
            "Relevant Domains": list(domains),
            "Relevant Affinity Types": rng.sample(_TYPES, 3),
            "task_id": name,
            "situations": {
                "Location": "Freetown, Freedonia",
                "Device": rng.choice(("Smartphone", "Laptop")),
                "Time of Day": rng.choice(("Morning", "Evening")),
                "Day of the Week": rng.choice(("Monday", "Sunday")),
                "Environment": "Quiet",
            },
        }
        for position, (domains, name) in enumerate(tasks, 1)
    }


def _text(about: str, length: int) -> str:
    sentence = _SENTENCE.format(about)
    return (sentence * (length // len(sentence) + 1)).strip()


def _write(file: Path, data: dict[str, Any]) -> None:
    file.write_text(json.dumps(data, indent=4), encoding="utf-8")


if __name__ == "__main__":
    print(write_data(Path(sys.argv[1])))
