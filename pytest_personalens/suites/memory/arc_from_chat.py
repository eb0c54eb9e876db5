"""Makes an arc of a chat that went wrong: what the user had told, the question, and what a reply must say.

The last session ends before the user says the forgotten value again, because that would test no memory.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.embedded.reader.text import STOPWORDS, plain, stem
from pytest_personalens.agents.embedded.reader.typed_values import Time, Value, values
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.datasets.embedded.building.builder import prompt_text
from pytest_personalens.datasets.embedded.dataset_files import TODO
from pytest_personalens.suites.memory.arc_files import problems_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_personalens.datasets.embedded.building.builder import Answer, Pieces
    from pytest_personalens.datasets.embedded.building.drafts import Chat
    from pytest_personalens.suites.memory.arcs import Kind

    Turn = tuple[str, str]

#: An arc has at most so many sessions; the newest are taken.
_SESSIONS: Final = 5
#: Days between two sessions, whose real days a chat does not tell.
_APART: Final = 7
#: In these kinds, the forgotten value is what must not be said.
_UNSAID: Final[tuple[Kind, ...]] = ("forget", "whose", "apart", "restraint", "belief", "audience")
_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_MASKED: Final = re.compile(r"\[\w+\]")


def draft_arc(chats: Sequence[Chat], file: Path, kind: Kind, person: str, today: dt.date) -> dict[str, Any]:
    """Return a file of one arc, as plain data; what a person must still decide begins with ``TODO``.

    Each chat is a session, and the last holds the incident. The messages of one chat alone are its last and
    a session before. Raise `DataError` if nothing was told before the incident.
    """
    told, last = _sessions(chats, file)
    asked, given_away = _until_corrected(told, last)
    replies = [text for role, text in last if role == "assistant"]
    right = _forgotten(told, asked, given_away)
    wrong = _instead(right[0], told, replies) if kind == "recall" and len(right) == 1 else []
    days = [today - dt.timedelta(days=_APART * back) for back in range(len(told), -1, -1)]
    test: dict[str, Any] = {}
    if kind != "abstain":
        name = "wrong" if kind in _UNSAID else "right"
        listed = [" | ".join(_ways(value)) for value in right]
        open_ = f"{TODO} one of: {', '.join(listed)}" if listed else f"{TODO} what was told"
        test[name] = listed if len(listed) == 1 else [open_]
        if kind == "revise":
            test["wrong"] = [f"{TODO} the value that was right before"]
        elif kind == "belief":
            test["right"] = [f"{TODO} what is true"]
        elif wrong:
            test["wrong"] = wrong
    return {
        "kind": kind,
        "arcs": [
            {
                "id": slug(file.stem) or "incident",
                "person": person,
                "domain": _domain([*told, [text for _, text in last]]),
                "sessions": [
                    {"date": day.isoformat(), "says": list(says)}
                    for day, says in zip(days, [*told, asked], strict=True)
                ],
                "test": test,
            }
        ],
    }


def fill_by_model(draft: dict[str, Any], chats: Sequence[Chat], pieces: Pieces) -> dict[str, Any] | None:
    """Return the draft with its test and domain by a model, or None if every attempt was refused."""

    def problems(answer: Answer) -> list[str]:
        bad = [n for n in ("right", "wrong") if not _is_texts(answer.get(n))]
        if bad or not isinstance(answer.get("domain"), str):
            return [f"{n}: expected a list of texts" for n in bad] or ["domain: expected a text"]
        return [f"{field}: {message}" for field, message in problems_of(_filled(draft, answer))]

    arc = draft["arcs"][0]
    prompt = prompt_text(
        "incident",
        kind=draft["kind"],
        domains=", ".join(DOMAINS),
        sessions=[session["says"] for session in arc["sessions"]],
        dialogue="\n".join(f"{role}: {text}" for role, text in chats[-1].turns),
    )
    answer = pieces.make(arc["id"], "incident", prompt, problems)
    return None if answer is None else _filled(draft, answer)


def _filled(draft: dict[str, Any], answer: Answer) -> dict[str, Any]:
    test = {name: answer[name] for name in ("right", "wrong") if answer[name]}
    return {**draft, "arcs": [{**draft["arcs"][0], "domain": answer["domain"], "test": test}]}


def _is_texts(data: object) -> bool:
    return isinstance(data, list) and all(isinstance(text, str) and text.strip() for text in data)


def _sessions(chats: Sequence[Chat], file: Path) -> tuple[list[list[str]], list[Turn]]:
    """Return what the user said in each session before the last, and the turns of the last."""
    turns = [turn for turn in chats[-1].turns if turn[0] in ("user", "assistant")]
    told = [[text for role, text in chat.turns if role == "user"] for chat in chats[-_SESSIONS:-1]]
    if not told:
        asks = [place for place, (role, _) in enumerate(turns) if role == "user"]
        # The user's last question with a reply holds the incident; without one, the user's last message.
        last = max((p for p in asks if p + 1 < len(turns)), default=0)
        if (again := _first_repeat(turns, asks)) is not None:
            last = max(p for p in asks if p < again)
        told, turns = [[text for role, text in turns[:last] if role == "user"]], turns[last:]
    told = [says for says in told if says]
    if not told or not any(role == "user" for role, _ in turns):
        raise DataError(
            file,
            "nothing that the user told before the incident; put the earlier conversation before it, a"
            " dialogue a line",
        )
    return told, turns


def _first_repeat(turns: Sequence[Turn], asks: Sequence[int]) -> int | None:
    """Return the place of the first message that says again what an earlier one than the last told."""
    for number in range(2, len(asks)):
        before = [turns[place][1] for place in asks[: number - 1]]
        if _shared(before, turns[asks[number]][1], turns[asks[number - 1]][1]):
            return asks[number]
    return None


def _until_corrected(told: Sequence[Sequence[str]], last: Sequence[Turn]) -> tuple[list[str], str]:
    """Return the user's messages up to the one that says again what was told before, and that message."""
    before, asked = [text for says in told for text in says], list[str]()
    for role, text in last:
        if role != "user":
            continue
        if asked and _shared(before, text, " ".join(asked)):
            return asked, text
        asked.append(text)
    return asked, ""


