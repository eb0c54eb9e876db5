"""A folder in the embedded layout with two domains that the benchmark has not: a pharmacy and a library of
tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

PHARMACY: Final = """
name = "Pharmacy"
description = "Refills prescriptions."
words = ["prescription", "refill", "pharmacist"]

[preferences."Supply Length"]
kind = "categorical"
multiple = false
values = ["30 days", "60 days", "90 days"]
ask = ["supply", "how much at once"]

[preferences."Hand-Over"]
kind = "categorical"
multiple = false
values = ["pick-up", "courier", "locker"]
ask = ["how do you get it", "hand over"]

[preferences."Usual Brand"]
kind = "open"
multiple = true
ask = ["brand", "maker"]

[[tasks]]
number = 1
description = "The user runs out of tablets."
intent = "You want to have your tablets refilled."
goal = "The refill is ordered; how long it lasts and how it is handed over have been stated."
relevant = ["Supply Length", "Hand-Over", "Usual Brand"]
where = ["home", "out"]
devices = ["Smartphone", "Laptop"]
times = ["Morning", "Evening"]
"""
TOOLS: Final = """
name = "Tool Library"
description = "Lends tools by the day."
words = ["drill", "saw", "ladder"]

[preferences."Power"]
kind = "categorical"
multiple = false
values = ["cordless", "mains", "petrol"]
ask = ["how is it driven", "power"]

[preferences."Loan Length"]
kind = "open"
multiple = false
ask = ["for how long", "loan"]

[[tasks]]
number = 1
description = "The user wants to put up shelves."
intent = "You want to borrow a drill for some shelves."
goal = "A drill is lent; its power and the days have been stated."
relevant = ["Power", "Loan Length"]
where = ["home"]
devices = ["Laptop", "Smartphone"]
times = ["Morning", "Afternoon"]
"""
MULTI: Final = """
[[tasks]]
number = 1
domains = ["Pharmacy", "Tool Library"]
description = "The user has an errand to run at two places."
intent = "You want to have your tablets refilled and to borrow a ladder on the way."
goal = "The refill is ordered and a ladder is lent."
relevant = {Pharmacy = ["Hand-Over"], "Tool Library" = ["Loan Length"]}
where = ["home"]
devices = ["Smartphone", "Laptop"]
times = ["Morning"]
"""
_PERSON: Final = """
name = "{name}"

[demographics]
age = "35-44"
gender = "Female"
employment_status = "Working full-time"
education = "Vocational training"
marital_status = "Married"
english_proficiency = "Native"
ethnicity = "White"
religion = "Non-religious"
birth_country = "Ireland"
reside_country = "Ireland"

[routine]
home = "cottage at Ballyvaughan"
work = "boatyard in Kinvara"
out = "quay at Doolin"
devices = ["Smartphone", "Laptop"]
free = ["Sunday"]
busy = ["Afternoon"]
noisy = ["work"]

[domains.Pharmacy]
"Supply Length" = "{supply}"
"Hand-Over" = "{hand_over}"
"Usual Brand" = ["{brand}"]
summary = "{name} wanted the box from {brand} again in May, and said that anything else gave her a rash on the arms for the whole of June."

[domains."Tool Library"]
"Power" = "{power}"
"Loan Length" = "{loan}"
summary = "When {name} last had the drill it was for the hen house, and it came back with feathers in its chuck and a note about the cable."
"""
PEOPLE: Final = {
    "orla": {
        "name": "Orla Quinn",
        "supply": "30 days",
        "hand_over": "pick-up",
        "brand": "Belmora",
        "power": "cordless",
        "loan": "two days",
    },
    "bríd": {
        "name": "Bríd Ní Shé",
        "supply": "90 days",
        "hand_over": "locker",
        "brand": "Tanvex",
        "power": "mains",
        "loan": "one week",
    },
}


def write_own_domains(root: Path) -> Path:
    """Write the folder; returns it."""
    for folder in ("domains", "profiles"):
        (root / folder).mkdir(parents=True)
    files = {
        "dataset": 'name = "errands"\nversion = "1"\n',
        "multi": MULTI,
        "domains/pharmacy": PHARMACY,
        "domains/tool-library": TOOLS,
    }
    files |= {f"profiles/{user}": _PERSON.format(**told) for user, told in PEOPLE.items()}
    for name, text in files.items():
        (root / f"{name}.toml").write_text(text.lstrip(), encoding="utf-8")
    return root
