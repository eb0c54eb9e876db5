"""Cases of files with a mistake in one of them: data, prompts, labels, dialogues, and what a run left behind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.project.fuzz.base import CALLS, PAID, RUN, TOLD
from tests.project.fuzz.case import Case, Maker, Setup, never
from tests.project.fuzz.inputs.spoil import Spoilt, spoil
from tests.project.fuzz.inputs.texts import HOSTILE, nearly

Words = tuple[str, ...]


class Read(NamedTuple):
    """What a run or a command reads: one of the files that fit the patterns is spoilt.

    `takes`: what the base has of it, where LIKE is how all did. `more`: words of which one group is added.
    `says`: what stands in the output of a command that did what it is for, without which a pass is wrong.
    """

    times: int
    takes: Words
    spoils: Words
    arguments: Words
    more: tuple[Words, ...] = ((),)
    module: str = "pytest"
    says: str = ""
    environment: tuple[tuple[str, str], ...] = ()

    def case(self, setup: Setup) -> Case:
        """Make a case of it."""
        for name in self.takes:
            source, _, to = name.partition(" as ")
            setup.take(source.replace("LIKE", setup.like), to)
        path, spoilt = spoil_one(setup, *self.spoils)
        given = (*self.arguments, *setup.rng.choice(self.more))
        told = f"{path.relative_to(setup.repo)}: {spoilt.what} {' '.join(given[len(self.arguments) :])}"
        given = tuple(word.replace("DOMAIN", path.stem.title()) for word in given)
        pattern = re.compile(self.says, re.MULTILINE) if self.says and not spoilt.useless else None
        return Case(
            told, given, self.module, passes=lambda text: pattern is not None and pattern.search(text) is not None,
            writes=any("out." in word for word in given), environment=self.environment,
        )  # fmt: skip


def spoil_one(setup: Setup, *patterns: str) -> tuple[Path, Spoilt]:
    """Spoil one of the repository's files that fit the patterns."""
    paths = [path for pattern in patterns for path in setup.repo.glob(pattern) if path.is_file()]
    path = setup.rng.choice(sorted(paths))
    return path, spoil(path, setup.rng) if setup.mutates else Spoilt("")


_MODELS: Final = ("--personalens-user-model=acme:x", "--personalens-judge-model=acme:x", "--personalens-record", "live")  # fmt: skip
_FEW: Final = ("--personalens-sample=3", *RUN[1:], "--personalens-data=own")
_DOMAINS: Final = tuple(f"own/domains/{domain}.toml" for domain in ("alarm", "books", "movies", "music", "restaurants", "train"))  # fmt: skip
_ADOPTED: Final = ("-opersonalens_anchors=anchors.jsonl", "--personalens-check-judge=adopted.json")
#: With margins as wide as the scales, nothing but the second gate can fail.
_DROP_ALONE: Final = ("-opersonalens_margin=tc=0.99,p=2.99", "--personalens-gate=drop(p) <= 2")
_TABLES: Final = (
    "--table=3", "--table=4", "--table=10", "--table=12", "--table=13", "--figure=4", "--figure=5",
)  # fmt: skip
_WAYS: Final = ((), ("-v",), ("--report=-",), ("--report=out.md",), ("--report=out.html",), *((one,) for one in _TABLES))  # fmt: skip
_REPORTED: Final = r"overall|^report: |^summary: |Table \d|Figure \d|^## "
_LIVE: Final = ("--personalens-gate=tcr >= 0.5", "--personalens-record", "live", "--personalens-resume")
_OWN: Final = ("own/profiles/*", "own/histories/*/books.toml", "own/*.toml")

#: Kind of input -> how it is read.
READ: Final = {
    "own data": Read(2, ("own",), (*_OWN, *_DOMAINS), _FEW, ((), (), (), ("--personalens-control=other-user",), ("--personalens-kind=multi",))),
    "own domains": Read(1, ("own",), _DOMAINS, (*RUN, "--personalens-data=own", "--personalens-domain=DOMAIN")),
    "own data, checked": Read(1, ("own",), (*_OWN, *_DOMAINS), ("own",), module="check-dataset", says="scenarios"),
    "official data": Read(2, ("official",), ("official/data/profile/*/*.json",), ("--personalens-sample=8", *RUN[1:], "--personalens-data=official", "--personalens-judge-model=told")),
    "official data, checked": Read(1, ("official",), ("official/data/profile/*/*.json",), ("official",), module="check-dataset", says="scenarios"),
    "prompt templates": Read(1, ("prompts",), ("prompts/*.txt",), (*RUN, *_MODELS, "-opersonalens_prompts=prompts")),
    "lists of users": Read(1, (), ("users.txt",), (RUN[0], "-opersonalens_users=file:users.txt", RUN[2])),
    "labels": Read(2, ("labels.jsonl",), ("labels.jsonl",), ("labels.jsonl",), ((), (), ("--report=out.json", "--report=out.md")), "agreement", "dialogues"),
    "dialogues": Read(2, ("chats.jsonl",), ("chats.jsonl",), ("--personalens-dialogues=chats.jsonl", "--personalens-judge-model=told", RUN[2])),
    "adopted judges": Read(2, ("anchors.jsonl", "good/adopted.json"), ("anchors.jsonl", "adopted.json"), (*TOLD, *_ADOPTED)),
    "baselines": Read(2, ("good/baseline.json",), ("baseline.json",), (*TOLD, "--personalens-baseline=baseline.json"), ((), _DROP_ALONE)),
    "results as baselines": Read(1, ("good/results.json",), ("results.json",), (*TOLD, "--personalens-baseline=results.json"), ((), _DROP_ALONE)),
    "results": Read(1, ("good/results.json",), ("results.json",), ("results.json",), _WAYS, "report", _REPORTED),
    "two results": Read(1, ("good/results.json", "bad/results.json as before.json"), ("results.json", "before.json"), ("results.json", "before.json"), _WAYS, "report", _REPORTED),
    "journals": Read(2, ("LIKE/cache as .pytest_cache",), (f"{CALLS}/calls/*/**/*",), (*PAID, *_LIVE), environment=(("PERSONALENS_CACHE_DIR", CALLS),)),
}  # fmt: skip