def _shared(told: Sequence[str], text: str, asked: str) -> list[str]:
    """Return the runs of words of a text that the user told before and does not ask with."""
    known = {stem(word) for each in told for word in _WORD.findall(each.lower())} - STOPWORDS
    known -= {stem(word) for word in _WORD.findall(asked.lower())}
    runs, run = list[str](), list[str]()
    for word in [*_WORD.findall(_MASKED.sub(" ", text)), ""]:
        if word and stem(word.lower()) in known and word.lower() not in STOPWORDS:
            run.append(word)
        elif run:
            runs.append(" ".join(run))
            run = []
    return runs


def _forgotten(told: Sequence[Sequence[str]], asked: Sequence[str], given_away: str) -> list[str | Value]:
    """Return what a reply should have known: what the user had to say again, or else every typed value."""
    before, question = [text for says in told for text in says], " ".join(asked)
    typed = [
        value
        for text in ([given_away] if given_away else before)
        for value in values(text)
        if any(value.same(known) for each in before for known in values(each))
        and not any(value.same(other) for other in values(question))
    ]
    found: list[str | Value] = [v for n, v in enumerate(typed) if not any(v.same(w) for w in typed[:n])]
    if found or not given_away:
        return found
    return list(dict.fromkeys(_shared(before, given_away, question)))


def _instead(value: str | Value, told: Sequence[Sequence[str]], replies: Sequence[str]) -> list[str]:
    """Return the values that the replies said in place of the right one: of its kind, and never told."""
    if isinstance(value, str):
        return []
    known = [v for says in told for text in says for v in values(text)]
    said = [v for text in replies for v in values(text) if v.kind == value.kind and v.thing == value.thing]
    return list(dict.fromkeys(v.said for v in said if not any(v.same(k) for k in known)))


def _ways(value: str | Value) -> Iterator[str]:
    """Yield the ways in which a value may be written."""
    if isinstance(value, str):
        yield value
        return
    yield value.said
    if isinstance(value.value, Time):
        hours, minutes = divmod(value.value.minutes, 60)
        for hour in dict.fromkeys((hours, hours % 12 or 12)):
            if (way := f"{hour}:{minutes:02}") != value.said:
                yield way
    elif value.kind == "count" and str(value.value) != value.said:
        yield str(value.value)


def _domain(sessions: Sequence[Sequence[str]]) -> str:
    words = {stem(w) for says in sessions for text in says for w in plain(text).split()}
    named = [name for name in DOMAINS if all(stem(word) in words for word in plain(name).split())]
    return named[0] if len(named) == 1 else f"{TODO} its domain"
