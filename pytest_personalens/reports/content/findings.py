"""What every report says of a run: one value, built here once, that each view lays out."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.evaluation import Evaluation
from pytest_personalens.core.judging.measure import CRITERION, Dimension
from pytest_personalens.core.names import BUILT_IN, file_of, within_file
from pytest_personalens.core.options.gate import GateExpression
from pytest_personalens.core.options.option_table import OPTIONS
from pytest_personalens.core.safe_text import count, one_line, shell_line, upper_first
from pytest_personalens.reports.content.markup import short_line
from pytest_personalens.reports.content.why_items_failed import sentence_of
from pytest_personalens.results import wording
from pytest_personalens.results.gates.check import corrected_note
from pytest_personalens.results.reasons import (
    alike_note,
    criteria_note,
    explanations,
    intrusions_note,
    limits_note,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pytest_personalens.core.options.option_table import Option
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.reasons import Explanation, WorstCase
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


#: What shapes the dialogue and the verdicts of a single item. Not the shard: it is in the whole sample too.
ITEM_OPTIONS: Final = tuple(
    o for o in OPTIONS if o.shapes in ("sample", "dialogue", "score", "record") and o.key != "shard"
)


def command_line(settings: Mapping[str, Any], suite: Suite, *, of_item: bool = False) -> str:
    """``pytest --personalens-sample 30 ...``: every option whose value is not its default, or with `of_item`
    those of them that shape a single item. What was asked for in the configuration is written as options too,
    and keys of the configuration alone as ``-o``. Options that say where reports go are in no results.
    """
    words = ["pytest"]
    lacking = {measure.value for measure in suite.not_scored(settings)}
    read = [name for name in suite.default_dimensions(settings) if name not in lacking]
    defaults = {**suite.defaults, "dimensions": read}
    for option in OPTIONS:
        value, default = settings.get(option.key), defaults.get(option.key, option.default)
        # A results file holds lists where the settings have tuples.
        value, default = (list(v) if isinstance(v, tuple) else v for v in (value, default))
        if option.shapes == "report" or (of_item and option not in ITEM_OPTIONS):
            continue
        is_default = value in (None, (), False, default)
        # Some suites have a control by default.
        if is_default or (value == [] and not (default and option.key == "control")):
            reset = option.key in settings.get("reset", ())
            words += ["-o", f"{option.ini}={_plain(value, suite) if value else ''}"] if reset else []
            continue
        text = _TEXTS.get(option.key, _plain)(value, suite)
        if option.on == "ini":
            words += ["-o", f"{option.ini}={text}"]
        else:
            words += [option.long] if option.flag else [option.long, text]
    report_only = settings.get("report_only") is True
    if report_only and not of_item:
        words += ["--personalens-gate", "none"]
    if of_item:
        words += gates_off(lambda option: settings.get(option.key) or (option.key == "gate" and report_only))
    return shell_line(words)


def rerun_line(items: Iterable[Item], results: Results) -> str:
    """The command that runs these items alone, each failing by its own scores."""
    command = command_line(results.settings, results.of_suite, of_item=True)
    return f"{command} {shell_line(selection(item.nodeid for item in items))}"


def selection(nodeids: Iterable[str], path: Callable[[str], str] = str) -> list[str]:
    """The words that select these items, with the `path` of a test's file; the built-in suite has no file."""
    built_in, own = [], []
    for file, within in ((file_of(nodeid), within_file(nodeid)) for nodeid in nodeids):
        if file == BUILT_IN:
            built_in.append(f"[{within.partition('[')[2]}")
        else:
            own.append(f"{path(file)}::{within}")
    return [*(["-k", " or ".join(built_in)] if built_in else []), *own]


def gates_off(configured: Callable[[Option], object]) -> list[str]:
    """``-o personalens_gate=``: the words without which the gates that are `configured` would decide, and an
    item that is run alone would pass whatever its scores.
    """
    gates = [o for o in OPTIONS if o.shapes == "gate" and o.on != "command line" and configured(o)]
    return [word for option in gates for word in ("-o", f"{option.ini}=")]