def prices(setup: Setup) -> Case:
    """The price table, or the parameters of models, under a cap on what the run may spend."""
    rng, tables = setup.rng, {
        "prices": ["acme:x = 1, 2", "acme:x = 1, 2, 0.1, 1.5", "other = 0, 0"],
        "model_parameters": ["temperature = 0", "region = eu-west-1", "timeout = 5", "base_url = http://127.0.0.1:1/v1"],
    }  # fmt: skip
    key = "prices" if rng.random() < 0.7 else "model_parameters"
    both, lines = "" if key == "prices" else f"personalens_prices =\n    {tables['prices'][0]}\n", tables[key]
    if setup.mutates:
        number = rng.randrange(len(lines))
        line, is_near = lines[number], rng.random() < 0.6
        lines[number] = nearly(rng, line) if is_near else f"{line.partition('=')[0]}= {rng.choice(HOSTILE)}"
    text = "".join(f"    {line}\n" for line in "\n".join(lines).splitlines())
    table = f"[pytest]\n{both}personalens_{key} =\n{text}"
    setup.write("pytest.ini", table.encode("utf-8", "replace").decode())
    cap = rng.choice(("0.01", "0.003", "5")) if setup.mutates else "5"
    return Case(f"{key}: {text[:120]!r}, cap {cap}", (*RUN, *_MODELS, f"--personalens-budget={cap}usd"))


def _decided(text: str) -> bool:
    return "gate tcr: passed" in text


def record(setup: Setup) -> Case:
    """The record of an item: a changed one passes for nobody, unless it is written anew or is gone."""
    good = setup.mutates and setup.rng.random() < 0.5
    kept = setup.take("good/records" if good else f"{setup.like}/records", "__personalens__")
    names = [file.relative_to(kept) for file in kept.rglob("*.json")]
    before = {name: _held(kept / name) for name in names}
    path, spoilt = spoil_one(setup, "__personalens__/**/*.json")
    mode = setup.rng.choice(("none", "none", "new", "all"))
    same = mode != "none" or all(_held(kept / name) in (None, held) for name, held in before.items())
    what = f"{path.name}: {spoilt.what}, {mode}{', all do well' if good else ''}"
    passes = _decided if good and same else never
    return Case(what, (*RUN, f"--personalens-record={mode}"), good=good, passes=passes)


def _held(path: Path) -> object:
    """What a JSON file holds: a text where it is no JSON, None where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        return f"no JSON: {error}"


def shard(setup: Setup) -> Case:
    """The results of a shard, put together with those of the other under a gate of the command line."""
    good = setup.mutates and setup.rng.random() < 0.5
    for number in (1, 2):
        setup.take(f"{'good' if good else setup.like}/shard-{number}.json")
    before = {name: _items(setup.repo / name) for name in ("shard-1.json", "shard-2.json")}
    path, spoilt = spoil_one(setup, "shard-*.json")
    whole = _items(path) == before[path.name]
    way = setup.rng.choice((*_WAYS[:2], *_WAYS[3:5], ("--report=out.json",), ("--save-baseline=out.json",)))
    what = f"{path.name}: {spoilt.what} {' '.join(way)}{', all did well' if good else ''}"
    given, passes = (
        ("shard-1.json", "shard-2.json", "--gate=tcr >= 0.9", *way),
        _decided if good and whole else never,
    )
    return Case(what, given, "merge", passes=passes, writes="out" in "".join(way))


def _items(path: Path) -> list[str] | None:
    """The items whose results a file holds; None where it holds none."""
    try:
        return sorted(item["nodeid"] for item in json.loads(path.read_text(encoding="utf-8"))["items"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None


KINDS: Final[Mapping[str, tuple[Maker, int]]] = {kind: (read.case, read.times) for kind, read in READ.items()} | {
    "prices, parameters": (prices, 1), "records": (record, 2), "shards": (shard, 2),
}  # fmt: skip
