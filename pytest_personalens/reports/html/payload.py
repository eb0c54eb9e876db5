"""The dialogues of a run inside a page: what its table shows as JSON, all else as JSON that is packed."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.message import call_texts
from pytest_personalens.core.dialogue.state import leaves_of
from pytest_personalens.core.names import BUILT_IN
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.reports.content.findings import command_line
from pytest_personalens.reports.content.why_items_failed import (
    DOES,
    OUTCOMES,
    goal_parts,
    reason_text,
    said_by_judge,
    values_text,
    why,
)
from pytest_personalens.results.reasons import COSTS, costs_of, counted_codes
from pytest_personalens.results.values.item import uncounted_reason
from pytest_personalens.results.wording import FAULTS, control_names, unfound_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.reasons import CountedCode
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: Fields whose 0 says something: a score, or the first of the texts or keys.
_NUMBERS: Final = frozenset({"score", "why", "wants", "intent", "key"})
#: Values of a state that a page shows.
_MOST_VALUES: Final = 500
#: What would end the script element, or begin a comment or an entity in it; and two line ends that old
#: scripts trip over.
_ESCAPED: Final = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class _Pool:
    """Gives each text a number, because judges and users repeat themselves."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def script_json(value: object) -> str:
    """Return `value` as JSON that is safe inside ``<script type="application/json">``."""
    text = _dense(value)
    for character, escape in _ESCAPED.items():
        text = text.replace(character, escape)
    return text


def pack(fields: Mapping[str, Any]) -> str:
    """The fields as JSON, packed by zlib, in base64: it costs hardly any time until it is unpacked.

    What an iterator (a map of values, or one of names and values) gives is made one by one: the dialogues of
    a large run take much memory. A callable is called when its field is packed.
    """
    packed = zlib.compressobj(6)
    parts = [packed.compress(text.encode("utf-8", "replace")) for text in _parts(fields)]
    return base64.b64encode(b"".join((*parts, packed.flush()))).decode()


def _parts(fields: Mapping[str, Any]) -> Iterator[str]:
    begin = "{"
    for name, value in fields.items():
        yield f"{begin}{_dense(name)}:"
        begin = ","
        if isinstance(value, Iterator):
            opens, closes = "[]" if isinstance(value, map) else "{}"
            for one in value:
                yield opens + (_dense(one) if closes == "]" else f"{_dense(one[0])}:{_dense(one[1])}")
                opens = ","
            yield closes if opens == "," else opens + closes
        else:
            yield _dense(value() if callable(value) else value)
    yield "}"


