"""The table of options: their names, how their texts are read, and what they shape.

A reader of a text returns a value, or raises ValueError with what it expected.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pytest_personalens.core.names import FIRST_SUITE, STATE, SUITES

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite import Suite

DEFAULT_SEED: Final = "personalens"
#: The key of a user's manner where items and tables hold it.
MANNER: Final = "manner"
#: How a simulated user may say what it says; the facts of its task stay what they are.
MANNERS: Final = ("terse", "vague", "digresses", "changes-mind", "corrects", "impatient")

OptionGroup = Literal["select", "run", "judge", "gate", "report"]
#: What an option shapes. In two runs that are parts of one run (resumed, or shards), the options with the
#: first three shapes must be the same.
Shape = Literal[
    "sample",  # which items exist
    "dialogue",  # what the agents say in the dialogues
    "score",  # how the dialogues are judged
    "record",  # what is replayed, what is paid for, and which part of it is kept
    "execution",  # how the items are run
    "gate",  # what the run must reach: such an option asks for gates
    "judge check",  # what the judge is compared with
    "decision",  # how gates are decided, if there are any
    "report",  # what the run writes: the results hold nothing of it
]


class Option(NamedTuple):
    """One option and the ini key with the same name.

    `read` turns a text into the value and raises ValueError. `read_for` does the same for a suite. `default`
    is None or () if an option that is not given has no value.

    With `many`, the value is a list: the option may be repeated, and its text may hold commas. A `flag` takes
    no value. With `path`, the value may be a path. `on` says where the option may be given. `mark` says if
    the mark of a test may set it.
    """

    name: str
    metavar: str
    default: Any
    read: Callable[[str], Any] | None
    help: str
    group: OptionGroup
    shapes: Shape
    many: bool = False
    mark: bool = False
    type: Literal["string", "int", "int or all", "bool", "bool or int", "float", "linelist"] = "string"
    flag: bool = False
    path: bool = False
    on: Literal["both", "ini", "command line"] = "both"
    read_for: Callable[[str, Suite], Any] | None = None

    def value(self, text: str, suite: Suite) -> Any:
        """Return the value of a text; raise ValueError or `SpecError` for one that cannot be read."""
        if self.read is not None:
            return self.read(text)
        assert self.read_for is not None
        return self.read_for(text, suite)

    @property
    def long(self) -> str:
        """The name on the command line, such as ``--personalens-user-model``."""
        return f"--personalens-{self.name}"

    @property
    def ini(self) -> str:
        """The ini key, such as ``personalens_max_turns``; pytest also keeps the option under it."""
        return f"personalens_{self.key}"

    @property
    def called(self) -> str:
        """The name for messages: that of the command line, or the ini key of an option that is only there."""
        return self.ini if self.on == "ini" else self.long

    @property
    def key(self) -> str:
        """The field of `Settings` and the keyword of the mark, such as ``max_turns``."""
        return self.name.replace("-", "_")


CONTEXT_LETTERS: Final = "DIHS"


#: A larger number must be a typing error, and the run would never end.
BILLION: Final = 1_000_000_000


def number(low: float, high: float | None = None, kind: type[int | float] = float) -> Callable[[str], Any]:
    """Return a reader of a number between `low` and `high`, both included."""

    def read(text: str) -> int | float:
        span = f"{low:g} or more" if high is None or high >= BILLION else f"from {low:g} to {high:g}"
        what = "a whole number" if kind is int else "a number"
        try:
            value = kind(text)
        except ValueError:
            raise ValueError(f"expected {what} {span}") from None
        # `not (a <= b)` instead of `a > b`: NaN must not pass.
        if not low <= value or (high is not None and not value <= high):
            raise ValueError(f"expected {what} {span}")
        return value

    return read


#: The value of "all". It is more than any dataset has, so that a draw takes every scenario.
ALL: Final = BILLION + 1


def sample(text: str) -> int:
    """Return the size of a sample: a whole number, or `ALL` for "all"."""
    if text.strip().lower() == "all":
        return ALL
    try:
        size: int = number(1, BILLION, kind=int)(text)
    except ValueError as error:
        raise ValueError(f"{error}, or all") from None
    return size


def size_text(size: int) -> str:
    """Return the size of a sample as the user writes it: "all" for `ALL`."""
    return "all" if size == ALL else str(size)


_OF_READING: Final = re.compile(r"([A-Za-z_-]+)=(.*)", re.DOTALL)


def judge_specs(text: str) -> dict[str, str]:
    """Return the specs of the judges in a text such as ``tc=SPEC,SPEC``, by the reading that each gives.

    The judge of all other readings has an empty name. Raise ValueError if there is none, or two for one.

    >>> judge_specs("tc=bedrock:a, bedrock:b?temperature=1")
    {'tc': 'bedrock:a', '': 'bedrock:b?temperature=1'}
    """
    parts = [part.strip() for part in text.split(",")]
    if not any(map(_OF_READING.fullmatch, parts)):
        if not text.strip():
            raise ValueError("expected a model spec")
        return {"": text.strip()}  # a provider's own spec may hold commas
    specs: dict[str, str] = {}
    for part in parts:
        of_reading = _OF_READING.fullmatch(part)
        name, spec = (of_reading[1].lower(), of_reading[2].strip()) if of_reading else ("", part)
        if not spec:
            raise ValueError("expected a model spec, or READING=SPEC,SPEC")
        if name in specs:
            raise ValueError(f"two judges of {name or 'all other readings'}; give one")
        specs[name] = spec
    if "" not in specs:
        raise ValueError("no judge of the other readings; add its spec, such as tc=SPEC,SPEC")
    return specs


def judge_spec(text: str) -> str:
    """Check the text of an option that names one judge or several, as `judge_specs` does."""
    judge_specs(text)
    return text.strip()


def choice(*choices: str) -> Callable[[str], str]:
    """Return a reader that accepts one of a few words."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expected one of: {', '.join(choices)}")
        return text

    return read


