"""Makes the pieces of a dataset in their order: tasks, people with preferences, histories."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.text.safe_text import slug
from pytest_personalens.datasets.embedded.building.build_plan import offered_values
from pytest_personalens.datasets.embedded.building.lay_out import File, Person, lay_out, stand_in
from pytest_personalens.datasets.embedded.building.model_pieces import prompt_text
from pytest_personalens.datasets.world.fact_entries import HistoryEntry
from pytest_personalens.datasets.world.histories import summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from pytest_personalens.datasets.embedded.building.build_plan import Brief, MultiBrief, Plan
    from pytest_personalens.datasets.embedded.building.model_pieces import Answer, Pieces

#: How many histories are made side by side at most. What a history must not repeat depends on it.
_HISTORIES_AT_ONCE: Final = 16


class Builder:
    """Makes a dataset after a plan.

    `check` returns the problems with the files of a small dataset, as file, field and message. `judge`
    returns the conflicts between a profile and a text about the same person. `pool` makes the pieces of a
    wave side by side; a wave depends on earlier waves only, so the order of answers makes no difference.
    """

    def __init__(
        self,
        plan: Plan,
        people: Sequence[Person],
        pieces: Pieces,
        *,
        check: Callable[[Mapping[str, File]], Sequence[tuple[str, str, str]]],
        judge: Callable[[Answer, Answer], list[str]] = lambda profile, text: [],
        pool: Executor,
    ) -> None:
        self._plan, self._people, self._pieces = plan, people, pieces
        self._check, self._judge, self._pool = check, judge, pool
        self._counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._summaries: defaultdict[str, list[str]] = defaultdict(list)
        self._before: Sequence[Person] = ()

    def make(self) -> dict[str, File]:
        """Make every piece that is missing; return the files of the tasks and people that are whole."""
        briefs: list[tuple[str, int, Brief | MultiBrief]] = [
            (domain.name, number, brief)
            for domain in self._plan.domains
            for number, brief in enumerate(domain.tasks, 1)
        ]
        briefs += [("multi", number, brief) for number, brief in enumerate(self._plan.multi, 1)]
        tasks: dict[str, dict[int, Answer]] = defaultdict(dict)
        for (name, number, _), answer in zip(briefs, self._run(self._make_task, briefs), strict=True):
            if answer is not None:
                tasks[name][number] = answer
        for wave in _waves(self._people, max(1, min(16, len(self._people) // 8))):
            self._run(self._make_person, [(person,) for person in wave])
            for person in wave:
                if person.about and person.about["name"] in self._names():  # given twice in one wave
                    person.about, person.preferences, person.again = {}, {}, True
                    self._make_person(person)
                self._count(person)
        histories = [(person, name) for person in self._people for name in person.preferences]
        for batch in _waves(histories, _HISTORIES_AT_ONCE):
            self._run(self._make_history, batch)
            for person, name in batch:
                if name in person.histories:
                    told = HistoryEntry.model_validate(person.histories[name])
                    self._summaries[name].append(summary(told))
        return lay_out(self._plan, tasks, [p for p in self._people if len(p.histories) == len(p.domains)])

    def _run(self, make: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [future.result() for future in [self._pool.submit(make, *job) for job in jobs]]

    def _names(self, country: str = "") -> list[str]:
        """Return the names of the people so far, or of those of them who were born in a country."""
        known = (person for person in self._before if person.about)
        return [str(p.about["name"]) for p in known if country in ("", p.demographics["birth_country"])]

    def _count(self, person: Person) -> None:
        self._before = self._people[: person.number]
        for name, types in person.preferences.items():
            for kind, value in types.items():
                self._counts[name, kind].update([value] if isinstance(value, str) else value)

    def _make_task(self, name: str, number: int, brief: Brief | MultiBrief) -> Answer | None:
        relevant = brief.relevant if isinstance(brief.relevant, dict) else {name: brief.relevant}
        domains = [self._plan.domain(each) for each in relevant]
        chosen = {d.name: {t: d.preferences[t] for t in relevant[d.name]} for d in domains}
        small = self._plan.model_copy(
            update={"domains": [d.model_copy(update={"preferences": chosen[d.name]}) for d in domains]}
        )
        fixed = {
            "number": 1,
            "relevant": brief.relevant,
            **({"domains": [*relevant]} if name == "multi" else {}),
        }

        def problems(answer: Answer) -> list[str]:
            somebody = stand_in(small, self._people[0].demographics)
            found = self._check(lay_out(small, {name: {1: {**answer, **fixed}}}, [somebody]))
            return [
                f"{where.removeprefix('tasks.1.')}: {message}"
                for file, where, message in found
                if "/profiles/" not in file or where.startswith("scenario")
            ]

        prompt = prompt_text(
            "task",
            about=self._plan.about,
            domain={d.name: d.description for d in domains},
            types={
                d.name: {t: spec.values or "free text" for t, spec in chosen[d.name].items()} for d in domains
            },
            brief=brief.brief,
        )
        key = f"task-{slug(name)}-{number}"
        answer = self._pieces.make(key, "task", prompt, problems)
        return None if answer is None else {**answer, **fixed}

    def _make_person(self, person: Person) -> None:
        def problems(answer: Answer) -> list[str]:
            trial = stand_in(self._plan, person.demographics, answer)
            name = answer.get("name")
            found = [f"name: {name!r} is taken"] if name in self._names() else []
            found += [p for p in self._problems([trial]) if not p.startswith("domains.")]
            return found or self._judge({"demographics": person.demographics}, answer)

        prompt = prompt_text(
            "person",
            about=self._plan.about,
            demographics=person.demographics,
            domains={name: self._plan.domain(name).description for name in person.domains},
            taken=self._names(person.demographics["birth_country"]),
        )
        about = self._pieces.make(person.key, "person", prompt, problems)
        if about is not None:
            person.about = about
            self._make_preferences(person)

    def _make_preferences(self, person: Person) -> None:
        wanted: dict[str, dict[str, Any]] = defaultdict(dict)
        common: dict[tuple[str, str], Any] = {}
        for name in person.domains:
            for kind, spec in self._plan.domain(name).preferences.items():
                counts = self._counts[name, kind]
                offered, common[name, kind] = offered_values(spec, counts, len(self._before))
                listed = {"choose_from": offered} if offered else {"too_common": common[name, kind]}
                wanted[name][kind] = {"several": spec.multiple, **listed}

        def problems(answer: Answer) -> list[str]:
            if strange := [name for name in person.domains if not isinstance(answer.get(name), dict)]:
                return [f"{name}: expected a table of its types" for name in strange]
            trial = Person(person.number, person.demographics, person.domains, person.about)
            trial.preferences = {name: answer[name] for name in person.domains}
            found = self._problems([trial])
            for (name, kind), values in common.items():
                held = answer[name].get(kind, ())
                again = [v for v in ([held] if isinstance(held, str) else held) if v in values]
                found += [f"{name}.{kind}: too many people have {v!r}; choose another value" for v in again]
            return found or self._judge(person.profile(), {"preferences": trial.preferences})

        prompt = prompt_text("preferences", about=self._plan.about, person=person.profile(), types=wanted)
        answer = self._pieces.make(f"{person.key}-preferences", "preferences", prompt, problems)
        if answer is not None:
            person.preferences = {name: answer[name] for name in person.domains}

    def _make_history(self, person: Person, name: str) -> None:
        domain = self._plan.domain(name)
        earlier = stand_in(self._plan.model_copy(update={"domains": [domain]}), person.demographics)
        earlier.preferences[name]["summary"] = " ".join(["Nobody has said a word.", *self._summaries[name]])

        def problems(answer: Answer) -> list[str]:
            trial = Person(person.number, person.demographics, [name], person.about)
            trial.preferences, trial.histories = {name: person.preferences[name]}, {name: answer}
            return self._problems([earlier, trial]) or self._judge(
                person.profile([name]), {"history": answer}
            )

        prompt = prompt_text(
            "history",
            about=self._plan.about,
            person=person.profile(),
            domain=name,
            description=domain.description,
            preferences=person.preferences[name],
            devices=person.about["routine"]["devices"],
        )
        key = f"{person.key}-{slug(name)}"
        answer = self._pieces.make(key, "history", prompt, problems)
        if answer is not None:
            person.histories[name] = answer

    def _problems(self, people: Sequence[Person]) -> list[str]:
        """Return the problems with the last of some people."""
        files = lay_out(self._plan, {}, people)
        own = [
            path
            for path in files
            if files[path].pieces[:1] and files[path].pieces[0].startswith(people[-1].key)
        ]
        found = self._check(files)
        return [f"{where}: {message}" for file, where, message in found if file.endswith(tuple(own))]


def _waves(items: Sequence[Any], width: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), width):
        yield items[start : start + width]
