"""Every option, ini key and mark keyword, as one frozen `Settings` value that is checked at configure time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import pytest

from pytest_personalens.errors import SpecError
from pytest_personalens.readers import choice, dimension, executor, letters, number, odd, shard, some, threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEFAULT_SEED: Final = "personalens"


class Option(NamedTuple):
    """One option and the ini key of the same name; `read` turns a text into the value, raising ValueError."""

    name: str
    metavar: str
    default: Any
    read: Callable[[str], Any]
    help: str
    many: bool = False
    mark: bool = False
    type: Literal["string", "int", "float", "linelist"] = "string"

    @property
    def flag(self) -> str:
        """Such as ``--personalens-max-turns``."""
        return f"--personalens-{self.name}"

    @property
    def ini(self) -> str:
        """Such as ``personalens_max_turns``."""
        return f"personalens_{self.key}"

    @property
    def key(self) -> str:
        """Such as ``max_turns``: the field of `Settings` and the keyword of the mark."""
        return self.name.replace("-", "_")


_POSITIVE: Final = number(1, kind=int)
_SHARE: Final = number(0, 1)

OPTIONS: Final = (
    Option("sample", "N", None, _POSITIVE, "Draw N scenarios and make one test item of each; without it the plugin does nothing", mark=True, type="int"),
    Option("seed", "TEXT", DEFAULT_SEED, some("a text"), "Seed of the draw; another text gives another sample", mark=True),
    Option("shard", "K/N", None, shard, "Run part K of N of the sample, such as 3/10; python -m pytest_personalens.merge puts the results of the parts together and decides the gates"),
    Option("data", "embedded|PATH", "embedded", some("'embedded' or a path"), "The embedded benchmark, a dataset added by a plugin, or the path of an official PersonaLens checkout, of its data folder, or of a folder in the embedded layout"),
    Option("users", "LIST", (), some("user ids"), "Only these users: ids separated by commas, official-30, or file:PATH with an id a line", many=True, type="linelist"),
    Option("domain", "NAME", (), some("a domain"), "Only scenarios that span this domain; may be repeated. Applied before sampling", many=True, mark=True, type="linelist"),
    Option("kind", "single|multi|all", "all", choice("single", "multi", "all"), "Only single-domain or only multi-domain tasks", mark=True),
    Option("context", "LETTERS", "DIS", letters, "What the assistant may know: any of D (demographics), I (past interactions), S (situation), or none", mark=True),
    Option("max-turns", "N", 0, _POSITIVE, "Rounds of a dialogue after the opening (default: 20 for single-domain, 30 for multi-domain tasks)", mark=True, type="int"),
    Option("turn-timeout", "SECONDS", 60.0, number(0.001), "Time limit of one reply of the assistant (default: 60)", mark=True, type="float"),
    Option("dimensions", "LIST", ("task_completion", "personalization"), dimension, "What the judge reads: tc, p, nat-user, nat-assistant, coh-user, coh-assistant, p-turns, leak, or all for the first six (default: tc,p)", many=True, mark=True, type="linelist"),
    Option("threshold", "DIM>=SCORE", (), threshold, "Score an item must reach, such as p>=3 or tc>=0; may be repeated (default: tc>=1 and p>=2)", many=True, mark=True, type="linelist"),
    Option("user-model", "SPEC", "embedded", some("a model spec"), "Who plays the user: embedded, bedrock:MODEL, openai:MODEL, or PROVIDER:MODEL of a provider added by a plugin"),
    Option("judge-model", "SPEC", "embedded", some("a model spec"), "Who judges: embedded, bedrock:MODEL, openai:MODEL, or PROVIDER:MODEL of a provider added by a plugin"),
    Option("concurrency", "N", 1, _POSITIVE, "Dialogues that run side by side in one process (default: 1); more needs an assistant of session or module scope", type="int"),
    Option("executor", "dask=ADDRESS", None, executor, "Run the dialogues on a Dask cluster, by the address of its scheduler; needs --personalens-assistant"),
    Option("judge-votes", "N", 1, odd, "Votes on a verdict below its threshold, the first included; the median decides (default: 1)", type="int"),
    Option("assistant", "SPEC|MODULE:ATTR", None, some("a model spec or module:attribute"), "The assistant under test without a fixture: a model, or a callable by its place"),
    Option("assistant-prompt", "base|vanilla", "base", choice("base", "vanilla"), "What a model as the assistant is told: that it acts for the user, and the context; or nothing (default: base)"),
    Option("prompts", "DIR", None, some("a folder"), "Templates of your own for agents played by a model; those that are not in it are ours"),
    Option("max-calls", "N", None, _POSITIVE, "Stop the run in order after N model calls", type="int"),
    Option("max-usd", "X", None, number(0.000001), "Stop the run in order when model calls have cost X dollars (needs personalens_prices)", type="float"),
    Option("min-tcr", "X", None, _SHARE, "Gate of the run: fail below this task completion rate, 0 to 1", type="float"),
    Option("min-p", "X", None, number(1, 4), "Gate of the run: fail below this mean personalization, 1 to 4", type="float"),
    Option("min-valid", "X", 0.9, _SHARE, "Floor of every gate: fail when fewer than this share of items could be scored (default: 0.9)", type="float"),
    Option("fail-on", "item|gate", None, choice("item", "gate"), "Whether low items fail, or the gates alone decide (default: gate if there is one, else item)"),
    Option("anchors", "FILE", None, some("a path"), "Labelled dialogues that --personalens-adopt-judge and --personalens-check-judge have the judge read (default: 24 of ours)"),
    Option("json", "PATH", None, some("a path"), "Write all results as JSON"),
)  # fmt: skip
JUDGE_ACTIONS: Final = {
    "adopt-judge": "Keep how the judge of this run reads the anchor dialogues, and this run's scores, as the baseline PATH",
    "check-judge": "Say whether the judge or your assistant changed since the baseline PATH; fail if the judge did",
}
_BY_KEY: Final = {o.key: o for o in OPTIONS}


class Settings(NamedTuple):
    """What a run or one test is to do; `sample` None means that the plugin is inert."""

    sample: int | None
    seed: str
    shard: tuple[int, int] | None
    data: str
    users: tuple[str, ...]
    domain: tuple[str, ...]
    kind: Literal["single", "multi", "all"]
    context: str
    max_turns: int
    turn_timeout: float
    dimensions: tuple[str, ...]
    threshold: tuple[tuple[str, int], ...]
    user_model: str
    judge_model: str
    concurrency: int
    executor: str | None
    judge_votes: int
    assistant: str | None
    assistant_prompt: Literal["base", "vanilla"]
    prompts: str | None
    max_calls: int | None
    max_usd: float | None
    min_tcr: float | None
    min_p: float | None
    min_valid: float
    fail_on: Literal["item", "gate"] | None
    anchors: str | None
    json: str | None
    adopt_judge: str | None = None
    check_judge: str | None = None
    live: bool = False
    resume: bool = False
    estimate: bool = False

    @property
    def side_by_side(self) -> bool:
        """True if items are evaluated before their turn: in threads, or on a cluster."""
        return self.concurrency > 1 or self.executor is not None

    @property
    def shares_assistant(self) -> bool:
        """True if one assistant, handed over by the fixture, must serve several dialogues at once."""
        return self.concurrency > 1 and self.assistant is None

    @property
    def fails_on(self) -> Literal["item", "gate"]:
        """Who decides: what was asked for, else the gates if there is one."""
        return self.fail_on or ("item" if self.min_tcr is None and self.min_p is None else "gate")

    @property
    def thresholds(self) -> dict[str, int]:
        """Dimension -> least score of an item; TC and P have defaults when they are judged."""
        defaults = {"task_completion": 1, "personalization": 2}
        return {d: s for d, s in {**defaults, **dict(self.threshold)}.items() if d in self.dimensions}


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its typed ini key."""
    group = parser.getgroup("personalens", "personalized chat assistants")
    for o in OPTIONS:
        group.addoption(o.flag, metavar=o.metavar, default=None, action="append" if o.many else "store", dest=o.ini, help=o.help)
        parser.addini(o.ini, o.help, type=o.type, default=None)
    group.addoption("--personalens-live", action="store_true", default=None, dest="personalens_live", help="Let this run call paid models")
    parser.addini("personalens_live", "Let runs call paid models", type="bool", default=None)
    group.addoption(
        "--personalens-resume", action="store_true", default=False, dest="personalens_resume",
        help="Go on where a run of the same sample was broken off, or keep this one so that another can",
    )  # fmt: skip
    group.addoption(
        "--personalens-estimate", action="store_true", default=False, dest="personalens_estimate",
        help="Print how many calls, tokens and dollars this sample would take, and exit",
    )  # fmt: skip
    # On the command line only: a plain run of some unit tests must neither ask a judge nor write a baseline.
    for name, text in JUDGE_ACTIONS.items():
        group.addoption(f"--personalens-{name}", metavar="PATH", default=None, dest=f"personalens_{name.replace('-', '_')}", help=text)
    parser.addini("personalens_prices", "MODEL = INPUT, OUTPUT[, CACHED[, WRITTEN]] in dollars for a million tokens", type="linelist")
    parser.addini(
        "personalens_model_parameters", "NAME = VALUE for model specs that do not name it, such as region = eu-west-1", type="linelist"
    )


