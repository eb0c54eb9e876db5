"""Cases of what surrounds a run: its environment, workers, and files in places or with keys that are none."""

from __future__ import annotations

import shlex
from random import Random
from typing import Final

from pytest_personalens.core.options.option_table import OPTIONS
from tests.project.fuzz.base import PAID, RUN, TOLD
from tests.project.fuzz.case import Case, Setup
from tests.project.fuzz.cases.of_options import PYTEST, decided_otherwise, repository
from tests.project.fuzz.inputs.texts import HOSTILE, IN_CONFIGURATION, WITH_VALUE, given, value
from tests.project.fuzz.inputs.texts import words as options

#: Variables that this package or what it stands on reads.
_VARIABLES: Final = (
    "PERSONALENS_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "TMPDIR", "COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CI",
    "BUILD_NUMBER", "TZ", "LANG", "LC_ALL", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_REF", "GITHUB_HEAD_REF",
    "GITHUB_SERVER_URL", "GITHUB_WORKSPACE", "GITHUB_EVENT_PATH", "GITHUB_EVENT_NAME", "GITHUB_RUN_ID", "GITHUB_JOB", "GITLAB_CI", "CI_JOB_URL",
    "CI_PROJECT_DIR", "CI_COMMIT_SHA", "OPENAI_API_KEY", "OPENAI_BASE_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION",
    "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_ENDPOINT_URL", "AWS_BEARER_TOKEN_BEDROCK", "AWS_MAX_ATTEMPTS", "SSL_CERT_FILE", "http_proxy", "NO_PROXY",
    "PYTEST_XDIST_WORKER", "PYTEST_XDIST_AUTO_NUM_WORKERS", "PYTEST_CURRENT_TEST", "SOURCE_DATE_EPOCH", "API_KEY", "MY_TOKEN", "PASSWORD",
)  # fmt: skip
_REPORTS: Final = (
    "--personalens-report=github", "--personalens-report=new.html", "--personalens-report=new.md",
)  # fmt: skip
_MODELS: Final = (
    "--personalens-judge-model=openai:x", "--personalens-judge-model=bedrock:x", "--personalens-assistant=openai:x", "--personalens-user-model=bedrock:x",
)  # fmt: skip


def environment(setup: Setup) -> Case:
    """One to three variables with any value; or options in PYTEST_ADDOPTS."""
    repository(setup)
    rng, words = setup.rng, list[str]()
    variables = {name: _value(setup) for name in rng.sample(_VARIABLES, rng.choice((1, 2, 3)))}
    if rng.random() < 0.2:
        name = rng.choice(WITH_VALUE)
        option = given(name, value(rng, name)).replace("\0", "")
        variables["PYTEST_ADDOPTS"] = shlex.quote(option)
    if any(name.startswith(("GITHUB", "GITLAB", "CI")) for name in variables) or rng.random() < 0.3:
        words.append(rng.choice(_REPORTS))
        summary = variables.setdefault("GITHUB_STEP_SUMMARY", rng.choice(("summary.md", "")))
        if "\0" not in summary and (setup.repo / summary).is_file():  # the runner's own file, to be added to
            variables["GITHUB_STEP_SUMMARY"] = "summary.md"
    if any(name.startswith(("OPENAI", "AWS", "SSL", "http", "NO_P")) for name in variables):
        words += [rng.choice(_MODELS), "--personalens-record=live"]
        variables.setdefault("OPENAI_API_KEY", "k")
    elif rng.random() < 0.2:
        words += ["-n", "1"]
    good = rng.random() < 0.4 and "PYTEST_ADDOPTS" not in variables
    passes = (lambda text: "gate tcr: passed" in text) if good else decided_otherwise
    plain = ("-n", "1") if "-n" in words else ()
    what, around = f"{variables} {' '.join(words)}"[:200], tuple(variables.items())
    return Case(what, (*RUN, *words), passes=passes, writes=True, good=good, environment=around, plain=plain)


def _value(setup: Setup) -> str:
    text = setup.rng.choice((*HOSTILE, "true", "1", "summary.md", "owner/name", "https://127.0.0.1:1/x"))
    return text.replace("\0", "")[:60_000]


