"""A dialogue that failed, as lines for a terminal, and how they are laid out and coloured."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.dialogue.message import call_lines
from pytest_personalens.core.dialogue.state import stored_records
from pytest_personalens.core.errors import with_code
from pytest_personalens.core.judging.measure import Dimension
from pytest_personalens.core.safe_text import cut_to, harmless, one_line, upper_first
from pytest_personalens.reports.content.findings import unscored_text
from pytest_personalens.reports.content.markup import short_line
from pytest_personalens.reports.content.why_items_failed import (
    OUTCOMES,
    because_of,
    case_reason,
    case_title,
    common_length,
    excerpts,
    failure_headline,
    goal_parts,
    reasons_of,
    said_by_judge,
    sentence_of,
    why,
)
from pytest_personalens.results.reasons import costs_of
from pytest_personalens.results.values.item import uncounted_reason
from pytest_personalens.results.wording import unfound_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.verdict import UserFault, Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.reasons import Explanation, WorstCase
    from pytest_personalens.results.values.item import Earlier, Shortfall
    from pytest_personalens.results.values.results import Results

#: As pytest marks the lines of an error.
ERROR: Final = "E   "
#: So begins what is wrong with an item without scores.
NOT_SCORED: Final = f"{ERROR}not scored"
#: The code of a score below its threshold, and of an item without scores, by its cause.
_LOW: Final = "PL601"
_UNSCORED: Final = {"assistant": "PL501", "user-agent": "PL502", "judge": "PL503", "record": "PL504"}
_LOST: Final = "PL505"
_LEAST_WIDTH: Final = 40
#: A continuation is indented this far at most.
_HANG: Final = 18
_MARK: Final = re.compile(r"(?P<error>E   )|(?P<turn>>)?\s{0,5}(?:(?P<before>- )|(?P<now>\+ ))?")


def wrap_lines(
    label: str, text: str, width: int, *, hang: str | None = None, whole_words: bool = False
) -> Iterator[str]:
    """`text` behind its label, in lines of at most `width` columns; further ones begin with `hang`. A label
    of spaces is indented anew; ``E`` stands at every line of an error. With `whole_words`, a word that is
    longer than a line, such as a path, stays whole, so that it can be copied.
    """
    if hang is None:
        hang = " " * min(len(label), _HANG)
    first = True
    for line in harmless(text).splitlines() or [""]:
        lines = textwrap.wrap(
            line,
            max(width, _LEAST_WIDTH),
            initial_indent=label if first else hang,
            subsequent_indent=hang,
            break_on_hyphens=False,
            break_long_words=not whole_words,
        )
        # Once more: what stood within a line may begin one now.
        yield from map(harmless, lines or ([label.rstrip()] if first else []))
        first = False


def error_lines(text: str, code: str, width: int) -> Iterator[str]:
    """What is wrong and its code, each line marked as pytest marks an error."""
    yield from wrap_lines(ERROR, with_code(text, code), width, hang=ERROR, whole_words=True)


def unscored_code(evaluation: Evaluation) -> str:
    """The code of an item that does not count."""
    return _UNSCORED.get(uncounted_reason(evaluation)[0], _LOST)


def style_of(line: str) -> dict[str, bool]:
    """How a line is shown on a terminal with colours, by its mark; as keywords of pytest's writer."""
    mark = _MARK.match(line)
    assert mark is not None  # all of it is optional
    if mark["error"]:
        return {"red": True, "bold": True}
    if mark["before"]:
        return {"red": True}
    if mark["now"]:
        return {"green": True}
    return {"bold": True} if mark["turn"] else {}


_LABELS: Final = {"user": "      user ", "truth": "     truth "}
_SIGNS: Final = {"-": "    - then ", "+": "    + now  "}
#: Lines of each message that are shown, and the least columns of one.
_MESSAGE_LINES: Final = 2
_LEAST_ROOM: Final = 20


def gate_failure(
    explained: Explanation,
    results: Results,
    scenarios: Mapping[str, BaseScenario],
    *,
    width: int,
    brief: bool = False,
) -> Iterator[str]:
    """The lines, those of an error first. `brief` leaves the exchanges out; `scenarios` are by their ids."""
    yield from error_lines(upper_first(sentence_of(explained, results)), explained.gate.code, width)
    if reasons := reasons_of(explained):
        yield from wrap_lines(f"{results.of_suite.dialogue}s by reason: ", reasons, width, hang="    ")
    for cause in results.uncounted if explained.gate.kind == "valid" else ():
        yield from wrap_lines("  ", unscored_text(results, cause), width, hang="      ")
    for case in () if brief else explained.cases:
        yield from _case(case, scenarios.get(case.item.evaluation.scenario), width)