def read_settings(config: pytest.Config) -> Settings:
    """The settings of the run: option before ini before default. Raises `pytest.UsageError` naming the option."""
    values: dict[str, Any] = {}
    for o in OPTIONS:
        given, source = config.getoption(o.ini), o.flag
        if given is None:
            given, source = _ini(config, o.ini, o.type), o.ini
            if given in ("", []):
                given = None  # an empty entry is none
        if given is None:
            values[o.key] = o.default
            continue
        values[o.key] = _read(o, given, source)
    live = config.getoption("personalens_live")
    values["live"] = bool(_ini(config, "personalens_live", "bool") if live is None else live)
    values["resume"] = bool(config.getoption("personalens_resume"))
    values["estimate"] = bool(config.getoption("personalens_estimate"))
    values |= _judge_action(config, values["sample"], values["shard"])
    values["users"] = _users(values["users"], config.rootpath)
    _check_thresholds(values["threshold"], values["dimensions"], "--personalens-threshold")
    return Settings(**values)


def _judge_action(config: pytest.Config, sample: int | None, shard: tuple[int, int] | None) -> dict[str, str | None]:
    found = {name: config.getoption(f"personalens_{name.replace('-', '_')}") for name in JUDGE_ACTIONS}
    given = [f"--personalens-{name}" for name, path in found.items() if path is not None]
    if len(given) > 1:
        raise pytest.UsageError(f"{' and '.join(given)}: give one of them; a judge is checked against what was adopted before")
    for flag in given:
        if not found[flag.removeprefix("--personalens-")].strip():
            raise pytest.UsageError(f"{flag}: expected a path, not ''")
        if sample is None:
            raise pytest.UsageError(f"{flag}: give --personalens-sample N too; without it there is no run and no judge")
        if shard is not None:
            raise pytest.UsageError(f"{flag}: the judge is held against whole runs; give it to a run without --personalens-shard")
    return {name.replace("-", "_"): path for name, path in found.items()}


