"""What somebody may type for the value of an option."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from pytest_personalens.core.options.option_table import OPTIONS

#: Values that are right, by option.
VALID: Final[dict[str, tuple[str, ...]]] = {
    "sample": ("1", "3"), "suite": ("personalens", "personalens", "personaconv"), "seed": ("another", "personalens"), "shard": ("1/2", "2/2"), "data": ("own", "official", "embedded"),
    "users": ("kit", "aino,kit", "file:users.txt"), "domain": ("Books", "Music"), "kind": ("single", "multi", "all"), "trials": ("1", "2"),
    "control": ("no-context", "other-user", "ablation", "D,S"), "context": ("DIS", "none", "D", "HS"), "max-turns": ("1", "5"), "turn-timeout": ("5", "0.5"),
    "dimensions": ("tc,p", "all", "p", "leak"), "threshold": ("p>=3", "tc>=0", "p=3,tc=0"), "user-model": ("embedded", "told"),
    "judge-model": ("embedded", "told", "acme:x", "tc=embedded,told"), "concurrency": ("1", "2"), "generate-only": ("true", "false"), "parallel": ("true", "false", "2"), "executor": ("dask=tcp://127.0.0.1:1",), "judge-votes": ("1", "3"),
    "assistant": ("bots:bad", "acme:x"), "assistant-prompt": ("base", "vanilla"), "history": ("request", "context"), "embedding": ("bots:vectors",), "nltk-data": ("folder",), "assistant-request": ('{"q": "{message}"}',), "assistant-reply": ("data.0.reply",), "protocol": ("default",), "user-agent": ("plain",), "official-bugs": ("reproduce",), "prompts": ("prompts",), "record": ("none", "live", "new", "all"),
    "budget": ("1calls", "50calls", "0.01usd", "$5", "50calls,5 USD"),
    "gate": ("p >= 2.5", "valid >= 0.9", "p=2, valid=90%", "none", "single: tcr >= 0.5", "lift >= 0.3", "pass^2 >= 0.5", "drop(p) <= 0.5", "drop(tcr) <= 5%"), "baseline": ("baseline.json",),
    "level": ("0.05",), "margin": ("tc=0.02", "tc=0.02,p=0.1"), "anchors": ("anchors.jsonl",), "exit-infra": ("77",),
    "report": ("out.json", "out.html", "out.md", "github"), "save-baseline": ("new.json",), "adopt-judge": ("judge.json",),
    "check-judge": ("adopted.json",), "dialogues": ("chats.jsonl", "results.json", "labels.jsonl", "__personalens__"),
}  # fmt: skip
WITH_VALUE: Final = tuple(option.name for option in OPTIONS if not option.flag)
WITHOUT: Final = tuple(option.name for option in OPTIONS if option.flag)
IN_CONFIGURATION: Final = tuple(option.name for option in OPTIONS if option.on != "command line")

#: Of any meaning. What a command line cannot hold, NUL and half a character, is not among them; a byte that
#: is no UTF-8 is.
HOSTILE: Final = (
    "", " ", "\t", "\n", "0", "-1", "1", "+1", "1.5", "1e3", "1_000", "0x10", "-0", "nan", "inf", "-inf", "1e999", "9" * 30, "9" * 5000,
    "²", "٣", "½", "true", "None", "null", "none", "all", "embedded", "a", "a,b", ",", ",,", "=", "==", ">=", ":", "::", "/", "//", "1/0", "0/1",
    "2/1", "a=b", "a:b", "a>=1", "p>=", ">=1", "p>=99", "tc=nan", "tcr >= nan", "tcr >= -0", "*", "%", "%s", "%(x)s", "{}", "${HOME}", "$(id)",
    "`id`", "'", '"', "\\", "\x01", "\x1b[31mred", "\x7f", "\u202e", "\u2028", "\ufeff", "é", "☃", "👩‍👩‍👧", "İ", "\udcff", "a\nb",
    "a\r\nERROR: b", "::error::x", "x" * 300, "x" * 70_000, "☃" * 100, ".", "..", "./", "../elsewhere/notes.txt", "~", "~/notes.txt", "~nobody-at-all/x",
    "device-null", "device-full", "/dev/null/x", "/proc/self/mem", "/proc/nowhere/x.json", "-", "--", "-x", "conftest.py", "theirs.json", "theirs.md",
    "theirs.html", "link-to-theirs", "loop", "folder", "folder/x.json", "new/folder/x.json", "conftest.py/x", "baseline.json", "results.json",
    "test_bot.py", "users.txt", "file:", "file:users.txt", "file:folder", "file:loop", "file:device-null", "official-30", "official-9", "kit", "KIT",
    "kit,kit", "nobody", "Movies", "movies", "tc", "tc,tc", "tcr", "leak", "bedrock:", "openai:", "openai:?", "openai:x?temperature=nan",
    "openai:x?base_url=http://u:p@127.0.0.1:1", "openai:x?a=b", "openai:x?max_tokens=" + "9" * 5000, "bedrock:x?region=", "acme:x", "acme:", "dask=",
    "dask=tcp://", "dask=tcp://127.0.0.1:99999999", "dask=tcp://[::1]:1", "os:getcwd", "os:nope", "os.path:join", "nope:x", "conftest:nope",
    "http:", "http://u:p@127.0.0.1:1", "bedrock-agent:x", "bedrock-agent:a/b?region=", "agentcore:arn", '{"q": 1}', '{"q": "{nobody}"}',
    "bots:bad", "bots:nothing", "json:dumps", "builtins:exit", "builtins:print", "a.b:c.d", ":x", "x:",
)  # fmt: skip


#: Options whose value is a path, and what may lie there.
_OF_PATHS: Final = frozenset({"beside", "write", *(option.name for option in OPTIONS if option.path)})
PATH_LIKE: Final = (
    ".", "..", "../elsewhere/notes.txt", "../elsewhere", "~", "~/notes.txt", "~nobody-at-all/x", "device-null", "device-full", "/dev/null/x", "/proc/nowhere/x.json", "-",
    "conftest.py", "conftest.py/x", "theirs.json", "theirs.md", "theirs.html", "theirs.csv", "link-to-theirs", "loop", "loop/x", "folder", "folder/", "folder/x.json",
    "new/folder/x.json", "baseline.json", "results.json", "test_bot.py", "users.txt", "own", "own/dataset.toml", "official", "prompts", "prompts/user.txt", "x" * 300,
    "a\nb", "é/☃.json", "shard-1.json", "labels.jsonl", "anchors.jsonl", "adopted.json", "./results.json", "folder/../results.json", "pytest.ini", ".git", "__personalens__",
)  # fmt: skip


#: What takes the place of a number.
_NUMBERS: Final = ("-1", "nan", "1e400", "٣", "9" * 40, "0.0000000001")


def given(name: str, text: str) -> str:
    """The option with a value, as one word of the command line."""
    if name in WITHOUT:
        return f"--personalens-{name}"
    of_ini = any(option.name == name and option.on == "ini" for option in OPTIONS)
    return f"-opersonalens_{name.replace('-', '_')}={text}" if of_ini else f"--personalens-{name}={text}"


def words(rng: Random, number: int) -> list[str]:
    """So many options, most with right values, the others with any."""
    found = []
    for name in (rng.choice((*WITH_VALUE, *WITHOUT)) for _ in range(number)):
        is_right = name in VALID and rng.random() < 0.8
        found.append(given(name, rng.choice(VALID[name]) if is_right else value(rng, name)))
    return found


def value(rng: Random, name: str) -> str:
    """A value for an option, of any meaning or nearly right; no path of it leaves the case's folder."""
    if name in _OF_PATHS and rng.random() < 0.5:
        return rng.choice(PATH_LIKE)
    if rng.random() < 0.6 or not VALID.get(name):
        return rng.choice(HOSTILE)
    found = nearly(rng, rng.choice(VALID[name]))
    return found if found in HOSTILE else found.lstrip("/")


def nearly(rng: Random, text: str) -> str:
    """A text with something wrong in it."""
    cut = rng.randint(0, len(text))
    inserted = rng.choice((*" \n\t,;=-.0é%'/:$", "9" * 20, "\x1b", "\u202e", "\u200b"))
    return rng.choice((
        text[:cut] + inserted + text[cut:], text[:cut], text[cut:], text + text, text.upper(), text.swapcase(), text[::-1],
        f"  {text}  ", f"{text}{rng.choice(HOSTILE)}", re.sub(r"\d+", lambda _: rng.choice(_NUMBERS), text),
    ))  # fmt: skip