def _case(case: WorstCase, scenario: BaseScenario | None, width: int) -> Iterator[str]:
    title, reason = case_title(case, scenario), short_line(case_reason(case, scenario), 2 * width - 30)
    if case.exchange is None:
        yield from wrap_lines("", f"{title}: {reason}", width, hang="    ")
        return
    yield from wrap_lines("", title, width, hang="    ")
    room = max(_LEAST_ROOM, width - len(_SIGNS["-"]))
    for turn in excerpts(case, scenario, _MESSAGE_LINES * room):
        label = _SIGNS.get(turn.sign) or _LABELS[turn.who]
        yield from wrap_lines(label, turn.text, width, hang=" " * len(label))
    yield from wrap_lines("      why: ", reason, width, hang="           ")


#: Columns of a difference, whose place is not known to be a terminal.
_WIDTH: Final = 100
_LONGEST_MESSAGE: Final = 2_000
#: Characters of one stored thing that are shown.
_LONGEST_THING: Final = 300
#: Tool calls of one turn, and stored things, that are shown.
_MOST_CALLS: Final = 10
#: So much of what is the same is shown before a difference far into a text.
_BEFORE: Final = 20


def difference_lines(before: str, now: str) -> list[str]:
    """Two texts as a line each, `-` and `+`, cut down to where they begin to differ, line ends escaped."""
    same = common_length(before, now)
    start = max(0, same - _BEFORE) if same > _WIDTH // 2 else 0
    lines = []
    for sign, text in (("-", before), ("+", now)):
        shown = one_line(text[start : start + _WIDTH])
        end = "..." if start + _WIDTH < len(text) else ""
        lines += [f"{sign} {'...' if start else ''}{shown}{end}"] if text else []
    return lines


def failure_lines(
    evaluation: Evaluation,
    scenario: BaseScenario,
    shortfalls: Sequence[Shortfall],
    earlier: Earlier | None,
    rerun: str,
    *,
    width: int,
    brief: bool = False,
    whole: bool = False,
) -> list[str]:
    """What a failing item prints, in lines of at most `width` columns but for the command that runs it again.
    `brief` leaves out who asked, what went well, and all turns but those that cost the score. `whole` prints
    every reading with its evidence. Without a command (`rerun`), its line is left out.
    """
    low = {shortfall.dimension for shortfall in shortfalls}
    failed = [verdict for verdict in evaluation.verdicts if verdict.dimension in low]
    wrong = [*_wrong(evaluation, scenario, shortfalls, width)]
    lines = [*wrong, ""] if wrong else []
    if not brief:
        lines += [*_who(evaluation, scenario, width), ""]
    lines += [*_turns(evaluation, failed, earlier, width, brief=brief), ""]
    if not brief:
        for verdict in evaluation.verdicts:
            lines += _verdict_lines(verdict, scenario, width, passed=verdict not in failed and not whole)
    # Each line by itself: names, places and devices come from a dataset, which somebody else or a model may
    # have written.
    return [one_line(line) for line in (*lines, *([f"again:  {rerun}"] if rerun else []))]


def _wrong(
    evaluation: Evaluation, scenario: BaseScenario, shortfalls: Sequence[Shortfall], width: int
) -> Iterator[str]:
    if uncounted_reason(evaluation)[0] and not shortfalls:
        yield from error_lines(failure_headline(evaluation, shortfalls), unscored_code(evaluation), width)
    for shortfall in shortfalls:
        measure = shortfall.dimension
        wrong = (
            "task not completed"
            if measure == Dimension.TASK_COMPLETION
            else f"{measure.names.title.lower()} {shortfall.score},"
            f" {'below' if measure.better == 'high' else 'above'} the required {shortfall.limit}"
        )
        yield from error_lines(f"{wrong}{because_of(evaluation, shortfall, scenario)}", _LOW, width)


def _who(evaluation: Evaluation, scenario: BaseScenario, width: int) -> Iterator[str]:
    yield from wrap_lines("", scenario.who, width)
    became = {
        f"{reason.domain}, {reason.type}:": f"  ({OUTCOMES[reason.code]})"
        for verdict in evaluation.verdicts
        for reason in verdict.reasons
        if reason.code in OUTCOMES
    }
    for what, text in scenario.facts:
        outcome = next((outcome for about, outcome in became.items() if text.startswith(about)), "")
        yield from wrap_lines(f"{what + ':':8}", f"{text}{outcome}", width)


