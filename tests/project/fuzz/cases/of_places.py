"""Cases of where a run keeps things: caches and records that cannot be written, links in their place, keys that are misspelt."""

from __future__ import annotations

from random import Random
from typing import Final

from pytest_personalens.core.options.option_table import OPTIONS
from tests.project.fuzz.base import RUN, TOLD
from tests.project.fuzz.case import Case, Setup

_KEYS: Final = tuple(option.ini for option in OPTIONS if option.on != "command line")
_PAID: Final = (
    "--personalens-sample=2", "-opersonalens_users=kit,aino", "--personalens-user-model=paid", "--personalens-judge-model=paid",
    "--personalens-gate=tcr >= 0.5",
)  # fmt: skip


#: Files that pytest reads, with a key; none for a key on the command line.
_FILES: Final = (
    ("pytest.ini", "[pytest]\n{key} = 2\n"), ("tox.ini", "[pytest]\n{key} = 2\n"), ("setup.cfg", "[tool:pytest]\n{key} = 2\n"),
    ("pyproject.toml", '[tool.pytest.ini_options]\n"{key}" = "2"\n'), ("", ""),
)  # fmt: skip


def misspelt(setup: Setup) -> Case:
    """A key of ours with a slip of the finger, in any file that pytest reads, or on the command line."""
    rng = setup.rng
    if not setup.mutates:
        return Case("", RUN)
    key = rng.choice(_KEYS)
    while key in _KEYS or not key.startswith("personalens"):
        key = _slip(rng.choice(_KEYS), rng)
    file, text = rng.choice(_FILES)
    if file:
        setup.write(file, text.format(key=key))
    good = rng.random() < 0.5
    return Case(f"{file} {key}", RUN if file else (*RUN, "-o", f"{key}=2"), good=good)


def _slip(key: str, rng: Random) -> str:
    place = rng.randrange(len("personalens"), len(key))
    left, right = key[:place], key[place + 1 :]
    return rng.choice(
        (left + right, left + key[place] * 2 + right, left + rng.choice("abeios_-") + right, key + "s")
    )


#: What lies in a place instead: a file, or a link and where it leads.
_INSTEAD: Final = {
    "a file": "", "to nowhere": "nowhere/at/all", "to itself": "{name}", "to a file elsewhere": "../elsewhere/notes.txt",
    "to a folder elsewhere": "../elsewhere",
}  # fmt: skip
_PLACES: Final = ("__personalens__", ".pytest_cache", "cache", "results.json", "baseline.json", "page.html")


def place(setup: Setup) -> Case:
    """Something else where a run keeps its cache, its records or its reports, or a link out of the repository."""
    rng = setup.rng
    if not setup.mutates:
        return Case("", RUN)
    names = rng.sample(_PLACES, rng.choice((1, 1, 2)))
    done = []
    for name in names:
        what, target = rng.choice(tuple(_INSTEAD.items()))
        if target:
            (setup.repo / name).symlink_to(target.format(name=name))
        else:
            setup.write(name, "mine\n")
        done.append(f"{name}: {what}")
    records = rng.choice(("", "new", "all", "live"))
    run = (*_PAID, f"--personalens-record={records}") if records else (*TOLD, "--personalens-gate=tcr >= 0.5")
    reports = (
        "--personalens-report=results.json", "--personalens-save-baseline=baseline.json", "--personalens-report=page.html",
    )  # fmt: skip
    more = rng.sample(reports, rng.choice((0, 1, 2)))
    return Case(
        f"{', '.join(done)} {records} {' '.join(more)}",
        (*run, *more, "-o", "cache_dir=.pytest_cache"),
        environment=(("PERSONALENS_CACHE_DIR", "cache"),),
        writes=True,
    )


def linked_record(setup: Setup) -> Case:
    """A record that is a link out of the repository, in a run that writes records."""
    if not setup.mutates:
        return Case("", RUN)
    rng = setup.rng
    setup.take("good/records" if rng.random() < 0.5 else "bad/records", "__personalens__")
    files = sorted((setup.repo / "__personalens__").rglob("*.json"))
    record = rng.choice(files)
    record.unlink()
    record.symlink_to("../" * len(record.relative_to(setup.repo).parts) + "elsewhere/notes.txt")
    mode = rng.choice(("none", "new", "all"))
    return Case(f"{record.name} {mode}", (*RUN, f"--personalens-record={mode}"), writes=True)
