"""Numbers that show whether a part of the goal stands: which statements are about it, and what they do."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, get_args

from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.text import fold
from pytest_personalens.agents.reading.goal import Part, deed_classes, own_words, parts
from pytest_personalens.core.facts import RANGE
from pytest_personalens.core.scenario import GoalPart, Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.core.scenario import Scenario

#: A statement belongs to the part that it fits best, from this score on.
_BELONGS: Final = 0.25
#: It is about a part, whatever else it fits, from this score on.
_SURELY: Final = 1.0
WHOLE: Final = re.compile(
    r"\b(?:both|all (?:of (?:it|them)|three|four|five|set|booked|done)|everything)\b", re.IGNORECASE
)
_ADDRESS: Final = re.compile(
    r"\b\d{1,4},? [A-ZÀ-Þ]\w+|[A-ZÀ-Þ]\w+(?:straße|strasse|straat|gade|vej|gatan|utca|katu) \d|\b[A-ZÀ-Þ][\w'’-]+ (?:St|Street|Road|Rd|Lane|Avenue|Ave|Square|Side|Way|Quay|Place|Boulevard)\b|\b(?:Calle|Rua|Rue|Via|Jalan|Avenida|Plaza|Ulica|ul\.) [A-ZÀ-Þ]"
)
#: It may be about another part too, from this score on.
_WELL: Final = 0.45
#: What shows a value of a fact that may have any.
_SHOWN_BY: Final = {"time": "time", "date": "day", "money": "price", "count": "number", "duration": "length"}
#: Details that are names: one name does not show which part it belongs to.
_NAMED: Final = frozenset({"name", "title", "place"})
FIRM: Final = frozenset({"done", "told"})
_OPEN: Final = (
    "promised",
    "handed-back",
    "refused",
    "taken-back",
    "proposed",
    "confirming",
    "asked",
    "other",
)


class PartReader:
    """The parts of a goal as statements can be held against them."""

    def __init__(self, scenario: Scenario, said: Sequence[str] = ()) -> None:
        """`said` holds what the user says: its names are nothing new in a reply."""
        task = scenario.task
        self.words = parts(task)
        self.goal = task.parts or tuple(
            GoalPart(text=p.text, kind="told" if p.to_tell else "done", slots=_slots(p)) for p in self.words
        )
        deeds = [part for part, of in zip(self.words, self.goal, strict=True) if of.kind == "done"]
        # "Food is ordered" keeps "food", although "its delivery time" speaks of food too.
        self._own = [own_words(part, self.words if part not in deeds else deeds) for part in self.words]
        self._deeds = [deed_classes(part.words) for part in self.words]
        self._facts = [[f for f in task.facts if f.name in p.facts] for p in self.goal]
        self._shared = [
            {name for j, other in enumerate(self.goal) if j != i for name in other.facts}
            for i in range(len(self.goal))
        ]
        known = " ".join((*said, *(v for f in task.facts for v in (*f.right, *f.wrong)), scenario.name))
        self._known = frozenset(re.findall(r"[^\W\d_]+", fold(known)))

    def score(self, i: int, s: Statement) -> float:
        """Return how well a statement fits a part, from 0 to about 3."""
        part, words = self.goal[i], self.words[i].words
        share = len(words & s.words) / len(words) if words else 0.0
        own = len(self._own[i] & s.words) / len(self._own[i]) if self._own[i] else 0.0
        names = {f.fact.name for f in s.findings}
        value = max((0.4 if n in self._shared[i] else 1.0 for n in names if n in part.facts), default=0.0)
        wanted = set(part.slots)
        shown = 0.3 if wanted & s.details else 0.0
        if "place" in wanted and _ADDRESS.search(s.text):
            shown = 0.6
        deed = part.kind == "done" and s.act == "done" and bool(self._deeds[i] & s.words)
        return own + 0.5 * share + value + shown + 0.4 * deed

    def names(self, i: int, s: Statement, *, best: bool = False) -> bool:
        """True if a statement has a word or a value that is a part's own; `best` if it fits no other part better."""
        mine = {f.name for f in self._facts[i] if not any(RANGE in r for r in f.right)} - self._shared[i]
        value = any(f.right and f.fact.name in mine for f in s.findings)
        most = min(_SURELY, max(self.score(j, s) for j in range(len(self.goal)))) if best else _BELONGS
        return bool(value or self._own[i] & s.words) and self.score(i, s) >= max(most, _BELONGS)

    def belonging(self, statements: Sequence[Statement]) -> list[int | None]:
        """Return the part that each statement belongs to, or None."""
        found: list[int | None] = []
        for s in statements:
            scores = [self.score(i, s) for i in range(len(self.goal))]
            best = max(range(len(scores)), key=scores.__getitem__)
            found.append(best if scores[best] >= _BELONGS else None)
        return found

    def numbers(self, statements: Sequence[Statement]) -> list[dict[str, float]]:
        """Return the numbers of each part."""
        belonging = self.belonging(statements)
        return [self._of_part(i, statements, belonging) for i in range(len(self.goal))]

    def _of_part(
        self, i: int, statements: Sequence[Statement], belonging: Sequence[int | None]
    ) -> dict[str, float]:
        part = self.goal[i]
        scores = [self.score(i, s) for s in statements]
        # A statement of several parts says of each what it says of the one that it fits best.
        own = [
            s
            for s, b, x in zip(statements, belonging, scores, strict=True)
            if b == i or (x >= _WELL and s.act in FIRM)
        ]
        loose = [s for s, b in zip(statements, belonging, strict=True) if b is None and len(s.words) > 0]
        firm = [s for s in statements if s.act in FIRM]
        firm_scores = [x for x, s in zip(scores, statements, strict=True) if s.act in FIRM]
        done_scores = [x for x, s in zip(scores, statements, strict=True) if s.act == "done"]
        numbers = {
            "own": min(_most(own), 3) / 3,
            "loose": min(_most(loose), 3) / 3,
            "best": min(max(scores, default=0.0), 2.0),
            "best firm": min(max(firm_scores, default=0.0), 2.0),
            "best done": min(max(done_scores, default=0.0), 2.0),
            "alone": float(sum(p.kind == part.kind for p in self.goal) == 1),
            "parts": len(self.goal) / 5,
            "any done": float(any(s.act == "done" for s in statements)),
            "ends firm": float(bool(own) and own[-1].act in FIRM),
        }
        spoken = frozenset[str]().union(*(s.words for s in statements))
        numbers["own words"] = len(self._own[i] & spoken) / len(self._own[i]) if self._own[i] else 1.0
        numbers["no own word"] = float(bool(self._own[i]) and not self._own[i] & spoken)
        in_deeds = frozenset[str]().union(*(s.words for s in statements if s.act == "done"))
        numbers["no own word in a deed"] = float(bool(self._own[i]) and not self._own[i] & in_deeds)
        for act in ("done", "told", *_OPEN):
            numbers[f"own: {act}"] = float(any(s.act == act for s in own))
            numbers[f"loose: {act}"] = float(any(s.act == act for s in loose))
            numbers[f"any: {act}"] = float(any(s.act == act for s in statements))
            numbers[f"last own: {act}"] = float(bool(own) and own[-1].act == act)
        if "address" in part.text:
            numbers["address missing"] = float(not any(_ADDRESS.search(s.text) for s in statements))
        right = {f.fact.name for s in firm for f in s.findings if f.right}
        wrong = {f.fact.name for s in firm for f in s.findings if not f.right}
        facts = self._facts[i]
        # How many sentences or titles there are is shown, and not said.
        closed = [
            f
            for f in facts
            if f.right and not (f.kind == "count" and f.known in ("history", "open") and "." not in f.name)
        ]
        numbers["closed"] = float(bool(closed))
        numbers["right"] = sum(f.name in right for f in closed) / len(closed) if closed else 0.0
        numbers["any right"] = float(any(f.name in right for f in closed))
        numbers["own fact right"] = float(
            any(f.name in right and f.name not in self._shared[i] for f in closed)
        )
        hinted = {f.fact.name for s in statements if s.act == "promised" for f in s.findings if f.right}
        numbers["right in a promise"] = sum(f.name in hinted - right for f in closed) / max(1, len(closed))
        numbers["none said"] = float(bool(closed) and not any(f.name in right | wrong for f in closed))
        done_right = {f.fact.name for s in firm if s.act == "done" for f in s.findings if f.right}
        numbers["right in a deed"] = float(any(f.name in done_right for f in closed))
        wanted = {_SHOWN_BY[f.kind] for f in facts if f.kind in _SHOWN_BY and not f.right} or set(part.slots)
        numbers |= {
            "details wanted": float(bool(wanted - _NAMED)),
            "names wanted": float(bool(wanted & _NAMED)),
        }
        if typed := wanted - _NAMED:
            numbers["details beside"] = sum(any(d in s.details for s in firm) for d in typed) / len(typed)
            numbers["details own"] = float(any(typed & s.details for s in own))
        if wanted & _NAMED:
            # Each part that asks for a name needs a new one.
            asked = sum(bool(_NAMED & set(p.slots)) for p in self.goal if p.kind == "told")
            by_turn: dict[int, set[str]] = {}
            for s in firm:
                by_turn.setdefault(s.turn, set()).update(self._new_names(s))
            named = max(map(len, by_turn.values()), default=0)
            numbers["names enough"] = min(named / max(1, asked), 1.5)
            numbers["names own"] = float(any(self._new_names(s) for s in own))
        numbers["details missing"] = numbers["details wanted"] * (1.0 - numbers.get("details beside", 0.0))
        numbers["names missing"] = numbers["names wanted"] * max(0.0, 1.0 - numbers.get("names enough", 0.0))
        numbers["nothing right"] = numbers["closed"] * (1.0 - numbers["any right"])
        numbers["nothing right in a deed"] = numbers["closed"] * (1.0 - numbers["right in a deed"])
        numbers["no own firm"] = float(not any(s.act in FIRM for s in own))
        numbers["no own done"] = float(not any(s.act == "done" for s in own))
        numbers["nothing own"] = float(not own)
        numbers["own ends open"] = float(bool(own) and own[-1].act in _OPEN[:4])
        numbers["nothing own or loose"] = float(not own and not loose)
        numbers["nothing own, no details"] = numbers["nothing own"] * max(
            numbers["details missing"], numbers["names missing"], numbers["nothing right"]
        )
        numbers["no own firm, none loose"] = numbers["no own firm"] * float(
            not any(s.act in FIRM for s in loose)
        )
        numbers["no own done, none loose"] = numbers["no own done"] * float(
            not any(s.act == "done" for s in loose)
        )
        deeds = self._deeds[i]
        numbers["deed said"] = float(
            bool(deeds) and any(deeds & s.words for s in statements if s.act == "done")
        )
        return numbers

    def touches(self, i: int, statements: Sequence[Statement]) -> bool:
        """True unless other deeds are asked for too, and nobody used a word that is this deed's own."""
        others = sum(part.kind == "done" and not part.never for part in self.goal) > 1
        spoken = frozenset[str]().union(*(s.words for s in statements))
        whole = any(s.act == "done" and WHOLE.search(s.text) for s in statements)
        return not others or whole or not self._own[i] or bool(self._own[i] & spoken)

    def tells(self, i: int, statements: Sequence[Statement]) -> bool:
        """True unless a part asks for a detail that no statement has: a price, an hour, a name, a known kind."""
        part, facts = self.goal[i], self._facts[i]
        telling = [s for s in statements if s.act != "asked"]
        shown = frozenset[str]().union(*(s.details for s in telling))
        wanted = (
            {_SHOWN_BY[f.kind] for f in facts if f.kind in _SHOWN_BY and not f.right} or set(part.slots)
        ) - {"length"}
        found = {f.fact.name for s in telling for f in s.findings}
        if any(f.name in found for f in facts):
            return True
        if wanted - _NAMED - {"number", "count"} and not (wanted - _NAMED) & shown:
            return False
        if "address" in part.text and not any(_ADDRESS.search(s.text) for s in telling):
            return False
        named = any(self._new_names(s) for s in telling)
        if wanted & _NAMED and not named:
            return False
        # What kind it is, of kinds that are listed, is told by naming one, or in words of the part.
        if any(self._own[i] & s.words and self.score(i, s) >= _WELL for s in telling if s.act in FIRM):
            return True
        listed = [
            f
            for f in facts
            if f.known == "history" and "." not in f.name and f.kind in ("item", "provider") and f.wrong
        ]
        return not listed or len(listed) < len(facts) or (bool(wanted & _NAMED) and named)

    def _new_names(self, s: Statement) -> frozenset[str]:
        """Return the names of a statement that nobody said before and that are no known value."""
        return frozenset(name for name in names_in(s.text) if not set(name.split()) <= self._known)


