"""Cases of what is typed: options, configuration, pairs of them, marks, and arguments of commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from tests.project.fuzz.base import RUN
from tests.project.fuzz.case import Case, Setup
from tests.project.fuzz.inputs.spoil import toml
from tests.project.fuzz.inputs.texts import (
    HOSTILE,
    IN_CONFIGURATION,
    VALID,
    WITH_VALUE,
    WITHOUT,
    given,
    value,
)
from tests.project.fuzz.inputs.texts import words as options
from tests.project.fuzz.inputs.trees import ODD

#: What a run says that is only estimated: it runs no test, so that there is nothing to decide.
_ESTIMATE: Final = re.compile(
    r"^this run makes no paid model calls|^\S* ?calls? +.*tokens|^An estimate: ", re.MULTILINE
)
#: Options of pytest's own that leave something out, or show it otherwise.
PYTEST: Final = (
    ("-k", "nothing_at_all"), ("-k", "kit"), ("-m", "slow"), ("--lf",), ("--ff",), ("-x",), ("--maxfail=1",), ("-q",), ("-qq",), ("-vv",),
    ("--tb=native",), ("--tb=no",), ("--tb=long",), ("-p", "no:cacheprovider"), ("-p", "no:terminal"), ("-p", "no:syrupy"), ("-p", "no:xdist"),
    ("-p", "no:junitxml"), ("-p", "no:logging"), ("-p", "no:warnings"), ("--strict-config",), ("-s",), ("--capture=sys",), ("--deselect=test_bot.py",),
    ("--ignore=test_bot.py",), ("test_bot.py",), ("test_bot.py::test_bot",), ("test_bot.py::test_bot[nope]",), ("folder",), ("nowhere.py",),
    ("--noconftest",), ("--rootdir=folder",), ("--import-mode=importlib",), ("--snapshot-update",), ("--junitxml=junit.xml",), ("--durations=3",),
    ("-rA",), ("--setup-show",), ("--setup-only",), ("--setup-plan",), ("--stepwise",), ("--last-failed-no-failures=none", "--lf"), ("--color=yes",),
    ("--assert=plain",), ("--basetemp=new-folder",), ("-o", "console_output_style=count"), ("-p", "no:personalens-controller"), ("--exitfirst", "--nf"),
)  # fmt: skip


def repository(setup: Setup) -> None:
    """With the files that right values of options name."""
    for name in ("own", "official", "prompts", "anchors.jsonl", "chats.jsonl", "labels.jsonl"):
        setup.take(name)
    for name in ("baseline.json", "results.json", "adopted.json"):
        setup.take(f"{setup.like}/{name}")


def decided_otherwise(text: str) -> bool:
    """True where another than this process decides the gates: a shard, or a run that is only estimated."""
    return _ESTIMATE.search(text) is not None or re.search(r"shard \d+/\d+, \d+ of \d+", text) is not None


#: Option -> what a run prints that passes, if what the option asks for has come.
_PROMISES: Final = {
    "report": r"^results: |^report: |^summary: |^step summary: ", "save-baseline": r"^baseline", "gate": r"^gate tcr: passed(?s:.)*^gate |^gate (?s:.)*^gate tcr: passed", "baseline": r"^gate regression: tcr: passed",
    "check-judge": r"^gate judge: passed", "adopt-judge": r"^gate judge: passed", "control": r"lift|control|^\S*D\+I\+S|S ", "trials": r"trial",
}  # fmt: skip


def _kept(name: str, text: str) -> Callable[[str], bool]:
    """True for the output of a run in which everybody did well, if what the option asks for stands in it."""
    promise = _PROMISES.get(name, "")
    if name == "trials" and text.strip() in ("1", "+1"):
        promise = ""
    return lambda output: (
        decided_otherwise(output)
        or ("gate tcr: passed" in output and re.search(promise, output, re.MULTILINE) is not None)
    )


def option(setup: Setup) -> Case:
    """One option on the command line, with any value."""
    repository(setup)
    name = setup.rng.choice((*WITH_VALUE, *WITH_VALUE, *WITHOUT))
    text = "" if name in WITHOUT else value(setup.rng, name)
    word, good = given(name, text), setup.rng.random() < 0.4
    passes = _kept(name, text) if good else decided_otherwise
    what = f"{word[:100]!r}{', all do well' if good else ''}"
    return Case(what, (*RUN, word), passes=passes, writes=True, good=good)


def pair(setup: Setup) -> Case:
    """Two or three options with right values or any, or one twice, or one of pytest's."""
    repository(setup)
    rng = setup.rng
    words = options(rng, rng.choice((2, 2, 3)))
    if rng.random() < 0.2:
        again = words[0].rpartition("=")[0] if words[0].startswith("-o") else words[0].partition("=")[0]
        words.append(
            words[0] if "=" not in words[0] or rng.random() < 0.5 else f"{again}={rng.choice(HOSTILE)}"
        )
    if rng.random() < 0.4:
        words += rng.choice(PYTEST)
    if "--personalens-record=live" in words and any("trials" in one for one in words):
        words.remove("--personalens-record=live")
    return Case(" ".join(words)[:200], (*RUN, *words), passes=decided_otherwise, writes=True)


