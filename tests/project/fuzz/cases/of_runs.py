"""Cases of what a run left behind and another one reads: records, baselines, results, journals, ..."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from tests.project.fuzz.base import CALLS, PAID, RUN, TOLD
from tests.project.fuzz.case import Case, Setup, never
from tests.project.fuzz.inputs.spoil import Spoilt, spoil


def _spoil_one(setup: Setup, folder: str, pattern: str) -> tuple[str, Spoilt]:
    """Spoil one of the files below a folder of the repository."""
    path = setup.rng.choice(sorted(path for path in (setup.repo / folder).glob(pattern) if path.is_file()))
    return path.name, spoil(path, setup.rng) if setup.mutates else Spoilt("")


def record(setup: Setup) -> Case:
    """The record of an item: a changed one passes for nobody, unless it is written anew or is gone."""
    good = setup.mutates and setup.rng.random() < 0.5
    setup.take("good/records" if good else setup.of_like("records"), "__personalens__")
    before = _records(setup)
    name, spoilt = _spoil_one(setup, "__personalens__", "**/*.json")
    mode = setup.rng.choice(("none", "none", "new", "all"))
    now = _records(setup)
    same = good and (mode != "none" or all(now[path] in (None, held) for path, held in before.items()))
    what = f"{name}: {spoilt.what}, {mode}{', all do well' if good else ''}"
    return Case(what, (*RUN, f"--personalens-record={mode}"), good=good, passes=_decided if same else never)


def _decided(text: str) -> bool:
    return "gate tcr: passed" in text


def _records(setup: Setup) -> dict[str, object]:
    """What each record holds: a text where it is no JSON, None where there is none."""
    found: dict[str, object] = {}
    for path in sorted((setup.base / "good" / "records").rglob("*.json")):
        name = str(path.relative_to(setup.base / "good" / "records"))
        here = setup.repo / "__personalens__" / name
        try:
            found[name] = json.loads(here.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            found[name] = None
        except (OSError, ValueError, RecursionError) as error:
            found[name] = f"no record: {error}"
    return found


#: With margins as wide as the scales, nothing but the second gate can fail.
_DROP_ALONE: Final = ("-opersonalens_margin=tc=0.99,p=2.99", "--personalens-gate=drop(p) <= 2")


def baseline(setup: Setup) -> Case:
    """The baseline of a run in which everybody did well, held against by either kind of gate."""
    source = setup.rng.choice(("baseline.json", "baseline.json", "results.json"))
    gates = setup.rng.choice(((), _DROP_ALONE))
    setup.take(f"good/{source}", "baseline.json")
    _, spoilt = _spoil_one(setup, ".", "baseline.json")
    what = f"{source}: {spoilt.what}{', drop' if gates else ''}"
    return Case(what, (*TOLD, "--personalens-baseline=baseline.json", *gates))


def adopted(setup: Setup) -> Case:
    """What is kept of a judge that was adopted, and that reads otherwise now."""
    setup.take("anchors.jsonl")
    setup.take("good/adopted.json")
    name, spoilt = _spoil_one(setup, ".", "adopted.json")
    given = ("-opersonalens_anchors=anchors.jsonl", "--personalens-check-judge=adopted.json")
    return Case(f"{name}: {spoilt.what}", (*TOLD, *given))


_REPORTED: Final = re.compile(r"overall|^report: |^summary: |Table \d|Figure \d|^## ", re.MULTILINE)


def results(setup: Setup) -> Case:
    """Results that are reported on, alone or beside those of another run."""
    setup.take("good/results.json")
    setup.take("bad/results.json", "before.json")
    name = setup.rng.choice(("results.json", "results.json", "before.json"))
    _, spoilt = _spoil_one(setup, ".", name)
    both = ("before.json",) if name == "before.json" or setup.rng.random() < 0.3 else ()
    alone = ("--table=3", "--table=4", "--table=10", "--table=12", "--table=13", "--figure=4", "--figure=5")
    way = setup.rng.choice(("", "-v", "--report=-", "--report=out.md", "--report=out.html", *alone))
    passes = never if spoilt.useless else lambda text: _REPORTED.search(text) is not None
    given = ("results.json", *both, *([way] if way else []))
    return Case(f"{name}: {spoilt.what} {way}", given, "report", passes=passes, writes="out" in way)


def shard(setup: Setup) -> Case:
    """The results of a shard, put together with those of the other under a gate of the command line."""
    good = setup.mutates and setup.rng.random() < 0.5
    for number in (1, 2):
        setup.take(f"good/shard-{number}.json" if good else setup.of_like(f"shard-{number}.json"))
    name = setup.rng.choice(("shard-1.json", "shard-2.json"))
    before = _items(setup.repo / name)
    _, spoilt = _spoil_one(setup, ".", name)
    whole = _items(setup.repo / name) == before
    ways = ("", "-v", "--report=out.md", "--report=out.json", "--report=out.html", "--save-baseline=new.json")
    way = setup.rng.choice(ways)
    given = ("shard-1.json", "shard-2.json", "--gate=tcr >= 0.9", *([way] if way else []))
    what, passes = (
        f"{name}: {spoilt.what} {way}{', all did well' if good else ''}",
        _decided if good and whole else never,
    )
    return Case(what, given, "merge", passes=passes, writes="out" in way or "new" in way)


def _items(path: Path) -> list[str] | None:
    """The items whose results a file holds; None where it holds none."""
    try:
        return sorted(item["nodeid"] for item in json.loads(path.read_text(encoding="utf-8"))["items"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None


def journal(setup: Setup) -> Case:
    """The calls that a run that was killed left in the cache, for another to go on from."""
    setup.take(setup.of_like("cache"), ".pytest_cache")
    name, spoilt = _spoil_one(setup, f"{CALLS}/calls", "*/**/*")
    given = (*PAID, "--personalens-gate=tcr >= 0.5", "--personalens-record", "live", "--personalens-resume")
    return Case(f"{name}: {spoilt.what}", given, environment=(("PERSONALENS_CACHE_DIR", CALLS),))