def _ini(config: pytest.Config, name: str, kind: str) -> Any:
    try:
        return config.getini(name)
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{name}: expected a value of type {kind} in the configuration file ({error})") from None


def _read(option: Option, given: object, source: str) -> Any:
    texts = [str(v) for v in given] if isinstance(given, (list, tuple)) else [str(given)]
    try:
        if not option.many:
            return option.read(texts[0])
        if option.key in ("users", "dimensions"):
            texts = [part for text in texts for part in text.split(",") if part.strip()]
        found = [option.read(text) for text in texts]
        if option.key == "dimensions":
            from pytest_personalens.verdict import dimensions

            return tuple(d.value for d in dimensions(part for text in found for part in text.split(",")))
        return tuple(found)
    except (ValueError, SpecError) as error:
        raise pytest.UsageError(f"{source}: {error}, not {', '.join(texts)!r}") from None


def _users(names: Sequence[str], base: Path) -> tuple[str, ...]:
    users: list[str] = []
    for name in names:
        if name.startswith("file:"):
            file = base / name.removeprefix("file:")
            try:
                users += [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
            except (OSError, UnicodeDecodeError) as error:
                raise pytest.UsageError(f"--personalens-users: cannot read {file}: {error}") from None
        elif name.startswith("official-"):
            from pytest_personalens.datasets import OFFICIAL_SAMPLES

            if name not in OFFICIAL_SAMPLES:
                raise pytest.UsageError(
                    f"--personalens-users: the ids of {name} are not known to this plugin (known: {', '.join(OFFICIAL_SAMPLES)}); "
                    "copy them from the official code into a file, an id a line, and give file:PATH"
                )
            users += OFFICIAL_SAMPLES[name]
        else:
            users.append(name)
    return tuple(dict.fromkeys(users))


def _check_thresholds(thresholds: Sequence[tuple[str, int]], dims: Sequence[str], source: str) -> None:
    for dim, _ in thresholds:
        if dim not in dims:
            raise pytest.UsageError(
                f"{source}: {dim} is not among the dimensions judged ({', '.join(dims)}); add it with --personalens-dimensions"
            )


def settings_of(run: Settings, config: pytest.Config, marks: Sequence[pytest.Mark], where: str) -> Settings:
    """The settings of one test: option before mark before ini. The closest mark wins; raises `SpecError`.

    Our own marks on items carry `domain`, `kind` and `user`, so these keywords of a user's mark restrict the draw.
    """
    changed: dict[str, Any] = {}
    for mark in reversed(marks):
        if mark.args:
            raise SpecError(f"{where}: the mark personalens takes keywords only, not {mark.args[0]!r}")
        for key, value in mark.kwargs.items():
            option = _BY_KEY.get(key)
            if option is None or not option.mark:
                if key in _short_thresholds():
                    changed.setdefault("threshold", {}).update([_mark_threshold(key, value, where)])
                    continue
                allowed = [o.key for o in OPTIONS if o.mark] + list(_short_thresholds())
                raise SpecError(f"{where}: unknown keyword {key!r} of the mark personalens; known: {', '.join(allowed)}")
            try:
                read = _read(option, value, f"{where}: personalens({key}=...)")
            except pytest.UsageError as error:
                raise SpecError(str(error)) from None
            if key == "threshold":
                changed.setdefault("threshold", {}).update(read)
            else:
                changed[key] = read
    if "threshold" in changed:
        changed["threshold"] = tuple({**dict(run.threshold), **changed["threshold"]}.items())
    settings = run._replace(**{k: v for k, v in changed.items() if config.getoption(_BY_KEY[k].ini) is None})
    try:
        _check_thresholds(settings.threshold, settings.dimensions, where)
    except pytest.UsageError as error:
        raise SpecError(str(error)) from None
    return settings


def _short_thresholds() -> dict[str, str]:
    from pytest_personalens.verdict import Dimension

    return {d.short.replace("-", "_"): d.value for d in Dimension}


def _mark_threshold(key: str, value: object, where: str) -> tuple[str, int]:
    try:
        return threshold(f"{_short_thresholds()[key]}>={int(value) if isinstance(value, (int, bool)) else value}")
    except (ValueError, SpecError) as error:
        raise SpecError(f"{where}: personalens({key}={value!r}): {error}") from None