_WEAK: Final = re.compile(
    r"gate (?:.*valid|.*lift)[^\n]*: passed|gate [^\n]*: passed, [^\n]* >= (?:0\.00|1\.00|-\S+) "
)


def _weak_gate(text: str) -> bool:
    """True where the only gate asks for nothing, or for no score, so that a bad bot may pass it."""
    return decided_otherwise(text) or _WEAK.search(text) is not None


def ini(setup: Setup) -> Case:
    """One key of the configuration, alone or beside the option that goes before it; in TOML of any type."""
    repository(setup)
    rng, sole = setup.rng, setup.rng.random() < 0.5
    name = rng.choice((*IN_CONFIGURATION, "prices", "model-parameters", "assistant-headers"))
    key = f"personalens_{name.replace('-', '_')}"
    arguments = tuple(word for word in RUN if not (sole and word.startswith(f"--personalens-{name}=")))
    if not setup.mutates:
        setup.write("pytest.ini", "[pytest]\npersonalens_gate = valid >= 0.9\n")
        return Case("", RUN)
    text = value(rng, name)
    if rng.random() < 0.5:
        lines = text.replace("\n", "\n    ").encode("utf-8", "replace").decode().replace("\r", "")
        setup.write("pytest.ini", f"[pytest]\n{key} = {lines}\n")
        what = f"pytest.ini: {key} = {text[:80]!r}"
    else:
        any_value = text if rng.random() < 0.4 else rng.choice([odd for odd in ODD if odd is not None])
        content = toml({key: any_value}).encode("utf-8", "replace").decode()
        table = rng.choice(("tool.pytest.ini_options", "tool.pytest.ini_options", "tool.pytest"))
        setup.write("pyproject.toml", f"[{table}]\n{content}")
        what = f"pyproject.toml: [{table}] {content[:80]!r}"
    passes = _weak_gate if name == "gate" and sole else decided_otherwise
    return Case(what + (" alone" if sole else ""), arguments, passes=passes, writes=True)


_LITERALS: Final = (
    "None", "True", "False", "0", "-1", "1", "2", "4", "10**30", "2.5", "float('nan')", "float('inf')", "''", "' '", "'x'", "'single'", "'none'", "b'x'",
    "[]", "()", "{}", "set()", "['Books']", "['nope']", "('tc', 'p')", "'tc,p'", "'p>=3'", "['p>=3', 'p>=2']", "object()", "print", "len", "'\\ud800'",
    "'\\x00'", "'é' * 300", "[1, None]", "[['p']]", "{'p': 3}", "range(3)", "iter([])", "Ellipsis", "1j", "10**5000", "type('T', (str,), {})('x')",
    "type('T', (), {'__str__': lambda s: 1 / 0})()", "type('T', (), {'__repr__': lambda s: None})()",
)  # fmt: skip
_MARKED: Final = (
    "sample", "seed", "domain", "kind", "context", "max_turns", "dimensions", "threshold", "tc", "p", "nat_user", "coh_assistant", "turn_timeout", "trials",
    "suite", "nope", "p_turns", "leak", "users",
)  # fmt: skip


