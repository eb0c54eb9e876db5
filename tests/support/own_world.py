"""The folder of `own_domains` with all that a scenario can know: facts, a booking, a life, limits, dealings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.support.own_domains import write_own_domains

if TYPE_CHECKING:
    from pathlib import Path

TASK: Final = """
[[tasks]]
number = 2
description = "The user moves a vaccination."
intent = "You need to move your vaccination on {visit.day:weekday} to {day:weekday}, and {friend} comes along."
goal = "The vaccination is moved to {day}, and the hour is stated."
parts = [
  { done = "the vaccination is moved to {day}", words = ["moved", "vaccination"], facts = ["day", "visit.code", "people"] },
  { told = "the hour", slots = ["time"], words = ["at"], facts = ["hour"] },
]
relevant = ["Hand-Over"]
where = ["home"]
devices = ["Smartphone"]
times = ["Morning"]
near = "birthday"

[tasks.facts]
friend = { kind = "person", life = "friend", known = "said", what = "who comes along" }
people = { kind = "count", value = "2", known = "told" }
day = { kind = "date", value = "@visit.day + 1 day", known = "said" }
hour = { kind = "time", open = ["08:00 .. 12:00"], not = "@visit.time" }
brand = { kind = "item", preference = "Usual Brand", pick = 1 }
budget = { kind = "money", draw = ["10", "20"], known = "told" }
party = { kind = "date", value = "birthday", known = "told" }
[tasks.facts.visit]
kind = "thing"
what = "appointment"
record = "a vaccination on {day} at {time}, number {code}"
has.day = { kind = "date", value = "in 2 days", known = "said" }
has.time = { kind = "time", draw = ["09:00", "10:30"] }
has.code = { kind = "text", code = true }
other = { day = "in 9 days", time = "14:00" }
"""
LIFE: Final = """
[life]
friend = "Aoife"
city = "Galway"
birthday = "07-20"

[[limits]]
kind = "allergy"
name = "no penicillin"
text = "Penicillin gives her a rash."
domains = ["Pharmacy"]
told = ["penicillin"]
words = ["penicillin", "amoxicillin"]

[[limits]]
kind = "diet"
name = "gluten-free"
text = "Gluten makes her ill."
domains = ["Pharmacy"]
told = ["gluten"]

"""
LIMITS: Final = """
[words]
"gluten-free" = ["wheat starch", "barley malt"]
"""
HISTORY: Final = """
notes = ["She tells every chemist that penicillin and gluten are not for her."]

[[dealings]]
date = "2025-02-03"
device = "Smartphone"
asked = "My tablets are nearly gone. The same as last time, please."
answered = "I've ordered 30 days of Belmora. Shall the courier bring it?"
chose = "No, I pick it up myself."
noted = "On {date} Orla ordered 30 days of Belmora and picked the box up herself."

[[dealings]]
date = "2025-05-06"
device = "Laptop"
asked = "Is there anything cheaper than Belmora?"
answered = "Tanvex costs half. Shall I change it?"
chose = "Then I stay with Belmora, thanks."
noted = "A cheaper brand did not tempt her on {date}."
"""


def write_own_world(root: Path) -> Path:
    """Write the folder; returns it."""
    write_own_domains(root)
    (root / "profiles" / "bríd.toml").unlink()
    domain = root / "domains" / "pharmacy.toml"
    domain.write_text(domain.read_text(encoding="utf-8") + TASK, encoding="utf-8")
    profile = root / "profiles" / "orla.toml"
    text = profile.read_text(encoding="utf-8")
    head, pharmacy, rest = text.partition("[domains.Pharmacy]")
    values, _, others = rest.partition("summary = ")
    text = head.replace("noisy", 'zone = "Europe/Dublin"\nnoisy') + LIFE + pharmacy + values
    profile.write_text(text + "\n" + others.partition("\n")[2], encoding="utf-8")
    (root / "limits.toml").write_text(LIMITS, encoding="utf-8")
    (root / "histories" / "orla").mkdir(parents=True)
    (root / "histories" / "orla" / "pharmacy.toml").write_text(HISTORY.lstrip(), encoding="utf-8")
    return root