def _plain(value: Any, suite: Suite) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _gates(value: Any, suite: Suite) -> str:
    gates = (GateExpression(*gate) for gate in value)
    return ", ".join(gate.text for gate in gates)


def _controls(value: Any, suite: Suite) -> str:
    left, words = list(value), []
    for word, controls in suite.control_groups.items():
        if set(controls) <= set(left) and (controls or not left):
            words.append(word)
            left = [name for name in left if name not in controls]
    return ",".join([*words, *map(suite.control_word, left)])


def _short(name: str, suite: Suite) -> str:
    try:
        return suite.measure(name).short
    except SpecError:  # of another version
        return name


_TEXTS: Final[Mapping[str, Callable[[Any, Suite], str]]] = {
    "shard": lambda value, suite: "/".join(map(str, value)),
    "context": lambda value, suite: value or "none",
    "control": _controls,
    "dimensions": lambda value, suite: ",".join(_short(name, suite) for name in value),
    "threshold": lambda value, suite: ",".join(f"{_short(name, suite)}={least:g}" for name, least in value),
    "margin": lambda value, suite: ",".join(f"{_short(name, suite)}={drop:g}" for name, drop in value),
    "criteria": lambda value, suite: "\n".join(name.removeprefix(CRITERION) for name in value),
    "gate": _gates,
    "budget": lambda value, suite: ",".join(f"{most:g}{unit}" for unit, most in value),
}


_MOST_NAMED: Final = 5
_MOST_WAYS: Final = 3
_LONGEST_WAY: Final = 120
INCOMPLETE: Final = "a part of the run only: it was stopped, or shards are missing; no gate is decided"
State = Literal["passed", "failed", "open"]


class Sentence(NamedTuple):
    """A sentence about the run. `filter` is the page's address of the dialogues that it counts."""

    text: str
    filter: str = ""


class Findings(NamedTuple):
    """What a run came to. Texts are plain; without any to tell, each is empty.

    `word` says how it ended, for the page; `line` too, for plain text; `reasons` say why. `scores` has the
    main means, with their changes since the baseline. `crashes` says in how many dialogues the assistant
    failed, and `ways` of what. `failed_gates` are the gates that failed, each loss once. `notes` are what a
    reader of the figures must know, without capital and full stop, by what they are about. `trust` says how
    far the verdicts of the judge can be trusted.
    """

    state: State
    word: str
    line: str
    reasons: tuple[Sentence, ...]
    scores: str
    crashes: str
    ways: tuple[str, ...]
    failed_gates: tuple[Explanation, ...]
    notes: dict[str, Sentence]
    trust: str

    @property
    def cases(self) -> list[WorstCase]:
        return [case for explained in self.failed_gates for case in explained.cases]


def findings_of(results: Results) -> Findings:
    every = explanations(results)
    losses = [explained for explained in every if not explained.same_as]
    unscored = any(explained.gate.kind == "valid" for explained in losses)
    crashes, ways = _crashes_text(results), tuple(_crash_ways(results))
    # A gate that cannot be decided for want of scores says no more than the gate on their number.
    told = [one for one in losses if one.gate.value is not None or not unscored]
    judged = any(one.measure is not None and one.gate.value is not None for one in losses)
    return Findings(
        *_outcome(results, losses, told, f"{crashes}: {'; '.join(ways)}" if crashes else ""),
        scores=_scores_text(results),
        crashes=crashes,
        ways=ways,
        failed_gates=tuple(told),
        notes=dict(_notes(results)),
        trust=wording.trust_note(results) if judged or not crashes else "",
    )


def unscored_text(results: Results, cause: str) -> str:
    kept = "; what was bought is kept, and a further run goes on from there" if cause == "budget" else ""
    return f"not scored: {results.uncounted[cause]}, {wording.CAUSES[cause]}{kept}"  # type: ignore[index]


#: The first four fields of `Findings`.
_Outcome = tuple[State, str, str, tuple[Sentence, ...]]