#: What a worker may come to.
_ENDS: Final = (
    "def pytest_runtest_call(item):\n    import os\n    os._exit(1)\n",
    "def pytest_runtest_teardown(item, nextitem):\n    import os\n    os._exit(0)\n",
    "def pytest_sessionfinish(session):\n    import os\n    hasattr(session.config, 'workerinput') and os._exit(0)\n",
    "def pytest_configure(config):\n    import os\n    hasattr(config, 'workerinput') and os._exit(2)\n",
    "def pytest_sessionstart(session):\n    if hasattr(session.config, 'workerinput'):\n        raise ValueError\n",
    "def pytest_collection_modifyitems(items):\n    import os\n    items.sort(key=lambda _: os.urandom(4))\n",
    "def pytest_collection_modifyitems(config, items):\n    if hasattr(config, 'workerinput'):\n        del items[:]\n",
    "def pytest_runtest_makereport(item, call):\n    item.user_properties.append(('x', object()))\n",
)


def workers(setup: Setup) -> Case:
    """A run with workers: options with right values or any, options of xdist, a worker that dies."""
    repository(setup)
    if not setup.mutates:
        return Case("", (*RUN, "-n", "2"))
    rng, what = setup.rng, ""
    words = options(rng, rng.choice((0, 1, 1, 2)))
    if rng.random() < 0.3:
        words.append(f"-opersonalens_parallel={rng.choice((2, 8))}")
    dist = rng.choice(("load", "loadscope", "loadfile", "loadgroup", "worksteal", "each", ""))
    other = f"--dist={dist}" if dist else rng.choice(("--maxprocesses=1", "--max-worker-restart=0"))
    spread = (rng.choice(("-n1", "-n2", "-n2", "-n3", "-n0")), other)
    if rng.random() < 0.3:
        words += [word for word in rng.choice(PYTEST) if word != "no:xdist"] or ["-x"]
    if words[-1:] == ["-p"]:
        words.pop()
    if rng.random() < 0.4 and spread[0] != "-n0":  # without workers it is pytest itself that ends
        what = rng.choice(_ENDS)
        with (setup.repo / "conftest.py").open("a", encoding="utf-8") as conftest:
            conftest.write(f"\n\n{what}")
    told, given = f"{' '.join((*spread, *words))} {what.partition('(')[0]}", (*RUN, *spread, *words)
    return Case(told[:200], given, passes=decided_otherwise, writes=True, plain=spread, hook=what)


_KEYS: Final = tuple(option.ini for option in OPTIONS if option.name in IN_CONFIGURATION)
_GATE: Final = "--personalens-gate=tcr >= 0.5"
#: Files that pytest reads, with a key; none for a key on the command line.
_FILES: Final = (
    ("pytest.ini", "[pytest]\n{key} = 2\n"), ("tox.ini", "[pytest]\n{key} = 2\n"), ("setup.cfg", "[tool:pytest]\n{key} = 2\n"),
    ("pyproject.toml", '[tool.pytest.ini_options]\n"{key}" = "2"\n'), ("", ""),
)  # fmt: skip


def misspelt(setup: Setup) -> Case:
    """A key of ours with a slip of the finger, in any file that pytest reads, or on the command line."""
    rng = setup.rng
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
    run = (*PAID, _GATE, f"--personalens-record={records}") if records else (*TOLD, _GATE)
    reports = ("report=results.json", "save-baseline=baseline.json", "report=page.html")
    more = [f"--personalens-{report}" for report in rng.sample(reports, rng.choice((0, 1, 2)))]
    what, given = (
        f"{', '.join(done)} {records} {' '.join(more)}",
        (*run, *more, "-o", "cache_dir=.pytest_cache"),
    )
    return Case(what, given, environment=(("PERSONALENS_CACHE_DIR", "cache"),), writes=True)


def linked_record(setup: Setup) -> Case:
    """A record that is a link out of the repository, in a run that writes records."""
    rng = setup.rng
    setup.take("good/records" if rng.random() < 0.5 else "bad/records", "__personalens__")
    files = sorted((setup.repo / "__personalens__").rglob("*.json"))
    record = rng.choice(files)
    record.unlink()
    record.symlink_to("../" * len(record.relative_to(setup.repo).parts) + "elsewhere/notes.txt")
    mode = rng.choice(("none", "new", "all"))
    return Case(f"{record.name} {mode}", (*RUN, f"--personalens-record={mode}"), writes=True)