def _turns(
    evaluation: Evaluation, failed: Sequence[Verdict], earlier: Earlier | None, width: int, *, brief: bool
) -> Iterator[str]:
    messages = evaluation.dialogue.messages
    marked = {e.turn for v in failed for e in v.evidence} | {
        r.turn for v in failed for r in costs_of(v) if r.code != "ignores" and r.turn is not None
    }
    faults: defaultdict[int, list[UserFault]] = defaultdict(list)
    for fault in evaluation.user_faults or ():
        faults[fault.turn].append(fault)
    marked |= faults.keys()
    before = () if earlier is None else earlier.messages
    pairs = enumerate(zip(before, messages, strict=False))
    parting = next((turn for turn, (then, now) in pairs if then != now), None)
    cut = {turn for turn, message in enumerate(messages) if message.cut}
    shown = {turn + step for turn in marked | cut for step in (-1, 0)}
    if not brief or not marked:
        shown = set(range(len(messages)))
    session = ""
    for turn, message in enumerate(messages):
        if turn not in shown:
            continue
        if message.session != session:
            session = message.session
            yield f"     session of {session}"
        yield from _first_ones("         called ", call_lines(message), width)
        if turn == parting:
            recorded = cut_to(before[turn].content, _LONGEST_MESSAGE)
            yield from wrap_lines(f"  - {turn:2} recorded  ", recorded, width)
        sign = "+" if turn == parting else " "
        label = f"{'>' if turn in marked else ' '} {sign} {turn:2} {message.role:9} "
        yield from wrap_lines(label, cut_to(message.content, _LONGEST_MESSAGE), width)
        if message.cut:
            yield f"         [this reply was {message.cut}]"
        for fault in faults.get(turn, ()):
            yield from wrap_lines("         user fault ", fault.text, width)
    if marked:
        yield "     (> marks what cost the score)"
    if evaluation.dialogue.truncated:
        yield "     [the turn limit ended the dialogue]"
    if evaluation.dialogue.end == "unserved":
        yield "     [the user left without being served]"
    yield from _state(evaluation.dialogue.state, width)


def _state(state: State | None, width: int) -> Iterator[str]:
    """What the system held after the dialogue, a line for each thing."""
    if state is None:
        return
    held = [short_line(record.in_one_line(), _LONGEST_THING) for record in stored_records(state.data)]
    yield from _first_ones("     the system holds ", held or ["nothing"], width)


def _first_ones(label: str, lines: Sequence[str], width: int) -> Iterator[str]:
    for line in lines[:_MOST_CALLS]:
        yield from wrap_lines(label, line, width)
    if len(lines) > _MOST_CALLS:
        yield f"         [... {len(lines) - _MOST_CALLS:,} more]"


def _verdict_lines(verdict: Verdict, scenario: BaseScenario, width: int, *, passed: bool) -> Iterator[str]:
    """A reading: its score, what was done of the goal, and of a low one all that was not said before."""
    measure = verdict.dimension
    of_scale = f" ({measure.range_text()})" if measure.span is not None else ""
    is_rate = measure.span == 1 and measure.grid == 1
    score = ("yes" if verdict.score else "no") if is_rate else f"{verdict.score}{of_scale}"
    title, parts = measure.names.title.lower(), goal_parts(verdict)
    said = said_by_judge(verdict.justification, verdict, scenario)
    # The reasons stand above the dialogue.
    told = not passed and bool(costs_of(verdict)) and said in why(verdict, costs_of(verdict), scenario)
    yield from wrap_lines(f"{title}: ", score if told else f"{score}, {said}", width, hang="  ")
    for part in parts:
        yield from wrap_lines("  ", part.line, width, hang="      ")
    if passed:
        return
    # A reason about a preference or a part says what its quote shows.
    for evidence in () if any(r.type or r.part for r in costs_of(verdict)) else verdict.evidence:
        note = f" ({said_by_judge(evidence.note, verdict, scenario)})" if evidence.note else ""
        yield from wrap_lines(f"  turn {evidence.turn}: ", f'"{evidence.quote}"{note}', width)
    for label, notes in (("observed", verdict.observations), ("better", verdict.improvements)):
        for one in notes:
            yield from wrap_lines(f"  {label}: ", one, width)
    if unfound := unfound_text(verdict):
        yield f"  {unfound}"