def _dense(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Payload(NamedTuple):
    """What the script of the page is given. `rows` is what its table shows, with `texts` that its items refer
    to by number. `dialogues` is all else, to be packed once: an entry for each item, in their order, and
    scenarios by name, with texts of their own. Whatever is empty or as it mostly is is left out.
    """

    rows: dict[str, Any]
    dialogues: dict[str, Any]


def payload(results: Results) -> Payload:
    flips: dict[str, list[list[object]]] = {}
    for flip in results.comparison.flips if results.comparison is not None else ():
        for nodeid in flip.nodeids:
            flips.setdefault(nodeid, []).append([flip.dimension.value, flip.before, flip.after])
    dimensions, suite = shown_dimensions(results), results.of_suite
    keys: dict[tuple[str, ...], int] = {}
    row_text, text = _Pool(), _Pool()
    rows = []
    for item in results.items:
        own = {
            "key": keys.setdefault(item.key, len(keys)),
            "flips": flips.get(item.nodeid),
            "answer": suite.outcome(item),
        }
        scenario = results.scenarios.get(item.evaluation.scenario)
        rows.append(_without_empty({**_row(item, scenario, suite, dimensions, row_text), **own}))
    costly = {code for costs in COSTS.values() for code in costs}
    codes = costly & {code for item in results.items for code, _ in reasons_given(item)}
    return Payload(
        {
            "dimensions": [[d.value, d.names.score, d.names.title, *_steps(d)] for d in dimensions],
            **_settings(results),
            "words": [suite.item, suite.dialogue, suite.judged_by],
            "main": [measure.value for measure in suite.main],
            "hasTurns": suite.has_turns,
            "kindNames": {group.name: suite.kind_name(group.name) for group in results.kinds},
            "reasons": [[code, words] for code, words in DOES.items() if code in codes],
            "outcomes": dict(OUTCOMES),
            "command": command_line(results.settings, suite, of_item=True),
            "builtIn": BUILT_IN,
            "items": rows,
            "texts": list(row_text.numbers),
        },
        {
            "items": map(partial(_dialogue, results, text), results.items),
            "scenarios": ((name, _scenario(s, text)) for name, s in results.scenarios.items()),
            "texts": lambda: list(text.numbers),
        },
    )


def _settings(results: Results) -> dict[str, Any]:
    """Return the names of the run itself and of its controls. In a suite with a table for each kind these are
    settings, which have a name each.
    """
    suite = results.of_suite
    names = control_names(suite)
    if not suite.table_by_kind:
        return {"controls": names}
    own = suite.given(str(results.settings.get("context", "")), "")
    return {"controls": {**names, "": f"{own}, {names['']}" if own else names[""]}, "controlLabel": "Setting"}


def shown_dimensions(results: Results) -> list[Measure]:
    judged = {v.dimension for i in results.items for v in i.evaluation.verdicts}
    return [d for d in results.of_suite.measures if d in judged]


def _steps(measure: Measure) -> tuple[float | None, float | None]:
    """Return the lowest and the highest score if scores are whole. Other scores are shown as numbers, and get
    (None, None).
    """
    return (measure.low, measure.high) if measure.in_steps else (None, None)


def _row(
    item: Item, scenario: BaseScenario | None, suite: Suite, dimensions: Sequence[Measure], text: _Pool
) -> dict[str, Any]:
    e = item.evaluation
    scores = {v.dimension: v.score for v in e.verdicts}
    cause, detail = uncounted_reason(e) if item.status == "uncounted" else ("", "")
    return {
        "id": item.nodeid,
        "scenario": e.scenario,
        "name": "" if scenario is None else scenario.name,
        "user": e.user,
        "task": e.task,
        "kind": e.kind,
        "domains": e.domains,
        "status": item.status,
        "failed": item.failed,
        "scores": [scores.get(d) for d in dimensions],
        "short": [s.dimension.value for s in item.shortfalls],
        "why": text(row_reason(item, scenario, suite)),
        "wants": text(_wants(scenario)),
        "reasons": sorted((code, text(type_)) for code, type_ in sorted(reasons_given(item))),
        "tokens": sum(used.tokens for used in e.usage.values()),
        "usd": item.usd,
        "turns": sum(m.role == "user" for m in e.dialogue.messages),
        "trial": item.trial if item.trial != 1 else 0,
        "control": item.control,
        "cause": cause,
        "detail": detail,
        "lost": FAULTS[e.lost_to_user.code] if e.lost_to_user is not None else "",
    }


def row_reason(item: Item, scenario: BaseScenario | None, suite: Suite) -> str:
    """Return why the item has the scores that it has, in one line; empty where nothing is scored."""
    low = {shortfall.dimension for shortfall in item.shortfalls}
    verdicts = item.evaluation.verdicts if item.evaluation.scored else ()
    read = _with_reasons(item)
    lost = [v for v in verdicts if v.dimension in low] or [
        v for v in read if costs_of(v) and v.score != v.dimension.high
    ]
    if lost:
        return "; ".join(why(verdict, costs_of(verdict), scenario) for verdict in lost) + _truth(item, suite)
    if not verdicts:
        return ""
    # Personalization comes after task completion, of which there is less to say.
    last = (read or list(verdicts))[-1]
    good = reason_text([r for r in last.reasons if r.type], scenario) or last.justification
    return good + _truth(item, suite) if good else ""


def _truth(item: Item, suite: Suite) -> str:
    """The true class or number, behind the one that was read."""
    answer = item.evaluation.answer
    if answer is None or not answer.read or answer.truth is None:
        return ""
    if not isinstance(answer.truth, str):
        return f"; true: {answer.truth:g}"
    return f"; true: {answer.truth}" if suite.outcome(item) else ""  # else it is the digest of a text


def reasons_given(item: Item) -> set[tuple[CountedCode, str]]:
    """All reasons of the item, each with its preference or \"\"."""
    pairs: set[tuple[CountedCode, str]] = {(r.code, r.type) for v in _with_reasons(item) for r in v.reasons}
    return pairs | {("whole", "") for verdict in _with_reasons(item) if "whole" in counted_codes(verdict)}


def _with_reasons(item: Item) -> list[Verdict]:
    return [v for v in item.evaluation.verdicts if item.evaluation.scored and v.dimension in COSTS]


def _wants(scenario: BaseScenario | None) -> str:
    if isinstance(scenario, Scenario):
        return scenario.task.description
    return "" if scenario is None else scenario.wish


def _dialogue(results: Results, text: _Pool, item: Item) -> dict[str, Any]:
    e, earlier, scenario = item.evaluation, item.earlier, results.scenarios.get(item.evaluation.scenario)
    said = () if earlier is None else earlier.messages
    told = {
        "shortfalls": [[s.dimension.value, str(s)] for s in item.shortfalls],
        "record": item.record if item.record != "none" else "",
        "file": item.record_file,
        "given": item.given,
        "givenUser": item.given_user,
        "end": e.dialogue.end,
        "by": [text(who) for who in (e.user_agent, e.assistant, e.judge)],
        "before": [_message(m, text) for m in said],
        "source": earlier.source if earlier is not None and said else "",
        "messages": [_message(m, text) for m in e.dialogue.messages],
        "times": e.latencies if any(e.latencies) else (),
        "sessions": _beginnings(e.dialogue.messages, text),
        "faults": [[f.turn, text(f.quote), text(f.text)] for f in e.user_faults or ()],
        "state": _state(e.dialogue.state, text),
        "verdicts": [
            _without_empty(
                {
                    "dim": v.dimension.value,
                    "score": v.score,
                    "why": text(said_by_judge(v.justification, v, scenario)),
                    "evidence": [
                        [q.turn, text(q.quote), text(said_by_judge(q.note, v, scenario))] for q in v.evidence
                    ],
                    "goalParts": [[int(part.done), text(part.words), part.turn] for part in goal_parts(v)],
                    "unfound": unfound_text(v),
                    "turns": v.turns,
                    "votes": [[vote.score, text(vote.justification)] for vote in v.votes],
                    "observed": [text(one) for one in v.observations],
                    "better": [text(one) for one in v.improvements],
                    "reasons": [
                        [r.code, r.domain, r.type, values_text(r, scenario), r.part, r.turn]
                        for r in v.reasons
                    ],
                }
            )
            for v in e.verdicts
        ],
        "had": results.of_suite.given_words(results.settings, item.given),
    }
    return _without_empty(told)


def _beginnings(messages: Sequence[Message], text: _Pool) -> dict[int, int]:
    """Return the turns at which a session begins, each with its name."""
    names = ["", *(m.session for m in messages)]
    return {turn: text(now) for turn, (before, now) in enumerate(pairwise(names)) if now != before}


def _message(message: Message, text: _Pool) -> list[Any]:
    """Who said it, the text, and where the assistant called tools each call with its result."""
    calls = [
        [text(call)] if result is None else [text(call), text(result)] for call, result in call_texts(message)
    ]
    content = f"{message.content}\n[this reply was {message.cut}]" if message.cut else message.content
    return [int(message.role == "assistant"), text(content), *([calls] if calls else ())]


def _state(state: State | None, text: _Pool) -> list[list[int]] | None:
    """What the system held, each value with its path; None where nothing says so."""
    if state is None:
        return None
    values = leaves_of("", state.data)[:_MOST_VALUES]
    shown = [
        [text(path), text(value if isinstance(value, str) else json.dumps(value))] for path, value in values
    ]
    return shown or [[text("(nothing)"), text("")]]


def _scenario(scenario: BaseScenario, text: _Pool) -> dict[str, Any]:
    if not isinstance(scenario, Scenario):
        facts = [[name, text(told)] for name, told in scenario.facts]
        return _without_empty({"name": scenario.name, "intent": text(scenario.wish), "facts": facts})
    return scenario.without_history()


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in fields.items() if v or k in _NUMBERS}