def mark(setup: Setup) -> Case:
    """One or two keywords of the mark, or an argument without one, with anything for their value."""
    rng = setup.rng
    test = (
        "import pytest\n\n@pytest.mark.personalens({})\ndef test_bot(personalens):\n    personalens.check()\n"
    )
    if not setup.mutates:
        setup.write("test_bot.py", test.format("p=1"))
        return Case("", RUN)
    given = [f"{name}={rng.choice(_LITERALS)}" for name in rng.sample(_MARKED, rng.choice((1, 1, 2)))]
    if rng.random() < 0.1:
        given.insert(0, rng.choice(_LITERALS))
    text = ", ".join(given)
    setup.write("test_bot.py", test.format(text))
    return Case(f"mark({text})", RUN)


#: Command -> its arguments where they are right, its options with a value, and what it prints where it did its work.
_COMMANDS: Final[dict[str, tuple[tuple[str, ...], str, str]]] = {
    "merge": (("shard-1.json", "shard-2.json"), "report baseline save-baseline gate json", "usage:|no gate decides about the scores"),
    "report": (("results.json",), "report html table figure kind beside", r"overall|^report: |^summary: |Table \d|Figure \d|^## "),
    "agreement": (("labels.jsonl",), "judge-model dimensions report markdown prompts protocol concurrency budget price records", "kappa|labelled"),
    "calibrate": (("labels.jsonl", "--write=calibration.json"), "judge-model prompts protocol concurrency budget price records write", "sensitivity"),
    "label": (("results.json", "--out=drawn.jsonl", "--count=1"), "count seed annotators out dimensions", "dialogues, "),
    "check-dataset": (("own",), "words report table", "scenarios|Tables 8 and 9"),
    "build": (("--by-hand=own",), "by-hand domains people users seed out budget price", "complete|to do"),
    "import-chats": (("chats.jsonl", "--out=drafted"), "out names attempts concurrency budget price", "drafts? in"),
    "from-chat": (("chats.jsonl", "--out=arcs"), "out kind person names attempts budget price", "written"),
    "show-prompts": (("alarm-1-adeola",), "prompts protocol official-bugs user-agent context dimensions data", "=== "),
    "show": (("ITEM", "--results=results.json"), "results", "task completion"),
    "sample-size": ((), "level power tests", r"\| scenarios \|"),
}  # fmt: skip
_OWN_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "table": ("3", "4", "8", "10", "12", "13"), "figure": ("4", "5"), "words": ("2000",), "count": ("1", "2"),
    "annotators": ("ann", "ann,bo"), "write": ("other.jsonl",), "level": ("0.05",), "power": ("0.8",), "tests": ("2",),
    "protocol": ("paper",), "official-bugs": ("mend", "pairs,score"), "user-agent": ("state",),
}  # fmt: skip


def command(setup: Setup) -> Case:
    """The arguments of one of our commands."""
    rng = setup.rng
    name = rng.choice(sorted(set(_COMMANDS) - ({"sample-size"} if rng.random() < 0.7 else set())))
    repository(setup)
    for number in (1, 2):
        setup.take(f"{setup.like}/shard-{number}.json")
    if not setup.mutates:
        return Case("", ("shard-1.json", "shard-2.json"), "merge")
    right, options, shows = _COMMANDS[name]
    if name == "show":
        items = json.loads((setup.repo / "results.json").read_text(encoding="utf-8"))["items"]
        right = (rng.choice(items)["nodeid"], *right[1:])
    given = list(right)
    option = rng.choice(options.split())
    right_ones = _OWN_VALUES.get(option, VALID.get(option, HOSTILE))
    text = value(rng, option) if rng.random() < 0.7 else rng.choice(right_ones)
    given.append(f"--{option}={text}")
    if rng.random() < 0.3 and given[0] in right:
        given[rng.randrange(len(right))] = rng.choice(HOSTILE[:-3]) or "x"
    # A report decides nothing, whatever the gates said: it may end with 0 where it reports.
    passes = re.compile(shows + ("" if name == "report" else "|usage:"), re.MULTILINE).search
    what = f"{name} {json.dumps(given)[:150]}"
    return Case(what, tuple(given), name, passes=lambda text: passes(text) is not None, writes=True)
