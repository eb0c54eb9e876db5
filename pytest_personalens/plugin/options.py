"""Every option, ini key and mark keyword, read into one `Settings` value that is checked at configure time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import pytest

from pytest_personalens.core.errors import SpecError, short_repr
from pytest_personalens.core.parse import BILLION, choice, letters, number, odd, sample, shard, size_text, some
from pytest_personalens.core.settings import GATES, Settings
from pytest_personalens.plugin.option_types import dimension, executor, floor, margin, threshold

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
    plural: str = ""

    @property
    def flag(self) -> str:
        """Such as ``--personalens-max-turns``."""
        return f"--personalens-{self.name}"

    @property
    def ini(self) -> str:
        """Such as ``personalens_max_turns``, or in the plural, such as ``personalens_gates``."""
        return f"personalens_{self.plural or self.key}"

    @property
    def key(self) -> str:
        """Such as ``max_turns``: the field of `Settings` and the keyword of the mark."""
        return self.name.replace("-", "_")


_POSITIVE: Final = number(1, BILLION, kind=int)
_SHARE: Final = number(0, 1)

OPTIONS: Final = (
    Option("sample", "N|all", None, sample, "Draw N scenarios, or all there are, and make one test item of each; without it the plugin does nothing", mark=True, type="int"),
    Option("seed", "TEXT", DEFAULT_SEED, some("a text"), "Seed of the draw; another text gives another sample", mark=True),
    Option("shard", "K/N", None, shard, "Run part K of N of the sample, such as 3/10; python -m pytest_personalens merge puts the results of the parts together and decides the gates"),
    Option("data", "embedded|PATH", "embedded", some("'embedded' or a path"), "The embedded benchmark, a dataset added by a plugin, or the path of an official PersonaLens checkout, of its data folder, or of a folder in the embedded layout"),
    Option("users", "LIST", (), some("user ids"), "Only these users: ids separated by commas (of the official data user7 or 7), official-20, -30, -50 or -100, or file:PATH with an id a line", many=True, type="linelist"),
    Option("domain", "NAME", (), some("a domain"), "Only scenarios that span this domain; may be repeated. Applied before sampling", many=True, mark=True, type="linelist"),
    Option("kind", "single|multi|all", "all", choice("single", "multi", "all"), "Only single-domain or only multi-domain tasks", mark=True),
    Option("trials", "K", 1, number(1, 100, kind=int), "Run each scenario K times, each with a record of its own (default: 1)", type="int"),
    Option("control", "none|swapped", (), choice("none", "swapped"), "Run the same scenarios a second time with the context withheld, or another user's, and report the lift; may be repeated", many=True, type="linelist"),
    Option("context", "LETTERS", "DIS", letters, "What the assistant may know: any of D (demographics), I (past interactions), S (situation), or none", mark=True),
    Option("max-turns", "N", 0, number(1, 1000, kind=int), "Rounds of a dialogue after the opening (default: 20 for single-domain, 30 for multi-domain tasks)", mark=True, type="int"),
    Option("turn-timeout", "SECONDS", 60.0, number(0.001, 86_400), "Time limit of one reply of the assistant (default: 60)", mark=True, type="float"),
    Option("dimensions", "LIST", ("task_completion", "personalization"), dimension, "What the judge reads: tc, p, nat-user, nat-assistant, coh-user, coh-assistant, p-turns, leak, or all for the first six (default: tc,p)", many=True, mark=True, type="linelist"),
    Option("threshold", "DIM>=SCORE", (), threshold, "Score an item must reach, such as p>=3 or tc>=0; may be repeated (default: tc>=1 and p>=2)", many=True, mark=True, type="linelist"),
    Option("user-model", "SPEC", "embedded", some("a model spec"), "Who plays the user: embedded, bedrock:MODEL, openai:MODEL, or PROVIDER:MODEL of a provider added by a plugin"),
    Option("judge-model", "SPEC", "embedded", some("a model spec"), "Who judges: embedded, bedrock:MODEL, openai:MODEL, or PROVIDER:MODEL of a provider added by a plugin"),
    Option("concurrency", "N", 1, number(1, 10_000, kind=int), "Dialogues that run side by side in one process (default: 1); more needs an assistant of session or module scope", type="int"),
    Option("executor", "dask=ADDRESS", None, executor, "Run the dialogues on a Dask cluster, by the address of its scheduler; needs --personalens-assistant"),
    Option("judge-votes", "N", 1, odd(99), "Votes on a verdict below its threshold, the first included; the median decides (default: 1)", type="int"),
    Option("assistant", "SPEC|MODULE:ATTR", None, some("a model spec or module:attribute"), "The assistant under test without a fixture: a model, or a callable by its place"),
    Option("assistant-prompt", "base|vanilla", "base", choice("base", "vanilla"), "What a model as the assistant is told: that it acts for the user, and the context; or nothing (default: base)"),
    Option("prompts", "DIR", None, some("a folder"), "Templates of your own for agents played by a model; those that are not in it are ours"),
    Option("record", "none|new|all", "none", choice("none", "new", "all"), "Records of dialogues and verdicts: none replays them and writes nothing; new plays and judges anew what has no fitting record, and writes that; all records everything anew. Both of these let the run call paid models (default: none)"),
    Option("max-calls", "N", None, _POSITIVE, "Stop the run in order after N model calls", type="int"),
    Option("max-usd", "X", None, number(0.000001, BILLION), "Stop the run in order when model calls have cost X dollars (needs personalens_prices)", type="float"),
    Option("min-tcr", "X", None, _SHARE, "Gate of the run: fail below this task completion rate, 0 to 1", type="float"),
    Option("min-p", "X", None, number(1, 4), "Gate of the run: fail below this mean personalization, 1 to 4", type="float"),
    Option("min-valid", "X", 0.9, _SHARE, "Floor of every gate: fail when fewer than this share of items could be scored (default: 0.9)", type="float"),
    Option("gate", "EXPRESSION", (), floor, "Gate of the run, such as 'tcr >= 0.9', 'Movies: p >= 3', 'multi: tcr >= 0.7', 'valid >= 0.95', 'lift >= 0.3' or 'pass^3 >= 0.6'; may be repeated", many=True, type="linelist", plural="gates"),
    Option("baseline", "PATH", None, some("a path"), "Gate of the run: fail on a significant drop from the run whose results are in PATH (of --personalens-save-baseline or --personalens-json)"),
    Option("level", "X", 0.05, number(0.0001, 0.5), "Chance that the comparison with the baseline fails a run without a change (default: 0.05)", type="float"),
    Option("margin", "DIM=X", (), margin, "Drop from the baseline that is let pass though significant, such as tc=0.02 or p=0.1; also adds a dimension to those compared (tc, p); may be repeated", many=True, type="linelist"),
    Option("fail-on", "item|gate|nothing", None, choice("item", "gate", "nothing"), "What fails the run: low items, the gates alone, or nothing, to measure and report only (default: gate if there is one, else item)"),
    Option("anchors", "FILE", None, some("a path"), "Labelled dialogues that --personalens-adopt-judge and --personalens-check-judge have the judge read (default: 24 of ours)"),
    Option("exit-infra", "CODE", None, number(6, 255, kind=int), "Exit code, 6 to 255, of a run that failed only because too little could be scored (default: 1)", type="int"),
    Option("json", "PATH", None, some("a path"), "Write all results as JSON"),
    Option("html", "PATH", None, some("a path"), "Write a report of all results as one HTML page (needs the extra html)"),
    Option("markdown", "PATH", None, some("a path"), "Write a summary as Markdown"),
)  # fmt: skip
#: On the command line only: a plain run of some unit tests must neither ask a judge nor write a baseline.
PATHS: Final = {
    "save-baseline": "Keep this run's scores by scenario as PATH, for --personalens-baseline; nothing is written if the run is stopped",
    "adopt-judge": "Keep how the judge of this run reads the anchor dialogues, and this run's scores, as the baseline PATH",
    "check-judge": "Say whether the judge or your assistant changed since the baseline PATH; fail if the judge did",
}
FLAGS: Final = {
    "resume": "Go on where a run of the same sample was broken off, or keep this one so that another can",
    "estimate": "Print how many calls, tokens and dollars this sample would take, and exit",
    "ablation": "Run every scenario with no context, D, I and S too, and print what each is worth",
    "github": "In GitHub Actions: write the summary of the step, and annotate what failed",
}
#: Options that ask something of a run: without one they would be passed over, and what they were to guard with them.
_OF_A_RUN: Final = (
    "gate", "min-tcr", "min-p", "min-valid", "baseline", "margin", "level", "exit-infra", "json", "html", "markdown", "github",
)  # fmt: skip
_FILES: Final = ("json", "html", "markdown", "baseline", "data", "anchors")
#: What is read from the configuration file only in a run with a sample: their readers load more than a plain run should pay for.
#: Readings that the embedded judge does not give: it agrees with annotators on them no better than chance.
EMBEDDED_JUDGE_LACKS: Final = ("naturalness_user", "coherence_user")
_WITH_SAMPLE: Final = frozenset({"dimensions", "threshold", "gate", "margin"})
_BY_KEY: Final = {o.key: o for o in OPTIONS}


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its typed ini key."""
    group = parser.getgroup("personalens", "personalized chat assistants")
    for o in OPTIONS:
        group.addoption(o.flag, metavar=o.metavar, default=None, action="append" if o.many else "store", dest=o.ini, help=o.help)
        parser.addini(o.ini, o.help, type=o.type, default=None)
        if o.plural:  # a key that pytest does not know it only warns of, and a gate that nobody asked for is missed by nobody
            parser.addini(f"personalens_{o.key}", f"The same as {o.ini}", type=o.type, default=None)
    group.addoption("--personalens-live", action="store_true", default=None, dest="personalens_live", help="Let this run call paid models")
    parser.addini("personalens_live", "Let runs call paid models", type="bool", default=None)
    for name, text in FLAGS.items():
        group.addoption(f"--personalens-{name}", action="store_true", default=False, dest=f"personalens_{name}", help=text)
    for name, text in PATHS.items():
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
        if given is None and not (values.get("sample", 0) is None and o.key in _WITH_SAMPLE):
            given, source = _configured(config, o)
        if given is None:
            values[o.key] = o.default
            continue
        values[o.key] = _read(o, given, source)
    if values["sample"] is not None:
        _put_together(config, values)
    _check_asked(config, values["sample"])
    live = config.getoption("personalens_live")
    values["live"] = bool(_ini(config, "personalens_live", "bool") if live is None else live)
    values |= {name: bool(config.getoption(f"personalens_{name}")) for name in FLAGS}
    values |= _paths(config, values["sample"], values["shard"])
    values["users"] = _users(values["users"], config.rootpath)
    values["dimensions"], values["not_read"] = _readable(values["judge_model"], values["dimensions"])
    _check_thresholds(values["threshold"], values["dimensions"], "--personalens-threshold")
    settings = Settings(**values)
    if settings.sample is not None:
        _check_fail_on(config, settings)
    if settings.sample is not None and settings.gated:
        from pytest_personalens.results.gate_expressions import floors_of

        try:
            floors_of(settings)
        except SpecError as error:
            raise pytest.UsageError(str(error)) from None
    if settings.ablation and settings.context != "DIS":
        raise pytest.UsageError("--personalens-ablation: the run itself is its last row, D+I+S; leave out --personalens-context")
    for control, needed in (("none", "DIS"), ("swapped", "DI")):
        if control in settings.control and not set(settings.context) & set(needed):
            told = f"the run itself knows {'nothing' if not settings.context else 'no more'} of the user (--personalens-context)"
            raise pytest.UsageError(f"--personalens-control {control}: {told}; there is nothing to compare")
    return settings


