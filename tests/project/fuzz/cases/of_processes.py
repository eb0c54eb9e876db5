"""Cases of what surrounds a run: variables of its environment, and the workers of xdist."""

from __future__ import annotations

import shlex
from typing import Final

from tests.project.fuzz.base import RUN
from tests.project.fuzz.case import Case, Setup
from tests.project.fuzz.cases.of_options import PYTEST, decided_otherwise, repository
from tests.project.fuzz.inputs.texts import HOSTILE, VALID, WITH_VALUE, WITHOUT, given, value

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
    "--personalens-report=github",
    "--personalens-report=new.html",
    "--personalens-report=new.md",
)
_MODELS: Final = (
    "--personalens-judge-model=openai:x", "--personalens-judge-model=bedrock:x", "--personalens-assistant=openai:x", "--personalens-user-model=bedrock:x",
)  # fmt: skip


def environment(setup: Setup) -> Case:
    """One to three variables with any value; or options in PYTEST_ADDOPTS."""
    repository(setup)
    if not setup.mutates:
        return Case("", RUN)
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
    return Case(
        f"{variables} {' '.join(words)}"[:200],
        (*RUN, *words),
        passes=(lambda text: "gate tcr: passed" in text) if good else decided_otherwise,
        writes=True,
        good=good,
        environment=tuple(variables.items()),
        plain=("-n", "1") if "-n" in words else (),
    )


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
    rng, words, what = setup.rng, list[str](), ""
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice((*WITH_VALUE, *WITHOUT))
        words.append(
            given(name, rng.choice(VALID[name]) if name in VALID and rng.random() < 0.8 else value(rng, name))
        )
    if rng.random() < 0.3:
        words.append(f"-opersonalens_parallel={rng.choice((2, 8))}")
    spread = (rng.choice(("-n1", "-n2", "-n2", "-n3", "-n0")), *_spread(setup))
    if rng.random() < 0.3:
        words += [word for word in rng.choice(PYTEST) if word != "no:xdist"] or ["-x"]
    if words[-1:] == ["-p"]:
        words.pop()
    if rng.random() < 0.4 and spread[0] != "-n0":  # without workers it is pytest itself that ends
        what = rng.choice(_ENDS)
        with (setup.repo / "conftest.py").open("a", encoding="utf-8") as conftest:
            conftest.write(f"\n\n{what}")
    return Case(
        f"{' '.join((*spread, *words))} {what.partition('(')[0]}"[:200],
        (*RUN, *spread, *words),
        passes=decided_otherwise,
        writes=True,
        plain=spread,
        hook=what,
    )


def _spread(setup: Setup) -> list[str]:
    """Words of xdist's own."""
    dist = setup.rng.choice(("load", "loadscope", "loadfile", "loadgroup", "worksteal", "each", ""))
    return [f"--dist={dist}"] if dist else [setup.rng.choice(("--maxprocesses=1", "--max-worker-restart=0"))]
