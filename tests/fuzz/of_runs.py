"""Cases of what a run left behind and another one reads: records, baselines, results, shards, an adopted judge, a journal."""

from __future__ import annotations

import os
import re

from tests.fuzz.base import PAID, RUN, TOLD
from tests.fuzz.case import Case, Setup, never
from tests.fuzz.spoil import Spoilt, spoil


def _spoil_one(setup: Setup, folder: str, pattern: str) -> tuple[str, Spoilt]:
    """Spoil one of the files below a folder of the repository."""
    path = setup.rng.choice(sorted(path for path in (setup.repo / folder).glob(pattern) if path.is_file()))
    return path.name, spoil(path, setup.rng) if setup.mutates else Spoilt("")


def record(setup: Setup) -> Case:
    """The record of an item."""
    setup.take(setup.of_like("records"), "__personalens__")
    name, spoilt = _spoil_one(setup, "__personalens__", "**/*.json")
    more = f"--personalens-record={setup.rng.choice(('none', 'none', 'new', 'all'))}"
    return Case(f"{name}: {spoilt.what}, {more}", (*RUN, more))


def baseline(setup: Setup) -> Case:
    """The baseline of a run in which everybody did well."""
    source = setup.rng.choice(("baseline.json", "baseline.json", "results.json"))
    setup.take(f"good/{source}", "baseline.json")
    name, spoilt = _spoil_one(setup, ".", "baseline.json")
    return Case(f"{source}: {spoilt.what}", (*TOLD, "--personalens-baseline=baseline.json"))


def adopted(setup: Setup) -> Case:
    """What is kept of a judge that was adopted, and that reads otherwise now."""
    setup.take("anchors.jsonl")
    setup.take("good/adopted.json")
    name, spoilt = _spoil_one(setup, ".", "adopted.json")
    given = ("--personalens-anchors=anchors.jsonl", "--personalens-check-judge=adopted.json")
    return Case(f"{name}: {spoilt.what}", (*TOLD, *given))


def results(setup: Setup) -> Case:
    """Results that are reported on, alone or beside those of another run."""
    setup.take("good/results.json")
    setup.take("bad/results.json", "before.json")
    name = setup.rng.choice(("results.json", "results.json", "before.json"))
    _, spoilt = _spoil_one(setup, ".", name)
    both = ("before.json",) if name == "before.json" or setup.rng.random() < 0.3 else ()
    alone = ("--table=3", "--table=4") if not both else ()
    way = setup.rng.choice(("", "-v", "--markdown=-", "--markdown=out.md", "--html=out.html", *alone))
    passes = never if spoilt.useless else lambda text: bool(re.search(r"overall|^report: |^summary: |Table [34]|^## ", text, re.MULTILINE))
    return Case(
        f"{name}: {spoilt.what} {way}", ("results.json", *both, *([way] if way else [])), "report", passes=passes, writes="out" in way
    )


def shard(setup: Setup) -> Case:
    """The results of a shard, put together with those of the other under a gate of the command line."""
    for number in (1, 2):
        setup.take(setup.of_like(f"shard-{number}.json"))
    name = setup.rng.choice(("shard-1.json", "shard-2.json"))
    _, spoilt = _spoil_one(setup, ".", name)
    way = setup.rng.choice(("", "-v", "--markdown=out.md", "--json=out.json", "--html=out.html", "--save-baseline=new.json"))
    given = ("shard-1.json", "shard-2.json", "--gate=tcr >= 0.9", *([way] if way else []))
    return Case(f"{name}: {spoilt.what} {way}", given, "merge", writes="out" in way or "new" in way)


def journal(setup: Setup) -> Case:
    """What a run that was killed left in pytest's cache, for another to go on from."""
    setup.take(setup.of_like("cache"), ".pytest_cache")
    run = setup.repo / ".pytest_cache/d/personalens/run"
    if setup.mutates and setup.rng.random() < 0.4:
        as_json = run.rename(run.with_suffix(".json"))  # so that what is in it is spoilt as JSON
        name, spoilt = "run", spoil(as_json, setup.rng)
        if os.path.lexists(as_json):
            as_json.rename(run)
    else:
        name, spoilt = _spoil_one(setup, ".pytest_cache/d/personalens", "*")
    return Case(f"{name}: {spoilt.what}", (*PAID, "--personalens-gate=tcr >= 0.5", "--personalens-live", "--personalens-resume"))