def _check_fail_on(config: pytest.Config, settings: Settings) -> None:
    """Refuse a run that is to fail on gates and has none, and one that asks for gates and is to fail on nothing."""
    option = _BY_KEY["fail_on"]
    source = f"{option.flag} {settings.fail_on}"
    if config.getoption(option.ini) is None:
        source = f"{option.ini} = {settings.fail_on}"
    if settings.fail_on == "gate" and not (settings.asks_for_gates or settings.adopt_judge or settings.check_judge):
        raise pytest.UsageError(
            f"{source}: there is no gate that could fail; give one, such as --personalens-gate 'tcr >= 0.8' or --personalens-baseline PATH, "
            "or give --personalens-fail-on nothing to measure and report only"
        )
    if settings.fail_on == "nothing":
        # Gates of the configuration are those of other runs too: they are decided, and do not count.
        names = (*GATES, "min_valid", "adopt_judge", "check_judge")
        flags = [flag for name in names if (flag := f"--personalens-{name.replace('_', '-')}") in flags_of(config)]
        if flags:
            raise pytest.UsageError(f"{source}: such a run fails on nothing, and {flags[0]} asks for a gate; leave one of them out")


def _readable(judge: str, wanted: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The dimensions that the judge gives, and those that it does not. Raises `pytest.UsageError` where it gives none."""
    if judge != "embedded" or not set(wanted) & set(EMBEDDED_JUDGE_LACKS):
        return wanted, ()
    given = tuple(d for d in wanted if d not in EMBEDDED_JUDGE_LACKS)
    if not given:
        raise pytest.UsageError(
            f"--personalens-dimensions: the embedded judge gives no reading of {', '.join(wanted)}; name a model with --personalens-judge-model"
        )
    return given, tuple(d for d in wanted if d in EMBEDDED_JUDGE_LACKS)


def _put_together(config: pytest.Config, values: dict[str, Any]) -> None:
    """Gates of the command line join those of the configuration, and go before one of the same metric over the same scenarios."""
    short = {"min_tcr": ("", "tcr"), "min_p": ("", "p")}
    option = _BY_KEY["gate"]
    joining: tuple[tuple[str, str, float], ...] = ()
    configured: tuple[tuple[str, str, float], ...] = values["gate"]
    if config.getoption(option.ini) is not None:
        joining, (given, source) = configured, _configured(config, option)
        configured = _read(option, given, source) if given is not None else ()
    flagged = {key for key in short if config.getoption(f"personalens_{key}") is not None}
    here = {short[key] for key in flagged} | {(group.lower(), metric) for group, metric, _ in joining}
    values |= {key: None for key, what in short.items() if what in here and key not in flagged}
    values["gate"] = (*joining, *(gate for gate in configured if (gate[0].lower(), gate[1]) not in here))


def flags_of(config: pytest.Config) -> list[str]:
    """The words of the command line, without the value of ``--flag=value``."""
    return [str(arg).partition("=")[0] for arg in config.invocation_params.args]


def hint_of_node_ids(config: pytest.Config, sample: int | None) -> list[str]:
    """What to do about node ids that were not found, if they may be those of our items."""
    for arg in config.args:
        file, _, rest = arg.partition("::")
        path = config.invocation_params.dir / file
        if rest.endswith("]") and path.is_file() and b"personalens" in path.read_bytes():
            missing = "give --personalens-sample N, as the run did" if sample is None else "the sample of this run may lack its scenario"
            return [f"personalens: if {arg} is an item of a scenario: {missing} (the same N, --personalens-seed and restrictions)"]
    return []


def gates_without_sample(config: pytest.Config, settings: Settings) -> bool:
    """True if the configuration asks for gates, and nobody for the run that they would decide on."""
    return settings.sample is None and (settings.asks_for_gates or _configured(config, _BY_KEY["gate"])[0] is not None)


def refuse_an_empty_run(config: pytest.Config, settings: Settings, *, planned: bool, left: bool) -> None:
    """Raise `pytest.UsageError` for a run that evaluates nothing, where its command line, and not the configuration alone, asks for a
    sample or a gate. `planned`: there are tests of ours among what was collected; `left`:
    some of them, which ask for no dialogue, are run.
    """
    given = flags_of(config)
    judged = settings.adopt_judge or settings.check_judge  # no item is needed for that
    files = [name for name in ("json", "html", "markdown", "github") if f"--personalens-{name}" in given and not judged]
    here = {f"--personalens-{name.replace('_', '-')}" for name in ("sample", *GATES)}.intersection(given)
    if not here or (judged and not settings.asks_for_gates) or settings.shard is not None or config.option.collectonly:
        return
    if left and not (settings.asks_for_gates or files or config.option.setuponly):
        return  # they test what they ask for
    nothing = "there is nothing for the gates to decide on" if settings.asks_for_gates else "nothing is tested"
    if files and not settings.asks_for_gates:
        nothing = f"--personalens-{files[0]} has nothing to write"
    if config.option.setuponly:  # which --setup-plan sets too
        raise pytest.UsageError(f"--personalens-sample: --setup-only and --setup-plan run no test, so {nothing}; leave them out")
    if planned:
        drawn = f"the sample of {size_text(settings.sample or 0)} is drawn first, and what fits them may not be in it (restrict the draw with --personalens-domain, "
        raise pytest.UsageError(
            f"--personalens-sample: no test that is left asks for the fixture personalens, so {nothing}; ask for it and call "
            f"personalens.check(), or see what the selection (-k, -m, --lf, --deselect) leaves of those that do: {drawn}-kind or -users)"
        )
    raise pytest.UsageError(
        f"--personalens-sample: no test of what was collected asks for the fixture personalens, so {nothing}: the built-in suite runs only "
        "where no paths are given; leave them out, or write a test: def test_it(personalens): personalens.check()"
    )


def _check_asked(config: pytest.Config, sample: int | None) -> None:
    """Refuse what would have no effect, or another one than was meant."""
    flags = flags_of(config)
    for flag in (f"--personalens-{name}" for name in _OF_A_RUN):
        if sample is None and flag in flags:
            raise pytest.UsageError(f"{flag}: give --personalens-sample N too; without it there is no run")
    check_paths(config)


def check_paths(config: pytest.Config) -> None:
    """Refuse a path of ours that pytest takes for a path to tests."""
    given, flags = [str(arg) for arg in config.invocation_params.args], flags_of(config)
    for flag in (f"--personalens-{name}" for name in (*_FILES, *PATHS)):
        place = flags.index(flag) + 1 if flag in given and given[-1] != flag else 0
        path = config.invocation_params.dir / given[place] if place else None
        # What follows a space pytest takes for a path to tests, if it is there: it then looks for the configuration beside it.
        if path is not None and _there(path) and not path.resolve().is_relative_to(config.invocation_params.dir.resolve()):
            raise pytest.UsageError(f"{flag}: write {flag}={given[place]}; after a space, pytest takes what lies elsewhere for tests")


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long
        return False


def _paths(config: pytest.Config, sample: int | None, shard: tuple[int, int] | None) -> dict[str, str | None]:
    found = {name: config.getoption(f"personalens_{name.replace('-', '_')}") for name in PATHS}
    judged = [f"--personalens-{name}" for name in ("adopt-judge", "check-judge") if found[name] is not None]
    if len(judged) > 1:
        raise pytest.UsageError(f"{' and '.join(judged)}: give one of them; a judge is checked against what was adopted before")
    for flag, path in ((f"--personalens-{name}", path) for name, path in found.items() if path is not None):
        if not path.strip():
            raise pytest.UsageError(f"{flag}: expected a path, not ''")
        if sample is None:
            raise pytest.UsageError(f"{flag}: give --personalens-sample N too; without it there is no run and no judge")
        if shard is not None and flag in judged:
            raise pytest.UsageError(f"{flag}: the judge is held against whole runs; give it to a run without --personalens-shard")
        if shard is not None:
            raise pytest.UsageError(f"{flag}: a shard is a part of a run; give it to python -m pytest_personalens merge")
    return {name.replace("-", "_"): path for name, path in found.items()}


def _configured(config: pytest.Config, option: Option) -> tuple[Any, str]:
    """The value in the configuration, with its key; None for an empty entry, or none at all."""
    for name in (option.ini, f"personalens_{option.key}"):
        if (given := _ini(config, name, option.type)) not in (None, "", []):
            return given, name
    return None, option.ini


def _ini(config: pytest.Config, name: str, kind: str) -> Any:
    try:
        return config.getini(name)
    except (TypeError, ValueError, pytest.UsageError) as error:  # pytest 9 says what is wrong and not where
        raise pytest.UsageError(f"{name}: expected a value of type {kind} in the configuration file ({error})") from None


def _read(option: Option, given: object, source: str) -> Any:
    try:
        texts = [str(v) for v in given] if isinstance(given, (list, tuple)) else [str(given)]
    except Exception:  # the __str__ of somebody's own value, in a mark
        raise pytest.UsageError(f"{source}: expected {option.metavar}, not {short_repr(given)}") from None
    try:
        if not option.many:
            if len(texts) != 1:
                raise ValueError(f"expected {option.metavar}, one value")
            return option.read(texts[0])
        if option.key in ("users", "dimensions"):
            texts = [part for text in texts for part in text.split(",") if part.strip()]
        if not texts:
            raise ValueError(f"expected {option.metavar}")
        found = [option.read(text) for text in texts]
        if option.key == "dimensions":
            from pytest_personalens.core.verdict import dimensions

            return tuple(d.value for d in dimensions(part for text in found for part in text.split(",")))
        return tuple(found)
    except SpecError as error:
        raise pytest.UsageError(f"{source}: {error}") from None
    except ValueError as error:
        raise pytest.UsageError(f"{source}: {error}, not {', '.join(map(str, texts))!r}") from None


def _users(names: Sequence[str], base: Path) -> tuple[str, ...]:
    users: list[str] = []
    for name in names:
        if name.startswith("file:"):
            from pytest_personalens.core.devices import no_device

            file = base / name.removeprefix("file:")
            try:
                found = [line.strip() for line in no_device(file).read_text(encoding="utf-8").splitlines() if line.strip()]
            except (OSError, ValueError) as error:  # the path itself may be none
                raise pytest.UsageError(f"--personalens-users: cannot read {file}: {error}") from None
            if not found:
                raise pytest.UsageError(
                    f"--personalens-users: no user is in {file}; write an id a line, or leave the option out for everybody"
                )
            users += found
        elif name.startswith("official-"):
            from pytest_personalens.datasets import OFFICIAL_SAMPLES

            if name not in OFFICIAL_SAMPLES:
                raise pytest.UsageError(
                    f"--personalens-users: {name} is no sample of the benchmark's own; known: {', '.join(OFFICIAL_SAMPLES)}; "
                    "for others write a file with an id a line and give file:PATH"
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
            raise SpecError(f"{where}: the mark personalens takes keywords only, not {short_repr(mark.args[0])}")
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
    from pytest_personalens.core.verdict import Dimension

    return {d.short.replace("-", "_"): d.value for d in Dimension}


def _mark_threshold(key: str, value: object, where: str) -> tuple[str, int]:
    try:
        return threshold(f"{_short_thresholds()[key]}>={int(value) if isinstance(value, (int, bool)) else value}")
    except SpecError as error:
        raise SpecError(f"{where}: personalens({key}={short_repr(value)}): {error}") from None
    except Exception as error:  # the __str__ of somebody's own value too
        problem = error if isinstance(error, ValueError) else "expected a whole number"
        raise SpecError(f"{where}: personalens({key}={short_repr(value)}): {problem}") from None