def _outcome(results: Results, losses: list[Explanation], told: list[Explanation], crashes: str) -> _Outcome:
    low = [] if results.report_only else [_loss(explained) for explained in losses]
    sentences = [Sentence(_gate_text(explained, results)) for explained in told]
    failed, lost = sum(item.failed for item in results.items), len(results.lost)
    first = [Sentence(upper_first(crashes), "cause=assistant")] if crashes else []
    stopped = Sentence(f"{upper_first(INCOMPLETE)}.")
    if low or failed or lost:
        more = f" and {len(low) - _MOST_NAMED} more" if len(low) > _MOST_NAMED else ""
        parts = [f"{', '.join(low[:_MOST_NAMED])}{more}"] * bool(low)
        parts += [count(failed + lost, "item")] * bool(failed + lost)
        reasons = [*first, *([] if results.report_only else sentences)]
        if failed:
            tests = f"{failed:,} of {len(results.items):,} tests failed"
            reasons.append(Sentence(tests, "status=failed&control=all"))
        reasons += [Sentence(f"{lost:,} tests were lost with their workers")] * bool(lost)
        reasons += [] if results.complete else [stopped]
        return "failed", "Failed", f"FAILED: {'; '.join(parts)}", tuple(reasons)

    def outcome(state: State, word: str, line: str, why: str, *more: Sentence) -> _Outcome:
        return state, word, line, (*first, Sentence(f"{upper_first(why)}."), *more)

    if not results.complete:
        return outcome("open", "Incomplete", "not decided: a part of the run only", INCOMPLETE)
    if shard := results.settings.get("shard"):
        line = f"not decided: shard {shard[0]}/{shard[1]}, whose gates are decided over all shards"
        why = "the gates are decided over all shards together"
        return outcome("open", f"Shard {shard[0]} of {shard[1]}", line, why)
    if not results.overall.scored:
        none = f"no {results.of_suite.dialogue} could be scored"
        return outcome("open", "Not decided", f"not decided: {none}", none)
    if results.report_only:
        would = ", ".join(map(_loss, losses[:_MOST_NAMED]))
        line = wording.REPORT_ONLY + (f" (it would fail: {would})" if would else "")
        why = f"{wording.REPORT_ONLY}; {wording.REPORTED_GATES}" if results.gates else wording.REPORT_ONLY
        return outcome("open", "Report only", line, why, *sentences)
    gates = len(results.gates)
    line = f"passed: {count(gates, 'gate')}" if gates else "passed: no item failed; there was no gate"
    if results.unjudged:
        return outcome("open", "Measured only", line, wording.UNJUDGED)
    none = "no test failed; the run had no gate"
    why = f"all {gates} gates passed" if gates > 1 else "its gate passed" if gates else none
    return outcome("passed", "Passed", line, why)


def _gate_text(explained: Explanation, results: Results) -> str:
    """A sentence; of a gate that nothing decides, its name and what is missing."""
    gate = explained.gate
    if gate.value is None:
        return f"{gate.name}: {gate.message}"
    return f"{upper_first(sentence_of(explained, results))}."


def _loss(explained: Explanation) -> str:
    """What a failed gate is about: ``P 2.48 -> 1.08``, or ``TCR 0.44 < 0.70``."""
    gate, moved, measure = explained.gate, explained.moved, explained.measure
    name = measure.names.mean if measure is not None else gate.name
    where = f"{explained.group}: " if explained.group else ""
    if moved is not None and measure is not None and measure.is_worse(moved.after, moved.before):
        return f"{where}{name} {moved.before:.2f} -> {moved.after:.2f}"
    if gate.inconclusive:
        return f"{where}{name} inconclusive"
    if gate.value is None or gate.kind != "floor" or gate.name.startswith("pass^"):
        return f"gate {gate.name}"
    value, limit = wording.apart(gate.value, gate.limit)
    return f"{where}{name} {value} {'<' if gate.direction == '>=' else '>'} {limit}"


def _scores_text(results: Results) -> str:
    """``TCR 0.73 (-0.10 since the baseline), P 1.10 (-1.57)``."""
    differences = results.comparison.differences if results.comparison is not None else ()
    changes = {d.dimension: wording.signed(d.change) for d in differences if not d.kind}
    compared = results.comparison is None or results.comparison.tested
    since, parts = " since the baseline" if compared else " since the earlier results", []
    for measure in results.of_suite.main:
        figure = results.overall.figures.get(measure.value)
        if figure is None or figure.value is None:
            continue
        change = ""
        if measure in changes:
            change, since = f" ({changes[measure]}{since})", ""
        parts.append(f"{measure.names.mean} {figure.value:.2f}{change}")
    part = wording.part_note(results)
    return ", ".join(parts) + (f", {part}" if parts and part else "")


