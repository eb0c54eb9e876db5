"""Makes a dataset by a model: each piece asked for, checked and kept, then tasks, people and histories."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError, short_repr
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.safe_text import slug
from pytest_personalens.datasets.embedded.building.build_plan import offered_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from pytest_personalens.datasets.embedded.building.build_plan import Brief, MultiBrief, Plan

    #: Returns the problems with an answer, each with its field; none if it can be used.
    Check = Callable[["Answer"], Sequence[str]]

#: A JSON object that a model answered.
Answer = dict[str, Any]
#: The prompts, by step.
_PROMPTS: Final[dict[str, str]] = tomllib.loads(
    files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
)
SYSTEM: Final = _PROMPTS["system"]
#: How many problems a model is told of at once, and how many are listed of a piece that was given up.
_MOST_TOLD, _MOST_LISTED = 8, 2


def prompt_text(step: str, **values: object) -> str:
    """Return the prompt of a step; lists and tables in it are JSON."""
    texts = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in values.items()}
    filled = Template(_PROMPTS[step]).substitute(texts).strip()
    return filled.encode("utf-8", "replace").decode("utf-8")  # half a character cannot be sent


class Pieces:
    """The pieces of a dataset in `folder`, a JSON file each, made by calls of `ask` (step, prompt) -> text.

    A piece that is there is not asked for again while its prompt is the same. An answer with problems is
    asked for again with the reasons, `attempts` times in all; then `given_up` has the reasons. `made` is
    called after each piece. Safe for threads, as long as no two ask for the same piece.
    """

    def __init__(
        self,
        folder: Path,
        ask: Callable[[str, str], str],
        *,
        model: str,
        attempts: int,
        made: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder, self._ask, self._model, self._attempts, self._made = folder, ask, model, attempts, made
        self.given_up: dict[str, list[str]] = {}
        self.origins: dict[str, str] = {}

    def make(self, key: str, step: str, prompt: str, check: Check) -> Answer | None:
        """Return the answer that passes the check, or None if no attempt did."""
        file, digest = self._folder / f"{key}.json", prompt_digest(prompt)
        piece = _stored(file, digest)
        if piece is None:
            piece = {"step": step, "model": self._model, "prompt": digest}
            piece["answer"] = self.ask(key, step, prompt, check)
            if piece["answer"] is not None:
                write_atomically(file, json.dumps(piece, indent=1, ensure_ascii=False) + "\n")
        self.origins[key] = f"step {step}, model {piece['model']}, prompt {digest}"
        self._made()
        answer: Answer | None = piece["answer"]
        return answer

    def ask(self, key: str, step: str, prompt: str, check: Check) -> Answer | None:
        """Do the same without a file."""
        problems: Sequence[str] = ()
        for _ in range(self._attempts):
            again = prompt_text("again", problems="\n".join(f"- {p}" for p in problems[:_MOST_TOLD]))
            text = self._ask(step, f"{prompt}\n\n{again}" if problems else prompt)
            found = text[text.find("{") : text.rfind("}") + 1] if "{" in text else ""  # words may be around
            try:
                answer: Answer = json.loads(found)
            except (ValueError, RecursionError) as error:
                problems = [f"the answer is no JSON object: {error if found else short_repr(text)}"]
                continue
            problems = check(answer)
            if not problems:
                return answer
        self.given_up[key] = list(problems[:_MOST_LISTED])
        return None


def prompt_digest(prompt: str) -> str:
    """Return twelve hexadecimal digits that depend on a prompt alone."""
    return hashlib.sha256(f"{SYSTEM}\x1f{prompt}".encode("utf-8", "replace")).hexdigest()[:12]


def _stored(file: Path, digest: str) -> Answer | None:
    """Return the content of the file of a piece, or None if there is none for this prompt."""
    with suppress(OSError, ValueError, RecursionError, TypeError, KeyError):
        piece: Answer = json.loads(file.read_text(encoding="utf-8"))
        if (
            piece["prompt"] == digest
            and isinstance(piece["model"], str)
            and isinstance(piece["answer"], dict)
        ):
            return piece
    return None


def make_folder(folder: Path) -> Path:
    """Return the folder after making it; raise `DataError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # such as a NUL in the path
        raise DataError(folder, f"cannot be made: {getattr(error, 'strerror', None) or error}") from None
    return folder


#: A sentence that stands for a history that is not made yet.
_STUB_HISTORY: Final = "What {} tells the assistant about {} is kept there for the next time."


class File(NamedTuple):
    """The content of a file, and the keys of the pieces that it is made of."""

    table: dict[str, Any]
    pieces: Sequence[str] = ()


@dataclass
class Person:
    """One person as far as made; `number` is the place in the dataset, from 1."""

    number: int
    demographics: dict[str, str]
    domains: list[str]
    about: Answer = field(default_factory=dict)
    preferences: dict[str, dict[str, Any]] = field(default_factory=dict)
    histories: dict[str, Answer] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return the key of the person's first piece."""
        return f"person-{self.number:04}"

    def profile(self, domains: Iterable[str] = ()) -> dict[str, Any]:
        """Return the table of the person's file for some of the domains."""
        return {
            "name": self.about.get("name"),
            "demographics": self.demographics,
            "routine": self.about.get("routine"),
            "domains": {name: dict(self.preferences[name]) for name in domains},
        }


def lay_out(
    plan: Plan, tasks: Mapping[str, Mapping[int, Answer]], people: Sequence[Person]
) -> dict[str, File]:
    """Return the files of a dataset, by path.

    `tasks` are by domain and by number in the plan; those over several domains are of the domain ``multi``.
    A person without a history in a domain gets a sentence as its summary.
    """
    files = {"dataset.toml": File({"name": plan.name, "version": plan.version})}
    for domain in plan.domains:
        entry = domain.model_dump(exclude={"interest", "tasks"}, exclude_defaults=True, mode="json")
        path = f"domains/{slug(domain.name)}.toml"
        files[path] = _with_tasks(slug(domain.name), entry, tasks.get(domain.name, {}))
    if tasks.get("multi"):
        files["multi.toml"] = _with_tasks("multi", {}, tasks["multi"])
    for person, user in zip(people, user_ids(people), strict=True):
        profile = person.profile(person.domains)
        files[f"profiles/{user}.toml"] = File(profile, (person.key, f"{person.key}-preferences"))
        for name in person.domains:
            if name in person.histories:
                path = f"histories/{user}/{slug(name)}.toml"
                files[path] = File(person.histories[name], (f"{person.key}-{slug(name)}",))
            else:
                text = _STUB_HISTORY.format(person.about.get("name"), name)
                profile["domains"][name].setdefault("summary", text)
    return files


def _with_tasks(key: str, entry: dict[str, Any], tasks: Mapping[int, Answer]) -> File:
    numbered = [{**task, "number": number} for number, task in enumerate(tasks.values(), 1)]
    return File({**entry, "tasks": numbered}, [f"task-{key}-{number}" for number in tasks])


def user_ids(people: Sequence[Person]) -> list[str]:
    """Return the id of each person: the first name, or all of the name if that is taken."""
    ids: list[str] = []
    for person in people:
        name = str(person.about.get("name") or "").strip() or "nobody"
        first = slug(name.split()[0])
        ids.append(first if first not in ids else slug(f"{name} {person.number}"))
    return ids


def stand_in(plan: Plan, demographics: dict[str, str], about: Answer | None = None) -> Person:
    """Return a person with some values in every domain of the plan."""
    routine = {"home": "a house", "work": "an office", "out": "a park", "devices": ["Smartphone"]}
    person = Person(
        0, demographics, [d.name for d in plan.domains], about or {"name": "Nobody", "routine": routine}
    )
    for domain in plan.domains:
        held = {name: (spec.values or ("something",))[0] for name, spec in domain.preferences.items()}
        person.preferences[domain.name] = {
            name: [value] if domain.preferences[name].multiple else value for name, value in held.items()
        }
    return person


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
        width = max(1, min(16, len(self._people) // 8))
        for start in range(0, len(self._people), width):
            wave = self._people[start : start + width]
            self._run(self._make_person, [(person,) for person in wave])
            for person in wave:
                self._count(person)
        histories = [(person, name) for person in self._people for name in person.preferences]
        self._run(self._make_history, histories)
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
            found += [p for p in self._problems(trial) if not p.startswith("domains.")]
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
            found = self._problems(trial)
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
        def problems(answer: Answer) -> list[str]:
            trial = Person(person.number, person.demographics, [name], person.about)
            trial.preferences, trial.histories = {name: person.preferences[name]}, {name: answer}
            return self._problems(trial) or self._judge(person.profile([name]), {"history": answer})

        prompt = prompt_text(
            "history",
            about=self._plan.about,
            person=person.profile(),
            domain=name,
            description=self._plan.domain(name).description,
            preferences=person.preferences[name],
            devices=person.about["routine"]["devices"],
        )
        key = f"{person.key}-{slug(name)}"
        answer = self._pieces.make(key, "history", prompt, problems)
        if answer is not None:
            person.histories[name] = answer

    def _problems(self, person: Person) -> list[str]:
        """Return the problems with the files of a person."""
        files = lay_out(self._plan, {}, [person])
        own = tuple(
            path for path, file in files.items() if any(p.startswith(person.key) for p in file.pieces)
        )
        return [f"{where}: {message}" for file, where, message in self._check(files) if file.endswith(own)]