def _slots(part: Part) -> tuple[Slot, ...]:
    return tuple(slot for slot in get_args(Slot) if slot in part.slots)


def _most(statements: Sequence[Statement]) -> int:
    """Return the number of statements in the message that has most of them: what is said again is no more."""
    return max(Counter(s.turn for s in statements).values(), default=0)


def names_in(text: str) -> frozenset[str]:
    """Return the names of a statement, folded: words with a capital in a row, and what stands in quotes."""
    found = {fold(m[1]) for m in _QUOTED.finditer(text)}
    rest = _QUOTED.sub(" , ", text)
    for m in _NAME.finditer(rest):
        words = m[0].split()
        first = (
            not rest[: m.start()].strip(" *_-–—•'\"“”‘’(").rstrip()
            or rest[: m.start()].rstrip()[-1:] in ".!?:"
        )
        if first and (len(words) == 1 or rest[m.end() : m.end() + 1] == ":"):
            continue
        words = [w for w in words if not slots.is_day_word(w.lower().rstrip(".,"))]
        if words:
            found.add(fold(" ".join(words)))
    return frozenset(found)


_QUOTED: Final = re.compile(r"[\"“„«‘']([^\W\d_][^\"”»“’]{1,50}?)[\"”»’'](?=[\s.,;:!?)*]|$)")
_NAME: Final = re.compile(
    r"[A-ZÀ-ÝŁŚŽČŠÖÜÄ][\w'’-]+(?:(?: (?:of|the|de|la|le|and|&|van|von|del|di|da))* [A-ZÀ-ÝŁŚŽČŠÖÜÄ\d][\w'’-]*)*"
)