def _notes(results: Results) -> Iterator[tuple[str, Sentence]]:
    item = results.of_suite.item
    if results.left_out:
        text = f"left out by a selection (-k, -m, --lf, node ids, paths): {wording.left_out_text(results)}"
        yield "selection", Sentence(f"{text}; all figures are over the rest")
    if results.drawn < results.requested:
        text = f"sample: {results.requested} {item}s asked for; there are only {results.drawn}"
        yield "sample", Sentence(f"{text}, and all of them are in it")
    if results.elsewhere:
        text = f"{results.drawn:,} of {results.drawn + results.elsewhere:,} {item}s fit personalens_domain"
        yield "domains", Sentence(f"{text}; -o personalens_domain= takes them all")
    if any(not gate.passed for gate in results.gates) and (text := alike_note(results)):
        yield "alike", Sentence(text)
    for about, note in (
        ("stale", wording.stale_note),
        ("asked again", wording.asked_again_note),
        ("quotes", wording.quotes_note),
        ("unread", wording.unread_note),
        ("not judged", wording.not_judged_note),
        ("limits", limits_note),
        ("store", wording.store_note),
        ("corrected", corrected_note),
        ("intrusions", intrusions_note),
        ("criteria", criteria_note),
        ("latency", wording.latency_note),
        ("user", wording.user_note),
    ):
        if text := note(results):
            yield about, Sentence(text)
    for cause in results.uncounted:
        address = "" if cause in results.missing else f"cause={cause}"
        yield f"not scored: {cause}", Sentence(unscored_text(results, cause), address)
    low = sum(item.status == "low" for item in results.own)
    if low and results.gates:
        are = f"{results.of_suite.dialogue}{' is' if low == 1 else 's are'}"
        yield "low", Sentence(f"{low:,} {are} below {wording.thresholds_text(results)}", "status=low")


def tasks_read_as_failed(results: Results) -> bool:
    return any(s.dimension == Dimension.TASK_COMPLETION for item in results.own for s in item.shortfalls)


def _crashes_text(results: Results) -> str:
    crashed = results.uncounted.get("assistant", 0)
    dialogues = count(results.expected, results.of_suite.dialogue)
    return f"the assistant failed in {crashed:,} of {dialogues}, which have no score" if crashed else ""


def _crash_ways(results: Results) -> Iterator[str]:
    """A line for each kind of failure of the assistant, by exception and place or by the problem with the
    reply; the most frequent first, and the rare ones together.
    """
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item in results.own:
        if item.evaluation.cause == "assistant":
            way, text = _crash_way(item.evaluation)
            groups[way][text] += 1
    ways = sorted(groups.items(), key=lambda group: (-group[1].total(), group[0]))
    shown = ways if len(ways) <= _MOST_WAYS + 1 else ways[:_MOST_WAYS]
    for way, texts in shown:
        example = min(texts, key=lambda text: (-texts[text], text))
        such = (
            f"{', such as' if len(texts) > 1 else ''}: {short_line(example, _LONGEST_WAY)}" if example else ""
        )
        yield f"{texts.total()} x {way}{such}"
    if rest := ways[len(shown) :]:
        yield f"and {sum(texts.total() for _, texts in rest)} in {len(rest)} other ways"


def _crash_way(evaluation: Evaluation) -> tuple[str, str]:
    """The part of a fault that similar faults share, and its own text."""
    raised, text = evaluation.raised, ""
    way = one_line(evaluation.detail)
    if raised is not None:
        place = f" at {raised.file}:{raised.line}" if raised.file else ""
        way, text = f"{raised.who} raised {raised.error}{place}", raised.text
    for start in ("the assistant raised ", "the assistant ", "the "):
        way = way.removeprefix(start)
    return short_line(way, _LONGEST_WAY), text
