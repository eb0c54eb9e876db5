"""Cases of what is read: data of one's own, official data, prompts, prices, lists of users, labels."""

from __future__ import annotations

from typing import Final

from tests.project.fuzz.base import RUN, TOLD
from tests.project.fuzz.case import Case, Setup, never
from tests.project.fuzz.cases.of_options import decided_otherwise
from tests.project.fuzz.inputs.spoil import Spoilt, spoil
from tests.project.fuzz.inputs.texts import HOSTILE, nearly


def _spoilt(setup: Setup, *names: str) -> tuple[str, Spoilt]:
    """Spoil one of the repository's files."""
    name = setup.rng.choice(names)
    return name, spoil(setup.repo / name, setup.rng) if setup.mutates else Spoilt("")


_OWN: Final = ("own/profiles/kit.toml", "own/profiles/aino.toml", "own/histories/kit/books.toml", "own/histories/aino/books.toml", "own/limits.toml")  # fmt: skip


def _checked(folder: str, name: str, spoilt: Spoilt) -> Case:
    """The command that checks data, in place of a run with them."""
    passes = never if spoilt.useless else lambda text: "scenarios" in text
    return Case(f"datasets check, {name}: {spoilt.what}", (folder,), "check-dataset", passes=passes)


def own_data(setup: Setup) -> Case:
    """A folder in the layout of our data: its head, a domain, the tasks over several, a person."""
    setup.take("own")
    multi = setup.rng.random() < 0.4
    domains = ("books", "alarm", "movies", "train") if not multi else ("restaurants", "movies", "music")
    name, spoilt = _spoilt(
        setup,
        *_OWN,
        *(f"own/domains/{domain}.toml" for domain in domains),
        "own/multi.toml",
        "own/dataset.toml",
    )
    if setup.mutates and setup.rng.random() < 0.25:
        return _checked("own", name, spoilt)
    if setup.mutates and setup.rng.random() < 0.3:
        domain = name.removeprefix("own/domains/").removesuffix(".toml").title()
        more = (f"--personalens-domain={domain}",) if "domains/" in name else ("--personalens-kind=multi",)
        return Case(f"{name}: {spoilt.what} ({more[0]})", (*RUN, "--personalens-data=own", *more))
    control = ("--personalens-control=other-user",) if setup.rng.random() < 0.2 else ()
    arguments = ("--personalens-sample=3", *RUN[1:], "--personalens-data=own", *control)
    return Case(f"{name}: {spoilt.what} {' '.join(control)}", arguments)


def official(setup: Setup) -> Case:
    """A user's files in the layout of the official data."""
    setup.take("official")
    user = f"official/data/profile/{setup.rng.choice(('kit', 'aino'))}"
    name, spoilt = _spoilt(setup, *(f"{user}/{file}.json" for file in ("profile", "tasks", "tasks_md")))
    if setup.mutates and setup.rng.random() < 0.2:
        return _checked("official", name, spoilt)
    options = ("--personalens-data=official", "--personalens-judge-model=told")
    return Case(f"{name}: {spoilt.what}", ("--personalens-sample=8", *RUN[1:], *options))


_MODELS: Final = ("--personalens-user-model=acme:x", "--personalens-judge-model=acme:x", "--personalens-record", "live")  # fmt: skip


def prompts(setup: Setup) -> Case:
    """A template of one's own, for a user and a judge played by a model."""
    setup.take("prompts")
    names = sorted(path.name for path in (setup.repo / "prompts").glob("*.txt"))
    name, spoilt = _spoilt(setup, *(f"prompts/{name}" for name in names))
    if setup.mutates and setup.rng.random() < 0.1:
        (setup.repo / name).rename(
            setup.repo / "prompts" / f"{setup.rng.choice(('x', 'é', 'USER', 'judge '))}.txt"
        )
    return Case(f"{name}: {spoilt.what}", (*RUN, *_MODELS, "-opersonalens_prompts=prompts"))


_PRICES: Final = ("acme:x = 1, 2", "acme:x = 1, 2, 0.1, 1.5", "other = 0, 0")
_PARAMETERS: Final = (
    "temperature = 0",
    "region = eu-west-1",
    "timeout = 5",
    "base_url = http://127.0.0.1:1/v1",
)


def prices(setup: Setup) -> Case:
    """The price table, or the parameters of models, under a cap on what the run may spend."""
    rng = setup.rng
    key = "prices" if rng.random() < 0.7 else "model_parameters"
    lines = list(_PRICES if key == "prices" else _PARAMETERS)
    if setup.mutates:
        number = rng.randrange(len(lines))
        line, is_near = lines[number], rng.random() < 0.6
        lines[number] = nearly(rng, line) if is_near else f"{line.partition('=')[0]}= {rng.choice(HOSTILE)}"
    text = "".join(f"    {line}\n" for line in "\n".join(lines).splitlines())
    both = "" if key == "prices" else f"personalens_prices =\n    {_PRICES[0]}\n"
    setup.write(
        "pytest.ini", f"[pytest]\n{both}personalens_{key} =\n{text}".encode("utf-8", "replace").decode()
    )
    cap = rng.choice(("0.01", "0.003", "5")) if setup.mutates else "5"
    return Case(f"{key}: {text[:120]!r}, cap {cap}", (*RUN, *_MODELS, f"--personalens-budget={cap}usd"))


def users(setup: Setup) -> Case:
    """A file with the ids of users, an id a line."""
    name, spoilt = _spoilt(setup, "users.txt")
    return Case(f"{name}: {spoilt.what}", (RUN[0], "-opersonalens_users=file:users.txt", RUN[2]))


def labels(setup: Setup) -> Case:
    """Labelled dialogues, which a judge is held against."""
    setup.take("labels.jsonl")
    name, spoilt = _spoilt(setup, "labels.jsonl")
    more = ("--report=out.json", "--report=out.md") if setup.rng.random() < 0.3 else ()
    passes = never if spoilt.useless else lambda text: "dialogues" in text
    return Case(f"{name}: {spoilt.what}", ("labels.jsonl", *more), "agreement", passes=passes, writes=True)


def dialogues(setup: Setup) -> Case:
    """Dialogues that exist already, of scenarios of ours and of one of their own."""
    setup.take("chats.jsonl")
    name, spoilt = _spoilt(setup, "chats.jsonl")
    arguments = ("--personalens-dialogues=chats.jsonl", "--personalens-judge-model=told", RUN[2])
    return Case(f"{name}: {spoilt.what}", arguments)


def anchors(setup: Setup) -> Case:
    """Anchors of one's own, which a judge was adopted with that reads otherwise now."""
    setup.take("anchors.jsonl")
    setup.take("good/adopted.json")
    name, spoilt = _spoilt(setup, "anchors.jsonl")
    options = ("-opersonalens_anchors=anchors.jsonl", "--personalens-check-judge=adopted.json")
    return Case(f"{name}: {spoilt.what}", (*TOLD, *options), passes=decided_otherwise)