def some(what: str) -> Callable[[str], str]:
    """Return a reader that accepts any text that is not blank."""

    def read(text: str) -> str:
        if not text.strip():
            raise ValueError(f"expected {what}")
        return text.strip()

    return read


def letters(text: str) -> str:
    """Return context letters, in the order D, I, H, S."""
    if text.lower() == "none":
        return ""
    parts = text.upper().replace("+", "").replace(",", "")
    if not parts or set(parts) - set(CONTEXT_LETTERS) or len(set(parts)) != len(parts):
        raise ValueError(
            "expected 'none' or any of the letters D (demographics), I (interactions), H (past sessions), S"
            " (situation), each once"
        )
    return "".join(c for c in CONTEXT_LETTERS if c in parts)


def shard(text: str) -> tuple[int, int]:
    """Read ``K/N`` as (K, N): part K of N."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError("expected K/N, such as 3/10: the part K, from 1 to N, of N")
    if int(match[2]) == 1:
        raise ValueError("expected at least two parts; one is the whole run, so leave the option out")
    return int(match[1]), int(match[2])


def odd(high: int) -> Callable[[str], int]:
    """Return a reader of an odd number from 1 to `high`; an odd number of votes cannot tie."""

    def read(text: str) -> int:
        value: int = number(1, high, kind=int)(text)
        if value % 2 == 0:
            raise ValueError("expected an odd number, so that votes cannot tie")
        return value

    return read


def list_parts(text: str) -> list[str]:
    """Return the parts of a list that are not blank, split at commas outside parentheses."""
    texts, depth = [""], 0
    for letter in text:
        depth = max(0, depth + (letter == "(") - (letter == ")"))
        if letter == "," and not depth:
            texts.append("")
        else:
            texts[-1] += letter
    return [part for part in texts if part.strip()]


#: Calls or dollars; pytest's start need not compile it.
_CAP: Final = r"(?P<calls>[\d._]+)\s*calls?|(?P<usd>[\d._]+)\s*usd|\$\s*(?P<dollars>[\d._]+)\s*(?:usd)?"


def executor(text: str) -> str:
    """Return the address of a Dask scheduler, from ``dask=ADDRESS``."""
    kind, _, address = text.partition("=")
    if kind != "dask" or not re.fullmatch(r"(?:tcp|tls|ws|wss|ucx)://[^/\s]+:\d+", address.strip()):
        raise ValueError("expected dask=tcp://HOST:PORT, the address of a Dask scheduler")
    return address.strip()


def threshold(text: str, suite: Suite) -> tuple[str, float]:
    """Read ``MEASURE>=SCORE`` or ``MEASURE=SCORE``; the sign is ``<=`` if low scores are good."""
    match = re.fullmatch(r"\s*([\w-]+)\s*(>=|<=|=)\s*(-?\d+(?:\.\d+)?)\s*", text)
    if match is None:
        raise ValueError(f"expected DIMENSION=SCORE, such as {suite.main[-1].short}=3")
    measure, score = suite.measure(match[1]), float(match[3])
    way = ">=" if measure.better == "high" else "<="
    if match[2] not in (way, "="):
        raise ValueError(f"{measure.short} is better {measure.better}: write {measure.short}{way}{match[3]}")
    if not measure.holds(score):
        raise ValueError(f"{measure.short} is scored {measure.range_text()}")
    return measure.value, measure.on_grid(score)


def dimension_name(text: str, suite: Suite) -> str:
    return "all" if text.strip().lower() == "all" else suite.measure(text).value


def gate(text: str, suite: Suite) -> GateExpression | None:
    """Read ``[GROUP:] METRIC >= VALUE``; None for ``none``, which means that no gate counts."""
    from pytest_personalens.core.options.gate import read_gate

    return None if text.strip().lower() == "none" else read_gate(text, suite)


def control(text: str, suite: Suite) -> tuple[str, ...]:
    """Return the controls that a word stands for: one, or several that belong together."""
    by_word = suite.controls_by_word()
    by_lower_word, word = {name.lower(): names for name, names in by_word.items()}, text.strip().lower()
    if word not in by_lower_word:
        raise ValueError(f"expected one of: {', '.join(by_word)}")
    return by_lower_word[word]


def kind(text: str, suite: Suite) -> str:
    """Read ``all``, a kind of the suite, or several kinds with commas."""
    names = {part.strip().lower() for part in text.split(",")}
    if not names <= {*suite.kinds, "all"}:
        raise ValueError(f"expected one of: {', '.join((*suite.kinds, 'all'))}")
    kinds = [name for name in suite.kinds if name in names]
    return "all" if "all" in names or len(kinds) == len(suite.kinds) else ",".join(kinds)


def budget(text: str) -> tuple[str, float]:
    """Read ``200calls`` or ``5usd`` (also ``$5`` or ``5 USD``) as (unit, cap)."""
    if (match := re.fullmatch(_CAP, text.strip(), re.IGNORECASE)) is None:
        raise ValueError("expected a number of calls or of dollars, such as 200calls or 5usd")
    if match["calls"]:
        return "calls", number(1, BILLION, kind=int)(match["calls"])
    return "usd", number(0.000001, BILLION)(match["usd"] or match["dollars"])


def parallel(text: str) -> bool | int:
    """Read ``true``, ``false``, or the most dialogues at once."""
    if (word := text.strip().lower()) in ("true", "false"):
        return word == "true"
    try:
        most: int = number(1, 10_000, kind=int)(text)
    except ValueError as error:
        raise ValueError(f"{error}, or true, or false") from None
    return most


def yes_or_no(text: str) -> bool:
    """Read ``true`` or ``false``."""
    if (word := text.strip().lower()) not in ("true", "false"):
        raise ValueError("expected true or false")
    return word == "true"


def report(text: str) -> str:
    """Return the path of a report, or the word ``github``."""
    from pytest_personalens.core.files.destinations import ENDINGS, GITHUB, file_kind  # slow to import

    if text.strip().lower() == GITHUB:
        return GITHUB
    if file_kind(text) is None:
        raise ValueError(f"expected a path that ends in {', '.join(ENDINGS)}, or the word {GITHUB}")
    return text


def margin(text: str, suite: Suite) -> tuple[str, float]:
    """Read ``DIMENSION=X`` as (dimension, X), a difference of means or, for task completion, of shares."""
    name, _, value = text.partition("=")
    metric = suite.metric(name.strip().lower())
    measure = metric.measure if metric is not None and metric.measure is not None else suite.measure(name)
    span = measure.span
    try:
        least = float(number(0, BILLION if span is None else span)(value.strip()))
    except ValueError:
        most = "" if span is None else f" to less than {span:g}"
        raise ValueError(
            f"expected DIMENSION=X, X from 0{most}, such as {suite.main[0].short}=0.02"
        ) from None
    if span is not None and least >= span:
        raise ValueError(
            f"no drop of {measure.short} is larger than {span:g}, so a margin of that lets everything pass;"
            " give less"
        )
    return measure.value, least


_PATH: Final = some("a path")

OPTIONS: Final = (
    Option("sample", "N|all", None, sample, "Draw N scenarios, or all there are, and make one test item of each; without it the plugin does nothing", "select", "sample", mark=True, type="int or all"),
    Option("suite", "|".join(SUITES), FIRST_SUITE, lambda text: choice(*SUITES)(text), "What is tested: the suite whose items are drawn", "select", "sample", mark=True),
    Option("seed", "TEXT", DEFAULT_SEED, some("a text"), "Seed of the draw; another text gives another sample", "select", "sample", mark=True),
    Option("data", "embedded|PATH", "embedded", some("'embedded' or a path"), "The embedded benchmark, a dataset added by a plugin, or the path of an official PersonaLens checkout, of its data folder, or of a folder in the embedded layout; in personaconv a file or folder of posts, in memory of arcs; in questions prefeval:DIR, longmemeval:FILE or personamem:DIR", "select", "sample", path=True),
    Option("users", "LIST", (), some("user ids"), "Only these users: ids (of the official data user7, 7, or a range such as 0-49), official-20, -30, -50 or -100, or file:PATH with an id a line", "select", "sample", many=True, type="linelist", on="ini"),
    Option("domain", "LIST", (), some("a domain"), "Only scenarios that span one of these domains; applied before the draw", "select", "sample", many=True, mark=True, type="linelist"),
    Option("kind", "single|multi|all|LIST", "all", None, "Only single-domain or only multi-domain tasks; in personaconv a list of sentiment, impact and next-text, in memory of recall, revise, forget, whose, apart, restraint, belief, audience and abstain, in questions of choice, answer and pref", "select", "sample", mark=True, read_for=kind),
    Option("shard", "K/N", None, shard, "Run part K of N of the sample, such as 3/10; the command personalens merge puts the parts together and decides the gates", "select", "sample"),
    Option("assistant", "SPEC|MODULE:ATTR", None, some("a model spec or module:attribute"), "The assistant under test without a fixture: a model, a service (http:URL, bedrock-agent:AGENT/ALIAS or agentcore:ARN), or a callable by its place", "run", "dialogue"),
    Option("dialogues", "PATH", (), _PATH, "Judge dialogues that exist already, and play none: results (JSON), records, the official output folder, or JSON lines of OpenAI messages, as a file, a folder or a pattern; takes all of them, if no sample is given; may be repeated", "run", "dialogue", many=True, path=True, on="command line"),
    Option("generate-only", "true|false", False, yes_or_no, "Play the dialogues and judge none; a later run judges them with the option dialogues", "run", "score", type="bool", on="ini"),
    Option("user-model", "SPEC", "embedded", some("a model spec"), "Who plays the user: embedded, bedrock:MODEL, openai:MODEL, or PROVIDER:MODEL of a provider added by a plugin", "run", "dialogue"),
    Option("protocol", "NAME", "default", None, "What models are told: default is ours, paper is what the paper's figures give each role, in our words. In personaconv, what the items are and how they are read: fixed (default), or official, as the benchmark's own scripts", "run", "dialogue", on="ini", read_for=lambda text, suite: choice(*suite.protocols)(text)),
    Option("user-agent", "plain|reasoning|state", "plain", choice("plain", "reasoning", "state"), "What a model that plays the user writes before a message: plain, reasoning or state (default: plain)", "run", "dialogue", on="ini"),
    Option("manner", "|".join((*MANNERS, "all")), "", choice(*MANNERS, "all"), "How the simulated user speaks, over the same facts: terse, vague (tells facts when asked), digresses, changes-mind (corrects a fact in its second message), corrects (in the same message), impatient, or all, which draws one for each scenario (default: in no such manner)", "run", "dialogue", mark=True, on="ini"),
    Option("trials", "K", 1, number(1, 100, kind=int), "Run each scenario K times, each with a record of its own (default: 1)", "run", "sample", type="int"),
    Option("control", "LIST", (), None, "Run the same scenarios again and report the lift: no-context withholds the context, other-user gives another user's, D, I, H or S that part alone; ablation is no-context,D,I,S. In personaconv: P-Conv, P-NonConv, NP-Conv or none; in memory: alone or other-user; in questions: no-history (default) or off", "run", "sample", many=True, type="linelist", read_for=control),
    Option("context", "LETTERS", "DIS", None, "What the assistant may know: any of D (demographics), I (past interactions), H (past sessions, without a summary), S (situation), or none; in personaconv one of P-Conv (default), P-NonConv, NP-Conv and none; in questions H (the history, default) or none", "run", "dialogue", mark=True, on="ini", read_for=lambda text, suite: suite.read_context(text)),
    Option("parallel", "true|false|N", None, parallel, "Dialogues side by side in one process: true also where the assistant is a sync callable, or at most N; false: one after the other (default: side by side where a model or a service is asked and the assistant is no sync callable; how many follows what the providers let pass)", "run", "execution", type="bool or int", on="ini"),
    Option("executor", "dask=ADDRESS", None, executor, "Run the dialogues on a Dask cluster, by the address of its scheduler; needs the option assistant", "run", "execution", on="ini"),
    Option("record", "none|live|new|all", "none", choice("none", "live", "new", "all"), "Records of dialogues and verdicts: none replays them and never pays; live pays for what no record answers, and writes none; new writes what no fitting record answers; all records everything anew (default: none)", "run", "record"),
    Option("budget", "LIST", (), budget, "Stop the run in order after so many model calls or dollars, such as 200calls,5usd; dollars need personalens_prices", "run", "execution", many=True, type="linelist"),
    Option("resume", "", False, bool, "Resume an interrupted run, or make this one resumable", "run", "execution", flag=True, on="command line"),
    Option("estimate", "", False, bool, "Print how many calls, tokens and dollars this sample would take, and exit", "run", "execution", flag=True, on="command line"),
    Option("max-turns", "N", 0, number(1, 1000, kind=int), "Rounds of a dialogue after the opening (default: 20 for single-domain, 30 for multi-domain tasks)", "run", "dialogue", mark=True, type="int", on="ini"),
    Option("turn-timeout", "SECONDS", 60.0, number(0.001, 86_400), "Time limit of one reply of the assistant (default: 60)", "run", "execution", mark=True, type="float", on="ini"),
    Option("assistant-prompt", "base|vanilla", "base", choice("base", "vanilla"), "What a model as the assistant is told: that it acts for the user, and the context; or nothing (default: base)", "run", "dialogue", on="ini"),
    Option("interactions", "task|all", "task", choice("task", "all"), "Past interactions that the assistant may know: those of the task's domains, as in the paper, or all of the user's (default: task)", "run", "dialogue", on="ini"),
    Option("history", "request|context", "request", choice("request", "context"), "Where a user's past is, in personaconv: in the request (default), or in the context that a fixture or a memory gets", "run", "dialogue", on="ini"),
    Option("assistant-request", "JSON", None, some("JSON"), "What a service as the assistant is sent, as JSON with the places {message} (the last one), {messages}, {user}, {session} and {context} in its texts", "run", "dialogue", on="ini"),
    Option("assistant-reply", "PATH", None, some("a path in JSON"), "Where the reply stands in what a service answers, such as data.reply or choices.0.message (default: it is the answer)", "run", "dialogue", on="ini"),
    Option("judge-model", "SPEC", "embedded", judge_spec, "Who judges: embedded, bedrock:MODEL, openai:MODEL, or PROVIDER:MODEL of a provider added by a plugin; tc=SPEC,SPEC has another judge for a reading", "judge", "score"),
    Option("prompts", "DIR|official:PATH", None, some("a folder, or official: and a path"), "Templates of your own for agents played by a model, those that are not in it are ours; or the official ones, from your checkout of their repository", "judge", "score", path=True, on="ini"),
    Option("official-bugs", "reproduce|mend|NAMES", "reproduce", some("reproduce, mend, or names of bugs"), "Bugs of the official code: reproduce (default), mend, or the names of those to mend, with commas between them", "judge", "score", on="ini"),
    Option("dimensions", "LIST", ("task_completion", "personalization"), None, "What the judge reads: tc, p, facts, nat-user, nat-assistant, coh-user, coh-assistant, p-turns, leak, unbacked, intrusions, or all for the six of the paper (default: tc,p,facts,intrusions; tc,p if a model judges)", "judge", "score", many=True, mark=True, type="linelist", read_for=dimension_name),
    Option("criteria", "TEXT", (), some("a criterion"), "Criteria of your own, a line each, such as 'price-first: names the price before it books': a model as the judge answers each of a dialogue with yes, no or cannot tell", "judge", "score", many=True, mark=True, type="linelist", on="ini"),
    Option("threshold", "LIST", (), None, "Scores an item must reach, such as p=3,tc=0 or 'p>=3' (default: tc=1,p=2)", "judge", "score", many=True, mark=True, type="linelist", on="ini", read_for=threshold),
    Option("adopt-judge", "PATH", None, _PATH, "Keep how the judge of this run reads the anchor dialogues, and this run's scores, as the baseline PATH", "judge", "judge check", path=True, on="command line"),
    Option("check-judge", "PATH", None, _PATH, "Say whether the judge or your assistant changed since the baseline PATH; fail if the judge did", "judge", "judge check", path=True, on="command line"),
    Option("judge-votes", "N", 1, odd(99), "Votes on a verdict below its threshold, the first included; the median decides (default: 1)", "judge", "score", type="int", on="ini"),
    Option("embedding", "SPEC", None, some("sentence-transformers:PATH or module:attribute"), "What scores texts by SBERT, in personaconv: a folder with a model, or a callable, texts to vectors (default: none, and chars is scored)", "judge", "score", on="ini"),
    Option("nltk-data", "DIR", None, _PATH, "WordNet, in personaconv, to score METEOR: its own folder, or NLTK's data (default: none, and meteor-es is scored, without synonyms)", "judge", "score", path=True, on="ini"),
    Option("anchors", "FILE", None, _PATH, "Labelled dialogues that the judge reads where it is adopted or checked (default: 24 of ours)", "judge", "judge check", path=True, on="ini"),
    Option("gate", "LIST", (), None, "What the run must reach, such as 'tcr >= 0.9, p >= 2.3', 'Movies: p >= 3', 'multi: tcr >= 0.7', 'valid >= 0.95', 'lift >= 0.3', 'drop(p) <= 0.3' or 'pass^3 >= 0.6': these decide then, and low items do not fail; none: report only", "gate", "gate", many=True, type="linelist", read_for=gate),
    Option("calibration", "PATH", None, _PATH, "What personalens calibrate wrote of the judge of this run: the task completion rate is shown as read and corrected for the judge's errors, and a gate on tcr that the interval does not decide is inconclusive", "judge", "decision", path=True, on="ini"),
    Option("baseline", "PATH", None, _PATH, "Fail on a significant drop from the run whose baseline or JSON results are in PATH", "gate", "gate", path=True),
    Option("save-baseline", "PATH", None, _PATH, "Keep this run's scores by scenario as PATH, for the option baseline; nothing is written if the run is stopped", "gate", "gate", path=True, on="command line"),
    Option("slice", "LIST", (), some("a demographic"), "Score the users by group, such as age,gender or another demographic of the dataset, and test each group against the rest within the same tasks", "report", "decision", many=True, type="linelist", on="ini"),
    Option("level", "X", 0.05, number(0.0001, 0.5), "Chance that the comparison with the baseline fails a run without a change (default: 0.05)", "gate", "decision", type="float", on="ini"),
    Option("margin", "LIST", (), None, "Drop from the baseline that is let pass though significant, such as tc=0.02 or p=0.1; also adds a dimension to those compared (tc, p)", "gate", "decision", many=True, type="linelist", on="ini", read_for=margin),
    Option("exit-infra", "CODE", None, number(8, 255, kind=int), "Exit code, 8 to 255, of a run that failed only because too little could be scored (default: 1)", "gate", "report", type="int", on="ini"),
    Option("report", "PATH|github", (), report, "Write all results as JSON (PATH.json), a page (PATH.html) or a summary (PATH.md); github: the summary of the step, in GitHub Actions; may be repeated", "report", "report", many=True, type="linelist", path=True),
)  # fmt: skip

BY_KEY: Final = {o.key: o for o in OPTIONS}
#: Keys that exist only in the configuration, each a list of lines.
LINES: Final = {
    "personalens_prices": "MODEL = INPUT, OUTPUT[, CACHED[, WRITTEN]] in dollars for a million tokens",
    STATE: "FIELD = FACT[, FACT]: which field of the state is which fact, by the fact's name or type",
    "personalens_assistant_headers": (
        "NAME: VALUE for a service as the assistant; ${NAME} is a variable of the environment"
    ),
    "personalens_model_parameters": (
        "NAME = VALUE for model specs that do not name it, such as region = eu-west-1"
    ),
}


def keys_of(*shapes: Shape) -> tuple[str, ...]:
    """Return the keys of the options that have one of these shapes."""
    return tuple(o.key for o in OPTIONS if o.shapes in shapes)
